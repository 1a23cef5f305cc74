"""The same memory for asyncio, as mem0's ``AsyncMemory``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Self

from priming.llm.protocol import Agent
from priming_adapters.mem0.memory import Mem0Memory


def _later(method: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """A method of ``Memory`` as one of ``AsyncMemory``, which runs in a thread."""

    @wraps(method)
    async def call(self: AsyncMem0Memory, *args: Any, **named: Any) -> Any:
        return await asyncio.to_thread(method, self.memory, *args, **named)

    return call


class AsyncMem0Memory:
    """``Memory`` for asyncio: each call runs in a thread."""

    def __init__(self, config: Any = None, *, agent: Agent | None = None) -> None:
        self.memory = Mem0Memory(config, agent=agent)

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Open a memory by a configuration."""
        return cls(config_dict)

    add, search, get, get_all = (
        _later(f) for f in (Mem0Memory.add, Mem0Memory.search, Mem0Memory.get, Mem0Memory.get_all)
    )
    update, delete, delete_all = (
        _later(f) for f in (Mem0Memory.update, Mem0Memory.delete, Mem0Memory.delete_all)
    )
    history, reset, chat = (_later(f) for f in (Mem0Memory.history, Mem0Memory.reset, Mem0Memory.chat))

    def close(self) -> None:
        """Close the store, if it was opened here."""
        self.memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()
