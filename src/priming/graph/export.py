"""A drawing of the graph as text, Graphviz's dot or JSON, and places for the nodes of a picture."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

import numpy as np

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints
from priming.text.quotation import visible, without_hidden
from priming.types import Link

_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_TINY = float(np.finfo(np.float64).tiny)
_REPULSION, _ATTRACTION, _GRAVITY = 1.0, 0.1, 0.02
"""Between two nodes, of a link of weight 1, and of the centre: our choice, as are the next."""
_NEAREST, _COLDEST = 0.3, 0.01
"""The distance below which repulsion stops growing, and the maximum length of the last step."""
_WORK, _FEWEST_STEPS, _MOST_STEPS = 6e7, 30, 400
"""Pairs of nodes compared in all, and the steps of a large drawing and of a small one."""
AT_ONCE = 256
"""Nodes that are moved at a time."""


def positions(n: int, source: Ints, target: Ints, weight: Floats, gravity: float = _GRAVITY) -> Floats:
    """Place n nodes on a plane: an array of shape (n, 2) with mean 0, the same for the same links.

    ``source`` and ``target`` are the rows of the ends of links; a larger ``weight`` ≥ 0 pulls the ends closer. Linked
    nodes are near each other, others apart; without a seed, and in blocks of bounded memory. networkx imports for
    half a second and is slower from 500 nodes on.

    References
    ----------
    .. [1] Fruchterman, T. M. J. & Reingold, E. M. (1991). Graph drawing by force-directed placement. Software:
       Practice and Experience 21, 1129–1164: steps that a falling temperature keeps short.
    .. [2] Jacomy, M., Venturini, T., Heymann, S. & Bastian, M. (2014). ForceAtlas2. PLoS ONE 9, e98679: repulsion by
       degree, attraction by distance, and gravity, which keeps separate parts on one map.

    >>> near, far = np.linalg.norm(np.diff(positions(3, np.array([0]), np.array([1]), np.ones(1)), axis=0), axis=1)
    >>> bool(near < far)
    True
    """
    if n == 0:
        return np.zeros((0, 2))
    mass: Floats = 1.0 + np.bincount(np.concatenate([source, target]), minlength=n).astype(np.float64)
    at = _spiral(np.argsort(-mass, kind="stable"))
    steps = int(np.clip(_WORK / n**2, _FEWEST_STEPS, _MOST_STEPS))
    for step in range(steps):
        heat = math.sqrt(n) * (1 - step / steps) + _COLDEST
        push = _repulsion(at, mass) - gravity * mass[:, None] * at
        pull = (at[target] - at[source]) * (_ATTRACTION * weight)[:, None]
        np.add.at(push, source, pull)
        np.add.at(push, target, -pull)
        push /= mass[:, None]
        length = np.maximum(np.linalg.norm(push, axis=1, keepdims=True), _TINY)
        at += push / length * np.minimum(length, heat)
    centred: Floats = at - at.mean(axis=0)
    return centred


def _spiral(order: Ints) -> Floats:
    """Start positions on a sunflower spiral, the first of the order in the middle: deterministic, without ties."""
    place = np.empty(len(order))
    place[order] = np.arange(len(order))
    radius, angle = np.sqrt(place + 0.5), place * _GOLDEN_ANGLE
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _repulsion(at: Floats, mass: Floats) -> Floats:
    """The repulsion of each node by all others, a block of rows at a time: Σ mᵢ·mⱼ·(xᵢ − xⱼ) / |xᵢ − xⱼ|²."""
    push = np.empty_like(at)
    length = (at**2).sum(axis=1)
    for first in range(0, len(at), AT_ONCE):
        rows = slice(first, first + AT_ONCE)
        square = length[rows, None] + length[None, :] - 2 * (at[rows] @ at.T)
        share = mass / np.maximum(square, _NEAREST**2)
        push[rows] = mass[rows, None] * (at[rows] * share.sum(axis=1, keepdims=True) - share @ at)
    return _REPULSION * push


_LABEL_LETTERS = 60
_WIDEST, _THINNEST, _STIFFEST = 4.0, 0.5, 10
_SHAPES = {"entity": "ellipse"}


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A memory in a drawing; ``links`` counts its links in the drawing, in both directions."""

    key: str
    kind: str
    status: str
    gist: str
    content: str
    heading: str | None = None
    speaker: str | None = None
    session: str | None = None
    occurred_at: datetime | None = None
    uses: int = 0
    links: int = 0


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """Memories and the links between them, the most linked first.

    ``around`` is the key of the memory in the centre, if any; ``left_out`` counts the memories beyond the limit.
    """

    namespace: str
    nodes: tuple[DrawnNode, ...]
    links: tuple[Link, ...]
    left_out: int = 0
    around: str | None = None
    known_at: datetime | None = None
    reason: str | None = None
    """Why the drawing is empty."""


def as_dot(drawing: GraphDrawing) -> str:
    """A directed graph in Graphviz's language; nodes are named by their keys."""
    lines = ["digraph priming {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    lines += [
        f"  {_quoted(node.key)} [label={_quoted(_label(node))}, class={_quoted(node.kind)}"
        f", shape={_SHAPES.get(node.kind, 'box')}, tooltip={_quoted(node.gist)}];"
        for node in drawing.nodes
    ]
    lines += [
        f"  {_quoted(link.source)} -> {_quoted(link.target)}"
        f" [label={_quoted(link.relation)}, weight={1 + round((_STIFFEST - 1) * link.weight)}"
        f", penwidth={_width(link.weight)}, tooltip={_quoted(f'{link.relation} {link.weight:.2f}')}"
        f"{'' if link.sign > 0 else ', arrowhead=tee, style=dashed'}];"
        for link in drawing.links
    ]
    notes = [] if drawing.reason is None else [f"  // {' '.join(without_hidden(drawing.reason).split())}"]
    return "\n".join([*lines, *notes, "}", ""])


def _quoted(text: str) -> str:
    """A quoted string of dot: backslashes, quotes and line ends are escaped, control characters replaced."""
    plain = without_hidden(text.replace("\r\n", "\n").replace("\t", " "))
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _width(weight: float) -> str:
    return f"{_THINNEST + (_WIDEST - _THINNEST) * weight:.2f}"


def _label(node: DrawnNode) -> str:
    """The label of a node in a drawing: its heading, else the beginning of its gist."""
    name = " ".join((node.heading or node.gist).split())
    return name if len(name) <= _LABEL_LETTERS else name[: _LABEL_LETTERS - 1].rstrip() + "…"


def json_text(drawing: GraphDrawing) -> str:
    """A drawing as the text of one JSON object."""
    return visible(json.dumps(as_json(drawing), ensure_ascii=False, indent=1)) + "\n"


def as_json(drawing: GraphDrawing) -> dict[str, Any]:
    """A drawing as a value that JSON can represent."""
    return {
        "namespace": drawing.namespace,
        "around": drawing.around,
        "known_at": _time(drawing.known_at),
        "left_out": drawing.left_out,
        "reason": drawing.reason,
        "nodes": [_node(node) for node in drawing.nodes],
        "links": [_link(link) for link in drawing.links],
    }


def _node(node: DrawnNode) -> dict[str, Any]:
    return {
        "key": node.key,
        "kind": node.kind,
        "status": node.status,
        "heading": node.heading,
        "speaker": node.speaker,
        "gist": node.gist,
        "content": node.content,
        "session": node.session,
        "occurred_at": _time(node.occurred_at),
        "uses": node.uses,
        "links": node.links,
    }


def _link(link: Link) -> dict[str, Any]:
    return {
        "source": link.source,
        "target": link.target,
        "relation": link.relation,
        "weight": link.weight,
        "sign": link.sign,
        "given": link.given,
        "created_at": _time(link.created_at),
        "last_activated": _time(link.last_activated),
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
