"""A lesson, what is right and where it applies, and its place beside the behaviours of a namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from priming.config.params.laws import PLASTICITY, SIMILARITY
from priming.core.similarity import ComparedBehaviour, is_similar, likeness, placement
from priming.core.when import is_more_specific
from priming.remember.drafts import Draft
from priming.rules.trust import instructs, least
from priming.text.rule_kinds import contradicts, forbids
from priming.types import MemoryRecord


@dataclass(frozen=True, slots=True)
class Lesson:
    """The checked arguments of ``learn``; ``inferred``: the rule was read from the words."""

    right: str
    wrong: str | None
    when: Mapping[str, Any]
    tags: tuple[str, ...]
    priority: float
    source: str | None
    trust: str
    rule: str
    inferred: bool

    def correction(self) -> Draft:
        """What was said, as a memory."""
        texts = {"right": self.right} if self.wrong is None else {"right": self.right, "wrong": self.wrong}
        return self._draft("correction", correction_text(self.right, self.wrong), texts, self.trust)

    def behavior(self) -> Draft:
        """What follows from it, as a memory; it is derived from the correction alone."""
        return self._draft("behavior", self.right, {"rule": self.rule}, least([self.trust]))

    def _draft(self, kind: str, content: str, metadata: Mapping[str, Any], trust: str) -> Draft:
        return Draft(
            content,
            kind=kind,
            tags=self.tags,
            metadata=metadata,
            when=self.when,
            source=self.source,
            trust=trust,
        )


def correction_text(right: str, wrong: str | None) -> str:
    """The text of a correction; what is right comes first, since that is what its gist shows."""
    return f"Correction: {right}" if wrong is None else f"Correction: {right}\nNot: {wrong}"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A behaviour that is there, and what the new one is beside it.

    ``opposed`` says that one of two that are alike forbids, and the other does not.
    """

    there: MemoryRecord
    similarity: float
    same_scope: bool
    placement: str
    opposed: bool
    contradicts: bool
    silenced: bool
    """Whether the new one is too little trusted to be held against it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a new behaviour belongs: ``beside`` decided it, ``ties`` are its links (relation, weight, to)."""

    placement: str
    beside: Neighbour | None
    ties: tuple[tuple[str, float, MemoryRecord], ...]
    reasons: tuple[str, ...]


def place(new: Lesson, known: Sequence[MemoryRecord]) -> Placed:
    """Decide what becomes of a behaviour beside those that are there (see docs/laws.md)."""
    here = ComparedBehaviour.of(new.right, new.when)
    around = sorted((_neighbour(new, here, one) for one in known), key=_nearness)
    for wanted in ("merge", "specialise"):
        beside = next((one for one in around if one.placement == wanted), None)
        if beside is not None:
            break
    else:
        beside = around[0] if around else None
    decided = beside.placement if beside else "create"
    ties = () if decided == "merge" else tuple(tie for one in around for tie in _ties(one))
    said = () if decided == "merge" else tuple(reason for one in around for reason in _remarks(one, beside))
    return Placed(decided, beside, ties, (_why(decided, beside), *said))


def _neighbour(new: Lesson, here: ComparedBehaviour, there: MemoryRecord) -> Neighbour:
    other = ComparedBehaviour.of(there.content, there.when)
    similarity, same_scope = likeness(here, other), here.scope == other.scope
    silenced = instructs(there.trust) and not instructs(new.trust)
    contrary = (
        (here.scope.items() <= other.scope.items() or other.scope.items() <= here.scope.items())
        and not here.words.isdisjoint(other.words)
        and contradicts(new.right, there.content, new.when, there.when)
    )
    if similarity <= SIMILARITY.specialise:
        return Neighbour(there, similarity, same_scope, "create", contrary, contrary, silenced)
    specific = is_more_specific(new.when, there.when)
    opposed = forbids(new.right) != forbids(there.content)
    # What may instruct is not poured into what may not, and two that say the opposite are never one.
    apart = opposed or (instructs(new.trust) and not instructs(there.trust))
    decided = str(placement(similarity, more_specific=specific))
    if decided == "merge" and apart:
        decided = "specialise" if specific else "create"
    if decided == "specialise" and silenced:
        decided = "create"
    return Neighbour(there, similarity, same_scope, decided, opposed, contrary, silenced)


def _nearness(one: Neighbour) -> tuple[float, bool]:
    """The nearest sorts first; of equals one of the same scope, then the older, which the store gives first."""
    return -one.similarity, not one.same_scope


def _ties(one: Neighbour) -> list[tuple[str, float, MemoryRecord]]:
    """The links from the new behaviour to one that is there."""
    found = []
    if one.placement == "specialise":
        found.append(("overrides", PLASTICITY.start, one.there))
    if one.contradicts and not one.silenced:
        found.append(("conflicts", PLASTICITY.start, one.there))
    if is_similar(one.similarity) and not one.contradicts:
        found.append(("similar-to", one.similarity, one.there))
    return found


def _why(decided: str, beside: Neighbour | None) -> str:
    if beside is None:
        return "created: it is the first behaviour here"
    key, alike = beside.there.key, f"{beside.similarity:.2f} alike"
    if decided == "merge":
        return f"merged into {key}: {alike}, more than {SIMILARITY.merge:g}"
    if decided == "specialise":
        return f"specialises {key}: {alike}, and it applies more narrowly"
    if beside.opposed and beside.similarity > SIMILARITY.specialise:
        return f"created: {key} is {alike} but says the opposite"
    if beside.similarity > SIMILARITY.merge:
        return f"created: {key} is {alike} but from {beside.there.trust}, which may not instruct"
    if beside.similarity > SIMILARITY.specialise:
        return f"created: {key} is {alike}, and this one does not narrow it"
    if is_similar(beside.similarity):
        return f"created: the nearest, {key}, is {alike}"
    return f"created: nothing here is much like it (the nearest, {key}: {beside.similarity:.2f})"


def _remarks(one: Neighbour, beside: Neighbour | None) -> list[str]:
    """What else is to be said about a behaviour that is there; of ``beside`` its likeness has been told."""
    if one.contradicts and one.silenced:
        return [f"contradicts {one.there.key}, which is trusted more: that one stands"]
    if one.contradicts:
        return [f"conflicts with {one.there.key}: it says the opposite where both apply"]
    if is_similar(one.similarity) and one is not beside:
        return [f"similar to {one.there.key} ({one.similarity:.2f})"]
    return []
