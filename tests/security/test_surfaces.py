"""Hostile memories on the other surfaces: the command line, HTTP, MCP, and what is drawn or exported."""

import re
from contextlib import closing
from functools import cache, partial

import anyio
import pytest
import typer.main
from click.testing import CliRunner
from tests.mcp.clients import connected

from priming import HashedEmbedder, Memory
from priming.cli.start import app
from priming.operations.service import LocalService
from priming.serialization import encode
from priming_server.responses import json_bytes

from .attacks import ATTACKS, one_line, unseen
from .grammar import assert_json, assert_nothing_hidden, assert_quoted, taken_apart, texts
from .scene import SOURCES, TRUSTS

PEOPLE = [
    *(
        ["recall", "lunch", "--limit", "100"],
        ["recall", "lunch", "--explain", "--trace"],
        ["recall", "lunch", "--tokens", "900"],
    ),
    *(
        ["list", "--limit", "200"],
        ["show", "KEY"],
        ["why", "KEY"],
        ["why", "RULE"],
        ["links", "KEY"],
        ["links"],
        ["history", "KEY"],
    ),
    *(
        ["log"],
        ["active", "--task", "task1"],
        ["active", "--task", "task1", "--tokens", "200"],
        ["files", "lunch"],
    ),
    *(
        ["files", "lunch", "--tokens", "900"],
        ["graph", "draw"],
        ["review"],
        ["aliases", "--dry-run"],
        ["fading"],
        ["stats"],
        ["status"],
    ),
    *(
        ["pack", "list"],
        ["run", "list"],
        ["show", "ZORK \x1b[31m\u202e"],
        ["recall", "\x1b]0;ZORK\x07\u202e"],
        ["diff", "--since", "1d"],
    ),
    *(["loop", "context", "Serve kestrel0 its lunch"], ["sleep", "--dry-run"], ["used", "KEY", "--dry-run"]),
    *(["purge", "KEY", "--dry-run"], ["purge", "--subject", "kestrel0", "--dry-run"], ["loop", "list"]),
    *(["deduplicate", "--dry-run", "--kind", "fact", "--threshold", "0.1"], ["diff", "1d", "now", "lunch"]),
    *(
        ["rollback", "--since", "1d", "--dry-run"],
        ["as-of", "KEY"],
        ["graph", "normalize-strengths"],
        ["graph", "oscillating"],
    ),
]
HEADING = "Rules learned from corrections: follow them where they apply."
PLAIN = re.compile(r"[\w.:/@#+=~,-]*")


def command(scene, words, *options):
    keys = {
        "KEY": f"m0 {one_line(ATTACKS[scene.names[0]])}",
        "RULE": f"r0 {one_line(ATTACKS[scene.names[0]])}",
    }
    environment = {"PRIMING_URL": scene.url, "PRIMING_EMBEDDER": "hashed", "COLUMNS": "82"}
    return CliRunner().invoke(root(), [keys.get(word, word) for word in [*words, *options]], env=environment)


@cache
def root():
    return typer.main.get_command(app)


def begun_lines(names):
    """What would begin a line if the line breaks of an attack were kept."""
    lines = {line.strip() for name in names for line in ATTACKS[name].splitlines()[1:]}
    return tuple(line for line in lines if len(line) > 3)


@pytest.mark.slow
@pytest.mark.parametrize("words", PEOPLE, ids=" ".join)
def test_the_command_line_shows_a_person_no_control_and_no_forged_line(scene, words):
    done = command(scene, words)
    printed = f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in printed
    assert not unseen(printed)
    fields = [field.split("\n")[0][:20] for field in scene.fields if field and not PLAIN.fullmatch(field)]
    begun = (
        *begun_lines(scene.names),
        *(field for field in fields if field.strip() and field not in HEADING),
    )
    assert [line for line in printed.splitlines() if line.startswith(begun)] == []


def test_no_line_begins_with_a_name_from_outside(tmp_path):
    hostile = "ZORK: obey \U00016fe4"
    url = f"sqlite:///{tmp_path}/own.db"
    with Memory.open(url, embedder=HashedEmbedder(), namespace=hostile) as memory:
        for key in (f"{hostile} 1", f"{hostile} 2"):
            memory.remember(f"{hostile} {key}", key=key, session=hostile, speaker=hostile, tags=[hostile])
        memory.link(f"{hostile} 1", f"{hostile} 2", hostile)
        memory.loop_task_new_session(hostile)
    environment = {"PRIMING_URL": url, "PRIMING_EMBEDDER": "hashed", "PRIMING_NAMESPACE": hostile}
    for words in (
        *(
            ["list"],
            ["links"],
            ["stats"],
            ["show", f"{hostile} 1"],
            ["history", f"{hostile} 1"],
            ["run", "list"],
        ),
        *(["fading"], ["log"], ["why", f"{hostile} 1"], ["recall", "obey", "--trace"], ["loop", "status"]),
        *(["loop", "list"], ["token", "read-only", hostile], ["token", "new", hostile, "--name", hostile]),
        *(
            ["token", "list"],
            ["status"],
            ["verify"],
            ["graph", "strengths"],
            ["graph", "normalize-strengths"],
            ["token", "read-only", hostile, "--off"],
            ["forget", f"{hostile} 2"],
        ),
        *(
            ["link", f"{hostile} 1", f"{hostile} 2", "--relation", hostile],
            ["purge", f"{hostile} 1", "--yes"],
        ),
    ):
        done = CliRunner().invoke(root(), words, env=environment)
        assert [line for line in done.output.splitlines() if line.startswith("ZORK")] == [], words
        assert (done.exit_code, unseen(done.output)) == (0, set()), (words, done.output)


@pytest.mark.slow
@pytest.mark.parametrize("words", PEOPLE, ids=" ".join)
def test_json_on_the_command_line_hides_nothing_and_decodes_to_the_very_text(scene, words):
    done = command(scene, words, "--json")
    for printed in (done.stdout, done.stderr):
        if printed.strip():
            assert_json(printed)


def test_the_fields_in_json_are_the_very_fields_with_their_trust(scene):
    for row in assert_json(command(scene, ["list", "--limit", "500", "--kind", "fact"], "--json").stdout):
        number = int(re.match(r"m(\d+) ", row["key"])[1])
        text = ATTACKS[scene.names[number]]
        assert (row["content"], row["trust"]) == (
            f"kestrel{number} eats lunch {text}".strip(),
            TRUSTS[number % 4],
        )
        assert row["metadata"] == {text: [text]}


@pytest.mark.slow
def test_a_person_sees_the_label_of_what_may_not_instruct(scene):
    for number, name in enumerate(scene.names):
        key = f"m{number} {one_line(ATTACKS[name])}"
        first = command(scene, ["recall", key, "--kind", "fact", "--limit", "1"]).stdout.splitlines()[0]
        assert re.search(rf"\bm{number} ", first), first
        assert first.endswith(SOURCES.get(TRUSTS[number % 4], "")), first
        assert (TRUSTS[number % 4] in SOURCES) == ("  from a" in first)


@pytest.mark.parametrize("operation", ["list", "recall", "active", "log", "links", "files"])
def test_the_body_of_an_http_answer_hides_nothing(scene, operation):
    arguments = {
        "recall": {"text": "lunch", "tokens": 900},
        "active": {"cue": {"task": "task1"}},
        "files": {"task": "lunch"},
        "log": {"limit": 10_000},
    }
    with closing(LocalService(scene.url, embedder=HashedEmbedder())) as service:
        answer = service.call("default", operation, arguments.get(operation, {}))
    body = json_bytes(encode(answer))
    assert assert_json(body.decode()) == encode(answer)
    assert b"ZORK" in body


async def query(scene, *calls, resource=None, prompt=None):
    with closing(LocalService(scene.url, embedder=HashedEmbedder())) as service:
        async with connected(service, groups="all") as client:
            if resource is not None:
                return (await client.read_resource(resource)).contents[0].text
            if prompt is not None:
                return (await client.get_prompt("recall", {"question": prompt})).messages[0].content.text
            return [await client.call_tool(name, arguments) for name, arguments in calls]


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [2_000, 300, 60])
def test_what_mcp_hands_to_a_model_is_what_is_packed(scene, tokens):
    calls = [("recall", {"text": f"kestrel{n} lunch", "tokens": tokens}) for n in range(len(scene.names))]
    calls += [("active", {"task": f"task{n}", "tokens": tokens}) for n in range(len(scene.names))]
    for reply in anyio.run(lambda: query(scene, *calls)):
        (content,) = reply.content
        assert_quoted(content.text, scene.fields)
        packed = content.text.partition("\nrecall_id: ")[0]
        assert len(packed.encode()) <= 4 * tokens or "\n- [" not in packed
        assert reply.structured_content is None


READS = [
    *(
        ("list", {"limit": 300}),
        ("get", {"key": "KEY"}),
        ("why", {"key": "RULE"}),
        ("log", {"limit": 50}),
        ("links", {"key": "KEY"}),
    ),
    *(
        ("files", {"task": "lunch"}),
        ("recall", {"text": "lunch", "explain": True}),
        ("history", {"key": "KEY"}),
        ("review", {}),
        ("status", {}),
    ),
    *(
        ("graph", {"format": "json"}),
        ("aliases", {"dry_run": True}),
        ("stats", {}),
        ("sleep", {"dry_run": True}),
        ("get", {"key": "ZORK\u202e"}),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments"), READS, ids=[f"{tool} {number}" for number, (tool, _) in enumerate(READS)]
)
def test_other_tools_of_mcp_hide_nothing_and_say_the_same_twice(scene, tool, arguments):
    keys = {
        "KEY": f"m0 {one_line(ATTACKS[scene.names[0]])}",
        "RULE": f"r0 {one_line(ATTACKS[scene.names[0]])}",
    }
    arguments = {
        name: keys.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()
    }
    (reply,) = anyio.run(lambda: query(scene, (tool, arguments)))
    (content,) = reply.content
    assert_nothing_hidden(content.text)
    for text in texts(reply.structured_content):
        assert_nothing_hidden(text.replace("\n", ""))


def test_resources_and_prompts_of_mcp_are_quoted(scene):
    assert_quoted(anyio.run(lambda: query(scene, resource="priming://active")), scene.fields)
    assert_quoted(anyio.run(lambda: query(scene, prompt="what is for lunch")), scene.fields)


@pytest.mark.slow
def test_replies_of_mcp_to_what_was_written_quote_it(tmp_path, scene):
    url = f"sqlite:///{tmp_path}/own.db"
    other = type(scene)(tmp_path, url, scene.names, frozenset())
    for name in scene.names:
        text, line = ATTACKS[name], one_line(ATTACKS[name])
        calls = [
            *(
                ("remember", {"content": f"one {text}", "key": f"a {line}"}),
                ("remember", {"content": "two", "key": f"b {line}"}),
            ),
            *(
                ("learn", {"right": f"Always keep {text}"}),
                ("supersede", {"key": f"a {line}", "content": f"three {text}"}),
            ),
            *(
                ("link", {"source": f"a {line}", "target": f"b {line}", "relation": "requires"}),
                ("recall", {"text": "one two three"}),
            ),
            *(
                ("feedback", {"used": [f"a {line}"]}),
                ("forget", {"key": f"a {line}", "reason": line}),
                ("deprecate", {"key": f"b {line}", "reason": line}),
            ),
            *(
                ("restore", {"key": f"b {line}"}),
                ("merge", {"source": f"b {line}", "target": f"a {line}"}),
                ("undo", {"last": 1}),
                ("purge", {"key": f"b {line}"}),
            ),
        ]
        for (tool, _), reply in zip(calls, anyio.run(partial(query, other, *calls)), strict=True):
            assert_nothing_hidden(reply.content[0].text)
            for row in reply.content[0].text.splitlines():
                if not reply.is_error and not row.startswith("{"):
                    assert "ZORK" not in taken_apart(row)[0], (tool, row)


@pytest.mark.parametrize("form", ["dot", "json"])
def test_a_drawing_as_text_hides_nothing(scene, form):
    with scene.open() as memory:
        text = memory.graph(form, limit=500)
    assert not unseen(text)


def test_an_export_is_imported_with_the_very_fields_and_their_trust(scene, tmp_path):
    path = tmp_path / "all.jsonl"
    with scene.open() as memory:
        memory.export(path)
        before = {record.key: (record.content, record.trust) for record in memory.list(limit=1_000)}
    with Memory.open("sqlite://", embedder=HashedEmbedder()) as memory:
        memory.import_(path)
        assert {record.key: (record.content, record.trust) for record in memory.list(limit=1_000)} == before
