"""Whether what is left over on one side of two statements is another value in the place of what is on the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from priming.text.corrections.exceptions import are_two_slots, places_of
from priming.text.corrections.polarity import SignedText, Word
from priming.text.corrections.rests import (
    MEANS,
    ONE_OF,
    all_scope,
    bounds,
    expressed,
    is_kind,
    is_ordinal,
    kinds_in,
    same_family,
    same_genus,
    same_lead,
    serve_differently,
    without_genus,
    without_rejected,
)
from priming.text.corrections.text_change import ChangeKind, ChangeOf, TextChange
from priming.text.corrections.word_classes import (
    expressions,
    has_target,
    makes_verbs,
    placing_verbs,
    times,
    types_of,
)
from priming.text.corrections.wording import quoted
from priming.text.word_values import value_types

_LONG = 6
"""Least words that two statements share if another word is a value, whatever it is."""
_NOUN_FIRST = re.compile(r"(?:the|an?|each|every|our)\s", re.IGNORECASE)
_COUNTERPARTS = [["server", "client"], ["client", "server"], ["frontend", "backend"], ["backend", "frontend"]]
"""Places of which one does it instead of the other: "validate on the server"."""


class ValueChange(ChangeOf):
    """Two statements whose words are aligned, and the values that took the place of others."""

    def _value(self) -> TextChange | None:
        """What is left over on one side takes the place of what is left over on the other."""
        removed, added = without_rejected(self.removed, self.added)
        if not removed or not added or serve_differently(self.removed, self.added):
            return self._elsewhere() if removed and added else None
        if not (all_scope(removed) or all_scope(added)):
            removed, added = self._without_places(removed, added)
        replaced = f"{quoted(added, self.new)} takes the place of {quoted(removed, self.old)}"
        words = (*removed, *added)
        if len({word.sign for word in words}) > 1 or all(word.contrasted for word in words):
            return None
        if all_scope(removed) and all_scope(added):
            shared = types_of(removed) & types_of(added)
            same_time = (
                shared & (times() | expressions())
                or same_family(removed, added)
                or (len(removed) == len(added) == 1 and same_genus(removed, added, self.old, self.new))
                or any(kind.startswith("version") for kind in shared)
            )
            numbers = removed[0].lead == added[0].lead and types_of(removed) == types_of(added) == {"number"}
            return self._result("other_value", replaced) if same_time or numbers else self._elsewhere()
        removed, added = without_genus(removed), without_genus(added)
        if are_two_slots(removed, added):
            return self._elsewhere()
        if (exception := self._exceptional_number(removed, added)) is not None:
            return exception
        if (has_target(removed) or has_target(added)) and not expressed(removed, added, self.new.words[0]):
            displaced = None if has_target(removed) == has_target(added) else self._displaced()
            return displaced or self._other_target(removed, added, replaced)
        typed = self._typed_value(removed, added)
        if typed is not None:
            bounded = [[word for word in words if bounds(word)] for words in (removed, added)]
            if not typed:
                return None
            return self._result("other_value", replaced, clear=bool(bounded[0]) == bool(bounded[1]))
        clear = self._positional_value(removed, added)
        return None if clear is None else self._result("other_value", replaced, clear=clear)

    def _displaced(self) -> TextChange | None:
        """Another place, or another order, for a thing that has one: "put tests next to the code"."""
        if not self.removed or not self.added or self.crossed or not self.aligned:
            return None
        words = (*self.removed, *self.added)
        acts = [statement.words[0] for statement in (self.old, self.new)]
        single = acts[0].stem == acts[1].stem and acts[0].stem in placing_verbs()
        objects = (
            all(any(word.place == 1 for word in pair) for pair in self.aligned[1:2]) and self.aligned[1:]
        )
        subject = not self._is_imperative() and len(self.removed) == len(self.added) == 1
        subject = subject and all(word.place == 0 for word in words)
        if not subject and not (single and objects and all(word.place > 1 for word in words)):
            return None
        replaced = f"{quoted(self.added, self.new)} takes the place of {quoted(self.removed, self.old)}"
        return self._result("other_value", replaced, clear=False)

    def _is_imperative(self) -> bool:
        """Whether a statement begins with its verb, not with a noun: "The author merges"."""
        return not all(_NOUN_FIRST.match(statement.source) for statement in (self.old, self.new))

    def _without_places(
        self, removed: Sequence[Word], added: Sequence[Word]
    ) -> tuple[list[Word], list[Word]]:
        """The rests without the place that only one of them names."""
        places = places_of(removed, added, self.old), places_of(added, removed, self.new)
        rests = [
            [word for word in rest if word not in place]
            for rest, place in zip((removed, added), places, strict=True)
        ]
        if bool(places[0]) == bool(places[1]) or not all(rests):
            return list(removed), list(added)
        return rests[0], rests[1]

    def _other_target(self, removed: Sequence[Word], added: Sequence[Word], replaced: str) -> TextChange:
        """Another environment, system or layer: mostly another subject."""
        stems, leads = [word.stem for word in (*removed, *added)], {removed[0].lead, added[0].lead}
        if stems in _COUNTERPARTS and leads == {"on"}:
            return self._result("other_value", replaced, clear=len(self.aligned) == 1)
        if leads == {"from"}:  # "publish from CI", "publish from a laptop"
            return self._result("other_value", replaced, clear=False)
        return self._elsewhere()

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
        ours, theirs = (kinds_in(words) for words in (removed, added))
        shared = ours & theirs
        if not shared:
            serves = any(a.lead == "as" for a, _ in self.aligned)  # "use A as the queue"
            single = same_lead(removed, added) and removed[0].lead in ONE_OF
            differ = all(any(not kind.startswith("version") for kind in kinds) for kinds in (ours, theirs))
            return False if differ and not serves and not single else None
        if "number" in shared and not self._is_quantity(removed, added):
            return False
        left, right = (
            [
                word
                for word in words
                if value_types(word.stem).isdisjoint({*shared, "number"}) and word.lead != "per"
            ]
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
        leads = {removed[0].lead, added[0].lead}
        if most > 3 or not self.aligned or (len(leads - {""}) > 1 and not leads <= MEANS):
            return None
        if all(word.proper for word in words) or (single and types_of(words) == {"code"}):
            return not any(self._picks_objects(*sides) for sides in ((removed, self.old), (added, self.new)))
        if same_lead(removed, added) and all(word.role == "value" for word in words):
            kinds = [kinds_in(words) for words in (removed, added)]
            if removed[0].lead not in ONE_OF and not all(kinds):
                named = leads <= MEANS and all(w.proper or kinds_in([w]) for w in words)  # "with date-fns"
                named |= same_genus(removed, added, self.old, self.new)
                return single and (named or (is_ordinal(removed[0]) and is_ordinal(added[0])))
            return len(self.aligned) >= 2
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
