"""Judge two statements: the same, a change, wider or narrower, apart, or unclear.

Three sentences govern it: nothing is the same while a difference is unexplained, nothing is changed unless the slot
is proven, and what shares a subject and is neither is unclear.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from priming.config.values import dataclass
from priming.text.quotation import quote_text
from priming.text.statements.arrangement import Arrangement, adds_to, described, is_name, restricts
from priming.text.statements.difference import (
    LIGHT,
    Difference,
    WordPair,
    align,
    are_far,
    do_other_things,
    has_moved,
    is_quantity,
    joined,
    light_words,
    numbers_alike,
    stems,
    unit_of,
)
from priming.text.statements.phrases import LEADS, READ, is_read
from priming.text.statements.reader import Statement, Word, read
from priming.text.statements.words import is_transfer, opposite, questions
from priming.text.tokens import language_of, terms

JudgementKind = Literal["same", "changes", "wider", "narrower", "apart", "unclear"]
_Verdict = tuple[JudgementKind, str]

_CACHE, _COMMON = 8_192, 4
"""Words in common, verbs that say little aside, from which two statements have one subject, however much differs."""
_ALIKE_VERBS = stems("use have need require get go put keep make live write set add")
"""Light verbs of which one may stand for another."""
_SCOPES = frozenset(("in", "on", "for", "if", "unless", "of"))
"""Prepositions before the place or case of which a statement speaks."""
_GENERAL = {"this", "that"} | {f"person-{whose}" for whose in ("our", "your", "you", "their", "its")}
"""Pointers that add nothing to a statement that has none."""
_APART = str.maketrans("'’", "  ")
_BOTH = "two reversals may undo each other"
_UNMARKED = frozenset(("the", "a", "it", "person-you", "person-we"))
"""Small words that make no difference between two statements of the same words."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the later of two statements does to the earlier, why, and the words in which they differ."""

    kind: JudgementKind
    reason: str
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    restricts: bool = False
    """Whether only the later says "only"."""


@lru_cache(maxsize=_CACHE)
def judge(first: str, second: str) -> Judgement:
    """Judge what the second of two statements does to the first."""
    return _compared(first, second).judgement()


@lru_cache(maxsize=1)
def _compared(first: str, second: str) -> _Judge:
    return _Judge(read(first), read(second))


@lru_cache(maxsize=_CACHE)
def subjects(text: str) -> frozenset[str]:
    """Return the words of a statement and what they answer: two that share none say nothing of each other.

    >>> subjects("Use tabs") & subjects("Use spaces") != frozenset()
    True
    """
    names = [word.stem for word in read(text).words]
    return frozenset([*names, *(group for name in names for group in questions(name))])


def differ(first: str, second: str) -> bool:
    """Tell whether two facts cannot both hold: the later gives another value for what the first says.

    Questions state nothing, and a number may be a name: "flat 4 has a balcony" says nothing of flat 5.

    >>> differ("I drive a Skoda", "I drive a Fiat now"), differ("The rent is €1,200", "The rent is 1200 euros")
    (True, False)
    """
    is_question = first.rstrip().endswith("?") or second.rstrip().endswith("?")
    if is_question or are_far(first, second) or judge(first, second).kind != "changes":
        return False
    return not _compared(first, second).are_numbered(instructs=False)


class _Judge:
    """Two statements whose words are paired."""

    def __init__(self, old: Statement, new: Statement) -> None:
        old, new = described(old, new), described(new, old)
        self.old = old = replace(old, words=joined(old.words, new.words))
        self.new = new = replace(new, words=joined(new.words, old.words))
        self.pairs, self.removed, self.added = align(old.words, new.words)
        paired = [{(p[side].stem, sign) for p in self.pairs for sign in (p[side].sign, 0)} for side in (0, 1)]
        light = light_words(old.words) | light_words(new.words)
        self.heavy_removed, self.heavy_added = (
            [
                w
                for w in rest
                if id(w) not in light and (w.stem, 0 if w.contrast else w.sign) not in paired[side]
            ]
            for side, rest in enumerate((self.removed, self.added))
        )  # "local names rather than global names" says "names" once
        self.turned = [(a, b) for a, b in self.pairs if (a.sign != b.sign) != opposite(a.stem, b.stem)]
        self.shared = [(a, b) for a, b in self.pairs if "verb" not in (a.role, b.role)]
        self.persons = {mark for mark in old.marks & new.marks if mark.startswith("person")}
        self.arranged = Arrangement(old, new, self.pairs)
        self.other_verbs = do_other_things(old, new, self.shared)

    def judgement(self) -> Judgement:
        """Return the judgement, and the words in which they differ."""
        kind, reason = self._verdict()
        if kind not in ("changes", "unclear") and not is_read(self.old.source, self.new.source):
            kind, reason = self._unread()
        removed, added = (tuple(w.text for w in rest) for rest in (self.removed, self.added))
        paired = {id(a) for a, _ in self.pairs}
        shared = tuple(a.text for a in self.old.words if id(a) in paired)
        restricts = "only" in self.new.marks - self.old.marks or any(w.lead == "unless" for w in self.added)
        return Judgement(kind, reason, removed, added, shared, restricts)

    def _verdict(self) -> _Verdict:
        """Return what the first question says that has an answer."""
        texts = self.old.source, self.new.source
        if texts[0].split() == texts[1].split():
            return "same", "both say the same"
        if (self.pairs or self.persons) and has_moved(self.new, self.heavy_removed, self.heavy_added):
            return "changes", f"{_quoted(self.heavy_added)} now, and no longer {_quoted(self.heavy_removed)}"
        if not self.pairs:
            aged = self.persons and len(self.removed) == len(self.added) == 1
            if aged and numbers_alike(self.removed, self.added):
                return "changes", "other numbers"
            alike = texts[0].casefold().split() == texts[1].casefold().split()
            return "same" if alike else "apart", "they have no word in common"
        if max(map(len, texts)) > READ:
            return "unclear", "they are too long to compare"
        hedged = (self.old.marks ^ self.new.marks) & {"maybe", "past"}
        if (hedged or self._tenses_differ()) and self._is_of_one_subject():
            return "unclear", f"one speaks of what {'may be' if 'maybe' in hedged else 'was'}"
        if self.turned:
            return self._gives_up() or self._reversal()
        if not self.heavy_removed and not self.heavy_added:
            return self._same()
        return self._substituted() if self.heavy_removed and self.heavy_added else self._more()

    def _unread(self) -> _Verdict:
        """Return what can be said of texts in a language whose small words are not known."""
        ours, theirs = ([word.text for word in each.words] for each in (self.old, self.new))
        if ours == theirs:
            return "same", "both say the same"
        texts = self.old.source, self.new.source
        language = language_of("\n".join(texts), None)
        terms_of = [{*terms(text.translate(_APART), language)} for text in texts]
        if 2 * len(terms_of[0] & terms_of[1]) >= max(1, min(map(len, terms_of))):
            return "unclear", "it is in a language that is not read"
        return "apart", "they have little in common"

    def _tenses_differ(self) -> bool:
        """Tell whether a verb is in the past in one and in the present in the other: "lived", "lives"."""
        ends = [(a.text[-2:], b.text[-2:]) for a, b in self.pairs if not a.contrast]
        agent = any(word.lead == "by" for each in (self.old, self.new) for word in each.words)
        return not agent and any("ed" in pair and any(e[-1] == "s" != e[0] for e in pair) for pair in ends)

    def _reversal(self) -> _Verdict:
        """Judge where one asks for what the other rejects: a change, if nothing says that it is of something else."""
        removed, added = self.heavy_removed, self.heavy_added
        content = [pair for pair in self.turned if pair[0].role != "verb" or pair[1].role != "verb"]
        reason = f"one asks for {quote_text((content or self.turned)[0][0].text)}, and the other rejects it"
        steady = {a.sign for a, b in self.pairs if a.sign == b.sign}
        without = "without" in self.old.marks ^ self.new.marks
        if not removed and not added and without and self._requires():
            return "same", "both ask for one before the other"
        wholly = len(self.turned) == len(self.pairs)
        skips = self._skips() or (without and wholly)
        undone = all(
            a.stem != b.stem and not is_transfer(a.stem) for a, b in self.turned
        )  # "add to", "remove from"
        both_ways = (any(map(self.arranged.opposed, self.pairs)) and not undone) or without
        if (both_ways or (not content and steady == {1, -1})) and (removed or added or not skips):
            return "unclear", _BOTH
        if not removed and not added:
            moved = any({"before", "after"} & {a.lead, b.lead} and a.lead != b.lead for a, b in self.pairs)
            return ("changes", reason) if skips or not moved else ("unclear", _BOTH)
        wholly = wholly and self.turned[0][0].sign > 0 and len(self.pairs) > 1
        if removed and not added and wholly and not any(w.lead in _SCOPES for w in removed):
            return "changes", reason
        allows = content and all(a.sign < 0 < b.sign for a, b in self.shared)
        instead = allows and not removed and all(word.sign < 0 for word in added)  # it forbids another thing
        verbs_only = all(w.role == "verb" or w.role + w.lead == "value" for w in (*removed, *added))
        enough = len(content) > 1 or not (removed and added)
        if instead or (verbs_only and enough and (content or all(a.stem != b.stem for a, b in self.turned))):
            return "changes", reason
        if len({a.sign for a, b in self.turned if a.contrast or b.contrast}) == 2:
            return "changes", "the sides are exchanged"
        things = {id(b) for a, b in self.shared if a.sign > 0 < b.sign and a.stem not in LIGHT}
        beside = {id(w) for w, b in pairwise(self.new.words) if id(b) in things and w.phrase == b.phrase}
        if beside.isdisjoint(map(id, self.added)):  # it speaks of the same, and not of a part of it
            acts = all(a.role == "verb" and a.sign > 0 > b.sign for a, b in self.turned)
            other = bool(things and added) and all(w.sign > 0 and w.lead not in _SCOPES for w in added)
            if why := reason if acts and other else self._instead(content):
                return "changes", why
        if content and self._is_of_one_subject():
            return "unclear", f"{reason}, in part"
        return "apart", "one rejects what the other asks for of something else"

    def _gives_up(self) -> _Verdict | None:
        """Return a change, if the later names all that the earlier asks for as giving way: "black tea, not green"."""
        takes, given_up = ({w.stem for w in self.new.words if (w.sign < 0) is side} for side in (False, True))
        old = [w for w in self.old.words if w.stem not in takes]
        plain = all(w.sign > 0 for w in self.old.words) and any(w.contrast for w in self.new.words)
        instead = [w for w in self.heavy_added if w.sign > 0 and w.lead not in _SCOPES]
        if plain and old and {w.stem for w in old} <= given_up and instead == self.heavy_added != []:
            return "changes", f"{_quoted(instead)} takes the place of {_quoted(old)}"
        return None

    def _skips(self) -> bool:
        """Tell whether one asks for a step before another, and the other for that without it."""
        step = any({a.lead, b.lead} == {"before", ""} and a.sign == b.sign for a, b in self.pairs)
        asks = [a if a.sign > b.sign else b for a, b in self.turned]
        return any(word.lead == "after" or (step and word.role == "verb") for word in asks)

    def _requires(self) -> bool:
        """Tell whether one says "never B without A", and the other "A before B" or "B after A"."""
        if (self.old.marks ^ self.new.marks) - _UNMARKED - {"without"} or self.removed or self.added:
            return False
        order = {frozenset((a.lead, b.lead)) for a, b in self.pairs if a.lead != b.lead}
        turned = {frozenset((a.lead, b.lead)) for a, b in self.turned}
        before, after = ({frozenset((lead, ""))} for lead in ("before", "after"))
        return order == turned == before or (order == after and turned == {frozenset(("",))})

    def _instead(self, content: Sequence[WordPair]) -> str | None:
        """Return what takes the place of what one rejects, if it is plain: "deploy with A", "not with A, with B"."""
        removed = [w for w in self.heavy_removed if not w.contrast]
        added = self.heavy_added
        taken_up = [b for a, b in content if b.sign > 0 > a.sign and a.contrast]
        if taken_up and not added and any(w.sign > 0 for w in removed):
            return f"{quote_text(taken_up[0].text)} is asked for again"
        parts = {(w.part, w.phrase) for w in added}  # "pick a queue sooner than a cron job" gives up no jobs
        given_up = [(a, b) for a, b in content if a.sign > 0 > b.sign and (b.part, b.phrase) not in parts]
        if not given_up or not added or len(removed) > 1:
            return None
        paired = {(b.part, b.phrase) for _, b in self.pairs}
        others = [w for w in added if w.sign > 0 and w.role != "verb" and (w.part, w.phrase) not in paired]
        instead = [
            w for w in others if any(w.role == b.role or w.lead == a.lead or b.contrast for a, b in given_up)
        ]
        a, b = given_up[0]
        more = len(self.pairs) > len(given_up) or len(self.turned) == len(self.pairs) > 1
        if instead and (b.contrast or more or a.lead == instead[0].lead != ""):
            return f"{quote_text(instead[0].text)} takes the place of {quote_text(a.text)}"
        return None

    def _is_of_one_subject(self) -> bool:
        """Tell whether half of what they say is common, places and verbs that say little aside."""
        common = [(a, b) for a, b in self.pairs if a.stem not in LIGHT]
        roles = {word.role for word in common[0]} if len(common) == 1 else set()
        if roles == {"verb", "object"} or (len(roles) > 1 and "place" in roles):
            return False
        rests = self.heavy_removed, self.heavy_added
        most = max(sum(word.lead not in _SCOPES for word in rest) for rest in rests)
        return len(common) >= max(1, min(_COMMON, most))

    def _same(self) -> _Verdict:
        """Return the same, if every difference is explained."""
        may = "may" in self.old.marks ^ self.new.marks
        if may and any(map(self.arranged.opposed, self.pairs)):
            return "unclear", "one allows, the other asks"
        if exchanged := self.arranged.exchanged():
            return "changes", exchanged
        only = restricts(self.old), restricts(self.new)
        if only[0] != only[1]:
            return "narrower" if only[1] else "wider", 'one says "only"'
        either = (*self.removed, *self.added)
        if self.removed and self.added and not all(word.stem in _ALIKE_VERBS for word in either):
            return "unclear", f"{quote_text(self.removed[0].text)} and {quote_text(self.added[0].text)}"
        for a, b in self.pairs:
            explained = a.lead == b.lead or (self.arranged.is_alike(a, b) and not self._is_compound(a, b))
            if not explained and not self.arranged.inverted():
                return "unclear", f"{quote_text(a.lead)} and {quote_text(b.lead)} before {quote_text(a.text)}"
        if reordered := self.arranged.reordered():
            return reordered
        if self._points_elsewhere():
            return "unclear", "they point to different things"
        if may and all(w.sign > 0 for w in self.old.words):
            return "unclear", "one allows what the other asks for"
        return "same", "both say the same"

    def _points_elsewhere(self) -> bool:
        """Tell whether small words tell them apart: "my" and "her", "this" and "that", "all" and "the"."""
        ours, theirs = self.old.marks - self.new.marks, self.new.marks - self.old.marks
        pointing = [{m for m in each if "person" in m or m in ("this", "that")} for each in (ours, theirs)]
        if all(pointing) or (pointing[0] | pointing[1]) - _GENERAL:
            return True
        marks = ours | theirs
        if "all" in marks and (any(pointing) or {"the", "a"} & (theirs if "all" in ours else ours)):
            return "person-their" not in marks
        return {"and", "or"} <= marks

    def _is_compound(self, a: Word, b: Word) -> bool:
        """Tell whether one has as one name what the other splits in two: "the lock file", "the lock on the file"."""
        side, lone = (1, b) if a.lead else (0, a)
        beside = any(pair[side].phrase == lone.phrase and pair[side] is not lone for pair in self.shared)
        return {a.lead, b.lead} == {"", "on"} and beside

    def _more(self) -> _Verdict:
        """Judge where one says more: a condition, another object, or what it rejects."""
        rest, later = (self.heavy_added, True) if self.heavy_added else (self.heavy_removed, False)
        longer, shorter = (self.new, self.old) if later else (self.old, self.new)
        if not later and all(w.sign < 0 for w in rest) and any(a.sign > 0 for a, _ in self.pairs):
            return "same", "the earlier says it already, and what not to do"
        if later and "only" in self.old.marks - self.new.marks and adds_to(self.old, self.new, rest):
            return "changes", f"{_quoted(rest)} too, and not only what the earlier says"
        counts = rest[0].lead in ("", *(pair[later].lead for pair in self.pairs)) and is_quantity(rest[0])
        if len(rest) == 1 and "all" in shorter.marks - longer.marks and counts:
            return "changes", f"{quote_text(rest[0].text)} and not all"
        leads = {pair[later].lead for pair in self.pairs}
        conditional = not (self.removed and self.added) and all(w.lead in _SCOPES - leads for w in rest)
        if not conditional and sum(a.stem not in LIGHT for a, _ in self.pairs) < min(2, len(rest)):
            return "apart", "they share a word"
        acts = any(w.role == "verb" or w.stem in LEADS for w in rest)
        says = f"only the {'later' if later else 'earlier'} says"
        if acts or not all(a.lead == b.lead or self.arranged.is_alike(a, b) for a, b in self.pairs):
            return "unclear" if self._is_of_one_subject() else "apart", f"{says} {_quoted(rest)}"
        reason = f"{says} {quote_text(rest[0].text)}"
        if "only" in self.old.marks - self.new.marks and not later:
            return "changes", reason
        joins = {"and", "or"} & (longer.marks - shorter.marks)
        narrows = conditional or "only" in shorter.marks or not joins
        if "only" in shorter.marks - longer.marks:
            return "wider" if later else "narrower", reason
        return "narrower" if narrows == later else "wider", reason

    def _substituted(self) -> _Verdict:
        """Judge something in place of something else: a change, where what differs is the value of one slot."""
        removed, added = self.heavy_removed, self.heavy_added
        one_subject = self._is_of_one_subject()
        if any(w.sign < 0 and not w.contrast for w in (*removed, *added)):
            return "unclear" if one_subject else "apart", "they reject different things"
        if "too" in self.new.marks - self.old.marks:
            reason = f"{_quoted(added)} comes beside {_quoted(removed)}"
            return "unclear" if "only" in self.old.marks else "apart", reason
        if self.are_numbered(instructs=True):
            return "apart", f"one is about {_quoted(removed)}, the other about {_quoted(added)}"
        ours, theirs = ({(w.part, w.lead or w.phrase, w.contrast) for w in rest} for rest in (removed, added))
        numbers = all(w.number for w in (*removed, *added)) and len(removed) == len(added)
        if len(ours) == len(theirs) == 1 and not self.other_verbs:
            if Difference(self.old, self.new, self.pairs, removed, added).is_value():
                return "changes", f"{_quoted(added)} takes the place of {_quoted(removed)}"
            if "now" in self.new.marks and len(self.pairs) + bool(self.persons) > 1:
                return "changes", f"{_quoted(added)} now, and no longer {_quoted(removed)}"
        elif numbers and all(w.lead for w in (*removed, *added)) and not self._number_things():
            return "changes", "other numbers"
        objects = all(any(w.role in ("object", "subject") for w in rest) for rest in (removed, added))
        if not one_subject or (len(ours) > 1 and len(theirs) > 1 and objects):
            return "apart", f"one is about {_quoted(removed)}, the other about {_quoted(added)}"
        return "unclear", f"{_quoted(added)} may take the place of {_quoted(removed)}"

    def are_numbered(self, *, instructs: bool) -> bool:
        """Tell whether other numbers, each behind a noun and before what is said of it, name the things meant.

        The reader takes the noun of "flat 4 has a balcony" for a verb: what ``instructs`` may begin with one, unless
        a verb with its object is behind the number, "step 3 needs approval".
        """
        sides = (self.old.words, self.heavy_removed), (self.new.words, self.heavy_added)
        if self.persons:  # "I take 20 mg"
            return False
        return all(any(is_name(words, w, instructs=instructs) for w in rest) for words, rest in sides)

    def _number_things(self) -> bool:
        """Tell whether one of several other numbers says which is meant: "the rent of flat 4", without a unit."""
        rests = (self.old.words, self.heavy_removed), (self.new.words, self.heavy_added)
        return any(
            (before.part, before.phrase) == (word.part, word.phrase) and word in rest and not unit_of(word)
            for words, rest in rests
            for before, word in pairwise(words)
        )


def _quoted(words: Iterable[Word]) -> str:
    return quote_text(" ".join(word.text for word in words))
