"""Files that a task will touch: activation is released from memories to files (``docs/files.md``)."""

from __future__ import annotations

import numpy as np

from priming.config.params.files import FILES
from priming.config.params.laws import SpreadParams
from priming.config.values import dataclass
from priming.config.words import CO_CHANGED, RENAMED, TOUCHES
from priming.core.arguments.arrays import Floats, Ints, best_rows
from priming.core.graph import Graph
from priming.core.lexical import idf, length_norm, okapi, scaled
from priming.core.spread import spread
from priming.index.working_set import WorkingSet
from priming.recall.files.index import FileIndex, links_of, row_mask
from priming.recall.files.law import divided, lifted, named_files, path_terms, released
from priming.recall.ranking import Ranked, RankingQuery, best_hits

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
    activation = spread(_graph(working.rows, parts), (rows, start), _STEPS, record_flow=True)
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
    """The memories that match the task best, of those that concern files, and the activation that each releases."""
    working = query.working
    match = np.asarray(scaled(with_paths))
    match += scaled(np.where(query.pool, query.evidence.words, 0.0))
    best = best_rows(match, CONSTANTS.anchors)
    rows = working.row[best]
    age = len(files.memories) - 1.0 - np.searchsorted(files.memories, rows)
    return rows, released(match[best], age, CONSTANTS.sharpness, CONSTANTS.decay)


def _with_paths(query: RankingQuery, files: FileIndex) -> Floats:
    """BM25 of the task in each memory as if the paths of its files were part of its text."""
    working, lexicon = query.working, query.working.lexicon
    document = working.document[files.memory]
    added = np.bincount(document, files.lengths[files.file], minlength=working.documents)
    lengths = lexicon.length.values + added
    pool = query.pool
    mean = float(lengths[pool].mean()) if pool.any() else 1.0
    norm = np.asarray(length_norm(lengths, mean or 1.0))
    scores = np.zeros(working.documents)
    for term in dict.fromkeys((*query.evidence.terms.ordered, *path_terms(query.evidence.text))):
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
    """The links among files: a gone file passes all to its later name, others a share to those changed with them."""
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
    """The links of all parts as a graph."""
    return Graph.from_links(
        rows,
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.weight for part in parts]),
        relation=[part.relation for part in parts for _ in range(len(part.source))],
    )
