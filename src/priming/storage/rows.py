"""The rows that operations change and the log records, and their JSON form.

A memory is two rows: its identity and state (``MemoryRow``), and the versions of its content
(``VersionRow``). An encoded row has only JSON values, which are also those of the database's columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeVar

from priming.config.values import dataclass
from priming.core.bitemporal import told_and_closed
from priming.errors import Corrupt
from priming.serialization import (
    column_names,
    decode_row,
    encode_row,
    from_columns,
    json_text,
    parse_time,
    to_columns,
)
from priming.types import EMPTY, MemoryRecord, Retention, Use


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """Identity and state of a memory."""

    id: str
    key: str
    kind: str
    status: str = "active"
    priority: float = 0.0
    weight: float = 0.5
    uses: int = 0
    last_used_at: datetime | None = None
    helped: int = 0
    failed: int = 0
    confirmed: int = 0
    followed: int = 0
    overridden: int = 0
    confidence: float = 1.0
    stability: float | None = None
    difficulty: float | None = None
    endurance: float = 1.0
    reviewed_at: datetime | None = None
    first_used_at: datetime | None = None
    recent: tuple[str, ...] = ()
    """The latest uses, newest first, as ``stamp`` writes them."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a memory's content, recorded during one interval and valid during another.

    ``revision`` counts the rows of one memory: a supersede writes two, one of them with the old version number.
    """

    id: str
    version: int
    recorded_at: datetime
    content: str
    gist: str
    digest: str
    revision: int = 1
    retired_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    heading: str | None = None
    session: str | None = None
    speaker: str | None = None
    when: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    source: str | None = None
    trust: str = "user"
    importance: float = 0.5
    outcome: str | None = None
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link between two memories, named by their ids. ``given``: created by a user, not by a rule."""

    source: str
    target: str
    relation: str
    weight: float
    created_at: datetime
    given: bool = False
    last_activated: datetime | None = None


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A verdict on a memory that a recall returned; ``recall`` is "" for a verdict without a recall.

    ``operation`` is the id of the operation that recorded it. A recall, memory and verdict have at most one row.
    """

    id: str
    verdict: str
    operation: str
    recall: str
    at: datetime
    tier: str
    session: str | None = None
    cue: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class PairRow:
    """When two memories, ``source`` < ``target`` by id, were active together: times as ``stamp`` writes them."""

    source: str
    target: str
    times: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run and the memories shown in it; ``settled`` is None, "used" or "unused"."""

    id: str
    session: str
    started_at: datetime
    ended_at: datetime | None = None
    settled: str | None = None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopSessionRow:
    """A session of the loop: ``body`` is all of it, as JSON."""

    id: str
    parent: str | None
    state: str
    objective: str
    created_at: datetime
    updated_at: datetime
    body: str


@dataclass(frozen=True, slots=True)
class WeightsRow:
    """The weights of a namespace for terms of a profile, by name; other terms have the profile's weights."""

    profile: str
    weights: Mapping[str, float] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A sign given to a relation in a namespace: 1 brings activation, −1 takes it away.

    ``introduced``: with the first link of the relation, rather than for links that were there.
    """

    relation: str
    sign: int
    introduced: bool = False


@dataclass(frozen=True, slots=True)
class ActivationCount:
    """How often a memory, named by its id, had been active in a profile at the end of a day (in UTC)."""

    profile: str
    id: str
    day: str
    total: int


@dataclass(frozen=True, slots=True)
class VectorRow:
    """The vector of a version in one embedding generation, as float32. It is derived, and not logged."""

    id: str
    version: int
    generation: str
    vector: bytes


Row = MemoryRow | VersionRow | LinkRow | VerdictRow | PairRow | RunRow | WeightsRow | RelationRow
RowIdentity = tuple[str, ...]
"""What identifies a row: its table, and the fields that never change."""
LinkIdentity = tuple[str, str, str]
"""What identifies a link: source, target and relation."""
MemoryPair = tuple[str, str]
"""The ids of two memories."""
R = TypeVar("R", bound=Row)
ROOMS: dict[str, type[Row]] = {
    "memories": MemoryRow,
    "versions": VersionRow,
    "links": LinkRow,
    "verdicts": VerdictRow,
    "pairs": PairRow,
    "runs": RunRow,
    "weights": WeightsRow,
    "relations": RelationRow,
}
Unlogged = VectorRow | ActivationCount | LoopSessionRow
"""What belongs to a namespace beside the rows of its log."""
_ROOM_OF = {cls: room for room, cls in ROOMS.items()}


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row before and after; a new row has no ``before``, a removed one no ``after``."""

    before: Row | None
    after: Row | None

    @property
    def row(self) -> Row:
        """The row after the change, or before it if it was removed."""
        row = self.after if self.after is not None else self.before
        assert row is not None, "a change has at least one side"
        return row

    @property
    def room(self) -> str:
        """The table of the row."""
        return _ROOM_OF[type(self.row)]

    @property
    def ends(self) -> tuple[str, ...]:
        """The ids of the memories that the change is about."""
        return ends_of(self.row)

    def inverse(self) -> RowChange:
        """Return the change that takes this one back."""
        return RowChange(self.after, self.before)


def ends_of(row: Row) -> tuple[str, ...]:
    """Return the ids of the memories that a row is about: both ends of a link or pair, all that a run has shown."""
    if isinstance(row, (LinkRow, PairRow)):  # most are
        return row.source, row.target
    if isinstance(row, RunRow):
        return row.shown
    return () if isinstance(row, (WeightsRow, RelationRow)) else (row.id,)


def identity(row: Row) -> RowIdentity:
    """Return the identity of a row."""
    room = _ROOM_OF[type(row)]
    match row:
        case LinkRow():
            return room, row.source, row.target, row.relation
        case PairRow():
            return room, row.source, row.target
        case VersionRow():
            return room, row.id, str(row.revision)
        case VerdictRow():
            return room, row.id, row.verdict, row.operation
        case WeightsRow():
            return room, row.profile
        case RelationRow():
            return room, row.relation
    return room, row.id


def pack(changes: Sequence[RowChange]) -> str:
    """Pack changes as one JSON text: the fields' names by table, and for each row its table, before and after."""
    rooms = {change.room for change in changes}
    return json_text(
        {
            "fields": {room: column_names(cls) for room, cls in ROOMS.items() if room in rooms},
            "rows": [(change.room, _side(change.before), _side(change.after)) for change in changes],
        }
    )


def unpack(packed: str) -> list[RowChange]:
    """Unpack the changes of a JSON text; fields it lacks, since an older version wrote it, have their defaults."""
    payload = json.loads(packed)
    names: dict[str, list[str]] = payload["fields"]
    return [
        RowChange(_row(room, names[room], before), _row(room, names[room], after))
        for room, before, after in payload["rows"]
    ]


def sides(change: RowChange) -> dict[str, Any]:
    """Return the row before and after a change, with the names of their fields."""
    rows = {"before": change.before, "after": change.after}
    return {name: None if row is None else encode_row(row) for name, row in rows.items()}


def change_of(table: str, *sides: Mapping[str, Any] | None) -> RowChange:
    """Return the change of a row of a table, from what it was before and after."""
    return RowChange(*(None if side is None else decode_row(ROOMS[table], side) for side in sides))


def _side(row: Row | None) -> list[Any] | None:
    return None if row is None else to_columns(row)


def _row(room: str, names: Sequence[str], values: list[Any] | None) -> Row | None:
    if values is None:
        return None
    cls: type[Row] = ROOMS[room]
    if len(names) == len(values) == len(column_names(cls)) and tuple(names) == column_names(cls):
        return from_columns(cls, values)
    return decode_row(cls, dict(zip(names, values, strict=True)))


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts that ``stats`` reports."""

    memories: Mapping[str, Mapping[str, int]]
    links: Mapping[str, int]
    operations: int
    traces: int
    bytes: int
    generation: str | None


_OF_MEMORY, _OF_VERSION = (
    [name for name in column_names(MemoryRecord) if name in names]
    for names in (column_names(MemoryRow), column_names(VersionRow)[1:])
)
_COPIED = (*_OF_MEMORY, *_OF_VERSION)
"""The fields that a record has from its two rows."""
_memory_values, _version_values = attrgetter(*_OF_MEMORY), attrgetter(*_OF_VERSION)
_use_values = attrgetter(*column_names(Use)[: column_names(Use).index("recent")])


def use_of(memory: MemoryRow) -> Use:
    """Return the use of a memory so far.

    Raises:
        Corrupt: a time in its row, or in the log's copy of it, cannot be read.

    """
    try:
        recent = tuple(map(parse_time, memory.recent))
    except ValueError as error:
        raise Corrupt(
            f"the memory {memory.id} is damaged in its row or the log ({error}): restore a backup"
        ) from error
    return Use(*(*_use_values(memory), recent))


def retention_of(memory: MemoryRow) -> Retention:
    """Return how well a memory is retained."""
    return Retention(memory.stability, memory.difficulty, memory.endurance, memory.reviewed_at)


def record_among(
    namespace: str, memory: MemoryRow, version: VersionRow, versions: Iterable[VersionRow]
) -> MemoryRecord:
    """Return the same, with the times when the version was stored and superseded; ``versions`` are all its rows."""
    recorded_at, retired_at = told_and_closed(version, versions)
    return record(namespace, memory, replace(version, recorded_at=recorded_at, retired_at=retired_at))


def record(namespace: str, memory: MemoryRow, version: VersionRow) -> MemoryRecord:
    """Return the two rows of a memory as one record."""
    return MemoryRecord(
        namespace=namespace,
        use=use_of(memory),
        retention=retention_of(memory),
        **dict(zip(_COPIED, (*_memory_values(memory), *_version_values(version)), strict=True)),
    )


def undos_in_effect(undos: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str | None]:
    """Map each operation that was ever undone to the latest of its undos that is not undone itself, or None.

    ``undos`` are operations with what they undo, the newest first.
    """
    undone_by: dict[str, str | None] = {}
    for by, undone in undos:
        # An undo of this undo is newer, so it was visited before.
        in_effect = by if undone_by.get(by) is None else None
        for operation_id in undone:
            undone_by[operation_id] = undone_by.get(operation_id) or in_effect
    return undone_by
