"""Reads of a SQLite store: memories, versions, links, verdicts, pairs, runs, weights and relations."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from priming.results import Finding
from priming.serialization import column_names, from_columns, stamp
from priming.storage.columns import (
    LINK_COLUMNS,
    MEMORY_COLUMNS,
    RECORDED_AT,
    RETIRED_AT,
    VERDICT_COLUMNS,
    VERSION_COLUMNS,
    stored,
    stored_record,
)
from priming.storage.filters import Condition
from priming.storage.rows import (
    Counts,
    LinkRow,
    MemoryRow,
    PairRow,
    RelationRow,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
)
from priming.storage.sqlite.backup import file_findings, namespace_bytes
from priming.storage.sqlite.connection import Connection
from priming.storage.sqlite.filters import compile_condition, fts_query
from priming.types import MemoryRecord

_M = ", ".join(f"m.{name}" for name in MEMORY_COLUMNS)
_V = ", ".join(("m.id", *(f"v.{name}" for name in VERSION_COLUMNS)))
_INTERVAL = {"v.recorded_at": RECORDED_AT, "v.retired_at": RETIRED_AT}
# A version as a record: from its first row on, up to the first row of the next version (``core.bitemporal``).
_R = ", ".join(("m.id", *(_INTERVAL.get(f"v.{name}", f"v.{name}") for name in VERSION_COLUMNS)))
_OF_MEMORY = "ON v.namespace = m.namespace AND v.memory = m.number"
# CROSS JOIN fixes the order in which SQLite visits the tables: otherwise it reads whole namespaces.
LISTED = "FROM json_each(:listed) i CROSS JOIN memories m ON m.namespace = :namespace AND m.id = i.value"
_VERSIONS = f"CROSS JOIN versions v {_OF_MEMORY}"
_BOTH = f"SELECT {_M}, {_R} FROM memories m {_VERSIONS}"
_BY_WORDS = (
    f"SELECT {_M}, {_R} FROM words CROSS JOIN versions v ON v.number = words.rowid"
    f" CROSS JOIN memories m {_OF_MEMORY}"
)
_CURRENT = "v.retired_at IS NULL"
_VALID = "(v.valid_from IS NULL OR v.valid_from <= :at) AND (v.valid_to IS NULL OR v.valid_to > :at)"
_VERDICT = ", ".join(("m.id", *(f"d.{name}" for name in VERDICT_COLUMNS)))
_VERDICTS = "verdicts d CROSS JOIN memories m ON m.namespace = d.namespace AND m.number = d.memory"
_LINK = f"SELECT {', '.join(f'l.{name}' for name in ('source', 'target', *LINK_COLUMNS))} FROM"


def json_list(values: Iterable[Any]) -> str:
    """Distinct values as a parameter for ``json_each``."""
    return json.dumps(list(dict.fromkeys(values)))


class SqliteReader:
    """Reads over one connection; ``SqliteStore`` adds the writes."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def namespaces(self) -> list[str]:
        """All namespaces, sorted."""
        return [name for (name,) in self._db.run("SELECT namespace FROM namespaces ORDER BY namespace")]

    def get(self, namespace: str, key: str, at: datetime) -> MemoryRecord | None:
        """The memory with that key or id, in the version valid at ``at``, else in its latest."""
        sql = (
            f"{_BOTH} WHERE m.namespace = :namespace AND (m.key = :key OR m.id = :key) AND {_CURRENT}"
            f" ORDER BY m.id = :key DESC, ({_VALID}) DESC, v.version DESC LIMIT 1"
        )
        rows = self._db.run(sql, {"namespace": namespace, "key": key, "at": stamp(at)})
        return stored_record(namespace, rows[0]) if rows else None

    def records(self, namespace: str, ids: Collection[str], at: datetime) -> dict[str, MemoryRecord]:
        """The memories among ``ids`` that have a current version valid at ``at``, by id."""
        sql = f"SELECT {_M}, {_R} {LISTED} {_VERSIONS} WHERE {_CURRENT} AND {_VALID}"
        values = {"namespace": namespace, "at": stamp(at), "listed": json_list(ids)}
        records = (stored_record(namespace, row) for row in self._db.run(sql, values))
        return {record.id: record for record in records}

    def page(
        self,
        namespace: str,
        at: datetime,
        *,
        kinds: Sequence[str] | None = None,
        status: str | None = "active",
        matching: str | None = None,
        limit: int | None = 100,
        after: str | None = None,
    ) -> list[MemoryRecord]:
        """Memories in the order of insertion, after the id ``after``."""
        where = ["m.namespace = :namespace", _CURRENT, _VALID]
        values: dict[str, Any] = {
            "namespace": namespace,
            "at": stamp(at),
            "limit": -1 if limit is None else limit,
        }
        if kinds is not None:
            where.append("m.kind IN (SELECT value FROM json_each(:kinds))")
            values["kinds"] = json.dumps(list(kinds))
        if status is not None:
            where.append("m.status = :status")
            values["status"] = status
        if after is not None:
            where.append(
                "m.number > (SELECT number FROM memories WHERE namespace = :namespace AND id = :after)"
            )
            values["after"] = after
        if matching is not None:
            where.append("words MATCH :matching")
            values["matching"] = fts_query(matching)
        both = _BOTH if matching is None else _BY_WORDS
        sql = f"{both} WHERE {' AND '.join(where)} ORDER BY m.number LIMIT :limit"
        return [stored_record(namespace, row) for row in self._db.run(sql, values)]

    def scan(self, namespace: str, at: datetime) -> Iterator[MemoryRecord]:
        """Every active memory with a current version that has not ended at ``at``, in order of insertion."""
        sql = (
            f"{_BOTH} WHERE m.namespace = ? AND m.status = 'active' AND {_CURRENT}"
            " AND (v.valid_to IS NULL OR v.valid_to > ?) ORDER BY m.number, v.version"
        )
        for row in self._db.each(sql, (namespace, stamp(at))):
            yield stored_record(namespace, row)

    def versions(self, namespace: str, memory_id: str | None = None) -> list[VersionRow]:
        """All version rows of a memory (None: of all memories, in order of insertion), oldest first."""
        where = "m.namespace = :namespace" + ("" if memory_id is None else " AND m.id = :memory")
        sql = f"SELECT {_V} FROM memories m {_VERSIONS} WHERE {where} ORDER BY m.number, v.revision"
        rows = self._db.each(sql, {"namespace": namespace, "memory": memory_id})
        return [stored(VersionRow, row) for row in rows]

    def memories(self, namespace: str, ids: Collection[str] | None = None) -> list[MemoryRow]:
        """Identity and state of memories of any status (None: of all), in order of insertion."""
        values = {"namespace": namespace}
        if ids is None:
            which = "FROM memories m WHERE m.namespace = :namespace"
        else:
            which, values["listed"] = LISTED, json_list(ids)
        rows = self._db.run(f"SELECT {_M} {which} ORDER BY m.number", values)
        return [stored(MemoryRow, row) for row in rows]

    def links(
        self, namespace: str, ids: Collection[str] | None = None, relation: str | None = None
    ) -> list[LinkRow]:
        """Links that touch any of ``ids`` (None: all), in order of source, relation and target."""
        values = {"namespace": namespace, "relation": relation}
        only = "" if relation is None else " AND l.relation = :relation"
        if ids is None:
            sql = f"{_LINK} links l WHERE l.namespace = :namespace{only}"
        else:
            here = f"{_LINK} json_each(:listed) i CROSS JOIN links l ON l.namespace = :namespace{only}"
            sql = f"{here} AND l.source = i.value UNION {here} AND l.target = i.value"
        with self._db.transaction(write=False):
            if ids is not None:
                values["listed"] = json_list(self._numbers(namespace, ids).values())
            rows = self._db.run(f"{sql} ORDER BY source, relation, target", values)
            is_all = ids is None and relation is None
            names = self._ids(namespace, None if is_all else {end for row in rows for end in row[:2]})
        return [from_columns(LinkRow, (names[row[0]], names[row[1]], *row[2:])) for row in rows]

    def verdicts(
        self, namespace: str, ids: Collection[str] | None = None, *, recall: str | None = None
    ) -> list[VerdictRow]:
        """Verdicts on any of ``ids`` (None: on all), of one recall or of any, oldest first."""
        values = {"namespace": namespace, "recall": recall}
        # The second condition lets SQLite use the partial index of verdicts by recall.
        only = "" if recall is None else " AND d.recall = :recall AND d.recall <> ''"
        if ids is None:
            which = f"FROM {_VERDICTS} WHERE d.namespace = :namespace{only}"
        else:
            which = (
                f"{LISTED} CROSS JOIN verdicts d ON d.namespace = m.namespace AND d.memory = m.number{only}"
            )
            values["listed"] = json_list(ids)
        sql = f"SELECT {_VERDICT} {which} ORDER BY d.at, d.operation, d.memory, d.verdict"
        return [stored(VerdictRow, row) for row in self._db.run(sql, values)]

    def pairs(
        self, namespace: str, ids: Collection[str] | None = None, *, both: bool = True
    ) -> list[PairRow]:
        """Pairs with both ends among ``ids`` (None: all), or with any of them, in order of source and target."""
        values = {"namespace": namespace}
        columns = "SELECT p.source, p.target, p.times FROM"
        here = f"{columns} json_each(:listed) i CROSS JOIN pairs p ON p.namespace = :namespace"
        if ids is None:
            sql = f"{columns} pairs p WHERE p.namespace = :namespace"
        elif both:
            sql = f"{here} AND p.source = i.value AND p.target IN (SELECT value FROM json_each(:listed))"
        else:
            sql = f"{here} AND p.source = i.value UNION {here} AND p.target = i.value"
        with self._db.transaction(write=False):
            if ids is not None:
                values["listed"] = json_list(self._numbers(namespace, ids).values())
            rows = self._db.run(f"{sql} ORDER BY 1, 2", values)
            names = self._ids(namespace, None if ids is None else {end for row in rows for end in row[:2]})
        return [stored(PairRow, (names[row[0]], names[row[1]], row[2])) for row in rows]

    def runs(
        self, namespace: str, ids: Collection[str] | None = None, *, settled: bool = True
    ) -> list[RunRow]:
        """Runs by id (None: all), oldest first; ``settled=False`` returns only unsettled ones."""
        values = {"namespace": namespace}
        which = "FROM runs r WHERE r.namespace = :namespace"
        if ids is not None:
            which = (
                "FROM json_each(:listed) i CROSS JOIN runs r ON r.namespace = :namespace AND r.id = i.value"
            )
            values["listed"] = json_list(ids)
        only = "" if settled else " AND r.settled IS NULL"
        columns = ", ".join(f"r.{name}" for name in column_names(RunRow))
        rows = self._db.run(f"SELECT {columns} {which}{only} ORDER BY r.started_at, r.id", values)
        return [stored(RunRow, row) for row in rows]

    def weights(self, namespace: str, profile: str | None = None) -> list[WeightsRow]:
        """The weights that are set for a profile (None: for every profile), by name of profile."""
        sql = (
            "SELECT profile, weights FROM weights WHERE namespace = :namespace"
            " AND coalesce(:profile, profile) = profile ORDER BY profile"
        )
        rows = self._db.run(sql, {"namespace": namespace, "profile": profile})
        return [stored(WeightsRow, row) for row in rows]

    def relations(self, namespace: str) -> list[RelationRow]:
        """The relations whose sign is stored, by name."""
        sql = "SELECT relation, sign, introduced FROM relations WHERE namespace = ? ORDER BY relation"
        return [from_columns(RelationRow, row) for row in self._db.run(sql, (namespace,))]

    def _ids(self, namespace: str, numbers: Collection[int] | None) -> dict[int, str]:
        """The ids of memories by their numbers (None: of all)."""
        if numbers is None:
            return dict(self._db.run("SELECT number, id FROM memories WHERE namespace = ?", (namespace,)))
        sql = (
            "SELECT m.number, m.id FROM json_each(:listed) i CROSS JOIN memories m"
            " ON m.namespace = :namespace AND m.number = i.value"
        )
        return dict(self._db.run(sql, {"namespace": namespace, "listed": json_list(numbers)}))

    def _numbers(self, namespace: str, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of the memories that exist, by id."""
        return dict(
            self._db.run(
                f"SELECT m.id, m.number {LISTED}", {"namespace": namespace, "listed": json_list(ids)}
            )
        )

    def keys(self, namespace: str, keys: Collection[str]) -> dict[str, str]:
        """Key → id, for those of ``keys`` that are taken."""
        sql = f"SELECT m.key, m.id {LISTED.replace('m.id', 'm.key')}"
        return dict(self._db.run(sql, {"namespace": namespace, "listed": json_list(keys)}))

    def names(self, namespace: str, ids: Collection[str]) -> dict[str, str]:
        """Id → key, for those of ``ids`` that exist."""
        return dict(
            self._db.run(f"SELECT m.id, m.key {LISTED}", {"namespace": namespace, "listed": json_list(ids)})
        )

    def digests(self, namespace: str, digests: Collection[str]) -> dict[str, str]:
        """Content digest → id of the oldest active memory with that content."""
        sql = (
            "SELECT v.digest, m.id FROM json_each(:listed) i CROSS JOIN versions v ON v.namespace = :namespace"
            f" AND v.digest = i.value AND {_CURRENT} CROSS JOIN memories m {_OF_MEMORY}"
            " WHERE v.valid_to IS NULL AND m.status = 'active' ORDER BY m.number DESC"
        )
        return dict(self._db.run(sql, {"namespace": namespace, "listed": json_list(digests)}))

    def session_tail(self, namespace: str, session: str, count: int) -> list[str]:
        """Ids of the latest active memories of a session, newest first."""
        sql = (
            f"SELECT m.id FROM versions v CROSS JOIN memories m {_OF_MEMORY}"
            f" WHERE v.namespace = ? AND v.session = ? AND {_CURRENT} AND v.valid_to IS NULL"
            " AND m.status = 'active' ORDER BY v.memory DESC LIMIT ?"
        )
        return [memory_id for (memory_id,) in self._db.run(sql, (namespace, session, count))]

    def matching(self, namespace: str, condition: Condition, at: datetime) -> list[str]:
        """Ids of the active memories that satisfy ``condition``."""
        where, values = compile_condition(condition)
        sql = (
            f"SELECT m.id FROM memories m CROSS JOIN versions v {_OF_MEMORY}"
            f" WHERE m.namespace = :namespace AND m.status = 'active' AND {_CURRENT} AND {_VALID} AND ({where})"
            " ORDER BY m.number"
        )
        rows = self._db.run(sql, {**values, "namespace": namespace, "at": stamp(at)})
        return [memory_id for (memory_id,) in rows]

    def counts(self, namespace: str) -> Counts:
        """What the namespace holds."""
        with self._db.transaction(write=False):
            return self._counts(namespace)

    def _counts(self, namespace: str) -> Counts:
        def select(sql: str) -> list[tuple[Any, ...]]:
            return self._db.run(sql, {"namespace": namespace})

        here = "WHERE namespace = :namespace"
        memories: dict[str, dict[str, int]] = {}
        for kind, status, count in select(
            f"SELECT kind, status, count(*) FROM memories {here} GROUP BY 1, 2 ORDER BY 1, 2"
        ):
            memories.setdefault(kind, {})[status] = count
        latest = (
            f"SELECT name FROM generations WHERE generation = (SELECT max(generation) FROM vectors {here})"
        )
        generation = select(latest)
        return Counts(
            memories=memories,
            links=dict(select(f"SELECT relation, count(*) FROM links {here} GROUP BY 1 ORDER BY 1")),
            operations=select(f"SELECT count(*) FROM operations {here}")[0][0],
            traces=select(f"SELECT count(*) FROM traces {here}")[0][0],
            bytes=namespace_bytes(self._db, namespace),
            generation=generation[0][0] if generation else None,
        )

    def check(self, namespace: str, *, words: bool = False) -> list[Finding]:
        """Problems of the database itself; ``words``: also texts that are indexed by other words."""
        return file_findings(self._db, namespace, words=words)
