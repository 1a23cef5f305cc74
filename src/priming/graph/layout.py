"""Where to draw what is linked: a map in which linked nodes are near and others apart.

References
----------
.. [1] Fruchterman, T. M. J. & Reingold, E. M. (1991). Graph drawing by force-directed placement. Software:
   Practice and Experience 21, 1129–1164: steps that a falling temperature keeps short.
.. [2] Jacomy, M., Venturini, T., Heymann, S. & Bastian, M. (2014). ForceAtlas2. PLoS ONE 9, e98679: repulsion by
   degree, attraction by distance, and gravity, which keeps separate parts on one map.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from priming.config.params.checked import Checked, param
from priming.core.arguments.arrays import Floats, Ints

_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class LayoutParams(Checked):
    """How a drawing is laid out."""

    repulsion: float = param(1.0, low=0.0, source="our choice", doc="what two nodes push each other by")
    attraction: float = param(0.1, low=0.0, source="our choice", doc="what a link of weight 1 pulls by")
    gravity: float = param(0.02, low=0.0, source="our choice", doc="what the middle pulls by")
    nearest: float = param(
        0.3, low=0.01, source="our choice", doc="distance below which repulsion grows no more"
    )
    coldest: float = param(0.01, low=0.0, source="our choice", doc="longest step at the end")
    work: float = param(
        6e7, low=1.0, unit="pairs", source="our choice", doc="pairs of nodes looked at in all"
    )
    steps_low: int = param(30, low=1, unit="steps", source="our choice", doc="steps of a large drawing")
    steps_high: int = param(400, low=1, unit="steps", source="our choice", doc="steps of a small one")
    block: int = param(256, low=1, unit="nodes", source="our choice", doc="nodes moved at a time")


LAYOUT = LayoutParams()


def positions(n: int, source: Ints, target: Ints, weight: Floats, params: LayoutParams = LAYOUT) -> Floats:
    """Place n nodes on a plane, one row each, the same for the same links; the mean is 0.

    ``source`` and ``target`` are rows, ``weight`` ≥ 0 draws the ends of a link together.

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
    """A sunflower's seeds, the first of the order in the middle: a start without chance and without ties."""
    place = np.empty(len(order))
    place[order] = np.arange(len(order))
    radius, angle = np.sqrt(place + 0.5), place * _GOLDEN_ANGLE
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _repulsion(at: Floats, mass: Floats, params: LayoutParams) -> Floats:
    """What all others push each node by, a block of rows at a time: Σ mᵢ·mⱼ·(xᵢ − xⱼ) / |xᵢ − xⱼ|²."""
    push = np.empty_like(at)
    length = (at**2).sum(axis=1)
    for first in range(0, len(at), params.block):
        here = slice(first, first + params.block)
        square = length[here, None] + length[None, :] - 2 * (at[here] @ at.T)
        share = mass / np.maximum(square, params.nearest**2)
        push[here] = mass[here, None] * (at[here] * share.sum(axis=1, keepdims=True) - share @ at)
    return params.repulsion * push
