"""Names of things: gists, and keys that people can read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container

_SLUG_WORDS, _SLUG_LETTERS = 6, 48
_GIST_LETTERS = 120
_WORDS = re.compile(r"[^\W_]+")
SENTENCE_END = re.compile(r"(?<=[.!?。！？])(?<!^\d\.)(?<!^\d\d\.)\s|\n")
"""Not after the number of a first step: "1. Stop the server" is one sentence."""


def gist_of(content: str) -> str:
    """The first sentence or line, cut at a word to at most 120 characters."""
    first = SENTENCE_END.split(content.strip(), maxsplit=1)[0].strip() or content.strip()
    line = " ".join(first[: 4 * _GIST_LETTERS].split())
    if len(line) <= _GIST_LETTERS:
        return line
    cut = line[: _GIST_LETTERS - 1]
    return (cut[: cut.rfind(" ")] if " " in cut else cut).rstrip(" ,;:") + "…"


def slug(text: str) -> str:
    """A readable key: the first words of a text, lower-cased and joined by hyphens."""
    plain = unicodedata.normalize("NFC", text[:400]).casefold()
    words = _WORDS.findall(plain)[:_SLUG_WORDS]
    return "-".join(words)[:_SLUG_LETTERS].strip("-") or "memory"


def free_key(wanted: str, memory_id: str, taken: Container[str] | Callable[[str], bool]) -> str:
    """``wanted`` if it is free, else with the end of the memory's id."""
    is_taken = taken if callable(taken) else taken.__contains__
    tail = memory_id.replace("-", "")
    for length in (0, 6, 12, 20):
        key = f"{wanted}-{tail[-length:]}" if length else wanted
        if not is_taken(key):
            return key
    return memory_id
