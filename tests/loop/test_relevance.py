"""Whether lessons are told in other words, and are not told to their neighbours: with the vectors in use."""

import pytest

from priming import Memory
from priming.embedding.registry import named
from priming_loop.knowledge import lesson

LESSONS = (
    (
        "Rotate the signing certificate",
        "Replace the certificate that we sign with",
        "Revoke the signing certificate",
    ),
    (
        "Compress the backups before the upload",
        "Make the backups smaller before uploading them",
        "Restore a backup",
    ),
    ("Cache the results of the search", "Keep search results in a cache", "Log the queries of the search"),
    ("Split the invoice into pages", "Paginate the invoice", "Send the invoice to the customer"),
    (
        "Validate e-mail addresses at sign-up",
        "Check the e-mail address when users register",
        "Delete old e-mail",
    ),
    (
        "Move the cron jobs to systemd timers",
        "Convert the cron jobs into systemd timers",
        "List the cron jobs",
    ),
    ("Export the report as CSV", "Write the report to a CSV file", "Schedule the report for Mondays"),
    ("Drop support for Python 3.9", "End the support of Python 3.9", "Add support for Python 3.13"),
    (
        "Encrypt the customer table",
        "Store the table of customers encrypted",
        "Count the rows of the customer table",
    ),
    (
        "Throttle requests to the geocoder",
        "Limit how often we call the geocoder",
        "Mock the geocoder in tests",
    ),
)
"""The objective of a lesson, the same in other words, and a neighbour of it."""


@pytest.fixture(scope="module")
def memory():
    with Memory.open("sqlite://", embedder=named("semantic:onnx")) as memory:
        for objective, *_ in LESSONS:
            memory.remember(
                **lesson("failure", f"{objective}: it broke", f"Mind {objective[::-1]}"), key=objective
            )
        yield memory


def shown_at(memory, which):
    """The lessons of which the own objective is told, and those that are said to apply, at a text beside each."""
    contexts = [(row[0], memory.loop_context(row[which]).memory) for row in LESSONS]
    keys = {row[0]: memory.get(row[0]).key for row in LESSONS}
    return [keys[own] in context.injected_names for own, context in contexts], [
        keys[own] in context.fired for own, context in contexts
    ]


def test_eight_of_ten_paraphrases_bring_their_lesson_and_it_applies_here(memory):
    shown, applying = shown_at(memory, 1)
    assert (sum(shown) >= 8, sum(applying) >= 8) == (True, True), (shown, applying)


def test_two_of_ten_neighbours_at_most_bring_it(memory):
    shown, applying = shown_at(memory, 2)
    assert (sum(shown) <= 2, sum(applying) <= 1) == (True, True), (shown, applying)


def test_nothing_else_is_told_with_it(memory):
    for objective, paraphrase, _ in LESSONS:
        (key,) = memory.loop_context(objective).memory.injected_names
        assert set(memory.loop_context(paraphrase).memory.injected_names) <= {key}


@pytest.mark.parametrize(
    ("first", "paraphrase", "other_action"),
    [
        ("Repot the orchids", "Put the orchids in new pots", "Water the orchids"),
        ("Resize the disk of the mail server", "Enlarge the disk of the mail server", "Back up that disk"),
        (
            "Let users change their e-mail address",
            "Allow people to edit their email",
            "Verify e-mail addresses",
        ),
        ("Seed the staging database", "Fill the staging database", "Dump the staging database"),
        ("Book a table for the team", "Reserve a table for the team", "Pay for the table of the team"),
    ],
)
def test_another_action_on_the_same_thing_is_not_taken_for_a_paraphrase(first, paraphrase, other_action):
    with Memory.open("sqlite://", embedder=named("semantic:onnx")) as memory:
        memory.remember(**lesson("failure", f"{first}: it broke", "Take your time"))
        assert memory.loop_context(paraphrase).memory.fired
        assert memory.loop_context(other_action).memory.injected_names == ()


@pytest.mark.parametrize("objective", ["Remove dark mode from the dashboard", "Add a chart to the dashboard"])
def test_a_lesson_does_not_apply_to_the_opposite_or_to_the_words_of_its_obstacle(objective):
    with Memory.open("sqlite://", embedder=named("semantic:onnx")) as memory:
        memory.loop_store(
            "Add dark mode to the dashboard: charts stay white", "Read the colours from variables"
        )
        assert memory.loop_context(objective).memory.fired == ()
        assert memory.loop_context("Give the dashboard a dark mode").memory.fired


def test_what_failed_at_other_actions_on_a_thing_is_no_failure_of_this_one():
    thing = "the image of the ferry timetable service"
    with Memory.open("sqlite://", embedder=named("semantic:onnx")) as memory:
        for objective in (f"Push {thing}", f"Scan {thing}"):
            session = memory.loop_task_new_session(objective).session_id
            memory.loop_task_add(session, 1, objective)
            memory.loop_task_block(session, 1, "The registry answered 403.")
        other, own = (memory.loop_context(f"{action} {thing}") for action in ("Sign", "Push"))
        assert (other.failed, other.ways) == (0, ())
        assert (own.failed, own.ways[0]) == (1, f"Push {thing}")
