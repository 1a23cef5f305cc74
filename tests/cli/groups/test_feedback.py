"""Verdicts, runs and procedures carried out."""

from __future__ import annotations

import json

import pytest
from tests.rows import each_row

CUE = "who signs the nightly builds"


def recalled(shell):
    """Two linked memories, and the answer of a recall that came over the link."""
    shell.ask("remember", "Kestrel signs the nightly builds.", "--key", "kestrel")
    shell.ask("remember", "Gulls nest upon tall cliffs.", "--key", "gulls")
    shell.ask("link", "kestrel", "gulls")
    return shell.ask("recall", CUE, "--floor", "0", "--session", "chat")


@pytest.fixture
def answer(shell, prepared):
    """The answer of a recall that came over a link."""
    return prepared(shell, recalled)


def weight(shell):
    (link,) = shell.ask("links", "kestrel", "--relation", "similar-to")
    return link["weight"]


@pytest.mark.parametrize(
    ("command", "after"),
    [("used", 0.51), ("not-relevant", 0.49), ("not-useful", 0.5), ("confirmed", 0.5), ("overridden", 0.5)],
)
def test_a_verdict_is_a_command(shell, answer, command, after):
    done = shell.ask(command, "gulls")
    assert done["kind"] == "feedback"
    assert answer["recall_id"] in done["reason"]
    assert weight(shell) == pytest.approx(after)


def test_the_recall_to_judge_can_be_named(shell, answer):
    later = shell.ask("recall", CUE, "--floor", "0")
    done = shell.ask("used", "gulls", "--recall", answer["recall_id"], "--reason", "it was about gulls")
    assert done["reason"] == "it was about gulls"
    (verdict,) = [item["after"] for item in done["changes"] if item["table"] == "verdicts"]
    assert verdict["recall"] == answer["recall_id"] != later["recall_id"]


def test_the_session_to_judge_can_be_named(shell, answer):
    shell.ask("recall", CUE, "--floor", "0", "--session", "another")
    assert answer["recall_id"] in shell.ask("used", "gulls", "--session", "chat")["reason"]


@pytest.mark.usefixtures("answer")
def test_wrong_is_not_useful_with_a_reason(shell):
    done = shell.ask("wrong", "gulls", "they nest on the ground")
    assert done["reason"] == "they nest on the ground"
    assert shell.ask("show", "gulls")["weight"] == pytest.approx(0.49)
    assert weight(shell) == 0.5


@pytest.mark.usefixtures("answer")
def test_several_verdicts_are_one_operation(shell):
    before = shell.ask("stats")["operations"]
    shell.ask("feedback", "--used", "gulls", "--not-useful", "kestrel", "--tier", "automatic")
    assert shell.ask("stats")["operations"] == before + 1
    assert weight(shell) == pytest.approx(0.50001)


@pytest.mark.usefixtures("answer")
def test_a_verdict_says_what_it_moved_and_how_to_take_it_back(shell):
    message = shell.run("used", "gulls").stdout
    assert "gulls: 1 link strengthened" in message
    shell.ask("undo", "last")
    assert weight(shell) == 0.5
    assert "the cue itself matched it" in shell.run("not-relevant", "kestrel").stdout


def test_an_explained_recall_shows_its_id(shell, answer):
    assert "recall 0" in shell.run("recall", CUE, "--explain").stdout
    assert answer["recall_id"]


@each_row(
    ("arguments", "message"),
    [
        (("used", "nobody"), "there is no memory 'nobody'"),
        (("used",), "Missing argument"),
        (("feedback",), "at least one key"),
        (("used", "gulls", "--recall", "nothing"), "there is no recall 'nothing'"),
        (("used", "gulls", "--tier", "manual"), "automatic, conscious"),
        (("feedback", "--used", "gulls", "--not-relevant", "gulls"), "must not be among not_relevant"),
        (("run", "end"), "there is no run that is active"),
        (("run", "used", "nothing"), "there is no run 'nothing'"),
        (("run", "end", "x", "--used", "--unused"), "cannot be combined with --used"),
    ],
)
@pytest.mark.usefixtures("answer")
def test_what_is_wrong_is_said_and_nothing_changes(shell, arguments, message):
    before = shell.ask("log")
    done = shell.run(*arguments)
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert shell.ask("log") == before


@pytest.mark.usefixtures("answer")
def test_a_run_from_its_start_to_its_use(shell):
    run = shell.ask("run", "start", "--session", "work")
    shell.ask("recall", CUE, "--floor", "0", "--session", "work")
    assert shell.ask("run", "end")["shown"] == ["kestrel", "gulls"]
    assert weight(shell) == 0.5
    used = shell.ask("run", "used")
    assert (used["id"], used["settled"]) == (run["id"], "used")
    assert weight(shell) == pytest.approx(0.50001)
    assert [item["settled"] for item in shell.ask("run", "list")] == ["used"]
    assert "shown: kestrel, gulls" in shell.run("run", "list").stdout


@pytest.mark.usefixtures("answer")
def test_a_run_that_came_to_nothing(shell):
    shell.ask("run", "start", "--session", "work")
    shell.ask("recall", CUE, "--floor", "0", "--session", "work")
    assert shell.ask("run", "end", "--unused")["settled"] == "unused"
    assert weight(shell) == pytest.approx(0.49999)


@pytest.mark.parametrize("command", ["confirmed", "deprecate", "history"])
def test_a_command_on_a_rule_of_all_projects_says_where_it_is(shell, monkeypatch, command):
    monkeypatch.setenv("PRIMING_HOME", str(shell.folder / "home"))
    shell.ask("remember", "Kestrel signs the nightly builds.")
    rule = shell.run("learn", "--right", "Never push to main", "--json", "--global", url="")
    key = json.loads(rule.stdout)["key"]
    done = shell.run(command, key)
    assert done.exit_code == 2
    assert "add --global" in done.stderr


@pytest.fixture
def procedure(shell):
    shell.ask("remember", "Delete old builds.", "--key", "free-space", "--kind", "procedure", "--metadata",
              '{"host": "b1"}', "--step", "Stop the server.", "--step", "Delete.", "--trigger",
              "the disk is full")  # fmt: skip
    return shell


def test_steps_and_trigger_of_a_procedure_are_options(procedure):
    record = procedure.ask("show", "free-space")
    assert record["metadata"] == {
        "host": "b1",
        "steps": ["Stop the server.", "Delete."],
        "trigger": "the disk is full",
    }


@each_row(
    ("arguments", "message"),
    [
        (("--step", "Stop."), "--step = ['Stop.']: belongs to a procedure: add --kind procedure"),
        (("--trigger", "now", "--kind", "fact"), "--trigger = 'now': belongs to a procedure"),
        (
            ("--kind", "procedure", "--step", "a", "--metadata", '{"steps": ["b"]}'),
            "--step = ['a']: cannot be combined with metadata 'steps'",
        ),
        (("--kind", "procedure", "--step", " "), "metadata.steps = [' ']: must be a list of texts"),
    ],
)
def test_what_is_wrong_with_steps_is_said(shell, arguments, message):
    done = shell.run("remember", "Delete old builds.", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert shell.ask("list") == []


def test_done_counts_successes_and_failures_and_show_tells_the_rate(procedure):
    assert procedure.ask("done", "free-space")["message"] == "1 of 1 execution succeeded"
    procedure.ask("done", "free-space", "--success")
    failed = procedure.ask("done", "free-space", "--fail", "--reason", "no rights")
    assert (failed["kind"], failed["reason"]) == ("done", "no rights")
    shown = procedure.run("show", "free-space").stdout
    assert "success rate" in shown
    assert "0.67: useful 2 of 3 times" in shown
    assert "stability" in shown


def test_done_judges_the_recall_that_is_named(procedure):
    recall = procedure.ask("recall", "delete old builds")["recall_id"]
    done = procedure.ask("done", "free-space", "--recall", recall)
    (verdict,) = [item["after"] for item in done["changes"] if item["table"] == "verdicts"]
    assert (verdict["verdict"], verdict["recall"]) == ("used", recall)


def test_done_is_for_procedures(shell):
    shell.ask("remember", "Delete old builds.", "--key", "a")
    done = shell.run("done", "a", "--json")
    assert done.exit_code == 2
    assert "judge it with feedback" in json.loads(done.stderr)["error"]["message"]


def test_fading_lists_nothing_that_was_just_told(shell):
    shell.ask("remember", "The key hangs in room 12.", "--importance", "1")
    assert shell.ask("fading") == []
    assert shell.run("fading").stdout == "no important memory is about to be forgotten\n"
    assert shell.run("fading", "--below", "2").exit_code == 2
