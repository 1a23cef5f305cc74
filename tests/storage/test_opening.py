"""Stores that stand on the library are opened by entry points, and the library does not notice when they are gone."""

import ast
import sys
from pathlib import Path

import pytest

import priming
from priming.config.store_urls import parse_url
from priming.errors import MissingExtra
from priming.storage import opening

SOURCES = Path(priming.__file__).parent


def imported(path):
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_library_does_not_import_what_stands_on_it():
    names = {name for path in SOURCES.rglob("*.py") for name in imported(path)}
    assert {name for name in names if name.partition(".")[0] == "priming_server"} == set()


def test_a_database_without_its_driver_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("priming_server.postgres", "psycopg"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match="postgres"):
        opening.open_store(parse_url("postgresql:///plants"))


def test_a_database_without_the_package_that_opens_it_names_the_extra(monkeypatch):
    monkeypatch.setattr(opening, "STORES", "priming.stores.none")
    with pytest.raises(MissingExtra, match="postgres"):
        opening.open_store(parse_url("postgres:///plants"))
