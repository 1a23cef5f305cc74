"""The same script through the library, the command line, HTTP, the socket and MCP gives the same answers."""

import json
import os
import re
from contextlib import closing
from functools import partial

import anyio
import pytest
from tests.cli.conftest import invoke
from tests.mcp.clients import connected

from priming import HashedEmbedder
from priming.errors import PrimingError
from priming.operations import replies
from priming.operations.connection import connect
from priming.operations.service import LocalService
from priming.serialization import error_payload
from priming.verbs.rows import BY_NAME, SERVED

from .conftest import DEADLINE

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
        {
            "content": "The port is 8080.",
            "key": "port",
            "kind": "fact",
            "occurred_at": WHEN,
            "valid_from": WHEN,
        },
        [
            *["remember", "The port is 8080.", "--key", "port", "--kind", "fact", "--occurred-at", WHEN],
            *["--valid-from", WHEN],
        ],
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
    ("ablate", {"terms": ["words", "date"]}, ["ablate", "words", "date"]),
    ("ablate", {"terms": ["luck"]}, ["ablate", "luck"]),
    ("loop_store", {"trigger": "short", "resolution": "x"}, None),
    (
        "loop_store",
        {"trigger": "Release a version: 403", "resolution": "Log in first", "type": "pattern"},
        [
            *["loop", "store", "--type", "pattern", "--trigger", "Release a version: 403"],
            *["--resolution", "Log in first"],
        ],
    ),
    ("loop_chunk", {"task": "Tidy up", "outcome": "failed", "approach": "x"}, None),
    ("loop_context", {"objective": "Release a version", "cue": {"language": "go"}}, None),
    ("loop_recall", {"query": "release a version", "limit": 2}, None),
    (
        "loop_feedback",
        {"utilized": ["release-a-version-403"], "injected": ["release-a-version-403", "nobody"]},
        [
            *["loop", "feedback", "--utilized", '["release-a-version-403"]'],
            *["--injected", '["release-a-version-403", "nobody"]'],
        ],
    ),
    ("loop_connected", {"name": "release-a-version-403"}, ["loop", "connected", "release-a-version-403"]),
    ("loop_health", {}, ["loop", "health"]),
    ("loop_decay", {"days": 3}, ["loop", "decay", "--days", "3"]),
    ("loop_prune", {}, ["loop", "prune"]),
    ("loop_consolidate", {}, ["loop", "consolidate"]),
    ("loop_task_new_session", {"objective": "Release it"}, None),
    ("loop_task_get", {"session": "none"}, ["loop", "task", "get", "--session", "none"]),
    ("loop_task_add", {"session": "none", "seq": 0, "objective": "Tag it"}, None),
    ("loop_task_block", {"session": "none", "seq": 1, "reason": " "}, None),
    ("loop_meta_assess", {"session": "none"}, ["loop", "meta", "assess", "--session", "none"]),
    ("loop_report", {}, ["loop", "status"]),
    ("loop_list", {"limit": 1}, ["loop", "list", "--limit", "1"]),
    ("stats", {}, ["stats"]),
    ("validate", {}, ["validate"]),
    ("remember", {"content": "Bob Dylan and Bob Ross met.", "key": "two"}, None),
    ("purge", {"subject": "Bob", "dry_run": True}, ["purge", "--subject", "Bob", "--dry-run"]),
    (
        "purge",
        {"subject": "Bob", "include": ["nobody"]},
        ["purge", "--subject", "Bob", "--include", "nobody", "--yes"],
    ),
    (
        "purge",
        {"subject": "Bob", "include": ["two"]},
        ["purge", "--subject", "Bob", "--include", "two", "--yes"],
    ),
]
"""An operation, its request, and the same on the command line, where one says it so."""


@pytest.fixture(scope="module")
def by_library(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('library')}/memory.db"
    return in_library(LocalService(url, embedder=HashedEmbedder()))


def in_library(service):
    with closing(service):
        return run(partial(outcome, service.call, "default"))


def outcome(call, *arguments):
    """The answer of a call, or its error as callers get it."""
    try:
        return call(*arguments)
    except PrimingError as error:
        return {"error": error_payload(error)}


def run(ask):
    return [alike(operation, ask(operation, request)) for operation, request, _ in SCRIPT]


def alike(operation, answer):
    """An answer without what differs from one store and moment to the next: ids, times, sizes, the last digits."""
    if operation == "stats":
        answer = {**answer, "bytes": 0}
    if operation == "purge":
        answer = {**answer, "copies": []} if "copies" in answer else answer
    return stripped(answer)


CALLER = ("actor", "via")


def stripped(value, name=""):
    if name == "timings":
        return sorted(value)
    if isinstance(value, dict):
        return {  # clients at the socket get the violations one by one as well, and each says by what it was called
            name: stripped(inner, name)
            for name, inner in value.items()
            if name not in ("violations", *CALLER)
        }
    if isinstance(value, list):
        return [stripped(item) for item in value]
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, str):
        value = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID", value)
        return re.sub(r"20\d\d-\d\d-\d\dT[\d:.]+(\+00:00|Z)", "TIME", value)
    return value


def differences(own, other):
    return [
        (operation, request, mine, theirs)
        for (operation, request, _), mine, theirs in zip(SCRIPT, own, other, strict=True)
        if mine != theirs
    ]


def test_http_answers_as_the_library(by_library, served):
    answers = run(lambda operation, request: served.ask(operation, request).json())
    assert differences(by_library, answers) == []


def test_the_client_of_a_running_server_answers_as_the_library(by_library, served):
    with closing(connect(served.local.path, served.local.greeting, DEADLINE)) as connection:

        def call(operation, request):
            return connection.call("default", operation, request, long=BY_NAME[operation].long)

        assert differences(by_library, run(partial(outcome, call))) == []


def test_the_socket_of_ethos_answers_as_the_library(by_library, served):
    def ask(operation, request):
        (answer,) = served.envelopes({"op": operation, "args": request})
        return answer["data"] if answer["status"] == "ok" else {"error": answer["error"]}

    assert differences(by_library, run(ask)) == []


def test_mcp_answers_as_the_library(by_library, tmp_path):
    async def talk():
        answers = []
        async with connected(service, groups="all") as client:
            for operation, request, _ in SCRIPT:
                budget = {"tokens": 1_000_000} if operation == "recall" and "tokens" not in request else {}
                sent = {**request, **budget, "explain": True}
                answers.append((operation, await client.call_tool(operation, sent)))
        return [alike(operation, content(operation, result)) for operation, result in answers]

    with closing(LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder())) as service:
        answers = anyio.run(talk)
    expected = [shortened(*pair) for pair in zip(SCRIPT, by_library, strict=True)]
    assert differences(expected, answers) == []


def shortened(step, answer):
    """What an agent gets of an answer: fields of it, and the operation of one that writes; no rows of the log."""
    op = BY_NAME[step[0]]
    if isinstance(answer, dict) and "error" in answer:
        return answer
    if replies.is_short(op):
        operation = {"id": "ID", "changes": [], "message": None}
        reply, _ = replies.short(op, answer, operation)
        return {name: value for name, value in reply.items() if name not in ("operation", "message")}
    whole = replies.without_rows(op, answer)
    return without_messages(whole) if op.name in ("log", "why") else whole


def without_messages(value):
    """A value without the messages of its operations, which a short answer makes from their rows."""
    if isinstance(value, dict):
        return {name: without_messages(inner) for name, inner in value.items() if name != "message"}
    return [without_messages(item) for item in value] if isinstance(value, list) else value


def content(operation, result):
    if result.is_error:
        return json.loads(result.content[0].text)
    whole = result.structured_content
    if replies.is_short(BY_NAME[operation]):
        return {name: value for name, value in whole.items() if name not in ("operation", "message")}
    is_object = BY_NAME[operation].answer.__class__ is type and list(whole) != ["result"]
    answer = whole if is_object else whole["result"]
    return without_messages(answer) if operation in ("log", "why") else answer


def test_the_command_line_answers_as_the_library(by_library, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    own = {name: None for name in os.environ if name.startswith("PRIMING_") and name != "PRIMING_HOME"}
    environment = own | {"PRIMING_EMBEDDER": "hashed"}

    def ask(operation, request):
        line = next(line for name, arguments, line in SCRIPT if (name, arguments) == (operation, request))
        if line is None:
            return outcome(service.call, "default", operation, request)
        ended = invoke(["--url", url, "--json", *line], environment=environment)
        return json.loads(ended.stderr if ended.exit_code else ended.stdout)

    with closing(LocalService(url, embedder=HashedEmbedder())) as service:
        answers = run(ask)
    expected, shown = (list(map(without_empty_reason, each)) for each in (by_library, answers))
    assert differences(expected, shown) == []


def without_empty_reason(answer):
    """An answer without a reason that is null, which the commands in the shape of Arc leave out."""
    if not isinstance(answer, dict):
        return answer
    return {name: value for name, value in answer.items() if name != "reason" or value is not None}


def test_no_operation_is_left_out_without_a_reason():
    """Those that the script does not try are tried on HTTP by their examples, and share their way with these."""
    assert {operation for operation, _, _ in SCRIPT} <= {op.name for op in SERVED}
    assert len({operation for operation, _, _ in SCRIPT}) >= 20
