"""What a later statement changes about an earlier one: its opposite, another value, wider, narrower, or else.

Rules only, no model. Two statements are compared by what both ask for, by what one asks for and the other
rejects, and by the words that are left over on either side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from priming.text.polarity import ORDERING, SignedText, Word, are_antonyms, read_statement, value_type

ChangeKind = Literal["same", "opposite", "other_value", "wider", "narrower", "other_slot"]

_WRONG_WORDS = 12
"""Most words of what was wrong that are compared."""


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
    return _Alignment(read_statement(old), read_statement(new)).change()


class _Alignment:
    """Two statements, and their words as aligned, crossed, and left over on either side."""

    def __init__(self, old: SignedText, new: SignedText) -> None:
        self.old, self.new = old, new
        self.aligned: list[tuple[Word, Word]] = []
        self.crossed: list[tuple[Word, Word]] = []
        removed, added = list(old.words), list(new.words)
        if any(a.sign != b.sign and are_antonyms(a.stem, b.stem) for a in removed for b in added):
            # "Never disable it" and "always enable it" agree in the rest of their words.
            removed, added = (
                [replace(word, sign=abs(word.sign)) if not _opposes(word, others) else word for word in words]
                for words, others in ((removed, added), (added, removed))
            )
        _pair(removed, added, self.aligned, lambda a, b: a.stem == b.stem and a.sign == b.sign)
        _pair(removed, added, self.crossed, lambda a, b: a.stem == b.stem)
        # An antonym of the same sign is opposed; "never disable" and "always enable" agree.
        _pair(removed, added, self.crossed, lambda a, b: a.sign == b.sign and are_antonyms(a.stem, b.stem))
        _pair(removed, added, self.aligned, lambda a, b: a.sign != b.sign and are_antonyms(a.stem, b.stem))
        # A word that a statement repeats adds nothing.
        old_words, new_words = (
            ({(word.stem, word.sign) for word in side} for side in zip(*self.aligned, strict=True))
            if self.aligned
            else (set(), set())
        )
        self.removed = [word for word in removed if (word.stem, word.sign) not in old_words]
        self.added = [word for word in added if (word.stem, word.sign) not in new_words]

    def change(self) -> TextChange:
        """The change, by the first rule that decides."""
        return self._opposite() or self._without_rest() or self._subset() or self._value() or self._other()

    def _result(self, kind: ChangeKind, reason: str, *, clear: bool = True) -> TextChange:
        removed, added = (tuple(word.text for word in words) for words in (self.removed, self.added))
        return TextChange(kind, reason, removed, added, clear, self.new.only and not self.old.only)

    def _opposite(self) -> TextChange | None:
        """What is asked for by one and rejected by the other, where little else differs."""
        if not self.crossed:
            return None
        ours, theirs = (
            [word for word in words if word.role != "scope"] for words in (self.removed, self.added)
        )
        rejects = any(word.sign < 0 for word in (*self.removed, *self.added))
        firm = [
            pair for pair in self.crossed if pair[0].role != "head" or pair[0].stem not in _only_verbs(self)
        ]
        targets = any(value_type(word.stem) == "target" for word in (*self.removed, *self.added))
        if targets and self.removed and self.added:
            return self._result(
                "other_slot", f"they apply to different targets: {_list(self.removed)}, {_list(self.added)}"
            )
        if not firm and (ours or theirs):
            return None
        contrast = len(self.crossed) + len(self.aligned)
        if (ours and theirs and not rejects and len(ours) + len(theirs) > contrast + 1) or min(
            len(ours), len(theirs)
        ) > 2 * contrast:
            return None
        a, b = self.crossed[0]
        if a.stem == b.stem:
            asks, rejects_by = ("the earlier", "the later") if a.sign > 0 else ("the later", "the earlier")
            return self._result("opposite", f'{asks} asks for "{a.text}", {rejects_by} rejects it')
        return self._result("opposite", f'"{b.text}" is the opposite of "{a.text}"')

    def _without_rest(self) -> TextChange | None:
        """The same words: the same, unless their order matters or one of them restricts."""
        if self.removed or self.added:
            return None
        moved = _moved(self.old, self.new)
        if moved:
            ordering = any(word.stem in ORDERING for word in self.old.words)
            kind: ChangeKind = "opposite" if ordering else "other_value"
            return self._result(kind, f"the same words in another order: {_list(moved)} changed places")
        if self.old.only != self.new.only:
            return self._result("narrower" if self.new.only else "wider", 'one says "only"')
        return self._result("same", "both ask for the same")

    def _subset(self) -> TextChange | None:
        """All words of one are in the other, which says more."""
        if (self.removed and self.added) or not self.aligned:
            return None
        rest, kind = (self.added, "narrower") if self.added else (self.removed, "wider")
        if all(word.sign < 0 for word in rest) and any(a.sign > 0 for a, _ in self.aligned):
            return self._result("same", f"one names what is rejected as well: {_list(rest)}")
        which = "later" if self.added else "earlier"
        return self._result(kind, f"only the {which} says {_list(rest)}")  # type: ignore[arg-type]

    def _value(self) -> TextChange | None:
        """Each word left over takes the place of one of the same type, in the same frame."""
        removed, added = self.removed, self.added
        types = [sorted(str(value_type(word.stem)) for word in words) for words in (removed, added)]
        if any("target" in each for each in types):
            return self._result(
                "other_slot", f"they apply to different targets: {_list(removed)}, {_list(added)}"
            )
        if _all_scope(removed) and _all_scope(added) and not _quantities(removed, added):
            return self._result("other_slot", f"they apply elsewhere: {_list(removed)}, {_list(added)}")
        framed = len(self.aligned) >= 1
        rivals = [each for each in types[0] if each.startswith("alternatives") and each in types[1]]
        later, earlier = (" ".join(word.text for word in words) for words in (added, removed))
        replaced = f'"{later}" takes the place of "{earlier}"'
        signs = {word.sign for word in (*removed, *added)}
        if (
            rivals
            and len(signs) == 1
            and len(types[0]) <= 3
            and len(types[1]) <= 3
            and (framed or self.old.chooses or self.new.chooses or len(removed) == len(added))
        ):
            return self._result("other_value", replaced)
        if framed and _quantities(removed, added):
            return self._result("other_value", replaced)
        single = len(removed) == len(added) == 1 and len(signs) == 1
        if single and types[0] == types[1] == ["code"] and len(self.aligned) >= 1:
            return self._result("other_value", replaced)
        chosen = self.old.chooses and self.new.chooses
        values = all(word.role == "value" for word in (*removed, *added))
        few = len(removed) <= 2 and len(added) <= 2
        if few and values and len(self.aligned) >= (1 if chosen else 2) and len(signs) == 1:
            return self._result("other_value", replaced, clear=single)
        return None

    def _other(self) -> TextChange:
        shared = len(self.aligned) / max(1, len(self.aligned) + len(self.removed) + len(self.added))
        return self._result("other_slot", "they are about different things", clear=shared < 0.5)


def _pair(
    removed: list[Word],
    added: list[Word],
    pairs: list[tuple[Word, Word]],
    agree: Callable[[Word, Word], bool],
) -> None:
    """Move words that agree from the rests to the pairs, each once."""
    for word in list(removed):
        match = next((other for other in added if agree(word, other)), None)
        if match is not None:
            removed.remove(word)
            added.remove(match)
            pairs.append((word, match))


def _opposes(word: Word, others: Sequence[Word]) -> bool:
    return any(are_antonyms(word.stem, other.stem) for other in others)


def _only_verbs(comparison: _Alignment) -> frozenset[str]:
    """The heads that are crossed while the objects differ."""
    return frozenset(a.stem for a, _ in comparison.crossed if a.role == "head" and comparison.removed)


def _all_scope(words: Sequence[Word]) -> bool:
    return bool(words) and all(word.role == "scope" for word in words)


def _quantities(removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Whether both rests are numbers, with or without their units."""
    kinds = [Counter(value_type(word.stem) for word in words) for words in (removed, added)]
    return all(each["number"] >= 1 and set(each) <= {"number", "unit"} for each in kinds)


def _moved(old: SignedText, new: SignedText) -> list[Word]:
    """The words that changed places between two statements of the same words, where places matter."""
    before, after = ([word.stem for word in statement.words] for statement in (old, new))
    if before == after or len(before) != len(after):
        return []
    moved = [word for word, stem in zip(old.words, after, strict=True) if word.stem != stem]
    ordered = any(stem in ORDERING for stem in before)
    typed = [word for word in moved if value_type(word.stem) is not None]
    return moved if ordered else typed if len(typed) > 1 and len(before) > len(moved) + 1 else []


def _list(words: Sequence[Word]) -> str:
    return ", ".join(f'"{word.text}"' for word in words)
