"""The memory of the loop in the form of its seed, over days: fading, pruning, merging."""

from datetime import timedelta

import pytest

from priming.errors import ParamError
from priming.types import Cue
from priming_loop.steps.lessons import memory_shape

TRIGGER, RESOLUTION = "The gate hangs on grandchildren", "Kill the whole process group"


def store(memory, trigger=TRIGGER, type="failure"):
    return memory.loop_store(trigger, RESOLUTION, type=type).name


def judge(memory, name, used, unused):
    for good in [True] * used + [False] * unused:
        memory.loop_feedback([name] if good else [], [name])


def test_recall_sinks_by_half_a_recency_in_seven_days(memory, clock):
    store(memory)
    (before,) = memory.loop_recall("a gate that hangs")
    clock.at += timedelta(days=7)
    (after,) = memory.loop_recall("a gate that hangs")
    assert (before.recency, after.recency) == (1.0, 0.5)
    # Recency weighs .2 (docs/laws.md).
    assert before.score - after.score == pytest.approx(0.1, abs=0.002)


def test_a_memory_that_is_no_lesson_is_shaped_by_its_own_words(memory):
    key = memory.remember("Zebras graze. They do so at noon.", kind="fact").key
    shaped = memory_shape(memory.get(key))
    assert (shaped.trigger, shaped.resolution) == ("Zebras graze.", "Zebras graze. They do so at noon.")


def test_the_context_of_an_objective_needs_no_folder_and_takes_a_cue_in_its_place(memory):
    store(memory, "Release the parser to the registry")
    rule = memory.remember("Sign the parcel.", kind="pattern", when={"language": "go"}).key
    plain = memory.loop_context("Release the parser to the registry")
    assert plain.memory.injected_names == ("release-the-parser-to-the-registry",)
    assert plain.memory.fired == plain.memory.injected_names
    assert (plain.codebase.files, plain.codebase.languages) == (0, ())
    for cue, fires in ((Cue(language="go"), True), (Cue(language="python"), False)):
        assert (rule in memory.loop_context("Wrap a parcel", cue=cue).memory.fired) is fires


@pytest.mark.parametrize("folder", ["here", "/no/such/folder"])
def test_a_folder_is_an_absolute_path_that_exists(memory, folder):
    with pytest.raises(ParamError, match="absolute path of an existing folder"):
        memory.loop_context("Mend it", folder=folder)


def test_what_cannot_be_a_lesson_is_refused_and_nothing_is_stored(memory):
    for trigger, resolution, kind in (
        ("short", "x", "failure"),
        (TRIGGER, " ", "failure"),
        (TRIGGER, "x", "fact"),
    ):
        with pytest.raises(ParamError):
            memory.loop_store(trigger, resolution, type=kind)
    assert memory.list() == []


def test_a_success_becomes_a_pattern_once(memory):
    message = {"task": "Mend the gate", "outcome": "Success", "approach": RESOLUTION}
    first, again = memory.loop_chunk(**message), memory.loop_chunk(**message)
    assert (first.status, again.status) == ("added", "strengthened")
    assert first.stored == again.strengthened
    assert memory.loop_chunk(**{**message, "outcome": "failed"}).status == "skipped"
    with pytest.raises(ParamError, match="one of the two"):
        memory.loop_chunk("session", task="Mend the gate")


def test_a_failure_that_is_stored_again_has_not_helped_and_a_pattern_has(memory):
    for type_, helped in (("failure", 0), ("pattern", 1)):
        trigger = f"Publishing the wheel as a {type_} is refused: 403"
        names = {memory.loop_store(trigger, "Export a token first", type=type_).name for _ in range(2)}
        (name,) = names
        assert memory.get(name).use.helped == helped


def test_a_session_whose_patterns_are_stored_already_makes_none(memory, tmp_path):
    session = memory.loop_task_new_session("Open the tin", folder=str(tmp_path)).session_id
    memory.loop_task_add(session, 1, "Turn the key", verify="true")
    memory.loop_task_complete(session, 1, "Turned it to the left.")
    assert memory.list(kinds=["pattern"])
    chunk = memory.loop_chunk(session)
    assert (chunk.status, chunk.stored, chunk.strengthened) == ("skipped", (), ())
    assert "stored" in chunk.reason
