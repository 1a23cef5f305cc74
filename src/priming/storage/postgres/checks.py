"""The integrity of a namespace in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from priming.results import Finding
from priming.storage.postgres.connection import PostgresConnection
from priming.storage.postgres.dialect import PostgresDialect
from priming.storage.postgres.text_index import text_vector
from priming.storage.sql.dialect import NO_NAMESPACE
from priming.storage.sql.rules import RULES, Rule, broken_rules, stale_words
from priming.storage.sql.walk import RowScan
from priming.text.quotation import label

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
_RULES: tuple[Rule, ...] = (
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
