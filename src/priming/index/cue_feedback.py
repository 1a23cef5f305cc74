"""Feedback in the index: verdicts by their cues, and the uses and reviews of each memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from priming.config.values import dataclass
from priming.storage.rows import VerdictRow
from priming.text.tokens import terms
from priming.types import Retention, Use

SIGN = {"used": 1, "confirmed": 1, "not-relevant": -1, "not-useful": -1, "overridden": -1}
"""Whether a verdict counts for a memory or against it."""

Verdict = tuple[str, str, str, str]
"""Memory, verdict, operation and cue."""


class CueFeedback:
    """Verdicts by the terms of their cues; verdicts on cues without a text are ignored."""

    def __init__(self, verdicts: Iterable[Verdict] = ()) -> None:
        self._cue_of: dict[tuple[str, str, str], str] = {}
        self._terms: dict[str, frozenset[str]] = {}
        self._cues: dict[str, set[str]] = {}
        self._sums: dict[str, dict[str, int]] = {}
        for memory_id, verdict, operation, cue in verdicts:
            self._add((memory_id, verdict, operation), cue)

    def __bool__(self) -> bool:
        return bool(self._cue_of)

    def __iter__(self) -> Iterator[Verdict]:
        return ((*identity, cue) for identity, cue in self._cue_of.items())

    def put(self, row: VerdictRow) -> None:
        """Add a verdict, unless it was added before."""
        self._add((row.id, row.verdict, row.operation), str(row.cue.get("text", "")))

    def drop(self, row: VerdictRow) -> None:
        """Remove a verdict, if it was added."""
        identity = (row.id, row.verdict, row.operation)
        cue = self._cue_of.pop(identity, None)
        if cue is not None:
            self._sums[cue][row.id] -= SIGN[row.verdict]

    def balance(self, cue: Collection[str], least: float, rarity: Callable[[str], float]) -> dict[str, float]:
        """By memory, the balance of verdicts on cues similar to these terms: above 0 in favour, below 0 against.

        Each verdict counts by the similarity of the two cues, from ``least`` on: the Jaccard index of their terms
        weighted by rarity, so that cues that name different things are dissimilar. However many verdicts agree, a
        memory's balance is limited to the similarity of the most similar cue, so that a verdict on this very cue
        outweighs verdicts on related ones.
        """
        own = frozenset(cue)
        candidates = {other for term in own for other in self._cues.get(term, ())}
        balance: dict[str, float] = {}
        most: dict[str, float] = {}
        for other in sorted(candidates):  # a sum of floats depends on the order
            similarity = weighted_jaccard(own, self._terms[other], rarity)
            if similarity < least:
                continue
            for memory_id, sum_ in self._sums[other].items():
                balance[memory_id] = balance.get(memory_id, 0.0) + similarity * sum_
                most[memory_id] = max(most.get(memory_id, 0.0), similarity)
        return {memory_id: max(-limit, min(limit, balance[memory_id])) for memory_id, limit in most.items()}

    def _add(self, identity: tuple[str, str, str], cue: str) -> None:
        cue_terms = frozenset(terms(cue))
        if identity in self._cue_of or not cue_terms:
            return
        memory_id, verdict, _ = identity
        self._cue_of[identity] = cue
        self._terms[cue] = cue_terms
        for term in cue_terms:
            self._cues.setdefault(term, set()).add(cue)
        sums = self._sums.setdefault(cue, {})
        sums[memory_id] = sums.get(memory_id, 0) + SIGN[verdict]


def weighted_jaccard(a: frozenset[str], b: frozenset[str], rarity: Callable[[str], float]) -> float:
    """The Jaccard index of two sets of terms, each term weighted by its rarity."""
    shared, either = (sum(map(rarity, sorted(terms_))) for terms_ in (a & b, a | b))
    return shared / either if either else 0.0


@dataclass(frozen=True, slots=True)
class Practice:
    """Uses and reviews of one memory: times in seconds, the latest use first.

    ``stability`` is 0 if there was no review.
    """

    uses: int
    first: float
    recent: tuple[float, ...]
    stability: float
    reviewed: float

    @classmethod
    def of(cls, use: Use, retention: Retention) -> Practice | None:
        """The practice of a memory; None if it was neither used nor reviewed."""
        recent = use.recent or ((use.last_used_at,) if use.last_used_at and use.uses else ())
        if not recent and retention.stability is None:
            return None
        first = min((*recent, *((use.first_used_at,) if use.first_used_at else ())), default=None)
        return cls(
            use.uses,
            first.timestamp() if first else 0.0,
            tuple(at.timestamp() for at in recent),
            retention.stability or 0.0,
            retention.reviewed_at.timestamp() if retention.reviewed_at else 0.0,
        )
