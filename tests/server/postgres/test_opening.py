"""A memory in PostgreSQL, as a user opens it."""

from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.rows import each_row
from tests.storage.making import NOW

from priming import FixedClock, HashedEmbedder, Memory
from priming.errors import ParamError, StoreError
from priming_server.postgres import pool
from priming_server.postgres.schema import POSTGRES

from .server import as_role, as_superuser


@pytest.fixture
def url(postgres: str) -> str:
    return f"{postgres}&schema=opening"


def opened(url: str, **options):
    return Memory.open(url, embedder=HashedEmbedder(64), clock=FixedClock(NOW), **options)


def test_what_one_remembers_another_recalls_from_the_same_database(url):
    with opened(url, namespace="team") as ann, opened(url, namespace="team") as ben:
        note = ann.remember("The export runs on worker-3 at night.")
        answer = ben.recall("where does the export run?")
        assert [hit.memory.key for hit in answer.hits] == [note.key]
        ben.feedback(answer.recall_id, used=[note.key])
        assert ann.why(note.key).memory.use.helped == 1
        ann.forget(note.key)
        assert ben.recall("where does the export run?").hits == ()


def test_a_memory_is_closed_without_a_wait_for_notifications(url, monkeypatch):
    monkeypatch.setattr(pool, "POSTGRES", replace(POSTGRES, listening_interval=3_600.0))
    with opened(url) as memory:
        memory.remember("The mast is stepped in April.")
        assert memory.recall("when is the mast stepped?").hits


def test_a_namespace_sees_nothing_of_another(url):
    with opened(url, namespace="ours") as ours, opened(url, namespace="theirs") as theirs:
        ours.remember("The safe opens at nine.", key="safe")
        assert theirs.recall("when does the safe open?").hits == ()
        assert theirs.list() == []


def test_a_server_that_is_not_there_is_named_without_the_password():
    with pytest.raises(StoreError, match="'team' on localhost:1 cannot be reached") as refused:
        opened("postgresql://ann:secret@localhost:1/team?connect_timeout=1")
    assert "secret" not in str(refused.value)


@each_row(
    ("query", "rule"),
    [
        ("schema=a-b", "letters, digits"),
        ("schema=", "letters, digits"),
        ("pool=0", "from 1"),
        ("pool=x", "from 1"),
    ],
)
def test_a_wrong_option_is_refused_without_the_password(query, rule):
    with pytest.raises(ParamError, match=rule) as refused:
        opened(f"postgresql://ann:secret@localhost/team?{query}")
    assert "secret" not in str(refused.value)


def test_the_database_that_the_environment_names_needs_no_other_name(url, monkeypatch):
    parts = conninfo_to_dict(url.partition("&schema")[0])
    with opened(url) as memory:
        note = memory.remember("The loft is insulated with hemp.")
    monkeypatch.setenv("PGHOST", parts["host"])
    monkeypatch.setenv("PGUSER", parts["user"])
    for name in (
        "postgresql:///postgres?schema=opening",
        "postgres://priming_owner@/postgres?schema=opening",
    ):
        with opened(name) as memory:
            assert memory.get(note.key).content.startswith("The loft")


def test_a_parameter_that_libpq_does_not_know_is_named_unless_a_password_is_beside_it():
    with pytest.raises(ParamError, match="bogus"):
        opened("postgresql://ann@localhost/team?bogus=1")
    with pytest.raises(ParamError, match="libpq") as refused:
        opened("postgresql://ann:secret@localhost/team?bogus=secret")
    assert "secret@" not in str(refused.value)


@pytest.mark.parametrize("place", ["url", "environment"])
def test_the_options_of_a_session_are_those_of_the_user(url, monkeypatch, place):
    with opened(url) as memory:
        memory.remember("The kiln cools for a day.")
    if place == "url":
        url += "&options=-c%20default_transaction_read_only%3Don"
    else:
        monkeypatch.setenv("PGOPTIONS", "-c default_transaction_read_only=on")
    with opened(url) as memory:
        assert memory.recall("how long does the kiln cool?").hits[0].memory.content.startswith("The kiln")
        with pytest.raises(StoreError, match="read-only"):
            memory.remember("The kiln is hot.")


@pytest.fixture
def roles(postgres: str):
    """A role without rights, and a database that it owns."""
    with psycopg.connect(as_superuser(postgres), autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
        connection.execute("CREATE DATABASE guests OWNER guest")
        connection.execute(
            "CREATE DATABASE western ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 OWNER guest"
        )
        yield
        for statement in ("DROP DATABASE guests", "DROP DATABASE western", "DROP ROLE guest"):
            connection.execute(statement.encode())


@pytest.mark.usefixtures("roles")
def test_each_refusal_of_a_database_says_who_may_do_what(url):
    with opened(url) as memory:
        memory.remember("The guests come on Friday.")
    guest = as_role(url, "guest")
    for other, reason in (
        (guest, "schema 'opening' that the role 'guest' may not use"),
        (
            guest.replace("opening", "elsewhere"),
            "has no schema 'elsewhere', and the role 'guest' may not make",
        ),
        (guest.replace("/postgres?", "/guests?"), "a superuser run CREATE EXTENSION vector"),
        (guest.replace("/postgres?", "/western?"), "encoded in LATIN1"),
        (guest.replace("/postgres?", "/nowhere?"), "refuses the connection .*nowhere.* check the user"),
        (as_role(url, "stranger"), "refuses the connection .*stranger.* check the user"),
    ):
        with pytest.raises(StoreError, match=reason):
            opened(other)
