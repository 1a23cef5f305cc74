"""Triggers that tell what failed, those that forbid, and other things of the same name."""

import pytest

from priming.sleep.procedures.occasions import names_other_target, observed, rejects_trigger


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The queue does not drain", "The queue drain"),
        ("Cannot reach the mirror: no route", "reach the mirror: route"),
        ("The lock isn't released", "The lock released"),
        ("It fails, and the log won't rotate", "It fails, and the log rotate"),
    ],
)
def test_negations_that_tell_what_happened_are_left_out(text, plain):
    assert observed(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "Do not drain the queue",
        "Please don't reach for the mirror",
        "Never release the lock",
        "You must not rotate the log",
        "Drain the queue, but never twice",
        "Tell them not to rotate the log",
        "Release the lock without waiting",
    ],
)
def test_negations_that_forbid_stay(text):
    assert observed(text) == text


def test_an_objective_about_the_failure_does_not_reject_it():
    failure = "The queue does not drain"
    assert not rejects_trigger("Find out why the queue does not drain", failure)
    assert not rejects_trigger("Drain the queue", failure)
    assert rejects_trigger("Do not drain the queue", failure)
    assert rejects_trigger("Drain the queue", "Do not drain the queue")


@pytest.mark.parametrize(
    ("left", "right", "is_other"),
    [
        ("Back up the ledger", "Back up the other ledger", True),
        ("Back up the new ledger", "Back up the old ledger", True),
        ("Back up the new ledger", "Back up our new ledger", False),
        ("Back up the ledger", "Back up the ledger again", False),
        ("Write a ledger", "Write a new ledger", False),
        ("Back up the ledger", "Back up the ledger and start another job", False),
    ],
)
def test_a_word_before_a_name_makes_another_thing_unless_the_thing_is_made(left, right, is_other):
    assert names_other_target(left, right) is is_other
