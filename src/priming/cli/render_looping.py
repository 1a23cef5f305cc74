"""The loop in words: plans, sessions, reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from priming.cli.render import DIM, KEY, WARN
from priming.cli.screen import Part, Table, line

if TYPE_CHECKING:
    from priming.loop.session import (
        ObjectiveContext,
        PlanningResult,
        Session,
        SessionReport,
        SessionSummary,
        Task,
    )

_COLOURS = {"delivered": "green", "blocked": "red"}


def thought(gathered: ObjectiveContext, found: PlanningResult) -> Iterator[Part]:
    """What reasoning came to, and what it knew."""
    yield line((found.assessment, KEY), f"  {found.reasoning}")
    for number, plan in enumerate(found.tasks, 1):
        yield line(f"{number}. {plan.objective}")
        yield line((f"files {', '.join(plan.delta) or '-'}; gate {plan.verify or 'none'}", DIM), indent=3)
    if found.question is not None:
        yield line(("it asks: ", WARN), found.question)
    if found.impasse is not None:
        yield line(("impasse: ", WARN), f"{found.impasse.type}: {found.impasse.subgoal}")
    if gathered.injected:
        yield line(("shown: ", DIM), (", ".join(gathered.injected), KEY))


def stands(one: SessionReport) -> Iterator[Part]:
    """Where a session stands, and each of its tasks."""
    from priming.loop.report import describe_state

    yield line((one.session, KEY), f"  {describe_state(one)}")
    yield line(one.objective)
    yield from (_task(task) for task in one.tasks)
    yield from _open(one)


def sessions(found: Sequence[SessionSummary]) -> Iterator[Part]:
    """Sessions, a row each."""
    if not found:
        yield line(("no sessions yet", DIM))
        return
    rows = tuple(
        (
            one.session,
            one.created_at.astimezone().strftime("%Y-%m-%d %H:%M"),
            f"{one.delivered}/{one.tasks}",
            one.stands,
            one.objective,
        )
        for one in found
    )
    yield Table(("session", "begun", "tasks", "", "objective"), rows, cut=True)


def report(one: SessionReport, indent: int = 0) -> Iterator[Part]:
    """What a session came to, with its subgoals."""
    from priming.loop.report import describe_attempt, describe_state, learnt_by_effect

    yield line(
        (describe_state(one), _COLOURS.get(one.ended or "", WARN)), f"  {one.objective}", indent=indent
    )
    yield line((f"session {one.session}", DIM), indent=indent)
    for task in one.tasks:
        yield _task(task, indent)
        yield from (line((describe_attempt(attempt), DIM), indent=indent + 3) for attempt in task.attempts)
    for what, keys in learnt_by_effect(one):
        yield line((f"{what}: ", DIM), (", ".join(keys), KEY), indent=indent)
    yield from _open(one, indent)
    for other in one.alternatives:
        yield line(("also known: ", DIM), (other.key, KEY), f"  {other.text}", indent=indent)
    yield line((one.line, DIM), indent=indent)
    for child in one.children:
        yield from report(child, indent + 2)


def _task(one: Task, indent: int = 0) -> Part:
    status = (one.status, _COLOURS.get(one.status, WARN))
    return line(f"{one.seq}. ", status, f"  {one.plan.objective}", indent=indent)


def _open(one: SessionReport, indent: int = 0) -> Iterator[Part]:
    """What it waits for or why it stopped, and how to go on."""
    if one.waits is not None:
        yield line((one.waits.about, WARN), indent=indent)
        how = "--answer TEXT" if one.waits.what == "answer" else "--yes"
        yield line((f"to go on: priming loop resume {one.session} {how}", DIM), indent=indent)
        return
    if one.why is not None:
        yield line((one.why, WARN), indent=indent)
    if one.state != "SUMMARY" and not indent:
        yield line((f"if nothing works on it, to go on: priming loop resume {one.session}", DIM))


def step(session: Session) -> str:
    """What a session is at, in a few words."""
    at = next((one for one in session.tasks[session.earlier :] if one.status == "pending"), None)
    if session.state != "ACT" or at is None:
        return session.state
    return f"{session.state} {at.seq}: {at.plan.objective} (attempt {max(1, len(at.attempts))})"
