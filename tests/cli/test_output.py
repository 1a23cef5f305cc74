"""Lines, tables and trees as they are written into a pipe."""

from __future__ import annotations

import io
import sys

from priming.cli.output import Line, Table, Tree, clean, draw, line


def test_columns_are_aligned_by_what_a_terminal_shows(shown):
    table = Table(("key", "n"), (("日本", "1"), ("e\u0301a", "10")))
    assert shown([table]) == ["key    n", "日本   1", "e\u0301a    10"]


def test_a_long_line_is_not_wrapped_in_a_pipe(shown):
    assert shown([line("word " * 100, indent=2), Table(("a", "b"), (("x" * 90, "y" * 90),))]) == [
        "  " + "word " * 100,
        "a" + " " * 91 + "b",
        "x" * 90 + "  " + "y" * 90,
    ]


def test_what_is_remembered_cannot_steer_the_terminal(shown):
    assert clean("\x1b[31mred\x07\r\u202e") == "\\u001b[31mred\\u0007\\r\\u202e"
    assert clean("two\nlines\tand a tab") == "two lines\tand a tab"
    assert shown([Line(("a\nb",), indent=2), Table(("a",), (("b\nc",),))]) == ["  a b", "a", "b c"]
    assert shown([Line(("\x1b]0;title",)), Table(("a",), (("\x9b1m",),))]) == [
        "\\u001b]0;title",
        "a",
        "\\u009b1m",
    ]


def test_a_tree_is_drawn_in_ascii_where_unicode_cannot_be_shown(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", out)
    draw([Tree(("top",), (Tree(("one",), (Tree(("deep",)),)), Tree(("two",))))])
    out.flush()
    assert out.buffer.getvalue().decode().splitlines() == ["top", "|-- one", "|   `-- deep", "`-- two"]


def test_no_label_steers_the_terminal_or_breaks_the_tree(shown):
    assert shown([Tree(("top",), (Tree(("a\x1b[31m\nb",)),))]) == ["top", "└── a\\u001b[31m b"]
