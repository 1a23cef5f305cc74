"""Whether a memory speaks of what a text is about: the floor below which a hook is silent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from priming.config.params.hooks import HOOK
from priming.core.stop_words import STOP_WORDS

_WORD = re.compile(r"[^\W_]+(?:[._/-][^\W_]+)*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]{2,}")
_NAME = re.compile(r"\d|[._/]|[a-z][A-Z]|^[A-Z]{2,}$")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")


def speaks_of(text: str, memory: Mapping[str, Any], fewest: int) -> bool:
    """Whether a memory shares so many words with a text, or one that is a name: to lie near is too little.

    >>> tea = {"heading": None, "content": "The shop sells green tea."}
    >>> speaks_of("which tea do shops sell?", tea, 2), speaks_of("green light", tea, 2)
    (True, False)
    """
    known = stems(f"{memory['heading'] or ''} {memory['content']}")
    shared = {stem(one): one for one in words(text) if stem(one) in known}
    return len(shared) >= fewest or any(
        _NAME.search(one) and len(one) >= HOOK.name_letters for one in shared.values()
    )


def stems(text: str) -> set[str]:
    """The words of a text in the form in which they are compared."""
    return {stem(one) for one in words(text)}


def words(text: str) -> list[str]:
    """The words of a text that say what it is about; of scripts without spaces, the pairs of characters.

    >>> words("Why is core/dates.py slow?"), words("東京都")
    (['core/dates.py', 'slow'], ['東京', '京都'])
    """
    spaced = _WORD.findall(_CJK.sub(" ", text))
    pairs = [run[i : i + 2] for run in _CJK.findall(text) for i in range(len(run) - 1)]
    return [one for one in spaced if one.lower() not in STOP_WORDS and len(one) > 1] + pairs


def stem(word: str) -> str:
    """A word without an English ending, in small letters."""
    return _ENDING.sub("", word.lower())
