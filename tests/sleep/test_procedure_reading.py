import pytest
from tests.rows import each_row

from priming.sleep.procedures import read_procedure, steps_as_text


def steps_of(content, metadata):
    return read_procedure(None, content, metadata).steps


@each_row(
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


@each_row(
    "text",
    [
        "Clear the disk: 1. Stop it. 2. Delete it.",
        "Clear the disk\n- Stop it.\n- Delete it.",
        "Clear the disk:\nStop it.\nDelete it.",
        "Clear the disk: Stop it. Delete it.",
        "Clear the disk:\n1. Stop it.\n2. Delete it.",
    ],
)
def test_what_stands_before_the_steps_is_the_title(text):
    procedure = read_procedure(None, text, {})
    assert (procedure.title, procedure.steps) == ("Clear the disk", ("Stop it.", "Delete it."))


@pytest.mark.parametrize(
    "text", ["Clear it: stop it, clean it, and start it", "Clear it: stop it -> clean it -> start it"]
)
def test_a_title_can_be_followed_by_a_list(text):
    assert read_procedure(None, text, {}).steps == ("stop it", "clean it", "start it")


def test_a_number_at_the_end_of_a_step_is_no_number_of_a_step():
    assert steps_of("1. Connect it.\n2. Flash firmware 7.\n3. Disconnect it.", {})[1] == "Flash firmware 7."
    assert steps_of("1. Wait 2. 2. Stop it. 3. Use version 4.", {}) == (
        "Wait 2.",
        "Stop it.",
        "Use version 4.",
    )


def test_a_heading_and_a_text_beside_listed_steps_are_the_title():
    listed = {"steps": ["Stop it.", "Delete it."], "trigger": "the disk is full"}
    procedure = read_procedure("Disk", "Clear the disk.", listed)
    assert (procedure.title, procedure.trigger) == ("Disk. Clear the disk.", "the disk is full")
    assert read_procedure(None, "1. Stop it. 2. Delete it.", listed).title == ""


def test_a_title_stays_where_steps_are_written_again():
    text, _ = steps_as_text(
        "Clear the disk: 1. Stop it. 2. Delete it.", ("Stop it.", "Look.", "Delete it."), {}
    )
    assert text == "Clear the disk:\n1. Stop it.\n2. Look.\n3. Delete it."
