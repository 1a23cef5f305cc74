"""Git history: commits become episodes, their files entities, and files that change together are linked."""

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
from priming.transfer.reading import clean_text, label, one_line, title

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
_HOOK_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)
_BLOCK = 1 << 16
_COMPLAINT_LETTERS = 300
_TRAILER_ADDRESS = re.compile(r"^([\w-]+-by: .*?) *<[^<>\s]*@[^<>\s]*>[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GitParams(Checked):
    """How much of a commit is imported, and when two files are linked."""

    files: int = param(
        30,
        low=0,
        unit="files",
        source="our choice",
        doc="files that a commit names; a larger commit links none",
    )
    message: int = param(
        20_000, low=1, unit="characters", source="our choice", doc="maximum length of a message"
    )
    together: int = param(
        2, low=1, unit="commits", source="our choice", doc="commits together that link two files"
    )
    young: int = param(
        20,
        low=0,
        unit="commits",
        source="our choice",
        doc="size of a history below which one commit links two files",
    )


GIT = GitParams()


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository with at least one commit; ``edge`` holds the oldest commits of a shallow clone."""

    path: Path
    name: str
    shallow: bool
    edge: frozenset[str] = frozenset()

    def commits(self) -> int:
        """The number of commits in the history of HEAD."""
        return int(_git_output(self.path, "rev-list", "--count", "HEAD"))


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file in a commit; ``before`` is its old path if it was renamed."""

    path: str
    before: str | None
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit; a merge commit has no changes, because the commits that it joins have them."""

    hash: str
    author: str
    at: datetime | None
    message: str
    changes: list[ChangedFile] = field(default_factory=list)

    @property
    def listed(self) -> list[ChangedFile]:
        """The changes that the memory of the commit names."""
        return self.changes[: GIT.files]


def read(path: Path) -> Iterator[Item]:
    """Read the history of a repository, the oldest commit first: its files, its commits, and last the links.

    Raises:
        ParamError: ``path`` is no repository or has no commit, or git is missing or fails.

    """
    repository = open_repository(path)
    listed_files: set[str] = set()
    counts = ChangeCounts()
    for commit in _history(repository):
        for file in _files(commit):
            if file not in listed_files:
                listed_files.add(file)
                yield _file(file)
        yield _episode(commit, repository)
        counts.add(commit)
    yield from counts.ties()


def open_repository(path: Path) -> Repository:
    """The repository that a folder belongs to."""
    if not path.is_dir():
        raise ParamError(
            "path", str(path), "must be a folder with a git repository: the folder does not exist"
        )
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
        raise _git_missing(path) from error


def _git_missing(path: Path) -> ParamError:
    return ParamError("path", str(path), "needs the program git to be read: install it, then try again")


def _environment() -> dict[str, str]:
    """The environment without the variables by which a git hook points at its own repository; it fetches no blob."""
    environment = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}
    return environment | {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}


def _history(repository: Repository) -> Iterator[Commit]:
    """Every commit, the oldest first; the first commits of a shallow clone get no changes, which are unknown."""
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
    """The output of ``git log`` as a stream."""
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                ["git", "-C", str(path), *_LOG], stdout=subprocess.PIPE, stderr=complaints, env=_environment()
            )
        except OSError as error:
            raise _git_missing(path) from error
        assert process.stdout is not None, "requested as a pipe"
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
    """The bytes before each NUL; an incomplete token at the end is dropped."""
    rest = b""
    while block := stream.read(_BLOCK):
        *whole, rest = (rest + block).split(b"\0")
        yield from whole


def _commit(tokens: Iterator[bytes]) -> Commit | None:
    """The commit that begins at the next token; None if the output ends too early."""
    fields = [token.decode("utf-8", "replace") for token in islice(tokens, _FIELDS)]
    if len(fields) < _FIELDS:
        return None
    name, author, at, message = fields
    return Commit(name, author, _time(at), message)


def _time(at: str) -> datetime | None:
    """The author's time; None if it is not valid."""
    try:
        when = datetime.fromisoformat(at)
        when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return when


def _change(numbers: bytes, tokens: Iterator[bytes]) -> ChangedFile:
    """A file with its counts; the two names of a renamed file are the next tokens."""
    added, removed, path = numbers.split(b"\t", 2)
    before = None if path else next(tokens, b"").decode("utf-8", "replace")
    after = (path or next(tokens, b"")).decode("utf-8", "replace")
    counts = (int(count) if count.isdigit() else 0 for count in (added, removed))
    return ChangedFile(after, before, *counts)


def _files(commit: Commit) -> Iterator[str]:
    for change in commit.listed:
        if change.before is not None:
            yield change.before
        yield change.path


def _key(file: str) -> str:
    return label(f"file:{file}")


def _file(file: str) -> Entry:
    """A file as an entity, which carries activation between the commits that mention it."""
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
    """The message without e-mail addresses in its trailers, and a line with the files."""
    message = clean_text(_TRAILER_ADDRESS.sub(r"\1", commit.message).strip(), GIT.message)
    if not commit.changes:
        return message or "(no message)"
    shown = [
        _ticked(change.path) + (f" (was {_ticked(change.before)})" if change.before is not None else "")
        for change in commit.listed
    ]
    more = len(commit.changes) - len(shown)
    names = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"{message or '(no message)'}\n\nin {names}"


def _ticked(file: str) -> str:
    """A file name in backticks, by which it is recognised as a name; unchanged where backticks cannot quote it."""
    return file if "`" in file or "\n" in file or len(file) > QUOTED_LETTERS else f"`{file}`"


@dataclass(slots=True)
class ChangeCounts:
    """Counts of the changes of files, and of the commits that change two files together."""

    commits: int = 0
    single: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    renames: dict[tuple[str, str], None] = field(default_factory=dict)

    def add(self, commit: Commit) -> None:
        """Count a commit; the pairs of a commit with too many files are not counted."""
        self.commits += 1
        for change in commit.listed:
            if change.before is not None:
                self.renames[change.before, change.path] = None
        if len(commit.changes) <= GIT.files:
            files = sorted({change.path for change in commit.changes})
            self.single.update(files)
            self.pairs.update(combinations(files, 2))

    def ties(self) -> Iterator[Tie]:
        """Links from files to their later names, and between pairs by their share of common changes."""
        for old, new in self.renames:
            yield Tie(_key(old), _key(new), RENAMED, PLASTICITY.high)
        enough = 1 if self.commits < GIT.young else GIT.together
        for (a, b), both in self.pairs.items():
            if both >= enough:
                share = both / (self.single[a] + self.single[b] - both)
                weight = min(max(share, PLASTICITY.low), PLASTICITY.high)
                yield Tie(_key(a), _key(b), CO_CHANGED, weight)
