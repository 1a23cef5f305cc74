"""Files that a task will touch: activation is released from memories to files (``docs/files.md``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from priming.config.params.files import FILES, FileParams
from priming.config.params.laws import SpreadParams
from priming.config.words import CO_CHANGED, RENAMED, TOUCHES
from priming.core.arguments.arrays import Floats, Ints
from priming.core.graph import Graph
from priming.core.spread import spread
from priming.index.working_set import WorkingSet
from priming.recall.files.law import divided, named_files, released, shared_words
from priming.recall.files.links import FileLinks, file_links, links_of
from priming.recall.fusion import best_rows
from priming.recall.ranking import Ranked, RankingQuery, best_hits
from priming.remember.files import file_key

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


def rank_files(query: RankingQuery) -> Ranked:
    """Rank the files that a task will touch (``docs/files.md``)."""
    working, links, params = query.working, file_links(query.working), CONSTANTS
    anchors, values = _anchors(query, links, params)
    active = np.zeros(working.rows)
    active[anchors] = values
    carries = active[links.memory] > 0
    memory, file = links.memory[carries], links.file[carries]
    weight = divided(links.weight[carries], links.fan[carries], params.fan)
    most = float(np.bincount(file, active[memory] * weight, minlength=1).max(initial=0.0))
    names = query.keys(links.rows)
    paths = [names[row].removeprefix(file_key("")) for row in links.rows.tolist()]
    text = query.evidence.text
    words = params.words * shared_words(text, paths)
    named = named_files(text, paths, params.stem)
    rows = np.concatenate([anchors, links.rows])
    start = np.concatenate([values / most if most else values, words + named])
    parts = [_Part(memory, file, weight, TOUCHES)]
    if query.spreading and "spread" not in query.ablate:
        parts += _between_files(working, links, params)
    activation = spread(_graph(working.rows, parts), (rows, start), _STEPS, record_flow=True)
    place = np.searchsorted(links.rows, activation.rows)
    place[place == len(links.rows)] = 0
    is_file = links.rows[place] == activation.rows if len(links.rows) else np.zeros(0, np.bool_)
    place = place[is_file]
    values = activation.values[is_file]
    components = {"activation": values, "words": words[place], "named": named[place]}
    return best_hits(query, activation.rows[is_file], values, components, activation)


@dataclass(frozen=True, slots=True)
class _Part:
    """Links of one relation: the rows of their ends, and their weights."""

    source: Ints
    target: Ints
    weight: Floats
    relation: str


def _anchors(query: RankingQuery, links: FileLinks, params: FileParams) -> tuple[Ints, Floats]:
    """The memories that match the task best, of those that concern files, and the activation that each releases."""
    match = np.where(query.pool, query.evidence.match, 0.0)
    best = best_rows(match, params.anchors)
    rows = query.working.row[best]
    every = np.unique(links.memory)
    age = len(every) - 1.0 - np.searchsorted(every, rows)
    return rows, released(match[best], age, params.sharpness, params.decay)


def _between_files(working: WorkingSet, links: FileLinks, params: FileParams) -> list[_Part]:
    """The links among files: a gone file passes all to its later name, others a share to those changed with them."""
    topology = working.topology
    together, renamed = links_of(working, CO_CHANGED), links_of(working, RENAMED)
    gone = np.isin(topology.source[renamed], links.rows[links.gone])
    source, target = topology.source[together], topology.target[together]
    share = params.together * topology.weight[together]
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
