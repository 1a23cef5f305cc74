"""Rows of a PostgreSQL store that something changed past its rules: they are named, and the rest can be saved."""

import psycopg
import pytest

from priming import Corrupt, HashedEmbedder, Memory

from . import server

pytestmark = pytest.mark.slow
HARMS = {
    "a time": ("UPDATE versions SET recorded_at = 'garbage' WHERE {lamps}", 'version 1 of memory "lamps"'),
    "a list": ("UPDATE versions SET tags = '[\"lamp' WHERE {lamps}", 'version 1 of memory "lamps"'),
    "a letter": ("UPDATE versions SET content = 'Lighthouse' WHERE {lamps}", 'version 1 of memory "lamps"'),
    "a kind": ("UPDATE memories SET kind = 'epicode' WHERE key = 'lamps'", 'memory "lamps"'),
    "a verdict": ("UPDATE verdicts SET verdict = 'bad'", 'verdict "bad" on memory "lamps"'),
    "the log": ("UPDATE changes SET rows = 'garbage' WHERE operation = 2", "log entry"),
}


@pytest.fixture
def place(postgres):
    url = f"{postgres}{'&' if '?' in postgres else '?'}schema=damage"
    with Memory.open(url, embedder=HashedEmbedder(32)) as memory:
        memory.remember("The harbour crane is blue", key="crane")
        memory.remember("Lighthouse lamps burn oil", key="lamps", tags=["light"])
        recall = memory.recall("which lamps burn oil?")
        memory.feedback(recall.recall_id, used=["lamps"])
    yield url
    server.clear(postgres, "damage")


def harm(postgres, sql):
    lamps = "memory = (SELECT number FROM memories WHERE key = 'lamps')"
    with psycopg.connect(server.as_superuser(postgres), autocommit=True) as connection:
        connection.execute("SET search_path TO damage")
        connection.execute("SET session_replication_role = replica")
        connection.execute(sql.format(lamps=lamps))


@pytest.mark.parametrize("name", HARMS)
def test_a_row_that_was_changed_is_named_and_the_rest_is_saved(postgres, place, tmp_path, name):
    sql, subject = HARMS[name]
    harm(postgres, sql)
    with Memory.open(place, embedder=HashedEmbedder(32)) as memory:
        damaged = [finding for finding in memory.validate() if finding.rule == "damaged-row"]
        assert any(subject in finding.subject for finding in damaged), damaged
        assert any(finding.rule == "damaged-row" for finding in memory.verify().findings)
        assert memory.get("crane").content == "The harbour crane is blue"
        memory.export(tmp_path / "whole.jsonl", salvage=True)
    with Memory.open("sqlite://", embedder=HashedEmbedder(32)) as saved:
        saved.import_(tmp_path / "whole.jsonl")
        assert "crane" in {record.key for record in saved.list()}


@pytest.mark.parametrize("name", ["a time", "a list"])
def test_what_reads_such_a_row_says_which_it_is(postgres, place, tmp_path, name):
    sql, subject = HARMS[name]
    harm(postgres, sql)
    with Memory.open(place, embedder=HashedEmbedder(32)) as memory:
        for read in (
            lambda: memory.get("lamps"),
            lambda: memory.export(tmp_path / "all.jsonl"),
            lambda: memory.list(),
        ):
            with pytest.raises(Corrupt, match=subject):
                read()


@pytest.mark.parametrize("name", HARMS)
def test_a_damaged_store_is_copied_as_it_is_and_put_back_from_a_backup(postgres, place, tmp_path, name):
    good, damaged, last = (tmp_path / f"{each}.db" for each in ("good", "damaged", "last"))

    def findings(memory):
        return [finding.subject for finding in memory.validate() if finding.rule == "damaged-row"]

    with Memory.open(place, embedder=HashedEmbedder(32)) as memory:
        memory.backup(good)
    harm(postgres, HARMS[name][0])
    with Memory.open(place, embedder=HashedEmbedder(32)) as memory:
        before = findings(memory)
        memory.restore_backup(good, previous=damaged)
        assert (findings(memory), memory.verify().findings) == ([], ())
        memory.restore_backup(damaged, previous=last)
        assert findings(memory) == before != []
