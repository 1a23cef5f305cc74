"""Writes of the rows of one operation to SQLite: deleted, inserted and updated, many at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from priming.errors import Conflict, NotFound
from priming.serialization import column_names, column_text, encode_row, to_columns
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
from priming.storage.sqlite.connection import Connection
from priming.storage.sqlite.reader import (
    AS_JSON,
    LINK_COLUMNS,
    MEMORY_COLUMNS,
    VERDICT_COLUMNS,
    VERSION_COLUMNS,
    json_list,
)
from priming.storage.sqlite.text_index import cjk_pairs

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
    VersionRow: ("namespace", "memory", *VERSION_COLUMNS, "bigrams"),
    MemoryRow: ("namespace", "number", *MEMORY_COLUMNS),
    RunRow: ("namespace", *column_names(RunRow)),
    WeightsRow: ("namespace", *column_names(WeightsRow)),
    RelationRow: ("namespace", *column_names(RelationRow)),
}
_IDENTITY: dict[type[Row], str] = {
    LinkRow: "namespace = ? AND source = ? AND target = ? AND relation = ?",
    VerdictRow: "namespace = ? AND memory = ? AND verdict = ? AND operation = ?",
    PairRow: "namespace = ? AND source = ? AND target = ?",
    VersionRow: "namespace = ? AND memory = ? AND revision = ?",
    MemoryRow: "namespace = ? AND number = ?",
    RunRow: "namespace = ? AND id = ?",
    WeightsRow: "namespace = ? AND profile = ?",
    RelationRow: "namespace = ? AND relation = ?",
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
_TEXT = "v.number, v.heading, v.content, v.bigrams FROM json_each(:listed) i CROSS JOIN versions v"
_VERSION = (
    "ON v.namespace = :namespace AND v.memory = json_extract(i.value, '$[0]')"
    " AND v.revision = json_extract(i.value, '$[1]') WHERE v.retired_at IS NULL"
)
_INDEX_WORDS = f"INSERT INTO words (rowid, heading, content, bigrams) SELECT {_TEXT} {_VERSION}"
_UNINDEX_WORDS = f"INSERT INTO words (words, rowid, heading, content, bigrams) SELECT 'delete', {_TEXT}"


def forget_words(db: Connection, namespace: str, numbers: Iterable[int]) -> None:
    """Remove the texts of these memories from the text index."""
    sql = f"{_UNINDEX_WORDS} ON v.namespace = :namespace AND v.memory = i.value WHERE v.retired_at IS NULL"
    db.change(sql, {"namespace": namespace, "listed": json_list(numbers)})


class RowWriter:
    """Writes rows of one namespace, within a transaction."""

    def __init__(self, db: Connection, namespace: str, numbers: dict[str, int]) -> None:
        """``numbers`` maps the ids of all existing memories that the rows name to their numbers."""
        self._db = db
        self._namespace = namespace
        self._numbers = numbers

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

    def _remove(self, rows: Sequence[Row]) -> None:
        for cls, table in _TABLE.items():
            removed = [row for row in rows if type(row) is cls]
            if not removed:
                continue
            identities = [self._identity(row) for row in removed]
            if cls is VersionRow:
                self._words(f"{_UNINDEX_WORDS} {_VERSION}", identities)
            deleted = self._db.many(f"DELETE FROM {table} WHERE {_IDENTITY[cls]}", identities)
            if deleted != len(removed):
                raise NotFound(f"a row to remove from {table} does not exist: it was removed before")
            if cls is VersionRow:
                self._drop_vectors(removed)

    def _drop_vectors(self, rows: Sequence[Row]) -> None:
        """Delete the vectors of versions that have no row left."""
        self._db.many(
            "DELETE FROM vectors WHERE namespace = :namespace AND memory = :memory AND version = :version"
            " AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.namespace = vectors.namespace"
            " AND v.memory = vectors.memory AND v.version = vectors.version)",
            [
                {"namespace": self._namespace, "memory": self._numbers[row.id], "version": row.version}
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
                self._db.many(_insertion(cls), values)
        versions = [self._identity(row) for row in rows if isinstance(row, VersionRow)]
        if versions:
            self._words(_INDEX_WORDS, versions)

    def _words(self, sql: str, versions: Iterable[tuple[Any, ...]]) -> None:
        """Add the texts of these versions, if current, to the text index, or remove them."""
        listing = json_list(identity[1:] for identity in versions)
        self._db.change(sql, {"namespace": self._namespace, "listed": listing})

    def _insert_memories(self, rows: Sequence[MemoryRow]) -> None:
        sql = "SELECT coalesce(max(number), 0) + 1 FROM memories WHERE namespace = ?"
        ((first,),) = self._db.run(sql, (self._namespace,))
        values = [
            (self._namespace, number, *_encoded(row).values()) for number, row in enumerate(rows, start=first)
        ]
        try:
            self._db.many(_insertion(MemoryRow), values)
        except Conflict:
            raise self._taken(rows, first) from None
        self._numbers |= {row.id: number for number, row in enumerate(rows, start=first)}

    def _taken(self, rows: Sequence[MemoryRow], first: int) -> Conflict:
        """Why memories could not be inserted: a key or id that exists, or occurs twice."""
        for column in ("key", "id"):
            names = Counter(str(getattr(row, column)) for row in rows)
            sql = (
                f"SELECT i.value FROM json_each(?) i CROSS JOIN memories m ON m.namespace = ?"
                f" AND m.{column} = i.value WHERE m.number < ?"
            )
            present = {name for (name,) in self._db.run(sql, (json_list(names), self._namespace, first))}
            taken = [name for name, count in names.items() if count > 1 or name in present]
            if taken:
                return Conflict(f"{column} {taken[0]!r} is taken: choose another, or supersede the memory")
        return Conflict("a memory to be inserted exists")

    def _update(self, cls: type[Row], changes: Sequence[RowChange]) -> None:
        for change in changes:
            _check_update(change)
        columns = _UPDATED[cls]
        sql = (
            f"UPDATE {_TABLE[cls]} SET {', '.join(f'{name} = ?' for name in columns)} WHERE {_IDENTITY[cls]}"
        )
        identities = [self._identity(change.row) for change in changes]
        encoded = [_encoded(change.row) for change in changes]
        values = [
            (*(row[name] for name in columns), *identity)
            for row, identity in zip(encoded, identities, strict=True)
        ]
        if cls is VersionRow:
            self._words(f"{_UNINDEX_WORDS} {_VERSION}", identities)
        if self._db.many(sql, values) != len(changes):
            raise NotFound(f"a row to change in {_TABLE[cls]} does not exist: it was removed before")
        if cls is VersionRow:
            self._words(_INDEX_WORDS, identities)

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
        columns = list(_encoded(row).values())
        if isinstance(row, PairRow):
            return self._namespace, self._number(row.source), self._number(row.target), *columns[2:]
        if isinstance(row, (RunRow, WeightsRow, RelationRow)):
            return self._namespace, *columns
        if isinstance(row, VersionRow):
            columns.append(cjk_pairs(f"{row.heading}\n{row.content}" if row.heading else row.content))
        return self._namespace, self._number(row.id), *columns[1:]


def _insertion(cls: type[Row]) -> str:
    columns = _COLUMNS[cls]
    return f"INSERT INTO {_TABLE[cls]} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _encoded(row: Row) -> dict[str, Any]:
    """The fields of a row as its columns store them."""
    encoded = encode_row(row)
    for name in AS_JSON.get(type(row), ()):
        encoded[name] = column_text(encoded[name])
    return encoded


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
