"""Components in small letters: "billing service", "the orders queue"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from priming.text.name_forms.kinds import NAME, Name
from priming.text.tokens import is_function_word, is_stop
from priming.text.word_lists import COMPONENT_NOUNS, INDEFINITE_WORDS, PLAIN_MODIFIERS, SENTENCE_OPENERS

_NOUNS = "|".join(sorted(COMPONENT_NOUNS))
_NOUN = re.compile(rf"(?<=[^\W_] )(?:{_NOUNS})(?![\w-]|[ ](?:{_NOUNS})(?![\w-]))", re.IGNORECASE)
_VERBS = frozenset(
    (
        "cache",
        "feed",
        "host",
        "index",
        "log",
        "mirror",
        "monitor",
        "pool",
        "queue",
        "relay",
        "store",
        "stream",
    )
)
"""Nouns of components that are verbs before an object: "does the project store its files"."""
_OBJECT = re.compile(
    r"[ ](?:its|their|his|her|my|our|your|the|an?|all|every|any|no|these|those|this|that)[ ]", re.IGNORECASE
)
_BEFORE = re.compile(r"(?<![\w./@#$'’-])(?:[A-Za-z][A-Za-z0-9_-]{0,30}[ ]){1,4}\Z")
_WINDOW = 96
_MOST_WORDS = 3
_ADJECTIVES = re.compile(r".{2,}(?:ed|able|ible|ous|ful|less|ly)")


def components(text: str) -> Iterator[tuple[int, Name]]:
    """Yield the components that a text names by a noun for what they are, and the words before it.

    Words that only say what a component is like name nothing, and neither does one of many: "a new service".

    >>> [name.text for _, name in components("The ledger service is slow, a server is not.")]
    ['ledger service']
    """
    for noun in _NOUN.finditer(text):
        if noun[0].lower() in _VERBS and _OBJECT.match(text, noun.end()):
            continue
        before = _BEFORE.search(text, max(0, noun.start() - _WINDOW), noun.start())
        if before is not None:
            names = _modifiers(before[0].split(), _opens(text, before.start()))
            if names:
                whole = " ".join((*names, noun[0]))
                yield noun.end() - len(whole), Name(whole, NAME)


def _modifiers(words: list[str], opening: bool) -> list[str]:
    """The words before a noun that name a component; none where it is one of many."""
    last = len(words)
    while last and not (_bounds(words[last - 1]) or _describes(words, last - 1, opening)):
        last -= 1
    names, before = words[last:], last
    while before and _describes(words, before - 1, opening) and not _bounds(words[before - 1]):
        before -= 1
    if before and words[before - 1].lower() in INDEFINITE_WORDS:
        return []
    bounded = last > 0 or opening
    return names[-_MOST_WORDS:] if bounded else names[-1:]


def _bounds(word: str) -> bool:
    return is_stop(word) or word.lower() in INDEFINITE_WORDS or is_function_word(word, None)


def _describes(words: list[str], place: int, opening: bool) -> bool:
    """Whether a word says what a component is like, or what is done with it."""
    word = words[place].lower()
    if word in PLAIN_MODIFIERS or (not place and opening and word in SENTENCE_OPENERS):
        return True
    return "-" not in word and _ADJECTIVES.fullmatch(word) is not None


def _opens(text: str, start: int) -> bool:
    return text[max(0, start - 2) : start].strip(" ")[-1:] in ("", *".!?:;,(\n-–—")
