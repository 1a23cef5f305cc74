"""Every statement of a request to PostgreSQL names one namespace, so that a sharded database runs it unchanged."""

from __future__ import annotations

import re
from contextlib import closing, contextmanager
from pathlib import Path

import anyio
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.server.postgres.server import OWNER, as_superuser, empty
from tests.server.scene import example

from priming.verbs.rows import SERVED
from priming_server.postgres.store import PostgresStore

from .worlds import Web, World, opened, web

pytestmark = pytest.mark.slow
SCHEMA = "sharded"
OF_STORE = {"tokens", "schema_versions"}
"""The tables without a namespace to shard by: reference tables, copied to every node."""
VIEWS = {"link_ends", "packed_links", "ethos_memories"}
EMPTY = "inserted_links"
"""A table without rows of its own, beneath Ethos' view: what is inserted becomes a link."""
OF_ETHOS = {"added", "followed", "refused"}
"""The triggers of that view's tables, which go before tables are distributed (``docs/scaling.md``)."""
_REFERENCE = re.compile(r"\b(FROM|JOIN|UPDATE|INTO)\s+(\w+)(?:\s+(?:AS\s+)?(\w+))?")
_NO_ALIAS = {
    *("WHERE", "ON", "SET", "JOIN", "LEFT", "CROSS", "ORDER", "GROUP"),
    *("VALUES", "SELECT", "LIMIT", "HAVING", "RETURNING"),
}


@contextmanager
def logged(url):
    """Read what the server wrote down since the last time: statements with their parameters, of new connections."""
    with psycopg.connect(as_superuser(url), autocommit=True) as admin:
        admin.execute(f"ALTER ROLE {OWNER} SET log_statement = 'all'".encode())
        try:
            with Path(conninfo_to_dict(url)["host"], "log").open(encoding="utf-8") as log:
                log.seek(0, 2)
                yield lambda: list(parsed(log.read()))
        finally:
            admin.execute(f"ALTER ROLE {OWNER} RESET log_statement".encode())


def parsed(text):
    """The statements of a log, each with its parameters."""
    entries = re.split(r"^(?=\S)", text, flags=re.MULTILINE)
    sql = None
    for entry in entries:
        if statement := re.search(r"LOG:  (?:statement|execute [^:]*): (.*)", entry, re.DOTALL):
            if sql is not None:
                yield sql, ""
            sql = " ".join(statement[1].split())
        elif sql is not None and (parameters := re.search(r"DETAIL:  Parameters: (.*)", entry, re.DOTALL)):
            yield sql, parameters[1].strip()
            sql = None
    if sql is not None:
        yield sql, ""


def tables(url):
    """The tables with a column for the namespace."""
    sql = "SELECT table_name FROM information_schema.columns WHERE table_schema = %s AND column_name = 'namespace'"
    with psycopg.connect(url) as connection:
        return {name for (name,) in connection.execute(sql, (SCHEMA,))} - OF_STORE - VIEWS


def scopes(sql):
    """The queries of a statement, each with those in parentheses taken out, and its arms one by one."""
    sql, inner = re.sub(r"'[^']*'", "''", sql), []
    while (flat := re.sub(r"\(([^()]*)\)", lambda part: (inner.append(part[1]), "<>")[1], sql)) != sql:
        sql = flat
    return [arm for part in (*inner, sql) for arm in re.split(r"\b(?:UNION(?: ALL)?|EXCEPT)\b", part)]


def unscoped(sql, names):
    """The tables of a statement whose rows it does not take from one namespace."""
    for scope in scopes(sql):
        references = [match for match in _REFERENCE.finditer(scope) if match[2] in names]
        for match in references:
            word, table, alias = match.groups()
            alias = table if alias is None or alias.upper() in _NO_ALIAS else alias
            if word == "INTO":
                if not re.search(
                    rf"INTO {table} (\(namespace\b|VALUES \(\$|SELECT (\$|\w+\.namespace))", sql
                ):
                    yield table
                continue
            own = rf"(?<![\w.]){alias}\.namespace = (\$\d+|\w+\.namespace)|= {alias}\.namespace\b"
            if sum(other[1] != "INTO" for other in references) == 1:
                own += r"|(?<![\w.])namespace = \$\d+"
            if not re.search(own, scope):
                yield table


def test_the_check_finds_a_statement_that_names_no_namespace():
    names = {"memories", "versions", "links"}
    assert list(unscoped("SELECT 1 FROM memories", names)) == ["memories"]
    assert list(
        unscoped(
            "SELECT 1 FROM memories m JOIN versions v ON v.memory = m.number WHERE m.namespace = $1", names
        )
    ) == ["versions"]
    assert list(
        unscoped(
            "SELECT 1 FROM memories WHERE namespace = $1 AND number IN (SELECT source FROM links)", names
        )
    ) == ["links"]
    assert list(
        unscoped("SELECT 1 FROM memories WHERE namespace = $1 UNION SELECT 1 FROM memories", names)
    ) == ["memories"]
    assert list(unscoped("INSERT INTO links (source, namespace) VALUES ($1, $2)", names)) == ["links"]
    assert list(unscoped("DELETE FROM links WHERE number = 'namespace = $1'", names)) == ["links"]
    assert (
        list(
            unscoped(
                "SELECT 1 FROM memories m JOIN versions v ON v.namespace = m.namespace WHERE m.namespace = $1",
                names,
            )
        )
        == []
    )


def test_every_statement_of_a_request_names_the_namespace_of_the_request(postgres, tmp_path):
    async def talk(world):
        async with web(world) as client:
            asks = Web(client, world.tokens)
            for namespace, ids in (("mine", mine), ("nothing", {})):
                for op in SERVED:
                    await asks.http(world, namespace, op, example(op.name, ids))
                    await asks.mcp(world, namespace, op, example(op.name, ids))

    PostgresStore(postgres, schema=SCHEMA).close()
    names, url = tables(postgres) | VIEWS, f"{postgres}&schema={SCHEMA}"
    with opened(url, tmp_path) as world:
        mine = world.prepared("mine")
    # Another service, in which only what is asked is open: a server looks unasked after what is.
    with logged(postgres) as read, closing(World(url, "")) as world:
        anyio.run(talk, world)
        statements = read()
    empty(postgres, SCHEMA)
    sent = {re.sub(r'"batches_\w+"', "batches", sql) for sql, _ in statements}
    assert {sql: wrong for sql in sorted(sent) if (wrong := list(unscoped(sql, names)))} == {}
    scopes = {parameters for sql, parameters in statements if "set_config('priming.namespace', $1" in sql}
    named = {re.match(r"\$1 = '([^']*)'", parameters)[1] for parameters in scopes}
    assert {"mine", "nothing"} <= named <= {"", "mine", "nothing"}
    assert len(sent) > 100


def test_every_key_and_index_begins_with_the_namespace_and_no_sequence_or_foreign_key_is_in_the_way(postgres):
    PostgresStore(postgres, schema=SCHEMA).close()
    with psycopg.connect(postgres) as connection:
        sharded = tables(postgres)
        indexes = connection.execute(
            "SELECT c.relname, i.relname, pg_get_indexdef(x.indexrelid, 1, true) FROM pg_index x"
            " JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid"
            " WHERE c.relnamespace = %s::regnamespace",
            (SCHEMA,),
        ).fetchall()
        keys = connection.execute(
            "SELECT conrelid::regclass::text, confrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE contype = 'f' AND connamespace = %s::regnamespace",
            (SCHEMA,),
        ).fetchall()
        others = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('S', 'f', 'm', 'p')"
            " UNION ALL SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
            " WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r' AND NOT tgisinternal",
            (SCHEMA, SCHEMA),
        ).fetchall()
    empty(postgres, SCHEMA)
    assert {table for table, _, first in indexes if first != "namespace"} == OF_STORE | {EMPTY}
    assert {table for table, _, _ in indexes} == sharded | OF_STORE
    assert keys
    for _, target, definition in keys:
        assert re.match(r"FOREIGN KEY \(namespace\b.* REFERENCES \S+\(namespace\b", definition), definition
        assert target.rpartition(".")[2] not in OF_STORE
    assert {name for (name,) in others} == OF_ETHOS
