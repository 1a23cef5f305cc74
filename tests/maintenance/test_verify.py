"""Verification: silent about every honest store, and each kind of harm is named."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from priming import Cue, HashedEmbedder
from priming.config.variables import VERSION
from priming.core.arguments.arrays import unpacked
from priming.index.snapshot import SnapshotFile, save
from priming.storage.questions import StoredNamespace


@pytest.fixture(scope="module")
def life(open_shared):
    """A memory that went through much of what changes rows."""
    memory = open_shared()
    for number in range(6):
        memory.remember(
            f"Ada tuned violin {number} in Oslo.",
            key=f"violin-{number}",
            session="s",
            metadata={"n": number, "x": 1.0},
        )
    wrong = memory.remember("Bob tuned nothing.", key="bob")
    memory.undo(wrong.operation)
    memory.undo(memory.log(limit=1)[0].id)
    memory.supersede("bob", "Bob tuned the cello.")
    memory.link("bob", "violin-1", "hates", 0.7, sign=-1)
    recall = memory.recall("who tuned a violin")
    memory.feedback(
        recall.recall_id, used=[recall.hits[0].memory.key], not_relevant=[recall.hits[-1].memory.key]
    )
    memory.learn("Use gut strings.", wrong="Use steel strings.", cue=Cue(task="strings"))
    memory.merge("violin-2", "violin-3")
    memory.forget("violin-4")
    memory.purge("violin-5")
    memory.sleep()
    return memory


@pytest.fixture
def lived(life, copy_of, url):
    memory = copy_of(life, url)
    memory.working(memory.now())  # was read before anything was harmed
    return memory


def rules(memory):
    return sorted({finding.rule for finding in memory.verify().findings})


def change(url, *statements):
    """Change the file behind the back of the store."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as db, db:
        for statement in statements:
            db.execute(statement)


def test_a_store_that_was_only_used_is_verified(lived):
    verified = lived.verify()
    assert verified.findings == ()
    assert (verified.namespace, verified.operations) == ("default", lived.stats().operations)
    assert verified.rows > 30
    assert verified.vectors > 5


def test_an_empty_namespace_is_verified_with_the_reason(open_memory):
    verified = open_memory().verify()
    assert (verified.rows, verified.findings) == (0, ())
    assert verified.reason == 'there are no memories in "default"'


def test_a_store_put_back_from_a_backup_is_verified(lived, tmp_path):
    copy = lived.backup(tmp_path / "copy.db")
    lived.remember("Later.")
    lived.restore_backup(copy)
    lived.remember("Later still.")
    assert lived.verify().findings == ()


def test_imports_into_empty_and_other_namespaces_are_verified(lived, open_memory, tmp_path):
    lived.export(tmp_path / "all.jsonl")
    lived.export(tmp_path / "whole.jsonl", salvage=True)
    for file, first in (("all", None), ("all", "We sing."), ("whole", None)):
        other = open_memory()
        if first:
            other.remember(first)
        other.import_(tmp_path / f"{file}.jsonl")
        assert other.verify().findings == ()


@pytest.mark.parametrize(
    ("harm", "rule", "subject"),
    [
        (
            "DELETE FROM links WHERE relation = 'hates'",
            "lost-row",
            "links: bob violin-1 hates",
        ),
        ("DELETE FROM verdicts", "lost-row", "verdicts: "),
        (
            "INSERT INTO relations VALUES ('default', 'adores', 1, 1)",
            "unlogged-row",
            "relations: adores",
        ),
        (
            "UPDATE vectors SET checksum = NULL, vector = zeroblob(length(vector)) WHERE memory = 1",
            "bad-vector",
            "violin-0 version 1, hashed",
        ),
        (
            "UPDATE vectors SET checksum = NULL, vector = substr(vector, 5)"
            " WHERE memory = (SELECT max(memory) FROM vectors)",
            "bad-vector",
            "version 1, hashed",
        ),
    ],
)
def test_each_kind_of_harm_is_named(lived, url, harm, rule, subject):
    change(url, harm)
    verified = lived.verify()
    assert {finding.rule for finding in verified.findings} == {rule}
    assert any(subject in finding.subject for finding in verified.findings)
    assert all(finding.remedy for finding in verified.findings)


def test_a_text_that_was_changed_together_with_the_log_fails_its_digest(lived, url):
    change(
        url,
        "UPDATE versions SET content = replace(content, 'violin 0 in', 'violin 9 in'),"
        " gist = replace(gist, 'violin 0 in', 'violin 9 in')",
        "UPDATE changes SET rows = replace(rows, 'violin 0 in', 'violin 9 in')",
    )
    findings = lived.verify().findings
    assert [(finding.rule, finding.subject) for finding in findings if finding.rule == "digest"] == [
        ("digest", "version 1 of violin-0")
    ]


def test_what_cannot_be_read_is_all_that_is_reported(lived, url):
    change(url, "UPDATE links SET weight = 0.123 WHERE relation = 'hates'")
    assert rules(lived) == ["damaged-row"]


def test_findings_of_one_rule_are_counted_beyond_the_first_twenty(open_memory, url):
    memory = open_memory(url)
    memory.remember_many([{"content": f"note {number}", "key": f"k{number}"} for number in range(30)])
    change(url, "DELETE FROM vectors", "INSERT INTO relations SELECT 'default', key, 1, 1 FROM memories")
    unlogged = [finding for finding in memory.verify().findings if finding.rule == "unlogged-row"]
    assert len(unlogged) == 21
    assert unlogged[-1].subject.startswith("and ")


def test_a_working_set_on_disk_is_compared_with_the_rows(lived, open_memory, url):
    file, working = SnapshotFile(lived.store, "default", lived.embedder), lived.working(lived.now())
    stamp = {
        "namespace": "default",
        "generation": lived.embedder.generation,
        "version": VERSION,
        "head": working.head,
        "operation": StoredNamespace(lived.store, "default").operation_id(working.head),
    }
    save(working, file.path, stamp)
    lived.remember("Eve came later.")
    verified = lived.verify()
    assert (verified.snapshot, verified.findings) == (True, ())
    working.topology.weight[0] = 0.011
    working.remove(lived.get("violin-1").id)
    save(working, file.path, stamp)
    verified = open_memory(url).verify()
    assert {finding.rule for finding in verified.findings} == {"stale-snapshot"}
    assert any("lacks" in finding.subject for finding in verified.findings)
    file.path.unlink()
    assert lived.verify().findings == ()


def test_progress_counts_the_operations_of_the_log(open_memory):
    memory, steps = open_memory(embedder=HashedEmbedder(4)), []
    for number in range(3):
        memory.remember(f"note {number}")
    memory.verify(progress=lambda done, total: steps.append((done, total)))
    assert steps == [(3, 3)]


def test_a_namespace_is_verified_by_itself(open_memory, url):
    open_memory(url, namespace="ours").remember("We sing.")
    theirs = open_memory(url, namespace="theirs")
    theirs.remember("They sing.")
    change(url, "DELETE FROM links WHERE namespace = 'ours'", "DELETE FROM vectors WHERE namespace = 'ours'")
    assert theirs.verify().findings == ()


def test_a_text_that_is_indexed_by_other_words_is_named_in_a_file(open_memory, url):
    memory = open_memory(url)
    memory.remember("Ada moved to 大阪府.", key="ada")
    memory.remember("Bob stayed.", key="bob")
    for pairs in ("''", "'東京'", "NULL"):
        change(url, f"UPDATE versions SET bigrams = {pairs} WHERE content LIKE 'Ada moved%'")
        assert [(finding.rule, finding.subject) for finding in memory.verify().findings] == [
            ("stale-words", "version 1 of ada")
        ]
    change(url, "UPDATE versions SET bigrams = 'x'")
    assert {finding.subject for finding in memory.verify().findings} >= {
        "version 1 of ada",
        "version 1 of bob",
    }


def test_a_passage_whose_vector_is_none_is_named(memory):
    key = memory.remember("The strings were changed. " * 60, key="strings")
    ((version, packed),) = memory.stored_vectors(memory.embedder.generation)
    vectors = unpacked(packed)
    assert memory.verify().findings == ()
    harmed = replace(vectors, passages=vectors.passages * np.float32(1.5))
    memory.add_vectors(memory.embedder.generation, {version: harmed.packed()})
    (finding,) = memory.verify().findings
    assert (finding.rule, key.key in finding.subject) == ("bad-vector", True)
