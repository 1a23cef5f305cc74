"""The commands and options that ask about other times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from priming import FixedClock, Memory

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
MEETING, MOVED = "We meet on Tuesdays at ten.", "We meet on Wednesdays at ten."
FIRST, LAST = "2026-03-02T00:00Z", "2026-03-09T00:00Z"


@pytest.fixture
def moved(shell):
    """A memory of the first day that was corrected on the fifth, as of the third."""
    clock = FixedClock(START)
    with Memory.open(shell.url, clock=clock) as memory:
        memory.remember(MEETING, key="meeting")
        memory.remember("Bread and butter.", key="bread")
        clock.at += timedelta(days=4)
        memory.supersede("meeting", MOVED, valid_from=START + timedelta(days=2))
        memory.forget("bread")
        memory.link("meeting", "bread", "requires", 0.3)
    return shell


def contents(hits):
    return [hit["memory"]["content"] for hit in hits]


def test_a_recall_is_asked_as_of_another_time(moved):
    def asked(*options):
        return contents(moved.ask("recall", "when do we meet?", "--limit", 1, *options)["hits"])

    assert asked() == [MOVED]
    assert asked("--known-at", FIRST) == [MEETING]
    assert asked("--valid-at", FIRST) == [MEETING]
    assert asked("--known-at", "2026-03-04T00:00Z") == [MEETING]
    assert asked("--valid-at", "2026-03-04T00:00Z") == [MOVED]


def test_what_is_superseded_comes_up_marked(moved):
    asked = ("recall", "when do we meet?", "--include-superseded", "--tokens", 500)
    assert [hit["superseded_by"] for hit in moved.ask(*asked)["hits"]] == [None, 2]
    shown = moved.run(*asked).stdout
    assert shown.count("superseded by version 2 from 2026-03-03") == 1
    assert "- [meeting] (superseded until 2026-03-03)" in shown


def test_a_version_is_shown_as_of_another_time(moved):
    assert moved.ask("as-of", "meeting")["content"] == MOVED
    assert moved.ask("as-of", "meeting", "--known-at", FIRST)["content"] == MEETING
    assert MEETING in moved.run("as-of", "meeting", "--valid-at", FIRST).stdout
    done = moved.run("as-of", "meeting", "--known-at", "2026-02-01T00:00Z")
    assert done.exit_code == 2
    assert "no memory 'meeting' was known" in done.stderr


def test_what_was_there_is_listed_as_of_another_time(moved):
    assert [one["key"] for one in moved.ask("list")] == ["meeting"]
    assert [one["key"] for one in moved.ask("list", "--known-at", FIRST)] == ["meeting", "bread"]


def test_what_became_different_is_listed_with_both_answers(moved):
    found = moved.ask("diff", FIRST, LAST, "bread")
    assert {(one["key"], one["what"]) for one in found["memories"]} == {
        ("bread", "forgotten"),
        ("meeting", "superseded"),
    }
    assert ("bread", "gone") in {(one["key"], one["what"]) for one in found["answers"]}
    shown = moved.run("diff", FIRST, LAST, "bread").stdout
    assert f"superseded  meeting  episode\n    - {MEETING}\n    + {MOVED}\n" in shown
    assert "made  meeting ─requires→ bread  – → 0.3\n" in shown
    assert "forgotten  bread" in shown


def test_an_answer_in_the_same_place_that_says_something_else_is_told_with_both_texts(moved):
    asked = ("diff", FIRST, LAST, "when do we meet?", "--limit", 1)
    assert [one["what"] for one in moved.ask(*asked)["answers"]] == ["restated"]
    shown = moved.run(*asked).stdout
    assert shown.endswith(f"meeting  says something else\n    - {MEETING}\n    + {MOVED}\n")


def test_where_nothing_is_different_that_is_said(moved):
    assert "no memory or link is another" in moved.run("diff", FIRST, FIRST).stdout
    assert "neither answer has a hit" in moved.run("diff", "2026-01-01", "2026-01-01", "bread").stdout


def test_of_many_links_the_first_are_shown(moved):
    moved.ask("remember", "Cheese and wine.", "--key", "cheese")
    with Memory.open(moved.url) as memory:
        memory.link_many(
            [{"source": "meeting", "target": "cheese", "relation": f"r{n:02}"} for n in range(25)]
        )
        made = len(memory.diff(START + timedelta(days=9), datetime.now(UTC)).links)
    shown = moved.run("diff", LAST, "2999-01-01").stdout
    assert f"… and {made - 20} more: --json lists all" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("diff", LAST, FIRST), "name the earlier time first"),
        (("diff", "then", LAST), "d1"),
        (("recall", "bread", "--known-at", "then"), "known_at"),
        (("as-of", "meeting", "--valid-at", "then"), "valid_at"),
    ],
)
def test_a_bad_time_is_named(moved, arguments, said):
    done = moved.run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
