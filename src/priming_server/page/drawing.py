"""The graph as the page draws it: keys, kinds and weights without texts, since it may have thousands of nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from priming.core.arguments.checks import check_count, check_time
from priming.graph.drawing import ENTITY
from priming.history.weights_over_time import links_at
from priming.namespace import Namespace
from priming.storage.rows import LinkRow, MemoryRow
from priming.verbs.op import Op

DRAWING = Op("drawing", "priming_server.page.drawing", "care")
"""It is checked as the operations of the table are, but it is no verb: only the page asks for it."""
MOST = 50_000
"""Nodes of a drawing."""


def drawing(
    memory: Namespace,
    *,
    keys: Sequence[str] | None = None,
    limit: int = MOST,
    known_at: datetime | None = None,
) -> dict[str, Any]:
    """Return active memories and the links between them: ``nodes``, ``links``, ``relations`` and ``left_out``.

    A node is its key, kind and weight; a link the numbers of its nodes and of its relation, and its weight; a
    relation its name and sign; ``left_out`` is how many nodes there are beyond the limit.

    Args:
        keys: only these memories, whatever their status.
        limit: maximum number of nodes, those with the most links.
        known_at: with the links of that time.

    Raises:
        ParamError: an argument is outside its range.

    """
    limit = check_count("limit", limit, 1, MOST)
    at = None if known_at is None else check_time("known_at", known_at)
    with memory.reading():
        ids = None if keys is None else [*memory.names(keys=keys)]
        rows = memory.rows(MemoryRow, ids=ids)
        nodes = {row.id: row for row in rows if ids is not None or row.status == "active"}
        links = [link for link in _links(memory, ids, at) if link.source in nodes and link.target in nodes]
        signs = memory.signs()
    degree = Counter(end for link in links for end in (link.source, link.target))
    drawn = [row for row in nodes.values() if ids is not None or row.kind != ENTITY or degree[row.id]]
    chosen = sorted(drawn, key=lambda row: -degree[row.id])[:limit]
    node = {row.id: number for number, row in enumerate(chosen)}
    between = [link for link in links if link.source in node and link.target in node]
    relation = {name: number for number, name in enumerate(sorted({link.relation for link in between}))}
    return {
        "nodes": [[row.key, row.kind, row.weight] for row in chosen],
        "links": [
            [node[link.source], node[link.target], relation[link.relation], link.weight] for link in between
        ],
        "relations": [[name, signs.sign(name)] for name in relation],
        "left_out": len(drawn) - len(chosen),
    }


def _links(memory: Namespace, ids: Collection[str] | None, at: datetime | None) -> Sequence[LinkRow]:
    """Return the links between some memories, now or as of a time."""
    if at is not None:
        return links_at(memory, at)
    if ids is None:
        return memory.rows(LinkRow)
    return memory.rows(LinkRow, ids=ids, both=True)
