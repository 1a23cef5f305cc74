"""The sentences of a text, and its gist: as little of a rule as can stand alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from priming.text.rule_kinds import denial_in, forbids
from priming.text.word_lists import read_words

GIST_LETTERS = 120
"""Most letters of a gist. A text that is no longer is its own gist."""

_BOUNDARY = re.compile(r"(?P<mark>[.!?]+)(?P<close>[\"'”’)\]]*)(?=\s)|[。！？]|\n+|$")
_NEVER_LAST = frozenset(read_words("abbreviations"))
"""Abbreviations that a sentence does not end with."""
_SOMETIMES_LAST = frozenset(("etc", "inc", "ltd", "co", "corp", "al", "a.m", "p.m", "u.s", "u.k"))
"""Abbreviations that a sentence may end with: before a capital it does."""
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘`]*$")
_CODE = re.compile(r"```.*?(?:```|$)|`[^`\n]+`", re.DOTALL)
_ITEM = re.compile(r"(?:(?<=\s)|^)\(?(\d{1,2})[.)]\s+(?=\S)")
_BULLET = re.compile(r"^\s*(?:[-*•]\s+)")
_LEANING = re.compile(
    r"(?:this|that|it|its|they|them|these|those|he|she|otherwise|then|else|so|but|and|or|also|instead)\b",
    re.IGNORECASE,
)
"""How a sentence begins that leans on the one before it."""
_READ = 10_000
"""Characters that are looked at."""
_PAUSE = re.compile(r"[,;:—–]\s")
_CLAUSE_START = re.compile(r"[,;:—–]\s+|\b(?:and|but|so|then)\s+")


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line. A line ends one, except in a block of code.

    Abbreviations, initials, the numbers of a list, file names, versions, decimals and code end none.

    >>> sentences("Use e.g. ruff vs. black. Pin version 3.11 of `a. b`!")
    ['Use e.g. ruff vs. black.', 'Pin version 3.11 of `a. b`!']
    """
    parts = (" ".join(_BULLET.sub("", part).split()) for part in _pieces(text))
    return [part for part in parts if part]


def gist_of_rule(text: str) -> str:
    """The gist of a rule: all of it where it is short, else a sentence that stands alone, with what it forbids.

    A list keeps its first items. What a later sentence forbids is told rather than what the first one says.

    >>> gist_of_rule("1. run the migrations 2. check")
    '1. run the migrations 2. check'
    >>> long = "The store is shared by all teams and is read at night by jobs that nobody can stop. "
    >>> gist_of_rule(long + "Never drop a table, e.g. orders, by hand. Ask Dr. Lee in doubt.")
    'Never drop a table, e.g. orders, by hand.'
    """
    whole = " ".join(text.split())
    if len(whole) <= GIST_LETTERS:
        return whole
    items = list_items(text[:_READ])
    parts = _independent(items or sentences(text[:_READ])) or [whole]
    forbidding = [part for part in parts if forbids(part)]
    if not forbidding:
        return _first_items(items) if items else _cut(parts[0])
    gist = _cut(forbidding[0])
    for part in forbidding[1:]:
        gist = f"{gist} {part}" if len(gist) + len(part) < GIST_LETTERS else gist
    first = "" if parts[0] in forbidding or len(parts[0]) + len(gist) >= GIST_LETTERS else f"{parts[0]} "
    return first + gist


def list_items(text: str) -> list[str]:
    """The items of a numbered list, with their numbers and what stands before the first; empty without a list.

    >>> list_items("1. run the migrations 2. check"), list_items("It needs 2. Check it.")
    (['1. run the migrations', '2. check'], [])
    """
    code = [match.span() for match in _CODE.finditer(text)]
    starts: list[int] = []
    for match in _ITEM.finditer(text):
        inside = any(start <= match.start() < end for start, end in code)
        if int(match[1]) == len(starts) + 1 and not inside:
            starts.append(match.start())
    if len(starts) < 2:
        return []
    ends = [*starts[1:], len(text)]
    items = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    parts = (" ".join(part.split()) for part in (text[: starts[0]], *items))
    return [part for part in parts if part]


def _pieces(text: str) -> Iterator[str]:
    """A text cut after each sentence."""
    code = [match.span() for match in _CODE.finditer(text)]
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match.start() < start or any(first <= match.start() < last for first, last in code):
            continue
        if match["mark"] is None or _ends(text, start, match):
            yield text[start : match.end()]
            start = match.end()


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a mark of punctuation ends a sentence."""
    if match["mark"] != ".":
        return match["mark"] != "..." or _next_is_capital(text, match.end())
    last = _LAST_WORD.search(text, start, match.start())
    word = last[0] if last else ""
    plain = word.casefold()
    if plain in _NEVER_LAST or (len(word) == 1 and word.isupper()):
        return False
    if plain in _SOMETIMES_LAST:
        return _next_is_capital(text, match.end())
    if word.isdigit():
        # "1. Stop the server" is one sentence; "We are in room 5. It is cold." are two.
        return bool(text[start : match.start() - len(word)].strip()) and _next_is_capital(text, match.end())
    return True


def _next_is_capital(text: str, at: int) -> bool:
    following = text[at:].lstrip().lstrip("\"'“‘`([")[:1]
    return not following or not following.islower()


def _independent(parts: list[str]) -> list[str]:
    """Sentences that stand alone: a label, or one that leans on the one before it, is joined to its neighbour."""
    joined: list[str] = []
    for part in parts:
        before = joined[-1] if joined else None
        is_label = before is not None and (before.endswith(":") or len(before.split()) == 1)
        leans = before is not None and _LEANING.match(part) and len(before) + len(part) < GIST_LETTERS
        if before is not None and (is_label or leans):
            joined[-1] = f"{before} {part}"
        else:
            joined.append(part)
    return joined


def _first_items(items: list[str]) -> str:
    """As many items of a list as fit, and a sign that there are more."""
    number = next(
        (n for n in range(len(items) - 1, 0, -1) if len(" ".join(items[:n])) <= GIST_LETTERS - 2), 0
    )
    return f"{' '.join(items[:number])} …" if number else _cut(items[0])


def _cut(sentence: str) -> str:
    """A sentence cut between words to the length of a gist; what it forbids is kept."""
    if len(sentence) <= GIST_LETTERS:
        return sentence
    lead = ""
    denial = denial_in(sentence)
    if denial is not None and denial > GIST_LETTERS // 2:
        starts = [match.end() for match in _CLAUSE_START.finditer(sentence, 0, denial + 1)]
        begin = max((start for start in starts if start <= denial), default=denial)
        lead, sentence = (
            "… ",
            sentence[begin if denial - begin < GIST_LETTERS // 2 else denial :].lstrip(" ,;:.—–"),
        )
    if len(lead) + len(sentence) <= GIST_LETTERS:
        return lead + sentence
    cut = sentence[: GIST_LETTERS - 1 - len(lead)]
    clauses = [match.start() for match in _PAUSE.finditer(cut) if match.start() > GIST_LETTERS // 2]
    end = clauses[-1] if clauses else cut.rfind(" ")
    return lead + (cut[:end] if end > 0 else cut).rstrip(" ,;:—–") + "…"
