"""Bits that flip within a row: the row is named wherever it is read, and the rest can be read."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from priming import Corrupt, HashedEmbedder, Memory
from priming.storage.protocol import TokenRow
from priming.storage.rows import VectorRow

EMBEDDER = HashedEmbedder()


def opened(path):
    return Memory.open(f"sqlite:///{path}", embedder=EMBEDDER)


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        memory.remember("The harbour crane is blue", key="crane", tags=["harbourtag"])
        memory.remember("Lighthouse lamps burn oil", key="lamps", tags=["lamptag"], metadata={"lampfield": 1})
        memory.remember("Gulls nest on the roof", key="gulls")
        memory.link("crane", "gulls", "beside")
    return path


FLIPS = {
    "text": (b"lamps burn oil", 6, 0x80, "version 1 of memory"),
    "list": (b'["lamptag"]', 0, 0x01, "version 1 of memory"),
    "mapping": (b'{"lampfield"', 0, 0x40, "version 1 of memory"),
    "kind": (b"lampsepisode", 7, 0x02, "memory"),
    "kind, no text": (b"lampsepisode", 7, 0x80, "memory"),
}


def flip(path, place, offset, bit):
    """Flip a bit wherever a piece of a row is stored; what is beside the file is removed."""
    content = bytearray(path.read_bytes())
    start = content.find(place)
    assert start >= 0
    while start >= 0:
        content[start + offset] ^= bit
        start = content.find(place, start + 1)
    path.write_bytes(content)
    shutil.rmtree(f"{path}.working", ignore_errors=True)


READS = {
    "get": lambda memory: memory.get("lamps"),
    "recall": lambda memory: memory.recall("which lamps burn?"),
    "export": lambda memory: memory.export(Path(memory.store.place.name).with_name("export.jsonl")),
    "remember": lambda memory: memory.remember("The tide is out"),
}


@pytest.mark.parametrize("name", FLIPS)
def test_what_reads_the_row_names_it_and_what_does_not_goes_on(store, name):
    place, offset, bit, subject = FLIPS[name]
    flip(store, place, offset, bit)
    with opened(store) as memory:
        for read in READS.values():
            with pytest.raises(Corrupt, match=f'{subject} "lamps": .* in it is not') as error:
                read(memory)
            assert "priming export --salvage" in str(error.value)
        assert memory.get("crane").content == "The harbour crane is blue"
        findings = {finding.subject for finding in memory.validate() if finding.rule == "damaged-row"}
        assert f'{subject} "lamps"' in findings


def test_a_time_of_the_log_that_cannot_be_read_is_named(store):
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE operations SET at = 'r' || substr(at, 2) WHERE number = 2")
        connection.commit()
    with (
        opened(store) as memory,
        pytest.raises(Corrupt, match=r"log entry \".*\": a value in it is not of its type"),
    ):
        memory.log()


@pytest.mark.parametrize("name", FLIPS)
def test_a_salvage_has_all_but_the_damaged_memory(store, tmp_path, name):
    flip(store, *FLIPS[name][:3])
    with opened(store) as memory:
        memory.export(tmp_path / "whole.jsonl", salvage=True)
    with opened(tmp_path / "new.db") as memory:
        memory.import_(tmp_path / "whole.jsonl")
        assert {record.key for record in memory.list()} == {"crane", "gulls"}
        assert memory.get("crane").tags == ("harbourtag",)
        assert [link.target for link in memory.links("crane", relation="beside")] == ["gulls"]
        assert memory.validate() == []


def test_a_letter_that_became_another_is_found_as_the_log_has_the_former(store, tmp_path):
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE versions SET content = replace(content, 'oil', 'oim')")
    with opened(store) as memory:
        (finding,) = (finding for finding in memory.validate() if finding.rule == "damaged-row")
        assert finding.subject == 'version 1 of memory "lamps"'
        assert "not those that the log has" in finding.detail
        memory.export(tmp_path / "whole.jsonl", salvage=True)
    assert "oim" not in (tmp_path / "whole.jsonl").read_text("utf-8")


def test_a_damaged_log_entry_is_named_and_the_memories_are_read(store):
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE changes SET rows = cast(replace(rows, 'burn', x'62ff726e') AS TEXT)")
    with opened(store) as memory:
        assert memory.get("lamps").content == "Lighthouse lamps burn oil"
        with pytest.raises(Corrupt, match=r'log entry ".*": a text in it is not UTF-8'):
            list(memory.log())


def test_a_whole_store_is_salvaged_whole(store, tmp_path):
    with opened(store) as memory:
        number = memory.export(tmp_path / "all.jsonl")
        assert memory.export(tmp_path / "whole.jsonl", salvage=True) == number
    lines = [
        {
            line
            for line in (tmp_path / name).read_text("utf-8").splitlines()
            if "operation" not in json.loads(line)
        }
        for name in ("all.jsonl", "whole.jsonl")
    ]
    assert lines[0] == lines[1]


def test_what_leads_to_a_memory_that_is_not_there_is_named(store):
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("UPDATE links SET target = target + 64 WHERE relation = 'beside'")
    with opened(store) as memory:
        with pytest.raises(
            Corrupt, match=r'link "beside" from "crane" to memory number \d+: a memory that it'
        ):
            memory.links("crane")
        subjects = [finding.subject for finding in memory.validate() if finding.rule == "damaged-row"]
    assert len(subjects) == 1
    assert subjects[0].startswith('link "beside" from "crane" to memory number')


def test_a_key_that_a_flip_changed_is_named_twice_as_what_there_is_and_what_is_missing(store):
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE links SET relation = 'besidf' WHERE relation = 'beside'")
    with opened(store) as memory:
        findings = {
            finding.subject: finding.detail for finding in memory.validate() if finding.rule == "damaged-row"
        }
    assert findings == {
        'link "besidf" from "crane" to "gulls"': "the row is damaged: the log does not have it",
        'link "beside" from "crane" to "gulls"': "the row is damaged: the log has it, and it is not in the store",
    }


def test_a_value_of_another_type_is_named(store):
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ') STRICT', ')') WHERE name = 'versions'"
        )
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE versions SET gist = cast(gist AS blob) WHERE content LIKE 'Gulls%'")
    with opened(store) as memory, pytest.raises(Corrupt, match='version 1 of memory "gulls": a value in it'):
        memory.export(Path(memory.store.place.name).with_name("export.jsonl"))


def test_a_token_is_named(store):
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            "INSERT INTO tokens (id, namespace, digest, created_at) VALUES ('t1', 'default', x'00', '2O26')"
        )
    with (
        opened(store) as memory,
        pytest.raises(Corrupt, match='token "t1": a value in it is not of its type'),
    ):
        memory.store.rows(None, TokenRow)


def test_a_flip_in_a_vector_is_named_and_the_vector_is_computed_anew(store):
    with closing(sqlite3.connect(store)) as connection:
        ((vector,),) = connection.execute(
            "SELECT vector FROM vectors JOIN memories ON number = memory WHERE key = 'gulls'"
        )
    cue = "where do gulls nest?"
    with opened(store) as memory:
        before = [(hit.memory.key, hit.score) for hit in memory.recall(cue).hits]
    flip(store, vector, len(vector) // 2, 0x01)
    subject = 'vector of version 1 of memory "gulls"'
    with opened(store) as memory:
        with pytest.raises(Corrupt, match=f"{subject}: .*priming reembed"):
            memory.recall(cue)
        assert subject in {finding.subject for finding in memory.validate()}
        assert memory.get("gulls").content == "Gulls nest on the roof"
        with pytest.raises(Corrupt, match=subject):
            list(memory.store.part("default", VectorRow))
        assert memory.reembed() == 1
        assert [(hit.memory.key, hit.score) for hit in memory.recall(cue).hits] == before
        assert memory.validate() == []


def test_vectors_of_earlier_schemas_have_no_checksum_and_are_read(store):
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE vectors SET checksum = NULL")
    with opened(store) as memory:
        assert memory.recall("where do gulls nest?").hits
        assert memory.validate() == []


def leaves(content, page, size=4096):
    """The leaf pages of a table, from the file format of SQLite."""
    start = (page - 1) * size
    if content[start] in (10, 13):
        return [page]
    cells = int.from_bytes(content[start + 3 : start + 5], "big")
    places = (
        int.from_bytes(content[start + 12 + 2 * i : start + 14 + 2 * i], "big") + start for i in range(cells)
    )
    children = [int.from_bytes(content[place : place + 4], "big") for place in places]
    children.append(int.from_bytes(content[start + 8 : start + 12], "big"))
    return [leaf for child in children for leaf in leaves(content, child, size)]


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    """A closed file of 500 notes, without a journal."""
    path = tmp_path_factory.mktemp("notes") / "memory.db"
    with opened(path) as memory:
        memory.remember_many([{"content": f"Note {i} on the harbour", "key": f"k{i}"} for i in range(500)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "most_lost"),
    [("memories", 60), ("versions", 60), ("links", 0), ("vectors", 0), ("changes", 0), ("operations", 0)],
)
def test_a_salvage_has_all_that_lies_around_a_damaged_page(notes, tmp_path, table, most_lost):
    path = tmp_path / "memory.db"
    shutil.copy(notes, path)
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,))
    content = bytearray(path.read_bytes())
    pages = leaves(content, root)
    content[(pages[len(pages) // 2] - 1) * 4096] ^= 0x40
    path.write_bytes(content)
    with opened(path) as memory:
        assert any(finding.rule == "integrity" for finding in memory.validate())
        memory.export(tmp_path / "whole.jsonl", salvage=True)
    with opened(tmp_path / "saved.db") as memory:
        memory.import_(tmp_path / "whole.jsonl")
        keys = {record.key for record in memory.list(limit=1000) if record.kind == "episode"}
    assert len(keys) >= 500 - most_lost
