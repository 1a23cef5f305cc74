"""The doctor, on installations that are well and on others."""

import json
import socket
import sqlite3
from contextlib import closing

import pytest

from priming import Memory

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def home(shell, monkeypatch):
    path = shell.folder / "home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "PRIMING_HOME"):
        monkeypatch.delenv(name, raising=False)
    return path


def looked(shell, *options):
    """What the doctor found, by name: (status, detail, remedy) of each; and the exit status."""
    done = shell.run("doctor", "--json", *options)
    result = {}
    for load in json.loads(done.stdout):
        result.setdefault(load["name"], []).append((load["status"], load["detail"], load["remedy"]))
    return result, done.exit_code


def statuses(result):
    return {status for ones in result.values() for status, _, _ in ones}


def test_an_installation_that_is_well_has_nothing_but_ok(shell):
    shell.ask("remember", "Ada wrote it.")
    result, status = looked(shell)
    assert (statuses(result), status) == ({"ok"}, 0)
    assert set(result) - {"agents"} == {
        *(
            "python",
            "packages",
            "settings",
            "weights",
            "store",
            "validate",
            "server",
            "disk",
            "clock",
            "semantic",
        ),
    }


def test_it_changes_nothing_and_makes_no_store(shell):
    result, status = looked(shell)
    assert result["store"][0][0] == "warn"
    assert "remember" in result["store"][0][2]
    assert status == 0
    assert not (shell.folder / "memory.db").exists()
    shell.ask("remember", "Ada wrote it.")
    before = shell.ask("log")
    looked(shell)
    assert shell.ask("log") == before


def test_a_file_of_another_program_fails(shell):
    with closing(sqlite3.connect(shell.folder / "memory.db")) as other, other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    result, status = looked(shell)
    assert result["store"][0][0] == "fail"
    assert "another program" in result["store"][0][1]
    assert status == 1


def test_a_damaged_file_fails(shell):
    (shell.folder / "memory.db").write_bytes(b"no database at all " * 500)
    result, status = looked(shell)
    assert result["store"][0][0] == "fail"
    assert "restore-backup" in result["store"][0][2]
    assert status == 1


def test_a_newer_schema_fails_and_an_older_one_is_left_as_it_is(shell):
    shell.ask("remember", "Ada wrote it.")
    path = shell.folder / "memory.db"

    def become(version):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"PRAGMA user_version = {version}")
        connection.close()

    become(999)
    result, status = looked(shell)
    assert (result["store"][0][0], status) == ("fail", 1)
    assert "newer Priming" in result["store"][0][2]
    become(1)
    result, status = looked(shell)
    assert (result["schema"][0][0], status) == ("warn", 0)
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()


def test_what_validate_finds_is_told(shell):
    with Memory.open(shell.url) as memory:
        memory.remember("one", key="a")
        memory.remember("two", key="b")
        memory.link("a", "b", "deprecated-to")
    result, status = looked(shell)
    assert result["validate"][0][0] == "fail"
    assert "replaced-but-active" in result["validate"][0][1]
    assert status == 1


def test_settings_that_are_wrong_or_contradict_are_told(shell, monkeypatch):
    monkeypatch.setenv("PRIMING_RETRIEVAL_ITERATIONS", "many")
    monkeypatch.setenv("PRIMING_SERVER", "perhaps")
    result, status = looked(shell)
    assert [item[0] for item in result["settings"]] == ["fail", "fail"]
    assert "PRIMING_RETRIEVAL_ITERATIONS" in result["settings"][0][1]
    assert "PRIMING_SERVER" in result["settings"][1][1]
    assert status == 1


def test_a_project_with_a_store_of_its_own_beside_a_variable_is_warned_of(shell):
    own = shell.folder / ".priming"
    own.mkdir()
    (own / "memory.db").touch()
    result, _ = looked(shell)
    assert result["settings"][0][0] == "warn"
    assert "PRIMING_URL" in result["settings"][0][1]


def test_a_socket_at_which_nobody_answers_is_warned_of_and_one_that_others_may_use_fails(shell):
    shell.ask("remember", "Ada wrote it.")
    path = shell.folder / "memory.db.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    path.chmod(0o600)
    result, status = looked(shell)
    assert (result["server"][0][0], status) == ("warn", 0)
    assert "priming serve" in result["server"][0][2]
    path.chmod(0o777)
    result, status = looked(shell)
    assert (result["server"][0][0], status) == ("fail", 1)


def test_people_read_a_line_for_each_check_and_the_remedy_below(shell):
    done = shell.run("doctor")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ok    python  ")
    at = next(i for i, line in enumerate(lines) if line.startswith("warn  store"))
    assert "→ the first memory creates it" in "".join(lines[at : at + 3])
