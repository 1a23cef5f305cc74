"""A spread as a tree: from each anchor the links by which activation came to hits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from priming.cli.render import DIM, KEY
from priming.cli.screen import Part, Span, Tree, line

if TYPE_CHECKING:
    from priming.types import Recall, Step

LEAST_SHARE = 0.05
"""Of what came to a hit: what brought less is not drawn, unless it is on the strongest way to it."""


@dataclass
class _Node:
    """A memory in the tree, the link that leads to it, and the links on from it."""

    key: str
    link: Step | None = None
    known: bool = False
    """Whether it stands elsewhere in the tree too, with what hangs from it."""
    below: dict[str, _Node] = field(default_factory=dict)


@dataclass(frozen=True)
class _Active:
    """What the labels of a tree say of a memory: its activation first and last, and its rank as a hit."""

    first: Mapping[str, float]
    last: Mapping[str, float]
    ranks: Mapping[str, int]
    carried: Mapping[tuple[str, str, str], float]


def tree(found: Recall) -> Iterator[Part]:
    """The anchors that led to hits, or are hits, best hit first; under each the ways that activation took."""
    if not found.spread:
        yield line(("nothing spread", DIM))
        return
    ranks = {hit.memory.key: rank for rank, hit in enumerate(found.hits, 1)}
    carried = {(one.source, one.relation, one.target): one.amount for one in found.carried}
    active = _Active(found.spread[0], found.spread[-1], ranks, carried)
    roots = _ways(found)
    drawn = _add_others(roots, found.carried, ranks)
    for root in roots.values():
        yield _drawn(root, active)
    others = len(active.first.keys() - drawn)
    if others:
        yield line((f"{others:,} more {'anchor' if others == 1 else 'anchors'} led to no hit", DIM))


def _ways(found: Recall) -> dict[str, _Node]:
    """The strongest way to each hit, those that begin alike joined."""
    roots: dict[str, _Node] = {}
    for hit in found.hits:
        start = hit.path[0].source if hit.path else hit.memory.key
        node = roots.setdefault(start, _Node(start))
        for step in hit.path:
            node = node.below.setdefault(f"{step.relation} {step.target}", _Node(step.target, step))
    return roots


def _add_others(roots: Mapping[str, _Node], carried: Sequence[Step], ranks: Mapping[str, int]) -> set[str]:
    """Draw other links that brought a share to a hit, from where their sources stand first; all that is drawn."""
    places: dict[str, _Node] = {}
    waiting = [*roots.values()][::-1]
    while waiting:
        node = waiting.pop()
        places.setdefault(node.key, node)
        waiting += [*node.below.values()][::-1]
    brought: dict[str, float] = {}
    for one in carried:
        brought[one.target] = brought.get(one.target, 0.0) + one.amount
    for one in carried:
        enough = one.amount >= LEAST_SHARE * brought[one.target]
        if enough and one.target in ranks and one.source in places:
            known = _Node(one.target, one, known=True)
            places[one.source].below.setdefault(f"{one.relation} {one.target}", known)
    return set(places)


def _drawn(node: _Node, active: _Active) -> Tree:
    below = tuple(_drawn(one, active) for one in node.below.values())
    return Tree((*_label(node, active), *_rank(active.ranks.get(node.key))), below)


def _label(node: _Node, active: _Active) -> Iterator[Span]:
    last = f"{active.last.get(node.key, 0.0):.4f}"
    if node.link is None:
        yield node.key, KEY
        first = active.first.get(node.key)
        yield f"  {last}" if first is None else f"  {first:.4f} → {last}", DIM
    else:
        yield f"─{node.link.relation}→ ", DIM
        yield node.key, "" if node.known else KEY
        ends = node.link.source, node.link.relation, node.link.target
        yield f"  +{active.carried.get(ends, node.link.amount):.4f}", "green"
        if not node.known:
            yield f"  → {last}", DIM


def _rank(rank: int | None) -> Iterator[Span]:
    if rank is not None:
        yield f"  hit {rank}", "bold green"
