"""What each agent says, as its documents show it."""

import pytest

from priming.errors import ParamError
from priming.serve.hook_agents import AGENTS, EVENTS, agent_of, answered, carries, read

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
OPENCODE = {"sessionID": "ses_1", "directory": "/home/me/app"}

BASH = {"tool_name": "Bash", "tool_input": {"command": "pytest -q", "description": "Run the tests"}}
PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: src/b.py\n+z\n*** End Patch"


@pytest.mark.parametrize(
    ("said", "agent"),
    [(CLAUDE, "claude-code"), (CODEX, "codex"), (CURSOR, "cursor"), (OPENCODE, "opencode")],
)
def test_an_agent_is_told_by_its_own_words(said, agent):
    assert agent_of(said) == agent
    event = read(said)
    assert event.folder == "/home/me/app"
    assert event.session in said.values()


@pytest.mark.parametrize("said", [CLAUDE, CODEX, CURSOR, OPENCODE])
def test_the_prompt_is_read(said):
    assert read({**said, "prompt": "fix it"}).prompt == "fix it"


@pytest.mark.parametrize(
    ("said", "files", "command"),
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
def test_what_a_tool_is_about_is_read(said, files, command):
    event = read(said)
    assert (event.files, event.command) == (files, command)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({**CLAUDE, **BASH, "tool_response": {"stdout": "ok", "stderr": "", "interrupted": False}}, "ok\n"),
        ({**CODEX, **BASH, "tool_response": "Exit code: 0\nok"}, "Exit code: 0\nok"),
        ({**CURSOR, **BASH, "tool_output": "ok"}, "ok"),
        ({**OPENCODE, **BASH, "tool_response": [{"type": "text", "text": "ok"}]}, "text\nok"),
    ],
)
def test_what_a_tool_answered_is_read_as_text(said, answer):
    assert read(said).answer.strip("\n") == answer.strip("\n")


def test_a_resumed_session_still_has_what_it_was_shown_and_an_emptied_one_has_not():
    assert not read({**CLAUDE, "source": "resume"}).emptied
    assert all(read({**CLAUDE, "source": one}).emptied for one in ("startup", "clear", "compact"))


def test_a_stop_that_a_hook_caused_or_a_person_is_told_apart():
    assert not read({**CLAUDE, "stop_hook_active": False}).continued
    assert read({**CODEX, "stop_hook_active": True}).continued
    assert read({**CURSOR, "status": "completed", "loop_count": 1}).continued
    assert read({**CURSOR, "status": "aborted", "loop_count": 0}).continued
    assert not read({**CURSOR, "status": "completed", "loop_count": 0}).continued


@pytest.mark.parametrize("said", [{}, {"session_id": ""}, {"session_id": 7}])
def test_who_does_not_say_of_which_session_is_refused(said):
    with pytest.raises(ParamError, match="session_id"):
        read(said)


@pytest.mark.parametrize(
    ("agent", "event", "told"),
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
        ("claude-code", "stop", {"decision": "block", "reason": "x"}),
        (
            "codex",
            "pre-tool",
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "x"}},
        ),
        ("codex", "stop", {"decision": "block", "reason": "x"}),
        ("cursor", "session-start", {"additional_context": "x"}),
        ("cursor", "prompt", {"continue": True, "additional_context": "x"}),
        ("cursor", "pre-tool", {"additional_context": "x"}),
        ("cursor", "stop", {"followup_message": "x"}),
        ("opencode", "prompt", {"context": "x"}),
    ],
)
def test_each_agent_is_told_in_its_own_form(agent, event, told):
    assert answered(agent, event, "x") == told


def test_no_form_decides_anything_for_the_user():
    forms = [answered(agent, event, "x") for agent in AGENTS for event in EVENTS if carries(agent, event)]
    assert not any("permission" in str(one) for one in forms)
