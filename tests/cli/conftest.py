"""The command line, run inside the test's process or as a process of its own, on a store of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from priming.cli.main import app

MODULE = """
import json
import sys
from priming.transfer.importers import Entry, Tie

def lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            value = json.loads(line)
            yield Tie(**value) if "relation" in value else Entry(value)

def waiting(path):
    for number in range(700):
        if number == 600:
            print("waiting", flush=True)
            sys.stdin.readline()
        yield Entry({"content": f"Entry number {number}."})
"""
COMMAND = [sys.executable, "-c", "from priming.cli.main import main; main()"]


@dataclass
class Shell:
    """A store, and the ways to run commands on it."""

    folder: Path

    @property
    def url(self):
        """Where the store is."""
        return f"sqlite:///{self.folder / 'memory.db'}"

    def run(self, *arguments, stdin=None, url=None):
        """Inside this process; the result of typer's runner."""
        environment = {"PRIMING_URL": url or self.url, "PRIMING_NAMESPACE": None, "PRIMING_PROFILE": None}
        return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin, env=environment)

    def ask(self, *arguments, stdin=None):
        """The answer of a command with ``--json``, which must succeed and say nothing else."""
        done = self.run(*arguments, "--json", stdin=stdin)
        assert (done.exit_code, done.stderr) == (0, ""), done.stderr
        return json.loads(done.stdout)

    @property
    def environment(self):
        """What a process of its own is given."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRIMING_")}
        return {**kept, "PRIMING_URL": self.url, "PYTHONPATH": str(self.folder / "site"), "PYTHONUTF8": "1"}

    def process(self, *arguments, command=COMMAND, stdin=None, environment=()):
        """A process of its own, run to its end; of its variables those of None are left out."""
        changed = {**self.environment, **dict(environment)}
        return subprocess.run(
            [*command, *map(str, arguments)],
            env={name: value for name, value in changed.items() if value is not None},
            input=stdin,
            capture_output=True,
            cwd=self.folder,
            timeout=60,
        )

    def file(self, *values, name="source.jsonl"):
        """A file for the importer ``lines``."""
        path = self.folder / name
        path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
        return path


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """A store in a folder of its own, and importers ``lines`` and ``waiting`` as real entry points."""
    site = tmp_path / "site"
    about = site / "mail_importers-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "cli_importers.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mail-importers\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[priming.importers]\nlines = cli_importers:lines\nwaiting = cli_importers:waiting\n"
    )
    monkeypatch.syspath_prepend(str(site))
    for name in ("PRIMING_AGENT", "PRIMING_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    """A store for the tests of a whole module, which must leave it as it is: one memory is in it."""
    shell = Shell(tmp_path_factory.mktemp("settled"))
    shell.ask("remember", "The deploy failed because the disk was full.")
    before = shell.ask("log")
    yield shell
    assert shell.ask("log") == before
    assert shell.ask("validate") == []
