"""Prepositions, particles, persons and determiners in which statements of the same words differ."""

import pytest

from priming.text.corrections.change import compare
from priming.text.corrections.small_words import small_difference


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Plead for the merger", "Plead against the merger"),
        ("Hang the sign over the door", "Hang the sign under the door"),
        ("Fly through the valley", "Fly around the valley"),
        ("Dial in the gain", "Dial out the gain"),
        ("Ramble on in reports", "Ramble off in reports"),
        ("Serve tea with milk", "Serve tea without milk"),
        ("Leap forward on a skip", "Leap back on a skip"),
        ("Opt the guests in", "Opt the guests out"),
    ],
)
def test_small_words_that_oppose_each_other_turn_a_rule_round(old, new):
    for change in (compare(old, new), compare(new, old)):
        assert change.kind in ("opposite", "other_slot"), change
        assert change.kind == "opposite" or change.coexists


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lend the badge to him", "Lend the badge to us"),
        ("Open my drawer", "Open their drawer"),
        ("Water these plants", "Water those plants"),
        ("Cut the fee by 3", "Cut the fee to 3"),
        ("Sing as Ada", "Sing for Ada"),
    ],
)
def test_another_person_or_preposition_is_another_value_that_review_lists(old, new):
    change = compare(old, new)
    assert (change.kind, change.clear) == ("other_value", False)


@pytest.mark.parametrize(
    ("old", "new"), [("Weigh all crates", "Weigh some crates"), ("Weigh any crate", "Weigh every crate")]
)
def test_another_quantity_replaces_a_rule(old, new):
    change = compare(old, new)
    assert (change.kind, change.clear) == ("other_value", True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Weigh crates in the hall", "Weigh crates inside the hall"),
        ("Never open any crate", "Never open all crates"),
        ("Use a scale as the gauge", "Use a scale for the gauge"),
        ("Test pumps with water", "Test pumps against water"),
        ("Weigh our crates", "Weigh the crates"),
        ("Never weigh crates without a seal", "Weigh crates with a seal"),
    ],
)
def test_small_words_that_say_the_same_make_no_difference(old, new):
    assert compare(old, new).kind == "same"


def test_a_particle_may_make_two_acts_of_a_verb():
    change = compare("Log in with a card", "Log out with a card")
    assert (change.kind, change.coexists) == ("other_slot", True)


def test_the_reason_quotes_the_small_words_with_a_neighbour():
    change = compare("Plead for the merger", "Plead against the merger")
    assert change.reason == '"against the merger" takes the place of "for the merger"'
    assert (
        small_difference("Opt out of mail", "Opt in to mail").reason
        == '"opt in to" takes the place of "opt out of"'
    )
