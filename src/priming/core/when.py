"""``when`` predicates: whether a memory applies in the present context.

A predicate is a key with a value, or with a list of values of which any will do. The cue confirms it,
contradicts it, or says nothing about it. Texts are compared without regard to case.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple

from priming.core.arguments.normal_forms import Globs, backwards, caseless
from priming.errors import ParamError

_PATHS = ("file",)
"""The predicates that are glob patterns (floop)."""
_PARTIAL = ("task", "environment", "text")
"""The predicates that are matched word by word."""

Finding = Literal["confirmed", "contradicted", "absent"]

_WORD = re.compile(r"[^\W_]+")
_LONG_FORMS = {
    "admin": "administration",
    "app": "application",
    "auth": "authentication",
    "config": "configuration",
    "db": "database",
    "dev": "development",
    "doc": "documentation",
    "docs": "documentation",
    "env": "environment",
    "infra": "infrastructure",
    "perf": "performance",
    "prod": "production",
    "qa": "quality",
    "repo": "repository",
    "stage": "staging",
}
"""Usual short forms, with their long ones."""


class Evaluation(NamedTuple):
    """How many predicates the cue confirms, contradicts, and says nothing about."""

    confirmed: int
    contradicted: int
    absent: int


def evaluate(when: Mapping[str, Any], cue: Mapping[str, Any]) -> Evaluation:
    """Count the predicates that a cue confirms, contradicts and leaves open.

    A single contradicted predicate excludes the memory; what the cue leaves open is neutral.

    Parameters
    ----------
    when : predicate → required value, or a list of which any will do. ``file`` takes a glob (see ``Globs``);
        ``task``, ``environment``, ``text`` match by words (see ``CueValue.mention``); all else is equality.
    cue : predicate → present value, or a list of them, of which any will do. None, "" and [] say
        nothing, on either side.

    Returns
    -------
    ``(confirmed, contradicted, absent)``, which sum to ``len(when)``.

    Raises
    ------
    ParamError : ``when`` or ``cue`` is no mapping.

    Examples
    --------
    >>> evaluate({"language": "go", "file": "*_test.go"}, {"language": "Go", "task": "refactor"})
    Evaluation(confirmed=1, contradicted=0, absent=1)
    """
    results = list(findings(when, cue).values())
    return Evaluation(results.count("confirmed"), results.count("contradicted"), results.count("absent"))


def findings(when: Mapping[str, Any], cue: Mapping[str, Any]) -> dict[str, Finding]:
    """Tell for each predicate whether the cue confirms it, contradicts it or is silent.

    The evidence behind ``evaluate``, with the same arguments and errors; ``cue`` may be what ``read`` returned.

    >>> findings({"language": ["go", "rust"], "project": "priming"}, {"language": "python"})
    {'language': 'contradicted', 'project': 'absent'}
    """
    if not isinstance(cue, Mapping):
        raise ParamError("cue", cue, "must be a mapping of predicate to value")
    if not isinstance(when, Mapping):
        raise ParamError("when", when, "must be a mapping of predicate to value")
    present = {key: value if isinstance(value := cue.get(key), CueValue) else CueValue(value) for key in when}
    return {key: _finding(key, options(expected), present[key]) for key, expected in when.items()}


def is_more_specific(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Tell whether ``a`` narrows ``b``: it has b's predicates, with the same values or with paths within b's globs.

    An empty ``when`` is unscoped, which is something else than less specific: nothing narrows it. Lists
    are equal whatever their order.

    Parameters
    ----------
    a, b : predicate → required value or list.

    Raises
    ------
    ParamError : an argument is no mapping.

    Examples
    --------
    >>> is_more_specific({"language": "go", "task": "test"}, {"language": "go"})
    True
    >>> is_more_specific({"file": "src/ui/app.ts"}, {"file": "src/**"}), is_more_specific({"language": "go"}, {})
    (True, False)
    """
    narrow, wide = scope("a", a), scope("b", b)
    return bool(wide) and _covers(wide, narrow) and not _covers(narrow, wide)


def _covers(wide: Mapping[str, frozenset[str]], narrow: Mapping[str, frozenset[str]]) -> bool:
    return all(name in narrow and _holds(name, values, narrow[name]) for name, values in wide.items())


def _holds(name: str, values: frozenset[str], others: frozenset[str]) -> bool:
    is_glob = name in _PATHS
    return values == others or (
        is_glob and all(_finding(name, values, CueValue(x)) == "confirmed" for x in others)
    )


def meet(name: str, a: frozenset[str], b: frozenset[str]) -> bool:
    """Tell whether a value may be among both options of a predicate; a glob is read as the path that it spells.

    >>> meet("file", frozenset({"src/ui/*.ts"}), frozenset({"src/**"})), meet("task", frozenset("a"), frozenset("b"))
    (True, False)
    """
    both = ((a, b), (b, a)) if name in _PATHS else ()
    return not a.isdisjoint(b) or any(_finding(name, globs, CueValue(x)) == "confirmed" for x, globs in both)


def options(value: Any) -> frozenset[str]:
    """List the values that a predicate or a cue allows, in the form in which they are compared.

    One value stands for itself, a list for any of its values; None and "" for nothing.

    >>> sorted(options(["Go", " rust "])), options(None)
    (['go', 'rust'], frozenset())
    """
    many = value if isinstance(value, (list, tuple, set, frozenset)) else (value,)
    return frozenset(text for item in many if item is not None and (text := caseless(str(item).strip())))


def scope(name: str, when: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Give the predicates that ask for anything, with their options; ``name`` is for the error.

    >>> scope("when", {"language": "Go", "task": None})
    {'language': frozenset({'go'})}
    """
    if not isinstance(when, Mapping):
        raise ParamError(name, when, "must be a mapping of predicate to value")
    return {key: _canonical(key, values) for key, value in when.items() if (values := options(value))}


def _canonical(key: str, values: frozenset[str]) -> frozenset[str]:
    """Return the options of a predicate, languages by their canonical name."""
    return frozenset(map(language_name, values)) if key == "language" else values


class CueValue:
    """A value of a cue, or a list of values, read once for the many conditions that are compared with it."""

    def __init__(self, value: Any) -> None:
        self.options = options(value)

    def mention(self, phrase: str) -> bool:
        """Tell whether any of the texts has all words of a phrase in lower case, in any order and form.

        Two words agree when their English stems are equal, or one is a usual short form of the other: "tests" finds
        "testing", and "production" finds "prod"; "test" does not find "testament".

        >>> CueValue("Testing: write one for the parser").mention("write tests")
        True
        """
        words = _WORD.findall(phrase)
        if not words:
            return any(phrase in text for text in self.options)
        texts = -1
        for word in words:
            texts &= self._texts.get(_stem(word), 0)
            if not texts:
                return False
        return True

    @cached_property
    def paths(self) -> list[str]:
        """The paths, as globs read them."""
        return [path for option in self.options if (path := backwards(option)) is not None]

    @cached_property
    def languages(self) -> frozenset[str]:
        """The canonical names of the languages."""
        return _canonical("language", self.options)

    @cached_property
    def _texts(self) -> Mapping[str, int]:
        """The texts that have a stem, each a bit, by stem."""
        texts = dict[str, int]()
        for i, text in enumerate(self.options):
            for stem_ in set(map(_stem, _WORD.findall(text))):
                texts[stem_] = texts.get(stem_, 0) | 1 << i
        return texts


def read(cue: Mapping[str, Any]) -> Mapping[str, CueValue]:
    """Read a cue for ``findings`` with many conditions, which then do not read it again each."""
    return {key: CueValue(value) for key, value in cue.items()}


_LANGUAGES: Mapping[str, list[list[str]]] = {
    language: [names.split() for names in row.split("|")]
    for language, row in {
        "assembly": "asm s | assembler",
        "astro": "astro",
        "c": "c h",
        "c#": "cs csx | csharp c-sharp",
        "c++": "cc cpp cxx c++ hpp hh hxx | cplusplus c-plus-plus",
        "clojure": "clj cljs cljc | clojurescript",
        "cmake": "cmake | cmakelists cmakelists.txt",
        "cobol": "cob cbl",
        "crystal": "cr",
        "css": "css scss sass less styl | css3",
        "cuda": "cu cuh",
        "d": "d",
        "dart": "dart",
        "dockerfile": "dockerfile containerfile | docker",
        "elixir": "ex exs",
        "elm": "elm",
        "erlang": "erl hrl",
        "f#": "fs fsi fsx | fsharp f-sharp",
        "fortran": "f f90 f95 f03 for",
        "go": "go | golang go-lang",
        "graphql": "graphql gql",
        "groovy": "groovy gvy gradle | jenkinsfile",
        "haskell": "hs",
        "html": "html htm xhtml | html5",
        "ini": "ini cfg",
        "java": "java",
        "javascript": "js mjs cjs jsx | node nodejs node.js ecmascript es6 javascriptreact",
        "json": "json jsonc json5 jsonl",
        "julia": "jl",
        "kotlin": "kt kts",
        "latex": "tex sty",
        "lisp": "lisp lsp el",
        "lua": "lua",
        "makefile": "mk mak | make gnumake gnu-make",
        "markdown": "md mdx markdown",
        "nim": "nim",
        "nix": "nix",
        "objective-c": "m | objc obj-c objectivec",
        "objective-c++": "mm | objc++ objcpp objective-cpp",
        "ocaml": "ml mli",
        "perl": "pl pm | perl5",
        "php": "php phtml | php7 php8",
        "powershell": "ps1 psm1 psd1 | ps pwsh posh",
        "protobuf": "proto | proto3 protocol-buffers",
        "python": "py pyi pyw pyx ipynb | py3 python3 cpython ipython jupyter jupyter-notebook",
        "r": "r rmd | rlang r-lang rscript",
        "restructuredtext": "rst",
        "ruby": "rb rake gemspec erb",
        "rust": "rs | rustlang rust-lang",
        "scala": "scala sc sbt",
        "scheme": "scm rkt",
        "shell": "sh bash zsh ksh fish | shellscript shell-script shell-scripts",
        "solidity": "sol",
        "sql": "sql psql",
        "starlark": "bzl bazel star",
        "svelte": "svelte",
        "swift": "swift | swiftlang",
        "terraform": "tf tfvars hcl | opentofu",
        "toml": "toml",
        "typescript": "ts tsx mts cts | typescriptreact",
        "visual-basic": "vb vba | vbnet vb.net",
        "vue": "vue | vuejs vue.js",
        "xml": "xml xsd xsl",
        "yaml": "yml yaml",
        "zig": "zig",
    }.items()
}
"""By language, of programs and of data, the suffixes of its files, and its other names."""
SUFFIXES: Mapping[str, str] = {
    suffix: language for language, (suffixes, *_) in _LANGUAGES.items() for suffix in suffixes
}
_ALIASES: Mapping[str, str] = {
    name: language for language, lists in _LANGUAGES.items() for name in chain(*lists) if len(name) > 1
}
"""By each name of a language that is longer than a letter, suffixes among them, the canonical one."""
_GAP = re.compile(r"[\s_]+")


def language_name(name: str) -> str:
    """Return the canonical name of a language for any of its names; any other text in lower case.

    >>> language_name("JS"), language_name("golang"), language_name("Objective C"), language_name("COBOL")
    ('javascript', 'go', 'objective-c', 'cobol')
    """
    plain = _GAP.sub("-", name.strip().casefold())
    return _ALIASES.get(plain, plain)


def stem(word: str) -> str:
    """Give the stem of a word in lower case, by Snowball's English stemmer.

    References
    ----------
    .. [1] M. F. Porter, Snowball: a language for stemming algorithms, 2001.

    Examples
    --------
    >>> stem("migrations"), stem("testament")
    ('migrat', 'testament')
    """
    return stemmer("english")(word)


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """Return Snowball's stemmer of a language, for words in lower case."""
    # The stemmer keeps its state in the object, hence the lock.
    import Stemmer

    stemmer, lock = Stemmer.Stemmer(language), threading.Lock()

    def locked_stem(word: str) -> str:
        with lock:
            return str(stemmer.stemWord(word))

    return locked_stem


def _finding(key: str, expected: frozenset[str], present: CueValue) -> Finding:
    if not expected or not present.options:
        return "absent"
    if key in _PATHS:
        holds = any(map(Globs(expected).match, present.paths))
    elif key in _PARTIAL:
        holds = any(map(present.mention, expected))
    elif key == "language":
        holds = not _canonical(key, expected).isdisjoint(present.languages)
    else:
        holds = not expected.isdisjoint(present.options)
    return "confirmed" if holds else "contradicted"


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    """Return the stem of a word, of the long form of a short one."""
    long = _LONG_FORMS.get(word, word)
    return stem(_LONG_FORMS.get(long.removesuffix("s"), long))
