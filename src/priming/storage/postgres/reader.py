"""Reads of a PostgreSQL store: memories, versions, links, verdicts, pairs, runs, weights, relations and vectors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.core.arguments.vectors import unpacked
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
from priming.storage.postgres.checks import findings, namespace_bytes
from priming.storage.postgres.connection import PostgresConnection
from priming.storage.postgres.filters import compile_condition
from priming.storage.postgres.text_index import text_query
from priming.storage.protocol import VersionKey
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
from priming.types import MemoryRecord

_M = ", ".join(f"m.{name}" for name in MEMORY_COLUMNS)
_V = ", ".join(("m.id", *(f"v.{name}" for name in VERSION_COLUMNS)))
_INTERVAL = {"v.recorded_at": RECORDED_AT, "v.retired_at": RETIRED_AT}
# A version as a record: from its first row on, up to the first row of the next version (``core.bitemporal``).
_R = ", ".join(("m.id", *(_INTERVAL.get(f"v.{name}", f"v.{name}") for name in VERSION_COLUMNS)))
_HERE = "m.namespace = %(namespace)s"
_LISTED = f"FROM memories m WHERE {_HERE} AND m.id = ANY(%(listed)s::text[])"
_NUMBERS = (
    "ARRAY(SELECT number FROM memories WHERE namespace = %(namespace)s AND id = ANY(%(listed)s::text[]))"
)


def _each(table: str, alias: str, column: str, other: str, number: str) -> str:
    """A join that looks up the rows of a table for each row of another, by an index, whatever the planner expects.

    ``OFFSET 0`` keeps it from reading the whole namespace where it takes that for a row or two.
    """
    rows = f"FROM {table} j WHERE j.namespace = {other}.namespace AND j.{column} = {other}.{number}"
    return f" CROSS JOIN LATERAL (SELECT * {rows} OFFSET 0) {alias}"


_VERSIONS = f"FROM memories m{_each('versions', 'v', 'memory', 'm', 'number')}"
_OF_VERSION = f"FROM versions v{_each('memories', 'm', 'number', 'v', 'memory')}"
_BOTH = f"SELECT {_M}, {_R} {_VERSIONS}"
_CURRENT = "v.retired_at IS NULL"
_VALID = "(v.valid_from IS NULL OR v.valid_from <= %(at)s) AND (v.valid_to IS NULL OR v.valid_to > %(at)s)"
_LINK = ", ".join(("a.id", "b.id", *(f"l.{name}" for name in LINK_COLUMNS)))
_ENDS = _each("memories", "a", "number", "{0}", "source") + _each("memories", "b", "number", "{0}", "target")
_VECTORS = (
    f"FROM memories m{_each('vectors', 'x', 'memory', 'm', 'number')} JOIN generations g"
    " ON g.namespace = x.namespace AND g.generation = x.generation"
    f" WHERE {_HERE} AND g.name = %(generation)s"
)
_OF_IDS = " AND m.id = ANY(%(listed)s::text[])"


class PostgresReader:
    """Reads over one connection; ``PostgresStore`` adds the writes."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._db = connection

    def namespaces(self) -> list[str]:
        """All namespaces, sorted."""
        sql = "SELECT namespace FROM namespaces ORDER BY namespace"
        return [name for (name,) in self._db.of_every(sql)]

    def get(self, namespace: str, key: str, at: datetime) -> MemoryRecord | None:
        """The memory with that key or id, in the version valid at ``at``, else in its latest."""
        sql = (
            f"{_BOTH} WHERE {_HERE} AND (m.key = %(key)s OR m.id = %(key)s) AND {_CURRENT}"
            f" ORDER BY m.id = %(key)s DESC, ({_VALID}) DESC, v.version DESC LIMIT 1"
        )
        rows = self._db.run(namespace, sql, {"key": key, "at": stamp(at)})
        return stored_record(namespace, rows[0]) if rows else None

    def records(self, namespace: str, ids: Collection[str], at: datetime) -> dict[str, MemoryRecord]:
        """The memories among ``ids`` that have a current version valid at ``at``, by id."""
        sql = (
            f"{_BOTH} WHERE {_HERE} AND m.id = ANY(%(listed)s::text[]) AND {_CURRENT} AND {_VALID}"
            " ORDER BY array_position(%(listed)s::text[], m.id::text)"
        )
        rows = self._db.run(namespace, sql, {"at": stamp(at), "listed": list(ids)})
        records = (stored_record(namespace, row) for row in rows)
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
        where = [_HERE, _CURRENT, _VALID]
        values: dict[str, Any] = {"at": stamp(at), "limit": limit}
        if kinds is not None:
            where.append("m.kind = ANY(%(kinds)s::text[])")
            values["kinds"] = list(kinds)
        if status is not None:
            where.append("m.status = %(status)s")
            values["status"] = status
        if after is not None:
            where.append(
                "m.number > (SELECT number FROM memories WHERE namespace = %(namespace)s AND id = %(after)s)"
            )
            values["after"] = after
        if matching is not None:
            values["matching"] = text_query(matching)
            where.append("v.words @@ %(matching)s::tsquery")
        sql = f"{_BOTH} WHERE {' AND '.join(where)} ORDER BY m.number LIMIT %(limit)s"
        return [stored_record(namespace, row) for row in self._db.run(namespace, sql, values)]

    def scan(self, namespace: str, at: datetime) -> Iterator[MemoryRecord]:
        """Every active memory with a current version that has not ended at ``at``, in order of insertion."""
        sql = (
            f"{_BOTH} WHERE {_HERE} AND m.status = 'active' AND {_CURRENT}"
            " AND (v.valid_to IS NULL OR v.valid_to > %(at)s) ORDER BY m.number, v.version"
        )
        for row in self._db.each(namespace, sql, {"at": stamp(at)}):
            yield stored_record(namespace, row)

    def versions(self, namespace: str, memory_id: str | None = None) -> list[VersionRow]:
        """All version rows of a memory (None: of all memories, in order of insertion), oldest first."""
        where = _HERE + ("" if memory_id is None else " AND m.id = %(memory)s")
        sql = f"SELECT {_V} {_VERSIONS} WHERE {where} ORDER BY m.number, v.revision"
        rows = self._db.each(namespace, sql, {"memory": memory_id})
        return [stored(VersionRow, row) for row in rows]

    def memories(self, namespace: str, ids: Collection[str] | None = None) -> list[MemoryRow]:
        """Identity and state of memories of any status (None: of all), in order of insertion."""
        which = f"FROM memories m WHERE {_HERE}" if ids is None else f"FROM (SELECT m.* {_LISTED} OFFSET 0) m"
        rows = self._db.each(
            namespace,
            f"SELECT {_M} {which} ORDER BY m.number",
            {"listed": None if ids is None else list(ids)},
        )
        return [stored(MemoryRow, row) for row in rows]

    def links(
        self, namespace: str, ids: Collection[str] | None = None, relation: str | None = None
    ) -> list[LinkRow]:
        """Links that touch any of ``ids`` (None: all), in order of source, relation and target."""
        only = "" if relation is None else " AND l.relation = %(relation)s"
        every = f"SELECT l.* FROM links l WHERE l.namespace = %(namespace)s{only}"
        if ids is not None:
            every = f"{every} AND l.source = ANY({_NUMBERS}) UNION {every} AND l.target = ANY({_NUMBERS})"
        sql = f"SELECT {_LINK} FROM ({every}) l{_ENDS.format('l')} ORDER BY l.source, l.relation, l.target"
        values = {"relation": relation, "listed": None if ids is None else list(ids)}
        return [from_columns(LinkRow, row) for row in self._db.each(namespace, sql, values)]

    def verdicts(
        self, namespace: str, ids: Collection[str] | None = None, *, recall: str | None = None
    ) -> list[VerdictRow]:
        """Verdicts on any of ``ids`` (None: on all), of one recall or of any, oldest first."""
        # The second condition lets the partial index of verdicts by recall be used.
        only = "" if recall is None else " AND d.recall = %(recall)s AND d.recall <> ''"
        only += "" if ids is None else f" AND d.memory = ANY({_NUMBERS})"
        columns = ", ".join(("m.id", *(f"d.{name}" for name in VERDICT_COLUMNS)))
        sql = (
            f"SELECT {columns} FROM verdicts d{_each('memories', 'm', 'number', 'd', 'memory')}"
            f" WHERE d.namespace = %(namespace)s{only} ORDER BY d.at, d.operation, d.memory, d.verdict"
        )
        values = {"recall": recall, "listed": None if ids is None else list(ids)}
        return [stored(VerdictRow, row) for row in self._db.run(namespace, sql, values)]

    def pairs(
        self, namespace: str, ids: Collection[str] | None = None, *, both: bool = True
    ) -> list[PairRow]:
        """Pairs with both ends among ``ids`` (None: all), or with any of them, in order of source and target."""
        word = "AND" if both else "OR"
        ends = f"(p.source = ANY({_NUMBERS}) {word} p.target = ANY({_NUMBERS}))"
        sql = (
            f"SELECT a.id, b.id, p.times FROM pairs p{_ENDS.format('p')} WHERE p.namespace = %(namespace)s"
            f"{'' if ids is None else f' AND {ends}'} ORDER BY p.source, p.target"
        )
        rows = self._db.run(namespace, sql, {"listed": None if ids is None else list(ids)})
        return [stored(PairRow, row) for row in rows]

    def runs(
        self, namespace: str, ids: Collection[str] | None = None, *, settled: bool = True
    ) -> list[RunRow]:
        """Runs by id (None: all), oldest first; ``settled=False`` returns only unsettled ones."""
        where = "r.namespace = %(namespace)s"
        where += "" if ids is None else " AND r.id = ANY(%(listed)s::text[])"
        where += "" if settled else " AND r.settled IS NULL"
        columns = ", ".join(f"r.{name}" for name in column_names(RunRow))
        sql = f"SELECT {columns} FROM runs r WHERE {where} ORDER BY r.started_at, r.id"
        rows = self._db.run(namespace, sql, {"listed": None if ids is None else list(ids)})
        return [stored(RunRow, row) for row in rows]

    def weights(self, namespace: str, profile: str | None = None) -> list[WeightsRow]:
        """The weights that are set for a profile (None: for every profile), by name of profile."""
        sql = (
            "SELECT profile, weights FROM weights WHERE namespace = %(namespace)s"
            " AND coalesce(%(profile)s, profile) = profile ORDER BY profile"
        )
        return [stored(WeightsRow, row) for row in self._db.run(namespace, sql, {"profile": profile})]

    def relations(self, namespace: str) -> list[RelationRow]:
        """The relations whose sign is stored, by name."""
        sql = "SELECT relation, sign, introduced FROM relations WHERE namespace = %(namespace)s ORDER BY relation"
        return [from_columns(RelationRow, row) for row in self._db.run(namespace, sql)]

    def _numbers(self, namespace: str, ids: Collection[str]) -> dict[str, int]:
        """The numbers of the memories that exist, by id."""
        return dict(self._db.run(namespace, f"SELECT m.id, m.number {_LISTED}", {"listed": list(ids)}))

    def keys(self, namespace: str, keys: Collection[str]) -> dict[str, str]:
        """Key → id, for those of ``keys`` that are taken."""
        sql = f"SELECT m.key, m.id {_LISTED.replace('m.id', 'm.key')}"
        return dict(self._db.run(namespace, sql, {"listed": list(keys)}))

    def names(self, namespace: str, ids: Collection[str]) -> dict[str, str]:
        """Id → key, for those of ``ids`` that exist."""
        return dict(self._db.run(namespace, f"SELECT m.id, m.key {_LISTED}", {"listed": list(ids)}))

    def digests(self, namespace: str, digests: Collection[str]) -> dict[str, str]:
        """Content digest → id of the oldest active memory with that content."""
        sql = (
            f"SELECT v.digest, m.id {_OF_VERSION}"
            f" WHERE v.namespace = %(namespace)s AND v.digest = ANY(%(listed)s::text[]) AND {_CURRENT}"
            " AND v.valid_to IS NULL AND m.status = 'active' ORDER BY m.number DESC"
        )
        return dict(self._db.run(namespace, sql, {"listed": list(digests)}))

    def session_tail(self, namespace: str, session: str, count: int) -> list[str]:
        """Ids of the latest active memories of a session, newest first."""
        sql = (
            f"SELECT m.id {_OF_VERSION}"
            f" WHERE v.namespace = %(namespace)s AND v.session = %(session)s AND {_CURRENT} AND v.valid_to IS NULL"
            " AND m.status = 'active' ORDER BY v.memory DESC LIMIT %(count)s"
        )
        return [name for (name,) in self._db.run(namespace, sql, {"session": session, "count": count})]

    def vectors(
        self, namespace: str, generation: str, ids: Collection[str] | None = None
    ) -> Iterator[tuple[VersionKey, bytes]]:
        """The vectors of one embedding generation; None means those of all memories."""
        sql = f"SELECT m.id, x.version, x.vector, x.passages {_VECTORS}{_OF_IDS if ids is not None else ''}"
        values = {"generation": generation, "listed": None if ids is None else list(ids)}
        for memory_id, version, *columns in self._db.each(namespace, sql, values):
            yield (memory_id, version), as_bytes(*columns)

    def embedded(
        self, namespace: str, generation: str, ids: Collection[str] | None = None
    ) -> set[VersionKey]:
        """The versions that have a vector of a generation: PostgreSQL's own checksums find a damaged one."""
        sql = f"SELECT m.id, x.version {_VECTORS}{_OF_IDS if ids is not None else ''}"
        values = {"generation": generation, "listed": None if ids is None else list(ids)}
        return set(self._db.run(namespace, sql, values))

    def matching(self, namespace: str, condition: Condition, at: datetime) -> list[str]:
        """Ids of the active memories that satisfy ``condition``."""
        where, values = compile_condition(condition)
        sql = (
            f"SELECT m.id {_VERSIONS} WHERE {_HERE} AND m.status = 'active'"
            f" AND {_CURRENT} AND {_VALID} AND ({where}) ORDER BY m.number"
        )
        return [name for (name,) in self._db.run(namespace, sql, {**values, "at": stamp(at)})]

    def counts(self, namespace: str) -> Counts:
        """What the namespace holds."""
        with self._db.transaction(write=False):
            return self._counts(namespace)

    def _counts(self, namespace: str) -> Counts:
        def select(sql: str) -> list[tuple[Any, ...]]:
            return self._db.run(namespace, sql)

        here = "WHERE namespace = %(namespace)s"
        memories: dict[str, dict[str, int]] = {}
        for kind, status, count in select(
            f"SELECT kind, status, count(*) FROM memories {here} GROUP BY 1, 2 ORDER BY 1, 2"
        ):
            memories.setdefault(kind, {})[status] = count
        latest = f"generation = (SELECT max(generation) FROM vectors {here})"
        generation = select(f"SELECT name FROM generations {here} AND {latest}")
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
        return findings(self._db, namespace, words=words)


def as_bytes(vector: Any, passages: bytes | None) -> bytes:
    """The packed vectors of a text, from that of the whole in pgvector and what follows it for passages."""
    whole = np.asarray(vector.to_numpy() if hasattr(vector, "to_numpy") else vector, "<f4").tobytes()
    return whole + (passages or b"")


def as_columns(packed: bytes) -> tuple[NDArray[np.float32], bytes | None]:
    """The columns of the packed vectors of a text: what pgvector compares is that of the whole."""
    whole = unpacked(packed).whole
    return whole, packed[whole.nbytes :] or None
