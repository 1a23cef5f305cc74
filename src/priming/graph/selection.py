"""graph: which memories and links to draw, of all or around one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from priming.config.words import FORMATS, KINDS
from priming.core.arguments.checks import PAGE_LIMIT, check_choice, check_count, check_time
from priming.core.bitemporal import visible
from priming.errors import ParamError
from priming.graph import export
from priming.graph.export import DrawnNode, GraphDrawing
from priming.history.weights_over_time import links_at
from priming.namespace import Namespace
from priming.storage.rows import LinkRow, MemoryRow, record
from priming.types import MemoryRecord

ENTITY = "entity"
WRITERS: Mapping[str, Callable[[GraphDrawing], str]] = {
    "dot": export.as_dot,
    "json": export.json_text,
    "html": export.as_html,
}


def graph(
    memory: Namespace,
    format: str = "dot",
    *,
    key: str | None = None,
    depth: int = 2,
    limit: int = 500,
    kinds: Sequence[str] | None = None,
    known_at: datetime | None = None,
) -> str:
    """Draw active memories and the links between them: ``dot`` for Graphviz, ``json``, or a ``html`` page.

    It draws the ``limit`` memories with the most links, or those within ``depth`` links of ``key``, the nearest
    first. ``kinds`` keeps only these; ``known_at`` draws links and texts as they were then. Names that nothing
    drawn is linked to are left out.

    Raises:
        NotFound: no such memory.
        ParamError: an argument outside its range.

    """
    writer = WRITERS[check_choice("format", format, FORMATS)]
    return writer(select_subgraph(memory, key=key, depth=depth, limit=limit, kinds=kinds, known_at=known_at))


def select_subgraph(
    memory: Namespace,
    *,
    key: str | None = None,
    depth: int = 2,
    limit: int = 500,
    kinds: Sequence[str] | None = None,
    known_at: datetime | None = None,
) -> GraphDrawing:
    """Choose what to draw: the most linked memories, or those within ``depth`` links of one."""
    depth, limit = check_count("depth", depth, 0, PAGE_LIMIT), check_count("limit", limit, 1, PAGE_LIMIT)
    wanted = _kinds(kinds)
    at = None if known_at is None else check_time("known_at", known_at)
    with memory.reading():
        centre = None if key is None else memory.find(key)
        rows = {
            row.id: row
            for row in memory.store.memories(memory.namespace)
            if (row.status == "active" and row.kind in wanted) or (centre and row.id == centre.id)
        }
        links = [one for one in _links(memory, at) if one.source in rows and one.target in rows]
        degree = Counter(end for one in links for end in (one.source, one.target))
        if centre is None:
            order = sorted(_shown(rows, degree), key=lambda one: -degree[one])
        else:
            order = _around(centre.id, links, depth)
        chosen = order[:limit]
        records = _records(memory, chosen, at)
        return _drawing(memory, records, links, len(order) - len(chosen), centre, at)


def _kinds(kinds: Sequence[str] | None) -> Collection[str]:
    if kinds is None:
        return KINDS
    if isinstance(kinds, str):
        raise ParamError("kinds", kinds, "must be a list of kinds")
    return {check_choice("kinds", one, KINDS) for one in kinds}


def _links(memory: Namespace, at: datetime | None) -> Sequence[LinkRow]:
    return memory.store.links(memory.namespace) if at is None else links_at(memory, at)


def _shown(rows: Mapping[str, MemoryRow], degree: Mapping[str, int]) -> list[str]:
    """The memories to choose from: a name that is linked to nothing says nothing."""
    return [one for one, row in rows.items() if row.kind != ENTITY or degree[one]]


def _around(centre: str, links: Sequence[LinkRow], depth: int) -> list[str]:
    """What is within ``depth`` links of a memory, in either direction: nearest first, then by the strongest link."""
    beside: dict[str, list[LinkRow]] = {}
    for one in links:
        beside.setdefault(one.source, []).append(one)
        beside.setdefault(one.target, []).append(one)
    found, edge = [centre], [centre]
    seen = {centre}
    for _ in range(depth):
        strongest: dict[str, float] = {}
        for here in edge:
            for one in beside.get(here, ()):
                there = one.target if one.source == here else one.source
                if there not in seen:
                    strongest[there] = max(strongest.get(there, 0.0), one.weight)
        if not strongest:
            break
        edge = sorted(strongest, key=lambda one: (-strongest[one], one))
        seen.update(edge)
        found += edge
    return found


def _records(memory: Namespace, ids: Sequence[str], at: datetime | None) -> list[MemoryRecord]:
    """The memories in the version of now, or in the one that was known and valid then."""
    now = memory.now()
    if at is None:
        found = memory.store.records(memory.namespace, ids, now)
        return [found[one] for one in ids if one in found]
    memories = {row.id: row for row in memory.store.memories(memory.namespace, ids)}
    then = []
    for one in ids:
        versions = memory.store.versions(memory.namespace, one)
        known = [row for row in versions if visible(row, valid_at=at, known_at=at)]
        then += [record(memory.namespace, memories[one], known[-1])] if known else []
    return then


def _drawing(
    memory: Namespace,
    records: Sequence[MemoryRecord],
    links: Sequence[LinkRow],
    left_out: int,
    centre: MemoryRecord | None,
    at: datetime | None,
) -> GraphDrawing:
    drawn = {one.id for one in records}
    between = [one for one in links if one.source in drawn and one.target in drawn]
    degree = Counter(end for one in between for end in (one.source, one.target))
    bare = {one.id for one in records if one.kind == ENTITY and not degree[one.id]}
    bare -= set() if centre is None else {centre.id}
    nodes = tuple(_drawn_node(one, degree[one.id]) for one in records if one.id not in bare)
    key = None if centre is None else centre.key
    return GraphDrawing(memory.namespace, nodes, memory.to_links(between), left_out, key, at)


def _drawn_node(one: MemoryRecord, links: int) -> DrawnNode:
    return DrawnNode(
        key=one.key,
        kind=one.kind,
        status=one.status,
        gist=one.gist,
        content=one.content,
        heading=one.heading,
        speaker=one.speaker,
        session=one.session,
        occurred_at=one.occurred_at,
        uses=one.use.uses,
        links=links,
    )
