"""What stands in a folder, and which of its files an objective is about: looked at by name, a few of them read.

Where there is git, its list of files counts, so that what is ignored is not looked at. Links are not followed, and
what is no text is not read.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from priming.config.params.loop import CONTEXT, ContextParams
from priming.core.lexical import terms
from priming.looping import Codebase
from priming.text.languages import code_language_of

_MANIFESTS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "package.json", "go.mod"),
    *("Cargo.toml", "Gemfile", "composer.json", "pom.xml", "build.gradle", "build.gradle.kts", "mix.exs"),
)
"""Files that name what a project is built on."""
_FRAMEWORKS = (
    *(
        "django",
        "flask",
        "fastapi",
        "starlette",
        "sqlalchemy",
        "pydantic",
        "numpy",
        "pandas",
        "pytorch",
        "torch",
    ),
    *(
        "pytest",
        "tox",
        "hypothesis",
        "typer",
        "react",
        "vue",
        "svelte",
        "angular",
        "next",
        "express",
        "nestjs",
    ),
    *("jest", "vitest", "mocha", "playwright", "rails", "sinatra", "rspec", "laravel", "symfony", "phpunit"),
    *("spring", "junit", "gin", "echo", "actix-web", "axum", "tokio", "phoenix"),
)
_TEST_FOLDERS = frozenset(("test", "tests", "spec", "specs", "__tests__"))
_TEST_FILE = re.compile(r"^(?:test_.+|.+_test|.+[.-](?:test|spec)|.+_spec|.+Tests?)\.\w+$")
_PASSED_OVER = frozenset(
    ("node_modules", "__pycache__", "venv", "env", "build", "dist", "target", "vendor", "site-packages")
)
"""Folders that are not of the project, where no git says so; nor are hidden ones."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")
_GIT = ("git", "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
"""Without the monitor, which is a command that the repository names."""


def look(
    folder: Path,
    objective: str,
    *,
    told: Sequence[str] = (),
    params: ContextParams = CONTEXT,
) -> Codebase:
    """What is in a folder, and the files that an objective is about, most first.

    ``told`` are texts of memories and deliveries about it: the files that they name are nearer to it.
    """
    files = listed(folder, params)
    return Codebase(
        languages=_most(code_language_of(one) for one in files)[: params.kinds],
        tests=_most(map(_tests_in, files))[: params.kinds],
        frameworks=_frameworks(folder, files, params)[: params.kinds],
        relevant=relevant(folder, files, objective, told, params),
        files=len(files),
    )


def listed(folder: Path, params: ContextParams = CONTEXT) -> list[str]:
    """The files of a folder by their paths in it, sorted; those that git ignores are left out."""
    found = _by_git(folder, params)
    return sorted(found or _by_hand(folder, params.listed))[: params.listed]


def named(text: str, files: Collection[str]) -> frozenset[str]:
    """The files that a text names: by their path, by its end, or by a name that only one of them has.

    >>> sorted(named("see app/util.py, and main.go", ["src/app/util.py", "main.go", "cmd/main.go"]))
    ['main.go', 'src/app/util.py']
    """
    there, by_name = set(files), dict[str, list[str]]()
    for one in files:
        by_name.setdefault(PurePosixPath(one).name, []).append(one)
    found = set()
    for match in _PATH.finditer(text):
        word = match[0].removeprefix("./").rstrip(".")
        if word in there:
            found.add(word)
            continue
        ending = [one for one in by_name.get(PurePosixPath(word).name, ()) if f"/{one}".endswith(f"/{word}")]
        if len(ending) == 1 and "." in word:
            found.add(ending[0])
    return frozenset(found)


def relevant(
    folder: Path, files: Sequence[str], objective: str, told: Sequence[str], params: ContextParams = CONTEXT
) -> tuple[str, ...]:
    """The files that an objective is about: those that it or a memory names, and those that speak of the same."""
    asked = frozenset(terms(_split(objective)))
    worth = {one: params.in_path * len(asked & set(terms(_split(one)))) for one in files}
    for one in named(objective, files):
        worth[one] += params.named
    for one in named("\n".join(told), files):
        worth[one] += params.remembered
    ranked = sorted(files, key=lambda one: (-worth[one], code_language_of(one) is None, one))
    held = {one: asked & _terms_in(folder / one, params.read_bytes) for one in ranked[: params.read]}
    spread = Counter(term for some in held.values() for term in some)
    for one, some in held.items():
        # A term that every file has says nothing of any.
        worth[one] += sum(1.0 - (spread[term] - 1) / len(held) for term in some)
    best = sorted((one for one in files if worth[one] > 0), key=lambda one: (-worth[one], one))
    return tuple(best[: params.relevant])


def read(path: Path, most: int) -> str:
    """The beginning of a text file; "" of what is none, is a link, or cannot be read."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return ""
        with path.open("rb") as file:
            data = file.read(most)
    except (OSError, ValueError):
        return ""
    return "" if b"\x00" in data else data.decode("utf-8", "replace")


def _by_git(folder: Path, params: ContextParams) -> list[str]:
    """The files that git knows or would take; none where there is no git, or the folder itself is ignored."""
    try:
        done = subprocess.run(
            _GIT,
            cwd=folder,
            capture_output=True,
            timeout=params.list_seconds,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    found = dict.fromkeys(one for one in done.stdout.decode("utf-8", "replace").split("\x00") if one)
    return [one for one in found if _is_shown(one)]


def _by_hand(folder: Path, most: int) -> list[str]:
    found: list[str] = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in _PASSED_OVER and not one.startswith("."))
        inside = Path(here).relative_to(folder)
        found += [(inside / one).as_posix() for one in sorted(files) if _is_shown(one)]
        if len(found) >= most:
            break
    return found[:most]


def _is_shown(path: str) -> bool:
    """Whether a path can be written in a prompt as it is."""
    return path.isprintable()


def _terms_in(path: Path, most: int) -> frozenset[str]:
    return frozenset(terms(_split(read(path, most))))


def _split(text: str) -> str:
    """A text whose names are words: ``parseHeader`` and ``parse_header`` are two."""
    return _HUMP.sub(" ", text)


def _tests_in(path: str) -> str | None:
    """Where the tests are that a file is one of: the folder of tests that it is in, else its own."""
    parts = PurePosixPath(path).parts
    for depth, one in enumerate(parts[:-1], start=1):
        if one.lower() in _TEST_FOLDERS:
            return "/".join(parts[:depth])
    if _TEST_FILE.match(parts[-1]) and code_language_of(path) is not None:
        return "/".join(parts[:-1]) or parts[-1]
    return None


def _frameworks(folder: Path, files: Collection[str], params: ContextParams) -> tuple[str, ...]:
    """What the manifests of the project name, those at its root and one folder below."""
    there = [one for one in files if PurePosixPath(one).name in _MANIFESTS and one.count("/") <= 1]
    counted: Mapping[str, int] = Counter(
        name
        for one in there
        for name in set(re.findall(r"[a-z][a-z0-9-]*", read(folder / one, params.read_bytes).lower()))
        if name in _FRAMEWORKS
    )
    return tuple(sorted(counted, key=lambda one: (-counted[one], _FRAMEWORKS.index(one))))


def _most(names: Iterable[str | None]) -> tuple[str, ...]:
    """Names by how often they come, most first."""
    counted = Counter(one for one in names if one is not None)
    return tuple(sorted(counted, key=lambda one: (-counted[one], one)))
