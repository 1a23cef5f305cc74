"""The change between two statements: its kind, its reason, and the words on which it rests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from priming.config.values import dataclass
from priming.text.corrections.alignment import Alignment
from priming.text.corrections.polarity import Word
from priming.text.corrections.wording import quoted

ChangeKind = Literal["same", "opposite", "other_value", "wider", "narrower", "other_slot"]
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


class ChangeOf(Alignment):
    """Two statements whose words are aligned, and the changes that they may amount to."""

    def _result(
        self, kind: ChangeKind, reason: str, *, clear: bool = True, coexists: bool = False
    ) -> TextChange:
        removed, added = (tuple(word.text for word in words) for words in (self.removed, self.added))
        restricts = self.restricted == (False, True)
        return TextChange(kind, reason, removed, added, clear, restricts, coexists)

    def _elsewhere(self, pairs: Sequence[tuple[Word, Word]] = ()) -> TextChange:
        removed, added = (
            [pair[side] for pair in pairs or self.selected] or rest
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
