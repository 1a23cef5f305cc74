"""Writes of the rows of one operation: deleted, inserted and updated, many at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from priming.errors import Conflict, NotFound
from priming.serialization import column_names, to_columns
from priming.storage.columns import (
    LINK_COLUMNS,
    MEMORY_COLUMNS,
    VERDICT_COLUMNS,
    VERSION_COLUMNS,
    encoded,
)
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    PairRow,
    RelationRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    identity,
)
from priming.storage.sql.dialect import Database, Dialect

_TABLE: dict[type[Row], str] = {
    LinkRow: "links",
    VerdictRow: "verdicts",
    PairRow: "pairs",
    VersionRow: "versions",
    MemoryRow: "memories",
    RunRow: "runs",
    WeightsRow: "weights",
    RelationRow: "relations",
}
"""The tables in the order in which rows are removed: referring rows first."""
_COLUMNS: dict[type[Row], tuple[str, ...]] = {
    LinkRow: ("namespace", "source", "target", *LINK_COLUMNS),
    VerdictRow: ("namespace", "memory", *VERDICT_COLUMNS),
    PairRow: ("namespace", *column_names(PairRow)),
    VersionRow: ("namespace", "memory", *VERSION_COLUMNS),
    MemoryRow: ("namespace", "number", *MEMORY_COLUMNS),
    RunRow: ("namespace", *column_names(RunRow)),
    WeightsRow: ("namespace", *column_names(WeightsRow)),
    RelationRow: ("namespace", *column_names(RelationRow)),
}
_IDENTITY: dict[type[Row], tuple[str, ...]] = {
    LinkRow: ("namespace", "source", "target", "relation"),
    VerdictRow: ("namespace", "memory", "verdict", "operation"),
    PairRow: ("namespace", "source", "target"),
    VersionRow: ("namespace", "memory", "revision"),
    MemoryRow: ("namespace", "number"),
    RunRow: ("namespace", "id"),
    WeightsRow: ("namespace", "profile"),
    RelationRow: ("namespace", "relation"),
}
_UPDATED: dict[type[Row], tuple[str, ...]] = {
    LinkRow: ("weight", "given", "created_at", "last_activated"),
    VerdictRow: ("recall", "at", "tier", "session", "cue"),
    PairRow: ("times",),
    VersionRow: ("retired_at", "valid_from", "valid_to"),
    MemoryRow: MEMORY_COLUMNS[1:],
    RunRow: column_names(RunRow)[1:],
    WeightsRow: column_names(WeightsRow)[1:],
    RelationRow: column_names(RelationRow)[1:],
}


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
        return " AND ".join(f"{name} = ?" for name in _IDENTITY[cls])

    def _remove(self, rows: Sequence[Row]) -> None:
        for cls, table in _TABLE.items():
            removed = [row for row in rows if type(row) is cls]
            if not removed:
                continue
            identities = [self._identity(row) for row in removed]
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
        memories = [row for row in rows if isinstance(row, MemoryRow)]
        if memories:
            self._insert_memories(memories)
        for cls in (VersionRow, LinkRow, VerdictRow, PairRow, RunRow, WeightsRow, RelationRow):
            values = [self._values(row) for row in rows if type(row) is cls]
            if values:
                self.db.many(self.namespace, self._insertion(cls), values)
        versions = [self._identity(row) for row in rows if isinstance(row, VersionRow)]
        if versions:
            self.index(versions)

    def _insertion(self, cls: type[Row]) -> str:
        columns = (*_COLUMNS[cls], self._dialect.text_column) if cls is VersionRow else _COLUMNS[cls]
        places = ", ".join("?" * len(columns))
        return f"INSERT INTO {_TABLE[cls]} ({', '.join(columns)}) VALUES ({places})"

    def _insert_memories(self, rows: Sequence[MemoryRow]) -> None:
        sql = "SELECT coalesce(max(number), 0) + 1 FROM memories WHERE namespace = :namespace"
        first = int(self.db.run(self.namespace, sql)[0][0])
        for column in ("key", "id"):
            self._refuse_taken(column, [str(getattr(row, column)) for row in rows], first)
        self.db.many(
            self.namespace,
            self._insertion(MemoryRow),
            [(self.namespace, number, *encoded(row).values()) for number, row in enumerate(rows, first)],
        )
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
        columns = _UPDATED[cls]
        changed = ", ".join(f"{name} = ?" for name in columns)
        sql = f"UPDATE {_TABLE[cls]} SET {changed} WHERE {self._where(cls)}"
        identities = [self._identity(change.row) for change in changes]
        rows = [encoded(change.row) for change in changes]
        values = [
            (*(row[name] for name in columns), *identity)
            for row, identity in zip(rows, identities, strict=True)
        ]
        if cls is VersionRow:
            self.unindex(identities)
        if self.db.many(self.namespace, sql, values) != len(changes):
            raise NotFound(f"a row to change in {_TABLE[cls]} does not exist: it was removed before")
        if cls is VersionRow:
            self.index(identities)

    def _number(self, memory_id: str) -> int:
        try:
            return self._numbers[memory_id]
        except KeyError:
            raise NotFound(
                f"there is no memory {memory_id!r} in {self.namespace!r}: remember it first"
            ) from None

    def _identity(self, row: Row) -> tuple[Any, ...]:
        match row:
            case LinkRow():
                return self.namespace, self._number(row.source), self._number(row.target), row.relation
            case PairRow():
                return self.namespace, self._number(row.source), self._number(row.target)
            case VersionRow():
                return self.namespace, self._number(row.id), row.revision
            case VerdictRow():
                return self.namespace, self._number(row.id), row.verdict, row.operation
            case RunRow():
                return self.namespace, row.id
            case WeightsRow():
                return self.namespace, row.profile
            case RelationRow():
                return self.namespace, row.relation
        return self.namespace, self._number(row.id)

    def _values(self, row: Row) -> tuple[Any, ...]:
        """The columns of a row of any table but that of memories."""
        if isinstance(row, LinkRow):
            _, _, *columns = to_columns(row)
            return self.namespace, self._number(row.source), self._number(row.target), *columns
        columns = list(encoded(row).values())
        if isinstance(row, PairRow):
            return self.namespace, self._number(row.source), self._number(row.target), *columns[2:]
        if isinstance(row, (RunRow, WeightsRow, RelationRow)):
            return self.namespace, *columns
        if isinstance(row, VersionRow):
            text = f"{row.heading}\n{row.content}" if row.heading else row.content
            columns.append(self._dialect.text_index(text))
        return self.namespace, self._number(row.id), *columns[1:]


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
