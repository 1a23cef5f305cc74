"""The tree of a spread: anchors, the links that carried, the hits."""

from __future__ import annotations

import io
import sys
from dataclasses import replace

import pytest

from priming.cli import render_trace
from priming.cli.screen import Tree, draw
from priming.types import Hit, MemoryRecord, Recall, Step

RECORD = MemoryRecord("1", "default", "a", "episode", "A.", "A.")


def hit(key, *path):
    return Hit(replace(RECORD, key=key), 0.5, {}, tuple(path))


A_TO_E, E_TO_B, E_TO_C = (
    Step("a", "mentions", "e", 0.4),
    Step("e", "mentions", "b", 0.2),
    Step("e", "mentions", "c", 0.1),
)
D_TO_B, D_TO_C = Step("d", "next", "b", 0.3), Step("d", "next", "c", 0.001)
FOUND = Recall(
    "r",
    (hit("a"), hit("b", A_TO_E, E_TO_B), hit("c", A_TO_E, E_TO_C), hit("d")),
    spread=(
        {"a": 1.0, "d": 0.5, "idle": 0.25},
        {"a": 0.5, "e": 0.75, "b": 0.25, "c": 0.125, "d": 0.5, "idle": 0.0625},
    ),
    carried=(replace(A_TO_E, amount=0.8), D_TO_B, E_TO_B, E_TO_C, D_TO_C),
)
"""Two ways from a, which begin alike, and one from d to the same hit; d gave hardly anything to c."""


@pytest.fixture
def shown(capsys):
    """What is drawn into a pipe."""

    def lines(parts):
        draw(parts)
        return capsys.readouterr().out.splitlines()

    return lines


def test_anchors_are_roots_and_hits_have_their_ranks(shown):
    assert shown(render_trace.tree(FOUND)) == [
        "a  1.0000 → 0.5000  hit 1",
        "└── ─mentions→ e  +0.8000  → 0.7500",
        "    ├── ─mentions→ b  +0.2000  → 0.2500  hit 2",
        "    └── ─mentions→ c  +0.1000  → 0.1250  hit 3",
        "d  0.5000 → 0.5000  hit 4",
        "└── ─next→ b  +0.3000  hit 2",
        "1 more anchor led to no hit",
    ]


def test_where_nothing_spread_it_says_so(shown):
    assert shown(render_trace.tree(Recall("r", (hit("a"),)))) == ["nothing spread"]


def test_a_tree_is_drawn_in_ascii_where_unicode_cannot_be_shown(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", out)
    draw([Tree(("top",), (Tree(("one",), (Tree(("deep",)),)), Tree(("two",))))])
    out.flush()
    assert out.buffer.getvalue().decode().splitlines() == ["top", "|-- one", "|   `-- deep", "`-- two"]


def test_no_label_steers_the_terminal_or_breaks_the_tree(shown):
    assert shown([Tree(("top",), (Tree(("a\x1b[31m\nb",)),))]) == ["top", "└── a\\x1b[31m b"]


def test_a_traced_recall_draws_its_tree_before_its_steps(shell):
    for text in ("The disk was full.", "We cleaned the cache."):
        shell.ask("remember", text, "--session", "monday")
    lines = shell.run("recall", "disk", "--trace").stdout.splitlines()
    root = next(i for i, one in enumerate(lines) if one.startswith("the-disk-was-full  1.0000 → "))
    assert lines[root].endswith("  hit 1")
    assert lines[root + 1].startswith("└── ─next→ we-cleaned-the-cache  +")
    assert root < lines.index("step 0")


def test_what_links_carried_is_their_sum_over_all_steps(shell):
    shell.ask("remember", "red green blue", "--key", "a")
    shell.ask("remember", "one two three", "--key", "b")
    shell.ask("link", "a", "b", "--relation", "requires", "--weight", "0.5")
    found = shell.ask("recall", "red green blue", "--trace", "--profile", "ethos")
    start = found["spread"][0]["a"]
    (carried,) = found["carried"]
    # a keeps what it has and emits .85 · .5 of it in each of three steps.
    assert carried == {
        "source": "a",
        "relation": "requires",
        "target": "b",
        "amount": pytest.approx(3 * 0.425 * start),
    }
    assert shell.ask("recall", "red green blue", "--profile", "ethos")["carried"] == []
