"""Long calls: as jobs, which start at once and are polled, or as a stream of progress and the answer.

Jobs live in the process, and their effects in the log. A call that takes too long is answered and goes on: a
thread cannot be stopped in the middle of a transaction.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import field
from datetime import datetime, timedelta
from functools import partial
from threading import Event
from time import monotonic
from typing import Any
from uuid import uuid4

from priming.config.caller import Caller, calling
from priming.config.params.services import ServerParams
from priming.config.values import dataclass
from priming.errors import NotFound, PrimingError
from priming.operations.local_http import json_bytes
from priming.operations.local_server import Cancelled
from priming.operations.service import LocalService
from priming.serialization import encode
from priming.types import Clock, Progress
from priming_server.access.auth import RequestContext
from priming_server.limits import FairThreads, WorkerPool
from priming_server.responses import Refused, bug, refusal

OVER = ("done", "failed", "cancelled")
STATES = ("waiting", "running", *OVER)


@dataclass(slots=True, eq=False)
class Job:
    """One long call and its state. Only the thread of the event loop changes it."""

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
    """The number of changes, which is the id of the latest event."""
    stop: Event = field(default_factory=Event)
    watchers: list[asyncio.Event] = field(default_factory=list)

    def change(self, **values: Any) -> None:
        """Change the job and wake its followers."""
        for name, value in values.items():
            setattr(self, name, value)
        self.number += 1
        for watcher in self.watchers:
            watcher.set()

    def as_dict(self) -> dict[str, Any]:
        """Return the job as routes return it."""
        names = ("id", "operation", "status", "done", "total", "created_at", "ended_at", "result", "error")
        return {name: encode(getattr(self, name)) for name in names}


class Jobs:
    """The jobs of a server: running, waiting, and the latest finished ones."""

    def __init__(self, service: LocalService, params: ServerParams, clock: Clock) -> None:
        self._service, self._params, self._clock = service, params, clock
        self._threads = FairThreads(params.jobs_at_once, params.jobs_each, params.job_lanes, "priming-job")
        self._jobs: dict[str, Job] = {}

    @property
    def unfinished(self) -> int:
        """The number of jobs that run or wait, of all namespaces."""
        return sum(job.status not in OVER for job in self._jobs.values())

    def begin(self, namespace: str, operation: str, request: Any, caller: Caller, *, everywhere: bool) -> Job:
        """Begin a job; ``Refused`` if too many of its namespace are waiting."""
        self._drop_old()
        mine = sum(job.namespace == namespace and job.status not in OVER for job in self._jobs.values())
        if mine >= self._params.jobs_waiting:
            message = f"{mine} jobs are running or waiting: try again later, or cancel one"
            raise Refused(503, "overloaded", message, {"Retry-After": "10"})
        job = Job(str(uuid4()), namespace, operation, everywhere, self._clock.now())
        self._jobs[job.id] = job
        work = partial(self._work, job, request, caller, asyncio.get_running_loop())
        self._threads.submit(namespace, work)
        return job

    def of(self, namespace: str) -> list[Job]:
        """Return the jobs of a namespace, the latest first."""
        self._drop_old()
        return [job for job in reversed(self._jobs.values()) if job.namespace == namespace]

    def find(self, namespace: str, job_id: str) -> Job:
        """Return a job of this namespace; ``NotFound`` for a job of another."""
        self._drop_old()
        job = self._jobs.get(job_id)
        if job is None or job.namespace != namespace:
            raise NotFound(
                "there is no such job: it never existed, was dropped, or belongs to another namespace"
            )
        return job

    def drop(self, namespace: str, job_id: str) -> Job:
        """Cancel a job after its current step; forget it if it is finished."""
        job = self.find(namespace, job_id)
        job.stop.set()
        if job.status in OVER:
            del self._jobs[job_id]
        return job

    def forget(self, namespace: str) -> None:
        """Forget the finished jobs of a namespace: their results may have what was purged."""
        for job in [*self._jobs.values()]:
            if job.namespace == namespace and job.status in OVER:
                self._jobs.pop(job.id, None)

    async def close(self) -> None:
        """Cancel all jobs after their current step and wait for them."""
        self.stop()
        await asyncio.to_thread(self._threads.close)

    def stop(self) -> None:
        """Cancel all jobs after their current step."""
        for job in self._jobs.values():
            job.stop.set()

    def _drop_old(self) -> None:
        """Forget jobs that finished long ago, and finished ones of a namespace beyond its limit."""
        since = self._clock.now() - timedelta(minutes=self._params.job_minutes)
        over = [job for job in self._jobs.values() if job.status in OVER]
        later: Counter[str] = Counter()
        for job in reversed(over):
            place = later[job.namespace]
            later[job.namespace] += 1
            if place >= self._params.jobs_kept or (job.ended_at is not None and job.ended_at < since):
                del self._jobs[job.id]

    def _work(self, job: Job, request: Any, caller: Caller, loop: asyncio.AbstractEventLoop) -> None:
        """Run a job in a thread; its state changes in the thread of the event loop."""

        def report(**values: Any) -> None:
            loop.call_soon_threadsafe(partial(job.change, **values))

        def progress(done: int, total: int | None) -> None:
            report(done=done, total=total)  # first: this step is done, and counts
            if job.stop.is_set():
                raise Cancelled

        end: dict[str, Any] = {"status": "cancelled"}
        try:
            if not job.stop.is_set():
                report(status="running")
                with calling(caller):
                    result = self._service.call(job.namespace, job.operation, request, progress=progress)
                end = {"status": "done", "result": result}
        except Cancelled:
            pass
        except PrimingError as error:
            refused = refusal(error, everywhere=job.everywhere)
            end = {"status": "failed", "error": {"code": refused.code, "message": refused.message}}
        except Exception as error:  # noqa: BLE001 - a bug in a job must not hide its end
            refused = bug(error, f"job {job.id}", job=job.id, operation=job.operation)
            end = {"status": "failed", "error": refused.payload}
        report(ended_at=self._clock.now(), **end)


async def events(
    job: Job, after: int, ping: float, still_admitted: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    """Yield the changes of a job as server-sent events, from those after number ``after`` up to its end.

    Several changes since the last event make one event. ``still_admitted`` is asked before each, whether the client
    may still read them.
    """
    changed = asyncio.Event()
    job.watchers.append(changed)
    try:
        while await still_admitted():
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
    """Return one event: its name, its number and its data, in one line of JSON."""
    name = {"done": "result", "failed": "error", "cancelled": "cancelled"}.get(job.status, "progress")
    data: Any = {"status": job.status, "done": job.done, "total": job.total}
    if name == "result":
        data = job.result
    if name == "error":
        data = {"error": job.error}
    return f"event: {name}\nid: {job.number}\ndata: ".encode() + json_bytes(data) + b"\n\n"


class ProgressStream:
    """A call as a stream: parts of ``progress``, and at last one ``answer`` or ``error``, each as ``line`` has it.

    The call ends after its present step when its client goes away, or ``ending`` is set; the stream then ends
    without an answer.
    """

    def __init__(
        self,
        context: RequestContext,
        ending: Event,
        interval: float,
        line: Callable[[dict[str, Any]], bytes],
    ) -> None:
        self._context, self._ending, self._interval, self._line = context, ending, interval, line
        self._gone = Event()
        self._last = 0.0
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    async def lines(
        self, workers: WorkerPool, lane: str, call: Callable[[Progress], Any]
    ) -> AsyncIterator[bytes]:
        """Run a call in a thread and yield its lines."""

        def answer() -> bytes:
            return self._line({"answer": call(self._progress)})

        task = asyncio.create_task(workers.run_patiently(answer, lane, long=True))
        task.add_done_callback(self._ended)
        try:
            while (line := await self._lines.get()) is not None:
                yield line
            yield self._end(task)
        finally:
            self._gone.set()

    def _progress(self, done: int, total: int | None) -> None:
        """Report a step, from the thread of the call; the first and the last step always."""
        if self._gone.is_set() or self._ending.is_set():
            raise Cancelled
        if total is None or done == total or monotonic() - self._last >= self._interval:
            self._last = monotonic()
            line = self._line({"progress": [done, total]})
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled():
            task.exception()  # retrieved: the client may be gone
        self._lines.put_nowait(None)

    def _end(self, task: asyncio.Task[bytes]) -> bytes:
        """Return the last line of a finished call; nothing for a cancelled one."""
        context = self._context
        try:
            return task.result()
        except Cancelled:
            return b""
        except PrimingError as error:
            refused = refusal(error, everywhere=context.everywhere)
        except Exception as error:  # noqa: BLE001 - the response has begun: only its last line can say so
            refused = bug(error, f"request {context.request_id}", request_id=context.request_id)
        context.code = refused.code
        return self._line({"error": refused.payload})


def json_line(part: dict[str, Any]) -> bytes:
    """Return a part of a stream of progress as a line of JSON."""
    return json_bytes(part) + b"\n"
