"""What verdicts said of memories, by the cues that brought them up: the same question again finds it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from priming.core.lexical import terms
from priming.store.rows import VerdictRow

SIGN = {"used": 1, "confirmed": 1, "not-relevant": -1, "not-useful": -1, "overridden": -1}

Told = tuple[str, str, str, str]
"""Memory, verdict, operation and cue."""


class Judgements:
    """Verdicts by the terms of their cues; those without a text to the cue are passed over."""

    def __init__(self, told: Iterable[Told] = ()) -> None:
        self._told: dict[tuple[str, str, str], str] = {}
        self._terms: dict[str, frozenset[str]] = {}
        self._cues: dict[str, set[str]] = {}
        self._sums: dict[str, dict[str, int]] = {}
        for memory_id, verdict, operation, cue in told:
            self._add((memory_id, verdict, operation), cue)

    def __bool__(self) -> bool:
        return bool(self._told)

    def __iter__(self) -> Iterator[Told]:
        return ((*identity, cue) for identity, cue in self._told.items())

    def put(self, row: VerdictRow) -> None:
        """Take a verdict in; nothing happens if it is there."""
        self._add((row.id, row.verdict, row.operation), str(row.cue.get("text", "")))

    def drop(self, row: VerdictRow) -> None:
        """Let a verdict go; nothing happens if it is not there."""
        identity = (row.id, row.verdict, row.operation)
        cue = self._told.pop(identity, None)
        if cue is not None:
            self._sums[cue][row.id] -= SIGN[row.verdict]

    def on(self, cue: Collection[str], least: float, rarity: Callable[[str], float]) -> dict[str, float]:
        """By memory, what verdicts said on cues like one of these terms: for it above 0, against it below.

        Each counts by how alike the two cues are, from ``least`` on: the Jaccard index of their terms, each by its
        rarity, so that cues that name different things are unlike. However many say so, a memory gets no more than
        the likeness of the most alike of them: what is asked itself counts before its siblings.
        """
        asked = frozenset(cue)
        near = {other for term in asked for other in self._cues.get(term, ())}
        found: dict[str, float] = {}
        most: dict[str, float] = {}
        for other in sorted(near):  # floats added up in another order come to another sum
            likeness = alike(asked, self._terms[other], rarity)
            if likeness < least:
                continue
            for memory_id, balance in self._sums[other].items():
                found[memory_id] = found.get(memory_id, 0.0) + likeness * balance
                most[memory_id] = max(most.get(memory_id, 0.0), likeness)
        return {one: max(-most[one], min(most[one], balance)) for one, balance in found.items()}

    def _add(self, identity: tuple[str, str, str], cue: str) -> None:
        known = frozenset(terms(cue))
        if identity in self._told or not known:
            return
        memory_id, verdict, _ = identity
        self._told[identity] = cue
        self._terms[cue] = known
        for term in known:
            self._cues.setdefault(term, set()).add(cue)
        sums = self._sums.setdefault(cue, {})
        sums[memory_id] = sums.get(memory_id, 0) + SIGN[verdict]


def alike(a: frozenset[str], b: frozenset[str], rarity: Callable[[str], float]) -> float:
    """The Jaccard index of two sets of terms, each term counted by its rarity."""
    shared, either = (sum(map(rarity, sorted(some))) for some in (a & b, a | b))
    return shared / either if either else 0.0
