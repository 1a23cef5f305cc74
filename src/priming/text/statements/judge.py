"""Judge two statements: the same, a change, wider or narrower, apart, or unclear.

Three sentences govern it: nothing is the same while a difference is unexplained, nothing is changed unless the slot
is proven, and what shares a subject and is neither is unclear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from priming.config.values import dataclass
from priming.text.quotation import quote_text
from priming.text.statements.difference import (
    LIGHT,
    Difference,
    WordPair,
    align,
    alike,
    do_other_things,
    is_light,
    numbers_alike,
    positions_of,
    stems,
)
from priming.text.statements.phrases import LEADS, READ
from priming.text.statements.reader import Statement, Word, read
from priming.text.statements.words import opposite, questions

JudgementKind = Literal["same", "changes", "wider", "narrower", "apart", "unclear"]

_CACHE, _COMMON = 8_192, 4
"""Words in common, verbs that say little aside, from which two statements have one subject, however much differs."""
_ALIKE_VERBS = stems("use have need require get go put keep make live write set add")
"""Light verbs of which one may stand for another."""
_SCOPES = frozenset(("in", "on", "for", "if", "unless", "of"))
"""Prepositions before the place or case of which a statement speaks."""
_OPPOSED = frozenset(
    frozenset(pair.split())
    for pair in ("in out", "if out", "on out", "with around", "before after", "min max", "to from", "if unless",
                 "under on", "for against")
)  # fmt: skip
"""Prepositions of which one takes the place of the other."""
_GENERAL = frozenset(
    ["this", "that", "person-our", "person-your", "person-you", "person-their", "person-its"]
)
"""Pointers that add nothing to a statement that has none."""


_BOTH = "two reversals may undo each other"
_UNMARKED = frozenset(("the", "a", "person-you", "person-we"))
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
    return _Judge(read(first), read(second)).judgement()


def subjects(text: str) -> frozenset[str]:
    """Return the words of a statement and what they answer: two that share none say nothing of each other.

    >>> subjects("Use tabs") & subjects("Use spaces") != frozenset()
    True
    """
    names = [word.stem for word in read(text).words]
    return frozenset([*names, *(group for name in names for group in questions(name))])


def differ(first: str, second: str) -> bool:
    """Tell whether two facts cannot both hold: the later gives another value for what the first says.

    Questions state nothing.

    >>> differ("I drive a Skoda", "I drive a Fiat now"), differ("The rent is €1,200", "The rent is 1200 euros")
    (True, False)
    """
    is_question = first.rstrip().endswith("?") or second.rstrip().endswith("?")
    return not is_question and judge(first, second).kind == "changes"


class _Judge:
    """Two statements whose words are paired."""

    def __init__(self, old: Statement, new: Statement) -> None:
        self.old, self.new = old, new
        self.pairs, self.removed, self.added = align(old.words, new.words)
        paired = [{(pair[side].stem, pair[side].sign) for pair in self.pairs} for side in (0, 1)]
        self.heavy_removed, self.heavy_added = (
            [w for w in rest if not is_light(w, (old, new)[side]) and (w.stem, w.sign) not in paired[side]]
            for side, rest in enumerate((self.removed, self.added))
        )
        self.turned = [(a, b) for a, b in self.pairs if (a.sign != b.sign) != opposite(a.stem, b.stem)]
        self.shared = [(a, b) for a, b in self.pairs if "verb" not in (a.role, b.role)]
        self.persons = {mark for mark in old.marks & new.marks if mark.startswith("person")}
        self.other_verbs = do_other_things(old, new, self.shared)

    def judgement(self) -> Judgement:
        """The judgement, by the first question that has an answer."""
        if self.old.source.split() == self.new.source.split():
            return self._result("same", "both say the same")
        if not self.pairs:
            aged = self.persons and len(self.removed) == len(self.added) == 1
            if aged and numbers_alike(self.removed, self.added):
                return self._result("changes", "other numbers")
            alike = self.old.source.casefold().split() == self.new.source.casefold().split()
            return self._result("same" if alike else "apart", "they have no word in common")
        if max(len(self.old.source), len(self.new.source)) > READ:
            return self._result("unclear", "they are too long to compare")
        hedged = (self.old.marks ^ self.new.marks) & {"maybe", "past"}
        if (hedged or self._tenses_differ()) and self._is_of_one_subject():
            return self._result("unclear", f"one speaks of what {'may be' if 'maybe' in hedged else 'was'}")
        if self.turned:
            return self._reversal()
        if not self.heavy_removed and not self.heavy_added:
            return self._rearranged() or self._same()
        if not self.heavy_removed or not self.heavy_added:
            return self._more()
        return self._substituted()

    def _result(self, kind: JudgementKind, reason: str) -> Judgement:
        removed, added = (tuple(w.text for w in rest) for rest in (self.removed, self.added))
        paired = {id(a) for a, _ in self.pairs}
        shared = tuple(a.text for a in self.old.words if id(a) in paired)
        return Judgement(kind, reason, removed, added, shared, "only" in self.new.marks - self.old.marks)

    def _tenses_differ(self) -> bool:
        """Whether a verb is in the past in one and in the present in the other: "lived", "lives"."""
        ends = [(a.text.endswith("ed"), b.text.endswith("ed"), a, b) for a, b in self.pairs]
        return any(
            past != now and (b if past else a).text.endswith("s") and not a.contrast
            for past, now, a, b in ends
        )

    def _reversal(self) -> Judgement:
        """One asks for what the other rejects: a change, if nothing says that it is of something else."""
        removed, added = self.heavy_removed, self.heavy_added
        content = [pair for pair in self.turned if pair[0].role != "verb" or pair[1].role != "verb"]
        reason = f"one asks for {quote_text((content or self.turned)[0][0].text)}, and the other rejects it"
        steady = {a.sign for a, b in self.pairs if a.sign == b.sign}
        without = "without" in self.old.marks ^ self.new.marks
        if not removed and not added and without and self._requires():
            return self._result("same", "both ask for one before the other")
        wholly = len(self.turned) == len(self.pairs)
        skips = self._skips() or (without and wholly)
        both_ways = any(map(self._opposed, self.pairs)) or without
        if (both_ways or (not content and steady == {1, -1})) and (removed or added or not skips):
            return self._result("unclear", _BOTH)
        if not removed and not added:
            moved = any({"before", "after"} & {a.lead, b.lead} and a.lead != b.lead for a, b in self.pairs)
            plain = skips or not moved
            return self._result("changes" if plain else "unclear", reason if plain else _BOTH)
        wholly = wholly and self.turned[0][0].sign > 0 and len(self.pairs) > 1
        if removed and not added and wholly and not any(w.lead in _SCOPES for w in removed):
            return self._result("changes", reason)
        allows = content and all(a.sign < 0 < b.sign for a, b in self.shared)
        instead = allows and not removed and all(word.sign < 0 for word in added)  # it forbids another thing
        verbs_only = all(w.role == "verb" for w in (*removed, *added))
        if instead or (verbs_only and content and not (removed and added and len(content) < 2)):
            return self._result("changes", reason)
        if len({a.sign for a, b in self.turned if a.contrast or b.contrast}) == 2:
            return self._result("changes", "the sides are exchanged")
        if why := self._instead(content):
            return self._result("changes", why)
        if content and self._is_of_one_subject():
            return self._result("unclear", f"{reason}, in part")
        return self._result("apart", "one rejects what the other asks for of something else")

    def _skips(self) -> bool:
        """Whether one asks for a step before another, and the other for that without it."""
        step = any({a.lead, b.lead} == {"before", ""} and a.sign == b.sign for a, b in self.pairs)
        asks = [a if a.sign > b.sign else b for a, b in self.turned]
        return any(word.lead == "after" or (step and word.role == "verb") for word in asks)

    def _requires(self) -> bool:
        """Whether one says "never B without A", and the other "A before B" or "B after A"."""
        if (self.old.marks ^ self.new.marks) - _UNMARKED - {"without"} or self.removed or self.added:
            return False
        order = [{a.lead, b.lead} for a, b in self.pairs if a.lead != b.lead]
        turned = [{a.lead, b.lead} for a, b in self.turned]
        return len(order) == 1 and (
            order == turned == [{"before", ""}] or (order == [{"after", ""}] and turned == [{""}])
        )

    def _instead(self, content: Sequence[WordPair]) -> str | None:
        """What takes the place of what one rejects, if it is plain: "deploy with A", "not with A, with B"."""
        removed = [w for w in self.heavy_removed if not w.contrast]
        added = self.heavy_added
        taken_up = [b for a, b in content if b.sign > 0 > a.sign and a.contrast]
        if taken_up and not added and any(w.sign > 0 for w in removed):
            return f"{quote_text(taken_up[0].text)} is asked for again"
        given_up = [(a, b) for a, b in content if a.sign > 0 > b.sign]
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
        """Whether half of what they say is common, places and verbs that say little aside."""
        common = [(a, b) for a, b in self.pairs if a.stem not in LIGHT]
        roles = {word.role for word in common[0]} if len(common) == 1 else set()
        if roles == {"verb", "object"} or (len(roles) > 1 and "place" in roles):
            return False
        rests = self.heavy_removed, self.heavy_added
        most = max(sum(word.lead not in _SCOPES for word in rest) for rest in rests)
        return len(common) >= max(1, min(_COMMON, most))

    def _opposed(self, pair: WordPair) -> bool:
        return frozenset((pair[0].lead, pair[1].lead)) in _OPPOSED

    def _rearranged(self) -> Judgement | None:
        """The same words in other places: what is first, what belongs to what, who does it."""
        if ("may" in self.old.marks) != ("may" in self.new.marks) and any(map(self._opposed, self.pairs)):
            return self._result("unclear", "one allows, the other asks")
        leads = [(a, b) for a, b in self.pairs if a.lead != b.lead]
        for i, (a, b) in enumerate(leads):
            swapped = any(a.lead == d.lead and b.lead == c.lead for c, d in leads[i + 1 :])
            if swapped and not self._inverted():
                return self._result("changes", "two of its parts are exchanged")
        if not self._inverted():
            for a, b in leads:
                if self._opposed((a, b)):
                    return self._result(
                        "changes", f"{quote_text(b.lead)} takes the place of {quote_text(a.lead)}"
                    )
        ours, theirs = defaultdict(set), defaultdict(set)
        for a, b in self.pairs:
            ours[a.part].add(b.part)
            theirs[b.part].add(a.part)
        if any(len(parts) > 1 for parts in ours.values()) and any(
            len(parts) > 1 for parts in theirs.values()
        ):
            return self._result("changes", "what belongs together is exchanged")
        return None

    def _inverted(self) -> bool:
        """Whether one says "A before B" and the other "B after A"."""
        sides = {
            (a.lead, b.lead)
            for a, b in self.pairs
            if a.lead != b.lead and {"before", "after"} & {a.lead, b.lead}
        }
        return sides in ({("before", ""), ("", "after")}, {("after", ""), ("", "before")})

    def _same(self) -> Judgement:
        """The same, if every difference is explained."""
        only = ("only" in self.old.marks, "only" in self.new.marks)
        if only[0] != only[1]:
            return self._result("narrower" if only[1] else "wider", 'one says "only"')
        either = (*self.removed, *self.added)
        if self.removed and self.added and not all(word.stem in _ALIKE_VERBS for word in either):
            return self._result(
                "unclear", f"{quote_text(self.removed[0].text)} and {quote_text(self.added[0].text)}"
            )
        for a, b in self.pairs:
            first = self.old.words[0] is a or self.new.words[0] is b
            explained = a.lead == b.lead or (alike(a, b, first=first) and not self._is_compound(a, b))
            if not explained and not self._inverted():
                return self._result(
                    "unclear", f"{quote_text(a.lead)} and {quote_text(b.lead)} before {quote_text(a.text)}"
                )
        if self._reordered():
            return self._reordering()
        if self._points_elsewhere():
            return self._result("unclear", "they point to different things")
        if "may" in self.old.marks ^ self.new.marks and all(w.sign > 0 for w in self.old.words):
            return self._result("unclear", "one allows what the other asks for")
        return self._result("same", "both say the same")

    def _points_elsewhere(self) -> bool:
        """Whether small words tell them apart: "my" and "her", "this" and "that", "all" and "the"."""
        ours, theirs = self.old.marks - self.new.marks, self.new.marks - self.old.marks
        pointing = [
            {m for m in each if m.startswith("person") or m in ("this", "that")} for each in (ours, theirs)
        ]
        if all(pointing) or any(
            m.startswith("person") and m not in _GENERAL for m in pointing[0] | pointing[1]
        ):
            return True
        marks = ours | theirs
        if "all" in marks and (any(pointing) or {"the", "a"} & (theirs if "all" in ours else ours)):
            return "person-their" not in marks
        return {"and", "or"} <= marks

    def _is_compound(self, a: Word, b: Word) -> bool:
        """Whether one has as one name what the other puts in two places: "the lock file", "the lock on the file"."""
        side, lone = (1, b) if a.lead else (0, a)
        beside = any(pair[side].phrase == lone.phrase and pair[side] is not lone for pair in self.shared)
        return {a.lead, b.lead} == {"", "on"} and beside

    def _reordered(self) -> bool:
        """Whether words of one phrase or of one kind of phrase changed places."""
        groups = defaultdict(list)
        roles = [{w.role for w in each.words if not w.lead} for each in (self.old, self.new)]
        lone = any({a.role, b.role} == {"subject", "object"} for a, b in self.pairs)
        lone = lone and not any({"subject", "object"} <= each for each in roles)
        ours, theirs = positions_of(self.old), positions_of(self.new)
        for a, b in sorted(self.pairs, key=lambda pair: ours[id(pair[0])]):
            if a.lead == b.lead and not (lone and "verb" in (a.role, b.role)):
                groups[a.lead, a.sign].append(theirs[id(b)])
        return any(places != sorted(places) for places in groups.values())

    def _reordering(self) -> Judgement:
        """A change, where two sides of one word are exchanged; else unclear."""
        ours = [a for a in self.old.words if any(a is pair[0] for pair in self.pairs)]
        partner = {id(a): b for a, b in self.pairs}
        places = [positions_of(self.new)[id(partner[id(a)])] for a in ours]
        ranks = [sorted(places).index(place) for place in places]
        listed = {"and", "or"} & (self.old.marks | self.new.marks)
        whole = list(range(len(ranks)))
        swapped = ([*whole[p + 1 :], p, *whole[:p]] for p in range(1, len(ranks) - 1))
        moved = [i for i, rank in enumerate(ranks) if i != rank]
        single = len(moved) == 2 and moved[1] - moved[0] > 1
        if not listed and (single or any([ranks.index(i) for i in whole] == order for order in swapped)):
            sides = f"{quote_text(ours[moved[0]].text)} and {quote_text(ours[moved[-1]].text)}"
            return self._result("changes", f"{sides} are exchanged")
        return self._result("unclear", "the same words stand in another order")

    def _more(self) -> Judgement:
        """One says more: a condition, another object, or what it rejects."""
        rest, later = (self.heavy_added, True) if self.heavy_added else (self.heavy_removed, False)
        longer, shorter = (self.new, self.old) if later else (self.old, self.new)
        if not later and all(w.sign < 0 for w in rest) and any(a.sign > 0 for a, _ in self.pairs):
            return self._result("same", "the earlier says it already, and what not to do")
        if sum(a.stem not in LIGHT for a, _ in self.pairs) < min(2, len(rest)):
            return self._result("apart", "they share a word")
        acts = any(w.role == "verb" or w.stem in LEADS for w in rest)
        if acts or not all(a.lead == b.lead or alike(a, b, first=True) for a, b in self.pairs):
            kind: JudgementKind = "unclear" if self._is_of_one_subject() else "apart"
            return self._result(
                kind, f"only {'the later' if later else 'the earlier'} says {quote_text(_text(rest))}"
            )
        reason = f"only {'the later' if later else 'the earlier'} says {quote_text(rest[0].text)}"
        if "only" in self.old.marks - self.new.marks and not later:
            return self._result("changes", reason)
        narrows = "only" in shorter.marks or not ((longer.marks - shorter.marks) & {"and", "or"})
        if "only" in shorter.marks - longer.marks:
            return self._result("wider" if later else "narrower", reason)
        return self._result("narrower" if narrows == later else "wider", reason)

    def _substituted(self) -> Judgement:
        """Something in place of something else: a change, where what differs is the value of one slot."""
        removed, added = self.heavy_removed, self.heavy_added
        one_subject = self._is_of_one_subject()
        if any(w.sign < 0 for w in (*removed, *added)):
            return self._result("unclear" if one_subject else "apart", "they reject different things")
        ours, theirs = ({(w.part, w.phrase) for w in rest} for rest in (removed, added))
        numbers = all(w.number for w in (*removed, *added)) and len(removed) == len(added)
        if len(ours) == len(theirs) == 1 and not self.other_verbs:
            if Difference(self.old, self.new, self.pairs, removed, added).is_value():
                return self._result(
                    "changes", f"{quote_text(_text(added))} takes the place of {quote_text(_text(removed))}"
                )
            if "now" in self.new.marks and len(self.pairs) + bool(self.persons) > 1:
                return self._result(
                    "changes", f"{quote_text(_text(added))} now, and no longer {quote_text(_text(removed))}"
                )
        elif numbers and all(w.lead for w in (*removed, *added)):
            return self._result("changes", "other numbers")
        objects = all(any(w.role in ("object", "subject") for w in rest) for rest in (removed, added))
        if not one_subject or (len(ours) > 1 and len(theirs) > 1 and objects):
            return self._result(
                "apart",
                f"one is about {quote_text(_text(removed))}, the other about {quote_text(_text(added))}",
            )
        return self._result(
            "unclear", f"{quote_text(_text(added))} may take the place of {quote_text(_text(removed))}"
        )


def _text(words: Iterable[Word]) -> str:
    return " ".join(word.text for word in words)
