"""A store moved to another: everything arrives, an interrupted move goes on, and nothing else is overwritten."""

import os
import signal
import sqlite3
import struct
import subprocess
import sys
import textwrap
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.storage.making import loop_session

from priming import Conflict, Cue, FixedClock, HashedEmbedder, Memory, NotFound, ParamError
from priming.maintenance.migrate import NOT_MOVED, TABLES, migrate
from priming.storage.protocol import PARTS, ReadOnlyRow, TokenRow
from priming.storage.rows import ActivationCount
from priming.storage.sqlite.store import SqliteStore
from priming.types import Token


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The file of a store of two namespaces that have something in every table."""
    path = tmp_path_factory.mktemp("filled") / "source.db"
    clock = FixedClock(datetime(2024, 5, 17, 9, 30, tzinfo=UTC))
    for namespace in ("default", "team"):
        with Memory.open(
            f"sqlite:///{path}", namespace=namespace, clock=clock, embedder=HashedEmbedder(256)
        ) as memory:
            fill(memory)
    return path.read_bytes()


def fill(memory):
    """Something in every table, and much of what changes rows."""
    for number in range(4):
        text = f"Ada tuned violin {number} in Oslo."
        memory.remember(text, key=f"violin-{number}", session="s", metadata={"n": 1})
    memory.undo(memory.remember("Bob tuned nothing.", key="bob").operation)
    memory.undo(memory.log(limit=1)[0].id)
    memory.supersede("bob", "Bob tuned the cello.")
    memory.link("bob", "violin-1", "hates", 0.7, sign=-1)
    memory.learn("Use gut strings.", wrong="Use steel strings.", cue=Cue(task="strings"))
    memory.purge("violin-3")
    recall = memory.recall("who tuned a violin", session="s")
    memory.feedback(recall.recall_id, used=[recall.hits[0].memory.key])
    memory.recall("the cello", profile="floop")
    memory.run_start("s")
    loop_session(memory.store, memory.namespace, "Tune everything")
    memory.sleep()
    memory.store.append(memory.namespace, [ActivationCount("poc", memory.get("bob").id, "2026-05-01", 2)])
    vector = struct.pack("<2f", 1.0, 0.0)
    memory.add_vectors("another/2", {(memory.get("bob").id, 1): vector})


@pytest.fixture
def source(filled, tmp_path):
    (tmp_path / "source.db").write_bytes(filled)
    return f"sqlite:///{tmp_path}/source.db"


@pytest.fixture
def target(tmp_path):
    return f"sqlite:///{tmp_path}/target.db"


def content(url):
    """Everything that a store holds, by namespace and kind."""
    with closing(SqliteStore(_path(url))) as store:
        return {
            name: {TABLES[kind]: list(store.part(name, kind)) for kind in PARTS}
            for name in store.namespaces()
        }


def _path(url):
    return Path(url.removeprefix("sqlite:///"))


def interrupting(after):
    """A progress that interrupts the move."""
    steps = []

    def step(done, _total):
        steps.append(done)
        if len(steps) == after:
            raise KeyboardInterrupt

    return step


def test_everything_arrives_and_is_verified(source, target, open_memory):
    migration = migrate(source, target)
    assert content(target) == content(source)
    assert migration.is_verified
    assert [(moved.namespace, moved.status) for moved in migration.namespaces] == [
        ("default", "moved"),
        ("team", "moved"),
    ]
    tables = migration.namespaces[0].tables
    assert {name for name, part in tables.items() if not part.count} <= {"pairs", "weights"}
    assert migration.not_moved == NOT_MOVED
    ours, theirs = open_memory(source), open_memory(target)
    assert theirs.verify().findings == ()
    assert [row.namespace for row in theirs.store.rows(None, ReadOnlyRow)] == []
    first, second = (memory.recall("who tuned a violin").hits for memory in (ours, theirs))
    assert [(hit.memory.key, hit.score) for hit in first] == [(hit.memory.key, hit.score) for hit in second]
    theirs.undo(theirs.log(limit=1)[0].id)
    theirs.remember("The target goes on by itself.")


@pytest.mark.parametrize("after", [1, 3, 6, 11])
def test_an_interrupted_move_goes_on_and_ends_the_same(source, target, after):
    with pytest.raises(KeyboardInterrupt):
        migrate(source, target, progress=interrupting(after))
    with closing(SqliteStore(_path(target))) as half:
        assert half.rows(None, ReadOnlyRow)
    steps = []
    migration = migrate(source, target, progress=lambda done, total: steps.append((done, total)))
    assert migration.is_verified
    assert content(target) == content(source)
    assert steps[-1][0] < sum(len(items) for parts in content(source).values() for items in parts.values())


def test_a_source_that_went_on_meanwhile_is_moved_as_it_is_now(source, target, open_memory):
    with pytest.raises(KeyboardInterrupt):
        migrate(source, target, progress=interrupting(3))
    memory = open_memory(source)
    memory.remember("Eve came later.")
    memory.purge("violin-2")
    assert migrate(source, target).is_verified
    assert content(target) == content(source)


def test_a_namespace_that_is_half_moved_refuses_writes_until_it_is_complete(source, target, open_memory):
    with pytest.raises(KeyboardInterrupt):
        migrate(source, target, progress=interrupting(2))
    with pytest.raises(Conflict, match="read-only"):
        open_memory(target).remember("Too early.")
    migrate(source, target)
    open_memory(target).remember("In time.")


def test_a_second_move_finds_everything_there_even_after_recalls(source, target, open_memory):
    migrate(source, target)
    open_memory(target).recall("who tuned a violin")
    assert [moved.status for moved in migrate(source, target).namespaces] == ["present", "present"]


def test_what_holds_something_else_is_refused_by_name_and_left_alone(source, target, open_memory):
    open_memory(target, namespace="team").remember("We were here first.")
    before = content(target)
    with pytest.raises(Conflict, match=r"'team' has operations that the source has not.*nothing was moved"):
        migrate(source, target)
    assert content(target) == before
    assert [moved.namespace for moved in migrate(source, target, namespaces=["default"]).namespaces] == [
        "default"
    ]
    assert content(target)["default"] == content(source)["default"]


def test_an_earlier_copy_is_not_overwritten(source, target, open_memory):
    migrate(source, target)
    open_memory(source).remember("Later.")
    with pytest.raises(Conflict, match="'default' was moved before, when the source had"):
        migrate(source, target)


def test_a_namespace_with_only_a_session_of_the_loop_is_something_else(source, target, open_memory):
    memory = open_memory(target)
    loop_session(memory.store, memory.namespace, "Ours")
    with pytest.raises(Conflict, match="'default'"):
        migrate(source, target)


def test_a_target_that_differs_at_the_end_is_reported(source, target):
    migrate(source, target)
    with closing(sqlite3.connect(_path(target))) as db, db:
        db.execute("INSERT INTO read_only VALUES ('default')")
        db.execute(
            "CREATE TRIGGER spoil AFTER INSERT ON links BEGIN UPDATE links SET weight = 0.123"
            " WHERE source = new.source AND target = new.target AND relation = new.relation; END"
        )
        db.execute("DELETE FROM links WHERE namespace = 'default'")
    migration = migrate(source, target)
    assert not migration.is_verified
    assert migration.namespaces[0].differs == ("links",)
    with closing(SqliteStore(_path(target))) as store:
        assert store.rows(None, ReadOnlyRow) == [ReadOnlyRow("default")]


def test_tokens_and_read_only_namespaces_are_moved(source, target, clock):
    with closing(SqliteStore(_path(source))) as store:
        end = clock.at + timedelta(days=9)
        for token in (
            Token("t1", "team", "ci", clock.at, None, clock.at, "read", end),
            Token("t2", "*", None, clock.at, clock.at, None, "admin", None),
        ):
            store.save(None, TokenRow(token, token.id.encode()), new=True)
        store.set_read_only("team", on=True)
        tokens = store.rows(None, TokenRow)
    migration = migrate(source, target)
    assert (migration.tokens, migration.read_only) == (2, ("team",))
    with closing(SqliteStore(_path(target))) as store:
        assert store.rows(None, TokenRow) == tokens
        assert [row.digest for row in tokens] == [b"t1", b"t2"]
        assert store.rows(None, ReadOnlyRow) == [ReadOnlyRow("team")]
    assert migrate(source, target).tokens == 0


def test_stores_are_named_by_url_or_by_file(source, tmp_path):
    assert migrate(str(_path(source)), str(tmp_path / "new" / "copy.db")).is_verified
    with pytest.raises(Conflict, match="both source and target"):
        migrate(source, str(_path(source)))
    with pytest.raises(NotFound, match="there is no store"):
        migrate(f"sqlite:///{tmp_path}/none.db", str(tmp_path / "other.db"))
    with pytest.raises(NotFound, match="no namespace 'nobody'"):
        migrate(source, str(tmp_path / "other.db"), namespaces=["nobody"])
    for wrong in ("sqlite://", " "):
        with pytest.raises(ParamError):
            migrate(wrong, str(tmp_path / "other.db"))
    assert not (tmp_path / "other.db").exists()


def test_a_namespace_to_move_may_be_typed_with_its_accents_apart(open_memory, source, tmp_path):
    open_memory(source, namespace="M\u00fcnchen").remember("We sing.")
    (moved,) = migrate(source, str(tmp_path / "one.db"), namespaces=["Mu\u0308nchen"]).namespaces
    assert (moved.namespace, moved.differs) == ("M\u00fcnchen", ())


@pytest.mark.slow
def test_a_move_that_is_killed_at_any_moment_goes_on_and_ends_the_same(tmp_path):
    source, target = f"sqlite:///{tmp_path}/source.db", f"sqlite:///{tmp_path}/target.db"
    with Memory.open(source, embedder=HashedEmbedder(32)) as memory:
        for first in range(0, 2000, 500):
            memory.remember_many(
                [{"content": f"Ada tuned violin {n} in hall {n % 7}."} for n in range(first, first + 500)]
            )
    script = textwrap.dedent(f"""
        from priming.maintenance.migrate import migrate
        migrate({source!r}, {target!r}, progress=lambda done, total: print(done, flush=True))
    """)
    kills = 0
    for lines in (1, 2, 3, 5, 8, 13):
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        with process:
            for _ in range(lines):
                process.stdout.readline()
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        kills += process.returncode == -signal.SIGKILL
    assert kills
    assert migrate(source, target).is_verified
    assert content(target) == content(source)
