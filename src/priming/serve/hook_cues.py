"""The context of a moment, read from what an agent does: file, language, task, environment, project."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

_SUFFIXES: Mapping[str, str] = {
    **dict.fromkeys(("py", "pyi"), "python"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "mts", "cts"), "typescript"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh"), "c++"),
    **dict.fromkeys(("sh", "bash", "zsh"), "shell"),
    **dict.fromkeys(("kt", "kts"), "kotlin"),
    **dict.fromkeys(("ex", "exs"), "elixir"),
    **dict.fromkeys(("yml", "yaml"), "yaml"),
    **dict.fromkeys(("md", "mdx"), "markdown"),
    **dict.fromkeys(("htm", "html"), "html"),
    **dict.fromkeys(("css", "scss"), "css"),
    **{
        one: one
        for one in ("go", "java", "scala", "swift", "php", "lua", "sql", "toml", "json", "vue", "zig", "dart")
    },
    "rs": "rust",
    "rb": "ruby",
    "cs": "c#",
    "r": "r",
    "jl": "julia",
    "hs": "haskell",
    "tf": "terraform",
}
_MARKS: Mapping[str, str] = {
    "pyproject.toml": "python",
    "setup.py": "python",
    "requirements.txt": "python",
    "package.json": "javascript",
    "tsconfig.json": "typescript",
    "go.mod": "go",
    "Cargo.toml": "rust",
    "pom.xml": "java",
    "build.gradle": "java",
    "build.gradle.kts": "kotlin",
    "Gemfile": "ruby",
    "composer.json": "php",
    "mix.exs": "elixir",
    "Package.swift": "swift",
    "CMakeLists.txt": "c++",
}
"""Files that say in what language a project is written."""

TASKS: Mapping[str, tuple[str, ...]] = {
    "test": (
        *(
            "pytest",
            "tox",
            "nox",
            "unittest",
            "go test",
            "cargo test",
            "npm test",
            "npm t",
            "yarn test",
            "pnpm test",
        ),
        *(
            "jest",
            "vitest",
            "mocha",
            "rspec",
            "phpunit",
            "ctest",
            "make test",
            "make check",
            "mvn test",
            "gradle test",
        ),
        *("playwright test", "cypress run", "bun test", "deno test", "dotnet test", "swift test", "mix test"),
    ),
    "commit": ("git commit",),
    "push": ("git push",),
    "merge": ("git merge", "git rebase", "git cherry-pick"),
    "review": ("gh pr", "glab mr"),
    "release": (
        "gh release",
        "npm publish",
        "twine upload",
        "cargo publish",
        "uv publish",
        "poetry publish",
        "git tag",
    ),
    "deploy": (
        "kubectl",
        "helm",
        "terraform apply",
        "ansible-playbook",
        "docker push",
        "fly",
        "vercel",
        "netlify",
    ),
    "build": (
        *(
            "make build",
            "docker build",
            "docker compose build",
            "cargo build",
            "go build",
            "tsc",
            "mvn package",
        ),
        *("gradle build", "dotnet build", "swift build", "cmake", "vite build", "webpack", "npm run build"),
    ),
    "install": (
        *(
            "pip install",
            "uv add",
            "uv sync",
            "uv pip",
            "poetry add",
            "poetry install",
            "npm install",
            "npm i",
        ),
        *("npm ci", "yarn add", "yarn install", "pnpm add", "pnpm install", "bun add", "cargo add", "go get"),
        *(
            "apt install",
            "apt-get install",
            "brew install",
            "gem install",
            "bundle install",
            "composer require",
        ),
    ),
    "lint": (
        "ruff check",
        "ruff",
        "flake8",
        "pylint",
        "mypy",
        "pyright",
        "eslint",
        "golangci-lint",
        "cargo clippy",
    ),
    "format": ("black", "isort", "prettier", "gofmt", "rustfmt", "cargo fmt", "ruff format"),
    "migrate": (
        "alembic",
        "flyway",
        "prisma migrate",
        "rails db:migrate",
        "manage.py migrate",
        "knex migrate",
    ),
}
"""Commands that are a task, by how they begin."""

_SAID = ("test", "build", "deploy", "release", "migrate", "lint", "format", "install", "publish")
"""Tasks that a script is for whose name, or whose target, says so: ``make deploy``, ``./release.sh``."""

_ENVIRONMENTS = {
    "production": re.compile(r"\b(?:prod|production)\b", re.IGNORECASE),
    "staging": re.compile(r"\bstaging\b", re.IGNORECASE),
}
_PARTS = re.compile(r"&&|\|\||[;|\n]")
_WORDS = re.compile(r"[^\W_]+")
_BEFORE = re.compile(
    r"^(?:\w+=\S*\s+|sudo\s+|time\s+|env\s+|(?:uv|poetry|pipenv|hatch|bundle)\s+(?:run|exec)\s+|npx\s+|bunx\s+"
    r"|\S*python[\d.]*\s+-m\s+)+"
)
_FOLDER = re.compile(r"^\S*/(?=[\w.-]+(?:\s|$))")
_FIRST_WORDS = 3


def language_of(file: str) -> str | None:
    """The language of a file, by its suffix.

    >>> language_of("src/app.tsx"), language_of("LICENSE")
    ('typescript', None)
    """
    if PurePosixPath(file.replace("\\", "/")).name in ("Dockerfile", "Makefile"):
        return PurePosixPath(file).name.lower()
    return _SUFFIXES.get(PurePosixPath(file.replace("\\", "/")).suffix[1:].lower())


def languages_of(folder: Path) -> list[str]:
    """The languages that a project is written in, by the files in its folder."""
    return list(dict.fromkeys(language for mark, language in _MARKS.items() if (folder / mark).is_file()))


def tasks_of(command: str) -> list[str]:
    """What a command line does, in the words of tasks; nothing for one that only looks around.

    >>> tasks_of("cd app && python -m pytest -q && git commit -m done"), tasks_of("ls -la"), tasks_of("make deploy")
    (['test', 'commit'], [], ['deploy'])
    """
    found = [task for part in _PARTS.split(command) for task in _tasks(part.strip())]
    return list(dict.fromkeys(found))


def environments_of(command: str) -> list[str]:
    """The environments that a command line names.

    >>> environments_of("./deploy.sh --env=prod")
    ['production']
    """
    return [name for name, named in _ENVIRONMENTS.items() if named.search(command)]


def project_of(folder: Path) -> Path:
    """The folder of the project: the one above, or this one, that holds a repository or a store."""
    for one in (folder, *folder.parents):
        if (one / ".git").exists() or (one / ".priming").is_dir():
            return one
    return folder


def branch_of(project: Path) -> str:
    """The words of the branch that a repository is on; nothing on a main branch or without a repository."""
    try:
        head = (project / ".git" / "HEAD").read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""
    name = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""
    return "" if name in ("main", "master", "develop", "trunk") else " ".join(_WORDS.findall(name))


def within(files: Iterable[str], folder: Path, project: Path) -> list[str]:
    """Files by their path from the project's folder, where they are in it."""
    found = []
    for one in files:
        path = folder / one
        found.append(
            path.relative_to(project).as_posix() if path.is_relative_to(project) else path.as_posix()
        )
    return found


def _tasks(part: str) -> list[str]:
    command = _FOLDER.sub("", _BEFORE.sub("", part))
    best = max(
        (one for ones in TASKS.values() for one in ones if _begins(command, one)), key=len, default=None
    )
    if best is not None:
        return [task for task, ones in TASKS.items() if best in ones]
    words = _WORDS.findall(" ".join(command.split()[:_FIRST_WORDS]).lower())
    if not words or words[0] in (
        "git",
        "cat",
        "ls",
        "grep",
        "rg",
        "find",
        "echo",
        "cd",
        "less",
        "head",
        "tail",
        "sed",
    ):
        return []
    return [task for task in _SAID if task in words]


def _begins(command: str, words: str) -> bool:
    return command == words or command.startswith(f"{words} ")
