"""Writes of the rows of one operation: deleted, inserted and updated, many at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from priming.errors import Conflict, NotFound
from priming.storage.rows import (
    ROOMS,
    LinkRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    VerdictRow,
    VersionRow,
    ends_of,
    identity,
)
from priming.storage.sql.dialect import Database, Dialect, searched_text
from priming.storage.sql.kinds import KINDS, encoded

_OF_MEMORIES = (MemoryRow, VersionRow, LinkRow, VerdictRow, PairRow)
"""The rows that have numbers of memories."""


class RowWriter:
    """Writes rows of one namespace, within a transaction; a backend may add an index of their texts."""

    def __init__(self, db: Database, dialect: Dialect, namespace: str, numbers: dict[str, int]) -> None:
        """``numbers`` maps the ids of all existing memories that the rows name to their numbers."""
        self.db, self.namespace = db, namespace
        self._dialect, self._numbers = dialect, numbers

    def index(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Versions, if current, are now to be found by their words; by default their rows are enough."""

    def unindex(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Versions change or go next; until then they are found by their words."""

    def numbers_of(self, ids: Iterable[str]) -> list[int]:
        """Return the numbers of those of the memories that have one."""
        return [self._numbers[memory_id] for memory_id in ids if memory_id in self._numbers]

    def write(self, changes: Sequence[RowChange]) -> None:
        """Delete the removed rows; then insert and update the others in order."""
        self._remove([change.row for change in changes if change.after is None])
        written = [change for change in changes if change.after is not None]
        for fresh, run in groupby(written, key=lambda change: change.before is None):
            if fresh:
                self._insert([change.row for change in run])
            else:
                for cls, moved in groupby(run, key=lambda change: type(change.row)):
                    self._update(cls, list(moved))

    def _where(self, cls: type[Row]) -> str:
        return " AND ".join(
            f"{name} = ?" for name in ("namespace", *_number_columns(cls), *KINDS[cls].identity)
        )

    def _remove(self, rows: Sequence[Row]) -> None:
        for cls in reversed(ROOMS.values()):  # referring rows first
            removed = [row for row in rows if type(row) is cls]
            if not removed:
                continue
            table, identities = KINDS[cls].name, [self._identity(row) for row in removed]
            if cls is VersionRow:
                self.unindex(identities)
            deleted = self.db.many(
                self.namespace, f"DELETE FROM {table} WHERE {self._where(cls)}", identities
            )
            if deleted != len(removed):
                raise NotFound(f"a row to remove from {table} does not exist: it was removed before")
            if cls is VersionRow:
                self._drop_vectors(removed)

    def _drop_vectors(self, rows: Sequence[Row]) -> None:
        """Delete the vectors of versions that have no row left."""
        self.db.many(
            self.namespace,
            "DELETE FROM vectors WHERE namespace = ? AND memory = ? AND version = ?"
            " AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.namespace = vectors.namespace"
            " AND v.memory = vectors.memory AND v.version = vectors.version)",
            [
                (self.namespace, self._numbers[row.id], row.version)
                for row in rows
                if isinstance(row, VersionRow)
            ],
        )

    def _insert(self, rows: Sequence[Row]) -> None:
        self._number_memories([row for row in rows if isinstance(row, MemoryRow)])
        for cls in ROOMS.values():
            values = [self._values(row) for row in rows if type(row) is cls]
            if values:
                columns = ["namespace", *_number_columns(cls), *KINDS[cls].columns]
                columns += [self._dialect.text_column] if cls is VersionRow else []
                places = ", ".join("?" * len(columns))
                sql = f"INSERT INTO {KINDS[cls].name} ({', '.join(columns)}) VALUES ({places})"
                self.db.many(self.namespace, sql, values)
        versions = [self._identity(row) for row in rows if isinstance(row, VersionRow)]
        if versions:
            self.index(versions)

    def _number_memories(self, rows: Sequence[MemoryRow]) -> None:
        """Give the next numbers to new memories."""
        if not rows:
            return
        sql = "SELECT coalesce(max(number), 0) + 1 FROM memories WHERE namespace = :namespace"
        first = int(self.db.run(self.namespace, sql)[0][0])
        for column in ("key", "id"):
            self._refuse_taken(column, [str(getattr(row, column)) for row in rows], first)
        self._numbers |= {row.id: number for number, row in enumerate(rows, first)}

    def _refuse_taken(self, column: str, names: Sequence[str], first: int) -> None:
        sql = (
            f"SELECT {column} FROM memories WHERE namespace = :namespace AND number < :first"
            f" AND {self._dialect.among(column, 'names')}"
        )
        rows = self.db.run(self.namespace, sql, {"names": list(dict.fromkeys(names)), "first": first})
        present = {name for (name,) in rows}
        taken = [name for name, count in Counter(names).items() if count > 1 or name in present]
        if taken:
            raise Conflict(f"{column} {taken[0]!r} is taken: choose another, or supersede the memory")

    def _update(self, cls: type[Row], changes: Sequence[RowChange]) -> None:
        for change in changes:
            _check_update(change)
        table, columns = KINDS[cls].name, KINDS[cls].updated
        changed = ", ".join(f"{name} = ?" for name in columns)
        sql = f"UPDATE {table} SET {changed} WHERE {self._where(cls)}"
        identities = [self._identity(change.row) for change in changes]
        rows = [encoded(change.row) for change in changes]
        values = [
            (*(row[name] for name in columns), *identity)
            for row, identity in zip(rows, identities, strict=True)
        ]
        if cls is VersionRow:
            self.unindex(identities)
        if self.db.many(self.namespace, sql, values) != len(changes):
            raise NotFound(f"a row to change in {table} does not exist: it was removed before")
        if cls is VersionRow:
            self.index(identities)

    def _number(self, memory_id: str) -> int:
        try:
            return self._numbers[memory_id]
        except KeyError:
            raise NotFound(
                f"there is no memory {memory_id!r} in {self.namespace!r}: remember it first"
            ) from None

    def _of_memories(self, row: Row) -> list[int]:
        """The numbers of the memories by which a row is found, as its first columns."""
        return [self._number(end) for end in ends_of(row)] if isinstance(row, _OF_MEMORIES) else []

    def _identity(self, row: Row) -> tuple[Any, ...]:
        names = (getattr(row, name) for name in KINDS[type(row)].identity)
        return self.namespace, *self._of_memories(row), *names

    def _values(self, row: Row) -> tuple[Any, ...]:
        """The columns of a row."""
        columns = list(encoded(row).values())[len(KINDS[type(row)].ends) :]
        if isinstance(row, VersionRow):
            columns.append(self._dialect.text_index(searched_text(row.heading, row.content)))
        return self.namespace, *self._of_memories(row), *columns


def _number_columns(cls: type[Row]) -> tuple[str, ...]:
    table = KINDS[cls]
    return table.ends or ((table.number,) if table.number else ())


def _check_update(change: RowChange) -> None:
    """Check that a change leaves the identity of its row, and the text of a version, as they are."""
    before, after = change.before, change.after
    assert before is not None, "an insertion or a removal is not an update"
    assert after is not None, "an insertion or a removal is not an update"
    if isinstance(before, VersionRow) and isinstance(after, VersionRow):
        same = replace(
            before, retired_at=after.retired_at, valid_from=after.valid_from, valid_to=after.valid_to
        )
        if same != after:
            raise Conflict(
                f"version {before.version} of {before.id!r} cannot be edited: retire it and record another"
            )
    elif identity(before) != identity(after):
        raise Conflict("a row cannot become another row: remove it and insert the other")
