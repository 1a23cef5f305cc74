"""Small rows for the tests of the store, and the whole of a store as one value."""

import json
import struct
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from priming.serialization import stamp
from priming.storage.protocol import Changes, Logged, Store, Trace, VersionKey
from priming.storage.questions import StoredNamespace
from priming.storage.rows import (
    LinkRow,
    LoopSessionRow,
    MemoryRow,
    PairRow,
    Row,
    RowChange,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
)
from priming.storage.sqlite.store import SqliteStore

NOW = datetime(2026, 5, 1, 12, 0, 0, 250, tzinfo=UTC)
DAY = timedelta(days=1)
GENERATION = "hashed/4"
_ids: Iterator[int] = count(1)


def mine(store: Store) -> StoredNamespace:
    """The namespace that most of these tests read."""
    return StoredNamespace(store, "mine")


def memory(memory_id: str, **fields: Any) -> MemoryRow:
    return MemoryRow(**{"id": memory_id, "key": f"key-{memory_id}", "kind": "episode", **fields})


def version(memory_id: str, content: str | None = None, **fields: Any) -> VersionRow:
    text = content or f"what {memory_id} says"
    new = {"version": 1, "recorded_at": NOW, "content": text, "gist": text[:20], "digest": f"d-{text}"}
    return VersionRow(**{"id": memory_id, **new, **fields})


def loop_session(store: Store, namespace: str, objective: str) -> str:
    """Save a session of the loop as far as the store reads it; its id."""
    session = f"loop-{next(_ids)}"
    body = json.dumps({"id": session, "objective": objective, "state": "INIT"})
    store.save(namespace, LoopSessionRow(session, None, "INIT", objective, NOW, NOW, body), new=True)
    return session


def link(source: str, target: str, relation: str = "mentions", **fields: Any) -> LinkRow:
    new = {"source": source, "target": target, "relation": relation, "weight": 0.5, "created_at": NOW}
    return LinkRow(**{**new, **fields})


def verdict(memory_id: str, message: str = "used", **fields: Any) -> VerdictRow:
    new = {"verdict": message, "operation": "op", "recall": "", "at": NOW, "tier": "conscious"}
    return VerdictRow(**{"id": memory_id, **new, **fields})


def pair(source: str, target: str, *times: datetime) -> PairRow:
    return PairRow(source, target, tuple(stamp(at) for at in times or (NOW,)))


def run(run_id: str, *shown: str, **fields: Any) -> RunRow:
    return RunRow(**{"id": run_id, "session": "s", "started_at": NOW, "shown": shown, **fields})


def weights(profile: str, **values: float) -> WeightsRow:
    return WeightsRow(profile, values)


def vector(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def whole(memory_id: str, content: str | None = None, **fields: Any) -> list[Row]:
    """A memory and its first version."""
    kind = {
        name: fields.pop(name) for name in ("key", "kind", "status", "weight", "priority") if name in fields
    }
    return [memory(memory_id, **kind), version(memory_id, content, **fields)]


def added(*rows: Row | Collection[Row]) -> list[RowChange]:
    """New rows, as changes."""
    flat = [item for row in rows for item in (row if isinstance(row, Collection) else [row])]
    return [RowChange(None, row) for row in flat]


def operation(*changes: RowChange | Collection[RowChange], **fields: Any) -> Changes:
    flat = [item for change in changes for item in (change if isinstance(change, Collection) else [change])]
    new = {"namespace": "mine", "id": f"op-{next(_ids)}", "kind": "remember", "at": NOW}
    return Changes(**{**new, **fields}, rows=tuple(flat))


def remember(store: Store, *rows: Row | Collection[Row], vectors: bool = True, **fields: Any) -> int:
    """Add rows as one operation, with a vector for each version."""
    changes = added(*rows)
    new = {
        (change.row.id, change.row.version): vector(float(i), 1.0)
        for i, change in enumerate(changes)
        if isinstance(change.row, VersionRow) and vectors
    }
    return store.apply(operation(changes, **{"vectors": new, "generation": GENERATION, **fields}))


def trace(recall_id: str, at: datetime = NOW, *hits: str, **fields: Any) -> Trace:
    result = tuple((hit, 1.0 / (i + 1)) for i, hit in enumerate(hits))
    return Trace(
        **{"session": None, "profile": "priming", "cue": {"text": "?"}, **fields},
        recall_id=recall_id,
        at=at,
        hits=result,
    )


def dump(store: Store, namespace: str = "mine") -> dict[str, Any]:
    """Everything that a namespace holds; two equal dumps are two equal states."""
    memories = store.rows(namespace, MemoryRow)
    vectors: dict[VersionKey, bytes] = dict(StoredNamespace(store, namespace).stored_vectors(GENERATION))
    return {
        "memories": memories,
        "versions": [item for row in memories for item in store.rows(namespace, VersionRow, ids=[row.id])],
        "links": store.rows(namespace, LinkRow),
        "verdicts": store.rows(namespace, VerdictRow),
        "pairs": store.rows(namespace, PairRow),
        "runs": store.rows(namespace, RunRow),
        "weights": store.rows(namespace, WeightsRow),
        "vectors": vectors,
        "log": store.operations(namespace),
        "traces": [
            StoredNamespace(store, namespace).recall_of(row.recall_id)
            for row in store.rows(namespace, Trace, limit=10**6)
        ],
        "counts": {**_counted(store, namespace)},
    }


def _counted(store: Store, namespace: str) -> dict[str, Any]:
    memories, links, operations, traces, _, generation = astuple(store.counts(namespace))
    return {
        "memories": memories,
        "links": links,
        "log": operations,
        "traces": traces,
        "generation": generation,
    }


ROWS = ("memories", "versions", "links", "verdicts", "pairs", "runs", "weights")


def rows_of(holder: dict[str, Any]) -> dict[str, Any]:
    """A dump without its log and traces: what an undo must bring back."""
    return {name: holder[name] for name in (*ROWS, "vectors")}


def every_row(holder: dict[str, Any]) -> list[Row]:
    """The rows of a dump, in an order in which they can be written."""
    return [row for name in ROWS for row in holder[name]]


def texts(log: Collection[Logged]) -> list[str]:
    return [entry.id for entry in log]


def create(path: Path, **options: Any) -> None:
    """Create a store, as its first write does."""
    with closing(SqliteStore(path, **options)) as store, store.transaction():
        pass
