"""The same script through the library, the command line, HTTP, the socket and MCP gives the same answers."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from priming.errors import PrimingError
from priming.operations.service import LocalService
from priming.operations.table import BY_NAME, SERVED

PRIMING = str(Path(sys.executable).parent / "priming")
WHEN = "2026-03-01T09:00:00+00:00"

SCRIPT = [
    ("status", {}, ["status"]),
    (
        "remember",
        {"content": "Ada wrote the first program.", "key": "ada", "session": "monday", "tags": ["history"]},
        [
            "remember",
            "Ada wrote the first program.",
            "--key",
            "ada",
            "--session",
            "monday",
            "--tag",
            "history",
        ],
    ),
    (
        "remember",
        {"content": "The port is 8080.", "key": "port", "kind": "fact", "occurred_at": WHEN},
        ["remember", "The port is 8080.", "--key", "port", "--kind", "fact", "--occurred-at", WHEN],
    ),
    ("remember", {"content": "x", "importance": 7}, ["remember", "x", "--importance", "7"]),
    ("remember", {"content": "x", "key": "ada"}, ["remember", "x", "--key", "ada"]),
    ("remember_many", {"items": [{"content": "Bob tests.", "key": "bob"}, {"content": "Eve reads."}]}, None),
    (
        "recall",
        {"text": "who wrote the program", "limit": 3, "tokens": 60, "cue": {"language": "go"}, "trace": True},
        [
            *["recall", "who wrote the program", "--limit", "3", "--tokens", "60", "--language", "go"],
            "--trace",
        ],
    ),
    ("recall", {"text": "zzz", "kinds": ["correction"]}, ["recall", "zzz", "--kind", "correction"]),
    ("recall", {"text": "who tests", "floor": 1.0}, ["recall", "who tests", "--floor", "1"]),
    ("recall", {"text": "who tests", "floor": 2.0}, ["recall", "who tests", "--floor", "2"]),
    ("recall", {"text": " "}, ["recall", " "]),
    ("recall", {"text": "x", "valid_at": "2026-03-01"}, None),
    (
        "feedback",
        {"used": ["ada"], "not_relevant": ["bob"]},
        ["feedback", "--used", "ada", "--not-relevant", "bob"],
    ),
    ("feedback", {"used": ["nobody"]}, ["feedback", "--used", "nobody"]),
    (
        "learn",
        {"right": "Use tabs", "wrong": "spaces", "cue": {"language": "go"}},
        ["learn", "--right", "Use tabs", "--wrong", "spaces", "--language", "go"],
    ),
    ("active", {"cue": {"language": "go"}}, ["active", "--language", "go", "--no-global"]),
    ("link", {"source": "ada", "target": "bob", "relation": "requires", "weight": 0.7}, None),
    ("links", {"key": "ada"}, ["links", "ada"]),
    (
        "supersede",
        {"key": "port", "content": "The port is 9090."},
        ["supersede", "port", "The port is 9090."],
    ),
    ("get", {"key": "port"}, ["show", "port"]),
    ("get", {"key": "prt"}, ["show", "prt"]),
    ("history", {"key": "port"}, ["history", "port"]),
    ("as_of", {"key": "port", "valid_at": WHEN}, ["as-of", "port", "--valid-at", WHEN]),
    ("why", {"key": "ada"}, ["why", "ada"]),
    ("forget", {"key": "bob"}, ["forget", "bob"]),
    ("forget", {"key": "bob"}, ["forget", "bob"]),
    ("list", {"limit": 2}, ["list", "--limit", "2"]),
    ("log", {"limit": 3}, ["log", "--limit", "3"]),
    ("sleep", {"dry_run": True}, ["sleep", "--dry-run"]),
    ("sleep", {"stages": ["dreaming"]}, ["sleep", "dreaming"]),
    ("reembed", {}, None),
    ("ablate", {"terms": ["bm25", "date"]}, ["ablate", "bm25", "date"]),
    ("ablate", {"terms": ["luck"]}, ["ablate", "luck"]),
    ("stats", {}, ["stats"]),
    ("validate", {}, ["validate"]),
]
"""An operation, its request, and the same on the command line, where one says it so."""


@pytest.fixture(scope="module")
def by_library(tmp_path_factory):
    host = LocalService(f"sqlite:///{tmp_path_factory.mktemp('library')}/memory.db")
    with closing(host):
        return run(lambda operation, request: outcome(host.call, "default", operation, request))


def outcome(call, *given):
    """The answer of a call, or its error as callers are told it."""
    try:
        return call(*given)
    except PrimingError as error:
        return {"error": told(error)}


def run(ask):
    return [alike(operation, ask(operation, request)) for operation, request, _ in SCRIPT]


def alike(operation, answer):
    """An answer without what differs from one store and moment to the next: ids, times, sizes, the last digits."""
    if operation == "stats":
        answer = {**answer, "bytes": 0}
    return stripped(answer)


def stripped(value, name=""):
    if name == "timings":
        return sorted(value)
    if isinstance(value, dict):
        kept = {
            key: one for key, one in value.items() if key != "violations"
        }  # the socket's clients need the parts
        return {key: stripped(one, key) for key, one in kept.items()}
    if isinstance(value, list):
        return [stripped(one) for one in value]
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, str):
        value = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID", value)
        return re.sub(r"20\d\d-\d\d-\d\dT[\d:.]+(\+00:00|Z)", "TIME", value)
    return value


def differences(one, other):
    return [
        (operation, request, mine, theirs)
        for (operation, request, _), mine, theirs in zip(SCRIPT, one, other, strict=True)
        if mine != theirs
    ]


def test_http_answers_as_the_library(by_library, process):
    server = process()

    def ask(operation, request):
        return httpx2.post(f"{server.at}/v1/default/{operation}", json=request, timeout=60).json()

    assert differences(by_library, run(ask)) == []


def test_the_socket_answers_as_the_library(by_library, process, tmp_path):
    process()
    with ExitStack() as stack:
        line = stack.enter_context(socket.socket(socket.AF_UNIX))
        line.connect(str(tmp_path / "memory.db.sock"))
        reading = stack.enter_context(line.makefile("rb"))

        def ask(operation, request):
            line.sendall(json.dumps({"op": operation, "args": request}).encode() + b"\n")
            answer = json.loads(reading.readline())
            return answer["data"] if answer["status"] == "ok" else {"error": answer["error"]}

        assert differences(by_library, run(ask)) == []


def test_mcp_answers_as_the_library(by_library, tmp_path):
    async def talk():
        how = StdioServerParameters(
            command=PRIMING, args=["--url", f"sqlite:///{tmp_path}/memory.db", "mcp", "--tools", "full"]
        )
        answers = []
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            async with Client(stdio_client(how, errlog=nowhere)) as client:
                for operation, request, _ in SCRIPT:
                    budget = (
                        {"tokens": 1_000_000} if operation == "recall" and "tokens" not in request else {}
                    )
                    found = await client.call_tool(operation, {**request, **budget})
                    answers.append((operation, found))
        return [alike(operation, content(operation, found)) for operation, found in answers]

    assert differences(by_library, anyio.run(talk)) == []


def content(operation, found):
    if found.is_error:
        return json.loads(found.content[0].text)
    whole = found.structured_content
    return (
        whole
        if BY_NAME[operation].answer.__class__ is type and list(whole) != ["result"]
        else whole["result"]
    )


def test_the_command_line_answers_as_the_library(by_library, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRIMING_")}
    host = Host(url)

    def ask(operation, request):
        line = next(line for name, sent, line in SCRIPT if (name, sent) == (operation, request))
        if line is None:
            return outcome(host.call, "default", operation, request)
        done = subprocess.run(
            [PRIMING, "--url", url, "--json", *line], capture_output=True, text=True, check=False, env=kept
        )
        return json.loads(done.stdout if done.returncode == 0 else done.stderr)

    with closing(host):
        assert differences(by_library, run(ask)) == []


def test_no_operation_is_left_out_without_a_reason():
    """Those that the script does not try are tried on HTTP by their examples, and share their way with these."""
    assert {operation for operation, _, _ in SCRIPT} <= {op.name for op in SERVED}
    assert len({operation for operation, _, _ in SCRIPT}) >= 20
