"""graph: selects the memories and links to draw, and writes the drawing as Graphviz's dot or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from priming.config.values import dataclass
from priming.config.words import FORMATS, KINDS
from priming.core.arguments.checks import (
    PAGE_LIMIT,
    absent_if_empty,
    check_choice,
    check_choices,
    check_count,
    check_time,
)
from priming.core.bitemporal import visible
from priming.history.weights_over_time import links_at
from priming.namespace import Namespace
from priming.results import no_memories
from priming.serialization import encode
from priming.storage.rows import LinkRow, MemoryRow, VersionRow, record
from priming.text.quotation import one_line, without_hidden
from priming.text.quotation import visible as visible_text
from priming.types import Link, MemoryRecord

ENTITY = "entity"
_LABEL_LETTERS = 60
_WIDEST, _THINNEST, _STIFFEST = 4.0, 0.5, 10
_SHAPES = {"entity": "ellipse"}


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
    """Draw active memories and the links between them, as ``dot`` for Graphviz or ``json``.

    The drawing holds the ``limit`` memories with the most links, or those within ``depth`` links of ``key``, the
    nearest first. ``kinds`` restricts it to these kinds; ``known_at`` draws links and texts as they were at that
    time. Names without a link in the drawing are left out.

    Raises:
        NotFound: the memory does not exist.
        ParamError: an argument is outside its range.

    """
    writer = WRITERS[check_choice("format", format, FORMATS)]
    depth, limit = check_count("depth", depth, 0, PAGE_LIMIT), check_count("limit", limit, 1, PAGE_LIMIT)
    drawn_kinds = _check_kinds(kinds)
    at = None if known_at is None else check_time("known_at", known_at)
    with memory.reading():
        centre = None if key is None else memory.find(key)
        rows = {
            row.id: row
            for row in memory.rows(MemoryRow)
            if (row.status == "active" and row.kind in drawn_kinds) or (centre and row.id == centre.id)
        }
        links = [link for link in _links(memory, at) if link.source in rows and link.target in rows]
        degree = Counter(end for link in links for end in (link.source, link.target))
        if centre is None:
            order = sorted(_candidates(rows, degree), key=lambda memory_id: -degree[memory_id])
        else:
            order = _neighbourhood(centre.id, links, depth)
        records = _records(memory, order[:limit], at)
        return writer(_drawing(memory, records, links, max(len(order) - limit, 0), centre, at))


def _check_kinds(kinds: Sequence[str] | None) -> Collection[str]:
    kinds = absent_if_empty(kinds)
    return KINDS if kinds is None else check_choices("kinds", kinds, KINDS)


def _links(memory: Namespace, at: datetime | None) -> Sequence[LinkRow]:
    return memory.rows(LinkRow) if at is None else links_at(memory, at)


def _candidates(rows: Mapping[str, MemoryRow], degree: Mapping[str, int]) -> list[str]:
    """Return the ids of all memories that may be drawn: names without links are not."""
    return [memory_id for memory_id, row in rows.items() if row.kind != ENTITY or degree[memory_id]]


def _neighbourhood(centre: str, links: Sequence[LinkRow], depth: int) -> list[str]:
    """Return ids within ``depth`` links in either direction, nearest first, then those with the strongest link."""
    incident: dict[str, list[LinkRow]] = {}
    for link in links:
        incident.setdefault(link.source, []).append(link)
        incident.setdefault(link.target, []).append(link)
    reached, frontier = [centre], [centre]
    seen = {centre}
    for _ in range(depth):
        strongest: dict[str, float] = {}
        for node in frontier:
            for link in incident.get(node, ()):
                neighbour = link.target if link.source == node else link.source
                if neighbour not in seen:
                    strongest[neighbour] = max(strongest.get(neighbour, 0.0), link.weight)
        if not strongest:
            break
        frontier = sorted(strongest, key=lambda node: (-strongest[node], node))
        seen.update(frontier)
        reached += frontier
    return reached


def _records(memory: Namespace, ids: Sequence[str], at: datetime | None) -> list[MemoryRecord]:
    """Return the memories in their current version, or in the version that was known and valid at a time."""
    if at is None:
        return list(memory.records(memory.now(), ids=ids).values())
    memories = {row.id: row for row in memory.rows(MemoryRow, ids=ids)}
    records = []
    for memory_id in ids:
        versions = memory.rows(VersionRow, ids=[memory_id])
        at_time = [row for row in versions if visible(row, valid_at=at, known_at=at)]
        records += [record(memory.namespace, memories[memory_id], at_time[-1])] if at_time else []
    return records


def _drawing(
    memory: Namespace,
    records: Sequence[MemoryRecord],
    links: Sequence[LinkRow],
    left_out: int,
    centre: MemoryRecord | None,
    at: datetime | None,
) -> GraphDrawing:
    drawn = {node.id for node in records}
    between = [link for link in links if link.source in drawn and link.target in drawn]
    degree = Counter(end for link in between for end in (link.source, link.target))
    bare = {node.id for node in records if node.kind == ENTITY and not degree[node.id]}
    bare -= set() if centre is None else {centre.id}
    nodes = tuple(_drawn_node(node, degree[node.id]) for node in records if node.id not in bare)
    key = None if centre is None else centre.key
    # The drawing may be handed on: it names no other namespace.
    reason = no_memories(memory.namespace) if not nodes and memory.empty_reason() else None
    return GraphDrawing(memory.namespace, nodes, memory.to_links(between), left_out, key, at, reason)


def _drawn_node(record: MemoryRecord, links: int) -> DrawnNode:
    return DrawnNode(
        key=record.key,
        kind=record.kind,
        status=record.status,
        gist=record.gist,
        content=record.content,
        heading=record.heading,
        speaker=record.speaker,
        session=record.session,
        occurred_at=record.occurred_at,
        uses=record.use.uses,
        links=links,
    )


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A memory in a drawing; ``links`` counts its links in the drawing, in both directions."""

    key: str
    kind: str
    status: str
    gist: str
    content: str
    heading: str | None = None
    speaker: str | None = None
    session: str | None = None
    occurred_at: datetime | None = None
    uses: int = 0
    links: int = 0


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """Memories and the links between them, the most linked first.

    ``around`` is the key of the memory in the centre, if any; ``left_out`` counts the memories beyond the limit.
    """

    namespace: str
    nodes: tuple[DrawnNode, ...]
    links: tuple[Link, ...]
    left_out: int = 0
    around: str | None = None
    known_at: datetime | None = None
    reason: str | None = None
    """Why the drawing is empty."""


def as_dot(drawing: GraphDrawing) -> str:
    """Return a directed graph in Graphviz's language; nodes are named by their keys."""
    lines = ["digraph priming {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    lines += [
        f"  {_quoted(node.key)} [label={_quoted(_label(node))}, class={_quoted(node.kind)}"
        f", shape={_SHAPES.get(node.kind, 'box')}, tooltip={_quoted(node.gist)}];"
        for node in drawing.nodes
    ]
    lines += [
        f"  {_quoted(link.source)} -> {_quoted(link.target)}"
        f" [label={_quoted(link.relation)}, weight={1 + round((_STIFFEST - 1) * link.weight)}"
        f", penwidth={_width(link.weight)}, tooltip={_quoted(f'{link.relation} {link.weight:.2f}')}"
        f"{'' if link.sign > 0 else ', arrowhead=tee, style=dashed'}];"
        for link in drawing.links
    ]
    notes = [] if drawing.reason is None else [f"  // {' '.join(without_hidden(drawing.reason).split())}"]
    return "\n".join([*lines, *notes, "}", ""])


def _quoted(text: str) -> str:
    """Return a quoted string of dot: backslashes, quotes and line ends are escaped, control characters replaced."""
    plain = without_hidden(text.replace("\r\n", "\n").replace("\t", " "))
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _width(weight: float) -> str:
    return f"{_THINNEST + (_WIDEST - _THINNEST) * weight:.2f}"


def _label(node: DrawnNode) -> str:
    """Return the label of a node in a drawing: its heading, else the beginning of its gist."""
    return one_line(node.heading or node.gist, _LABEL_LETTERS)


def json_text(drawing: GraphDrawing) -> str:
    """Return a drawing as the text of one JSON object."""
    return visible_text(json.dumps(encode(drawing), ensure_ascii=False, indent=1)) + "\n"


WRITERS: Mapping[str, Callable[[GraphDrawing], str]] = {"dot": as_dot, "json": json_text}
