"""A store whose files are taken away, exchanged, open to others or read-only."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import ExitStack, closing

import pytest

from priming import HashedEmbedder, Memory, StoreError
from priming.config import adoption
from priming.storage.sqlite import presence
from priming.storage.sqlite.store import SqliteStore

from ..making import remember, whole
from ..processes import without_rights

EMBEDDER = HashedEmbedder()


def opened(path):
    return Memory.open(f"sqlite:///{path}", embedder=EMBEDDER)


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store" / "memory.db"
    with opened(path) as memory:
        memory.remember("The ferry leaves at noon", key="ferry")
    return path


def delete(path):
    path.unlink()


def move(path):
    path.rename(path.with_name("elsewhere.db"))


def delete_folder(path):
    shutil.rmtree(path.parent)


def exchange(path):
    with opened(path.with_name("other.db")) as other:
        other.remember("Another history")
    path.with_name("other.db").replace(path)


def copy_back(path):
    shutil.copy(path, path.with_name("copy.db"))
    path.with_name("copy.db").replace(path)


def delete_journal(path):
    path.with_name("memory.db-wal").unlink()


@pytest.mark.parametrize(
    ("write", "attack"),
    [
        *(
            ("remember", attack)
            for attack in (delete, move, delete_folder, exchange, copy_back, delete_journal)
        ),
        *((write, delete) for write in ("link", "forget", "supersede")),
    ],
)
def test_no_write_is_acknowledged_once_the_files_are_no_longer_those_of_that_name(store, attack, write):
    calls = {
        "remember": lambda memory: memory.remember("The ferry is late"),
        "link": lambda memory: memory.link("ferry", "pier", "near"),
        "forget": lambda memory: memory.forget("ferry"),
        "supersede": lambda memory: memory.supersede("ferry", "The ferry leaves at one"),
    }
    with opened(store) as memory:
        memory.remember("The pier is closed", key="pier")
        attack(store)
        for _ in range(2):
            with pytest.raises(StoreError, match="while it was open, so nothing can be stored in it"):
                calls[write](memory)


def test_a_file_that_vanishes_within_a_transaction_is_noticed_at_its_end(store):
    with opened(store) as memory, ExitStack() as stack:
        stack.enter_context(memory.store.transaction())
        memory.remember("Half of two")
        store.unlink()
        with pytest.raises(StoreError, match="was deleted or moved"):
            stack.close()


def test_a_store_that_is_opened_again_after_the_loss_goes_on(store):
    with opened(store) as memory:
        exchange(store)
        with pytest.raises(StoreError, match="was replaced by another file"):
            memory.remember("Lost")
    with opened(store) as memory:
        memory.remember("The tide is out", key="tide")
        assert [hit.memory.key for hit in memory.recall("tide").hits][:1] == ["tide"]


def test_a_store_behind_a_symbolic_link_is_written_to(store, tmp_path):
    (tmp_path / "link.db").symlink_to(store)
    with opened(tmp_path / "link.db") as memory:
        memory.remember("Through the link", key="through")
    with opened(store) as memory:
        assert memory.get("through").content == "Through the link"


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_all_files_of_a_store_are_its_users_alone(tmp_path, umask):
    project = tmp_path / "project"
    project.mkdir()
    project.chmod(0o755)
    database, former = project / ".priming" / "memory.db", os.umask(umask)
    try:
        with opened(database) as memory:
            memory.remember_many([{"content": f"Ledger entry {i}"} for i in range(300)])
            memory.backup()
            memory.backup(project / "mine" / "copy.db")
            memory.sleep(["light"])
            names = {path.name for path in database.parent.iterdir()}
            assert {"memory.db", "memory.db-wal", "memory.db-shm"} <= names
            modes = modes_below(project)
        assert list(database.parent.glob("*.working/*.snapshot"))
        modes |= modes_below(project)
    finally:
        os.umask(former)
    assert {path: mode for path, mode in modes.items() if mode not in ("d700", "f600")} == {}
    assert stat.S_IMODE(project.stat().st_mode) == 0o755


def modes_below(folder):
    """The modes of all below a folder, but for the file that lets git ignore it."""
    return {
        str(path): f"{'d' if path.is_dir() else 'f'}{stat.S_IMODE(path.stat().st_mode):o}"
        for path in folder.rglob("*")
        if path.name != ".gitignore"
    }


READER = """
import json, sys
from priming import HashedEmbedder, Memory, PrimingError
answers = {}
with Memory.open(f"sqlite:///{sys.argv[1]}", embedder=HashedEmbedder()) as memory:
    answers["recall"] = [hit.memory.key for hit in memory.recall("when does the ferry leave?").hits]
    answers["get"] = memory.get("ferry").content
    answers["log"] = len(list(memory.log()))
    answers["validate"] = [finding.rule for finding in memory.validate()]
    try:
        memory.remember("no")
    except PrimingError as error:
        answers["remember"] = str(error)
    print(json.dumps(answers), flush=True)
    if sys.stdin.readline():
        print(json.dumps([record.key for record in memory.list()]))
"""


def reading(path):
    return subprocess.Popen(
        [sys.executable, "-c", READER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=without_rights,
    )


@pytest.fixture
def read_only(store):
    with opened(store) as memory:
        memory.remember("The pier is closed", key="pier")
    paths = [store, store.parent]

    def lock(*more):
        for path in (*more, *paths):
            path.chmod(0o555 if path.is_dir() else 0o444)
        return store

    yield lock
    store.parent.chmod(0o755)


def check(answers):
    assert answers["recall"][0] == "ferry"
    assert (answers["get"], answers["log"]) == ("The ferry leaves at noon", 2)
    assert answers["validate"] == []
    assert "cannot be written: the file, its folder or the disk is read-only" in answers["remember"]


@pytest.mark.slow
def test_a_store_in_a_folder_that_cannot_be_written_is_read(read_only):
    path = read_only()
    before = path.read_bytes(), sorted(path.parent.iterdir())
    with reading(path) as child:
        check(json.loads(child.communicate("")[0]))
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == before


@pytest.mark.slow
def test_the_copy_of_a_store_with_its_journal_is_read_whole(store, tmp_path):
    copy = tmp_path / "copy" / "memory.db"
    copy.parent.mkdir()
    with opened(store) as memory:
        memory.remember("The pier is closed", key="pier")
        for name in ("memory.db", "memory.db-wal"):
            shutil.copy(store.with_name(name), copy.with_name(name))
    assert copy.with_name("memory.db-wal").stat().st_size
    copy.parent.chmod(0o555)
    try:
        with reading(copy) as child:
            check(json.loads(child.communicate("")[0]))
    finally:
        copy.parent.chmod(0o755)


@pytest.mark.slow
def test_a_reader_without_rights_sees_what_its_owner_writes_later(read_only):
    path = read_only()
    with reading(path) as child:
        check(json.loads(child.stdout.readline()))
        path.parent.chmod(0o755)
        path.chmod(0o644)
        with opened(path) as memory:
            memory.remember("The tide is out", key="tide")
        path.parent.chmod(0o555)
        assert json.loads(child.communicate("\n")[0]) == ["ferry", "pier", "tide"]


def test_a_reader_of_a_store_that_may_be_written_changes_nothing(store):
    with closing(presence.reader(store)) as reader, pytest.raises(sqlite3.OperationalError):
        reader.execute("DELETE FROM memories")


def test_a_journal_that_others_removed_before_the_store_was_open_is_not_missed(store):
    other = opened(store)
    other.remember("The tide is out")
    before = presence.OpenFiles.of(store)
    other.close()
    assert not store.with_name("memory.db-wal").exists()
    with opened(store) as memory:
        memory.remember("The tide is in")
        before.with_journal().check()


def test_a_store_that_was_just_made_is_opened_while_its_maker_writes(tmp_path):
    """Who opens it may find that nobody stamped it yet, and waits for its turn to do so as for any other write."""
    path, writing, written = tmp_path / "memory.db", threading.Event(), threading.Event()
    with closing(SqliteStore(path)) as store:
        remember(store, whole("a"))

        def write():
            with closing(SqliteStore(path)) as other, other.transaction():
                writing.set()
                written.wait(0.5)

        writer = threading.Thread(target=write)
        writer.start()
        writing.wait(30)
        status = path.stat()
        adoption.record(os.path.realpath(path), f"file {status.st_dev}:{status.st_ino}", adoption.YES)
        with closing(SqliteStore(path)) as second:
            assert second.place.exists
        written.set()
        writer.join()
