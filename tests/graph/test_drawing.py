"""Drawings as text: dot by its grammar, and JSON."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from tests.rows import each_row

from priming.graph.drawing import DrawnNode, GraphDrawing, as_dot, json_text
from priming.types import Link

AT = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
ODD = 'say "hi" \\ back\\" slash\\\nünïcode 𝔘 <b> {x|y} \\N \\l // # /* ; -> [ ] \x1b[31m\x85\u2028end\\'
_TOKEN = re.compile(
    r'\s+|//[^\n]*|/\*.*?\*/|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<plain>[A-Za-z_]\w*|-?[\d.]+)|(?P<sign>->|[{}\[\];=,])',
    re.DOTALL,
)


def tokens(text):
    """The words of a text in dot; whatever is none is an error, as an open quote would be."""
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        assert match, f"no dot from here: {text[place : place + 40]!r}"
        place = match.end()
        if match.lastgroup:
            yield match.lastgroup, match.group()


def parsed(text):
    """The nodes and edges of a digraph, with their attributes, by the grammar of dot."""
    words = list(tokens(text))
    assert [item for _, item in words[:3]] == ["digraph", "priming", "{"]
    assert words[-1] == ("sign", "}")
    nodes, edges, i = {}, [], 3
    while i < len(words) - 1:
        ends, i = [name(words[i])], i + 1
        while words[i] == ("sign", "->"):
            ends, i = [*ends, name(words[i + 1])], i + 2
        attributes = {}
        assert words[i] == ("sign", "[")
        i += 1
        while words[i] != ("sign", "]"):
            assert words[i + 1] == ("sign", "=")
            attributes[name(words[i])] = label(words[i + 2])
            i += 4 if words[i + 3] == ("sign", ",") else 3
        assert words[i + 1] == ("sign", ";")
        i += 2
        if len(ends) == 1:
            nodes[ends[0]] = attributes
        else:
            edges.append((*ends, attributes))
    return nodes, edges


def name(word):
    """An ID as Graphviz compares it: only a quote is escaped."""
    kind, text = word
    assert kind in ("quoted", "plain")
    return text[1:-1].replace('\\"', '"') if kind == "quoted" else text


def label(word):
    """A label as Graphviz shows it: an escString, where a backslash escapes what follows."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), name(word), flags=re.DOTALL)


def node(key, text="A text.", **more):
    return DrawnNode(key, more.pop("kind", "episode"), "active", text, text, **more)


def drawing(*nodes, links=()):
    return GraphDrawing("default", tuple(nodes), tuple(links))


def link(source, target, relation="next", weight=0.5):
    return Link(source, target, relation, weight, AT, given=True)


def test_dot_has_every_node_and_every_link():
    nodes, edges = parsed(
        as_dot(drawing(node("a"), node("b", kind="entity"), links=[link("a", "b", weight=1.0)]))
    )
    assert nodes.pop("node")["shape"] == "box"
    assert set(nodes) == {"a", "b"}
    assert (nodes["a"]["class"], nodes["b"]["shape"]) == ("episode", "ellipse")
    ((source, target, attributes),) = edges
    assert (source, target, attributes["label"]) == ("a", "b", "next")
    assert (attributes["weight"], attributes["penwidth"]) == ("10", "4.00")


def test_dot_survives_every_odd_text():
    nodes, edges = parsed(
        as_dot(drawing(node('k"\\', ODD), node("k\\\\"), links=[link('k"\\', "k\\\\", 'r"\\')]))
    )
    assert len(nodes) == 3
    shown = next(attributes for key, attributes in nodes.items() if key.startswith('k"'))
    assert shown["tooltip"] == ODD.translate(dict.fromkeys((0x1B, 0x85, 0x2028), "�"))
    assert edges[0][0] in nodes
    assert edges[0][1] in nodes
    assert edges[0][2]["label"] == 'r"\\'


@each_row("key", ["a b", "node", "graph", "strict", "1.5", "ключ", "<b>", "a:b:c", "//", "#"])
def test_a_key_that_is_a_word_of_dot_is_still_a_key(key):
    text = as_dot(drawing(node(key), node("other"), links=[link(key, "other")]))
    assert f'  "{key}" [label=' in text
    assert f'  "{key}" -> "other" [' in text


def test_a_heading_names_a_node_and_a_long_gist_is_cut():
    nodes, _ = parsed(as_dot(drawing(node("a", heading="Head\nline"), node("b", "word " * 40))))
    assert nodes["a"]["label"] == "Head line"
    assert len(nodes["b"]["label"]) <= 60
    assert nodes["b"]["label"].endswith("word…")


def test_a_wider_line_is_a_heavier_link():
    _, edges = parsed(
        as_dot(drawing(node("a"), node("b"), links=[link("a", "b", weight=w) for w in (0, 0.5, 1)]))
    )
    assert [edge["penwidth"] for *_, edge in edges] == ["0.50", "2.25", "4.00"]


def test_json_holds_the_texts_as_they_are():
    value = json.loads(json_text(drawing(node("a", ODD), links=[link("a", "a")])))
    assert value["nodes"][0]["content"] == ODD
    assert value["links"][0] == {
        "source": "a",
        "target": "a",
        "relation": "next",
        "weight": 0.5,
        "created_at": AT.isoformat(),
        "last_activated": None,
        "given": True,
        "sign": 1,
        "message": None,
    }
