"""The snapshot: it saves time, and is never believed where it should not be."""

import json
import os
import shutil
import zlib
from datetime import timedelta
from pathlib import Path

import pytest

from priming import HashedEmbedder, Memory
from priming.index.snapshot import load, save
from priming.index.working_set import WorkingSet

COUNT = 30


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """A tenth of what it usually takes is worth a snapshot."""
    monkeypatch.setattr("priming.index.snapshot._SNAPSHOT_AFTER", COUNT - 4)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "memory.db.working"


@pytest.fixture
def snapshot(open_memory, url, folder):
    """A closed store with enough in it to be worth a snapshot, and the snapshot's path."""
    memory = open_memory(url)
    memory.remember_many(
        {"content": f"filler note {i} about the wide sea", "session": f"s{i % 7}", "when": {"ci": True}}
        for i in range(COUNT)
    )
    memory.remember("Then Zed painted walls.", key="zed")
    memory.recall("walls")
    memory.close()
    (path,) = folder.iterdir()
    return path


def is_used(memory):
    """Whether the working set that the memory starts from came out of the snapshot."""
    return memory._snapshot.load().head > 0


def recalled(memory):
    cues = ("who painted walls", "the wide sea of note 7", "Zed")
    return [
        [(hit.memory.id, pytest.approx(hit.score, abs=1e-5)) for hit in memory.recall(x).hits] for x in cues
    ]


@pytest.mark.usefixtures("snapshot")
def test_a_snapshot_is_left_at_the_close_and_used_at_the_next_open(open_memory, url, folder):
    memory = open_memory(url)
    assert is_used(memory)
    with_it = recalled(memory)
    shutil.rmtree(folder)
    without = open_memory(url)
    assert not is_used(without)
    assert recalled(without) == with_it


def test_a_small_store_leaves_no_snapshot(open_memory, url, folder):
    memory = open_memory(url)
    memory.remember("Then Zed painted walls.")
    memory.recall("walls")
    memory.close()
    assert not folder.exists()


def test_a_single_text_of_many_words_is_worth_a_snapshot(open_memory, url):
    memory = open_memory(url)
    memory.remember(" ".join(f"word{i}" for i in range(COUNT * 50)))
    memory.recall("word7")
    memory.close()
    assert is_used(open_memory(url))


def test_a_store_in_memory_leaves_no_file(memory, tmp_path):
    memory.remember_many({"content": f"filler note {i}"} for i in range(COUNT))
    memory.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("snapshot")
def test_a_snapshot_is_brought_up_to_date_from_the_log(open_memory, url, folder):
    memory = open_memory(url)
    memory.remember("Here Zed slept on walls.", session="s1", key="new")
    memory.forget("zed")
    memory.supersede("filler-note-7-about-the-wide", "a note about seven walls")
    assert is_used(memory)
    later = open_memory(url)
    assert is_used(later)
    shutil.rmtree(folder)
    assert recalled(later) == recalled(memory) == recalled(open_memory(url))


def damaged(data):
    """Ways in which a snapshot can be no good, by name."""
    head, _, rest = data.partition(b"\n")
    body = rest[: int(head.split()[1])]
    facts = json.loads(body)

    def rewritten(**changes):
        new = json.dumps({**facts, **changes}).encode()
        return b"%08x %d\n" % (zlib.crc32(new), len(new)) + new + data[len(head) + 1 + len(body) :]

    return {
        "empty": b"",
        "cut short": data[: len(data) // 2],
        "cut by a byte": data[:-1],
        "longer": data + b"\0" * 64,
        "of another program": b"PK\x03\x04" + data[4:],
        "text": b"hello\nworld\n",
        "not even a head": b"\xff" * 1000,
        "of a flipped letter": data[:100] + bytes([data[100] ^ 1]) + data[101:],
        "of an endless length": b"00000000 99999999999999999999\n" + rest,
        "of a negative length": b"00000000 -5\n" + rest,
        "of no facts": b"00000000 0\n",
        "of a later format": rewritten(format=99),
        "of another version": rewritten(stamp={**facts["stamp"], "version": "9.9.9"}),
        "of another namespace": rewritten(stamp={**facts["stamp"], "namespace": "other"}),
        "of another embedder": rewritten(stamp={**facts["stamp"], "generation": "other/7"}),
        "of another operation": rewritten(stamp={**facts["stamp"], "operation": "other"}),
        "of the future": rewritten(stamp={**facts["stamp"], "head": 10**6}),
        "without a stamp": rewritten(stamp={}),
        "without arrays": rewritten(arrays={}),
        "of an unknown array": rewritten(arrays={**facts["arrays"], "ids": ["<f99", [1], 0]}),
    }


def test_a_snapshot_that_is_no_good_is_passed_over(open_memory, url, snapshot):
    whole = snapshot.read_bytes()
    expected = recalled(open_memory(url))
    for name, data in damaged(whole).items():
        snapshot.write_bytes(data)
        memory = open_memory(url)
        assert not is_used(memory), name
        assert recalled(memory) == expected, name
        memory._working = None
    snapshot.write_bytes(whole)
    assert is_used(open_memory(url))


def test_a_folder_in_its_place_is_passed_over(open_memory, url, snapshot):
    snapshot.unlink()
    snapshot.mkdir()
    memory = open_memory(url)
    assert memory.recall("who painted walls").hits
    memory.close()
    assert snapshot.is_dir()


@pytest.mark.usefixtures("snapshot")
def test_a_snapshot_is_not_used_for_another_file_that_took_its_place(open_memory, url, tmp_path):
    other = open_memory(f"sqlite:///{tmp_path}/other.db")
    other.remember_many({"content": f"another note {i} about deep snow"} for i in range(5))
    expected = recalled(other)
    other.close()
    for suffix in ("", "-wal", "-shm"):
        path = Path(f"{tmp_path}/other.db{suffix}")
        Path(f"{tmp_path}/memory.db{suffix}").unlink(missing_ok=True)
        if path.exists():
            path.rename(f"{tmp_path}/memory.db{suffix}")
    memory = open_memory(url)
    assert not is_used(memory)
    assert recalled(memory) == expected
    assert memory.recall("deep snow").hits[0].memory.content.startswith("another")


@pytest.mark.usefixtures("snapshot")
def test_a_snapshot_is_not_used_for_an_older_copy_of_its_file(open_memory, url, tmp_path):
    shutil.copy(tmp_path / "memory.db", tmp_path / "backup.db")
    memory = open_memory(url)
    memory.remember_many({"content": f"later note {i}"} for i in range(COUNT))
    memory.recall("note")
    memory.close()
    shutil.copy(tmp_path / "backup.db", tmp_path / "memory.db")
    memory = open_memory(url)
    assert not is_used(memory)
    assert memory.recall("later note", floor=0).hits[0].memory.content.startswith("filler")


@pytest.mark.usefixtures("snapshot")
def test_each_namespace_and_embedder_has_its_own(open_memory, url, folder):
    theirs = open_memory(url, namespace="theirs")
    theirs.remember_many({"content": f"their note {i}"} for i in range(COUNT))
    theirs.recall("note")
    theirs.close()
    assert len(list(folder.iterdir())) == 2
    assert is_used(open_memory(url))
    assert is_used(open_memory(url, namespace="theirs"))
    assert not is_used(open_memory(url, embedder=HashedEmbedder(32)))


def test_a_purge_drops_the_snapshot_and_what_an_interrupted_save_left(open_memory, url, snapshot, folder):
    (folder / f"{snapshot.name}.4711.partial").write_bytes(b"painted")
    memory = open_memory(url)
    memory.purge("zed")
    assert list(folder.iterdir()) == []
    hits = memory.recall("painted walls", ablate=["meaning"]).hits
    assert not any("painted" in hit.memory.content for hit in hits)


def test_a_folder_that_cannot_be_written_costs_no_more_than_time(open_memory, url, folder):
    folder.write_text("a file stands where the folder should be")
    memory = open_memory(url)
    memory.remember_many({"content": f"filler note {i}"} for i in range(COUNT))
    memory.close()
    assert len(open_memory(url).list(limit=1000)) == COUNT


def test_an_empty_working_set_can_be_kept_too(open_memory, embedder, tmp_path):
    store = open_memory().store
    save(WorkingSet(store, "default", embedder), tmp_path / "x", {"head": 0})
    again = WorkingSet(store, "default", embedder)
    assert load(again, tmp_path / "x", lambda stamp: stamp == {"head": 0})
    assert (again.rows, again.head) == (0, 0)


@pytest.mark.usefixtures("snapshot")
def test_predicates_days_sessions_and_versions_of_the_future_are_kept(embedder, clock, url):
    with Memory.open(url, embedder=embedder, clock=clock) as memory:
        memory.supersede("zed", "Then Zed painted doors.", valid_from=clock.at + timedelta(days=1))
        memory.remember_many({"content": f"more filler {i}"} for i in range(COUNT))
        memory.remember("The fair is on 9 May.")
        memory.recall("note")
    with Memory.open(url, embedder=embedder, clock=clock) as memory:
        working = memory._snapshot.load()
        assert [*working.named_days.values()] == [((509, 509),)]
        assert len(working.boundaries) == 1
        assert len(working.predicates) == COUNT
        assert len(working.conversations.codes) == 7
        clock.at += timedelta(days=2)
        assert memory.recall("what did Zed paint").hits[0].memory.content == "Then Zed painted doors."


def test_what_a_killed_process_left_of_its_snapshot_is_deleted_by_the_next(open_memory, url, snapshot):
    """A number beyond those that the system gives to processes belongs to none that lives."""
    dead, alive = (
        snapshot.with_name(f"{snapshot.name}.{number}.partial") for number in (2**31 - 1, os.getppid())
    )
    for remains in (dead, alive):
        remains.touch()
    memory = open_memory(url)
    memory.remember_many({"content": f"another note {i} about the sea"} for i in range(COUNT))
    memory.recall("sea")
    memory.close()
    assert (dead.exists(), alive.exists()) == (False, True)
