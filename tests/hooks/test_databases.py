"""Hooks whose store is in PostgreSQL: they recall from it and write to it, and go without it while it is away."""

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from tests.rows import each_row
from tests.server.postgres.server import empty

from priming import HashedEmbedder, Memory
from priming.config.environment import locate
from priming_agents import stores
from priming_agents.command import respond, run
from priming_agents.session import NOTICE
from priming_agents.stores import database_at

from .project import COMMAND

AWAY = "postgresql://ann:secret@127.0.0.1:1/team?connect_timeout=1"
SCHEMA = "hooked"


def payload(session, prompt=""):
    return json.dumps({"session_id": session, "cwd": os.getcwd(), "prompt": prompt}).encode()


@pytest.fixture
def hook(monkeypatch, capfd):
    """Runs a hook of the project whose store the environment names; its text and its standard error."""

    def call(event, session, prompt=""):
        supplied = SimpleNamespace(buffer=io.BytesIO(payload(session, prompt)), isatty=lambda: False)
        monkeypatch.setattr(sys, "stdin", supplied)
        run(event=event, agent="claude-code", server=False)
        printed = capfd.readouterr()
        text = json.loads(printed.out)["hookSpecificOutput"]["additionalContext"] if printed.out else ""
        return text, printed.err

    return call


@pytest.fixture
def url(postgres, monkeypatch):
    empty(postgres, SCHEMA)
    url = f"{postgres}&schema={SCHEMA}"
    monkeypatch.setenv("PRIMING_URL", url)
    yield url
    empty(postgres, SCHEMA)


@each_row(
    "url",
    [
        "postgresql://ann@db.example/team",
        "postgresql://ann:pw@db.example:5433/team?schema=notes&pool=3&sslmode=require",
        "postgresql:///team?host=/var/run/postgresql",
    ],
)
def test_a_location_in_a_database_has_a_url_that_names_it_again(url):
    assert locate(locate(url).as_url()) == locate(url)


def test_each_store_in_a_database_has_a_place_of_this_user_that_tells_no_password(home):
    places = {database_at(url)[1] for url in (AWAY, AWAY.replace("secret", "other"), f"{AWAY}&schema=notes")}
    assert len(places) == 2
    for place in places:
        assert place.is_relative_to(home)
        assert "secret" not in place.read_text()
        assert "other" not in place.read_text()


def test_a_database_that_is_away_is_said_once_and_asked_again_later(monkeypatch, hook, home):
    monkeypatch.setenv("PRIMING_URL", AWAY)
    text, error = hook("session-start", "s")
    assert text == ""
    assert error.count("\n") == 1
    assert "'team' on 127.0.0.1:1 cannot be reached" in error
    assert "secret" not in error
    assert hook("session-start", "s") == ("", "")
    assert hook("prompt", "s", "No, use uv instead of pip.") == ("", "")
    assert len(list(home.rglob("*.queued"))) == 1, "the correction waits"
    _, database = database_at(AWAY)
    assert stores.is_away(database)
    earlier(f"{database}.away")
    assert not stores.is_away(database)
    assert hook("session-start", "s") == ("", "")
    assert stores.is_away(database)


def earlier(path):
    long_ago = time.time() - 3600
    os.utime(path, (long_ago, long_ago))


def test_a_hook_that_looks_for_its_store_loads_no_driver(monkeypatch):
    monkeypatch.setenv("PRIMING_URL", AWAY)
    code = (
        "import sys; from priming_agents.stores import database_of; assert database_of(None).is_file();"
        " assert not {'psycopg', 'numpy', 'priming.memory', 'priming.storage'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_what_a_team_knows_reaches_the_hooks_and_what_they_learn_the_team(url, hook):
    with Memory.open(url, embedder=HashedEmbedder()) as team:
        team.remember("Releases of the shop go through the blue gate.", key="gate")
    text, error = hook("prompt", "s", "How do releases of the shop go out?")
    assert ("blue gate" in text, error) == (True, "")
    text, error = hook("prompt", "s", "No, use uv instead of pip.")
    assert ("Learned from what the user said" in text, error) == (True, "")
    with Memory.open(url, embedder=HashedEmbedder()) as team:
        (rule,) = team.list(kinds=["behavior"])
        assert "uv" in rule.content
    text, _ = hook("session-start", "t")
    assert "Use uv instead of pip" in text
    assert not Path(".priming").exists(), "no store in a file comes into being beside it"


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "answer"), [("SHARE", True), ("ACCESS EXCLUSIVE", False)])
def test_a_hook_that_a_database_holds_up_tells_what_it_can_read(url, postgres, mode, answer):
    with Memory.open(url, embedder=HashedEmbedder()) as team:
        team.learn("Never push to main")
    rest = 59.0 if answer else 0.1
    hurried = COMMAND[-1].replace("patience=600.0", f"patience={rest + 2.0}, rest={rest}")
    with psycopg.connect(postgres) as other:
        tables = other.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [SCHEMA]).fetchall()
        names = ", ".join(f"{SCHEMA}.{name}" for (name,) in tables)
        other.execute(f"LOCK TABLE {names} IN {mode} MODE")
        arguments = [sys.executable, "-c", hurried, "hook", "session-start", "--agent", "opencode"]
        done = subprocess.run(arguments, input=payload("s"), capture_output=True, check=True, timeout=120)
    text = json.loads(done.stdout)["context"]
    assert (text.startswith(NOTICE), "Never push to main" in text) == (True, answer)
    assert b"TimeoutError" in done.stderr


@pytest.mark.slow
def test_a_correction_during_an_outage_is_learned_when_the_database_is_back(
    url, hook, tmp_path, monkeypatch, home
):
    folder = locate(url).url.partition("host=")[2]
    link = tmp_path / "socket"
    monkeypatch.setenv("PRIMING_URL", url.replace(folder.replace("%2F", "/"), str(link)))
    assert "cannot be reached" in hook("prompt", "s", "No, use uv instead of pip.")[1]
    link.symlink_to(folder.replace("%2F", "/"))
    (queued,) = home.rglob("*.queued")
    (note,) = home.rglob("*.away")
    earlier(queued)
    earlier(note)
    text, error = hook("session-start", "s")
    assert (error, list(home.rglob("*.queued")), list(home.rglob("*.away"))) == ("", [], [])
    assert "Use uv instead of pip" in text


@pytest.mark.slow
def test_a_named_store_in_a_database_is_used_alone(url):
    with Memory.open(url, embedder=HashedEmbedder()) as team:
        team.remember("Invoices are archived by Olga.")
    assert "Olga" in respond("prompt", payload("s", "Who archives invoices?"), "claude-code", {"url": url})


@pytest.mark.slow
def test_the_server_of_a_session_is_seen_and_stopped_as_that_of_a_file(url):
    with Memory.open(url, embedder=HashedEmbedder()) as team:
        team.remember("Releases of the shop go through the blue gate.", key="gate")
    start = [sys.executable, "-m", "priming.cli.start"]
    server = subprocess.Popen([*start, "serve", "--local", "--idle", "30m"])
    try:

        def shown(*words):
            return subprocess.run([*start, *words], capture_output=True, text=True, check=True).stdout

        while f"process {server.pid}" not in shown("status"):
            assert server.poll() is None
        assert "server  running" in subprocess.run([*start, "doctor"], capture_output=True, text=True).stdout
        assert "ended the server" in shown("serve", "--stop")
        server.wait(120)
    finally:
        server.kill()
        server.wait()
