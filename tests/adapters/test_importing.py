"""The importers of other memories' stores, on stores that these themselves wrote."""

import json
import warnings
from datetime import timedelta

import pytest

from priming.transfer.importers import recognised
from priming.transfer.run import run
from priming_adapters.langgraph import PrimingStore
from priming_adapters.mem0 import Memory as Mem0Memory

from .test_mem0 import DIALOGUE, mem0, original  # noqa: F401

pytestmark = pytest.mark.adapters


def contents(memory):
    return sorted(record.content for record in memory.list())


def follow(memory, name, path):
    """Import twice: the second time nothing is new."""
    report, again = run(memory, name, path), run(memory, name, path)
    assert (again.stored, again.changed, again.duplicates) == (0, 0, report.stored)
    return report


def test_a_store_of_langgraph(memory, tmp_path):
    from langgraph.store.sqlite import SqliteStore

    path = tmp_path / "store.db"
    with SqliteStore.from_conn_string(str(path)) as store:
        store.setup()
        store.put(("users", "ada"), "home", {"text": "Ada lives in Porto.", "sure": True})
        store.put(("users", "bo"), "likes", {"food": "soup"}, ttl=None)
    assert recognised(path) == "langgraph"
    assert follow(memory, "langgraph", path).stored == 2
    assert contents(memory) == ["Ada lives in Porto.", json.dumps({"food": "soup"})]
    with SqliteStore.from_conn_string(str(path)) as store:
        store.put(("users", "ada"), "home", {"text": "Ada lives in Braga."})
        store.delete(("users", "bo"), "likes")
    report = run(memory, "langgraph", path, prune=True)
    assert (report.stored, report.changed, report.gone, report.retired) == (0, 1, 1, 1)
    assert contents(memory) == ["Ada lives in Braga."]


def test_the_items_of_a_namespace_are_those_of_the_adapter(memory, clock, tmp_path):
    from langgraph.store.sqlite import SqliteStore

    ada, values = (
        ("users", "ada"),
        {"home": {"text": "Ada lives in Porto.", "sure": True}, "likes": {"food": 1}},
    )
    path = str(tmp_path / "store.db")
    with SqliteStore.from_conn_string(path, ttl={"default_ttl": 60}) as store:
        store.setup()
        for key, value in values.items():
            store.put(ada, key, value)
    ours = PrimingStore(memory, ttl={"omit_expired": True})
    run(ours.of("users.ada"), "langgraph", path, only="users.ada")
    assert {item.key: item.value for item in ours.search(ada)} == values
    assert ours.get(ada, "home").value == values["home"]
    ours.put(ada, "home", {"text": "Ada lives in Braga."})
    assert len(ours.search(ada)) == 2
    clock.at += timedelta(days=36_500)
    assert [item.key for item in ours.search(ada)] == ["home"]


def test_a_folder_of_chroma(memory, tmp_path, monkeypatch):
    monkeypatch.setenv("ANONYMIZED_TELEMETRY", "False")
    with warnings.catch_warnings(action="ignore"):
        import chromadb

        client = chromadb.PersistentClient(str(tmp_path / "chroma"))
        notes = client.create_collection("notes", embedding_function=None)
        values = {"city": "Porto", "n": 3, "f": 1.5, "ok": True, "tags": ["x", "y"]}
        notes.add(ids=["a"], documents=["Ada lives in Porto."], embeddings=[[1.0, 0.0]], metadatas=[values])
        notes.add(ids=["b"], embeddings=[[0.0, 1.0]])
        assert recognised(tmp_path / "chroma") == "chroma"
        report = follow(memory, "chroma", tmp_path / "chroma")
        assert (report.stored, report.refused) == (1, 1)
        assert memory.get("chroma:notes/a").metadata == {**values, "collection": "notes"}
        notes.update(ids=["a"], documents=["Ada lives in Braga."], embeddings=[[1.0, 0.0]])
        assert run(memory, "chroma", tmp_path / "chroma").changed == 1
        assert contents(memory) == ["Ada lives in Braga."]
        client._system.stop()


def test_a_folder_of_mem0_and_its_history(memory, mem0, tmp_path):  # noqa: F811
    with warnings.catch_warnings(action="ignore"):
        theirs = original(mem0, tmp_path)
        added = theirs.add(
            DIALOGUE, user_id="ada", run_id="monday", metadata={"topic": {"a": [1]}}, infer=False
        )
        first, second = (result["id"] for result in added["results"])
        theirs.update(first, "I live in Braga.")
        theirs.delete(second)
        theirs.add("Bo has a dog.", user_id="bo", infer=False)
        before = theirs.get(first)
        theirs.close()
        theirs.vector_store.client.close()
    assert recognised(tmp_path / "qdrant") == recognised(tmp_path / "history.db") == "mem0"
    assert follow(memory, "mem0", tmp_path / "qdrant").stored == 2
    record = memory.get(f"mem0:{first}")
    assert (record.content, record.speaker, record.session) == ("I live in Braga.", "Ada", "monday")
    assert record.metadata == {"user_id": "ada", "run_id": "monday", "role": "user", "topic": {"a": [1]}}
    ours = Mem0Memory(memory).get(first)
    assert {name: ours.get(name) for name in before} == before | {
        name: ours[name] for name in ("id", "created_at", "updated_at")
    }
    memory.store.clear("default")
    assert run(memory, "mem0", tmp_path / "history.db").stored == 2
    assert contents(memory) == ["Bo has a dog.", "I live in Braga."]
