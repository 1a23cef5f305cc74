"""The programs of the agents: which versions load what setup writes, and which is installed.

A version that does not know a hook drops it silently or refuses its whole configuration, so versions are
checked before anything is written. A program that is missing or states no version is named and not refused: an
editor may bring its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping

from priming.config.values import dataclass
from priming.errors import Conflict
from priming_agents.limits import HOOK

_VERSION = re.compile(r"\b(\d+)\.(\d+)(?:\.(\d+))?")

ProgramVersion = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """An agent's program: the first version that loads what setup writes, the first that no longer does, and why.

    ``upgrade`` is the command that installs a version that does.
    """

    name: str
    program: str
    since: ProgramVersion
    reason: str
    upgrade: str
    until: ProgramVersion | None = None

    @property
    def needed(self) -> str:
        """The versions that load what setup writes."""
        before = "" if self.until is None else f", before {dotted(self.until)}"
        return f"{self.name} {dotted(self.since)} or newer{before} is needed"


@dataclass(frozen=True, slots=True)
class Installation:
    """An agent's program as it is installed; ``version`` is None if it states none in time."""

    client: AgentProgram
    path: str
    version: ProgramVersion | None

    @property
    def label(self) -> str:
        """Its name, its version and where it is."""
        version = "" if self.version is None else f" {dotted(self.version)}"
        return f"{self.client.name}{version} at {self.path}"

    @property
    def problem(self) -> str | None:
        """Why it cannot load what setup writes, or may not; None if it can."""
        client = self.client
        if self.version is None:
            return f"it states no version; {client.needed}"
        if self.version < client.since or (client.until is not None and self.version >= client.until):
            return f"{client.reason}; {client.needed}"
        return None


CLIENTS: Mapping[str, AgentProgram] = {
    "claude-code": AgentProgram(
        "Claude Code",
        "claude",
        (2, 1, 9),
        "it ignores the text of a hook before a tool",
        "npm install -g @anthropic-ai/claude-code, or: claude update",
    ),
    "cursor": AgentProgram("Cursor", "cursor", (1, 7, 0), "it has no hooks", "update it from its menu"),
    "codex": AgentProgram(
        "Codex",
        "codex",
        (0, 154, 0),
        "it runs no hooks in codex exec",
        "npm install -g @openai/codex",
    ),
    "gemini": AgentProgram(
        "Gemini CLI",
        "gemini",
        (0, 27, 0),
        "it runs no hooks, or does not say which words are theirs",
        "npm install -g @google/gemini-cli",
    ),
    "opencode": AgentProgram(
        "opencode",
        "opencode",
        (1, 3, 17),
        "it cannot load the plugin",
        "npm install -g opencode-ai@1",
        until=(2, 0, 0),
    ),
}
"""By agent. The versions are those in which the texts of the hooks reach the model (docs/hooks.md)."""


def installed(agent: str) -> Installation | None:
    """Return the program of an agent on the PATH, with its version; None where there is none."""
    client = CLIENTS[agent]
    path = shutil.which(client.program)
    return None if path is None else Installation(client, path, _version(path))


def require_loadable(installation: Installation | None) -> None:
    """Refuse an installed program that cannot load what setup writes.

    Raises:
        Conflict: with its version, the version that is needed, and the remedy.

    """
    if installation is not None and installation.version is not None and installation.problem is not None:
        raise Conflict(
            f"{installation.label}: {installation.problem}: {installation.client.upgrade}. Nothing was written"
        )


def dotted(version: ProgramVersion) -> str:
    """Return a version as text.

    >>> dotted((0, 154, 0))
    '0.154.0'
    """
    return ".".join(map(str, version))


def parse_version(text: str) -> ProgramVersion | None:
    """Return the first version in the output of a program.

    >>> parse_version("codex-cli 0.169.0"), parse_version("2.1.197 (Claude Code)"), parse_version("none")
    ((0, 169, 0), (2, 1, 197), None)
    """
    match = _VERSION.search(text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


def _version(path: str) -> ProgramVersion | None:
    """Return what a program answers to ``--version``."""
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HOOK.version,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(done.stdout.decode("utf-8", "replace"))
