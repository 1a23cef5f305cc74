"""The log read backwards: what was done since a time, and the rows as they were then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import dropwhile, takewhile
from typing import TypeVar

from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import MemoryRow, Row, identity

Identity = tuple[str, ...]
R = TypeVar("R", bound=Row)
_PAGE, _GROWTH = 64, 4


def newest_first(
    memory: Namespace,
    *,
    memory_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    source: str | None = None,
) -> Iterator[Logged]:
    """The operations, read from the log a page at a time: little at first, as most look at the latest alone."""
    before, limit = None, 1
    while True:
        page = memory.store.operations(
            memory.namespace,
            memory_id=memory_id,
            since=since,
            until=until,
            source=source,
            before=before,
            limit=limit,
        )
        yield from page
        if len(page) < limit:
            return
        before, limit = page[-1].number, min(limit * _GROWTH, _PAGE)


def changes_since(memory: Namespace, at: datetime) -> Iterator[Logged]:
    """The operations after ``at``, newest first; what was done at that very instant is not among them.

    Where the clock was set back, the latest operation that it dates to ``at`` or before is the last that counts.
    """
    return takewhile(lambda one: one.at > at, newest_first(memory))


@dataclass
class PastRows:
    """The rows that changed since a time, as they were then: None for those that were not there.

    ``gone``: whether a memory that was there was taken away since, be it for a while.
    """

    rows: dict[Identity, Row | None] = field(default_factory=dict)
    gone: bool = False

    def back(self, logged: Logged) -> None:
        """Go back over one more operation, the next older one."""
        for change in reversed(logged.rows):
            self.rows[identity(change.row)] = change.before
            self.gone = self.gone or (isinstance(change.before, MemoryRow) and change.after is None)

    def of(self, cls: type[R], present: Iterable[R]) -> dict[Identity, R]:
        """The rows of one table as they were: in the order of ``present``, and those that are no more."""
        known: dict[Identity, Row | None] = {identity(one): one for one in present}
        known |= {name: one for name, one in self.rows.items() if name in known or isinstance(one, cls)}
        return {name: one for name, one in known.items() if isinstance(one, cls)}


def rows_at(memory: Namespace, at: datetime) -> PastRows:
    """What changed since ``at``, as it was then."""
    found = PastRows()
    for logged in changes_since(memory, at):
        found.back(logged)
    return found


def created_at(memory: Namespace, at: datetime) -> dict[str, tuple[int, int]]:
    """By memory, its place in the order of insertion at ``at``: where it was made last. It reads the whole log."""
    born: dict[str, tuple[int, int]] = {}
    for logged in dropwhile(lambda one: one.at > at, newest_first(memory)):
        for i, change in enumerate(logged.rows):
            if change.before is None and isinstance(change.after, MemoryRow):
                born.setdefault(change.after.id, (logged.number, i))
    return born
