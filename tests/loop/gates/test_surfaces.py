"""A destructive task over each surface by which another program drives a session: nothing is run without a yes."""

import json

import pytest
from tests.cli.conftest import invoke
from tests.rows import each_row

from priming.errors import Conflict, ParamError
from priming_loop.run import ResumeOptions, allow, loop_resume, resume
from priming_loop.session_store import Sessions
from priming_loop.steps.report import loop_report

from ..scripted_runs import PASSES, REMOVES, Runs, delivered, planned

WIPES = "rm precious && git reset --hard"


@pytest.fixture
def session(memory, tmp_path):
    (tmp_path / "precious").touch()
    return memory.loop_task_new_session("Mend it all", folder=str(tmp_path)).session_id


def test_a_destructive_gate_waits_and_runs_once_a_person_allowed_it(memory, session, tmp_path):
    added = memory.loop_task_add(session, 1, "Tidy up", verify="rm precious")
    assert "its command is not known to be harmless: rm precious" in added.needs
    for _ in range(2):
        reply = memory.loop_task_complete(session, 1, "Tidied.")
        assert (reply.status, reply.verified, reply.gate) == ("waiting", False, None)
        assert f"priming loop allow {session} --seq 1" in reply.reason
        assert (tmp_path / "precious").exists()
    report = loop_report(memory, session)
    assert (report.waits.what, report.status, report.next_command) == (
        "destructive",
        4,
        f"priming loop allow {session}",
    )
    assert allow(memory, session).waits is None
    assert memory.loop_task_complete(session, 1, "Tidied.").status == "complete"
    assert not (tmp_path / "precious").exists()


def test_a_yes_is_to_one_command_for_its_session(memory, session):
    for seq, file in ((1, "a"), (2, "a"), (3, "b")):
        memory.loop_task_add(session, seq, f"Tidy {seq}", verify=f"rm no-{file}")
    memory.loop_task_complete(session, 1, "Tidied.")
    allow(memory, session)
    for seq in (1, 1, 2):
        assert memory.loop_task_complete(session, seq, "Tidied.").status == "pending"
    assert memory.loop_task_add(session, 2, "Tidy 2", verify="rm no-a").needs is None
    assert memory.loop_task_complete(session, 3, "Tidied.").status == "waiting"
    memory.loop_task_block(session, 3, "It is not mine.")
    with pytest.raises(Conflict, match="no task of session"):
        allow(memory, session, 3)


def test_a_yes_may_come_before_the_task_is_reported(memory, session):
    memory.loop_task_add(session, 1, "Tidy up", verify="rm precious")
    allow(memory, session, 1)
    assert memory.loop_task_complete(session, 1, "Tidied.").status == "complete"


def test_a_steering_file_waits_though_its_gate_is_harmless(memory, session):
    memory.loop_task_add(session, 1, "Set it", delta=[".git/config"], verify=PASSES)
    assert memory.loop_task_complete(session, 1, "Set.").status == "waiting"


def test_a_path_that_leads_out_is_refused_when_it_is_added(memory, session):
    with pytest.raises(ParamError, match="delta"):
        memory.loop_task_add(session, 1, "Change it", delta=["../../x"], verify=PASSES)
    assert memory.loop_task_get(session) == []


def test_a_script_that_was_changed_before_its_gate_runs_waits(runs):
    plan = planned(("Mend it", "sh check.sh"))
    runs.gates["sh check.sh"] = lambda: None
    (runs.folder / "check.sh").write_text("test -e x\n")

    def act(prompt, _schema):
        if "PHASE: reason" in prompt:
            return plan
        (runs.folder / "check.sh").write_text("rm -rf .\n")
        return delivered()

    session = runs.run(act)
    assert (session.waits.what, session.waits.seq) == ("destructive", 1)
    assert runs.resume(session, [], ResumeOptions(yes=True)).ended == "delivered"


def test_a_program_cannot_say_the_yes_of_a_person(memory, tmp_path):
    runs = Runs(memory, tmp_path)
    session = runs.run([planned(("Tidy up", REMOVES))])
    with pytest.raises(ParamError, match=r"priming loop allow .* is a person's"):
        loop_resume(memory, session.id, yes=True, agent=runs.agent)
    assert Sessions(memory).get(session.id).waits == session.waits
    allow(memory, session.id)
    assert resume(runs.work([delivered()]), session.id, ResumeOptions()).ended == "delivered"


def test_the_commands_ask_by_their_status_and_go_on_after_a_yes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRIMING_URL", f"sqlite:///{tmp_path / 'memory.db'}")
    (tmp_path / "precious").touch()

    def loop(*words, status=0):
        done = invoke(["loop", *words])
        assert done.exit_code == status, (done.stdout, done.stderr)
        return done.stdout

    session = json.loads(loop("task", "new-session", "--json"))["session_id"]
    task = ("--session", session, "--seq", "1")
    loop("task", "add", *task, "--objective", "Tidy", "--verify", WIPES)
    done = ("task", "complete", *task, "--delivered", "Tidied.", "--json")
    assert json.loads(loop(*done, status=4))["status"] == "waiting"
    assert "waits for approval" in loop("status", session)
    assert (tmp_path / "precious").exists()
    loop("allow", session, "--seq", "1")
    assert json.loads(loop(*done, status=3))["gate"]["status"] == "failed"
    assert not (tmp_path / "precious").exists()


def test_a_session_that_another_program_drives_ends_with_its_last_task(memory, session):
    for seq in (1, 2):
        memory.loop_task_add(session, seq, f"Write page {'ab'[seq - 1]}", verify=PASSES)
    memory.loop_task_complete(session, 2, "Wrote it.")
    assert loop_report(memory, session).ended is None
    memory.loop_task_complete(session, 1, "Wrote it.")
    report = loop_report(memory, session)
    assert (report.state, report.ended, report.status, report.next_command) == (
        "SUMMARY",
        "delivered",
        0,
        None,
    )
    memory.loop_task_add(session, 3, "Write the index", verify="false")
    assert loop_report(memory, session).ended is None
    memory.loop_task_block(session, 3, "There is no paper.")
    assert loop_report(memory, session).ended == "blocked"


@each_row("name", ["loop_task_complete", "loop_run", "loop_resume"])
def test_what_runs_commands_says_that_it_may_destroy(name):
    from priming.mcp.tools import ready_made

    (tool,) = [tool for tool in ready_made() if tool["name"] == name]
    assert tool["annotations"]["destructiveHint"]
    assert tool["annotations"]["openWorldHint"]


def test_a_program_is_told_that_another_way_is_due(memory, tmp_path):
    for _ in range(2):
        session = memory.loop_task_new_session("Open the door", folder=str(tmp_path)).session_id
        assert memory.loop_task_add(session, 1, "Turn the key").needs is None
        memory.loop_task_block(session, 1, "The lock is rusty.")
    context = memory.loop_context("Open the door")
    assert (context.failed, context.ways[0]) == (2, "Turn the key")
    assert "(failed 2 times; tried: The lock is rusty.)" in context.memory.failures[0].resolution
    session = memory.loop_task_new_session("Open the door", folder=str(tmp_path)).session_id
    assert "it failed 2 times before" in memory.loop_task_add(session, 1, "Turn the key").needs
    assert memory.loop_task_add(session, 2, "Take the window").needs is None
