"""The sentences of a text, and its gist: as little of a rule as can stand alone.

Prohibitions, exceptions, values and conditions are kept, with what they say nothing without: an agent that gets
half a rule does the wrong thing, and does not ask for the rest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from priming.config.values import dataclass
from priming.text.tokens import is_function_word, language_of
from priming.text.word_lists import read_words

GIST_LETTERS = 120
"""Most letters of a gist that forbids, excepts and counts nothing. A text that is no longer is its own gist."""
MOST_LETTERS = 3 * GIST_LETTERS
"""Most letters of any gist."""

_BOUNDARY = re.compile(r"(?<![.!?])(?P<mark>[.!?]+)(?P<close>[\"'”’)\]]*)(?=\s)|[。！？]|\n+|$")
ABBREVIATIONS = frozenset(read_words("abbreviations"))
"""Abbreviations that a sentence does not end with."""
_SOMETIMES_LAST = frozenset(("etc", "inc", "ltd", "co", "corp", "al", "a.m", "p.m", "u.s", "u.k"))
"""Abbreviations that a sentence may end with: before a capital it does."""
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘`]*$")
_NEXT_WORD = re.compile(r"\s*[\"'“‘`(\[]*(.?)", re.DOTALL)
_SOLID = re.compile(r"\S")
_BACK = 64
"""Letters before a mark that are looked at: no abbreviation is longer."""
_CODE = re.compile(r"```.*?(?:```|$)|`[^`\n]+`", re.DOTALL)
_ITEM = re.compile(r"(?:^|(?<=\s))(?:step\s+)?\(?(?P<number>\d{1,3})[.):]\s+(?=\S)", re.IGNORECASE)
_ENDS_ITEM = (".", "!", "?", ";", ":", ",", ")", "\n")
_BULLET = re.compile(r"^\s*(?:[-*•]\s+)")
_MARKED = re.compile(r"(?:[:;—–]|\bstep)\s*\(?$", re.IGNORECASE)
"""What stands before the mark of an item: "the steps: 1. …", "step 1. …"."""
_LEANING = re.compile(
    r"(?:this|that|it|its|they|them|these|those|he|she|otherwise|then|else|so|but|and|or|also|instead)\b",
    re.IGNORECASE,
)
"""How a sentence begins that leans on the one before it."""
_READ = 10_000
"""Characters that are looked at."""
_PIECES = 400
"""Sentences, items and clauses that are looked at: more than any gist has room for."""
_PAUSE = re.compile(r"[,;:—–]\s")
_EXCEPTION = r"unless|except(?:ing)?|excluding|apart from|aside from|other than|with the exception of"
_CLAUSE_START = re.compile(
    r"[,;:—–]\s+(?!(?:and|or|but)\s+\w+[.]?$)"
    rf"|(?<=\s)(?=(?:but|so|then|{_EXCEPTION}|and (?:never|do not|don't|not|must))\s)"
)
_DEPENDENT = re.compile(
    rf"(?:(?:but|and) )?(?:{_EXCEPTION}|so|but|which|who|where|because|since|with|in|on|for|at|by|from|as)\b",
    re.IGNORECASE,
)
"""How a clause begins that says nothing without the one before it."""
_CONDITION = re.compile(r"(?:if|when(?:ever)?|while|until|once|in case)\b", re.IGNORECASE)
_NUMBERS = "one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|fifty|sixty|ninety|hundred"
_COUNT = rf"(?:\d|(?:{_NUMBERS})\b)"
_COUNTED = (
    r"(?:ms|milli\w+|seconds?|minutes?|hours?|days?|weeks?|months?|years?|times|lines?|characters?|columns?|attempts?"
    r"|retries|percent|bytes?|[kmg]i?b|pixels?)"
)
_LIMITING = r"at (?:most|least)|up to|(?:more|less|fewer|longer) than|max\w*|min\w*|within"
_ESSENTIAL = tuple(
    (re.compile(pattern, re.IGNORECASE), weight)
    for pattern, weight in (
        (rf"\b(?:{_EXCEPTION}|only|not|cannot|never|neither|nor|without|no longer)\b|n['’]t\b", 3),
        (r"\d", 2),
        (rf"\b(?:{_LIMITING}) (?:an?\b|{_COUNT})", 2),
        (rf"\b{_COUNT}\s+(?:more )?{_COUNTED}\b", 2),
        (rf"^{_CONDITION.pattern}", 1),
    )
)
"""What a gist keeps besides prohibitions: exceptions and denials, values, conditions; and how much they weigh."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line. A line ends one, except in a block of code.

    Abbreviations, initials, the numbers of a list, file names, versions, decimals and code end none.

    >>> sentences("Use e.g. ruff vs. black. Pin version 3.11 of `a. b`!")
    ['Use e.g. ruff vs. black.', 'Pin version 3.11 of `a. b`!']
    """
    return [*_sentences(text)]


def _sentences(text: str) -> Iterator[str]:
    return filter(None, (" ".join(_BULLET.sub("", part).split()) for part in pieces(text)))


def gist_of_rule(text: str) -> str:
    """Return the gist of a rule: all of it where it is short, else without what can be left out.

    No prohibition, exception, condition or value is left out. What is left out inside a sentence or a list is marked
    by "…". A gist is longer than usual where it says so much, and only what is longer still is cut.

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
    parts = list(dict.fromkeys(_independent(items or sentences(text[:_READ])))) or [whole]
    pieces = [
        _Piece(piece, n, _weight(piece if not items else _ITEM.sub("", piece)))
        for n, part in enumerate(parts)
        for piece in ([part] if len(part) <= GIST_LETTERS else _clauses(part))
    ][:_PIECES]
    return _assembled(pieces, _chosen(pieces), is_list=bool(items))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, an item or a clause; ``weight``: how much it must stay, 0 where it need not."""

    text: str
    part: int
    weight: int


def _weight(piece: str) -> int:
    if _forbids(piece):
        return 4
    return next((weight for pattern, weight in _ESSENTIAL if pattern.search(piece)), 0)


def _chosen(pieces: Sequence[_Piece]) -> set[int]:
    """Choose a gist's pieces: what must stay, the heaviest first, then others from the beginning while they fit."""
    chosen: set[int] = set()

    def length(more: set[int]) -> int:
        return sum(len(pieces[i].text) + 3 for i in chosen | more) - 1

    for i in sorted(range(len(pieces)), key=lambda i: -pieces[i].weight):
        needed = _with_neighbours(pieces, i)
        if pieces[i].weight and (not chosen or length({i}) <= MOST_LETTERS):
            chosen |= needed if length(needed) <= MOST_LETTERS else {i}
    for i in range(len(pieces)):
        if length({i}) - 1 > GIST_LETTERS and chosen:
            break
        chosen.add(i)
    return chosen


def _with_neighbours(pieces: Sequence[_Piece], i: int) -> set[int]:
    """Return a piece with those that it says nothing without: the rule of an exception, what a condition is for."""
    first = i
    while first > 0:
        inside = pieces[first].part == pieces[first - 1].part
        leans = _DEPENDENT if inside else _LEANING
        if not leans.match(pieces[first].text):
            break
        first -= 1
    last = i
    while last + 1 < len(pieces) and pieces[last].part == pieces[last + 1].part:
        if not _CONDITION.match(pieces[last].text):
            break
        last += 1
    return set(range(first, last + 1))


def _assembled(pieces: Sequence[_Piece], chosen: set[int], *, is_list: bool) -> str:
    """Return the chosen pieces in order, with a sign where a clause or an item is left out."""
    texts: list[str] = []
    alone = len(chosen) == 1
    for i, piece in enumerate(pieces):
        inside = is_list or any(other.part == piece.part for n, other in enumerate(pieces) if n != i)
        if i in chosen:
            texts.append(_cut(piece.text) if alone and len(piece.text) > MOST_LETTERS - 4 else piece.text)
        elif inside and texts[-1:] != ["…"] and (is_list or texts or _follows(pieces, chosen, i)):
            texts.append("…")
    return " ".join(texts)


def _follows(pieces: Sequence[_Piece], chosen: set[int], i: int) -> bool:
    return any(n in chosen and pieces[n].part == pieces[i].part for n in range(i + 1, len(pieces)))


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a long sentence, each with the mark that ends it."""
    starts = [0, *(match.end() for match in _CLAUSE_START.finditer(sentence)), len(sentence)]
    starts = [a for a, b in itertools.pairwise(starts) if b > a]
    ends = [*starts[1:], len(sentence)]
    clauses = (sentence[a:b].strip() for a, b in zip(starts, ends, strict=True))
    return [clause for clause in clauses if clause]


def list_items(text: str) -> list[str]:
    """Return the items of a numbered list, with their numbers and what stands before the first; empty without a list.

    >>> list_items("1. run the migrations 2. check"), list_items("It needs 2. Check it.")
    (['1. run the migrations', '2. check'], [])
    """
    marks = list_marks(text)
    edges = [0, *(mark.start() for mark in marks), len(text)] if marks else []
    parts = (" ".join(text[start:end].split()) for start, end in itertools.pairwise(edges))
    return [part for part in parts if part]


def list_marks(text: str) -> list[re.Match[str]]:
    """Find the numbers 1, 2, 3 … that begin the items of a list; others before a full stop are part of an item.

    They begin lines, if the first does and there are several lines; else the first that follows a sentence counts.
    """
    in_code = _in_code(text)
    matches = [match for match in _ITEM.finditer(text) if not in_code(match.start())]
    first = next((match for match in matches if int(match["number"]) == 1), None)
    if first is None:
        return []
    if _begins_line(text, first) and "\n" in text[first.end() :].strip():
        matches = [match for match in matches if _begins_line(text, match)]
    marks = [first]
    by_number: dict[int, list[re.Match[str]]] = {}
    for match in matches:
        by_number.setdefault(int(match["number"]), []).append(match)
    while following := [
        match for match in by_number.get(len(marks) + 1, ()) if match.start() > marks[-1].start()
    ]:
        clean = (match for match in following if _before(text, match, " \t") in _ENDS_ITEM)
        marks.append(next(clean, following[0]))
    return marks if len(marks) > 1 else []


def _begins_line(text: str, match: re.Match[str]) -> bool:
    return _before(text, match, " \t\r\f\v") in ("", "\n")


def _before(text: str, match: re.Match[str], blank: str) -> str:
    """Return the character before a place, but for blanks; empty at the start."""
    at = match.start()
    while at and text[at - 1] in blank:
        at -= 1
    return text[at - 1 : at]


def pieces(text: str) -> Iterator[str]:
    """Yield a text cut after each sentence and line; together the pieces are the text."""
    in_code = _in_code(text)
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match.start() < start or in_code(match.start()):
            continue
        if match["mark"] is None or _ends(text, start, match):
            yield text[start : match.end()]
            start = match.end()


def _in_code(text: str) -> Callable[[int], bool]:
    """Tell whether a place of a text is in code; the places come in order."""
    spans = (match.span() for match in _CODE.finditer(text))
    start, end = next(spans, (len(text), len(text)))

    def inside(place: int) -> bool:
        nonlocal start, end
        while place >= end and start < len(text):
            start, end = next(spans, (len(text), len(text)))
        return start <= place < end

    return inside


def gist_of_steps(text: str) -> str:
    """Return the gist of a text that begins a list: its title, and as many items as fit; "…" stands for the others.

    >>> gist_of_steps("Rotate the key: 1. Open the vault. 2. Make a key.")
    'Rotate the key: 1. Open the vault. 2. Make a key.'
    """
    whole = _on_one_line(text)
    if len(whole) <= GIST_LETTERS:
        return whole
    parts = _independent(list_items(text[:_READ]) or sentences(text[:_READ]))
    shown = parts[0]
    for part in parts[1:]:
        if len(shown) + len(part) + 4 > GIST_LETTERS:
            break
        shown = f"{shown}{_joint(shown)}{part}"
    return _cut(shown) if len(shown) + 2 > GIST_LETTERS else f"{shown} …"


def _on_one_line(text: str) -> str:
    """Put a text on one line, as far as a gist goes, without the marks of a list; ";" ends items without an end."""
    shown = ""
    for line in text.splitlines():
        item = " ".join(_BULLET.sub("", line).split())
        shown += f"{_joint(shown) if _BULLET.match(line) else ' '}{item}" if shown and item else item
        if len(shown) > GIST_LETTERS:
            break
    return shown


def _joint(before: str) -> str:
    """Return what stands between two items."""
    return " " if before.endswith((".", ":", ";", ",", "!", "?")) or _ITEM.search(before) else "; "


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Tell whether a mark of punctuation ends a sentence."""
    if match["mark"] != ".":
        return match["mark"] != "..." or _next_is_capital(text, match.end())
    last = _LAST_WORD.search(text, max(start, match.start() - _BACK), match.start())
    word = last[0] if last else ""
    plain = word.casefold()
    if plain in ABBREVIATIONS or (len(word) == 1 and word.isupper()):
        return False
    if plain in _SOMETIMES_LAST:
        return _next_is_capital(text, match.end())
    before = match.start() - len(word)
    if (word.isdigit() or len(word) == 1) and _MARKED.search(text, max(start, before - _BACK), before):
        return False  # "Rotate the key: 1. Open the vault."
    if word.isdigit():
        # "1. Stop the server" is one sentence; "We are in room 5. It is cold." are two.
        is_capital = _next_is_capital(text, match.end())
        return is_capital and _SOLID.search(text, start, before) is not None and not _is_ordinal(text, match)
    return True


def _is_ordinal(text: str, match: re.Match[str]) -> bool:
    """Tell whether a number counts the noun after it, as in "der 20. März": German has capitals in sentences, too."""
    following = text[match.end() : match.end() + _BACK].split(maxsplit=1)
    return _is_german(text) and not is_function_word("".join(following[:1]), "german")


@lru_cache(maxsize=1)
def _is_german(text: str) -> bool:
    return language_of(text) == "german"


def _next_is_capital(text: str, at: int) -> bool:
    following = _NEXT_WORD.match(text, at)
    return following is None or not following[1].islower()


def _independent(parts: list[str]) -> list[str]:
    """Return sentences that stand alone: a label, or one leaning on the one before it, is joined to its neighbour."""
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


def _cut(sentence: str) -> str:
    """Return a sentence cut between words to the length of a gist; what it forbids is kept."""
    if len(sentence) <= GIST_LETTERS:
        return sentence
    lead = ""
    denial = _denial(sentence)
    if denial > GIST_LETTERS // 2:
        lead, sentence = "… ", sentence[denial:].lstrip(" ,;:.—–")
    if len(lead) + len(sentence) <= GIST_LETTERS:
        return lead + sentence
    cut = sentence[: GIST_LETTERS - 1 - len(lead)]
    clauses = [match.start() for match in _PAUSE.finditer(cut) if match.start() > GIST_LETTERS // 2]
    end = clauses[-1] if clauses else cut.rfind(" ")
    return lead + (cut[:end] if end > 0 else cut).rstrip(" ,;:—–") + "…"


def _denial(sentence: str) -> int:
    """Return where the first clause begins that forbids something; 0 where none does."""
    starts = [0, *(match.end() for match in _CLAUSE_START.finditer(sentence)), len(sentence)]
    clauses = ((start, sentence[start:end]) for start, end in itertools.pairwise(starts))
    return next((start for start, clause in clauses if _forbids(clause)), 0)


def _forbids(text: str) -> bool:
    from priming.text.statements.reader import forbids  # a recall needs the sentences of a text alone

    return forbids(text)


def gist_of(content: str, kind: str = "episode") -> str:
    """Return a text's gist: of a rule what it asks and forbids, of others the first sentence or line, cut at a word.

    A gist stands alone: that of a procedure, or of a line that announces others, has as many of them as fit.
    """
    if kind == "behavior":
        return gist_of_rule(content)
    line = next(_sentences(content.strip()[: 4 * GIST_LETTERS]), "") or " ".join(content.split())
    if kind == "procedure" or (line.endswith(":") and line != content.strip()):
        return gist_of_steps(content.strip())
    if len(line) <= GIST_LETTERS:
        return line
    cut = line[: GIST_LETTERS - 1]
    return (cut[: cut.rfind(" ")] if " " in cut else cut).rstrip(" ,;:") + "…"
