"""Where the agent sits: the folder of its project, the store that its hooks and tools ask, and the clock."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from work import Step

from priming import FixedClock, Memory
from priming.config import settings
from priming.operations.service import LocalService
from priming.recall.traces import PENDING
from priming.recall.traces import record as record_trace
from priming.serialization import encode
from priming.storage.protocol import Trace
from priming_agents.agents import Event
from priming_agents.calls import new_call
from priming_agents.events import HookCall, handle, record
from priming_agents.session import locked_session

NAMESPACE = "default"
PROFILE = "floop"
OFF = {
    "profiles.floop.learning.verdicts": "none",
    "profiles.floop.learning.runs": False,
    "profiles.floop.learning.coactivation": False,
    "profiles.floop.learning.fading": "none",
}
"""The laws that are off where nothing is learned from verdicts."""
VERDICTS = frozenset(("feedback", "run_start", "run_end", "run_used"))
"""The operations of a hook that are left out there: what they record are verdicts, or leads to some."""
_MINUTES = timedelta(minutes=7)


@dataclass
class Desk:
    """A project with its store. It is the store of the hooks, too, and notes what rules they were answered."""

    folder: Path
    service: LocalService
    clock: FixedClock
    learning: bool
    answers: list[Mapping[str, Any]] = field(default_factory=list)
    """The answers of ``active`` to the present hook."""
    call_id: str = ""
    """The id of the present hook."""
    pending: dict[str, Trace] = field(default_factory=dict)
    """The recalls of the present hook, until it is recorded what it told of them."""

    @property
    def database(self) -> Path:
        """The file of the store."""
        return _database(self.folder)

    def call(self, operation: str, request: Mapping[str, Any], *, writes: bool = False) -> Any:
        """Carry out an operation for a hook."""
        if writes and operation in VERDICTS and not self.learning:
            return None
        waiting = PENDING.set(self.pending)
        try:
            answer = self.service.call(NAMESPACE, operation, encode(request))
        finally:
            PENDING.reset(waiting)
        if operation == "active":
            self.answers.append(answer)
        return answer

    def record_shown(self, recall_id: str, shown: Collection[str]) -> None:
        """Record a recall with those of its hits that were told."""
        trace = self.pending.pop(recall_id, None)
        hits = () if trace is None else tuple(hit for hit in trace.hits if hit[0] in shown)
        if trace is not None and hits:
            with self.memory() as memory:
                record_trace(memory, replace(trace, at=memory.now(), hits=hits))

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """The memory, as the agent's tools use it."""
        with self.service.memory(NAMESPACE) as memory:
            yield memory

    def hook(self, name: str, session: str, step: Step) -> tuple[str, float]:
        """Run a hook by its own code, some minutes after the last; what it tells, and the seconds it took."""
        self.clock.at += _MINUTES
        commits = step.command.startswith("git commit")
        event = Event(
            session,
            str(self.folder),
            prompt=step.prompt,
            files=(str(self.folder / step.file),) if step.file else (),
            command=step.command,
            output="[main 0123abc] Done" if commits else "",
        )
        self.answers.clear()
        began = time.perf_counter()
        with locked_session(self.database, session) as state:
            self.call_id = new_call()
            call = HookCall(event, "claude-code", state, self.folder, self.folder, [self])
            text = handle(name, call)
            record(call)
        return text, time.perf_counter() - began


def process_seconds(folder: Path, times: int = 5) -> float:
    """What a hook takes before a file is changed, as the agent starts it: a process of its own, without a server."""
    said = {"cwd": str(folder), "tool_name": "Edit", "tool_input": {"file_path": str(folder / "a.py")}}
    words = [sys.executable, "-c", "from priming.cli.start import main; main()", "hook", "pre-tool"]
    url = ["--url", f"sqlite:///{_database(folder)}", "--profile", PROFILE]
    seconds = []
    for number in range(times):
        payload = json.dumps({**said, "session_id": f"timed-{number}"}).encode()
        began = time.perf_counter()
        subprocess.run(
            [*words, *url],
            input=payload,
            stdout=subprocess.DEVNULL,
            check=True,
            env={**os.environ, "PRIMING_SERVER": "off"},
        )
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


@contextmanager
def desk(folder: Path, clock: FixedClock, *, learning: bool) -> Iterator[Desk]:
    """A new project with an empty store under the profile of rules."""
    database = _database(folder)
    database.parent.mkdir(parents=True)
    chosen = settings.load({} if learning else {name: (value, "off") for name, value in OFF.items()})
    service = LocalService(f"sqlite:///{database}", profile=PROFILE, settings=chosen, clock=clock)
    try:
        yield Desk(folder, service, clock, learning)
    finally:
        service.close()


def _database(folder: Path) -> Path:
    return folder / ".priming" / "memory.db"
