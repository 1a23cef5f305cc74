"""Export and import: lossless JSON Lines, the log included. Vectors are derived, and are computed on import."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, fields, replace
from datetime import date, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from priming.config.params.limits import STORE
from priming.config.params.recall import RecallParams
from priming.config.private_files import replacing
from priming.config.values import dataclass
from priming.config.words import BRINGS, KINDS, STATUSES, TAKES, TRUST
from priming.core.arguments.checks import (
    check_choice,
    check_count,
    check_fraction,
    check_number,
    check_path,
    check_text,
    check_time,
)
from priming.core.forgetting import FsrsState
from priming.errors import Conflict, ParamError, StoreError
from priming.index.document import RULES
from priming.index.working_set import IMPORT
from priming.namespace import Namespace
from priming.recall.candidates import with_weights
from priming.remember.vectors import make
from priming.serialization import decode_row, encode_row
from priming.storage.protocol import Logged
from priming.storage.rows import (
    ROOMS,
    ActivationCount,
    LinkRow,
    MemoryRow,
    PairRow,
    R,
    RelationRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    change_of,
    sides,
)
from priming.transfer.reading import parse_json, unreadable
from priming.types import Progress

FORMAT, FORMAT_VERSION = "priming", 5
"""2 added verdicts, pairs and runs, 3 retention, 4 weights, 5 activations and relations; earlier files are read."""


MOST_ACTIVATIONS = 2**53


def export(
    memory: Namespace, path: str | Path, *, salvage: bool = False, progress: Progress | None = None
) -> int:
    """Write the namespace with its log to a file in JSON Lines; return the number of memories.

    Args:
        path: the file.
        salvage: leave damaged rows out, and the log, instead of raising ``Corrupt``.
        progress: called with (memories written, None).

    """
    path = check_path(path)
    partial = path.with_name(path.name + ".partial")
    count = 0
    try:
        with (
            memory.lock,
            memory.store.transaction(write=False),
            replacing(path, partial),
            partial.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for line in _whole_lines(memory) if salvage else _lines(memory):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += "memories" in line
                if progress is not None and "memories" in line and count % STORE.batch == 0:
                    progress(count, None)
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror}") from error
    return count


def _lines(memory: Namespace) -> Iterator[dict[str, Any]]:
    yield {"format": FORMAT, "version": FORMAT_VERSION, "namespace": memory.namespace}
    versions = groupby(memory.part(VersionRow), key=attrgetter("id"))
    owner, group = next(versions, ("", ()))
    for record in memory.rows(MemoryRow):
        yield {"memories": encode_row(record)}
        if record.id == owner:  # both are in order of insertion
            yield from ({"versions": encode_row(version)} for version in group)
            owner, group = next(versions, ("", ()))
    for table, cls in ROOMS.items():
        if cls not in (MemoryRow, VersionRow):
            yield from ({table: encode_row(row)} for row in memory.rows(cls))
    for count in memory.rows(ActivationCount):
        yield {"activations": asdict(count)}
    for logged in reversed(memory.operations()):
        yield {"operation": _encoded(logged)}


def _whole_lines(memory: Namespace) -> Iterator[dict[str, Any]]:
    yield {"format": FORMAT, "version": FORMAT_VERSION, "namespace": memory.namespace}
    for row in memory.whole_rows():
        yield {RowChange(None, row).room: encode_row(row)}


def _encoded(logged: Logged) -> dict[str, Any]:
    values = {name: value for name, value in encode_row(logged).items() if name not in ("number", "rows")}
    return values | {"changes": [{"table": change.room, **sides(change)} for change in logged.rows]}


@dataclass
class ExportBundle:
    """The rows of an export file by table, in the order in which these can be written, and its operations."""

    tables: dict[str, list[Row]] = field(default_factory=lambda: {table: [] for table in ROOMS})
    operations: list[Logged] = field(default_factory=list)
    activations: list[ActivationCount] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """All rows in the order in which they can be written."""
        return [row for rows in self.tables.values() for row in rows]


def import_(
    memory: Namespace, path: str | Path, *, later: bool = False, progress: Progress | None = None
) -> int:
    """Read an export; return the number of memories that were new.

    The vectors of all versions are made after them; with ``later``, those of memories by what follows.
    ``progress`` is called with (done, total) of the vectors.
    """
    # An empty namespace takes over the rows and the log. Into another namespace, missing rows are added as one
    # operation, equal rows are skipped, and a row that differs raises ``Conflict``. This holds for links, verdicts,
    # pairs, runs, weights and relations as for memories: two histories of learning are not added up.
    bundle = _read(check_path(path))
    number = _write(memory, bundle)
    if not later:
        versions = (row for row in bundle.rows if isinstance(row, VersionRow) and row.source != RULES)
        keys = dict.fromkeys((row.id, row.version) for row in versions)
        make(memory, memory.embedder, list(keys), progress=progress)
    return number


def _write(memory: Namespace, bundle: ExportBundle) -> int:
    """Write a bundle; return the number of memories that were new."""
    with memory.writing() as now:
        if bundle.operations and not memory.store.head(memory.namespace):
            memory.fill(bundle.rows, bundle.operations)
            memory.store.append(memory.namespace, bundle.activations)
            return len(bundle.tables["memories"])
        missing = list(_missing_rows(memory, bundle))
        if missing:
            memory.write(IMPORT, now, [RowChange(None, row) for row in missing])
            new = {row.id for row in missing if isinstance(row, MemoryRow)}
            counts = [count for count in bundle.activations if count.id in new]
            memory.store.append(memory.namespace, counts)
        return sum(isinstance(row, MemoryRow) for row in missing)


def _missing_rows(memory: Namespace, bundle: ExportBundle) -> Iterator[Row]:
    """Yield the rows of a bundle that the store lacks; a row that differs from the stored one raises ``Conflict``."""
    for row in bundle.rows:
        stored = memory.stored(row)
        if stored is None:
            yield row
        elif stored != row:
            raise Conflict(
                f"the file and the store differ in {_NAMES[type(row)].format(row)}:"
                " import into an empty namespace instead"
            )


_NAMES: Mapping[type[Row], str] = {
    MemoryRow: "the memory {0.key!r}",
    VersionRow: "version {0.version} of the memory {0.id}",
    LinkRow: "the link {0.relation!r} from {0.source} to {0.target}",
    VerdictRow: "the verdict {0.verdict!r} on {0.id}",
    PairRow: "the pair of {0.source} and {0.target}",
    RunRow: "the run {0.id}",
    WeightsRow: "the weights of {0.profile!r}",
    RelationRow: "the sign of the relation {0.relation!r}",
}


def _read(path: Path) -> ExportBundle:
    bundle, number = ExportBundle(), 0
    try:
        with path.open(encoding="utf-8") as file:
            header = file.readline(STORE.line_bytes)
            for number, line in enumerate(itertools.chain([header] if header else [], file), 1):
                if number == 1 or line.strip():
                    _add_to_bundle(bundle, _parse_line(path, number, line), f"{path}, line {number}")
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError:
        raise ParamError("path", str(path), "must be UTF-8 text in JSON Lines") from None
    if not number:
        raise ParamError("path", str(path), "is empty: it holds no export of Priming")
    if not any(operation.undoes for operation in bundle.operations):
        bundle.operations = _with_undoes(bundle.operations)
    return bundle


def _with_undoes(operations: list[Logged]) -> list[Logged]:
    """Fill in ``undoes``, which early exports lack, from ``undone_by``."""
    undone = {logged.undone_by: logged.id for logged in operations}
    return [
        replace(logged, undoes=(undone[logged.id],)) if logged.id in undone else logged
        for logged in operations
    ]


def _parse_line(path: Path, number: int, line: str) -> dict[str, Any]:
    where = f"{path}, line {number}"
    value = parse_json(line.strip(), where)
    if not isinstance(value, dict) or (number == 1 and value.get("format") != FORMAT):
        raise ParamError(
            where, line.strip(), "must begin an export of Priming; for other files name the importer"
        )
    if number == 1 and value.get("version") not in range(1, FORMAT_VERSION + 1):
        raise ParamError(
            where, value.get("version"), f"must be format version {FORMAT_VERSION} or older: update Priming"
        )
    return value


def _add_to_bundle(bundle: ExportBundle, value: dict[str, Any], where: str) -> None:
    try:
        room = next((name for name in ROOMS if name in value), None)
        if room is not None:
            bundle.tables[room].append(_check_row(decode_row(ROOMS[room], value[room])))
        elif "activations" in value:
            bundle.activations.append(_activation(value["activations"]))
        elif "operation" in value:
            bundle.operations.append(_logged(value["operation"]))
        elif "format" not in value:
            raise KeyError(f"{', '.join(ROOMS)} or operation")
    except (KeyError, TypeError, ValueError) as error:
        raise ParamError(where, str(value), f"is not a row of an export ({error})") from None


def _check_row(row: R) -> R:
    """Return the row, if every field is valid; else ``ParamError`` names the field."""
    for f in fields(row):
        value = getattr(row, f.name)
        if isinstance(value, datetime) or f.type == "datetime":
            check_time(f.name, value)
        elif isinstance(value, str) or f.type == "str":
            check_text(f.name, value)
    if isinstance(row, RelationRow) and row.sign not in (BRINGS, TAKES):
        raise ParamError("sign", row.sign, f"must be {BRINGS} or {TAKES}")
    _check_values(row)
    return row


def _activation(value: dict[str, Any]) -> ActivationCount:
    """Return a count of activations, checked."""
    count = ActivationCount(value["profile"], value["id"], value["day"], value["total"])
    check_text("profile", count.profile)
    check_text("id", count.id)
    date.fromisoformat(check_text("day", count.day))
    check_count("total", count.total, 1, MOST_ACTIVATIONS)
    return count


def _check_values(row: Row) -> None:
    match row:
        case MemoryRow():
            check_choice("kind", row.kind, KINDS)
            check_choice("status", row.status, STATUSES)
            check_fraction("weight", row.weight)
            check_fraction("confidence", row.confidence)
            _check_retention(row)
        case VersionRow():
            check_choice("trust", row.trust, TRUST)
            check_fraction("importance", row.importance)
            _check_span("valid_to", row.valid_to, "valid_from", row.valid_from)
            _check_span("retired_at", row.retired_at, "recorded_at", row.recorded_at)
        case LinkRow():
            check_fraction("weight", row.weight)
        case PairRow():
            for at in row.times:
                check_time("times", datetime.fromisoformat(at))
        case RunRow():
            for memory_id in row.shown:
                check_text("shown", memory_id)
            if row.settled is not None:
                check_choice("settled", row.settled, ("used", "unused"))
        case WeightsRow():
            with_weights(RecallParams(), row.weights)


def _check_span(name: str, end: datetime | None, start_name: str, start: datetime | None) -> None:
    """Check that an end is not before its start; a version superseded from its own start has an empty span."""
    if end is not None and start is not None and end < start:
        raise ParamError(name, end.isoformat(), f"must be ≥ {start.isoformat()}, which is {start_name}")


def _check_retention(row: MemoryRow) -> None:
    """Check a memory's retention and the times of its uses."""
    if (row.stability is None) != (row.difficulty is None) or (row.stability is None) != (
        row.reviewed_at is None
    ):
        rule = "must be given together with difficulty and reviewed_at, or none of them"
        raise ParamError("stability", row.stability, rule)
    if row.stability is not None and row.difficulty is not None:
        FsrsState(row.stability, row.difficulty)
    check_number("endurance", row.endurance, low=0.0)
    for at in row.recent:
        check_time("recent", datetime.fromisoformat(at))


def _logged(value: dict[str, Any]) -> Logged:
    changes = tuple(change_of(each["table"], each["before"], each["after"]) for each in value["changes"])
    for row in (row for change in changes for row in (change.before, change.after) if row is not None):
        _check_row(row)
    logged = decode_row(Logged, {**value, "number": 0, "rows": ()})
    return replace(logged, at=datetime.fromisoformat(value["at"]), rows=changes)
