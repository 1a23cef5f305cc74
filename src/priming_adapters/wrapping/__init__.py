"""A memory for the clients of OpenAI and Anthropic."""

from priming_adapters.wrapping.clients import wrap_anthropic, wrap_openai

__all__ = ["wrap_anthropic", "wrap_openai"]
