"""Names of things: ids that sort by time, keys that people can read."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Container
from datetime import datetime

_SLUG_WORDS, _SLUG_LETTERS = 6, 48
_GIST_LETTERS = 120
_WORDS = re.compile(r"[^\W_]+")
SENTENCE_END = re.compile(r"(?<=[.!?。！？])(?<!^\d\.)(?<!^\d\d\.)\s|\n")
"""Not after the number of a first step: "1. Stop the server" is one sentence."""


def uuid7(at: datetime) -> str:
    """A UUID of version 7: 48 bits of milliseconds, then 74 random bits (RFC 9562)."""
    milliseconds = max(0, int(at.timestamp() * 1000)) & (2**48 - 1)
    bits = int.from_bytes(os.urandom(10), "big")
    value = (
        (milliseconds << 80) | (0x7 << 76) | ((bits >> 62 & 0xFFF) << 64) | (0b10 << 62) | bits & (2**62 - 1)
    )
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


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
