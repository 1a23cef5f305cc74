"""The record of a run on this machine: its tasks and what became of them, so that it can be continued."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.config import environment, private_files
from priming.config.ids import time_of
from priming.config.values import dataclass
from priming.errors import Conflict, NotFound, StoreError
from priming.serialization import decode, encode
from priming_server.fleet.task import FleetOutcome


@dataclass(frozen=True, slots=True)
class FleetParams:
    """What `priming fleet` does at once, and when it gives a namespace up."""

    at_once: int = 8
    """Maximum at work in a database at once."""
    window: int = 256
    """Maximum handed to a cluster at once, of all databases."""
    attempts: int = 3
    """Number of times that a namespace is tried before it has failed."""
    runs: int = 20
    """Number of unfinished runs whose records stay, the latest first."""


FLEET = FleetParams()


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What a run was begun with: URLs of ``stores`` without passwords, ``names`` of store and namespace by task."""

    run: str
    verb: str
    arguments: Mapping[str, Any]
    stores: tuple[str, ...]
    names: tuple[tuple[int, str], ...]


@dataclass(eq=False)
class RunRecord:
    """The file of a run: a header, then a line for each task that has ended, the latest of a task counts."""

    path: Path
    header: RunHeader
    outcomes: dict[int, FleetOutcome] = field(default_factory=dict)

    @property
    def done(self) -> set[int]:
        """The numbers of the tasks that succeeded."""
        return {number for number, outcome in self.outcomes.items() if outcome.code is None}

    def add(self, number: int, outcome: FleetOutcome) -> None:
        """Record how a task ended."""
        self.outcomes[number] = outcome
        self.append({"task": number, **encode(outcome)})

    def remove(self) -> None:
        """Remove the file of a run that needs no continuation."""
        self.path.unlink(missing_ok=True)

    def append(self, value: Mapping[str, Any]) -> None:
        """Write a line."""
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(value) + "\n")
        except OSError as error:
            raise StoreError(f"the record of the run, {self.path}, cannot be written: {error}") from error


@dataclass(frozen=True, slots=True)
class UnfinishedRun:
    """A run of this machine that is not done: how many of its namespaces are, and how many failed."""

    run: str
    verb: str
    at: datetime | None
    stores: tuple[str, ...]
    namespaces: int
    done: int
    failed: int


def begin(header: RunHeader) -> RunRecord:
    """Begin the record of a run; of those never continued only the latest stay."""
    folder = _folder()
    try:
        private_files.make_folder(folder)
        for old in sorted(folder.glob("*.jsonl"))[: 1 - FLEET.runs or None]:
            old.unlink(missing_ok=True)
        journal = RunRecord(folder / f"{header.run}.jsonl", header)
        private_files.create_file(journal.path)
    except OSError as error:
        raise StoreError(f"the record of the run cannot be written in {folder}: {error}") from error
    journal.append(encode(header))
    return journal


def resume(run: str, verb: str) -> RunRecord:
    """Return the record of a run that was begun on this machine.

    Raises:
        NotFound: there is none; it may have ended, or may have been begun elsewhere.
        Conflict: it is a run of another verb.

    """
    record = _record(_folder() / f"{run}.jsonl") if time_of(run) is not None else None
    if record is None:
        raise NotFound(
            f"there is no unfinished run {run!r} of this machine{_others()}: leave --run out to begin"
        )
    if record.header.verb != verb:
        raise Conflict(f"{run} is a run of 'fleet {record.header.verb}': continue it with that")
    return record


def unfinished() -> list[UnfinishedRun]:
    """Return the runs of this machine that have a record, the latest first."""
    records = [_record(path) for path in sorted(_folder().glob("*.jsonl"), reverse=True)]
    return [_listed(record) for record in records if record is not None]


def _listed(record: RunRecord) -> UnfinishedRun:
    header, done = record.header, len(record.done)
    return UnfinishedRun(
        header.run,
        header.verb,
        time_of(header.run),
        header.stores,
        len(header.names),
        done,
        len(record.outcomes) - done,
    )


def _record(path: Path) -> RunRecord | None:
    """Return the record in a file; None if the file has none."""
    try:
        first, *rest = _parsed(path.read_text("utf-8").splitlines())
        outcomes = {value["task"]: decode(FleetOutcome, value) for value in rest}
        return RunRecord(path, decode(RunHeader, first), outcomes)
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError):
        return None


def _parsed(lines: Sequence[str]) -> Sequence[dict[str, Any]]:
    """Return the lines up to the first that is broken: a process may have ended while it wrote it."""
    values = list[dict[str, Any]]()
    with suppress(ValueError):
        for line in lines:
            values.append(json.loads(line))
    return values


def _others() -> str:
    runs = sorted(path.stem for path in _folder().glob("*.jsonl"))
    return f"; there are {', '.join(runs[-3:])}" if runs else ""


def _folder() -> Path:
    return environment.global_folder() / "fleet"
