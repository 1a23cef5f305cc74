"""Small memories for the tests of the stages."""

from datetime import UTC, datetime, timedelta

import numpy as np

from priming.storage.rows import LinkRow, MemoryRow, VersionRow, record

NOW = datetime(2026, 5, 1, 3, tzinfo=UTC)
DAY = timedelta(days=1)


def row(memory_id, kind="episode", **fields):
    return MemoryRow(**{"id": memory_id, "key": f"key-{memory_id}", "kind": kind, **fields})


def version(memory_id, content, **fields):
    new = {"version": 1, "recorded_at": NOW - 40 * DAY, "gist": content[:40], "digest": content}
    return VersionRow(**{"id": memory_id, "content": content, **new, **fields})


def answer(memory_id, content, kind="episode", state=None, **fields):
    """A memory as one record."""
    return record("mine", row(memory_id, kind, **(state or {})), version(memory_id, content, **fields))


def link(source, target, relation, weight=0.5, **fields):
    return LinkRow(source, target, relation, weight, **{"created_at": NOW - DAY, **fields})


def versions_of(records):
    """What a stage asks for the rows of versions."""
    rows = {
        item.id: version(
            item.id, item.content, metadata=item.metadata, importance=item.importance, trust=item.trust
        )
        for item in records
    }
    return lambda memory_id: [rows[memory_id]]


def units(*rows):
    result = np.array(rows, np.float64)
    return result / np.linalg.norm(result, axis=1, keepdims=True)


def around(axis, number, *, dimension=16, spread=0.05, seed=0):
    """Vectors of length 1 about one of the axes."""
    noise = np.random.default_rng(seed).normal(scale=spread, size=(number, dimension))
    return units(*(np.eye(dimension)[axis] + noise))


def embed_words(texts):
    """One axis for each first letter: texts that begin alike are alike."""
    result = np.zeros((len(texts), 26), np.float32)
    for i, text in enumerate(texts):
        letter = text.strip().lower()[:1]
        if letter.isascii() and letter.isalpha():
            result[i, ord(letter) - ord("a")] = 1.0
    return result
