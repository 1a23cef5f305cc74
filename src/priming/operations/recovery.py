"""The answer of a call whose server ended before it answered, rebuilt from the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from priming.errors import StoreError
from priming.history.weights_over_time import StrengthEvent
from priming.learning.results import Run
from priming.results import Remembered
from priming.rules.results import Pack
from priming.serialization import decode
from priming.types import Link, MemoryRecord, Operation

if TYPE_CHECKING:
    from priming.memory import Memory
    from priming.verbs.op import Op

Rebuild = Callable[["Memory", Operation], Any]


def answer_of(op: Op, memory: Memory, logged: Operation) -> Any:
    """The answer of a call that was carried out as the logged operation.

    Raises:
        StoreError: the log does not hold enough to rebuild it; the call was carried out nevertheless.

    """
    for kind, rebuild in _REBUILDS:
        if op.answer == kind:
            return rebuild(memory, logged)
    raise StoreError(
        f"{op.command} was carried out as operation {logged.id}, but the server ended before it answered: "
        "priming log shows what it did"
    )


def _operation(_memory: Memory, logged: Operation) -> Operation:
    return logged


def _remembered(memory: Memory, logged: Operation) -> Remembered:
    """The first memory of the operation is the one remembered; the others are names in it."""
    row = _rows(logged, "memories")[0]
    key = memory.get(row["id"]).key
    if logged.kind != "remember":
        return Remembered(row["id"], key, "echo", (), logged.id)
    return Remembered(row["id"], key, "stored", tuple(_links(memory, logged)), logged.id)


def _record(memory: Memory, logged: Operation) -> MemoryRecord:
    return memory.get(_rows(logged, "versions")[0]["id"])


def _link(memory: Memory, logged: Operation) -> Link:
    return _links(memory, logged)[0]


def _links(memory: Memory, logged: Operation) -> list[Link]:
    rows = _rows(logged, "links")
    ids = {row[end] for row in rows for end in ("source", "target")}
    keys = {memory_id: memory.get(memory_id).key for memory_id in ids}
    return [
        decode(Link, {**row, "source": keys[row["source"]], "target": keys[row["target"]]}) for row in rows
    ]


def _run(memory: Memory, logged: Operation) -> Run:
    run_id = _rows(logged, "runs")[0]["id"]
    (run,) = (each for each in memory.run_list() if each.id == run_id)
    return replace(run, operation=logged.id)


def _pack(memory: Memory, logged: Operation) -> Pack:
    (pack,) = (each for each in memory.pack_list() if each.operation == logged.id)
    return pack


def _events(memory: Memory, logged: Operation) -> list[StrengthEvent]:
    return [event for event in memory.events(since=logged.at) if event.operation == logged.id]


def _rows(logged: Operation, table: str) -> list[Mapping[str, Any]]:
    """The rows of a table as the operation left them."""
    return [change.after for change in logged.changes if change.table == table and change.after is not None]


_REBUILDS: tuple[tuple[Any, Rebuild], ...] = (
    (Operation, _operation),
    (Remembered, _remembered),
    (MemoryRecord, _record),
    (Link, _link),
    (list[Link], _links),
    (Run, _run),
    (Pack, _pack),
    (list[StrengthEvent], _events),
)
"""How each type of answer is rebuilt; the log does not hold enough for the others."""
