"""Beside another server of the session, that of Claude Code's plugin offers nothing; otherwise it offers all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from priming.config import environment
from priming.mcp.stdio import side_by_side, silent_answer

URL = "sqlite:////stores/tea.db"


@pytest.fixture
def offers(tmp_path, monkeypatch):
    """A function that starts a server of the session, of the plugin or not, and says whether it offers tools."""
    for name, folder in (
        ("XDG_RUNTIME_DIR", "run"),
        ("CLAUDE_CONFIG_DIR", "home"),
        ("CLAUDE_PROJECT_DIR", "shop"),
    ):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("CLAUDECODE", "1")

    def start(
        *, plugin: bool, url: str | None = URL, namespace: str = "default", groups: str = "core"
    ) -> Any:
        if plugin:
            monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", "/plugins/arc")
        else:
            monkeypatch.delenv("CLAUDE_PLUGIN_ROOT", raising=False)
        return side_by_side(url, namespace, groups)

    return start


def announcements() -> list[Path]:
    return [*environment.runtime_folder().glob("*mcp-*")]


def test_the_plugin_steps_back_beside_the_server_of_the_settings_as_long_as_that_runs(offers):
    with offers(plugin=False) as settings:
        assert settings
        with offers(plugin=True) as plugin:
            assert not plugin
    assert announcements() == []
    with offers(plugin=True) as plugin:
        assert plugin


def test_the_plugin_alone_offers_its_tools(offers):
    with offers(plugin=True) as plugin:
        assert plugin


def test_only_the_plugin_steps_back(offers):
    with offers(plugin=True) as plugin, offers(plugin=False) as first, offers(plugin=False) as second:
        assert (plugin, first, second) == (True, True, True)


@pytest.mark.parametrize(
    "other", [{"url": "sqlite:////stores/milk.db"}, {"namespace": "dairy"}, {"groups": "rules"}]
)
def test_another_store_namespace_or_set_of_tools_is_not_the_same(offers, other):
    with offers(plugin=False, **other), offers(plugin=True) as plugin:
        assert plugin


@pytest.mark.parametrize("groups", ["all", "rules,core"])
def test_a_server_with_more_tools_will_do(offers, groups):
    with offers(plugin=False, groups=groups), offers(plugin=True) as plugin:
        assert not plugin


def test_outside_of_claude_code_nothing_is_announced(offers, monkeypatch):
    monkeypatch.delenv("CLAUDECODE")
    with offers(plugin=False) as settings:
        assert settings
        assert announcements() == []


def test_a_store_in_memory_is_nobody_elses(offers):
    with offers(plugin=False, url="sqlite://"), offers(plugin=True, url="sqlite://") as plugin:
        assert plugin


def test_what_a_killed_server_left_counts_for_nothing_and_is_removed(offers):
    with offers(plugin=False):
        (path,) = announcements()
    path.write_text("core")
    with offers(plugin=True) as plugin:
        assert plugin
    assert not path.exists()


def test_a_server_that_begins_removes_what_killed_servers_of_other_sessions_left(offers):
    with offers(plugin=False):
        (path,) = announcements()
        left = path.with_name("mcp-1-0123456789abcdef-2")
        left.write_text("core")
        with offers(plugin=False, namespace="dairy"):
            assert path.exists()
            assert not left.exists()


def test_a_folder_that_nothing_can_be_written_to_disturbs_nobody(offers, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "file"))
    for plugin in (False, True):
        with offers(plugin=plugin) as is_offered:
            assert is_offered


@pytest.mark.slow
@pytest.mark.parametrize("where", ["project", "above", "user", "local"])
def test_a_server_that_the_settings_name_is_awaited(offers, tmp_path, where):
    """The other begins a little later; it runs in this process, so that both have the same parent."""
    server = {"mcpServers": {"memory": {"command": "/opt/tools/priming", "args": ["mcp"]}}}
    file, text = {
        "project": ("shop/.mcp.json", server),
        "above": (".mcp.json", server),
        "user": ("home/.claude.json", server),
        "local": ("home/.claude.json", {"projects": {str(tmp_path / "shop"): server}}),
    }[where]
    (tmp_path / file).write_text(json.dumps(text))
    with offers(plugin=False) as settings:
        assert settings
        (path,) = announcements()
        hidden = path.with_name("hidden")
        path.rename(hidden)
        later = Timer(0.1, hidden.rename, [path])
        later.start()
        with offers(plugin=True) as plugin:
            assert not plugin
        later.join()


@pytest.mark.slow
def test_a_server_that_the_settings_name_and_that_never_comes_is_not_awaited_for_ever(offers, tmp_path):
    server = {"mcpServers": {"memory": {"command": "priming", "args": ["mcp"]}}}
    (tmp_path / "shop" / ".mcp.json").write_text(json.dumps(server))
    with offers(plugin=True) as plugin:
        assert plugin


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"mcpServers": 1}', '{"projects": {"/": []}}', "[" * 100_000]
)
def test_settings_that_cannot_be_read_name_nothing(offers, tmp_path, text):
    (tmp_path / "shop" / ".mcp.json").write_text(text)
    (tmp_path / "home" / ".claude.json").write_text(text)
    with offers(plugin=True) as plugin:
        assert plugin


def test_a_server_without_tools_greets_and_has_nothing():
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": hello}
    reply = json.loads(silent_answer(json.dumps(request).encode()))
    assert (reply["id"], reply["result"]["capabilities"]) == (7, {})
    assert reply["result"]["protocolVersion"] == "2025-06-18"
    assert json.loads(silent_answer(b'{"id": "a", "method": "ping"}'))["result"] == {}
    assert json.loads(silent_answer(b'{"id": 8, "method": "tools/list"}'))["error"]["code"] == -32601
    for line in (
        b"",
        b"[]",
        b"{",
        b'{"method": "notifications/initialized"}',
        b'{"id": null}',
        b"[" * 100_000,
    ):
        assert silent_answer(line) == b""


def test_the_session_is_the_process_that_starts_the_servers(offers):
    with offers(plugin=False):
        (path,) = announcements()
        assert f"mcp-{os.getppid()}-" in path.name
        assert path.stat().st_mode & 0o077 == 0
