"""The files of a folder, and which of them an objective is about: chosen by name, and by the text of a few.

In a git repository the list of git counts, without the files that it ignores. Symbolic links are not followed, and
binary files are not read.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from priming.config.values import dataclass
from priming.recall.files import named_files
from priming.text.languages import code_language_of
from priming.text.tokens import terms
from priming_loop.session import Codebase


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_MANIFESTS = _words(
    "pyproject.toml setup.py setup.cfg requirements.txt Pipfile package.json go.mod Cargo.toml Gemfile "
    "composer.json pom.xml build.gradle build.gradle.kts mix.exs"
)
"""Files that name a project's dependencies."""
_FRAMEWORKS = _words(
    "django flask fastapi starlette sqlalchemy pydantic numpy pandas pytorch torch pytest tox hypothesis "
    "typer react vue svelte angular next express nestjs jest vitest mocha playwright rails sinatra rspec "
    "laravel symfony phpunit spring junit gin echo actix-web axum tokio phoenix"
)
_TEST_FOLDERS = frozenset(("test", "tests", "spec", "specs", "__tests__"))
_TEST_FILE = re.compile(r"^(?:test_.+|.+_test|.+[.-](?:test|spec)|.+_spec|.+Tests?)\.\w+$")
_PASSED_OVER = _words("node_modules __pycache__ venv env build dist target vendor site-packages")
"""Folders that are not part of a project without git; hidden folders are not either."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
_ANY_PROGRAM = frozenset(
    terms(
        "add build call change check class code compile config create data def default error false file fix function"
        " get import init line list load main make method module name new none null number object open package pass"
        " print program project public read remove return run save script set start stop string test text true type"
        " update use value version work write"
    )
)
"""Words that say nothing about the subject of a program."""
_QUOTING = ".,:;!?()'\"`"
_NAMED, _REMEMBERED, _IN_PATH = 8.0, 4.0, 2.0
"""The score of a file that the objective or a memory about it names, and of a term in its path; its text has less."""
_KINDS = 5
"""Maximum number of languages, frameworks and test folders shown."""
_LIST_SECONDS, _READ_BYTES = 10.0, 8_192
"""The time limit for `git ls-files`, and the size that is read of a file."""
_OWN_FOLDER = ".priming"
_UNTRACKED = ("--others", "--exclude-standard")
_GIT = ("git", "-c", "core.fsmonitor=false", "ls-files", "-z")
"""Without the file system monitor, which is a command that the repository names."""


@dataclass(frozen=True, slots=True)
class ContextParams:
    """What is gathered for an objective, how much of it is shown, and what is learnt."""

    failures: int = 5
    """Maximum number of failures shown (Arc)."""
    patterns: int = 3
    """Maximum number of patterns shown (Arc)."""
    connected: int = 3
    """Maximum number of memories shown that are linked to these (Arc)."""
    hops: int = 2
    """Maximum distance of these memories (Arc)."""
    link_weight: float = 0.5
    """Minimum weight of each link on the way to them (Arc)."""
    relevance: float = 0.45
    """Minimum cosine at which a lesson of a task that does the same is about a thing of the same kind."""
    memory_length: int = 240
    """Maximum length shown of a memory, in characters."""
    text_length: int = 1_200
    """Maximum length shown of a question, of its answer, and of a gate's output, in characters."""
    lineage: int = 5
    """Number of deliveries shown, the latest first."""
    listed: int = 20_000
    """Maximum number of files of a folder examined by name."""
    read: int = 200
    """Maximum number of files whose content is read."""
    relevant: int = 8
    """Maximum number of files shown for the objective."""
    tasks: int = 100
    """Maximum number of tasks in a valid plan; a run has its own limit."""
    delta: int = 50
    """Maximum number of files of one task."""
    answer_length: int = 4_000
    """Maximum length of a text in an agent's answer, in characters."""
    similar: float = 0.85
    """Minimum cosine at which a lesson strengthens an existing one (Arc)."""
    trigger: int = 10
    """Minimum length of a trigger, in characters (Arc)."""
    lesson: int = 600
    """Maximum stored length of a trigger and of a resolution, in characters."""


CONTEXT = ContextParams()


def look(
    folder: Path, objective: str, *, mentions: Sequence[str] = (), store: Path | None = None
) -> Codebase:
    """Return the languages, tests and frameworks of a folder, and the files that an objective is about, best first.

    ``mentions`` are texts of memories and deliveries about the objective: the files that they name rank higher.
    ``store`` is the file of the memory itself, which is no part of the project.
    """
    files = listed(folder, store=store)
    return Codebase(
        languages=_most(code_language_of(path) for path in files)[:_KINDS],
        tests=_most(map(tests_in, files))[:_KINDS],
        frameworks=_frameworks(folder, files)[:_KINDS],
        relevant=relevant(folder, files, objective, mentions),
        files=len(files),
    )


def listed(folder: Path, *, store: Path | None = None) -> list[str]:
    """Return the files of a folder by their paths in it, sorted: in a repository those that git knows.

    Before anything was added to a repository, and in a folder that git ignores, the files that are there count. The
    memory's own files never do.
    """
    paths = _by_git(folder, "--cached") or _by_git(folder, *_UNTRACKED) or _by_walking(folder, CONTEXT.listed)
    own = None if store is None else os.path.relpath(store.resolve(), folder.resolve())
    others = [path for path in paths if _OWN_FOLDER not in path.split("/")]
    return sorted(path for path in others if own is None or not path.startswith(own))[: CONTEXT.listed]


def relevant(folder: Path, files: Sequence[str], objective: str, mentions: Sequence[str]) -> tuple[str, ...]:
    """Return the files that an objective is about: named by it or by a memory, or with words in common.

    The name of the project says of no file that it is meant.
    """
    words = frozenset(terms(_split(objective))) - frozenset(terms(_split(folder.resolve().name)))
    worth = {path: _IN_PATH * len(words & set(terms(_split(path)))) for path in files}
    for text, value in ((objective, _NAMED), ("\n".join(mentions), _REMEMBERED)):
        whole = {word.strip(_QUOTING) for word in text.split()}
        for path, share in zip(files, named_files(text, files, 0.0), strict=True):
            # A name that several files have names none of them.
            worth[path] += value * (share == 1.0 or path in whole)
    ranked = sorted(files, key=lambda path: (-worth[path], code_language_of(path) is None, path))
    shared = {
        path: words & set(terms(_split(read(folder / path, _READ_BYTES)))) for path in ranked[: CONTEXT.read]
    }
    frequency = Counter(term for file_terms in shared.values() for term in file_terms)
    for path, file_terms in shared.items():
        # A term that every file has distinguishes none, and words of any program are no subject.
        if worth[path] or not file_terms <= _ANY_PROGRAM:
            worth[path] += sum(1.0 - (frequency[term] - 1) / len(shared) for term in file_terms)
    best = sorted((path for path in files if worth[path] > 0), key=lambda path: (-worth[path], path))
    return tuple(best[: CONTEXT.relevant])


def read(path: Path, most: int) -> str:
    """Return the beginning of a text file; "" for a binary file, a link, or a file that cannot be read."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return ""
        with path.open("rb") as file:
            data = file.read(most)
    except (OSError, ValueError):
        return ""
    return "" if b"\x00" in data else data.decode("utf-8", "replace")


def _by_git(folder: Path, *which: str) -> list[str]:
    """Return the files that git lists, that exist, and whose paths can be written in a prompt unchanged.

    There are none outside a repository, or if the folder itself is ignored.
    """
    if not _in_repository(folder):
        return []
    try:
        listing = subprocess.run(
            (*_GIT, *which),
            cwd=folder,
            capture_output=True,
            timeout=_LIST_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.SubprocessError):
        return []
    paths = [path for path in dict.fromkeys(listing.split("\x00")) if path and path.isprintable()]
    return [path for path in paths if os.path.lexists(folder / path)]


def _in_repository(folder: Path) -> bool:
    """Tell whether git may have a list of the folder's files: otherwise no process is started."""
    place = folder.absolute()
    return "GIT_DIR" in os.environ or any((parent / ".git").exists() for parent in (place, *place.parents))


def _by_walking(folder: Path, most: int) -> list[str]:
    paths: list[str] = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER and not name.startswith("."))
        inside = Path(root).relative_to(folder)
        paths += [path for name in sorted(files) if (path := (inside / name).as_posix()).isprintable()]
        if len(paths) >= most:
            break
    return paths[:most]


def _split(text: str) -> str:
    """Return a text with its names split into words, such as ``parseHeader`` and ``parse_header``."""
    return _HUMP.sub(" ", text)


def tests_in(path: str) -> str | None:
    """Return the folder of tests in which a file is, or the file's own folder if it is a test; else None."""
    parts = PurePosixPath(path).parts
    for depth, name in enumerate(parts[:-1], start=1):
        if name.lower() in _TEST_FOLDERS:
            return "/".join(parts[:depth])
    name = "".join(parts[-1:])
    if _TEST_FILE.match(name) and code_language_of(path) is not None:
        return "/".join(parts[:-1]) or name
    return None


def _frameworks(folder: Path, files: Collection[str]) -> tuple[str, ...]:
    """Return the frameworks that the project's manifests name, at its root and one folder below."""
    manifests = [path for path in files if PurePosixPath(path).name in _MANIFESTS and path.count("/") <= 1]
    counts: Mapping[str, int] = Counter(
        name
        for path in manifests
        for name in set(re.findall(r"[a-z][a-z0-9-]*", read(folder / path, _READ_BYTES).lower()))
        if name in _FRAMEWORKS
    )
    return tuple(sorted(counts, key=lambda name: (-counts[name], _FRAMEWORKS.index(name))))


def _most(names: Iterable[str | None]) -> tuple[str, ...]:
    """Return the names by frequency, the most frequent first."""
    counts = Counter(name for name in names if name is not None)
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))
