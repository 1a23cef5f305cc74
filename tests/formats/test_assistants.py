"""Chats with assistants: which branch, whose saying, and what is left out."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from priming.transfer.run import run

from .samples import (
    CHATGPT,
    CLAUDE_AI,
    CODEX,
    GEMINI,
    GEMINI_SESSION,
    codex_line,
    conversation,
    item,
    lines,
    node,
    turn,
)


@pytest.fixture
def read(tmp_path, memory):
    """Imports a file with this text; who said what, in order, and the report."""

    def imported(format, text, name="a.json"):
        path = tmp_path / "work" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        report = run(memory, format, path)
        records = sorted(memory.list(), key=lambda record: record.id)
        return [(record.speaker, record.content) for record in records], report

    return imported


def records(memory):
    return {record.content: record for record in memory.list()}


def test_the_user_is_trusted_as_the_user_and_the_assistant_as_an_agent(memory, tmp_path):
    for sample in (CHATGPT, CLAUDE_AI, CODEX, GEMINI):
        run(memory, sample.format, sample.write(tmp_path / sample.format))
    trust = {(record.speaker, record.trust) for record in memory.list()}
    assert trust == {("user", "user"), ("assistant", "agent")}
    assert len({record.session for record in memory.list()}) == 4


# ChatGPT


def test_of_a_chat_the_branch_that_is_shown_is_read(read):
    chat = conversation(
        node("q", "root", "user", "Which tea?"),
        node("first", "q", "assistant", "Green tea."),
        node("second", "q", "assistant", "Black tea."),
        node("thanks", "second", "user", "Thank you."),
        last="thanks",
    )
    assert read("chatgpt", [chat])[0] == [
        ("user", "Which tea?"),
        ("assistant", "Black tea."),
        ("user", "Thank you."),
    ]


@pytest.mark.parametrize("last", [None, "gone", 7])
def test_without_its_end_a_chat_is_read_up_to_its_newest_message(read, last):
    chat = conversation(node("a", "root", "user", "Hello."), node("b", "a", "assistant", "Good day."))
    assert len(read("chatgpt", [{**chat, "current_node": last}])[0]) == 2


def test_a_message_without_an_id_has_that_of_its_node(read):
    chat = conversation(node("a", "root", "user", "Hello."), node("b", "a", "assistant", "Good day."))
    del chat["mapping"]["a"]["message"]["id"]
    turns, report = read("chatgpt", [chat])
    assert (turns, report.skipped) == ([("user", "Hello."), ("assistant", "Good day.")], ())


def test_a_chat_whose_messages_are_each_others_parents_ends(read):
    chat = conversation(node("a", "b", "user", "Hello."), node("b", "a", "assistant", "Good day."))
    assert len(read("chatgpt", [chat])[0]) == 2


def test_what_is_hidden_and_what_tools_say_is_nobodys_saying(read):
    instructions = {
        "content_type": "user_editable_context",
        "user_profile": "I cook.",
        "user_instructions": "Short.",
    }
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    chat = conversation(
        node("s", "root", "system", "You are helpful."),
        node("i", "s", "user", content=instructions),
        node("h", "i", "user", "Original custom instructions", **hidden),
        node("q", "h", "user", "Sum the bill."),
        node("t", "q", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "Hm"}]}),
        node("c", "t", "assistant", content={"content_type": "code", "text": "1 + 2"}, recipient="python"),
        node("r", "c", "tool", "3"),
        node("a", "r", "assistant", "Three euros."),
    )
    assert read("chatgpt", [chat])[0] == [
        ("user", "Sum the bill."),
        ("assistant", "ran python: 1 + 2"),
        ("assistant", "Three euros."),
    ]


def test_images_speech_and_files_leave_a_line(read):
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        {"content_type": "audio_transcription", "text": "And this one?"},
        "What is this?",
    ]
    metadata = {"attachments": [{"name": "bill.pdf", "id": "f"}]}
    content = {"content_type": "multimodal_text", "parts": parts}
    chat = conversation(node("q", "root", "user", content=content, metadata=metadata))
    assert read("chatgpt", [chat])[0] == [("user", "(image)\nAnd this one?\nWhat is this?\n(file: bill.pdf)")]


def test_a_chat_has_its_title_and_a_message_its_time(memory, tmp_path):
    run(memory, "chatgpt", CHATGPT.write(tmp_path))
    record = records(memory)["How long does porridge take?"]
    assert record.metadata["title"] == "Porridge"
    assert record.occurred_at == datetime(2026, 1, 2, 0, 0, 1, 250_000, tzinfo=UTC)
    assert (record.key, record.session) == ("chatgpt:c-1:m-1", "chatgpt:c-1")


def test_a_conversation_that_is_none_is_skipped_and_the_others_are_read(read):
    chat = conversation(node("a", "root", "user", "Hello."))
    spoken, report = read(
        "chatgpt", [chat, "text", {"mapping": {}}, {**chat, "mapping": 7, "conversation_id": "c-2"}]
    )
    assert (len(spoken), report.refused) == (1, 3)
    assert [reason.split(", ")[1].split(" = ")[0] for reason in report.skipped] == [
        "conversation 1",
        "conversation 2: id",
        "conversation 3: mapping",
    ]


# Claude.ai


def test_of_an_answer_its_texts_and_calls_are_read_and_its_thoughts_are_not(read):
    content = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "I look it up."},
        {"type": "tool_use", "name": "web_search", "input": {"query": "frost dates"}},
        {"type": "tool_result", "name": "web_search", "content": [{"type": "text", "text": "May 15"}]},
        {"type": "text", "text": "After the middle of May."},
    ]
    message = {
        "uuid": "m",
        "sender": "assistant",
        "text": "",
        "content": content,
        "created_at": "2026-01-02T00:00:00Z",
    }
    spoken, _ = read("claude-ai", [{"uuid": "c", "name": "", "chat_messages": [message]}])
    assert spoken == [("assistant", "I look it up.\nran web_search: frost dates\nAfter the middle of May.")]


def test_an_early_export_has_texts_without_parts_and_a_file_leaves_a_line(memory, tmp_path):
    run(memory, "claude-ai", CLAUDE_AI.write(tmp_path))
    assert {*records(memory)} == {"When do I sow tomatoes?\n(file: garden.pdf)", "In March, indoors."}


# Codex


def test_of_a_session_is_read_what_the_user_typed_and_the_agent_answered_once(memory, tmp_path):
    run(memory, "codex", CODEX.write(tmp_path))
    assert {*records(memory)} == {
        "Why does the sign-in test fail?",
        "ran shell: bash -lc pytest",
        "The clock is wrong.",
    }
    record = records(memory)["The clock is wrong."]
    assert {"cwd": "/home/ada/shop", "branch": "main"}.items() <= record.metadata.items()
    assert record.session == "codex:0199"


def test_an_early_session_of_bare_items_is_read_without_what_the_client_inserted(read):
    text = lines(
        {"id": "old-1", "timestamp": "2025-06-01T08:00:00.000Z", "instructions": "Use tabs.", "git": {}},
        {"record_type": "state"},
        item("user", "<user_instructions>\n\nUse tabs.\n\n</user_instructions>"),
        item("user", "# AGENTS.md instructions for /shop\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>"),
        item("user", "<environment_context>\n<cwd>/shop</cwd>\n</environment_context>", "Rename the shop."),
        {"type": "reasoning", "id": "r", "summary": []},
        {
            "type": "local_shell_call",
            "action": {"type": "exec", "command": ["git", "mv", "a", "b"]},
            "status": "completed",
        },
        item("assistant", "It is renamed."),
    )
    assert read("codex", text, "rollout.jsonl")[0] == [
        ("user", "Rename the shop."),
        ("assistant", "ran shell: git mv a b"),
        ("assistant", "It is renamed."),
    ]


def test_an_event_of_what_the_client_inserted_is_nobodys_saying(read):
    inserted = "<environment_context>\n<cwd>/shop</cwd>\n</environment_context>"
    text = lines(
        codex_line("session_meta", id="0198"),
        codex_line("event_msg", type="user_message", message=inserted, kind="environment_context"),
        codex_line("event_msg", type="user_message", message="Mend it.", kind="plain"),
    )
    assert read("codex", text, "rollout.jsonl")[0] == [("user", "Mend it.")]


def test_the_user_of_a_sub_agent_is_the_agent_that_called_it(read, memory):
    text = lines(
        codex_line("session_meta", id="sub", source={"subagent": {"thread_spawn": {"depth": 1}}}),
        codex_line("response_item", **item("user", "Look for the clock.")),
    )
    assert read("codex", text, "rollout.jsonl")[0] == [("assistant", "Look for the clock.")]
    assert memory.list()[0].trust == "agent"


def test_a_session_that_goes_on_adds_what_is_new(memory, tmp_path):
    path = CODEX.write(tmp_path)
    run(memory, "codex", path)
    file = next(path.rglob("*.jsonl"))
    with file.open("a") as opened:
        opened.write(
            lines(codex_line("event_msg", "2026-01-02T08:01:00Z", type="user_message", message="Mend it."))
        )
        opened.write('{"timestamp": "2026-01-02T08:01:01Z", "type": "response_')
    report = run(memory, "codex", path)
    assert (report.stored, report.refused, report.changed, report.gone) == (1, 1, 0, 0)
    assert "line 14" in report.skipped[0]


# Gemini


def test_a_session_by_line_is_what_its_lines_make_of_it(read):
    text = lines(
        GEMINI_SESSION,
        turn("m-1", "user", [{"text": "Which port?"}]),
        turn("m-2", "gemini", "Port 80"),
        turn("m-2", "gemini", [{"text": "Port 8080.", "thought": False}, {"text": "Hm", "thought": True}]),
        turn("m-3", "user", "Never mind."),
        {"$rewindTo": "m-3"},
        turn(
            "m-4",
            "user",
            "@shop.toml What is this?\n--- Content ---",
            displayContent=[{"text": "What is this?"}],
        ),
        {"$set": {"summary": "Ports"}},
    )
    assert read("gemini", text, "session.jsonl")[0] == [
        ("user", "Which port?"),
        ("assistant", "Port 8080."),
        ("user", "What is this?"),
    ]


@pytest.mark.parametrize(
    "context", ["This is the Gemini CLI. We are setting up.", "<session_context>\nLinux\n</session_context>"]
)
@pytest.mark.parametrize("wrapped", [True, False])
def test_a_checkpoint_is_read_without_what_the_program_says_first(read, context, wrapped):
    turns = [
        {"role": "user", "parts": [{"text": context}]},
        {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]},
        {"role": "user", "parts": [{"text": "List the ports."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"path": "shop.toml"}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "80"}}}],
        },
        {"role": "model", "parts": [{"text": "One port."}]},
    ]
    assert read("gemini", {"history": turns} if wrapped else turns, "checkpoint-a.json")[0] == [
        ("user", "List the ports."),
        ("assistant", "ran read_file: shop.toml"),
        ("assistant", "One port."),
    ]


def test_a_log_of_what_was_typed_stands_for_sessions_without_a_file(memory, tmp_path):
    path = GEMINI.write(tmp_path)
    typed = json.loads((path / "logs.json").read_text())
    other = {**typed[0], "sessionId": "s-0", "message": "An earlier question."}
    (path / "logs.json").write_text(
        json.dumps([*typed, other, {**other, "messageId": 1, "message": "/quit"}])
    )
    run(memory, "gemini", path)
    assert {*records(memory)} == {
        "Which port does the shop use?",
        "Port 8080.\nran read_file: shop.toml",
        "An earlier question.",
    }


def test_a_prompt_of_the_studio_is_read_without_its_thoughts(read):
    chunks = [
        {"role": "user", "text": "Name a bird.", "tokenCount": 4},
        {"role": "model", "text": "A bird, then.", "isThought": True},
        {"role": "model", "text": "The kestrel."},
    ]
    prompt = {
        "runSettings": {"model": "models/gemini"},
        "systemInstruction": {},
        "chunkedPrompt": {"chunks": chunks},
    }
    assert read("gemini", prompt, "Birds")[0] == [("user", "Name a bird."), ("assistant", "The kestrel.")]


# Claude Code, which the library reads


@pytest.mark.parametrize(
    "content",
    [
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
        [{"type": "text", "text": "[Request interrupted by user for tool use]"}],
        "<task-notification>\n<task-id>7</task-id>\n</task-notification>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
        "<local-command-caveat>Caveat</local-command-caveat>",
    ],
)
def test_a_message_that_is_all_the_clients_is_nobodys_saying(read, content):
    said_by_the_user = [
        "Use <my-tag>x</my-tag> here.",
        "[x] done, [y] not",
        "<b>Stop</b>",
        "<my-tag> is open",
    ]
    text = lines(
        *(
            {
                "type": "user",
                "uuid": f"u-{number}",
                "sessionId": "s",
                "timestamp": "2026-01-02T00:00:00Z",
                "message": {"role": "user", "content": each},
            }
            for number, each in enumerate([content, *said_by_the_user])
        )
    )
    assert [spoken for _, spoken in read("chat", text, "s.jsonl")[0]] == said_by_the_user


def test_a_part_that_is_all_the_clients_leaves_the_rest_of_the_message(read):
    parts = [
        {"type": "text", "text": "<ide_opened_file>The user opened a.py</ide_opened_file>"},
        {"type": "text", "text": "Mend this."},
    ]
    line = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": parts}}
    assert read("chat", lines(line), "s.jsonl")[0] == [("user", "Mend this.")]
