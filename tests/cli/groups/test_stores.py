"""Whole stores: their verification, their backups."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

DISK = "The deploy failed because the disk was full."
CACHE = "We cleaned the build cache."


def with_backup(shell):
    """A store of one memory that was backed up, and then was told another."""
    shell.ask("remember", DISK, "--key", "disk")
    shell.ask("backup", "kept.db")
    shell.ask("remember", CACHE, "--key", "cache")


@pytest.fixture
def backed_up(shell, prepared):
    """A store with a backup that is older."""
    prepared(shell, with_backup)
    return shell


def keys(shell, *place):
    return [item["key"] for item in shell.ask("list", *place)]


def test_a_backup_tells_where_it_is(shell):
    shell.ask("remember", DISK)
    assert shell.ask("backup", "kept.db") == {"path": "kept.db"}
    named = Path(shell.ask("backup")["path"])
    assert named.parent == shell.folder / "memory.db.backups"
    assert named.is_file()
    message = shell.run("backup", "other.db")
    assert (message.exit_code, message.stdout) == (0, "backed up  to other.db\n")


def test_a_backup_is_put_back_and_what_was_there_is_backed_up(backed_up):
    done = backed_up.ask("restore-backup", "kept.db", "--yes")
    assert done["path"] == "kept.db"
    assert keys(backed_up) == ["disk"]
    assert keys(backed_up, "--url", f"sqlite:///{done['backup']}") == ["disk", "cache"]
    backed_up.ask("restore-backup", done["backup"], "--yes")
    assert keys(backed_up) == ["disk", "cache"]


def test_putting_back_asks_first(backed_up):
    done = backed_up.run("restore-backup", "kept.db", stdin="n\n")
    assert done.exit_code == 1
    question = "Replace the whole store, all of its namespaces, by kept.db? [y/N] "
    assert done.stderr.endswith(f"{question}nothing was replaced\n")
    assert backed_up.run("restore-backup", "kept.db", stdin="").exit_code == 1
    assert keys(backed_up) == ["disk", "cache"]
    agreed = backed_up.run("restore-backup", "kept.db", stdin="y\n")
    assert agreed.exit_code == 0
    assert agreed.stdout.startswith("restored  kept.db\n  the previous store is in ")
    assert keys(backed_up) == ["disk"]


def test_putting_back_for_programs_needs_the_word(backed_up):
    done = backed_up.run("restore-backup", "kept.db", "--json")
    assert done.exit_code == 2
    assert "must be given with --json" in json.loads(done.stderr)["error"]["message"]
    assert keys(backed_up) == ["disk", "cache"]


def test_what_cannot_be_done_is_told_and_changes_nothing(backed_up):
    (backed_up.folder / "text.db").write_text("no database at all " * 100)
    failures = {
        ("backup", "kept.db"): (2, "conflict", "already exists"),
        ("restore-backup", "gone.db", "--yes"): (2, "bad_param", "names no file"),
        ("restore-backup", "text.db", "--yes"): (1, "corrupt", "not a Priming database"),
        ("restore-backup", "memory.db", "--yes"): (2, "conflict", "the store itself"),
    }
    for arguments, (status, code, words) in failures.items():
        done = backed_up.run(*arguments, "--json")
        error = json.loads(done.stderr)["error"]
        assert (done.exit_code, error["code"]) == (status, code)
        assert words in error["message"]
    assert keys(backed_up) == ["disk", "cache"]


def test_a_sound_store_is_verified_namespace_by_namespace(shell):
    shell.ask("remember", DISK)
    shell.ask("remember", CACHE, "--namespace", "other")
    verified = shell.run("verify")
    assert verified.exit_code == 0
    assert verified.stdout.startswith("verified  default: ")
    assert [row["namespace"] for row in shell.ask("verify", "--all")] == ["default", "other"]


def test_what_differs_from_the_log_is_named_with_a_remedy_and_a_status(shell):
    shell.ask("remember", DISK, "--key", "disk")
    with closing(sqlite3.connect(shell.folder / "memory.db")) as db, db:
        db.execute("INSERT INTO relations VALUES ('default', 'adores', 1, 1)")
    harmed = shell.run("verify", "--all")
    assert harmed.exit_code == 1
    first, second, remedy = harmed.stdout.splitlines()
    assert first.startswith("1 finding")
    assert second.startswith("unlogged-row  relations: adores: ")
    assert remedy.startswith("  remedy: ")


def test_a_store_is_moved_and_a_second_store_is_not_written_over(shell):
    shell.ask("remember", DISK, "--key", "disk")
    migration = shell.ask("migrate", "memory.db", "moved.db")
    assert [(moved["namespace"], moved["status"]) for moved in migration["namespaces"]] == [
        ("default", "moved")
    ]
    assert keys(shell, "--url", "sqlite:///moved.db") == ["disk"]
    assert shell.run("migrate", "memory.db", "moved.db").stdout.startswith("present  default: ")
    shell.ask("remember", CACHE, "--url", "sqlite:///moved.db")
    refused = shell.run("migrate", "memory.db", "moved.db", "--json")
    assert refused.exit_code == 2
    assert (
        "'default' has operations that the source has not" in json.loads(refused.stderr)["error"]["message"]
    )


def test_the_embedder_is_changed_and_rolled_back(shell):
    auto = ("--embedder", "auto")
    shell.ask("remember", DISK, *auto)
    stayed = shell.run("reembed", "--to", "hashed:24", *auto)
    assert stayed.exit_code == 0
    assert stayed.stdout.splitlines()[-1].startswith("kept  ")
    changed = shell.ask("reembed", "--to", "hashed:24", "--switch", *auto)
    assert (changed["switched"], changed["embedder"]) == (True, "hashed:24")
    assert shell.ask("status", *auto)["generation"] == changed["generation"]
    back = shell.ask("reembed", "--roll-back", *auto)
    assert back["generation"] == changed["previous"]
    for wrong in (["--switch"], ["--roll-back", "--to", "hashed"], ["--to", "hashed", "--keep", "--switch"]):
        assert shell.run("reembed", *wrong).exit_code == 2
    answer = shell.run("reembed", "--to", "hashed:24", "--switch", "--embedder", "hashed")
    assert "the setting store.embedder names hashed" in answer.stdout
