"""The links of files in a namespace: what touched them, and which of them are gone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from priming.config.params.laws import PLASTICITY
from priming.config.words import REMOVED, TOUCHES
from priming.core.arguments.arrays import Bools, Floats, Ints
from priming.index.columns import NONE
from priming.index.working_set import WorkingSet


@dataclass(frozen=True, slots=True)
class FileLinks:
    """The links of a namespace that concern files, each as rows of its ends, with its weight."""

    memory: Ints
    file: Ints
    """The ends of the links from memories to files: those that touched them, and those that name them."""
    weight: Floats
    fan: Ints
    """How many files the memory of each of these links touches or names."""
    rows: Ints
    """The rows of all files, ascending."""
    gone: Bools
    """Which of them were removed, and not touched since."""


def file_links(working: WorkingSet) -> FileLinks:
    """Read the links of files. A file is what a memory touches; later memories have later rows."""
    topology = working.topology
    touch, removal = links_of(working, TOUCHES), links_of(working, REMOVED)
    rows = np.unique(topology.target[touch])
    is_file = np.zeros(working.rows, np.bool_)
    is_file[rows] = True
    relation, alive = topology.relation.values, topology.alive.values
    all_links = np.flatnonzero(alive & topology.names_of(relation) & is_file[topology.target.values])
    memory, file = topology.source[all_links], topology.target[all_links]
    last = np.full(working.rows, NONE)
    np.maximum.at(last, topology.target[touch], topology.source[touch])
    removed = np.full(working.rows, NONE)
    np.maximum.at(removed, topology.source[removal], topology.target[removal])
    fan = np.bincount(memory, minlength=working.rows)[memory]
    gone = removed[rows] >= np.maximum(last[rows], 0)
    return FileLinks(memory, file, topology.weight[all_links] / PLASTICITY.start, fan, rows, gone)


def links_of(working: WorkingSet, relation: str) -> Ints:
    """The numbers of the living links of a relation."""
    topology = working.topology
    if not topology.has_relation(relation):
        return np.zeros(0, np.int64)
    return np.flatnonzero(topology.alive.values & (topology.relation.values == topology.code(relation)))


def offered(working: WorkingSet) -> Bools:
    """The rows of files that exist, as far as is known."""
    links = file_links(working)
    mask = np.zeros(working.rows, np.bool_)
    mask[links.rows[~links.gone]] = True
    mask &= working.alive.values
    return mask


def touching(working: WorkingSet) -> Bools:
    """The rows of memories that touch or name a file."""
    mask = np.zeros(working.rows, np.bool_)
    mask[file_links(working).memory] = True
    return mask
