"""The log: versions, operations by time, subject and id, the rows as they were, and sessions; light to import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import dropwhile, takewhile
from typing import TypeVar, Unpack

from priming.config.caller import present_caller
from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.config.words import BY_VERDICT, FOLLOW, LEARNED_FROM
from priming.core.arguments.checks import (
    PAGE_LIMIT,
    check_count,
    check_name,
    check_source,
    check_time,
    check_uuid,
)
from priming.core.bitemporal import in_order
from priming.errors import Conflict, NotFound
from priming.namespace import Namespace
from priming.storage.protocol import Logged, SessionRow, Trace, WhichOperations
from priming.storage.questions import nearest_first
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    Row,
    RowChange,
    RowIdentity,
    VersionRow,
    identity,
    record_among,
)
from priming.types import MemoryRecord, Operation, Version


def history(memory: Namespace, key: str) -> list[Version]:
    """Show the versions of a memory, oldest first.

    Each has when it was true, and when it was stored and superseded.
    """
    with memory.lock:
        memory_id = memory.find(key).id
        (row,) = memory.rows(MemoryRow, ids=[memory_id])
        versions = memory.rows(VersionRow, ids=[memory_id])
        latest = {version.version: version for version in versions}
        return [record_among(memory.namespace, row, each, versions) for each in in_order(latest.values())]


def forget(memory: Namespace, key: str, *, reason: str | None = None) -> Operation:
    """Remove a memory from recall, a rule with the corrections from which it was learned. Undo restores it."""
    why = check_name("reason", reason)
    with memory.changing() as now:
        target = memory.find(key, now)
        (row,) = memory.rows(MemoryRow, ids=[target.id])
        if row.status == "forgotten":
            raise Conflict(f"{target.key!r} is forgotten already: restore makes it active again")
        rows = [row, *_sources_of(memory, row)]
        changes = [RowChange(each, replace(each, status="forgotten")) for each in rows]
        return memory.to_operation(memory.write("forget", now, changes, reason=why))


def _sources_of(memory: Namespace, rule: MemoryRow) -> list[MemoryRow]:
    """Return the corrections from which a rule was learned, and no other was."""
    links = memory.rows(LinkRow, ids=[rule.id], relation=LEARNED_FROM)
    sources = {link.target for link in links if link.source == rule.id}
    links = memory.rows(LinkRow, ids=sources, relation=LEARNED_FROM)
    sources -= {link.target for link in links if link.source != rule.id}
    rows = memory.rows(MemoryRow, ids=sources)
    return [row for row in rows if row.status == "active"]


def log(
    memory: Namespace,
    *,
    key: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    source: str | None = None,
    limit: int = 100,
) -> list[Operation]:
    """Return operations with their changes, newest first: from ``since`` on and before ``until``.

    ``source`` selects a tier of learning: "conscious", "automatic" or "manual".
    """
    with memory.lock:
        which = restrictions(memory, key, since, until, source)
        which["limit"] = check_count("limit", limit, 1, PAGE_LIMIT)
        return memory.listed(memory.to_operation(logged) for logged in memory.operations(**which))


def restrictions(
    memory: Namespace, key: str | None, since: datetime | None, until: datetime | None, source: str | None
) -> WhichOperations:
    """Return what the arguments of ``log`` restrict operations to, checked."""
    return {
        "memory_id": None if key is None else memory.find(key).id,
        "since": None if since is None else check_time("since", since),
        "until": None if until is None else check_time("until", until),
        "source": check_source(source),
    }


def operation(memory: Namespace, operation_id: str) -> Operation | None:
    """Return the operation of an id with its changes, or None: this shows whether a call was carried out."""
    with memory.lock:
        logged = memory.operation_of(check_uuid("operation_id", operation_id))
        return None if logged is None else memory.to_operation(logged)


R = TypeVar("R", bound=Row)
_PAGE, _GROWTH = 64, 4
_COMPARED, _LISTED = 1_000, 5
"""How many sessions, the latest, are compared with a name, and how many an error lists."""
_JUDGED = 100
"""How many recalls of a memory, the latest, are looked at for their sessions."""


def newest_first(memory: Namespace, **which: Unpack[WhichOperations]) -> Iterator[Logged]:
    """Yield the operations, newest first, in growing pages: most callers need only the latest."""
    limit = 1
    while True:
        which["limit"] = limit
        page = memory.operations(**which)
        yield from page
        if len(page) < limit:
            return
        which["before"], limit = page[-1].number, min(limit * _GROWTH, _PAGE)


def changes_since(memory: Namespace, at: datetime) -> Iterator[Logged]:
    """Yield the operations after ``at``, newest first; an operation at exactly ``at`` is not one of them.

    If the clock was set back, the latest operation dated ``at`` or earlier ends the sequence.
    """
    return takewhile(lambda logged: logged.at > at, newest_first(memory))


LAST = "last"
"""What stands for the id of ``last_operation``."""
_NOT_LAST = ("undo", "run-start", "run-end", "reembed")


def last_operation(memory: Namespace) -> Logged:
    """Return the newest operation that can be undone and is meant to be; ``NotFound`` if there is none.

    To a caller whom a token identifies it is the newest of its own: another's may have come in between.
    """
    caller = present_caller()
    for logged in newest_first(memory, rows=False):
        if caller.identified and logged.actor != caller.actor:
            continue
        # What a verdict settled goes back with the verdict.
        by_verdict = BY_VERDICT in (logged.reason or "")
        is_empty = logged.kind == FOLLOW and followed_since(logged) == logged.number - 1
        if logged.kind not in _NOT_LAST and logged.undone_by is None and not by_verdict and not is_empty:
            return logged
    whose = " of your token" if caller.identified else ""
    raise NotFound(f"there is no operation{whose} to undo: see the log")


def followed_since(logged: Logged) -> int:
    """Return the number of the operation after which an import began, of the one that ends it."""
    return int((logged.message or "").partition("operation ")[2].partition(",")[0] or 0)


@dataclass
class PastRows:
    """The rows that changed since a time, as they were then; None for a row that did not exist.

    ``gone``: whether a memory that existed then was removed since, even if it was restored later.
    """

    rows: dict[RowIdentity, Row | None] = field(default_factory=dict)
    gone: bool = False

    def step_back(self, logged: Logged) -> None:
        """Reverse one more operation, the next older one."""
        for change in reversed(logged.rows):
            self.rows[identity(change.row)] = change.before
            self.gone = self.gone or (isinstance(change.before, MemoryRow) and change.after is None)

    def of(self, cls: type[R], present: Iterable[R]) -> dict[RowIdentity, R]:
        """Return the past rows of one table: those of ``present`` in their order, then those removed since."""
        rows: dict[RowIdentity, Row | None] = {identity(row): row for row in present}
        rows |= {name: row for name, row in self.rows.items() if name in rows or isinstance(row, cls)}
        return {name: row for name, row in rows.items() if isinstance(row, cls)}


def rows_at(memory: Namespace, at: datetime) -> PastRows:
    """Return the rows that changed since ``at``, as they were then."""
    past = PastRows()
    for logged in changes_since(memory, at):
        past.step_back(logged)
    return past


def created_at(memory: Namespace, at: datetime) -> dict[str, tuple[int, int]]:
    """Map each memory id to the position in the log where it was last created by ``at``. Read the whole log."""
    positions: dict[str, tuple[int, int]] = {}
    for logged in dropwhile(lambda logged: logged.at > at, newest_first(memory)):
        for i, change in enumerate(logged.rows):
            if change.before is None and isinstance(change.after, MemoryRow):
                positions.setdefault(change.after.id, (logged.number, i))
    return positions


def check_session(memory: Namespace, name: str) -> None:
    """Raise ``NotFound`` unless a session has a recall, a memory, a run, a loop or an operation, or calls now.

    A mistyped one would have no recall of a memory, and a verdict would move all of its links.
    """
    if name != present_caller().session and not [
        row.session for row in memory.rows(SessionRow, session=name, limit=1)
    ]:
        raise _unknown_session(memory, name)


def _unknown_session(memory: Namespace, name: str) -> NotFound:
    """Return the error that lists the sessions that exist, those of a similar name first, then the latest."""
    listed = nearest_first(name, [row.session for row in memory.rows(SessionRow, limit=_COMPARED)])
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
