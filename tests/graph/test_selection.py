"""Which memories and links are drawn."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from tests.rows import each_row

from priming.errors import NotFound, ParamError

START = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)


def drawn(memory, **arguments):
    return json.loads(memory.graph("json", **arguments))


def keys(memory, **arguments):
    return [node["key"] for node in drawn(memory, **arguments)["nodes"]]


@pytest.fixture(scope="module")
def chain(open_shared):
    """hub – a, b, c; a – far – farther; alone. All facts but c, which is an episode."""
    words = {
        "hub": "zebra",
        "a": "apple",
        "b": "banana",
        "c": "cherry",
        "far": "fig",
        "farther": "grape",
        "alone": "kiwi",
    }
    memory = open_shared()
    for key, word in words.items():
        memory.remember(word, key=key, kind="episode" if key == "c" else "fact")
    for source, target, weight in (
        ("hub", "a", 0.3),
        ("b", "hub", 0.9),
        ("hub", "c", 0.6),
        ("a", "far", 0.5),
        ("far", "farther", 0.5),
    ):
        memory.link(source, target, "near", weight)
    return memory


def test_all_are_drawn_most_linked_first(chain):
    drawing = keys(chain)
    assert drawing[0] == "hub"
    assert set(drawing[1:3]) == {"a", "far"}
    assert drawing[-1] == "alone"
    assert len(drawing) == 7


def test_a_node_tells_what_is_known_of_its_memory(memory):
    at = datetime(2024, 5, 16, 12, tzinfo=UTC)
    memory.remember(
        "One. Two.", key="one", kind="fact", heading="Numbers", speaker="Ada", session="s", occurred_at=at
    )
    nodes = {node["key"]: node for node in drawn(memory)["nodes"]}
    assert nodes["one"] == {
        "key": "one",
        "kind": "fact",
        "status": "active",
        "heading": "Numbers",
        "speaker": "Ada",
        "gist": "One.",
        "content": "One. Two.",
        "session": "s",
        "occurred_at": "2024-05-16T12:00:00+00:00",
        "uses": 0,
        "links": len(memory.links("one")),
    }


def test_links_are_drawn_with_their_weights(chain):
    links = {(link["source"], link["target"]): link for link in drawn(chain)["links"]}
    assert (links["b", "hub"]["relation"], links["b", "hub"]["weight"]) == ("near", 0.9)
    assert links["b", "hub"]["given"] is True
    assert len(links) == 5


def test_a_limit_keeps_the_most_linked_and_counts_the_others(chain):
    drawing = drawn(chain, limit=2)
    assert [node["key"] for node in drawing["nodes"]] == ["hub", "a"]
    assert [(link["source"], link["target"]) for link in drawing["links"]] == [("hub", "a")]
    assert [node["links"] for node in drawing["nodes"]] == [1, 1]
    assert drawing["left_out"] == 5


@pytest.mark.parametrize(
    ("depth", "drawing"),
    [
        (0, ["hub"]),
        (1, ["hub", "b", "c", "a"]),
        (2, ["hub", "b", "c", "a", "far"]),
        (9, ["hub", "b", "c", "a", "far", "farther"]),
    ],
)
def test_around_a_memory_its_neighbours_come_nearest_and_strongest_first(chain, depth, drawing):
    assert keys(chain, key="hub", depth=depth) == drawing


def test_what_is_drawn_around_may_be_named_by_its_id(chain):
    assert drawn(chain, key=chain.get("far").id, depth=1)["around"] == "far"


def test_a_limit_around_a_memory_keeps_the_nearest(chain):
    assert keys(chain, key="hub", depth=9, limit=3) == ["hub", "b", "c"]


def test_kinds_are_drawn_and_walked_through_alone(chain):
    assert set(keys(chain, kinds=["fact"])) == {"hub", "a", "b", "far", "farther", "alone"}
    assert keys(chain, key="c", kinds=["episode"]) == ["c"]
    assert keys(chain, key="c", kinds=["fact"], depth=1) == ["c", "hub"]


def test_what_is_forgotten_is_not_drawn_unless_it_is_in_the_middle(chain, copy_of):
    chain = copy_of(chain)
    chain.forget("a")
    assert "a" not in keys(chain)
    assert keys(chain, key="hub", depth=9) == ["hub", "b", "c"]
    around = drawn(chain, key="a", depth=1)["nodes"]
    assert (around[0]["key"], around[0]["status"]) == ("a", "forgotten")
    assert {item["key"] for item in around} == {"a", "hub", "far"}


def test_a_name_is_drawn_only_with_what_mentions_it(memory):
    memory.remember("We met Grace Hopper.", key="met")
    assert "entity:grace-hopper" in keys(memory)
    assert keys(memory, kinds=["entity"]) == []
    memory.forget("met")
    assert keys(memory) == []
    assert keys(memory, key="entity:grace-hopper") == ["entity:grace-hopper"]


def test_a_drawing_as_of_a_time_has_the_links_and_texts_of_then(memory, clock):
    memory.remember("old text about apples", key="one", kind="fact")
    memory.remember("a banana", key="two", kind="fact")
    memory.link("one", "two", "near", 0.4)
    then = clock.now()
    clock.at = START + timedelta(days=1)
    memory.link("one", "two", "near", 0.9)
    memory.link("two", "one", "back", 0.5)
    memory.supersede("one", "new text about cherries")
    memory.remember("a third fruit", key="three", kind="fact")
    drawing = drawn(memory, known_at=then)
    assert {node["key"]: node["content"] for node in drawing["nodes"]} == {
        "one": "old text about apples",
        "two": "a banana",
    }
    assert [(link["relation"], link["weight"]) for link in drawing["links"]] == [("near", 0.4)]
    assert drawing["known_at"] == then.isoformat()
    now = drawn(memory)
    assert len(now["nodes"]) == 3
    assert {link["relation"] for link in now["links"]} == {"near", "back"}


def test_drawing_changes_nothing(chain):
    before = chain.stats()
    for form in ("dot", "json"):
        chain.graph(form)
    assert chain.stats() == before


def test_an_empty_memory_is_an_empty_drawing(memory):
    assert drawn(memory) == {
        "namespace": "default",
        "around": None,
        "known_at": None,
        "left_out": 0,
        "reason": 'there are no memories in "default"',
        "nodes": [],
        "links": [],
    }


@each_row(
    ("arguments", "rule"),
    [
        ({"format": "svg"}, "format = 'svg': must be one of dot, json"),
        ({"depth": -1}, "depth = -1: must be a whole number in"),
        ({"limit": 0}, "limit = 0: must be a whole number in"),
        ({"kinds": 5}, "kinds = 5: must be some of episode"),
        ({"kinds": ["rumour"]}, "kinds = 'rumour': must be one of episode"),
        ({"known_at": datetime(2024, 5, 17)}, "known_at = .*: must carry a time zone"),
    ],
)
def test_arguments_out_of_range_are_refused(memory, arguments, rule):
    with pytest.raises(ParamError, match=rule):
        memory.graph(**arguments)


def test_a_key_that_is_not_there_is_not_found(memory):
    with pytest.raises(NotFound, match="there is no memory 'nothing'"):
        memory.graph(key="nothing")


@pytest.mark.parametrize("form", ["dot", "json"])
def test_the_drawing_of_a_namespace_without_memories_says_so(open_memory, form):
    text = open_memory(namespace="else").graph(form)
    assert 'there are no memories in "else"' in text.replace("\\", "")
