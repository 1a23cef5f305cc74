import math
import re
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.params.laws import SCORE
from priming.core import score
from priming.core.score import (
    context_score,
    effectiveness,
    fact_activation,
    feedback_ratio,
    outcome_value,
    partial_activation,
    priority_score,
    rule_boost,
    specificity_activation,
    success_rate,
)
from priming.errors import ParamError

shares = st.floats(0, 1)
counts = st.integers(0, 1000)

# Each blend with the weights of LAWS in the order of its arguments.
BLENDS = [
    (score.floop, ["context", "base", "feedback", "priority"], [0.35, 0.30, 0.15, 0.20]),
    (score.synapse, ["semantic", "activation", "centrality"], [0.5, 0.3, 0.2]),
    (score.arc, ["relevance", "effectiveness", "recency"], [0.5, 0.3, 0.2]),
    (score.episode, ["semantic", "recency", "outcome", "importance"], [0.4, 0.25, 0.2, 0.15]),
    (score.fact, ["semantic", "activation", "retrievability"], [0.4, 0.35, 0.25]),
    (score.procedure, ["semantic", "success_rate", "recency"], [0.5, 0.3, 0.2]),
]


@pytest.mark.parametrize(("law", "names", "weights"), BLENDS)
@given(st.data())
def test_a_blend_is_the_weighted_sum_of_its_components_in_order(law, names, weights, data):
    values = [data.draw(shares) for _ in names]
    result = law(**dict(zip(names, values, strict=True)))
    expected = math.fsum(w * v for w, v in zip(weights, values, strict=True))
    assert result.total == pytest.approx(expected, abs=1e-12)
    assert -1e-12 <= result.total <= 1 + 1e-12
    assert list(result.components.items()) == list(zip(names, values, strict=True))
    assert law(*values) == result


@each_row(("law", "names", "weights"), BLENDS)
def test_all_ones_score_one_and_all_zeros_nothing(law, names, weights):
    assert law(*[1.0 for _ in names]).total == pytest.approx(1, abs=1e-12)
    assert law(*[0.0 for _ in weights]).total == 0


@each_row(("law", "names", "weights"), BLENDS)
def test_a_blend_over_arrays_equals_a_loop_over_scalars(law, names, weights):
    rows = np.linspace(0, 1, 3 * len(names)).reshape(len(names), 3)
    result = law(*rows)
    assert result.total.tolist() == [law(*column).total for column in rows.T.tolist()]
    assert result.components[names[0]].tolist() == rows[0].tolist()
    assert len(weights) == len(result.components)
    assert law(*rows[:-1], 0.5).total.shape == (3,)


@each_row(
    ("law", "rest"),
    [(score.synapse, 2), (score.arc, 2), (score.episode, 3), (score.fact, 2), (score.procedure, 2)],
)
def test_cosines_are_clamped_at_zero_and_forgiven_for_rounding(law, rest):
    others = [0.5] * rest
    assert law(-0.4, *others) == law(0.0, *others)
    assert law(1.0 + 1e-7, *others) == law(1.0, *others)


def test_a_score_cannot_be_changed():
    result = score.poc(0.5, 0.5)
    with pytest.raises(FrozenInstanceError):
        result.total = 1.0
    with pytest.raises(TypeError):
        result.components["activation"] = 1.0


# floop


def test_a_boost_multiplies_the_floop_score():
    assert score.floop(1, 0.5, 0.5, 0.3).total == pytest.approx(0.635, abs=1e-12)
    assert score.floop(1, 0.5, 0.5, 0.3, boost=rule_boost("constraint")).total == pytest.approx(
        1.27, abs=1e-12
    )


@each_row(
    ("rule", "boost"),
    [("constraint", 2.0), ("directive", 1.5), ("procedure", 1.2), ("preference", 1.0), (None, 1.0)],
)
def test_rules_are_boosted_by_kind(rule, boost):
    assert rule_boost(rule) == boost


# Ethos


def test_ethos_adds_the_raw_spread_and_the_share_of_links():
    result = score.ethos(0.8, 1.275, 1, 2)
    assert result.total == pytest.approx(0.5 * 0.8 + 0.3 * 1.275 + 0.2 * 0.5, abs=1e-12)
    assert dict(result.components) == {"cosine": 0.8, "spread": 1.275, "in_degree": 0.5}


def test_ethos_without_any_links_has_no_structure():
    assert score.ethos(0.8, 0.0, 0, 0).total == pytest.approx(0.4, abs=1e-12)


def test_ethos_over_arrays_shares_one_greatest_degree():
    result = score.ethos([0.9, -0.2], [0.0, 2.0], [0, 4], 4)
    assert result.total == pytest.approx([0.45, 0.8], abs=1e-12)
    assert result.components["cosine"].tolist() == [0.9, 0.0]


def test_ethos_takes_the_configured_weights():
    weights = {"cosine": 0.2, "spread": 0.3, "in_degree": 0.5}
    assert score.ethos(1.0, 0.0, 1, 1, weights=weights).total == pytest.approx(0.7, abs=1e-12)


# poc-memory and World Weaver


def test_poc_is_the_product_and_does_not_cap_activation():
    assert score.poc(1.5, 0.5).total == 0.75
    assert score.poc([0.0, 2.0], 1.0).total.tolist() == [0.0, 2.0]


def test_a_facts_activation_is_squashed_about_zero():
    assert fact_activation(0.0) == 0.5
    assert fact_activation(2.0) == pytest.approx(1 / (1 + math.exp(-2)), abs=1e-12)


@each_row(("name", "value"), [("success", 1.0), ("partial", 0.83), ("neutral", 0.83), ("failure", 0.67)])
def test_outcomes_have_the_seeds_values(name, value):
    assert outcome_value(name) == value


# the default profile


@given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(shares, st.floats(0.01, 1)), min_size=1))
def test_priming_is_the_weighted_sum_of_named_components(terms):
    total = math.fsum(weight for _, weight in terms.values())
    weights = {name: weight / total for name, (_, weight) in terms.items()}
    components = {name: value for name, (value, _) in terms.items()}
    result = score.priming(components, weights)
    expected = math.fsum(weights[name] * components[name] for name in terms)
    assert result.total == pytest.approx(expected, abs=1e-12)
    assert dict(result.components) == components


def test_priming_takes_components_and_weights_in_any_order():
    item = score.priming({"a": 1.0, "b": 0.0}, {"a": 0.7, "b": 0.3})
    other = score.priming({"b": 0.0, "a": 1.0}, {"b": 0.3, "a": 0.7})
    assert item.total == other.total == 0.7


def test_blends_whose_weights_do_not_sum_to_one_cannot_be_made():
    with pytest.raises(ParamError, match=re.escape("weights must sum to 1, not 0.9")):
        replace(SCORE, arc=(("relevance", 0.5), ("effectiveness", 0.2), ("recency", 0.2)))


# helpers


def test_effectiveness_is_the_share_that_helped_and_neutral_without_feedback():
    assert effectiveness(3, 1) == 0.75
    assert effectiveness(0, 2) == 0
    assert effectiveness([0, 1], [0, 0]).tolist() == [0.5, 1.0]


def test_success_rate_is_neutral_without_executions():
    assert success_rate(3, 4) == 0.75
    assert success_rate([0, 0], [0, 5]).tolist() == [0.5, 0.0]


def test_feedback_needs_three_signals():
    assert feedback_ratio(2, 0, 0) == 0.5
    assert feedback_ratio(2, 0, 1) == pytest.approx(2 / 3, abs=1e-12)
    assert feedback_ratio(1, 1, 2) == 0.5
    assert feedback_ratio(0, 0, 3) == 0
    assert feedback_ratio([0, 3], 0, [2, 1]).tolist() == [0.5, 0.75]


def test_priorities_are_tenths_between_nothing_and_one():
    assert priority_score([-3, 0, 3, 10, 12]).tolist() == [0.0, 0.0, 0.3, 1.0, 1.0]


def test_context_is_the_share_of_confirmed_predicates_and_neutral_without_any():
    assert context_score(1, 4) == 0.25
    assert context_score([0, 0, 2], [0, 2, 2]).tolist() == [0.5, 0.0, 1.0]


def test_more_predicates_make_a_stronger_seed():
    assert specificity_activation(range(8)).tolist() == [0.3, 0.4, 0.6, 0.8, 0.9, 1.0, 1.0, 1.0]
    assert specificity_activation(2) == 0.6


def test_a_partly_confirmed_seed_lies_between_15_percent_and_its_full_activation():
    assert partial_activation(0, 0) == 0.3
    assert partial_activation(0, 3) == 0.15
    assert partial_activation(3, 3) == 0.8
    assert partial_activation(1, 2) == pytest.approx(0.15 + 0.5 * (0.6 - 0.15), abs=1e-12)
    assert partial_activation([0, 1, 2], 2) == pytest.approx([0.15, 0.375, 0.6], abs=1e-12)


@given(counts, counts)
def test_ratios_stay_between_nothing_and_one(a, b):
    several, every = sorted((a, b))
    for ratio in (effectiveness(a, b), success_rate(several, every), context_score(several, every)):
        assert 0 <= ratio <= 1
    assert 0.15 <= partial_activation(several, every) <= specificity_activation(every)


@each_row(
    ("call", "message"),
    [
        (lambda: score.floop(1.1, 0, 0, 0), "context = 1.1: must be in [0, 1]"),
        (lambda: score.floop(1, math.nan, 0, 0), "base = nan: must be in [0, 1]"),
        (lambda: score.floop(1, 0, 0, 0, boost=-1), "boost = -1.0: must be finite and ≥ 0"),
        (lambda: score.ethos(1.1, 0, 0, 0), "cosine = 1.1: must be in [-1, 1]"),
        (lambda: score.ethos(0.5, -0.1, 0, 0), "spread = -0.1: must be finite and ≥ 0"),
        (lambda: score.ethos(0.5, 0, [1, 3], 2), "in_degree = 3.0: must be ≤ max_in_degree"),
        (lambda: score.synapse(0.5, 1.2, 0), "activation = 1.2: must be in [0, 1]"),
        (lambda: score.poc(-1, 0.5), "activation = -1.0: must be finite and ≥ 0"),
        (lambda: score.poc(1, 1.5), "node_weight = 1.5: must be in [0, 1]"),
        (lambda: score.arc(0.5, -0.1, 0), "effectiveness = -0.1: must be in [0, 1]"),
        (lambda: score.episode(0.5, 0, 2, 0), "outcome = 2.0: must be in [0, 1]"),
        (lambda: score.fact(0.5, -3.0, 0), "activation = -3.0: must be in [0, 1]"),
        (lambda: score.procedure(0.5, 0, [0, 7]), "recency = 7.0: must be in [0, 1]"),
        (lambda: score.priming({"a": 1.5}, {"a": 1.0}), "a = 1.5: must be in [0, 1]"),
        (lambda: score.priming({"a": 1}, {"a": 0.9}), "weights = {'a': 0.9}: must sum to 1, not 0.9"),
        (lambda: score.priming({"a": 1, "b": 1}, {"a": 1.0}), "weights = ['a']: must name a, b"),
        (
            lambda: score.priming({"a": 1, "b": 1}, {"a": 2.0, "b": -1.0}),
            "weights['b'] = -1.0: must be finite",
        ),
        (lambda: score.priming([1.0], {"a": 1.0}), "components = [1.0]: must be a mapping"),
        (lambda: effectiveness(-1, 2), "helped = -1.0: must be finite and ≥ 0"),
        (lambda: success_rate(5, 4), "successes = 5.0: must be ≤ executions"),
        (lambda: feedback_ratio(1, 1, -1), "overridden = -1.0: must be finite and ≥ 0"),
        (lambda: priority_score(math.nan), "p = nan: must be finite"),
        (lambda: context_score(3, 2), "confirmed = 3.0: must be ≤ total"),
        (lambda: partial_activation(3, 2), "confirmed = 3.0: must be ≤ total"),
        (lambda: specificity_activation(1.5), "n = 1.5: must be whole numbers ≥ 0"),
        (lambda: specificity_activation(-1), "n = -1.0: must be finite and ≥ 0"),
        (lambda: outcome_value("won"), "name = 'won': must be one of success, partial, neutral, failure"),
        (lambda: outcome_value(None), "name = None: must be one of"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ParamError, match=re.escape(message)):
        call()
