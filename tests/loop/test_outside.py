"""A session that somebody else drives: the same gate, the same learning, the seed's shapes."""

import pytest

from priming.config.params.loop import LOOP
from priming.errors import Conflict, NotFound, ParamError
from priming.loop import outside
from priming.loop.run import Given, resume
from priming.loop.session import Sessions, how_it_goes
from priming.looping import TaskPlan

from .acted import Runs, delivered


@pytest.fixture
def sessions(memory):
    return Sessions(memory)


@pytest.fixture
def session(sessions, tmp_path):
    return outside.new_session(sessions, "Mend it all", tmp_path).id


@pytest.fixture
def known(memory):
    """A memory that an agent was shown."""
    told = {"trigger": "Mend the chair", "resolution": "Use glue."}
    memory.remember("Mend the chair\nUse glue.", kind="pattern", key="glue", metadata=told)
    memory.recall("Mend the chair")
    return "glue"


def test_a_task_is_complete_when_its_gate_passes(sessions, session, known, memory):
    outside.add(sessions, session, 1, TaskPlan("Mend the chair", (), "true"), [known])
    done = outside.complete(sessions, session, 1, "Glued it.", [known, "invented"])
    told = outside.answer(done)
    assert (told["status"], told["verified"], told["gate"].status) == ("complete", True, "passed")
    assert (told["feedback"]["helped"], told["feedback"]["missing"]) == (1, ["invented"])
    assert memory.get(known).use.helped == 1
    assert how_it_goes(sessions.get(session)).advice == "keep_going"


def test_a_task_whose_gate_fails_stays_pending_until_its_attempts_are_used_up(sessions, session, known):
    outside.add(
        sessions, session, 1, TaskPlan("Mend the chair", (), "sh -c 'echo Still loose; false'"), [known]
    )
    for number in range(1, LOOP.attempts):
        told = outside.answer(outside.complete(sessions, session, 1, "Done."))
        assert (told["status"], told["attempt"], told["gate"].output) == (
            "pending",
            number + 1,
            "Still loose",
        )
    told = outside.answer(outside.complete(sessions, session, 1, "Done."))
    assert (told["status"], told["reason"]) == ("blocked", "its gate did not pass")
    assert told["feedback"]["unhelpful"] == 1


def test_a_task_without_a_gate_is_complete_but_not_verified(sessions, session):
    outside.add(sessions, session, 1, TaskPlan("Write it down"))
    told = outside.answer(outside.complete(sessions, session, 1, "Written."))
    assert (told["status"], told["verified"]) == ("complete", False)
    assert sessions.get(session).outcomes == ()


def test_a_block_keeps_the_failure(sessions, session, memory):
    outside.add(sessions, session, 1, TaskPlan("Mend the chair", (), "true"))
    told = outside.answer(outside.block(sessions, session, 1, "There is no glue."))
    assert (told["status"], told["reason"]) == ("blocked", "There is no glue.")
    (key,) = told["feedback"]["stored"]
    assert "There is no glue." in memory.get(key).content
    assert how_it_goes(sessions.get(session)).consecutive_failures == 1


def test_closing_twice_changes_nothing(sessions, session, known, memory):
    outside.add(sessions, session, 1, TaskPlan("Mend the chair", (), "true"), [known])
    first = outside.complete(sessions, session, 1, "Glued it.", [known])
    again = outside.complete(sessions, session, 1, "Glued it again.", [])
    assert again.task == first.task
    assert outside.block(sessions, session, 1, "No.").task == first.task
    assert memory.get(known).use.helped == 1


def test_tasks_are_told_in_the_shape_of_the_seed(sessions, session):
    outside.add(sessions, session, 2, TaskPlan("Then this", ("b.py",), "true"))
    outside.add(sessions, session, 1, TaskPlan("First this", ("a.py",)))
    held = sessions.get(session)
    assert [one.seq for one in held.tasks] == [1, 2]
    told = outside.shaped(held, held.tasks[0])
    assert {
        name: told[name] for name in ("session_id", "seq", "objective", "delta", "status", "delivered")
    } == {
        "session_id": session,
        "seq": 1,
        "objective": "First this",
        "delta": ["a.py"],
        "status": "pending",
        "delivered": None,
    }
    outside.complete(sessions, session, 1, "Done.")
    outside.block(sessions, session, 2, "It rains.")
    held = sessions.get(session)
    assert outside.counted(held) == {
        "session_id": session,
        "total": 2,
        "pending": 0,
        "complete": 1,
        "blocked": 1,
    }
    assert [outside.shaped(held, one)["delivered"] for one in held.tasks] == ["Done.", "BLOCKED: It rains."]


def test_a_number_is_given_once_and_from_one_on(sessions, session):
    outside.add(sessions, session, 1, TaskPlan("First this"))
    with pytest.raises(Conflict, match="take another seq"):
        outside.add(sessions, session, 1, TaskPlan("Another"))
    with pytest.raises(ParamError, match="seq"):
        outside.add(sessions, session, 0, TaskPlan("Another"))
    with pytest.raises(ParamError, match="objective"):
        outside.add(sessions, session, 2, TaskPlan(" "))
    with pytest.raises(NotFound, match="there are 1"):
        outside.complete(sessions, session, 2, "Done.")
    with pytest.raises(ParamError, match="reason"):
        outside.block(sessions, session, 1, " ")
    assert [one.plan.objective for one in sessions.get(session).tasks] == ["First this"]


def test_outcomes_are_recorded_assessed_and_cleared(sessions, session):
    assert outside.assessed(sessions.get(session))["recommendation"] == "keep_going"
    assert outside.record(sessions, session, 1, True, "well") is False
    for seq in (2, 3, 4):
        outside.record(sessions, session, seq, False, "badly")
    held = sessions.get(session)
    # Three failures at the end: pivot_now, by the law of metacognition.
    assert outside.assessed(held) == {
        "status": "failing",
        "success_rate": 0.25,
        "total_tasks": 4,
        "successes": 1,
        "consecutive_failures": 3,
        "recommendation": "pivot_now",
        "reason": "failing: pivot_now; 25% of tasks succeeded, failures in a row: 3",
    }
    assert outside.should_pivot(how_it_goes(held))["should_pivot"] is True
    assert outside.record(sessions, session, 4, True) is True
    held = sessions.get(session)
    assert outside.outcomes(held)["success_rate"] == 0.5
    assert outside.outcomes(held)["failure_notes"] == ["badly", "badly"]
    assert outside.should_pivot(how_it_goes(held))["should_pivot"] is False
    assert outside.clear(sessions, session) == 4
    assert outside.assessed(sessions.get(session))["status"] == "no_data"


def test_most_failures_make_a_pivot_worth_considering(sessions, session):
    outside.record(sessions, session, 1, False)
    outside.record(sessions, session, 2, False)
    told = outside.should_pivot(how_it_goes(sessions.get(session)))
    assert (told["should_pivot"], told["confidence"]) == ("maybe", "medium")


def test_tasks_that_were_added_from_outside_can_be_run(sessions, session, memory, tmp_path):
    outside.add(sessions, session, 1, TaskPlan("Mend the chair", (), "true"))
    work = Runs(memory, tmp_path).work([delivered()])
    done = resume(work, session, Given())
    assert (done.ended, done.tasks[0].status) == ("delivered", "delivered")
