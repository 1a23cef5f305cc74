"""Readable keys, made from the first words of a text; light to import.

A key that a caller passes is stored unchanged or refused. Forgetting does not free a key, because the memory
may be restored; purging does, and so does undoing the remember.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from priming.core.arguments.normal_forms import caseless, letters, plain_words

_WORDS_OF_KEY, _LETTERS_OF_KEY = 6, 48
_ENDS = (0, 6, 12, 20)


def slug(text: str) -> str:
    """A readable key: the first words of a text, lower-cased and joined by hyphens."""
    parts = plain_words(caseless(text[:400]))[:_WORDS_OF_KEY]
    return "".join(letters("-".join(parts))[:_LETTERS_OF_KEY]).strip("-") or "memory"


def free_key(preferred: str, memory_id: str, taken: Container[str] | Callable[[str], bool]) -> str:
    """The preferred key if it is free, else the key with the end of the memory's id."""
    is_taken = taken if callable(taken) else taken.__contains__
    return next((key for key in _keys(preferred, memory_id) if not is_taken(key)), memory_id)


def is_made_from(key: str, text: str, memory_id: str) -> bool:
    """Whether a key is one that a memory gets from a text.

    >>> is_made_from("use-tabs", "Use tabs.", "0-abcdef"), is_made_from("tabs", "Use tabs.", "0-abcdef")
    (True, False)
    """
    return key in _keys(slug(text), memory_id)


def _keys(preferred: str, memory_id: str) -> list[str]:
    tail = memory_id.replace("-", "")
    return [f"{preferred}-{tail[-length:]}" if length else preferred for length in _ENDS]
