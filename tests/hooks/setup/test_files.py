"""Setting agents up, on real files."""

import json
import re
import tomllib

import pytest

from priming.errors import Conflict
from priming_agents.agents import AGENTS
from priming_agents.setup import agent_config, jsonc
from priming_agents.setup import files as setup

PROJECT = {
    "claude-code": (".mcp.json", ".claude/settings.json"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "gemini": (".gemini/settings.json",),
    "opencode": ("opencode.json", ".opencode/plugins/priming.js"),
}
USER = {
    "claude-code": (".claude.json", ".claude/settings.json"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "gemini": (".gemini/settings.json",),
    "opencode": (".config/opencode/opencode.json", ".config/opencode/plugins/priming.js"),
}
FOREIGN = {
    ".mcp.json": '{\n    "mcpServers": {\n        "github": {"command": "gh-mcp", "args": []}\n    }\n}\n',
    ".claude/settings.json": (
        '{\n  "permissions": {"allow": ["Bash(ls:*)"]},\n  "hooks": {\n    "PreToolUse": [\n      {\n'
        '        "matcher": "Bash",\n        "hooks": [{"type": "command", "command": "./guard.sh"}]\n      }\n'
        '    ],\n    "Notification": [{"hooks": [{"type": "command", "command": "beep"}]}]\n  },\n'
        '  "model": "opus"\n}\n'
    ),
    ".cursor/mcp.json": '{"mcpServers": {"a": {"url": "https://example.com/mcp"}}}',
    ".cursor/hooks.json": '{\n\t"version": 1,\n\t"hooks": {\n\t\t"stop": [{"command": "./audit.sh"}]\n\t}\n}\n',
    ".codex/config.toml": (
        '# mine\nmodel = "gpt-5.6"\n\n[mcp_servers.docs]\ncommand = "docs"  # stays\n\n[features]\nhooks = true\n'
    ),
    ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./done.sh"}]}]}}\n',
    "opencode.json": (
        '{\n  // mine\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": {\n'
        '    "docs": { "type": "local", "command": ["docs"] }, // stays\n  },\n}\n'
    ),
    ".gemini/settings.json": (
        '{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}},\n  "mcpServers": {\n'
        '    /* stays */\n    "docs": {"command": "docs"}\n  },\n  "hooks": {\n    "AfterTool": [\n      {\n'
        '        "matcher": "replace",\n        "hooks": [{"type": "command", "command": "./fmt.sh"}]\n      }\n'
        "    ]\n  }\n}\n"
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, home, monkeypatch):
    """The folder of a project, which is the working directory; no agent's own variables."""
    home.mkdir()
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


def set_up(agent, scope="project", *, remove=False, tools=None):
    """Set an agent up; the paths that were written or deleted."""
    changes = setup.plan(agent, scope, remove=remove, tools=tools)
    setup.write(changes)
    return [change.path for change in changes]


def write_foreign(folder, agent):
    """The files of somebody who uses an agent, by path."""
    texts = {folder / name: FOREIGN[name] for name in PROJECT[agent] if name in FOREIGN}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return texts


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("scope", "files"), [("project", PROJECT), ("user", USER)])
def test_an_agent_is_set_up_from_nothing_and_removed_again(folder, home, agent, scope, files):
    root = folder if scope == "project" else home
    paths = [root / name for name in files[agent]]
    assert set_up(agent, scope) == paths
    assert all(path.is_file() for path in paths)
    assert setup.configured_files(agent, scope) == paths
    assert set_up(agent, scope) == []
    assert set_up(agent, scope, remove=True) == paths
    assert contents(folder) == contents(home) == {}
    assert setup.configured_files(agent, scope) == []


@pytest.mark.parametrize("agent", AGENTS)
def test_the_groups_of_tools_are_written_into_the_command_of_the_server(folder, agent):
    foreign = write_foreign(folder, agent)
    before = contents(folder)
    set_up(agent)
    set_up(agent, tools="core,time")
    texts = [(folder / name).read_text() for name in PROJECT[agent]]
    assert sum(text.count('"--tools"') for text in texts) == 1
    assert any(re.search(r'"mcp",\s*"--tools",\s*"core,time"', text) for text in texts)
    assert setup.configured_files(agent, "project") == [folder / name for name in PROJECT[agent]]
    set_up(agent, remove=True)
    assert contents(folder) == before
    assert foreign.keys() == before.keys()


@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_in_a_file_stays_byte_for_byte(folder, agent):
    foreign = write_foreign(folder, agent)
    before = contents(folder)
    set_up(agent)
    for path, text in foreign.items():
        changed = path.read_text()
        lines = [line.strip().rstrip(",]}") for line in text.splitlines()]
        assert changed != text
        assert [line for line in lines if line not in changed] == []
    set_up(agent, remove=True)
    assert contents(folder) == before


def test_claude_code_gets_a_server_and_six_hooks_after_those_of_others(folder):
    write_foreign(folder, "claude-code")
    set_up("claude-code")
    servers = json.loads((folder / ".mcp.json").read_text())["mcpServers"]
    assert servers["priming"] == {"command": "priming", "args": ["mcp"], "alwaysLoad": True}
    assert list(servers) == ["github", "priming"]
    hooks = json.loads((folder / ".claude" / "settings.json").read_text())["hooks"]
    assert [group["hooks"][0]["command"] for group in hooks["PreToolUse"]] == [
        "./guard.sh",
        "priming hook pre-tool --agent claude-code",
    ]
    own = {event: hooks[event][-1]["hooks"][0] for event in hooks if event != "Notification"}
    assert set(own) == {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"}
    assert all(hook["type"] == "command" and hook["timeout"] == 10 for hook in own.values())


def test_cursor_gets_flat_hooks_and_a_version(folder):
    set_up("cursor")
    written = json.loads((folder / ".cursor" / "hooks.json").read_text())
    assert written["version"] == 1
    entry = {"command": "priming hook prompt --agent cursor", "timeout": 10}
    assert written["hooks"]["beforeSubmitPrompt"] == [entry]
    assert set(written["hooks"]) == {
        "sessionStart",
        "beforeSubmitPrompt",
        "preToolUse",
        "postToolUse",
        "stop",
        "sessionEnd",
    }


def test_codex_gets_a_table_of_toml(folder):
    write_foreign(folder, "codex")
    set_up("codex")
    written = tomllib.loads((folder / ".codex" / "config.toml").read_text())
    assert written["mcp_servers"] == {
        "docs": {"command": "docs"},
        "priming": {"command": "priming", "args": ["mcp"]},
    }
    assert written["features"] == {"hooks": True}


def test_a_table_of_toml_between_others_is_replaced(folder):
    path = folder / ".codex" / "config.toml"
    path.parent.mkdir()
    old = '[mcp_servers.priming]\ncommand = "/old/priming"\nargs = ["mcp"]\n\n'
    path.write_text(f"# mine\n{old}[features]\nhooks = true\n")
    set_up("codex")
    written = tomllib.loads(path.read_text())
    assert written["mcp_servers"] == {"priming": {"command": "priming", "args": ["mcp"]}}
    set_up("codex", remove=True)
    assert tomllib.loads(path.read_text()) == {"features": {"hooks": True}}
    assert path.read_text().startswith("# mine\n")


def test_opencode_gets_a_server_below_the_key_of_todays_files(folder):
    set_up("opencode")
    entry = {"type": "local", "command": ["priming", "mcp"]}
    assert json.loads((folder / "opencode.json").read_text()) == {"mcp": {"priming": entry}}


def test_gemini_gets_server_and_hooks_in_its_file_of_settings(folder):
    write_foreign(folder, "gemini")
    set_up("gemini")
    text = (folder / ".gemini" / "settings.json").read_text()
    written = jsonc.parse(text).value
    assert written["mcpServers"]["priming"] == {"command": "priming", "args": ["mcp"]}
    commands = {
        event: [(group.get("matcher"), hook["command"], hook.get("timeout")) for hook in group["hooks"]]
        for event, groups in written["hooks"].items()
        for group in groups
        if event != "AfterTool"
    }
    assert commands == {
        "SessionStart": [(None, "priming hook session-start --agent gemini", 10_000)],
        "BeforeAgent": [(None, "priming hook prompt --agent gemini", 10_000)],
        "AfterAgent": [(None, "priming hook stop --agent gemini", 10_000)],
        "PreCompress": [("manual", "priming hook session-start --agent gemini", 10_000)],
        "SessionEnd": [(None, "priming hook session-end --agent gemini", 10_000)],
    }
    after = [(group["matcher"], group["hooks"][0]["command"]) for group in written["hooks"]["AfterTool"]]
    assert after == [
        ("replace", "./fmt.sh"),
        ("read_file|write_file|replace|run_shell_command", "priming hook pre-tool --agent gemini"),
        ("run_shell_command", "priming hook post-tool --agent gemini"),
    ]


def test_the_command_is_the_path_of_the_program_as_it_was_called(tmp_path):
    programs = tmp_path / "with space"
    programs.mkdir()
    program, link = programs / "priming", tmp_path / "priming"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    link.symlink_to(program)
    other = str(tmp_path / "bin" / "python3")
    assert setup.launcher(argument=str(link), python=other) == [str(link)]
    assert setup.launcher(argument="../with space/priming", python=other) == [str(program)]
    assert setup.launcher(argument="/usr/bin/pytest", python=str(programs / "python3")) == [str(program)]
    assert setup.launcher(shared=True) == ["priming"]


def test_without_a_program_the_command_is_the_interpreter_with_the_module(tmp_path, monkeypatch, folder):
    monkeypatch.setenv("PATH", str(tmp_path))
    python = str(tmp_path / "my python")
    command = setup.launcher(argument="-c", python=python)
    assert command == [python, "-m", "priming.cli.start"]
    for agent in AGENTS:
        write_foreign(folder, agent)
        before = contents(folder)
        for _ in range(2):
            setup.write(setup.plan(agent, "project", remove=False, command=command))
        assert set_up(agent, remove=True)
        assert contents(folder) == before


def test_a_path_with_spaces_is_quoted_where_a_shell_reads_it(home, tmp_path):
    program = str(tmp_path / "with space" / "priming")
    setup.write(setup.plan("cursor", "user", remove=False, command=[program]))
    text = (home / ".cursor" / "hooks.json").read_text()
    assert json.loads(text)["hooks"]["stop"][0]["command"] == f"'{program}' hook stop --agent cursor"
    assert json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["priming"] == {
        "command": program,
        "args": ["mcp"],
    }
    assert set(agent_config.programs(text)) == {program}
    assert set_up("cursor", "user", remove=True)
    assert contents(home) == {}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("command", [["priming"], ["/my tools/priming"]])
def test_the_program_of_a_file_is_its_command_and_not_the_name_of_an_entry(folder, agent, command):
    setup.write(setup.plan(agent, "project", remove=False, command=command))
    for name in PROJECT[agent]:
        assert set(agent_config.programs((folder / name).read_text())) == {command[0]}


def test_empty_folders_of_an_agent_are_removed_and_others_stay(folder):
    for agent in AGENTS:
        set_up(agent)
        set_up(agent, remove=True)
    assert list(folder.iterdir()) == []
    (folder / ".claude" / "commands").mkdir(parents=True)
    set_up("claude-code")
    set_up("claude-code", remove=True)
    assert [path.name for path in (folder / ".claude").iterdir()] == ["commands"]


def test_an_older_entry_of_ours_is_replaced_and_one_in_a_shared_group_is_recognised(folder):
    path = folder / ".claude" / "settings.json"
    path.parent.mkdir()
    old = {"type": "command", "command": "/old/bin/priming hook stop --agent claude-code"}
    other = {"type": "command", "command": "./done.sh"}
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [other, old]}, {"hooks": [old]}]}}))
    set_up("claude-code")
    stop = json.loads(path.read_text())["hooks"]["Stop"]
    assert [[hook["command"] for hook in group["hooks"]] for group in stop] == [
        ["./done.sh"],
        ["priming hook stop --agent claude-code"],
    ]


def test_a_change_is_shown_as_a_diff(folder):
    change, _ = setup.plan("claude-code", "project", remove=False)
    diff = setup.difference(change)
    assert diff.startswith(f"--- /dev/null\n+++ {folder}/.mcp.json\n")
    assert '+    "priming": {' in diff


@pytest.mark.parametrize(
    ("agent", "name", "text", "message"),
    [
        ("claude-code", ".mcp.json", '{\n  "mcpServers": {,}\n}', "line 2"),
        ("claude-code", ".mcp.json", "[]", "holds no object"),
        ("claude-code", ".mcp.json", '{"mcpServers": []}', "another type"),
        ("claude-code", ".mcp.json", '{"mcpServers": {"priming": {"command": "other"}}}', "rename it"),
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": {}}}', "another type"),
        ("cursor", ".cursor/hooks.json", '{"hooks": 1}', "another type"),
        ("codex", ".codex/config.toml", "model = \n", "line 1"),
        ("codex", ".codex/config.toml", "mcp_servers = {}\n", "cannot be added to"),
        ("codex", ".codex/config.toml", '[mcp_servers.priming]\nurl = "https://x"\n', "rename it"),
        ("opencode", ".opencode/plugins/priming.js", "export default {}\n", "not of Priming"),
        ("opencode", "opencode.json", "{", "line 1"),
        ("opencode", "opencode.json", '{"mcp": []}', "another type"),
        ("gemini", ".gemini/settings.json", '{"hooks": {"AfterTool": {}}}', "another type"),
        ("gemini", ".gemini/settings.json", '{"mcpServers": {"priming": {"url": "https://x"}}}', "rename it"),
    ],
)
def test_a_file_that_cannot_be_changed_is_refused_with_the_remedy_and_nothing_is_written(
    folder, agent, name, text, message
):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    before = contents(folder)
    with pytest.raises(Conflict) as error:
        set_up(agent)
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert contents(folder) == before


def test_a_file_of_other_bytes_is_refused(folder):
    (folder / ".mcp.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(Conflict, match="not UTF-8"):
        set_up("claude-code")


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(folder):
    target = folder / "dotfiles.json"
    target.write_text("{}")
    target.chmod(0o600)
    (folder / ".mcp.json").symlink_to(target)
    set_up("claude-code")
    assert (folder / ".mcp.json").is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert "priming" in target.read_text()


def test_a_file_that_changes_after_the_plan_is_left_alone(folder):
    changes = setup.plan("claude-code", "project", remove=False)
    (folder / ".mcp.json").write_text("{}")
    with pytest.raises(Conflict, match="in the meantime"):
        setup.write(changes)
    assert not (folder / ".claude").exists()
