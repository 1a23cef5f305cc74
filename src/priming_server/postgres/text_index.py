"""Texts for PostgreSQL's full-text search: stems with their places, and pairs of characters where no spaces are.

The words are those of SQLite's index (letters and digits, without accents, by their Porter stems), so that both
databases find the same memories.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from priming.core.arguments.normal_forms import normalized
from priming.core.when import stemmer
from priming.storage.sql.dialect import cjk_pairs, phrases

_MOST_PLACES, _MOST_WORDS, _LONGEST = 16_000, 20_000, 200
_WORD = re.compile(r"[^\W_]+")


def text_vector(text: str) -> str:
    """A text as a literal of ``tsvector``.

    >>> text_vector("The deploys were failing")
    "'the':1 'deploi':2 'were':3 'fail':4"
    """
    own = stems(text)
    pairs = (cjk_pairs(text) or "").split()
    places: dict[str, list[int]] = {}
    for place, word in enumerate([*own, "", *pairs], 1):
        if word and len(places) < _MOST_WORDS:
            places.setdefault(word, []).append(min(place, _MOST_PLACES))
    return " ".join(f"{_literal(word)}:{','.join(map(str, at[:200]))}" for word, at in places.items())


def text_query(words: str) -> str | None:
    """The literal of ``tsquery`` for texts that contain all of the words; None if there is no word.

    >>> text_query("moved 大阪府 春")
    "'move' & ('大阪' <-> '阪府') & '春':*"
    """
    return " & ".join(_queries(words)) or None


def _queries(words: str) -> Iterator[str]:
    for phrase, is_beginning in phrases(words):
        parts = stems(phrase)
        if len(parts) > 1:
            yield f"({' <-> '.join(map(_literal, parts))})"
        elif parts:
            yield _literal(parts[0]) + (":*" if is_beginning else "")


def stems(text: str) -> list[str]:
    """The words of a text, in lower case, without accents, by their stems.

    >>> stems("Wörds, file_one.py")
    ['word', 'file', 'on', 'py']
    """
    return [_stem(word) for word in _WORD.findall(_plain(text))]


def _plain(text: str) -> str:
    """A text in lower case without accents."""
    if text.isascii():
        return text.lower()
    letters: Iterable[str] = (c for c in normalized("NFD", text) if unicodedata.category(c) != "Mn")
    return normalized("NFC", "".join(letters)).lower()


def _stem(word: str) -> str:
    return (stemmer("porter")(word) if word.isascii() else word)[:_LONGEST]


def _literal(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
