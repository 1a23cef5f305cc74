"""Whether the server can be used, and what it makes once: answers that must not wait for calls or for the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from priming.errors import StoreError
from priming_server.responses import Refused

T = TypeVar("T")


class Readiness(Generic[T]):
    """Whether the store answers. It is asked by one thread at a time, which no call shares."""

    def __init__(self, ask: Callable[[], T], seconds: float) -> None:
        self._ask, self._seconds = ask, seconds
        self._asking: asyncio.Task[T] | None = None

    async def check(self) -> T:
        """Return the answer of the store; ``Refused`` if it fails, or has not answered in time."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(asyncio.to_thread(self._ask))
        asking = self._asking
        done, _ = await asyncio.wait({asking}, timeout=self._seconds)
        try:
            if not done:
                raise StoreError(f"it has not answered for {self._seconds:g} seconds")
            return asking.result()
        except StoreError as error:
            message = "the store cannot be read: the server's log says why"
            raise Refused(503, error.code, message, {"Retry-After": "1"}) from error

    async def close(self) -> None:
        """Wait for an answer that nobody waits for any more."""
        if self._asking is not None:
            await asyncio.wait({self._asking})


class MadeOnce(Generic[T]):
    """A value that is made at its first use and the same from then on."""

    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._make = make
        self._task: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """Return the value; one use makes it, and others wait for it."""
        if self._task is None or (self._task.done() and self._task.exception() is not None):
            self._task = asyncio.ensure_future(self._make())
        return await asyncio.shield(self._task)
