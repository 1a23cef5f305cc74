"""A project with a store, and the hooks of an agent in it: called in process, or as processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from priming import Cue, Memory
from priming.storage.sqlite.store import SqliteStore
from priming_agents.command import respond

PATIENT = """
from dataclasses import replace
from priming_agents import calls, command, session
calls.ANSWER, command.HOOK = 600.0, replace(command.HOOK, patience=600.0, lock=600.0)
session.HOOK = command.HOOK
from priming.cli.start import main
main()
"""
"""The command line, with limits that a busy machine does not reach."""
COMMAND = [sys.executable, "-c", PATIENT]
DEPLOY = "The deploy failed because the disk of the build server was full."


@dataclass
class Project:
    """The folder of a project, and one session of an agent in it."""

    folder: Path
    session: str = "s1"
    embedder: object = None
    attended: bool | None = False

    @property
    def database(self):
        return self.folder / ".priming" / "memory.db"

    @property
    def url(self):
        return f"sqlite:///{self.database}"

    def memory(self):
        """The store, opened."""
        return Memory.open(self.url, embedder=self.embedder)

    def copy(self, folder):
        """The same project in another folder, whose user is asked nothing about it."""
        shutil.copytree(self.folder, folder)
        copy = replace(self, folder=folder)
        copy.adopt()
        return copy

    def adopt(self, home=None):
        """Let the store count as one that this machine made: for the present user, or for that of a home."""
        with pytest.MonkeyPatch.context() as patch, closing(SqliteStore(self.database)) as store:
            if home is not None:
                patch.setenv("PRIMING_HOME", str(home / ".priming"))
            store.adopt()

    def payload(self, **more):
        """What Claude Code sends to a hook."""
        return json.dumps({"session_id": self.session, "cwd": str(self.folder), **more}).encode()

    def hook(self, event, **more):
        """The output of a hook as an object; None where it has none."""
        output = respond(event, self.payload(**more), attended=self.attended)
        return json.loads(output) if output else None

    def text(self, event, **more):
        """The text that a hook injects; empty where it has none."""
        return context(self.hook(event, **more))

    def edit(self, file):
        return self.text("pre-tool", tool_name="Edit", tool_input={"file_path": str(self.folder / file)})

    def command(self, line):
        return self.text("pre-tool", tool_name="Bash", tool_input={"command": line})

    def command_done(self, line, output):
        tool = {"tool_input": {"command": line}, "tool_response": {"stdout": output}}
        return self.hook("post-tool", tool_name="Bash", **tool)

    @property
    def environment(self):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PRIMING_")}
        own = {"HOME": str(self.folder.parent / "home"), "PYTHONUTF8": "1"}
        return {**inherited, **own, "PRIMING_HOOKS_SERVER": "off"}

    def process(self, event, data, *options, command=COMMAND, **environment):
        """A hook as a process of its own."""
        return subprocess.run(
            [*command, "hook", event, *options],
            env={**self.environment, **environment},
            input=data,
            capture_output=True,
            cwd=self.folder.parent,
            timeout=120,
            check=False,
        )

    def process_text(self, event, **more):
        """The text that a hook in a process of its own injects; the process must succeed without a complaint."""
        done = self.process(event, self.payload(**more))
        assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
        return context(json.loads(done.stdout) if done.stdout else None)

    def processes(self, count, event, **more):
        """The texts of several processes that run at the same time."""
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(lambda _: self.process_text(event, **more), range(count)))


def context(output):
    """The text in the output of a hook of Claude Code."""
    return "" if output is None else output["hookSpecificOutput"]["additionalContext"]


def filled(project):
    """The project with rules and memories in its store."""
    (project.folder / ".git").mkdir(parents=True)
    (project.folder / "pyproject.toml").touch()
    project.database.parent.mkdir()
    with project.memory() as memory:
        memory.learn("Prefer small commits")
        memory.learn("Never push to main")
        memory.learn("Use pathlib instead of os.path", cue=Cue(language="python"))
        memory.learn("Wrap errors with their cause", cue=Cue(language="go"))
        memory.learn("Run the linter before every commit", cue=Cue(task="commit"))
        memory.remember(DEPLOY, key="deploy")
        memory.remember("Releases of shop are signed with Kestrel.", key="kestrel", importance=0.9)
        memory.remember("The shop sells tea.", key="tea", importance=0.1)
    project.adopt(project.folder.parent / "home")
    return project
