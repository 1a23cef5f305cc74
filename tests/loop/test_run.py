"""Runs: begun, resumed and locked; and sessions that another program drives, through the same gate and learning."""

import threading

import pytest

from priming import Memory
from priming.config.params.loop import LOOP
from priming.core.metacognition import assess
from priming.errors import Busy, Conflict, NotFound, ParamError
from priming.loop import report as shapes
from priming.loop.report import status_of
from priming.loop.run import (
    ResumeOptions,
    add,
    block,
    clear,
    complete,
    new_session,
    record,
    resume,
    run,
    task_of,
    think,
)
from priming.loop.session import TaskPlan, assessment_of
from priming.loop.session_store import Sessions

from .scripted_runs import (
    LIMITS,
    PASSES,
    Runs,
    blocked,
    delivered,
    impasse,
    planned,
    statuses,
    unclear,
    verify,
)


@pytest.fixture
def sessions(memory):
    return Sessions(memory)


@pytest.fixture
def session(sessions, tmp_path):
    return new_session(sessions, "Mend it all", tmp_path).id


@pytest.fixture
def glue(memory):
    """A memory that an agent was shown."""
    values = {"trigger": "Mend the chair", "resolution": "Use glue."}
    memory.remember("Mend the chair\nUse glue.", kind="pattern", key="glue", metadata=values)
    memory.recall("Mend the chair")
    return "glue"


def test_a_task_is_complete_when_its_gate_passes(sessions, session, glue, memory):
    add(sessions, session, 1, TaskPlan("Mend the chair", (), "true"), [glue])
    done = complete(sessions, session, 1, "Glued it.", [glue, "invented"], verify=verify)
    values = shapes.reply_shape(done)
    assert (values["status"], values["verified"], values["gate"].status) == ("complete", True, "passed")
    assert (values["feedback"]["helped"], values["feedback"]["missing"]) == (1, ["invented"])
    assert memory.get(glue).use.helped == 1
    assert assessment_of(sessions.get(session)).advice == "keep_going"


def test_a_task_whose_gate_fails_stays_pending_until_its_attempts_are_used_up(sessions, session, glue):
    add(sessions, session, 1, TaskPlan("Mend the chair", (), "echo 'Still loose' && false"), [glue])
    for number in range(1, LOOP.attempts):
        values = shapes.reply_shape(complete(sessions, session, 1, "Done.", verify=verify))
        assert (values["status"], values["attempt"], values["gate"].output) == (
            "pending",
            number + 1,
            "Still loose",
        )
    values = shapes.reply_shape(complete(sessions, session, 1, "Done.", verify=verify))
    assert (values["status"], values["reason"]) == ("blocked", "its gate did not pass")
    assert values["feedback"]["unhelpful"] == 1


def test_a_task_without_a_gate_is_called_unverified(sessions, session):
    add(sessions, session, 1, TaskPlan("Write it down"))
    values = shapes.reply_shape(complete(sessions, session, 1, "Written.", verify=verify))
    assert (values["status"], values["verified"]) == ("unverified", False)
    assert sessions.get(session).outcomes == ()


def test_a_block_keeps_the_failure(sessions, session, memory):
    add(sessions, session, 1, TaskPlan("Mend the chair", (), "true"))
    values = shapes.reply_shape(block(sessions, session, 1, "There is no glue."))
    assert (values["status"], values["reason"]) == ("blocked", "There is no glue.")
    (key,) = values["feedback"]["stored"]
    assert "There is no glue." in memory.get(key).content
    assert assessment_of(sessions.get(session)).consecutive_failures == 1


def test_closing_twice_changes_nothing(sessions, session, glue, memory):
    add(sessions, session, 1, TaskPlan("Mend the chair", (), "true"), [glue])
    first = complete(sessions, session, 1, "Glued it.", [glue], verify=verify)
    again = complete(sessions, session, 1, "Glued it again.", [], verify=verify)
    assert again.task == first.task
    assert block(sessions, session, 1, "No.").task == first.task
    assert memory.get(glue).use.helped == 1


def test_tasks_are_told_in_the_shape_of_the_seed(sessions, session):
    add(sessions, session, 2, TaskPlan("Then this", ("b.py",), "true"))
    add(sessions, session, 1, TaskPlan("First this", ("a.py",)))
    session_now = sessions.get(session)
    assert [item.seq for item in session_now.tasks] == [1, 2]
    values = shapes.task_shape(session_now, session_now.tasks[0])
    assert {
        name: values[name] for name in ("session_id", "seq", "objective", "delta", "status", "delivered")
    } == {
        "session_id": session,
        "seq": 1,
        "objective": "First this",
        "delta": ["a.py"],
        "status": "pending",
        "delivered": None,
    }
    complete(sessions, session, 1, "Done.", verify=verify)
    block(sessions, session, 2, "It rains.")
    session_now = sessions.get(session)
    assert shapes.task_counts(session_now) == {
        "session_id": session,
        "total": 2,
        "pending": 0,
        "complete": 0,
        "unverified": 1,
        "blocked": 1,
    }
    assert [shapes.task_shape(session_now, item)["delivered"] for item in session_now.tasks] == [
        "Done.",
        "BLOCKED: It rains.",
    ]


def test_a_number_is_given_once_and_from_one_on(sessions, session):
    add(sessions, session, 1, TaskPlan("First this"))
    with pytest.raises(Conflict, match="take another seq"):
        add(sessions, session, 1, TaskPlan("Another"))
    with pytest.raises(ParamError, match="seq"):
        add(sessions, session, 0, TaskPlan("Another"))
    with pytest.raises(ParamError, match="objective"):
        add(sessions, session, 2, TaskPlan(" "))
    with pytest.raises(NotFound, match="there are 1"):
        complete(sessions, session, 2, "Done.", verify=verify)
    with pytest.raises(ParamError, match="reason"):
        block(sessions, session, 1, " ")
    assert [item.plan.objective for item in sessions.get(session).tasks] == ["First this"]


def test_outcomes_are_recorded_assessed_and_cleared(sessions, session):
    assert shapes.assess(sessions.get(session))["recommendation"] == "keep_going"
    assert record(sessions, session, 1, True, "well") is False
    for seq in (2, 3, 4):
        record(sessions, session, seq, False, "badly")
    session_now = sessions.get(session)
    # Three failures at the end: pivot_now, by the law of metacognition.
    assert shapes.assess(session_now) == {
        "status": "failing",
        "success_rate": 0.25,
        "total_tasks": 4,
        "successes": 1,
        "consecutive_failures": 3,
        "recommendation": "pivot_now",
        "reason": "failing: pivot_now; 25% of tasks succeeded, failures in a row: 3",
    }
    assert shapes.should_pivot(assessment_of(session_now))["should_pivot"] is True
    assert record(sessions, session, 4, True) is True
    session_now = sessions.get(session)
    assert shapes.outcomes(session_now)["success_rate"] == 0.5
    assert shapes.outcomes(session_now)["failure_notes"] == ["badly", "badly"]
    assert shapes.should_pivot(assessment_of(session_now))["should_pivot"] is False
    assert clear(sessions, session) == 4
    assert shapes.assess(sessions.get(session))["status"] == "no_data"


def test_most_failures_make_a_pivot_worth_considering(sessions, session):
    record(sessions, session, 1, False)
    record(sessions, session, 2, False)
    values = shapes.should_pivot(assessment_of(sessions.get(session)))
    assert (values["should_pivot"], values["confidence"]) == ("maybe", "medium")


def test_tasks_that_were_added_from_outside_can_be_run(sessions, session, memory, tmp_path):
    add(sessions, session, 1, TaskPlan("Mend the chair", (), "true"))
    work = Runs(memory, tmp_path).work([delivered()])
    done = resume(work, session, ResumeOptions())
    assert (done.ended, done.tasks[0].status) == ("delivered", "delivered")


# Sessions that an agent runs


def test_an_answer_that_nobody_asked_for_is_refused(runs):
    session = runs.run([planned(("Mend it", PASSES))], yes=False)
    with pytest.raises(Conflict, match="waits for no answer"):
        runs.resume(session, options=ResumeOptions(answer="Yes."))
    assert Sessions(runs.memory).get(session.id) == session


def test_an_answer_says_something(runs):
    session = runs.run([unclear()])
    with pytest.raises(ParamError, match="answer"):
        runs.resume(session, options=ResumeOptions(answer="  "))


def test_a_subgoal_that_was_done_when_the_run_was_ended_is_not_done_again(runs):
    def on_step(session):
        if session.parent is not None and session.state == "SUMMARY":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.run([impasse(), planned(("Look", PASSES)), delivered("It is on page 4.")], on_step=on_step)
    session = Sessions(runs.memory).latest()
    done = runs.resume(session, [planned(("Mend it", PASSES)), delivered()])
    assert (done.ended, runs.phases) == ("delivered", ["reason", "act"])
    assert "It is on page 4." in runs.agent.prompts[0]


def test_a_question_of_a_subgoal_waits_and_is_answered_from_either(runs):
    for which in ("parent", "child"):
        session = runs.run([impasse(), unclear("Which manual?")])
        assert (session.waits.about, status_of(session)) == ("Which manual?", 4)
        named = session if which == "parent" else Sessions(runs.memory).get(session.children[0])
        answers = [planned(("Look", PASSES)), delivered(), planned(("Mend it", PASSES)), delivered()]
        done = runs.resume(named, answers, ResumeOptions(answer="The red one."))
        assert (done.id, done.ended) == (session.id, "delivered")


def test_advice_reaches_the_next_reason_step(runs):
    session = runs.run([planned(("Mend it", PASSES)), blocked()])
    again = runs.resume(session, [planned(("mend  it", PASSES)), delivered()])
    assert "The last task failed" in runs.agent.prompts[0]
    assert (again.ended, statuses(again)) == ("delivered", ["blocked", "delivered"])


def test_a_session_that_pivoted_stops_again_until_a_person_says_what_to_do_differently(runs):
    plan = planned(*((f"Part {name} is loose", PASSES) for name in ("ab", "cd", "ef")))
    session = runs.run([plan, blocked(), blocked(), blocked()])
    assert session.ended == "blocked"
    assert assess(item.success for item in session.outcomes).advice == "pivot_now"
    assert runs.resume(session).ended == "pivot"
    assert runs.phases == []
    values = ResumeOptions(answer="Glue it.")
    done = runs.resume(session, [planned(("Glue it", PASSES)), delivered()], values)
    assert (done.ended, status_of(done)) == ("blocked", 3)
    assert "1 of 4 tasks delivered; open: task 1 (blocked), 2 (blocked), 3 (blocked)" in done.why
    assert "Glue it." in runs.agent.prompts[0]


def test_a_session_that_was_delivered_has_nothing_left_to_do(runs):
    session = runs.run([planned(("Mend it", PASSES)), delivered()])
    assert runs.resume(session) == session
    assert runs.phases == []


def test_thinking_keeps_and_learns_nothing(runs):
    work = runs.work([planned(("Mend it", PASSES))])
    before = runs.memory.log()
    gathered, result = think(work, "Mend what is broken", runs.folder)
    assert (gathered.objective, result.tasks[0].objective) == ("Mend what is broken", "Mend it")
    assert runs.memory.log() == before
    with pytest.raises(NotFound):
        Sessions(runs.memory).latest()


@pytest.mark.parametrize("objective", ["", " \n", "x" * 8193, "a\x00b"])
def test_an_objective_says_what_is_to_be_done(runs, objective):
    with pytest.raises(ParamError, match="objective"):
        runs.run([], objective)


def test_a_folder_is_there(runs, tmp_path):
    with pytest.raises(ParamError, match="folder"):
        run(runs.work([]), "Mend it", tmp_path / "nowhere", LIMITS)
    session = runs.run([planned(("Mend it", PASSES))], yes=False)
    runs.folder.rmdir()
    with pytest.raises(ParamError, match="no longer exists"):
        runs.resume(session)


def test_a_session_that_is_not_there_is_said_so(runs):
    with pytest.raises(NotFound, match="no session 'none'"):
        resume(runs.work([]), "none", ResumeOptions())


def test_a_session_is_run_by_one_process_at_a_time(embedder, clock, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    with (
        Memory.open(url, embedder=embedder, clock=clock) as first,
        Memory.open(url, embedder=embedder, clock=clock) as other,
    ):
        session = Runs(first, tmp_path).run([planned(("Mend it", PASSES))], yes=False)
        with Sessions(first).lock(session.id), pytest.raises(Busy, match="works on this session"):
            Runs(other, tmp_path).resume(session)
        assert (
            Runs(other, tmp_path).resume(session, [delivered()], ResumeOptions(yes=True)).ended == "delivered"
        )


@pytest.mark.slow
def test_two_runs_at_once_on_one_store_hinder_each_other_not(embedder, clock, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    together, ended = threading.Barrier(2, timeout=300), []

    def work(name):
        def answers(prompt, _schema):
            together.wait()
            return planned((f"Mend {name}", PASSES)) if "reason" in prompt.split("\n")[0] else delivered()

        with Memory.open(url, embedder=embedder, clock=clock) as memory:
            ended.append(Runs(memory, tmp_path).run(answers, f"Mend {name}").ended)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("the door", "a window")]
    for item in threads:
        item.start()
    for item in threads:
        item.join()
    assert ended == ["delivered", "delivered"]


def test_a_purge_of_a_memory_that_a_session_names_erases_the_session(runs):
    values = {"trigger": "Mend the chair", "resolution": "Use glue."}
    runs.memory.remember("Mend the chair\nUse glue.", kind="pattern", key="glue", metadata=values)
    session = runs.run([planned(("Mend the chair", PASSES)), delivered()])
    runs.memory.purge("glue")
    with pytest.raises(NotFound):
        Sessions(runs.memory).get(session.id)


class Died(BaseException):
    """The end of a process: nothing after it runs."""


@pytest.mark.parametrize("saves", range(4))
def test_a_report_whose_process_dies_at_any_save_can_be_repeated(sessions, session, glue, monkeypatch, saves):
    # Saved are the report, its verification, the closed task and what it taught.
    add(sessions, session, 1, TaskPlan("Mend the chair", (), PASSES), [glue])
    save, left = Sessions.save, [saves]

    def dying(self, value):
        if not left[0]:
            raise Died
        left[0] -= 1
        return save(self, value)

    monkeypatch.setattr(Sessions, "save", dying)
    with pytest.raises(Died):
        complete(sessions, session, 1, "Glued it.", [glue], verify=verify)
    monkeypatch.undo()
    reply = complete(sessions, session, 1, "Glued it.", [glue], verify=verify)
    assert (reply.task.status, len(reply.task.attempts)) == ("delivered", 1)
    assert reply.task.learnt.helped == (glue,)
    assert sessions.memory.get(glue).use.helped == 1
    assert [outcome.success for outcome in sessions.get(session).outcomes] == [True]


def test_a_task_that_an_agent_planned_can_be_closed_by_another_program(runs):
    session = runs.run([planned(("Mend the chair", PASSES), ("Paint it", PASSES))], yes=False)
    sessions = Sessions(runs.memory)
    assert complete(sessions, session.id, 1, "Glued it.", verify=verify).task.status == "delivered"
    done = runs.resume(session, [delivered()], ResumeOptions(yes=True))
    assert (done.ended, statuses(done)) == ("delivered", ["delivered", "delivered"])
    assert task_of(done, 1).attempts[0].acted.details == "Glued it."
