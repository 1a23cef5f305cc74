"""The rows of a PostgreSQL store: written with the packed links of memories, read past damage, and checked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from priming.results import Finding
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.storage.sql.dialect import NO_NAMESPACE, Database
from priming.storage.sql.rules import RULES, StoreRule, broken_rules, stale_words
from priming.storage.sql.walk import RowScan
from priming.storage.sql.writer import RowWriter
from priming.text.quotation import label
from priming_server.postgres.connection import PostgresConnection
from priming_server.postgres.dialect import PostgresDialect
from priming_server.postgres.text_index import text_vector

_HERE = "namespace = :namespace AND memory = ANY(:memories::bigint[])"
_BATCH = 500
_STORED = "SELECT memory, others, relations, weights, outgoing FROM adjacency WHERE namespace = :namespace"
_PACKED = _STORED.replace("adjacency", "packed_links")
_TEXTS = "SELECT memory, revision, heading, content FROM versions WHERE namespace = :namespace ORDER BY 1, 2"
_OTHERS = (
    "SELECT DISTINCT m.number, m.key, v.version"
    " FROM unnest(:memories::bigint[], :revisions::bigint[], :words::text[]) AS e(memory, revision, words)"
    " JOIN versions v ON v.namespace = :namespace AND v.memory = e.memory AND v.revision = e.revision"
    " JOIN memories m ON m.namespace = v.namespace AND m.number = v.memory"
    " WHERE v.words IS DISTINCT FROM e.words::tsvector ORDER BY m.number, v.version"
)
_RULES: tuple[StoreRule, ...] = (
    (
        "stale-adjacency",
        f"SELECT DISTINCT memory FROM (({_STORED} EXCEPT {_PACKED}) UNION ALL ({_PACKED} EXCEPT {_STORED})) d",
        "the packed links of a memory are not its links",
        "change any of its links, or export the namespace and import it into a new store",
    ),
)
"""Foreign keys hold the rest."""


class PostgresScan(RowScan):
    """The rows of a PostgreSQL store, whose columns have values of their types, and texts that are UTF-8."""

    def __init__(self, db: PostgresConnection) -> None:
        super().__init__(PostgresDialect())
        self._db = db

    def select(self, sql: str, namespace: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """The rows of a query with their names."""
        scope = NO_NAMESPACE if namespace is None else namespace
        for name, *values in self._db.each(scope, sql):
            yield name or "a row without a name", values


def findings(db: PostgresConnection, namespace: str, *, words: bool) -> list[Finding]:
    """Rows that contradict one another; ``words``: also texts that are indexed by other words."""
    problems = broken_rules(db, namespace, (*RULES, *_RULES))
    if words:
        problems += stale_words([*_stale_words(db, namespace)])
    return problems


def _stale_words(db: PostgresConnection, namespace: str) -> Iterator[str]:
    """The versions whose words are not those of their text."""
    texts = db.each(namespace, _TEXTS)
    while batch := [*islice(texts, _BATCH)]:
        values = {
            "memories": [memory for memory, _, _, _ in batch],
            "revisions": [revision for _, revision, _, _ in batch],
            "words": [
                text_vector(f"{heading}\n{text}" if heading else text) for _, _, heading, text in batch
            ],
        }
        for _, key, version in db.run(namespace, _OTHERS, values):
            yield f"version {version} of {label(key)}"


class PostgresRowWriter(RowWriter):
    """Writes rows of one namespace to PostgreSQL, within a transaction."""

    def write(self, changes: Sequence[RowChange]) -> None:
        """Delete, insert and update rows, and pack the links of memories anew."""
        gone = {
            change.row.id for change in changes if change.after is None and isinstance(change.row, MemoryRow)
        }
        linked = {end for change in changes if isinstance(change.row, LinkRow) for end in change.ends}
        if removed := self.numbers_of(gone):
            self.db.change(self.namespace, f"DELETE FROM adjacency WHERE {_HERE}", {"memories": removed})
        super().write(changes)
        pack_links(self.db, self.namespace, self.numbers_of(linked - gone))


def pack_links(db: Database, namespace: str, memories: Collection[int]) -> None:
    """Write the packed links of these memories again, as their links are now."""
    if not memories:
        return
    values = {"memories": sorted(memories)}
    columns = "namespace, memory, others, relations, weights, outgoing"
    db.change(namespace, f"DELETE FROM adjacency WHERE {_HERE}", values)
    packed = f"SELECT {columns} FROM packed_links WHERE {_HERE}"
    db.change(namespace, f"INSERT INTO adjacency ({columns}) {packed}", values)
