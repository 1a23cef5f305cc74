"""Carry out a run: hand over tasks within bounds, try again what failed for a reason that passes, and report."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import field, replace

from priming.config.values import dataclass
from priming.errors import AgentError, Busy, Conflict, EmbedderError, StoreError
from priming.types import Progress
from priming_server.fleet.journal import FLEET, FleetParams
from priming_server.fleet.plan import FleetPlan
from priming_server.fleet.task import LOST, FleetOutcome, FleetTask
from priming_server.fleet.workers import Workers

_PASSING = {LOST, Busy.code, StoreError.code, EmbedderError.code, AgentError.code}
"""The codes of failures that another attempt may not have."""


@dataclass(frozen=True, slots=True)
class FleetFailure:
    """A namespace that failed: the last reason, after how many attempts."""

    store: str
    namespace: str
    code: str
    reason: str
    attempts: int


@dataclass(frozen=True, slots=True)
class FleetReport:
    """What a run did. ``earlier`` of the ``done`` were so when it was continued; ``retried`` were tried again.

    ``lost`` counts the attempts whose worker ended before it answered. ``counts`` adds up what the verb counted,
    ``workers`` is the number of namespaces that each worker did.
    """

    run: str
    verb: str
    stores: tuple[str, ...]
    namespaces: int
    done: int
    earlier: int = 0
    retried: int = 0
    lost: int = 0
    failed: tuple[FleetFailure, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    workers: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0


def run_fleet(
    plan: FleetPlan,
    workers: Workers,
    *,
    at_once: int | None = None,
    progress: Progress | None = None,
    params: FleetParams = FLEET,
) -> FleetReport:
    """Carry out the tasks of a plan.

    At most ``at_once`` are at work in a store. The record of a run without failures is removed at its end.
    """
    params = params if at_once is None else replace(params, at_once=at_once)
    running = _FleetRun(plan, workers, params)
    began = time.perf_counter()
    while running.advance():
        if progress is not None:
            progress(running.ended, len(plan.journal.header.names))
    report = replace(running.report(), seconds=time.perf_counter() - began)
    if not report.failed:
        plan.journal.remove()
    return report


class _FleetRun:
    """A run at work."""

    def __init__(self, plan: FleetPlan, workers: Workers, params: FleetParams) -> None:
        self._journal, self._workers, self._params = plan.journal, workers, params
        self._tasks = {task.number: task for task in plan.tasks}
        self._earlier = len(plan.journal.done)
        self._attempts, self._working, self._lost = Counter[int](), Counter[str](), 0
        self._waiting: dict[str, deque[int]] = {}
        for task in plan.tasks:
            self._waiting.setdefault(task.url, deque()).append(task.number)

    @property
    def ended(self) -> int:
        """The tasks that are done or have failed."""
        open_tasks = sum(map(len, self._waiting.values())) + self._working.total()
        return len(self._journal.header.names) - open_tasks

    def advance(self) -> bool:
        """Hand over what may run, and take what has ended; False at the end."""
        for url, waiting in self._waiting.items():
            while waiting and self._working[url] < self._params.at_once and self._workers.free > 0:
                number = waiting.popleft()
                self._attempts[number] += 1
                self._working[url] += 1
                self._workers.submit(self._tasks[number])
        if not self._working.total():
            return False
        for number, outcome in self._workers.finished():
            self._take(self._tasks[number], outcome)
        return True

    def _take(self, task: FleetTask, outcome: FleetOutcome) -> None:
        """Record how a task ended, or let it wait for its next attempt behind the others."""
        self._working[task.url] -= 1
        self._lost += outcome.code == LOST
        # A night that is carried out twice at once ends in a conflict of its operation's id, and is continued.
        passing = outcome.code in _PASSING or (outcome.code == Conflict.code and task.verb == "sleep")
        if passing and self._attempts[task.number] < self._params.attempts:
            self._waiting[task.url].append(task.number)
        else:
            self._journal.add(task.number, outcome)

    def report(self) -> FleetReport:
        """Return what the run did."""
        header, outcomes = self._journal.header, self._journal.outcomes
        done = self._journal.done
        counts, workers = Counter[str](), Counter[str]()
        for number, outcome in outcomes.items():
            counts.update(outcome.counts)
            workers.update([outcome.worker] if number in done else [])
        failed = tuple(
            FleetFailure(
                header.stores[store],
                name,
                str(outcomes[number].code),
                str(outcomes[number].reason),
                self._attempts[number],
            )
            for number, (store, name) in enumerate(header.names)
            if number in outcomes and number not in done
        )
        return FleetReport(
            run=header.run,
            verb=header.verb,
            stores=header.stores,
            namespaces=len(header.names),
            done=len(done),
            earlier=self._earlier,
            retried=sum(number > 1 for number in self._attempts.values()),
            lost=self._lost,
            failed=failed,
            counts=dict(sorted(counts.items())),
            workers=dict(sorted(workers.items())),
        )
