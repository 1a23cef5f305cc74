import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.metacognition import Assessment, assess
from priming.errors import ParamError

YES, NO = True, False


@each_row(
    ("outcomes", "state", "advice", "confidence"),
    [
        ([], "no_data", "keep_going", "medium"),
        ([YES], "healthy", "keep_going", "high"),
        ([NO, NO, YES, YES], "healthy", "keep_going", "high"),
        ([NO], "struggling", "slow_down", "medium"),
        ([YES, YES, NO], "struggling", "slow_down", "medium"),
        ([NO, NO], "struggling", "consider_pivot", "medium"),
        ([NO, NO, YES], "struggling", "consider_pivot", "medium"),
        ([YES, YES, NO, NO, NO], "failing", "pivot_now", "high"),
        ([NO, NO, NO], "failing", "pivot_now", "high"),
    ],
)
def test_a_session_is_assessed_by_its_last_failures_and_its_rate(outcomes, state, advice, confidence):
    result = assess(outcomes)
    assert (result.state, result.advice, result.confidence) == (state, advice, confidence)


def test_the_rate_is_rounded_to_three_decimals_and_missing_without_outcomes():
    assert assess([YES, YES, NO]).success_rate == 0.667
    assert assess([]).success_rate is None


def test_a_rate_of_two_in_five_is_not_below_two_fifths():
    assert assess([NO, NO, NO, YES, YES]).advice == "keep_going"


def test_the_rate_decides_before_it_is_rounded():
    outcomes = [NO] * 1501 + [YES] * 1000
    assert assess(outcomes).success_rate == 0.4
    assert assess(outcomes).advice == "consider_pivot"


def test_words_and_booleans_say_the_same():
    words = ["success", "failure", "failure"]
    assert assess(words) == assess([YES, NO, NO]) == assess(np.array([YES, NO, NO]))
    assert assess(iter(words)).consecutive_failures == 2


@given(st.lists(st.booleans(), max_size=30))
def test_the_assessment_is_the_first_rule_that_holds(outcomes):
    tail = 0
    while tail < len(outcomes) and not outcomes[-1 - tail]:
        tail += 1
    rate = sum(outcomes) / len(outcomes) if outcomes else None
    if rate is None:
        expected = Assessment("no_data", "keep_going", None, "medium", 0)
    elif tail >= 3:
        expected = Assessment("failing", "pivot_now", round(rate, 3), "high", tail)
    elif rate < 0.4 and len(outcomes) >= 2:
        expected = Assessment("struggling", "consider_pivot", round(rate, 3), "medium", tail)
    elif tail:
        expected = Assessment("struggling", "slow_down", round(rate, 3), "medium", tail)
    else:
        expected = Assessment("healthy", "keep_going", round(rate, 3), "high", 0)
    assert assess(outcomes) == expected


@each_row("outcome", ["blocked", None, 1, 0.5])
def test_an_outcome_that_is_none_is_named(outcome):
    with pytest.raises(
        ParamError, match=re.escape(f"outcomes = {outcome!r}: must be true, false, success or")
    ):
        assess([True, outcome])
