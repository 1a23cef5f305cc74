"""The programming and data languages of files, by the suffix of their names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath


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

_NAMES = ("Dockerfile", "Makefile")
"""Files whose whole name is their language."""


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


def code_language_of(file: str) -> str | None:
    """The language of a file of code; None for data, prose and all else.

    >>> code_language_of("src/app.tsx"), code_language_of("notes.md")
    ('typescript', None)
    """
    return CODE.get(PurePosixPath(file).suffix[1:].lower())
