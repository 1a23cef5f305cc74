"""Long work as jobs: begun at once, told of as it goes on, cancelled between two steps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Event
from typing import Any
from uuid import uuid4

from priming.api.host import Host
from priming.config.params.server import ServerParams
from priming.errors import NotFound, PrimingError
from priming.serve import logs
from priming.serve.answers import Refused, refusal, written
from priming.types import Clock

OVER = ("done", "failed", "cancelled")
STATES = ("waiting", "running", *OVER)


class Cancelled(Exception):
    """Raised where a job tells of its progress, once it is to end."""


@dataclass(slots=True, eq=False)
class Job:
    """One piece of long work, as it stands. Only the thread of the event loop changes it."""

    id: str
    namespace: str
    operation: str
    everywhere: bool
    created_at: datetime
    status: str = "waiting"
    done: int = 0
    total: int | None = None
    ended_at: datetime | None = None
    result: Any = None
    error: dict[str, str] | None = None
    number: int = 0
    """How often it changed: the id of an event."""
    stop: Event = field(default_factory=Event)
    watchers: list[asyncio.Event] = field(default_factory=list)

    def change(self, **values: Any) -> None:
        """Change it, and tell those who watch."""
        for name, value in values.items():
            setattr(self, name, value)
        self.number += 1
        for one in self.watchers:
            one.set()

    def told(self) -> dict[str, Any]:
        """It, as it is answered."""
        return {
            "id": self.id,
            "operation": self.operation,
            "status": self.status,
            "done": self.done,
            "total": self.total,
            "created_at": self.created_at.isoformat(),
            "ended_at": None if self.ended_at is None else self.ended_at.isoformat(),
            "result": self.result,
            "error": self.error,
        }


class Jobs:
    """The jobs of a server: some at work, more that wait, and the latest that are over."""

    def __init__(self, host: Host, params: ServerParams, clock: Clock) -> None:
        self._host, self._params, self._clock = host, params, clock
        self._pool = ThreadPoolExecutor(params.jobs_at_once, thread_name_prefix="priming-job")
        self._jobs: dict[str, Job] = {}

    @property
    def unfinished(self) -> int:
        """How many are at work or wait."""
        return sum(one.status not in OVER for one in self._jobs.values())

    def begin(self, namespace: str, operation: str, request: Any, *, everywhere: bool) -> Job:
        """Begin a job; ``Refused`` if too many are waiting."""
        self._drop_old()
        if self.unfinished >= self._params.jobs_waiting:
            said = f"{self.unfinished} jobs are at work or waiting: try again later, or cancel one"
            raise Refused(503, "overloaded", said, {"Retry-After": "10"})
        job = Job(str(uuid4()), namespace, operation, everywhere, self._clock.now())
        self._jobs[job.id] = job
        self._pool.submit(self._work, job, request, asyncio.get_running_loop())
        return job

    def find(self, namespace: str, job_id: str) -> Job:
        """A job of a namespace; one of another is as good as none."""
        self._drop_old()
        job = self._jobs.get(job_id)
        if job is None or job.namespace != namespace:
            raise NotFound("there is no such job: it never was, was dropped, or belongs to another namespace")
        return job

    def drop(self, namespace: str, job_id: str) -> Job:
        """Ask a job to end after its present step; one that is over is forgotten."""
        job = self.find(namespace, job_id)
        job.stop.set()
        if job.status in OVER:
            del self._jobs[job_id]
        return job

    async def close(self) -> None:
        """Ask all to end after their present step, and wait for that."""
        for job in self._jobs.values():
            job.stop.set()
        await asyncio.to_thread(self._pool.shutdown)

    def stop(self) -> None:
        """Ask all to end after their present step."""
        for job in self._jobs.values():
            job.stop.set()

    def _drop_old(self) -> None:
        """Forget what is over for long, and beyond the number that is kept."""
        since = self._clock.now() - timedelta(minutes=self._params.job_minutes)
        over = [one for one in self._jobs.values() if one.status in OVER]
        for place, one in enumerate(reversed(over)):
            if place >= self._params.jobs_kept or (one.ended_at is not None and one.ended_at < since):
                del self._jobs[one.id]

    def _work(self, job: Job, request: Any, loop: asyncio.AbstractEventLoop) -> None:
        """The job itself, in a thread; what becomes of it is told in that of the loop."""

        def tell(**values: Any) -> None:
            loop.call_soon_threadsafe(partial(job.change, **values))

        def progress(done: int, total: int | None) -> None:
            tell(done=done, total=total)  # first: what is done is done, and is counted
            if job.stop.is_set():
                raise Cancelled

        end: dict[str, Any] = {"status": "cancelled"}
        try:
            if not job.stop.is_set():
                tell(status="running")
                result = self._host.call(job.namespace, job.operation, request, progress=progress)
                end = {"status": "done", "result": result}
        except Cancelled:
            pass
        except PrimingError as error:
            refused = refusal(error, everywhere=job.everywhere)
            end = {"status": "failed", "error": {"code": refused.code, "message": refused.message}}
        except Exception as error:  # noqa: BLE001 - a bug in a job must not keep its end from being told
            logs.write(logging.ERROR, "a bug in a job", error=error, job=job.id, operation=job.operation)
            said = f"a bug: the server's log has it under job {job.id}"
            end = {"status": "failed", "error": {"code": "internal", "message": said}}
        tell(ended_at=self._clock.now(), **end)


async def events(
    job: Job, after: int, ping: float, welcome: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    """The changes of a job as server-sent events, those since number ``after``, up to its end.

    What changed more than once since the last event is told once. ``welcome`` is asked before each: whether the
    one who listens may still.
    """
    changed = asyncio.Event()
    job.watchers.append(changed)
    try:
        while await welcome():
            if job.number > after or job.status in OVER:
                after = job.number
                yield _event(job)
                if job.status in OVER:
                    return
            changed.clear()
            try:
                await asyncio.wait_for(changed.wait(), ping)
            except TimeoutError:
                yield b": still at it\n\n"
    finally:
        job.watchers.remove(changed)


def _event(job: Job) -> bytes:
    """One event: its name, its number and what it says, in one line of JSON."""
    name = {"done": "result", "failed": "error", "cancelled": "cancelled"}.get(job.status, "progress")
    said: Any = {"status": job.status, "done": job.done, "total": job.total}
    if name == "result":
        said = job.result
    if name == "error":
        said = {"error": job.error}
    return f"event: {name}\nid: {job.number}\ndata: ".encode() + written(said) + b"\n\n"
