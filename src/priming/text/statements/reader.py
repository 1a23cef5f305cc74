"""Read a statement: its words in a normal form, each with its sign, its preposition, and its place in the clause.

It knows the small words of English and German (``words/phrases.txt``); every other word stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Literal

from priming.config.values import dataclass
from priming.text.names import find
from priming.text.statements.phrases import LEADS, PhraseToken, tokens_of
from priming.text.statements.words import figures, is_number, is_past, is_plural, stem_of
from priming.text.word_lists import NAMES_LIKE_WORDS, is_given_name

_CACHE = 4_096
"""Statements that are kept: a new one is compared with all of them."""
_WRONG_WORDS = 12
"""Most words of what was wrong that are compared."""
_JOINTS = frozenset(("and", "or", "but", "then", "comma"))
_AUXILIARY = frozenset(("be", "past", "maybe", "do", "must", "may", "now", "all"))
_DENIALS = frozenset(("not", "deny", "free", "banned"))
_PREDICATES = frozenset(("be", "past", "maybe", "must", "may"))
_BARE = frozenset(("not", "nicht"))
"""Denials that may reject only what follows them: "json, not yaml"."""
_PARTICIPLE = re.compile(
    r"[a-zäöü]{2,}(?:ed|en|wn|lt|nt|pt|ht|ne)|set|put|cut|read|split|kept|made|held|run|ge[a-zäöü]+t"
)

PARTICLES = frozenset(("in", "out", "on", "off", "up", "down", "back", "forward"))
"""Words that say where to beside a verb and its object: "roll it back", "round up the sum"."""
_ADVERB = 5
"""Letters of the shortest words in -ly that are no adverbs, "only", "early"."""
_MARKS = frozenset(("maybe", "past", "only", "too", "now", "all", "may", "it", "this", "that", "a", "the"))

Role = Literal["verb", "object", "subject", "value", "place"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word that says something.

    ``stem`` stands for it and its synonyms; ``sign`` is +1 where it is asked for, −1 where it is rejected; ``lead``
    is the preposition before its phrase, "" without one; ``part`` the number of its clause, ``phrase`` that of its
    phrase. ``contrast``: it is named as what something else takes the place of.
    """

    stem: str
    text: str
    sign: int
    lead: str
    part: int
    phrase: int
    role: Role
    contrast: bool = False

    @property
    def number(self) -> bool:
        """Whether it is a number, with its unit if it has one."""
        return is_number(self.stem)


@dataclass(frozen=True, slots=True)
class Statement:
    """The words of a text, and the marks of its small words: "only", "now", "all", "may", "and", "or", persons.

    "holder" marks that a name is said to be what a description names: "Lena is the captain".
    """

    source: str
    words: tuple[Word, ...]
    marks: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Clause:
    """What was read of a clause, for what is joined to it."""

    words: tuple[Word, ...] = ()
    sign: int = 1
    order: str = ""


@lru_cache(maxsize=_CACHE)
def read(text: str) -> Statement:
    """Read a statement.

    Every word gets the sign of its clause: −1 after "never", "avoid", "is not allowed"; +1 after two of them ("never
    skip"). What stands after "instead of", "rather than", or ", not" is rejected beside what it gives way to.

    >>> [(word.stem, word.sign) for word in read("Use pathlib instead of os.path").words]
    [('use', 1), ('pathlib', 1), ('os.path', -1)]
    """
    words: list[Word] = []
    marks: set[str] = set()
    part = 0
    denied = False
    for broken, sentence in groupby(tokens_of(text), key=lambda token: token.mark == "break"):
        parts = [] if broken else _parts(_without_reason([*sentence]))
        clause = _Clause()
        for number, (joint, tokens) in enumerate(parts):
            later = {each for each, _ in parts[number:]}
            marks |= {joint} & {"and", "or"}
            if _denied(tokens, joined=number > 0)[0] < 0 and any(each.mark == "without" for each in tokens):
                marks.add("without")
            marks |= {str(each.mark) for each in tokens if each.mark in _MARKS or "person" in str(each.mark)}
            if _names_holder(tokens):
                marks.add("holder")
            if any(each.mark == "be" and "moved" in each.text for each in tokens):
                marks.add("moved")
            joined = number > 0 and joint in ("and", "or", "comma")
            banned = not clause.words and any(
                each.mark == "banned" for _, of in parts[:number] for each in of
            )
            carries = joined and (joint != "comma" or "or" in later or banned)  # "Es ist verboten, …"
            before = clause if joined else _Clause(order="before" if joint == "then" and number else "")
            phrase = words[-1].phrase + 1 if words else 0
            clause = _ClauseReader(tokens, before, carries=carries, part=part, phrase=phrase).read()
            if clause.words:
                part = clause.words[-1].part + 1
                words += (replace(word, sign=-word.sign) if denied else word for word in clause.words)
            elif not words and len(parts) == 1 and tokens[-1].text.lower() not in _BARE:
                denied = clause.sign < 0  # "Never do these: …"
    return Statement(text, tuple(words), frozenset(marks))


def contrast(right: str, wrong: str | None) -> str:
    """Return a correction as one statement: what to do, and not what was done instead, if that is a short text.

    >>> contrast("Use uv", "pip"), contrast("Never push", "git push")
    ('Use uv; never pip', 'Never push')
    """
    short = wrong is not None and "\n" not in wrong and len(wrong.split()) <= _WRONG_WORDS
    asks = any(word.sign > 0 for word in read(right).words)
    return f"{right.rstrip(' .!')}; never {wrong}" if short and asks else right


@lru_cache(maxsize=_CACHE)
def is_event(text: str) -> bool:
    """Tell whether a text tells what happened: its verb is in the past.

    >>> [is_event(text) for text in ("I ran 5 km", "It was cold", "The door is painted", "I need iced tea")]
    [True, True, False, False]
    """
    end = PhraseToken("", "break")
    tokens = [end, *tokens_of(text), end]
    begun = False
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token.mark in _PREDICATES:
            return token.mark == "past"
        describes = _describes(before) or (begun and after.mark is None)
        if token.mark is None and is_past(token.text) and not describes:
            return True
        begun = begun or (token.mark is None and token.text[:1].islower())
    return False


def _describes(before: PhraseToken) -> bool:
    """Tell whether what stands before a participle makes it an adjective: "the rented flat", "in closed rooms"."""
    return before.mark in LEADS or (determines(before.mark) and before.text != "I")


def determines(mark: str | None) -> bool:
    """Tell whether a small word stands before what is named: "the", "every", "my"."""
    return mark in ("the", "a", "this", "that", "all") or "person" in str(mark)


def forbids(text: str) -> bool:
    """Tell whether a text forbids something.

    >>> forbids("Hands off the lockfile"), forbids("Never forget the tests"), forbids("Use uv, not pip")
    (True, False, False)
    """
    statement, conditional = read(text), False
    for word in statement.words:
        conditional = word.lead in ("if", "unless") or (conditional and word.lead != "")
        if word.sign < 0 and not (word.contrast or conditional):
            return True
    return {"only", "may"} <= statement.marks


def _without_reason(tokens: Sequence[PhraseToken]) -> list[PhraseToken]:
    """Return the tokens without a reason, which ends at a comma: "…, since pip is slow"."""
    start = next((i for i, token in enumerate(tokens) if token.mark == "why" and i), None)
    if start is None:
        return list(tokens)
    end = next((i for i in range(start, len(tokens)) if tokens[i].mark == "comma"), len(tokens))
    return [*tokens[:start], *tokens[end:]]


def _parts(tokens: Sequence[PhraseToken]) -> list[tuple[str, list[PhraseToken]]]:
    """Return the parts of a sentence between commas and conjunctions, each with what joins it to the one before."""
    parts: list[tuple[str, list[PhraseToken]]] = []
    joint, part = "", []
    for token in tokens:
        if token.mark not in _JOINTS:
            part.append(token)
        elif part:
            parts.append((joint, part))
            joint, part = str(token.mark), []
        elif token.mark != "comma":
            joint = str(token.mark)
    return [*parts, (joint, part)] if part else parts


def _denied(tokens: Sequence[PhraseToken], *, joined: bool) -> tuple[int, int | None]:
    """Return the sign that a part gives to all of its words, and the place of a denial of only what follows it."""
    sign, rest, words = 1, None, 0
    kinds: set[str] = set()
    for i, token in enumerate(tokens):
        relative = words and tokens[i - 1].mark == "that"  # "jobs that nobody can stop"
        if token.mark in _DENIALS and not relative:
            after = tokens[i - 1].mark in _AUXILIARY or words == 0 if i else not joined
            whole = after or token.text.lower() not in _BARE
            if not whole:
                rest = i
            elif not (token.mark != "deny" and kinds):  # "nobody may never": one denial
                sign = -sign
                kinds.add(token.mark)
        words += token.mark is None
    return sign, rest


class _ClauseReader:
    """Reads the words of a part of a sentence: the sign of its clause, the prepositions, and the roles."""

    def __init__(
        self, tokens: Sequence[PhraseToken], before: _Clause, *, carries: bool, part: int, phrase: int
    ) -> None:
        whole, self.rejects_from = _denied(tokens, joined=bool(before.words))
        self.tokens, self.part, self.phrase = tokens, part, phrase
        self.sign = (before.sign if carries else 1) * whole
        self.order = self.lead = before.order
        self.predicate = _predicate(tokens)
        self.third = _third_person(tokens) if self.predicate is None else ""
        self.role: Role = "verb" if self.predicate is None and not self.third else "subject"
        if self.predicate is None and not self.third and _continues(tokens, before):
            last = before.words[-1]
            self.lead, self.role, self.part = last.lead, last.role, last.part
        elif before.words and before.words[0].lead and not before.order:
            self.part = before.words[-1].part  # "Before committing, run it"
        self.words: list[Word] = []
        self.contrast = self.opened = self.prefers = self.passive = self.named = False

    def read(self) -> _Clause:
        """Read the part, word by word and mark by mark."""
        last_word = max((i for i, token in enumerate(self.tokens) if token.mark is None), default=-1)
        last_over = max((i for i, token in enumerate(self.tokens) if token.mark == "over"), default=-1)
        for i, token in _with_figures(self.tokens):
            mark = "with" if token.mark == "over" and i < last_over else token.mark  # "over A rather than B"
            after = self.tokens[i + 1].mark if i + 1 < len(self.tokens) else "break"
            ends = mark in LEADS and mark != "of" and i > last_word  # "before the deploy, not after"
            free = token.text in PARTICLES and (ends or (mark is None and self.tokens[i].text == token.text))
            if free and after is not None and self._has_object(after):
                self.phrase, self.role = self.phrase + 1, "value"  # it says more of the verb
                self._word(token)
                self.phrase, self.role = self.phrase + 1, "object"
            elif mark is None or ends or (mark == "in" and after in ("on", "with", "after", "before")):
                self._word(token)
            elif mark in ("over", "than") or i == self.rejects_from or self._gives_way(mark):
                self.contrast, self.opened = True, False
                self.phrase += 1
            elif mark in LEADS:
                self.contrast = self.contrast and not self.opened
                self.lead, self.role = mark, "place"
                self.phrase += 1
            elif i == self.predicate:
                is_being = mark in ("be", "past")
                self.role, self.lead = ("value", "be") if is_being else ("verb", self.order)
                self.phrase += 1
            self.named = determines(mark)
        return _Clause(_active(self.words) if self.passive else tuple(self.words), self.sign, self.order)

    def _has_object(self, after: str) -> bool:
        """Tell whether what is read after a verb is beside its object: "roll traffic back", "round up the sum"."""
        stands = self.words and self.role == "object" and self.lead == self.order and not self.contrast
        return bool(stands and (determines(after) or self.words[-1].role == "object"))

    def _gives_way(self, mark: str) -> bool:
        """Tell whether a "to" begins what gives way: "prefer tabs to spaces"."""
        gives_way = self.prefers and mark == "to" and bool(self.words)
        self.prefers = self.prefers and not gives_way
        return gives_way

    def _word(self, token: PhraseToken) -> None:
        participle = _PARTICIPLE.fullmatch(token.text) and not self.named
        if self.role == "value" and self.lead == "be" and participle:
            self.role, self.lead, self.passive = "verb", self.order, True
        if self.role == "subject" and token.text == self.third:
            self.role, self.lead = "verb", self.order
            self.phrase += 1
        says_how = self.lead not in ("", "be") and token.text.endswith("ly") and len(token.text) > _ADVERB
        self.phrase += says_how
        sign = self.sign * (-1 if self.contrast else 1) * (-1 if self.lead == "without" else 1)
        lead = "" if says_how or self.lead == "without" else self.lead
        stem = token.text if token.quoted else stem_of(token.form or token.text)
        where = self.part, self.phrase
        self.words.append(Word(stem, token.text, sign, lead, *where, self.role, self.contrast))
        self.opened = self.opened or self.contrast
        if self.role == "verb":
            self.prefers = token.text.lower().startswith("prefer")
            self.role = "object"
            self.phrase += 1


def _active(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return the words of a passive in the order of the active: the verb, then to what it is done."""
    verb = next(i for i, word in enumerate(words) if word.role == "verb")
    return (words[verb], *(replace(word, role="object") for word in words[:verb]), *words[verb + 1 :])


def _continues(tokens: Sequence[PhraseToken], before: _Clause) -> bool:
    """Tell whether a part without a subject goes on with the phrase before it: "… and spaces", "… or in tests"."""
    if not before.words or (before.words[0].lead and not before.order):
        return False
    marks = [token.mark for token in tokens]
    first = marks.index(None) if None in marks else len(marks)
    if any(mark in LEADS for mark in marks[:first]):
        return True
    verbs = {word.stem for word in before.words if word.role == "verb"}
    if first < len(marks) and stem_of(tokens[first].text) in verbs:
        return False  # "never use tabs, use spaces"
    leads = {mark for mark in marks[first:] if mark in LEADS}
    parallel = not leads.isdisjoint(word.lead for word in before.words)
    last = before.words[-1]
    return not parallel and last.role != "verb" and not (marks.count(None) > 2 and last.role == "object")


def _with_figures(tokens: Sequence[PhraseToken]) -> Iterator[tuple[int, PhraseToken]]:
    """Yield the tokens with their places, numbers as figures with their units."""
    run: list[str] = []
    for i, token in enumerate(tokens):
        if token.mark is None and not token.quoted:
            run.append(token.text)
            continue
        yield from ((i - 1, PhraseToken(written, form=form)) for form, written in figures(run))
        run = []
        yield i, token
    yield from ((len(tokens) - 1, PhraseToken(written, form=form)) for form, written in figures(run))


def _names_holder(tokens: Sequence[PhraseToken]) -> bool:
    """Tell whether a name is said to be what a description names: "Lena is the captain"."""
    marks = [token.mark for token in tokens]
    at = marks.index("be") if "be" in marks else 0
    return at > 0 and marks[at:][1:2] == ["the"] and not any(map(determines, marks[:at]))


def _third_person(tokens: Sequence[PhraseToken]) -> str:
    """Return the verb in the third person after a name or a subject with an article: "Lena works", "the band plays".

    After a name with a number it is known by the number behind it: "Room 12 seats 40", but "Retry 5 times".
    """
    first = [token.text for token in tokens[:4] if token.mark is None]
    if (
        [is_number(stem_of(word)) for word in first[1::2]] == [True, True]
        and _ends_as_verb(first[2])
        and find(" ".join(first[:2]))
    ):
        return first[2]
    subject = False
    for i, (before, token) in enumerate(pairwise(each for each in tokens if each.mark not in ("now", ""))):
        several = i == 0 and before.mark is token.mark is None and is_plural(before.text)
        if several and token.text.islower() and not is_plural(token.text):
            return token.text  # no imperative ends in "s": "errors go to stderr"
        subject = subject or determines(before.mark)
        named = is_given_name(before.text) and before.text.lower() not in NAMES_LIKE_WORDS
        if before.mark is None and (named or subject) and token.mark is None and token.text.islower():
            if _ends_as_verb(token.text):
                return token.text
        elif before.mark is None and not subject:
            return ""
    return ""


def _ends_as_verb(word: str) -> bool:
    """Tell whether a word ends as a verb in the third person does."""
    return word.islower() and word.endswith("s") and not word.endswith("ss")


def _predicate(tokens: Sequence[PhraseToken]) -> int | None:
    """Return where the predicate of a part begins, if its subject stands before it; None for an imperative."""
    words, place = 0, None
    for i, token in enumerate(tokens):
        if place is not None:
            if token.mark in ("be", "past"):
                return i
            if token.mark is None or token.mark in LEADS:
                return place
        elif token.mark in _PREDICATES and words:
            place = i
        elif token.mark in ("if", "before", "after", "until", "unless"):
            return None
        words += token.mark is None or (token.mark or "").startswith("person")
    return place
