"""Each kind of item in SQL: its table and columns, what restricts it, its order, and the item from its columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from string import ascii_lowercase, ascii_uppercase
from typing import Any, get_origin, get_type_hints

from priming.config.values import dataclass
from priming.config.words import RECALLED, STATUSES, VERDICTS
from priming.serialization import column_names, column_text, encode_row, from_columns, parse_time, to_columns
from priming.storage.protocol import EmbeddedRow, ReadOnlyRow, SessionRow, ShownRow, TokenRow, Trace
from priming.storage.questions import day_of
from priming.storage.rows import (
    ROOMS,
    ActivationCount,
    LinkRow,
    LoopSessionRow,
    MemoryRow,
    PairRow,
    R,
    RelationRow,
    Row,
    RunRow,
    VectorRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    record,
)
from priming.storage.sql.dialect import Dialect, bound
from priming.types import MemoryRecord, Token

MEMORY_COLUMNS = column_names(MemoryRow)
VERSION_COLUMNS = tuple("predicates" if name == "when" else name for name in column_names(VersionRow))[1:]
TRACE_COLUMNS = ("recall_id", "at", "session", "profile", "cue", "hits")
_KIND, _STATUS = MEMORY_COLUMNS.index("kind"), MEMORY_COLUMNS.index("status")
_JSON: dict[type[Any], tuple[tuple[int, bool], ...]] = {
    cls: tuple(
        (i, get_origin(hint) is tuple)
        for i, hint in enumerate(get_type_hints(cls).values())
        if get_origin(hint) in (tuple, Mapping)
    )
    for cls in ROOMS.values()
}
"""The fields whose columns hold JSON, and whether that is a list; NULL means an empty value."""
_FEW = 3
"""Number of memories up to which each is looked for in the text of all hits."""
_FLAGS = ("both", "settled", "counted", "flows")
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_SESSIONS = (
    ("traces", "session", "at"),
    ("versions", "session", "recorded_at"),
    ("runs", "session", "started_at"),
    ("loop_sessions", "id", "created_at"),
    ("operations", "session", "at"),
)
"""The tables that name a session, with the column that does and that of its time."""


@dataclass(frozen=True, slots=True)
class KindTable:
    """A kind's table: its own id and number, or the numbers of memories that it has, its columns, and its order.

    ``identity`` are the columns that name a row beside the numbers of memories. ``mutable`` are those that may
    change, by default all others.
    """

    name: str
    columns: tuple[str, ...]
    order: str
    own: str | None = None
    ends: tuple[str, ...] = ()
    latest: str = ""
    number: str | None = None
    identity: tuple[str, ...] = ()
    mutable: tuple[str, ...] = ()

    @property
    def updated(self) -> tuple[str, ...]:
        """The columns that an update sets."""
        fixed = (self.own, *self.identity)
        return self.mutable or tuple(name for name in self.columns if name not in fixed)


_ENDS = ("source", "target")
KINDS: Mapping[type, KindTable] = {
    MemoryRow: KindTable("memories", MEMORY_COLUMNS, "t.number", own="id", number="number"),
    VersionRow: KindTable(
        "versions",
        VERSION_COLUMNS,
        "t.memory, t.revision",
        ends=("memory",),
        identity=("revision",),
        mutable=("retired_at", "valid_from", "valid_to"),
    ),
    LinkRow: KindTable(
        "links",
        column_names(LinkRow)[2:],
        "t.source, t.relation, t.target",
        ends=_ENDS,
        identity=("relation",),
    ),
    VerdictRow: KindTable(
        "verdicts",
        column_names(VerdictRow)[1:],
        "t.at, t.operation, t.memory, t.verdict",
        ends=("memory",),
        identity=("verdict", "operation"),
    ),
    PairRow: KindTable("pairs", ("times",), "t.source, t.target", ends=_ENDS),
    RunRow: KindTable("runs", column_names(RunRow), "t.started_at, t.id", own="id", identity=("id",)),
    WeightsRow: KindTable("weights", column_names(WeightsRow), "t.profile", identity=("profile",)),
    RelationRow: KindTable("relations", column_names(RelationRow), "t.relation", identity=("relation",)),
    Trace: KindTable("traces", TRACE_COLUMNS, "t.number", own="recall_id", latest="t.at DESC, t.number DESC"),
    ActivationCount: KindTable(
        "activations", ("profile", "memory", "day", "total"), "t.profile, t.memory, t.day", own="memory"
    ),
    LoopSessionRow: KindTable(
        "loop_sessions", column_names(LoopSessionRow), "t.id", own="id", latest="t.created_at DESC, t.id DESC"
    ),
    TokenRow: KindTable("tokens", (*column_names(Token), "digest"), "t.created_at, t.id", own="id"),
    ReadOnlyRow: KindTable("read_only", ("namespace",), "t.namespace"),
}
"""Where the order is that of names, text is compared by its bytes."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A query for items of a kind: its SQL and values, and the item of a row; None for a row that is none."""

    sql: str
    values: Mapping[str, Any]
    item: Callable[[Sequence[Any]], Any]


def selected(dialect: Dialect, kind: type, where: Mapping[str, Any], *, whole: bool) -> Selected:
    """Return the query for the items of a kind; ``whole``: with what is read of a recall only as a part."""
    where = {name: value for name, value in where.items() if value is not None}
    if kind is SessionRow:
        return _sessions(where)
    if kind is ShownRow:
        return _shown(dialect, where)
    if kind in (VectorRow, EmbeddedRow):
        return _vectors(dialect, kind, where)
    flags = frozenset(name for name in _FLAGS if where.get(name))
    sql, item = _statement(dialect, kind, frozenset(where), flags, whole)
    return Selected(sql, _values(kind, where), item)


@lru_cache(maxsize=256)
def _statement(
    dialect: Dialect, kind: Any, names: frozenset[str], flags: frozenset[str], whole: bool
) -> tuple[str, Callable[[Sequence[Any]], Any]]:
    """Return the query for items restricted by fields of these names, with the flags set, and what reads a row."""
    table = KINDS[kind]
    columns = [f"t.{name}" for name in table.columns]
    if kind is Trace:
        columns += ["t.nodes", "t.flow"] if whole or "flows" in flags else []
        columns += ["t.counted"] if whole else []
    conditions = _conditions(dialect, kind, names, flags)
    alternatives = _of_ids(dialect, table, flags) if "ids" in names else [""]
    rows = " UNION ".join(
        f"SELECT t.* FROM {table.name} t WHERE {' AND '.join([*conditions, *(which and [which])])}"
        for which in alternatives
    )
    fence = dialect.fence if "ids" in names else ""
    ends = [*zip("ab", table.ends, strict=False)]
    is_outer = len(ends) > 1
    joins = [dialect.each("memories", alias, "number", "t", column, outer=is_outer) for alias, column in ends]
    ids = [f"{alias}.id" for alias, _ in ends]
    order = table.latest if table.latest and "limit" in names else table.order
    limit = " LIMIT :limit" if "limit" in names else ""
    sql = (
        f"SELECT {', '.join([*ids, *columns])} FROM ({rows}{fence}) t{''.join(joins)} ORDER BY {order}{limit}"
    )
    return sql, _item_of(kind, len(ids))


def _item_of(kind: Any, ends: int) -> Callable[[Sequence[Any]], Any]:
    """Return what makes an item of a row; it raises ``LookupError`` where a memory the row refers to is not there."""
    if kind is TokenRow:
        return lambda row: stored_token(*row[:-1], digest=row[-1])
    if kind is Trace:
        return lambda row: stored_trace(*row)

    def linked(row: Sequence[Any]) -> Any:
        if None in row[:ends]:
            raise LookupError
        return stored(kind, row)

    return linked if ends > 1 else partial(stored, kind)


def _of_ids(dialect: Dialect, table: KindTable, flags: frozenset[str]) -> list[str]:
    """Return the conditions of which one holds for rows of ``ids``."""
    if table.own is not None:
        return [dialect.among(f"t.{table.own}", "ids")]
    ends = [dialect.of_memories(f"t.{column}", "ids") for column in table.ends]
    return [" AND ".join(ends)] if "both" in flags else ends


def _conditions(dialect: Dialect, kind: Any, names: frozenset[str], flags: frozenset[str]) -> list[str]:
    """Return the conditions of all fields but ``ids``."""
    clauses = {
        "relation": "t.relation = :relation",
        "recall": "t.recall = :recall AND t.recall <> ''",  # so that the partial index can be used
        "profile": "t.profile = :profile",
        "settled": f"t.settled IS {'NOT ' if 'settled' in flags else ''}NULL",
        "digests": f"t.retired_at IS NULL AND {dialect.among('t.digest', 'digests')}",
        "session": "t.session = :session",
        "hit": f"{dialect.contains}(t.hits, :hit) > 0",
        "counted": "t.counted" if "counted" in flags else "NOT t.counted",
        "since": "t.at >= :since",
        "until": "t.at < :until",
        "during": "t.started_at <= :during AND t.ended_at >= :during",
        "objective": "lower(t.objective) = :objective",
    }
    if kind is ActivationCount:
        clauses["until"] = (
            "t.day = (SELECT max(u.day) FROM activations u WHERE u.namespace = t.namespace"
            " AND u.profile = t.profile AND u.memory = t.memory AND u.day <= :until)"
        )
    conditions = [] if kind is TokenRow else ["t.namespace = :namespace"]
    return [*conditions, *(clause for name, clause in clauses.items() if name in names)] or ["1 = 1"]


def _values(kind: type, where: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is bound for the fields."""
    values = bound(where)
    if kind is ActivationCount and "until" in where:
        values["until"] = day_of(where["until"])
    if "objective" in where:
        values["objective"] = where["objective"].translate(_LOWER)
    if "hit" in where:
        values["hit"] = json.dumps(where["hit"])  # as the JSON of the hits has it, in quotes
    return values


def _vectors(dialect: Dialect, kind: type, where: Mapping[str, Any]) -> Selected:
    of_all = "" if dialect.generations_of_all else " AND g.namespace = t.namespace"
    conditions = ["t.namespace = :namespace"]
    if "ids" in where:
        conditions.append(dialect.of_memories("t.memory", "ids"))
    name = " WHERE g.name = :generation" if "generation" in where else ""
    rows = (
        f"SELECT t.* FROM vectors t WHERE {' AND '.join(conditions)}{dialect.fence if 'ids' in where else ''}"
    )
    is_read = kind is VectorRow or dialect.checks_vectors
    columns = f", t.vector, t.{dialect.vector_column}" if is_read else ""
    sql = (
        f"SELECT a.id, t.version, g.name{columns} FROM ({rows}) t"
        f"{dialect.each('memories', 'a', 'number', 't', 'memory')} JOIN generations g"
        f" ON g.generation = t.generation{of_all}{name} ORDER BY t.memory, t.version, g.name"
    )
    values = {"ids": list(where.get("ids", ())), "generation": where.get("generation")}
    return Selected(sql, values, partial(_embedded if kind is EmbeddedRow else _vector, dialect))


def _vector(dialect: Dialect, row: Sequence[Any]) -> VectorRow:
    vector = dialect.vector(*row[3:])
    if vector is None:
        raise ValueError(f"the vector of {row[:2]} is damaged")
    memory_id, version, generation = row[:3]
    return VectorRow(memory_id, version, generation, vector)


def _embedded(dialect: Dialect, row: Sequence[Any]) -> EmbeddedRow | None:
    is_damaged = dialect.checks_vectors and dialect.vector(*row[3:]) is None
    return None if is_damaged else EmbeddedRow(*row[:2])


def _sessions(where: Mapping[str, Any]) -> Selected:
    tables = " UNION ALL ".join(
        f"SELECT {column} AS session, {at} AS at FROM {table} WHERE namespace = :namespace"
        f" AND {column} {'= :session' if 'session' in where else 'IS NOT NULL'}"
        for table, column, at in _SESSIONS
    )
    limit = " LIMIT :limit" if "limit" in where else ""
    sql = f"SELECT session, max(at) FROM ({tables}) s GROUP BY session ORDER BY max(at) DESC, session{limit}"
    return Selected(sql, where, lambda row: SessionRow(row[0], parse_time(row[1])))


def _shown(dialect: Dialect, where: Mapping[str, Any]) -> Selected:
    ids = list(dict.fromkeys(where["ids"]))
    if len(ids) <= _FEW:
        sql = (
            f"SELECT i.value, count(*) FROM {dialect.listed('hits', 'i')} CROSS JOIN traces t"
            f" WHERE t.namespace = :namespace AND {dialect.contains}(t.hits, i.value) > 0 GROUP BY i.value"
        )
        quoted = {"hits": [json.dumps(name) for name in ids]}
        return Selected(sql, quoted, lambda row: ShownRow(json.loads(row[0]), row[1]))
    sql = (
        f"SELECT {dialect.hit}, count(*) FROM traces t, {dialect.elements('t.hits', 'h')}"
        f" WHERE t.namespace = :namespace AND {dialect.among(f'({dialect.hit})', 'ids')} GROUP BY 1"
    )
    return Selected(sql, {"ids": ids}, lambda row: ShownRow(*row))


def insertion(table: str, columns: Collection[str]) -> str:
    """Return the statement that inserts a row of these columns.

    >>> insertion("tokens", ("id", "name"))
    'INSERT INTO tokens (id, name) VALUES (?, ?)'
    """
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def columns_of(row: Row) -> list[Any]:
    """Return the fields of a row as its columns store them, in order."""
    values = to_columns(row)
    for i, _ in _JSON.get(type(row), ()):
        values[i] = column_text(values[i])
    return values


def stored(cls: type[R], row: Sequence[Any]) -> R:
    """Return a row from its columns, of which some hold JSON; ``ValueError`` and the like for damaged ones."""
    values = list(row)
    for i, is_list in _JSON.get(cls, ()):
        text = values[i]
        if text is None or text == ("[]" if is_list else "{}"):
            values[i] = [] if is_list else {}
        else:
            values[i] = json.loads(text)
    if cls is MemoryRow and not (values[_KIND] in RECALLED and values[_STATUS] in STATUSES):
        raise ValueError(f"kind {values[_KIND]!r}, status {values[_STATUS]!r}")
    if cls is VerdictRow and values[1] not in VERDICTS:
        raise ValueError(f"verdict {values[1]!r}")
    return from_columns(cls, values)


def stored_record(namespace: str, row: Sequence[Any]) -> MemoryRecord:
    """Return a memory from its columns, followed by those of one of its versions."""
    cut = len(MEMORY_COLUMNS)
    return record(namespace, stored(MemoryRow, row[:cut]), stored(VersionRow, row[cut:]))


def trace_values(trace: Trace) -> dict[str, Any]:
    """Return the columns of a trace, by name; nodes are stored only with a flow."""
    values = encode_row(trace)
    values["cue"] = json.dumps(values["cue"], ensure_ascii=False)
    values["hits"] = json.dumps(values["hits"])
    values["nodes"] = None if trace.flow is None else column_text(trace.nodes)
    return values


def stored_trace(*columns: Any) -> Trace:
    """Return a recall from its columns, all or the first of them."""
    values = dict(zip(column_names(Trace), columns, strict=False))
    values["at"] = datetime.fromisoformat(values["at"])
    values["cue"] = json.loads(values["cue"])
    values["hits"] = tuple((memory_id, score) for memory_id, score in json.loads(values["hits"]))
    values["nodes"] = tuple(json.loads(values.get("nodes") or "[]"))
    values["counted"] = bool(values.get("counted"))
    return Trace(**values)


def stored_token(*columns: Any, digest: bytes = b"") -> TokenRow:
    """Return a token from its columns."""
    return TokenRow(from_columns(Token, columns), bytes(digest))
