"""One verb of the table: what the source of its function declares, the words of its arguments, and what neither says.

The source is read without importing its module. So a client can decode an answer, and the command line show its
options, without loading the engine.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from priming.config.values import dataclass
from priming.config.words import FORMATS, KINDS, OUTCOMES, RECALLED, RULES, STAGES, STATUSES, TRUST
from priming.types import EMPTY

_END = "\n\n\n"
"""Two empty lines, between what stands at the top level of a module."""
_ARGS = re.compile(r"^ *Args:\n(.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_ARG = re.compile(r"^ {4}(\w+): (.+)$")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function: its type and its default as written, None if it is required."""

    hint: str
    written: str | None
    is_positional: bool

    @property
    def is_required(self) -> bool:
        """Whether it must be passed."""
        return self.written is None

    @property
    def default(self) -> Any:
        """Its default; None where that is no literal: only its function knows it."""
        try:
            return ast.literal_eval(self.written or "None")
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a function declares; the first of its arguments is the open memory, which is left out."""

    arguments: Mapping[str, Argument]
    answer: str
    doc: str
    is_open: bool
    """Whether it also takes arguments by which a memory changes."""

    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs of the docstring before its arguments, errors and examples."""
        return [part for part in self.doc.split("\n\n") if not part.startswith(("Args:", "Raises:", ">>>"))]

    @property
    def summary(self) -> str:
        """The first paragraph, in one line."""
        return " ".join(self.paragraphs[0].split())

    @property
    def meanings(self) -> dict[str, str]:
        """What the docstring says of each argument."""
        section = _ARGS.search(self.doc)
        meanings: dict[str, str] = {}
        for line in section[1].splitlines() if section else ():
            if start := _ARG.match(line):
                meanings[start[1]] = start[2]
            elif meanings:
                meanings[list(meanings)[-1]] += f" {line.strip()}"
        return {name: text.replace("``", "") for name, text in meanings.items()}


@cache
def declaration(place: str) -> Declaration:
    """Return what the function at ``module:name`` declares.

    >>> declaration("priming.history.log:forget").answer
    'Operation'
    """
    module, _, name = place.partition(":")
    text = _text(module)
    start = text.index(f"\ndef {name}(")
    (node,) = ast.parse(text[start : text.find(_END, start)]).body
    assert isinstance(node, ast.FunctionDef)
    _, *positional = (*node.args.posonlyargs, *node.args.args)
    defaults = [*[None] * len(positional), *node.args.defaults][len(node.args.defaults) :]
    parts = [(argument, default, True) for argument, default in zip(positional, defaults, strict=True)]
    parts += [
        (argument, default, False)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    ]
    arguments = {
        argument.arg: Argument(_written(argument.annotation) or "Any", _written(default), by_place)
        for argument, default, by_place in parts
    }
    doc = ast.get_docstring(node) or ""
    return Declaration(arguments, _written(node.returns) or "None", doc, node.args.kwarg is not None)


@cache
def answer_type(place: str) -> Any:
    """Return the type of the answer of the function at ``module:name``; only the home of the type is imported."""
    module, _, _ = place.partition(":")
    return eval(declaration(place).answer, {"__builtins__": {}}, _Names(module))


class _Names(dict[str, Any]):
    """The names of a module that the types of answers are made of, each looked up where it is imported from."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        homes = (
            node.module
            for node in ast.walk(ast.parse(_head(self._module)))
            if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]
        )
        return getattr(import_module(next(homes, None) or self._module), name)


def _written(part: ast.expr | None) -> str | None:
    return None if part is None else ast.unparse(part)


def _head(module: str) -> str:
    """Return the imports of a module, with which its text begins."""
    return _text(module).partition(_END)[0]


@cache
def _text(module: str) -> str:
    # By its place in its package: to look for a module of a folder would import the folder.
    package, *names = module.split(".")
    spec = find_spec(package)
    folders = () if spec is None else spec.submodule_search_locations or ()
    for path in (Path(folder, *names) for folder in folders):
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file.read_text("utf-8")
    raise ModuleNotFoundError(f"there is no source of {module}")


CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": KINDS,
    "kinds": KINDS,
    "outcome": OUTCOMES,
    "trust": TRUST,
    "status": STATUSES,
    "rule": RULES,
    "stages": STAGES,
    "format": FORMATS,
    "tier": ("conscious", "automatic"),
}
"""Arguments that are one of a few words, or a list of them."""

OWN_CHOICES: Mapping[tuple[str, str], tuple[str, ...]] = {("recall", "kinds"): RECALLED}
"""The words of an operation's argument, where they are not those of other operations."""

MEANINGS: Mapping[str, str] = {
    "content": "what to remember, in full sentences that can be understood on their own",
    "heading": "a title to find it under",
    "kind": "what it is: an episode (what happened), a fact, a procedure, a failure, a pattern …",
    "key": "a memory's key or id",
    "session": "the conversation that it belongs to",
    "speaker": "who said it",
    "occurred_at": "when it happened, ISO 8601 with a time zone",
    "valid_from": "since when it is true, ISO 8601 with a time zone",
    "tags": "words to file it under",
    "metadata": "anything else to keep with it",
    "when": 'where it applies, such as {"language": "go"}',
    "importance": "how much it matters, from 0 to 1",
    "outcome": "how it went",
    "source": "where it comes from",
    "trust": "how far its source is trusted",
    "files": "the paths of the files that it touches",
    "limit": "maximum number",
    "echo_guard": "whether text that a recall has just returned counts as an echo and is not stored",
    "cue": "the context of the question: file, language, task, environment, project, speaker, and others by name",
    "reason": "why, for the log",
    "relation": "the name of the relation, such as similar-to, requires, overrides or one of your own",
    "sign": "1: links of this relation bring activation, -1: they take it away; by default its name decides",
    "target": "key of the memory where the link ends",
    "weight": "strength from 0 to 1",
    "valid_at": "answer with what was true then, ISO 8601 with a time zone",
    "known_at": "answer with what was known then, ISO 8601 with a time zone",
    "since": "only from this time on, ISO 8601 with a time zone",
    "until": "only before this time, ISO 8601 with a time zone",
    "right": "what to do, as a rule that can be followed",
    "wrong": "what was done instead",
    "priority": "from 0 to 10: rules of higher priority are shown first",
    "operation_id": "an operation's id in the log; undo takes last too",
    "tokens": "the budget of what is shown, in tokens",
}
"""What arguments mean where the function's docstring does not say it."""
_OF_LINKS = {"source": "key of the memory where the link starts"}
OTHER_WORDS: Mapping[str, str] = {
    "key": "id name memory memory_id memory_key",
    "recall_id": "id",
    "operation_id": "id operation",
    "run_id": "id",
    "proposal": "id",
    "content": "text memory note fact value",
    "right": "text content correction instead",
    "wrong": "mistake",
    "text": "query q question prompt",
    "task": "text query prompt",
    "objective": "text task",
    "query": "text question",
    "matching": "query text",
    "question": "query",
    "cue": "context when",
    "kind": "type",
    "kinds": "kind types",
    "heading": "title",
    "items": "memories",
    "terms": "term",
    "session": "session_id",
    "limit": "top_k k n max_results",
    "tokens": "max_tokens budget",
    "filters": "filter",
    "echo_guard": "echo",
    "used": "helpful useful",
    "not_relevant": "irrelevant",
    "not_useful": "useless",
    "overridden": "contradicted",
    "d1": "since",
    "d2": "until",
}
"""Other words for an argument, wherever a verb has it and none of that name; the first line with a word counts."""
SCOPES = ("user_id", "user", "agent_id", "app_id", "tenant")
"""Arguments of other memories that a namespace takes the place of."""
LETTERS = 64
"""Letters of a name that are compared with others: what is longer is no slip."""
PROPERTIES = ("writes", "destructive", "admin", "idempotent", "asks")
"""What ``Op.about`` may say of an operation, beside its group."""


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation.

    ``at`` is where its function is, as ``module:name`` or, of the same name, ``module``. The function is a method of
    ``Memory``, too, unless it is no ``verb``; ``wire`` is the module of another function that carries out requests.
    ``about`` is the group of tools that it belongs to in MCP, and what a client may want to know before it calls:
    whether it ``writes``, is ``destructive`` (data may be lost for good), for ``admin`` (only a token of that kind
    may call it), ``idempotent`` (a second call changes nothing more), or ``asks`` (it needs an agent). ``words`` are
    other words that callers use for an argument, beside ``OTHER_WORDS``; ``example`` is a request
    that shows more than the required arguments. ``own`` are arguments that name a folder or a command of this
    machine: only the user's own processes may send them. ``local`` is the reason why an operation is for this machine
    only; servers do not offer it. ``stands_for`` is such an operation in whose place this one is served.
    """

    name: str
    at: str
    about: str = ""
    example: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    words: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    own: tuple[str, ...] = ()
    stands_for: str = ""
    local: str = ""
    wire: str = ""
    verb: bool = True

    @property
    def group(self) -> str:
        """The group of tools that it belongs to in MCP; empty if it is for this machine only."""
        return next((word for word in self.about.split() if word not in PROPERTIES), "")

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return "writes" in self.about.split()

    @property
    def destructive(self) -> bool:
        """Whether data may be lost for good."""
        return "destructive" in self.about.split()

    @property
    def idempotent(self) -> bool:
        """Whether a second call changes nothing more."""
        return "idempotent" in self.about.split()

    @property
    def admin(self) -> bool:
        """Whether only a token of that kind may call it."""
        return "admin" in self.about.split()

    @property
    def asks(self) -> bool:
        """Whether it needs an agent."""
        return "asks" in self.about.split()

    @property
    def needs(self) -> str:
        """The least kind of token that may call it."""
        return "admin" if self.admin else "write" if self.writes else "read"

    @property
    def other_names(self) -> Mapping[str, str]:
        """Its arguments by the other words for them."""
        return _other_names(self)

    def unknown(self, name: str) -> str:
        """Tell that it has no argument of a name, with the one that may be meant, and those that it has."""
        from difflib import get_close_matches

        names = [each for each in self.declared.arguments if each not in ("progress", "agent", "beside")]
        if name in SCOPES:
            return f"is not an argument: the memories of a user are a namespace, as in Memory.open(namespace={name})"
        own = self.other_names.get(name)
        near = [own] if own else get_close_matches(name[:LETTERS], names, 1)
        meant = f": did you mean {near[0]}?" if near else ":"
        return f"is not an argument{meant} {self.name} takes {', '.join(names) or 'none'}"

    @property
    def meanings(self) -> Mapping[str, str]:
        """What its arguments mean: in all verbs, at the ends of a link, or by its own docstring."""
        return {**MEANINGS, **(_OF_LINKS if "target" in self.takes else {}), **self.declared.meanings}

    def missing(self, name: str) -> str:
        """Tell that an argument must be given, and what it means."""
        return f"must be given: {self.meanings.get(name, f'see the help of {self.name}').rstrip('.')}"

    @property
    def method(self) -> str:
        """Where the function is that ``Memory`` has, as ``module:name``."""
        return self.at if ":" in self.at else f"{self.at}:{self.name}"

    @property
    def place(self) -> str:
        """Where the function is that carries out a request, as ``module:name``."""
        return f"{self.wire}:{self.name}" if self.wire else self.method

    @property
    def declared(self) -> Declaration:
        """What its function declares, without importing it."""
        return declaration(self.place)

    @property
    def answers(self) -> str:
        """The type of its answer as written, such as ``list[Link]``."""
        return self.declared.answer

    @property
    def answer(self) -> Any:
        """The type of its answer, loaded when first needed: most commands need only a few."""
        return answer_type(self.place)

    @property
    def takes(self) -> tuple[str, ...]:
        """The arguments that may be passed by position."""
        return tuple(name for name, argument in self.declared.arguments.items() if argument.is_positional)

    @property
    def long(self) -> bool:
        """Whether it reports its progress."""
        return "progress" in self.declared.arguments

    @property
    def function(self) -> Callable[..., Any]:
        """The function that carries out a request, loaded when first needed: its first argument is a ``Memory``."""
        return load(self.place)

    @property
    def command(self) -> str:
        """Its name on the command line."""
        return self.name.replace("_", "-")


def load(place: str) -> Callable[..., Any]:
    """Return the function at ``module:name``."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


@cache
def _other_names(op: Op) -> Mapping[str, str]:
    arguments, names = op.declared.arguments, dict[str, str]()
    for name, words in (*op.words.items(), *OTHER_WORDS.items()):
        for word in words.split() if name in arguments else ():
            if word not in arguments:
                names.setdefault(word, name)
    return names
