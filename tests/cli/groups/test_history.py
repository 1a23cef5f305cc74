"""Other times: versions, differences, aliases, contradictions."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.rows import each_row

from priming import FixedClock, HashedEmbedder, Memory
from priming.cli.groups.history import fading_lines, version_lines
from priming.cli.output import timestamp
from priming.results import Fading
from priming.types import MemoryRecord

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
A = MemoryRecord("1", "default", "deploy-failed", "episode", "The deploy failed.", "The deploy failed.")
FADING = Fading("kestrel", "fact", "Kestrel signs.", 0.9, 0.712, 0.655, 0.0513, AT, "importance 0.9")
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
MEETING, MOVED = "We meet on Tuesdays at ten.", "We meet on Wednesdays at ten."
FIRST, LAST = "2026-03-02T00:00Z", "2026-03-09T00:00Z"


def corrected(shell):
    """A memory of the first day that was corrected on the fifth, as of the third."""
    clock = FixedClock(START)
    with Memory.open(shell.url, embedder=HashedEmbedder(), clock=clock) as memory:
        memory.remember(MEETING, key="meeting")
        memory.remember("Bread and butter.", key="bread")
        clock.at += timedelta(days=4)
        memory.supersede("meeting", MOVED, valid_from=START + timedelta(days=2))
        memory.forget("bread")
        memory.link("meeting", "bread", "requires", 0.3)


@pytest.fixture
def moved(shell, prepared):
    """A store with a memory that was corrected."""
    prepared(shell, corrected)
    return shell


def contents(hits):
    return [hit["memory"]["content"] for hit in hits]


def test_a_recall_is_asked_as_of_another_time(moved):
    def query(*options):
        return contents(moved.ask("recall", "when do we meet?", "--limit", 1, *options)["hits"])

    assert query() == [MOVED]
    assert query("--known-at", FIRST) == [MEETING]
    assert query("--valid-at", FIRST) == [MEETING]
    assert query("--known-at", "2026-03-04T00:00Z") == [MEETING]
    assert query("--valid-at", "2026-03-04T00:00Z") == [MOVED]


def test_what_is_superseded_comes_up_marked(moved):
    query = ("recall", "when do we meet?", "--include-superseded", "--tokens", 500)
    assert [hit["superseded_by"] for hit in moved.ask(*query)["hits"]] == [None, 2]
    shown = moved.run(*query).stdout
    true_from, closed = (timestamp(START + timedelta(days=days)) for days in (2, 4))
    assert shown.count(f"superseded by version 2 from {true_from} on, recorded {closed}") == 1
    assert "- [meeting] (superseded until 2026-03-03)" in shown


def test_a_version_is_shown_as_of_another_time(moved):
    assert moved.ask("as-of", "meeting")["content"] == MOVED
    assert moved.ask("as-of", "meeting", "--known-at", FIRST)["content"] == MEETING
    assert MEETING in moved.run("as-of", "meeting", "--valid-at", FIRST).stdout
    done = moved.run("as-of", "meeting", "--known-at", "2026-02-01T00:00Z")
    assert done.exit_code == 2
    assert "no memory 'meeting' was known" in done.stderr


def test_what_was_there_is_listed_as_of_another_time(moved):
    assert [item["key"] for item in moved.ask("list")] == ["meeting"]
    assert [item["key"] for item in moved.ask("list", "--known-at", FIRST)] == ["meeting", "bread"]


def test_a_list_has_the_times_of_versions_where_they_matter(moved):
    def table(*options):
        return [" ".join(row.split()) for row in moved.run("list", *options).stdout.splitlines()]

    answer, changed, true_from = (timestamp(START + timedelta(days=days)) for days in (0, 4, 2))
    assert table() == ["key kind date gist", f"meeting episode {changed[:10]} {MOVED}"]
    explained = f"meeting episode 2 {changed} {true_from} {MOVED}"
    assert table("--explain") == ["key kind version recorded valid from gist", explained]
    assert table("--known-at", FIRST)[1:] == [
        f"meeting episode 1 {answer} {MEETING}",
        f"bread episode 1 {answer} Bread and butter.",
    ]
    assert table("--valid-at", FIRST) == [
        "key kind version recorded superseded valid to gist",
        f"meeting episode 1 {answer} {changed} {true_from} {MEETING}",
    ]


def test_what_became_different_is_listed_with_both_answers(moved):
    result = moved.ask("diff", FIRST, LAST, "bread")
    assert {(item["key"], item["what"]) for item in result["memories"]} == {
        ("bread", "forgotten"),
        ("meeting", "superseded"),
    }
    assert ("bread", "gone") in {(item["key"], item["what"]) for item in result["answers"]}
    shown = moved.run("diff", FIRST, LAST, "bread").stdout
    changed, true_from = (timestamp(START + timedelta(days=days)) for days in (4, 2))
    superseded = f"superseded  meeting  episode  {changed}, valid from {true_from}\n"
    assert f"{superseded}    - {MEETING}\n    + {MOVED}\n" in shown
    assert f"made  meeting ─requires→ bread  – → 0.3  {changed}\n" in shown
    assert "forgotten  bread" in shown


def test_an_answer_in_the_same_place_that_says_something_else_is_told_with_both_texts(moved):
    query = ("diff", FIRST, LAST, "when do we meet?", "--limit", 1)
    assert [item["what"] for item in moved.ask(*query)["answers"]] == ["restated"]
    shown = moved.run(*query).stdout
    assert shown.endswith(f"meeting  has another text\n    - {MEETING}\n    + {MOVED}\n")


def test_where_nothing_is_different_that_is_said(moved):
    assert "no memory and no link changed" in moved.run("diff", FIRST, FIRST).stdout
    assert "neither answer has a hit" in moved.run("diff", "2026-01-01", "2026-01-01", "bread").stdout


def test_of_many_links_the_first_are_shown(moved):
    moved.ask("remember", "Cheese and wine.", "--key", "cheese")
    with Memory.open(moved.url) as memory:
        memory.link_many(
            [{"source": "meeting", "target": "cheese", "relation": f"r{n:02}"} for n in range(25)]
        )
        new = len(memory.diff(START + timedelta(days=9), datetime.now(UTC)).links)
    shown = moved.run("diff", LAST, "2999-01-01").stdout
    assert f"… and {new - 20} more: --json lists all" in shown


@each_row(
    ("arguments", "message"),
    [
        (("diff", LAST, FIRST), "name the earlier time first"),
        (("diff", "then", LAST), "d1"),
        (("recall", "bread", "--known-at", "then"), "known_at"),
        (("as-of", "meeting", "--valid-at", "then"), "valid_at"),
    ],
)
def test_a_bad_time_is_named(moved, arguments, message):
    done = moved.run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_aliases_are_shown_before_they_are_merged(shell):
    shell.ask("remember", "We use Kubernetes, or K8s.", "--key", "a")
    assert shell.run("aliases", "--dry-run").stdout == (
        "entity:k8s → entity:kubernetes  a text states it\n"
        "  a  We use Kubernetes, or K8s.\n"
        "nothing was merged: that was a dry run\n"
    )
    (item,) = shell.ask("aliases")
    assert (item["alias"], item["name"], item["reason"]) == ("entity:k8s", "entity:kubernetes", "said")
    assert item["evidence"] == [{"key": "a", "text": "We use Kubernetes, or K8s."}]
    assert shell.run("aliases").stdout == "no two names mean the same\n"
    shell.ask("undo", item["operation"])
    assert len(shell.ask("aliases", "--dry-run", "--limit", "1")) == 1


def test_contradictions_are_listed_and_settled(shell):
    shell.ask(
        "remember", "Ada lives in Oslo.", "--key", "a", "--kind", "fact", "--occurred-at", "2026-03-01T12:00Z"
    )
    done = shell.run(
        "remember",
        "Ada lives in Bergen.",
        "--key",
        "b",
        "--kind",
        "fact",
        "--occurred-at",
        "2026-03-02T12:00Z",
    )
    assert (
        'the earlier says "Ada lives in Oslo.": if the later takes its place, priming deprecate a --by b; if both'
        " hold, priming review --keep a+b"
    ) in done.stdout
    assert shell.run("review").stdout == (
        "Oslo or Bergen?\n"
        "  2026-03-01  a  Ada lives in Oslo.\n"
        "  2026-03-02  b  Ada lives in Bergen.\n"
        "    priming deprecate a --by b\n"
        "    priming deprecate b --by a\n"
        "    priming review --keep a+b\n"
        "    priming supersede a 'Ada lives in Bergen.'\n"
    )
    assert [item["id"] for item in shell.ask("review", "--limit", "1")] == ["a+b"]
    assert shell.ask("review", "--keep", "a+b")["kind"] == "keep-both"
    assert shell.run("review").stdout == "no facts or rules contradict each other\n"


@pytest.mark.parametrize("keys", [("--code", "-p"), ("a b's", 'the "+" of é'), ("$HOME", "*")])
@pytest.mark.parametrize("number", range(4))
def test_every_command_that_is_offered_settles_it_as_a_shell_reads_it(shell, keys, number):
    for key, motto in zip(keys, ("Onward", "$HOME"), strict=True):
        shell.ask("remember", f"The motto of Ada is {motto}.", f"--key={key}", "--kind", "fact")
    (entry,) = shell.ask("review")
    program, *words = shlex.split(entry["commands"][number])
    assert program == "priming"
    assert shell.run(*words).exit_code == 0
    assert shell.ask("review") == []


def test_a_walk_asks_about_each_pair_and_settles_it(shell):
    shell.ask("remember", "The rent is €1,200", "--key", "old", "--kind", "fact")
    shell.ask("remember", "The rent is €1,300", "--key", "new", "--kind", "fact")
    assert "which holds?" in shell.run("review", "--settle", stdin="?\ns\n").stderr
    assert len(shell.ask("review")) == 1
    shell.run("review", "--settle", stdin="l\n")
    assert shell.ask("review") == []
    assert [each["key"] for each in shell.ask("list")] == ["new"]


def test_a_walk_goes_on_where_an_answer_settles_other_pairs_too(shell):
    for price in (1200, 1300, 1400):
        shell.ask("remember", f"The rent is €{price}", "--key", f"rent-{price}", "--kind", "fact")
    before = shell.ask("review")
    assert len(before) > 1
    done = shell.run("review", "--settle", stdin="l\n" * len(before))
    assert done.exit_code == 0, done.stderr
    assert shell.ask("review") == []
    assert [each["key"] for each in shell.ask("list")] == ["rent-1400"]


DISK = "The deploy failed because the disk was full."
CACHE = "We cleaned the build cache."
DISK_KEY, CACHE_KEY = "the-deploy-failed-because-the-disk", "we-cleaned-the-build-cache"


def monday(shell):
    """Two memories of one session."""
    for text in (DISK, CACHE):
        shell.ask("remember", text, "--session", "monday")


@pytest.fixture
def two(shell, prepared):
    """A store of one's own with two memories of one session."""
    prepared(shell, monday)
    return shell


def test_undo_last_walks_back_over_what_is_neither_undo_nor_undone(two):
    assert two.ask("undo", "last")["kind"] == "undo"
    assert [item["key"] for item in two.ask("list")] == [DISK_KEY]
    undone = two.ask("undo", "last")
    assert two.ask("list") == []
    two.ask("undo", undone["id"])
    assert [item["key"] for item in two.ask("list")] == [DISK_KEY]


def test_undo_last_passes_over_where_a_piece_of_work_begins_and_ends(shell):
    shell.ask("remember", DISK)
    run = shell.ask("run", "start")
    shell.ask("run", "end", run["id"])
    shell.ask("undo", "last")
    assert shell.ask("list") == []


def test_with_nothing_to_undo_undo_last_says_so(shell):
    shell.ask("remember", DISK)
    shell.ask("undo", "last")
    done = shell.run("undo", "last")
    assert (done.exit_code, done.stderr) == (2, "error: there is no operation to undo: see the log\n")


def test_the_log_is_newest_first_and_can_be_narrowed(two):
    two.ask("forget", CACHE_KEY)
    assert [item["kind"] for item in two.ask("log")] == ["forget", "remember", "remember"]
    assert [item["kind"] for item in two.ask("log", "--limit", "1")] == ["forget"]
    assert [item["kind"] for item in two.ask("log", "--key", CACHE_KEY)] == ["forget", "remember"]
    assert two.ask("log", "--since", "2999-01-01") == []


def test_versions_say_from_when_to_when_they_held(shown):
    old = replace(A, recorded_at=AT, retired_at=AT, valid_to=AT)
    first, _, second, _ = shown(version_lines([old, replace(A, recorded_at=AT, version=2, valid_from=AT)]))
    at = timestamp(AT)
    assert first == f"version 1  valid from the beginning to {at}; recorded {at}, superseded {at}"
    assert second == f"version 2  valid from {at} to now; recorded {at}"


def test_what_fades_is_shown_with_what_is_left_and_why_it_matters(shown):
    assert shown(fading_lines([FADING])) == [
        "kestrel  0.71 now, 0.66 in a week",
        "  Kestrel signs.",
        "  importance 0.9",
    ]


def test_a_dry_run_of_a_rollback_where_nothing_was_done_says_so(shell):
    done = shell.run("rollback", "--since", "2026-01-01", "--dry-run")
    assert done.exit_code == 0
    assert done.stdout == 'there are no memories in "default"\n'
    assert shell.run("rollback", "--since", "2026-01-01").exit_code != 0


def test_an_undo_names_what_was_told_before_the_names_that_came_with_it(shell):
    shell.ask("remember", "Kite and Falcon share a database.", "--key", "shared")
    (detail,) = [row for row in shell.run("undo", "last").stdout.splitlines() if "links" in row]
    assert detail.strip().startswith("shared, entity:")
