"""Which of many texts are alike, found without comparing each with every other."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from priming.config.params.laws import SIMILARITY
from priming.core.similarity import ComparedBehaviour, likeness

Text = tuple[str, Mapping[str, Any]]
"""What a memory says, and when it applies."""

_ROUNDING = 1e-9


def near_duplicates(texts: Sequence[Text], threshold: float) -> list[tuple[int, int, float]]:
    """Of texts of which the earlier are to be kept, those that one before them stands for.

    Each is compared with the texts before it that are kept, and goes to the most alike of those above
    ``threshold``, of equals to the earliest; where there is none it is kept itself. What is returned are the
    positions of both, and how alike they are.

    Two texts whose Jaccard index is above j share one of the rarest n − ⌈j·n⌉ + 1 words of each [1]. Only those
    that do, and have enough words in common, are compared in full.

    References
    ----------
    .. [1] Chaudhuri, S., Ganti, V., Kaushik, R. (2006). A primitive operator for similarity joins in data
       cleaning. ICDE 2006.

    """
    said = [ComparedBehaviour.of(content, when) for content, when in texts]
    holders = Counter(word for one in said for word in one.words)
    index: dict[Hashable, list[int]] = defaultdict(list)
    found = []
    for here, one in enumerate(said):
        rarest = sorted(one.words, key=lambda word: (holders[word], word))
        marks = list(_marks(one, rarest, _least(threshold, True)))
        near = {other for mark in marks for other in index[mark]}
        likely = (
            (other, likeness(said[other], one)) for other in near if _may_be(said[other], one, threshold)
        )
        similarity, nearest = max(((how, -other) for other, how in likely), default=(0.0, 0))
        if similarity > threshold:
            found.append((here, -nearest, similarity))
        else:
            for mark in marks:
                index[mark].append(here)
    return found


def _least(threshold: float, comparable: bool) -> float:
    """How alike the words of a pair must be at least: less where conditions can be compared, and agree in full."""
    if not comparable:
        return threshold
    if threshold <= SIMILARITY.when:
        return 0.0
    return (threshold - SIMILARITY.when) / (1.0 - SIMILARITY.when)


def _marks(one: ComparedBehaviour, rarest: Sequence[str], least: float) -> Iterator[Hashable]:
    """Marks of which a near pair shares at least one."""
    if not rarest:
        yield "text", one.content
    needed = max(1, math.ceil(least * len(rarest) - _ROUNDING))
    yield from rarest[: len(rarest) - needed + 1]
    if least <= 0.0:
        for name, values in one.scope.items():
            for value in values:
                yield "when", name, value


def _may_be(a: ComparedBehaviour, b: ComparedBehaviour, threshold: float) -> bool:
    """Whether two have enough words in common; those without any are left to the full comparison."""
    least = _least(threshold, not a.scope.keys().isdisjoint(b.scope))
    shared = len(a.words & b.words)
    together = len(a.words) + len(b.words)
    return not together or shared >= least * (together - shared) - _ROUNDING
