import pytest

from priming.sleep.skill import merge_steps, steps_as_text, steps_of


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1. Stop it. 2. Delete it.", ("Stop it.", "Delete it.")),
        ("1) Stop it\n2) Delete it", ("Stop it", "Delete it")),
        ("- Stop it\n- Delete it", ("Stop it", "Delete it")),
        ("Step 1: Stop it\nStep 2: Delete it", ("Stop it", "Delete it")),
        ("Stop it. Delete it.", ("Stop it.", "Delete it.")),
        ("Stop it", ("Stop it",)),
    ],
)
def test_steps_are_read_from_a_text(text, steps):
    assert steps_of(text, {}) == steps


def test_steps_that_are_listed_count():
    assert steps_of("How to stop it", {"steps": ["Stop", " Delete "]}) == ("Stop", "Delete")
    assert steps_of("Stop it.", {"steps": "no list"}) == ("Stop it.",)


def test_what_is_written_is_read_again():
    text, metadata = steps_as_text("Stop it.", ("Stop it.", "Delete it."), {"ticket": 7})
    assert steps_of(text, metadata) == ("Stop it.", "Delete it.")
    assert metadata == {"ticket": 7}


def test_steps_that_are_listed_are_listed_again_and_the_text_stays():
    text, metadata = steps_as_text(
        "How to stop it", ("Stop it.", "Delete it."), {"steps": ["Stop it."], "ticket": 7}
    )
    assert (text, metadata) == ("How to stop it", {"steps": ["Stop it.", "Delete it."], "ticket": 7})


def test_steps_are_merged_in_order_without_repeats():
    assert merge_steps(("a", "b", "d"), ("A.", "c", "D", "e", "e")) == ("a", "b", "c", "d", "e")
    assert merge_steps(("a",), ()) == ("a",)
