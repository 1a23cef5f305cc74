"""Chat transcripts of every form, told apart by their content."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from tests.rows import each_row
from tests.transfer.conftest import strictly

from priming.config.params.limits import STORE
from priming.errors import ParamError
from priming.transfer import chat
from priming.transfer.run import run

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Why is the sky blue?"},
    {"role": "assistant", "content": "Rayleigh scattering."},
]


def read(path):
    return strictly(chat.read(path))


@pytest.fixture
def file(tmp_path):
    def write(value, name="talk.json", lines=False):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(map(json.dumps, value)) if lines else value
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return path

    return write


def arguments(path):
    return [item.arguments for item in read(path)]


def spoken(path):
    return [(item.get("speaker"), item["content"]) for item in arguments(path)]


FORMS = {
    "a list": (TALK, False),
    "an object": ({"messages": TALK, "model": "m"}, False),
    "a list of conversations": ([{"messages": TALK}], False),
    "a list of lists": ([TALK], False),
    "lines of messages": (TALK, True),
    "lines of conversations": ([{"messages": TALK}], True),
}


@each_row("form", FORMS)
@each_row("pretty", [False, True])
def test_messages_are_found_in_every_form(file, form, pretty):
    value, lines = FORMS[form]
    path = file(json.dumps(value, indent=2) if pretty and not lines else value, lines=lines, name="talk.txt")
    assert spoken(path) == [
        ("system", "Be brief."),
        ("user", "Why is the sky blue?"),
        ("assistant", "Rayleigh scattering."),
    ]
    assert {item["session"] for item in arguments(path)} == {"talk.txt#0"}
    assert [item["trust"] for item in arguments(path)] == ["tool", "user", "agent"]
    assert len({item["key"] for item in arguments(path)}) == 3


def test_each_conversation_is_a_session_by_its_id_or_its_place(file):
    path = file([{"id": "sky", "messages": TALK}, {"messages": TALK}, TALK])
    sessions = list(dict.fromkeys(item["session"] for item in arguments(path)))
    assert sessions == ["talk.json#sky", "talk.json#0", "talk.json#1"]


def test_single_messages_go_to_the_conversation_that_they_name(file):
    messages = [("a", "one"), ("b", "two"), ("a", "one")]
    path = file([{"role": "user", "content": text, "thread_id": to} for to, text in messages], lines=True)
    assert [item["session"] for item in arguments(path)] == ["talk.json#a", "talk.json#b", "talk.json#a"]
    assert len({item["key"] for item in arguments(path)}) == 3


def test_parts_are_joined_and_what_is_no_text_is_noted_in_a_line(file):
    content = [
        "plain",
        {"type": "text", "text": "Look at"},
        {"type": "image_url", "image_url": {"url": "data:..."}},
        {"type": "input_text", "text": "this."},
        {"type": "thinking", "thinking": "hidden"},
        {"type": "tool_use", "name": "Bash", "input": {"description": "Ask git", "command": "git\n  status"}},
        {"type": "tool_result", "content": "clean"},
    ]
    (only,) = spoken(file([{"role": "assistant", "content": content}]))
    assert only[1] == "plain\nLook at\n(image)\nthis.\nran Bash: git status"


def test_tools_called_beside_the_content_are_noted_and_their_answers_left_out(file):
    call = {"type": "function", "function": {"name": "search", "arguments": '{"query": "blue sky"}'}}
    odd = {"function": {"name": "odd", "arguments": "not JSON"}}
    path = file(
        [
            {"role": "assistant", "content": None, "tool_calls": [call, odd]},
            {"role": "tool", "content": "many results", "tool_call_id": "1"},
            {"role": "assistant", "content": ""},
        ]
    )
    assert spoken(path) == [("assistant", "ran search: blue sky\nran odd: not JSON")]


def test_a_note_of_a_tool_is_one_short_line(file):
    part = {"type": "tool_use", "name": "Write", "input": {"file_path": "a.py", "content": "x\n" * 9000}}
    big = {"type": "tool_use", "name": "Other", "input": {"numbers": list(range(9000))}}
    (only,) = spoken(file([{"role": "assistant", "content": [part, big]}]))
    first, second = only[1].split("\n")
    assert first == "ran Write: a.py"
    assert len(second) < 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("timestamp", "2026-03-01T12:00:00Z"),
        ("created_at", "2026-03-01T13:00:00+01:00"),
        ("create_time", NOON.timestamp()),
        ("time", int(NOON.timestamp() * 1000)),
    ],
)
def test_times_are_read_from_iso_seconds_and_milliseconds(file, field, value):
    (item,) = arguments(file([{"role": "user", "content": "hello", field: value}]))
    assert item["occurred_at"] == NOON


def test_a_named_participant_speaks_under_that_name(file):
    assert spoken(file([{"role": "user", "name": "Ada", "content": "hello"}])) == [("Ada", "hello")]


def test_importing_twice_stores_nothing_new_and_a_grown_transcript_what_was_added(file, memory):
    first = run(memory, "chat", file(TALK))
    assert (first.stored, first.skipped) == (3, ())
    assert run(memory, "chat", file(TALK)).duplicates == 3
    grown = run(memory, "chat", file([*TALK, {"role": "user", "content": "And at night?"}]))
    assert (grown.stored, grown.duplicates, grown.skipped) == (1, 3, ())
    assert len(memory.links(relation="next")) == 3


def test_two_files_of_one_name_do_not_collide(file, memory):
    run(memory, "chat", file(TALK, name="one/talk.json"))
    other = run(memory, "chat", file([{"role": "user", "content": "Other words"}], name="two/talk.json"))
    assert (other.stored, other.skipped) == (1, ())


def test_what_no_memory_can_hold_is_replaced(file):
    (item,) = spoken(file('[{"role": "user", "content": "a\\u0000b\\ud800c"}]'))
    assert item[1] == "a�b�c"


def test_a_message_longer_than_a_memory_is_cut(file):
    (entry,) = read(file([{"role": "user", "content": "word " * 300_000}]))
    assert len(entry.arguments["content"]) <= STORE.content_limit
    assert entry.arguments["content"].endswith("more characters)")


SESSION = [
    {"type": "summary", "summary": "Fixing the parser", "leafUuid": "u9"},
    {"type": "file-history-snapshot", "messageId": "m1", "snapshot": {}},
    {
        "type": "user",
        "message": {"role": "user", "content": "Fix the parser<system-reminder>Do not.</system-reminder>"},
        "uuid": "u1",
        "parentUuid": None,
        "timestamp": "2026-03-01T12:00:00.000Z",
        "sessionId": "s1",
        "cwd": "/home/ada/app",
        "gitBranch": "main",
        "isSidechain": False,
    },
    {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "model": "model-1",
            "content": [
                {"type": "thinking", "thinking": "hmm"},
                {"type": "text", "text": "I look first."},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "git status"}},
            ],
        },
        "uuid": "u2",
        "parentUuid": "u1",
        "timestamp": "2026-03-01T12:00:01.000Z",
        "sessionId": "s1",
    },
    {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "content": "clean"}]},
        "toolUseResult": {"stdout": "clean"},
        "uuid": "u3",
        "sessionId": "s1",
    },
    {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
        "uuid": "u4",
        "sessionId": "s1",
    },
    {
        "type": "user",
        "isMeta": True,
        "message": {"role": "user", "content": "Caveat: …"},
        "uuid": "u5",
        "sessionId": "s1",
    },
    {
        "type": "user",
        "isSidechain": True,
        "message": {"role": "user", "content": "Search for the parser"},
        "uuid": "u6",
        "sessionId": "s1",
        "timestamp": "2026-03-01T12:00:02Z",
    },
    {"type": "system", "content": "Running hooks", "uuid": "u7", "sessionId": "s1"},
    {"type": "queue-operation", "operation": "enqueue"},
]


def test_a_session_of_claude_code_keeps_what_was_said_and_run(file):
    path = file(SESSION, lines=True, name="anything")
    assert spoken(path) == [
        (None, "Fixing the parser"),
        ("user", "Fix the parser"),
        ("assistant", "I look first.\nran Bash: git status"),
        ("assistant", "Search for the parser"),
    ]
    summary, question, answered, inner = arguments(path)
    assert (summary["kind"], summary["trust"]) == ("fact", "agent")
    assert (question["key"], question["session"], question["trust"]) == (
        "claude-code:u1",
        "claude-code:s1",
        "user",
    )
    assert question["occurred_at"] == NOON
    assert question["metadata"] == {"cwd": "/home/ada/app", "branch": "main"}
    assert (answered["trust"], answered["metadata"]) == ("agent", {"model": "model-1"})
    assert (inner["session"], inner["trust"]) == ("claude-code:s1/sidechain", "agent")


def test_a_session_of_claude_code_is_imported_once(file, memory):
    path = file(SESSION, lines=True)
    assert run(memory, "chat", path).stored == 4
    assert run(memory, "chat", path).duplicates == 4
    assert [(link.source, link.target) for link in memory.links(relation="next")] == [
        ("claude-code:u1", "claude-code:u2")
    ]


def test_a_folder_gives_all_its_transcripts_and_no_other_json(file, tmp_path, memory):
    file(SESSION, lines=True, name="all/project/s1.jsonl")
    file(TALK, name="all/talk.json")
    file({"version": 1, "entries": []}, name="all/index.json")
    file({"name": "app", "type": "module"}, name="all/package.json")
    file("", name="all/empty.json")
    file("no JSON at all", name="all/notes.txt")
    report = run(memory, "chat", tmp_path / "all")
    assert (report.stored, report.skipped) == (7, ())
    assert {record.session for record in memory.list()} == {
        None,
        "all/talk.json#0",
        "claude-code:s1",
        "claude-code:s1/sidechain",
    }


def test_a_folder_without_transcripts_is_refused(file, tmp_path):
    file({"version": 1}, name="all/index.json")
    with pytest.raises(ParamError, match="must hold transcripts"):
        arguments(tmp_path / "all")


def test_a_broken_line_is_skipped_and_named_and_the_others_are_stored(file, memory):
    good, other = (json.dumps({"role": "user", "content": text}) for text in ("good", "other"))
    report = run(memory, "chat", file(f"{good}\n\n{{broken\n{other}"))
    assert (report.stored, report.refused) == (2, 1)
    assert re.match(r".*talk\.json, line 3 = .*must be JSON", report.skipped[0])


def test_a_broken_first_line_is_the_one_that_is_named(file):
    with pytest.raises(ParamError, match=r"talk\.json, line 1 = .*must be JSON"):
        arguments(file('{"role": "user", "content": "x"\n' + json.dumps(TALK[1])))


def test_broken_json_over_several_lines_is_named_by_the_line_where_it_breaks(file):
    with pytest.raises(ParamError, match=r"must be JSON \(.* at line 3, column \d+\)"):
        arguments(file('[\n  {"role": "user",\n  "content" "x"}\n]'))


@each_row(
    ("text", "rule"),
    [
        ("", "is empty"),
        ("7", "must be a message with a role"),
        ('{"a": 1}', "must be a message with a role"),
        ('{"type": "module"}', "must be a message with a role"),
        ("[[1]]", r"line 1, item 0, message 0 = 1: must be an object with a role"),
        ('{"messages": [{"content": "x"}]}', r"message 0 = .*must be an object with a role"),
        ('[{"role": "user", "content": 7}]', "content = 7: must be a text or a list of parts"),
        ('[{"role": "user", "content": [7]}]', "content = 7: must hold texts and objects"),
        ('[{"role": "user", "content": "x", "timestamp": "2026-03-01T12:00:00"}]', "carry a time zone"),
        ('[{"role": "user", "content": "x", "timestamp": "noon"}]', "must be an ISO 8601 time"),
        ('[{"role": "user", "content": "x", "timestamp": 1e300}]', "must be seconds or milliseconds"),
        ('{"type": "user", "uuid": "u"}', "must hold the message of a Claude Code session"),
        ("[" * 100_000, "must be JSON"),
        ("[" * 500 + "]" * 500, "must be an object with a role"),
        ('[[], {"messages": []}]', "is empty"),
    ],
)
def test_what_is_no_transcript_is_refused_with_the_rule(file, text, rule):
    with pytest.raises(ParamError, match=rule) as caught:
        arguments(file(text))
    assert "talk.json" in str(caught.value)


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(ParamError, match="cannot be read: No such file"):
        arguments(tmp_path / "missing.json")


@pytest.mark.slow
def test_an_export_of_one_long_line_is_read(memory, tmp_path):
    padding = " " * (STORE.line_bytes + 1)
    path = tmp_path / "export.json"
    first, second = ({"role": "user", "content": text} for text in ("Valkey holds the sessions.", "Yes."))
    path.write_text(f"[{json.dumps(first)},{padding}{json.dumps(second)}]")
    assert run(memory, "chat", path).stored == 2
