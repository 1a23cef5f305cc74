"""A process that is killed at any statement leaves the state before or the state after."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from priming import FixedClock, HashedEmbedder, Memory
from priming.storage.protocol import Changes, Store
from priming.storage.rows import LinkRow, PairRow, RelationRow, RowChange, RunRow
from priming.storage.sqlite.files import Migration, migrations
from priming.storage.sqlite.store import SqliteStore

from ..crashing import Action, everywhere, killed_at
from ..making import (
    DAY,
    GENERATION,
    NOW,
    added,
    create,
    dump,
    every_row,
    link,
    memory,
    mine,
    operation,
    pair,
    remember,
    run,
    trace,
    vector,
    verdict,
    version,
    whole,
)
from .files import check_text_index, schema

LAST = len(migrations())
EMBEDDER = HashedEmbedder(8)
EMBEDDER.embed(["warm"])
CLOCK = FixedClock(NOW + DAY)
State = dict[str, Any]


def look(path: Path) -> State:
    """The whole state of a store, and that nothing is wrong with it."""
    store = SqliteStore(path, synchronous="off")
    try:
        assert store.check("mine") == []
        return named(dump(store))
    finally:
        store.close()
        check_text_index(path)


def named(state: State) -> State:
    """A state with keys and ordinals for ids, which are made at random."""
    names = {row.id: row.key for row in state["memories"]}
    orders = {item.id: item.number for item in state["log"]}

    def end(memory_id: str) -> str:
        return str(names.get(memory_id, "gone"))

    def row(item: Any) -> Any:
        if isinstance(item, (LinkRow, PairRow)):
            return replace(item, source=end(item.source), target=end(item.target))
        if isinstance(item, RunRow):
            return replace(item, shown=tuple(map(end, item.shown)))
        if isinstance(item, RelationRow):
            return item
        return item and replace(item, id=end(item.id))

    log = [
        replace(
            item,
            id=str(item.number),
            undone_by=str(orders.get(item.undone_by)),
            rows=tuple(RowChange(row(change.before), row(change.after)) for change in item.rows),
            erased=("gone",) * len(item.erased),
        )
        for item in state["log"]
    ]
    return {
        **state,
        "memories": [row(item) for item in state["memories"]],
        "versions": [row(item) for item in state["versions"]],
        **{name: [row(item) for item in state[name]] for name in ("links", "verdicts", "pairs", "runs")},
        "vectors": {(names[item], number): blob for (item, number), blob in state["vectors"].items()},
        "log": log,
    }


def killed_everywhere(folder: Path, act: Action, base: Path) -> int:
    """Look at what ``act`` leaves at every statement; how many there were. Nothing lies between before and after."""
    before = look(base)
    left = everywhere(folder, act, base)
    *killed, last = left.paths
    after = look(last)
    assert after != before
    for path in killed:
        assert look(path) in (before, after), f"killed at statement {path.parent.name}"
    return left.statements


def test_a_change_in_two_transactions_would_be_noticed(tmp_path: Path) -> None:
    def act(path: Path, begin: Callable[[], None]) -> None:
        store = SqliteStore(path, synchronous="off")
        begin()
        for name in "mn":
            remember(store, whole(name))

    with pytest.raises(AssertionError, match="killed at statement"):
        killed_everywhere(tmp_path, act, fill(tmp_path / "base.db"))


def fill(path: Path) -> Path:
    store = SqliteStore(path)
    remember(store, whole("a", "first words"), whole("b"), whole("c"), link("a", "b"), link("b", "c"), id="1")
    store.apply(operation([RowChange(link("a", "b"), link("a", "b", weight=0.6))], id="2"))
    remember(store, verdict("b", recall="r1"), pair("a", "b"), run("n", "a", "b"), id="2a")
    flowing = trace("r1", NOW, "a", nodes=("a", "b"), flow=b"flow")
    store.add_trace("mine", flowing, keep=9, keep_flows=9, not_before=NOW)
    passing = trace("r2", NOW, "b", nodes=("b", "a"), flow=b"flow")
    store.add_trace("mine", passing, keep=9, keep_flows=9, not_before=NOW)
    store.close()
    return path


def purge(store: Store) -> None:
    store.purge(Changes("mine", "3", "purge", NOW), ["a"])
    store.flush()


OLD = version("a", "first words")
WRITES: dict[str, Callable[[Store], Any]] = {
    "remember": lambda store: store.apply(
        operation(
            added(whole("n", "new words"), whole("m"), link("n", "m"), link("n", "a", "next")),
            id="3",
            vectors={("n", 1): vector(1.0), ("m", 1): vector(2.0)},
            generation=GENERATION,
        )
    ),
    "supersede": lambda store: store.apply(
        operation(
            [
                RowChange(OLD, replace(OLD, retired_at=NOW)),
                *added(
                    replace(OLD, revision=2, valid_to=NOW),
                    version("a", "again", version=2, revision=3, valid_from=NOW),
                ),
            ],
            id="3",
        )
    ),
    "undo": lambda store: store.apply(
        operation(
            [
                *(RowChange(row, None) for row in (link("b", "c"), *whole("c"))),
                RowChange(link("a", "b", weight=0.6), link("a", "b")),
            ],
            id="3",
            undoes=("2",),
        )
    ),
    "learning": lambda store: store.apply(
        operation(
            [
                *added(verdict("a", recall="r1"), pair("b", "c"), run("m", "c")),
                RowChange(pair("a", "b"), pair("a", "b", NOW, NOW + DAY)),
                RowChange(run("n", "a", "b"), run("n", "a", "b", settled="used")),
                RowChange(verdict("b", recall="r1"), None),
            ],
            id="3",
        )
    ),
    "purge": purge,
    "trace": lambda store: store.add_trace(
        "mine", trace("r3", NOW + DAY), keep=1, keep_flows=9, not_before=NOW + DAY
    ),
    "several in one transaction": lambda store: several(store),
    "vectors": lambda store: mine(store).add_vectors(
        GENERATION, {("a", 1): vector(8.0), ("b", 1): vector(9.0)}
    ),
}


def several(store: Store) -> None:
    with store.transaction():
        remember(store, whole("n"), id="3")
        store.apply(operation([RowChange(memory("a"), memory("a", status="forgotten"))], id="4"))


def writing(write: Callable[[Store], Any]) -> Action:
    def act(path: Path, begin: Callable[[], None]) -> None:
        store = SqliteStore(path, synchronous="off")
        begin()
        write(store)

    return act


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_of_the_store_is_whole_or_not_at_all(tmp_path: Path, write: Callable[[Store], Any]) -> None:
    assert killed_everywhere(tmp_path, writing(write), fill(tmp_path / "base.db")) >= 4


def test_a_restore_is_whole_or_not_at_all(tmp_path: Path) -> None:
    source = SqliteStore(fill(tmp_path / "source.db"))
    holder = dump(source)
    source.close()
    create(tmp_path / "base.db")

    def act(path: Path, begin: Callable[[], None]) -> None:
        store = SqliteStore(path, synchronous="off")
        begin()
        mine(store).fill(every_row(holder), holder["log"][::-1])

    assert killed_everywhere(tmp_path, act, tmp_path / "base.db") >= 10


def test_putting_back_a_backup_is_whole_or_not_at_all(tmp_path: Path) -> None:
    base, backup = fill(tmp_path / "base.db"), tmp_path / "backup.db"
    store = SqliteStore(base)
    store.backup(backup)
    remember(store, whole("later"), link("later", "a"))
    store.purge(Changes("mine", "p", "purge", NOW), ["b"])
    store.close()

    def act(path: Path, begin: Callable[[], None]) -> None:
        store = SqliteStore(path, synchronous="off")
        begin()
        store.restore_backup(backup, [operation(kind="restore-backup", id="r")])

    rest = backup.read_bytes()
    assert killed_everywhere(tmp_path, act, base) >= 30
    assert backup.read_bytes() == rest


def test_a_backup_is_whole_or_not_there(tmp_path: Path) -> None:
    base = fill(tmp_path / "base.db")

    def act(path: Path, begin: Callable[[], None]) -> None:
        store = SqliteStore(path, synchronous="off")
        begin()
        store.backup(path.with_name("backup.db"))

    left = everywhere(tmp_path, act, base)
    *killed, last = left.paths
    assert left.statements >= 1
    assert look(last.with_name("backup.db")) == look(base)
    for path in killed:
        assert not path.with_name("backup.db").exists() or look(path.with_name("backup.db")) == look(base)


def test_a_store_whose_making_was_cut_short_is_made_at_the_next_try(tmp_path: Path) -> None:
    def act(path: Path, begin: Callable[[], None]) -> None:
        begin()
        create(path)

    create(tmp_path / "empty.db")
    empty = look(tmp_path / "empty.db")
    left = everywhere(tmp_path, act, None)
    assert left.statements > len(migrations()[0].sql.split(";\n\n"))
    for path in left.paths:
        create(path)
        assert look(path) == empty


def test_a_migration_is_whole_or_not_at_all(tmp_path: Path) -> None:
    next_one = Migration(
        LAST + 1,
        "next",
        "CREATE TABLE two (x);\nINSERT INTO two VALUES (1);\nALTER TABLE traces RENAME COLUMN cue TO asked;\n",
    )
    steps = (*migrations(), next_one)
    base = fill(tmp_path / "base.db")
    before = look(base)

    def act(path: Path, begin: Callable[[], None]) -> None:
        begin()
        SqliteStore(path, steps=steps)

    for path in everywhere(tmp_path, act, base).paths:
        backup = path.with_name(f"memory.db.schema-{LAST}.backup")
        if schema(path) == LAST:
            assert look(path) == before
        else:
            assert (schema(path), look(backup)) == (LAST + 1, before)
        SqliteStore(path, steps=steps).close()
        assert (schema(path), look(backup)) == (LAST + 1, before)


@pytest.fixture
def remembered(tmp_path: Path) -> Path:
    """A store of a few memories, as the public verbs make it."""
    path = tmp_path / "base.db"
    with open_memory(path) as memory:
        memory.remember("Ada wrote the first program.", key="one", session="monday")
        memory.remember("Grace found a bug in relay.py.", key="two", session="monday", tags=["bug"])
        memory.remember("Ada and Grace never met.", key="three", kind="fact")
        memory.link("one", "three", "conflicts")
    return path


def open_memory(path: Path) -> Memory:
    return Memory.open(f"sqlite:///{path}", namespace="mine", embedder=EMBEDDER, clock=CLOCK)


VERBS: dict[str, Callable[[Memory], Any]] = {
    "remember": lambda memory: memory.remember(
        "Margaret wrote relay.py anew with Grace.", key="four", session="monday", speaker="Ada"
    ),
    "supersede": lambda memory: memory.supersede("two", "Grace found a moth in the relay."),
    "link": lambda memory: memory.link("two", "three", "my-own", 0.7),
    "undo": lambda memory: memory.undo(memory.log(limit=2)[1].id),
    "purge": lambda memory: memory.purge("two"),
}


def saying(verb: Callable[[Memory], Any]) -> Action:
    def act(path: Path, begin: Callable[[], None]) -> None:
        memory = open_memory(path)
        memory.validate()
        begin()
        verb(memory)

    return act


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_verb_is_whole_or_not_at_all(
    tmp_path: Path, remembered: Path, verb: Callable[[Memory], Any]
) -> None:
    assert killed_everywhere(tmp_path, saying(verb), remembered) >= 5


def check_killed(folder: Path, act: Action, base: Path) -> None:
    """Kill a real process in the middle of its statements and at the last one."""
    before = look(base)
    left = everywhere(folder, act, base)
    after = look(left.paths[-1])
    for number in {left.statements // 2, left.statements}:
        path = folder / f"killed-{number}" / "memory.db"
        path.parent.mkdir()
        path.write_bytes(base.read_bytes())
        assert killed_at(number, path, act)
        assert look(path) in (before, after)


@pytest.mark.slow
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_process_killed_in_a_write_leaves_it_whole_or_not_at_all(
    tmp_path: Path, write: Callable[[Store], Any]
) -> None:
    check_killed(tmp_path, writing(write), fill(tmp_path / "base.db"))


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_process_killed_in_a_verb_leaves_it_whole_or_not_at_all(
    tmp_path: Path, remembered: Path, verb: Callable[[Memory], Any]
) -> None:
    check_killed(tmp_path, saying(verb), remembered)
