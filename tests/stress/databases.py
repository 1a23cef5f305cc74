"""The databases under stress, by what differs between them: how one is named, filled anew, and read from outside."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
from tests.server.postgres.server import empty

from priming import HashedEmbedder, Memory
from priming.history.log import newest_first
from priming.serialization import encode_row
from priming.storage.protocol import Logged, Store
from priming.storage.rows import (
    LinkRow,
    MemoryRow,
    PairRow,
    RelationRow,
    RunRow,
    VerdictRow,
    VersionRow,
    WeightsRow,
    identity,
)

NAMESPACE = "team"
_LOOKS = 10_000
_CLIENTS = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'priming %' AND datname = current_database()"
_OWN_IDS = ("sleep", "restore-backup")
"""Kinds of operations whose ids no caller chooses."""
EMBEDDER = HashedEmbedder(16)


@dataclass(frozen=True, slots=True)
class Database:
    """A database by its URL; ``folder`` is for whatever lies beside it."""

    url: str
    folder: Path

    @property
    def file(self) -> Path | None:
        """The file of SQLite's."""
        return self.folder / "memory.db" if self.url.startswith("sqlite") else None

    def settle(self) -> None:
        """Wait until nothing is left of killed processes: PostgreSQL goes on with what they had sent."""
        if self.file is None:
            with psycopg.connect(self.url.partition("&schema=")[0], autocommit=True) as connection:
                for _ in range(_LOOKS):
                    if not connection.execute(_CLIENTS).fetchall():
                        return
                    Event().wait(0.01)
                raise AssertionError("a process that was killed is still connected")

    def open(self, namespace: str = NAMESPACE, **options: Any) -> Memory:
        """A memory in it, by the public way."""
        return Memory.open(self.url, **{"namespace": namespace, "embedder": EMBEDDER, **options})


def sqlite(folder: Path) -> Database:
    """A new SQLite file in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return Database(f"sqlite:///{folder / 'memory.db'}", folder)


def postgres(url: str, folder: Path) -> Database:
    """A new schema of a PostgreSQL database; ``folder`` is for what lies beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = "stress_" + hashlib.blake2b(str(folder).encode(), digest_size=6).hexdigest()
    empty(url, schema)
    return Database(f"{url}&schema={schema}", folder)


@dataclass(slots=True)
class Replay:
    """What the log says that is in the store: its operations, and the rows that they leave."""

    ids: list[str] = field(default_factory=list)
    rows: dict[Any, Any] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)

    def add(self, logged: Logged) -> None:
        """Apply an operation to what the ones before it left."""
        self.ids.append(logged.id)
        for change in logged.rows:
            name = identity(change.row)
            if self.rows.get(name) != change.before:
                self.contradictions.append(f"operation {logged.number} changed {name}, which was otherwise")
            if change.after is None:
                self.rows.pop(name, None)
            else:
                self.rows[name] = change.after


def stored(store: Store, namespace: str) -> dict[Any, Any]:
    """The rows that are in the store, by identity."""
    rows = [
        *store.rows(namespace, MemoryRow),
        *store.rows(namespace, VersionRow),
        *store.rows(namespace, LinkRow),
        *store.rows(namespace, VerdictRow),
        *store.rows(namespace, PairRow),
        *store.rows(namespace, RunRow),
        *store.rows(namespace, WeightsRow),
        *store.rows(namespace, RelationRow),
    ]
    return {identity(row): row for row in rows}


def problems(memory: Memory, acknowledged: Collection[str], begun: Collection[str]) -> list[str]:
    """What is wrong with a store, while no other thread of this process uses it."""
    with memory.lock:
        return _problems(memory, acknowledged, begun)


def _problems(memory: Memory, acknowledged: Collection[str], begun: Collection[str]) -> list[str]:
    """Everything that is wrong with a store in which some operations were acknowledged and others were begun.

    The log must have every acknowledged operation once, and no other than those that were begun; its numbers must
    have no gap, and it must replay, from nothing, to the rows that are stored.
    """
    replay, numbers, others = Replay(), [], set()
    for logged in reversed(list(newest_first(memory))):
        numbers.append(logged.number)
        replay.add(logged)
        if logged.kind in _OWN_IDS:
            others.add(logged.id)
    own = set(replay.ids)
    rows = stored(memory.store, memory.namespace)
    wrong = [
        *(f"lost: {name}" for name in sorted(set(acknowledged) - own)),
        *(f"from nowhere: {name}" for name in sorted(own - others - set(acknowledged) - set(begun))),
        *replay.contradictions,
        *(str(finding) for finding in memory.validate()),
    ]
    if len(replay.ids) != len(own):
        wrong.append(f"doubled: {len(replay.ids) - len(own)} operations")
    if numbers != list(range(1, len(numbers) + 1)):
        wrong.append("the numbers of the log have gaps")
    differing = [name for name in replay.rows.keys() | rows.keys() if replay.rows.get(name) != rows.get(name)]
    return wrong + [
        f"{name} is not what the log left: {_shown(replay.rows, name)}, but {_shown(rows, name)}"
        for name in differing
    ]


def _shown(rows: dict[Any, Any], name: Any) -> str:
    row = rows.get(name)
    return "nothing" if row is None else str(encode_row(row))


def examine(database: Database, acknowledged: Collection[str], begun: Collection[str] = ()) -> list[str]:
    """The same of a database that nobody has open, in which something must also be recalled."""
    database.settle()
    with closing(database.open()) as memory:
        wrong = problems(memory, acknowledged, begun)
        if memory.list(limit=1) and not memory.recall("Who called it the lighthouse?").hits:
            wrong.append("a recall returns nothing")
    return wrong
