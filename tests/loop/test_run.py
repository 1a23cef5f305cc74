"""A run: state by state, tasks through their gates, limits, questions, and a person who is asked."""

import threading
from dataclasses import replace

import pytest

from priming.llm.command import CommandAgent
from priming.llm.scripted import ScriptedAgent
from priming.core.metacognition import assess
from priming.errors import AgentError, Busy, Conflict, NotFound, ParamError
from priming.loop.report import report, status_of
from priming.loop.run import Given, resume, run, think
from priming.loop.session import Sessions, limits
from priming.loop.work import Work
from priming.words import ENDS, STATES, STOPS, TASK_STATUSES, WAITS

from .acted import LIMITS, Anna, Runs, blocked, delivered, impasse, planned, unclear

PASSES, FAILS = "true", "false"


def statuses(session):
    return [one.status for one in session.tasks]


def test_a_task_is_delivered_when_its_gate_passes(runs):
    session = runs.run([planned(("Mend it", PASSES)), delivered()])
    assert (session.state, session.ended, statuses(session)) == ("SUMMARY", "delivered", ["delivered"])
    assert status_of(session) == 0
    assert runs.phases == ["reason", "act"]


def test_what_the_agent_says_counts_for_nothing(runs):
    session = runs.run([planned(("Mend it", FAILS)), *[delivered("It is done, really.")] * 3])
    assert statuses(session) == ["blocked"]
    assert (session.ended, status_of(session)) == ("blocked", 3)
    assert [one.verified.status for one in session.tasks[0].attempts] == ["failed"] * 3


def test_the_output_of_a_gate_that_fails_goes_to_the_next_attempt(runs):
    script = runs.folder / "gate.sh"
    script.write_text("test -e made || { echo the file is missing; exit 1; }")
    gate = "sh gate.sh"

    def answers(prompt, _schema):
        if "reason" in prompt.split("\n")[0]:
            return planned(("Make it", gate))
        if "the file is missing" in prompt:
            (runs.folder / "made").touch()
        return delivered()

    session = runs.run(answers)
    assert [one.verified.status for one in session.tasks[0].attempts] == ["failed", "passed"]
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

    def tell(session):
        assert sessions.get(session.id) == session
        seen.append(session.state)

    runs.run([planned(("Mend it", PASSES)), delivered()], tell=tell)
    in_order = list(dict.fromkeys(seen))
    assert in_order == ["CONTEXT", "REASON", "ACT", "NEXT", "DONE", "LEARN", "SUMMARY"]


def test_fixed_words_name_what_sessions_say(runs):
    asks = runs.run([unclear()])
    assert asks.state in STATES
    assert asks.waits.what in WAITS
    ended = runs.run([planned(("Mend it", PASSES)), delivered()])
    assert ended.ended in ENDS
    assert ended.tasks[0].status in TASK_STATUSES
    assert runs.run([planned()]).stopped in STOPS


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
    done = runs.resume(session, [delivered()], Given(yes=True), yes=False)
    assert done.ended == "delivered"
    assert runs.phases == ["act"]


def test_a_person_is_shown_the_plan_and_may_refuse_it(runs):
    anna = Anna(allow=False)
    session = runs.run([planned(("Mend it", PASSES))], yes=False, person=anna)
    assert anna.asked == [("approval", f"1. Mend it [{PASSES}]")]
    assert status_of(session) == 4
    anna.allowed = True
    assert runs.resume(session, [delivered()], yes=False, person=anna).ended == "delivered"


def test_what_is_destructive_waits_for_a_person_whatever_was_agreed(runs):
    plan = planned(("Mend it", PASSES), ("Tidy up", "sh -c 'rm -f left-over'"))
    session = runs.run([plan, delivered()])
    assert (session.waits.what, session.waits.seq) == ("destructive", 2)
    assert statuses(session) == ["delivered", "pending"]
    refused = runs.resume(session)
    assert (refused.waits, runs.phases) == (session.waits, [])
    done = runs.resume(refused, [delivered()], Given(yes=True))
    assert done.ended == "delivered"


def test_a_yes_is_to_one_destructive_task_only(runs):
    rm = "sh -c 'rm -f left-over'"
    session = runs.run([planned(("Tidy up", rm), ("Tidy more", rm))])
    session = runs.resume(session, [delivered()], Given(yes=True))
    assert (session.waits.seq, statuses(session)) == (2, ["delivered", "pending"])


def test_a_question_waits_for_its_answer(runs):
    session = runs.run([unclear("Which of the two?")])
    assert (session.state, status_of(session)) == ("ASK", 4)
    assert (session.waits.what, session.waits.about) == ("answer", "Which of the two?")
    done = runs.resume(session, [planned(("Mend it", PASSES)), delivered()], Given(answer="The second."))
    assert done.ended == "delivered"
    assert "The second." in runs.agent.prompts[0]


def test_a_person_who_is_there_is_asked_at_once(runs):
    anna = Anna("The second.")
    session = runs.run([unclear(), planned(("Mend it", PASSES)), delivered()], person=anna)
    assert session.ended == "delivered"
    assert anna.asked == ["Which of the two?"]


def test_an_answer_that_nobody_asked_for_is_refused(runs):
    session = runs.run([planned(("Mend it", PASSES))], yes=False)
    with pytest.raises(Conflict, match="waits for no answer"):
        runs.resume(session, given=Given(answer="Yes."))
    assert Sessions(runs.memory).get(session.id) == session


def test_an_answer_says_something(runs):
    session = runs.run([unclear()])
    with pytest.raises(ParamError, match="answer"):
        runs.resume(session, given=Given(answer="  "))


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
    (child,) = (Sessions(runs.memory).get(one) for one in session.children)
    assert (child.objective, child.parent, child.depth) == ("Find out how", session.id, 1)
    assert "Open the tin" in runs.agent.prompts[1]
    assert "The manual says: turn it." in runs.agent.prompts[3]


def test_a_subgoal_that_was_done_when_the_run_was_ended_is_not_done_again(runs):
    def tell(session):
        if session.parent is not None and session.state == "SUMMARY":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.run([impasse(), planned(("Look", PASSES)), delivered("It is on page 4.")], tell=tell)
    session = Sessions(runs.memory).latest()
    done = runs.resume(session, [planned(("Mend it", PASSES)), delivered()])
    assert (done.ended, runs.phases) == ("delivered", ["reason", "act"])
    assert "It is on page 4." in runs.agent.prompts[0]


def test_subgoals_go_so_deep_only(runs):
    session = runs.run(lambda _prompt, _schema: impasse("Look"), limits=limits(depth=1))
    children = [Sessions(runs.memory).get(one) for one in session.children]
    assert session.ended == "impasse"
    assert [(one.ended, one.depth, one.children) for one in children] == [("impasse", 1, ())] * len(children)


def test_a_session_without_subgoals_ends_at_an_impasse(runs):
    session = runs.run([impasse("Find out how", "conflict")], limits=limits(depth=0))
    assert (session.ended, status_of(session), session.children) == ("impasse", 3, ())
    assert "conflict" in session.why


def test_a_session_has_so_many_subgoals_only(runs):
    most = Work(runs.memory, ScriptedAgent(())).params.subgoals
    answers = [impasse("Look"), *[planned(("Look", FAILS)), blocked(), impasse("Look again")] * most]
    session = runs.run(answers)
    assert session.ended == "impasse"
    assert len(session.children) == most


def test_a_question_of_a_subgoal_waits_and_is_answered_from_either(runs):
    for which in ("parent", "child"):
        session = runs.run([impasse(), unclear("Which manual?")])
        assert (session.waits.about, status_of(session)) == ("Which manual?", 4)
        named = session if which == "parent" else Sessions(runs.memory).get(session.children[0])
        answers = [planned(("Look", PASSES)), delivered(), planned(("Mend it", PASSES)), delivered()]
        done = runs.resume(named, answers, Given(answer="The red one."))
        assert (done.id, done.ended) == (session.id, "delivered")


def test_three_blocked_tasks_stop_the_run_before_the_next(runs):
    runs.memory.remember(
        "Mend what is broken\nReplace it by a new one.",
        kind="pattern",
        metadata={"trigger": "Mend what is broken", "resolution": "Replace it by a new one."},
    )
    plan = planned(*((f"Part {name} is loose", PASSES) for name in ("ab", "cd", "ef", "gh")))
    session = runs.run([plan, blocked(), blocked(), blocked()])
    assert (session.ended, status_of(session)) == ("pivot", 3)
    assert statuses(session) == ["blocked"] * 3 + ["pending"]
    assert "Replace it by a new one." in " ".join(one.text for one in session.alternatives)
    stored = [runs.memory.get(key) for key in session.learnt.stored + session.learnt.strengthened]
    assert [one.kind for one in stored] == ["failure"]
    assert "3 tasks failed" in stored[0].content


def test_advice_reaches_the_next_reason_step(runs):
    session = runs.run([planned(("Mend it", PASSES)), blocked()])
    again = runs.resume(session, [planned(("Mend it so", PASSES)), delivered()])
    assert "The last task failed" in runs.agent.prompts[0]
    assert (again.ended, statuses(again)) == ("delivered", ["blocked", "delivered"])


def test_a_session_that_pivoted_stops_again_until_a_person_says_what_to_do_differently(runs):
    plan = planned(*((f"Part {name} is loose", PASSES) for name in ("ab", "cd", "ef")))
    session = runs.run([plan, blocked(), blocked(), blocked()])
    assert session.ended == "blocked"
    assert assess(one.success for one in session.outcomes).advice == "pivot_now"
    assert runs.resume(session).ended == "pivot"
    assert runs.phases == []
    told = Given(answer="Glue it.")
    done = runs.resume(session, [planned(("Glue it", PASSES)), delivered()], told)
    assert done.ended == "delivered"
    assert "Glue it." in runs.agent.prompts[0]


def test_a_session_that_was_delivered_has_nothing_left_to_do(runs):
    session = runs.run([planned(("Mend it", PASSES)), delivered()])
    assert runs.resume(session) == session
    assert runs.phases == []


def test_more_tasks_than_the_limit_are_left_out_and_it_says_so(runs):
    plan = planned(("One", PASSES), ("Two", PASSES), ("Three", PASSES))
    session = runs.run([plan, delivered(), delivered()], limits=limits(tasks=2))
    assert (session.ended, status_of(session), len(session.tasks)) == ("limit", 3, 2)
    assert session.why.startswith("1 more task")


def test_an_agent_that_gives_no_answer_uses_up_an_attempt(runs):
    answers = iter([planned(("Mend it", PASSES)), AgentError("it crashed"), delivered()])

    def answer(_prompt, _schema):
        found = next(answers)
        if isinstance(found, AgentError):
            raise found
        return found

    session = runs.run(answer)
    assert session.ended == "delivered"
    assert [one.error for one in session.tasks[0].attempts] == ["it crashed", None]


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
    done = runs.resume(session, [*left, delivered()], Given(minutes=60))
    assert done.ended == "delivered"


def test_a_gate_has_no_more_time_than_the_run(runs):
    session = runs.run([planned(("Wait", "tail -f /dev/null")), delivered()], limits=limits(minutes=0.02))
    assert (session.stopped, session.state) == ("minutes", "ACT")
    assert session.tasks[0].attempts[-1].verified is None


def test_an_agent_has_no_more_time_than_the_run(runs):
    work = replace(runs.work([]), agent=CommandAgent("tail -f /dev/null"))
    session = run(work, "Mend it", runs.folder, limits(minutes=0.02))
    assert (session.stopped, session.state, session.reasoned) == ("minutes", "REASON", None)


def test_an_agent_that_fails_at_once_is_not_taken_for_a_late_one(runs):
    work = replace(runs.work([]), agent=CommandAgent("false"))
    assert run(work, "Mend it", runs.folder, limits(minutes=1)).stopped == "agent"


def test_a_stop_lets_the_step_be_finished(runs):
    asked = []

    def answers(_prompt, _schema):
        asked.append(1)
        return planned(("Mend it", PASSES))

    session = runs.run(answers, stop=lambda: bool(asked))
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
    answers = [planned(("Mend it", "sh -c 'echo It broke; false'")), *[delivered("I turned the screw.")] * 2]
    for fresh in (False, True):
        runs.run(answers, limits=limits(attempts=2), fresh_context=fresh)
        told = runs.agent.prompts[2]
        assert ("attempt 1 at this task" in told) is not fresh
        assert "It broke" in told


def test_a_task_is_told_what_was_delivered_before(runs):
    answers = [planned(("Dig", PASSES), ("Sow", PASSES)), delivered("Dug a hole by the wall."), delivered()]
    runs.run(answers)
    assert "Dug a hole by the wall." in runs.agent.prompts[2]


def test_what_was_shown_and_used_is_credited(runs):
    for name, how in (("good", "Use glue."), ("idle", "Use a nail.")):
        told = {"trigger": "Mend the chair", "resolution": how}
        runs.memory.remember(f"Mend the chair\n{how}", kind="pattern", key=name, metadata=told)
    session = runs.run([planned(("Mend the chair", PASSES)), delivered(utilized=["good", "invented"])])
    assert set(session.tasks[0].injected) == {"good", "idle"}
    found = session.tasks[0].learnt
    assert (found.helped, found.unused, found.unknown) == (("good",), ("idle",), ("invented",))
    assert [runs.memory.get(key).use.helped for key in ("good", "idle")] == [1, 0]
    assert [runs.memory.get(key).use.failed for key in ("good", "idle")] == [0, 1]


def test_thinking_keeps_and_learns_nothing(runs):
    work = runs.work([planned(("Mend it", PASSES))])
    before = runs.memory.log()
    gathered, found = think(work, "Mend what is broken", runs.folder)
    assert (gathered.objective, found.tasks[0].objective) == ("Mend what is broken", "Mend it")
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
    with pytest.raises(ParamError, match="not there any more"):
        runs.resume(session)


@pytest.mark.parametrize(
    "given",
    [{"attempts": 0}, {"tasks": 0}, {"depth": -1}, {"timeout": 0}, {"minutes": 0}, {"minutes": float("nan")}],
)
def test_limits_have_ranges(given):
    with pytest.raises(ParamError):
        limits(**given)


def test_a_session_that_is_not_there_is_said_so(runs):
    with pytest.raises(NotFound, match="no session 'none'"):
        resume(runs.work([]), "none", Given())


def test_a_session_is_run_by_one_process_at_a_time(embedder, clock, tmp_path):
    from priming import Memory

    url = f"sqlite:///{tmp_path}/memory.db"
    with (
        Memory.open(url, embedder=embedder, clock=clock) as one,
        Memory.open(url, embedder=embedder, clock=clock) as other,
    ):
        session = Runs(one, tmp_path).run([planned(("Mend it", PASSES))], yes=False)
        with Sessions(one).loops.held(session.id), pytest.raises(Busy, match="works on this session"):
            Runs(other, tmp_path).resume(session)
        assert Runs(other, tmp_path).resume(session, [delivered()], Given(yes=True)).ended == "delivered"


def test_two_runs_at_once_on_one_store_hinder_each_other_not(embedder, clock, tmp_path):
    from priming import Memory

    url = f"sqlite:///{tmp_path}/memory.db"
    together, ended = threading.Barrier(2, timeout=30), []

    def work(name):
        def answers(prompt, _schema):
            together.wait()
            return planned((f"Mend {name}", PASSES)) if "reason" in prompt.split("\n")[0] else delivered()

        with Memory.open(url, embedder=embedder, clock=clock) as memory:
            ended.append(Runs(memory, tmp_path).run(answers, f"Mend {name}").ended)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("the door", "a window")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert ended == ["delivered", "delivered"]


def test_a_purge_of_a_memory_that_a_session_names_erases_the_session(runs):
    told = {"trigger": "Mend the chair", "resolution": "Use glue."}
    runs.memory.remember("Mend the chair\nUse glue.", kind="pattern", key="glue", metadata=told)
    session = runs.run([planned(("Mend the chair", PASSES)), delivered()])
    runs.memory.purge("glue")
    with pytest.raises(NotFound):
        Sessions(runs.memory).get(session.id)


def test_a_report_tells_of_subgoals_too(runs):
    answers = [impasse(), planned(("Look", PASSES)), delivered(), planned(("Mend", PASSES)), delivered()]
    session = runs.run(answers)
    told = report(Sessions(runs.memory), session)
    assert [one.objective for one in told.children] == ["Find out how"]
    assert told.status == 0
    assert replace(told, children=()).tasks == session.tasks
