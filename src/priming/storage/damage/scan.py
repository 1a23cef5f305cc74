"""The rows of a namespace that cannot be read, by name, and all others, the same in every database.

A database finds a damaged page. A value that somebody or something changed within a row it does not: such a row is
found when it is decoded, or because the log has other values for it.
"""

from __future__ import annotations

import functools
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import UnionType
from typing import Any, ClassVar, get_args, get_type_hints

from priming.config.values import dataclass
from priming.results import Finding
from priming.storage.columns import (
    LINK_COLUMNS,
    LOOP_SESSION_COLUMNS,
    MEMORY_COLUMNS,
    TOKEN_COLUMNS,
    TRACE_COLUMNS,
    VERDICT_COLUMNS,
    VERSION_COLUMNS,
    stored,
    stored_loop_session,
    stored_token,
    stored_trace,
)
from priming.storage.damage.naming import DETAIL, REMEDY, RULE, UNREADABLE
from priming.storage.fingerprints import RowSums, bucket_of
from priming.storage.rows import (
    ActivationCount,
    LinkRow,
    MemoryRow,
    PairRow,
    R,
    RelationRow,
    Row,
    RowChange,
    RowIdentity,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    identity,
    unpack,
)

_PLAIN = {str, int, float, bool, datetime, type(None)}
Decoder = Callable[..., object]


def _columns(alias: str, names: Sequence[str]) -> str:
    return ", ".join(f"{alias}.{name}" for name in names)


_OF = "LEFT JOIN memories {0} ON {0}.namespace = t.namespace AND {0}.number = t.{1}"
_END = "CASE WHEN {0}.key IS NULL THEN 'memory number ' || t.{1} ELSE [{0}.key] END"
_BOTH_ENDS = f"{_OF.format('a', 'source')} {_OF.format('b', 'target')}"
_OWN = _OF.format("a", "memory")
_SOURCE, _TARGET, _MEMORY = _END.format("a", "source"), _END.format("b", "target"), _END.format("a", "memory")
_TABLES: tuple[tuple[type[Row], str, str, str], ...] = (
    (MemoryRow, "'memory ' || [t.key]", f"{_columns('t', MEMORY_COLUMNS)} FROM memories t", "t.number"),
    (
        VersionRow,
        f"'version ' || t.version || ' of memory ' || {_MEMORY}",
        f"a.id, {_columns('t', VERSION_COLUMNS)} FROM versions t {_OWN}",
        "t.memory, t.revision",
    ),
    (
        LinkRow,
        f"'link ' || [t.relation] || ' from ' || {_SOURCE} || ' to ' || {_TARGET}",
        f"a.id, b.id, {_columns('t', LINK_COLUMNS)} FROM links t {_BOTH_ENDS}",
        "t.source, t.relation, t.target",
    ),
    (
        VerdictRow,
        f"'verdict ' || [t.verdict] || ' on memory ' || {_MEMORY}",
        f"a.id, {_columns('t', VERDICT_COLUMNS)} FROM verdicts t {_OWN}",
        "t.memory, t.verdict, t.operation",
    ),
    (
        PairRow,
        f"'pair of ' || {_SOURCE} || ' and ' || {_TARGET}",
        f"a.id, b.id, t.times FROM pairs t {_BOTH_ENDS}",
        "t.source, t.target",
    ),
    (
        RunRow,
        "'run ' || [t.id]",
        "t.id, t.session, t.started_at, t.ended_at, t.settled, t.shown FROM runs t",
        "t.id",
    ),
    (WeightsRow, "'weights of ' || [t.profile]", "t.profile, t.weights FROM weights t", "t.profile"),
    (
        RelationRow,
        "'sign of relation ' || [t.relation]",
        "t.relation, t.sign, t.introduced FROM relations t",
        "t.relation",
    ),
)
"""By kind of row its name, its columns and tables, and its order; ``[…]`` stands for a text in quotation marks."""
_LOG = (
    "'log entry ' || [o.id], o.id, o.kind, o.at, o.actor, o.source, o.reason, o.undone_by,"
    " o.message, o.via, o.session, o.erased, o.undoes, c.rows FROM operations o LEFT JOIN changes c"
    " ON c.namespace = o.namespace AND c.operation = o.number WHERE o.namespace = {} ORDER BY o.number, c.piece"
)
_ORPHANS = (
    "DISTINCT 'changes of log entry number ' || c.operation, 0 FROM changes c"
    " WHERE c.namespace = {} AND NOT EXISTS"
    " (SELECT 1 FROM operations o WHERE o.namespace = c.namespace AND o.number = c.operation)"
)
_WHOLE_NUMBERS: Mapping[type[Row], str] = {
    MemoryRow: "number",
    VersionRow: "memory",
    LinkRow: "source",
    VerdictRow: "memory",
    PairRow: "source",
}
"""The column with the number of a memory, by which the rows of a table can be read in spans."""
_TIME, _LISTS = 2, slice(10, 12)
_MOST_SHOWN = 20
_QUOTATION = re.compile(r"\[([a-z._]+)\]")


def _session(*values: Any) -> None:
    json.loads(stored_loop_session(*values).body)


_RECORDS: tuple[tuple[Decoder, str], ...] = (
    (
        _session,
        f"'session ' || [t.id] || ' of the loop', {_columns('t', LOOP_SESSION_COLUMNS)} FROM loop_sessions t",
    ),
    (stored_trace, f"'recall ' || [t.recall_id], {_columns('t', TRACE_COLUMNS)}, t.nodes FROM traces t"),
    (
        ActivationCount,
        "'activations of memory ' || [t.memory], t.profile, t.memory, t.day, t.total FROM activations t",
    ),
)
"""What is stored outside the log: how it is decoded, and the columns for that after its name."""
_TOKENS = (stored_token, f"'token ' || [t.id], {_columns('t', TOKEN_COLUMNS)} FROM tokens t")


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row as it was read: its name, and its values or the reason why it has none."""

    name: str
    row: Row | None
    reason: str = ""
    remedy: str = REMEDY


class RowScan(ABC):
    """The rows of a database by their raw columns; a backend says how it reads them."""

    quoted: ClassVar[str]
    """A text of a column in quotation marks, in SQL."""
    records: ClassVar[tuple[tuple[Decoder, str], ...]] = ()
    """What this database stores beside the tables that all have, in a namespace."""
    of_pages: ClassVar[tuple[type[Exception], ...]] = ()
    """The errors of damaged pages, where rows can be read around them."""
    of_all: ClassVar[tuple[tuple[Decoder, str], ...]] = ()
    """The same in no namespace."""

    @abstractmethod
    def select(self, sql: str, namespace: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """The rows of a query, which has ``{}`` where the namespace belongs, with their names, undecoded."""

    def decode(self, values: Sequence[Any]) -> list[Any]:
        """The values of a row; ``ValueError`` or ``TypeError`` if a column has none of its type."""
        return list(values)

    def derived(self, namespace: str) -> Iterator[ReadRow]:
        """The damaged rows of what is computed from others, and not in the log."""
        del namespace
        return iter(())

    def around(self, sql: str, namespace: str, key: str | None) -> Iterator[tuple[str, Sequence[Any]]]:
        """The rows of a query but for those on damaged pages; ``key``, a whole number, is that of a memory."""
        del key
        return self.select(sql, namespace)

    def read_rows(self, namespace: str, *, around: bool = False) -> Iterator[ReadRow]:
        """All rows of a namespace, those that cannot be read included; ``around`` leaves out damaged pages."""
        for cls, name, columns, order in _TABLES:
            sql = self._quoting(f"{name}, {columns} WHERE t.namespace = {{}}")
            key = _WHOLE_NUMBERS.get(cls)
            rows = (
                self.around(sql, namespace, key)
                if around
                else self.select(f"{sql} ORDER BY {order}", namespace)
            )
            for title, values in rows:
                try:
                    yield ReadRow(title, _strict(stored(cls, self.decode(values))))
                except UNREADABLE as error:
                    yield ReadRow(title, None, _reason(error))

    def damage(self, namespace: str) -> Iterator[ReadRow]:
        """The rows and log entries of a namespace that are damaged.

        A flip in what identifies a row leaves one that the log lacks, and another is missing that the log has.
        Either alone is no flip: ``verify`` finds it.
        """
        sums, has_log, damaged = RowSums(), False, list[ReadRow]()
        for changes, unreadable in self._read_log(namespace):
            has_log = has_log or bool(changes)
            sums.add_changes(changes)
            damaged += [] if unreadable is None else [unreadable]
        yield from damaged
        # The past, which is made of rows, has no log.
        suspects, is_sound = set[int](), False
        if has_log and not damaged:
            is_readable = self._subtract_rows(namespace, sums)
            suspects = set(sums.differing())
            is_sound = is_readable and not suspects
        yield from () if is_sound else self._damaged_rows(namespace, suspects)
        yield from self._damaged_records((*_RECORDS, *self.records), namespace)
        yield from self.derived(namespace)

    def _damaged_rows(self, namespace: str, suspects: set[int]) -> Iterator[ReadRow]:
        """The rows that cannot be read, and those of suspect buckets that are not as the log has them."""
        logged = {
            identity(change.row): change.after
            for changes, _ in (self._read_log(namespace) if suspects else ())
            for change in changes
            if bucket_of(change.row) in suspects
        }
        missing = {name: row for name, row in logged.items() if row is not None}
        unlogged: list[tuple[str, str]] = []
        for read in self.read_rows(namespace):
            if read.row is None:
                missing.clear()  # the row that cannot be read may be the one
                yield read
                continue
            if bucket_of(read.row) not in suspects:
                continue
            name = identity(read.row)
            if name not in logged:
                unlogged.append((name[0], read.name))
            elif logged[name] != read.row:
                yield ReadRow(read.name, None, "its values are not those that the log has for it")
            missing.pop(name, None)
        yield from self._exchanged(namespace, unlogged, missing)

    def _subtract_rows(self, namespace: str, sums: RowSums) -> bool:
        """Subtract the rows that can be read from the sums of the log; whether all can."""
        is_readable = True
        for read in self.read_rows(namespace):
            if read.row is None:
                is_readable = False
            else:
                sums.add(read.row, -1)
        return is_readable

    def _exchanged(
        self, namespace: str, unlogged: Sequence[tuple[str, str]], missing: Mapping[RowIdentity, Row]
    ) -> Iterator[ReadRow]:
        """The rows of the tables that have rows unknown to the log, and lack rows that it has."""
        tables = {table for table, _ in unlogged} & {name[0] for name in missing}
        if not tables:
            return
        for table, title in unlogged:
            if table in tables:
                yield ReadRow(title, None, "the log does not have it")
        ends = {memory_id for name in missing for memory_id in name[1:]}
        rows = (read.row for read in self.read_rows(namespace))
        keys = {row.id: row.key for row in rows if isinstance(row, MemoryRow) and row.id in ends}
        for name, row in missing.items():
            if name[0] in tables:
                yield ReadRow(_title(row, keys), None, "the log has it, and it is not in the store")

    def damage_of_all(self) -> Iterator[ReadRow]:
        """The damaged rows that belong to no namespace: tokens, and the names of namespaces."""
        return self._damaged_records((_TOKENS, *self.of_all), None)

    def whole_rows(self, namespace: str) -> Iterator[Row]:
        """The rows that are whole, and belong to memories that are. Around a damaged page, the log is not asked."""
        try:
            damaged = {read.name for read in self.damage(namespace)}
            reads = list(self.read_rows(namespace))
        except self.of_pages:
            damaged, reads = set(), list(self.read_rows(namespace, around=True))
        rows = [read.row for read in reads if read.row is not None and read.name not in damaged]
        versioned = {row.id for row in rows if isinstance(row, VersionRow)}
        whole = {row.id for row in rows if isinstance(row, MemoryRow)} & versioned
        for row in rows:
            if isinstance(row, (MemoryRow, VersionRow, VerdictRow)):
                is_whole = row.id in whole
            elif isinstance(row, (LinkRow, PairRow)):
                is_whole = {row.source, row.target} <= whole
            else:
                is_whole = True
            if is_whole:
                yield row

    def _read_log(self, namespace: str) -> Iterator[tuple[Sequence[RowChange], ReadRow | None]]:
        """The changes of each log entry, a few at a time, or the entry if it is damaged."""
        for title, values in self.select(self._quoting(_LOG), namespace):
            try:
                *fields, rows = self.decode(values)
                datetime.fromisoformat(fields[_TIME])
                for names in fields[_LISTS]:
                    json.loads(names or "[]")
                changes = unpack(rows) if rows else []
            except UNREADABLE as error:
                yield (), ReadRow(title, None, _reason(error))
            else:
                yield changes, None
        for title, _ in self.select(self._quoting(_ORPHANS), namespace):
            yield (), ReadRow(title, None, "its entry is not in the log")

    def _damaged_records(
        self, tables: Iterable[tuple[Decoder, str]], namespace: str | None
    ) -> Iterator[ReadRow]:
        for decoded, columns in tables:
            which = "" if namespace is None else " WHERE t.namespace = {}"
            for title, values in self.select(self._quoting(f"{columns}{which}"), namespace):
                try:
                    decoded(*self.decode(values))
                except UNREADABLE as error:
                    yield ReadRow(title, None, _reason(error))

    def _quoting(self, sql: str) -> str:
        return "SELECT " + _QUOTATION.sub(lambda match: self.quoted.format(match[1]), sql)


def damage_findings(damaged: Sequence[ReadRow]) -> list[Finding]:
    """What ``validate`` says about damaged rows: the first of them, and how many more there are."""
    findings = [Finding(RULE, read.name, f"{DETAIL}: {read.reason}", read.remedy) for read in damaged]
    more = [Finding(RULE, f"and {len(damaged) - _MOST_SHOWN:,} more", DETAIL, REMEDY)]
    return findings[:_MOST_SHOWN] + (more if len(damaged) > _MOST_SHOWN else [])


def _title(row: Row, keys: Mapping[str, str]) -> str:
    """The name of a row that is not in the store."""

    def key(memory_id: str) -> str:
        return json.dumps(keys.get(memory_id, memory_id), ensure_ascii=False)

    match row:
        case MemoryRow():
            return f"memory {json.dumps(row.key, ensure_ascii=False)}"
        case VersionRow():
            return f"version {row.version} of memory {key(row.id)}"
        case LinkRow():
            return f'link "{row.relation}" from {key(row.source)} to {key(row.target)}'
        case VerdictRow():
            return f'verdict "{row.verdict}" on memory {key(row.id)}'
        case PairRow():
            return f"pair of {key(row.source)} and {key(row.target)}"
        case WeightsRow():
            return f'weights of "{row.profile}"'
        case RelationRow():
            return f'sign of relation "{row.relation}"'
    return f'run "{row.id}"'


def _strict(row: R) -> R:
    """The row, if the memories that it refers to are there, values are of their types, and its lists hold times."""
    if None in identity(row)[1:]:
        raise LookupError
    for name, types in _types(type(row)):  # type: ignore[arg-type]  # a class has a hash
        value = getattr(row, name)
        if not isinstance(value, types):
            raise TypeError(f"{name}: {value!r}")
    times = row.recent if isinstance(row, MemoryRow) else row.times if isinstance(row, PairRow) else ()
    for time in times:
        datetime.fromisoformat(str(time))
    return row


@functools.cache
def _types(cls: type[Row]) -> tuple[tuple[str, tuple[type, ...]], ...]:
    """The types of the fields of a row that a column holds as they are."""
    hints = get_type_hints(cls).items()
    unions = ((name, get_args(hint) if isinstance(hint, UnionType) else (hint,)) for name, hint in hints)
    return tuple(
        (name, (*types, int) if {float, bool} & {*types} else types)
        for name, types in unions
        if {*types} <= _PLAIN
    )


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "a text in it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return "a list or mapping in it is not JSON"
    if type(error) is LookupError:
        return "a memory that it refers to is not in the store"
    return f"a value in it is not of its type ({str(error)[:80]})"
