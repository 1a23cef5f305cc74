"""Which of several active behaviours stand: twins of two stores, what overrides what, and what contradicts what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from priming.core.resolve import Claim, Loss, resolve
from priming.core.rules import contradicts, forbids
from priming.core.similarity import tokens
from priming.core.trust import instructs
from priming.core.when import scope
from priming.types import Hit, MemoryRecord

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A behaviour that is active, with the store that it is from (its position)."""

    store: int
    hit: Hit


def claim(memory: MemoryRecord) -> Claim:
    """What a behaviour brings to a conflict."""
    return Claim(len(scope("when", memory.when)), memory.priority, memory.confidence, instructs(memory.trust))


def twins_of(candidates: Sequence[Candidate]) -> dict[int, int]:
    """Behaviours that say the same as one of another store, which stands for both: the earlier store's.

    What may not instruct never stands for what may.
    """
    by_text: dict[str, list[int]] = {}
    for i, one in enumerate(candidates):
        by_text.setdefault(" ".join(one.hit.memory.content.casefold().split()), []).append(i)
    found: dict[int, int] = {}
    for same in by_text.values():
        leader = min(
            same, key=lambda i: (not instructs(candidates[i].hit.memory.trust), candidates[i].store, i)
        )
        found |= {i: leader for i in same if candidates[i].store != candidates[leader].store}
    return found


def resolved(
    overriding: Sequence[Pairs],
    contradicting: Sequence[Pairs],
    candidates: Sequence[Candidate],
    twins: Mapping[int, int],
) -> dict[int, Loss]:
    """Who falls to whom; of twins the one that stands for both has the links of both.

    ``overriding`` and ``contradicting`` are pairs of ids, store by store.
    """
    place = {(one.store, one.hit.memory.id): twins.get(i, i) for i, one in enumerate(candidates)}

    def pairs(by_store: Sequence[Pairs]) -> list[tuple[int, int]]:
        linked = [(i, pair) for i, some in enumerate(by_store) for pair in some]
        ends = [(place.get((i, a)), place.get((i, b))) for i, (a, b) in linked]
        return [(a, b) for a, b in ends if a is not None and b is not None and a != b]

    # What a rule overrides it overrides where it applies: not where one of its conditions is open.
    sure = [_applies(one) for one in candidates]
    overrides = [(by, of) for by, of in pairs(overriding) if sure[by]]
    conflicts = pairs(contradicting) + _across(candidates)
    rivals = sorted({i for pair in (*overrides, *conflicts) for i in pair})
    at = {i: n for n, i in enumerate(rivals)}
    fallen = resolve(
        [claim(candidates[i].hit.memory) for i in rivals],
        [(at[a], at[b]) for a, b in overrides],
        [(at[a], at[b]) for a, b in conflicts],
    )
    return {rivals[n]: Loss(rivals[loss.by], loss.how) for n, loss in fallen.items()}


def _applies(one: Candidate) -> bool:
    """Whether the context confirms every condition of a behaviour; one without any applies everywhere."""
    return not one.hit.memory.when or one.hit.components["context"] == 1.0


def _across(candidates: Sequence[Candidate]) -> list[tuple[int, int]]:
    """Pairs of behaviours of two stores that contradict each other: no link tells of them."""
    if len({one.store for one in candidates}) < 2:
        return []
    said = [(forbids(one.hit.memory.content), tokens(one.hit.memory.content)) for one in candidates]
    found = []
    for i, j in combinations(range(len(candidates)), 2):
        one, other = candidates[i], candidates[j]
        apart = one.store != other.store and said[i][0] != said[j][0]
        if apart and 2 * len(said[i][1] & said[j][1]) > min(len(said[i][1]), len(said[j][1])):
            a, b = one.hit.memory, other.hit.memory
            if contradicts(a.content, b.content, a.when, b.when):
                found.append((i, j))
    return found
