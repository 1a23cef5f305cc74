"""A stage for a scene: a home, a project, a client and the model that it speaks to; nothing of the user's own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from priming.operations.local_socket import end_server, socket_path

from .clients import Client
from .protocols import Heard
from .stub import Script, Step, StubServer, texts

PATIENT = """#!{python}
from dataclasses import replace
from priming_agents import calls, limits
calls.ANSWER, limits.HOOK = 100.0, replace(limits.HOOK, patience=100.0, lock=100.0)
from priming.cli.start import main
main()
"""
"""The command line, whose hooks have limits that a busy machine does not reach."""
_LIMITS = {'"timeout": 10': '"timeout": 100', "PATIENCE = 10_000": "PATIENCE = 100_000"}
"""The limits that ``priming setup`` writes for the client, and those of the scenes."""
PATIENCE = 240.0
"""Seconds after which a client is stopped: none takes longer, whatever the machine does besides."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a client printed for a prompt, and what its model received meanwhile, title and summary excepted."""

    output: str
    requests: tuple[Heard, ...]

    @property
    def first(self) -> Heard:
        """The first request."""
        return self.requests[0]

    @property
    def text(self) -> str:
        """All that was put before the model at last."""
        return self.requests[-1].text

    @property
    def all_text(self) -> str:
        """All that was put before the model, request after request."""
        return texts(self.requests)


class Stage:
    """A project in a home of its own, and a client that is set up in it."""

    def __init__(self, client: Client, stub: StubServer, folder: Path) -> None:
        self.client, self.stub, self.more = client, stub, dict[str, str]()
        self.home, self.project = folder / "home", folder / "shop"
        self.home.mkdir()
        self.project.mkdir()
        self.programs = folder / "bin"
        self.programs.mkdir()
        (self.programs / "priming").write_text(PATIENT.format(python=sys.executable))
        (self.programs / "priming").chmod(0o755)
        self.run("git", "init", "--quiet", ".")
        for key, value in (("user.name", "Ann"), ("user.email", "ann@example.org")):
            self.run("git", "config", key, value)
        client.prepare(self.home, self.project, stub.url)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of every process: no key, no proxy and no setting of the user's."""
        programs = [self.programs, self.client.binaries]
        others = (shutil.which(name) for name in ("node", "git", "sh"))
        programs += [Path(program).parent for program in others if program is not None]
        return {
            "HOME": str(self.home),
            "PATH": os.pathsep.join(dict.fromkeys(map(str, programs))),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
            "GIT_CONFIG_NOSYSTEM": "1",
            "HTTP_PROXY": self.stub.url,
            "HTTPS_PROXY": self.stub.url,
            "NO_PROXY": "127.0.0.1,localhost",
            **self.client.environment(self.stub.url),
            **self.more,
        }

    def run(self, *command: str, status: int = 0) -> str:
        """What a command prints; what it started and left behind is ended."""
        process = subprocess.Popen(
            command,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(timeout=PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == status, f"{' '.join(command)}: {process.returncode}\n{output}\n{errors}"
        return output

    def priming(self, *arguments: str) -> Any:
        """The JSON that a command of Priming prints."""
        return json.loads(self.run("priming", *arguments, "--json"))

    def set_up(self) -> None:
        """Set the client up as a user does; its limits are raised, since the machine may be busy."""
        self.run("priming", "setup", self.client.agent, "--yes")
        for path in (path for path in self.project.rglob("*") if path.suffix in (".json", ".js")):
            text = path.read_text("utf-8")
            for limit, raised in _LIMITS.items():
                text = text.replace(limit, raised)
            path.write_text(text, "utf-8")

    def ask(self, prompt: str, *script: Step, resume: bool = False) -> Turn:
        """Send a prompt, to a model with a script."""
        return self.call(*self.client.command(prompt, resume=resume), script=script)

    def call(self, *command: str, script: Script = ()) -> Turn:
        """Run a command line of the client, with a script for the model."""
        self.stub.model.play(script)
        output = self.run(*command)
        for failure in self.stub.model.failures:
            raise failure
        requests = tuple(self.stub.model.main)
        assert requests, f"the model received nothing; {self.client.program} printed:\n{output}"
        return Turn(output, requests)

    def kinds(self) -> list[str]:
        """The kinds of what was written, oldest first."""
        return [entry["kind"] for entry in reversed(self.priming("log", "--limit", "200"))]

    def wait_for_server(self) -> None:
        """Wait until the session's server answers, which a hook starts and does not wait for."""
        while "server      process" not in self.run("priming", "status"):
            pass

    def close(self) -> None:
        """End the server that the hooks left behind."""
        end_server(socket_path(self.project / ".priming" / "memory.db"))
