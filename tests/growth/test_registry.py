"""Whatever reads what others wrote is attacked: a new module with patterns or parsers has to be among the readers."""

import ast
import importlib
import re
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.rows import each_row

import priming

from .readers import OF_OUR_OWN, READERS

SOURCE = Path(priming.__file__).parent.parent
PATTERNS = {"compile", "sub", "subn", "match", "search", "findall", "split", "fullmatch", "finditer"}
PARSERS = {"json": {"loads", "load"}, "shlex": None, "tomllib": None, "msgpack": None, "re": PATTERNS}
FUNCTIONS = {"fnmatch", "fnmatchcase", "SequenceMatcher"}


def parses(tree):
    """Whether a module calls a regular expression or a parser."""
    for call in (item for item in ast.walk(tree) if isinstance(item, ast.Call)):
        function = call.func
        if isinstance(function, ast.Name) and function.id in FUNCTIONS:
            return True
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            names = PARSERS.get(function.value.id, ())
            if names is None or function.attr in names:
                return True
    return False


@pytest.fixture(scope="module")
def modules():
    """The modules that call a regular expression or a parser."""
    return [
        ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for path in sorted(SOURCE.glob("priming*/**/*.py"))
        if parses(ast.parse(path.read_text("utf-8")))
    ]


def test_every_module_that_parses_is_attacked_or_reads_what_is_its_own(modules):
    attacked = {module for reader in READERS for module in reader.modules}
    missing = [module for module in modules if module not in attacked and module not in OF_OUR_OWN]
    assert not missing, (
        f"add readers of {missing} to tests/growth/readers.py, or say in OF_OUR_OWN what they read"
    )


def test_no_module_is_listed_that_does_not_parse(modules):
    assert not OF_OUR_OWN.keys() - set(modules)
    for reader in READERS:
        for module in reader.modules:
            importlib.import_module(module)


def patterns_of(value, depth=0):
    """The patterns in a global of a module, in collections as well."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, (tuple, list, set, frozenset, dict, MappingProxyType)):
        for item in value.values() if isinstance(value, (dict, MappingProxyType)) else value:
            yield from patterns_of(item, depth + 1)


@each_row("reader", READERS)
def test_a_reader_reads_an_ordinary_text(reader):
    reader.read(
        "Ada Lovelace (Ada) said: use `uv` instead of pip in src/app.py, then run 1. tests 2. docs.\n"
    )
