"""Clusters of vectors by HDBSCAN, in batches, with checks that the members of a cluster are similar."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.limits import SLEEP, SleepParams
from priming.core.arguments.arrays import Floats, Ints
from priming.errors import MissingExtra
from priming.sleep.plan import ProgressStep

EXTRA, LIBRARY = "sleep", "sklearn"
_NOISE = -1


def cluster_rows(
    vectors: NDArray[Any], size: int, params: SleepParams = SLEEP, step: ProgressStep | None = None
) -> list[Ints]:
    """The clusters of at least ``size`` rows of ``vectors``, each in order; all other rows are noise.

    Rows of zeros are in no cluster. Windows larger than a batch are clustered batch by batch, and clusters with near
    centroids are joined.

    Raises:
        MissingExtra: there are enough rows for a cluster, and the extra ``sleep`` is not installed.

    """
    nonzero = np.flatnonzero(np.any(vectors != 0.0, axis=1))
    lengths = np.linalg.norm(vectors[nonzero].astype(np.float64), axis=1, keepdims=True)
    units = vectors[nonzero].astype(np.float64) / lengths
    count = -(-len(units) // params.batch)
    groups: list[Ints] = []
    for number, batch in enumerate(np.array_split(np.arange(len(units)), max(count, 1)), start=1):
        groups += [batch[group] for group in _of_batch(units[batch], size, params)]
        if step is not None:
            step(number, max(count, 1))
    joined = _joined(units, groups, params.tight) if count > 1 else groups
    whole = (_coherent(units, group, params.coherent) for group in joined)
    return [nonzero[np.sort(group)] for group in whole if len(group) >= size]


def centroid(units: Floats) -> Floats:
    """The direction of the mean of unit vectors; zeros if they cancel out."""
    mean: Floats = units.mean(axis=0)
    length = float(np.linalg.norm(mean))
    if length > 0.0:
        mean /= length
    return mean


def _of_batch(units: Floats, size: int, params: SleepParams) -> Iterator[Ints]:
    if len(units) < size:
        return
    labels = _hdbscan(units, size, params)
    if np.all(labels == _NOISE):
        # A window with a single theme looks like noise to the first attempt.
        labels = _hdbscan(
            units, size, params, allow_single_cluster=True, cluster_selection_epsilon=params.epsilon
        )
        for members in _members(labels):
            if float((units[members] @ centroid(units[members])).min()) >= params.tight:
                yield members
        return
    yield from _members(labels)


def check_library() -> None:
    """Raise ``MissingExtra`` if the library of HDBSCAN is not installed."""
    if find_spec(LIBRARY) is None:
        raise MissingExtra(EXTRA, "the stage 'deep' of sleep")


def _hdbscan(units: Floats, size: int, params: SleepParams, **settings: Any) -> Ints:
    check_library()
    from sklearn.cluster import HDBSCAN

    clustering = HDBSCAN(
        min_cluster_size=size,
        min_samples=params.samples,
        metric="cosine",
        algorithm="brute",
        cluster_selection_method="eom",
        copy=True,
        **settings,
    )
    labels: Ints = clustering.fit(units).labels_
    return labels


def _members(labels: Ints) -> list[Ints]:
    return [np.flatnonzero(labels == label) for label in range(int(labels.max(initial=_NOISE)) + 1)]


def _joined(units: Floats, groups_of_batches: list[Ints], tight: float) -> list[Ints]:
    """The clusters of several batches, joined where their centroids are near, the largest first."""
    groups: list[Ints] = []
    centres = np.zeros((len(groups_of_batches), units.shape[1]))
    for group in sorted(groups_of_batches, key=lambda rows: (-len(rows), int(rows[0]))):
        here = centroid(units[group])
        cosines = centres[: len(groups)] @ here
        near = int(cosines.argmax()) if groups else _NOISE
        if near != _NOISE and cosines[near] >= tight:
            groups[near] = np.concatenate([groups[near], group])
            centres[near] = centroid(units[groups[near]])
        else:
            centres[len(groups)] = here
            groups.append(group)
    return groups


def _coherent(units: Floats, rows: Ints, least: float) -> Ints:
    """The rows of a cluster that are near the others on average; HDBSCAN also joins less distant noise."""
    if len(rows) < 2:
        return rows
    own = units[rows]
    near = (own @ own.sum(axis=0) - 1.0) / (len(rows) - 1)
    coherent: Ints = rows[near >= least]
    return coherent
