"""Two working sets of one namespace, compared memory by memory: what is kept current must be what is built anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from priming.index.arrays import NamespaceArrays

_TOLERANCE = 1e-5
"""Single precision has seven digits."""


def differences(actual: NamespaceArrays, expected: NamespaceArrays) -> Iterator[str]:
    """What differs, in words, with the ids of the memories."""
    states, expected_states = _states(actual), _states(expected)
    for memory_id in states.keys() | expected_states.keys():
        if memory_id not in expected_states:
            yield f"it has {memory_id}, which is not in recall"
        elif memory_id not in states:
            yield f"it lacks {memory_id}"
        elif states[memory_id] != expected_states[memory_id]:
            yield f"it has another text or state of {memory_id}"
    yield from _vector_differences(actual, expected)
    links, expected_links = _links(actual), _links(expected)
    for link in links.keys() | expected_links.keys():
        if links.get(link) != expected_links.get(link):
            source, target, relation = link
            yield f"its link {relation} from {source} to {target} differs"


def _states(working: NamespaceArrays) -> dict[str, tuple[Any, ...]]:
    """By id, the kind of a memory; of a text also its length, language and time, and its terms."""
    states = {}
    for memory_id, row in working.row_of.items():
        document = int(working.document[row])
        state: tuple[Any, ...] = (int(working.kind[row]),)
        if document >= 0:
            columns = (working.language, working.asks, working.specificity)
            times = float(working.occurred[document]), float(working.told_at[document])
            state += (
                float(working.lexicon.length[document]),
                *(column[document].item() for column in columns),
                *(None if np.isnan(time) else time for time in times),
            )
        states[memory_id] = state
    return states


def _vector_differences(actual: NamespaceArrays, expected: NamespaceArrays) -> Iterator[str]:
    for memory_id, row in actual.row_of.items():
        other = expected.row_of.get(memory_id)
        at = int(actual.document[row])
        document = -1 if other is None else int(expected.document[other])
        if at < 0 or document < 0:
            continue
        vectors = actual.vectors[at], expected.vectors[document]
        passages = actual.passages.of(at)[0], expected.passages.of(document)[0]
        if len(passages[0]) != len(passages[1]) or not all(
            np.allclose(*pair, atol=_TOLERANCE) for pair in (vectors, passages)
        ):
            yield f"it has another vector of {memory_id}"


def _links(working: NamespaceArrays) -> dict[tuple[str, str, str], tuple[float, bool]]:
    topology, ids = working.topology, working.ids
    return {
        (ids[source], ids[target], topology.relations[relation]): (weight, explicit)
        for source, target, relation, weight, explicit, alive in zip(
            topology.source.values.tolist(),
            topology.target.values.tolist(),
            topology.relation.values.tolist(),
            topology.weight.values.tolist(),
            topology.explicit.values.tolist(),
            topology.alive.values.tolist(),
            strict=True,
        )
        if alive
    }
