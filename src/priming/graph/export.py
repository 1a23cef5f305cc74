"""A drawing as text: Graphviz's dot, JSON, or one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from datetime import datetime
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from priming.config.words import KINDS
from priming.graph.layout import positions
from priming.types import Link

TEMPLATE = "templates/graph.html"

_LABEL_LETTERS, _PAGE_LABEL_LETTERS = 60, 28
_WIDEST, _THINNEST, _STIFFEST = 4.0, 0.5, 10
_SMALLEST, _GROWTH, _BELOW = 5.0, 1.5, 11.0
"""The radius of a memory without links, what it grows by, and how far below the circle its name stands."""
_MANY = 150
"""From so many links on a page draws them thinner, so that what they join is still seen."""
_UNIT, _MARGIN = 34.0, 0.08
"""A unit of the layout in units of the page, and the empty edge of the map as a share of it."""
_SHAPES = {"entity": "ellipse"}
_UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_BLOCK = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)


def as_dot(drawing: GraphDrawing) -> str:
    """A directed graph in the language of Graphviz; nodes are named by their keys."""
    lines = ["digraph priming {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    lines += [
        f"  {_quoted(one.key)} [label={_quoted(_named(one, _LABEL_LETTERS))}, class={_quoted(one.kind)}"
        f", shape={_SHAPES.get(one.kind, 'box')}, tooltip={_quoted(one.gist)}];"
        for one in drawing.nodes
    ]
    lines += [
        f"  {_quoted(one.source)} -> {_quoted(one.target)}"
        f" [label={_quoted(one.relation)}, weight={1 + round((_STIFFEST - 1) * one.weight)}"
        f", penwidth={_width(one.weight)}, tooltip={_quoted(f'{one.relation} {one.weight:.2f}')}];"
        for one in drawing.links
    ]
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    """A text in quotes as dot reads it: backslashes and quotes escaped, lines kept, what cannot be seen replaced."""
    plain = _UNSEEN.sub("�", text.replace("\r\n", "\n").replace("\t", " "))
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _width(weight: float, links: int = 0) -> str:
    thin = min(1.0, np.sqrt(_MANY / max(links, 1)))
    return f"{thin * (_THINNEST + (_WIDEST - _THINNEST) * weight):.2f}"


def _named(one: DrawnNode, letters: int) -> str:
    """What a node is called in a drawing: its heading, else the beginning of its gist."""
    name = " ".join((one.heading or one.gist).split())
    return name if len(name) <= letters else name[: letters - 1].rstrip() + "…"


def json_text(drawing: GraphDrawing) -> str:
    """One JSON object: nodes, links, and what they were drawn from."""
    return json.dumps(as_json(drawing), ensure_ascii=False, indent=1) + "\n"


def as_json(drawing: GraphDrawing) -> dict[str, Any]:
    """A drawing as JSON holds it."""
    return {
        "namespace": drawing.namespace,
        "around": drawing.around,
        "known_at": _time(drawing.known_at),
        "left_out": drawing.left_out,
        "nodes": [_node(one) for one in drawing.nodes],
        "links": [_link(one) for one in drawing.links],
    }


def _node(one: DrawnNode) -> dict[str, Any]:
    return {
        "key": one.key,
        "kind": one.kind,
        "status": one.status,
        "heading": one.heading,
        "speaker": one.speaker,
        "gist": one.gist,
        "content": one.content,
        "session": one.session,
        "occurred_at": _time(one.occurred_at),
        "uses": one.uses,
        "links": one.links,
    }


def _link(one: Link) -> dict[str, Any]:
    return {
        "source": one.source,
        "target": one.target,
        "relation": one.relation,
        "weight": one.weight,
        "given": one.given,
        "created_at": _time(one.created_at),
        "last_activated": _time(one.last_activated),
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def as_html(drawing: GraphDrawing) -> str:
    """One page with the map in it, which asks no network for anything and shows without scripting too."""
    page = files("priming.graph").joinpath(TEMPLATE).read_text("utf-8")
    view, shapes = _svg(drawing)
    fill = {
        "policy": _policy(page),
        "title": escape(_title(drawing)),
        "summary": escape(_summary(drawing)),
        "legend": _legend(drawing),
        "view": view,
        "shapes": shapes,
        "data": _in_script(as_json(drawing)),
    }
    return _PLACE.sub(lambda found: fill[found[1]], page)


def _policy(page: str) -> str:
    """Only the style and the script of the template itself may run, and nothing may be fetched."""
    own = {name: _digest(text) for name, text in _BLOCK.findall(page)}
    return (
        f"default-src 'none'; style-src {own['style']}; script-src {own['script']}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _in_script(value: Any) -> str:
    """JSON that cannot end the element that it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _title(drawing: GraphDrawing) -> str:
    return f"{drawing.around or drawing.namespace} · Priming"


def _summary(drawing: GraphDrawing) -> str:
    memories, links = len(drawing.nodes), len(drawing.links)
    parts = [
        f"{memories:,} {'memory' if memories == 1 else 'memories'}, {links:,} {'link' if links == 1 else 'links'}"
    ]
    if drawing.around is not None:
        parts.append(f"around {drawing.around}")
    if drawing.known_at is not None:
        parts.append(f"as of {drawing.known_at:%Y-%m-%d %H:%M} UTC")
    if drawing.left_out:
        parts.append(f"{drawing.left_out:,} more are not shown")
    return "; ".join(parts)


def _legend(drawing: GraphDrawing) -> str:
    present = {one.kind for one in drawing.nodes}
    return "".join(
        f'<li><svg width="12" height="12" aria-hidden="true"><circle class="dot {kind}" cx="6" cy="6" r="5"/></svg>'
        f"{kind}</li>"
        for kind in KINDS
        if kind in present
    )


def _svg(drawing: GraphDrawing) -> tuple[str, str]:
    """The map's view box, and its links, nodes and names."""
    row = {one.key: i for i, one in enumerate(drawing.nodes)}
    source = np.array([row[one.source] for one in drawing.links], np.int64)
    target = np.array([row[one.target] for one in drawing.links], np.int64)
    weight = np.array([one.weight for one in drawing.links], np.float64)
    at = positions(len(row), source, target, weight) * _UNIT
    low, high = (at.min(axis=0), at.max(axis=0)) if len(at) else (np.zeros(2), np.zeros(2))
    edge = _UNIT + _MARGIN * (high - low).max()
    wide, tall = high - low + 2 * edge
    lines = [
        f'<line class="{"made" if one.given else "found"}" x1="{at[s][0]:.1f}" y1="{at[s][1]:.1f}"'
        f' x2="{at[t][0]:.1f}" y2="{at[t][1]:.1f}" stroke-width="{_width(one.weight, len(drawing.links))}"/>'
        for one, s, t in zip(drawing.links, source, target, strict=True)
    ]
    dots = [_dot(one, x, y) for one, (x, y) in zip(drawing.nodes, at, strict=True)]
    names = [
        f'<text x="{x:.1f}" y="{y + _radius(one) + _BELOW:.1f}">{escape(_named(one, _PAGE_LABEL_LETTERS))}</text>'
        for one, (x, y) in zip(drawing.nodes, at, strict=True)
    ]
    shapes = [f'<g id="links">{"".join(lines)}</g>', f'<g id="nodes">{"".join(dots)}</g>']
    view = f"{low[0] - edge:.0f} {low[1] - edge:.0f} {wide:.0f} {tall:.0f}"
    return view, "\n".join([*shapes, f'<g id="names">{"".join(names)}</g>'])


def _dot(one: DrawnNode, x: float, y: float) -> str:
    faded = "" if one.status == "active" else " resting"
    return (
        f'<circle class="dot {one.kind}{faded}" cx="{x:.1f}" cy="{y:.1f}" r="{_radius(one):.1f}" tabindex="0"'
        f' role="button" aria-label="{escape(f"{one.kind} {one.key}")}"><title>{escape(one.gist)}</title></circle>'
    )


def _radius(one: DrawnNode) -> float:
    """A circle whose area grows with the number of links."""
    return float(_SMALLEST + _GROWTH * np.sqrt(one.links))


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A memory as it is drawn: ``links`` counts those in the drawing, to either side."""

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
    """Memories and the links between them, most linked first.

    ``around`` is the key that it is drawn around; ``left_out`` counts the memories for which there was no room.
    """

    namespace: str
    nodes: tuple[DrawnNode, ...]
    links: tuple[Link, ...]
    left_out: int = 0
    around: str | None = None
    known_at: datetime | None = None
