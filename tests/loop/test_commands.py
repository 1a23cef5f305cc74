"""The commands of the loop: exit statuses, what they say to people and to programs, and who is asked."""

import json
import os
import pty
import shlex
import subprocess
import sys

import pytest
from tests.cli.conftest import COMMAND

from priming.cli.options import AgentOptions
from priming.errors import ParamError
from priming.llm.protocol import ScriptedAgent
from priming.operations.schema import arguments
from priming.verbs.rows import BY_NAME

REASON = {"assessment": "simple", "tasks": [], "question": None, "impasse": None, "reasoning": "It is plain."}
ACT = {"status": "delivered", "details": "Done.", "utilized": [], "obstacle": None, "learning": None}
AGENT = """
import json, sys
prompt = sys.stdin.read()
if "REASON_ASKS" in prompt and "The second." not in prompt:
    answer = {asks}
elif prompt.startswith("PRIMING-PHASE: reason"):
    answer = {reason}
else:
    answer = {act}
sys.stdout.write(json.dumps(answer))
"""


def planned(verify, **changed):
    task = {"objective": "Mend it", "delta": ["a.py"], "verify": verify}
    return {**REASON, "tasks": [task], **changed}


@pytest.fixture
def agent(shell, monkeypatch):
    """Makes an agent whose tasks have this gate."""
    monkeypatch.chdir(shell.folder)

    def new(verify="true", act=None):
        asks = {**REASON, "assessment": "unclear", "question": "Which of the two?"}
        program = AGENT.format(asks=asks, reason=planned(verify), act={**ACT, **(act or {})})
        (shell.folder / "agent.py").write_text(program)
        return shlex.join([sys.executable, str(shell.folder / "agent.py")])

    return new


def ran(shell, *arguments, status=0):
    """The answer of a command with ``--json`` that ends with this status."""
    done = shell.run("loop", *arguments, "--json")
    assert done.exit_code == status, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_run_that_delivers_ends_with_0(shell, agent):
    answer = ran(shell, "run", "Mend what is broken", "--agent", agent(), "--yes")
    assert (answer["ended"], answer["status"], answer["tasks"][0]["status"]) == ("delivered", 0, "delivered")


@pytest.mark.slow
def test_a_run_that_is_blocked_ends_with_3(shell, agent):
    answer = ran(shell, "run", "Mend it", "--agent", agent("false"), "--yes", "--max-attempts", 2, status=3)
    assert (answer["ended"], len(answer["tasks"][0]["attempts"])) == ("blocked", 2)


@pytest.mark.slow
def test_a_run_without_a_yes_waits_with_4_and_is_gone_on_with(shell, agent):
    answer = ran(shell, "run", "Mend it", "--agent", agent(), status=4)
    assert (answer["waits"]["what"], answer["status"]) == ("approval", 4)
    assert ran(shell, "resume", answer["session"], "--agent", agent(), status=4)["waits"] == answer["waits"]
    assert ran(shell, "resume", answer["session"], "--yes", "--agent", agent())["ended"] == "delivered"


@pytest.mark.slow
def test_a_question_ends_with_4_and_is_answered(shell, agent):
    answer = ran(shell, "run", "REASON_ASKS", "--agent", agent(), "--yes", status=4)
    assert answer["waits"]["about"] == "Which of the two?"
    done = ran(shell, "resume", answer["session"], "--answer", "The second.", "--yes", "--agent", agent())
    assert done["ended"] == "delivered"


@pytest.mark.slow
def test_an_answer_is_read_from_stdin_as_an_objective_is(shell, agent):
    answer = ran(shell, "run", "REASON_ASKS", "--agent", agent(), "--yes", status=4)
    words = ("resume", answer["session"], "--answer", "-", "--yes", "--agent", agent())
    assert shell.ask("loop", *words, stdin="The second.\n")["ended"] == "delivered"


@pytest.mark.slow
def test_an_agent_that_is_not_there_ends_with_1_and_bad_input_with_2(shell, agent):
    answer = ran(shell, "run", "Mend it", "--agent", "no-such-program", status=1)
    assert (answer["stopped"], answer["state"]) == ("agent", "REASON")
    assert "no-such-program" in answer["why"]
    for wrong in (
        ["run", "Mend it"],
        ["run", " ", "--agent", agent()],
        ["resume", "none", "--agent", agent()],
    ):
        assert shell.run("loop", *wrong).exit_code == 2
    assert shell.run("loop", "run", "x", "--agent", agent(), "--max-attempts", 0).exit_code == 2
    assert shell.run("loop", "run", "x", "--agent", agent(), "--budget-minutes", 0).exit_code == 2


@pytest.mark.slow
def test_people_are_told_how_to_go_on(shell, agent):
    done = shell.run("loop", "run", "Mend it", "--agent", agent())
    session = ran(shell, "status")["session"]
    assert f"priming loop resume {session} --yes" in done.stdout
    assert "1. Mend it [true]" in done.stdout


@pytest.mark.slow
def test_thinking_shows_a_plan_and_keeps_nothing(shell, agent):
    answer = ran(shell, "think", "Mend what is broken", "--agent", agent())
    assert answer["reasoned"]["tasks"][0]["objective"] == "Mend it"
    assert answer["context"]["objective"] == "Mend what is broken"
    assert "1. Mend it" in shell.run("loop", "think", "Mend it", "--agent", agent()).stdout
    assert ran(shell, "list") == []
    assert shell.run("loop", "status").exit_code == 2


@pytest.mark.slow
def test_sessions_are_listed_and_shown(shell, agent):
    answer = ran(shell, "run", "Mend what is broken", "--agent", agent(), "--yes")
    (row,) = ran(shell, "list")
    assert (row["session"], row["delivered"], row["tasks"], row["stands"]) == (
        answer["session"],
        1,
        1,
        "delivered",
    )
    assert "1/1" in shell.run("loop", "list").stdout
    assert "Mend what is broken" in shell.run("loop", "status", answer["session"]).stdout


@pytest.mark.slow
def test_a_report_is_of_one_session_or_of_the_latest(shell, agent):
    answer = ran(shell, "run", "Mend what is broken", "--agent", agent(), "--yes")
    done = shell.run("loop", "report", answer["session"])
    assert (done.exit_code, "gate passed" in done.stdout) == (0, True)
    assert shell.run("loop", "report").stdout == done.stdout


@pytest.mark.slow
def test_a_program_drives_the_loop_by_itself(shell, agent):
    agent()
    session = ran(shell, "task", "new-session", "--objective", "Mend it all")["session_id"]
    of = ["--session", session, "--seq", 1]
    assert ran(shell, "task", "add", *of, "--objective", "Mend it", "--verify", "test -e made") == {
        "session_id": session,
        "seq": 1,
        "status": "pending",
    }
    answer = ran(shell, "task", "complete", *of, "--delivered", "Made it.", status=3)
    assert (answer["status"], answer["gate"]["status"]) == ("pending", "failed")
    assert [item["seq"] for item in ran(shell, "task", "pending", "--session", session)] == [1]
    (shell.folder / "made").touch()
    answer = ran(shell, "task", "complete", *of, "--delivered", "Made it.", "--utilized", '["none"]')
    assert (answer["status"], answer["feedback"]["missing"]) == ("complete", ["none"])
    assert ran(shell, "task", "get", *of)["delivered"] == "Made it."
    assert ran(shell, "task", "summary", "--session", session)["complete"] == 1
    assert ran(shell, "meta", session)["recommendation"] == "keep_going"
    assert ran(shell, "meta", "assess", "--session", session) == ran(shell, "meta", session)


def test_metacognition_is_told_and_asked_from_outside(shell, agent):
    agent()
    session = ran(shell, "task", "new-session")["session_id"]
    for seq in (1, 2, 3):
        assert ran(shell, "meta", "record", "--session", session, "--seq", seq) == {"status": "recorded"}
    assert ran(shell, "meta", "should-pivot", "--session", session)["should_pivot"] is True
    assert ran(shell, "meta", "summary", "--session", session)["total_tasks"] == 3
    assert ran(shell, "meta", "clear", "--session", session) == {"cleared": 3}


def test_a_task_is_blocked_from_outside(shell, agent):
    agent()
    session = ran(shell, "task", "new-session")["session_id"]
    of = ["--session", session, "--seq", 1]
    ran(shell, "task", "add", *of, "--objective", "Mend it", "--delta", '["a.py"]')
    answer = ran(shell, "task", "block", *of, "--reason", "There is no glue.")
    assert (answer["status"], answer["reason"]) == ("blocked", "There is no glue.")


@pytest.mark.parametrize("wrong", ["glue", '{"a": 1}', "[1]", "[" * 100_000])
def test_lists_of_names_are_json(shell, agent, wrong):
    agent()
    session = ran(shell, "task", "new-session")["session_id"]
    done = shell.run(
        "loop", "task", "add", "--session", session, "--seq", 1, "--objective", "x", "--injected", wrong
    )
    assert (done.exit_code, "must be a JSON array of texts" in done.stderr) == (2, True)


def typed(shell, *arguments, answers):
    """A command at a terminal, and what is typed into it; what it drew, and its status."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "loop", *arguments],
        cwd=shell.folder,
        env=shell.environment,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.write(leader, "".join(f"{answer}\n" for answer in answers).encode())
    drawn, query = process.communicate(timeout=60)
    os.close(follower)
    os.close(leader)
    return process.returncode, drawn.decode(), query.decode()


@pytest.mark.slow
def test_a_person_at_a_terminal_is_asked(shell, agent):
    status, drawn, query = typed(
        shell, "run", "REASON_ASKS", "--agent", agent(), answers=["The second.", "y"]
    )
    assert status == 0, query
    assert "Which of the two?" in query
    assert "Act on this plan? [y/N]" in query
    assert "delivered" in drawn


@pytest.mark.slow
def test_a_person_at_a_terminal_may_say_no(shell, agent):
    status, drawn, _ = typed(shell, "run", "Mend it", "--agent", agent(), answers=["n"])
    assert status == 4
    assert "waits for approval of its plan" in drawn


@pytest.mark.slow
def test_what_is_destructive_is_asked_about_even_with_yes(shell, agent):
    status, _, query = typed(shell, "run", "Tidy", "--agent", agent("rm -f x"), "--yes", answers=["y"])
    assert status == 0
    assert "its command is not known to be harmless: rm -f x\n" in query


@pytest.mark.slow
@pytest.mark.parametrize(("handling", "status"), [("SIG_DFL", 130), ("SIG_IGN", 0)])
def test_a_hang_up_ends_a_run_unless_it_is_ignored(shell, agent, handling, status):
    command = agent()
    program = shell.folder / "agent.py"
    program.write_text(f"import os, signal; os.kill(os.getppid(), signal.SIGHUP)\n{program.read_text()}")
    code = f"import signal; signal.signal(signal.SIGHUP, signal.{handling})\n{COMMAND[-1]}"
    done = shell.process("loop", "think", "Mend it", "--agent", command, command=[*COMMAND[:-1], code])
    assert done.returncode == status, done.stderr


@pytest.fixture
def scripted(shell, monkeypatch):
    """An agent in this process, whose tasks have no gate."""
    asks = {**REASON, "assessment": "unclear", "question": "Which of the two?"}

    def answer(prompt, _schema):
        if "REASON_ASKS" in prompt and "The second." not in prompt:
            return asks
        return planned(None) if prompt.startswith("PRIMING-PHASE: reason") else ACT

    monkeypatch.setattr(AgentOptions, "load", lambda _: ScriptedAgent(answer))
    return shell


def test_a_plan_waits_for_a_yes_and_is_then_carried_out(scripted):
    waiting = ran(scripted, "run", "Mend it", status=4)
    assert (waiting["waits"]["what"], waiting["status"]) == ("approval", 4)
    hint = f"to continue: priming loop resume {waiting['session']} --yes"
    assert hint in scripted.run("loop", "status").stdout
    done = scripted.run("loop", "resume", waiting["session"], "--yes", "--json")
    assert json.loads(done.stdout)["tasks"][0]["status"] == "unverified"
    assert "1. unverified  Mend it" in scripted.run("loop", "report", waiting["session"]).stdout
    assert "Mend it" in scripted.run("loop", "list").stdout


def test_a_question_waits_for_its_answer(scripted):
    waiting = ran(scripted, "run", "REASON_ASKS", "--yes", status=4)
    assert waiting["waits"]["about"] == "Which of the two?"
    shown = scripted.run("loop", "resume", waiting["session"], "--answer", "The second.", "--yes").stdout
    assert "unverified" in shown


def test_thinking_in_words_names_the_tasks_and_keeps_nothing(scripted):
    assert "1. Mend it\n   files a.py; gate none\n" in scripted.run("loop", "think", "Mend it").stdout
    assert ran(scripted, "list") == []


def test_without_an_agent_there_is_no_run(shell):
    done = shell.run("loop", "run", "Mend it")
    assert done.exit_code == 2
    assert "agent = None: must be given" in done.stderr


def test_the_help_has_a_panel_of_the_loop_and_a_group_in_a_group(shell):
    assert "\nLoop:\n" in shell.run("--help").stdout
    shown = shell.run("loop", "meta", "--help").stdout
    assert "\nCommands:\n  record" in shown
    assert "should-pivot  Advise whether to take another approach\n" in shown


def test_a_run_at_a_server_needs_the_path_of_its_folder():
    with pytest.raises(ParamError, match="folder = None: must be given: the absolute path of the folder"):
        arguments(BY_NAME["loop_run"], {"objective": "Paint the door"})
