"""A project of an agent: a folder with a store, and its hooks as the processes that an agent would start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

COMMAND = [sys.executable, "-c", "from priming.cli.start import main; main()"]


@dataclass
class Project:
    """The folder of a project, and one session of an agent in it."""

    folder: object
    session: str = "s1"

    @property
    def database(self):
        return self.folder / ".priming" / "memory.db"

    @property
    def url(self):
        return f"sqlite:///{self.database}"

    @property
    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRIMING_")}
        return {**kept, "HOME": str(self.folder.parent / "home"), "PYTHONUTF8": "1"}

    def process(self, event, data, *options, command=COMMAND, **environment):
        """A hook as a process of its own, given bytes."""
        return subprocess.run(
            [*command, "hook", event, *options],
            env={**self.environment, **environment},
            input=data,
            capture_output=True,
            cwd=self.folder.parent,
            timeout=60,
            check=False,
        )

    def said(self, **more):
        """What an agent says, as Claude Code does."""
        return json.dumps({"session_id": self.session, "cwd": str(self.folder), **more}).encode()

    def hook(self, event, *options, **more):
        """What a hook answers, as an object; None where it says nothing. It must end well and complain of nothing."""
        done = self.process(event, self.said(**more), *options)
        assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
        return json.loads(done.stdout) if done.stdout else None

    def told(self, event, **more):
        """The text that a hook puts before the model; nothing where it says nothing."""
        answer = self.hook(event, **more)
        return "" if answer is None else answer["hookSpecificOutput"]["additionalContext"]

    def edits(self, file):
        return self.told("pre-tool", tool_name="Edit", tool_input={"file_path": str(self.folder / file)})

    def runs(self, command):
        return self.told("pre-tool", tool_name="Bash", tool_input={"command": command})

    def ran(self, command, output):
        return self.hook(
            "post-tool", tool_name="Bash", tool_input={"command": command}, tool_response={"stdout": output}
        )

    def at_once(self, times, event, **more):
        """The answers of several hooks that run at the same time."""
        with ThreadPoolExecutor(times) as pool:
            return list(pool.map(lambda _: self.told(event, **more), range(times)))
