"""Git history: commits as episodes, the files in them as names, files that change together linked."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations, islice
from pathlib import Path
from typing import IO

from priming.config.params.checked import Checked, param
from priming.config.params.laws import PLASTICITY
from priming.errors import ParamError
from priming.index.document import RULES
from priming.text.names import QUOTED_LETTERS
from priming.transfer.importers import Entry, Item, Tie
from priming.transfer.reading import keepable, label, one_line, title

CO_CHANGED, RENAMED = "co-changed", "renamed-to"

_MARK = b"commit"
_LAYOUT = "tformat:commit%x00%H%x00%aN%x00%aI%x00%B%x00"
_FIELDS = 4
_LOG = (
    *("-c", "log.showRoot=true", "log", "-z", "--reverse", "--author-date-order", "--encoding=UTF-8"),
    *(
        "--no-show-signature",
        "--no-ext-diff",
        "--no-textconv",
        "--no-relative",
        "--find-renames",
        "--numstat",
    ),
    f"--format={_LAYOUT}",
)
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX")
_BLOCK = 1 << 16
_COMPLAINT_LETTERS = 300
_TRAILER_ADDRESS = re.compile(r"^([\w-]+-by: .*?) *<[^<>\s]*@[^<>\s]*>[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GitParams(Checked):
    """How much of a commit is kept, and when two files belong together."""

    files: int = param(
        30, low=0, unit="files", source="our choice", doc="files named by a commit; a larger one links none"
    )
    message: int = param(20_000, low=1, unit="characters", source="our choice", doc="longest message kept")
    together: int = param(2, low=1, unit="commits", source="our choice", doc="changes that make a habit")
    young: int = param(20, low=0, unit="commits", source="our choice", doc="below this once is enough")


GIT = GitParams()


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository with at least one commit; ``edge`` are the commits where a shallow clone was cut."""

    path: Path
    name: str
    shallow: bool
    edge: frozenset[str] = frozenset()

    def commits(self) -> int:
        """How many commits lead to the present one."""
        return int(_git_output(self.path, "rev-list", "--count", "HEAD"))


@dataclass(frozen=True, slots=True)
class Change:
    """One file in a commit; ``before`` is what it was called until then, if it was renamed."""

    path: str
    before: str | None
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; a merge changes no file here, since the commits that it joins did."""

    hash: str
    author: str
    at: datetime | None
    message: str
    changes: list[Change] = field(default_factory=list)

    @property
    def listed(self) -> list[Change]:
        """The changes that the memory names."""
        return self.changes[: GIT.files]


def read(path: Path) -> Iterator[Item]:
    """Read the history of a repository, oldest commit first: its files, its commits, at the end the links.

    Raises:
        ParamError: ``path`` is no repository, has no commit yet, or git is missing or fails.

    """
    repository = look(path)
    listed_files: set[str] = set()
    habits = Habits()
    for commit in _history(repository):
        for file in _files(commit):
            if file not in listed_files:
                listed_files.add(file)
                yield _file(file)
        yield _episode(commit, repository)
        habits.add(commit)
    yield from habits.ties()


def look(path: Path) -> Repository:
    """The repository that a folder belongs to."""
    if not path.is_dir():
        raise ParamError("path", str(path), "must be a folder with a git repository: there is no such folder")
    folder = (path / _git_output(path, "rev-parse", "--git-common-dir")).resolve()
    shallow = _git_output(path, "rev-parse", "--is-shallow-repository") == "true"
    if _git(path, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
        raise ParamError("path", str(path), "is a git repository without commits: commit something first")
    name = folder.parent.name if folder.name == ".git" else folder.name.removesuffix(".git")
    edge = folder / "shallow"
    cut = edge.read_text("ascii").split() if shallow and edge.is_file() else ()
    return Repository(path, title(name) or "repository", shallow, frozenset(cut))


def _git_output(path: Path, *words: str) -> str:
    done = _git(path, *words)
    if done.returncode:
        message = one_line(done.stderr.decode("utf-8", "replace"), _COMPLAINT_LETTERS)
        raise ParamError(
            "path", str(path), f"must be a git repository that git can read (git says: {message})"
        )
    return os.fsdecode(done.stdout).strip("\n")


def _git(path: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", "-C", str(path), *words], capture_output=True, check=False, env=_environment()
        )
    except OSError as error:
        raise _no_git(path) from error


def _no_git(path: Path) -> ParamError:
    return ParamError("path", str(path), "needs the program git to be read: install it, then try again")


def _environment() -> dict[str, str]:
    """The environment without what a git hook sets to point at its own repository; no blob is fetched."""
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    return environment | {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}


def _history(repository: Repository) -> Iterator[Commit]:
    """Every commit, oldest first; what a shallow clone's first commits changed is not known, so nothing."""
    commit: Commit | None = None
    with _log(repository.path) as stream:
        tokens = _tokens(stream)
        for token in tokens:
            if token == _MARK:
                if commit is not None:
                    yield commit
                commit = _commit(tokens)
            elif (numbers := token.removeprefix(b"\n")) and commit is not None:
                change = _change(numbers, tokens)
                if commit.hash not in repository.edge:
                    commit.changes.append(change)
    if commit is not None:
        yield commit


@contextmanager
def _log(path: Path) -> Iterator[IO[bytes]]:
    """What ``git log`` writes, as it writes it."""
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                ["git", "-C", str(path), *_LOG], stdout=subprocess.PIPE, stderr=complaints, env=_environment()
            )
        except OSError as error:
            raise _no_git(path) from error
        assert process.stdout is not None, "asked for as a pipe"
        with process:
            try:
                yield process.stdout
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            complaints.seek(0)
            message = one_line(complaints.read().decode("utf-8", "replace"), _COMPLAINT_LETTERS)
            raise ParamError("path", str(path), f"has a history that git cannot read (git says: {message})")


def _tokens(stream: IO[bytes]) -> Iterator[bytes]:
    """What stands before each NUL; what follows the last one was cut off."""
    rest = b""
    while block := stream.read(_BLOCK):
        *whole, rest = (rest + block).split(b"\0")
        yield from whole


def _commit(tokens: Iterator[bytes]) -> Commit | None:
    """The commit that begins here; None if the history breaks off."""
    fields = [token.decode("utf-8", "replace") for token in islice(tokens, _FIELDS)]
    if len(fields) < _FIELDS:
        return None
    name, author, at, message = fields
    return Commit(name, author, _time(at), message)


def _time(at: str) -> datetime | None:
    """The author's time; None where it was never a time."""
    try:
        when = datetime.fromisoformat(at)
        when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return when


def _change(numbers: bytes, tokens: Iterator[bytes]) -> Change:
    """A file with its counts; of a renamed one both names follow."""
    added, removed, path = numbers.split(b"\t", 2)
    before = None if path else next(tokens, b"").decode("utf-8", "replace")
    after = (path or next(tokens, b"")).decode("utf-8", "replace")
    counts = (int(count) if count.isdigit() else 0 for count in (added, removed))
    return Change(after, before, *counts)


def _files(commit: Commit) -> Iterator[str]:
    for change in commit.listed:
        if change.before is not None:
            yield change.before
        yield change.path


def _key(file: str) -> str:
    return label(f"file:{file}")


def _file(file: str) -> Entry:
    """A file is a name: it carries activation between the commits that mention it."""
    return Entry(
        {
            "content": file,
            "kind": "entity",
            "key": _key(file),
            "source": RULES,
            "metadata": {"form": "file"},
            "trust": "tool",
        }
    )


def _episode(commit: Commit, repository: Repository) -> Entry:
    author = title(commit.author)
    day = f" {commit.at:%Y-%m-%d}" if commit.at else ""
    counts = {"files": len(commit.changes)}
    counts |= {"insertions": sum(change.added for change in commit.changes)}
    counts |= {"deletions": sum(change.removed for change in commit.changes)}
    return Entry(
        {
            "content": _text(commit),
            "key": f"commit:{commit.hash[:12]}",
            "speaker": author,
            "session": label(repository.name + day),
            "occurred_at": commit.at,
            "metadata": {"commit": commit.hash, "author": author, **counts},
            "source": label(f"git:{repository.path.resolve()}"),
            "trust": "tool",
        }
    )


def _text(commit: Commit) -> str:
    """The message, without e-mail addresses in its trailers, and a line of the files."""
    message = keepable(_TRAILER_ADDRESS.sub(r"\1", commit.message).strip(), GIT.message)
    if not commit.changes:
        return message or "(no message)"
    shown = [
        _ticked(change.path) + (f" (was {_ticked(change.before)})" if change.before is not None else "")
        for change in commit.listed
    ]
    more = len(commit.changes) - len(shown)
    named = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"{message or '(no message)'}\n\nin {named}"


def _ticked(file: str) -> str:
    """A file name in backticks, by which any of them is found as a name, unless they would not hold it."""
    return file if "`" in file or "\n" in file or len(file) > QUOTED_LETTERS else f"`{file}`"


@dataclass(slots=True)
class Habits:
    """How often files changed, and how often two of them in the same commit."""

    commits: int = 0
    single: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    renames: dict[tuple[str, str], None] = field(default_factory=dict)

    def add(self, commit: Commit) -> None:
        """Count a commit; one that touches very many files says nothing about any two of them."""
        self.commits += 1
        for change in commit.listed:
            if change.before is not None:
                self.renames[change.before, change.path] = None
        if len(commit.changes) <= GIT.files:
            files = sorted({change.path for change in commit.changes})
            self.single.update(files)
            self.pairs.update(combinations(files, 2))

    def ties(self) -> Iterator[Tie]:
        """Files and their later names; pairs by how often they changed together, of how often either did."""
        for old, new in self.renames:
            yield Tie(_key(old), _key(new), RENAMED, PLASTICITY.high)
        enough = 1 if self.commits < GIT.young else GIT.together
        for (a, b), both in self.pairs.items():
            if both >= enough:
                share = both / (self.single[a] + self.single[b] - both)
                weight = min(max(share, PLASTICITY.low), PLASTICITY.high)
                yield Tie(_key(a), _key(b), CO_CHANGED, weight)
