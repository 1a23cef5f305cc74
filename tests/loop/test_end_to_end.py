"""The loop whole: a program with rules mends a repository whose tests fail, and is quicker the second time."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from priming.llm.agents import CommandAgent
from priming_loop.environment import LoopEnvironment
from priming_loop.run import ResumeOptions, resume, run
from priming_loop.session_store import Sessions, limits
from priming_loop.steps.report import report, status_of

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).with_name("rule_agent.py")
AGENT = shlex.join([sys.executable, str(PROGRAM)])
COMMAND = [sys.executable, "-c", "from priming.cli.start import main; main()"]
EASY, HARD = {"ONE": 1}, {"ONE": 5, "TWO": 6}
"""What a module's names must be: 1 is what the agent tries of itself; what is wrong twice takes three attempts."""


def git(folder, *arguments):
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder, modules):
    """A repository whose modules lack what their tests ask for."""
    (folder / "tests").mkdir(parents=True)
    (folder / "conftest.py").write_text("")
    for name, expected in modules.items():
        (folder / f"{name}.py").write_text("".join(f"{item} = None\n" for item in expected))
        tests = [
            f"\n\ndef test_{item}():\n    assert {name}.{item} == {value}\n"
            for item, value in expected.items()
        ]
        (folder / "tests" / f"test_{name}.py").write_text(f"import {name}\n" + "".join(tests))
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    return folder


def modules(count):
    """So many, of which the last is hard where there is more than one."""
    names = ["alpha", "bravo", "delta", "hotel", "india", "kilo", "lima", "mike"][:count]
    return {item: HARD if item == names[-1] and count > 1 else EASY for item in names}


def passes(folder):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=folder, capture_output=True
    )
    return done.returncode == 0


def attempts(session):
    return [len(item.attempts) for item in session.tasks]


@pytest.fixture(autouse=True)
def _only_what_pytest_brings(monkeypatch):
    # The gates run pytest again and again: plugins cost more than the tests.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def started(memory, tmp_path, monkeypatch):
    """Run the loop on a repository, in its folder."""

    def start(built, objective="Make the failing tests pass"):
        folder = tmp_path / "repository"
        if not folder.exists():
            repository(folder, built)
        monkeypatch.chdir(folder)
        work = LoopEnvironment(memory, CommandAgent(AGENT), yes=True)
        return run(work, objective, folder, limits())

    return start


def test_the_second_run_of_a_similar_objective_takes_fewer_attempts(memory, started, tmp_path):
    folder = tmp_path / "repository"
    first = started(modules(3))
    assert passes(folder)
    assert (status_of(first), attempts(first)) == (0, [1, 1, 3])
    assert [item.verified.status for item in first.tasks[2].attempts] == ["failed", "failed", "passed"]
    saved = {memory.get(key).kind for key in first.tasks[2].learnt.stored}
    assert saved == {"failure", "pattern"}

    git(folder, "checkout", "-q", ".")
    assert not passes(folder)
    second = started(None, "Make all the failing tests pass")
    assert passes(folder)
    assert (status_of(second), attempts(second)) == (0, [1, 1, 1])
    values = report(Sessions(memory), second)
    assert set(values.helped) & set(report(Sessions(memory), first).stored)
    for key in second.tasks[2].learnt.helped:
        assert memory.get(key).use.helped >= 1


@pytest.mark.parametrize("fault", ["crash", "garbage"])
def test_an_agent_that_fails_once_is_asked_again(started, tmp_path, monkeypatch, fault):
    monkeypatch.setenv("FAULT", fault)
    monkeypatch.setenv("FAULT_AT", "act")
    session = started(modules(1))
    assert (session.ended, attempts(session)) == ("delivered", [2])
    why = {"crash": "it crashed", "garbage": "there is no JSON object in it"}
    assert why[fault] in session.tasks[0].attempts[0].error
    assert passes(tmp_path / "repository")


@pytest.mark.parametrize("fault", ["crash", "garbage"])
def test_an_agent_that_cannot_reason_leaves_a_session_that_goes_on(memory, started, monkeypatch, fault):
    monkeypatch.setenv("FAULT", fault)
    monkeypatch.setenv("FAULT_AT", "reason")
    session = started(modules(1))
    assert (session.stopped, status_of(session)) == ("agent", 1)
    monkeypatch.delenv("FAULT")
    done = resume(LoopEnvironment(memory, CommandAgent(AGENT), yes=True), session.id, ResumeOptions())
    assert done.ended == "delivered"


def environment(folder):
    saved = {
        name: value
        for name, value in os.environ.items()
        if name == "PRIMING_EMBEDDER" or not name.startswith("PRIMING_")
    }
    return {**saved, "PRIMING_URL": f"sqlite:///{folder}/memory.db", "PYTHONUTF8": "1"}


def priming(folder, *arguments):
    return subprocess.run(
        [*COMMAND, "loop", *arguments],
        cwd=folder / "repository",
        env=environment(folder),
        capture_output=True,
    )


def test_the_command_line_does_it_too_and_tells_of_it(tmp_path):
    folder = repository(tmp_path / "repository", modules(2))
    objective = "Make the failing tests pass"
    done = priming(tmp_path, "run", objective, "--agent", AGENT, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert [item["status"] for item in values["tasks"]] == ["delivered", "delivered"]
    assert passes(folder)
    shown = priming(tmp_path, "report", values["session"]).stdout.decode()
    assert "3, delivered, gate passed" in shown
    assert json.loads(priming(tmp_path, "report", values["session"], "--json").stdout) == values


WAITS = """
import os, sys
from pathlib import Path
place = Path(os.environ["PLACE"])
once = place / (sys.argv[-1] + ".once")
if not once.exists():
    once.touch()
    (place / "pid").write_text(str(os.getpid()))
    with open(place / "here", "w") as fifo:
        fifo.write("here")
    with open(place / "never") as fifo:
        fifo.read()
"""
PHASES = """
import sys
prompt = sys.stdin.read()
phase = prompt.split(chr(10))[0].removeprefix("PRIMING-PHASE: ")
sys.argv = ["", phase]
if phase == {at!r}:
    exec({waits!r})
answers = {{
    "reason": '{{"assessment": "simple", "tasks": [{{"objective": "Mend it", "delta": [], "verify": {gate}}}],'
    ' "question": null, "impasse": null, "reasoning": ""}}',
    "act": '{{"status": "delivered", "details": "Done.", "utilized": [], "obstacle": null, "learning": null}}',
}}
with open("../asked", "a") as file:
    file.write(phase + chr(10))
sys.stdout.write(answers[phase])
"""


def blocking(folder, at):
    """An agent and a gate, one of which waits for ever at its first turn and says so."""
    (folder / "repository").mkdir()
    for name in ("here", "never"):
        os.mkfifo(folder / name)
    passing = "import unittest\nclass Mended(unittest.TestCase):\n    def test_it(self): pass\n"
    (folder / "repository" / "test_gate.py").write_text((WAITS if at == "gate" else "") + passing)
    gate = json.dumps(shlex.join([sys.executable, "-m", "unittest", "test_gate"]))
    (folder / "agent.py").write_text(PHASES.format(at=at, waits=WAITS, gate=gate))
    return shlex.join([sys.executable, str(folder / "agent.py")])


def begun(folder, agent):
    """The process of a run that has come to where it is blocked, and the id of what blocks it."""
    process = subprocess.Popen(
        [*COMMAND, "loop", "run", "Mend what is broken", "--agent", agent, "--yes", "--json"],
        cwd=folder / "repository",
        env={**environment(folder), "PLACE": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with open(folder / "here") as fifo:
        assert fifo.read() == "here"
    return process, int((folder / "pid").read_text())


def gone_on(folder, agent):
    """Go on with the latest session, to its end."""
    session = json.loads(priming(folder, "status", "--json").stdout)["session"]
    os.environ["PLACE"] = str(folder)
    try:
        done = priming(folder, "resume", session, "--yes", "--agent", agent, "--json")
    finally:
        del os.environ["PLACE"]
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("at", "questions"),
    [("reason", ["reason", "act"]), ("act", ["reason", "act"]), ("gate", ["reason", "act"])],
)
def test_a_process_killed_while_it_waits_for_another_goes_on(tmp_path, at, questions):
    agent = blocking(tmp_path, at)
    process, blocker = begun(tmp_path, agent)
    process.kill()
    process.communicate()
    os.kill(blocker, signal.SIGKILL)  # nobody ends it for a process that is gone
    values = gone_on(tmp_path, agent)
    assert values["ended"] == "delivered"
    assert (tmp_path / "asked").read_text().split() == questions


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"


@pytest.mark.parametrize("how", [[signal.SIGINT, signal.SIGINT], [signal.SIGTERM]])
def test_a_second_ctrl_c_ends_a_run_at_once_with_what_it_started(tmp_path, how):
    agent = blocking(tmp_path, "act")
    process, blocker = begun(tmp_path, agent)
    process.send_signal(how[0])
    if len(how) > 1:
        assert b"after this step" in process.stderr.readline()
        process.send_signal(how[1])
    _, reply = process.communicate()
    assert process.returncode == 130
    assert b"loop resume" in reply
    assert is_gone(blocker)
    assert gone_on(tmp_path, agent)["ended"] == "delivered"


def test_one_ctrl_c_lets_the_step_be_finished(tmp_path):
    agent = blocking(tmp_path, "act")
    process, _ = begun(tmp_path, agent)
    process.send_signal(signal.SIGINT)
    assert b"after this step" in process.stderr.readline()
    (tmp_path / "never").open("w").close()  # the agent goes on, and answers
    reply, _ = process.communicate()
    assert process.returncode == 130
    values = json.loads(reply)
    assert (values["stopped"], values["tasks"][0]["attempts"][0]["acted"]["status"]) == (
        "interrupt",
        "delivered",
    )
    assert gone_on(tmp_path, agent)["ended"] == "delivered"
    assert (tmp_path / "asked").read_text().split() == ["reason", "act"]
