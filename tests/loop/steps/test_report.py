"""A report: what was tried, what was learnt, and how it goes, in words."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from priming import FixedClock, Memory
from priming_loop.session import ActionResult, Attempt, Verification, Wait
from priming_loop.session_store import Sessions
from priming_loop.steps.report import describe_attempt, describe_state, report, status_of, summarise

from ..scripted_runs import PASSES, Runs, blocked, delivered, impasse, planned


@pytest.fixture(scope="module")
def ran(embedder, tmp_path_factory):
    clock = FixedClock(datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
    with Memory.open("sqlite://", embedder=embedder, clock=clock) as memory:
        yield Runs(memory, tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def session(ran):
    values = {"trigger": "Mend the chair", "resolution": "Use glue."}
    ran.memory.remember("Mend the chair\nUse glue.", kind="pattern", key="glue", metadata=values)
    plan = planned(("Mend the chair", "true"), ("Paint <it> *red*", "true"))
    return ran.run([plan, delivered(utilized=["glue"]), blocked("No paint\nis left.")])


def test_a_report_says_who_helped_and_what_was_learnt(ran, session):
    values = report(Sessions(ran.memory), session)
    assert values.helped == ("glue",)
    stored = {ran.memory.get(key).kind for key in values.stored}
    assert "failure" in stored
    # One of two tasks succeeded, the last one failed: slow down, by the law of metacognition.
    assert (values.advice, values.status) == ("slow_down", 3)
    assert (
        values.line
        == "the approach struggles: slow down; 1 of 2 tasks delivered (50%), and the last one failed"
    )


def test_a_session_that_nobody_knows_the_end_of_has_no_status(session):
    assert status_of(replace(session, state="ACT", ended=None)) is None


@pytest.mark.parametrize(
    ("changed", "status", "stands"),
    [
        ({"waits": Wait("answer", "Which?")}, 4, "waits for an answer"),
        ({"stopped": "interrupt", "state": "ACT"}, 130, "stopped: interrupted"),
        (
            {"stopped": "agent", "state": "REASON", "ended": None},
            1,
            "stopped: the agent gave no usable answer",
        ),
        ({"ended": "delivered"}, 0, "delivered"),
        ({"ended": "unverified"}, 3, "unverified"),
        ({"ended": "impasse"}, 3, "impasse"),
    ],
)
def test_the_status_says_describe_state(session, changed, status, stands):
    item = replace(session, **changed)
    assert (status_of(item), describe_state(item)) == (status, stands)


def test_a_list_tells_how_many_tasks_were_delivered(session):
    values = summarise(session)
    assert (values.tasks, values.delivered, values.stands) == (2, 1, "blocked")


def test_an_attempt_is_told_in_a_line(session):
    at = session.created_at
    reply = ActionResult("delivered", "Glued\nit.")
    assert describe_attempt(Attempt(1, at)) == "1, not finished"
    assert describe_attempt(Attempt(2, at, error="it\ncrashed")) == "2, no usable answer: it crashed"
    result = Verification("true", "failed", 1)
    assert (
        describe_attempt(Attempt(3, at, acted=reply, verified=result))
        == "3, delivered, gate failed: Glued it."
    )


def test_a_report_tells_of_subgoals_too(runs):
    answers = [impasse(), planned(("Look", PASSES)), delivered(), planned(("Mend", PASSES)), delivered()]
    session = runs.run(answers)
    values = report(Sessions(runs.memory), session)
    assert [item.objective for item in values.children] == ["Find out how"]
    assert values.status == 0
    assert replace(values, children=()).tasks == session.tasks
