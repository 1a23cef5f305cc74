"""Sessions that another program drives, task by task, through the same gate and learning as a run."""

from dataclasses import replace

import pytest
from tests.rows import each_row

from priming.errors import Conflict, NotFound, ParamError
from priming_loop.run import ResumeOptions, resume
from priming_loop.session_store import LOOP, Sessions
from priming_loop.steps.results import SessionAssessment, SessionBegun, TaskAdded
from priming_loop.steps.tasks import loop_task_close

from ..scripted_runs import PASSES, Runs, delivered, planned, statuses


@pytest.fixture
def session(memory, tmp_path):
    return memory.loop_task_new_session("Mend it all", folder=str(tmp_path)).session_id


@pytest.fixture
def glue(memory):
    """A memory that an agent was shown."""
    values = {"trigger": "Mend the chair", "resolution": "Use glue."}
    memory.remember("Mend the chair\nUse glue.", kind="pattern", key="glue", metadata=values)
    memory.recall("Mend the chair")
    return "glue"


def test_a_task_is_complete_when_its_gate_passes(memory, session, glue):
    memory.loop_task_add(session, 1, "Mend the chair", verify=PASSES, injected=[glue])
    reply = memory.loop_task_complete(session, 1, "Glued it.", utilized=[glue, "invented"])
    assert (reply.status, reply.verified, reply.gate.status) == ("complete", True, "passed")
    assert (reply.feedback.helped, reply.feedback.missing) == (1, ("invented",))
    assert memory.get(glue).use.helped == 1
    assert memory.loop_meta_assess(session).recommendation == "keep_going"


def test_a_task_whose_gate_fails_stays_pending_until_its_attempts_are_used_up(memory, session, glue):
    gate = "echo 'Still loose' && false"
    memory.loop_task_add(session, 1, "Mend the chair", verify=gate, injected=[glue])
    for number in range(1, LOOP.attempts):
        reply = memory.loop_task_complete(session, 1, "Done.")
        assert (reply.status, reply.attempt) == ("pending", number + 1)
        assert reply.gate.output.strip() == "Still loose"
    reply = memory.loop_task_complete(session, 1, "Done.")
    assert (reply.status, reply.reason) == ("blocked", "its gate did not pass")
    assert reply.feedback.unhelpful == 1


def test_a_task_without_a_gate_is_called_unverified(memory, session):
    memory.loop_task_add(session, 1, "Write it down")
    reply = memory.loop_task_complete(session, 1, "Written.")
    assert (reply.status, reply.verified) == ("unverified", False)
    assert memory.loop_meta_summary(session).total_tasks == 0


def test_a_block_keeps_the_failure(memory, session):
    memory.loop_task_add(session, 1, "Mend the chair", verify=PASSES)
    reply = memory.loop_task_block(session, 1, "There is no glue.")
    assert (reply.status, reply.reason) == ("blocked", "There is no glue.")
    (key,) = reply.feedback.stored
    assert "There is no glue." in memory.get(key).content
    assert memory.loop_meta_assess(session).consecutive_failures == 1


def test_closing_twice_changes_nothing(memory, session, glue):
    memory.loop_task_add(session, 1, "Mend the chair", verify=PASSES, injected=[glue])
    first = memory.loop_task_complete(session, 1, "Glued it.", utilized=[glue])
    again = memory.loop_task_complete(session, 1, "Glued it again.")
    assert again == replace(first, gate=None)
    with pytest.raises(Conflict, match=r"task 1 .* is complete: add another"):
        memory.loop_task_block(session, 1, "No.")
    assert memory.loop_task_get(session)[0].status == "complete"
    assert memory.get(glue).use.helped == 1


def test_tasks_are_shown_by_number_with_how_they_ended(memory, session):
    memory.loop_task_add(session, 2, "Then this", delta=["b.py"], verify=PASSES)
    memory.loop_task_add(session, 1, "First this", delta=["a.py"])
    first, second = memory.loop_task_get(session)
    assert (first.session_id, first.seq, first.objective, first.delta) == (
        session,
        1,
        "First this",
        ("a.py",),
    )
    assert (first.status, first.delivered, second.seq) == ("pending", None, 2)
    memory.loop_task_complete(session, 1, "Done.")
    memory.loop_task_block(session, 2, "It rains.")
    ended = [(task.status, task.delivered) for task in memory.loop_task_get(session)]
    assert ended == [("unverified", "Done."), ("blocked", "BLOCKED: It rains.")]
    assert [task.seq for task in memory.loop_task_get(session, seq=2)] == [2]


def test_a_number_is_taken_once_and_from_one_on(memory, session):
    added = memory.loop_task_add(session, 1, "First this")
    assert added == memory.loop_task_add(session, 1, "First this") == TaskAdded(session, 1, "pending")
    with pytest.raises(Conflict, match="take another seq"):
        memory.loop_task_add(session, 1, "Another")
    with pytest.raises(ParamError, match="seq"):
        memory.loop_task_add(session, 0, "Another")
    with pytest.raises(ParamError, match="objective"):
        memory.loop_task_add(session, 2, " ")
    with pytest.raises(NotFound, match="there are 1"):
        memory.loop_task_complete(session, 2, "Done.")
    with pytest.raises(ParamError, match="reason"):
        memory.loop_task_block(session, 1, " ")
    assert [task.objective for task in memory.loop_task_get(session)] == ["First this"]


def test_outcomes_are_recorded_assessed_and_cleared(memory, session):
    assert memory.loop_meta_assess(session).recommendation == "keep_going"
    assert memory.loop_meta_record(session, 1, True, notes="well").status == "recorded"
    for seq in (2, 3, 4):
        memory.loop_meta_record(session, seq, False, notes="badly")
    assessment = memory.loop_meta_assess(session)
    # Three failures at the end: pivot_now, by the law of metacognition.
    reason = "the approach fails: pivot now; 25% of tasks succeeded, and the last 3 failed"
    expected = SessionAssessment("failing", 0.25, 4, 1, 3, "pivot_now", reason, assessment.pivot)
    assert assessment == expected
    assert assessment.pivot.should_pivot is True
    assert memory.loop_meta_record(session, 4, True).status == "updated"
    summary = memory.loop_meta_summary(session)
    assert (summary.success_rate, summary.failure_notes) == (0.5, ("badly", "badly"))
    assert memory.loop_meta_assess(session).pivot.should_pivot is False
    assert memory.loop_meta_clear(session).cleared == 4
    assert memory.loop_meta_assess(session).status == "no_data"


def test_most_failures_make_a_pivot_worth_considering(memory, session):
    memory.loop_meta_record(session, 1, False)
    memory.loop_meta_record(session, 2, False)
    pivot = memory.loop_meta_assess(session).pivot
    assert (pivot.should_pivot, pivot.confidence) == ("maybe", "medium")


def test_tasks_that_were_added_from_outside_can_be_run(memory, session, tmp_path):
    memory.loop_task_add(session, 1, "Mend the chair", verify=PASSES)
    done = resume(Runs(memory, tmp_path).work([delivered()]), session, ResumeOptions())
    assert (done.ended, done.tasks[0].status) == ("delivered", "delivered")


def test_a_session_without_a_folder_runs_no_command(memory):
    session = memory.loop_task_new_session().session_id
    with pytest.raises(ParamError, match=r"verify.*the session has no folder"):
        memory.loop_task_add(session, 1, "Mend it", verify=PASSES)
    memory.loop_task_add(session, 1, "Mend it")
    assert memory.loop_task_complete(session, 1, "Mended.").status == "unverified"
    with pytest.raises(ParamError, match="has no folder to work in"):
        resume(Runs(memory, None).work([]), session, ResumeOptions())


def test_a_task_with_a_gate_is_closed_on_its_own_machine_only(memory, session):
    memory.loop_task_add(session, 1, "Mend it", verify=PASSES)
    memory.loop_task_add(session, 2, "Write it down")
    with pytest.raises(Conflict, match=f"priming loop task complete --session {session} --seq 1"):
        loop_task_close(memory, session, 1, "Mended.")
    assert loop_task_close(memory, session, 2, "Written.").status == "unverified"
    assert [task.status for task in memory.loop_task_get(session)] == ["pending", "unverified"]


def test_a_session_whose_answer_was_lost_is_begun_once(memory):
    requested = "01890a5d-ac96-774b-bcce-b302099a8057"
    for _ in range(2):
        with memory.identified(requested):
            assert memory.loop_task_new_session("Mend it") == SessionBegun(requested)
    assert [row.session for row in memory.loop_list()] == [requested]


class Died(BaseException):
    """The end of a process: nothing after it runs."""


@pytest.mark.parametrize("saves", range(4))
def test_a_report_whose_process_dies_at_any_save_can_be_repeated(memory, session, glue, monkeypatch, saves):
    # Saved are the report, its verification, the closed task and what it taught.
    memory.loop_task_add(session, 1, "Mend the chair", verify=PASSES, injected=[glue])
    save, left = Sessions.save, [saves]

    def dying(self, value):
        if not left[0]:
            raise Died
        left[0] -= 1
        return save(self, value)

    monkeypatch.setattr(Sessions, "save", dying)
    with pytest.raises(Died):
        memory.loop_task_complete(session, 1, "Glued it.", utilized=[glue])
    monkeypatch.undo()
    reply = memory.loop_task_complete(session, 1, "Glued it.", utilized=[glue])
    (task,) = Sessions(memory).get(session).tasks
    assert (reply.status, len(task.attempts), task.learnt.helped) == ("complete", 1, (glue,))
    assert memory.get(glue).use.helped == 1
    assert [outcome.success for outcome in memory.loop_meta_summary(session).tasks] == [True]


def test_a_task_that_an_agent_planned_can_be_closed_by_another_program(runs):
    session = runs.run([planned(("Mend the chair", PASSES), ("Paint it", PASSES))], yes=False)
    assert runs.memory.loop_task_complete(session.id, 1, "Glued it.").status == "complete"
    done = runs.resume(session, [delivered()], ResumeOptions(yes=True))
    assert (done.ended, statuses(done)) == ("delivered", ["delivered", "delivered"])
    assert done.tasks[0].attempts[0].acted.details == "Glued it."


def test_a_session_that_has_ended_takes_no_further_task(memory, tmp_path):
    runs = Runs(memory, tmp_path)
    ended = runs.run([planned(("Oil the hinge", PASSES)), delivered()])
    with pytest.raises(Conflict, match=r"has ended \(delivered\).*new-session"):
        memory.loop_task_add(ended.id, 2, "Oil the lock")
    assert [task.objective for task in memory.loop_task_get(ended.id)] == ["Oil the hinge"]


@each_row(
    ("name", "value"),
    [("seq", 1.5), ("seq", "1"), ("delta", "src/a.py"), ("delta", [5]), ("injected", "abc"), ("verify", 5)],
)
def test_a_value_of_another_type_is_refused_before_anything_is_saved(memory, name, value):
    session = memory.loop_task_new_session("Mend it").session_id
    with pytest.raises(ParamError, match=name):
        memory.loop_task_add(session, **{"seq": 1, "objective": "Mend it", name: value})
    assert memory.loop_task_get(session) == []


def test_names_are_a_list_and_not_letters(memory):
    session = memory.loop_task_new_session("Mend it").session_id
    memory.loop_task_add(session, 1, "Mend it")
    for report in (
        lambda: memory.loop_task_complete(session, 1, "Mended.", utilized="abc"),
        lambda: memory.loop_task_block(session, 1, "No.", utilized="abc"),
        lambda: memory.loop_feedback("abc", "abc"),
    ):
        with pytest.raises(ParamError, match="must be a list of texts"):
            report()
    assert memory.loop_task_get(session)[0].status == "pending"
