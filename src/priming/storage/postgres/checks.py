"""The integrity and the size of a namespace in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from priming.results import Finding
from priming.storage.damage.contradictions import REIMPORT, listed_findings, stale_words
from priming.storage.damage.scan import RowScan
from priming.storage.postgres.connection import PostgresConnection
from priming.storage.postgres.text_index import text_vector
from priming.storage.sql.dialect import NO_NAMESPACE
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
_RULES = (
    (
        "self-link",
        "SELECT m.key FROM links l JOIN memories m ON m.namespace = l.namespace AND m.number = l.source"
        " WHERE l.namespace = :namespace AND l.source = l.target",
        "the memory is linked to itself; the link has no effect",
        "undo the operation that made the link",
    ),
    (
        "weight-range",
        "SELECT m.key || ' ' || l.relation || ' ' || l.weight FROM links l JOIN memories m"
        " ON m.namespace = l.namespace AND m.number = l.source"
        " WHERE l.namespace = :namespace AND NOT (l.weight >= 0 AND l.weight <= 1)",
        "a link's weight is outside [0, 1]",
        "set it with set_strength",
    ),
    (
        "no-version",
        "SELECT m.key FROM memories m WHERE m.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM versions v WHERE v.namespace = m.namespace AND v.memory = m.number"
        " AND v.retired_at IS NULL)",
        "the memory has no current version",
        "undo the operation that retired it, or purge the memory",
    ),
    (
        "overlapping-versions",
        "WITH v AS MATERIALIZED (SELECT memory, revision, valid_from, valid_to,"
        " count(*) OVER (PARTITION BY memory) AS n FROM versions"
        " WHERE namespace = :namespace AND retired_at IS NULL),"
        " w AS MATERIALIZED (SELECT * FROM v WHERE n > 1)"
        " SELECT DISTINCT m.key FROM w a JOIN w b ON b.memory = a.memory AND b.revision > a.revision"
        " JOIN memories m ON m.namespace = :namespace AND m.number = a.memory"
        " WHERE (a.valid_to IS NULL OR b.valid_from IS NULL OR b.valid_from < a.valid_to)"
        " AND (b.valid_to IS NULL OR a.valid_from IS NULL OR a.valid_from < b.valid_to)",
        "two versions of the memory are valid at the same time",
        "undo the operation that recorded the later one",
    ),
    (
        "stray-vector",
        "SELECT x.memory || ' version ' || x.version FROM vectors x WHERE x.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM versions v WHERE v.namespace = x.namespace AND v.memory = x.memory"
        " AND v.version = x.version)",
        "the vector belongs to no version",
        REIMPORT,
    ),
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

    quoted = "to_json({})::text"

    def __init__(self, db: PostgresConnection) -> None:
        self._db = db

    def select(self, sql: str, namespace: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """The rows of a query with their names."""
        scope = NO_NAMESPACE if namespace is None else namespace
        for name, *values in self._db.each(scope, sql.format(":namespace")):
            yield name or "a row without a name", values


def findings(db: PostgresConnection, namespace: str, *, words: bool) -> list[Finding]:
    """Rows that contradict one another; ``words``: also texts that are indexed by other words."""
    problems: list[Finding] = []
    for rule, query, detail, remedy in _RULES:
        subjects = [str(subject) for (subject,) in db.run(namespace, query)]
        problems += listed_findings(rule, subjects, detail, remedy)
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
