"""A repository as git shows it: its commits, the files that they changed or removed, and what their messages say."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO

from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.errors import ParamError
from priming.text.quotation import one_line
from priming.transfer.reading import title

HEAD = "HEAD"

_MARK = b"commit"
_LAYOUT = "tformat:commit%x00%H%x00%aN%x00%aI%x00%B%x00"
_FIELDS = 4
_ORDER = ("--reverse", "--author-date-order")
_LOG = (
    *("-c", "log.showRoot=true", "log", "-z", "--no-walk=unsorted", "--stdin", "--encoding=UTF-8"),
    *("--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-relative"),
)
_CHANGES = ("--find-renames", "--numstat", f"--format={_LAYOUT}")
_REMOVALS = ("--no-renames", "--diff-filter=D", "--name-only", "--format=tformat:commit%x00%H%x00")
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


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository as of the commit ``until``; ``edge`` holds the oldest commits of a shallow clone.

    ``top`` is the folder that all its worktrees have in common.
    """

    path: Path
    top: Path
    name: str
    shallow: bool
    edge: frozenset[str] = frozenset()
    until: str = HEAD

    def hashes(self) -> list[str]:
        """Return the hashes of the commits, the oldest first."""
        return _git_output(self.path, "rev-list", *_ORDER, self.until, "--").split()

    def reachable(self) -> list[str]:
        """Return the hashes of all commits that a branch, a tag or the last commit leads to."""
        return _git_output(self.path, "rev-list", "--all", self.until, "--").split()

    def state(self) -> str:
        """Return a hash of what the branches, the tags and the last commit are."""
        refs = _git_output(self.path, "for-each-ref", "--format=%(objectname) %(refname)")
        last = _git_output(self.path, "rev-parse", self.until)
        return hashlib.blake2b(
            f"{last}\n{refs}".encode("utf-8", "surrogateescape"), digest_size=16
        ).hexdigest()

    def files(self) -> frozenset[str]:
        """Return the files that the last commit has."""
        listed = _git_output(self.path, "ls-tree", "-r", "-z", "--name-only", "--full-tree", self.until)
        return frozenset(os.fsencode(listed).decode("utf-8", "replace").split("\0")) - {""}


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


def open_repository(path: Path, until: str | None = None) -> Repository:
    """Return the repository that a folder belongs to, as of a revision; None: of the current commit.

    Raises:
        ParamError: ``path`` is no repository or has no commit, the revision does not exist, or git is missing.

    """
    if not path.is_dir():
        raise ParamError(
            "path", str(path), "must be a folder with a git repository: the folder does not exist"
        )
    folder = (path / _git_output(path, "rev-parse", "--git-common-dir")).resolve()
    shallow = _git_output(path, "rev-parse", "--is-shallow-repository") == "true"
    if _git(path, "rev-parse", "--verify", "--quiet", HEAD).returncode and until is None:
        raise ParamError("path", str(path), "is a git repository without commits: commit something first")
    name = folder.parent.name if folder.name == ".git" else folder.name.removesuffix(".git")
    edge = folder / "shallow"
    cut = edge.read_text("ascii").split() if shallow and edge.is_file() else ()
    last = HEAD if until is None else _commit_of(path, until)
    top = folder.parent if folder.name == ".git" else folder
    return Repository(path, top, title(name) or "repository", shallow, frozenset(cut), last)


def _commit_of(path: Path, revision: str) -> str:
    """Return the hash of the commit that a revision names."""
    done = _git(path, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if done.returncode:
        rule = "must be a commit, a branch or a tag of the repository"
        raise ParamError("until", revision, f"{rule}: list them with git log, git branch and git tag")
    return os.fsdecode(done.stdout).strip()


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
    """Return the environment without variables by which a git hook points at its repository; it fetches no blob."""
    environment = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}
    return environment | {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}


def history(repository: Repository, hashes: Sequence[str]) -> Iterator[Commit]:
    """Yield commits in the order of their hashes; the changes of the first commits of a shallow clone are unknown."""
    commit: Commit | None = None
    with _log(repository.path, hashes, _CHANGES) as stream:
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


def removals(repository: Repository, hashes: Sequence[str]) -> dict[str, str]:
    """Return the files that commits removed or renamed: the last such commit of each by its path."""
    last: dict[str, str] = {}
    with _log(repository.path, hashes, _REMOVALS) as stream:
        tokens, commit = _tokens(stream), ""
        for token in tokens:
            if token == _MARK:
                commit = next(tokens, b"").decode("ascii", "replace")
            elif path := token.removeprefix(b"\n"):
                last[path.decode("utf-8", "replace")] = commit
    return last


@contextmanager
def _log(path: Path, hashes: Sequence[str], shown: Sequence[str]) -> Iterator[IO[bytes]]:
    """Open the output of ``git log`` on some commits as a stream."""
    with tempfile.TemporaryFile() as complaints, tempfile.TemporaryFile() as listed:
        listed.write("".join(f"{name}\n" for name in hashes).encode())
        listed.seek(0)
        try:
            process = subprocess.Popen(
                ["git", "-C", str(path), *_LOG, *shown],
                stdin=listed,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=_environment(),
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
    """Yield the bytes before each NUL, at most as many as a line may have; an incomplete last token is dropped."""
    rest = bytearray()
    while block := stream.read(_BLOCK):
        *whole, last = block.split(b"\0")
        for part in whole:
            rest += part
            yield bytes(rest[: STORE.line_bytes])
            rest.clear()
        if len(rest) < STORE.line_bytes:
            rest += last


def _commit(tokens: Iterator[bytes]) -> Commit | None:
    """Return the commit that begins at the next token; None if the output ends too early."""
    fields = [token.decode("utf-8", "replace") for token in islice(tokens, _FIELDS)]
    if len(fields) < _FIELDS:
        return None
    name, author, at, message = fields
    return Commit(name, author, _time(at), message)


def _time(at: str) -> datetime | None:
    """Return the author's time; None if it is not valid."""
    try:
        when = datetime.fromisoformat(at)
        when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return when


def _change(numbers: bytes, tokens: Iterator[bytes]) -> ChangedFile:
    """Return a file with its counts; the two names of a renamed file are the next tokens."""
    added, removed, path = numbers.split(b"\t", 2)
    before = None if path else next(tokens, b"").decode("utf-8", "replace")
    after = (path or next(tokens, b"")).decode("utf-8", "replace")
    counts = (int(count) if count.isdigit() else 0 for count in (added, removed))
    return ChangedFile(after, before, *counts)


_TRAILER = re.compile(
    r"^(?:[\w-]+-by|Cc|Change-Id|Reviewed-on|PR-URL|Pull-Request-URL|Auto-Submit|Commit-Queue|Tested|[\w-]+-RevId"
    r"|git-svn-id|Bazaar-Id|HG[\w ]{0,40}|cr-[\w-]+|reviewed-[\w-]+|see merge request)(?:: *| +(?=\S+!\d))(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that a tool or a habit adds: who signed, wrote and reviewed, and ids of systems for review."""
_ISSUE = r"(?:(?:[\w.-]+/[\w.-]+)?#|gh-)\d+"
_CLOSING = re.compile(
    r"(?<=\n)(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|references|see)(?: issues?)?:? +"
    rf"{_ISSUE}(?:(?:,? and|,|,? (?:fixes|closes|resolves))? +{_ISSUE})*[.]?[ \t]*(?=\n|\Z)",
    re.IGNORECASE,
)
"""A line after the first that only closes issues or refers to them."""
_ADDRESS = re.compile(r"(?:(?<! ) +)?<[^<>\s@]*@[^<>\s]*>")
_NUMBER = re.compile(
    r"(?:(?<![ \t])[ \t]+)?\((?:PR |GH-|gh-|pull )?([#!]?\d+)\)(?=[ \t]*$|[ \t]*\()", re.MULTILINE
)
"""The number of a pull request in parentheses at the end of a line, as platforms add it."""
_MERGED = re.compile(r"\AMerge (?:pull request|PR) ([#!]\d+)(?: from (\S+))?[ \t]*\n*")
_RULE = re.compile(r"^[-*=_]{3,}[ \t]*$\n?(?=\s*\Z)", re.MULTILINE)
_BLANK = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A message: the text to remember, the numbers of its pull requests, and its trailers without addresses."""

    text: str
    pulls: tuple[str, ...] = ()
    trailers: tuple[str, ...] = ()


def read_message(message: str) -> CommitMessage:
    r"""Take a message apart.

    >>> read_message("Retry (#12)\n\nThe pool was full.\n\nSigned-off-by: Ada <ada@example.org>")
    CommitMessage(text='Retry\n\nThe pool was full.', pulls=('#12',), trailers=('Signed-off-by: Ada',))
    >>> read_message("Retry\n\nFixes #14, closes #15.").text
    'Retry'
    >>> read_message("Merge pull request #7 from ada/retries\n\nRetry when the pool is full").text
    'Retry when the pool is full'
    """
    text = message.replace("\r\n", "\n").replace("\r", "\n").strip()
    pulls: dict[str, None] = {}
    merged = _MERGED.match(text)
    if merged is not None:
        pulls[merged[1]] = None
        text = text[merged.end() :] or f"Merge {merged[2] or 'a pull request'}"
    lines = [*_TRAILER.finditer(text), *_CLOSING.finditer(text)]
    trailers = tuple(" ".join(_ADDRESS.sub("", line[0]).split()) for line in lines)
    text = _CLOSING.sub("", _TRAILER.sub("", text))
    for number in _NUMBER.finditer(text):
        pulls[number[1] if number[1][0] in "#!" else f"#{number[1]}"] = None
    text = _NUMBER.sub("", text)
    text = _BLANK.sub("\n\n", _RULE.sub("", text)).strip()
    return CommitMessage(text, tuple(pulls), tuple(dict.fromkeys(trailers)))
