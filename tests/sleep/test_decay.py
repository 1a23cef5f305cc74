from datetime import timedelta

import pytest

from priming.sleep.decay import plan_decay

from .making import DAY, NOW, link

HOUR = timedelta(hours=1)


def fading(weight, hours, relation="co-activated", **fields):
    return link("a", "b", relation, weight, last_activated=NOW - hours * HOUR, **fields)


def test_a_link_whose_weight_times_e_to_the_minus_rho_h_is_below_the_bar_goes():
    # .5 · e^(−.01 · 392) = .009919…, and at 391 hours .010018…: the bar is .01.
    assert [item.rows[0].after for item in plan_decay([fading(0.5, 392)], NOW)] == [None]
    assert plan_decay([fading(0.5, 391)], NOW) == []


def test_the_reason_gives_the_numbers():
    (planned,) = plan_decay([fading(0.5, 480)], NOW)
    assert planned.reason == "not active together for 20 days: 0.50 faded to 0.0041"  # .5 · e^−4.8
    assert planned.ids == ("a", "b")


@pytest.mark.parametrize("rest", [fading(0.1, 9999, "similar-to"), fading(0.1, 9999, given=True)])
def test_only_what_was_learnt_from_use_fades(rest):
    assert plan_decay([rest], NOW) == []


def test_a_link_that_was_never_active_again_counts_from_its_making():
    assert len(plan_decay([link("a", "b", "co-activated", 0.02, created_at=NOW - 30 * DAY)], NOW)) == 1


def test_a_clock_that_was_set_back_fades_nothing():
    assert plan_decay([fading(0.02, -9999)], NOW) == []
