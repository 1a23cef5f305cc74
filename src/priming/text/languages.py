"""The programming and data languages of files, by the suffix of their names."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from pathlib import PurePosixPath

from priming.core.when import language_name

_READ = 2_000
"""Characters of a text in which names of languages are looked for."""


def _by_suffix(table: str) -> dict[str, str]:
    """Map suffixes to languages, from lines such as ``python: py pyi``."""
    rows = (line.split(":") for line in table.split("\n") if line)
    return {suffix: language.strip() for language, suffixes in rows for suffix in suffixes.split()}


CODE: Mapping[str, str] = _by_suffix("""
c: c h
c#: cs
c++: cc cpp cxx hpp hh
css: css scss sass less
dart: dart
elixir: ex exs
go: go
haskell: hs
html: html htm
java: java
javascript: js mjs cjs jsx
julia: jl
kotlin: kt kts
lua: lua
php: php
python: py pyi
r: r
ruby: rb
rust: rs
scala: scala
shell: sh bash zsh
sql: sql
svelte: svelte
swift: swift
terraform: tf
typescript: ts tsx mts cts
vue: vue
zig: zig
""")
"""Languages that programs, pages and queries are written in, by suffix."""

DATA: Mapping[str, str] = _by_suffix("""
json: json
markdown: md mdx
toml: toml
yaml: yml yaml
""")
"""Languages of data and of prose, by suffix."""

MANIFESTS: Mapping[str, str] = {
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
"""Files that show in which language a project is written."""

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    program: tuple(languages.split(", "))
    for languages, programs in (
        (
            "python",
            "python python3 pytest tox nox unittest pip uv poetry pipenv hatch mypy pyright ruff flake8",
        ),
        ("python", "pylint black isort alembic manage.py twine"),
        ("go", "go gofmt golangci-lint"),
        ("rust", "cargo rustc rustfmt"),
        (
            "javascript, typescript",
            "npm yarn pnpm bun deno node vitest jest mocha eslint prettier playwright cypress",
        ),
        ("javascript, typescript", "vite webpack npx bunx"),
        ("typescript", "tsc ts-node tsx"),
        ("ruby", "ruby gem bundle rake rspec rails"),
        ("java, kotlin", "mvn gradle gradlew"),
        ("php", "php composer phpunit"),
        ("elixir", "mix iex"),
        ("c#", "dotnet"),
        ("swift", "swift"),
        ("terraform", "terraform"),
    )
    for program in programs.split()
}
"""Programs that work on code of one language, or of two that share their tools."""

_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?)/|(?:^|/)test_[^/]*$|(?:^|/)conftest\.py$"
    r"|[_.-](?:tests?|spec)\.\w+$|[a-z\d]Tests?\.\w+$"
)

_NAMES = ("Dockerfile", "Makefile")
"""Files whose whole name is their language."""


_NAMED = re.compile(
    r"(?<![\w.])(c\+\+|c#|python|rust|typescript|javascript|golang|kotlin|swift|ruby|php|haskell|elixir|scala|bash|sql|java"
    r"|html|css|terraform|node\.js|js|cpp|csharp)(?![\w+#])",
    re.IGNORECASE,
)
_GO = re.compile(
    r"\b(?:in|with|our|the|to|of|for) Go\b(?! (?:ahead|on|back|to)\b)"
    r"|\b[Gg]o (?:tests?|code|files?|modules?|packages?|functions?|structs?|interfaces?|programs?|services?|clients?"
    r"|errors?|routines?|servers?|project|library)\b"
)


def languages_in(text: str) -> list[str]:
    """The programming languages that a text names, each once; "go" only where it is not the verb.

    >>> languages_in("write go tests, then port them to Rust"), languages_in("go on")
    (['rust', 'go'], [])
    """
    names = [language_name(match[1]) for match in _NAMED.finditer(text[:_READ])]
    return list(dict.fromkeys([*names, *(["go"] if _GO.search(text[:_READ]) else [])]))


_IN_LANGUAGE = re.compile(
    r"\b(?:in|for) ([\w+#-]+)(?: (?:code|files?|sources?|modules?))?(?=[,.;]|$),?\s*"
    r"|(?<![\w+#])([\w+#]+) (?=(?:code|files?)\b)",
    re.I,
)


def without_language(text: str, languages: Container[str]) -> str:
    """A rule without the words that only repeat its condition: "in Go", "Python code".

    >>> without_language("Use tabs for indentation in Go", ["go"]), without_language("In Go code, use tabs", ["go"])
    ('Use tabs for indentation', 'use tabs')
    >>> without_language("Use tabs in Go", ["python"])
    'Use tabs in Go'
    """
    plain = _IN_LANGUAGE.sub(
        lambda match: "" if language_name(match[1] or match[2]) in languages else match[0], text
    )
    return plain.strip()


def language_of(file: str) -> str | None:
    """The language of a file: of code, data or prose.

    >>> language_of("src/app.tsx"), language_of("notes.md"), language_of("Makefile"), language_of("LICENSE")
    ('typescript', 'markdown', 'makefile', None)
    """
    path = PurePosixPath(file.replace("\\", "/"))
    if path.name in _NAMES:
        return path.name.lower()
    suffix = path.suffix[1:].lower()
    return CODE.get(suffix) or DATA.get(suffix)


def task_of(file: str) -> str | None:
    """The task that a file is there for, by its name: test, or None.

    >>> task_of("queue_test.go"), task_of("web/Cart.test.tsx"), task_of("tests/helpers.py"), task_of("contest.py")
    ('test', 'test', 'test', None)
    """
    return "test" if _TEST_FILE.search(file.replace("\\", "/")) else None


def code_language_of(file: str) -> str | None:
    """The language of a file of code; None for data, prose and all else.

    >>> code_language_of("src/app.tsx"), code_language_of("notes.md")
    ('typescript', None)
    """
    return CODE.get(PurePosixPath(file).suffix[1:].lower())
