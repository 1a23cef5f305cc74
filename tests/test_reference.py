"""The reference that is made from the code has everything that the code offers."""

import importlib
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from priming.verbs.rows import SERVED

DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture
def reference(monkeypatch):
    """The module, which lies outside of the package."""
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("reference")


def headings(text):
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


def test_every_command_stands_in_the_reference_with_its_options(reference):
    page = reference.commands()
    assert headings(page) == [" ".join(name) for name, _ in reference.each_command()]
    assert page.count("Usage: priming ") == len(headings(page)) > 70


def test_every_verb_stands_in_the_reference_with_its_parameters_and_errors(reference):
    page = reference.verbs()
    assert (
        set(headings(page)) == {name for name, _ in reference.each_verb()} >= {"recall", "open", "loop_store"}
    )
    recall = page.split("\n## recall\n")[1].split("\n## ")[0]
    assert "text: str | None = None" in recall
    assert "- `limit`: maximum number of hits." in recall
    assert "memory" not in recall.split("->")[0]


def test_every_operation_stands_in_the_reference_with_the_fields_of_its_request(reference):
    page = reference.http()
    assert headings(page) == [op.name for op in SERVED]
    learn = page.split("\n## learn\n")[1].split("\n## ")[0]
    assert "| `right` | string |  | what to do" in learn
    assert "| `priority` | number or null | `0.0` | in [0, 10]" in learn


def test_every_constant_stands_in_the_reference(reference):
    page = reference.parameters()
    assert {"SpreadParams", "RecallParams", "StoreParams", "LoopParams"} < set(headings(page))
    assert "| `gain` |" in page


def test_every_parameter_and_limit_says_what_it_means(reference):
    for values in reference.tables.classes():
        assert {field.name for field in fields(values)} == reference.tables.meanings(values).keys(), values


def test_the_reference_is_written_with_the_schemas_of_http(reference, tmp_path):
    reference.write(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.md")} == set(reference.PAGES)
    paths = json.loads((tmp_path / "openapi.json").read_text("utf-8"))["paths"]
    assert {f"/v1/{{namespace}}/{op.name}" for op in SERVED} <= set(paths)


def test_the_page_on_the_reference_names_each_of_its_pages(reference):
    page = (DOCS / "reference.md").read_text("utf-8")
    assert [name for name in reference.PAGES if f"\n| {name} |" not in page] == []
