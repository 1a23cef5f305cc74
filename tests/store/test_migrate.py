"""Migrations: numbered, each whole or not at all, after a backup."""

from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path

import pytest

from priming.errors import Busy, SchemaTooNew, StoreError
from priming.store.migrate import Migration, migrations, statements
from priming.store.sqlite import SqliteStore

from .files import check_text_index, contents, schema
from .making import dump, remember, whole
from .processes import Gate, start

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
    held = dump(store)
    store.close()
    return held


def held_by(path: Path, steps: tuple[Migration, ...] = SHIPPED) -> dict[str, object]:
    store = SqliteStore(path, steps=steps, synchronous="off")
    held = dump(store)
    assert store.check("mine") == []
    store.close()
    check_text_index(path)
    return held


def test_migrations_are_numbered_by_their_names_without_gaps() -> None:
    assert [one.number for one in SHIPPED] == list(range(1, LAST + 1))
    assert [one.name[:3] for one in SHIPPED] == [f"{number:03}" for number in range(1, LAST + 1)]
    names = {file.name for file in resources.files("priming.store").joinpath("sql").iterdir()}
    assert names == {f"{one.name}.sql" for one in SHIPPED}


def test_a_script_is_taken_apart_at_the_ends_of_its_statements() -> None:
    script = (
        "-- why;\nCREATE TABLE a (\n x DEFAULT ';' -- no;\n);\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n"
    )
    script += "  DELETE FROM a;\nEND;\n"
    assert [one.split()[-1] for one in statements(script)] == [");", "END;"]
    with pytest.raises(StoreError, match="middle of a statement"):
        statements("CREATE TABLE a (x)\n")


def test_a_new_file_needs_no_backup(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "memory.db", steps=NEXT).close()
    assert list(contents(tmp_path)) == ["memory.db"]


def test_a_store_in_memory_is_migrated_too() -> None:
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


@pytest.mark.parametrize("make", [fill, id], ids=["an old file", "no file"])
def test_processes_that_open_a_file_at_once_migrate_it_once(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    path = tmp_path / "memory.db"
    make(path)
    gate = Gate.closed()

    def open_and_write(name: int) -> int:
        gate.wait()
        store = SqliteStore(path, steps=NEXT, busy_timeout=60)
        number = remember(store, whole(f"of {name}"), id=f"of {name}")
        store.close()
        return number

    children = [start(partial(open_and_write, name)) for name in range(4)]
    gate.open(4)
    numbers = sorted(child.result() for child in children)
    assert numbers[-1] - numbers[0] == 3
    held = held_by(path, NEXT)
    assert len(held["log"]) == numbers[-1]  # type: ignore[arg-type]
    assert schema(path) == LAST + 1
