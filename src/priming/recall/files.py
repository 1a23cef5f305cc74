"""Files that a task will touch: activation is released from memories to files (``docs/files.md``).

First the law, with arrays of one element a memory or a file; then what touched the files of a namespace, which are
gone, and the words of their paths; then the ranking.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from priming.config.params.laws import PLASTICITY, SpreadParams
from priming.config.params.limits import FILES
from priming.config.values import dataclass
from priming.config.words import CO_CHANGED, REMOVED, RENAMED, TOUCHES
from priming.core.arguments.arrays import Bools, Floats, Ints, best_rows, distinct
from priming.core.arguments.normal_forms import caseless
from priming.core.graph import Graph
from priming.core.lexical import idf, length_norm, okapi, scaled
from priming.core.spread import spread
from priming.index.columns import NONE
from priming.index.topology import NAMING
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.recall.entities import file_key
from priming.recall.ranking import Ranked, RankingQuery, best_hits
from priming.text.tokens import TERM_CACHE, terms

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAME = re.compile(r"[\w./\\@+-]+")
_NO_ENDS = "./\\-"
_SHORTEST = 3
"""Letters of the shortest name without an ending that a word of a task can mean."""


def released(match: Floats, age: Floats, sharpness: float, decay: float) -> Floats:
    """Return the activation of memories before they divide it: a = (r / max r)^s · (1 + age)^−d.

    Args:
        match: r ≥ 0, how well each memory matches the task, shape (n,).
        age: how many later memories touch files, shape (n,).
        sharpness: s.
        decay: d.

    >>> released(np.array([1.0, 0.5]), np.array([0.0, 3.0]), 2.0, 0.5).tolist()
    [1.0, 0.125]
    """
    best = float(match.max(initial=0.0))
    if not best:
        return np.zeros(len(match))
    values: Floats = (match / best) ** sharpness * (1.0 + age) ** -decay
    return values


def divided(weight: Floats, fan: Ints, power: float) -> Floats:
    """Return the weight of each link from a memory to a file: w · fan^−f, by how many files the memory touches.

    >>> divided(np.array([1.0, 0.5]), np.array([1, 4]), 0.5).tolist()
    [1.0, 0.25]
    """
    values: Floats = weight * np.maximum(fan, 1) ** -power
    return values


def lifted(rate: Floats, half: float) -> Floats:
    """Return what a file takes of the activation that is passed to it: h / (h + b), by its base rate b.

    A file that nearly every commit touches, such as a changelog, says little about any of them.

    >>> lifted(np.array([0.0, 0.2, 0.6]), 0.2).tolist()
    [1.0, 0.5, 0.25]
    """
    values: Floats = half / (half + rate)
    return values


@lru_cache(maxsize=TERM_CACHE)
def path_terms(path: str) -> tuple[str, ...]:
    """Return the terms of a path or a task, in which the parts of ``camelCase`` are words too.

    >>> path_terms("src/http/connectionPool.py")
    ('src', 'http', 'connect', 'pool', 'py')
    """
    return tuple(terms(_HUMP.sub(" ", path), "english"))


def named_files(task: str, paths: Sequence[str], stem: float) -> Floats:
    """Tell how much a task names each file: 1 by its path or the end of it, ``stem`` by its name without the ending.

    A name that several files have counts for each in part.

    >>> named_files("fix pool.py and the retry", ["src/pool.py", "src/retry.py", "tests/retry.py"], 0.5).tolist()
    [1.0, 0.25, 0.25]
    """
    names_in_task = filter(None, (name.rstrip(_NO_ENDS) for name in _NAME.findall(caseless(task))))
    words = {word.replace("\\", "/").removeprefix("./") for word in names_in_task}
    names = [_names(path) for path in paths]
    bearers = Counter(name for own in names for name in {*own[0], own[1]} if name in words)
    values = [
        max(
            (1.0 / bearers[name] for name in whole if name in words and ("." in name or "/" in name)),
            default=stem / bearers[bare] if bare in words and len(bare) >= _SHORTEST else 0.0,
        )
        for whole, bare in names
    ]
    return np.array(values, np.float64)


@lru_cache(maxsize=TERM_CACHE)
def _names(path: str) -> tuple[Collection[str], str]:
    """Return what a file can be called: its path and what follows each of its slashes; and its bare name."""
    parts = caseless(path).split("/")
    ends = frozenset("/".join(parts[i:]) for i in range(len(parts)))
    bare = parts[-1].rpartition(".")[0] or parts[-1]
    return ends, bare.strip("_")


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
        """Return the rows of files that exist, as far as is known, among so many."""
        return row_mask(self.rows[~self.gone], rows)

    def touching(self, rows: int) -> Bools:
        """Return the rows of memories that touch or name a file, among so many."""
        return row_mask(self.memory, rows)


_cached: WeakKeyDictionary[WorkingSet, tuple[int, FileIndex]] = WeakKeyDictionary()


def files_of(memory: Namespace, working: WorkingSet) -> FileIndex:
    """Return the files of a namespace, read again only after an operation."""
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
    for memory_id, key in memory.names(ids=ids).items():
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
    """Return the numbers of the living links of a relation."""
    topology = working.topology
    if not topology.has_relation(relation):
        return np.zeros(0, np.int64)
    return np.flatnonzero(topology.alive.values & (topology.relation.values == topology.code(relation)))


def row_mask(rows: Ints, count: int) -> Bools:
    """Tell which of ``count`` rows are among ``rows``."""
    mask = np.zeros(count, np.bool_)
    mask[rows] = True
    return mask


CONSTANTS = FILES
"""The constants in use."""
_STEPS = SpreadParams(
    steps=4,
    gain=1.0,
    restart=1.0,
    direction="out",
    normalise="none",
    epsilon=0.0,
    suppressing=(),
)
"""Every step feeds the anchors again, so that the last one holds what arrives over one to four links."""


def rank_files(query: RankingQuery, files: FileIndex) -> Ranked:
    """Rank the files that a task will touch (``docs/files.md``)."""
    working, params = query.working, CONSTANTS
    text = query.evidence.text
    named = params.named * named_files(text, files.paths, params.stem)
    with_paths = np.where(query.pool, _with_paths(query, files), 0.0)
    if not with_paths.any() and not named.any() and query.evidence.cosine.max() < query.profile.recall.floor:
        return Ranked(np.zeros(0, np.int64), np.zeros(0))
    anchors, values = _anchors(query, files, with_paths)
    active = np.zeros(working.rows)
    active[anchors] = values
    carries = active[files.memory] > 0
    memory, file = files.memory[carries], files.file[carries]
    weight = divided(files.weight[carries], files.fan[memory], params.fan)
    weight *= lifted(files.rate[file], params.half)
    most = float(np.bincount(file, active[memory] * weight, minlength=1).max(initial=0.0))
    rows = np.concatenate([anchors, files.rows])
    start = np.concatenate([values / most if most else values, named])
    parts = [_Part(memory, files.rows[file], weight, TOUCHES)]
    if query.spreading and "spread" not in query.ablate:
        parts += _between_files(working, files)
    activation = spread(_graph(working.rows, parts), (rows, start), _STEPS)
    place = np.searchsorted(files.rows, activation.rows)
    place[place == len(files.rows)] = 0
    is_file = files.rows[place] == activation.rows
    is_file &= activation.values >= params.least * activation.values.max(where=is_file, initial=0.0)
    values, place = activation.values[is_file], place[is_file]
    return best_hits(
        query, files.rows[place], values, {"activation": values, "named": named[place]}, activation
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """Links of one relation: the rows of their ends, and their weights."""

    source: Ints
    target: Ints
    weight: Floats
    relation: str


def _anchors(query: RankingQuery, files: FileIndex, with_paths: Floats) -> tuple[Ints, Floats]:
    """Return the memories that match the task best, of those about files, and the activation that each releases."""
    working = query.working
    match = np.asarray(scaled(with_paths))
    match += scaled(np.where(query.pool, query.evidence.words, 0.0))
    best = best_rows(match, CONSTANTS.anchors)
    rows = working.row[best]
    age = len(files.memories) - 1.0 - np.searchsorted(files.memories, rows)
    return rows, released(match[best], age, CONSTANTS.sharpness, CONSTANTS.decay)


def _with_paths(query: RankingQuery, files: FileIndex) -> Floats:
    """Return BM25 of the task in each memory as if the paths of its files were part of its text."""
    working, lexicon = query.working, query.working.lexicon
    document = working.document[files.memory]
    added = np.bincount(document, files.lengths[files.file], minlength=working.documents)
    lengths = lexicon.length.values + added
    pool = query.pool
    mean = float(lengths[pool].mean()) if pool.any() else 1.0
    norm = np.asarray(length_norm(lengths, mean or 1.0))
    scores = np.zeros(working.documents)
    for term in dict.fromkeys((*query.evidence.terms, *path_terms(query.evidence.text))):
        tf = np.zeros(working.documents)
        code = lexicon.code(term)
        if code is not None:
            postings = lexicon.postings(code)
            tf[postings.rows] = postings.tf
        if term in files.words:
            places, counts = files.words[term]
            by_file = np.zeros(len(files.rows))
            by_file[places] = counts
            tf += np.bincount(document, by_file[files.file], minlength=working.documents)
        holds = np.flatnonzero((tf > 0) & pool)
        if len(holds):
            rarity = np.asarray(idf(len(holds), int(pool.sum())))
            scores[holds] += okapi(tf[holds], norm[holds], rarity)
    return scores


def _between_files(working: WorkingSet, files: FileIndex) -> list[_Part]:
    """Return links among files: one gone passes all to its later name, others a share to those changed with them."""
    topology = working.topology
    together, renamed = links_of(working, CO_CHANGED), links_of(working, RENAMED)
    gone = row_mask(files.rows[files.gone], working.rows)[topology.source[renamed]]
    source, target = topology.source[together], topology.target[together]
    share = CONSTANTS.together * topology.weight[together]
    old, new = topology.source[renamed[gone]], topology.target[renamed[gone]]
    return [
        _Part(
            np.concatenate([source, target]), np.concatenate([target, source]), np.tile(share, 2), CO_CHANGED
        ),
        _Part(old, new, np.ones(len(old)), RENAMED),
    ]


def _graph(rows: int, parts: list[_Part]) -> Graph:
    """Return the links of all parts as a graph."""
    return Graph.from_links(
        rows,
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.weight for part in parts]),
        relation=[part.relation for part in parts for _ in range(len(part.source))],
    )
