"""What a later statement changes about an earlier one: its opposite, another value, wider, narrower, or else.

Rules only, no model. Two statements are compared by what both ask for, by what one asks for and the other
rejects, by who does what to whom, and by the words that are left over on either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from priming.text.corrections.alignment import Alignment, split
from priming.text.corrections.polarity import SignedText, Word, read_statement
from priming.text.corrections.rests import (
    all_scope,
    bounds,
    expressed,
    is_kind,
    names_the_rejected,
    narrows,
    same_family,
    same_lead,
    without_genus,
    without_rejected,
)
from priming.text.corrections.word_classes import (
    has_target,
    makes_a_kind,
    makes_verbs,
    rivals_of,
    times,
    types_of,
)
from priming.text.corrections.word_order import exchanged
from priming.text.corrections.wording import limit_of, quoted
from priming.text.word_values import are_antonyms, stem_of, value_types

ChangeKind = Literal["same", "opposite", "other_value", "wider", "narrower", "other_slot"]

_WRONG_WORDS = 12
"""Most words of what was wrong that are compared."""
_LONG = 6
"""Least words that two statements share if another word is a value, whatever it is."""
_MEANS = frozenset(("with", "using", "via", "through", "by"))
"""Prepositions before what another act is done with: "install packages with pip"."""
_KEPT = stem_of("keep")
_COUNTERPARTS = [["server", "client"], ["client", "server"], ["frontend", "backend"], ["backend", "frontend"]]
"""Places of which one does it instead of the other: "validate on the server"."""
_UNTYPED = frozenset(("code", "other"))
REVERSALS: tuple[ChangeKind, ...] = ("opposite", "other_value")
"""The changes after which the earlier statement no longer holds."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """How a later statement relates to an earlier one: the kind, a reason, and the words that only one has.

    ``clear`` is false where the words alone do not decide.
    """

    kind: ChangeKind
    reason: str
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    clear: bool = True
    restricts: bool = False
    """Whether the later says "only", and the earlier does not."""
    coexists: bool = False
    """Whether both hold at once: one is an exception to the other, or they are about different things."""


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


class _AlignedChange(Alignment):
    """Two statements whose words are aligned, and what the later changes."""

    def change(self) -> TextChange:
        """The change, by the first rule that decides."""
        shared = len(self.aligned) >= len(self.removed) + len(self.added)
        return (
            (self._elsewhere() if self.selected else None)
            or self._opposite()
            or self._exchange()
            or (None if self.crossed else self._without_rest() or self._subset() or self._value())
            or self._result("other_slot", "they are about different things", clear=not shared)
        )

    def _result(
        self, kind: ChangeKind, reason: str, *, clear: bool = True, coexists: bool = False
    ) -> TextChange:
        removed, added = (tuple(word.text for word in words) for words in (self.removed, self.added))
        restricts = self.restricted == (False, True)
        return TextChange(kind, reason, removed, added, clear, restricts, coexists)

    def _elsewhere(self) -> TextChange:
        removed, added = (
            [pair[side] for pair in self.selected] or rest
            for side, rest in ((0, self.removed), (1, self.added))
        )
        reason = (
            f"the earlier is about {quoted(removed, self.old)}, the later about {quoted(added, self.new)}"
        )
        return self._result("other_slot", reason, coexists=True)

    def _exception(self, kind: ChangeKind, words: Sequence[Word], *, later: bool) -> TextChange:
        """Both hold: what one says of all, the other says otherwise of some."""
        which = ("later", "earlier") if later else ("earlier", "later")
        kinds = quoted(words, self.new if later else self.old)
        reason = f"the {which[0]} is an exception to the {which[1]}, for {kinds}"
        return self._result(kind, reason, clear=kind == "narrower", coexists=True)

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
        # A later exception does not reverse the rule elsewhere: "in tests", "hotfixes".
        favours = [any(pair[side].contrasted for pair in self.crossed) for side in (0, 1)]
        rivals = frozenset(kind for pair in self.crossed for kind in rivals_of(pair[0]))
        favours[1] |= any(
            word.sign > 0 and rivals & rivals_of(word) for word in theirs
        )  # "American, never British"
        parts = {b.part for _, b in self.crossed}
        is_narrow = any(word.part in parts and (word.role != "head" or self.new.finite) for word in theirs)
        is_narrow &= not favours[0]
        if not favours[1] and (their_scope or is_narrow):
            return self._exception("opposite", theirs or their_scope, later=True)
        if not any(favours) and a.sign < 0 and not self.added and narrows(our_scope, ours, self.crossed):
            return self._exception("opposite", ours or our_scope, later=False)
        return self._result("opposite", reason)

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
        return len(heads) < len(self.crossed) or not self.removed or not self.added or not (ours or theirs)

    def _speaks_of_another(self, ours: Sequence[Word], theirs: Sequence[Word]) -> bool:
        """Whether what is asked for only shares a word with what is rejected: "not requests", "log each request"."""
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
        if acts and choice.role != "head" and choice.lead not in _MEANS:
            return True
        return makes_a_kind(asks, choice, asking)

    def _exchange(self) -> TextChange | None:
        """Words that changed places where places matter: who does what to whom, what is first, whose value."""
        swap = exchanged(self.aligned, self.old, self.new)
        if swap is None or len(self.removed) + len(self.added) > len(self.aligned):
            return None
        kind: ChangeKind = "opposite" if swap.directed else "other_value"
        return self._result(kind, swap.reason)

    def _without_rest(self) -> TextChange | None:
        """The same words: the same, unless one of them restricts."""
        if self.removed or self.added:
            return None
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

    def _value(self) -> TextChange | None:
        """What is left over on one side takes the place of what is left over on the other."""
        removed, added = without_rejected(self.removed, self.added)
        if not removed or not added:
            return None
        replaced = f"{quoted(added, self.new)} takes the place of {quoted(removed, self.old)}"
        words = (*removed, *added)
        if len({word.sign for word in words}) > 1 or all(word.contrasted for word in words):
            return None
        if all_scope(removed) and all_scope(added):
            shared = types_of(removed) & types_of(added)
            same_time = (
                shared & times()
                or same_family(removed, added)
                or any(kind.startswith("version") for kind in shared)
            )
            numbers = removed[0].lead == added[0].lead and types_of(removed) == types_of(added) == {"number"}
            return self._result("other_value", replaced) if same_time or numbers else self._elsewhere()
        removed, added = without_genus(removed), without_genus(added)
        if (exception := self._exceptional_number(removed, added)) is not None:
            return exception
        if (has_target(removed) or has_target(added)) and not expressed(removed, added, self.new.words[0]):
            stems, leads = [word.stem for word in (*removed, *added)], {removed[0].lead, added[0].lead}
            if stems in _COUNTERPARTS and leads == {"on"}:
                return self._result("other_value", replaced, clear=len(self.aligned) == 1)
            return self._elsewhere()
        typed = self._typed_value(removed, added)
        if typed is not None:
            bounded = [[word for word in words if bounds(word)] for words in (removed, added)]
            if not typed:
                return None
            return self._result("other_value", replaced, clear=bool(bounded[0]) == bool(bounded[1]))
        clear = self._positional_value(removed, added)
        return None if clear is None else self._result("other_value", replaced, clear=clear)

    def _exceptional_number(self, removed: Sequence[Word], added: Sequence[Word]) -> TextChange | None:
        """Another number for a kind of what the other says it of: "keep *audit* logs for 365 days"."""
        shared = types_of(removed) & types_of(added)
        if "number" not in shared or not self._is_quantity(removed, added):
            return None
        kinds = [[word for word in words if is_kind(word, words, shared)] for words in (removed, added)]
        if bool(kinds[0]) == bool(kinds[1]):
            return None
        kind: ChangeKind = "narrower" if kinds[1] else "wider"
        return self._exception(kind, kinds[0] or kinds[1], later=bool(kinds[1]))

    def _typed_value(self, removed: Sequence[Word], added: Sequence[Word]) -> bool | None:
        """Whether values of a type that both have are all that differs; None if no type decides."""
        ours, theirs = (types_of(words) - _UNTYPED for words in (removed, added))
        shared = ours & theirs
        if not shared:
            serves = any(a.lead == "as" for a, _ in self.aligned)  # "use A as the queue"
            return False if ours and theirs and not serves and not same_lead(removed, added) else None
        if "number" in shared and not self._is_quantity(removed, added):
            return False
        left, right = (
            [word for word in words if value_types(word.stem).isdisjoint({*shared, "number"})]
            for words in (removed, added)
        )
        forbidden = all(word.sign < 0 for word in (*removed, *added))
        if (left and right) or (forbidden and "number" not in shared):
            return False
        return bool(self.aligned) or self.old.chooses or self.new.chooses or len(removed) == len(added)

    def _is_quantity(self, removed: Sequence[Word], added: Sequence[Word]) -> bool:
        """Whether numbers are values of something: not two ports that are both not to be opened."""
        if not self.aligned:
            return False
        limits = any(a.stem in ("max", "min", "more") or a.lead == "than" for a, _ in self.aligned)
        return limits or all(word.sign > 0 or " " in word.stem for word in (*removed, *added))

    def _picks_objects(self, words: Sequence[Word], statement: SignedText) -> bool:
        """Whether words tell which of several things an act is done to: "cache GET requests"."""
        head, last = statement.words[0], words[-1]
        after = statement.words[last.place + 1 : last.place + 2]
        acts = head.role == "head" and head not in words and head.stem not in makes_verbs()
        return acts and not statement.chooses and bool(after) and not after[0].lead and last.role == "plain"

    def _positional_value(self, removed: Sequence[Word], added: Sequence[Word]) -> bool | None:
        """Whether it is clear that words of no known type are values, by their place; None if they are not."""
        words = (*removed, *added)
        single, most = len(removed) == len(added) == 1, max(len(removed), len(added))
        if any(word.sign < 0 or (word.role in ("scope", "head") and not word.proper) for word in words):
            return None
        if most > 3 or not self.aligned:
            return None
        if all(word.proper for word in words) or (single and types_of(words) == {"code"}):
            return not any(self._picks_objects(*sides) for sides in ((removed, self.old), (added, self.new)))
        if same_lead(removed, added) and all(word.role == "value" for word in words):
            return len(self.aligned) >= 2 and removed[0].lead not in ("on", "from")
        if len(self.aligned) >= _LONG and most <= 2:
            return True
        stated = [w.lead in ("in", "with", "by") for w in (removed[0], added[0])]
        choosing = [self.old.chooses, self.new.chooses]
        if single and len(set(choosing)) == 2 and choosing == [not lead for lead in stated]:
            return len(self.aligned) >= 2  # "use rem for font sizes", "font sizes are in px"
        chosen = self.old.chooses and self.new.chooses and all(word.role == "value" for word in words)
        if chosen and not any(word.lead for word in words):
            return single and any(a.lead in ("for", "as") for a, _ in self.aligned)
        return None
