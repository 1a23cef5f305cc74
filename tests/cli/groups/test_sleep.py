"""The command that sleeps."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from tests.rows import each_row

from priming import Memory
from priming.cli.options import AgentOptions
from priming.llm.protocol import ScriptedAgent

COMMAND = [sys.executable, "-c", "from priming.cli.start import main; main()"]

LUNCH = "Lunch was late today."


def with_duplicates(shell):
    """A duplicate, and two procedures for the same."""
    for session in "ab":
        shell.ask("remember", LUNCH, "--session", session, "--key", f"lunch-{session}")
    shell.ask("remember", "1. Stop the server. 2. Start the server.", "--kind", "procedure", "--key", "stop")
    shell.ask(
        "remember",
        "1. Stop the server. 2. Check it. 3. Start the server.",
        "--kind",
        "procedure",
        "--key",
        "check",
    )


@pytest.fixture
def lived(shell, prepared):
    """A store with a duplicate, and two procedures for the same."""
    prepared(shell, with_duplicates)
    return shell


def statuses(shell):
    return {
        item["key"]: item["status"] for item in shell.ask("list", "--status", "any", "--kind", "procedure")
    }


def importance(shell):
    return shell.ask("show", "lunch-b")["importance"]


def test_a_dry_run_says_what_would_be_done_and_why(lived):
    message = lived.run("sleep", "--dry-run").stdout
    assert message == (
        "light  1 item\n"
        "  mark  lunch-b → lunch-a\n"
        "    says word for word what lunch-a says\n"
        "skill  1 item\n"
        "  consolidate  check → stop\n"
        "    stop worked best (0.50) of 2 procedures that mean the same\n"
        "    steps added: Check it.\n"
        "nothing was changed: that was a dry run, with every stage planned against the current state\n"
    )
    assert (importance(lived), statuses(lived)) == (0.5, {"stop": "active", "check": "active"})


def test_a_night_does_it_and_undo_last_takes_it_back(lived):
    message = lived.run("sleep").stdout.splitlines()
    operation = lived.ask("log", "--limit", "1")[0]
    assert message[-1] == f"to undo the night: priming undo {operation['id']}"
    assert (importance(lived), statuses(lived)) == (0.0, {"stop": "active", "check": "deprecated"})
    assert lived.ask("undo", "last")["message"] == "undid a sleep: all 2 stages of the night"
    assert (importance(lived), statuses(lived)) == (0.5, {"stop": "active", "check": "active"})


def test_for_programs_the_proposal_is_json(lived):
    proposed = lived.ask("sleep", "--dry-run")
    assert [item["id"] for item in proposed["items"]] == ["light-1", "skill-1"]
    assert proposed["operation"] is None
    done = lived.ask("sleep", "skill")
    assert (done["stages"], [item["into"] for item in done["items"]]) == (["skill"], ["stop"])
    assert lived.ask("log", "--source", f"sleep:{done['id']}")[0]["id"] == done["operation"]


@pytest.mark.parametrize(
    ("answers", "left", "status"),
    [
        ("y\ny\n", 0.0, "deprecated"),
        ("n\ny\n", 0.5, "deprecated"),
        ("maybe\ny\nq\n", 0.0, "active"),
        ("yikes\nYES\nnever\nNo\n", 0.0, "active"),
        ("you tell me\n", 0.5, "active"),
        ("y\n", 0.0, "active"),
        ("n\nn\n", 0.5, "active"),
        ("", 0.5, "active"),
    ],
)
def test_each_item_can_be_asked_for(lived, answers, left, status):
    done = lived.run("sleep", "--interactive", stdin=answers)
    assert done.exit_code == 0
    assert (importance(lived), statuses(lived)["check"]) == (left, status)
    if left == 0.5 and status == "active":
        assert done.stdout.splitlines()[-1] == "nothing was changed"


def test_what_was_taken_item_by_item_is_one_operation(lived):
    lived.run("sleep", "--interactive", stdin="y\ny\n")
    lived.ask("undo", "last")
    assert (importance(lived), statuses(lived)["check"]) == (0.5, "active")


def test_with_nothing_to_do_it_says_so(shell):
    shell.ask("remember", LUNCH)
    assert shell.run("sleep").stdout == "nothing to do\n"
    assert shell.run("sleep", "--interactive").stdout == "nothing to do\n"


@each_row(
    ("options", "message"),
    [
        (["nap"], "error: stages = 'nap': must be one of decay, light, deep, skill, prune, link\n"),
        (
            ["--every", "soon"],
            "error: --every = 'soon': must be a number > 0 with s, m, h, d or w, such as 8h\n",
        ),
        (["--every", "0h"], "error: --every = '0h': must be a number > 0 with s, m, h, d or w, such as 8h\n"),
        (["--window", "0"], "error: window = 0: must be a whole number in [1, 1,000,000]\n"),
        (
            ["--interactive", "--dry-run"],
            "error: --interactive = True: cannot be combined with --dry-run: answer n to skip an item\n",
        ),
        (
            ["--every", "8h", "--dry-run"],
            "error: --every = '8h': cannot be combined with --interactive or --dry-run: leave one out\n",
        ),
    ],
)
def test_what_is_wrong_is_said(shell, options, message):
    shell.ask("remember", LUNCH)
    done = shell.run("sleep", *options)
    assert (done.exit_code, done.stderr) == (2, message)


def test_a_program_is_not_asked(shell):
    done = shell.run("sleep", "--interactive", "--json")
    assert done.exit_code == 2
    assert "cannot be combined with --json" in json.loads(done.stderr)["error"]["message"]


@pytest.mark.slow
def test_while_another_process_sleeps_it_declines_and_says_who_does(lived):
    message = []

    def meanwhile(_done, _total):
        if not message:
            declined = lived.process("sleep", "light", "--json")
            message.append((declined.returncode, json.loads(declined.stderr)["error"]))

    with Memory.open(lived.url) as memory:
        memory.sleep(["decay"], progress=meanwhile)
    ((status, error),) = message
    assert (status, error["code"]) == (1, "busy")
    assert f"process {os.getpid()}, since " in error["message"]
    assert importance(lived) == 0.5


@pytest.mark.slow
def test_it_keeps_at_it_also_where_another_process_sleeps_at_first(lived):
    message = []

    def meanwhile(_done, _total):
        if not message:
            message.append(
                subprocess.Popen(
                    [*COMMAND, "sleep", "--every", "1s", "--json"],
                    env=lived.environment,
                    cwd=lived.folder,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            assert json.loads(message[0].stderr.readline())["error"]["code"] == "busy"

    with Memory.open(lived.url) as memory:
        memory.sleep(["decay"], progress=meanwhile)
    with message[0] as process:
        first = next(json.loads(line) for line in process.stdout if line)
        process.send_signal(signal.SIGINT)
        assert "nothing is half-written" in process.stderr.read()
    assert [item["stage"] for item in first["items"]] == ["light", "skill"]
    assert process.returncode == 130


@pytest.mark.slow
def test_it_keeps_at_it_until_an_interrupt(lived):
    with subprocess.Popen(
        [*COMMAND, "sleep", "--every", "1s", "--json"],
        env=lived.environment,
        cwd=lived.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        first, second = (json.loads(process.stdout.readline()) for _ in range(2))
        process.send_signal(signal.SIGINT)
        message = process.stderr.read()
    assert [len(item["items"]) for item in (first, second)] == [2, 0]
    assert process.returncode == 130
    assert "nothing is half-written" in message
    assert lived.ask("validate") == []


GIST = "The disk fills up."


def with_theme(shell):
    """Four episodes of one theme."""
    shell.embedder = None
    for number in ("one", "two", "three", "four"):
        text = f"The release {number} of Kestrel failed, the disk of Kestrel is full"
        shell.ask("remember", text, "--session", number)


@pytest.fixture
def themed(shell, prepared, monkeypatch):
    """A store with one theme, and a command that says what it is about."""
    for name in ("PRIMING_AGENT", "PRIMING_MODEL", "PRIMING_AGENT_KEY"):
        monkeypatch.delenv(name, raising=False)
    shell.embedder = None
    prepared(shell, with_theme)
    return shell


def saying(gist):
    return f'printf \'{{"gist": "{gist}"}}\''


@pytest.mark.slow
def test_an_agent_is_asked_what_a_cluster_has_in_common(themed):
    (item,) = themed.ask("sleep", "deep", "--agent", saying(GIST))["items"]
    assert (item["evidence"]["gist"], item["evidence"]["text"]) == ("model", GIST)
    assert themed.ask("show", item["into"])["content"] == GIST


@pytest.mark.slow
def test_a_night_asks_the_agent_about_rules_that_are_unclear_and_shows_what_it_did(shell):
    for text in ("Ask argonaut about deploys", "Ask fluxion about deploys"):
        shell.run("learn", text)
    answer = 'printf \'{"change": "changes", "reason": "the tool was replaced"}\''
    done = shell.run("sleep", "light", "--agent", answer)
    assert "deprecate" in done.stdout
    assert [rule["content"] for rule in shell.ask("list", "--kind", "behavior")] == [
        "Ask fluxion about deploys"
    ]
    assert shell.run("sleep", "light", "--agent", "false").exit_code == 0


@pytest.mark.slow
def test_the_environment_may_name_the_agent(themed, monkeypatch):
    monkeypatch.setenv("PRIMING_AGENT", saying(GIST))
    assert themed.ask("sleep", "deep")["items"][0]["evidence"]["text"] == GIST


@pytest.mark.slow
def test_an_agent_that_fails_is_said_to_people_and_the_night_goes_on(themed):
    done = themed.run("sleep", "deep", "--agent", "false")
    assert done.exit_code == 0
    assert "    without the agent: the agent 'false' ended with status 1, must be 0" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("to undo the night: priming undo ")


@pytest.mark.slow
def test_what_was_shown_item_by_item_is_what_is_written(themed):
    done = themed.run("sleep", "deep", "--interactive", "--agent", saying(GIST), stdin="y\n")
    assert f"“{GIST}”" in done.stdout
    key = themed.ask("list", "--kind", "entity", "--matching", "fills")[0]["key"]
    assert themed.ask("show", key)["content"] == GIST


@each_row(
    ("options", "message"),
    [
        (
            ["--agent", ""],
            "error: agent = '': must be a command, quoted as for a shell, such as 'claude -p'\n",
        ),
        (
            ["--model", "qwen3"],
            "error: model = 'qwen3': must be URL,NAME, such as http://localhost:8080/v1,qwen3\n",
        ),
        (
            ["--agent", "claude", "--model", "http://localhost/v1,qwen3"],
            "error: --agent = 'claude': conflicts with --model, which also names an agent: remove one of them\n",
        ),
    ],
)
def test_what_names_no_agent_is_refused(themed, options, message):
    done = themed.run("sleep", *options)
    assert (done.exit_code, done.stderr) == (2, message)
    assert themed.ask("log", "--limit", "1")[0]["kind"] == "remember"


@pytest.mark.extra
@pytest.mark.parametrize("options", [[], ["--interactive"]], ids=["at once", "item by item"])
def test_a_gist_of_the_agent_is_shown_and_written(themed, monkeypatch, options):
    monkeypatch.setattr(
        AgentOptions, "load", lambda _: ScriptedAgent(lambda _prompt, _schema: {"gist": GIST})
    )
    done = themed.run("sleep", "deep", *options, stdin="y\n")
    assert f"“{GIST}”" in done.stdout
    assert [each["content"] for each in themed.ask("list", "--kind", "entity", "--matching", "fills")] == [
        GIST
    ]


def test_the_stage_that_was_left_without_its_extra_is_told_with_the_remedy(shell, monkeypatch):
    monkeypatch.setattr("priming.sleep.deep.LIBRARY", "no_such_package")
    for number in range(4):
        shell.run("remember", f"The disk of Kestrel is full: try {number}.", "--session", f"s{number}")
    done = shell.run("sleep")
    assert done.exit_code == 0, done.stderr
    shown = done.stdout
    assert "left: the stage 'deep' of sleep needs the extra 'sleep': pip install 'priming[sleep]'" in shown
