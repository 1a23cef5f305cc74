"""Runs: begun, resumed and locked."""

import threading

import pytest

from priming import Memory
from priming.core.metacognition import assess
from priming.errors import Busy, Conflict, NotFound, ParamError
from priming_loop.run import ResumeOptions, loop_think, resume, run
from priming_loop.session_store import Sessions, limits
from priming_loop.steps.report import next_command, report, status_of, summarise

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
)


def test_an_answer_that_nobody_asked_for_is_refused(runs):
    session = runs.run([planned(("Mend it", PASSES))], yes=False)
    with pytest.raises(Conflict, match="awaits no answer"):
        runs.resume(session, options=ResumeOptions(answer="Yes."))
    assert Sessions(runs.memory).get(session.id) == session


def test_an_answer_to_a_session_that_is_delivered_is_refused_with_what_to_do_instead(runs):
    session = runs.run([planned(("Mend it", PASSES)), delivered()], "Mend Anna's gate")
    with pytest.raises(
        Conflict, match=r"takes no answer; begin another with priming loop run .*Anna.* --deliberate"
    ):
        runs.resume(session, options=ResumeOptions(answer="Glue it."))
    assert runs.resume(session).answered == ()


def test_a_run_without_a_folder_is_refused_before_it_begins(runs):
    with pytest.raises(ParamError, match="folder = None: must be the absolute path"):
        run(runs.work([planned(("Mend it", PASSES)), delivered()]), "Mend it", None, LIMITS)
    assert runs.memory.loop_list() == []


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
    assert (done.ended, status_of(done), done.tally) == ("delivered", 0, (1, 1))
    assert all(f"{seq} (Part {name} is loose)" in done.why for seq, name in ((1, "ab"), (2, "cd"), (3, "ef")))
    assert "Glue it." in runs.agent.prompts[0]
    assert runs.resume(done) == done


def test_a_session_that_was_delivered_has_nothing_left_to_do(runs):
    session = runs.run([planned(("Mend it", PASSES)), delivered()])
    assert runs.resume(session) == session
    assert runs.phases == []


def test_thinking_keeps_and_learns_nothing(runs):
    work = runs.work([planned(("Mend it", PASSES))])
    before = runs.memory.log()
    thought = loop_think(runs.memory, "Mend what is broken", str(runs.folder), agent=work.agent)
    assert (thought.context.objective, thought.reasoned.tasks[0].objective) == (
        "Mend what is broken",
        "Mend it",
    )
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


@pytest.mark.slow
def test_four_runs_of_one_plan_at_once_leave_each_lesson_once(embedder, clock, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    together, ended = threading.Barrier(4, timeout=300), []

    def work(number):
        def answers(prompt, _schema):
            together.wait()
            if "reason" in prompt.split("\n")[0]:
                return planned(("Open the tin", PASSES))
            return delivered(f"Used the opener of drawer {number}.")

        with Memory.open(url, embedder=embedder, clock=clock) as memory:
            ended.append(Runs(memory, tmp_path).run(answers, "Open the tin").ended)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for item in threads:
        item.start()
    for item in threads:
        item.join()
    assert ended == ["delivered"] * 4
    with Memory.open(url, embedder=embedder, clock=clock) as memory:
        keys = [record.key for record in memory.list(kinds=["pattern"], limit=100)]
    assert len(set(keys)) == len(keys)
    assert 1 <= len(keys) <= 4


def test_a_purge_of_a_memory_that_a_session_names_erases_the_session(runs):
    values = {"trigger": "Mend the chair", "resolution": "Use glue."}
    runs.memory.remember("Mend the chair\nUse glue.", kind="pattern", key="glue", metadata=values)
    session = runs.run([planned(("Mend the chair", PASSES)), delivered()])
    runs.memory.purge("glue")
    with pytest.raises(NotFound):
        Sessions(runs.memory).get(session.id)


def test_an_answer_says_how_to_verify_what_no_command_verified(runs):
    plan = planned(("Hang the picture", None))
    session = runs.run([plan, plan, delivered()])
    assert (session.ended, next_command(session)) == (
        "unverified",
        f"priming loop resume {session.id} --answer TEXT",
    )
    assert runs.resume(session) == session
    with pytest.raises(ParamError, match="answer"):
        runs.resume(session, options=ResumeOptions(answer=" "))
    values = ResumeOptions(answer="A spirit level shows whether it hangs straight.")
    done = runs.resume(session, [planned(("Hang the picture.", PASSES)), delivered()], values)
    assert "A spirit level shows" in runs.agent.prompts[0]
    assert "still open: Hang the picture" in runs.agent.prompts[0]
    assert (done.ended, done.tally, next_command(done)) == ("delivered", (1, 1), None)


def test_what_is_planned_again_counts_once(runs):
    plan = planned(("Oil the hinge", PASSES), ("Glue the leg", PASSES))
    session = runs.run([plan, blocked(), blocked()])
    assert session.tally == (0, 2)
    done = runs.resume(session, [plan, delivered(), delivered()])
    assert (done.ended, len(done.tasks), done.tally) == ("delivered", 4, (2, 2))
    assert "2 of 2 tasks delivered (100%)" in report(Sessions(runs.memory), done).line


def test_dropped_tasks_are_open(runs):
    plan = planned(*((f"Sand board {name}", PASSES) for name in ("ab", "cd", "ef")))
    session = runs.run([plan, delivered()], limits=limits(tasks=1))
    assert (session.ended, session.tally) == ("limit", (1, 3))
    assert "1 of 3 tasks delivered (33%)" in report(Sessions(runs.memory), session).line
    assert (summarise(session).delivered, summarise(session).tasks) == (1, 3)


def test_what_a_subgoal_came_to_is_no_answer_of_a_person(runs):
    goal = [planned(("Look it up", PASSES)), delivered("It is the left one.")]
    session = runs.run([impasse("Find out which lever"), *goal, planned(("Pull it", PASSES)), delivered()])
    assert (session.ended, session.answered) == ("delivered", ())
    (prompt,) = [text for text in runs.agent.prompts if "How the steps out of earlier impasses ended" in text]
    assert "It is the left one." in prompt
    assert "a person has answered" not in prompt


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("loop_run", "call priming_loop.run.loop_run(memory, …)"),
        ("loop_task_close", "did you mean 'loop_task_complete'?"),
    ],
)
def test_a_memory_says_what_is_called_for_an_operation_of_the_loop(memory, name, hint):
    with pytest.raises(AttributeError) as refused:
        getattr(memory, name)
    assert str(refused.value) == f"a memory has no {name!r}: {hint}"
