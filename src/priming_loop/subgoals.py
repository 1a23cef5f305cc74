"""Subgoals: the session of an impasse, and whether another impasse is progress.

A subgoal repeats another if both inquire about the same subject, whatever the verbs; cosines do not tell them
apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from priming.config.ids import uuid7
from priming.core.when import stem
from priming.namespace import Namespace
from priming.text.statements.judge import judge
from priming.text.tokens import terms
from priming_loop.codebase import CONTEXT
from priming_loop.environment import SECONDS, Turn
from priming_loop.lessons import is_said_by
from priming_loop.session import Impasse, Session
from priming_loop.session_store import LOOP

_WORD = re.compile(r"\w+")
_INQUIRIES = frozenset("learn determin discov figur understand identifi clarifi".split())  # noqa: SIM905
_LOOKS = frozenset("find work establish look see tell ask check".split())  # noqa: SIM905
"""The stems of verbs that inquire if a question follows: "find out how it works", not "find the key"."""
_QUESTIONS = frozenset("how what which why where when who way caus reason out whether".split())  # noqa: SIM905
_EMPTY = frozenset("up make us do is are get happen mean".split())  # noqa: SIM905
"""The stems of words of a question that say nothing of its subject."""


def without_progress(turn: Turn, session: Session, impasse: Impasse) -> str | None:
    """Why another impasse is no progress: its subgoal is a repetition, or the one before led to no task at all."""
    members = [session]
    while members[-1].parent is not None:
        members.append(turn.sessions.get(members[-1].parent))
    subgoals = [child for member in members for child in turn.sessions.children(member)]
    goals = [member.objective for member in (*members, *subgoals)]
    if is_repeated(turn.environment.memory, impasse.subgoal, goals):
        return f"The impasse makes no progress. This subgoal was open before: {_in_words(impasse)}"
    last = turn.sessions.find(session.children[-1]) if session.children else None
    if last is not None and not last.tasks:
        return f"The impasse makes no progress. The last subgoal led to no task: {last.objective}"
    return None


def is_repeated(memory: Namespace, subgoal: str, others: Sequence[str]) -> bool:
    """Whether a subgoal is one of these objectives, or one in other words."""
    subject = _subject(subgoal)
    for other in others:
        is_same = _plain(subgoal) == _plain(other) or judge(other, subgoal).kind == "same"
        if is_same or (subject and subject == _subject(other)):
            return True
    return is_said_by(memory, subgoal, others, least=CONTEXT.repeated)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _subject(text: str) -> frozenset[str]:
    """The stems of what a text inquires about; empty for a text that asks for something to be done."""
    stems = [stem(word) for word in _WORD.findall(text.casefold())]
    if not stems or not (stems[0] in _INQUIRIES or (stems[0] in _LOOKS and _QUESTIONS & set(stems))):
        return frozenset()
    return frozenset(terms(text)) - _QUESTIONS - _EMPTY - _INQUIRIES - _LOOKS


def _in_words(impasse: Impasse) -> str:
    return f"{impasse.subgoal} ({impasse.type.replace('_', ' ')})"


def new_subgoal(turn: Turn, session: Session, impasse: Impasse) -> Session:
    """Reserve the id of a subgoal's session, if the limits permit another subgoal."""
    why = _in_words(impasse)
    most = LOOP.subgoals
    if session.depth >= session.limits.depth:
        return _stuck(session, f"{why}. Subgoals may be at most {session.limits.depth} deep")
    if len(session.children) >= most:
        return _stuck(session, f"{why}. A session may have at most {most} subgoals")
    child_id = uuid7(turn.sessions.now())
    return replace(session, below=child_id, children=(*session.children, child_id))


def subgoal_session(turn: Turn, session: Session, subgoal: str) -> Session:
    """The session of a subgoal, begun if necessary, with the time that is left."""
    assert session.below is not None, "set before"
    child = turn.sessions.find(session.below) or turn.sessions.begin(
        subgoal,
        session.folder,
        session.limits,
        parent=session,
        session_id=session.below,
        fresh_context=session.fresh_context,
    )
    left = turn.seconds_left()
    if left is None:
        return child
    minutes = (child.seconds + max(0.0, left)) / SECONDS
    return replace(child, limits=replace(session.limits, minutes=minutes))


def outcome_of(session: Session) -> str:
    """How a subgoal's session ended, in words."""
    why = "" if session.why is None else f" ({session.why})"
    return "; ".join([f"{session.ended}{why}", *(task.summary for task in session.tasks)])


def _stuck(session: Session, why: str) -> Session:
    """End a session at an impasse."""
    return replace(session, state="LEARN", ended="impasse", why=why)
