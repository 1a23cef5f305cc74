"""The command line, run inside the test's process or as a process of its own, on a store of its own."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main

from priming.cli.output import draw
from priming.cli.start import app

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
COMMAND = [sys.executable, "-c", "from priming.cli.start import main; main()"]


@dataclass
class Result:
    """What a command printed, and its exit status."""

    exit_code: int
    stdout: str
    stderr: str


@functools.cache
def root():
    """The command line, built once: typer's own runner builds all commands for every call."""
    return typer.main.get_command(app)


def invoke(words, stdin=None, environment=()):
    """Run a command in this process, as a process of its own would be run."""
    data = stdin.encode() if isinstance(stdin, str) else stdin or b""
    streams = (
        io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"),
        *(
            io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors)
            for errors in ("strict", "backslashreplace")
        ),
    )
    before = sys.stdin, sys.stdout, sys.stderr
    status = 0
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(BrokenPipeError):
        patch.setenv("COLUMNS", "82")
        for name, value in dict(environment).items():
            patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
        sys.stdin, sys.stdout, sys.stderr = streams
        try:
            root().main(words, prog_name="priming")
        except SystemExit as end:
            status = end.code or 0
        finally:
            sys.stdin, sys.stdout, sys.stderr = before
    printed = []
    for stream in streams[1:]:
        stream.flush()
        printed.append(stream.buffer.getvalue().decode())
    return Result(status, *printed)


@dataclass
class Shell:
    """A store, and the ways to run commands on it. Its embedder has no weights to load."""

    folder: Path
    embedder: str | None = "hashed"

    @property
    def url(self):
        """Where the store is."""
        return f"sqlite:///{self.folder / 'memory.db'}"

    def run(self, *arguments, stdin=None, url=None):
        """Inside this process."""
        environment = {"PRIMING_URL": url or self.url, "PRIMING_NAMESPACE": None, "PRIMING_PROFILE": None}
        environment |= {"PRIMING_EMBEDDER": self.embedder} if self.embedder else {}
        return invoke([str(each) for each in arguments], stdin, environment)

    def ask(self, *arguments, stdin=None):
        """The answer of a command with ``--json``, which must succeed and say nothing else but why it is empty."""
        done = self.run(*arguments, "--json", stdin=stdin)
        assert done.exit_code == 0, done.stderr
        assert not done.stderr or json.loads(done.stderr).keys() == {"reason"}, done.stderr
        return json.loads(done.stdout)

    @property
    def environment(self):
        """What a process of its own is given."""
        others = {name: value for name, value in os.environ.items() if not name.startswith("PRIMING_")}
        own = {"PRIMING_URL": self.url, "PYTHONPATH": str(self.folder / "site"), "PYTHONUTF8": "1"}
        return {**others, **own, "PRIMING_EMBEDDER": self.embedder or "wordllama"}

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


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """Copies a store that a function fills to a shell; each function runs once. Its result is returned, too."""
    new = {}

    def copy(shell, fill):
        if fill not in new:
            template = Shell(tmp_path_factory.mktemp(fill.__name__))
            before = Path.cwd()
            os.chdir(template.folder)
            try:
                new[fill] = template, fill(template)
            finally:
                os.chdir(before)
        template, result = new[fill]
        shutil.copytree(template.folder, shell.folder, dirs_exist_ok=True)
        return result

    return copy


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    """A store for the tests of a whole module, which must leave it as it is: one memory is in it."""
    shell = Shell(tmp_path_factory.mktemp("settled"))
    shell.ask("remember", "The deploy failed because the disk was full.")
    before = shell.ask("log")
    yield shell
    assert shell.ask("log") == before
    assert shell.ask("validate") == []


@pytest.fixture
def shown(capsys):
    """The lines of parts as they are written into a pipe."""

    def lines(parts):
        draw(parts)
        return capsys.readouterr().out.splitlines()

    return lines
