"""The assessment of a session: how its tasks ended, whether its approach works, and whether to take another."""

from __future__ import annotations

from dataclasses import replace

from priming.core.arguments.checks import check_text
from priming.core.metacognition import Assessment
from priming.errors import ParamError
from priming.namespace import Namespace
from priming_loop.session import TaskOutcome, assessment_of, with_outcome
from priming_loop.session_store import Sessions
from priming_loop.steps.report import describe_assessment
from priming_loop.steps.results import (
    OutcomeRecorded,
    OutcomesCleared,
    PivotAdvice,
    RecordedOutcome,
    SessionAssessment,
    SessionOutcomes,
)

_GO_ON = PivotAdvice(False, "low", "Go on.", ())
_SUGGESTIONS = {
    "pivot_now": PivotAdvice(
        True,
        "high",
        "Stop: what was tried failed again and again.",
        ("make the objective simpler", "take another approach", "ask what is meant", "begin afresh"),
    ),
    "consider_pivot": PivotAdvice(
        "maybe",
        "medium",
        "Most tasks fail: consider another approach.",
        ("go on with smaller steps", "look at what fails first", "heed the failures that memory knows"),
    ),
}
"""Suggestions by the advice of metacognition."""


def loop_meta_record(
    memory: Namespace, session: str, seq: int, success: bool, *, notes: str = ""
) -> OutcomeRecorded:
    """Record whether a task succeeded, for the assessment of its session.

    Args:
        session: the session.
        seq: the number of the task, 1 or more.
        success: whether it succeeded.
        notes: anything to be kept with it.

    """
    check_seq(seq)
    sessions = Sessions(memory)
    with sessions.lock(sessions.root(session).id):
        current = sessions.get(session)
        replaces = any(outcome.seq == seq for outcome in current.outcomes)
        outcome = TaskOutcome(seq, success, sessions.now(), check_text("notes", notes))
        sessions.save(with_outcome(current, outcome))
    return OutcomeRecorded("updated" if replaces else "recorded")


def loop_meta_assess(memory: Namespace, session: str) -> SessionAssessment:
    """Assess whether the approach of a session works, and whether to take another.

    Args:
        session: the session.

    """
    current = Sessions(memory).get(session)
    assessment = assessment_of(current)
    outcomes = current.outcomes[current.begun_with :]
    return SessionAssessment(
        status=assessment.state,
        success_rate=assessment.success_rate,
        total_tasks=len(outcomes),
        successes=sum(outcome.success for outcome in outcomes),
        consecutive_failures=assessment.consecutive_failures,
        recommendation=assessment.advice,
        reason=describe_assessment(assessment),
        pivot=pivot_advice(assessment),
    )


def loop_meta_summary(memory: Namespace, session: str) -> SessionOutcomes:
    """How the tasks of a session ended, with the notes of each.

    Args:
        session: the session.

    """
    current = Sessions(memory).get(session)
    outcomes = current.outcomes
    return SessionOutcomes(
        session_id=current.id,
        total_tasks=len(outcomes),
        successes=sum(outcome.success for outcome in outcomes),
        success_rate=assessment_of(replace(current, begun_with=0)).success_rate,
        tasks=tuple(RecordedOutcome(o.seq, o.success, o.notes, o.at) for o in outcomes),
        failure_notes=tuple(o.notes for o in outcomes if not o.success and o.notes),
        success_notes=tuple(o.notes for o in outcomes if o.success and o.notes),
    )


def loop_meta_clear(memory: Namespace, session: str) -> OutcomesCleared:
    """Clear the record of how tasks ended, because another approach begins.

    Args:
        session: the session.

    """
    sessions = Sessions(memory)
    with sessions.lock(sessions.root(session).id):
        current = sessions.get(session)
        sessions.save(replace(current, outcomes=(), begun_with=0))
    return OutcomesCleared(len(current.outcomes))


def pivot_advice(assessment: Assessment) -> PivotAdvice:
    """Whether to take another approach."""
    return _SUGGESTIONS.get(assessment.advice, replace(_GO_ON, confidence=assessment.confidence))


def check_seq(seq: int) -> None:
    """Raise ``ParamError`` for what is no number of a task."""
    if seq < 1:
        raise ParamError("seq", seq, "must be 1 or more")
