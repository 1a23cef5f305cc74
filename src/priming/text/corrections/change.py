"""What a later statement changes about an earlier one: its opposite, another value, wider, narrower, or else.

Rules only, no model. Two statements are compared by what both ask for, by what one asks for and the other
rejects, by who does what to whom, and by the words that are left over on either side.
"""

from collections.abc import Sequence

from priming.text.corrections.alignment import split
from priming.text.corrections.exceptions import (
    agree_about_a_place,
    are_limits_of_two_acts,
    are_two_acts,
    denies_by_pronoun,
    is_modified_object,
    kinds_of,
    places_of,
    turned_order,
)
from priming.text.corrections.polarity import Word, read_statement
from priming.text.corrections.rests import (
    MEANS,
    all_scope,
    names_the_rejected,
    narrows,
)
from priming.text.corrections.small_words import small_difference
from priming.text.corrections.text_change import REVERSALS, ChangeKind, TextChange
from priming.text.corrections.values import ValueChange
from priming.text.corrections.word_classes import (
    has_target,
    makes_a_kind,
    rivals_of,
    types_of,
)
from priming.text.corrections.word_order import exchanged
from priming.text.corrections.wording import limit_of, quoted
from priming.text.word_values import are_antonyms, stem_of, value_types

_WRONG_WORDS = 12
"""Most words of what was wrong that are compared."""
_KEPT = stem_of("keep")


def contrast(right: str, wrong: str | None) -> str:
    """A correction as a statement: what to do, and not what was done instead, if that is a short text.

    >>> contrast("Use uv", "pip"), contrast("Never push", "git push")
    ('Use uv; never pip', 'Never push')
    """
    short = wrong is not None and "\n" not in wrong and len(wrong.split()) <= _WRONG_WORDS
    asks = any(word.sign > 0 for word in read_statement(right).words)
    return f"{right.rstrip(' .!')}; never {wrong}" if short and asks else right


def compare(old: str, new: str) -> TextChange:
    """Tell what a later statement changes about an earlier one.

    Parameters
    ----------
    old, new : two statements: rules, facts or steps, in any order of words.

    Returns
    -------
    The kind of the change with its reason. ``same``: both say the same. ``opposite``: the later asks for what the
    earlier rejects, or the reverse. ``other_value``: they differ in a value of the same slot. ``wider`` and
    ``narrower``: the later says it of more, or of less. ``other_slot``: they are about different things.

    Raises
    ------
    ParamError : a statement that is no text.

    Examples
    --------
    >>> compare("Use httpx instead of requests", "Use requests instead of httpx").kind
    'opposite'
    >>> compare("Wait 30 seconds between retries", "Wait 90s between retries").kind
    'other_value'
    """
    return _AlignedChange(read_statement(old), read_statement(new)).change()


class _AlignedChange(ValueChange):
    """Two statements whose words are aligned, and what the later changes."""

    def change(self) -> TextChange:
        """The change, by the first rule that decides."""
        shared = len(self.aligned) >= len(self.removed) + len(self.added)
        change = (
            self._turned()
            or self._both_hold()
            or self._opposite()
            or self._exchange()
            or (None if self.crossed else self._without_rest() or self._subset() or self._value())
            or self._displaced()
            or self._result("other_slot", "they are about different things", clear=not shared)
        )
        change = self._by_small_words(change)
        return change if change.kind not in REVERSALS or change.coexists else self._bounded(change)

    def _by_small_words(self, change: TextChange) -> TextChange:
        """The change, unless small words tell apart what the others do not: "vote for it", "vote against it"."""
        small = None
        if change.kind in ("same", "wider", "narrower") and not change.coexists:
            small = small_difference(self.old.source, self.new.source)
        if small is None or not (small.alone or change.kind == "same"):
            return change
        if small.two_acts:
            return self._result("other_slot", f"they are two acts: {small.reason}", coexists=True)
        if small.opposed:
            return self._result("opposite", small.reason, clear=small.alone)
        return self._result("other_value", small.reason, clear=small.counts and small.alone)

    def _both_hold(self) -> TextChange | None:
        """Words that say the opposite, of two acts or places: neither says anything of the other."""
        if self.selected:
            return self._elsewhere()
        heads = all(a.stem != b.stem and a.role == b.role == "head" for a, b in self.crossed)
        if self.crossed and heads and exchanged(self.aligned, self.old, self.new):
            return self._elsewhere(self.crossed)  # "start it before the tests", "stop it after the tests"
        if are_two_acts(self.crossed) or are_limits_of_two_acts(self.crossed, self.old, self.new):
            return self._elsewhere(self.crossed)
        if agree_about_a_place(self.crossed):
            reason = "they agree: one speaks of a place, the other of all others"
            return self._result("other_slot", reason, coexists=True)
        return None

    def _turned(self) -> TextChange | None:
        turned = turned_order(self.old, self.new)
        if turned is None:
            return None
        return self._result("opposite", f'"{turned[1]}" takes the place of "{turned[0]}"')

    def _bounded(self, change: TextChange) -> TextChange:
        """A reversal, unless one of the two holds only in a place that the other does not name."""
        if any(denies_by_pronoun(self.new, b) for _, b in self.crossed):
            return change
        ours, theirs = (self._places(side) or self._kinds(side) for side in (0, 1))
        lost, gained = len(ours) < len(self.removed), len(theirs) < len(self.added)
        exchanged_only = not (self.crossed or lost or gained)
        if bool(ours) == bool(theirs) or not (self.crossed or (lost and gained) or exchanged_only):
            return change
        if exchanged_only and not all_scope(theirs or ours):
            return change  # "on Mondays and Thursdays"
        kind: ChangeKind = "narrower" if theirs else "wider"
        kind = "opposite" if change.kind == "opposite" else kind
        return self._exception(kind, theirs or ours, later=bool(theirs))

    def _places(self, side: int) -> list[Word]:
        """The places that only one side names, of what differs: not of another clause before it."""
        rests, statement = (self.removed, self.added), (self.old, self.new)[side]
        differing = [pair[side] for pair in self.crossed]
        return [
            word
            for word in places_of(rests[side], rests[1 - side], statement)
            if not differing
            or (
                any(word.part == other.part or word.place > other.place for other in differing)
                and (word.role == "scope" or all(word.under != other.under for other in differing))
            )
        ]

    def _kinds(self, side: int) -> list[Word]:
        """What one says of which ones of what is opposed it speaks, if that is all: "*major* updates"."""
        rests = self.removed, self.added
        shared = [pair[side] for pair in (*self.crossed, *self.aligned)]
        antonyms = any(a.stem != b.stem for a, b in self.crossed)
        alone = antonyms and not rests[1 - side] and kinds_of(rests[side], shared)
        return list(rests[side]) if alone else []

    def _opposite(self) -> TextChange | None:
        """What is asked for by one and rejected by the other, where little else differs."""
        if not self.crossed:
            return None
        (ours, our_scope), (theirs, their_scope) = (
            split(words, lambda word: word.role != "scope") for words in (self.removed, self.added)
        )
        if (our_scope and their_scope) or (has_target(self.removed) and has_target(self.added)):
            return self._elsewhere()
        opposed = [pair for pair in self.crossed if pair[0].stem != pair[1].stem]
        if not self._is_firm(ours, theirs) or (ours and theirs and len(opposed) == len(self.crossed)):
            return None
        if self.removed and self.added and self._speaks_of_another(ours, theirs):
            return None
        both = len(self.crossed) + len(self.aligned)
        if ours and theirs and len(ours) + len(theirs) > both + 2:
            return None
        a, b = self.crossed[0]
        if a.stem != b.stem or a.sign == b.sign:
            return self._result("opposite", self._reversal(a, b))
        asks, rejects_by = ("the earlier", "the later") if a.sign > 0 else ("the later", "the earlier")
        choice = quoted([a], self.old) if a.sign > 0 else quoted([b], self.new)
        reason = f"{asks} asks for {choice}, and {rejects_by} rejects it"
        if types_of([a for a, _ in self.crossed]) == {"number"}:
            return self._result("other_value", reason)
        exception = self._exception_in_part(ours, our_scope, theirs, their_scope)
        return exception or self._result("opposite", reason)

    def _exception_in_part(
        self,
        ours: Sequence[Word],
        our_scope: Sequence[Word],
        theirs: Sequence[Word],
        their_scope: Sequence[Word],
    ) -> TextChange | None:
        """A rejection of a kind, or in a place, which does not reverse the rule elsewhere: "in tests", "hotfixes"."""
        favours = [any(pair[side].contrasted for pair in self.crossed) for side in (0, 1)]
        rivals = frozenset(kind for pair in self.crossed for kind in rivals_of(pair[0]))
        favours[1] |= any(
            word.sign > 0 and rivals & rivals_of(word) for word in theirs
        )  # "American, never British"
        favours[1] |= any(denies_by_pronoun(self.new, b) for _, b in self.crossed)
        parts = {b.part for _, b in self.crossed}
        is_narrow = any(word.part in parts and (word.role != "head" or self.new.finite) for word in theirs)
        is_narrow &= not favours[0]
        if not favours[1] and (their_scope or is_narrow):
            return self._exception("opposite", theirs or their_scope, later=True)
        if any(favours) or self.added:
            return None
        shared = [pair[0] for pair in (*self.crossed, *self.aligned)]
        rejects = self.crossed[0][0].sign < 0 and narrows(our_scope, ours, self.crossed)
        if rejects or kinds_of(ours, shared) or is_modified_object(ours, self.crossed):
            return self._exception("opposite", ours or our_scope, later=False)
        return None

    def _reversal(self, a: Word, b: Word) -> str:
        """The reason of a reversal by an antonym, or by what stands before a word."""
        if a.stem == b.stem and {a.lead, b.lead} == {"max", "min"}:
            return f"{limit_of(b, self.new)} is the opposite of {limit_of(a, self.old)}"
        later, earlier = quoted([b], self.new), quoted([a], self.old)
        if a.stem != b.stem or a.lead == b.lead:
            return f"{later} is the opposite of {earlier}"
        leads = (f'"{word.lead}"' if word.lead else "nothing" for word in (a, b))
        return f"the earlier says {next(leads)} before {earlier}, and the later {next(leads)}"

    def _is_firm(self, ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
        """Whether more is crossed than a verb whose objects differ."""
        heads = [
            (a, b)
            for a, b in self.crossed
            if "head" in (a.role, b.role) and not (a.contrasted or b.contrasted)
        ]
        aligned = any("scope" not in (a.role, b.role) or a.role != b.role for a, b in self.aligned)
        if aligned and any(denies_by_pronoun(s, a) for a, _ in heads for s in (self.old, self.new)):
            return True
        return len(heads) < len(self.crossed) or not self.removed or not self.added or not (ours or theirs)

    def _speaks_of_another(self, ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
        """Whether what is asked for only shares a word with what is rejected: "not requests", "log each request"."""
        if any(denies_by_pronoun(self.new, b) or denies_by_pronoun(self.old, a) for a, b in self.crossed):
            return False
        turned = [(a, b) for a, b in self.crossed if a.stem == b.stem and a.sign != b.sign]
        return bool(turned) and all(self._is_another(a, b, ours, theirs) for a, b in turned)

    def _is_another(self, a: Word, b: Word, ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
        rejected, rejects = (b, theirs) if a.sign > 0 else (a, ours)
        choice, asks, asking = (a, ours, self.old) if a.sign > 0 else (b, theirs, self.new)
        if any(word.sign < 0 and word.part == rejected.part for word in rejects):
            return True
        if rejected.lead and choice.role == "plain" and not choice.lead and asks:
            return True  # "not at the start", "messages start with a verb"
        acts = any(word.role == "head" and word.sign > 0 for word in asks)
        if acts and choice.role != "head" and choice.lead not in MEANS:
            return True
        return makes_a_kind(asks, choice, asking)

    def _exchange(self) -> TextChange | None:
        """Words that changed places where places matter: who does what to whom, what is first, whose value."""
        swap = exchanged(self.aligned, self.old, self.new)
        if swap is None or len(self.removed) + len(self.added) > len(self.aligned):
            return None
        rests = (*self.removed, *self.added)
        if self.removed and self.added and all(word.role == "plain" and not word.lead for word in rests):
            return None  # "copy logs from A to B", "copy dumps from B to A"
        kind: ChangeKind = "opposite" if swap.directed else "other_value"
        return self._result(kind, swap.reason)

    def _without_rest(self) -> TextChange | None:
        """The same words: the same, unless one of them restricts."""
        if self.removed or self.added:
            return None
        if not self.aligned and self.old.source.casefold().split() != self.new.source.casefold().split():
            return self._result("other_slot", "neither has a word that tells what it asks for", coexists=True)
        later = self.restricted[1]
        if self.restricted[0] != later:
            reason = f'only the {"later" if later else "earlier"} says "only"'
            return self._result("narrower" if later else "wider", reason)
        if all(self.restricted) and self.old.limited != self.new.limited:
            return self._result("other_value", '"only" stands before another word')
        denied = any(word.sign < 0 for pair in self.aligned for word in pair)
        if {self.old.joins, self.new.joins} == {frozenset(("and",)), frozenset(("or",))} and not denied:
            return self._result("other_value", 'one says "and", the other "or"')
        return self._result("same", "both say the same")

    def _subset(self) -> TextChange | None:
        """All words of one are in the other, which says more."""
        if (self.removed and self.added) or not self.aligned:
            return None
        rest, kind = (self.added, "narrower") if self.added else (self.removed, "wider")
        which = "later" if self.added else "earlier"
        words = quoted(rest, self.new if self.added else self.old)
        shared = [pair[bool(self.added)] for pair in self.aligned]
        if len(rest) == 1 and rest[0].role == "head" and are_antonyms(rest[0].stem, _KEPT):
            return self._result("opposite", f"only the {which} says {words}")
        if self._repeats_the_rejected(rest, shared):
            return self._result("same", f"{words} in the {which} only completes what both ask for")
        signed = {(kind, word.sign) for word in shared if word.role != "scope" for kind in rivals_of(word)}
        if any((kind, word.sign) in signed for word in rest for kind in rivals_of(word)):
            return self._result("other_value", f"only the {which} has {words}")
        parts = {word.part for word in shared}
        if all(word.part not in parts and word.role != "scope" for word in rest):
            return self._result("other_slot", f"only the {which} asks for {words}", clear=False)
        too_far = len(self.removed) > len(self.aligned) + 1
        valued = bool(self.removed) and any("number" in value_types(word.stem) for word in rest)
        return self._result(kind, f"only the {which} says {words}", clear=not (valued or too_far))  # type: ignore[arg-type]

    def _repeats_the_rejected(self, rest: Sequence[Word], shared: Sequence[Word]) -> bool:
        """Whether one names besides what is rejected; or the later only repeats what the earlier rejects."""
        stated = [word for word in shared if word.role not in ("scope", "reason")]
        asking = {word.part for word in stated if word.sign > 0}
        if asking and any(word.sign < 0 and word.role != "head" for word in stated):
            # Both choose the same over the same.
            purpose = [word for word in rest if word.role == "scope"]
            rivals = {kind for word in stated for kind in rivals_of(word)} | {"number", "target", "code"}
            if all(rivals.isdisjoint(value_types(word.stem)) and not word.lacking for word in rest):
                return not purpose or purpose[0].lead == "for"
        if asking:
            return len(rest) <= 2 and all(names_the_rejected(word, asking) for word in rest)
        fulfils = all(word.sign > 0 and not word.lacking and word.role != "scope" for word in rest)
        return bool(self.removed and stated) and fulfils
