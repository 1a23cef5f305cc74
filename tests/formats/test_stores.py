"""The stores of other memories: read without their programs, followed, and never trusted."""

from __future__ import annotations

import os
import pickle
import sqlite3
import tracemalloc
from contextlib import closing, suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.errors import ParamError
from priming.transfer.importers import formats, recognised
from priming.transfer.run import run
from priming_formats.stores.pickled import model_fields

from .stores import chroma, claude_mem, history, langgraph, notes, qdrant

STORES = {
    "chroma": lambda folder, text="Ada lives in Porto.": chroma(folder / "c", ("notes", "a", text, {"n": 1})),
    "claude-mem": lambda folder, text="Sign-in fixed": claude_mem(folder / "x.db", text),
    "langgraph": lambda folder, text="Ada lives in Porto.": langgraph(
        folder / "x.db", ("users.ada", "home", {"text": text})
    ),
    "mem0": lambda folder, text="Ada lives in Porto.": qdrant(
        folder / "q", ("id-1", {"data": text, "user_id": "ada"})
    ),
}
every_store = pytest.mark.parametrize("name", STORES)
NOTE = """---
title: Coffee
type: note
permalink: drinks/coffee
tags: [morning]
created: 2026-03-01
---
It keeps Ada awake.

## Observations
- [method] Pour over gives clarity #brewing (from Ada)
- [ ] Buy beans

## Relations
- grown_in [[Ethiopia]]
- "pairs well with" [[Chocolate]]
- Worth checking out [[Ethiopia]]
"""


def contents(memory, **which):
    return {record.key: record.content for record in memory.list(**which)}


def only(memory):
    (record,) = memory.list()
    return record


def ties(memory, *relations):
    return {
        (link.source, link.relation, link.target)
        for name in relations
        for link in memory.links(relation=name)
    }


@every_store
def test_a_store_is_recognised_by_its_tables(name, tmp_path):
    assert recognised(STORES[name](tmp_path)) == name


@every_store
def test_a_store_is_read_once_and_left_as_it_is(name, tmp_path, memory):
    path = STORES[name](tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    first = run(memory, name, path)
    again = run(memory, name, path)
    assert first.stored >= 1
    assert (first.refused, again.stored, again.changed, again.duplicates) == (0, 0, 0, first.stored)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


@every_store
def test_a_store_that_changed_is_followed(name, tmp_path, memory):
    first = run(memory, name, STORES[name](tmp_path))
    report = run(memory, name, STORES[name](tmp_path, "She moved to Braga."))
    assert (report.stored, report.changed, report.gone, report.refused) == (0, 1, 0, 0)
    assert len(contents(memory)) == first.stored


@every_store
def test_a_database_of_something_else_is_refused_by_the_table_that_it_lacks(name, tmp_path, memory):
    with closing(sqlite3.connect(tmp_path / "x.db")) as opened:
        opened.execute("CREATE TABLE unrelated (id)")
    path = tmp_path / "x.db"
    assert [each for each, form in formats().items() if form.fits(path)] == []
    with pytest.raises(ParamError, match="must be a database with the table"):
        run(memory, name, path)


@every_store
@pytest.mark.parametrize(
    "damage", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + bytes(4080), b"Dear diary"]
)
def test_what_is_no_database_is_refused(name, damage, tmp_path, memory):
    path = tmp_path / "x.db"
    path.write_bytes(damage)
    assert [each for each, form in formats().items() if form.fits(path)] == []
    with pytest.raises(ParamError, match=r"x\.db"):
        run(memory, name, path)


def test_what_a_running_program_has_just_written_is_read_and_followed(tmp_path, memory):
    path = langgraph(tmp_path / "x.db", ("users", "a", {"text": "Ada lives in Porto."}))
    with closing(sqlite3.connect(path)) as running:
        running.execute("PRAGMA journal_mode = WAL")
        run(memory, "langgraph", path)
        running.execute("UPDATE store SET value = ?", ['{"text": "Ada lives in Braga."}'])
        running.commit()
        assert run(memory, "langgraph", path).changed == 1
    assert contents(memory) == {"langgraph:users/a": "Ada lives in Braga."}


def test_a_view_is_no_table(tmp_path):
    path = langgraph(tmp_path / "x.db")
    with closing(sqlite3.connect(path)) as opened:
        opened.executescript("DROP TABLE store; CREATE VIEW store AS SELECT 1 AS prefix")
    with pytest.raises(ParamError, match="no format"):
        recognised(path)


def test_an_item_of_langgraph_is_its_text_or_its_value_and_keeps_the_rest(tmp_path, memory):
    path = langgraph(
        tmp_path / "x.db",
        ("users.ada", "home", {"text": "Ada lives in Porto.", "sure": True}),
        ("users.ada", "likes", {"food": "soup"}),
    )
    run(memory, "langgraph", path)
    assert contents(memory) == {
        "langgraph:users.ada/home": "Ada lives in Porto.",
        "langgraph:users.ada/likes": '{"food": "soup"}',
    }
    record = memory.get("langgraph:users.ada/home")
    assert (record.metadata["sure"], record.metadata["namespace"]) == (True, "users.ada")
    assert (record.kind, record.trust) == ("fact", "agent")
    assert record.occurred_at == datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_an_item_of_a_namespace_that_alone_is_read_has_its_own_key(tmp_path, memory):
    items = ("users.ada", "home", {"city": "Porto"}), ("users.ada.old", "home", {"city": "Braga"})
    run(memory, "langgraph", langgraph(tmp_path / "x.db", *items), only="users.ada")
    assert contents(memory).keys() == {"home", "langgraph:users.ada.old/home"}


def test_an_item_of_langgraph_that_has_expired_is_left_out_and_an_empty_value_named(tmp_path, memory):
    path = langgraph(
        tmp_path / "x.db",
        ("users", "old", {"text": "Over."}, "2020-01-01 00:00:00"),
        ("users", "new", {"text": "Not over."}, "2999-01-01 00:00:00"),
        ("users", "odd", []),
    )
    report = run(memory, "langgraph", path)
    assert contents(memory) == {"langgraph:users/new": "Not over."}
    assert (report.refused, "users/odd" in report.skipped[0]) == (1, True)


def test_a_document_of_chroma_keeps_its_metadata_and_its_collection(tmp_path, memory):
    values = {"city": "Porto", "n": 3, "f": 1.5, "ok": False, "tags": ["x", "y"]}
    run(memory, "chroma", chroma(tmp_path, ("notes", "a", "Ada lives in Porto.", values)))
    record = memory.get("chroma:notes/a")
    assert record.content == "Ada lives in Porto."
    assert record.metadata == {**values, "collection": "notes"}
    assert record.occurred_at == datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_a_vector_of_chroma_without_a_document_is_named(tmp_path, memory):
    report = run(memory, "chroma", chroma(tmp_path, ("notes", "a", "", {}), ("notes", "b", "A text.", {})))
    assert contents(memory) == {"chroma:notes/b": "A text."}
    assert "notes/a" in report.skipped[0]
    assert "only a vector" in report.skipped[0]


def test_a_memory_of_mem0_keeps_who_said_it_and_of_whom_it_is(tmp_path, memory):
    payload = {
        "data": "I live in Porto.",
        "user_id": "ada",
        "run_id": "monday",
        "actor_id": "Ada",
        "role": "user",
        "topic": {"a": [1]},
        "hash": "5a",
        "text_lemmatized": "i live",
        "created_at": "2026-03-02T09:00:00+00:00",
    }
    run(memory, "mem0", qdrant(tmp_path, ("id-1", payload)))
    record = only(memory)
    assert (record.key, record.content, record.speaker) == ("mem0:id-1", "I live in Porto.", "Ada")
    assert (record.session, record.trust, record.kind) == ("monday", "user", "fact")
    assert record.occurred_at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert record.metadata == {"user_id": "ada", "run_id": "monday", "role": "user", "topic": {"a": [1]}}


def test_what_mem0_notes_for_itself_is_left_out(tmp_path, memory):
    qdrant(tmp_path, ("e", {"data": "Porto", "entity_type": "place"}), collection="mem0_entities")
    run(memory, "mem0", qdrant(tmp_path, ("id-1", {"data": "Ada lives in Porto."})))
    assert contents(memory) == {"mem0:id-1": "Ada lives in Porto."}


def test_a_history_of_mem0_leaves_the_latest_of_each_memory_that_was_not_deleted(tmp_path, memory):
    path = history(
        tmp_path / "history.db",
        *(("a", "ADD", "Ada lives in Porto."), ("b", "ADD", "Bo has a dog.")),
        *(("a", "UPDATE", "Ada lives in Braga."), ("b", "DELETE", None)),
    )
    assert recognised(path) == "mem0"
    run(memory, "mem0", path)
    assert contents(memory) == {"mem0:a": "Ada lives in Braga."}


class Harm:
    """A pickle that makes a folder when it is loaded as pickles are."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_calls_nothing_that_it_names(tmp_path, memory):
    harmful = pickle.dumps(Harm(tmp_path / "harm"))
    report = run(memory, "mem0", qdrant(tmp_path / "q", harmful, ("id-1", {"data": "A text.", "x": 1})))
    assert not (tmp_path / "harm").exists()
    assert (report.stored, report.refused) == (1, 1)
    pickle.loads(harmful)
    assert (tmp_path / "harm").exists(), "the pickle does harm when it is loaded"


def test_a_pickle_in_the_payload_is_no_data(tmp_path):
    with pytest.raises(ParamError, match="data alone"):
        model_fields(pickle.dumps(PointWith(Harm(tmp_path / "harm"))), "here")
    assert not (tmp_path / "harm").exists()


class PointWith:
    def __init__(self, payload):
        self.payload = payload

    def __getstate__(self):
        return {"__dict__": {"id": "a", "payload": self.payload}}


def test_a_pickle_that_unfolds_to_more_than_a_memory_is_refused():
    bomb = ["ha" * 10]
    for _ in range(60):
        bomb = [bomb] * 10
    with pytest.raises(ParamError, match="letters"):
        model_fields(pickle.dumps(PointWith(bomb)), "here")


@each_row(
    "asking",
    [
        b"\x80\x04N" + b"r\xff\xff\xff\x03" * 50 + b".",
        b"\x80\x05\x96" + (1 << 30).to_bytes(8, "little") + b".",  # a bytearray of so many bytes
        b"\x80\x04})" + b"2\x86" * 60 + b"K\x01s.",  # a key, a pair of one pair twice, 60 deep: 2^60 hashes
    ],
)
def test_a_pickle_that_asks_for_much_memory_or_time_gets_none(asking):
    tracemalloc.start()
    with pytest.raises(ParamError, match="data alone"):
        model_fields(asking, "here")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


@given(st.data())
def test_whatever_a_pickle_holds_it_is_data_or_refused(data):
    whole = bytearray(pickle.dumps(PointWith({"data": "A text.", "list": [1, 2.5, None, "x"]})))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ParamError):
        assert isinstance(model_fields(bytes(whole), "here"), dict)


def test_a_session_of_claude_mem_is_what_was_asked_observed_and_summed_up(tmp_path, memory):
    run(memory, "claude-mem", claude_mem(tmp_path / "x.db"))
    assert contents(memory) == {
        "claude-mem:prompt:1": "Why does sign-in fail?",
        "claude-mem:observation:1": "The clock of the test was wrong.\n- The test reads the time twice.",
        "claude-mem:summary:1": "Request: Mend sign-in\nLearned: Clocks are injected",
    }
    observed, prompt = memory.get("claude-mem:observation:1"), memory.get("claude-mem:prompt:1")
    assert (observed.heading, observed.tags) == ("Sign-in fixed", ("bugfix", "testing"))
    assert {record.session for record in memory.list()} == {"claude-mem:m-1"}
    assert (prompt.trust, prompt.speaker, observed.trust) == ("user", "user", "agent")
    assert prompt.occurred_at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert ("claude-mem:observation:1", "touches", "file:src/clock.py") in ties(memory, "touches")


def test_a_directive_of_claude_mem_is_a_rule_while_it_is_active(tmp_path, memory):
    rows = [
        {"content": "Use uv, not pip.", "status": "active", "project": None},
        {"content": "Use tabs.", "status": "archived", "project": None},
    ]
    run(memory, "claude-mem", claude_mem(tmp_path / "x.db", directives=rows))
    assert contents(memory, kinds=["behavior"]) == {"claude-mem:directive:1": "Use uv, not pip."}


@pytest.mark.parametrize(
    ("name", "path", "of_ada"),
    [
        (
            "mem0",
            lambda at: qdrant(at, ("a", {"data": "Of Ada.", "user_id": "ada"}), ("b", {"data": "Of Bo."})),
            1,
        ),
        (
            "langgraph",
            lambda at: langgraph(at / "x.db", ("ada.x", "a", {"a": 1}), ("adam", "b", {"a": 2})),
            1,
        ),
        ("chroma", lambda at: chroma(at, ("ada", "a", "Of Ada.", {}), ("bo", "b", "Of Bo.", {})), 1),
        ("claude-mem", lambda at: claude_mem(at / "x.db"), 0),
    ],
)
def test_only_what_is_of_a_name_is_read(name, path, of_ada, tmp_path, memory):
    store = path(tmp_path)
    for _ in range(2):  # not even the second time, when the store has not changed
        report = run(memory, name, store, only="zz")
        (reason,) = report.skipped
        assert (report.stored, "only = 'zz'" in reason) == (0, True)
        assert ('"ada"' in reason) == (of_ada > 0)
    assert run(memory, name, store, only="ada").stored == of_ada
    assert run(memory, name, store).stored >= 1


def test_a_rule_of_no_project_is_read_with_those_of_any(tmp_path, memory):
    rules = [
        {"project": project, "content": f"Rule of {project}.", "status": "active"} for project in (None, "x")
    ]
    run(memory, "claude-mem", claude_mem(tmp_path / "x.db", directives=rules), only="shop")
    assert list(contents(memory, kinds=["behavior"]).values()) == ["Rule of None."]


def test_what_is_of_another_name_is_not_gone_and_what_is_of_this_one_is(tmp_path, memory):
    of_ada, of_bo = ("ada", "a", "Of Ada.", {}), ("bo", "b", "Of Bo.", {})
    store = chroma(tmp_path / "c", of_ada, of_bo)
    for name in ("ada", "bo", "ada"):
        assert run(memory, "chroma", store, only=name, prune=True).gone == 0
    assert len(contents(memory)) == 2
    (tmp_path / "c" / "chroma.sqlite3").unlink()
    report = run(memory, "chroma", chroma(tmp_path / "c", of_bo), only="ada", prune=True)
    assert (report.gone, report.retired) == (1, 1)
    assert report.skipped == ("""only = 'ada': has no memories there; there are some in "bo\"""",)
    assert [*contents(memory)] == ["chroma:bo/b"]


def test_a_history_of_mem0_says_that_it_names_nobody(tmp_path, memory):
    report = run(memory, "mem0", history(tmp_path / "h.db", ("a", "ADD", "Of Ada.")), only="ada")
    assert report.skipped == ("only = 'ada': has no memories there: nothing there has a name",)


def test_a_damaged_collection_is_named_and_hides_what_was_read_of_it(tmp_path, memory):
    folder = qdrant(tmp_path / "q", ("a", {"data": "Of Ada."}))
    qdrant(folder, ("b", {"data": "Of Bo."}), collection="other")
    assert run(memory, "mem0", folder).stored == 2
    damaged = folder / "collection" / "mem0" / "storage.sqlite"
    damaged.write_bytes(damaged.read_bytes()[:100])
    report = run(memory, "mem0", folder, prune=True)
    assert (report.refused, report.duplicates, report.gone) == (1, 1, 0)
    assert str(damaged) in report.skipped[0]


@pytest.mark.parametrize("name", ["chroma", "langgraph", "claude-mem"])
def test_a_path_where_nothing_is_says_so(name, tmp_path, memory):
    with pytest.raises(ParamError, match="No such file"):
        run(memory, name, tmp_path / "nowhere")


def test_a_note_of_basic_memory_has_its_facts_as_its_parts(tmp_path, memory):
    run(memory, "basic-memory", notes(tmp_path / "vault", coffee=NOTE))
    key = "basic-memory:drinks/coffee"
    notes_of_coffee = contents(memory)
    assert notes_of_coffee.pop(key) == "Coffee (note)"
    assert [*notes_of_coffee.values()] == [
        "It keeps Ada awake.",
        "Pour over gives clarity #brewing (from Ada)",
        "- [ ] Buy beans",
        "- Worth checking out [[Ethiopia]]",
    ]
    fact = next(record for record in memory.list() if "Pour over" in record.content)
    assert fact.tags == ("method", "brewing", "morning")
    assert {tie for tie in ties(memory, "part-of") if tie[2] == key} == {
        (each, "part-of", key) for each in notes_of_coffee
    }


def test_a_relation_of_basic_memory_is_a_link_of_its_name(tmp_path, memory):
    where = "---\ntitle: Ethiopia\n---\nA country. See [[drinks/coffee#observations|this]].\n- [[Coffee]]\n"
    report = run(memory, "basic-memory", notes(tmp_path / "vault", coffee=NOTE, where=where))
    coffee, place = "basic-memory:drinks/coffee", "basic-memory:vault/where"
    assert ties(memory, "grown_in") == {(coffee, "grown_in", place)}
    assert {(source.partition("#")[0], target) for source, _, target in ties(memory, "refers-to")} == {
        (coffee, place),
        (place, coffee),
    }
    assert (report.loose, "Chocolate" in report.skipped[0]) == (1, True)


def test_notes_of_basic_memory_that_change_are_followed(tmp_path, memory):
    folder = notes(
        tmp_path / "vault", coffee=NOTE, tea="- requires [[Coffee]]\n- requires [[water]]\n", water="Wet."
    )
    run(memory, "basic-memory", folder)
    notes(folder, coffee=NOTE.replace("gives clarity", "gives body"), tea="- requires [[water]]\n")
    report = run(memory, "basic-memory", folder)
    assert (report.stored, report.changed + report.renamed, report.gone) == (0, 1, 0)
    assert ties(memory, "requires") == {("basic-memory:vault/tea", "requires", "basic-memory:vault/water")}


def test_code_in_a_note_of_basic_memory_states_nothing(tmp_path, memory):
    run(
        memory,
        "basic-memory",
        notes(tmp_path / "vault", a="```\n- [fact] Not so\n- needs [[b]]\n```\n", b="B."),
    )
    assert ties(memory, "needs") == set()
    assert not any(record.tags for record in memory.list())


def test_a_folder_without_notes_is_refused(tmp_path, memory):
    with pytest.raises(ParamError, match=r"no file ends in \.md"):
        run(memory, "basic-memory", tmp_path)
