"""A server that sleeps by itself: each namespace that it is asked about, when a night is due."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from threading import Event

from priming.api.host import Host
from priming.errors import PrimingError
from priming.serve import logs
from priming.serve.jobs import Cancelled
from priming.sleeping import is_due
from priming.types import Clock


class Nights:
    """When each namespace that is open last slept, and how many memories it had then."""

    def __init__(self, host: Host, every: timedelta, clock: Clock) -> None:
        self._host, self._every, self._clock = host, every, clock
        self._last: dict[str, tuple[datetime, int]] = {}
        self.stop = Event()

    async def watch(self, seconds: float) -> None:
        """Look, wait, and so on until it is cancelled."""
        while True:
            await asyncio.to_thread(self.look)
            await asyncio.sleep(seconds)

    def look(self) -> list[str]:
        """Let those sleep whose night is due; which they were."""
        return [name for name in self._host.namespaces if self._sleeps(name)]

    def _sleeps(self, name: str) -> bool:
        """Whether a namespace slept just now. One that is busy, or not there yet, has its turn at the next look."""
        try:
            there = self._count(name)
            last, before = self._last.setdefault(name, (self._clock.now(), there))
            if not is_due(self._clock.now(), last, self._every, there - before):
                return False
            self._host.call(name, "sleep", {}, progress=self._step)
            self._last[name] = self._clock.now(), self._count(name)
        except Cancelled:
            return False
        except PrimingError as error:
            logs.write(logging.WARNING, "a night was put off", error=error, namespace=name, code=error.code)
            return False
        logs.write(logging.INFO, "slept", namespace=name)
        return True

    def _step(self, done: int, total: int | None) -> None:  # noqa: ARG002 - the form of every such callback
        if self.stop.is_set():
            raise Cancelled

    def _count(self, name: str) -> int:
        """How many memories there are that somebody told; names do not count."""
        counted = self._host.call(name, "stats", {})["memories"]
        return sum(sum(each.values()) for kind, each in counted.items() if kind != "entity")
