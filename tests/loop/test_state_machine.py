"""The state machine: state by state, tasks through their gates, limits, questions, and a person who is asked."""

from dataclasses import replace

import pytest

from priming.errors import AgentError
from priming.llm.agents import CommandAgent
from priming_loop.run import ResumeOptions, run
from priming_loop.session import Verification
from priming_loop.session_store import LOOP, Sessions, limits
from priming_loop.steps.report import status_of

from .scripted_runs import (
    FAILS,
    PASSES,
    REMOVES,
    REMOVES_ALL,
    Anna,
    blocked,
    delivered,
    impasse,
    planned,
    statuses,
    unclear,
)


def test_a_task_is_delivered_when_its_gate_passes(runs):
    session = runs.run([planned(("Mend it", PASSES)), delivered()])
    assert (session.state, session.ended, statuses(session)) == ("SUMMARY", "delivered", ["delivered"])
    assert status_of(session) == 0
    assert runs.phases == ["reason", "act"]


def test_what_the_agent_says_counts_for_nothing(runs):
    session = runs.run([planned(("Mend it", FAILS)), *[delivered("It is done, really.")] * 3])
    assert statuses(session) == ["blocked"]
    assert (session.ended, status_of(session)) == ("blocked", 3)
    assert [item.verified.status for item in session.tasks[0].attempts] == ["failed"] * 3


def test_the_output_of_a_gate_that_fails_goes_to_the_next_attempt(runs):
    target = runs.folder / "target"
    runs.gates["test -e target"] = lambda: None if target.exists() else "the file is missing"

    def answers(prompt, _schema):
        if "reason" in prompt.split("\n")[0]:
            return planned(("Make it", "test -e target"))
        if "the file is missing" in prompt:
            target.touch()
        return delivered()

    session = runs.run(answers)
    assert [attempt.verified.status for attempt in session.tasks[0].attempts] == ["failed", "passed"]
    assert "This is attempt 2." in runs.agent.prompts[-1]


def test_the_attempts_at_a_task_are_limited(runs):
    session = runs.run([planned(("Mend it", FAILS)), delivered()], limits=limits(attempts=1))
    assert len(session.tasks[0].attempts) == 1
    assert statuses(session) == ["blocked"]


def test_an_agent_that_is_blocked_is_not_asked_again(runs):
    session = runs.run([planned(("Mend it", PASSES), ("Then this", PASSES)), blocked(), delivered()])
    assert statuses(session) == ["blocked", "delivered"]
    assert session.ended == "blocked"
    assert len(session.tasks[0].attempts) == 1


def test_every_state_is_kept_before_the_next_one_acts(runs):
    seen = []
    sessions = Sessions(runs.memory)

    def on_step(session):
        assert sessions.get(session.id) == session
        seen.append(session.state)

    runs.run([planned(("Mend it", PASSES)), delivered()], on_step=on_step)
    in_order = list(dict.fromkeys(seen))
    assert in_order == ["CONTEXT", "REASON", "ACT", "NEXT", "DONE", "LEARN", "SUMMARY"]


def test_the_gate_of_a_task_that_has_none_is_asked_for_once(runs):
    session = runs.run([planned(("Mend it", None)), planned(("Mend it", PASSES)), delivered()])
    assert session.ended == "delivered"
    assert runs.phases == ["reason", "reason", "act"]
    assert "verify for every task" in runs.agent.prompts[1]


def test_a_task_without_a_gate_is_unverified_and_neither_success_nor_failure(runs):
    session = runs.run([planned(("Write it", None)), planned(("Write it", None)), delivered()])
    assert (statuses(session), session.ended, status_of(session)) == (["unverified"], "unverified", 3)
    assert session.outcomes == ()


def test_without_a_person_and_without_yes_a_run_waits_before_it_acts(runs):
    session = runs.run([planned(("Mend it", PASSES))], yes=False)
    assert (session.state, session.waits.what, status_of(session)) == ("ACT", "approval", 4)
    assert "Mend it" in session.waits.about
    assert runs.phases == ["reason"]
    done = runs.resume(session, [delivered()], ResumeOptions(yes=True), yes=False)
    assert done.ended == "delivered"
    assert runs.phases == ["act"]


def test_a_person_is_shown_the_plan_and_may_refuse_it(runs):
    anna = Anna(allow=False)
    session = runs.run([planned(("Mend it", PASSES))], yes=False, person=anna)
    assert anna.questions == [("approval", f"1. Mend it [{PASSES}]")]
    assert status_of(session) == 4
    anna.allowed = True
    assert runs.resume(session, [delivered()], yes=False, person=anna).ended == "delivered"


def test_what_is_destructive_waits_for_a_person_whatever_was_agreed(runs):
    plan = planned(("Mend it", PASSES), ("Tidy up", REMOVES))
    session = runs.run([plan, delivered()])
    assert (session.waits.what, session.waits.seq) == ("destructive", 2)
    assert statuses(session) == ["delivered", "pending"]
    refused = runs.resume(session)
    assert (refused.waits, runs.phases) == (session.waits, [])
    done = runs.resume(refused, [delivered()], ResumeOptions(yes=True))
    assert done.ended == "delivered"


def test_a_yes_is_to_one_command_for_the_session_and_its_subgoals(runs):
    tasks = ("Tidy up", REMOVES), ("Tidy more", REMOVES), ("Tidy all", REMOVES_ALL)
    session = runs.run([planned(*tasks)])
    session = runs.resume(session, [delivered()] * 2, ResumeOptions(yes=True))
    assert (session.waits.seq, statuses(session)) == (3, ["delivered", "delivered", "pending"])
    session = runs.run([impasse(), planned(("Tidy up", REMOVES))], "Tidy the yard")
    left = [delivered(), planned(("Tidy more", REMOVES)), delivered()]
    assert runs.resume(session, left, ResumeOptions(yes=True)).ended == "delivered"


def test_a_question_waits_for_its_answer(runs):
    session = runs.run([unclear("Which of the two?")])
    assert (session.state, status_of(session)) == ("ASK", 4)
    assert (session.waits.what, session.waits.about) == ("answer", "Which of the two?")
    done = runs.resume(
        session, [planned(("Mend it", PASSES)), delivered()], ResumeOptions(answer="The second.")
    )
    assert done.ended == "delivered"
    assert "The second." in runs.agent.prompts[0]


def test_a_person_who_is_there_is_asked_at_once(runs):
    anna = Anna("The second.")
    session = runs.run([unclear(), planned(("Mend it", PASSES)), delivered()], person=anna)
    assert session.ended == "delivered"
    assert anna.questions == ["Which of the two?"]


def test_an_impasse_is_worked_on_as_a_subgoal_and_returns_to_its_parent(runs):
    answers = [
        impasse("Find out how"),
        planned(("Look it up", PASSES)),
        delivered("The manual says: turn it."),
        planned(("Turn it", PASSES)),
        delivered(),
    ]
    session = runs.run(answers, "Open the tin")
    assert session.ended == "delivered"
    (child,) = (Sessions(runs.memory).get(item) for item in session.children)
    assert (child.objective, child.parent, child.depth) == ("Find out how", session.id, 1)
    assert "Open the tin" in runs.agent.prompts[1]
    assert "The manual says: turn it." in runs.agent.prompts[3]


def test_subgoals_go_so_deep_only(runs):
    goals = iter(
        ("Look at the shelf", "Ask the owner", "Read a manual", "Wait for rain", "Call home", "Sleep", "Dig")
    )
    session = runs.run(lambda _prompt, _schema: impasse(next(goals)), limits=limits(depth=1))
    children = [Sessions(runs.memory).get(item) for item in session.children]
    assert session.ended == "pivot"
    assert [(item.ended, item.depth, item.children) for item in children] == [("impasse", 1, ())]


def test_a_session_without_subgoals_ends_at_an_impasse(runs):
    session = runs.run([impasse("Find out how", "conflict")], limits=limits(depth=0))
    assert (session.ended, status_of(session), session.children) == ("impasse", 3, ())
    assert "conflict" in session.why


def test_a_session_has_so_many_subgoals_only(runs):
    most = LOOP.subgoals
    goals = ("Ask the owner", "Read a manual", "Wait for rain")[:most]
    steps = [(planned(("Look", FAILS)), blocked(), impasse(goal)) for goal in goals]
    answers = [impasse("Look at the shelf"), *(answer for step in steps for answer in step)]
    session = runs.run(answers)
    assert session.ended == "impasse"
    assert len(session.children) == most


def test_three_blocked_tasks_stop_the_run_before_the_next(runs):
    runs.memory.remember(
        "Mend what is broken\nReplace it by a new one.",
        kind="pattern",
        metadata={"trigger": "Mend what is broken", "resolution": "Replace it by a new one."},
    )
    plan = planned(*((f"Tighten part {name}", PASSES) for name in ("ab", "cd", "ef", "gh")))
    session = runs.run([plan, blocked(), blocked(), blocked()])
    assert (session.ended, status_of(session)) == ("pivot", 3)
    assert statuses(session) == ["blocked"] * 3 + ["pending"]
    assert "Replace it by a new one." in " ".join(item.text for item in session.alternatives)
    stored = [runs.memory.get(key) for key in session.learnt.stored + session.learnt.strengthened]
    assert [item.kind for item in stored] == ["failure"]
    assert "3 tasks failed" in stored[0].content


def test_more_tasks_than_the_limit_are_left_out_and_it_says_so(runs):
    plan = planned(("One", PASSES), ("Two", PASSES), ("Three", PASSES))
    session = runs.run([plan, delivered(), delivered()], limits=limits(tasks=2))
    assert (session.ended, status_of(session), len(session.tasks)) == ("limit", 3, 2)
    assert session.why.startswith("1 more task")


def test_an_agent_that_gives_no_answer_uses_up_an_attempt(runs):
    answers = iter([planned(("Mend it", PASSES)), AgentError("it crashed"), delivered()])

    def answer(_prompt, _schema):
        result = next(answers)
        if isinstance(result, AgentError):
            raise result
        return result

    session = runs.run(answer)
    assert session.ended == "delivered"
    assert [item.error for item in session.tasks[0].attempts] == ["it crashed", None]


def test_a_task_that_no_agent_answered_to_teaches_nothing(runs):
    session = runs.run([planned(("Mend it", PASSES))])
    assert statuses(session) == ["blocked"]
    assert runs.memory.list(kinds=["failure", "pattern"]) == []


def test_an_agent_that_cannot_reason_stops_the_run_which_goes_on_later(runs):
    session = runs.run([])
    assert (session.state, session.stopped, status_of(session)) == ("REASON", "agent", 1)
    assert runs.resume(session, [planned(("Mend it", PASSES)), delivered()]).ended == "delivered"


def test_a_run_stops_when_its_minutes_are_over_and_goes_on_with_more(runs):
    at = iter(range(0, 100_000, 10))
    session = runs.run(
        [planned(("Mend it", PASSES)), delivered()], limits=limits(minutes=1), monotonic=lambda: next(at)
    )
    assert (session.stopped, status_of(session)) == ("minutes", 3)
    assert session.state != "SUMMARY"
    assert runs.resume(session, []).stopped == "minutes"
    left = [planned(("Mend it", PASSES)), delivered()][len(runs.phases) :]
    done = runs.resume(session, [*left, delivered()], ResumeOptions(minutes=60))
    assert done.ended == "delivered"


def test_a_gate_has_no_more_time_than_the_run(runs):
    timeouts = []

    def late(command, _folder, *, timeout, most_output):  # noqa: ARG001
        timeouts.append(timeout)
        return Verification(command, "late")

    session = runs.run(
        [planned(("Wait", PASSES)), delivered()], limits=limits(minutes=5, timeout=600), verify=late
    )
    assert (session.stopped, session.state) == ("minutes", "ACT")
    assert session.tasks[0].attempts[-1].verified is None
    assert timeouts[0] <= 300


@pytest.mark.slow
def test_an_agent_has_no_more_time_than_the_run(runs):
    work = replace(runs.work([]), agent=CommandAgent("tail -f /dev/null"))
    session = run(work, "Mend it", runs.folder, limits(minutes=0.02))
    assert (session.stopped, session.state, session.reasoned) == ("minutes", "REASON", None)


@pytest.mark.slow
def test_an_agent_that_fails_at_once_is_not_taken_for_a_late_one(runs):
    work = replace(runs.work([]), agent=CommandAgent("false"))
    assert run(work, "Mend it", runs.folder, limits(minutes=1)).stopped == "agent"


def test_a_stop_lets_the_step_be_finished(runs):
    questions = []

    def answers(_prompt, _schema):
        questions.append(1)
        return planned(("Mend it", PASSES))

    session = runs.run(answers, should_stop=lambda: bool(questions))
    assert (session.stopped, status_of(session)) == ("interrupt", 130)
    assert session.reasoned is not None
    done = runs.resume(session, [delivered()])
    assert (done.ended, runs.phases) == ("delivered", ["act"])


def test_an_interrupt_in_the_middle_of_a_step_leaves_the_session_where_it_was(runs):
    def answers(_prompt, _schema):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.run(answers)
    session = Sessions(runs.memory).latest()
    assert (session.state, session.reasoned) == ("REASON", None)
    assert runs.resume(session, [planned(("Mend it", PASSES)), delivered()]).ended == "delivered"


def test_attempts_know_of_those_before_unless_the_context_is_fresh(runs):
    runs.gates["make test"] = lambda: "It broke"
    answers = [planned(("Mend it", "make test")), *[delivered("I turned the screw.")] * 2]
    for fresh in (False, True):
        runs.run(answers, limits=limits(attempts=2), fresh_context=fresh)
        values = runs.agent.prompts[2]
        assert ("attempt 1 at this task" in values) is not fresh
        assert "It broke" in values


def test_a_task_is_told_what_was_delivered_before(runs):
    answers = [planned(("Dig", PASSES), ("Sow", PASSES)), delivered("Dug a hole by the wall."), delivered()]
    runs.run(answers)
    assert "Dug a hole by the wall." in runs.agent.prompts[2]


def test_what_was_shown_and_used_is_credited(runs):
    for name, how in (("good", "Use glue."), ("idle", "Use a nail.")):
        values = {"trigger": "Mend the chair", "resolution": how}
        runs.memory.remember(f"Mend the chair\n{how}", kind="pattern", key=name, metadata=values)
    session = runs.run([planned(("Mend the chair", PASSES)), delivered(utilized=["good", "invented"])])
    assert set(session.tasks[0].injected) == {"good", "idle"}
    result = session.tasks[0].learnt
    assert (result.helped, result.unused, result.unknown) == (("good",), ("idle",), ("invented",))
    assert [runs.memory.get(key).use.helped for key in ("good", "idle")] == [1, 0]
    assert [runs.memory.get(key).use.failed for key in ("good", "idle")] == [0, 1]


@pytest.mark.parametrize("count", [1, 8])
def test_so_many_tasks_are_delivered(runs, count):
    names = ("roof", "cellar", "garden", "kitchen", "bath", "stairs", "attic", "porch")[:count]
    session = runs.run([planned(*((f"Mend the {name}", PASSES) for name in names)), *[delivered()] * count])
    assert (session.ended, statuses(session)) == ("delivered", ["delivered"] * count)
