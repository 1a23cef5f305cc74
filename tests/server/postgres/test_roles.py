"""A second role, to whom the owner of a store granted what the documentation lists."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from tests.storage.making import NOW

from priming import FixedClock, HashedEmbedder, Memory
from priming.config.environment import locate
from priming.errors import StoreError
from priming.storage.opening import open_store
from priming_server.access.tokens import Tokens

from .server import OWNER, as_role, as_superuser, empty

SCHEMA, ROLE = "shared_by_roles", "app"
PAGE = Path(__file__).parents[3] / "docs" / "postgresql.md"


def documented(page: str) -> list[str]:
    """The commands of the page, for the schema, the owner and the role of the test."""
    (block,) = (block for block in re.findall(r"```sql\n(.*?)```", page, re.DOTALL) if "GRANT" in block)
    commands = re.sub(r"\bpriming\b", SCHEMA, re.sub(r"\bann\b", OWNER, block))
    return [command for command in commands.split(";\n") if command.strip()]


@pytest.fixture
def owned(postgres: str) -> Iterator[str]:
    """The URL of a store for its owner; the role exists, and may do nothing yet."""
    url = f"{postgres}&schema={SCHEMA}"
    with psycopg.connect(as_superuser(postgres), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ROLE} LOGIN".encode())
        with opened(url) as memory:
            memory.remember("The export runs on worker-3 at night.", key="export")
        yield url
        empty(postgres, SCHEMA)
        connection.execute(f"DROP OWNED BY {ROLE}".encode())
        connection.execute(f"DROP ROLE {ROLE}".encode())


@pytest.fixture
def granted(owned: str, postgres: str) -> str:
    """The URL for the second role, after the documented commands."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        for command in documented(PAGE.read_text("utf-8")):
            connection.execute(command.encode())
    return as_role(owned, ROLE)


def opened(url: str) -> Memory:
    return Memory.open(url, embedder=HashedEmbedder(64), clock=FixedClock(NOW))


@pytest.mark.slow
def test_a_role_without_grants_is_referred_to_the_page(owned):
    with pytest.raises(StoreError, match=r"let its owner grant what docs/postgresql\.md lists"):
        opened(as_role(owned, ROLE))


@pytest.mark.slow
def test_the_documented_grants_suffice_for_whatever_concerns_one_namespace(granted, tmp_path):
    with opened(granted) as memory:
        recall = memory.recall("where does the export run?")
        memory.feedback(recall.recall_id, used=["export"])
        memory.remember("The export failed on Friday.", key="failed")
        memory.link("failed", "export")
        memory.supersede("failed", "The export failed on Saturday.")
        memory.undo("last")
        memory.learn("Use tabs.", wrong="Use spaces.")
        memory.sleep()
        memory.reembed()
        assert memory.export(tmp_path / "all.jsonl") > 2
        memory.purge("failed")
        assert memory.validate() == []
        assert memory.verify().findings == ()
    with closing(Tokens(granted)) as tokens:
        created = tokens.new("default", "a script").token
        assert [token.id for token in tokens.list()] == [created.id]
        assert tokens.set_read_only("default", on=True) == ("default",)
        assert tokens.set_read_only("default", on=False) == ()


@pytest.mark.slow
def test_only_a_member_of_the_owner_reads_the_whole_store(granted, postgres, tmp_path):
    with opened(granted) as memory, pytest.raises(StoreError, match="as a member of it"):
        memory.backup(tmp_path / "refused.db")
    assert not (tmp_path / "refused.db").exists()
    with psycopg.connect(as_superuser(postgres), autocommit=True) as connection:
        connection.execute(f"GRANT {OWNER} TO {ROLE}".encode())
    with opened(granted) as memory:
        memory.backup(tmp_path / "whole.db")
    with opened(f"sqlite:///{tmp_path}/whole.db") as copy:
        assert copy.get("export").content == "The export runs on worker-3 at night."


@pytest.mark.slow
def test_what_is_unsafe_about_a_database_is_said_with_its_remedy(granted, postgres):
    def unsafe(url: str) -> dict[str, str]:
        with closing(open_store(locate(url))) as store:
            return dict(store.description()[1])

    # The tests' own server does not write to disk: nobody cuts its power.
    assert unsafe(granted) == {
        "fsync is off: a crash of the server can lose writes that were acknowledged": (
            "turn it on for this database: fsync = on"
        )
    }
    with psycopg.connect(as_superuser(postgres), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = on")
        connection.execute("SELECT pg_reload_conf()")
    try:
        (problem,) = unsafe(granted)
        assert problem.startswith("synchronous_commit is off")
        assert unsafe(f"{granted}&options=-c%20synchronous_commit%3Don") == {}
        (problem,) = unsafe(as_superuser(f"{granted}&options=-c%20synchronous_commit%3Dlocal"))
        assert problem.startswith("row-level security does not hold for the role 'postgres'")
    finally:
        with psycopg.connect(as_superuser(postgres), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
