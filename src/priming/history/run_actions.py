"""The actions of an agent in a run, read from the log: the memories that it wrote and the links that it made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import cache

from priming.config.values import dataclass
from priming.history.log_replay import newest_first
from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import LinkIdentity, LinkRow, MemoryRow, RowChange, RunRow, VersionRow

_KINDS = ("remember", "supersede", "learn", "link", "set-strength")
"""Operations by which an agent writes; the others change what is there."""

_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class RunAction:
    """One operation of a run: the ids of the memories that it wrote, and the links that it made by hand.

    ``revised`` are those of the memories that were there before, ``linked`` the ends of all links that it set.
    """

    written: frozenset[str]
    revised: frozenset[str]
    links: frozenset[LinkIdentity]
    linked: frozenset[str]


def run_actions(memory: Namespace, run: RunRow) -> list[RunAction]:
    """The actions of a run, oldest first, without those that were undone since.

    An operation belongs to the run in whose session the caller was, else to the run of the session of what it wrote.
    One without a session of a run, such as a link by hand, belongs to the run under way, if it was the only one.
    """

    @cache
    def others() -> list[RunRow]:
        return [row for row in memory.store.runs(memory.namespace) if row.id != run.id]

    actions = [_action(logged) for logged in _between(memory, run) if _belongs(logged, run, others)]
    return [action for action in reversed(actions) if action.written or action.linked]


def _between(memory: Namespace, run: RunRow) -> Iterator[Logged]:
    """The operations between the start of a run and its end, newest first."""
    inside = run.ended_at is None
    until = None if run.ended_at is None else run.ended_at + _INSTANT
    for logged in newest_first(memory, since=run.started_at, until=until):
        own = [change for change in logged.rows if isinstance(change.row, RunRow) and change.row.id == run.id]
        if any(change.before is None for change in own):
            return
        inside = inside or any(_ends(change) for change in own)
        if inside and not own and logged.kind in _KINDS and logged.undone_by is None:
            yield logged


def _ends(change: RowChange) -> bool:
    before, after = change.before, change.after
    ended = isinstance(after, RunRow) and after.ended_at is not None
    return ended and isinstance(before, RunRow) and before.ended_at is None


def _belongs(logged: Logged, run: RunRow, others: Callable[[], Iterable[RunRow]]) -> bool:
    if logged.session == run.session:
        return True
    if logged.session in {row.session for row in others()}:
        return False
    sessions = {row.session for row in _versions(logged) if row.session is not None}
    if sessions:
        return run.session in sessions
    under_way = [
        row
        for row in others()
        if row.started_at <= logged.at and (row.ended_at is None or logged.at < row.ended_at)
    ]
    return not under_way


def _versions(logged: Logged) -> list[VersionRow]:
    """The versions that an operation wrote, without names."""
    rows = [change.after for change in logged.rows if change.before is None]
    return [row for row in rows if isinstance(row, VersionRow) and "form" not in row.metadata]


def _action(logged: Logged) -> RunAction:
    created = {
        change.row.id for change in logged.rows if change.before is None and isinstance(change.row, MemoryRow)
    }
    written = {row.id for row in _versions(logged)}
    hand = [change for change in logged.rows if isinstance(change.after, LinkRow) and change.after.given]
    if logged.kind != "link":
        hand = [change for change in hand if change.before is None]
    links = [_identity(change) for change in hand if change.before is None]
    ends = {end for change in hand for end in change.ends}
    return RunAction(frozenset(written), frozenset(written - created), frozenset(links), frozenset(ends))


def _identity(change: RowChange) -> LinkIdentity:
    row = change.row
    assert isinstance(row, LinkRow), "the change of a link"
    return row.source, row.target, row.relation
