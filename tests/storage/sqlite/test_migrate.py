"""Migrations: numbered, each whole or not at all, after a backup."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from importlib import resources
from itertools import pairwise
from pathlib import Path

import pytest

from priming import FixedClock, HashedEmbedder, Memory
from priming.config.profiles import PRIMING
from priming.errors import Busy, SchemaTooNew, StoreError
from priming.storage.protocol import Trace
from priming.storage.rows import PairRow, RunRow, VerdictRow
from priming.storage.sqlite.connection import Connection
from priming.storage.sqlite.files import Migration, migrations, sql_statements
from priming.storage.sqlite.store import SqliteStore
from priming.types import Retention

from ..crashing import everywhere
from ..making import create, dump, mine, remember, whole
from ..processes import Gate, start
from .files import check_text_index, contents, make_schema_1, schema, whole_database

SHIPPED = migrations()
LAST = len(SHIPPED)
BACKUP = f"memory.db.schema-{LAST}.backup"
NEXT = (
    *SHIPPED,
    Migration(LAST + 1, "two", "-- one more\nCREATE TABLE more (x);\nINSERT INTO more VALUES (1);\n"),
)
FAILING = {
    "a statement that fails": "CREATE TABLE more (x);\nDELETE FROM memories;\nINSERT INTO nowhere VALUES (1);\n",
    "a script that ends early": "DELETE FROM memories;\nCREATE TABLE more (\n",
    "two statements in a line": "DELETE FROM touched; DELETE FROM vectors;\n",
}


def fill(path: Path) -> dict[str, object]:
    store = SqliteStore(path, synchronous="off")
    remember(store, whole("a"), whole("b"))
    holder = dump(store)
    store.close()
    return holder


def held_by(path: Path, steps: tuple[Migration, ...] = SHIPPED) -> dict[str, object]:
    store = SqliteStore(path, steps=steps, synchronous="off")
    holder = dump(store)
    assert store.check("mine") == []
    store.close()
    check_text_index(path)
    return holder


def test_migrations_are_numbered_by_their_names_without_gaps() -> None:
    assert [item.number for item in SHIPPED] == list(range(1, LAST + 1))
    assert [item.name[:3] for item in SHIPPED] == [f"{number:03}" for number in range(1, LAST + 1)]
    names = {file.name for file in resources.files("priming.storage.sqlite").joinpath("migrations").iterdir()}
    assert names == {f"{item.name}.sql" for item in SHIPPED}


def test_a_script_is_taken_apart_at_the_ends_of_its_statements() -> None:
    script = (
        "-- why;\nCREATE TABLE a (\n x DEFAULT ';' -- no;\n);\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n"
    )
    script += "  DELETE FROM a;\nEND;\n"
    assert [sql_statement.split()[-1] for sql_statement in sql_statements(script)] == [");", "END;"]
    with pytest.raises(StoreError, match="middle of a statement"):
        sql_statements("CREATE TABLE a (x)\n")


def test_a_new_file_needs_no_backup(tmp_path: Path) -> None:
    create(tmp_path / "memory.db", steps=NEXT)
    assert list(contents(tmp_path)) == ["memory.db"]


def test_a_new_file_is_as_if_every_migration_had_been_its_own(tmp_path: Path) -> None:
    for number in range(1, len(NEXT) + 1):
        create(tmp_path / "old.db", steps=NEXT[:number])
    create(tmp_path / "new.db", steps=NEXT)
    assert whole_database(tmp_path / "new.db") == whole_database(tmp_path / "old.db")


def test_a_store_in_memory_is_as_a_new_file(tmp_path: Path) -> None:
    create(tmp_path / "new.db", steps=NEXT)
    with (
        closing(Connection(None, steps=NEXT)) as memory,
        closing(sqlite3.connect(tmp_path / "copy.db")) as copy,
    ):
        memory.copy_to(copy)
    assert whole_database(tmp_path / "copy.db") == whole_database(tmp_path / "new.db")
    store = SqliteStore(None, steps=NEXT)
    assert remember(store, whole("a")) == 1
    store.close()


def test_existing_data_is_backed_up_before_it_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    before = fill(path)
    assert held_by(path, NEXT) == before
    assert (schema(path), schema(tmp_path / BACKUP)) == (LAST + 1, LAST)
    assert sorted(contents(tmp_path)) == ["memory.db", BACKUP]
    with pytest.raises(SchemaTooNew):
        SqliteStore(path)
    assert held_by(tmp_path / BACKUP) == before


def test_a_migration_runs_once(tmp_path: Path) -> None:
    fill(tmp_path / "memory.db")
    held_by(tmp_path / "memory.db", NEXT)
    after = contents(tmp_path)
    held_by(tmp_path / "memory.db", NEXT)
    assert contents(tmp_path) == after


@pytest.mark.parametrize("sql", FAILING.values(), ids=FAILING)
def test_a_migration_that_fails_changes_nothing(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "memory.db"
    before = fill(path)
    with pytest.raises(StoreError, match=r"bad failed|middle of a statement"):
        SqliteStore(path, steps=(*SHIPPED, Migration(LAST + 1, "bad", sql)))
    assert schema(path) == LAST
    assert held_by(path) == before


def test_a_backup_of_an_earlier_attempt_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path)
    with pytest.raises(StoreError):
        SqliteStore(path, steps=(*SHIPPED, Migration(LAST + 1, "bad", "DELETE FROM nowhere;\n")))
    store = SqliteStore(path)
    remember(store, whole("c"))
    before = dump(store)
    store.close()
    assert held_by(path, NEXT) == before
    assert held_by(tmp_path / BACKUP) == before


def test_without_a_backup_nothing_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    before = fill(path)
    (tmp_path / BACKUP).mkdir()
    with pytest.raises(StoreError, match="two failed and was rolled back"):
        SqliteStore(path, steps=NEXT)
    assert sorted(contents(tmp_path)) == ["memory.db"]
    assert held_by(path) == before


def test_a_migration_waits_for_a_writer_and_backs_up_what_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path)
    old = SqliteStore(path)
    with old.transaction():
        remember(old, whole("late"))
        with pytest.raises(Busy):
            SqliteStore(path, steps=NEXT, busy_timeout=0.05)
    old.close()
    assert schema(path) == LAST
    after = held_by(path, NEXT)
    assert len(after["memories"]) == 3  # type: ignore[arg-type]
    assert held_by(tmp_path / BACKUP) == after


@pytest.mark.slow
@pytest.mark.parametrize("make", [fill, id], ids=["an old file", "no file"])
def test_processes_that_open_a_file_at_once_migrate_it_once(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    path = tmp_path / "memory.db"
    make(path)
    gate = Gate.closed()

    def open_and_write(name: int) -> int:
        gate.wait()
        store = SqliteStore(path, steps=NEXT, busy_timeout=600)
        number = remember(store, whole(f"of {name}"), id=f"of {name}")
        store.close()
        return number

    children = [start(partial(open_and_write, name)) for name in range(4)]
    gate.open(4)
    numbers = sorted(child.result() for child in children)
    assert numbers[-1] - numbers[0] == 3
    holder = held_by(path, NEXT)
    assert len(holder["log"]) == numbers[-1]  # type: ignore[arg-type]
    assert schema(path) == LAST + 1


# From schema 1


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Two memories of monday in the namespace "mine": told, linked, weakened, forgotten, superseded, recalled."""
    make_schema_1(tmp_path / "memory.db")
    return tmp_path / "memory.db"


def opened(path: Path) -> Memory:
    clock = FixedClock(datetime(2026, 5, 2, tzinfo=UTC))
    return Memory.open(f"sqlite:///{path}", namespace="mine", embedder=HashedEmbedder(8), clock=clock)


def test_a_file_of_schema_1_holds_after_the_migration_what_it_held(old: Path) -> None:
    before = contents(old.parent)["memory.db"]
    with opened(old) as memory:
        assert [version.content for version in memory.history("office")] == [
            "The office is in Oslo.",
            "The office is in Bergen.",
        ]
        meeting = memory.get("meeting")
        assert (meeting.status, meeting.metadata, meeting.confidence) == ("forgotten", {"room": 4}, 1.0)
        (new,) = memory.links("office", relation="requires")
        assert (new.target, new.weight, new.given) == ("meeting", 0.3, True)
        assert [entry.kind for entry in memory.log()][::-1] == [
            *("remember", "remember", "link", "set-strength"),
            *("forget", "supersede", "forget", "undo"),
        ]
        assert [hit.memory.key for hit in memory.recall("where is the office").hits] == ["office"]
        assert memory.list(matching="Bergen") == [memory.get("office")]
        assert memory.stats().traces == 2
        assert memory.validate() == []
    backup = old.with_name("memory.db.schema-1.backup")
    assert (schema(old), schema(backup)) == (LAST, 1)
    assert rows_of_schema_1(backup) == rows_of_schema_1_in(before, old.with_name("before.db"))
    check_text_index(old)


def rows_of_schema_1_in(data: bytes, path: Path) -> list[str]:
    path.write_bytes(data)
    return rows_of_schema_1(path)


def rows_of_schema_1(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as raw:
        return [line for line in raw.iterdump() if line.startswith("INSERT")]


def test_an_operation_of_schema_1_can_be_undone_after_the_migration(old: Path) -> None:
    with opened(old) as memory:
        kinds = {entry.kind: entry.id for entry in memory.log() if entry.undone_by is None}
        memory.undo(kinds["forget"])
        assert memory.get("meeting").status == "active"
        memory.undo(kinds["set-strength"])
        assert [link.weight for link in memory.links("office", relation="requires")] == [0.7]
        memory.undo(kinds["supersede"])
        assert [version.content for version in memory.history("office")] == ["The office is in Oslo."]
        (redone,) = [entry.id for entry in memory.log() if entry.undone_by is None and entry.kind == "undo"][
            -1:
        ]
        memory.undo(redone)
        assert memory.get("office").status == "forgotten"
        assert memory.validate() == []


@pytest.mark.parametrize("undos", [1, 2, 3])
def test_what_was_redone_under_schema_1_counts_as_done(old: Path, undos: int) -> None:
    with closing(sqlite3.connect(old)) as raw, raw:
        ids = [item for (item,) in raw.execute("SELECT id FROM operations WHERE namespace = 'mine' LIMIT 4")]
        raw.execute("UPDATE operations SET undone_by = NULL")
        for undone, by in list(pairwise(ids))[:undos]:
            raw.execute("UPDATE operations SET undone_by = ? WHERE id = ?", (by, undone))
    store = SqliteStore(old)
    log = {entry.id: entry for entry in store.operations("mine")}
    # Each takes back the one before it, and the last of them stands: every second one is undone.
    standing = [ids[i + 1] if i < undos and (undos - i) % 2 else None for i in range(4)]
    assert [log[item].undone_by for item in ids] == standing
    assert [log[item].undoes for item in ids] == [(ids[i - 1],) if 0 < i <= undos else () for i in range(4)]
    store.close()


def test_a_recall_of_schema_1_is_kept_without_a_flow(old: Path) -> None:
    store = SqliteStore(old)
    (recall,) = store.rows("mine", Trace, session="tuesday", limit=100)
    assert mine(store).recall_of(recall.recall_id) == recall
    assert (recall.nodes, recall.flow, recall.cue["text"]) == ((), None, "where is the office")
    assert (store.rows("mine", VerdictRow), store.rows("mine", PairRow), store.rows("mine", RunRow)) == (
        [],
        [],
        [],
    )
    assert store.namespaces() == ["mine", "theirs"]
    store.close()


# From schema 2


@pytest.fixture
def second(old: Path) -> Path:
    """The same under schema 2, where a verdict used "office" for the second time."""
    SqliteStore(old, steps=SHIPPED[:2]).close()
    names = ("id", "key", "kind", "status", "priority", "weight", "uses", "last_used_at")
    names += ("helped", "failed", "confirmed", "followed", "overridden", "confidence")
    with closing(sqlite3.connect(old)) as raw, raw:
        row = f"SELECT {', '.join(names)} FROM memories WHERE namespace = 'mine' AND key = 'office'"
        before = raw.execute(row).fetchone()
        raw.execute(
            "UPDATE memories SET uses = 2, last_used_at = '2026-05-01T14:00:00.000000+00:00', confidence = 0.6"
            " WHERE namespace = 'mine' AND key = 'office'"
        )
        holder = {"fields": {"memories": names}, "rows": [["memories", before, raw.execute(row).fetchone()]]}
        raw.execute(
            "INSERT INTO operations (namespace, number, id, kind, at, source) VALUES"
            " ('mine', 9, 'praise', 'feedback', '2026-05-01T14:00:00.000000+00:00', 'conscious')"
        )
        raw.execute("INSERT INTO changes VALUES ('mine', 9, 0, ?)", (json.dumps(holder),))
        raw.execute("INSERT INTO touched SELECT namespace, id, 9 FROM memories WHERE key = 'office' LIMIT 1")
    return old


def test_a_memory_of_schema_2_was_never_reviewed_and_keeps_its_uses(second: Path) -> None:
    with opened(second) as memory:
        office = memory.get("office")
        assert office.retention == Retention()
        assert (office.use.uses, office.use.recent, office.confidence) == (2, (), 0.6)
        (hit,) = memory.recall("where is the office").hits
        assert 0 < hit.components["use"] < PRIMING.recall.use, "used, and nothing of it is forgotten"
        memory.feedback(used=["office"])
        assert memory.get("office").use.first_used_at == office.use.last_used_at
        assert memory.validate() == []
    backup = second.with_name("memory.db.schema-2.backup")
    assert (schema(second), schema(backup)) == (LAST, 2)


def test_a_verdict_of_schema_2_can_be_undone_after_the_migration(second: Path) -> None:
    with opened(second) as memory:
        memory.undo("praise")
        assert memory.get("office").use.uses == 0
        memory.undo(memory.log(limit=1)[0].id)
        assert (memory.get("office").use.uses, memory.get("office").confidence) == (2, 0.6)


def test_no_kill_in_the_middle_leaves_a_file_of_schema_1_that_cannot_be_opened(
    old: Path, tmp_path: Path
) -> None:
    def act(path: Path, begin: Callable[[], None]) -> None:
        begin()
        SqliteStore(path, synchronous="off")

    def look(path: Path) -> dict[str, object]:
        store = SqliteStore(path, synchronous="off")
        holder = dump(store)
        store.close()
        return holder

    left = everywhere(tmp_path, act, old)
    whole = look(left.paths[-1])
    assert left.statements > len(sql_statements(SHIPPED[1].sql))
    assert all(look(path) == whole for path in left.paths)
