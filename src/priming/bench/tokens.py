"""What evidence costs: the tokens that hold a share of the gold, in the order in which a contestant ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from priming.bench.scoring import Asked
from priming.bench.sets import BenchSet, Item
from priming.core.pack import estimate_tokens
from priming.engine.present import full
from priming.types import MemoryRecord

SHARES = (0.8, 0.9)
"""Of the gold, how much is to be held on the mean."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What it takes to hold ``share`` of the gold, on the mean over questions.

    ``budget``: the smallest number of tokens that does it, the same for each question. ``k``: the fewest hits that
    do, and ``tokens``, the mean length of so many. ``saved``: 1 − budget / whole, ``whole`` being the mean length
    of all that a question could be about. None where the ranking does not hold so much.
    """

    share: float
    whole: float
    budget: int | None = None
    k: int | None = None
    tokens: float | None = None

    @property
    def saved(self) -> float | None:
        """Which part of the whole need not be read."""
        return None if self.budget is None else 1.0 - self.budget / self.whole


def length(item: Item) -> int:
    """Tokens of an item as recall packs it, with the end of its line: the same for every contestant."""
    record = MemoryRecord(
        id=item.key,
        namespace="bench",
        key=item.key,
        kind=item.kind,
        content=item.text,
        gist=item.text,
        heading=item.heading,
        speaker=item.speaker,
        session=item.session,
        occurred_at=item.occurred_at,
    )
    return estimate_tokens(full(record) + "\n")


def lengths(of: BenchSet) -> dict[str, dict[str, int]]:
    """The length of each item, by part and key."""
    return {part.name: {item.key: length(item) for item in part.items} for part in of.parts}


def whole(answers: Sequence[Asked], sizes: Mapping[str, Mapping[str, int]]) -> float:
    """Mean over questions of the tokens of all memories of their part."""
    total = {name: sum(each.values()) for name, each in sizes.items()}
    return math.fsum(total[answer.part] for answer in answers) / len(answers)


def costs(
    answers: Sequence[Asked], sizes: Mapping[str, Mapping[str, int]], shares: Sequence[float] = SHARES
) -> tuple[Cost, ...]:
    """What each share costs. ``answers`` should be ranked far deeper than it takes."""
    everything = whole(answers, sizes)
    by_tokens = held([_arrivals(answer, sizes[answer.part]) for answer in answers])
    by_place = held([_arrivals(answer, dict.fromkeys(answer.keys, 1)) for answer in answers])
    return tuple(_cost(share, everything, by_tokens, by_place, answers, sizes) for share in shares)


def _cost(
    share: float,
    everything: float,
    by_tokens: Sequence[tuple[int, float]],
    by_place: Sequence[tuple[int, float]],
    answers: Sequence[Asked],
    sizes: Mapping[str, Mapping[str, int]],
) -> Cost:
    budget, k = reaching(by_tokens, share), reaching(by_place, share)
    if budget is None or k is None:
        return Cost(share, everything)
    taken = [sum(sizes[answer.part][key] for key in answer.keys[:k]) for answer in answers]
    return Cost(share, everything, budget, k, math.fsum(taken) / len(taken))


def _arrivals(answer: Asked, sizes: Mapping[str, int]) -> tuple[list[int], int]:
    """At how much each of the gold is held, and how many there are."""
    seen, used, at = set(), 0, []
    for key, label in zip(answer.keys, answer.labels, strict=True):
        used += sizes[key]
        if label in answer.gold and label not in seen:
            seen.add(label)
            at.append(used)
    return at, len(answer.gold)


def held(arrivals: Sequence[tuple[Sequence[int], int]]) -> list[tuple[int, float]]:
    """The mean share of the gold that is held, wherever it grows: (how much is read, share), both ascending.

    >>> held([([3, 10], 2), ([3], 1)])
    [(3, 0.75), (10, 1.0)]
    """
    growth: dict[int, list[float]] = {}
    for at, gold in arrivals:
        for size in at:
            growth.setdefault(size, []).append(1.0 / (gold * len(arrivals)))
    parts: list[float] = []
    steps = []
    for at_most in sorted(growth):
        parts += growth[at_most]
        steps.append((at_most, round(math.fsum(parts), _EXACT)))
    return steps


def reaching(steps: Sequence[tuple[int, float]], share: float) -> int | None:
    """The least that holds a share; None if nothing does.

    >>> reaching([(3, 0.75), (10, 1.0)], 0.8)
    10
    """
    return next((used for used, got in steps if got >= share), None)


def curve(
    answers: Sequence[Asked], sizes: Mapping[str, Mapping[str, int]], budgets: Sequence[int]
) -> list[tuple[int, float]]:
    """The mean share that is held within each budget."""
    steps = held([_arrivals(answer, sizes[answer.part]) for answer in answers])
    return [(budget, max((got for used, got in steps if used <= budget), default=0.0)) for budget in budgets]


_EXACT = 12
"""Decimals of a share: sums of fractions that make a whole are one."""
