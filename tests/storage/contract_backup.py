"""What every store does with backups of itself: all of it is copied, and all of it is put back."""

from pathlib import Path
from typing import Any

import pytest

from priming.errors import Conflict, Corrupt, ParamError, PrimingError, StoreError
from priming.storage.protocol import Changes, Store, Trace
from priming.storage.questions import StoredNamespace
from priming.storage.rows import MemoryRow

from .making import NOW, dump, link, operation, pair, remember, run, texts, trace, verdict, weights, whole


def fill_two(store: Store) -> None:
    """Two namespaces with something in every table."""
    for name in ("mine", "theirs"):
        rows = [
            *whole("a", "some wörds"),
            *whole("b"),
            link("a", "b"),
            verdict("a"),
            pair("a", "b"),
            run("n", "b"),
            weights("priming", date=0.5),
        ]
        remember(store, rows, id="first", namespace=name)
        rest = trace("r", NOW, "a", nodes=("a", "b"), flow=b"flow")
        store.add_trace(name, rest, keep=9, keep_flows=9, not_before=NOW)


def put_back(store: Store, path: Path) -> None:
    names = store.namespaces()
    store.restore_backup(path, [put_back_operation(name) for name in names])


def put_back_operation(name: str) -> Changes:
    return operation(kind="restore-backup", id="back", namespace=name)


def without_the_last(holder: dict[str, Any]) -> dict[str, Any]:
    """A dump as it was before the latest operation, which changed no row."""
    counts = {**holder["counts"], "log": holder["counts"]["log"] - 1}
    return {**holder, "log": holder["log"][1:], "counts": counts}


def test_a_backup_brings_back_every_namespace_as_it_was(store: Store, tmp_path: Path) -> None:
    fill_two(store)
    before = {name: dump(store, name) for name in ("mine", "theirs")}
    store.backup(tmp_path / "backup.db")
    remember(store, whole("c"), link("c", "a"))
    store.purge(Changes("mine", "p", "purge", NOW), ["b"])
    remember(store, whole("z"), namespace="theirs")
    put_back(store, tmp_path / "backup.db")
    for name, holder in before.items():
        assert without_the_last(dump(store, name)) == holder
        assert [item.id for item in StoredNamespace(store, name).page_of(NOW, words="wörds", limit=100)] == [
            "a"
        ]
        assert store.check(name) == []


def test_what_was_put_back_goes_on_from_a_number_that_was_never_given(store: Store, tmp_path: Path) -> None:
    remember(store, whole("a"), id="1")
    store.backup(tmp_path / "backup.db")
    for name in "bcd":
        remember(store, whole(name), id=name)
    assert store.head("mine") == 4
    put_back(store, tmp_path / "backup.db")
    assert store.head("mine") == 5
    assert [(entry.number, entry.kind) for entry in store.operations("mine", after=0)] == [
        (1, "remember"),
        (5, "restore-backup"),
    ]
    assert texts(store.operations("mine", after=4)) == ["back"]
    assert remember(store, whole("b"), id="b") == 6


def test_a_namespace_that_the_backup_lacks_is_empty_but_for_the_operation(
    store: Store, tmp_path: Path
) -> None:
    remember(store, whole("a"))
    store.backup(tmp_path / "backup.db")
    remember(store, whole("x"), namespace="late")
    put_back(store, tmp_path / "backup.db")
    assert [(entry.number, entry.kind) for entry in store.operations("late", after=0)] == [
        (2, "restore-backup")
    ]
    assert (store.rows("late", MemoryRow), store.rows("late", Trace, limit=100)) == ([], [])


def test_a_backup_can_be_put_back_into_another_store_of_the_same_kind(store: Store, tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    store.backup(empty)
    fill_two(store)
    full = tmp_path / "full.db"
    store.backup(full)
    holder = dump(store)
    put_back(store, empty)
    assert [store.rows(name, MemoryRow) for name in ("mine", "theirs")] == [[], []]
    put_back(store, full)
    assert without_the_last(dump(store)) == holder


def test_a_backup_replaces_no_file(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "backup.db"
    path.write_text("mine")
    with pytest.raises(Conflict, match="already exists"):
        store.backup(path)
    assert path.read_text() == "mine"


def test_a_backup_makes_the_folder_that_it_is_to_stand_in(store: Store, tmp_path: Path) -> None:
    store.backup(tmp_path / "one" / "two" / "backup.db")
    assert [path.name for path in (tmp_path / "one" / "two").iterdir()] == ["backup.db"]


def test_a_backup_to_where_nothing_can_be_written_leaves_nothing(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be created|cannot be written|could not be"):
        store.backup(tmp_path / "file" / "backup.db")
    assert not list(tmp_path.glob("*.partial"))


def test_a_backup_leaves_no_other_file_behind(store: Store, tmp_path: Path) -> None:
    remember(store, whole("a"))
    folder = tmp_path / "backups"
    store.backup(folder / "one.db")
    rest = (folder / "one.db").read_bytes()
    put_back(store, folder / "one.db")
    assert [path.name for path in folder.iterdir()] == ["one.db"]
    assert (folder / "one.db").read_bytes() == rest


NO_BACKUPS: dict[str, tuple[bytes | None, type[PrimingError], str]] = {
    "nothing": (None, ParamError, "names no file"),
    "an empty file": (b"", Corrupt, "is empty"),
    "a text": (
        b"hello, I am not a database at all, but I am long enough to look at\n" * 40,
        Corrupt,
        "not a Prim",
    ),
}


@pytest.mark.parametrize(("content", "error", "words"), NO_BACKUPS.values(), ids=NO_BACKUPS)
def test_what_is_no_backup_changes_nothing(
    store: Store, tmp_path: Path, content: bytes | None, error: type[PrimingError], words: str
) -> None:
    fill_two(store)
    before = dump(store)
    path = tmp_path / "other.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=words):
        put_back(store, path)
    assert dump(store) == before
    assert not path.exists() or path.read_bytes() == content


def test_a_backup_that_was_cut_short_changes_nothing(store: Store, tmp_path: Path) -> None:
    fill_two(store)
    path = tmp_path / "backup.db"
    store.backup(path)
    remember(store, whole("c"))
    before = dump(store)
    whole_file = path.read_bytes()
    path.write_bytes(whole_file[: len(whole_file) // 2])
    with pytest.raises(Corrupt, match=r"damaged or truncated|damaged"):
        put_back(store, path)
    assert dump(store) == before


def test_a_folder_is_no_backup(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ParamError, match="names no file"):
        put_back(store, tmp_path)


def test_a_backup_is_put_back_with_its_operations_or_not_at_all(store: Store, tmp_path: Path) -> None:
    fill_two(store)
    store.backup(tmp_path / "backup.db")
    remember(store, whole("c"))
    before = dump(store)
    with pytest.raises(Conflict):
        store.restore_backup(tmp_path / "backup.db", [operation(id="first")])
    assert dump(store) == before
