"""A recall as a picture."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from priming import MissingExtra
from priming.graph import plot
from priming.graph.plot import picture
from priming.results import Hit, Recall, Step
from priming.types import MemoryRecord

pytestmark = pytest.mark.slow  # matplotlib takes seconds to import

RECORD = MemoryRecord("1", "default", "a", "episode", "A.", "A.")
SVG = "{http://www.w3.org/2000/svg}"


def recall(*keys, links=(), anchors=None):
    """Hits of some keys, all active, the first an anchor unless others are given."""
    hits = tuple(Hit(replace(RECORD, key=key), 0.5, {}) for key in keys)
    active = {key: 1.0 / (i + 1) for i, key in enumerate(keys)}
    carried = tuple(Step(a, "next", b, amount) for a, b, amount in links)
    return Recall("r", hits, spread=(anchors or dict.fromkeys(keys[:1], 1.0), active), carried=carried)


def words(data):
    """The texts of a drawing."""
    return [item.text for item in ElementTree.fromstring(data).iter(f"{SVG}text")]


def test_the_same_recall_gives_the_same_bytes():
    recalled = recall("a", "b", "c", links=[("a", "b", 0.5), ("b", "c", 0.1)])
    assert picture(recalled, "cue", "svg") == picture(recalled, "cue", "svg")
    assert picture(recalled, "cue", "png") == picture(recalled, "cue", "png")
    assert b"dc:date" not in picture(recalled, "cue", "svg")


@pytest.mark.parametrize("form", ["svg", "png"])
@pytest.mark.parametrize(
    "key", ["猫は引き出しに", "sleep-😴", "$x^2$ $", "a\x00\x1b[31m<b>&", "\udcff", "עברית", " "]
)
def test_any_text_can_be_drawn(form, key):
    data = picture(recall(key, "b"), key, form)
    if form == "svg":
        ElementTree.fromstring(data)


def test_a_drawing_has_text_that_can_be_read_and_searched():
    shown = words(picture(recall("猫は引き出しに", "sleep-😴"), "$a_b$?", "svg"))
    assert {"猫は引き出しに", "sleep-😴", "$a_b$?"} <= set(shown)


def test_long_keys_and_cues_are_shortened():
    shown = words(picture(recall("k" * 100), "c" * 1000, "svg"))
    assert "k" * (plot.LETTERS - 1) + "…" in shown
    assert "c" * (plot.CUE_LETTERS - 1) + "…" in shown


def test_no_more_is_drawn_than_can_be_looked_at():
    recalled = recall(*(f"m{i}" for i in range(100)), anchors={f"x{i}": 0.1 for i in range(50)})
    shown = words(picture(recalled, "cue", "svg"))
    assert sum(bool(re.fullmatch(r"[mx]\d+", item)) for item in shown) == plot.NODES
    few = words(picture(recall("m", anchors={f"x{i}": 0.1 for i in range(50)}), "cue", "svg"))
    assert sum(item.startswith("x") for item in few) == plot.IDLE


def test_an_empty_answer_is_a_picture_with_its_reason():
    shown = words(picture(Recall("r", (), reason="nothing above the floor"), "cue", "svg"))
    assert "nothing above the floor" in shown


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'priming\[plot\]'"):
        picture(recall("a"), "cue", "svg")
