"""The payloads of each agent, as its documents show them."""

import json

import pytest
from tests.rows import each_row

from priming.errors import ParamError
from priming.mcp.tools import prompt_text
from priming_agents.agents import AGENTS, EVENTS, accepts_text, agent_of, format_output, parse_event
from priming_agents.prompts import read_prompt

CLAUDE = {
    "session_id": "abc123",
    "transcript_path": "/home/me/.claude/projects/app/abc123.jsonl",
    "cwd": "/home/me/app",
    "permission_mode": "default",
}
CODEX = {
    "session_id": "0199a213-81c0-7800-8aa1-bbab2a035a53",
    "transcript_path": None,
    "cwd": "/home/me/app",
    "model": "gpt-5.6",
    "permission_mode": "default",
    "turn_id": "1",
}
CURSOR = {
    "conversation_id": "668320d2-2fd8-4888-b33c-2a466fec86e7",
    "generation_id": "490b90b7-a2ce-4c2c-bb76-cb77b125df2f",
    "model": "gpt-5.6",
    "cursor_version": "3.20.17",
    "workspace_roots": ["/home/me/app"],
    "user_email": None,
}
GEMINI = {
    "session_id": "64c82997-df24-420b-a6dc-4db89dd2dba8",
    "transcript_path": "/home/me/.gemini/tmp/app/chats/session-1.jsonl",
    "cwd": "/home/me/app",
    "hook_event_name": "BeforeAgent",
    "timestamp": "2026-11-23T21:36:14.577Z",
}
OPENCODE = {"sessionID": "ses_1", "directory": "/home/me/app"}

BASH = {"tool_name": "Bash", "tool_input": {"command": "pytest -q", "description": "Run the tests"}}
PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: src/b.py\n+z\n*** End Patch"


@each_row(
    ("payload", "agent"),
    [
        (CLAUDE, "claude-code"),
        (CODEX, "codex"),
        (CURSOR, "cursor"),
        (GEMINI, "gemini"),
        (OPENCODE, "opencode"),
    ],
)
def test_an_agent_is_recognised_by_its_own_keys(payload, agent):
    assert agent_of(payload) == agent
    event = parse_event(payload)
    assert event.folder == "/home/me/app"
    assert event.session in payload.values()


@each_row("payload", [CLAUDE, CODEX, CURSOR, GEMINI, OPENCODE])
def test_the_prompt_is_read(payload):
    assert parse_event({**payload, "prompt": "fix it"}).prompt == "fix it"


@each_row(
    ("payload", "files", "command"),
    [
        ({**CLAUDE, "hook_event_name": "PreToolUse", "tool_use_id": "toolu_01", **BASH}, (), "pytest -q"),
        (
            {
                **CLAUDE,
                "tool_name": "Edit",
                "tool_input": {"file_path": "/home/me/app/a.py", "old_string": "x"},
            },
            ("/home/me/app/a.py",),
            "",
        ),
        (
            {**CLAUDE, "tool_name": "NotebookEdit", "tool_input": {"notebook_path": "n.ipynb"}},
            ("n.ipynb",),
            "",
        ),
        (
            {**CODEX, "tool_name": "apply_patch", "tool_input": {"command": PATCH}},
            ("src/a.py", "src/b.py"),
            "",
        ),
        (
            {**CODEX, "tool_name": "shell", "tool_input": {"command": ["bash", "-lc", "git push"]}},
            (),
            "git push",
        ),
        ({**CODEX, "tool_name": "shell", "tool_input": {"command": ["git", "push"]}}, (), "git push"),
        ({**CURSOR, "tool_name": "Shell", "tool_input": {"command": "npm test", "cwd": ""}}, (), "npm test"),
        ({**CURSOR, "tool_name": "MCP:x", "tool_input": '{"path": "a.go"}'}, ("a.go",), ""),
        ({**CURSOR, "command": "npm install express", "cwd": "/home/me/app"}, (), "npm install express"),
        ({**CURSOR, "file_path": "/home/me/app/m.ts", "edits": []}, ("/home/me/app/m.ts",), ""),
        ({**OPENCODE, "tool_name": "edit", "tool_input": {"filePath": "a.rs"}}, ("a.rs",), ""),
        ({**CLAUDE, "tool_name": "WebSearch", "tool_input": {"query": "x"}}, (), ""),
        ({**CLAUDE, "tool_name": "Bash", "tool_input": 7}, (), ""),
    ],
)
def test_the_files_and_the_command_of_a_tool_are_read(payload, files, command):
    event = parse_event(payload)
    assert (event.files, event.command) == (files, command)


@each_row(
    ("payload", "output"),
    [
        ({**CLAUDE, **BASH, "tool_response": {"stdout": "ok", "stderr": "", "interrupted": False}}, "ok\n"),
        ({**CODEX, **BASH, "tool_response": "Exit code: 0\nok"}, "Exit code: 0\nok"),
        ({**CURSOR, **BASH, "tool_output": "ok"}, "ok"),
        ({**OPENCODE, **BASH, "tool_response": [{"type": "text", "text": "ok"}]}, "text\nok"),
    ],
)
def test_the_output_of_a_tool_is_read_as_text(payload, output):
    assert parse_event(payload).output.strip("\n") == output.strip("\n")


def test_only_a_resumed_session_still_has_its_context():
    assert not parse_event({**CLAUDE, "source": "resume"}).context_cleared
    assert all(
        parse_event({**CLAUDE, "source": source}).context_cleared
        for source in ("startup", "clear", "compact")
    )


@each_row("payload", [{}, {"session_id": ""}, {"session_id": 7}])
def test_a_payload_without_a_session_is_refused(payload):
    with pytest.raises(ParamError, match="session_id"):
        parse_event(payload)


@each_row(
    ("agent", "event", "output"),
    [
        (
            "claude-code",
            "session-start",
            {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x"}},
        ),
        (
            "claude-code",
            "prompt",
            {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "x"}},
        ),
        (
            "claude-code",
            "pre-tool",
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "x"}},
        ),
        (
            "codex",
            "pre-tool",
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "x"}},
        ),
        (
            "gemini",
            "prompt",
            {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "x"}},
        ),
        (
            "gemini",
            "pre-tool",
            {"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "x"}},
        ),
        ("cursor", "session-start", {"additional_context": "x"}),
        ("cursor", "prompt", {"continue": True, "additional_context": "x"}),
        ("cursor", "pre-tool", {"additional_context": "x"}),
        ("opencode", "prompt", {"context": "x"}),
    ],
)
def test_each_agent_gets_its_own_format(agent, event, output):
    assert format_output(agent, event, "x") == output


def test_no_format_decides_anything_for_the_user():
    outputs = [
        format_output(agent, event, "x") for agent in AGENTS for event in EVENTS if accepts_text(agent, event)
    ]
    assert not any("permission" in str(output) for output in outputs)


def test_what_hooks_put_before_a_prompt_of_gemini_is_not_read_as_the_users_words():
    injected = "<hook_context>Rules learned from corrections:\n- [a] Use uv</hook_context>\n\n"
    assert (
        parse_event({**GEMINI, "prompt": f"{injected}How do I install it?"}).prompt == "How do I install it?"
    )


def test_what_a_prompt_of_mcp_lists_is_not_read_as_the_users_words():
    rules = [{"key": "main", "content": "Never push to main", "when": {}}]
    text = json.dumps(prompt_text("forget", {"rule": "main"}, lambda: rules))
    reading = read_prompt(parse_event({**GEMINI, "prompt": text}).prompt)
    assert (reading.correction, reading.asks) == (None, False)


def test_half_a_character_that_a_client_left_of_a_text_is_none_of_it():
    event = parse_event({**CLAUDE, "prompt": "Fix it \ud83d\0", "tool_input": {"command": ["ls", "\ud83d"]}})
    assert (event.prompt, event.command) == ("Fix it", "ls ")
    assert parse_event({**CLAUDE, "tool_response": {"stdout": "a\ud83d"}}).output == "a"


def test_a_commit_that_gemini_ran_is_seen_in_the_output_of_the_tool():
    output = {
        "llmContent": "<untrusted_context>\nOutput: [main 1a2b3c4] Hi\n</untrusted_context>",
        "returnDisplay": "[main 1a2b3c4] Hi\n",
    }
    payload = {**GEMINI, "tool_name": "run_shell_command", "tool_input": {"command": "git commit -m Hi"}}
    event = parse_event({**payload, "tool_response": output})
    assert event.command == "git commit -m Hi"
    assert "\n[main 1a2b3c4] Hi" in event.output
