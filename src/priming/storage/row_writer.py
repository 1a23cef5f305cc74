"""Writes of the rows of one operation, the same in every database: deleted, inserted and updated, many at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, ClassVar, Protocol

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


class RowStatements(Protocol):
    """Sends one statement that writes, once for each of some rows of values; returns the number of rows changed."""

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """The number of rows that were changed."""
        ...


class RowWriter:
    """Writes rows of one namespace, within a transaction; a backend adds its placeholder and its text index."""

    place: ClassVar[str]
    """The placeholder of a value in a statement."""
    text_column: ClassVar[str]
    """The column of ``versions`` from which texts are found by their words."""

    def __init__(self, statements: RowStatements, namespace: str, numbers: dict[str, int]) -> None:
        """``numbers`` maps the ids of all existing memories that the rows name to their numbers."""
        self._statements = statements
        self._namespace = namespace
        self._numbers = numbers

    @abstractmethod
    def taken(self, column: str, names: Collection[str], before: int) -> set[str]:
        """Those of the names that memories with numbers below ``before`` have in a column."""

    @abstractmethod
    def first_number(self) -> int:
        """The number of the next memory."""

    @abstractmethod
    def text_index(self, row: VersionRow) -> str | None:
        """The value of ``text_column``."""

    def index(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Versions, if current, are now to be found by their words; by default their rows are enough."""

    def unindex(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Versions change or go next; until then they are found by their words."""

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
        return " AND ".join(f"{name} = {self.place}" for name in _IDENTITY[cls])

    def _remove(self, rows: Sequence[Row]) -> None:
        for cls, table in _TABLE.items():
            removed = [row for row in rows if type(row) is cls]
            if not removed:
                continue
            identities = [self._identity(row) for row in removed]
            if cls is VersionRow:
                self.unindex(identities)
            deleted = self._statements.many(f"DELETE FROM {table} WHERE {self._where(cls)}", identities)
            if deleted != len(removed):
                raise NotFound(f"a row to remove from {table} does not exist: it was removed before")
            if cls is VersionRow:
                self._drop_vectors(removed)

    def _drop_vectors(self, rows: Sequence[Row]) -> None:
        """Delete the vectors of versions that have no row left."""
        here = self.place
        self._statements.many(
            f"DELETE FROM vectors WHERE namespace = {here} AND memory = {here} AND version = {here}"
            " AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.namespace = vectors.namespace"
            " AND v.memory = vectors.memory AND v.version = vectors.version)",
            [
                (self._namespace, self._numbers[row.id], row.version)
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
                self._statements.many(self._insertion(cls), values)
        versions = [self._identity(row) for row in rows if isinstance(row, VersionRow)]
        if versions:
            self.index(versions)

    def _insertion(self, cls: type[Row]) -> str:
        columns = (*_COLUMNS[cls], self.text_column) if cls is VersionRow else _COLUMNS[cls]
        places = ", ".join([self.place] * len(columns))
        return f"INSERT INTO {_TABLE[cls]} ({', '.join(columns)}) VALUES ({places})"

    def _insert_memories(self, rows: Sequence[MemoryRow]) -> None:
        first = self.first_number()
        for column in ("key", "id"):
            self._refuse_taken(column, [str(getattr(row, column)) for row in rows], first)
        self._statements.many(
            self._insertion(MemoryRow),
            [(self._namespace, number, *encoded(row).values()) for number, row in enumerate(rows, first)],
        )
        self._numbers |= {row.id: number for number, row in enumerate(rows, first)}

    def _refuse_taken(self, column: str, names: Sequence[str], first: int) -> None:
        present = self.taken(column, names, first)
        taken = [name for name, count in Counter(names).items() if count > 1 or name in present]
        if taken:
            raise Conflict(f"{column} {taken[0]!r} is taken: choose another, or supersede the memory")

    def _update(self, cls: type[Row], changes: Sequence[RowChange]) -> None:
        for change in changes:
            _check_update(change)
        columns = _UPDATED[cls]
        changed = ", ".join(f"{name} = {self.place}" for name in columns)
        sql = f"UPDATE {_TABLE[cls]} SET {changed} WHERE {self._where(cls)}"
        identities = [self._identity(change.row) for change in changes]
        rows = [encoded(change.row) for change in changes]
        values = [
            (*(row[name] for name in columns), *identity)
            for row, identity in zip(rows, identities, strict=True)
        ]
        if cls is VersionRow:
            self.unindex(identities)
        if self._statements.many(sql, values) != len(changes):
            raise NotFound(f"a row to change in {_TABLE[cls]} does not exist: it was removed before")
        if cls is VersionRow:
            self.index(identities)

    def _number(self, memory_id: str) -> int:
        try:
            return self._numbers[memory_id]
        except KeyError:
            raise NotFound(
                f"there is no memory {memory_id!r} in {self._namespace!r}: remember it first"
            ) from None

    def _identity(self, row: Row) -> tuple[Any, ...]:
        match row:
            case LinkRow():
                return self._namespace, self._number(row.source), self._number(row.target), row.relation
            case PairRow():
                return self._namespace, self._number(row.source), self._number(row.target)
            case VersionRow():
                return self._namespace, self._number(row.id), row.revision
            case VerdictRow():
                return self._namespace, self._number(row.id), row.verdict, row.operation
            case RunRow():
                return self._namespace, row.id
            case WeightsRow():
                return self._namespace, row.profile
            case RelationRow():
                return self._namespace, row.relation
        return self._namespace, self._number(row.id)

    def _values(self, row: Row) -> tuple[Any, ...]:
        """The columns of a row of any table but that of memories."""
        if isinstance(row, LinkRow):
            _, _, *columns = to_columns(row)
            return self._namespace, self._number(row.source), self._number(row.target), *columns
        columns = list(encoded(row).values())
        if isinstance(row, PairRow):
            return self._namespace, self._number(row.source), self._number(row.target), *columns[2:]
        if isinstance(row, (RunRow, WeightsRow, RelationRow)):
            return self._namespace, *columns
        if isinstance(row, VersionRow):
            columns.append(self.text_index(row))
        return self._namespace, self._number(row.id), *columns[1:]


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
