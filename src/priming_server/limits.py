"""The limits of a server: requests a second, bytes of a body, concurrent calls."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Condition
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import Message, Receive

from priming.config.params.services import ServerParams
from priming.operations.connection import JSON
from priming_server.responses import Refused

T = TypeVar("T")
STOPPING = "the server is stopping: what is done so far stays, and the same call goes on once it is restarted"


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


class FairThreads:
    """Threads that serve lanes in turn: the calls of a lane wait for one another, and for no call of another.

    At most ``each`` calls of a lane run at once. Where ``threads`` are busy, a lane with no call at work still gets a
    thread of its own, until ``lanes`` are at work. Calls may be submitted by any thread.
    """

    def __init__(self, threads: int, each: int, lanes: int, name: str) -> None:
        most = max(threads, lanes)
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)
        self._busy, self._threads, self._each, self._most = 0, threads, each, most
        self._waiting: OrderedDict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = OrderedDict()
        """The lanes with calls that wait; the lane whose turn is next comes first."""
        self._running: Counter[str] = Counter()
        self._idle = Condition()

    def submit(self, lane: str, call: Callable[[], T]) -> Future[T]:
        """Let a call wait in its lane; the future has its result."""
        future: Future[T] = Future()
        with self._idle:
            self._waiting.setdefault(lane, deque()).append((future, call))
            self._start()
        return future

    def close(self, *, cancel: bool = False) -> None:
        """Wait for the calls that run, and for those that wait unless they are to be cancelled."""
        with self._idle:
            if cancel:
                for calls in self._waiting.values():
                    for future, _ in calls:
                        future.cancel()
                self._waiting.clear()
            self._idle.wait_for(lambda: not self._busy and not self._waiting)
        self._pool.shutdown()

    def _start(self) -> None:
        """Start calls while threads are free, a lane after another; under the lock."""
        while self._busy < self._most:
            each = self._each if self._busy < self._threads else 1
            lane = next((name for name in self._waiting if self._running[name] < each), None)
            if lane is None:
                return
            calls = self._waiting[lane]
            future, call = calls.popleft()
            if calls:
                self._waiting.move_to_end(lane)
            else:
                del self._waiting[lane]
            self._busy += 1
            self._running[lane] += 1
            self._pool.submit(self._work, lane, future, call)

    def _work(self, lane: str, future: Future[Any], call: Callable[[], Any]) -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - the future passes it on, as those of a pool do
                future.set_exception(error)
        with self._idle:
            self._busy -= 1
            self._running[lane] -= 1
            if not self._running[lane]:
                del self._running[lane]
            self._start()
            self._idle.notify_all()


class WorkerPool:
    """The threads that run calls. Those of a namespace wait for one another; beyond its limit they are refused.

    ``long`` calls have threads of their own: no other waits for the end of one.
    """

    def __init__(self, params: ServerParams) -> None:
        self._params = params
        self._threads, self._long = (
            FairThreads(params.threads, params.threads_each, params.lanes, f"priming-{name}")
            for name in ("call", "long")
        )
        self._at_work: Counter[str] = Counter()

    @property
    def at_work(self) -> int:
        """The number of calls that run or wait, of all namespaces."""
        return self._at_work.total()

    async def run(self, call: Callable[[], T], lane: str = "", *, long: bool = False) -> T:
        """Return the result of ``call``, from a thread. After the time limit the call continues without a waiter.

        Calls of one ``lane``, which is a namespace, wait for one another. Those of none have a lane of their own.
        """
        self.check(lane)
        future = self._submit(call, lane, self._long if long else self._threads)
        if not await _is_done(future, self._params.call_seconds):
            message = (
                f"not done after {self._params.call_seconds:g} seconds: it continues, and the log will have it;"
                " long operations can run as jobs"
            )
            raise Refused(504, "timeout", message)
        return future.result()

    def check(self, lane: str) -> None:
        """Raise ``Refused`` if as many calls of a lane run or wait as may."""
        calls = self._at_work[lane]
        if calls >= self._params.in_flight:
            message = f"{calls} calls are running or waiting: try again in a moment"
            raise Refused(503, "overloaded", message, {"Retry-After": "1"})

    async def run_patiently(self, call: Callable[[], T], lane: str = "", *, long: bool = False) -> T:
        """Return the result of ``call``, from a thread, however long it takes; ``Refused`` if too many wait."""
        self.check(lane)
        future = self._submit(call, lane, self._long if long else self._threads)
        await _is_done(future)
        return future.result()

    async def close(self) -> None:
        """Wait for running calls."""
        for threads in (self._threads, self._long):
            await asyncio.to_thread(threads.close, cancel=True)

    def _submit(self, call: Callable[[], T], lane: str, threads: FairThreads) -> asyncio.Future[T]:
        future = asyncio.wrap_future(threads.submit(lane, partial(copy_context().run, call)))
        self._at_work[lane] += 1
        future.add_done_callback(partial(self._ended, lane))
        return future

    def _ended(self, lane: str, future: asyncio.Future[Any]) -> None:
        self._at_work[lane] -= 1
        if not self._at_work[lane]:
            del self._at_work[lane]
        if not future.cancelled():
            future.exception()  # retrieved, so that a call without a waiter causes no warning


async def _is_done(future: asyncio.Future[Any], seconds: float | None = None) -> bool:
    """Wait until a call is done, or so long; ``Refused`` if the server stops before."""
    try:
        await asyncio.wait({future}, timeout=seconds)
    except asyncio.CancelledError:
        raise Refused(503, "stopping", STOPPING) from None
    if future.cancelled():
        raise Refused(503, "stopping", STOPPING)
    return future.done()


class Bodies:
    """The bytes of bodies under way, of each client and of all; a call has its body until it is answered."""

    def __init__(self, params: ServerParams) -> None:
        self._params = params
        self._each: Counter[str] = Counter()

    @contextmanager
    def of(self, client: str) -> Iterator[Callable[[int], None]]:
        """Count what arrives for a request of a client until the block ends."""
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            most = self._params.bodies_each, self._params.bodies_bytes
            if self._each[client] + size > most[0] or self._each.total() + size > most[1]:
                message = "too many bytes of requests are under way: send fewer at once"
                raise Refused(503, "overloaded", message, {"Retry-After": "1", "Connection": "close"})
            taken += size
            self._each[client] += size

        try:
            yield take
        finally:
            self._each[client] -= taken
            if not self._each[client]:
                del self._each[client]


def limited(receive: Receive, params: ServerParams, take: Callable[[int], None]) -> Receive:
    """Return a request's body within its limits of size and time; ``Refused`` beyond them. ``take`` counts it."""
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
        take(len(message.get("body", b"")))
        over = not message.get("more_body", False)
        return message

    return next_part


def too_large(params: ServerParams) -> Refused:
    """Return the response to a body beyond the limit; the rest of it is not read."""
    message = f"the body has more than {params.body_bytes} bytes: send less at once"
    return Refused(413, "too_large", message, {"Connection": "close"})


async def json_body(request: Request) -> bytes:
    """Return the body of a request; it must be declared as JSON unless it is empty."""
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind != JSON:
        raise Refused(415, "unsupported_media_type", f"the Content-Type must be {JSON}")
    return body
