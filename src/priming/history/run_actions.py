"""What an agent did in a run, read from the log: the memories that it wrote and the links that it made."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from priming.history.log_replay import newest_first
from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import LinkIdentity, LinkRow, RowChange, RunRow, VersionRow

_KINDS = ("remember", "supersede", "learn", "link")
"""Operations by which an agent writes; the others change what is there."""


@dataclass(frozen=True, slots=True)
class RunAction:
    """One operation of a run: the ids of the memories that it wrote, and the links that somebody made with it."""

    operation: str
    written: frozenset[str]
    links: frozenset[LinkIdentity]


def run_actions(memory: Namespace, run: RunRow) -> list[RunAction]:
    """The actions of a run, oldest first; those that were undone since are none.

    An operation belongs to the run whose session wrote it. One without a session, such as a link, belongs to the run
    that was under way, if it was the only one.
    """
    others = [row for row in memory.store.runs(memory.namespace) if row.id != run.id]
    actions = [_action(logged) for logged in _between(memory, run) if _belongs(logged, run, others)]
    return [action for action in reversed(actions) if action.written or action.links]


def _between(memory: Namespace, run: RunRow) -> Iterator[Logged]:
    """The operations between the start of a run and its end, newest first."""
    inside = run.ended_at is None
    for logged in newest_first(memory, since=run.started_at):
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


def _belongs(logged: Logged, run: RunRow, others: Collection[RunRow]) -> bool:
    sessions = {row.session for row in _versions(logged) if row.session is not None}
    if sessions:
        return run.session in sessions
    under_way = [
        row
        for row in others
        if row.started_at <= logged.at and (row.ended_at is None or logged.at < row.ended_at)
    ]
    return not under_way


def _versions(logged: Logged) -> list[VersionRow]:
    """The versions that an operation wrote, without names."""
    rows = [change.after for change in logged.rows if change.before is None]
    return [row for row in rows if isinstance(row, VersionRow) and "form" not in row.metadata]


def _action(logged: Logged) -> RunAction:
    links = [
        (row.source, row.target, row.relation)
        for row in (change.after for change in logged.rows if change.before is None)
        if isinstance(row, LinkRow) and row.given
    ]
    return RunAction(logged.id, frozenset(row.id for row in _versions(logged)), frozenset(links))
