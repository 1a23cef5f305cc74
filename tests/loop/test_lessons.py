"""Lessons: kept once, and strengthened where they are told again."""

import pytest

from priming import HashedEmbedder, Memory
from priming_loop import lessons
from priming_loop.knowledge import lesson_texts, triggers

LESSON = {"content": "The gate hangs\nkill the group", "kind": "pattern"}


def keep(memory, **changes):
    return lessons.store_lesson(memory, {**LESSON, **changes})


def test_a_lesson_is_stored_and_told_again_strengthens(memory):
    first = keep(memory)
    again = keep(memory)
    assert (first.status, again.status, again.key) == ("stored", "strengthened", first.key)
    record = memory.get(first.key)
    assert (record.use.helped, record.use.uses) == (1, 1)
    assert again.cosine == pytest.approx(1.0)


class Interrupted(HashedEmbedder):
    """An embedder during whose call of a number something else happens."""

    def __init__(self, number, happens):
        super().__init__()
        self.left, self.happens = number, happens

    def embed(self, texts):
        self.left -= 1
        if self.left == 0:
            self.happens()
        return super().embed(texts)


@pytest.mark.parametrize("number", [1, 2])
def test_a_lesson_that_another_process_stores_meanwhile_is_strengthened(tmp_path, number):
    url = f"sqlite:///{tmp_path}/memory.db"
    with Memory.open(url, embedder=HashedEmbedder()) as other:
        other.remember("The kettle is red.")
        with Memory.open(url, embedder=Interrupted(number, lambda: keep(other))) as memory:
            stored = keep(memory)
        (record,) = other.list(kinds=["pattern"])
        assert (stored.key, stored.status, record.use.helped) == (record.key, "strengthened", 1)


def test_only_what_is_near_enough_and_of_its_kind_counts_as_the_same(memory):
    first = keep(memory)
    assert keep(memory, kind="failure").status == "stored"
    assert keep(memory, content="The gate hangs\nfree the memory").status == "stored"
    assert keep(memory, content="The gate hangs again\nkill the group").key == first.key


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
    assert [entry.id for entry in memory.log()][:2] == [again.operation, first.operation]
    memory.undo(again.operation)
    assert memory.get(first.key).use.helped == 0
    memory.undo(first.operation)
    assert memory.list(kinds=["pattern"]) == []


def test_a_text_without_words_is_near_to_nothing(memory):
    assert keep(memory, content="…").status == "stored"
    assert lessons.repeated_lesson(memory, {**LESSON, "content": "…"}) is None


def test_in_an_empty_store_nothing_is_near(memory):
    assert lessons.repeated_lesson(memory, LESSON) is None


def test_a_verdict_that_the_latest_recall_has_counts_again_for_the_memory_itself(memory):
    first, second = keep(memory).key, keep(memory, content="The lock hangs\nfree it").key
    memory.recall("gate", session="s")
    memory.feedback(used=[first], session="s")
    done = lessons.judge_shown(memory, [first, second], [], "a task", "s")
    assert [memory.get(key).use.helped for key in (first, second)] == [2, 1]
    memory.undo(done.id)
    assert [memory.get(key).use.helped for key in (first, second)] == [1, 0]


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
    first = lessons.store_lesson(memory, lesson("Push the tag: 403", "not solved; tried: nothing", False))
    solved = lesson("Push the tag: 403", "Bring a token that may write", True)
    again = lessons.store_lesson(memory, solved)
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
    first = lessons.store_lesson(memory, lesson("Push the tag: 403", "Bring a token", True))
    lessons.store_lesson(memory, lesson("Push the tag: 403", "not solved; tried: nothing", False))
    assert memory.get(first.key).metadata["resolution"] == "Bring a token"


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
    assert lesson_texts(record) == ("Push the tag", "Push the tag: 403", "Bring a token")
    assert triggers(record) == ("Push the tag: 403", "Push the tag")


def teach(memory, trigger, resolution, **arguments):
    answer = {**lesson(trigger, resolution, True), "kind": "pattern", **arguments}
    return lessons.store_lesson(memory, answer)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("Always wash the wool in cold water", "Never wash the wool in cold water"),
        ("Dry the clay for 12 hours in the shed", "Dry the clay for 36 hours in the shed"),
        ("Raise the seat before the climb", "Lower the seat before the climb"),
        ("Switch the feed to pump 7", "Switch the feed to pump 8"),
        ("Disable the nightly index", "Enable the nightly index"),
        ("Use a longer ladder", "Use a shorter ladder"),
        ("Send it with the morning post", "Send it with the evening post"),
        ("Pin the requirement to Flask 2.3", "Pin the requirement to Flask 3.1"),
        ("Season the soup with salt", "Season the soup with sugar"),
    ],
)
def test_the_opposite_or_another_value_is_a_new_version_of_the_lesson(memory, first, later):
    when = "Prepare the workshop: the guests arrive before everything is in its place"
    key = teach(memory, when, first).key
    changed = teach(memory, when, later)
    assert (changed.key, changed.status, changed.replaced) == (key, "superseded", first)
    record = memory.get(key)
    assert (record.metadata["resolution"], record.use.helped) == (later, 0)
    assert {version.metadata["resolution"] for version in memory.history(key)} == {first, later}
    assert teach(memory, when, later).status == "strengthened"


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("Hand the green badge to the porter", "Hand the white badge to the porter"),
        ("Run the copy against staging", "Run the copy against production"),
        ("Book it in the EU region", "Book it in the US region"),
        ("Ask the porter for the key", "Ask the janitor for the key"),
        ("Restart the broker", "Restart the relay"),
        ("Quote the variable", "Escape the variable"),
    ],
)
def test_a_word_that_may_be_another_value_or_a_synonym_replaces_nothing(memory, first, later):
    when = "Prepare the workshop: the guests arrive before everything is in its place"
    item, other = teach(memory, when, first), teach(memory, when, later)
    assert (other.status, other.key == item.key) == ("stored", False)
    assert memory.get(item.key).metadata["resolution"] == first


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("Print the badges on machine 5: paper jam", "Print the badges on machine 6: paper jam"),
        ("Send the crate to Malta: the form is missing", "Send the crate to Cyprus: the form is missing"),
        ("Migrate the ledger on staging: lock timeout", "Migrate the ledger on production: lock timeout"),
    ],
)
def test_another_number_target_or_name_is_another_lesson(memory, first, later):
    item, other = teach(memory, first, "Clear the tray"), teach(memory, later, "Clear the tray")
    assert (other.status, len(memory.list(kinds=["pattern"]))) == ("stored", 2)
    assert lessons.recurring(memory, later, [item.key, other.key]) == []
    failed = [
        memory.remember(f"{when}\nwait", kind="failure", metadata={"trigger": when}).key
        for when in (first, later)
    ]
    assert lessons.recurring(memory, later, failed) == failed[1:]


def test_the_same_failure_at_another_line_recurs(memory):
    first = teach(
        memory, "Run the suite: KeyError in cart.py:30, line 30, in 1.2s", "Give a default", kind="failure"
    )
    again = "Run the suite: KeyError in cart.py:31, line 31, in 1.9s"
    assert lessons.recurring(memory, again, [first.key]) == [first.key]


def test_an_agent_does_not_replace_the_lesson_of_a_person(memory):
    when = "Feed the sourdough before the weekend"
    person = teach(memory, when, "Always feed it twice")
    agent = teach(memory, when, "Never feed it twice", trust="agent")
    assert (agent.status, memory.get(person.key).metadata["resolution"]) == ("stored", "Always feed it twice")
    assert teach(memory, when, "Never feed it twice", trust="agent").key == agent.key
