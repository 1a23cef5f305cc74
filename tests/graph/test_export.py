"""Drawings as text: dot by its grammar, JSON, and the page as it is written; a browser looks at it elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from priming.graph.export import DrawnNode, GraphDrawing, as_dot, as_html, json_text
from priming.types import Link

AT = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
ODD = 'say "hi" \\ back\\" slash\\\nünïcode 𝔘 <b> {x|y} \\N \\l // # /* ; -> [ ] \x1b[31m\x85\u2028end\\'
MARKUP = "</script><script>alert(1)</script></title><img src=x onerror=alert(1)>&lt;<!--]]>\u2028{{data}}"
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


@pytest.mark.parametrize("key", ["a b", "node", "graph", "strict", "1.5", "ключ", "<b>", "a:b:c", "//", "#"])
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
        "sign": 1,
        "given": True,
        "created_at": AT.isoformat(),
        "last_activated": None,
    }


class Reader(HTMLParser):
    """What a browser would make of a page: its elements, and the texts of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.opened = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.opened = (tag, len([item for item, _ in self.elements if item == tag]) - 1)

    def handle_endtag(self, _tag):
        self.opened = None

    def handle_data(self, data):
        if self.opened is not None:
            self.texts[self.opened] = self.texts.get(self.opened, "") + data

    def all(self, tag):
        return [attributes for item, attributes in self.elements if item == tag]


def test_texts_in_the_page_are_data():
    page = Reader(
        as_html(drawing(node(MARKUP, MARKUP, heading=MARKUP), node("b"), links=[link(MARKUP, "b", MARKUP)]))
    )
    assert len(page.all("script")) == 2
    assert page.all("img") == []
    assert page.all("title")  # of the page and of the circles; none was ended early
    data = json.loads(page.texts["script", 0])
    assert data["nodes"][0]["content"] == MARKUP
    assert data["links"][0]["relation"] == MARKUP
    labels = [element["aria-label"] for element in page.all("circle") if "aria-label" in element]
    assert labels == [f"episode {MARKUP}".replace("\u2028", "\ufffd"), "episode b"]


def test_the_page_names_no_address_and_fetches_nothing():
    text = as_html(drawing(node("a"), node("b"), links=[link("a", "b")]))
    page = Reader(text)
    assert not re.search(r"https?://|//[a-z]", re.sub(r"// .*", "", text))
    for _, attributes in page.elements:
        assert not {"src", "href", "srcset", "action", "style", "onclick", "onload"} & set(attributes)
    assert {tag for tag, _ in page.elements} & {"link", "iframe", "object", "base", "form"} == set()


def test_the_policy_allows_only_the_style_and_the_script_that_are_ours():
    page = Reader(as_html(drawing(node("a", "<style>*{}</style><script>x</script>"))))
    (policy,) = [element["content"] for element in page.all("meta") if "http-equiv" in element]
    allowed = dict(item.strip().split(" ", 1) for item in policy.split(";"))
    assert allowed["default-src"] == "'none'"
    for directive, key in (("style-src", ("style", 0)), ("script-src", ("script", 1))):
        digest = base64.b64encode(hashlib.sha256(page.texts[key].encode()).digest()).decode()
        assert allowed[directive] == f"'sha256-{digest}'"


def test_the_page_says_what_it_was_drawn_from_and_what_it_leaves_out():
    whole = GraphDrawing("work", (node("a"),), (), left_out=1200, around="a", known_at=AT)
    text = as_html(whole)
    assert "1 memory, 0 links; around a; as of 2024-05-17 09:30 UTC; 1,200 more are not shown" in text
    assert "<title>a · Priming</title>" in text


def test_the_legend_has_the_kinds_that_are_drawn():
    text = as_html(drawing(node("a"), node("b", kind="behavior")))
    legend = text[text.index('id="legend"') :].split("</ul>")[0]
    assert [kind for kind in ("episode", "behavior", "fact", "entity") if f"{kind}</li>" in legend] == [
        "episode",
        "behavior",
    ]


def test_more_links_make_a_larger_circle_and_all_lie_within_the_picture():
    spokes = [node(f"n{i}", links=1) for i in range(20)]
    text = as_html(
        drawing(node("hub", links=20), *spokes, links=[link("hub", spoke.key) for spoke in spokes])
    )
    page = Reader(text)
    circles = [element for element in page.all("circle") if "aria-label" in element]
    assert float(circles[0]["r"]) > float(circles[1]["r"])
    left, top, wide, tall = map(float, page.all("svg")[0]["viewbox"].split())
    for circle in circles:
        assert left < float(circle["cx"]) < left + wide
        assert top < float(circle["cy"]) < top + tall
