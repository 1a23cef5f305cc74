"""Software: with its version, "sqlalchemy 2.0.31", "node v20", "numpy==1.26.4"; and by its kind.

"Which message broker" asks for RabbitMQ or Kafka, whose names do not say what they are. The list of kinds was written
for Priming, from what makers call their software. A cue that names its software is not looked for under the kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice

from priming.config.values import dataclass
from priming.text.name_forms.kinds import IDENTIFIER, Name
from priming.text.tokens import is_stop, language_of, terms
from priming.text.word_lists import (
    MEASURED_NOUNS,
    SENTENCE_OPENERS,
    SOFTWARE,
    is_common,
    is_formed,
    read_lines,
)

_BEFORE = 56
"""Letters before a version in which its software stands."""
_VERSION = re.compile(
    r"(?<![\w.,/:@=<>~^!$€£#+-])[vV]?\d{1,4}(?:\.\d{1,6}){0,4}(?:[-.+]?(?:rc|a|b|alpha|beta|dev|post|pre|lts)[.-]?\d{0,4})?"
    r"(?![\w%°/:$€£]|[.,]\d|-\d)"
)
_SOFTWARE = re.compile(
    r"(?<![\w./@-])([A-Za-z@][\w.+/@-]{0,40})[ ](?:(?:version|release|ver\.|v\.)[ ])?\(?\Z", re.IGNORECASE
)
_MEASURE = re.compile(
    r"[ ]?(?:percent|sec(?:ond)?s?|m?s|min(?:ute)?s?|h(?:ou)?rs?|h|days?|weeks?|months?|years?|times|millions?"
    r"|billions?|thousand|hundred|points?|[kxµ]|[KMGT]i?[Bb]?|[kKMGT]?bit|[A-Z]{3}|k?m|cm|mm|kg|g|mg|euros?|dollars?)(?!\w)"
)
_PLURAL = re.compile(r"[ ][a-z]{3,40}s(?!\w)")
_PINNED = re.compile(r"(@?[A-Za-z][\w.-]*(?:/[\w.-]+)?)(?:\[[\w,-]+\])?(?:===?|[~<>!^]=|@|=)[vV]?\d[\w*.+-]*")


def versioned(text: str) -> Iterator[tuple[int, Name]]:
    """Yield software with its version, and the software alone; versions after measures and common words are none.

    >>> [name.text for _, name in versioned("We pinned sqlalchemy 2.0.31; it took 3.5 hours.")]
    ['sqlalchemy 2.0.31', 'sqlalchemy']
    """
    for match in _VERSION.finditer(text):
        before = _SOFTWARE.search(text, max(0, match.start() - _BEFORE), match.start())
        version = match[0].lstrip("vV")
        if before and _has_versions(before[1], match[0], text, match.end()):
            yield before.start(1), Name(f"{before[1]} {version}", IDENTIFIER)
            yield before.start(1), Name(before[1], IDENTIFIER)


def _has_versions(word: str, version: str, text: str, end: int) -> bool:
    plain = word.lower()
    if plain in MEASURED_NOUNS or plain in SENTENCE_OPENERS or is_stop(word) or word[0].isupper():
        return False  # a capitalised word takes its number as part of its name
    points = version.count(".")
    if plain in SOFTWARE:
        return points > 1 or not (_MEASURE.match(text, end) or (not points and _PLURAL.match(text, end)))
    if is_formed(plain) or not points:
        return points > 0 and "-" in plain
    if points > 1 or version[0] in "vV":
        return True
    # Which words are common is known of English alone, and elsewhere a point may part thousands.
    return language_of(text) in (None, _ENGLISH) and not (is_common(plain) or _MEASURE.match(text, end))


def pinned(token: str) -> Iterator[Name]:
    """Yield the software that a token pins, with its version and alone.

    >>> [name.text for name in pinned("numpy==1.26.4")]
    ['numpy==1.26.4', 'numpy']
    """
    match = _PINNED.fullmatch(token)
    if match:
        yield Name(token, IDENTIFIER)
        yield Name(match[1], IDENTIFIER)


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
