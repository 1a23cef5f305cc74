"""Which of many texts are alike, found without comparing each with every other."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from priming.core.similarity import behaviour_similarity, tokens
from priming.core.when import scope
from priming.params import SIMILARITY

Text = tuple[str, Mapping[str, Any]]
"""What a memory says, and when it applies."""

_ROUNDING = 1e-9


def alike(texts: Sequence[Text], threshold: float) -> list[list[int]]:
    """Groups of positions that are connected by similarities above ``threshold``, each in order.

    Two texts whose Jaccard index is above j share one of the rarest n − ⌈j·n⌉ + 1 words of each [1]. Only those
    that do, and have enough words in common, are compared in full.

    References
    ----------
    .. [1] Chaudhuri, S., Ganti, V., Kaushik, R. (2006). A primitive operator for similarity joins in data
       cleaning. ICDE 2006.

    """
    words = [tokens(content) for content, _ in texts]
    scopes = [scope("when", when) for _, when in texts]
    holders = Counter(word for some in words for word in some)
    index: dict[Hashable, list[int]] = defaultdict(list)
    groups = _Groups(len(texts))
    for here, (content, when) in enumerate(texts):
        near: set[int] = set()
        rarest = sorted(words[here], key=lambda word: (holders[word], word))
        for mark in _marks(content, scopes[here], rarest, _least(threshold, True)):
            near.update(index[mark])
            index[mark].append(here)
        for other in near:
            comparable = not scopes[here].keys().isdisjoint(scopes[other])
            if groups.joined(here, other) or not _may_be(
                words[here], words[other], _least(threshold, comparable)
            ):
                continue
            if behaviour_similarity(texts[other][0], content, texts[other][1], when) > threshold:
                groups.join(here, other)
    return groups.larger_than_one()


def _least(threshold: float, comparable: bool) -> float:
    """How alike the words of a pair must be at least: less where conditions can be compared, and agree in full."""
    if not comparable:
        return threshold
    if threshold <= SIMILARITY.when:
        return 0.0
    return (threshold - SIMILARITY.when) / (1.0 - SIMILARITY.when)


def _marks(
    content: str, when: Mapping[str, frozenset[str]], rarest: Sequence[str], least: float
) -> Iterator[Hashable]:
    """Marks of which a near pair shares at least one."""
    if not rarest:
        yield "text", content
    needed = max(1, math.ceil(least * len(rarest) - _ROUNDING))
    yield from rarest[: len(rarest) - needed + 1]
    if least <= 0.0:
        for name, values in when.items():
            for value in values:
                yield "when", name, value


def _may_be(a: frozenset[str], b: frozenset[str], least: float) -> bool:
    """Whether two texts have enough words in common; those without any are left to the full comparison."""
    shared = len(a & b)
    return not (a or b) or shared >= least * (len(a) + len(b) - shared) - _ROUNDING


class _Groups:
    """Disjoint sets of positions; the smaller of two is taken into the larger."""

    def __init__(self, number: int) -> None:
        self._of = [[position] for position in range(number)]

    def joined(self, a: int, b: int) -> bool:
        return self._of[a] is self._of[b]

    def join(self, a: int, b: int) -> None:
        small, large = sorted((self._of[a], self._of[b]), key=len)
        large += small
        for position in small:
            self._of[position] = large

    def larger_than_one(self) -> list[list[int]]:
        groups = {id(group): group for group in self._of if len(group) > 1}
        return [sorted(group) for group in groups.values()]
