"""Fill in what the docs paste: the output of every command and snippet that they show, and tables of values.

Between ``<!-- output: … -->`` and ``<!-- /output -->`` in any page, the first line names one of

- ``shell``: a console session; the lines after each ``$ …`` are what it printed
- ``python``: a session at the Python prompt
- ``table NAME``: one of ``docs/tables.py``
- ``results NAME``: one of ``docs/measured.py``, of what was measured and is in ``benchmarks/results``

and the block is replaced by the present output. A session begins in a folder of its own that holds
``docs/scenario`` and a store with the memories of ``memories.jsonl``. ``empty`` begins without the store, ``shop``
has a git repository of that name beside it, ``story`` the notes of ``demo/story``, ``again`` continues the session
before, and only ``fails`` may end in an error.
The clock advances by a minute a command and not otherwise. Ids are shortened and durations omitted, so that a page
changes only when Priming's behaviour changes.

    python docs/generate.py            write the pages, the ready-made tools of MCP, and the verbs for type checkers
    python docs/generate.py --check    exit 1, with the difference, if a page is out of date
    python docs/generate.py PAGE ...   the same for some pages only
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import measured
import tables
import typed
import typer.main

import priming.embedding.weights
import priming.embedding.wordllama
import priming.memory
import priming.types
from priming import FixedClock, Memory, PrimingError
from priming.cli.start import app
from priming.config import environment
from priming.embedding.wordllama import StaticEmbedder
from priming.mcp import tools as mcp_tools
from priming.storage.sqlite.store import SqliteStore

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
WIDTH = "100"
NOW = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TOLERANCE = 0.02

_COMMAND = typer.main.get_command(app)
_BLOCK = re.compile(r"(<!-- output: ([^\n]*?) -->\n)(.*?)(<!-- /output -->)", re.DOTALL)
_FENCE = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_KEY = re.compile(r"\b((?:[a-z\d]+-){3,})[0-9a-f]{6}\b")
"""A key that was taken, with what tells it from the first: the end of an id."""
_SPENT = re.compile(r"^[\d.]+ ms: .*$", re.MULTILINE)
_TIMED = re.compile(r"^.* median ms +p99 ms\n(?:\S.*\n)+", re.MULTILINE)
_TIMES = re.compile(r" +[\d.]+ +[\d.]+$", re.MULTILINE)
_SIZE = re.compile(r"(?<=^size )( *)[\d.]+ [KMG]?i?B(?:ytes)?$", re.MULTILINE)
_BYTES = re.compile(r'(?<="bytes": )\d+')
_GENERATION = re.compile(r"(wordllama-\w+/\d+)/[0-9a-f]{12}")
_DIGEST = re.compile(r"(?<= )[0-9a-f]{16}$", re.MULTILINE)
_MARK = re.compile(r"(?<=[A-Z] )<\w+>|\[required\]|[][{}\\]")
_DECIMAL = re.compile(r"\d+\.\d+")
_COMMITS = (
    ("2026-03-02T10:00:00Z", "Sign builds with Kestrel", ("sign.py", "build.py")),
    ("2026-03-02T15:00:00Z", "Wait for Kestrel before a release", ("sign.py", "build.py")),
    ("2026-03-03T11:00:00Z", "Say on what day we release", ("README.md",)),
)


class DocsError(Exception):
    """A page shows something that does not work."""


@dataclass
class Desk:
    """Where the sessions of the docs run: one folder for each, a clock, and the ids met so far."""

    folder: Path
    clock: FixedClock
    number: int = 0
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def here(self) -> Path:
        """The folder of the present session."""
        return self.folder / str(self.number) / "work"

    def begin(self, options: Sequence[str]) -> None:
        """Go to a fresh folder, unless the session goes on."""
        if "again" not in options:
            self.number += 1
            self.ids.clear()
            shutil.copytree(self.folder / "scenario", self.here)
            if "empty" in options:
                shutil.rmtree(self.here / ".priming")
            if "story" in options:
                shutil.copytree(ROOT / "demo" / "story", self.here / "story")
            if "shop" in options:
                shutil.copytree(self.folder / "shop", self.here / "shop")
            self.clock.at = NOW
        os.chdir(self.here)
        if "again" not in options and "empty" not in options:
            with contextlib.closing(SqliteStore(environment.DEFAULT_PATH)) as store:
                store.adopt()  # a copy is another place

    def plain(self, text: str) -> str:
        """A text without what changes from run to run."""
        text = text.replace(str(self.here), "…")
        text = _ID.sub(lambda match: self.ids.setdefault(match[0], f"019c…{len(self.ids) + 1:02d}"), text)
        text = _KEY.sub(r"\1…", text)
        text = _DIGEST.sub("…", text)
        text = _SPENT.sub("… ms: …", text)
        text = _TIMED.sub(lambda table: _TIMES.sub("          …       …", table[0]), text)
        text = _SIZE.sub(r"\1…", text)
        text = _BYTES.sub("…", text)
        return _GENERATION.sub(r"\1/…", text)


def main() -> int:
    """Write the pages, or check whether they are current."""
    check = "--check" in sys.argv[1:]
    chosen = {Path(name).resolve() for name in sys.argv[1:] if name != "--check"}
    if not check and not chosen:
        mcp_tools.FILE.write_text(mcp_tools.text(), encoding="utf-8")
        typed.write()
    stale, broken = [], []
    with _desk() as desk:
        for page in pages():
            if chosen and page not in chosen:
                continue
            before = page.read_text("utf-8")
            after = filled(
                before,
                desk,
                lambda problem, page=page: broken.append(f"{page.relative_to(ROOT)}, {problem}"),
            )
            if after == before:
                continue
            stale.append(page)
            if check:
                sys.stdout.writelines(_difference(page, before, after))
            else:
                page.write_text(after, "utf-8")
    reports = [
        f"{page.relative_to(ROOT)} {'is out of date: run make docs' if check else 'was written'}"
        for page in stale
    ]
    sys.stderr.writelines(f"{line}\n" for line in (*reports, *broken))
    return 1 if broken or (check and stale) else 0


def pages() -> list[Path]:
    """Every page of the docs."""
    return sorted(
        [*ROOT.glob("*.md"), *(page for page in DOCS.rglob("*.md") if "scenario" not in page.parts)]
    )


def filled(text: str, desk: Desk, broken: Callable[[str], None]) -> str:
    """A page with every block as it comes out now; ``broken`` is called with those that do not work."""

    def fill(block: re.Match[str]) -> str:
        kind, *options = block[2].split()
        try:
            output = _KINDS[kind](block[3], options, desk)
        except (DocsError, measured.Missing, KeyError) as error:
            line = text[: block.start()].count("\n") + 1
            broken(f"line {line}: {error}")
            output = block[3]
        same = kind not in _EXACT and alike(block[3], output)
        return f"{block[1]}{block[3] if same else output}{block[4]}"

    return _BLOCK.sub(fill, text)


def alike(before: str, after: str) -> bool:
    """Whether two outputs differ at most in what machines round and versions of typer draw differently."""
    if _shape(before) != _shape(after):
        return False
    pairs = zip(_DECIMAL.findall(before), _DECIMAL.findall(after), strict=True)
    return all(abs(float(a) - float(b)) <= TOLERANCE for a, b in pairs)


def _shape(text: str) -> list[str]:
    """The words of an output, numbers and marks of parameters aside."""
    return _MARK.sub(" ", _DECIMAL.sub("#", text)).split()


def _table(_: str, options: list[str], __: Desk) -> str:
    name, *arguments = options
    return f"{tables.TABLES[name](*arguments).strip()}\n"


def _results(_: str, options: list[str], __: Desk) -> str:
    name, *arguments = options
    return f"{measured.KINDS[name](*arguments).strip()}\n"


def _shell(body: str, options: list[str], desk: Desk) -> str:
    desk.begin(options)
    parts = []
    for command in _commands(_inside(body)):
        desk.clock.at += MINUTE
        status, output = _run(command.replace("\\\n", " "))
        if status and "fails" not in options:
            raise DocsError(f"{command!r} ended with status {status}: {output}")
        parts.append(f"$ {command}\n{desk.plain(output)}")
    text = "\n".join(part.rstrip("\n") for part in parts)
    return f"```console\n{text}\n```\n"


def _inside(body: str) -> str:
    fence = _FENCE.search(body)
    if fence is None:
        raise DocsError("a session must be in a fenced block")
    return fence[1]


def _commands(session: str) -> Iterator[str]:
    """The lines after ``$``, with those that a backslash joins to them."""
    lines = iter(session.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command += "\n" + next(lines)
            yield command


def _run(command: str) -> tuple[int, str]:
    """Run a command: Priming's in this process, any other in a shell."""
    words = shlex.split(command)
    if words[0] == "priming":
        return _called(words[1:])
    finished = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    return finished.returncode, finished.stdout + finished.stderr


def _called(words: list[str]) -> tuple[int, str]:
    """Exit status and output, errors among it as on a terminal, of the command line."""
    screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    status: Any = 0
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        try:
            _COMMAND.main(words, prog_name="priming")
        except SystemExit as end:
            status = end.code or 0
    screen.seek(0)
    return int(status), screen.read()


def _python(body: str, options: list[str], desk: Desk) -> str:
    desk.begin(options)
    names: dict[str, Any] = {}
    parts = []
    try:
        for example in doctest.DocTestParser().get_examples(_inside(body)):
            desk.clock.at += MINUTE
            failed, output = _evaluated(example.source, names)
            if failed and "fails" not in options:
                raise DocsError(f"{example.source!r} raised:\n{output}")
            parts.append(_prompted(example.source) + desk.plain(output))
    finally:
        for value in names.values():
            if isinstance(value, Memory):
                value.close()
    return f"```pycon\n{''.join(parts)}```\n"


def _prompted(source: str) -> str:
    first, *rest = source.rstrip("\n").split("\n")
    return "".join(f"{line}\n" for line in (f">>> {first}", *(f"... {line}".rstrip() for line in rest)))


def _evaluated(source: str, names: dict[str, Any]) -> tuple[bool, str]:
    """What an example prints, or the error that it raises."""
    out = io.StringIO()
    failed = False
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "<docs>", "single"), names)
        except PrimingError as error:
            failed = True
            kind = f"{type(error).__module__}.{type(error).__qualname__}"
            out.write(f"Traceback (most recent call last):\n    ...\n{kind}: {error}\n")
    return failed, out.getvalue()


_KINDS: dict[str, Callable[[str, list[str], Desk], str]] = {
    "shell": _shell,
    "python": _python,
    "table": _table,
    "results": _results,
}
_EXACT = ("results",)
"""Kinds that must stand on the page to the last digit: nothing in them is computed anew."""


@contextlib.contextmanager
def _desk() -> Iterator[Desk]:
    """A temporary folder with the scenario, and a fixed clock."""
    home = Path.cwd()
    for name in [variable for variable in os.environ if variable.startswith("PRIMING_")]:
        del os.environ[name]
    os.environ |= {"COLUMNS": WIDTH, "TZ": "UTC", "NO_COLOR": "1", "TERM": "dumb", "PRIMING_HOME": "home"}
    time.tzset()
    clock = FixedClock(NOW - timedelta(days=1))
    embedder = StaticEmbedder()
    for module in (priming.types, priming.memory):
        module.SystemClock = lambda: clock  # type: ignore[misc,assignment]
    priming.embedding.wordllama.StaticEmbedder = lambda: embedder  # type: ignore[misc,assignment]
    # The figures of words are the same on every machine.
    priming.embedding.weights.installed = lambda: False
    with tempfile.TemporaryDirectory(prefix="priming-docs-") as folder:
        desk = Desk(Path(folder).resolve(), clock)
        _scenario(desk.folder / "scenario")
        try:
            yield desk
        finally:
            os.chdir(home)


def _scenario(folder: Path) -> None:
    """The files of ``docs/scenario``, the store that its memories make, and a small git repository."""
    shutil.copytree(DOCS / "scenario", folder)
    os.chdir(folder)
    status, output = _run("priming import jsonl memories.jsonl")
    if status:
        raise DocsError(output)
    _repository(folder.with_name("shop"))


def _repository(folder: Path) -> None:
    folder.mkdir()
    alone = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*words: str, **more: str) -> None:
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, env=alone | more)

    git("init", "--initial-branch=main", "--template=")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.org")
    for at, message, files in _COMMITS:
        for name in files:
            (folder / name).write_text(f"{message}\n", "utf-8")
        git("add", ".")
        git("commit", "--message", message, GIT_AUTHOR_DATE=at, GIT_COMMITTER_DATE=at)
    git("gc", "--quiet")


def _difference(page: Path, before: str, after: str) -> Iterator[str]:
    name = str(page.relative_to(ROOT))
    lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return difflib.unified_diff(*lines, fromfile=name, tofile=f"{name} (now)")


if __name__ == "__main__":
    sys.exit(main())
