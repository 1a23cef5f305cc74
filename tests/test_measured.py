"""The tables of what was measured: made from small results that stand in a folder of their own."""

import importlib
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """The module, which reads the results of this test."""
    monkeypatch.syspath_prepend(str(DOCS))
    module = importlib.import_module("measured")
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    return module


@pytest.fixture
def put(tmp_path):
    """Writes a file of results."""
    return lambda name, content: (tmp_path / f"{name}.json").write_text(json.dumps(content), "utf-8")


def lines(text):
    """The cells of the rows of a table."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def test_a_result_that_is_missing_says_what_makes_it(measured):
    with pytest.raises(measured.Missing, match=r"genres\.json is missing: run python benchmarks/genres\.py"):
        measured.genres()


def test_a_result_that_is_no_json_says_so(measured, tmp_path):
    (tmp_path / "genres.json").write_text("{", "utf-8")
    with pytest.raises(measured.Missing, match=r"genres\.json is no JSON"):
        measured.genres()


def test_each_kind_of_material_stands_beside_the_plain_methods(measured, put):
    of = {"cosqa": (0.6, 0.5), "git-A-attrs": (0.7, 0.4), "git-A-httpx": (0.8, 0.5)}
    sets = {
        name: {"contestants": {"priming": {"nDCG@10": ours}, "plain bm25": {"nDCG@10": plain}}}
        for name, (ours, plain) in of.items()
    }
    put("genres", {"measure": "nDCG@10", "sets": sets, "means": {"priming": 0.7, "plain bm25": 0.467}})
    assert lines(measured.genres()) == [
        ["web query to function", "60.0", "50.0"],
        ["release note to commit", "75.0", "45.0"],
        ["**mean of all sets**", "**70.0**", "**46.7**"],
    ]


def test_each_shape_of_another_library_stands_below_it_with_its_costs(measured, put):
    def figures(ndcg, recall, ms):
        return {"quality": {"nDCG@10": ndcg, "R@5": recall}, "load_s": 1.25, "search_ms": ms}

    pairs = {
        "nl2bash": (figures(0.5, 0.6, 2), figures(0.7, 0.8, 9)),
        "git-A": (figures(0.1, 0.2, 1), figures(0.3, 0.4, 1)),
        "git-B": (figures(0.3, 0.4, 1), figures(0.1, 0.2, 1)),
    }
    sets = {
        name: {"memories": 1200, "contestants": {"chroma": theirs, "priming_memory": ours}}
        for name, (theirs, ours) in pairs.items()
    }
    costs = {
        "start_ms": {"chroma": 1500, "priming_memory": 400},
        "installed": {name: {"mb": 300.5, "packages": 90} for name in ("chroma", "priming_memory")},
    }
    put("dropins", {"largest": "nl2bash", "sets": sets, "machine": {"cores": 2}, **costs})
    quality, cost = measured.dropins().split("\n\n")
    assert lines(quality) == [
        ["Chroma", "50.0 / 60.0", "20.0 / 30.0"],
        ["`Memory`", "70.0 / 80.0", "20.0 / 30.0"],
    ]
    assert lines(cost) == [
        ["Chroma", "1.2", "2.0", "1500", "300.5", "90"],
        ["`Memory`", "1.2", "9.0", "400", "300.5", "90"],
    ]


def test_a_page_that_is_off_by_a_rounding_is_out_of_date(measured, monkeypatch):
    generate = importlib.import_module("generate")
    monkeypatch.setitem(measured.KINDS, "one", lambda: "0.76")
    text = "<!-- output: results one -->\n0.75\n<!-- /output -->"
    assert "0.76" in generate.filled(text, None, pytest.fail)
