"""The sessions of a namespace: those of its recalls, memories, runs, operations and of the loop.

A verdict may name only a session that exists: a mistyped one had no recall of the memory, and moved all of its
links.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial

from priming.config.caller import present_caller
from priming.config.params.store import STORE
from priming.errors import NotFound
from priming.namespace import Namespace
from priming.storage.protocol import SessionRow, Trace
from priming.types import MemoryRecord

_COMPARED, _LISTED = 1_000, 5
"""How many sessions, the latest, are compared with a name, and how many an error lists."""
_JUDGED = 100
"""How many recalls of a memory, the latest, are looked at for their sessions."""


def check_session(memory: Namespace, name: str) -> None:
    """Raise ``NotFound`` unless a session has a recall, a memory, a run, a loop or an operation, or calls now."""
    if name != present_caller().session and not [
        row.session for row in memory.store.rows(memory.namespace, SessionRow, session=name, limit=1)
    ]:
        raise _unknown_session(memory, name)


def _unknown_session(memory: Namespace, name: str) -> NotFound:
    """The error that lists the sessions that exist, those of a similar name first, then the latest."""
    listed = nearest_first(
        name, [row.session for row in memory.store.rows(memory.namespace, SessionRow, limit=_COMPARED)]
    )
    message = f"there is no session {name!r} in {memory.namespace!r}"
    if not listed:
        return memory.not_found(f"{message}, nor any other: leave it out, or recall with it first")
    more = f" and {len(listed) - _LISTED:,} more" if len(listed) > _LISTED else ""
    names = ", ".join(map(repr, listed[:_LISTED]))
    return memory.not_found(
        f"{message}: there are {names}{more}; recalls are kept for {STORE.trace_days:g} days;"
        " leave it out to judge the latest recall of any session"
    )


def check_recalled_in(memory: Namespace, session: str, records: Iterable[MemoryRecord]) -> None:
    """Raise ``NotFound`` where a session has recalls, and none of them returned one of the memories."""
    since = memory.now() - timedelta(days=STORE.trace_days)
    recalls = partial(memory.store.rows, memory.namespace, Trace, since=since)
    if not recalls(session=session, limit=1):
        return
    for record in records:
        if not recalls(session=session, hit=record.id, limit=1):
            latest = recalls(hit=record.id, limit=_JUDGED)
            others = dict.fromkeys(trace.session for trace in latest if trace.session)
            names = ", ".join(map(repr, nearest_first(session, [*others])[:_LISTED]))
            raise NotFound(
                f"no recall of session {session!r} returned {record.key}"
                + (f": those of {names} did" if others else "")
                + "; leave the session out to judge the latest recall that did"
            )


def nearest_first(name: str, names: Sequence[str]) -> list[str]:
    """The names, those that resemble ``name`` first, the nearest before the others."""
    from difflib import get_close_matches

    forms: dict[str, list[str]] = {}
    for other in names:
        forms.setdefault(other.casefold(), []).append(other)
    form = name.casefold()
    near = get_close_matches(form, forms, n=_LISTED)
    near += [other for other in forms if form and other not in near and (form in other or other in form)]
    return list(dict.fromkeys([other for form in near for other in forms[form]] + [*names]))
