"""Git history: commits become episodes that touch files, and files that change together are linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import combinations
from pathlib import Path
from typing import Any

from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.config.words import CO_CHANGED, REMOVED, RENAMED, TOUCHES
from priming.recall.entities import file_key
from priming.transfer.git_log import Commit, Repository, history, open_repository, read_message, removals
from priming.transfer.importers import NOTHING, Entry, Format, Item, Present, Stored, Tie
from priming.transfer.reading import clean_text, label, title

__all__ = ["CO_CHANGED", "RENAMED", "ChangeCounts", "Repository", "open_repository", "read"]

_PATH_LETTERS = 500
_COMMIT = "commit:"


MOST_FILES, MOST_TOUCHED = 30, 1000
"""The files of the largest commit that shows which files change together, and the most that a commit is linked to."""
MOST_LETTERS = 20_000
"""The maximum length of a message."""
TOGETHER, YOUNG = 2, 20
"""The commits together that link two files; a history of fewer commits than the second needs one only."""


def read(path: Path, *, until: str | None = None, stored: Stored = NOTHING) -> Iterator[Item]:
    """Read the commits of a repository that are not stored yet, the oldest first, and last the links of files.

    Args:
        path: a folder of the repository.
        until: the last commit to read, by any name that git knows; None: the current one.
        stored: what the namespace has already.

    Raises:
        ParamError: ``path`` is no repository or has no commit, ``until`` is none of its revisions, or git is
            missing or fails.

    """
    repository = open_repository(path, until)
    hashes = repository.hashes()
    present = stored.keys(map(_commit_key, hashes))
    files = _files_of_commits(stored, present) if present else {}
    new = [name for name in hashes if _commit_key(name) not in present]
    reachable = stored.keys(map(_commit_key, repository.reachable())) if present else present
    yield Present(tuple(sorted(reachable)), all=repository.shallow)
    counts = ChangeCounts(len(hashes), linked=set(stored.links(CO_CHANGED)))
    for changed in files.values():
        counts.add(changed)
    for commit in history(repository, new) if new else ():
        yield _episode(commit, repository)
        counts.add_commit(commit)
    yield from counts.ties()
    yield from _removed(repository, hashes, counts, stored)


def _commit_key(name: str) -> str:
    return f"{_COMMIT}{name[:12]}"


def _files_of_commits(stored: Stored, commits: set[str]) -> dict[str, list[str]]:
    """Return the keys of the files that each of some stored commits touches, by its key."""
    files: dict[str, list[str]] = {}
    for source, target in stored.links(TOUCHES):
        if source in commits:
            files.setdefault(source, []).append(target)
    return files


def _path(file: str) -> str:
    """Return a path as it can be stored: printable, and not too long."""
    return label(file, _PATH_LETTERS)


def _file_key(file: str) -> str:
    return file_key(_path(file))


def _files(commit: Commit) -> list[str]:
    """Return the files that a commit is linked to."""
    return [_path(change.path) for change in commit.changes[:MOST_TOUCHED]]


def _episode(commit: Commit, repository: Repository) -> Entry:
    author, message = title(commit.author), read_message(commit.message)
    metadata: dict[str, Any] = {"commit": commit.hash, "author": author, "files": len(commit.changes)}
    metadata |= {"insertions": sum(change.added for change in commit.changes)}
    metadata |= {"deletions": sum(change.removed for change in commit.changes)}
    if message.pulls:
        metadata["pull_requests"] = list(message.pulls)
    if message.trailers:
        metadata["trailers"] = [clean_text(trailer) for trailer in message.trailers]
    return Entry(
        {
            "content": clean_text(message.text, MOST_LETTERS) or "(no message)",
            "key": _commit_key(commit.hash),
            "speaker": author,
            "occurred_at": commit.at,
            "metadata": metadata,
            "source": label(f"git:{repository.top}"),
            "trust": "tool",
            "files": _files(commit),
        }
    )


def _removed(
    repository: Repository, hashes: Sequence[str], counts: ChangeCounts, stored: Stored
) -> Iterator[Tie]:
    """Yield the links from files that are gone to the commits that removed them, and to their later names.

    A commit of another branch may have touched such a file later. The last commit, which is stored last and does
    not have the file either, then says that it is gone.
    """
    living = {_file_key(file) for file in repository.files()}
    linked = {file for file, _ in stored.links(REMOVED)}
    gone = counts.files - living - (linked - counts.latest.keys())
    removed = (
        {_file_key(file): commit for file, commit in removals(repository, hashes).items()} if gone else {}
    )
    last = {file: removed[file] for file in sorted(gone & removed.keys())}
    place = {name: i for i, name in enumerate(hashes)}
    for file in sorted(gone):
        touch, removal = (
            place.get(counts.latest.get(file, ""), len(hashes)),
            place.get(last.get(file, ""), -1),
        )
        for commit in [*([last[file]] if file in last else []), *([hashes[-1]] if touch > removal else [])]:
            yield Tie(file, _commit_key(commit), REMOVED, PLASTICITY.start)
    for removing in history(repository, sorted(set(last.values()))) if last else ():
        for change in removing.changes:
            if change.before is not None and _file_key(change.before) in last:
                yield Tie(_file_key(change.before), _file_key(change.path), RENAMED, PLASTICITY.high)


@dataclass(slots=True)
class ChangeCounts:
    """Counts of the changes of files, and of the commits that change two files together; files are named by keys."""

    commits: int = 0
    linked: set[tuple[str, str]] = field(default_factory=set)
    """The pairs of files that are linked already."""
    files: set[str] = field(default_factory=set)
    """The files of all commits."""
    latest: dict[str, str] = field(default_factory=dict)
    """By file, the last of the new commits that touched it: the links of other files stay as they are."""
    single: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, changed: Iterable[str]) -> None:
        """Count the files of a commit; those of a commit with too many files are not counted."""
        files = sorted(set(changed))
        self.files.update(files)
        if len(files) <= MOST_FILES:
            self.single.update(files)
            self.pairs.update(combinations(files, 2))

    def add_commit(self, commit: Commit) -> None:
        """Count a new commit."""
        keys = list(map(file_key, _files(commit)))
        self.add(keys)
        self.latest |= dict.fromkeys(keys, commit.hash)

    def ties(self) -> Iterator[Tie]:
        """Yield links between pairs of files, by their share of common changes."""
        enough = 1 if self.commits < YOUNG else TOGETHER
        for (a, b), both in self.pairs.items():
            if both >= enough and not ((a, b) in self.linked and self.latest.keys().isdisjoint((a, b))):
                share = both / (self.single[a] + self.single[b] - both)
                weight = min(max(share, PLASTICITY.low), PLASTICITY.high)
                yield Tie(a, b, CO_CHANGED, weight)


def _place(path: Path) -> Path:
    """Return the repository that a folder belongs to."""
    return open_repository(path).top


def _digest(path: Path, *, until: str | None = None) -> str:
    """Return the commits that are the newest of each branch and tag, and the one to read up to."""
    return open_repository(path, until).state()


def _fits(path: Path) -> bool:
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


FORMAT = Format(read, "the history of a git repository", _fits, _digest, place=_place)
