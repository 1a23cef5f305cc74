"""Ethos in SQL: its search, its view of links, and the index of vectors, held to the engine's own."""

import itertools
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pgvector.psycopg import register_vector
from tests.storage.making import NOW

from priming import FixedClock, HashedEmbedder, Memory, profiles
from priming.config.words import sign_of_name
from priming.maintenance.generations import change_embedder
from priming_server.postgres.schema import migrations
from priming_server.postgres.store import PostgresStore

from .server import clear, empty

pytestmark = pytest.mark.slow
EMBEDDER = HashedEmbedder(64)
SUBJECTS = ("the export of May", "worker-3 and its disk", "the deploy at night", "a key of the database")
TEXTS = [f"Note {n} about {SUBJECTS[n % 4]}, after {SUBJECTS[n % 3]}." for n in range(40)]


@pytest.fixture
def url(postgres: str) -> Iterator[str]:
    yield f"{postgres}&schema=ethos"
    clear(postgres, "ethos")


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    with Memory.open(url, profile="ethos", embedder=EMBEDDER, clock=FixedClock(NOW)) as opened:
        yield opened


@pytest.fixture
def sql(postgres: str, memory: Memory) -> Iterator[psycopg.Connection[Any]]:
    """As a user of ``psql`` is connected: the schema, the namespace, and nothing else."""
    del memory  # which makes the schema
    with psycopg.connect(postgres) as connection:
        register_vector(connection)
        connection.execute("SET search_path = ethos, public")
        connection.execute("SET priming.namespace = 'default'")
        yield connection


def searched(sql: psycopg.Connection[Any], cue: str, **options: Any) -> list[tuple[str, float]]:
    (vector,) = EMBEDDER.embed([cue])
    extra = "".join(f", {name} => {value}" for name, value in options.items())
    rows = sql.execute(
        f"SELECT id, score FROM ethos_search(%s, top => 10{extra})".encode(), (vector,)
    ).fetchall()
    return [(str(name), float(score)) for name, score in rows]


@pytest.mark.parametrize("cue", ["why did the export fail?", "disk of worker-3", "Note 7 about the deploy"])
def test_the_search_in_sql_finds_what_the_engine_finds(memory, sql, cue):
    memory.remember_many(
        {"content": text, "kind": "fact" if n % 5 == 0 else "episode"} for n, text in enumerate(TEXTS)
    )
    for n in range(0, 36, 3):
        listed = memory.list(limit=50)
        memory.link(listed[n].key, listed[n + 2].key, "causes", 0.7)
    hits = memory.recall(cue, limit=10).hits
    result = searched(sql, cue)
    assert [name for name, _ in result] == [hit.memory.id for hit in hits]
    np.testing.assert_allclose([score for _, score in result], [hit.score for hit in hits], atol=1e-5)


NODES = 9
RELATIONS = (
    "similar-to",
    "causes",
    "contradicts",
    "conflicts",
    "overrides",
    "mentions",
    "likes",
    "does-not-contradict",
)
LINKS = st.tuples(
    st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.sampled_from(RELATIONS), st.floats(0.01, 1.0)
)
NUMBERS = itertools.count()
CHANGES = {
    "forget": lambda own, key: own.forget(key),
    "deprecate": lambda own, key: own.deprecate(key, reason="old"),
    "supersede": lambda own, key: own.supersede(key, "The export of June runs on worker-4."),
    "change later": lambda own, key: own.supersede(key, "It ran.", valid_from=NOW + timedelta(days=9_999)),
}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kinds=st.lists(
        st.sampled_from(["episode", "fact", "entity", "correction"]), min_size=NODES, max_size=NODES
    ),
    links=st.lists(LINKS, max_size=14),
    changes=st.lists(st.tuples(st.sampled_from([*CHANGES]), st.integers(0, NODES - 1)), max_size=4),
    reversed_sign=st.booleans(),
    is_long=st.booleans(),
)
def test_the_search_in_sql_scores_as_the_engine_over_signs_statuses_and_versions(
    url, sql, kinds, links, changes, reversed_sign, is_long
):
    name = f"n{next(NUMBERS)}"
    with Memory.open(url, profile="ethos", embedder=EMBEDDER, clock=FixedClock(NOW), namespace=name) as own:
        notes = [
            own.remember(
                f"{TEXTS[n]} {'And of the cellar nobody wrote. ' * 40 if is_long and n == 3 else ''}",
                key=f"n{n}",
                kind=kind,
                metadata={"right": "so"} if kind == "correction" and n % 2 else None,
            ).key
            for n, kind in enumerate(kinds)
        ]
        for source, target, relation, weight in links:
            if source != target:
                sign = -1 if relation == "likes" and reversed_sign else None
                own.link(notes[source], notes[target], relation, weight, sign=sign)
        for change, n in changes:
            if own.get(notes[n]).status == "active":
                CHANGES[change](own, notes[n])
        sql.execute("SELECT set_config('priming.namespace', %s, false)", (name,))
        for cue in ("why did the export fail?", "disk of worker-3"):
            hits = own.recall(cue, limit=10).hits
            result = searched(sql, cue)
            np.testing.assert_allclose([score for _, score in result], [hit.score for hit in hits], atol=1e-5)
            assert [name for name, _ in result] == [hit.memory.id for hit in hits]
        weights = "SELECT array_agg(weight ORDER BY weight) FROM {}"
        assert (
            sql.execute(weights.format("memory_graph_links")).fetchone()
            == sql.execute(weights.format("links WHERE namespace = %s"), (name,)).fetchone()
        )


WORDS = st.sampled_from(
    re.split(
        " ",
        "not never contradicts agrees same rules out fails to objects at odds un support no conflict resolves likes"
        " supported dis agree doesn't can't isRefutedBy HTTPDenied nonéquivalent of with vs ä distinct from",
    )
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(WORDS, min_size=1, max_size=5), between=st.sampled_from(["-", "_", " ", ""]))
def test_a_database_reads_the_sign_of_a_relation_as_the_engine_does(sql, words, between):
    name = between.join(words)
    assert sql.execute("SELECT takes_by_name(%s)", (name,)).fetchone() == (sign_of_name(name) < 0,)


def test_a_link_inserted_into_the_seeds_view_is_an_operation_that_undo_takes_back(memory, sql):
    first, second = (memory.remember(text) for text in ("The disk is full.", "The export failed."))
    insert = (
        "INSERT INTO memory_graph_links (from_type, from_id, to_type, to_id, relation, weight)"
        " VALUES ('episode', %s, 'episode', %s, 'similarity', 0.8)"
    )
    sql.execute(insert, (first.id, second.id))
    sql.commit()
    sql.execute("SET priming.namespace = 'default'")
    (link,) = memory.links(first.key)
    assert (link.source, link.target, link.relation, link.weight) == (
        first.key,
        second.key,
        "similar-to",
        0.8,
    )
    sql.execute(insert, (first.id, second.id))
    sql.commit()
    assert memory.links(first.key)[0].weight == pytest.approx(0.9)
    strengthened, new, *_ = memory.log()
    assert (strengthened.kind, strengthened.via, new.kind) == ("link", "sql", "link")
    memory.undo(strengthened.id)
    assert memory.links(first.key)[0].weight == 0.8
    memory.undo(new.id)
    assert memory.links(first.key) == []
    assert memory.validate() == []


SEEDS_INSERT = """
    INSERT INTO memory_graph_links (from_type, from_id, to_type, to_id, relation, weight)
    VALUES (%s, %s, %s, %s, 'similarity', %s)
    ON CONFLICT (from_type, from_id, to_type, to_id, relation)
    DO UPDATE SET weight = LEAST(1.0, memory_graph_links.weight + 0.1)
"""
"""The statement of the linker, as the runbook prints it."""


def test_the_statements_of_the_seed_run_as_printed(memory, sql):
    first, second = (UUID(memory.remember(text).id) for text in ("The disk is full.", "The export failed."))
    for _ in range(3):
        sql.execute(SEEDS_INSERT, ("episode", first, "episode", second, 0.85))
    rows = sql.execute(
        "SELECT from_id, to_id, to_type, weight FROM memory_graph_links"
        " WHERE from_id = ANY(%(ids)s::uuid[]) OR to_id = ANY(%(ids)s::uuid[]) ORDER BY weight DESC LIMIT 500",
        {"ids": [first]},
    ).fetchall()
    assert rows == [(str(first), str(second), "episode", 1.0)]
    assert sql.execute("SELECT COUNT(*) FROM memory_graph_links").fetchone() == (1,)
    sql.commit()
    assert [operation.actor for operation in memory.log(limit=3)] == ["priming_owner"] * 3


def test_two_namespaces_with_memories_of_one_id_have_links_of_their_own(url, memory, sql, tmp_path):
    first, second = (memory.remember(text) for text in ("The disk is full.", "The export failed."))
    memory.link(first.key, second.key, "causes", 0.6)
    memory.export(tmp_path / "all.jsonl")
    with Memory.open(url, namespace="copy", embedder=EMBEDDER, clock=FixedClock(NOW)) as copy:
        copy.import_(tmp_path / "all.jsonl")
    sql.execute("SET priming.namespace = 'copy'")
    sql.execute(SEEDS_INSERT, ("episode", first.id, "episode", second.id, 0.5))
    rows = sql.execute("SELECT relation, weight FROM memory_graph_links ORDER BY 1").fetchall()
    assert rows == [("causes", 0.6), ("similarity", 0.5)]
    sql.execute("SET priming.namespace = 'default'")
    assert sql.execute("SELECT relation FROM memory_graph_links").fetchall() == [("causes",)]


@pytest.mark.parametrize(
    "statement", ["UPDATE memory_graph_links SET weight = 0", "DELETE FROM memory_graph_links"]
)
def test_a_link_is_not_changed_behind_the_log(memory, sql, statement):
    first, second = (memory.remember(text) for text in ("The disk is full.", "The export failed."))
    memory.link(first.key, second.key, "causes", 0.6)
    with pytest.raises(psycopg.errors.RaiseException, match="links are not changed here"):
        sql.execute(statement)
    sql.rollback()
    assert memory.links(first.key)[0].weight == 0.6


def test_a_link_of_a_memory_that_is_not_there_is_refused_by_name(memory, sql):
    note = memory.remember("The disk is full.")
    with pytest.raises(psycopg.errors.RaiseException, match='must be memories of the namespace "default"'):
        sql.execute(
            "INSERT INTO memory_graph_links VALUES ('episode', %s, 'fact', 'nobody', 'similarity', .5)",
            (note.id,),
        )


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        (("first", "first", "causes", 0.5), "must differ from from_id"),
        (
            ("first", "second", "causes", 0.5, "nonsense"),
            "from_type = nonsense, to_type = fact: must be of episode",
        ),
        (("first", "second", "causes", 1.5), "weight = 1.5: must be from 0 to 1"),
        (("first", "second", "causes", "NaN"), "weight = NaN: must be from 0 to 1"),
        (("first", "second", " ", 0.5), "must be one printable line"),
        (("first", "second", "causes\nharm", 0.5), "must be one printable line"),
        (("first", "second", "x" * 513, 0.5), "must be one printable line"),
    ],
)
def test_a_link_that_the_engine_would_refuse_is_refused(memory, sql, values, rule):
    notes = {key: memory.remember(f"The {key} disk is full.", key=key).id for key in ("first", "second")}
    source, target, relation, weight, *kind = values
    before = memory.links(), memory.log()
    with pytest.raises(psycopg.errors.RaiseException, match=rule):
        sql.execute(
            "INSERT INTO memory_graph_links VALUES (%s, %s, 'fact', %s, %s, %s)",
            (*(kind or ["fact"]), notes[source], notes[target], relation, weight),
        )
    sql.rollback()
    assert (memory.links(), memory.log()) == before


def test_a_read_only_namespace_takes_no_link(memory, sql):
    first, second = (memory.remember(text) for text in ("The disk is full.", "The export failed."))
    memory.store.set_read_only("default", on=True)
    with pytest.raises(psycopg.errors.RaiseException, match='"default" is read-only'):
        sql.execute(
            "INSERT INTO memory_graph_links VALUES ('fact', %s, 'fact', %s, 'causes', .5)",
            (first.id, second.id),
        )
    sql.rollback()
    assert memory.links(first.key) == []


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ("NULL", "must be given"),
        ("'[1,2,3]'", "query has 3 dimensions, and no vectors"),
        ("%(cue)s, top => -1", "from 0 to 10000"),
        ("%(cue)s, top => NULL", "must be given"),
        ("%(cue)s, iterations => 1000000", "iterations from 0 to 10"),
        ("%(cue)s, anchor_top_k_facts => -1", "from 0 to 10000"),
        ("%(cue)s, spreading_strength => 1.5", "spreading_strength = 1.5: must be from 0 to 1"),
        ("%(cue)s, spreading_strength => 'NaN'", "spreading_strength = NaN"),
        ("%(cue)s, weight_similarity => 1.4", "must be 0 or more, and sum to 1"),
        ("%(cue)s, weight_similarity => -0.5, weight_activation => 1.3", "must be 0 or more, and sum to 1"),
    ],
)
def test_a_search_with_a_wrong_argument_is_refused_with_the_rule(memory, sql, arguments, rule):
    memory.remember("The disk is full.")
    (cue,) = EMBEDDER.embed(["disk"])
    with pytest.raises(psycopg.errors.RaiseException, match=rule):
        sql.execute(f"SELECT * FROM ethos_search({arguments})".encode(), {"cue": cue})


def test_a_search_without_a_namespace_says_how_to_set_one(memory, sql):
    memory.remember("The disk is full.")
    sql.execute("RESET priming.namespace")
    with pytest.raises(psycopg.errors.RaiseException, match="no namespace is set"):
        searched(sql, "disk")


def test_a_search_reads_the_vectors_that_fit_its_cue_beside_those_of_another_embedder(memory, sql):
    memory.remember_many({"content": text} for text in TEXTS)
    before = searched(sql, "the export of May")
    assert not change_embedder(memory, "hashed:16", switch=False).switched
    assert searched(sql, "the export of May") == before
    sql.execute("SET priming.namespace = 'empty'")
    assert searched(sql, "the export of May") == []


def test_the_search_reads_an_index_of_the_vectors_of_its_namespace(memory, sql):
    memory.remember_many({"content": text} for text in TEXTS)
    sql.execute(
        "CREATE INDEX vectors_of_default ON vectors USING hnsw ((vector::vector(64)) vector_cosine_ops)"
        " WHERE namespace = 'default' AND generation = 1"
    )
    sql.execute("SET enable_seqscan = off")
    (vector,) = EMBEDDER.embed(["the export"])
    plan = sql.execute(
        "EXPLAIN SELECT memory FROM vectors WHERE namespace = 'default' AND generation = 1"
        " ORDER BY (vector::vector(64)) <=> %s LIMIT 5",
        (vector,),
    ).fetchall()
    assert any("vectors_of_default" in line for (line,) in plan)
    result = searched(sql, "disk of worker-3")
    assert [name for name, _ in result] == [
        hit.memory.id for hit in memory.recall("disk of worker-3", limit=10).hits
    ]


def test_a_store_of_the_release_before_gets_the_links_that_it_has(postgres):
    before = tuple(step for step in migrations() if step.number < 14)
    empty(postgres, "before")
    try:
        with Memory(
            PostgresStore(f"{postgres}", schema="before", steps=before),
            "default",
            EMBEDDER,
            FixedClock(NOW),
            profiles.get("ethos"),
            profiles.ALL,
        ) as memory:
            first, second = (memory.remember(text) for text in ("The disk is full.", "The export failed."))
            memory.link(first, second, "causes", 0.6)
        for _ in range(2):
            with Memory.open(f"{postgres}&schema=before", embedder=EMBEDDER) as memory:
                assert [link.weight for link in memory.links(first) if link.relation == "causes"] == [0.6]
        with psycopg.connect(postgres) as connection:
            connection.execute("SET search_path = before, public; SET priming.namespace = 'default'")
            rows = connection.execute("SELECT from_id, to_id, weight FROM memory_graph_links").fetchall()
            assert (first.id, second.id, 0.6) in rows
    finally:
        empty(postgres, "before")
