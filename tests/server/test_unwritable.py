"""A store that is read-only, or whose disk is full: every surface reads it, and every write is refused."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
from contextlib import closing
from functools import partial

import httpx2
import psycopg
import pytest
from tests.cli.conftest import invoke
from tests.hooks.project import COMMAND
from tests.server.postgres.server import as_role, as_superuser, empty
from tests.storage.processes import in_child, without_rights
from tests.stress.faults import small_disk

from priming import HashedEmbedder, Memory, StoreError
from priming.config.params.services import ServerParams
from priming.operations.service import LocalService
from priming.verbs.rows import BY_NAME
from priming_server import examples
from priming_server.access.tokens import Tokens

from .conftest import Process, Served
from .scene import OPERATIONS, example, prepare

pytestmark = pytest.mark.slow
DISK = 16 << 20
HARMLESS = {"ablate", "aliases", "deduplicate", "import_lines", "loop_consolidate", "loop_prune"} | {
    *("normalize_strengths", "pack_add", "reembed", "sleep")
}
"""Operations that may write, and whose examples change nothing: a dry run, or what is there already."""
CLOSED = ("cannot be written", "disk is full", "refuses this role")
PROMPTS = {
    "session-start": {"hook_event_name": "SessionStart", "source": "startup"},
    "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "which port does the server listen on?"},
    "pre-tool": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}},
    "post-tool": {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "git push"},
    },
    "stop": {"hook_event_name": "Stop"},
}


def filled(url):
    """A store with all that the examples need, a rule, and a token; the ids, and the token's secret."""
    with closing(LocalService(url, embedder=HashedEmbedder())) as service:
        ids = prepare(
            lambda name, *rest: service.call("default", name, rest[0], operation_id=[*rest, None][1])
        )
        service.call("default", "learn", {"right": "Never push to main.", "wrong": "Push to main."})
    with closing(Tokens(url)) as tokens:
        return ids, tokens.new("*", kind="admin").secret


def wrong_answers(ask, ids):
    """The operations that do not answer as they have to."""
    wrong, proposal = {}, ask("sleep", {"dry_run": True, "stages": ["light"]}).json()["id"]
    for name in OPERATIONS:
        answer = ask(name, example(name, {**ids, examples.PROPOSAL: proposal}))
        is_refused = answer.status_code == 500 and any(words in answer.text for words in CLOSED)
        is_read = answer.status_code == 200 and (name in HARMLESS or not BY_NAME[name].writes)
        if not (is_read or (is_refused and BY_NAME[name].writes)):
            wrong[name] = answer.text
    return wrong


def check_server(at, token, ids):
    with httpx2.Client(base_url=at, timeout=60, headers={"Authorization": f"Bearer {token}"}) as client:
        check_answers(client, lambda name, request: client.post(f"/v1/default/{name}", json=request), ids)


def check_answers(client, ask, ids):
    assert client.get("/ready").json()["writable"] is False
    assert wrong_answers(ask, ids) == {}
    assert ask("recall", {"text": "which port"}).json()["degraded"] == ["trace"]
    call = {"name": "recall", "arguments": {"text": "which port"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = client.post(
        "/v1/default/mcp", json=message, headers={"Accept": "application/json, text/event-stream"}
    )
    assert "port 8080" in answer.text


def check_socket(path):
    """Ethos' protocol, at the store's own socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.connect(str(path))
        for message in ({"action": "search", "query": "port"}, {"action": "ingest", "content": "x"}):
            end.sendall(json.dumps(message).encode() + b"\n")
        with end.makefile("rb") as lines:
            read, written = (json.loads(lines.readline()) for _ in range(2))
    assert "port 8080" in json.dumps(read)
    assert any(words in json.dumps(written) for words in CLOSED)


def check_commands(project, before=None):
    """Commands, hooks and MCP on standard input in the project: processes of their own, but for plain commands.

    Those are processes too where only a new one is without the rights of this.
    """

    def plain(*arguments):
        if before is not None:
            done = run(*arguments)
            return done.returncode, done.stdout, done.stderr
        with contextlib.chdir(project):
            done = invoke(arguments)
        return done.exit_code, done.stdout, done.stderr

    def run(*arguments, sent=None):
        return subprocess.run(
            [*COMMAND, *arguments], input=sent, capture_output=True, text=True, cwd=project, preexec_fn=before
        )

    for arguments in (
        ["recall", "port"],
        ["status"],
        ["token", "list"],
        ["list"],
        ["active"],
        ["verify"],
        ["log"],
    ):
        status, _, errors = plain(*arguments)
        assert status == 0, (arguments, errors)
    for arguments in (["remember", "x"], ["token", "new", "x"], ["forget", "port"]):
        status, _, errors = plain(*arguments)
        assert status == 1, (arguments, errors)
        assert any(words in errors for words in CLOSED), errors
    assert "cannot be written" in plain("doctor")[1]
    hooks = {
        name: run("hook", name, "--agent", "claude-code", sent=json.dumps({"session_id": "s", **sent}))
        for name, sent in PROMPTS.items()
    }
    assert {name: (done.returncode, done.stderr) for name, done in hooks.items()} == dict.fromkeys(
        hooks, (0, "")
    )
    assert "Never push to main" in hooks["session-start"].stdout
    assert "port 8080" in hooks["prompt"].stdout
    corrected = {"session_id": "s", "prompt": "no, never use port 9000, use port 8080"}
    assert "does not have the user's correction" in run("hook", "prompt", sent=json.dumps(corrected)).stdout
    command = [sys.executable, "-m", "priming.cli.start", "mcp"]
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, cwd=project, preexec_fn=before, **pipes) as client:
        answers = [
            answer_of(client, "initialize", start),
            answer_of(client, "tools/call", {"name": "recall", "arguments": {"text": "which port"}}),
            answer_of(client, "tools/call", {"name": "remember", "arguments": {"content": "x"}}),
        ]
        client.stdin.close()
    assert "port 8080" in answers[1]
    assert any(words in answers[2] for words in CLOSED)


def answer_of(client, method, params):
    """The answer of an MCP server on standard output."""
    client.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
    client.stdin.flush()
    return client.stdout.readline()


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "shop"
    for place in (folder / ".priming", folder / ".git", tmp_path / "home", tmp_path / "run"):
        place.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith("PRIMING_")]:
        monkeypatch.delenv(name)
    for name, value in {"EMBEDDER": "hashed", "HOOKS_SERVER": "off"}.items():
        monkeypatch.setenv(f"PRIMING_{name}", value)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    return folder


def test_a_store_that_is_read_only_is_read_on_every_surface(project, tmp_path):
    store = project / ".priming" / "memory.db"
    ids, token = filled(f"sqlite:///{store}")
    for path in (store, store.parent):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with closing(Process(store.parent, log=tmp_path / "log", before=without_rights)) as server:
            check_server(server.at, token, ids)
            (beside,) = (tmp_path / "run").rglob("*.sock")
            check_socket(beside)
        check_commands(project, without_rights)
    finally:
        store.parent.chmod(0o755)


def test_a_store_on_a_full_disk_is_read_on_every_surface(project, tmp_path):
    assert in_child(partial(live_on_a_full_disk, project, tmp_path)) == "read"


def live_on_a_full_disk(project, tmp_path):
    own, store = small_disk(project, DISK), project / ".priming" / "memory.db"
    for folder in (store.parent, project / ".git"):
        folder.mkdir(exist_ok=True)
    ids, token = filled(f"sqlite:///{store}")
    with closing(Process(store.parent, log=tmp_path / "log")) as under_way:
        fill(project, own, under_way.process.pid)
        check_server(under_way.at, token, ids)
        check_socket(f"{store}.sock")
        check_commands(project)
    with closing(Process(store.parent, log=tmp_path / "log")) as begun:
        check_server(begun.at, token, ids)
    check_commands(project)
    store.with_name("memory.db-shm").unlink(missing_ok=True)
    with Memory.open(f"sqlite:///{store}", embedder=HashedEmbedder()) as memory:
        assert memory.recall("which port").hits[0].memory.key == "port"
        with pytest.raises(StoreError, match="the disk is full"):
            memory.remember("No room.")
        make_room(project, own)
        assert memory.remember("There is room.", key="room").key == "room"
    return "read"


def fill(folder, own, *processes):
    """Leave no free byte to this process, its children, and others."""
    if not own:
        for process in (0, *processes):
            resource.prlimit(process, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        return
    with (folder / "ballast").open("wb", buffering=0) as ballast:
        size = 1 << 16
        while size:
            try:
                ballast.write(bytes(size))
            except OSError:
                size //= 2
    assert shutil.disk_usage(folder).free == 0


def make_room(folder, own):
    if own:
        (folder / "ballast").unlink()
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@pytest.fixture
def read_only_urls(postgres):
    """A store for a session that only reads, as on a standby, and for a role that may only read; ids and a token."""
    url = f"{postgres}&schema=unwritable"
    ids, token = filled(url)
    with psycopg.connect(as_superuser(postgres), autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA unwritable TO reader")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA unwritable TO reader")
        yield (f"{url}&options=-c%20default_transaction_read_only%3Don", as_role(url, "reader")), ids, token
        empty(postgres, "unwritable")
        connection.execute("DROP OWNED BY reader")
        connection.execute("DROP ROLE reader")


def test_a_database_that_only_reads_is_read_on_every_surface(read_only_urls, project, monkeypatch):
    urls, ids, token = read_only_urls
    for url in urls:
        with closing(Served(url, ServerParams(), mounts=True)) as server:
            check_server(server.at, token, ids)
        monkeypatch.setenv("PRIMING_URL", url)
        check_commands(project)
