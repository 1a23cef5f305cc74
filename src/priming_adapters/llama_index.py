"""LlamaIndex: a block of its memory, which recalls what the latest messages are about and remembers what comes."""

from __future__ import annotations

import asyncio
from typing import Any

from priming import MissingExtra
from priming.namespace import DEFAULT_NAMESPACE
from priming_adapters.common import Users, message, remember

with MissingExtra("llama-index", "a block of LlamaIndex's memory"):
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock

_LETTERS = 4
"""Letters of a token, at most, by which a block is shortened."""


class PrimingMemoryBlock(BaseMemoryBlock[str]):
    """The memories that the latest messages recall, as text within ``tokens``."""

    name: str = "memories"
    source: Any = Field(default=None, exclude=True)
    namespace: str = DEFAULT_NAMESPACE
    tokens: int = Field(default=800, description="the budget of the text")
    latest: int = Field(default=3, description="how many of the latest messages are the question")
    _users: Users = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Open the memory."""
        super().model_post_init(context)
        self._users = Users(self.source, namespace=self.namespace)

    def close(self) -> None:
        """Close the store, if it was opened here."""
        self._users.close()

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **_: Any
    ) -> str:
        question = "\n".join(filter(None, (message.content for message in (messages or [])[-self.latest :])))
        if not question.strip():
            return ""
        recall = self._users.memory.recall
        recalled = await asyncio.to_thread(recall, question, tokens=self.tokens, session=session_id)
        return recalled.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await asyncio.to_thread(remember, self._users.memory, *map(_arguments, messages))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out the least relevant memories, which come last; None if nothing is left."""
        most = len(content) - tokens_to_truncate * _LETTERS
        lines = content[: max(0, most)].splitlines(keepends=True)
        return "".join(lines[:-1]).rstrip() or None


def _arguments(own: ChatMessage) -> dict[str, Any]:
    more, role = own.additional_kwargs, own.role.value
    fields = {"session": more.get("session_id"), "speaker": more.get("name") or role, "echo_guard": False}
    return message(own.content or "", role=role, **fields)
