import json

import pytest


@pytest.fixture
def told(shell):
    shell.ask("remember", "Delete old builds.", "--key", "free-space", "--kind", "procedure", "--metadata",
              '{"host": "b1"}', "--step", "Stop the server.", "--step", "Delete.", "--trigger",
              "the disk is full")  # fmt: skip
    return shell


def test_steps_and_trigger_of_a_procedure_are_options(told):
    record = told.ask("show", "free-space")
    assert record["metadata"] == {
        "host": "b1",
        "steps": ["Stop the server.", "Delete."],
        "trigger": "the disk is full",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--step", "Stop."), "--step = ['Stop.']: belongs to a procedure: give --kind procedure"),
        (("--trigger", "now", "--kind", "fact"), "--trigger = 'now': belongs to a procedure"),
        (
            ("--kind", "procedure", "--step", "a", "--metadata", '{"steps": ["b"]}'),
            "--step = ['a']: must not stand beside metadata with 'steps'",
        ),
        (("--kind", "procedure", "--step", " "), "metadata.steps = [' ']: must be a list of texts"),
    ],
)
def test_what_is_wrong_with_steps_is_said(shell, arguments, said):
    done = shell.run("remember", "Delete old builds.", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert shell.ask("list") == []


def test_done_counts_successes_and_failures_and_show_tells_the_rate(told):
    assert told.ask("done", "free-space")["message"] == "1 of 1 execution succeeded"
    told.ask("done", "free-space", "--success")
    failed = told.ask("done", "free-space", "--fail", "--reason", "no rights")
    assert (failed["kind"], failed["reason"]) == ("done", "no rights")
    shown = told.run("show", "free-space").stdout
    assert "success rate" in shown
    assert "0.67: 2 of 3 executions" in shown
    assert "stability" in shown


def test_done_judges_the_recall_that_is_named(told):
    recall = told.ask("recall", "delete old builds")["recall_id"]
    done = told.ask("done", "free-space", "--recall", recall)
    (verdict,) = [one["after"] for one in done["changes"] if one["table"] == "verdicts"]
    assert (verdict["verdict"], verdict["recall"]) == ("used", recall)


def test_done_is_for_procedures(shell):
    shell.ask("remember", "Delete old builds.", "--key", "a")
    done = shell.run("done", "a", "--json")
    assert done.exit_code == 2
    assert "judge it with feedback" in json.loads(done.stderr)["error"]["message"]


def test_fading_lists_nothing_that_was_just_told(shell):
    shell.ask("remember", "The key hangs in room 12.", "--importance", "1")
    assert shell.ask("fading") == []
    assert shell.run("fading").stdout == "nothing that matters is about to be forgotten\n"
    assert shell.run("fading", "--below", "2").exit_code == 2
