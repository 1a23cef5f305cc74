"""Queries for SQLite's full-text index."""

from __future__ import annotations

from priming.storage.spaceless import phrases


def fts_query(words: str) -> str:
    """The query for texts that contain all of the words.

    >>> fts_query("moved 大阪府 春")
    '"moved" "大阪 阪府" "春" *'
    """
    return (
        " ".join(_quoted(phrase) + (" *" if beginning else "") for phrase, beginning in phrases(words))
        or '""'
    )


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'
