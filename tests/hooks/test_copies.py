"""Copies of texts that Priming makes unasked: a purge reaches and names each, and they end by themselves."""

import fcntl
import os
import tempfile
import time
from pathlib import Path

import pytest
from tests.storage.crashing import everywhere
from tests.storage.sqlite.files import contents, make_store

from priming import HashedEmbedder, Memory
from priming.config.environment import database_place, locate
from priming.config.params.limits import STORE
from priming_agents.agents import Event
from priming_agents.session import folder_of, locked_session
from priming_agents.teaching import put

SECRET, NEEDLE = "Always call zirconium by its name.", b"irconium"
OLD = "The office is in Bergen."
CALL = f"{time.time_ns() // 1_000_000:012x}" + "0" * 20


def open_memory(path, **more):
    url = path if "://" in str(path) else f"sqlite:///{path}"
    return Memory.open(url, embedder=HashedEmbedder(8), **{"namespace": "mine", **more})


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A folder of the system's temporary files, with what a killed process left in it."""
    folder = tmp_path / "temporary"
    left = folder / f"priming-{2**22 + 1}-abc" / "export.jsonl"
    left.parent.mkdir(parents=True)
    left.write_text(SECRET)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("PRIMING_HOME", str(tmp_path / "home"))
    return left.parent


def fill_hooks(database):
    """The files of hooks: a session that was shown a secret, corrections that wait, and what killed hooks left."""
    with locked_session(database, "s1") as session:
        session.prompts = 1
        session.answer("call", f'- [zirconium] constraint: "{SECRET}"')
    for number, text in enumerate((f"No, {SECRET.lower()}", "No, never push to main.")):
        assert put(database, f"{CALL[:-1]}{number}", "prompt", Event("s1", prompt=text))
    folder = folder_of(database)
    waiting, other = sorted(folder.glob("*.queued"))
    assert NEEDLE in waiting.read_bytes()
    for name in ("s2.4194305", f"{CALL}.partial"):
        (folder / name).write_text(SECRET)
    return {folder / "s1.json", folder / "s2.4194305", folder / f"{CALL}.partial", waiting}, other


def left_over(folder):
    return [name for name, data in contents(folder).items() if NEEDLE in data]


@pytest.mark.parametrize("schema", [1, 6])
@pytest.mark.parametrize("how", ["key", "subject"])
def test_a_purge_reaches_and_names_every_copy(tmp_path, temporary, schema, how):
    path = tmp_path / "m.db"
    make_store(path, schema)
    with open_memory(path) as memory:
        memory.remember(SECRET, key="zirc-rule")
        memory.recall("zirconium")
        rest = memory.backup(tmp_path / "kept.db")
        replaced = memory.restore_backup(rest)
        memory.close()
    backup = tmp_path / f"m.db.schema-{schema}.backup"
    assert backup.exists()
    for copy in (backup, Path(f"{backup}.partial"), Path(f"{path}.backups/x.db.partial-journal")):
        with copy.open("ab") as file:
            file.write(SECRET.encode())
    hooks, other = fill_hooks(path)
    named = {
        backup,
        Path(f"{backup}.partial"),
        replaced,
        Path(f"{path}.backups/x.db.partial-journal"),
        temporary,
    }
    with open_memory(path) as memory:
        what = {"key": "zirc-rule"} if how == "key" else {"subject": "zirconium"}
        planned = memory.purge(**what, dry_run=True)
        assert {Path(copy.path) for copy in planned.copies} == named | hooks
        assert {copy.outcome for copy in planned.copies} == {"would be removed"}
        assert all(copy.exists() for copy in named | hooks)
        receipt = memory.purge(**what)
        assert {Path(copy.path) for copy in receipt.copies} == named | hooks
        assert {(copy.outcome, copy.reached) for copy in receipt.copies} == {("removed", True)}
        assert left_over(tmp_path) == ["kept.db"]
        assert any("backups" in place for place in receipt.not_reached)
    assert (left_over(tmp_path), other.exists()) == (["kept.db"], True)


def test_backups_that_somebody_asked_for_stay_and_are_named(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        memory.remember(SECRET, key="k")
        query = memory.backup()
        beside = tmp_path / "m.db.schema-6.backup.mine"
        beside.write_text(SECRET)
        receipt = memory.purge("k")
        assert f"the backup {query}" in receipt.not_reached
        assert query.exists()
        assert beside.exists()


def test_a_copy_of_a_store_in_postgresql_is_reached(postgres, tmp_path, temporary, monkeypatch):
    monkeypatch.setenv("PRIMING_HOME", str(tmp_path / "home"))
    url = f"{postgres}&schema=copies"
    hooks, other = fill_hooks(database_place(locate(url)))
    with open_memory(url) as memory:
        memory.remember(SECRET, key="k")
        receipt = memory.purge("k")
        tables = memory.store.connection.run(
            "mine", "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        )
        rows = [memory.store.connection.run("mine", f"SELECT t::text FROM {table} t") for (table,) in tables]
    assert {Path(copy.path) for copy in receipt.copies} == {*hooks, temporary}
    assert (left_over(tmp_path), NEEDLE.decode() in str(rows), other.exists()) == ([], False, True)


def test_a_copy_that_is_not_reached_is_named_and_a_second_purge_finishes(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        memory.remember(SECRET, key="k")
        fill_hooks(path)
        with (folder_of(path) / "s1.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            receipt = memory.purge("k")
        (busy,) = (copy for copy in receipt.copies if not copy.reached)
        assert (busy.path, "not reached: another hook" in busy.outcome) == (
            str(folder_of(path) / "s1.json"),
            True,
        )
        assert left_over(tmp_path) == [str((folder_of(path) / "s1.json").relative_to(tmp_path))]
        with pytest.raises(Exception, match="there is no memory 'other'"):
            memory.purge("other")
        again = memory.purge("k")
        assert (again.key, again.erased, again.operation) == ("k", {}, receipt.operation)
        assert (left_over(tmp_path), list(tmp_path.glob("*purging*"))) == ([], [])
        with pytest.raises(Exception, match="there is no memory 'k'"):
            memory.purge("k")


def test_a_purge_that_is_killed_at_any_statement_is_finished_by_the_next(tmp_path):
    base = tmp_path / "base.db"
    with open_memory(base) as memory:
        memory.remember(SECRET, key="k", session="s")
        memory.remember("Nothing of that.", key="other", session="s")

    def act(path, begin):
        memory = open_memory(path)
        (path.parent / "memory.db.schema-6.backup").write_text(SECRET)
        begin()
        memory.purge("k")

    (tmp_path / "killed").mkdir()
    left = everywhere(tmp_path / "killed", act, base)
    for path in left.paths[:-1]:
        with open_memory(path) as memory:
            memory.purge("k")
            assert [record.key for record in memory.list(kinds=["episode", "fact"])] == ["other"]
        assert (left_over(path.parent), list(path.parent.glob("*purging*"))) == ([], [])
    assert left.statements > 20


def test_copies_made_unasked_end_after_their_time_and_others_stay(tmp_path):
    path = tmp_path / "m.db"
    make_store(path, 6)
    with open_memory(path) as memory:
        query = memory.backup()
        replaced = memory.restore_backup(query)
    backup = tmp_path / "m.db.schema-6.backup"
    old = time.time() - STORE.copy_days * 86_400
    for age, remains in ((60, True), (-60, False)):
        for copy in (query, replaced, backup):
            os.utime(copy, (old + age, old + age))
        open_memory(path).close()
        assert (query.exists(), replaced.exists(), backup.exists()) == (True, remains, remains)


def test_a_store_under_a_second_name_is_purged_with_the_copies_of_both(tmp_path):
    path, link = tmp_path / "real" / "m.db", tmp_path / "link.db"
    path.parent.mkdir()
    make_store(path, 6)
    link.symlink_to(path)
    with open_memory(link) as memory:
        memory.remember(SECRET, key="k")
        fill_hooks(path)
        for copy in (path, link):
            Path(f"{copy}.schema-6.backup").write_text(SECRET)
        memory.purge("k")
    assert left_over(tmp_path) == []


def test_proposals_that_quote_it_are_forgotten(tmp_path):
    with open_memory(tmp_path / "m.db") as memory:
        memory.remember(SECRET, key="k")
        memory.sleep(dry_run=True)
        memory.purge("k")
        assert memory.proposals == {}
