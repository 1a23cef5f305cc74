"""The tables of what was measured: made from small results that stand in a folder of their own."""

import importlib
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES = {
    "locomo": ("R@5", "R@10", "R@20", "MRR"),
    "hotpot": ("R@2", "R@5", "MRR"),
    "musique": ("R@2", "R@5", "MRR"),
}


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


def contestant(name, of="locomo", value=0.5, error=None, ablated=(), silent=0):
    """What the harness says of one contestant that has the same value for every figure."""
    if error is not None:
        return {"name": name, "ablated": [], "error": error}
    headline = {"questions": 4, "silent": silent, **dict.fromkeys(FIGURES[of], value)}
    return {
        "name": name,
        "ablated": list(ablated),
        "error": None,
        "headline": headline,
        "by_category": {"1": headline, "5": {"questions": 2, "silent": 1}},
        "median_ms": 3.0,
        "p99_ms": 9.0,
        "load_seconds": 1.0,
        "auc": 0.75,
        "costs": [{"share": 0.8, "whole": 1000.0, "budget": 100, "k": 3, "tokens": 120.0, "saved": 0.9}],
    }


def results(*contestants):
    return {"contestants": contestants, "settings": {"embedder": "words", "shuffled": False}}


def lines(text):
    """The cells of the rows of a table."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def test_a_result_that_is_missing_says_what_makes_it(measured):
    with pytest.raises(measured.Missing, match=r"fit\.json is missing: run python benchmarks/fit\.py"):
        measured.fit()


def test_a_result_that_is_no_json_says_so(measured, tmp_path):
    (tmp_path / "fit.json").write_text("{", "utf-8")
    with pytest.raises(measured.Missing, match=r"fit\.json is no JSON"):
        measured.fit()


def test_the_best_stands_first_and_ours_is_bold_below_floor_and_goal(measured, put):
    put("quality-locomo", results(contestant("priming", value=0.8), contestant("other", value=0.9)))
    made = measured.quality("locomo")
    rows = lines(made)
    at = [cell.strip() for cell in made.splitlines()[0].strip("|").split("|")].index("R@5")
    assert [row[0] for row in rows] == ["*floor*", "*goal*", "other", "**priming**"]
    assert rows[0][at] == f"*{measured.FLOORS['locomo']['R@5'][0]:g}*"
    assert rows[3][at] == "**80.0**"


def test_who_goes_without_a_term_or_could_not_run_is_in_no_table_of_figures(measured, put):
    gone = contestant("broken", error="cannot run at /home/somebody/store/file.db: no key")
    put(
        "quality-locomo", results(contestant("priming"), contestant("priming without x", ablated=["x"]), gone)
    )
    assert [row[0] for row in lines(measured.quality("locomo"))[2:]] == ["**priming**"]
    assert lines(measured.failed("locomo")) == [["broken", "cannot run at …/file.db: no key"]]


def test_where_everybody_could_run_that_is_said(measured, put):
    put("quality-locomo", results(contestant("priming")))
    assert measured.failed("locomo") == "Everybody could run."


def test_a_goal_is_told_as_reached_only_where_it_is(measured, put):
    for of in FIGURES:
        put(f"quality-{of}", results(contestant("priming", of, value=0.86)))
    told = {(row[0], row[1]): row[-1] for row in lines(measured.aims())}
    assert told["LoCoMo", "R@10"] == "goal reached"
    assert told["LoCoMo", "R@20"] == "-5.0"


def test_silence_is_counted_for_both_kinds_of_questions(measured, put):
    put("quality-locomo", results(contestant("priming", silent=1)))
    assert lines(measured.abstention()) == [["**priming**", "**0.750**", "**1 of 4**", "**1 of 2**"]]


def test_each_kind_of_material_stands_beside_the_plain_methods(measured, put):
    over = {"nDCG@10": {"mean": -0.1, "low": -0.2, "high": 0.0}}
    both = {"priming": {"nDCG@10": 0.6, "over_first": {}}, "plain bm25": {"nDCG@10": 0.5, "over_first": over}}
    of = {"measure": "nDCG@10", "sets": {"cosqa": {"questions": 7, "contestants": both}}}
    put("genres", {**of, "means": {"priming": 0.6, "plain bm25": 0.5}})
    assert lines(measured.genres()) == [
        ["cosqa: web query to function", "7", "60.0", "50.0 (-10.0 [-20.0, +0.0])"],
        ["**mean**", "", "**60.0**", "**50.0**"],
    ]


def test_the_short_table_holds_only_who_ran_on_every_set(measured, put):
    for of in FIGURES:
        more = [contestant("once", of)] if of == "hotpot" else []
        put(f"quality-{of}", results(contestant("priming", of, value=0.4), contestant("plain", of), *more))
    assert [row[0] for row in lines(measured.summary())] == ["**priming**", "plain"]


@pytest.mark.parametrize(("option", "now"), [("", "0.76"), (" slow", "0.75")])
def test_a_page_that_is_off_by_a_rounding_is_out_of_date_unless_it_is_slow(
    measured, monkeypatch, option, now
):
    generate = importlib.import_module("generate")
    monkeypatch.setitem(measured.KINDS, "one", lambda: "0.76")
    text = f"<!-- output: results one{option} -->\n0.75\n<!-- /output -->"
    assert now in generate.filled(text, None, pytest.fail, slow=False)
    assert "0.76" in generate.filled(text, None, pytest.fail)
