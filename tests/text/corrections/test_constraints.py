import pytest

from priming.text.corrections.constraints import depends_alike, has_condition, lifts


@pytest.mark.parametrize(
    ("constraint", "rule"),
    [
        ("Never amend commits", "Amend commits"),
        ("Do not mock the clock", "Mock the clock"),
        ("Never deploy without approval", "Deploy without approval"),
    ],
)
def test_what_is_forbidden_and_then_plainly_asked_for_is_lifted(constraint, rule):
    assert lifts(constraint, rule)


@pytest.mark.parametrize(
    ("constraint", "rule"),
    [
        ("Never deploy without approval", "Deploy with approval"),
        ("Never flush the cache while users are active", "Prefer flushing the cache with the admin command"),
        ("Never flush the cache while users are active", "Flush the cache after hours"),
        ("Never log passwords", "Log every request"),
    ],
)
def test_a_shared_verb_lifts_no_constraint(constraint, rule):
    assert not lifts(constraint, rule)


def test_a_condition_is_named_by_its_preposition():
    assert has_condition("Push only after a review")
    assert not has_condition("Push often")
    assert depends_alike("Never merge if it fails", "Merge if it fails")
