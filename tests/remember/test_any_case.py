"""Names that the namespace has are names in small letters too; a night finds those written earlier."""

import pytest

from priming import Memory


@pytest.fixture
def memory():
    with Memory.open("sqlite://") as opened:
        yield opened


def named(memory, key):
    return {link.target for link in memory.links(key, relation="mentions")}


def test_a_name_that_there_is_counts_in_small_letters(memory):
    memory.remember("Kestrel runs in the cellar, says Ines Varga.", key="first")
    memory.remember("we moved kestrel, and ines varga agreed", key="second")
    assert {"entity:kestrel", "entity:ines-varga"} <= named(memory, "second")


@pytest.mark.parametrize("text", ["the memory is full", "we hope that it works", "one more for all of us"])
def test_a_common_word_names_nothing_though_it_is_a_name_elsewhere(memory, text):
    memory.remember("In Memory we trust, said Hope of One For All.", key="first")
    memory.remember(text, key="second")
    assert named(memory, "second") == set()


def test_a_word_that_mostly_is_no_name_names_nothing(memory):
    memory.remember_many([{"content": f"the heron was seen {day} times"} for day in range(8)])
    memory.remember("We call it Heron.", key="called")
    memory.remember("a heron stood there", key="bird")
    assert "entity:heron" in named(memory, "called")
    assert "entity:heron" not in named(memory, "bird")


def test_a_night_links_names_that_were_none_when_their_memory_was_written(memory):
    memory.remember("kestrel needs a new disk", key="early")
    memory.remember("They call the machine Kestrel.", key="called")
    assert "entity:kestrel" not in named(memory, "early")
    memory.sleep(stages=["link"])
    assert "entity:kestrel" in named(memory, "early")
    assert memory.sleep(stages=["link"]).items == ()


def test_undoing_a_night_takes_its_names_back(memory):
    memory.remember("kestrel needs a new disk", key="early")
    memory.remember("They call the machine Kestrel.", key="called")
    memory.sleep(stages=["link"])
    memory.undo(memory.log(limit=1)[0].id)
    assert "entity:kestrel" not in named(memory, "early")


def test_a_store_from_before_these_rules_is_linked_by_a_night(memory, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr("priming.remember.drafts.find", lambda *_: ())
        memory.remember("The export ran on worker-3.", key="ran")
        memory.remember("worker-3 has only 40 GB.", key="disk")
    assert named(memory, "ran") == set()
    memory.sleep(stages=["link"])
    assert named(memory, "ran") == named(memory, "disk") == {"entity:worker-3"}
    assert [hit.memory.key for hit in memory.recall("why did the export fail?").hits][:2] == ["ran", "disk"]


def test_a_night_makes_no_entity_again_that_somebody_forgot(memory):
    memory.remember("The export ran on worker-3.", key="ran")
    memory.forget("entity:worker-3")
    assert memory.sleep(stages=["link"]).items == ()
