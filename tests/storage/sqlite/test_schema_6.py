"""A store that an earlier version wrote under schema 6 is opened, read, changed, undone and exported."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from priming import Cue, FixedClock, HashedEmbedder, Memory, NotFound
from priming.core.arguments.arrays import unpacked
from priming.index.document import passage_ends
from priming.storage.questions import StoredNamespace
from priming.storage.sqlite.files import migrations

from .files import check_text_index, make_store, schema

LEAST = timedelta(microseconds=1)
CLOCK = FixedClock(datetime(2026, 10, 2, tzinfo=UTC))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Facts, failures, rules, a pack, verdicts, a run, a merge, a night, two sessions of the loop, two tokens."""
    make_store(tmp_path / "memory.db", 6)
    return tmp_path / "memory.db"


def open_store(path: Path | None) -> Memory:
    url = "sqlite://" if path is None else f"sqlite:///{path}"
    return Memory.open(url, namespace="mine", embedder=HashedEmbedder(8), clock=CLOCK)


def test_it_is_migrated_and_sound(path: Path) -> None:
    with open_store(path) as memory:
        assert memory.validate() == []
        verified = memory.verify()
        assert (verified.operations, verified.findings) == (27, ())
        assert memory.stats().operations == len(memory.log(limit=1000)) == 27
        assert {(operation.actor, operation.via) for operation in memory.log(limit=1000)} == {("user", None)}
    assert schema(path) == len(migrations())
    assert "memory.db.schema-6.backup" in [file.name for file in path.parent.glob("*.backup")]
    check_text_index(path)


def test_its_memories_are_recalled_with_what_they_learned(path: Path) -> None:
    with open_store(path) as memory:
        recall = memory.recall("where is the office")
        assert recall.hits[0].memory.content == "The office is in Bergen."
        assert recall.hits[0].memory.use.helped == 1
        assert [version.content for version in memory.history("office")] == [
            "The office is in Oslo.",
            "The office is in Bergen.",
        ]
        (link,) = memory.links("office", relation="requires")
        assert (link.target, link.given) == ("meeting", True)
        (run,) = memory.run_list()
        assert (run.settled, run.shown) == ("used", ("meeting", "office", "move"))
        assert memory.list(matching="大阪府") == [memory.get("move")]


@pytest.mark.parametrize("number", [1, 6])
def test_it_tells_what_was_known_and_true_at_other_times(tmp_path: Path, number: int) -> None:
    make_store(tmp_path / "memory.db", number)
    answer, changed = (datetime(2026, 5, 1, hour, tzinfo=UTC) for hour in (12, 13))
    before, after = "The office is in Oslo.", "The office is in Bergen."
    with open_store(tmp_path / "memory.db") as memory:
        versions = [
            (version.content, version.recorded_at, version.retired_at, version.valid_from, version.valid_to)
            for version in memory.history("office")
        ]
        assert versions == [(before, answer, changed, None, changed), (after, changed, None, changed, None)]
        for at, text in ((answer, before), (changed - LEAST, before), (changed, after)):
            for times in ({"known_at": at}, {"valid_at": at}):
                assert memory.as_of("office", **times).content == text
                (hit,) = memory.recall("where is the office", limit=1, **times).hits
                assert (hit.memory.content, hit.memory.recorded_at) == (
                    text,
                    answer if text == before else changed,
                )
        with pytest.raises(NotFound):
            memory.as_of("office", known_at=answer - LEAST)
        filters = {"recorded_at": {"lt": changed}}
        old = memory.recall("where is the office", filters=filters, include_superseded=True).hits
        assert (before, changed) in [(hit.memory.content, hit.memory.retired_at) for hit in old]
        move = next(move for move in memory.diff(answer, changed).memories if move.key == "office")
        assert (move.what, move.before, move.after, move.at) == ("superseded", before, after, changed)


def test_its_behaviours_and_packs_are_active(path: Path) -> None:
    with open_store(path) as memory:
        active = memory.active(Cue(task="release"))
        assert [hit.memory.key for hit in active.hits] == [
            "run-the-tests-before-pushing",
            "habits/sign-every-commit",
            "use-tabs-in-makefiles",
        ]
        assert memory.get("run-the-tests-before-pushing").use.confirmed == 1
        assert [pack.name for pack in memory.pack_list()] == ["habits"]


def test_its_operations_can_be_undone(path: Path) -> None:
    with open_store(path) as memory:
        for kind in ("sleep", "merge", "feedback", "pack-install", "supersede"):
            logged = next(
                entry for entry in memory.log(limit=1000) if entry.kind == kind and not entry.undone_by
            )
            memory.undo(logged.id)
        assert memory.get("office").content == "The office is in Oslo."
        assert memory.get("office-2").status == "active"
        assert memory.pack_list() == []
        assert memory.validate() == []


def test_it_can_be_exported_and_read_elsewhere(path: Path, tmp_path: Path) -> None:
    with open_store(path) as memory, open_store(None) as other:
        memory.export(tmp_path / "first.jsonl")
        other.import_(tmp_path / "first.jsonl")
        other.export(tmp_path / "second.jsonl")
        assert other.history("office") == memory.history("office")
        assert other.links() == memory.links()
    assert (tmp_path / "first.jsonl").read_bytes() == (tmp_path / "second.jsonl").read_bytes()


def test_a_memory_of_it_can_be_purged(path: Path) -> None:
    with open_store(path) as memory:
        receipt = memory.purge("meeting")
        assert (receipt.erased["links"], receipt.erased["verdicts"], receipt.erased["traces"]) == (5, 1, 2)
        assert memory.validate() == []


def test_a_long_text_whose_vector_had_no_passages_is_embedded_anew(path: Path) -> None:
    long = "The violin was tuned again. " * 60
    with closing(sqlite3.connect(path)) as file, file:
        (number,) = file.execute("SELECT max(memory) FROM vectors").fetchone()
        file.execute("UPDATE versions SET content = ? WHERE memory = ?", (long, number))
        (before,) = file.execute("SELECT count(*) FROM vectors").fetchone()
    with open_store(path) as memory:
        stored = dict(StoredNamespace(memory.store, "mine").stored_vectors(memory.embedder.generation))
        assert len(stored) == before - 1
        memory.reembed()
        texts = dict(StoredNamespace(memory.store, "mine").stored_vectors(memory.embedder.generation))
        assert any(unpacked(texts[key]).ends == passage_ends(long) for key in texts.keys() - stored.keys())
