"""Many processes that write at once, while others recall, give verdicts and sleep."""

from __future__ import annotations

import os
import select
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from random import Random

from tests.storage.processes import Gate, in_child, start

from priming.errors import PrimingError

from .databases import Database, examine
from .work import Diary, Worker

_EVERY = 10
"""Of how many writes one is followed by a recall with a verdict."""


@dataclass(slots=True)
class Writing:
    """What came of it: writes, errors that a caller saw by code, the longest waits, and what is wrong."""

    writes: int = 0
    recalls: int = 0
    unrecorded: int = 0
    nights: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def write_at_once(database: Database, processes: int, writes: int, seed: int) -> Writing:
    """``processes`` write ``writes`` memories each; beside them one recalls and one sleeps, until all are written."""
    in_child(partial(_create, database))
    gate, end = Gate.closed(), Gate.closed()
    children = [start(partial(_write, database, gate, n, writes, seed)) for n in range(processes)]
    beside = [start(partial(_recall, database, gate, end, seed)), start(partial(_sleep, database, gate, end))]
    began = time.monotonic()
    gate.open(processes + len(beside))
    result = Writing()
    for child in children:
        count, slowest, unrecorded, errors = child.result()
        result.unrecorded += unrecorded
        result.writes += count
        result.slowest = max(result.slowest, slowest)
        result.errors += errors
    result.seconds = time.monotonic() - began
    end.open(len(beside))
    (result.recalls, errors), (result.nights, more) = (child.result() for child in beside)
    result.errors += errors + more
    diaries = [Diary(database.folder / f"diary-{n}") for n in ("first", *range(processes), "verdicts")]
    acknowledged = set().union(*(diary.acknowledged for diary in diaries))
    begun = set().union(*(diary.begun for diary in diaries))
    result.wrong = in_child(lambda: examine(database, acknowledged, begun))
    return result


def _create(database: Database) -> None:
    with closing(database.open()) as memory:
        Worker(memory, Random(0), Diary(database.folder / "diary-first"), "first").remember()


def _write(
    database: Database, gate: Gate, number: int, writes: int, seed: int
) -> tuple[int, float, int, Counter[str]]:
    slowest, errors = 0.0, Counter[str]()
    with closing(database.open()) as memory:
        worker = Worker(
            memory, Random(seed + number), Diary(database.folder / f"diary-{number}"), f"w{number}"
        )
        gate.wait()
        for i in range(writes):
            began = time.monotonic()
            _counting(worker.remember, errors)
            slowest = max(slowest, time.monotonic() - began)
            if i % _EVERY == 0:
                _counting(worker.recall, errors)
        return len(worker.keys), slowest, worker.unrecorded, errors


def _counting(call: Callable[[], object], errors: Counter[str]) -> None:
    try:
        call()
    except PrimingError as error:
        errors[f"{error.code}: {error}"] += 1


def _recall(database: Database, gate: Gate, end: Gate, seed: int) -> tuple[int, Counter[str]]:
    errors, count = Counter[str](), 0
    with closing(database.open()) as memory:
        worker = Worker(memory, Random(seed - 1), Diary(database.folder / "diary-verdicts"), "r")
        gate.wait()
        while not _is_open(end):
            _counting(worker.recall, errors)
            count += 1
    return count, errors


def _sleep(database: Database, gate: Gate, end: Gate) -> tuple[int, Counter[str]]:
    errors, count = Counter[str](), 0
    with closing(database.open()) as memory:
        gate.wait()
        while not _is_open(end):
            _counting(memory.sleep, errors)
            count += 1
    return count, errors


def _is_open(gate: Gate) -> bool:
    ready, _, _ = select.select([gate.exit], [], [], 0)
    return bool(ready) and bool(os.read(gate.exit, 1))
