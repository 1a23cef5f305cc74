"""A relation has a sign: links of it bring activation to their target, or take it away."""

import json

import pytest

from priming import Conflict, ParamError
from priming.storage.rows import RelationRow


@pytest.fixture
def three(memory):
    """Three memories that no rule links; the cue "harbour" matches all, "pilot" the first alone."""
    texts = {"a": "the harbour pilot slept", "b": "the harbour is wide", "c": "bread in the harbour"}
    for key, text in texts.items():
        memory.remember(text, key=key)
    for link in memory.links():
        memory.set_strength(link.source, link.target, 0.05)
    memory.link("c", "a", "requires", 0.05)
    return memory


def signs(memory):
    return {link.relation: link.sign for link in memory.links() if link.given and link.relation != "requires"}


def activation(memory, key, profile="poc", **more):
    """The activation of a memory at the end; 0 where all of it was taken away."""
    if profile == "priming":
        return memory.recall("harbour pilot", trace=True, floor=0.0, **more).spread[-1].get(key, 0.0)
    name = "spread" if profile == "ethos" else "activation"
    hits = memory.recall("harbour pilot", profile=profile, limit=10, **more).hits
    return next((hit.components.get(name, 0.0) for hit in hits if hit.memory.key == key), 0.0)


def test_a_new_name_says_how_it_acts_the_first_time_and_never_again(three):
    first = three.link("a", "b", "brings-to-mind")
    assert (first.sign, first.message) == (
        1,
        "the relation 'brings-to-mind' is new: it brings activation to its target; --suppressing (sign = -1)"
        " makes it the reverse",
    )
    assert three.link("a", "c", "brings-to-mind").message is None
    opposed = three.link("b", "c", "refutes")
    assert (opposed.sign, opposed.message) == (
        -1,
        "the relation 'refutes' is new: it takes activation away from its target, by its name; --exciting (sign = 1)"
        " makes it the reverse",
    )
    assert three.link("a", "b", "requires").message is None
    assert three.log(limit=2)[1].message == f"b ─refutes→ c: new link, 0.50\n{opposed.message}"


@pytest.mark.parametrize("profile", ["ethos", "poc", "priming", "synapse"])
@pytest.mark.parametrize(("relation", "sign"), [("contradicts", None), ("rains-on", -1)])
def test_what_opposes_takes_activation_away(three, profile, relation, sign):
    with_supports = three.link("a", "b", "supports", 0.9)
    brought = activation(three, "b", profile)
    three.undo(three.log(limit=1)[0].id)
    plain = activation(three, "b", profile)
    link = three.link("a", "b", relation, 0.9, sign)
    assert (with_supports.sign, link.sign) == (1, -1)
    assert activation(three, "b", profile) < plain < brought


def test_a_sign_that_is_given_holds_for_all_links_of_the_relation_and_is_undone(three):
    three.link("a", "b", "helps")
    flipped = three.link("a", "c", "helps", sign=-1)
    assert (
        flipped.message
        == "from now on the relation 'helps' takes activation away from its target, in all its links"
    )
    assert [link.sign for link in three.links(relation="helps")] == [-1, -1]
    assert three.link("b", "c", "helps").sign == -1
    three.undo(three.log(limit=2)[1].id)
    assert [(link.target, link.sign) for link in three.links(relation="helps")] == [("b", 1), ("c", 1)]


def test_the_same_link_again_with_a_sign_changes_the_sign_alone(three):
    three.link("a", "b", "helps", 0.7)
    assert three.link("a", "b", "helps", 0.7, -1).sign == -1
    (operation,) = three.log(limit=1)
    assert [(change.table, change.after) for change in operation.changes] == [
        ("relations", {"relation": "helps", "sign": -1, "introduced": False})
    ]
    three.undo(operation.id)
    assert signs(three) == {"helps": 1}


def test_undoing_the_link_that_introduced_a_relation_leaves_its_sign_to_later_links(three):
    three.link("a", "b", "rains-on", sign=-1)
    introduced = three.log(limit=1)[0].id
    three.link("b", "c", "rains-on")
    three.undo(introduced)
    assert signs(three) == {"rains-on": -1}
    three.undo(three.log(limit=2)[1].id)
    assert three.store.rows(three.namespace, RelationRow)[0].sign == -1


def test_a_link_whose_name_decides_changes_nothing_but_links(three):
    three.link("a", "b", "reminds-of")
    three.link("a", "c", "refutes", sign=-1)
    tables = [change.table for operation in three.log(limit=2) for change in operation.changes]
    assert tables == ["links", "links"]
    assert three.store.rows(three.namespace, RelationRow) == []


def test_undoing_the_only_link_of_a_relation_forgets_its_sign(three):
    three.link("a", "b", "rains-on", sign=-1)
    three.undo(three.log(limit=1)[0].id)
    assert three.store.rows(three.namespace, RelationRow) == []
    assert three.link("a", "b", "rains-on").message is not None


def test_a_sign_that_was_changed_since_cannot_be_taken_back_alone(three):
    three.link("a", "b", "helps")
    three.link("a", "b", "helps", sign=-1)
    (flipped,) = three.log(limit=1)
    three.link("a", "b", "helps", sign=1)
    with pytest.raises(Conflict, match="changed the same relation"):
        three.undo(flipped.id)


@pytest.mark.parametrize("relation", ["similar-to", "requires", "next"])
def test_a_relation_that_is_built_in_keeps_its_sign(three, relation):
    with pytest.raises(ParamError, match=r"sign = -1: must be 1: .* is built in and brings activation"):
        three.link("a", "b", relation, sign=-1)
    with pytest.raises(ParamError, match="sign = 1: must be -1: 'conflicts' is built in and takes"):
        three.link("a", "b", "conflicts", sign=1)
    assert three.link("a", "b", relation, sign=1).message is None


@pytest.mark.parametrize("sign", [0, 2, "minus", True, 0.5])
def test_a_sign_is_one_or_minus_one(three, sign):
    with pytest.raises(ParamError, match="must be 1, to bring activation, or -1, to take it away"):
        three.link("a", "b", "helps", sign=sign)


def test_many_links_agree_on_the_sign_of_a_relation(three):
    items = [{"source": "a", "target": "b", "relation": "helps", "sign": sign} for sign in (1, -1)]
    with pytest.raises(ParamError, match="must be the same for every link of 'helps'"):
        three.link_many(items)
    links = three.link_many([items[1], {"source": "b", "target": "c", "relation": "helps"}])
    assert [(link.sign, link.message is None) for link in links] == [(-1, False), (-1, True)]


def test_signs_are_exported_and_read_as_they_were_known(three, open_memory, tmp_path, clock):
    three.link("a", "b", "rains-on", 0.9)
    before = clock.at
    clock.at = clock.at.replace(year=clock.at.year + 1)
    suppressed_later = activation(three, "b")
    three.link("a", "b", "rains-on", 0.9, -1)
    assert activation(three, "b") < suppressed_later
    assert activation(three, "b", known_at=before) == pytest.approx(suppressed_later)
    three.export(tmp_path / "signs.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "signs.jsonl").read_text().splitlines()]
    assert [line["relations"] for line in lines if "relations" in line] == [
        {"relation": "rains-on", "sign": -1, "introduced": False}
    ]
    other = open_memory()
    other.import_(tmp_path / "signs.jsonl")
    assert signs(other) == {"rains-on": -1}


def test_no_law_strengthens_what_suppresses(three):
    three.link("a", "b", "rains-on", 0.05, -1)
    recall = three.recall("harbour pilot", profile="poc")
    three.feedback(recall.recall_id, used=["b"])
    run = three.run_start("s")
    three.recall("harbour pilot", session="s", profile="poc")
    three.run_end(run.id, used=True)
    three.normalize_strengths(apply=True)
    assert [link.weight for link in three.links(relation="rains-on")] == [0.05]
