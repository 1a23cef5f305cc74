"""Setting agents up, on real files."""

import json
import os
import shutil
import subprocess
import sys
import tomllib

import pytest

from priming.cli import agent_files
from priming.cli.agent_files import AGENTS

FILES = {
    "claude-code": (".mcp.json", ".claude/settings.json"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "opencode": ("opencode.json", ".opencode/plugins/priming.js"),
}
USERS = {
    "claude-code": (".claude.json", ".claude/settings.json"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "opencode": (".config/opencode/opencode.json", ".config/opencode/plugins/priming.js"),
}
OTHERS = {
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
        '# mine\nmodel = "gpt-5.6"\n\n[mcp_servers.docs]\ncommand = "docs"  # kept\n\n[features]\nhooks = true\n'
    ),
    ".codex/hooks.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./done.sh"}]}]}}\n',
    "opencode.json": (
        '{\n  // mine\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": {\n    "servers": {\n'
        '      "docs": { "type": "local", "command": ["docs"] }, // kept\n    },\n  },\n}\n'
    ),
}

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def home(shell, monkeypatch):
    """A home folder of the test's own."""
    path = shell.folder / "home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return path


def others(folder, agent):
    """Files of somebody's own for an agent, by their paths."""
    made = {}
    for name in FILES[agent]:
        if name in OTHERS:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(OTHERS[name])
            made[path] = OTHERS[name]
    return made


def kept(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("scope", "files"), [("--project", FILES), ("--user", USERS)])
def test_an_agent_is_set_up_from_nothing_and_taken_back(shell, home, agent, scope, files):
    folder = shell.folder if scope == "--project" else home
    before = kept(shell.folder)
    done = shell.ask("setup", agent, scope, "--yes")
    assert done["written"]
    assert {one["path"] for one in done["files"]} == {str(folder / name) for name in files[agent]}
    assert all((folder / name).is_file() for name in files[agent])
    assert shell.ask("setup", agent, scope, "--yes") == {**done, "files": [], "written": False}
    assert shell.ask("setup", agent, scope, "--remove", "--yes")["written"]
    assert kept(shell.folder) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_there_stays_byte_for_byte(shell, agent):
    made = others(shell.folder, agent)
    before = kept(shell.folder)
    shell.ask("setup", agent, "--yes")
    for path, text in made.items():
        changed = path.read_text()
        lines = [line.strip().rstrip(",]}") for line in text.splitlines()]
        assert changed != text
        assert [line for line in lines if line not in changed] == []
    shell.ask("setup", agent, "--remove", "--yes")
    assert kept(shell.folder) == before


def test_claude_code_gets_a_server_and_five_hooks_after_those_that_are_there(shell):
    others(shell.folder, "claude-code")
    shell.ask("setup", "claude-code", "--yes")
    servers = json.loads((shell.folder / ".mcp.json").read_text())["mcpServers"]
    assert servers["priming"] == {"command": "priming", "args": ["mcp"]}
    assert list(servers) == ["github", "priming"]
    hooks = json.loads((shell.folder / ".claude" / "settings.json").read_text())["hooks"]
    assert [one["hooks"][0]["command"] for one in hooks["PreToolUse"]] == [
        "./guard.sh",
        "priming hook pre-tool --agent claude-code",
    ]
    ours = {event: hooks[event][-1]["hooks"][0] for event in hooks if event != "Notification"}
    assert set(ours) == {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}
    assert all(one["type"] == "command" and one["timeout"] == 10 for one in ours.values())


def test_cursor_gets_flat_hooks_and_a_version(shell):
    shell.ask("setup", "cursor", "--yes")
    made = json.loads((shell.folder / ".cursor" / "hooks.json").read_text())
    assert made["version"] == 1
    assert made["hooks"]["beforeSubmitPrompt"] == [
        {"command": "priming hook prompt --agent cursor", "timeout": 10}
    ]
    assert set(made["hooks"]) == {"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "stop"}


def test_codex_gets_a_table_of_toml(shell):
    others(shell.folder, "codex")
    shell.ask("setup", "codex", "--yes")
    made = tomllib.loads((shell.folder / ".codex" / "config.toml").read_text())
    assert made["mcp_servers"] == {
        "docs": {"command": "docs"},
        "priming": {"command": "priming", "args": ["mcp"]},
    }
    assert made["features"] == {"hooks": True}


def test_opencode_gets_a_server_in_the_form_of_its_file(shell):
    path = shell.folder / "opencode.json"
    path.write_text('{"mcp": {"docs": {"type": "local", "command": ["docs"]}}}')
    shell.ask("setup", "opencode", "--yes")
    entry = {"type": "local", "command": ["priming", "mcp"]}
    assert json.loads(path.read_text())["mcp"]["priming"] == entry
    path.unlink()
    shell.ask("setup", "opencode", "--yes")
    assert json.loads(path.read_text())["mcp"] == {"servers": {"priming": entry}}


def test_a_users_files_name_the_command_by_its_path(shell, home, monkeypatch, tmp_path):
    folder = tmp_path / "with space"
    folder.mkdir()
    (folder / "priming").write_text("#!/bin/sh\n")
    (folder / "priming").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    shell.ask("setup", "cursor", "--user", "--yes")
    hooks = json.loads((home / ".cursor" / "hooks.json").read_text())["hooks"]
    assert hooks["stop"][0]["command"] == f"'{folder}/priming' hook stop --agent cursor"
    assert shell.ask("setup", "cursor", "--user", "--remove", "--yes")["written"]
    assert not (home / ".cursor" / "hooks.json").exists()


def test_an_older_entry_of_ours_is_replaced_and_one_that_somebody_moved_is_found(shell):
    path = shell.folder / ".claude" / "settings.json"
    path.parent.mkdir()
    old = {"type": "command", "command": "/old/bin/priming hook stop --agent claude-code"}
    other = {"type": "command", "command": "./done.sh"}
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [other, old]}, {"hooks": [old]}]}}))
    shell.ask("setup", "claude-code", "--yes")
    stop = json.loads(path.read_text())["hooks"]["Stop"]
    assert [[one["command"] for one in group["hooks"]] for group in stop] == [
        ["./done.sh"],
        ["priming hook stop --agent claude-code"],
    ]


def test_it_is_shown_and_asked_before_anything_is_written(shell):
    before = kept(shell.folder)
    done = shell.run("setup", "claude-code", stdin="n\n")
    assert done.exit_code == 1
    assert '+    "priming": {' in done.stdout
    assert f"+++ {shell.folder}/.mcp.json" in done.stdout
    assert "nothing was written" in done.stderr
    assert kept(shell.folder) == before
    done = shell.run("setup", "claude-code", stdin="y\n")
    assert done.exit_code == 0
    assert (shell.folder / ".mcp.json").is_file()


def test_a_program_is_shown_what_would_be_written_and_must_say_yes(shell):
    before = kept(shell.folder)
    done = shell.ask("setup", "cursor")
    assert not done["written"]
    assert "+++" in done["files"][0]["diff"]
    assert kept(shell.folder) == before


@pytest.mark.parametrize(
    ("agent", "name", "text", "said"),
    [
        ("claude-code", ".mcp.json", '{\n  "mcpServers": {,}\n}', "line 2"),
        ("claude-code", ".mcp.json", "[]", "holds no object"),
        ("claude-code", ".mcp.json", '{"mcpServers": []}', "another kind"),
        ("claude-code", ".mcp.json", '{"mcpServers": {"priming": {"command": "other"}}}', "rename it"),
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": {}}}', "another kind"),
        ("cursor", ".cursor/hooks.json", '{"hooks": 1}', "another kind"),
        ("codex", ".codex/config.toml", "model = \n", "line 1"),
        ("codex", ".codex/config.toml", "mcp_servers = {}\n", "cannot be added to"),
        ("codex", ".codex/config.toml", '[mcp_servers.priming]\nurl = "https://x"\n', "rename it"),
        ("opencode", ".opencode/plugins/priming.js", "export default {}\n", "not of Priming"),
        ("opencode", "opencode.json", "{", "line 1"),
    ],
)
def test_a_file_that_is_not_understood_is_refused_with_the_remedy_and_nothing_is_written(
    shell, agent, name, text, said
):
    path = shell.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    before = kept(shell.folder)
    done = shell.run("setup", agent, "--yes")
    assert done.exit_code == 2
    assert said in done.stderr
    assert name.rsplit("/", 1)[-1] in done.stderr
    assert kept(shell.folder) == before


def test_a_file_of_other_bytes_is_refused(shell):
    (shell.folder / ".mcp.json").write_bytes(b'{"a": "\xff"}')
    done = shell.run("setup", "claude-code", "--yes")
    assert done.exit_code == 2
    assert "no UTF-8" in done.stderr


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(shell):
    real = shell.folder / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o600)
    (shell.folder / ".mcp.json").symlink_to(real)
    shell.ask("setup", "claude-code", "--yes")
    assert (shell.folder / ".mcp.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert "priming" in real.read_text()


def test_a_file_that_changes_meanwhile_is_left_alone(shell):
    changes = agent_files.plan("claude-code", "project", remove=False)
    (shell.folder / ".mcp.json").write_text("{}")
    with pytest.raises(agent_files.Conflict, match="meanwhile"):
        agent_files.write(changes)
    assert not (shell.folder / ".claude").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["emacs"], "must be one of"), (["cursor", "--user", "--project"], "cannot be combined with --project")],
)
def test_bad_arguments_are_refused(shell, arguments, said):
    done = shell.run("setup", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


PLUGIN = """
import plugin from "./.opencode/plugins/priming.js"
const hooks = {}
const domain = (name) => ({ hook: async (event, call) => { hooks[`${name}.${event}`] = call } })
await plugin.setup({ session: domain("session"), tool: domain("tool"), location: { directory: process.cwd() } })
const sessionID = "ses_1"
await hooks["session.prompt"]({ sessionID, prompt: { text: "why did the deploy of the server fail?" } })
await hooks["tool.execute.before"]({ sessionID, tool: "bash", input: { command: "git push" } })
const done = { status: "completed", result: { content: [] } }
await hooks["tool.execute.after"]({ sessionID, tool: "bash", input: {}, ...done })
const event = { sessionID, system: [] }
hooks["session.context"](event)
const other = { sessionID: "ses_2", system: [] }
hooks["session.context"](other)
console.log(JSON.stringify({ id: plugin.id, told: event.system.map((one) => one.text), other: other.system }))
"""


def node():
    """What opencode runs plugins with; without it nothing can be said of ours."""
    found = shutil.which("node")
    assert found, "install Node.js, for instance Debian's package nodejs: these tests run a plugin in it"
    return found


@pytest.mark.slow
def test_the_plugin_of_opencode_puts_before_the_model_what_the_hooks_say(shell, home):
    launcher = shell.folder / "bin" / "priming"
    launcher.parent.mkdir()
    launcher.write_text(f"#!{sys.executable}\nfrom priming.cli.start import main\nmain()\n")
    launcher.chmod(0o755)
    shell.ask("learn", "--right", "Never push to main", "--task", "push")
    shell.ask("remember", "The deploy failed because the server was full.")
    shell.ask("setup", "opencode", "--yes")
    (shell.folder / "run.mjs").write_text(PLUGIN)
    done = subprocess.run(
        [node(), "run.mjs"],
        cwd=shell.folder,
        env={**shell.environment, "PATH": f"{launcher.parent}:{os.environ['PATH']}", "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["id"] == "priming.memory"
    assert answer["other"] == []
    assert any("server was full" in one for one in answer["told"])
    assert any("Never push to main" in one for one in answer["told"])


@pytest.mark.slow
def test_the_plugin_is_in_nobodys_way_where_the_command_is_missing(shell):
    shell.ask("setup", "opencode", "--yes")
    (shell.folder / "run.mjs").write_text(PLUGIN)
    done = subprocess.run(
        [node(), "run.mjs"],
        cwd=shell.folder,
        env={"PATH": str(shell.folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["told"] == []
