"""The limits of a server: requests a second, bytes of a body, concurrent calls."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from starlette.types import Message, Receive

from priming.config.params.server import ServerParams
from priming.server.responses import Refused

T = TypeVar("T")


class RateLimiter:
    """A token bucket for each client: it fills at the rate, up to the burst."""

    def __init__(self, params: ServerParams, now: Callable[[], float] = time.monotonic) -> None:
        self._params, self._now = params, now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Count a request; ``Refused`` with the seconds to wait if there are too many."""
        rate = self._params.rate
        if not rate:
            return
        now = self._now()
        left, then = self._buckets.pop(client, (float(self._params.burst), now))
        left = min(self._params.burst, left + (now - then) * rate)
        self._buckets[client] = (max(0.0, left - 1), now) if left >= 1 else (left, now)
        while len(self._buckets) > self._params.clients:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = str(max(1, math.ceil((1 - left) / rate)))
            raise Refused(
                429, "too_many", f"too many requests: at most {rate:g} a second", {"Retry-After": wait}
            )


class WorkerPool:
    """The threads that run calls. Calls beyond their number wait; calls beyond the limit are refused."""

    def __init__(self, params: ServerParams) -> None:
        self._params = params
        self._pool = ThreadPoolExecutor(params.threads, thread_name_prefix="priming-call")
        self.at_work = 0

    async def run(self, call: Callable[[], T]) -> T:
        """The result of ``call``, from a thread. After the time limit the call continues without a waiter."""
        if self.at_work >= self._params.in_flight:
            message = f"{self.at_work} calls are running or waiting: try again in a moment"
            raise Refused(503, "overloaded", message, {"Retry-After": "1"})
        future = self._submit(call)
        done, _ = await asyncio.wait({future}, timeout=self._params.call_seconds)
        if not done:
            message = (
                f"not done after {self._params.call_seconds:g} seconds: it continues, and the log will have it;"
                " long operations can run as jobs"
            )
            raise Refused(504, "timeout", message)
        return future.result()

    async def run_patiently(self, call: Callable[[], T]) -> T:
        """The result of ``call``, from a thread, however many calls wait and however long it takes."""
        future = self._submit(call)
        await asyncio.wait({future})
        return future.result()

    async def close(self) -> None:
        """Wait for running calls."""
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)

    def _submit(self, call: Callable[[], T]) -> asyncio.Future[T]:
        future = asyncio.wrap_future(self._pool.submit(copy_context().run, call))
        self.at_work += 1
        future.add_done_callback(self._ended)
        return future

    def _ended(self, future: asyncio.Future[Any]) -> None:
        self.at_work -= 1
        if not future.cancelled():
            future.exception()  # retrieved, so that a call without a waiter causes no warning


def limited(receive: Receive, params: ServerParams) -> Receive:
    """The body of a request within its limits of size and time; ``Refused`` beyond them."""
    taken, over = 0, False
    deadline = time.monotonic() + params.body_seconds

    async def next_part() -> Message:
        nonlocal taken, over
        if over:
            return await receive()
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                message = await receive()
        except TimeoutError:
            raise Refused(
                408, "timeout", "the body did not arrive in time", {"Connection": "close"}
            ) from None
        taken += len(message.get("body", b""))
        if taken > params.body_bytes:
            raise too_large(params)
        over = not message.get("more_body", False)
        return message

    return next_part


def too_large(params: ServerParams) -> Refused:
    """The response to a body beyond the limit; the rest of it is not read."""
    message = f"the body has more than {params.body_bytes} bytes: send less at once"
    return Refused(413, "too_large", message, {"Connection": "close"})
