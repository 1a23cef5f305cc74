"""``priming mcp`` as a process: its first answers come before anything heavy is loaded, and it ends when told to."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytestmark = pytest.mark.slow

DEADLINE = 30.0
START = "from priming.cli.start import main; main()"
WATCHED = """
import atexit, sys
heavy = {"mcp", "numpy", "pydantic", "priming.memory", "importlib.metadata"}
atexit.register(lambda: print(*heavy & set(sys.modules), file=sys.stderr))
"""
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
NEWEST = {"protocolVersion": "2026-07-28", "clientInfo": HELLO["clientInfo"], "clientCapabilities": {}}


class Talk:
    """A process of the server, and the messages to it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, method: str, params: Any = None, number: Any = None) -> None:
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        message |= {} if number is None else {"id": number}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        reply: dict[str, Any] = json.loads(self.process.stdout.readline())
        return reply

    def ask(self, method: str, params: Any = None, number: Any = 1) -> dict[str, Any]:
        self.send(method, params, number)
        return self.read()

    def begin(self) -> None:
        assert self.ask("initialize", HELLO, "hello")["id"] == "hello"
        self.send("notifications/initialized")

    def end(self) -> str:
        """Close the client's side, and return what the server wrote to standard error."""
        _, errors = self.process.communicate(timeout=DEADLINE)
        return errors.decode()


@contextmanager
def started(tmp_path: Any, before: str = "") -> Iterator[Talk]:
    command = [sys.executable, "-c", before + START, "--url", f"sqlite:///{tmp_path}/memory.db", "mcp"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield Talk(process)
        finally:
            process.kill()


def test_a_client_that_only_greets_loads_nothing_heavy(tmp_path: Any) -> None:
    with started(tmp_path, WATCHED) as talk:
        meta = {f"io.modelcontextprotocol/{name}": value for name, value in NEWEST.items()}
        assert talk.ask("server/discover", {"_meta": meta})["result"]["supportedVersions"]
        talk.begin()
        assert talk.ask("prompts/list")["result"]["prompts"]
        assert talk.end().strip() == ""
    assert not (tmp_path / "memory.db").exists()


def test_calls_follow_the_first_answers(tmp_path: Any) -> None:
    with started(tmp_path) as talk:
        talk.begin()
        assert len(talk.ask("tools/list", number=2)["result"]["tools"]) == 12
        fact = {"name": "remember", "arguments": {"content": "Tea is green.", "key": "tea"}}
        reply = talk.ask("tools/call", fact, 3)
        assert reply["id"] == 3
        assert reply["result"]["content"][0]["text"].startswith("stored tea\n")
        reply = talk.ask("tools/call", {"name": "recall", "arguments": {"text": "tea"}}, 4)
        assert "Tea is green." in reply["result"]["content"][0]["text"]
        assert len(talk.ask("tools/list", number=5)["result"]["tools"]) == 12
        assert talk.end() == ""


def test_requests_that_are_sent_at_once_are_all_answered(tmp_path: Any) -> None:
    with started(tmp_path) as talk:
        talk.send("initialize", HELLO, 0)
        talk.send("notifications/initialized")
        talk.send("tools/list", number=1)
        talk.send("tools/call", {"name": "list", "arguments": {}}, 2)
        talk.send("tools/call", {"name": "recall", "arguments": {"text": "tea"}}, 3)
        replies = [talk.read() for _ in range(4)]
        assert sorted(reply["id"] for reply in replies) == [0, 1, 2, 3]
        assert all("result" in reply for reply in replies)


LONG = "x" * 4_000_000
CALL = b'{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "recall", "arguments": {"text": %b}}, "id": 7}'
HOSTILE = {
    "a method that is too long": (
        json.dumps({"id": 7, "method": LONG}).encode(),
        7,
        "at most 128 characters",
    ),
    "too many values": (CALL % (b"[" + b"1," * 4_000_000 + b"1]"), 7, "at most 1,048,576 values"),
    "too deep": (CALL % (b"[" * 100_000 + b"]" * 100_000), 7, "at most 64 deep"),
    "no JSON": (b'{"id": "seven", "method": [}', "seven", "must be JSON"),
    "too long a line": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "' + LONG.encode() * 5 + b'"}',
        7,
        "must be JSON",
    ),
    "a nested id": (b'{"method": "ping", "params": {"id": 8', None, "must be JSON"),
}


@pytest.mark.timeout(DEADLINE)
def test_a_client_may_give_each_request_the_id_of_the_one_before(tmp_path: Any) -> None:
    with started(tmp_path) as talk:
        talk.begin()
        for _ in range(500):
            assert talk.ask("tools/call", {"name": "list", "arguments": {}})["id"] == 1
        assert talk.end().strip() == ""


def test_hostile_messages_get_a_short_answer_and_the_next_is_answered(tmp_path: Any) -> None:
    with started(tmp_path) as talk:
        talk.begin()
        for message, number, rule in HOSTILE.values():
            assert talk.process.stdin is not None
            talk.process.stdin.write(message + b"\n\n")
            talk.process.stdin.flush()
            reply = talk.read()
            assert reply["id"] == number
            assert rule in reply["error"]["message"]
            assert len(reply["error"]["message"]) < 400
            assert talk.ask("ping", number=1)["result"] == {}
        for method, params in (
            ("tools/call", {"name": LONG}),
            ("prompts/get", {"name": LONG}),
            ("resources/read", {"uri": f"priming://{LONG}"}),
            ("resources/read", {"uri": f"priming://memory/{LONG}"}),
        ):
            assert len(json.dumps(talk.ask(method, params))) < 5_000
        assert talk.end() == ""


@pytest.mark.parametrize("calls", [0, 1])
def test_an_interruption_ends_it_in_silence(tmp_path: Any, calls: int) -> None:
    with started(tmp_path) as talk:
        talk.begin()
        for number in range(calls):
            assert "result" in talk.ask("tools/call", {"name": "list", "arguments": {}}, number)
        talk.process.send_signal(signal.SIGINT)
        assert talk.process.wait(timeout=DEADLINE) == 0
        assert talk.process.stderr is not None
        assert talk.process.stderr.read() == b""


def test_a_stray_print_stays_off_the_wire(tmp_path: Any) -> None:
    before = "import threading\nthreading.excepthook = print\nimport sys\n"
    shout = "import priming.mcp.stdio as s\nold = s.load\ns.load = lambda: (print('stray'), old())\n"
    with started(tmp_path, before + shout) as talk:
        talk.begin()
        talk.ask("tools/list", number=2)
        assert talk.ask("tools/call", {"name": "list", "arguments": {}}, 3)["id"] == 3
        assert "stray" in talk.end()


def test_the_plugins_server_is_silent_beside_that_of_the_settings(tmp_path: Any) -> None:
    (tmp_path / "run").mkdir()
    own = {"CLAUDECODE": "1", "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    plugin = f"import os\nos.environ |= {own | {'CLAUDE_PLUGIN_ROOT': '/plugins/arc'}!r}\n"
    with started(tmp_path, f"import os\nos.environ |= {own!r}\n") as settings:
        settings.begin()
        with started(tmp_path, plugin + WATCHED) as talk:
            assert talk.ask("initialize", HELLO, "hello")["result"]["capabilities"] == {}
            assert "error" in talk.ask("tools/list", number=2)
            assert talk.end().strip() == ""
        assert len(settings.ask("tools/list", number=3)["result"]["tools"]) == 12
        settings.end()
    with started(tmp_path, plugin) as talk:
        talk.begin()
        assert len(talk.ask("tools/list", number=2)["result"]["tools"]) == 12
