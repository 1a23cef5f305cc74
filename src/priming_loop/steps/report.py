"""The report of a session: what was tried and learnt, how it is going, and whether to take another approach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from priming.core.arguments.checks import check_text, check_whole
from priming.core.metacognition import Assessment
from priming.namespace import Namespace
from priming_loop.session import Attempt, LearningResult, Session, TaskOutcome
from priming_loop.session_store import Sessions, taken
from priming_loop.steps.results import (
    OutcomeRecorded,
    OutcomesCleared,
    PivotAdvice,
    RecordedOutcome,
    SessionAssessment,
    SessionOutcomes,
    SessionReport,
    SessionSummary,
)

DELIVERED, FAILED, NOT_DELIVERED, WAITING, INTERRUPTED = 0, 1, 3, 4, 130
"""Exit statuses of a run; 2 is bad input."""
_WAITS = {"approval": "approval of its plan", "destructive": "approval of a task", "answer": "an answer"}
_STOPS = {
    "interrupt": ("interrupted", INTERRUPTED),
    "minutes": ("the minutes are over", NOT_DELIVERED),
    "agent": ("the agent gave no usable answer", FAILED),
}
"""Why a session stopped before its end: in words, and as an exit status."""
_STATES = {
    "no_data": "no task has ended yet",
    "healthy": "the approach works",
    "struggling": "the approach struggles",
    "failing": "the approach fails",
}
"""The states of metacognition, for people."""


def status_of(session: Session) -> int | None:
    """Return the exit status of a run that left a session in this state; None if it still runs, or was killed."""
    if session.waits is not None:
        return WAITING
    if session.stopped is not None:
        return _STOPS[session.stopped][1]
    if session.ended is None or session.state != "SUMMARY":
        return None
    return DELIVERED if session.ended == "delivered" else NOT_DELIVERED


def loop_report(memory: Namespace, session: str | None = None) -> SessionReport:
    """Return what a session tried and learnt, which memories helped, how it is going, and which command continues it.

    Args:
        session: the session; null: the one that began last.

    """
    sessions = Sessions(memory)
    return report(sessions, sessions.latest() if session is None else sessions.get(session))


def loop_list(memory: Namespace, *, limit: int = 20) -> list[SessionSummary]:
    """Return the sessions of the loop, the latest first.

    Args:
        limit: at most so many.

    """
    return memory.listed(summarise(session) for session in Sessions(memory).list(limit))


def report(sessions: Sessions, session: Session) -> SessionReport:
    """Return the report of a session, with the reports of its subgoals."""
    learnt = LearningResult.of((*(task.learnt for task in session.tasks), session.learnt))
    assessment, (delivered, total) = session.assessment, session.tally
    share = f"{delivered} of {total} tasks delivered ({delivered / total:.0%})" if total else ""
    since = " since the approach changed" if session.begun_with else ""
    return taken(
        SessionReport,
        (session, learnt),
        session=session.id,
        status=status_of(session),
        advice=assessment.advice,
        line=describe_assessment(assessment, share, since),
        children=tuple(report(sessions, child) for child in sessions.children(session)),
        next_command=next_command(session),
    )


def next_command(session: Session) -> str | None:
    """Return the command that continues a session; None if nothing is left to do."""
    command = f"priming loop resume {session.id}"
    if session.waits is not None:
        if session.waits.what == "destructive" and session.reasoned is None:
            return f"priming loop allow {session.id}"
        return f"{command} --answer TEXT" if session.waits.what == "answer" else f"{command} --yes"
    if session.state == "SUMMARY":
        if session.ended == "delivered":
            return None
        answer = session.ended in ("pivot", "impasse", "unverified")
        return f"{command} --answer TEXT" if answer else command
    return f"{command} --budget-minutes M" if session.stopped == "minutes" else command


def describe_assessment(assessment: Assessment, share: str | None = None, since: str = "") -> str:
    """Return a metacognitive assessment in words, with a ``share`` of tasks: by default of those that succeeded.

    >>> from priming.core.metacognition import assess
    >>> describe_assessment(assess([True, False]))
    'the approach struggles: slow down; 50% of tasks succeeded, and the last one failed'
    """
    if share is None and assessment.success_rate is not None:
        share = f"{assessment.success_rate:.0%} of tasks succeeded"
    number = assessment.consecutive_failures
    failures = f", and the last {'one' if number == 1 else number} failed" if number else ""
    words = f"{_STATES[assessment.state]}{since}: {assessment.advice.replace('_', ' ')}"
    return f"{words}; {share}{failures}" if share else words


def describe_state(session: SessionReport | Session) -> str:
    """Return the state of a session, in words."""
    if session.waits is not None:
        return f"waits for {_WAITS[session.waits.what]}"
    if session.ended is not None and session.state == "SUMMARY":
        return session.ended
    if session.stopped is not None:
        return f"stopped: {_STOPS[session.stopped][0]}"
    return session.state.lower()


def summarise(session: Session) -> SessionSummary:
    """Return a session as a row of a list."""
    delivered, total = session.tally
    stands = describe_state(session)
    return taken(
        SessionSummary, (session,), session=session.id, stands=stands, tasks=total, delivered=delivered
    )


def describe_attempt(attempt: Attempt) -> str:
    """Return an attempt and its result, on one line."""
    if attempt.error is not None:
        return f"{attempt.number}, no usable answer: {' '.join(attempt.error.split())}"
    if attempt.acted is None:
        return f"{attempt.number}, not finished"
    gate = "" if attempt.verified is None else f", gate {attempt.verified.status}"
    details = " ".join((attempt.acted.obstacle or attempt.acted.details).split())
    return f"{attempt.number}, {attempt.acted.status}{gate}" + (f": {details}" if details else "")


def learnt_by_effect(result: SessionReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the keys of the memories that a session affected, by effect; effects without keys are left out."""
    effects = {
        "helped": result.helped,
        "shown but not used": tuple(key for key in result.unused if key not in result.recurred),
        "repeated although shown": result.recurred,
        "stored": result.stored,
        "strengthened": result.strengthened,
        "named, but unknown": result.unknown,
    }
    yield from ((effect, keys) for effect, keys in effects.items() if keys)


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
    check_whole("seq", seq, low=1)
    sessions = Sessions(memory)
    with sessions.lock(sessions.root(session).id):
        current = sessions.get(session)
        replaces = any(outcome.seq == seq for outcome in current.outcomes)
        outcome = TaskOutcome(seq, success, sessions.now(), check_text("notes", notes))
        sessions.save(current.with_outcome(outcome))
    return OutcomeRecorded("updated" if replaces else "recorded")


def loop_meta_assess(memory: Namespace, session: str) -> SessionAssessment:
    """Assess whether the approach of a session works, and whether to take another.

    Args:
        session: the session.

    """
    current = Sessions(memory).get(session)
    assessment = current.assessment
    outcomes = current.outcomes[current.begun_with :]
    return taken(
        SessionAssessment,
        (assessment,),
        status=assessment.state,
        total_tasks=len(outcomes),
        successes=sum(outcome.success for outcome in outcomes),
        recommendation=assessment.advice,
        reason=describe_assessment(assessment),
        pivot=_SUGGESTIONS.get(assessment.advice, replace(_GO_ON, confidence=assessment.confidence)),
    )


def loop_meta_summary(memory: Namespace, session: str) -> SessionOutcomes:
    """Return how the tasks of a session ended, with the notes of each.

    Args:
        session: the session.

    """
    current = Sessions(memory).get(session)
    outcomes = current.outcomes
    return SessionOutcomes(
        session_id=current.id,
        total_tasks=len(outcomes),
        successes=sum(outcome.success for outcome in outcomes),
        success_rate=replace(current, begun_with=0).assessment.success_rate,
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
