"""What is learnt from a task: who is credited, what is kept, and that nothing is counted twice."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.rows import each_row

from priming import Memory
from priming.embedding.registry import named
from priming.llm.protocol import ScriptedAgent
from priming_loop.acting import act
from priming_loop.context import gather, shown_memory
from priming_loop.knowledge import failure, lesson, pattern, symptom
from priming_loop.learning import learn_from_task, store_patterns
from priming_loop.session import (
    ActionResult,
    Attempt,
    LearningResult,
    Limits,
    Session,
    Task,
    TaskPlan,
    Verification,
)

from .scripted_runs import delivered, planned, verifier

LIMITS = Limits(attempts=3, tasks=20, depth=2, timeout=60.0)
PLAN = TaskPlan("Make the tests of subtract pass", ("calc.py",), "pytest -q")
PASSED = Verification("pytest -q", "passed", 0, "1 passed", 0.1)
FAILED = Verification("pytest -q", "failed", 1, "E   assert 3 == -1\n1 failed in 0.1s", 0.1)


@pytest.fixture
def session(clock, tmp_path):
    now = clock.now()
    return Session("s-1", "Make all tests pass", str(tmp_path), LIMITS, now, now)


def attempt(clock, number=1, verified=PASSED, injected=(), **reply):
    acted = ActionResult(**{"status": "delivered", "details": "Swapped the operands back.", **reply})
    return Attempt(number, clock.now(), tuple(injected), acted, verified)


def closed(*attempts, status="delivered", seq=1, plan=PLAN):
    return Task(seq, plan, status, attempts)


def shown(memory, session, *texts):
    """Lessons about the task that a recall of the session brought up."""
    about = {"trigger": PLAN.objective}
    keys = [memory.remember(text, kind="pattern", metadata=about).key for text in texts]
    memory.recall("subtract", session=session.id)
    return keys


def counts(memory, key):
    use = memory.get(key).use
    return use.helped, use.failed


def test_what_was_used_helped_and_what_was_shown_in_vain_failed(memory, session, clock):
    used, unused = shown(memory, session, "subtract takes signs", "subtract is in calc")
    result = learn_from_task(
        memory, session, closed(attempt(clock, injected=[used, unused], utilized=(used,)))
    )
    assert (result.helped, result.unused, result.unknown) == ((used,), (unused,), ())
    assert counts(memory, used) == (1, 0)
    assert counts(memory, unused) == (0, 1)


@pytest.mark.parametrize(("verified", "against"), [(FAILED, 1), (None, 0)])
def test_use_in_a_blocked_task_credits_nothing_and_counts_against_it_where_the_gate_failed(
    memory, session, clock, verified, against
):
    (used,) = shown(memory, session, "subtract takes signs")
    tries = attempt(clock, verified=verified, injected=[used], utilized=(used,), obstacle="It is stuck.")
    result = learn_from_task(memory, session, closed(tries, status="blocked"))
    assert (result.helped, counts(memory, used)) == ((), (0, against))


@pytest.mark.parametrize("neighbour", ["Push", "Scan", "Sign"])
def test_what_does_not_apply_here_is_not_blamed_whoever_shows_it(memory, session, clock, neighbour):
    about = lesson("pattern", "Cut the size of the Docker image", "Build in two stages.")
    key = memory.remember(**about).key
    for number in range(4):
        memory.recall("docker image", session=f"s-{number}")
        task = closed(attempt(clock, injected=[key]), plan=TaskPlan(f"{neighbour} the Docker image"))
        assert learn_from_task(memory, replace(session, id=f"s-{number}"), task).unused == ()
    assert counts(memory, key) == (0, 0)


def test_names_that_were_not_shown_are_reported_and_not_credited(memory, session, clock):
    used, hidden = shown(memory, session, "subtract takes signs", "subtract is in calc")
    reply = (used, hidden, "made-up")
    result = learn_from_task(memory, session, closed(attempt(clock, injected=[used], utilized=reply)))
    assert result.unknown == (hidden, "made-up")
    assert counts(memory, hidden) == (0, 0)


def test_a_name_is_known_with_what_an_agent_puts_around_it(memory, session, clock):
    (used,) = shown(memory, session, "subtract takes signs")
    result = learn_from_task(
        memory, session, closed(attempt(clock, injected=[used], utilized=(f"[{used}]",)))
    )
    assert (result.helped, result.unknown) == ((used,), ())


def test_use_in_any_attempt_counts_and_counts_once(memory, session, clock):
    (used,) = shown(memory, session, "subtract takes signs")
    tries = [
        attempt(clock, 1, FAILED, [used], utilized=(used,)),
        attempt(clock, 2, FAILED, [used]),
        attempt(clock, 3, PASSED, [used], utilized=(used,)),
    ]
    learn_from_task(memory, session, closed(*tries))
    assert counts(memory, used) == (1, 0)


def test_what_an_agent_that_gave_no_answer_was_shown_is_not_blamed(memory, session, clock):
    (key,) = shown(memory, session, "subtract takes signs")
    task = closed(Attempt(1, clock.now(), (key,), error="the agent was late"), status="blocked")
    assert learn_from_task(memory, session, task).unused == ()
    assert counts(memory, key) == (0, 0)


def test_each_task_counts_though_they_share_a_recall(memory, session, clock):
    used, unused = shown(memory, session, "subtract takes signs", "subtract is in calc")
    for seq in (1, 2, 3):
        learn_from_task(
            memory, session, closed(attempt(clock, injected=[used, unused], utilized=(used,)), seq=seq)
        )
    assert counts(memory, used) == (3, 0)
    assert counts(memory, unused) == (0, 3)


def test_what_was_purged_meanwhile_is_reported_and_stops_nothing(memory, session, clock):
    gone, present = shown(memory, session, "subtract takes signs", "subtract is in calc")
    memory.purge(gone)
    result = learn_from_task(
        memory, session, closed(attempt(clock, injected=[gone, present], utilized=(gone, present)))
    )
    assert (result.helped, result.unknown) == ((present,), (gone,))


def test_a_memory_that_was_shown_by_its_id_is_credited_once(memory, session, clock):
    (key,) = shown(memory, session, "subtract takes signs")
    name = memory.get(key).id
    result = learn_from_task(memory, session, closed(attempt(clock, injected=[name, key], utilized=(name,))))
    assert (result.helped, result.unused) == ((key,), ())
    assert counts(memory, key) == (1, 0)


@pytest.mark.parametrize("name", ["", "a\x00b", " "])
def test_a_name_that_can_be_none_stops_nothing(memory, session, clock, name):
    result = learn_from_task(memory, session, closed(attempt(clock, injected=[name])))
    assert (result.helped, result.unused) == ((), ())


def test_a_gate_that_printed_what_no_text_can_hold_is_learnt_from(memory, session, clock):
    failed = Verification("x", "failed", 1, "error: \x00\x1b[31mred")
    (key,) = learn_from_task(
        memory, session, closed(attempt(clock, verified=failed), status="blocked")
    ).stored
    assert memory.get(key).metadata["trigger"].endswith(": error: \\u0000red")


def test_what_was_delivered_at_once_leaves_a_pattern(memory, session, clock):
    result = learn_from_task(
        memory, session, closed(attempt(clock, learning="Mind the order of the operands."))
    )
    (key,) = result.stored
    saved = memory.get(key)
    assert saved.kind == "pattern"
    assert saved.metadata["trigger"] == PLAN.objective
    assert saved.metadata["resolution"] == "Mind the order of the operands."
    assert saved.metadata["delta"] == ["calc.py"]
    assert (saved.source, saved.trust, saved.session) == ("s-1-1", "agent", "s-1")


def test_without_a_learning_what_was_done_is_the_resolution(memory, session, clock):
    (key,) = learn_from_task(memory, session, closed(attempt(clock))).stored
    assert memory.get(key).metadata["resolution"] == "Swapped the operands back."


def test_what_was_blocked_leaves_a_failure_with_trigger_and_resolution(memory, session, clock):
    reply = {"status": "blocked", "obstacle": "No network here.", "learning": "Ask for the file first."}
    (key,) = learn_from_task(
        memory, session, closed(attempt(clock, verified=None, **reply), status="blocked")
    ).stored
    saved = memory.get(key)
    assert saved.kind == "failure"
    assert saved.metadata["trigger"] == "Make the tests of subtract pass: No network here."
    assert saved.metadata["resolution"] == "Ask for the file first."


def test_without_an_obstacle_what_the_gate_printed_is_the_trigger(memory, session, clock):
    (key,) = learn_from_task(
        memory, session, closed(attempt(clock, verified=FAILED), status="blocked")
    ).stored
    saved = memory.get(key).metadata
    assert saved["trigger"] == "Make the tests of subtract pass: assert 3 == -1"
    assert saved["resolution"] == "not solved; tried: Swapped the operands back."


def test_an_agent_that_gave_no_answer_leaves_a_failure_that_says_why(memory, session, clock):
    task = closed(Attempt(1, clock.now(), (), error="the agent was late"), status="blocked")
    (key,) = learn_from_task(memory, session, task).stored
    assert memory.get(key).metadata["trigger"].endswith(": the agent was late")


def test_what_took_two_attempts_leaves_both_and_the_way_is_linked_to_the_failure(memory, session, clock):
    tries = attempt(clock, 1, FAILED), attempt(clock, 2, PASSED, learning="Mind the sign.")
    wrong, right = learn_from_task(memory, session, closed(*tries)).stored
    assert memory.get(wrong).metadata["trigger"] == "Make the tests of subtract pass: assert 3 == -1"
    assert memory.get(wrong).metadata["resolution"] == "Mind the sign."
    (link,) = memory.links(right, relation="learned-from")
    assert (link.source, link.target) == (right, wrong)


def test_what_passed_no_gate_teaches_nothing(memory, session, clock):
    unverified = attempt(clock, verified=Verification(None, "unverified"))
    result = learn_from_task(memory, session, closed(unverified, status="unverified"))
    assert (result.stored, result.strengthened) == ((), ())


def test_the_same_again_strengthens_what_is_there(memory, session, clock):
    (key,) = learn_from_task(memory, session, closed(attempt(clock))).stored
    weight = memory.get(key).weight
    clock.at += timedelta(days=1)
    later = replace(session, id="s-2")
    result = learn_from_task(memory, later, closed(attempt(clock)))
    assert (result.stored, result.strengthened) == ((), (key,))
    assert counts(memory, key) == (1, 0)
    # A conscious step is .01 (docs/laws.md).
    assert memory.get(key).weight == pytest.approx(weight + 0.01)
    assert len(memory.list(kinds=["pattern"])) == 1


def test_a_pattern_that_was_used_and_held_again_is_counted_once(memory, session, clock):
    (key,) = learn_from_task(memory, session, closed(attempt(clock))).stored
    again = closed(attempt(clock, injected=[key], utilized=(key,)))
    later = replace(session, id="s-2")
    result = learn_from_task(memory, later, again)
    assert (result.helped, result.strengthened, len(result.operations)) == ((key,), (key,), 1)
    assert counts(memory, key) == (1, 0)
    again = replace(again, learnt=result)
    assert store_patterns(memory, replace(later, tasks=(again,))).strengthened == (key,)
    assert counts(memory, key) == (1, 0)


def test_another_lesson_does_not_strengthen(memory, session, clock):
    learn_from_task(memory, session, closed(attempt(clock)))
    other = TaskPlan("Publish the website", (), "true")
    result = learn_from_task(
        memory, session, closed(attempt(clock, details="Copied the pages."), seq=2, plan=other)
    )
    assert len(result.stored) == 1


def test_a_failure_is_not_taken_for_a_pattern_that_says_the_same(memory, session, clock):
    memory.remember("Make the tests of subtract pass\nSwapped the operands back.", kind="failure")
    assert len(learn_from_task(memory, session, closed(attempt(clock))).stored) == 1


def test_a_lesson_that_a_recall_has_just_said_is_still_a_lesson(memory, session, clock):
    memory.remember("Swapped the operands back, always.", kind="fact")
    memory.recall("operands", session=session.id)
    tries = attempt(clock, details="Swapped the operands back, always.")
    assert len(learn_from_task(memory, session, closed(tries)).stored) == 1


def test_learning_twice_from_a_task_changes_nothing_and_tells_the_same(memory, session, clock):
    used, unused = shown(memory, session, "subtract takes signs", "subtract is in calc")
    tries = [
        attempt(clock, 1, FAILED, [used, unused], utilized=(used,)),
        attempt(clock, 2, PASSED, [used, unused], learning="Mind the sign."),
    ]
    task = closed(*tries)
    first = learn_from_task(memory, session, task)
    before = memory.log(limit=1_000)
    assert learn_from_task(memory, session, task) == first
    assert memory.log(limit=1_000) == before


class Killed(BaseException):
    """As good as a kill -9: nothing after it runs."""


@pytest.mark.parametrize("after", range(4))
def test_killed_between_any_two_operations_it_goes_on_and_ends_with_the_same(embedder, clock, session, after):
    def run(kill):
        with Memory.open("sqlite://", embedder=embedder, clock=clock) as memory:
            used, unused = shown(memory, session, "subtract takes signs", "subtract is in calc")
            before = attempt(clock, injected=[used], utilized=(used,))
            learn_from_task(memory, session, closed(before, seq=1, plan=TaskPlan("Publish the website")))
            tries = [
                attempt(clock, 1, FAILED, [used, unused], utilized=(used,)),
                attempt(clock, 2, PASSED, [used, unused], learning="Mind the sign."),
            ]
            task = closed(*tries, seq=2)
            if kill is not None:
                write, left = memory.write, [kill]

                def dying(*options, **named):
                    if not left[0]:
                        raise Killed
                    left[0] -= 1
                    return write(*options, **named)

                memory.write = dying
                with pytest.raises(Killed):
                    learn_from_task(memory, session, task)
                memory.write = write
            learn_from_task(memory, session, task)
            present = memory.list(kinds=["pattern", "failure"])
            operations = sorted(item.kind for item in memory.log(limit=1_000))
            return {item.content: (item.use.helped, item.use.failed) for item in present}, operations

    # The verdicts, the failure, the pattern, their link: four operations.
    assert run(after) == run(None)


def test_all_of_it_can_be_undone(memory, session, clock):
    (used,) = shown(memory, session, "subtract takes signs")
    tries = attempt(clock, 1, FAILED, [used], utilized=(used,)), attempt(clock, 2, PASSED, [used])
    for operation in reversed(learn_from_task(memory, session, closed(*tries)).operations):
        memory.undo(operation)
    assert counts(memory, used) == (0, 0)
    assert memory.list(kinds=["failure"]) == []


STUCK = {"status": "blocked", "obstacle": "remote: 403 Forbidden"}


def blocked_runs(memory, session, clock, count, **report):
    """Runs that end at the same obstacle, each with what is known."""
    results = []
    for number in range(count):
        now = replace(session, id=f"s-{number}")
        gathered = gather(memory, PLAN.objective, session.folder, session=now.id)
        used = gathered.injected if report.get("claims") else ()
        tries = attempt(clock, verified=None, injected=gathered.injected, utilized=used, **STUCK)
        task = replace(closed(tries, status="blocked"), gathered=gathered)
        results.append(learn_from_task(memory, now, task))
    return results


@pytest.mark.parametrize("claims", [False, True])
def test_a_failure_that_recurs_keeps_how_often_and_is_not_blamed_for_it(memory, session, clock, claims):
    first, *rest = blocked_runs(memory, session, clock, 4, claims=claims)
    (key,) = first.stored
    assert [result.recurred for result in rest] == [(key,)] * 3
    assert [(result.stored, result.strengthened, result.helped) for result in rest] == [((), (), ())] * 3
    assert counts(memory, key) == (0, 0)
    record = memory.get(key)
    assert (record.metadata["hits"], record.metadata["blocked_in"]) == (4, ["s-0", "s-1", "s-2", "s-3"])
    assert "failed 4 times" in shown_memory(record).text
    assert gather(memory, PLAN.objective, session.folder, session="s").failed == 4


def test_a_failure_that_recurs_unseen_is_remembered_as_such_without_having_helped(memory, session, clock):
    tries = attempt(clock, verified=None, **STUCK)
    (key,) = learn_from_task(memory, session, closed(tries, status="blocked")).stored
    again = learn_from_task(memory, replace(session, id="s-2"), closed(tries, status="blocked"))
    assert (again.strengthened, again.recurred) == ((key,), ())
    assert counts(memory, key) == (0, 0)


def test_a_lesson_whose_failure_recurred_has_not_helped_though_a_later_attempt_passed(memory, session, clock):
    first = attempt(clock, verified=FAILED, obstacle=None)
    (key,) = learn_from_task(memory, session, closed(first, status="blocked")).stored
    tries = attempt(clock, 1, FAILED, [key]), attempt(clock, 2, PASSED, [key], utilized=(key,))
    result = learn_from_task(memory, replace(session, id="s-2"), closed(*tries))
    assert (result.helped, result.recurred) == ((), (key,))
    assert counts(memory, key) == (0, 0)
    assert (memory.get(key).metadata["hits"], memory.get(key).metadata["blocked_in"]) == (2, [])


def test_a_failure_is_overcome_by_a_delivery_to_which_it_was_not_shown(memory, session, clock):
    (first,) = blocked_runs(memory, session, clock, 1)
    later = replace(session, id="s-9")
    learn_from_task(memory, later, closed(attempt(clock, 1, PASSED)))
    record = memory.get(first.stored[0])
    assert (record.metadata["hits"], record.metadata["blocked_in"]) == (1, [])
    assert gather(memory, PLAN.objective, session.folder, session="s").failed == 0


def test_only_what_was_shown_for_what_it_says_is_blamed(memory, session, clock):
    key = memory.remember(**lesson("pattern", PLAN.objective, "Zebras know it.")).key
    fact, other = memory.remember("Zebras graze.", kind="fact").key, memory.remember("Ferns uncurl.").key
    memory.link(key, fact, "requires", 0.9)
    gathered = gather(memory, PLAN.objective, session.folder, session=session.id)
    assert gathered.injected == (key, fact)
    tries = attempt(clock, injected=gathered.injected)
    result = learn_from_task(memory, session, replace(closed(tries), gathered=gathered))
    assert result.unused == (key,)
    assert (counts(memory, fact), counts(memory, other)) == ((0, 0), (0, 0))


def test_a_pattern_that_was_repeated_unnamed_was_not_shown_in_vain(memory, session, clock):
    (key,) = learn_from_task(memory, session, closed(attempt(clock))).stored
    result = learn_from_task(memory, replace(session, id="s-2"), closed(attempt(clock, injected=[key])))
    assert (result.strengthened, result.unused, result.patterns) == ((key,), (), (key,))
    assert counts(memory, key) == (1, 0)


def test_what_says_the_same_as_a_memory_that_helped_was_not_shown_in_vain(memory, session, clock):
    tries = attempt(clock, 1, FAILED), attempt(clock, 2, PASSED, learning="Mind the sign.")
    wrong, right = learn_from_task(memory, session, closed(*tries)).stored
    again = attempt(clock, injected=[right, wrong], utilized=(right,), learning="Mind the sign.")
    learn_from_task(memory, replace(session, id="s-2"), closed(again))
    assert (counts(memory, right), counts(memory, wrong)) == ((1, 0), (0, 0))


def test_a_lesson_keeps_objective_task_trigger_what_failed_and_what_helped(memory, session, clock):
    tries = attempt(clock, 1, FAILED, details="Added."), attempt(clock, 2, PASSED, learning="Mind the sign.")
    wrong, right = learn_from_task(memory, session, closed(*tries)).stored
    about = memory.get(wrong).metadata
    assert (about["objective"], about["task"]) == (session.objective, PLAN.objective)
    assert about["trigger"] == f"{PLAN.objective}: assert 3 == -1"
    assert (about["failed"], about["resolution"]) == ("assert 3 == -1; Added.", "Mind the sign.")
    assert memory.get(right).metadata["objective"] == session.objective


def test_chunks_are_made_of_what_was_delivered_and_only_once(memory, session, clock):
    other = TaskPlan("Publish the website", (), "true")
    tasks = (
        closed(attempt(clock), seq=1),
        closed(attempt(clock, verified=FAILED), seq=2, status="blocked", plan=TaskPlan("Divide")),
        closed(attempt(clock, details="Copied the pages."), seq=3, plan=other),
    )
    session = replace(session, tasks=tasks)
    learn_from_task(memory, session, tasks[0])
    assert len(store_patterns(memory, session).stored) == 1
    before = len(memory.log(limit=1_000))
    assert store_patterns(memory, session) == LearningResult()
    assert len(memory.log(limit=1_000)) == before


SAID = re.compile(r"write the word (\w+)")
EXPECTED = re.compile(r"(\w+) was expected")
KEY = re.compile(r"^\[([^]]+)\].*write the word", re.MULTILINE)


def heeding(folder):
    """An agent that knows only its prompt: what a memory says to write, what a gate expected, else a guess."""

    def answer(prompt, _schema):
        reply, expected, key = (pattern.search(prompt) for pattern in (SAID, EXPECTED, KEY))
        word = (reply or expected or ["", "guess"])[1]
        (folder / "answer.txt").write_text(f"{word}\n")
        return {
            "status": "delivered",
            "details": f"Wrote {word}.",
            "utilized": [key[1]] if key else [],
            "obstacle": None,
            "learning": f"write the word {word} into answer.txt" if expected else None,
        }

    return ScriptedAgent(answer)


def worked(memory, session, objective, folder):
    """One task from start to end, by the functions of the loop: the attempts that it took."""
    verify = verifier(
        lambda _, folder: None if (folder / "answer.txt").read_text() == "quagga\n" else "quagga was expected"
    )
    plan = TaskPlan(objective, ("answer.txt",), "grep -qx quagga answer.txt")
    gathered = gather(memory, objective, folder, session=session.id)
    agent, attempts, failed = heeding(folder), (), None
    for number in (1, 2, 3):
        acted = act(agent, plan, number, gathered, failed=failed)
        result = verify(plan.verify, folder, timeout=60.0, most_output=2_000)
        attempts += (Attempt(number, session.created_at, gathered.injected, acted, result),)
        failed = result if result.status != "passed" else None
        if failed is None:
            break
    task = Task(1, plan, "delivered" if failed is None else "blocked", attempts)
    return learn_from_task(memory, session, task), len(attempts)


def test_the_second_run_of_a_similar_objective_takes_fewer_attempts(memory, session, tmp_path):
    first, tries = worked(memory, session, "Put the right animal into answer.txt", tmp_path)
    assert (tries, len(first.stored)) == (2, 2)
    again = replace(session, id="s-2")
    second, tries = worked(memory, again, "Put the right animal into the file answer.txt", tmp_path)
    assert tries == 1
    assert set(second.helped) <= set(first.stored)
    assert counts(memory, second.helped[0])[0] >= 1


@each_row(
    ("output", "values"),
    [
        ("E   NameError: x\n1 failed in 0.1s", "NameError: x"),
        ("compiling\nsrc/a.rs: error: no such thing\ndone", "src/a.rs: error: no such thing"),
        (
            "Traceback (most recent call last):\n  File x\nValueError: no sign\n\nFAILED (errors=1)",
            "ValueError: no sign",
        ),
        ("\x1b[31mE   boom\x1b[0m\x00\n1 failed in 0.1s", "boom\\u0000"),
        ("nothing of note\nthe end", "the end"),
        ("\n \n", None),
    ],
)
def test_the_symptom_is_the_line_that_tells_most(output, values):
    assert symptom(Verification("x", "failed", 1, output)) == values


def test_a_pending_task_is_no_lesson(session):
    task = Task(1, PLAN)
    assert failure(session, task) is None
    assert pattern(session, task) is None


def test_what_is_about_another_task_of_the_session_is_not_blamed(runs):
    who = ("speakers", "guests", "press")
    plan = planned(*((f"Invite the {name} by letter", "true") for name in who))
    done = [delivered(f"Sent {count} sheets to the {name} at {place}.") for count, name, place in LETTERS]
    for _ in range(2):
        session = runs.run([plan, *done], "Prepare the congress")
    assert any(len(task.gathered.injected) > 1 for task in session.tasks)
    assert [task.learnt.unused for task in session.tasks] == [(), (), ()]
    assert {memory.use.failed for memory in runs.memory.list(kinds=["pattern"])} == {0}


LETTERS = ((40, "speakers", "Oslo"), (300, "guests", "home"), (12, "press", "the weekly papers"))


MENU = "Translate the menu into Japanese"


def block(memory, obstacle):
    """Block a task about the menu, which was shown what is remembered of it."""
    session = memory.loop_task_new_session(MENU).session_id
    injected = memory.loop_context(MENU, session=session).memory.injected_names
    memory.loop_task_add(session, 1, MENU, injected=list(injected))
    return memory.loop_task_block(session, 1, obstacle).feedback


def test_a_wall_that_is_hit_again_in_other_words_is_not_blamed_for_it():
    with Memory.open("sqlite://", embedder=named("semantic:onnx")) as memory:
        for obstacle in ("The font has no kanji", "There are no kanji in the font", "The font lacks kanji"):
            assert block(memory, obstacle).unhelpful == 0
        assert {record.use.failed for record in memory.list(kinds=["failure"])} == {0}


def test_a_lesson_that_is_told_for_another_action_on_the_same_thing_is_not_blamed(tmp_path):
    other = "Print the menu in Japanese"
    with Memory.open("sqlite://", embedder=named("semantic:onnx")) as memory:
        block(memory, "The font has no kanji")
        session = memory.loop_task_new_session(other, folder=str(tmp_path)).session_id
        (shown_key,) = memory.loop_context(other, session=session).memory.injected_names
        memory.loop_task_add(session, 1, other, injected=[shown_key], verify="true")
        assert memory.loop_task_complete(session, 1, "Printed it.").feedback.unhelpful == 0
        assert counts(memory, shown_key) == (0, 0)
