"""Kinds of software: "which message broker" asks for RabbitMQ or Kafka, whose names do not say what they are.

The list was written for Priming, from what makers call their software. A cue that names its software is not
looked for under the kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice

from priming.config.values import dataclass
from priming.text.tokens import terms
from priming.text.word_lists import read_lines

_LIST = "kinds_of_software"
_ENGLISH = "english"
_WORD = re.compile(r"\w+")
_OPENING = 3
"""The words at the beginning of a text among which one may ask."""

Terms = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SoftwareName:
    """The name of a software as terms, and whether it is an English word or a given name as well."""

    text: str
    terms: Terms
    is_word: bool


def kinds_of_software(
    ordered: Sequence[str], language: str
) -> Iterator[tuple[Terms, Sequence[SoftwareName]]]:
    """Yield the kinds of software that a text names, the longest where several begin, each with its software.

    Parameters
    ----------
    ordered : the terms of the text in order, as ``terms`` gives them for the language.
    language : the language of the text; kinds have their English names in each.

    Returns
    -------
    The terms of each kind as they stand in the text, and the names of its software.

    Examples
    --------
    >>> [(kind, names[0].text) for kind, names in kinds_of_software(terms("Which message broker?"), "english")]
    [(('messag', 'broker'), 'rabbitmq')]
    """
    kinds, longest = _kinds(language)
    at = 0
    while at < len(ordered):
        for size in range(min(longest, len(ordered) - at), 0, -1):
            kind = tuple(ordered[at : at + size])
            names = kinds.get(kind)
            if names:
                yield kind, tuple(map(_name, names))
                at += size - 1
                break
        at += 1


def sought_terms(text: str, language: str) -> list[str]:
    """The terms of a text, in order; where it asks for a kind of software, without verbs that one merely has it by.

    "Which cache do we run?" asks for the cache, and not for what runs.

    Parameters
    ----------
    text : any text; one of its first three words has to ask.
    language : the language of the text.

    Examples
    --------
    >>> sought_terms("Which message broker do we run?", "english")
    ['messag', 'broker']
    >>> sought_terms("Run the message broker first", "english")
    ['run', 'messag', 'broker', 'first']
    """
    ordered = terms(text, language)
    opening = {word[0].lower() for word in islice(_WORD.finditer(text), _OPENING)}
    if opening.isdisjoint(_row("interrogatives", language)):
        return ordered
    kinds = {term for kind, _ in kinds_of_software(ordered, language) for term in kind}
    idle = _having(language) - kinds if kinds else frozenset[str]()
    return [term for term in ordered if term not in idle]


@cache
def _having(language: str) -> frozenset[str]:
    """The terms of a language that say no more of a software than that one has it."""
    return frozenset(terms(" ".join(_row("having_verbs", language)), language))


@cache
def _row(name: str, language: str) -> tuple[str, ...]:
    """The words of a language in a list with a line for each."""
    lines = (line.partition(": ") for line in read_lines(name))
    return next((tuple(words.split()) for line, _, words in lines if line == language), ())


@cache
def _kinds(language: str) -> tuple[dict[Terms, tuple[str, ...]], int]:
    """The software of each kind, by the terms of the kind in a language, and the most terms of a kind."""
    kinds: dict[Terms, tuple[str, ...]] = {}
    for block in _blocks():
        called = [*block.get(_ENGLISH, ()), *block.get(language, ())]
        for kind in called:
            phrase = tuple(terms(kind, language))
            if phrase:
                kinds[phrase] = tuple(dict.fromkeys((*kinds.get(phrase, ()), *block["="])))
    return kinds, max(map(len, kinds))


@cache
def _name(name: str) -> SoftwareName:
    return SoftwareName(name.lower(), tuple(terms(name, _ENGLISH)), is_word=name[0].isupper())


@cache
def _blocks() -> tuple[dict[str, list[str]], ...]:
    """The blocks of the list: what a kind is called, by language, and after "=" its software."""
    blocks: list[dict[str, list[str]]] = [{}]
    for line in read_lines(_LIST):
        head, colon, rest = line.partition(": ")
        if line.startswith("="):
            blocks[-1]["="] = _words(line[1:])
            blocks.append({})
        elif colon:
            blocks[-1][head] = _words(rest)
        else:
            blocks[-1][_ENGLISH] = _words(line)
    return tuple(blocks[:-1])


def _words(line: str) -> list[str]:
    return [word.strip() for word in line.split(",") if word.strip()]
