"""Rows that can be read and contradict one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from priming.results import Finding
from priming.storage.damage import listed_findings
from priming.storage.sql.dialect import Database

StoreRule = tuple[str, str, str, str]
"""A rule, the query for the subjects that break it, what is wrong with them, and the remedy."""
REIMPORT = "export the namespace and import it into a new store"
STALE_WORDS = ("a search by words finds the text by words that are not its own", REIMPORT)
RULES: tuple[StoreRule, ...] = (
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
)


def broken_rules(db: Database, namespace: str, rules: Iterable[StoreRule]) -> list[Finding]:
    """Find the rows of a namespace that break rules."""
    findings: list[Finding] = []
    for rule, query, detail, remedy in rules:
        subjects = [str(subject) for (subject,) in db.run(namespace, query)]
        findings += listed_findings(rule, subjects, detail, remedy)
    return findings


def stale_words(subjects: Sequence[str]) -> list[Finding]:
    """Findings on versions that searches by words find by others than their own."""
    return listed_findings("stale-words", subjects, *STALE_WORDS)
