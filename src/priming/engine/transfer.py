"""Export and import: JSON Lines, lossless, the log included. Vectors are derived, and made anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.engine.document import RULES, embedded_text
from priming.engine.draft import fraction, one_of, text_
from priming.engine.opened import Opened
from priming.engine.working import IMPORT
from priming.errors import Conflict, ParamError, StoreError
from priming.params import STORE
from priming.store.protocol import Logged, VersionKey
from priming.store.rows import ROOMS, LinkRow, MemoryRow, R, Row, RowChange, VersionRow, decode, encode, stamp
from priming.types import KINDS, STATUSES, TRUST, aware

FORMAT, FORMAT_VERSION = "priming", 1
Progress = Callable[[int, int | None], None]


def path_(value: str | Path) -> Path:
    """A path that a file can have."""
    text = str(value)
    if not text or "\x00" in text:
        raise ParamError("path", text, "must name a file, without the NUL character")
    return Path(value)


def export(opened: Opened, path: Path, progress: Progress | None = None) -> int:
    """Write a namespace to a file, which appears only when it is whole; the number of memories."""
    opened.readable()
    partial = path.with_name(path.name + ".partial")
    count = 0
    try:
        with (
            opened.lock,
            opened.store.transaction(write=False),
            partial.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for line in _lines(opened):
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


def _lines(opened: Opened) -> Iterator[dict[str, Any]]:
    store, namespace = opened.store, opened.namespace
    yield {"format": FORMAT, "version": FORMAT_VERSION, "namespace": namespace}
    for memory in store.memories(namespace):
        yield {"memories": encode(memory)}
        for version in store.versions(namespace, memory.id):
            yield {"versions": encode(version)}
    for link in store.links(namespace):
        yield {"links": encode(link)}
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
        "message": one.message,
        "erased": list(one.erased),
        "changes": [
            {
                "table": change.room,
                "before": None if change.before is None else encode(change.before),
                "after": None if change.after is None else encode(change.after),
            }
            for change in one.rows
        ],
    }


@dataclass
class Bundle:
    """What an export file holds."""

    memories: list[MemoryRow] = field(default_factory=list)
    versions: list[VersionRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    operations: list[Logged] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """All rows in the order in which they can be written."""
        return [*self.memories, *self.versions, *self.links]


def import_(opened: Opened, path: Path, progress: Progress | None = None) -> int:
    """Read an export into the namespace; the number of memories that were new.

    An empty namespace becomes what was exported, its log included. Into another, what is not there is added as
    one operation; what is there and the same is left; what is there and different is a ``Conflict``.
    """
    bundle = _read(path)
    vectors = _vectors(opened, bundle.versions, progress)
    with opened.writing() as now:
        if bundle.operations and not opened.store.head(opened.namespace):
            opened.store.restore(opened.namespace, bundle.rows, bundle.operations)
            opened.store.add_vectors(opened.namespace, opened.embedder.generation, vectors)
            return len(bundle.memories)
        fresh = list(_fresh(opened, bundle))
        if fresh:
            opened.write(IMPORT, now, [RowChange(None, row) for row in fresh], vectors=vectors)
        return sum(isinstance(row, MemoryRow) for row in fresh)


def _fresh(opened: Opened, bundle: Bundle) -> Iterator[Row]:
    for row in bundle.rows:
        there = opened.store.present(opened.namespace, row)
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
    return f"the link {row.relation!r} from {row.source} to {row.target}"


def _read(path: Path) -> Bundle:
    bundle, number = Bundle(), 0
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
    return bundle


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
    if number == 1 and value.get("version") != FORMAT_VERSION:
        raise ParamError(
            where, value.get("version"), f"must be format version {FORMAT_VERSION}: update Priming"
        )
    return value


def _take(bundle: Bundle, value: dict[str, Any], where: str) -> None:
    try:
        if "memories" in value:
            bundle.memories.append(_sound(decode(MemoryRow, value["memories"])))
        elif "versions" in value:
            bundle.versions.append(_sound(decode(VersionRow, value["versions"])))
        elif "links" in value:
            bundle.links.append(_sound(decode(LinkRow, value["links"])))
        elif "operation" in value:
            bundle.operations.append(_logged(value["operation"]))
        elif "format" not in value:
            raise KeyError("memories, versions, links or operation")
    except (KeyError, TypeError, ValueError) as error:
        raise ParamError(where, str(value), f"is not a row of an export ({error})") from None


def _sound(row: R) -> R:
    """A row that the engine could have written; ``ParamError`` names what it could not."""
    for f in fields(row):
        value = getattr(row, f.name)
        if isinstance(value, datetime):
            aware(f.name, value)
        elif isinstance(value, str) or f.type == "str":
            text_(f.name, value)
    if isinstance(row, MemoryRow):
        one_of("kind", row.kind, KINDS)
        one_of("status", row.status, STATUSES)
    if isinstance(row, VersionRow):
        one_of("trust", row.trust, TRUST)
        fraction("importance", row.importance)
    else:
        fraction("weight", row.weight)
    return row


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
        **{name: value[name] for name in names},
    )


def _side(table: str, row: dict[str, Any] | None) -> Row | None:
    return None if row is None else _sound(decode(ROOMS[table], row))


def _vectors(
    opened: Opened, versions: Iterable[VersionRow], progress: Progress | None
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
        for key, vector in zip(some, opened.embedder.embed(texts), strict=True):
            if vector.any():
                made[key] = vector.astype("<f4").tobytes()
        if progress is not None:
            progress(first + len(some), len(keys))
    return made
