"""Which behaviours stand, where some override or contradict others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.errors import ParamError
from priming.rules.conflicts import RuleClaim, RuleLoss, resolve_conflicts

PLAIN = RuleClaim(1, 0.0, 0.6)

claims = st.builds(
    RuleClaim,
    st.integers(0, 3),
    st.sampled_from([0.0, 5.0]),
    st.sampled_from([0.5, 1.0]),
    st.booleans(),
)
pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)
groups = st.lists(claims, min_size=5, max_size=5)


def claim(**more):
    return RuleClaim(**{"specificity": 1, "priority": 0.0, "confidence": 0.6, **more})


def test_without_links_no_rule_is_left_out():
    assert resolve_conflicts([PLAIN, PLAIN], [], []) == {}


def test_an_overridden_rule_is_left_out():
    assert resolve_conflicts([PLAIN, PLAIN, PLAIN], [(1, 0)], []) == {0: RuleLoss(1, "overridden")}


def test_an_overridden_rule_still_overrides_others():
    assert resolve_conflicts([PLAIN, PLAIN, PLAIN], [(2, 1), (1, 0)], []) == {
        0: RuleLoss(1, "overridden"),
        1: RuleLoss(2, "overridden"),
    }


@each_row(
    "stronger",
    [
        {"specificity": 2},
        {"priority": 1.0},
        {"confidence": 0.7},
        {"specificity": 2, "priority": -5.0, "confidence": 0.1},
        {"priority": 1.0, "confidence": 0.1},
    ],
)
def test_a_conflict_is_won_by_specificity_then_priority_then_confidence(stronger):
    assert resolve_conflicts([PLAIN, claim(**stronger)], [], [(0, 1)]) == {0: RuleLoss(1, "conflict")}
    assert resolve_conflicts([claim(**stronger), PLAIN], [], [(0, 1)]) == {1: RuleLoss(0, "conflict")}


def test_the_later_of_equal_rules_wins():
    assert resolve_conflicts([PLAIN, PLAIN], [], [(1, 0)]) == {0: RuleLoss(1, "conflict")}


def test_the_loser_of_a_conflict_wins_no_other():
    strong, middle, weak = claim(specificity=3), claim(specificity=2), claim(specificity=1)
    assert resolve_conflicts([weak, middle, strong], [], [(0, 1), (1, 2)]) == {1: RuleLoss(2, "conflict")}


def test_an_overridden_rule_wins_no_conflict():
    assert resolve_conflicts([claim(specificity=3), PLAIN, PLAIN], [(1, 0)], [(0, 2)]) == {
        0: RuleLoss(1, "overridden")
    }


def test_the_strongest_of_a_cycle_of_overrides_stays():
    circle = [PLAIN, claim(specificity=2), PLAIN]
    assert 1 not in resolve_conflicts(circle, [(0, 1), (1, 2), (2, 0)], [])
    assert resolve_conflicts([PLAIN, claim(priority=1.0)], [(0, 1), (1, 0)], []) == {
        0: RuleLoss(1, "conflict")
    }


def test_a_rule_that_may_not_instruct_removes_none_that_may():
    data, rule = claim(specificity=5, priority=9.0, instructs=False), PLAIN
    assert resolve_conflicts([data, rule], [(0, 1)], []) == {}
    assert resolve_conflicts([data, rule], [], [(0, 1)]) == {0: RuleLoss(1, "conflict")}
    assert resolve_conflicts([rule, data], [(0, 1)], []) == {1: RuleLoss(0, "overridden")}


@given(groups, pairs, pairs)
def test_at_least_one_rule_stays_and_none_that_stay_conflict(group, overrides, conflicts):
    fallen = resolve_conflicts(group, overrides, conflicts)
    standing = set(range(5)) - fallen.keys()
    assert standing
    assert not any(a in standing and b in standing for a, b in conflicts if a != b)


@given(groups, pairs, pairs)
def test_the_order_of_links_does_not_matter(group, overrides, conflicts):
    assert resolve_conflicts(group, overrides, conflicts) == resolve_conflicts(
        group, overrides[::-1], [(b, a) for a, b in conflicts[::-1]]
    )


def test_a_pair_outside_the_claims_is_refused():
    with pytest.raises(ParamError, match="must name two of 1 claims"):
        resolve_conflicts([PLAIN], [(0, 1)], [])
