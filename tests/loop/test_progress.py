"""Whether a session gets on: subgoals that return, plans left open, plans that are proven, and a yes that holds."""

import pytest

from priming.errors import AgentError
from priming_loop.run import ResumeOptions
from priming_loop.session import TaskPlan
from priming_loop.session_store import Sessions
from priming_loop.steps.report import report, status_of

from .scripted_runs import FAILS, PASSES, REMOVES, blocked, delivered, impasse, planned, verifier


@pytest.mark.parametrize("goal", ["Find out how", "find out, HOW!"])
def test_a_subgoal_that_is_open_already_is_no_progress_and_the_run_pivots(runs, goal):
    goals = iter(("Find out how",))
    session = runs.run(lambda _prompt, _schema: impasse(next(goals, goal)), "Open the tin")
    assert (session.ended, status_of(session), len(session.children)) == ("pivot", 3, 1)
    assert len(runs.agent.prompts) == 2
    assert "makes no progress" in session.why
    answer = report(Sessions(runs.memory), session)
    assert (answer.advice, answer.line) == ("pivot_now", "the approach fails: pivot now")
    assert answer.next_command == f"priming loop resume {session.id} --answer TEXT"
    (rest,) = runs.memory.list(kinds=["failure"])
    assert rest.metadata["trigger"].startswith("Open the tin: The impasse makes no progress")
    before = len(runs.memory.log(limit=1_000))
    assert runs.resume(session).ended == "pivot"
    assert len(runs.memory.log(limit=1_000)) == before
    done = runs.resume(
        session, [planned(("Use the opener", PASSES)), delivered()], ResumeOptions(answer="Turn it.")
    )
    assert done.ended == "delivered"


def test_a_session_without_a_plan_after_an_answer_has_a_report(runs):
    session = runs.run([planned(("Mend it", FAILS)), blocked()])
    session = runs.resume(session, [AgentError("it crashed")], ResumeOptions(answer="Turn it."))
    answer = report(Sessions(runs.memory), session)
    assert (answer.stopped, answer.line) == (
        "agent",
        "no task has ended yet since the approach changed: keep going",
    )


def test_an_answer_drops_the_plan_before_and_names_its_tasks(runs):
    plan = planned(*((f"Part {name} is loose", PASSES) for name in ("ab", "cd", "ef", "gh", "ij")))
    session = runs.run([plan, blocked(), blocked(), blocked()])
    assert session.ended == "pivot"
    answer = ResumeOptions(answer="Begin at the end.")
    session = runs.resume(session, [planned(("Part ij is loose", PASSES)), blocked()], answer)
    assert "dropped with its plan: Part gh is loose" in runs.agent.prompts[0]
    assert [task.seq for task in session.open_tasks] == [6]
    assert (
        "0 of 1 tasks delivered; still open: 6 (blocked); dropped for another way: 1 (Part ab" in session.why
    )
    rest = planned(*((f"Part {name} is loose", PASSES) for name in ("ij", "kl")))
    session = runs.resume(session, [rest, delivered(), delivered()])
    assert (session.ended, status_of(session), session.open_tasks) == ("delivered", 0, ())


WAY = (planned(("Turn the key", PASSES)), delivered("Turned it to the left."))


def deliver(runs, count, objective="Open the tin"):
    """Runs of an objective that are delivered in the same way."""
    return [runs.run(WAY, objective) for _ in range(count)]


def test_what_was_delivered_three_times_in_one_way_is_done_without_reasoning(runs):
    deliver(runs, 3)
    assert runs.phases == ["reason", "act"]
    session = runs.run([delivered("Turned it to the left.")], "open the tin.")
    assert (session.ended, session.proven, runs.phases) == ("delivered", 3, ["act"])
    assert session.tasks[0].plan == TaskPlan("Turn the key", (), PASSES)
    assert runs.run(WAY, "Open the tin", deliberate=True).proven == 0
    assert runs.phases == ["reason", "act"]


@pytest.mark.parametrize(
    ("objective", "other"),
    [("Ship the parcel to US", "Ship the parcel to us"), ("Shorten the Readme", "Shorten the readme")],
)
def test_a_plan_is_proven_for_the_names_of_its_objective_as_they_are_written(runs, objective, other):
    deliver(runs, 3, objective)
    assert runs.run(WAY, other).proven == 0
    assert runs.run([delivered("Turned it.")], objective[0].lower() + objective[1:] + ".").proven == 3


def test_a_task_that_was_planned_again_is_open_once(runs):
    session = runs.run([planned(("Sweep the yard", None)), planned(("Sweep the yard", None)), delivered()])
    plan, answer = planned(("Sweep the yard.", None)), ResumeOptions(answer="Sweep it again.")
    session = runs.resume(session, [plan, plan, delivered()], answer)
    assert [task.seq for task in session.open_tasks] == [2]
    assert session.why == "0 of 1 tasks delivered; still open: 2 (unverified); no command verifies it"


def test_a_proven_plan_waits_for_a_yes_like_any_other(runs):
    deliver(runs, 3)
    session = runs.run([], "Open the tin", yes=False)
    assert (session.waits.what, runs.phases) == ("approval", [])


@pytest.mark.parametrize(
    "change", ["two", "other objective", "failed since", "pattern forgotten", "two ways"]
)
def test_an_objective_is_reasoned_about_unless_its_plan_is_proven(runs, change):
    deliver(runs, 2)
    if change not in ("two", "two ways"):
        deliver(runs, 1)
    if change == "two ways":
        other = planned(("Smash the lid with a hammer", PASSES)), delivered("Hit it on the rim, hard.")
        assert runs.run(other, "Open the tin").ended == "delivered"
    if change == "failed since":
        runs.run([delivered()] * 3, "Open the tin", verify=verifier(lambda *_: "stuck"))
    if change == "pattern forgotten":
        (pattern,) = runs.memory.list(kinds=["pattern"])
        runs.memory.forget(pattern.key)
    runs.run(WAY, "Open the box" if change == "other objective" else "Open the tin")
    assert runs.phases == ["reason", "act"]


def test_a_yes_holds_for_the_session_and_for_no_destructive_task(runs):
    session = runs.run([planned(("Mend it", FAILS)), blocked()])
    assert runs.resume(session, [planned(("Mend it", PASSES)), delivered()], yes=False).ended == "delivered"
    session = runs.run([planned(("Mend it", FAILS)), blocked()], yes=False)
    assert session.waits.what == "approval"
    session = runs.resume(session, [blocked()], ResumeOptions(yes=True), yes=False)
    again = runs.resume(session, [planned(("Mend it", REMOVES)), delivered()], yes=False)
    assert again.waits.what == "destructive"


def test_every_end_names_the_command_that_goes_on(runs):
    def command(session):
        return report(Sessions(runs.memory), session).next_command

    stuck = runs.run([planned(("Mend it", FAILS)), blocked()])
    assert command(stuck) == f"priming loop resume {stuck.id}"
    waiting = runs.run([planned(("Mend it", PASSES))], yes=False)
    assert command(waiting) == f"priming loop resume {waiting.id} --yes"
    pivoted = runs.run([planned(*((f"Part {n}", FAILS) for n in ("a1", "b2", "c3"))), *[blocked()] * 3])
    assert command(runs.resume(pivoted)) == f"priming loop resume {pivoted.id} --answer TEXT"
    assert command(runs.run([planned(("Mend it", PASSES)), delivered()], "Open the tin")) is None


def blocked_twice(runs, **options):
    """Two sessions of one objective that end at the same wall."""
    plan = planned(("Turn the key", PASSES))
    for _ in range(2):
        runs.run([plan, blocked("The lock is rusty.")], "Open the door", **options)


def test_after_two_failures_of_an_objective_the_prompt_says_so_and_demands_another_way(runs):
    blocked_twice(runs)
    session = runs.run([planned(("Take the window", PASSES)), delivered("Climbed in.")], "Open the door")
    assert "It failed 2 times before. Take another way" in runs.agent.prompts[0]
    assert '"Turn the key"' in runs.agent.prompts[0]
    assert "failed 2 times; tried: The lock is rusty." in runs.agent.prompts[0]
    assert session.ended == "delivered"


def test_a_third_plan_that_is_no_other_way_pivots_before_anything_is_done(runs):
    blocked_twice(runs)
    third = runs.run([planned(("Turn the key.", PASSES))], "Open the door")
    assert (third.ended, runs.phases) == ("pivot", ["reason"])
    assert "it failed 2 times before, and the plan is no other way: Turn the key" in third.why
    answer = ResumeOptions(answer="I oiled the lock, try again.")
    done = runs.resume(third, [planned(("Turn the key", PASSES)), delivered("Turned it.")], answer)
    assert done.ended == "delivered"


def test_what_was_overcome_may_be_done_in_the_same_way_again(runs):
    blocked_twice(runs)
    way = [planned(("Turn the key", PASSES)), delivered("Turned it.")]
    third = runs.resume(runs.run(way[:1], "Open the door"), way, ResumeOptions(answer="I oiled it."))
    assert (third.ended, runs.run(way, "Open the door").ended) == ("delivered", "delivered")


def test_one_failure_is_no_reason_to_demand_another_way(runs):
    plan = planned(("Turn the key", PASSES))
    runs.run([plan, blocked("The lock is rusty.")], "Open the door")
    session = runs.run([plan, delivered("It turned.")], "Open the door")
    assert session.ended == "delivered"
    assert "Take another way" not in runs.agent.prompts[0]


def test_a_plan_that_was_not_tried_teaches_nothing_new(runs):
    blocked_twice(runs)
    before = runs.memory.list(kinds=["failure"])
    for _ in range(2):
        assert runs.run([planned(("Turn the key", PASSES))], "Open the door").ended == "pivot"
    assert runs.memory.list(kinds=["failure"]) == before
    assert runs.memory.loop_context("Open the door").failed == 2
