"""What the log holds of an operation, the same in every database, and operations from its rows."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any

from priming.serialization import stamp
from priming.storage.protocol import Changes, Logged
from priming.storage.rows import Row, RowChange, RunRow, pack, unpack

_PIECE = 200
"""Rows in one piece of what an operation changed."""


def logged_changes(changes: Changes, number: int, erased: Collection[str] = ()) -> Logged:
    """The entry of an operation with its number."""
    return Logged(
        number,
        changes.id,
        changes.kind,
        changes.at,
        changes.actor,
        changes.source,
        changes.reason,
        None,
        changes.message,
        changes.rows,
        tuple(erased),
        changes.undoes,
        changes.via,
        changes.session,
    )


def operation_values(namespace: str, operation: Logged) -> tuple[Any, ...]:
    """The columns of an operation in the log."""
    return (
        namespace,
        operation.number,
        operation.id,
        operation.kind,
        stamp(operation.at),
        operation.actor,
        operation.source,
        operation.reason,
        operation.undone_by,
        operation.message,
        json.dumps(operation.erased) if operation.erased else None,
        json.dumps(operation.undoes) if operation.undoes else None,
        operation.via,
        operation.session,
    )


def pieces(namespace: str, operation: Logged) -> Iterator[tuple[str, int, int, str]]:
    """What an operation changed, in pieces of some hundred rows."""
    for first in range(0, len(operation.rows), _PIECE):
        packed = pack(operation.rows[first : first + _PIECE])
        yield namespace, operation.number, first // _PIECE, packed


def undos_in_effect(undos: Iterable[tuple[str, str]]) -> dict[str, str | None]:
    """For each operation that was ever undone, the latest of its undos that is not undone itself, or None.

    ``undos`` are operations with what they undo, as JSON, the newest first.
    """
    undone_by: dict[str, str | None] = {}
    for by, undone in undos:
        # An undo of this undo is newer, so it was visited before.
        in_effect = by if undone_by.get(by) is None else None
        for operation_id in json.loads(undone):
            undone_by[operation_id] = undone_by.get(operation_id) or in_effect
    return undone_by


def naming(keys: Collection[str]) -> re.Pattern[str]:
    """Matches a text that names one of the keys."""
    return re.compile("|".join(rf"(?<![\w-]){re.escape(key)}(?![\w-])" for key in keys))


def touched(rows: Iterable[RowChange]) -> set[str]:
    """The ids of the memories that changes are about."""
    return {end for change in rows for end in change.ends}


def without(rows: Sequence[RowChange], ids: set[str]) -> list[RowChange]:
    """The changes that are not about these memories; runs remain without them."""

    def without_erased(row: Row | None) -> Row | None:
        if not isinstance(row, RunRow):
            return row
        return replace(row, shown=tuple(memory_id for memory_id in row.shown if memory_id not in ids))

    return [
        RowChange(without_erased(change.before), without_erased(change.after))
        for change in rows
        if isinstance(change.row, RunRow) or not ids.intersection(change.ends)
    ]


def logged_operations(rows: Iterable[tuple[Any, ...]]) -> Iterator[Logged]:
    """Operations from rows of which each has one piece of the changes."""
    for _, run in groupby(rows, key=lambda row: int(row[0])):
        pieces = list(run)
        number, operation_id, kind, at, actor, source, reason, undone_by, message, *rest, _ = pieces[0]
        erased, undoes, via, session = rest
        yield Logged(
            number,
            operation_id,
            kind,
            datetime.fromisoformat(at),
            actor,
            source,
            reason,
            undone_by,
            message,
            tuple(change for *_, packed in pieces if packed for change in unpack(packed)),
            tuple(json.loads(erased)) if erased else (),
            tuple(json.loads(undoes)) if undoes else (),
            via,
            session,
        )
