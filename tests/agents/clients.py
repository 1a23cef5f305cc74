"""The clients: which version of each is tested, how it is installed, and how it is called without a person."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .protocols import Call
from .stub import KEY

VERSIONS: Mapping[str, tuple[str, str]] = {
    "claude-code": ("2.1.332", "2.1.197"),
    "codex": ("0.171.0", "0.169.0"),
    "opencode": ("1.18.33", "1.18.19"),
    "gemini": ("0.61.0", "0.51.0"),
}
"""What npm installs: of each client the newest version that was tested, and an older one."""
NEWEST = "AGENTS_NEWEST"
"""The variable with other newest versions, in JSON by client."""
FOLDER = Path(sys.prefix) / "agents"
"""Where they are installed: in the virtual environment, which ``make clean`` removes."""
PATIENCE = 300.0
"""Seconds for an installation."""


class NotInstalled(Exception):
    """A client that cannot be installed, with what npm says."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client of an agent that ``priming setup`` knows."""

    agent: str
    version: str
    package: str
    program: str
    shell_tool: str
    file_tool: str
    memory_tool: str
    """The name of an MCP tool of Priming, with ``{}`` in the place of our own name of it."""

    @property
    def binaries(self) -> Path:
        """The folder of its program."""
        return FOLDER / f"{self.agent}-{self.version}" / "node_modules" / ".bin"

    def install(self) -> None:
        """Install it with npm, unless it is there; test processes that run side by side install it once.

        Raises:
            NotInstalled: npm is missing, or fails.

        """
        folder = self.binaries.parents[1]
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / "lock"):
            failure = folder / "failure.txt"
            if (folder / "installed").exists():
                return
            if failure.exists() and failure.stat().st_mtime > _boot_of_tests():
                raise NotInstalled(failure.read_text("utf-8"))
            error = _npm_install(folder, f"{self.package}@{self.version}")
            if error is not None:
                failure.write_text(error, "utf-8")
                raise NotInstalled(error)
            (folder / "installed").touch()

    def environment(self, url: str) -> dict[str, str]:
        """Its own variables: the address and the key of its model; no telemetry, no updates."""
        raise NotImplementedError

    def prepare(self, home: Path, project: Path, url: str) -> None:
        """Write its own configuration, beside what ``priming setup`` writes."""

    def command(self, prompt: str, *, resume: bool = False) -> Sequence[str]:
        """Its command line for a prompt without a person, in a new session or in the last one."""
        raise NotImplementedError

    def shell(self, command: str) -> Call:
        """The call of its tool that runs a command."""
        return Call(self.shell_tool, {"command": command, "description": "Run a command"})

    def write(self, path: Path, text: str) -> Call:
        """The call of its tool that writes a file."""
        return Call(self.file_tool, {"file_path": str(path), "content": text})

    def memory(self, tool: str, **arguments: Any) -> Call:
        """The call of a tool of Priming's MCP server."""
        return Call(self.memory_tool.format(tool), arguments)


class ClaudeCode(Client):
    """Claude Code, ``claude -p``."""

    def environment(self, url: str) -> dict[str, str]:
        switches = ("TELEMETRY", "AUTOUPDATER", "ERROR_REPORTING", "BUG_COMMAND")
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **{f"DISABLE_{name}": "1" for name in switches},
        }

    def command(self, prompt: str, *, resume: bool = False) -> Sequence[str]:
        more = ["--continue"] if resume else []
        return ["claude", "--allowedTools", "Bash,Write,mcp__priming", *more, "-p", prompt]


class Codex(Client):
    """Codex, ``codex exec``."""

    def environment(self, url: str) -> dict[str, str]:
        return {"STUB_KEY": KEY}

    def prepare(self, home: Path, project: Path, url: str) -> None:
        folder = home / ".codex"
        folder.mkdir()
        (folder / "config.toml").write_text(
            'model = "stub"\nmodel_provider = "stub"\ncheck_for_update_on_startup = false\n'
            "[analytics]\nenabled = false\n"
            f'[model_providers.stub]\nname = "stub"\nbase_url = "{url}/v1"\n'
            'env_key = "STUB_KEY"\nwire_api = "responses"\n'
        )

    def command(self, prompt: str, *, resume: bool = False) -> Sequence[str]:
        switches = (
            "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox",
            "--trust",
        )
        return ["codex", "exec", *switches, *(["resume", "--last"] if resume else []), prompt]

    def shell(self, command: str) -> Call:
        return Call(self.shell_tool, {"cmd": command})

    def write(self, path: Path, text: str) -> Call:
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {path.name}\n{lines}*** End Patch"
        return self.shell(f"apply_patch <<'EOF'\n{patch}\nEOF")

    def memory(self, tool: str, **arguments: Any) -> Call:
        return Call(tool, arguments, namespace="mcp__priming")


class Gemini(Client):
    """gemini-cli, ``gemini -p``."""

    def environment(self, url: str) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }

    def prepare(self, home: Path, project: Path, url: str) -> None:
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        _write_json(home / ".gemini" / "settings.json", settings)

    def command(self, prompt: str, *, resume: bool = False) -> Sequence[str]:
        more = ["--resume", "latest"] if resume else []
        return ["gemini", "--yolo", "--model", "gemini-2.5-pro", *more, "--prompt", prompt]

    def shell(self, command: str) -> Call:
        return Call(self.shell_tool, {"command": command})


class OpenCode(Client):
    """opencode, ``opencode run``."""

    def environment(self, url: str) -> dict[str, str]:
        switches = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
        return {f"OPENCODE_DISABLE_{name}": "1" for name in switches}

    def prepare(self, home: Path, project: Path, url: str) -> None:
        options = {"baseURL": f"{url}/v1", "apiKey": KEY}
        model = {"name": "stub", "limit": {"context": 100_000, "output": 4_000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "stub",
            "options": options,
            "models": {"stub": model},
        }
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "model": "stub/stub",
            "small_model": "stub/stub",
            "provider": {"stub": provider},
        }
        folder = home / ".config" / "opencode"
        _write_json(folder / "opencode.json", settings)
        for place in (folder, project / ".opencode"):
            # It would install types for plugins from npm at every start, which nothing needs.
            needs = {"dependencies": {"@opencode-ai/plugin": self.version}}
            (place / "node_modules").mkdir(parents=True, exist_ok=True)
            _write_json(place / "package.json", needs)
            _write_json(place / "package-lock.json", {"packages": {"": needs}})

    def command(self, prompt: str, *, resume: bool = False) -> Sequence[str]:
        return ["opencode", "run", "--auto", *(["--continue"] if resume else []), prompt]

    def write(self, path: Path, text: str) -> Call:
        return Call(self.file_tool, {"filePath": str(path), "content": text})


_CLIENTS = (
    (ClaudeCode, "claude-code", "@anthropic-ai/claude-code", "claude", "Bash", "Write", "mcp__priming__{}"),
    (Codex, "codex", "@openai/codex", "codex", "exec_command", "", "mcp__priming{}"),
    (OpenCode, "opencode", "opencode-ai", "opencode", "bash", "write", "priming_{}"),
    (Gemini, "gemini", "@google/gemini-cli", "gemini", "run_shell_command", "write_file", "mcp_priming_{}"),
)
CLIENTS: Mapping[str, Client] = {
    f"{agent}-{version}": kind(agent, version, *rest)
    for kind, agent, *rest in _CLIENTS
    for version in (
        json.loads(os.environ.get(NEWEST, "{}")).get(agent, VERSIONS[agent][0]),
        VERSIONS[agent][1],
    )
}
"""The clients by their name and version."""


def _npm_install(folder: Path, package: str) -> str | None:
    """Install a package from the registry and the cache of the user's npm; what went wrong, or None."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not there: install Node.js, for instance Debian's packages nodejs and npm"
    quiet = ("--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", "--no-update-notifier")
    try:
        done = subprocess.run(
            [npm, "install", *quiet, "--prefix", str(folder), package],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"npm did not install {package} within {PATIENCE:.0f} s"
    return None if done.returncode == 0 else f"npm cannot install {package}:\n{done.stderr[-2_000:]}"


def _boot_of_tests() -> float:
    """When the run of tests began: a failure of this run is not tried again by each of its scenes."""
    return float(os.environ.get("AGENTS_BEGAN", "0"))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
