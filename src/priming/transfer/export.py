"""Export and import: JSON Lines, lossless, the log included. Vectors are derived, and made anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.config.params.recall import RecallParams
from priming.config.params.store import STORE
from priming.config.words import KINDS, STATUSES, TRUST
from priming.core.checks import check_choice, check_fraction, check_number, check_path, check_text, check_time
from priming.core.forgetting import FsrsState
from priming.errors import Conflict, ParamError, StoreError
from priming.index.document import RULES, embedded_text
from priming.index.working_set import IMPORT
from priming.namespace import Namespace
from priming.recall.term_weights import with_weights
from priming.serialization import decode_row, encode_row, stamp
from priming.storage.protocol import Logged, VersionKey
from priming.storage.rows import (
    ROOMS,
    LinkRow,
    MemoryRow,
    PairRow,
    R,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
)

FORMAT, FORMAT_VERSION = "priming", 4
"""Version 2 has verdicts, pairs and runs, 3 retention, 4 weights; files of the versions before are read too."""
Progress = Callable[[int, int | None], None]


def export(memory: Namespace, path: str | Path, *, progress: Progress | None = None) -> int:
    """Write the namespace as JSON Lines, log included; the number of memories."""
    path = check_path(path)
    with memory.lock:
        memory.require_exists()
    partial = path.with_name(path.name + ".partial")
    count = 0
    try:
        with (
            memory.lock,
            memory.store.transaction(write=False),
            partial.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for line in _lines(memory):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += "memories" in line
                if progress is not None and "memories" in line and count % STORE.batch == 0:
                    progress(count, None)
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return count


def _lines(memory: Namespace) -> Iterator[dict[str, Any]]:
    store, namespace = memory.store, memory.namespace
    yield {"format": FORMAT, "version": FORMAT_VERSION, "namespace": namespace}
    for record in store.memories(namespace):
        yield {"memories": encode_row(record)}
        for version in store.versions(namespace, record.id):
            yield {"versions": encode_row(version)}
    for link in store.links(namespace):
        yield {"links": encode_row(link)}
    for verdict in store.verdicts(namespace):
        yield {"verdicts": encode_row(verdict)}
    for pair in store.pairs(namespace):
        yield {"pairs": encode_row(pair)}
    for run in store.runs(namespace):
        yield {"runs": encode_row(run)}
    for weights in store.weights(namespace):
        yield {"weights": encode_row(weights)}
    for logged in reversed(store.operations(namespace, limit=None)):
        yield {"operation": _encoded(logged)}


def _encoded(one: Logged) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "at": stamp(one.at),
        "actor": one.actor,
        "source": one.source,
        "reason": one.reason,
        "undone_by": one.undone_by,
        "undoes": list(one.undoes),
        "message": one.message,
        "erased": list(one.erased),
        "changes": [
            {
                "table": change.room,
                "before": None if change.before is None else encode_row(change.before),
                "after": None if change.after is None else encode_row(change.after),
            }
            for change in one.rows
        ],
    }


@dataclass
class ExportBundle:
    """What an export file holds."""

    memories: list[MemoryRow] = field(default_factory=list)
    versions: list[VersionRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    verdicts: list[VerdictRow] = field(default_factory=list)
    pairs: list[PairRow] = field(default_factory=list)
    runs: list[RunRow] = field(default_factory=list)
    weights: list[WeightsRow] = field(default_factory=list)
    operations: list[Logged] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """All rows in the order in which they can be written."""
        learnt: list[Row] = [*self.links, *self.verdicts, *self.pairs, *self.runs, *self.weights]
        return [*self.memories, *self.versions, *learnt]


def import_(memory: Namespace, path: str | Path, *, progress: Progress | None = None) -> int:
    """Read an export; the number of memories that were new."""
    # An empty namespace becomes what was exported, its log included. Into another, what is not there is added as
    # one operation; what is there and the same is left; what is there and different is a ``Conflict``. That holds for
    # links, verdicts, pairs, runs and weights as for memories: two histories of learning are not added up.
    bundle = _read(check_path(path))
    vectors = _vectors(memory, bundle.versions, progress)
    with memory.writing() as now:
        if bundle.operations and not memory.store.head(memory.namespace):
            memory.store.restore(memory.namespace, bundle.rows, bundle.operations)
            memory.store.add_vectors(memory.namespace, memory.embedder.generation, vectors)
            return len(bundle.memories)
        fresh = list(_fresh(memory, bundle))
        if fresh:
            memory.write(IMPORT, now, [RowChange(None, row) for row in fresh], vectors=vectors)
        return sum(isinstance(row, MemoryRow) for row in fresh)


def _fresh(memory: Namespace, bundle: ExportBundle) -> Iterator[Row]:
    for row in bundle.rows:
        there = memory.store.present(memory.namespace, row)
        if there is None:
            yield row
        elif there != row:
            raise Conflict(
                f"the file and the store differ in {_named(row)}: import into an empty namespace instead"
            )


def _named(row: Row) -> str:
    if isinstance(row, MemoryRow):
        return f"the memory {row.key!r}"
    if isinstance(row, VersionRow):
        return f"version {row.version} of the memory {row.id}"
    if isinstance(row, LinkRow):
        return f"the link {row.relation!r} from {row.source} to {row.target}"
    if isinstance(row, VerdictRow):
        return f"the verdict {row.verdict!r} on {row.id}"
    if isinstance(row, WeightsRow):
        return f"the weights of {row.profile!r}"
    return f"the run {row.id}" if isinstance(row, RunRow) else f"the pair of {row.source} and {row.target}"


def _read(path: Path) -> ExportBundle:
    bundle, number = ExportBundle(), 0
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if number == 1 or line.strip():
                    _take(bundle, _parsed(path, number, line), f"{path}, line {number}")
    except OSError as error:
        raise ParamError("path", str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ParamError("path", str(path), "must be UTF-8 text in JSON Lines") from None
    if not number:
        raise ParamError("path", str(path), "is empty: it holds no export of Priming")
    if not any(one.undoes for one in bundle.operations):
        bundle.operations = _with_undoes(bundle.operations)
    return bundle


def _with_undoes(operations: list[Logged]) -> list[Logged]:
    """Operations of an export from before these knew what they took back."""
    undone = {one.undone_by: one.id for one in operations}
    return [replace(one, undoes=(undone[one.id],)) if one.id in undone else one for one in operations]


def _parsed(path: Path, number: int, line: str) -> dict[str, Any]:
    where = f"{path}, line {number}"
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise ParamError(where, line.strip(), f"must be JSON ({error.msg})") from None
    if not isinstance(value, dict) or (number == 1 and value.get("format") != FORMAT):
        raise ParamError(
            where, line.strip(), "must begin an export of Priming; for other files name the importer"
        )
    if number == 1 and value.get("version") not in range(1, FORMAT_VERSION + 1):
        raise ParamError(
            where, value.get("version"), f"must be format version {FORMAT_VERSION} or older: update Priming"
        )
    return value


def _take(bundle: ExportBundle, value: dict[str, Any], where: str) -> None:
    try:
        room = next((name for name in ROOMS if name in value), None)
        if room is not None:
            getattr(bundle, room).append(_sound(decode_row(ROOMS[room], value[room])))
        elif "operation" in value:
            bundle.operations.append(_logged(value["operation"]))
        elif "format" not in value:
            raise KeyError(f"{', '.join(ROOMS)} or operation")
    except (KeyError, TypeError, ValueError) as error:
        raise ParamError(where, str(value), f"is not a row of an export ({error})") from None


def _sound(row: R) -> R:
    """A row that the engine could have written; ``ParamError`` names what it could not."""
    for f in fields(row):
        value = getattr(row, f.name)
        if isinstance(value, datetime) or f.type == "datetime":
            check_time(f.name, value)
        elif isinstance(value, str) or f.type == "str":
            check_text(f.name, value)
    _check_values(row)
    return row


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
    """An end that is not before its start; a version that was superseded from its own start on held at no time."""
    if end is not None and start is not None and end < start:
        raise ParamError(name, end.isoformat(), f"must be ≥ {start.isoformat()}, which is {start_name}")


def _check_retention(row: MemoryRow) -> None:
    """A memory's retention and the times of its uses."""
    if (row.stability is None) != (row.difficulty is None) or (row.stability is None) != (
        row.reviewed_at is None
    ):
        rule = "must stand with difficulty and reviewed_at, or none of them"
        raise ParamError("stability", row.stability, rule)
    if row.stability is not None and row.difficulty is not None:
        FsrsState(row.stability, row.difficulty)
    check_number("endurance", row.endurance, low=0.0)
    for at in row.recent:
        check_time("recent", datetime.fromisoformat(at))


def _logged(value: dict[str, Any]) -> Logged:
    changes = tuple(
        RowChange(_side(change["table"], change["before"]), _side(change["table"], change["after"]))
        for change in value["changes"]
    )
    names = ("id", "kind", "actor", "source", "reason", "undone_by", "message")
    return Logged(
        number=0,
        at=datetime.fromisoformat(value["at"]),
        rows=changes,
        erased=tuple(value["erased"]),
        undoes=tuple(value.get("undoes", ())),
        **{name: value[name] for name in names},
    )


def _side(table: str, row: dict[str, Any] | None) -> Row | None:
    return None if row is None else _sound(decode_row(ROOMS[table], row))


def _vectors(
    memory: Namespace, versions: Iterable[VersionRow], progress: Progress | None
) -> dict[VersionKey, bytes]:
    by_version = {(one.id, one.version): one for one in versions if one.source != RULES}
    keys = list(by_version)
    made: dict[VersionKey, bytes] = {}
    for first in range(0, len(keys), STORE.batch):
        some = keys[first : first + STORE.batch]
        texts = [
            embedded_text(by_version[key].heading or by_version[key].speaker, by_version[key].content)
            for key in some
        ]
        for key, vector in zip(some, memory.embedder.embed(texts), strict=True):
            if vector.any():
                made[key] = vector.astype("<f4").tobytes()
        if progress is not None:
            progress(first + len(some), len(keys))
    return made
