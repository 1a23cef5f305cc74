"""Reads of memories: by id, key, words or filter, and how many there are."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, Unpack

from priming.serialization import stamp
from priming.storage.protocol import WhichNames, WhichRecords
from priming.storage.rows import Counts
from priming.storage.sql.dialect import RECORDED_AT, RETIRED_AT, Database, Dialect, bound
from priming.storage.sql.kinds import MEMORY_COLUMNS, VERSION_COLUMNS, stored_record
from priming.types import MemoryRecord

_INTERVAL = {"recorded_at": RECORDED_AT, "retired_at": RETIRED_AT}
# A version as a record: from its first row on, up to the first row of the next version (``core.bitemporal``).
_RECORD = ", ".join(
    (
        *(f"m.{name}" for name in MEMORY_COLUMNS),
        "m.id",
        *(_INTERVAL.get(name, f"v.{name}") for name in VERSION_COLUMNS),
    )
)
_HERE = "m.namespace = :namespace"
_CURRENT = "v.retired_at IS NULL"
_VALID = "(v.valid_from IS NULL OR v.valid_from <= :at) AND (v.valid_to IS NULL OR v.valid_to > :at)"

_NOT_ENDED = "({0}.valid_to IS NULL OR {0}.valid_to > :at)"
_FIRST = (
    f"{_NOT_ENDED.format('v')} AND NOT EXISTS (SELECT 1 FROM versions e WHERE e.namespace = v.namespace"
    " AND e.memory = v.memory AND e.retired_at IS NULL AND (e.valid_from IS NULL OR e.valid_from < v.valid_from)"
    f" AND e.version <> v.version AND {_NOT_ENDED.format('e')})"
)
"""The version that is valid, else the first that will be."""


class MemoryReader:
    """Reads of memories in their current versions."""

    def __init__(self, db: Database, dialect: Dialect) -> None:
        self._db, self._dialect = db, dialect
        self._versions = f"memories m{dialect.each('versions', 'v', 'memory', 'm', 'number')}"
        self._owners = f"versions v{dialect.each('memories', 'm', 'number', 'v', 'memory')}"

    def records(self, namespace: str, at: datetime, **which: Unpack[WhichRecords]) -> dict[str, MemoryRecord]:
        """Id → memory in its current version valid at ``at``."""
        values = bound(which)
        tables, order = self._versions, "m.number"
        clauses = {
            "ids": self._dialect.among("m.id", "ids"),
            "kinds": self._dialect.among("m.kind", "kinds"),
            "status": "m.status = :status",
            "after": "m.number > (SELECT number FROM memories m WHERE m.namespace = :namespace AND m.id = :after)",
            "name": "(m.key = :name OR m.id = :name)",
        }
        where = [_HERE, _CURRENT, *(clauses[name] for name in values if name in clauses)]
        if "name" in values:
            values["limit"] = 1
            order = f"m.id = :name DESC, ({_VALID}) DESC, v.version DESC"
        else:
            where.append(_FIRST if values.pop("coming", False) else _VALID)
        if "words" in values:
            tables, matches, values["words"] = self._dialect.search(values["words"])
            where.append(matches)
        end = " LIMIT :limit" if "limit" in values else ""
        sql = f"SELECT {_RECORD} FROM {tables} WHERE {' AND '.join(where)} ORDER BY {order}{end}"
        rows = self._db.run(namespace, sql, {**values, "at": stamp(at)})
        records = {record.id: record for record in (stored_record(namespace, row) for row in rows)}
        return {id_: records[id_] for id_ in values.get("ids", records) if id_ in records}

    def _each_record(self, namespace: str, until: datetime | None) -> Iterator[MemoryRecord]:
        """Every active memory in each current version that has not ended."""
        ended = "" if until is None else " AND (v.valid_to IS NULL OR v.valid_to > :until)"
        sql = (
            f"SELECT {_RECORD} FROM {self._versions} WHERE {_HERE} AND m.status = 'active' AND {_CURRENT}{ended}"
            " ORDER BY m.number, v.version"
        )
        values = {} if until is None else {"until": stamp(until)}
        for row in self._db.each(namespace, sql, values):
            yield stored_record(namespace, row)

    def names(self, namespace: str, **which: Unpack[WhichNames]) -> dict[str, str]:
        """Id → key of memories."""
        condition = which.pop("condition", None)
        values = bound(which)
        if condition is not None:
            where, compared = self._dialect.condition(condition)
            values |= compared
            chosen = (
                f"{self._versions} WHERE {_HERE} AND m.status = 'active' AND {_CURRENT} AND {_VALID} AND ({where})"
                " ORDER BY m.number"
            )
        elif "session" in values:
            chosen = (
                f"{self._owners} WHERE v.namespace = :namespace AND v.session = :session AND {_CURRENT}"
                " AND v.valid_to IS NULL AND m.status = 'active' ORDER BY v.memory DESC"
            )
        else:
            column = "id" if "ids" in values else "key"
            chosen = f"memories m WHERE {_HERE} AND {self._dialect.among(f'm.{column}', f'{column}s')}"
        end = " LIMIT :limit" if "limit" in values else ""
        return dict(self._db.run(namespace, f"SELECT m.id, m.key FROM {chosen}{end}", values))

    def _numbers(self, namespace: str, ids: Collection[str]) -> dict[str, int]:
        """The numbers of the memories that exist, by id."""
        sql = f"SELECT m.id, m.number FROM memories m WHERE {_HERE} AND {self._dialect.among('m.id', 'ids')}"
        return dict(self._db.run(namespace, sql, {"ids": list(dict.fromkeys(ids))}))

    def counts(self, namespace: str, *, brief: bool = False) -> Counts:
        """What the namespace holds; ``brief``: links under one name, and no bytes."""
        with self._db.transaction(write=False):
            return self._counts(namespace, brief=brief)

    def _counts(self, namespace: str, *, brief: bool) -> Counts:
        def select(sql: str) -> list[tuple[Any, ...]]:
            return self._db.run(namespace, sql)

        here = "WHERE namespace = :namespace"
        memories: dict[str, dict[str, int]] = {}
        for kind, status, count in select(
            f"SELECT kind, status, count(*) FROM memories {here} GROUP BY 1, 2 ORDER BY 1, 2"
        ):
            memories.setdefault(kind, {})[status] = count
        of_all = "WHERE" if self._dialect.generations_of_all else f"{here} AND"
        latest = f"generation = (SELECT max(generation) FROM vectors {here})"
        of_links = f"SELECT {{}}, count(*) FROM links {here}"
        links = of_links.format("''") if brief else f"{of_links.format('relation')} GROUP BY 1 ORDER BY 1"
        generation = select(f"SELECT name FROM generations {of_all} {latest}")
        return Counts(
            memories=memories,
            links=dict(select(links)),
            operations=select(f"SELECT count(*) FROM operations {here}")[0][0],
            traces=select(f"SELECT count(*) FROM traces {here}")[0][0],
            bytes=0 if brief else self._dialect.size(namespace, self._db.run),
            generation=generation[0][0] if generation else None,
        )
