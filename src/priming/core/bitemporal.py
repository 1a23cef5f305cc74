"""Bi-temporal versions: which facts were valid, and known, at which time.

A version is any object with ``recorded_at``, ``retired_at``, ``valid_from`` and ``valid_to``. Starts are
inclusive, ends exclusive; an open end is None, and ``valid_from`` None means ever since.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol, TypeVar

from priming.errors import ParamError


class Version(Protocol):
    """One row of a memory's history."""

    @property
    def recorded_at(self) -> datetime: ...  # noqa: D102
    @property
    def retired_at(self) -> datetime | None: ...  # noqa: D102
    @property
    def valid_from(self) -> datetime | None: ...  # noqa: D102
    @property
    def valid_to(self) -> datetime | None: ...  # noqa: D102


class Numbered(Version, Protocol):
    """A row that knows which version of its memory it holds."""

    @property
    def version(self) -> int: ...  # noqa: D102


V = TypeVar("V", bound=Version)
N = TypeVar("N", bound=Numbered)
_EVER_SINCE = datetime.min.replace(tzinfo=UTC)


class Split(NamedTuple):
    """The result of superseding: ``retired``, and ``ended``, its copy that ends at ``starts``."""

    retired: Any
    ended: Any
    starts: datetime


def aware(name: str, value: object) -> datetime:
    """Return ``value`` if it is a datetime with a time zone, or raise ``ParamError``."""
    if not isinstance(value, datetime):
        raise ParamError(name, value, "must be a datetime with a time zone")
    if value.utcoffset() is None:
        raise ParamError(name, value.isoformat(), "must have a time zone")
    return value


def visible(version: Version, *, valid_at: datetime, known_at: datetime) -> bool:
    """Tell whether a version was valid at one time, as known at another.

        recorded_at ≤ known_at < retired_at   and   valid_from ≤ valid_at < valid_to

    Parameters
    ----------
    version : the row.
    valid_at : time in the world.
    known_at : time of the system; what was recorded at that very instant is known.

    Returns
    -------
    Whether both intervals hold.

    Raises
    ------
    ParamError : a time without a time zone.

    References
    ----------
    .. [1] Snodgrass, R. T. (1999). Developing Time-Oriented Database Applications in SQL. Morgan Kaufmann.

    Examples
    --------
    >>> from datetime import timezone
    >>> from types import SimpleNamespace
    >>> day = lambda d: datetime(2026, 1, d, tzinfo=timezone.utc)
    >>> row = SimpleNamespace(recorded_at=day(1), retired_at=None, valid_from=day(5), valid_to=day(9))
    >>> visible(row, valid_at=day(5), known_at=day(1)), visible(row, valid_at=day(9), known_at=day(1))
    (True, False)
    """
    aware("valid_at", valid_at)
    aware("known_at", known_at)
    recorded = _holds("recorded_at", version.recorded_at, "retired_at", version.retired_at, known_at)
    return _holds("valid_from", version.valid_from, "valid_to", version.valid_to, valid_at) and recorded


def split(old: V, *, boundary: datetime, at: datetime) -> Split:
    """Plan a supersede: the changes of the old row when a new version is valid from ``boundary`` on.

    The old row is retired at system time ``at``; at that time its copy is recorded, valid up to
    ``boundary`` and otherwise the same, version number included. The caller records the new version at
    ``at`` too, valid from ``starts``, in the same transaction.

    Parameters
    ----------
    old : a frozen dataclass with the fields of a version, not yet retired.
    boundary : where the old validity ends and the new one begins. Where it is the old start itself, the
        copy is valid at no time, and says that the version existed.
    at : system time of the change, not before ``old.recorded_at``.

    Returns
    -------
    ``(retired, ended, starts)``; ``old`` is left alone.

    Raises
    ------
    ParamError : a time without a time zone; ``old`` no dataclass, or retired already; ``boundary`` before
        the old start, or not before the old end; ``at`` before ``old`` was recorded.

    Notes
    -----
    The seed sets ``valid_to`` on the old row in place. That would change what was visible at an earlier
    ``known_at``; a retired row and a copy keep it.

    Examples
    --------
    >>> from datetime import timezone
    >>> day = lambda d: datetime(2026, 1, d, tzinfo=timezone.utc)
    >>> Row = dataclasses.make_dataclass(
    ...     "Row", ["version", "recorded_at", "retired_at", "valid_from", "valid_to"], frozen=True)
    >>> retired, ended, starts = split(Row(1, day(1), None, None, None), boundary=day(5), at=day(8))
    >>> retired.retired_at.day, ended.recorded_at.day, ended.valid_to.day, starts.day
    (8, 8, 5, 5)
    """
    aware("boundary", boundary)
    if not dataclasses.is_dataclass(old) or isinstance(old, type):
        raise ParamError("old", old, "must be a dataclass value")
    if old.retired_at is not None:
        raise ParamError("old", old.retired_at.isoformat(), "must not be retired already")
    if aware("at", at) < aware("recorded_at", old.recorded_at):
        raise ParamError(
            "at", at.isoformat(), f"must be ≥ {old.recorded_at.isoformat()}, when it was recorded"
        )
    if old.valid_from is not None and boundary < aware("valid_from", old.valid_from):
        raise ParamError(
            "boundary", boundary.isoformat(), f"must be ≥ {old.valid_from.isoformat()}, the start"
        )
    if old.valid_to is not None and boundary >= aware("valid_to", old.valid_to):
        raise ParamError("boundary", boundary.isoformat(), f"must be < {old.valid_to.isoformat()}, the end")
    retired = dataclasses.replace(old, retired_at=at)
    ended = dataclasses.replace(old, recorded_at=at, retired_at=None, valid_to=boundary)
    return Split(retired, ended, boundary)


def in_order(rows: Iterable[N]) -> list[N]:
    """Sort rows by when they hold: by start, and where two start together by version number.

    A version that was put before a planned one has the higher number and the earlier start.

    Examples
    --------
    >>> in_order([])
    []
    """
    return sorted(rows, key=lambda row: (row.valid_from or _EVER_SINCE, row.version))


def history(rows: Iterable[N]) -> list[N]:
    """List each version once, in its latest row, in the order in which they hold.

    Parameters
    ----------
    rows : every row of one memory, retired ones included, in any order.

    Returns
    -------
    One row a version number: two after one supersede.

    Examples
    --------
    >>> history([])
    []
    """
    latest: dict[int, N] = {}
    for row in rows:
        best = latest.get(row.version)
        if best is None or _later(row, best):
            latest[row.version] = row
    return in_order(latest.values())


def told_and_closed(version: N, rows: Iterable[N]) -> tuple[datetime, datetime | None]:
    """Return when a version was stored, and when it was superseded, in system time.

    A version is told in its first row, and closed in the first row of a later one that begins where it ends.

    Parameters
    ----------
    version : the latest row of the version.
    rows : every row of its memory, retired ones included, in any order.

    Returns
    -------
    ``(recorded_at, retired_at)``; the latter is None while nothing superseded it.

    Examples
    --------
    >>> from datetime import timezone
    >>> from types import SimpleNamespace
    >>> day = lambda d: datetime(2026, 1, d, tzinfo=timezone.utc)
    >>> row = lambda version, d, start, end: SimpleNamespace(
    ...     version=version, recorded_at=day(d), valid_from=start, valid_to=end)
    >>> rows = [row(1, 1, None, None), row(1, 8, None, day(9)), row(2, 8, day(9), None)]
    >>> [time.day for time in told_and_closed(rows[1], rows)]
    [1, 8]
    """
    every, end = [version, *rows], version.valid_to
    later = (row for row in every if row.version > version.version and end and row.valid_from == end)
    first = min(row.recorded_at for row in every if row.version == version.version)
    return first, min((row.recorded_at for row in later), default=None)


def _holds(start: str, since: datetime | None, end: str, until: datetime | None, time: datetime) -> bool:
    begun = since is None or aware(start, since) <= time
    return begun and (until is None or time < aware(end, until))


def _later(a: Version, b: Version) -> bool:
    # Rows of one instant: the copy that a supersede made is the one not retired.
    if a.recorded_at == b.recorded_at:
        return a.retired_at is None and b.retired_at is not None
    return a.recorded_at > b.recorded_at
