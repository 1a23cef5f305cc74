import sys
import xml.etree.ElementTree as ElementTree
from contextlib import nullcontext
from dataclasses import replace

import pytest

from priming import MissingExtra
from priming_lab import plots
from priming_lab.contestants import BENCH
from priming_lab.run import BenchPlan, run

pytestmark = pytest.mark.slow  # matplotlib takes seconds to import

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def result(small, embedder):
    """A run with everything that can be drawn."""
    params = replace(BENCH, hits=3, deep=6)
    plan = BenchPlan(ablate=["spread"], baselines=["bm25"], token_costs=True, params=params)
    return run(small, embedder, plan, lambda _: nullcontext(lambda _done, _total: None))


def words(path):
    """The texts of a drawing, which must be XML."""
    return [item.text for item in ElementTree.fromstring(path.read_bytes()).iter(f"{SVG}text")]


def test_every_figure_is_an_svg_with_named_axes_and_a_line_a_contestant(result, tmp_path):
    by_k, by_tokens, ablations = plots.write_figures(result, tmp_path / "made")
    assert [path.name for path in (by_k, by_tokens, ablations)] == [
        "locomo-quality-by-k.svg",
        "locomo-quality-by-tokens.svg",
        "locomo-ablations.svg",
    ]
    assert {"priming", "plain bm25", "k, hits", "share of the evidence"} <= set(words(by_k))
    assert "priming without spread" not in words(by_k)
    assert {"priming", "plain bm25", "tokens"} <= set(words(by_tokens))
    assert "without spread" in words(ablations)


def test_the_same_figures_give_the_same_bytes(result, tmp_path):
    item, other = (plots.write_figures(result, tmp_path / name) for name in "ab")
    assert [path.read_bytes() for path in item] == [path.read_bytes() for path in other]


def test_no_figure_has_a_ground_of_its_own_or_black_ink(result, tmp_path):
    for path in plots.write_figures(result, tmp_path):
        drawn = path.read_text("utf-8")
        assert "fill: #ffffff" not in drawn
        assert "stroke: #000000" not in drawn


def test_what_was_not_measured_is_not_drawn(result, tmp_path):
    bare = replace(result, rows=[replace(result.rows[0], curve=())])
    assert [path.name for path in plots.write_figures(bare, tmp_path)] == ["locomo-quality-by-k.svg"]


def test_latency_is_drawn_by_size(tmp_path):
    drawn = plots.latency([plots.Curve("ours", [(10, 1.0), (1000, 3.0)])], "recall by size")
    (path,) = plots.save_figures({"latency.svg": drawn}, tmp_path)
    assert {"recall by size", "memories", "median ms a search"} <= set(words(path))


def test_of_many_lines_the_highest_are_named_and_the_others_counted(tmp_path):
    curves = [plots.Curve(f"line {i}", [(1, 0.0), (2, i / 20)]) for i in range(12)]
    drawn = plots.lines(curves, "many", "k", "share")
    (path,) = plots.save_figures({"many.svg": drawn}, tmp_path)
    assert [word for word in words(path) if word.startswith(("line", "4 "))] == [
        *(f"line {i}" for i in range(11, 3, -1)),
        "4 others",
    ]


def test_tens_on_an_axis_are_written_out(tmp_path):
    drawn = plots.lines([plots.Curve("one", [(100, 0.1), (10_000, 0.9)])], "t", "x", "y", logarithmic=True)
    (path,) = plots.save_figures({"one.svg": drawn}, tmp_path)
    assert {"100", "200", "500", "1,000", "10,000"} <= set(words(path))


def test_without_matplotlib_the_extra_is_named(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="figures of a benchmark needs the extra 'lab'"):
        plots.by_k(result)
