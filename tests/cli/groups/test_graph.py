"""``priming graph``: drawings, and weights over time."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from tests.rows import each_row

from priming import FixedClock, HashedEmbedder, Memory


def linked(shell):
    """Two linked memories."""
    shell.ask("remember", "The disk was full.", "--key", "disk")
    shell.ask("remember", "Clear the cache.", "--key", "cache", "--kind", "procedure")
    shell.ask("link", "cache", "disk", "--relation", "solves", "--weight", "0.8")


@pytest.fixture
def two(shell, prepared):
    """A store with two linked memories."""
    prepared(shell, linked)
    return shell


def test_the_graph_is_drawn_as_dot(two):
    done = two.run("graph")
    assert done.exit_code == 0
    assert done.stdout.startswith("digraph priming {\n")
    assert '  "cache" -> "disk" [label="solves", ' in done.stdout
    assert done.stdout.endswith("}\n")


@pytest.mark.parametrize(
    "options", [[], ["--format", "json"], ["--limit", "1"], ["--key", "disk", "--depth", "0"]]
)
def test_the_name_of_the_command_may_be_left_out(two, options):
    assert two.run("graph", *options).stdout == two.run("graph", "draw", *options).stdout != ""


def test_json_is_one_document_with_nodes_and_links(two):
    value = json.loads(two.run("graph", "--format", "json").stdout)
    assert {"cache", "disk"} <= {item["key"] for item in value["nodes"]}
    assert "solves" in {item["relation"] for item in value["links"]}
    assert two.ask("graph", "--format", "json") == value


def test_another_format_is_a_text_in_the_document(two):
    value = two.ask("graph")
    assert value["format"] == "dot"
    assert value["text"] == two.run("graph").stdout


def test_a_file_is_written(two):
    done = two.run("graph", "--output", "graph.dot")
    assert done.stdout == "drawn  dot to graph.dot\n"
    text = (two.folder / "graph.dot").read_text("utf-8")
    assert "Clear the cache." in text
    answer = two.ask("graph", "--output", "graph.dot")
    assert answer == {"format": "dot", "path": "graph.dot", "bytes": len(text.encode())}


def test_a_file_that_cannot_be_written_is_a_failure(two):
    done = two.run("graph", "--output", "no/such/folder.dot")
    assert done.exit_code == 1
    assert "error: no/such/folder.dot could not be written: No such file or directory" in done.stderr


def test_the_options_choose_what_is_drawn(two):
    assert "cache" not in two.run("graph", "--kind", "episode").stdout
    assert '"cache" ->' not in two.run("graph", "--key", "disk", "--depth", "0").stdout
    before = two.run("graph", "--known-at", "2000-01-01", "--format", "json")
    assert json.loads(before.stdout)["nodes"] == []


@each_row(
    ("arguments", "message"),
    [
        (["--format", "svg"], "format = 'svg': must be one of dot, json"),
        (["--limit", "0"], "limit = 0: must be a whole number"),
        (["--key", "nothing"], "there is no memory 'nothing'"),
        (["--known-at", "then"], "known_at = 'then': must be a date or time"),
        (["paint"], "No such command 'paint'"),
        (["draw", "extra"], "unexpected extra argument"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_one_line(two, arguments, message):
    done = two.run("graph", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_help_of_the_group_lists_its_commands(shell):
    done = shell.run("graph", "--help")
    assert {"draw", "link-strength"} <= set(done.stdout.split())


NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


def weighed(shell):
    """Two memories, their link made by hand at .5 at half past nine, and moved to .8 and .3 in the hours after."""
    clock = FixedClock(NOW)
    with Memory.open(shell.url, embedder=HashedEmbedder(64), clock=clock) as memory:
        memory.remember("we paint walls", key="a")
        memory.remember("the sea is cold", key="b")
        memory.link("a", "b", "near", 0.5)
        for weight in (0.8, 0.3):
            clock.at += HOUR
            memory.set_strength("a", "b", weight)


@pytest.fixture
def reply(shell, prepared):
    """A store whose link was weighed thrice."""
    prepared(shell, weighed)
    return shell


def lines(shell, *arguments):
    done = shell.run(*arguments)
    assert done.exit_code == 0, done.stderr
    return done.stdout.splitlines()


def at(hours):
    return (NOW + hours * HOUR).isoformat()


def test_the_log_is_narrowed_by_key_source_and_span(reply):
    assert [item["kind"] for item in reply.ask("log", "--source", "manual")] == [
        "set-strength",
        "set-strength",
        "link",
    ]
    assert [item["at"] for item in reply.ask("log", "--since", at(1), "--until", at(2))] == [at(1)]
    assert len(reply.ask("log", "--key", "a", "--limit", "2")) == 2
    assert reply.ask("log", "--source", "automatic") == []


def test_events_are_one_json_document_with_the_fields_of_the_design(reply):
    moved, _, new = reply.ask("log", "--events")
    assert moved == {
        "ts": at(2),
        "event": "strength_adjust",
        "source": "manual",
        "edge": ["a", "near", "b"],
        "old": 0.8,
        "new": 0.3,
        "delta": 0.3 - 0.8,
        "reason": "the weight was set by hand",
        "operation": reply.ask("log", "--limit", "1")[0]["id"],
        "actor": "user",
        "via": "library",
        "session": None,
    }
    assert (new["event"], new["old"], new["new"]) == ("link_made", None, 0.5)


def test_events_are_told_in_words(reply):
    shown = lines(reply, "log", "--events", "--until", at(1))
    assert re.search(r"  link_made  a ─near→ b  – → 0\.5 \(\+0\.5\)$", shown[0])
    assert shown[1].startswith("    manual; ")
    assert re.search(r"0\.8 → 0\.3 \(-0\.5\)$", lines(reply, "log", "--events")[0])
    assert lines(reply, "log", "--events", "--source", "conscious") == ["no weight changed"]


def test_one_distribution_is_drawn_with_a_bar_for_each_bin(reply):
    shown = lines(reply, "graph", "strengths", "--at", at(1))
    assert shown[0].endswith("  1 link, mean 0.800, median 0.800")
    bars = [line.split() for line in shown[2:]]
    assert [bar[0] for bar in bars] == [f"{i / 10:.1f}–{(i + 1) / 10:.1f}" for i in range(10)]
    assert [len(bar[2]) if len(bar) > 2 else 0 for bar in bars] == [0] * 8 + [40, 0]


def test_distributions_over_time_are_a_row_each(reply):
    result = reply.ask("graph", "strengths", "--over", "3", "--at", at(2))
    assert [(item["at"], item["links"], item["mean"]) for item in result] == [
        (at(0), 1, 0.5),
        (at(1), 1, 0.8),
        (at(2), 1, 0.3),
    ]
    shown = lines(reply, "graph", "strengths", "--over", "3", "--since", at(0), "--at", at(2))
    assert shown[0].split() == ["at", "links", "mean", "median", "0", "to", "1"]
    assert [line.split()[-1] for line in shown[1:]] == ["·····█····", "········█·", "···█······"]


def test_without_links_the_distribution_is_empty(reply):
    shown = lines(reply, "graph", "strengths", "--relation", "unknown")
    assert shown[0].endswith("  0 links, mean –, median –")
    assert all(line.split()[1] == "0" for line in shown[2:])


def test_links_that_were_pulled_both_ways_are_listed(reply):
    (result,) = reply.ask("graph", "oscillating", "--turns", "1")
    assert (result["source"], result["target"], result["turns"], result["weight"]) == ("a", "b", 1, 0.3)
    assert lines(reply, "graph", "oscillating") == ["no link turned so often"]
    shown = lines(reply, "graph", "oscillating", "--turns", "1")
    assert shown[1].split() == ["1", "2", "0.8", "-0.2", "0.3", "a", "─near→", "b"]


def test_links_are_listed_as_they_were(reply):
    assert [item["weight"] for item in reply.ask("links", "--known-at", at(1))] == [0.8]
    assert lines(reply, "links", "a", "--known-at", at(0)) == ["a ─near→ b (0.50)  by hand"]
    assert lines(reply, "links", "--known-at", at(-1)) == ["no links"]


def test_a_dry_run_of_a_rollback_lists_what_the_rollback_undoes(reply):
    proposed = reply.ask("rollback", "--since", at(1), "--dry-run")
    assert [(item["kind"], item["at"]) for item in proposed] == [
        ("set-strength", at(2)),
        ("set-strength", at(1)),
    ]
    assert lines(reply, "rollback", "--since", at(1), "--dry-run")[-1] == "2 operations would be undone"
    assert [item["weight"] for item in reply.ask("links")] == [0.3]
    done = reply.ask("rollback", "--since", at(1), "--source", "manual")
    assert (done["kind"], done["message"]) == ("rollback", "rolled back 2 operations")
    assert [item["weight"] for item in reply.ask("links")] == [0.5]
    reply.ask("undo", "last")
    assert [item["weight"] for item in reply.ask("links")] == [0.3]


def test_a_rollback_says_how_to_take_it_back(reply):
    shown = lines(reply, "rollback", "--since", at(2))
    assert shown[1].strip().startswith("rolled back 1 operation")
    assert re.fullmatch(r"    to undo this: priming undo \S+", shown[-1])


def test_what_was_redone_is_what_undo_last_takes_back(reply):
    reply.ask("undo", reply.ask("undo", "last")["id"])
    assert reply.ask("undo", "last")["message"] == "undid a set-strength"
    assert [item["weight"] for item in reply.ask("links")] == [0.8]


def test_normalising_is_a_dry_run_unless_applied(reply):
    # Nothing but each other: no neighbour in common, the floor.
    shown = lines(reply, "graph", "normalize-strengths", "--relation", "near")
    assert shown == ["a ─near→ b  0.3 → 0.1", "1 link would change: --apply changes them"]
    (moved,) = reply.ask("graph", "normalize-strengths", "--relation", "near", "--apply")
    assert (moved["old"], moved["new"], moved["source"]) == (0.3, 0.1, "manual")
    assert [item["weight"] for item in reply.ask("links")] == [0.1]
    assert "nothing to change" in lines(reply, "graph", "normalize-strengths", "--relation", "near")[0]
    reply.ask("undo", moved["operation"])
    assert lines(reply, "graph", "normalize-strengths", "--relation", "near", "--apply")[1].startswith(
        "changed"
    )


@each_row(
    ("arguments", "message"),
    [
        (("log", "--source", "mine"), "source = 'mine': must be one of automatic, conscious, manual"),
        (("log", "--events", "--until", "noon"), "until = 'noon': must be a date or time"),
        (("log", "--events", "--key", "zzz"), "there is no memory 'zzz'"),
        (("rollback", "--since", "noon"), "since = 'noon': must be a date or time"),
        (("rollback", "--since", "2199-01-01"), "nothing was done since"),
        (("rollback", "--since", "2199-01-01", "--dry-run"), "nothing was done since"),
        (("rollback",), "--since"),
        (("graph", "strengths", "--over", "0"), "over = 0: must be"),
        (("graph", "oscillating", "--turns", "0"), "turns = 0: must be"),
        (("links", "--known-at", "noon"), "known_at = 'noon': must be a date or time"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(reply, arguments, message):
    before = reply.ask("log")
    done = reply.run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert reply.ask("log") == before
