"""A store of LangGraph over a memory."""

from priming_adapters.langgraph.store import PrimingStore

__all__ = ["PrimingStore"]
