"""Writes of the rows of one operation, many at a time; and what a purge erases, in rows and in the log.

A purge erases memories, what refers to them, and what names somebody beside them.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, ClassVar

from priming.errors import Conflict, NotFound
from priming.serialization import column_names
from priming.storage.protocol import Changes, Named, Store, TokenRow, Trace
from priming.storage.questions import StoredNamespace
from priming.storage.rows import (
    ROOMS,
    LinkRow,
    LoopSessionRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    ends_of,
    identity,
    unpack,
)
from priming.storage.sql.dialect import TRACES, Database, Dialect, searched_text
from priming.storage.sql.kinds import KINDS, columns_of, insertion
from priming.storage.sql.tables import SqlLog, without_shown

_REMARKS = ("actor", "source", "reason", "message", "via", "session")
_FETCHED = 100
"""The number of rows in memory: a piece of the log may be large."""
_OF_MEMORIES = (MemoryRow, VersionRow, LinkRow, VerdictRow, PairRow)
"""The rows that have numbers of memories."""


class RowWriter:
    """Writes rows of one namespace, within a transaction; a backend may add an index of their texts."""

    def __init__(self, db: Database, dialect: Dialect, namespace: str, numbers: dict[str, int]) -> None:
        """Take ``numbers``, which maps the ids of all existing memories that the rows name to their numbers."""
        self.db, self.namespace = db, namespace
        self._dialect, self._numbers = dialect, numbers

    def index(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Let versions, if current, be found by their words from now on; by default their rows are enough."""

    def unindex(self, identities: Iterable[tuple[Any, ...]]) -> None:
        """Let versions that change or go next no longer be found by their words; until then they are."""

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
                self.db.many(self.namespace, insertion(KINDS[cls].name, columns), values)
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
        rows = [dict(zip(column_names(cls), columns_of(change.row), strict=True)) for change in changes]
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
        """Return the numbers of the memories by which a row is found, as its first columns."""
        return [self._number(end) for end in ends_of(row)] if isinstance(row, _OF_MEMORIES) else []

    def _identity(self, row: Row) -> tuple[Any, ...]:
        names = (getattr(row, name) for name in KINDS[type(row)].identity)
        return self.namespace, *self._of_memories(row), *names

    def _values(self, row: Row) -> tuple[Any, ...]:
        """Return the columns of a row."""
        columns = columns_of(row)[len(KINDS[type(row)].ends) :]
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


class Erasure(SqlLog, Store):
    """Erases memories of a namespace, and mentions of names."""

    _db: Database
    _dialect: Dialect
    of_memory: ClassVar[tuple[tuple[str, str], ...]] = (
        ("links", "source"),
        ("links", "target"),
        ("verdicts", "memory"),
        ("pairs", "source"),
        ("pairs", "target"),
        ("vectors", "memory"),
        ("versions", "memory"),
        ("memories", "number"),
    )
    """The tables of what is of a memory, with the column that has its number, referring rows first."""

    def purge(self, changes: Changes, ids: Collection[str], is_named: Named | None = None) -> dict[str, int]:
        """Erase memories and all that refers to them, in the log as well; the number of rows by table."""
        namespace = changes.namespace
        with self.transaction():
            StoredNamespace(self, namespace).check_writable()
            numbers = list(self._numbers(namespace, ids).values())
            keys = self.names(namespace, ids=ids).values()
            erased = {"loop_sessions": self._erase_loop_sessions(namespace, keys)}
            keyed = re.compile("|".join(rf"(?<![\w-]){re.escape(key)}(?![\w-])" for key in keys) or "(?!)")
            self._erase_remarks(namespace, ("message", "reason"), keyed.search)
            erased |= self._erase_rows(namespace, numbers)
            self._erase_shown(namespace, set(ids))
            erased["changes"] = self._erase_from_log(namespace, ids)
            erased["traces"] = self._erase_traces(namespace, ids)
            for table, number in self._erase_mentions(namespace, is_named).items() if is_named else ():
                erased[table] = erased.get(table, 0) + number
            self._log(changes, ids)
            self._merge_words()
        return erased

    def _write(self, namespace: str, changes: Sequence[RowChange]) -> None:
        created = {
            change.row.id for change in changes if change.before is None and isinstance(change.row, MemoryRow)
        }
        named = {end for change in changes if not isinstance(change.row, RunRow) for end in change.ends}
        self._writer(namespace, self._numbers(namespace, named - created)).write(changes)

    def _erase_rows(self, namespace: str, numbers: Collection[int]) -> dict[str, int]:
        erased: dict[str, int] = {}
        for table, column in self.of_memory:
            which = self._dialect.among(column, "numbers", "bigint")
            sql = f"DELETE FROM {table} WHERE namespace = :namespace AND {which}"
            deleted = self._db.change(namespace, sql, {"numbers": list(numbers)})
            erased[table] = erased.get(table, 0) + deleted
        return erased

    def _erase_shown(self, namespace: str, ids: set[str]) -> None:
        """Remove these memories from the lists of runs."""
        runs = [run for run in self.part(namespace, RunRow) if not ids.isdisjoint(run.shown)]
        self._write(namespace, [RowChange(run, without_shown(run, ids)) for run in runs])

    def _erase_traces(self, namespace: str, ids: Collection[str]) -> int:
        """Erase the recalls that returned any of these memories, and flows through them; the number of recalls."""
        d, values = self._dialect, {"ids": list(ids)}
        self._db.lock(namespace, TRACES)
        here = "namespace = :namespace"
        self._db.change(
            namespace, f"DELETE FROM activations WHERE {here} AND {d.among('memory', 'ids')}", values
        )
        hits, nodes = d.elements("hits", "h"), d.elements("nodes", "n", texts=True)
        deleted = self._db.change(
            namespace,
            f"DELETE FROM traces WHERE {here} AND EXISTS"
            f" (SELECT 1 FROM {hits} WHERE {d.among(f'({d.hit})', 'ids')})",
            values,
        )
        self._db.change(
            namespace,
            f"UPDATE traces SET nodes = NULL, flow = NULL WHERE {here} AND flow IS NOT NULL"
            f" AND EXISTS (SELECT 1 FROM {nodes} WHERE {d.among('n.value', 'ids')})",
            values,
        )
        return deleted

    def _erase_loop_sessions(self, namespace: str, keys: Iterable[str]) -> int:
        """Erase the sessions that name any of these keys; returns their number."""
        d = self._dialect
        named = f"{d.contains}(body, {d.quoted.format('k.value')}) > 0"
        sql = (
            "DELETE FROM loop_sessions WHERE namespace = :namespace"
            f" AND EXISTS (SELECT 1 FROM {d.listed('keys', 'k')} WHERE {named})"
        )
        return self._db.change(namespace, sql, {"keys": list(keys)})

    def _erase_mentions(self, namespace: str, is_named: Named) -> dict[str, int]:
        """Erase what names somebody beside memories: recalls, loops, cues of verdicts, remarks, names of tokens."""
        recalls = [row.recall_id for row in self.part(namespace, Trace) if is_named([row.cue, row.session])]
        sessions = [
            row.id
            for row in self.part(namespace, LoopSessionRow)
            if is_named([row.id, row.objective, json.loads(row.body)])
        ]
        tokens = [
            row.token.id
            for row in self._readable_tokens()
            if row.token.namespace == namespace and is_named(row.token.name)
        ]
        for change, column, ids in (
            ("DELETE FROM traces", "recall_id", recalls),
            ("DELETE FROM loop_sessions", "id", sessions),
            ("UPDATE tokens SET name = NULL", "id", tokens),
        ):
            sql = f"{change} WHERE namespace = :namespace AND {self._dialect.among(column, 'ids')}"
            self._db.change(namespace, sql, {"ids": ids})
        rows: list[Row] = [*self.rows(namespace, VerdictRow), *self.rows(namespace, RunRow)]
        changes = [RowChange(row, _nameless(row, is_named)) for row in rows]
        self._write(namespace, [change for change in changes if change.after != change.before])
        self._erase_logged_mentions(namespace, is_named)
        self._erase_remarks(namespace, _REMARKS, is_named)
        return {"traces": len(recalls), "loop_sessions": len(sessions), "token_names": len(tokens)}

    def _erase_logged_mentions(self, namespace: str, is_named: Named) -> None:
        """Leave what is named out of the rows in the log."""
        query = "SELECT operation, piece, rows FROM changes WHERE namespace = :namespace ORDER BY operation, piece"
        for operation, piece, rows in self._db.each(namespace, query, batch=_FETCHED):
            before = unpack(rows)
            after = [
                RowChange(_nameless(change.before, is_named), _nameless(change.after, is_named))
                for change in before
            ]
            if after != before:
                self._replace_piece(namespace, operation, piece, after)

    def _readable_tokens(self) -> list[TokenRow]:
        """Return the tokens, or none where they are withheld."""
        return self.rows(None, TokenRow)

    def _merge_words(self) -> None:
        """Merge the text index, if until then it has the words of erased texts."""

    @abstractmethod
    def _numbers(self, namespace: str, ids: Collection[str]) -> dict[str, int]:
        """Return the numbers of the memories that exist, by id."""

    @abstractmethod
    def _writer(self, namespace: str, numbers: dict[str, int]) -> RowWriter:
        """Return what writes rows of memories with these numbers."""


def _nameless(row: Row | None, is_named: Named) -> Row | None:
    """Return a verdict without a cue that is named, a run without such a session."""
    if isinstance(row, VerdictRow) and is_named([row.cue, row.session]):
        return replace(row, cue={}, session=None)
    return replace(row, session="") if isinstance(row, RunRow) and is_named(row.session) else row
