"""What a server does unasked for its open namespaces: vectors that memories wait for, and sleep when it is due."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from threading import Event

from priming.config.caller import Caller, calling
from priming.config.params.limits import VECTORS
from priming.errors import PrimingError
from priming.operations.local_server import Cancelled
from priming.operations.service import LocalService
from priming.sleep.plan import is_due
from priming.types import Clock
from priming_server import telemetry


class Scheduler:
    """Looks after open namespaces; holds when each last slept and how many memories it then had."""

    def __init__(self, service: LocalService, every: timedelta | None, clock: Clock) -> None:
        self._service, self._every, self._clock = service, every, clock
        self._last: dict[str, tuple[datetime, int]] = {}
        self.stop = Event()

    async def run(self, seconds: float) -> None:
        """Check for due namespaces at an interval in seconds, until it is cancelled."""
        while True:
            await asyncio.to_thread(self._service.make_vectors, VECTORS.server, self._step)
            await asyncio.to_thread(self.sleep_due)
            await asyncio.sleep(seconds)

    def sleep_due(self) -> list[str]:
        """Run the sleep of each namespace that is due, and return their names."""
        every = self._every
        if every is None:
            return []
        return [name for name in self._service.namespaces if self._sleeps(name, every)]

    def _sleeps(self, name: str, every: timedelta) -> bool:
        """Run the sleep of a namespace if due; returns whether it ran. A busy namespace is tried again later."""
        try:
            with self._service.memory(name) as memory, memory.lock:
                if memory.is_read_only:
                    return False
            count = self._count(name)
            last, before = self._last.setdefault(name, (self._clock.now(), count))
            if not is_due(self._clock.now(), last, every, count - before):
                return False
            with calling(Caller("server", "schedule")):
                self._service.call(name, "sleep", {}, progress=self._step)
            self._last[name] = self._clock.now(), self._count(name)
        except Cancelled:
            return False
        except PrimingError as error:
            telemetry.write(
                logging.WARNING, "a night was put off", error=error, namespace=name, code=error.code
            )
            return False
        telemetry.write(logging.INFO, "slept", namespace=name)
        return True

    def _step(self, done: int, total: int | None) -> None:  # noqa: ARG002 - the form of every such callback
        if self.stop.is_set():
            raise Cancelled

    def _count(self, name: str) -> int:
        """Return the number of memories without entities, which rules create."""
        memories = self._service.call(name, "stats", {})["memories"]
        return sum(sum(statuses.values()) for kind, statuses in memories.items() if kind != "entity")
