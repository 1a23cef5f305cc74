from datetime import timedelta

import pytest
from tests.rows import each_row

from priming import Conflict, NotFound, ParamError
from priming.types import Link


@pytest.fixture
def three(memory):
    """Three memories that no rule links."""
    for key, text in (("a", "we paint walls"), ("b", "the sea is wide"), ("c", "bread and butter")):
        memory.remember(text, key=key)
    assert memory.links() == []
    return memory


def brought_up(memory, cue, **more):
    """What the words of a cue bring up, and what that leads to."""
    hits = memory.recall(cue, **more).hits
    return [hit.memory.key for hit in hits if hit.components.get("words") or hit.path]


def weights(memory, *args, **more):
    return {(link.source, link.relation, link.target): link.weight for link in memory.links(*args, **more)}


def test_a_link_has_its_defaults_and_is_one_operation(three, clock):
    created = three.link("a", "b")
    assert created == Link("a", "b", "similar-to", 0.5, clock.at, None, given=True)
    assert three.links() == [created]
    assert [operation.kind for operation in three.log(limit=1)] == ["link"]


def test_a_link_has_any_relation_that_a_user_names(three):
    assert three.link("a", "b", "contradicts at night", 1).relation == "contradicts at night"
    assert three.link("a", "b", "requires", 0).weight == 0.0
    assert three.stats().links == {"contradicts at night": 1, "requires": 1}


def test_a_link_made_twice_is_one_link_with_the_new_weight(three, clock):
    first = three.link("a", "b", "requires", 0.2)
    clock.at += timedelta(days=1)
    second = three.link("a", "b", "requires", 0.9)
    assert second.created_at == first.created_at
    assert weights(three) == {("a", "requires", "b"): 0.9}
    (operation, *_) = three.log()
    assert [(change.before["weight"], change.after["weight"]) for change in operation.changes] == [(0.2, 0.9)]


def test_a_link_that_is_there_already_is_no_operation(three):
    created = three.link("a", "b", "requires", 0.2)
    count = three.stats().operations
    assert three.link("a", "b", "requires", 0.2) == created
    assert three.stats().operations == count


def test_a_link_made_by_rule_can_be_given(memory):
    memory.remember("we paint walls", key="a", session="s")
    memory.remember("the sea is wide", key="b", session="s")
    assert not memory.links("b", relation="next")[0].given
    assert memory.link("a", "b", "next", 0.9).given
    assert weights(memory, relation="next") == {("a", "next", "b"): 0.9}


def test_many_links_are_one_operation(three):
    created = three.link_many(
        {"source": x, "target": y, "weight": w}
        for x, y, w in (("a", "b", 0.1), ("b", "c", 0.2), ("c", "a", 0.3))
    )
    assert [(link.source, link.target, link.weight) for link in created] == [
        ("a", "b", 0.1),
        ("b", "c", 0.2),
        ("c", "a", 0.3),
    ]
    assert [operation.kind for operation in three.log(limit=2)] == ["link", "remember"]
    assert three.link_many([]) == []


def test_ids_stand_for_keys(three):
    a, b = three.get("a"), three.get("b")
    assert (three.link(a.id, b.id).source, three.links(a.id)[0].target) == ("a", "b")


@each_row(
    ("item", "message"),
    [
        ({"target": "b"}, "source = None: must be a text"),
        ({"source": "a", "target": 7}, "target = 7: must be a text"),
        ({"source": "a", "target": "a"}, "target = 'a': must differ from the source"),
        ({"source": "a", "target": "b", "weight": 1.1}, "weight = 1.1: must be in [0, 1]"),
        ({"source": "a", "target": "b", "weight": float("nan")}, "weight = nan: must be in [0, 1]"),
        ({"source": "a", "target": "b", "weight": None}, "weight = None: must be in [0, 1]"),
        ({"source": "a", "target": "b", "relation": ""}, "relation = '': must be one printable line"),
        ({"source": "a", "target": "b", "relation": None}, "relation = None: must be a text"),
        (
            {"source": "a", "target": "b", "relation": "x\x00"},
            "relation = 'x\\x00': must not contain the NUL",
        ),
        ({"source": "a", "target": "b", "strength": 1}, "item = 'strength': is not an argument of link"),
        ("a", "item = 'a': must be a mapping of source, target, relation, weight"),
    ],
)
def test_a_bad_link_is_named_and_none_is_made(three, item, message):
    with pytest.raises(ParamError) as caught:
        three.link_many([{"source": "b", "target": "c"}, item])
    assert str(caught.value).startswith(message)
    assert three.links() == []
    assert [operation.kind for operation in three.log(limit=1)] == ["remember"]


def test_a_link_to_nothing_is_not_found(three):
    with pytest.raises(NotFound, match="there is no memory 'wall' in 'default'"):
        three.link("a", "wall")
    with pytest.raises(NotFound, match=r"there is no memory 'paint'.*did you mean a"):
        three.link("paint", "b")
    assert three.links() == []


def test_links_are_listed_by_memory_and_relation(three):
    three.link("a", "b", "requires", 0.1)
    three.link("c", "a", "requires", 0.2)
    three.link("b", "c", "overrides", 0.3)
    assert weights(three, "a") == {("a", "requires", "b"): 0.1, ("c", "requires", "a"): 0.2}
    assert weights(three, relation="overrides") == {("b", "overrides", "c"): 0.3}
    assert weights(three, "b", relation="requires") == {("a", "requires", "b"): 0.1}
    assert three.links("a", relation="unheard of") == []
    with pytest.raises(NotFound):
        three.links("nothing")
    with pytest.raises(ParamError, match="relation"):
        three.links(relation="two\nlines")


# Strength


def test_strength_moves_all_links_between_two_memories_in_either_direction(three):
    three.link("a", "b", "requires", 0.4)
    three.link("b", "a", "overrides", 0.6)
    three.link("b", "c", "requires", 0.5)
    operation = three.set_strength("b", "a", 0.7)
    assert (operation.kind, operation.message) == (
        "set-strength",
        "2 links set to 0.7: 0.40 → 0.70, 0.60 → 0.70",
    )
    assert weights(three) == {
        ("a", "requires", "b"): 0.7,
        ("b", "overrides", "a"): 0.7,
        ("b", "requires", "c"): 0.5,
    }


def test_strength_of_one_relation_leaves_the_others(three):
    three.link("a", "b", "requires", 0.4)
    three.link("a", "b", "overrides", 0.4)
    assert three.set_strength("a", "b", 0.7, "requires").message == "1 link set to 0.7: 0.40 → 0.70"
    assert weights(three) == {("a", "requires", "b"): 0.7, ("a", "overrides", "b"): 0.4}
    with pytest.raises(NotFound, match="there is no link 'next' between 'a' and 'b'"):
        three.set_strength("a", "b", 0.7, "next")


@pytest.mark.parametrize(("requested", "clamped"), [(0, 0.05), (0.01, 0.05), (1, 0.95), (0.99, 0.95)])
def test_strength_is_clamped_and_says_so(three, requested, clamped):
    three.link("a", "b")
    message = three.set_strength("a", "b", requested).message
    bound = "lowest" if clamped == 0.05 else "highest"
    assert message == (
        f"1 link set to {clamped}: 0.50 → {clamped};"
        f" a weight of {requested:g} was requested, and the {bound} is {clamped}"
    )
    assert three.set_strength("a", "b", requested).message.startswith("1 link did not move: it is")
    assert weights(three) == {("a", "similar-to", "b"): clamped}


@pytest.mark.parametrize("relation", [None, "requires", "my-own"])
def test_strength_between_strangers_is_an_error_that_names_the_remedy(three, relation):
    before = three.log(limit=1)
    with pytest.raises(NotFound, match=r"between 'a' and 'b': make it with --create \(create = true\)"):
        three.set_strength("a", "b", 0.5, relation)
    assert (three.links(), three.log(limit=1)) == ([], before)


def test_strength_between_strangers_makes_the_link_where_that_is_wanted(three):
    operation = three.set_strength("a", "b", 0.3, create=True)
    assert operation.message == "1 link made, similar-to, at 0.3"
    (link,) = three.links()
    assert (link.source, link.target, link.relation, link.weight, link.given) == (
        *("a", "b", "similar-to", 0.3, True),
    )
    three.undo(operation.id)
    assert three.links() == []


def test_a_link_that_is_made_is_clamped_and_of_the_relation_named(three):
    operation = three.set_strength("b", "c", 1.0, "refutes", create=True)
    assert operation.message is not None
    assert operation.message.startswith(
        "1 link made, refutes, at 0.95; a weight of 1 was requested, and the highest is 0.95\n"
        "the relation 'refutes' is new: it takes"
    )
    (link,) = three.links()
    assert (link.source, link.relation, link.weight, link.sign) == ("b", "refutes", 0.95, -1)


def test_create_sets_the_links_that_exist_and_makes_no_other(three):
    three.link("b", "a", "requires", 0.4)
    assert three.set_strength("a", "b", 0.7, create=True).message == "1 link set to 0.7: 0.40 → 0.70"
    assert [(link.source, link.weight) for link in three.links()] == [("b", 0.7)]
    with pytest.raises(ParamError, match="create = 'yes': must be true or false"):
        three.set_strength("a", "b", 0.7, create="yes")


@each_row("weight", [-0.1, 1.1, float("inf"), "strong", None])
def test_strength_outside_its_range_is_refused(three, weight):
    three.link("a", "b")
    count = three.stats().operations
    with pytest.raises(ParamError, match=r"weight = .*: must be in \[0, 1\]"):
        three.set_strength("a", "b", weight)
    assert three.stats().operations == count


def test_strength_of_links_to_nothing_is_not_found(three):
    with pytest.raises(NotFound):
        three.set_strength("a", "wall", 0.5)


def test_a_link_by_hand_carries_in_recall_and_none_without_it(three):
    def recalled(**more):
        return brought_up(three, "walls", **more)

    assert recalled() == ["a"]
    three.link("a", "c", "requires")
    assert recalled() == ["a", "c"]
    assert recalled(spread=False) == ["a"]
    strong = three.recall("walls").hits[1].relevance
    three.set_strength("a", "c", 0)
    assert three.recall("walls", floor=0.0).hits[1].relevance < strong / 2


def test_forgotten_ends_may_be_linked_and_come_back_linked(three):
    operation = three.forget("c")
    three.link("a", "c", "requires")
    assert brought_up(three, "walls") == ["a"]
    three.undo(operation.id)
    assert brought_up(three, "walls") == ["a", "c"]
    with pytest.raises(Conflict):
        three.undo(operation.id)


def test_links_are_listed_by_weight_the_strongest_first(three):
    three.link("a", "b", "requires", 0.3)
    three.link("b", "c", "requires", 0.9)
    three.link("c", "a", "requires", 0.6)
    chosen = three.links(relation="requires", by="weight", limit=2)
    assert [(link.source, link.weight) for link in chosen] == [("b", 0.9), ("c", 0.6)]
    assert [link.source for link in three.links("a", relation="requires", by="weight")] == ["c", "a"]


def test_links_are_listed_by_when_they_changed_and_by_what_use_strengthened(three, clock):
    three.link("a", "b", "requires", 0.3)
    clock.at += timedelta(hours=1)
    three.link("b", "c", "requires", 0.9)
    clock.at += timedelta(hours=1)
    assert [link.source for link in three.links(relation="requires", by="changed")] == ["b", "a"]
    assert three.links(relation="requires", by="learned") == []
    three.feedback(used=["a"])
    assert [link.source for link in three.links(relation="requires", by="changed")] == ["a", "b"]
    assert [link.source for link in three.links(relation="requires", by="learned")] == ["a"]


def test_a_weight_set_by_hand_is_not_learned_until_use_moves_it(three, clock):
    three.link("a", "b", "requires", 0.3)
    clock.at += timedelta(hours=1)
    three.set_strength("a", "b", 0.6)
    assert three.links(relation="requires", by="learned") == []
    clock.at += timedelta(hours=1)
    three.feedback(used=["a"])
    assert [link.source for link in three.links(relation="requires", by="learned")] == ["a"]
    clock.at += timedelta(hours=1)
    three.link("a", "b", "requires", 0.5)
    assert three.links(relation="requires", by="learned") == []


@each_row("wrong", [{"by": "size"}, {"by": ""}, {"limit": 0}, {"limit": "all"}])
def test_an_order_or_a_number_of_links_that_is_none_is_refused(three, wrong):
    with pytest.raises(ParamError, match=next(iter(wrong))):
        three.links(**wrong)


@pytest.mark.parametrize(
    ("speaker", "named"), [("user", False), ("Assistant", False), ("human", False), ("Ada", True)]
)
def test_a_role_in_a_chat_is_nobodys_name_and_no_hub(memory, speaker, named):
    for number in range(3):
        memory.remember(f"the pump {number} leaks.", speaker=speaker)
    assert bool(memory.links(relation="mentions")) == named
    assert [hit.memory.speaker for hit in memory.recall("what leaks?").hits] == [speaker] * 3
