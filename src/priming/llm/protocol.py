"""The protocol of agents: a prompt and the schema of its answer in, a valid answer out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

Answer = Mapping[str, Any]
Schema = Mapping[str, Any]
"""A JSON Schema of draft 2020-12 for an object."""


@runtime_checkable
class Agent(Protocol):
    """Answers prompts: a language model, however it is reached. Its answers are data until they are checked."""

    def answer(self, prompt: str, schema: Schema) -> Answer:
        """Return the answer to a prompt, valid by ``schema``, or raise ``AgentError`` with the reason."""
        ...
