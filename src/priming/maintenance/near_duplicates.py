"""Near-duplicates among many texts, without comparing every pair."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from priming.config.params.laws import SIMILARITY
from priming.core.similarity import ComparedBehaviour, likeness

ConditionalText = tuple[str, Mapping[str, Any]]
"""The content of a memory, and the conditions under which it applies."""

_ROUNDING = 1e-9


def near_duplicates(texts: Sequence[ConditionalText], threshold: float) -> list[tuple[int, int, float]]:
    """The texts that nearly repeat an earlier one: their positions, those of the earlier texts, the similarities.

    Each text is compared with the earlier texts that are no duplicates themselves. It is a duplicate of the most
    similar of those above ``threshold``, and of the earliest among equals.

    Two texts whose Jaccard index is above j share one of the rarest n − ⌈j·n⌉ + 1 words of each [1]. Only pairs
    that do, and that have enough words in common, are compared in full.

    References
    ----------
    .. [1] Chaudhuri, S., Ganti, V., Kaushik, R. (2006). A primitive operator for similarity joins in data
       cleaning. ICDE 2006.

    """
    sayings = [ComparedBehaviour.of(content, when) for content, when in texts]
    frequency = Counter(word for saying in sayings for word in saying.words)
    index: dict[Hashable, list[int]] = defaultdict(list)
    duplicates = []
    for position, saying in enumerate(sayings):
        rarest = sorted(saying.words, key=lambda word: (frequency[word], word))
        signature = list(_signature(saying, rarest, _minimum_overlap(threshold, True)))
        candidates = {earlier for feature in signature for earlier in index[feature]}
        similarities = (
            (likeness(sayings[earlier], saying), -earlier)
            for earlier in candidates
            if _may_be_similar(sayings[earlier], saying, threshold)
        )
        similarity, nearest = max(similarities, default=(0.0, 0))
        if similarity > threshold:
            duplicates.append((position, -nearest, similarity))
        else:
            for feature in signature:
                index[feature].append(position)
    return duplicates


def _minimum_overlap(threshold: float, comparable: bool) -> float:
    """The least Jaccard index of the words of a pair: lower where both have conditions, which may agree in full."""
    if not comparable:
        return threshold
    if threshold <= SIMILARITY.when:
        return 0.0
    return (threshold - SIMILARITY.when) / (1.0 - SIMILARITY.when)


def _signature(saying: ComparedBehaviour, rarest: Sequence[str], least: float) -> Iterator[Hashable]:
    """The features of which every similar pair shares at least one."""
    if not rarest:
        yield "text", saying.content
    needed = max(1, math.ceil(least * len(rarest) - _ROUNDING))
    yield from rarest[: len(rarest) - needed + 1]
    if least <= 0.0:
        for name, values in saying.scope.items():
            for value in values:
                yield "when", name, value


def _may_be_similar(a: ComparedBehaviour, b: ComparedBehaviour, threshold: float) -> bool:
    """Whether a pair has enough words in common; two texts without words are always compared in full."""
    least = _minimum_overlap(threshold, not a.scope.keys().isdisjoint(b.scope))
    shared = len(a.words & b.words)
    together = len(a.words) + len(b.words)
    return not together or shared >= least * (together - shared) - _ROUNDING
