"""What the source of a function declares: its arguments, its answer and its docstring, without importing its module.

So a client can decode an answer, and the command line show its options, without loading the engine.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from priming.config.values import dataclass

_END = "\n\n\n"
"""Two empty lines, between what stands at the top level of a module."""
_ARGS = re.compile(r"^ *Args:\n(.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_ARG = re.compile(r"^ {4}(\w+): (.+)$")


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function in ``module``: its type and its default as written, None if it is required."""

    hint: str
    written: str | None
    is_positional: bool
    module: str

    @property
    def is_required(self) -> bool:
        """Whether it must be passed."""
        return self.written is None

    @property
    def default(self) -> Any:
        """Its default; for what is no literal the module is imported."""
        try:
            return ast.literal_eval(self.written or "None")
        except ValueError:
            return eval(self.written or "None", vars(import_module(self.module)))


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a function declares; the first of its arguments is the open memory, which is left out."""

    arguments: Mapping[str, Argument]
    answer: str
    doc: str

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
        argument.arg: Argument(_written(argument.annotation) or "Any", _written(default), by_place, module)
        for argument, default, by_place in parts
    }
    return Declaration(arguments, _written(node.returns) or "None", ast.get_docstring(node) or "")


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
    """The imports of a module, with which its text begins."""
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
