"""The words of two statements side by side: those that both say, those said the other way round, and the rests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from priming.text.corrections.polarity import SignedText, Word
from priming.text.corrections.word_classes import is_light, without_plain_purpose
from priming.text.corrections.word_order import leads_oppose, pair_words, selects, without_repeats
from priming.text.word_values import are_antonyms

_T = TypeVar("_T")


class Alignment:
    """Two statements, and their words as aligned, crossed, and left over on either side."""

    def __init__(self, old: SignedText, new: SignedText) -> None:
        self.old, self.new = old, new
        self.aligned: list[tuple[Word, Word]] = []
        self.crossed: list[tuple[Word, Word]] = []
        removed, added = list(old.words), list(new.words)
        plain = _without_double_denial(removed, added), _without_double_denial(added, removed)
        self.restricted = (old.only, new.only) if plain == (removed, added) else (False, False)
        removed, added = plain
        both = {word.stem for word in removed} & {word.stem for word in added}
        self.selected = [
            (a, b)
            for a in removed
            for b in added
            if not both & {a.stem, b.stem} and are_antonyms(a.stem, b.stem) and selects(a, b, old, new)
        ]

        def oppose(a: Word, b: Word) -> bool:
            return are_antonyms(a.stem, b.stem) and (a, b) not in self.selected

        if any(a.sign != b.sign and oppose(a, b) for a in removed for b in added):
            # "Never disable it" and "always enable it" agree in the rest of their words.
            removed, added = (
                [replace(word, sign=abs(word.sign)) if not _opposes(word, others) else word for word in words]
                for words, others in ((removed, added), (added, removed))
            )
        pair_words(removed, added, self.aligned, lambda a, b: a.stem == b.stem and a.sign == b.sign)
        pair_words(removed, added, self.crossed, lambda a, b: a.stem == b.stem)
        # An antonym of the same sign is opposed; "never disable" and "always enable" agree.
        pair_words(removed, added, self.crossed, lambda a, b: a.sign == b.sign and oppose(a, b))
        pair_words(removed, added, self.aligned, lambda a, b: a.sign != b.sign and oppose(a, b))
        turned, self.aligned = split(self.aligned, lambda pair: leads_oppose(pair[0].lead, pair[1].lead))
        self.crossed += turned
        self.removed, self.added = without_repeats(removed, added, self.aligned)
        self._settle()

    def _settle(self) -> None:
        """Take out what makes no difference: reasons, the frame of a shared contrast, verbs that say little."""
        self.crossed, reasons = split(self.crossed, lambda pair: "reason" not in (pair[0].role, pair[1].role))
        # Where it applies is neither asked for nor rejected: "tests must not", "not in tests".
        self.crossed, places = split(
            self.crossed,
            lambda pair: (pair[0].role == "scope") == (pair[1].role == "scope") or _is_rejected(pair),
        )
        self.aligned += reasons + places
        signs = {a.sign for a, b in self.aligned if a.sign == b.sign and a.role != "reason"}
        if signs == {1, -1} and all("head" in (a.role, b.role) for a, b in self.crossed):
            # "Don't iterate with A, use B" does not reject iterating.
            self.aligned, self.crossed = [*self.aligned, *self.crossed], []
        lacks = any(a.lacking or b.lacking for a, b in self.crossed)
        self.removed, self.added = (
            [
                word
                for word in words
                if word.role != "reason"
                and not (lacks and word.stem == "before")
                and not (is_light(word, statement) and (self.aligned or self.crossed))
            ]
            for words, statement in ((self.removed, self.old), (self.added, self.new))
        )
        rests = [without_plain_purpose(*each) for each in ((self.removed, self.old), (self.added, self.new))]
        purposes = [
            any(word.under == "for" for word in statement.words) for statement in (self.old, self.new)
        ]
        if not all(purposes) and (self.crossed or all(rests)):
            self.removed, self.added = rests


def split(items: Sequence[_T], test: Callable[[_T], bool]) -> tuple[list[_T], list[_T]]:
    """The items that pass a test, and the others."""
    return [item for item in items if test(item)], [item for item in items if not test(item)]


def _opposes(word: Word, others: Sequence[Word]) -> bool:
    return any(are_antonyms(word.stem, other.stem) for other in others)


def _without_double_denial(words: Sequence[Word], others: Sequence[Word]) -> list[Word]:
    """Words in which "never A without B" is "A with B", where the other statement asks for A or B outright."""
    lacking = {word.stem for word in words if word.lacking and word.sign > 0}
    denied = {word.stem for word in words if word.sign < 0}
    asks = {word.stem for word in others if word.sign > 0 and not word.lacking}
    rejects = any(word.sign < 0 or word.lacking for word in others)
    if not (lacking and denied) or rejects or not lacking & asks:
        return list(words)
    return [replace(word, sign=abs(word.sign), lacking=False) for word in words]


def _is_rejected(pair: tuple[Word, Word]) -> bool:
    """Whether one rejects a word in favour of another, and it names no place: "explain in the body what changed"."""
    a, b = pair
    return (a.contrasted and a.sign < 0 and not b.lead) or (b.contrasted and b.sign < 0 and not a.lead)
