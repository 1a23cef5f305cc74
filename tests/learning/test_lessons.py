"""Lessons: kept once, and strengthened where they are told again."""

import pytest

from priming.learning import lessons
from priming.remember.drafts import draft

LESSON = {"content": "The gate hangs\nkill the group", "kind": "failure"}


def keep(memory, least=0.85, **changes):
    return lessons.store_lesson(memory, {**LESSON, **changes}, least=least)


def test_a_lesson_is_stored_and_told_again_strengthens(memory):
    first = keep(memory)
    again = keep(memory)
    assert (first.status, again.status, again.key) == ("stored", "strengthened", first.key)
    kept = memory.get(first.key)
    assert (kept.use.helped, kept.use.uses) == (1, 1)
    assert again.cosine == pytest.approx(1.0)


def test_only_what_is_near_enough_and_of_its_kind_counts_as_the_same(memory):
    first = keep(memory)
    assert keep(memory, kind="pattern").status == "stored"
    # Of the six words of each four are shared: by the hashed embedder a cosine of about 4/6.
    near = {"content": "The gate hangs\nfree the memory", "kind": "failure"}
    assert keep(memory, least=0.95, **near).status == "stored"
    assert keep(memory, least=0.3, content="The gate hangs again\nkill the group").key == first.key


def test_what_was_forgotten_is_not_strengthened(memory):
    first = keep(memory)
    memory.forget(first.key)
    again = keep(memory)
    assert again.status == "stored"
    assert again.key != first.key


def test_what_a_recall_has_just_said_is_stored_all_the_same(memory):
    memory.remember("The gate hangs\nkill the group", kind="fact")
    memory.recall("gate")
    assert keep(memory).status == "stored"


def test_each_is_one_operation_and_can_be_undone(memory):
    first, again = keep(memory), keep(memory)
    assert [one.id for one in memory.log()][:2] == [again.operation, first.operation]
    memory.undo(again.operation)
    assert memory.get(first.key).use.helped == 0
    memory.undo(first.operation)
    assert memory.list(kinds=["failure"]) == []


def test_a_text_without_words_is_near_to_nothing(memory):
    assert keep(memory, content="…").status == "stored"
    assert lessons.nearest_lesson(memory, draft({**LESSON, "content": "…", "metadata": {}})) is None


def test_in_an_empty_store_nothing_is_near(memory):
    assert lessons.nearest_lesson(memory, draft(LESSON)) is None


def test_verdicts_on_the_latest_recall_are_known(memory):
    key = keep(memory).key
    memory.recall("gate", session="s")
    assert lessons.judged_keys(memory, [key], "used", "s") == set()
    memory.feedback(used=[key], session="s")
    assert lessons.judged_keys(memory, [key], "used", "s") == {key}
    assert lessons.judged_keys(memory, [key], "not-useful", "s") == set()
    memory.recall("gate", session="s")
    assert lessons.judged_keys(memory, [key], "used", "s") == set()


def test_keys_that_begin_alike_are_numbered(memory):
    same = [
        keep(memory, content=f"The gate hangs\n{word}").key for word in ("free memory", "kill all", "wait")
    ]
    assert same == ["the-gate-hangs", "the-gate-hangs-2", "the-gate-hangs-3"]


def lesson(trigger, resolution, solved):
    return {
        "content": f"{trigger}\n{resolution}",
        "kind": "failure",
        "metadata": {"trigger": trigger, "resolution": resolution, "solved": solved},
    }


def test_a_failure_without_a_way_out_gets_the_version_that_has_it(memory):
    first = lessons.store_lesson(
        memory, lesson("Push the tag: 403", "not solved; tried: nothing", False), least=0.85
    )
    solved = lesson("Push the tag: 403", "Bring a token that may write", True)
    again = lessons.store_lesson(memory, solved, least=0.85)
    assert (again.key, again.status) == (first.key, "strengthened")
    record = memory.get(first.key)
    assert record.metadata["resolution"] == "Bring a token that may write"
    assert [version.metadata["solved"] for version in memory.history(first.key)] in (
        [False, True],
        [True, False],
    )
    memory.undo(again.operation)
    assert memory.get(first.key).metadata["solved"] is False


def test_what_is_known_to_help_is_not_replaced_by_a_failure_without_a_way_out(memory):
    first = lessons.store_lesson(memory, lesson("Push the tag: 403", "Bring a token", True), least=0.85)
    lessons.store_lesson(memory, lesson("Push the tag: 403", "not solved; tried: nothing", False), least=0.85)
    assert memory.get(first.key).metadata["resolution"] == "Bring a token"


def test_a_lesson_that_is_repeated_in_vain_is_used_and_has_not_helped(memory):
    first = keep(memory)
    lessons.store_lesson(memory, LESSON, least=0.85, has_helped=False)
    assert memory.get(first.key).use.helped == 0
    assert memory.get(first.key).weight > 0.5


def test_each_text_of_a_lesson_is_matched_on_its_own(memory):
    texts = [("the gate hangs", "kill the group"), ("zebras graze",), ()]
    assert lessons.closeness(memory, "kill the group", texts) == pytest.approx([1.0, 0.0, 0.0], abs=0.3)
    assert lessons.closeness(memory, "kill the group", []) == []
    assert lessons.closeness(memory, "ship v2.1", [["ship version 2.1"]]) == pytest.approx([1.0])


def test_a_lesson_of_an_earlier_version_has_its_task_in_its_trigger(memory):
    about = {"trigger": "Push the tag: 403", "resolution": "Bring a token"}
    record = memory.get(
        memory.remember("Push the tag: 403\nBring a token", kind="failure", metadata=about).key
    )
    assert lessons.lesson_texts(record) == ("Push the tag", "Push the tag: 403", "Bring a token")
    assert lessons.triggers(record) == ("Push the tag: 403", "Push the tag")
