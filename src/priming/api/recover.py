"""What a call would have answered, from what the log says that it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from priming.behaviors import Pack
from priming.errors import StoreError
from priming.types import Link, MemoryRecord, Operation, Remembered
from priming.verdicts import Run, StrengthEvent

if TYPE_CHECKING:
    from priming.api.ops import Op
    from priming.memory import Memory

Rebuilt = Callable[["Memory", Operation], Any]


def answer(op: Op, memory: Memory, done: Operation) -> Any:
    """The answer of a call that was carried out as ``done`` before its answer was lost.

    Raises:
        StoreError: the log does not say enough to rebuild it; the call was carried out nevertheless.

    """
    for kind, rebuilt in _REBUILT:
        if op.answer == kind:
            return rebuilt(memory, done)
    raise StoreError(
        f"{op.command} was carried out as operation {done.id}, but the server ended before it answered: "
        "priming log shows what it did"
    )


def _operation(_memory: Memory, done: Operation) -> Operation:
    return done


def _remembered(memory: Memory, done: Operation) -> Remembered:
    """The first memory of the operation is what was told; the others are names in it."""
    row = _rows(done, "memories")[0]
    if done.kind != "remember":
        return Remembered(row["id"], memory.get(row["id"]).key, "echo", (), done.id)
    return Remembered(row["id"], memory.get(row["id"]).key, "stored", tuple(_links(memory, done)), done.id)


def _record(memory: Memory, done: Operation) -> MemoryRecord:
    return memory.get(_rows(done, "versions")[0]["id"])


def _link(memory: Memory, done: Operation) -> Link:
    return _links(memory, done)[0]


def _links(memory: Memory, done: Operation) -> list[Link]:
    from priming.serialization import decode

    rows = _rows(done, "links")
    keys = {one: memory.get(one).key for one in {row[end] for row in rows for end in ("source", "target")}}
    return [
        decode(Link, {**row, "source": keys[row["source"]], "target": keys[row["target"]]}) for row in rows
    ]


def _run(memory: Memory, done: Operation) -> Run:
    asked = _rows(done, "runs")[0]["id"]
    (found,) = (one for one in memory.run_list() if one.id == asked)
    return replace(found, operation=done.id)


def _pack(memory: Memory, done: Operation) -> Pack:
    (found,) = (one for one in memory.pack_list() if one.operation == done.id)
    return found


def _events(memory: Memory, done: Operation) -> list[StrengthEvent]:
    return [one for one in memory.events(since=done.at) if one.operation == done.id]


def _rows(done: Operation, table: str) -> list[Mapping[str, Any]]:
    """The rows of a table as the operation left them."""
    return [one.after for one in done.changes if one.table == table and one.after is not None]


_REBUILT: tuple[tuple[Any, Rebuilt], ...] = (
    (Operation, _operation),
    (Remembered, _remembered),
    (MemoryRecord, _record),
    (Link, _link),
    (list[Link], _links),
    (Run, _run),
    (Pack, _pack),
    (list[StrengthEvent], _events),
)
"""What is rebuilt how; other answers say more than the log does."""
