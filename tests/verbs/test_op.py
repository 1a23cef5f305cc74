"""What is read of a function's source is what the function is."""

import importlib
import inspect
import re
from inspect import Parameter
from pathlib import Path
from typing import get_type_hints

import pytest
from tests.rows import each_row

from priming.verbs.op import declaration
from priming.verbs.rows import OPS

DOCS = Path(__file__).resolve().parents[2] / "docs"


@each_row("op", OPS)
def test_the_answer_is_that_of_the_function(op):
    assert get_type_hints(op.function)["return"] == op.answer


@each_row("op", OPS)
def test_arguments_docstring_and_name_are_those_of_the_function(op):
    declared, parameters = op.declared, dict(inspect.signature(op.function).parameters)
    del parameters[next(iter(parameters))]
    named = {name: each for name, each in parameters.items() if each.kind is not Parameter.VAR_KEYWORD}
    assert {name: each.hint for name, each in declared.arguments.items()} == {
        name: each.annotation for name, each in named.items()
    }
    for name, each in named.items():
        argument = declared.arguments[name]
        assert argument.is_required == (each.default is Parameter.empty), name
        is_literal = argument.is_required or not re.fullmatch(r"[A-Z_]+(\.\w+)?", argument.written)
        assert argument.is_required or argument.default == (each.default if is_literal else None), name
        assert argument.is_positional == (each.kind is not Parameter.KEYWORD_ONLY), name
    assert declared.doc == (inspect.getdoc(op.function) or "")


@each_row("op", OPS)
def test_what_is_said_of_arguments_is_of_those_there_are(op):
    assert set(op.declared.meanings) <= set(op.declared.arguments)


def test_a_function_that_is_not_in_the_source_is_a_fault_of_the_row():
    with pytest.raises(ValueError, match="substring not found"):
        declaration("priming.history.log:forgot")
    with pytest.raises(ModuleNotFoundError):
        declaration("priming.history.nothing:forget")


def test_type_checkers_know_the_verbs_of_the_table(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    typed = importlib.import_module("typed")
    stale = [path.name for path, text in typed.texts().items() if path.read_text("utf-8") != text]
    assert stale == [], "run make docs"
