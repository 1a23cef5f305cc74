"""How sure an answer is, as a function of what speaks for it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.config.params.recall import ConfidenceParams
from priming.errors import ParamError
from priming.recall.relevance.hits import confidence

share = st.floats(0.0, 1.0)


def test_it_is_the_logistic_function_of_the_weighted_sum():
    weights = ConfidenceParams(constant=-1.0, score=2.0, covered=1.0, cosine=0.5, rivalry=4.0, asks=-1.0)
    assert confidence(0.5, 1.0, 0.0, -0.25, 0.0, weights) == pytest.approx(0.5)  # −1 + 1 + 1 + 0 − 1 = 0
    assert confidence(0.5, 1.0, 0.0, 0.0, 0.0, weights) == pytest.approx(1 / (1 + math.exp(-1.0)))
    assert confidence(0.5, 1.0, 0.0, 0.0, 1.0, weights) == pytest.approx(0.5)


@given(st.floats(-5, 5), share, share, st.floats(-2, 2), st.floats(0.01, 1.0))
def test_more_of_anything_never_makes_an_answer_less_sure(score, covered, cosine, rivalry, more):
    before = confidence(score, covered, cosine, rivalry)
    assert 0.0 <= before <= 1.0
    assert confidence(score + more, covered, cosine, rivalry) >= before
    assert confidence(score, covered + more, cosine, rivalry) >= before
    assert confidence(score, covered, cosine + more, rivalry) >= before
    assert confidence(score, covered, cosine, rivalry + more) >= before
    assert confidence(score, covered, cosine, rivalry, 1.0) <= before


def test_extreme_scores_do_not_overflow():
    assert confidence(-1e6, 0.0, 0.0, 0.0) == 0.0
    assert confidence(1e6, 0.0, 0.0, 0.0) == 1.0


def test_what_is_not_a_number_is_refused():
    with pytest.raises(ParamError, match="cosine"):
        confidence(0.0, 0.0, math.nan, 0.0)
