"""Row-level security, tried by ordinary roles: the one that made the store, a member of it, and a guest."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors
from tests.storage.contract_namespaces import LEARNT, RECALL
from tests.storage.making import NOW, link, remember, whole

from priming import FixedClock, HashedEmbedder, Memory
from priming.errors import StoreError
from priming.storage.protocol import ReadOnlyRow
from priming.storage.rows import LoopSessionRow, MemoryRow, RelationRow
from priming_server.postgres.pool import CHANNEL, log_name
from priming_server.postgres.schema import EVERY_NAMESPACE
from priming_server.postgres.store import PostgresStore

from .server import OWNER, as_role, as_superuser, empty

pytestmark = pytest.mark.slow
SCHEMA, GUEST, DEPUTY = "secured", "guest", "deputy"
ROLES = (OWNER, DEPUTY, GUEST)
SUPERUSER = "postgres"
OF_STORE = {"tokens", "schema_versions"}
"""The tables that are of no namespace."""
LISTED = {"namespaces", "traces", "activations", "loop_sessions", "read_only"}
"""Those from which the role that made the store learns what namespaces there are."""


@pytest.fixture(scope="module")
def secured(postgres: str) -> Iterator[str]:
    """A store with rows of two namespaces in every table; the guest was granted its tables, the deputy its owner."""
    with closing(PostgresStore(postgres, schema=SCHEMA)) as store:
        for name in ("mine", "theirs"):
            relation = RelationRow("feeds", 1, introduced=True)
            remember(store, [*whole("a"), *whole("b"), link("a", "b"), *LEARNT, relation], namespace=name)
            store.add_trace(name, replace(RECALL, counted=True), keep=9, keep_flows=9, not_before=NOW)
            store.save(name, LoopSessionRow("s", None, "open", "Ship it", NOW, NOW, "{}"), new=True)
            store.set_read_only(name, on=True)
    with psycopg.connect(as_superuser(postgres), autocommit=True) as connection:
        for statement in (
            *(f"CREATE ROLE {role} LOGIN" for role in (GUEST, DEPUTY)),
            f"GRANT {OWNER} TO {DEPUTY}",
            f"GRANT USAGE ON SCHEMA {SCHEMA} TO {GUEST}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {GUEST}",
        ):
            connection.execute(statement.encode())
    yield postgres
    empty(postgres, SCHEMA)


@contextmanager
def session(url: str, role: str, namespace: str | None = None) -> Iterator[psycopg.Connection[Any]]:
    """A transaction of a role, which names a namespace if one is given, and is taken back."""
    with psycopg.connect(as_role(url, role), options=f"-c search_path={SCHEMA},public") as connection:
        if namespace is not None:
            connection.execute("SELECT set_config('priming.namespace', %s, true)", (namespace,))
        yield connection
        connection.rollback()


def tables(connection: psycopg.Connection[Any]) -> list[str]:
    """The tables with rows of namespaces."""
    every = "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1"
    return [name for (name,) in connection.execute(every, (SCHEMA,)) if name not in OF_STORE]


def seen(connection: psycopg.Connection[Any]) -> dict[str, set[str]]:
    """The namespaces of the rows that are seen, by table and view."""
    names = [*tables(connection), "link_ends", "packed_links"]
    return {
        name: {row for (row,) in connection.execute(f"SELECT namespace FROM {name}".encode())}
        for name in names
    }


def test_the_policies_apply_to_every_table_of_a_namespace_and_to_its_owner(secured: str) -> None:
    with session(secured, OWNER) as connection:
        sql = (
            "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class"
            " WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p', 'm', 'f')"
        )
        rows = dict(connection.execute(sql, (SCHEMA,)).fetchall())
    assert {name for name, is_secured in rows.items() if not is_secured} == OF_STORE
    assert len(rows) > 15


@pytest.mark.parametrize("role", ROLES)
def test_who_names_no_namespace_sees_nothing(secured: str, role: str) -> None:
    for named in (None, "", "*", "nobody's", "mine' OR 'a' = 'a"):
        with session(secured, role, named) as connection:
            assert not any(seen(connection).values()), named


@pytest.mark.parametrize("role", ROLES)
def test_who_names_a_namespace_sees_its_rows_only(secured: str, role: str) -> None:
    with session(secured, role, "mine") as connection:
        assert set(map(frozenset, seen(connection).values())) == {frozenset({"mine"})}


@pytest.mark.parametrize("role", ROLES)
def test_what_namespaces_there_are_is_for_the_role_that_made_the_store_and_its_members(
    secured: str, role: str
) -> None:
    with session(secured, role, EVERY_NAMESPACE) as connection:
        listing = {name for name, names in seen(connection).items() if names == {"mine", "theirs"}}
        assert listing == (set() if role == GUEST else LISTED)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("named", [None, "mine", EVERY_NAMESPACE], ids=["none", "own", "every"])
def test_nobody_changes_rows_of_a_namespace_that_is_not_named(
    secured: str, role: str, named: str | None
) -> None:
    with session(secured, role, named) as connection:
        for table in tables(connection):
            for statement in (
                f"UPDATE {table} SET namespace = namespace WHERE namespace = 'theirs'",
                f"DELETE FROM {table} WHERE namespace = 'theirs'",
            ):
                assert connection.execute(statement.encode()).rowcount == 0, statement
            with pytest.raises(errors.InsufficientPrivilege), connection.transaction():
                insert_theirs(connection, table)


def insert_theirs(connection: psycopg.Connection[Any], table: str) -> None:
    """Insert a row into another's namespace: all columns that must not be null, with values of their types."""
    sql = (
        "SELECT column_name, udt_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
        " AND is_nullable = 'NO' AND column_name <> 'namespace'"
    )
    literals = {"vector": "'[1]'", "bytea": "''", "bool": "true", "text": "'x'"}
    columns = {
        name: "'{}'" if kind.startswith("_") else literals.get(kind, "0")
        for name, kind in connection.execute(sql, (SCHEMA, table))
    }
    names, values = ", ".join(["namespace", *columns]), ", ".join(["'theirs'", *columns.values()])
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({values})".encode())


@pytest.mark.parametrize("role", ROLES)
def test_nobody_moves_rows_into_a_namespace_that_is_not_named(secured: str, role: str) -> None:
    with session(secured, role, "mine") as connection:
        for table in tables(connection):
            with pytest.raises(errors.InsufficientPrivilege), connection.transaction():
                connection.execute(f"UPDATE {table} SET namespace = 'theirs'".encode())


@pytest.mark.parametrize("role", [*ROLES, SUPERUSER])
def test_the_view_of_links_shows_those_of_the_namespace_that_is_named(secured: str, role: str) -> None:
    for named, links in ((None, []), ("mine", [("a", "b")]), (EVERY_NAMESPACE, [])):
        with session(secured, role, named) as connection:
            sql = "SELECT from_id, to_id FROM memory_graph_links"
            assert connection.execute(sql).fetchall() == links, named


@pytest.mark.parametrize("end", ["theirs-only", "nobodys-own"])
def test_a_link_to_what_another_has_is_refused_like_one_to_nothing(secured: str, end: str) -> None:
    with closing(PostgresStore(secured, schema=SCHEMA)) as store:
        store.set_read_only("others", on=False)
        remember(store, whole("theirs-only"), namespace="others")
        try:
            with session(secured, GUEST, "mine") as connection:
                refused = f"from_id = a, to_id = {end}: both must be memories of the namespace"
                with pytest.raises(errors.RaiseException, match=refused):
                    connection.execute(
                        "INSERT INTO memory_graph_links VALUES ('fact', 'a', 'fact', %s, 'similarity', 0.5)",
                        (end,),
                    )
        finally:
            store.clear("others")


def test_no_write_of_a_guest_learns_by_an_error_what_another_namespace_holds(secured: str) -> None:
    """Whether the row that it would make exists or not, whether it refers to a memory that exists or not."""
    refusals = set()
    with session(secured, GUEST, "mine") as connection:
        for row in ("('theirs', 1)", "('theirs', 77)", "('nowhere', 1)"):
            with pytest.raises(errors.InsufficientPrivilege) as refused, connection.transaction():
                connection.execute(
                    b"INSERT INTO adjacency (namespace, memory, others, relations, weights, outgoing)"
                    b" SELECT a, b, '{}', '{}', '{}', '{}' FROM (VALUES " + row.encode() + b") v(a, b)"
                )
            refusals.add(str(refused.value))
    assert len(refusals) == 1


def test_a_store_works_for_a_role_that_was_granted_its_tables(secured: str, tmp_path: Path) -> None:
    url = f"{as_role(secured, GUEST)}&schema={SCHEMA}"
    with Memory.open(url, namespace="guests", embedder=HashedEmbedder(64), clock=FixedClock(NOW)) as memory:
        empty_answer = memory.recall("where does the export run?")
        assert empty_answer.reason == 'there are no memories in "guests"'
        key = memory.remember("The export runs on worker-3 at night.").key
        answer = memory.recall("where does the export run?")
        assert [hit.memory.key for hit in answer.hits] == [key]
        memory.feedback(answer.recall_id, used=[key])
        assert memory.verify().findings == ()
        for listing in (memory.store.namespaces, lambda: memory.store.rows(None, ReadOnlyRow)):
            with pytest.raises(StoreError, match="may not list the namespaces"):
                listing()
        with pytest.raises(StoreError, match="may not list the namespaces"):
            memory.backup(tmp_path / "copy.db")
        assert not (tmp_path / "copy.db").exists()
        memory.purge(key)
        memory.store.clear("guests")


def test_members_of_the_role_that_made_a_store_administer_it(secured: str, tmp_path: Path) -> None:
    with closing(PostgresStore(as_role(secured, DEPUTY), schema=SCHEMA)) as store:
        assert (
            store.namespaces()
            == [row.namespace for row in store.rows(None, ReadOnlyRow)]
            == ["mine", "theirs"]
        )
        store.backup(tmp_path / "copy.db")
    with Memory.open(
        f"sqlite:///{tmp_path}/copy.db", namespace="theirs", embedder=HashedEmbedder(64)
    ) as copy:
        assert copy.store.namespaces() == ["mine", "theirs"]
        assert len(copy.store.rows("theirs", MemoryRow)) == 2


def test_a_commit_is_announced_without_the_name_of_its_namespace(secured: str) -> None:
    with psycopg.connect(secured, autocommit=True) as listener:
        listener.execute(f"LISTEN {CHANNEL}".encode())
        with closing(PostgresStore(secured, schema=SCHEMA)) as store:
            for name in ("others", "guests"):
                remember(store, whole("a"), namespace=name)
            for name in ("others", "guests"):
                store.clear(name)
        announced = [notice.payload for notice in listener.notifies(timeout=30, stop_after=2)]
        assert announced == [log_name(SCHEMA, name) for name in ("others", "guests")]
        assert not {"others", "guests", SCHEMA} & set(announced)
