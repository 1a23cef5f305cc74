import math
from dataclasses import replace

import pytest
from tests.rows import each_row

from priming import BenchError
from priming_lab.contestants import SearchResult
from priming_lab.scoring import ScoredAnswer, columns, score_answer, summary

KEYS = ("D1:1", "D2:1", "D1:3")


def item(category="1", gold=("a",), labels=("a", "x", "y"), confidence=0.5, ms=1.0):
    """A question that was asked; labels are their own keys."""
    return ScoredAnswer("p", 0, category, frozenset(gold), labels, labels, None, confidence, ms)


@pytest.fixture
def of(small):
    """A set that counts the first place and the first two."""
    return replace(small, ks=(1, 2))


def test_figures_are_means_over_questions_by_category_and_the_headline_leaves_out_the_unanswerable(of):
    answers = [
        item("1", labels=("a", "x")),
        item("1", gold=("a", "b"), labels=("x", "b")),
        item("4", labels=("x", "y")),
        item("5", labels=("a",)),
    ]
    result = summary(answers, of)
    # The second question has one gold of two at place 2: its nDCG is (1/log₂3) / (1 + 1/log₂3) = .386853.
    gain = pytest.approx((1.0 + 0.386853) / 2, abs=1e-6)
    assert result.by_category["1"].values == {"R@1": 0.5, "R@2": 0.75, "nDCG@10": gain, "MRR": 0.75}
    assert result.by_category["4"].values == {"R@1": 0.0, "R@2": 0.0, "nDCG@10": 0.0, "MRR": 0.0}
    assert result.headline.questions == 3
    gain = pytest.approx((1.0 + 0.386853) / 3, abs=1e-6)
    assert result.headline.values == {"R@1": 1 / 3, "R@2": 0.5, "nDCG@10": gain, "MRR": 0.5}
    assert result.by_part["p"] == result.headline
    assert result.by_category["5"].values["R@1"] == 1.0


def test_times_are_the_median_and_the_99th_percentile_of_all_questions(of):
    result = summary([item(ms=float(ms)) for ms in range(101)], of)
    assert (result.median_ms, result.p99_ms) == (50.0, 99.0)


def test_auc_says_how_well_confidence_separates_and_silence_is_the_least_sure(of):
    answers = [
        item("1", confidence=0.9),
        item("4", confidence=0.3),
        item("5", confidence=0.3),
        item("5", confidence=None),
    ]
    # Of four pairs .9 > .3, .9 > silence, .3 = .3 and .3 > silence.
    assert summary(answers, of).auc == 3.5 / 4


def test_there_is_no_auc_where_nobody_says_how_sure_he_is_or_all_can_be_answered(of):
    assert summary([item("1", confidence=None), item("5", confidence=None)], of).auc is None
    assert summary([item("1"), item("2")], of).auc is None


def test_who_brings_nothing_up_is_counted_as_silent(of):
    result = summary([item(labels=()), item()], of)
    assert (result.headline.silent, result.headline.values["R@1"]) == (1, 0.5)


def test_a_set_without_a_question_is_an_error(of):
    with pytest.raises(BenchError, match="no question was asked"):
        summary([], of)


def test_columns_have_a_figure_a_question():
    answers = [item(labels=("a",)), item(labels=("x", "a"))]
    gains = [1.0, pytest.approx(0.630930, abs=1e-6)]  # 1 and 1/log₂3
    assert columns(answers, (1,)) == {"R@1": [1.0, 0.0], "nDCG@10": gains, "MRR": [1.0, 0.5]}


def answer(small, **supplied):
    part = small.parts[0]
    return score_answer(
        SearchResult(**{"keys": KEYS, "ms": 1.0} | supplied), part.queries[0], part, 7, 2.0, 3
    )


def test_an_answer_is_put_beside_its_question_with_the_time_it_took(small):
    result = answer(small, scores=(3.0, 2.0, 1.0))
    assert (result.gold, result.keys, result.labels, result.ms) == ({"D1:1"}, KEYS, KEYS, 2.0)
    assert result.confidence == 3.0


def test_what_a_contestant_says_of_its_confidence_stands_before_its_first_score(small):
    assert answer(small, scores=(3.0, 2.0, 1.0), confidence=0.25).confidence == 0.25


@each_row(
    ("supplied", "problem"),
    [
        ({"scores": (0.3, math.nan, 0.1)}, "scores and times must be finite, not nan"),
        ({"scores": (math.inf, 0.2, 0.1)}, "scores and times must be finite, not inf"),
        ({"ms": math.nan}, "scores and times must be finite"),
        ({"confidence": math.nan}, "scores and times must be finite"),
        ({"scores": (0.3,)}, "1 scores for 3 keys"),
        ({"keys": (*KEYS, "D1:2")}, "4 keys, at most 3 were asked for"),
        ({"keys": ("D1:1", "D1:1")}, "a key stands twice"),
        ({"keys": ("D7:7",)}, "the key 'D7:7' was never handed over"),
    ],
)
def test_an_answer_that_cannot_be_scored_is_an_error_that_names_the_question(small, supplied, problem):
    with pytest.raises(BenchError, match=f"question 7 of one: {problem}"):
        answer(small, **supplied)
