"""Stores that stand on the library are opened by entry points, and the library does not notice when they are gone."""

import sys

import pytest

from priming.config.store_urls import parse_url
from priming.errors import MissingExtra
from priming.storage import opening


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
