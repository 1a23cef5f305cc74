"""What becomes of the names in a memory whose text is superseded."""

from __future__ import annotations

from datetime import timedelta

import pytest


def mentioned(memory, key):
    return {link.target for link in memory.links(key, relation="mentions") if link.source == key}


@pytest.fixture
def note(memory):
    """A memory that names two people."""
    memory.remember("Ann met Bob in Oslo.", key="note", speaker="Mia")
    return memory


def test_a_new_text_mentions_the_names_that_are_in_it(note):
    note.supersede("note", "Ann met Carol in Oslo.")
    assert mentioned(note, "note") == {"entity:mia", "entity:ann", "entity:carol", "entity:oslo"}


def test_links_to_names_that_stay_keep_what_they_learnt(note):
    note.set_strength("note", "entity:ann", 0.9)
    note.supersede("note", "Ann met Carol.")
    (link,) = [link for link in note.links("note") if link.target == "entity:ann"]
    assert link.weight == 0.9


def test_it_is_one_operation_and_undone_with_it(note):
    before = (note.links(), note.list(kinds=["entity"]))
    note.supersede("note", "Ann met Carol.")
    (done,) = note.log(limit=1)
    assert done.kind == "supersede"
    note.undo(done.id)
    assert (note.links(), note.list(kinds=["entity"])) == before
    assert note.validate() == []


def test_a_name_that_others_mention_since_outlives_the_undo(note):
    note.supersede("note", "Ann met Carol.")
    (done,) = note.log(limit=1)
    note.remember("Carol sings.", key="other")
    note.undo(done.id)
    assert mentioned(note, "other") == {"entity:carol"}
    assert "entity:carol" not in mentioned(note, "note")


def test_mentions_given_by_hand_stay(note):
    note.link("note", "entity:bob", "mentions")
    note.supersede("note", "Ann sings.")
    assert mentioned(note, "note") == {"entity:mia", "entity:ann", "entity:bob"}


def test_a_text_that_holds_later_takes_no_name_away_yet(note, clock):
    note.supersede("note", "Ann met Carol.", valid_from=clock.at + timedelta(days=2))
    assert {"entity:bob", "entity:carol"} <= mentioned(note, "note")


def test_another_title_is_another_name(note):
    note.supersede("note", "Ann met Bob in Oslo.", speaker="Zoe")
    assert mentioned(note, "note") == {"entity:zoe", "entity:ann", "entity:bob", "entity:oslo"}


def test_an_alias_in_the_new_text_is_the_name_that_stands(note):
    note.remember("We use Kubernetes, or K8s.")
    note.aliases()
    note.supersede("note", "Ann likes K8s.")
    assert mentioned(note, "note") == {"entity:mia", "entity:ann", "entity:kubernetes"}


def test_rare_words_come_and_go_with_the_text(memory):
    memory.remember_many([{"content": f"plain entry of number {i}", "key": f"k{i}"} for i in range(60)])
    memory.remember("a zeppelin landed", key="one")
    memory.supersede("k1", "a zeppelin and a narwhal")
    assert "term:zeppelin" in mentioned(memory, "k1")
    assert "term:zeppelin" in mentioned(memory, "one")
    memory.supersede("k1", "the same zeppelin again")
    assert "term:zeppelin" in mentioned(memory, "k1")
    memory.supersede("k1", "nothing of it")
    assert mentioned(memory, "k1") == set()
    assert "term:zeppelin" in mentioned(memory, "one")


def test_recall_walks_over_the_names_of_the_new_text(memory):
    memory.remember("Carol keeps gulls.", key="gulls")
    memory.remember("Bob keeps bees.", key="bees")
    memory.remember("The cook is Bob.", key="cook")
    memory.supersede("cook", "The cook is Carol.")
    paths = {hit.memory.key: hit.path for hit in memory.recall("who is the cook", floor=0).hits}
    assert paths["bees"] == ()
    assert [step.target for step in paths["gulls"]] == ["entity:carol", "gulls"]
