"""What a purge erases: memories, what refers to them, and what names somebody beside them, in the log as well."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from priming.storage.copies import mentions_any
from priming.storage.protocol import Changes, Store, TokenRow, Trace
from priming.storage.questions import check_writable
from priming.storage.rows import LoopSessionRow, Row, RowChange, RunRow, VerdictRow, pack, unpack
from priming.storage.sql.dialect import TRACES, Database, Dialect
from priming.storage.sql.log import SqlLog
from priming.storage.sql.writer import RowWriter

_REMARKS = ("actor", "source", "reason", "message", "via", "session")
Statement = tuple[str, dict[str, Any]]


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

    def purge(self, changes: Changes, ids: Collection[str], names: Collection[str] = ()) -> dict[str, int]:
        """Erase memories and all that refers to them, in the log as well; the number of rows by table."""
        namespace = changes.namespace
        with self.transaction():
            check_writable(self, namespace)
            numbers = list(self._numbers(namespace, ids).values())
            keys = self.names(namespace, ids=ids).values()
            erased = {"loop_sessions": self._erase_loop_sessions(namespace, keys)}
            self._erase_remarks(namespace, keys)
            erased |= self._erase_rows(namespace, numbers)
            self._erase_shown(namespace, set(ids))
            erased["changes"] = self._erase_from_log(namespace, ids)
            erased["traces"] = self._erase_traces(namespace, ids)
            for table, number in self._erase_mentions(namespace, names).items() if names else ():
                erased[table] = erased.get(table, 0) + number
            self._log(changes, ids)
            self._merge_words()
        return erased

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
        self._writer(namespace, {}).write(
            [
                RowChange(run, replace(run, shown=tuple(shown for shown in run.shown if shown not in ids)))
                for run in self.part(namespace, RunRow)
                if not ids.isdisjoint(run.shown)
            ]
        )

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

    def _erase_mentions(self, namespace: str, names: Collection[str]) -> dict[str, int]:
        """Erase what names somebody beside memories: recalls, loops, cues of verdicts, remarks, names of tokens."""
        is_named = mentions_any(names)
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
        here = "WHERE namespace = :namespace AND"
        statements: list[Statement] = [
            *((f"DELETE FROM traces {here} recall_id = :id", {"id": name}) for name in recalls),
            *((f"DELETE FROM loop_sessions {here} id = :id", {"id": name}) for name in sessions),
            *((f"UPDATE tokens SET name = NULL {here} id = :id", {"id": name}) for name in tokens),
            *_nameless_rows(self, namespace, is_named),
        ]
        for sql, values in statements:
            self._db.change(namespace, sql, values)
        for sql, values in self._nameless_log(namespace, is_named):
            self._db.change(namespace, sql, values)
        return {"traces": len(recalls), "loop_sessions": len(sessions), "token_names": len(tokens)}

    def _nameless_log(self, namespace: str, is_named: Callable[[Any], bool]) -> Iterator[Statement]:
        """Leave out of the log what is named: cues, remarks, actors and sessions."""
        here = "WHERE namespace = :namespace"
        query = f"SELECT operation, piece, rows FROM changes {here} ORDER BY operation, piece"
        for operation, piece, rows in self._db.each(namespace, query, batch=_FETCHED):
            before = unpack(rows)
            after = [
                RowChange(_nameless(change.before, is_named), _nameless(change.after, is_named))
                for change in before
            ]
            if after != before:
                values = {"rows": pack(after), "operation": operation, "piece": piece}
                yield (
                    f"UPDATE changes SET rows = :rows {here} AND operation = :operation AND piece = :piece",
                    values,
                )
        query = f"SELECT number, {', '.join(_REMARKS)} FROM operations {here} ORDER BY number"
        for number, *texts in self._db.each(namespace, query, batch=_FETCHED):
            for name, text in zip(_REMARKS, texts, strict=True):
                if is_named(text):
                    yield (
                        f"UPDATE operations SET {name} = NULL {here} AND number = :number",
                        {"number": number},
                    )

    def _readable_tokens(self) -> list[TokenRow]:
        """The tokens, or none where they are withheld."""
        return self.rows(None, TokenRow)

    def _merge_words(self) -> None:
        """Merge the text index, if until then it has the words of erased texts."""

    @abstractmethod
    def _numbers(self, namespace: str, ids: Collection[str]) -> dict[str, int]:
        """The numbers of the memories that exist, by id."""

    @abstractmethod
    def _writer(self, namespace: str, numbers: dict[str, int]) -> RowWriter:
        """What writes rows of memories with these numbers."""


_FETCHED = 100
"""The number of rows in memory: a piece of the log may be large."""


def _nameless_rows(store: Store, namespace: str, is_named: Callable[[Any], bool]) -> Iterator[Statement]:
    """Leave verdicts without their cue and session, and runs without their session."""
    for verdict in store.rows(namespace, VerdictRow):
        if is_named([verdict.cue, verdict.session]):
            yield (
                "UPDATE verdicts SET cue = NULL, session = NULL WHERE namespace = :namespace"
                " AND operation = :operation AND verdict = :verdict AND memory ="
                " (SELECT number FROM memories WHERE namespace = :namespace AND id = :id)",
                {"operation": verdict.operation, "verdict": verdict.verdict, "id": verdict.id},
            )
    for run in store.rows(namespace, RunRow):
        if is_named(run.session):
            yield "UPDATE runs SET session = '' WHERE namespace = :namespace AND id = :id", {"id": run.id}


def _nameless(row: Row | None, is_named: Callable[[Any], bool]) -> Row | None:
    """A verdict without a cue that is named, a run without such a session."""
    if isinstance(row, VerdictRow) and is_named([row.cue, row.session]):
        return replace(row, cue={}, session=None)
    return replace(row, session="") if isinstance(row, RunRow) and is_named(row.session) else row
