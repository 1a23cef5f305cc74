"""Texts for SQLite's full-text index: words unchanged, scripts without spaces as pairs of characters."""

from __future__ import annotations

from priming.text.tokens import bigrams


def cjk_pairs(text: str) -> str | None:
    """The pairs of adjacent characters of each run without spaces, and the run's last character alone.

    A run then matches the phrase of its pairs, and a single character matches the pairs that begin with it.

    >>> cjk_pairs("I moved to 大阪府")
    '大阪 阪府 府'
    """
    return " ".join(pair for run in _runs(text) for pair in (*run, run[-1][1:])).strip() or None


def fts_query(words: str) -> str:
    """The query for texts that contain all of the words.

    >>> fts_query("moved 大阪府 春")
    '"moved" "大阪 阪府" "春" *'
    """
    return " ".join(part for word in words.replace("\x00", " ").split() for part in _parts(word)) or '""'


def _parts(word: str) -> list[str]:
    runs = _runs(word)
    spaced = "".join(" " if bigrams(letter) else letter for letter in word) if runs else word
    phrases = ['"' + part.replace('"', '""') + '"' for part in spaced.split()]
    return phrases + [f'"{" ".join(run)}"' + ("" if len(run[0]) > 1 else " *") for run in runs]


def _runs(text: str) -> list[list[str]]:
    """The pairs of a text, in runs in which each begins with the last character of the previous one."""
    runs: list[list[str]] = []
    for pair in bigrams(text).split():
        if runs and len(runs[-1][-1]) > 1 and runs[-1][-1][-1] == pair[0]:
            runs[-1].append(pair)
        else:
            runs.append([pair])
    return runs
