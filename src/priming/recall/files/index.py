"""The files of a namespace: what touched them, which are gone, and the words of their paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from weakref import WeakKeyDictionary

import numpy as np

from priming.config.params.files import FILES
from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.config.words import REMOVED, TOUCHES
from priming.core.arguments.arrays import Bools, Floats, Ints, distinct
from priming.index.columns import NONE
from priming.index.topology import NAMING
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.recall.entities import file_key
from priming.recall.files.law import path_terms


@dataclass(frozen=True, slots=True)
class FileIndex:
    """The files of a namespace in the order of their rows, and the links between memories and files.

    A file is what a memory touches. ``memory`` and ``file`` are the ends of each link, the file as its place among
    the files: the link is that of a memory that touches the file, or names it.
    """

    rows: Ints
    paths: tuple[str, ...]
    gone: Bools
    """Which files were removed and not touched since."""
    memory: Ints
    file: Ints
    weight: Floats
    """The learned weight of each link, relative to that of a new one."""
    memories: Ints
    """The rows of these memories, ascending."""
    fan: Ints
    """By row, how many files a memory touches or names."""
    rate: Floats
    """The share of the memories that touch or name each file, had ``FileParams.unseen`` more touched others."""
    words: Mapping[str, tuple[Ints, Floats]]
    """By term, the places of the files whose paths contain it, and how often each does."""
    lengths: Floats
    """The number of terms in the path of each file."""

    def offered(self, rows: int) -> Bools:
        """The rows of files that exist, as far as is known, among so many."""
        return row_mask(self.rows[~self.gone], rows)

    def touching(self, rows: int) -> Bools:
        """The rows of memories that touch or name a file, among so many."""
        return row_mask(self.memory, rows)


_cached: WeakKeyDictionary[WorkingSet, tuple[int, FileIndex]] = WeakKeyDictionary()


def files_of(memory: Namespace, working: WorkingSet) -> FileIndex:
    """The files of a namespace, read again only after an operation."""
    head, index = _cached.get(working, (NONE, None))
    if index is None or head != working.head:
        index = _read(memory, working)
        _cached[working] = working.head, index
    return index


def _read(memory: Namespace, working: WorkingSet) -> FileIndex:
    topology, n = working.topology, working.rows
    touch, removal = links_of(working, TOUCHES), links_of(working, REMOVED)
    rows = distinct(topology.target[touch])
    is_file = row_mask(rows, n)
    naming = topology.alive.values & topology.has_any(topology.relation.values, NAMING)
    naming &= working.document[topology.source.values] != NONE
    links = np.flatnonzero(naming & is_file[topology.target.values])
    # Two links between the same ends count once: the stronger one.
    ends, weights = topology.source[links] * n + topology.target[links], topology.weight[links]
    order = np.lexsort((-weights, ends))
    first = order[np.flatnonzero(np.diff(ends[order], prepend=NONE))]
    source, target = topology.source[links[first]], topology.target[links[first]]
    last, removed = np.full(n, NONE), np.full(n, NONE)
    np.maximum.at(last, topology.target[touch], topology.source[touch])
    np.maximum.at(removed, topology.source[removal], topology.target[removal])
    ids = {working.ids[row]: place for place, row in enumerate(rows.tolist())}
    paths = [""] * len(rows)
    for memory_id, key in memory.store.names(memory.namespace, ids=ids).items():
        paths[ids[memory_id]] = key.removeprefix(file_key(""))
    counted = [Counter(path_terms(path)) for path in paths]
    return FileIndex(
        rows,
        tuple(paths),
        removed[rows] >= np.maximum(last[rows], 0),
        source,
        file := np.searchsorted(rows, target),
        weights[first] / PLASTICITY.start,
        memories := distinct(source),
        np.bincount(source, minlength=n),
        np.bincount(file, minlength=len(rows)) / (len(memories) + FILES.unseen),
        _words(counted),
        np.array([counts.total() for counts in counted], np.float64),
    )


def _words(counted: list[Counter[str]]) -> dict[str, tuple[Ints, Floats]]:
    places: dict[str, list[tuple[int, int]]] = {}
    for place, counts in enumerate(counted):
        for word, count in counts.items():
            places.setdefault(word, []).append((place, count))
    return {
        word: (np.array([place for place, _ in pairs]), np.array([float(count) for _, count in pairs]))
        for word, pairs in places.items()
    }


def links_of(working: WorkingSet, relation: str) -> Ints:
    """The numbers of the living links of a relation."""
    topology = working.topology
    if not topology.has_relation(relation):
        return np.zeros(0, np.int64)
    return np.flatnonzero(topology.alive.values & (topology.relation.values == topology.code(relation)))


def row_mask(rows: Ints, count: int) -> Bools:
    """Which of ``count`` rows are among ``rows``."""
    mask = np.zeros(count, np.bool_)
    mask[rows] = True
    return mask
