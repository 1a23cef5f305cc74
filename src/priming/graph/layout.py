"""Layout of a graph on a plane: linked nodes are near each other, others apart.

References
----------
.. [1] Fruchterman, T. M. J. & Reingold, E. M. (1991). Graph drawing by force-directed placement. Software:
   Practice and Experience 21, 1129–1164: steps that a falling temperature keeps short.
.. [2] Jacomy, M., Venturini, T., Heymann, S. & Bastian, M. (2014). ForceAtlas2. PLoS ONE 9, e98679: repulsion by
   degree, attraction by distance, and gravity, which keeps separate parts on one map.

The same links give the same map, without a seed and in blocks of bounded memory. networkx imports for half a
second and is slower from 500 nodes on.
"""

from __future__ import annotations

import math

import numpy as np

from priming.config.params.checked import Checked, param
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints

_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class LayoutParams(Checked):
    """The forces and the work of a layout."""

    repulsion: float = param(1.0, low=0.0, source="our choice", doc="repulsion between two nodes")
    attraction: float = param(0.1, low=0.0, source="our choice", doc="attraction of a link of weight 1")
    gravity: float = param(0.02, low=0.0, source="our choice", doc="attraction of the centre")
    nearest: float = param(
        0.3, low=0.01, source="our choice", doc="distance below which repulsion stops growing"
    )
    coldest: float = param(0.01, low=0.0, source="our choice", doc="maximum length of the last step")
    work: float = param(6e7, low=1.0, unit="pairs", source="our choice", doc="pairs of nodes compared in all")
    steps_low: int = param(30, low=1, unit="steps", source="our choice", doc="steps of a large drawing")
    steps_high: int = param(400, low=1, unit="steps", source="our choice", doc="steps of a small one")
    block: int = param(256, low=1, unit="nodes", source="our choice", doc="nodes that are moved at a time")


LAYOUT = LayoutParams()


def positions(n: int, source: Ints, target: Ints, weight: Floats, params: LayoutParams = LAYOUT) -> Floats:
    """Place n nodes on a plane: an array of shape (n, 2) with mean 0, the same for the same links.

    ``source`` and ``target`` are the rows of the ends of links; a larger ``weight`` ≥ 0 pulls the ends closer.

    >>> near, far = np.linalg.norm(np.diff(positions(3, np.array([0]), np.array([1]), np.ones(1)), axis=0), axis=1)
    >>> bool(near < far)
    True
    """
    if n == 0:
        return np.zeros((0, 2))
    mass: Floats = 1.0 + np.bincount(np.concatenate([source, target]), minlength=n).astype(np.float64)
    at = _spiral(np.argsort(-mass, kind="stable"))
    steps = int(np.clip(params.work / n**2, params.steps_low, params.steps_high))
    for step in range(steps):
        heat = math.sqrt(n) * (1 - step / steps) + params.coldest
        push = _repulsion(at, mass, params) - params.gravity * mass[:, None] * at
        pull = (at[target] - at[source]) * (params.attraction * weight)[:, None]
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


def _repulsion(at: Floats, mass: Floats, params: LayoutParams) -> Floats:
    """The repulsion of each node by all others, a block of rows at a time: Σ mᵢ·mⱼ·(xᵢ − xⱼ) / |xᵢ − xⱼ|²."""
    push = np.empty_like(at)
    length = (at**2).sum(axis=1)
    for first in range(0, len(at), params.block):
        rows = slice(first, first + params.block)
        square = length[rows, None] + length[None, :] - 2 * (at[rows] @ at.T)
        share = mass / np.maximum(square, params.nearest**2)
        push[rows] = mass[rows, None] * (at[rows] * share.sum(axis=1, keepdims=True) - share @ at)
    return params.repulsion * push
