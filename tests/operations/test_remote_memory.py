"""The command line says the same whether it works on the file or by a server of it."""

import re
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from priming import Memory
from priming.cli.main import app
from priming.cli.options import Place
from priming.operations.client import Client, reach
from priming.operations.remote_memory import Remote

SCRIPT = [
    ["status"],
    ["remember", "Ada wrote the first program.", "--key", "ada", "--session", "monday", "--tag", "history"],
    ["remember", "The port is 8080.", "--key", "port", "--kind", "fact", "--when", "language=go"],
    ["remember", "The port is 8080.", "--kind", "fact"],
    ["remember", "Then Bob wrote the second program.", "--key", "bob", "--session", "monday"],
    ["remember", "x", "--importance", "nan"],
    ["recall", "who wrote the program", "--language", "go", "--trace"],
    ["recall", "which port", "--tokens", "40"],
    ["recall", "nothing of the kind", "--kind", "fact"],
    ["recall", "x", "--filter", '{"recorded_at": {"at_most": "2020-01-01T00:00:00Z"}}'],
    ["used", "ada"],
    ["not-relevant", "bob", "--reason", "off the point"],
    ["link", "ada", "bob", "requires", "0.7"],
    ["links", "ada"],
    ["supersede", "port", "The port is 9090."],
    ["show", "port"],
    ["show", "prt"],
    ["history", "port"],
    ["learn", "--right", "Use tabs", "--wrong", "spaces", "--language", "go"],
    ["active", "--language", "go"],
    ["list", "--status", "any"],
    ["why", "ada"],
    ["forget", "bob"],
    ["forget", "bob"],
    ["log"],
    ["log", "--events"],
    ["graph", "dot"],
    ["graph", "strengths"],
    ["sleep", "--dry-run"],
    ["sleep"],
    ["sleep", "dreaming"],
    ["export", "out.jsonl"],
    ["run", "start", "tuesday"],
    ["run", "list"],
    ["fading"],
    ["review"],
    ["deduplicate"],
    ["rollback", "--since", "1h", "--dry-run"],
    ["purge", "ada", "--yes"],
    ["stats"],
    ["validate"],
    ["log", "--limit", "3"],
]
MASKS = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)?", "TIME"),
    (r"\d+(\.\d+)? ms:.*", "TIMINGS"),
    (r'"timings": \{[^}]*\}', "TIMINGS"),
    (r'"bytes": \d+|\d[\d.,]* (bytes|KB|MB)', "SIZE"),
]


def until(condition, what):
    """Ask again and again, until the answer is true; that answer."""
    deadline = time.monotonic() + 30
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what} did not come about"
        threading.Event().wait(0.005)
    return found


def masked(text):
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return re.sub(r"-?\d+\.\d{4,}(e-?\d+)?", lambda found: f"{float(found[0]):.3f}", text)


def said(folder, command, *options):
    """What a command says, and its status."""
    environment = {
        "PRIMING_URL": f"sqlite:///{folder}/memory.db",
        "PRIMING_HOME": str(folder),
        "PRIMING_NAMESPACE": None,
        "PRIMING_PROFILE": None,
        "PRIMING_SERVER": None,
    }
    done = CliRunner().invoke(app, [*command, *options], env=environment)
    return masked(done.stdout), masked(done.stderr), done.exit_code


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["for people", "for programs"])
def test_every_command_says_the_same_with_and_without_a_server(
    socket_server, tmp_path, tmp_path_factory, monkeypatch, options
):
    monkeypatch.chdir(tmp_path)
    alone = tmp_path_factory.mktemp("alone")
    for command in SCRIPT:
        wanted = said(alone, command, *options)
        assert said(socket_server.folder, command, *options) == wanted, command
        assert "Traceback" not in wanted[1]
    assert socket_server.ask({"action": "ping"})[0]["data"] == "pong"


def test_a_command_uses_the_server_unless_it_is_told_not_to(socket_server, monkeypatch):
    for place, kind in (
        (Place(url=socket_server.url), Remote),
        (Place(url=socket_server.url, file_only=True), Memory),
        (Place(url=socket_server.url, profile="ethos"), Memory),
    ):
        with place.memory() as memory:
            assert isinstance(memory, kind)
    monkeypatch.setenv("PRIMING_SERVER", "off")
    with Place(url=socket_server.url).memory() as memory:
        assert isinstance(memory, Memory)


def test_the_service_of_a_surface_is_the_server_too(socket_server):
    for place, kind in (
        (Place(url=socket_server.url), Client),
        (Place(url=socket_server.url, file_only=True), Host),
    ):
        service = place.service()
        assert isinstance(service, kind)
        assert service.call("default", "status", {})["memories"] == 0
        service.close()


def test_priming_serve_listens_beside_its_store_too(process):
    served = process()
    at = until(lambda: reach(served.url), "the socket")
    at.close()
    assert said(Path(served.log).parent, ["status", "--json"])[2] == 0
    assert served.end() == 0
    assert reach(served.url) is None
