"""Subgoals: which repeat an earlier one, and when another impasse is no progress."""

import pytest

from priming import Memory
from priming.embedding.registry import named
from priming_loop.planning import is_repeated
from priming_loop.session_store import Sessions
from priming_loop.steps.report import report

from .scripted_runs import FAILS, PASSES, Runs, blocked, delivered, impasse, planned


@pytest.fixture
def knowing():
    """A memory whose vectors know meaning."""
    with Memory.open("sqlite://", embedder=named("semantic:onnx")) as memory:
        yield memory


@pytest.mark.parametrize(
    ("subgoal", "earlier"),
    [
        ("Learn how the lexer works", "Find out how the lexer works"),
        ("Understand the way the lexer works", "Find out how the lexer works"),
        ("Determine why the build fails", "Identify the cause of the failing build"),
        ("Find out what is required", "Clarify the requirements"),
        ("Get the credentials of the API!", "Please get the API credentials"),
    ],
)
def test_a_subgoal_in_other_words_is_a_repetition(knowing, subgoal, earlier):
    assert is_repeated(knowing, subgoal, ["Paint the fence", earlier])
    assert is_repeated(knowing, earlier, [subgoal])


@pytest.mark.parametrize(
    ("subgoal", "earlier"),
    [
        ("Find out how the lexer works", "Find out how the linker works"),
        ("Find the file of the lexer", "Find out how the lexer works"),
        ("Find the tin opener", "Find out how the tin opens"),
        ("Fill the test database", "Make a test database"),
        ("Write the docs of the build tool", "Read the docs of the build tool"),
        ("Find page 2", "Find page 1"),
        ("Migrate the table orders", "Migrate the table users"),
        ("Fix the failing build", "Find the cause of the failing build"),
    ],
)
def test_a_subgoal_about_something_else_is_no_repetition(memory, subgoal, earlier):
    assert not is_repeated(memory, subgoal, [earlier])


def test_a_subgoal_about_another_number_is_not_a_repetition(memory):
    pump = "Find the manual of the old pump number {} in the cellar of the house by the lake"
    assert is_repeated(memory, pump.format(7), [pump.format(7) + "."])
    assert not is_repeated(memory, pump.format(8), [pump.format(7)])


def test_an_agent_that_answers_every_impasse_with_the_same_subgoal_in_other_words_stops_soon(
    knowing, tmp_path
):
    runs = Runs(knowing, tmp_path)
    goals = iter(("Find out how it opens", "Learn how it opens", "Determine the way it opens"))
    session = runs.run(lambda _prompt, _schema: impasse(next(goals)), "Open the tin")
    assert (session.ended, len(session.children), len(runs.agent.prompts)) == ("pivot", 1, 2)
    (stored,) = runs.memory.list(kinds=["failure"])
    assert "makes no progress" in stored.metadata["trigger"]
    assert report(Sessions(runs.memory), session).next_command.endswith("--answer TEXT")


def test_an_impasse_after_a_subgoal_that_led_to_no_task_is_no_progress(runs):
    goals = iter(("Look at the shelf", "Ask the owner", "Read a manual", "Wait for rain", "Dig"))
    session = runs.run(lambda _prompt, _schema: impasse(next(goals)), "Open the tin")
    assert (session.ended, len(runs.agent.prompts)) == ("pivot", 4)
    assert "led to no task" in session.why


def test_an_impasse_after_a_subgoal_that_was_tried_is_another_approach(runs):
    answers = [
        impasse("Ask the owner"),
        planned(("Write a letter", FAILS)),
        blocked(),
        impasse("Read a manual"),
        planned(("Look it up", PASSES)),
        delivered("Turn it."),
        planned(("Turn it", PASSES)),
        delivered(),
    ]
    assert runs.run(answers, "Open the tin").ended == "delivered"
