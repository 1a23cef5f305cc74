"""Memories that bring a state along, through the seam of importers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from priming.errors import Conflict, ParamError, StoreError
from priming.remember.drafts import draft
from priming.remember.links import LinkRequest
from priming.storage.questions import StoredNamespace
from priming.transfer import state
from priming.transfer.state import ImportedState

AT = datetime(2024, 5, 1, tzinfo=UTC)
STATE = ImportedState("deprecated", 3, 0.4, 7, 2, 5, 1, AT)


def remember(memory, *items):
    """Items are (key, content, state)."""
    drafts = [draft({"key": key, "content": content}) for key, content, _ in items]
    return state.remember_states(memory, drafts, [state for *_, state in items])


def test_a_new_memory_takes_the_state_that_it_brings(memory):
    (done,) = remember(memory, ("a", "Apples.", STATE))
    record = memory.get("a")
    assert done.status == "stored"
    assert (record.status, record.priority, record.confidence) == ("deprecated", 3.0, 0.4)
    assert (record.use.uses, record.use.confirmed, record.use.followed, record.use.overridden) == (7, 2, 5, 1)
    assert record.use.last_used_at == AT


def test_memories_and_their_states_are_one_operation(memory):
    remember(memory, ("a", "Apples.", STATE), ("b", "Bananas.", None), ("c", "Cherries.", ImportedState()))
    assert memory.stats().operations == 1
    assert [memory.get(key).status for key in "abc"] == ["deprecated", "active", "active"]
    assert "a" not in [hit.memory.key for hit in memory.recall("apples").hits]


def test_a_memory_that_is_there_keeps_its_state(memory):
    remember(memory, ("a", "Apples.", ImportedState(uses=3)))
    (again,) = remember(memory, ("a", "Apples.", STATE))
    assert again.status == "duplicate"
    assert (memory.get("a").status, memory.get("a").use.uses) == ("active", 3)
    assert memory.stats().operations == 1


def test_a_key_that_names_another_text_is_a_conflict_whatever_its_state(memory):
    remember(memory, ("a", "Apples.", STATE))
    with pytest.raises(Conflict, match="'a' is taken by a deprecated memory"):
        remember(memory, ("b", "Bananas.", STATE), ("a", "Apricots.", STATE))
    assert [record.key for record in memory.list(status=None)] == ["a"]


def test_what_is_wrong_with_an_item_stores_nothing(memory):
    with pytest.raises(ParamError, match="content"):
        remember(memory, ("a", "Apples.", STATE), ("b", " ", STATE))
    assert memory.stats().operations == 0


def test_where_the_uses_cannot_be_counted_the_memories_are_not_stored_either(memory, monkeypatch):
    def broken(*_):
        raise StoreError("the disk went away")

    with monkeypatch.context() as patch:
        patch.setattr(StoredNamespace, "raised_activations", broken)
        with pytest.raises(StoreError, match="went away"):
            remember(memory, ("a", "Apples.", STATE))
    assert memory.list(status=None) == []
    memory.remember("Bananas are yellow.", key="b")
    assert [hit.memory.key for hit in memory.recall("yellow bananas").hits] == ["b"]
    assert memory.validate() == []


def test_an_undo_takes_the_memories_back_with_their_states_and_another_brings_both(memory):
    remember(memory, ("a", "Apples.", STATE))
    (stored,) = memory.log()
    taken = memory.undo(stored.id)
    assert memory.list(status=None) == []
    memory.undo(taken.id)
    assert (memory.get("a").status, memory.get("a").use.uses) == ("deprecated", 7)
    assert memory.validate() == []


def test_links_that_somebody_made_are_left_and_those_by_rule_are_set(memory):
    memory.remember("We met Grace Hopper.", key="a")
    memory.remember("Apples.", key="b")
    memory.link("a", "b", "next", 0.3)
    links = [
        LinkRequest("a", "b", "next", 0.9),
        LinkRequest("b", "a", "next", 0.9),
        LinkRequest("a", "entity:grace-hopper", "mentions", 0.9),
        LinkRequest("a", "nothing", "next", 0.9),
    ]
    assert state.without_user_links(memory, links) == links[1:]


def test_a_link_without_direction_keeps_the_one_that_it_has(memory):
    text = "the very same words about apples and pears"
    memory.remember(text, key="old")
    memory.remember(text + " again", key="new")
    (by_rule,) = memory.links("old", relation="similar-to")
    assert (by_rule.source, by_rule.given) == ("new", False)
    link = LinkRequest("old", "new", "similar-to", 0.4)
    assert state.without_user_links(memory, [link]) == [LinkRequest("new", "old", "similar-to", 0.4)]
