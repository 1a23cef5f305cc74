"""What a session came to: what was tried, what it taught, which memories helped, and how it is going."""

from __future__ import annotations

from collections.abc import Iterator

from priming.core.metacognition import Assessment
from priming.errors import NotFound
from priming.loop.session import Sessions, how_it_goes
from priming.looping import Attempt, Learnt, Report, Session, Standing, Task

DELIVERED, FAILED, NOT_DELIVERED, WAITING, INTERRUPTED = 0, 1, 3, 4, 130
"""Exit statuses of a run: 2 is bad input."""
_WAITS = {"approval": "a yes to its plan", "destructive": "a yes to one task", "answer": "an answer"}
_STOPPED = {"interrupt": INTERRUPTED, "minutes": NOT_DELIVERED, "agent": FAILED}


def status_of(session: Session) -> int | None:
    """The exit status of the run that left a session so; None while it is not known: it is at work, or was killed."""
    if session.waits is not None:
        return WAITING
    if session.stopped is not None:
        return _STOPPED[session.stopped]
    if session.ended is None or session.state != "SUMMARY":
        return None
    return DELIVERED if session.ended == "delivered" else NOT_DELIVERED


def report(sessions: Sessions, session: Session) -> Report:
    """The report of a session, with those of its subgoals."""
    taught = [one.learnt for one in session.tasks if one.learnt is not None]
    taught += [session.learnt] if session.learnt is not None else []
    how = how_it_goes(session)
    return Report(
        session=session.id,
        objective=session.objective,
        state=session.state,
        ended=session.ended,
        stopped=session.stopped,
        why=session.why,
        status=status_of(session),
        tasks=session.tasks,
        helped=_all(taught, "helped"),
        unused=_all(taught, "unused"),
        unknown=_all(taught, "unknown"),
        stored=_all(taught, "stored"),
        strengthened=_all(taught, "strengthened"),
        alternatives=session.alternatives,
        waits=session.waits,
        advice=how.advice,
        line=in_a_line(how),
        seconds=session.seconds,
        children=tuple(report(sessions, one) for one in _children(sessions, session)),
    )


def _all(taught: list[Learnt], what: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for one in taught for key in getattr(one, what)))


def _children(sessions: Sessions, session: Session) -> Iterator[Session]:
    for one in session.children:
        try:
            yield sessions.get(one)
        except NotFound:  # it was to be begun, or was erased with a memory
            continue


def in_a_line(how: Assessment) -> str:
    """A metacognitive assessment in words.

    >>> from priming.core.metacognition import assess
    >>> in_a_line(assess([True, False]))
    'struggling: slow_down; 50% of tasks succeeded, failures in a row: 1'
    """
    if how.success_rate is None:
        return f"{how.state}: {how.advice}"
    rate = f"{how.success_rate:.0%} of tasks succeeded"
    return f"{how.state}: {how.advice}; {rate}, failures in a row: {how.consecutive_failures}"


def how_it_stands(one: Report | Session) -> str:
    """Where a session stands, in words."""
    if one.waits is not None:
        return f"waits for {_WAITS[one.waits.what]}"
    if one.ended is not None and one.state == "SUMMARY":
        return one.ended
    return f"stopped at {one.state} ({one.stopped})" if one.stopped is not None else f"at {one.state}"


def standing(one: Session) -> Standing:
    """A session as a line of a list."""
    delivered = sum(task.status == "delivered" for task in one.tasks)
    return Standing(
        one.id,
        one.parent,
        one.objective,
        one.state,
        how_it_stands(one),
        len(one.tasks),
        delivered,
        one.created_at,
        one.updated_at,
    )


def tried(one: Attempt) -> str:
    """What came of an attempt, on one line."""
    if one.error is not None:
        return f"{one.number}: no answer: {_line(one.error)}"
    if one.acted is None:
        return f"{one.number}: not finished"
    gate = "" if one.verified is None else f", gate {one.verified.status}"
    said = one.acted.obstacle or one.acted.details
    return f"{one.number}: {one.acted.status}{gate}" + (f": {_line(said)}" if said else "")


def markdown(one: Report, level: int = 1) -> str:
    """A report as Markdown."""
    heading = "#" * level
    parts = [f"{heading} {_escaped(one.objective)}", f"Session `{one.session}`: **{how_it_stands(one)}**."]
    parts += [_escaped(one.why)] if one.why else []
    parts += [f"> {_escaped(one.waits.about)}"] if one.waits is not None else []
    if one.tasks:
        parts += [f"{heading}# What was tried", "\n".join(_tasks(one.tasks))]
    taught = list(_taught(one))
    if taught:
        parts += [f"{heading}# What was learnt", "\n".join(taught)]
    if one.alternatives:
        listed = [f"- {_code(other.key)}: {_escaped(other.text)}" for other in one.alternatives]
        parts += [f"{heading}# What else is known", "\n".join(listed)]
    parts += [f"Metacognition: {one.line}."]
    parts += [markdown(child, level + 1) for child in one.children]
    return "\n\n".join(parts)


def _tasks(tasks: tuple[Task, ...]) -> Iterator[str]:
    for one in tasks:
        gate = "no gate" if one.plan.verify is None else _code(one.plan.verify)
        yield f"{one.seq}. **{one.status}** {_escaped(one.plan.objective)} ({gate})"
        yield from (f"   - attempt {_escaped(tried(attempt))}" for attempt in one.attempts)


def _taught(one: Report) -> Iterator[str]:
    for what, keys in taught(one):
        yield f"- {what}: {', '.join(map(_code, keys))}"


def taught(one: Report) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What was learnt, by what it did to the memories; only what there is."""
    parts = {
        "helped": one.helped,
        "shown and not used": one.unused,
        "stored": one.stored,
        "strengthened": one.strengthened,
        "named, but not known": one.unknown,
    }
    yield from ((what, keys) for what, keys in parts.items() if keys)


def _line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    """A text that Markdown shows as it stands, on one line."""
    return "".join(f"\\{one}" if one in r"\`*_[]<>#|!" else one for one in _line(text))


def _code(text: str) -> str:
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    ticks = "`" * (longest + 1)
    gap = " " if longest else ""
    return f"{ticks}{gap}{_line(text)}{gap}{ticks}"
