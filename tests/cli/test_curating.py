"""The commands that keep memories in order."""

from __future__ import annotations

import pytest

RULE, ALIKE = (
    "Always run the whole test suite before a commit",
    "Always run the whole test suite before a commit!",
)


@pytest.fixture
def two(shell):
    """Two behaviours that say the same, and what they are linked to."""
    shell.ask("remember", RULE, "--key", "a", "--kind", "behavior", "--when", "language=go")
    shell.ask("remember", ALIKE, "--key", "b", "--kind", "behavior", "--when", "language=go")
    shell.ask("remember", "Bread and butter.", "--key", "c", "--kind", "fact")
    return shell


def statuses(shell):
    return {one["key"]: one["status"] for one in shell.ask("list", "--status", "any")}


def test_a_memory_is_deprecated_listed_so_and_restored(two):
    done = two.ask("deprecate", "a", "--by", "b", "--reason", "said better")
    assert (done["kind"], done["reason"], done["message"]) == (
        "deprecate",
        "said better",
        "'b' stands for it",
    )
    assert [one["key"] for one in two.ask("list", "--status", "deprecated")] == ["a"]
    assert two.ask("restore", "a")["message"] == "it was deprecated; its deprecated-to link to 'b' is removed"
    assert statuses(two) == {"a": "active", "b": "active", "c": "active"}


def test_a_memory_is_merged_and_listed_so(two):
    assert two.ask("merge", "b", "a")["message"] == "'b' is merged into 'a'"
    assert [one["key"] for one in two.ask("list", "--status", "merged")] == ["b"]
    two.ask("undo", "last")
    assert statuses(two)["b"] == "active"


def test_twins_are_shown_before_they_are_merged(two):
    (twins,) = two.ask("deduplicate", "--dry-run")
    assert (twins["kept"], twins["merged"], twins["operation"]) == ("a", "b", None)
    assert statuses(two)["b"] == "active"
    assert two.run("deduplicate", "--dry-run").stdout == (
        "b → a  1.00 alike\nnothing was merged: that was a dry run\n"
    )
    assert two.run("deduplicate", "--threshold", "1").stdout == "no two say the same\n"
    assert two.run("deduplicate", "--kind", "fact").stdout == "no two say the same\n"
    said = two.run("deduplicate").stdout.splitlines()
    operation = two.ask("log", "--limit", "1")[0]
    assert operation["kind"] == "deduplicate"
    assert said == ["b → a  1.00 alike", f"to take it back: priming undo {operation['id']}"]
    assert statuses(two)["b"] == "merged"


def test_connect_is_another_name_of_link(two):
    made = two.ask("connect", "a", "c", "--relation", "requires", "--weight", "0.8")
    assert (made["source"], made["target"], made["relation"], made["weight"]) == ("a", "c", "requires", 0.8)
    again = two.ask("link", "a", "c", "--relation", "requires", "--weight", "0.8")
    assert again == made


def test_why_tells_the_recall_its_conditions_and_what_changed(two):
    two.ask("link", "a", "c", "--relation", "requires", "--weight", "0.9")
    first = two.ask("recall", "whole test suite", "--language", "go")
    two.ask("recall", "test suite", "--language", "go")
    told = two.ask("why", "a", "--recall", first["recall_id"])
    assert told["route"]["recall_id"] == first["recall_id"]
    assert told["predicates"] == [
        {"name": "language", "wanted": "go", "present": "go", "finding": "confirmed"}
    ]
    assert [one["kind"] for one in told["operations"]] == ["link", "remember", "remember"]
    against = two.ask("why", "a", "--language", "python", "--context", "team=red")
    assert [one["finding"] for one in against["predicates"]] == ["contradicted"]
    path = two.ask("why", "c")["route"]["path"]
    assert [(one["source"], one["relation"], one["target"]) for one in path][-1] == ("a", "requires", "c")


def test_why_is_read_by_people(two):
    two.ask("link", "a", "c", "--relation", "requires", "--weight", "0.9")
    recalled = two.ask("recall", "whole test suite", "--language", "go")
    two.ask("used", "a", "--recall", recalled["recall_id"])
    said = two.run("why", "a").stdout
    for part in (
        f"a  {RULE}\n",
        "\n  - the cue confirms 1 of 1 conditions\n",
        "\n  - used 1 time, last on ",
        "\n  - weight raised from 0.5 to 0.51 by 1 verdict\n",
        f"\nrecall  {recalled['recall_id']}  priming  ",
        "\ncondition  language = go, the cue has go: confirmed\n",
        "\nverdicts\n",
        "\nlatest operations\n",
    ):
        assert part in said
    said = two.run("why", "c").stdout
    assert "─requires→ c (" in said
    (link,) = two.ask("links", "c", "--relation", "requires")
    assert f"over a ─requires→ c ({link['weight']:.2f} today)" in said
    assert two.run("why", "b", "--language", "rust").stdout.count("contradict") == 2


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("why", "nothing"), 2, "there is no memory 'nothing'"),
        (("why", "a", "--recall", "none"), 2, "there is no recall 'none'"),
        (("deprecate", "a", "--by", "a"), 2, "by = 'a': must be another memory"),
        (("deprecate", "a", "--by", "nothing"), 2, "there is no memory 'nothing'"),
        (("restore", "a"), 2, "'a' is active already"),
        (("merge", "a", "c"), 2, "'a' is of kind behavior and 'c' of kind fact"),
        (("merge", "a"), 2, "INTO"),
        (("deduplicate", "--threshold", "2"), 2, "threshold = 2.0: must be in [0, 1]"),
        (("deduplicate", "--kind", "entity"), 2, "kind = 'entity': must be one of"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(two, arguments, status, message):
    before = two.ask("log")
    done = two.run(*arguments)
    assert (done.exit_code, done.stdout) == (status, "")
    assert message in done.stderr
    assert two.ask("log") == before
