"""What can be wrong with a database, each with its remedy."""

from __future__ import annotations

from priming.errors import Corrupt
from priming.store.connection import Connection
from priming.types import Finding

_RESTORE = "restore the file from a backup"
_SHOWN = 20
_AGAIN = "export the namespace and import it into a new store"
_RULES = (
    (
        "dangling-link",
        "SELECT l.source || ' → ' || l.target FROM links l WHERE l.namespace = :namespace AND (NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = l.namespace AND number = l.source) OR NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = l.namespace AND number = l.target))",
        "the link leads to or from a memory that is not there",
        _AGAIN,
    ),
    (
        "dangling-verdict",
        "SELECT d.memory || ' ' || d.verdict FROM verdicts d WHERE d.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = d.namespace AND number = d.memory)",
        "the verdict is on a memory that is not there",
        _AGAIN,
    ),
    (
        "dangling-pair",
        "SELECT p.source || ' + ' || p.target FROM pairs p WHERE p.namespace = :namespace AND (NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = p.namespace AND number = p.source) OR NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = p.namespace AND number = p.target))",
        "the pair names a memory that is not there",
        _AGAIN,
    ),
    (
        "self-link",
        "SELECT m.key FROM links l JOIN memories m ON m.namespace = l.namespace AND m.number = l.source"
        " WHERE l.namespace = :namespace AND l.source = l.target",
        "the memory is linked to itself; the link carries nothing",
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
        "the memory has no version that is known now",
        "undo the operation that retired it, or purge the memory",
    ),
    (
        "no-memory",
        "SELECT v.number FROM versions v WHERE v.namespace = :namespace AND NOT EXISTS"
        " (SELECT 1 FROM memories WHERE namespace = v.namespace AND number = v.memory)",
        "the version belongs to no memory",
        _AGAIN,
    ),
    (
        "overlapping-versions",
        "SELECT DISTINCT m.key FROM versions a JOIN versions b ON b.namespace = a.namespace AND"
        " b.memory = a.memory AND b.revision > a.revision JOIN memories m ON m.namespace = a.namespace AND"
        " m.number = a.memory WHERE a.namespace = :namespace AND a.retired_at IS NULL AND b.retired_at IS NULL"
        " AND (a.valid_to IS NULL OR b.valid_from IS NULL OR b.valid_from < a.valid_to)"
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
        _AGAIN,
    ),
    (
        "stale-text-index",
        "SELECT v.number FROM versions v LEFT JOIN words_docsize d ON d.id = v.number"
        " WHERE v.namespace = :namespace AND (v.retired_at IS NULL) <> (d.id IS NOT NULL)",
        "the text index does not hold the texts that are known now",
        _AGAIN,
    ),
)


def findings(db: Connection, namespace: str) -> list[Finding]:
    """Damaged pages, rows that point to nothing, a stale index."""
    try:
        problems = [
            Finding("integrity", str(db.path), message, _RESTORE)
            for (message,) in db.run("PRAGMA integrity_check")
            if message != "ok"
        ]
        for rule, query, detail, remedy in _RULES:
            subjects = [str(subject) for (subject,) in db.run(query, {"namespace": namespace})]
            problems += [Finding(rule, subject, detail, remedy) for subject in subjects[:_SHOWN]]
            if subjects[_SHOWN:]:
                problems.append(Finding(rule, f"and {len(subjects) - _SHOWN:,} more", detail, remedy))
    except Corrupt as error:
        return [Finding("integrity", str(db.path), str(error), _RESTORE)]
    return problems
