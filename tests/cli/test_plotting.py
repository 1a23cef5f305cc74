"""A recall as a picture."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from priming import MissingExtra
from priming.cli.plotting import PLOT, picture
from priming.types import Hit, MemoryRecord, Recall, Step

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
    return [one.text for one in ElementTree.fromstring(data).iter(f"{SVG}text")]


@pytest.fixture
def two(shell):
    """A store with two linked memories."""
    for text in ("The disk was full.", "We cleaned the cache."):
        shell.ask("remember", text, "--session", "monday")
    return shell


def test_a_picture_shows_the_cue_the_memories_and_the_ranks(two):
    done = two.run("recall", "why was the disk full?", "--plot", "out.svg")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "drawn  to out.svg\n" in done.stdout
    shown = words((two.folder / "out.svg").read_bytes())
    assert {"why was the disk full?", "the-disk-was-full", "we-cleaned-the-cache", "1", "2", "anchor"} <= set(
        shown
    )
    assert any(one.startswith("carried ") for one in shown)


def test_the_same_recall_gives_the_same_bytes():
    found = recall("a", "b", "c", links=[("a", "b", 0.5), ("b", "c", 0.1)])
    assert picture(found, "cue", "svg") == picture(found, "cue", "svg")
    assert picture(found, "cue", "png") == picture(found, "cue", "png")
    assert b"dc:date" not in picture(found, "cue", "svg")


def test_a_png_is_one(two):
    assert two.run("recall", "disk", "--plot", "OUT.PNG").exit_code == 0
    assert (two.folder / "OUT.PNG").read_bytes().startswith(b"\x89PNG\r\n")


def test_the_answer_for_programs_is_the_traced_recall(two):
    found = two.ask("recall", "disk", "--plot", "out.svg")
    assert found["spread"]
    assert (two.folder / "out.svg").is_file()


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
    assert "k" * (PLOT.letters - 1) + "…" in shown
    assert "c" * (PLOT.cue_letters - 1) + "…" in shown


def test_no_more_is_drawn_than_can_be_looked_at():
    found = recall(*(f"m{i}" for i in range(100)), anchors={f"x{i}": 0.1 for i in range(50)})
    shown = words(picture(found, "cue", "svg"))
    assert sum(bool(re.fullmatch(r"[mx]\d+", one)) for one in shown) == PLOT.nodes
    few = words(picture(recall("m", anchors={f"x{i}": 0.1 for i in range(50)}), "cue", "svg"))
    assert sum(one.startswith("x") for one in few) == PLOT.idle


def test_an_empty_answer_is_a_picture_with_its_reason(two):
    shown = words(picture(Recall("r", (), reason="nothing above the floor"), "cue", "svg"))
    assert "nothing above the floor" in shown
    assert two.run("recall", "disk", "--no-spread", "--plot", "plain.svg").exit_code == 0


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("out.pdf", "must end in .svg or .png"),
        ("out", "must end in .svg or .png"),
        ("no/such/out.svg", "must be in a folder that is there"),
        ("folder.png", "is something else than a picture in PNG: it is left alone"),
        ("notes.svg", "is something else than a picture in SVG: it is left alone"),
    ],
)
def test_a_place_for_no_picture_is_refused_before_anything_is_asked(two, name, rule):
    (two.folder / "folder.png").mkdir()
    (two.folder / "notes.svg").write_text("my notes")
    before = two.ask("stats")["traces"]
    done = two.run("recall", "disk", "--plot", name, "--json")
    assert done.exit_code == 2
    assert rule in json.loads(done.stderr)["error"]["message"]
    assert (two.folder / "notes.svg").read_text() == "my notes"
    assert two.ask("stats")["traces"] == before


def test_a_picture_takes_the_place_of_an_older_one(two):
    assert two.run("recall", "disk", "--plot", "out.svg").exit_code == 0
    first = (two.folder / "out.svg").read_bytes()
    assert two.run("recall", "cache", "--plot", "out.svg").exit_code == 0
    assert (two.folder / "out.svg").read_bytes() != first


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'priming\[plot\]'"):
        picture(recall("a"), "cue", "svg")
