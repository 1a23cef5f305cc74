"""Aliases: English statements that two names mean one thing; doubtful ones are not read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from priming.config.values import dataclass
from priming.text.name_forms.capitals import UPPER, expansion_of, initialisms, strip_markup
from priming.text.names import normal
from priming.text.word_lists import is_given_name, is_short_for

_WORD = rf"[{UPPER}][\w’'&+-]{{0,63}}(?![\w’'&+-])"
_NAME = rf"[\"“‘'`]?(?:@\w[\w-]{{0,63}}(?![\w-])|{_WORD}(?:[ ]{_WORD}){{0,3}}|[a-z]\d{{1,2}}[a-z])[\"”’'`]?"
_KNOWN_AS = (
    r"(?:(?:is|was)[ ])?(?:also[ ](?:known[ ]as|called)|better[ ]known[ ]as|a\.?k\.?a\.?|nicknamed|goes[ ]by)"
)
_SHORT_FOR = (
    r"(?:(?:is|was)[ ])?(?:short[ ]for|an?[ ](?:abbreviation|alias|nickname)[ ](?:of|for)|stands[ ]for)"
)
_EXPLICIT = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w@])(?P<name>{_NAME})(?:,|[ ]\(|[ ][–—-])?[ ]?{_KNOWN_AS}[ ](?:the[ ])?(?P<alias>{_NAME})",
        rf"(?<![\w@])(?P<alias>{_NAME})(?:,|[ ]\(|[ ][–—-])?[ ]?{_SHORT_FOR}[ ](?:the[ ])?(?P<name>{_NAME})",
        rf"(?<![\w@])(?P<name>{_NAME}),?[ ]\(?or[ ](?P<alias>{_NAME}),?[ ]for[ ]short\b",
    )
)
_ADJACENT = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w@])(?P<name>{_NAME})[ ]\((?:or[ ])?(?P<alias>{_NAME})\)",
        rf"(?<![\w@])(?P<name>{_NAME}),[ ]or[ ](?P<alias>{_NAME})(?=[,.;:)]|\s|$)",
    )
)
_NUMERONYM = re.compile(r"([a-z])(\d{1,2})([a-z])")
_SENTENCE = re.compile(r"[.!?][\"”’')]*\s|\n")
_SENTENCE_LETTERS = 400
_QUOTES = "\"“”‘'`’"
_ALIKE = 3
"""Letters that an abbreviation shares with the beginning of what it stands for, at least."""


@dataclass(frozen=True, slots=True)
class AliasStatement:
    """That two names mean one thing, and the sentence that says so; ``alias`` is the shorter."""

    alias: str
    name: str
    sentence: str


def alias_statements(text: str, is_known: Callable[[str], bool]) -> Iterator[AliasStatement]:
    """Find where a text says that two names mean one thing.

    "Robert Smith (Bob)", "Kubernetes, or K8s", "Bob, short for Robert", "Ann, also known as Mia", "a.k.a.",
    "spreading activation (SA)". Of names that only stand beside each other, in brackets or with "or", one must be
    an initialism, an abbreviation, a nickname or a handle of the other. Questions say nothing.

    Parameters
    ----------
    text : the text of a memory.
    is_known : reports whether the normal form of a name may be meant.

    Examples
    --------
    >>> text = "We use Kubernetes, or K8s, in Oslo (Norway)."
    >>> [(statement.alias, statement.name) for statement in alias_statements(text, lambda name: True)]
    [('K8s', 'Kubernetes')]
    """
    statements: dict[tuple[str, str], AliasStatement] = {}
    for start, end, alias, name in _pairs(text, is_known):
        if normal(name) == normal(alias):
            continue
        if _precedence(alias) > _precedence(name):
            alias, name = name, alias
        sentence = _sentence(text, start, end)
        if not sentence.rstrip(_QUOTES + " )").endswith("?"):
            statements.setdefault(
                (normal(alias), normal(name)),
                AliasStatement(strip_markup(alias), strip_markup(name), sentence),
            )
    yield from statements.values()


def is_short_form(alias: str, name: str) -> bool:
    """Tell whether one name is an initialism, an abbreviation, a nickname or a handle of another.

    >>> is_short_form("K8s", "Kubernetes"), is_short_form("Bob", "Robert Smith"), is_short_form("Oslo", "Norway")
    (True, True, False)
    """
    words, short = name.split(), alias.casefold()
    if not words:
        return False
    if alias.startswith("@"):
        return is_given_name(words[0]) or short[1:] in [word.casefold() for word in words]
    if len(short) > 1 and len(words) > 1 and expansion_of(name, alias) == name:
        return True
    letters, numbered = name.casefold(), _NUMERONYM.fullmatch(short)
    if numbered is not None and len(words) == 1:
        return (
            letters[:1] == numbered[1]
            and letters[-1:] == numbered[3]
            and len(letters) - 2 == int(numbered[2])
        )
    if is_short_for(short, words[0]):
        return True
    return " " not in alias and len(words) == 1 and len(short) >= _ALIKE and letters.startswith(short)


def _pairs(text: str, is_known: Callable[[str], bool]) -> Iterator[tuple[int, int, str, str]]:
    """Yield start, end, alias and name of what may say that two known names are one."""
    for pattern in (*_EXPLICIT, *_ADJACENT):
        for match in pattern.finditer(text):
            name = _ending(match["name"].strip(_QUOTES), is_known)
            alias = _beginning(match["alias"].strip(_QUOTES), is_known)
            if name and alias and (pattern in _EXPLICIT or _may_be_aliases(alias, name)):
                yield *match.span(), alias, name
    for start, words, short in initialisms(text):
        if is_known(normal(words)) and is_known(normal(short)):
            yield start, start + len(words) + len(short) + 3, short, words


def _may_be_aliases(first: str, second: str) -> bool:
    return is_short_form(first, second) or is_short_form(second, first)


def _ending(words: str, is_known: Callable[[str], bool]) -> str | None:
    """The longest known name at the end of some words: "Yesterday Robert Smith" ends in one."""
    parts = words.split()
    endings = (" ".join(parts[first:]) for first in range(len(parts)))
    return next((name for name in endings if is_known(normal(name))), None)


def _beginning(words: str, is_known: Callable[[str], bool]) -> str | None:
    parts = words.split()
    beginnings = (" ".join(parts[:last]) for last in range(len(parts), 0, -1))
    return next((name for name in beginnings if is_known(normal(name))), None)


def _sentence(text: str, start: int, end: int) -> str:
    low, high = max(0, start - _SENTENCE_LETTERS), min(len(text), end + _SENTENCE_LETTERS)
    starts = [match.end() for match in _SENTENCE.finditer(text, low, start)]
    over = _SENTENCE.search(text, end, high)
    return " ".join(text[starts[-1] if starts else low : over.end() if over else high].split())


def _precedence(name: str) -> tuple[bool, int, int]:
    """Rank a name as the main one of two: no handle, more words, more letters."""
    return not name.startswith("@"), len(name.split()), len(name)
