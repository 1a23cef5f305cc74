"""The programming and data languages of files, by the suffix of their names."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from priming.core.when import SUFFIXES, language_name
from priming.text.word_lists import read_lines

_READ = 2_000
"""Characters of a text in which names of languages are looked for."""


def _rows(name: str) -> Iterator[tuple[str, str]]:
    """Read the words of ``words/languages/<name>.txt``, each with the languages before the colon of its line."""
    for languages, words in (line.split(": ") for line in read_lines(f"languages/{name}")):
        yield from ((languages, word) for word in words.split())


_OF_DATA = frozenset(("dockerfile", "ini", "json", "markdown", "restructuredtext", "toml", "xml", "yaml"))
CODE: Mapping[str, str] = {suffix: name for suffix, name in SUFFIXES.items() if name not in _OF_DATA}
"""Languages that programs, pages and queries are written in, by suffix."""
DATA: Mapping[str, str] = {suffix: name for suffix, name in SUFFIXES.items() if name in _OF_DATA}
"""Languages of data and of prose, by suffix."""
MANIFESTS: Mapping[str, str] = {file: language for language, file in _rows("manifests")}
"""Files that show in which language a project is written."""

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    program: tuple(languages.split(", ")) for languages, program in _rows("programs")
}
"""Programs that work on code of one language, or of two that share their tools."""

_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?)/|(?:^|/)test_[^/]*$|(?:^|/)conftest\.py$"
    r"|[_.-](?:tests?|spec)\.\w+$|[a-z\d]Tests?\.\w+$"
)

_NAMES: Mapping[str, str] = {name: language for language, name in _rows("names")}
"""Files whose whole name, or its beginning ("Dockerfile.prod"), shows their language."""
_TEMPLATES = frozenset(
    ("j2", "jinja", "jinja2", "tmpl", "tpl", "template", "in", "dist", "example", "sample")
)
"""Suffixes of files from which another file is made: "settings.py.j2"."""

_NAMED = re.compile(
    r"(?<![\w.])(c\+\+|c#|f#|python|rust|typescript|javascript|golang|kotlin|swift|ruby|php|haskell|elixir|scala|bash"
    r"|zsh|sql|java|html|css|terraform|node\.js|js|jsx|tsx|cpp|csharp|fsharp|objective[- ]c|objc|powershell|pwsh"
    r"|dockerfile|perl|erlang|clojure|ocaml|fortran|cobol|solidity|shell scripts?)(?![\w+#])",
    re.IGNORECASE,
)
_GO = re.compile(
    r"\b(?:in|with|our|the|to|of|for) Go\b(?! (?:ahead|on|back|to)\b)"
    r"|\b[Gg]o (?:tests?|code|files?|modules?|packages?|functions?|structs?|interfaces?|programs?|services?|clients?"
    r"|errors?|routines?|servers?|project|library)\b"
)


def languages_in(text: str) -> list[str]:
    """Return the programming languages that a text names, each once; "go" only where it is not the verb.

    >>> languages_in("write go tests, then port them to Rust"), languages_in("go on")
    (['rust', 'go'], [])
    """
    names = [language_name(match[1]) for match in _NAMED.finditer(text[:_READ])]
    return list(dict.fromkeys([*names, *(["go"] if _GO.search(text[:_READ]) else [])]))


_IN_LANGUAGE = re.compile(
    r"(?P<before>\b(?:in|for|of|all|every|each) )(?P<of>[\w+#-]+) (?=[a-z])(?!(?:code|files?|sources?|modules?)\b)|"
    r"\b(?:in|for) ([\w+#-]+)(?: (?:code|files?|sources?|modules?))?(?=[,.;]|$),?\s*"
    r"|(?<![\w+#])([\w+#]+) (?=(?:code|files?)\b)",
    re.I,
)


def without_language(text: str, languages: Container[str]) -> str:
    """Return a rule without the words that only repeat its condition: "in Go", "Python code".

    >>> without_language("Use tabs for indentation in Go", ["go"]), without_language("In Go code, use tabs", ["go"])
    ('Use tabs for indentation', 'use tabs')
    >>> without_language("Use snake_case for Python variables", ["python"])
    'Use snake_case for variables'
    >>> without_language("Use tabs in Go", ["python"])
    'Use tabs in Go'
    """

    def plain(match: re.Match[str]) -> str:
        name = next(filter(None, match.group("of", 3, 4)))
        return (match["before"] or "") if language_name(name) in languages else match[0]

    return _IN_LANGUAGE.sub(plain, text).strip()


def without_places(text: str, values: Iterable[str]) -> str:
    """Return a rule without the phrases that only repeat a value of its conditions.

    >>> without_places("Use 8 workers in production", ["production"]), without_places("Produce less", ["production"])
    ('Use 8 workers', 'Produce less')
    """
    names = "|".join(re.escape(value) for value in values if value)
    if not names:
        return text
    place = (
        r"(?:(?<![,\s])[,\s]+)?\b(?:in|on|for|during|at|when|while) (?:the )?"
        rf"(?:{names})(?: environments?| branch(?:es)?)?"
    )
    return re.sub(place + r"(?=$|[.,;!])", "", text, flags=re.IGNORECASE).strip() or text


def language_of(file: str) -> str | None:
    """Return the language of a file: of code, data or prose.

    >>> language_of("src/app.tsx"), language_of("notes.md"), language_of("Dockerfile.prod"), language_of("LICENSE")
    ('typescript', 'markdown', 'dockerfile', None)
    """
    path = PurePosixPath(file.replace("\\", "/"))
    name, suffix = path.name.lower(), path.suffix[1:].lower()
    by_name = _NAMES.get(name) or SUFFIXES.get(suffix)
    if by_name is None and suffix in _TEMPLATES:
        by_name = language_of(name.removesuffix(f".{suffix}"))
    first, _, rest = name.partition(".")
    return by_name or (_NAMES.get(first) if rest else None)


def task_of(file: str) -> str | None:
    """Return the task that a file is there for, by its name: test, or None.

    >>> task_of("queue_test.go"), task_of("web/Cart.test.tsx"), task_of("tests/helpers.py"), task_of("contest.py")
    ('test', 'test', 'test', None)
    """
    return "test" if _TEST_FILE.search(file.replace("\\", "/")) else None


def code_language_of(file: str) -> str | None:
    """Return the language of a file of code; None for data, prose and all else.

    >>> code_language_of("src/app.tsx"), code_language_of("notes.md")
    ('typescript', None)
    """
    language = language_of(file)
    return None if language in _OF_DATA else language
