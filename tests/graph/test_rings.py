from hypothesis import given
from hypothesis import strategies as st

from priming.core.graph import cycles

NODES = "abcdefg"
links = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=25)


def leads(pairs, start, goal):
    """Whether links lead from one node to another, by trying all ways."""
    visited, waiting = set(), [start]
    while waiting:
        node = waiting.pop()
        for source, target in pairs:
            if source == node and target not in visited:
                visited.add(target)
                waiting.append(target)
    return goal in visited


@given(links)
def test_a_ring_follows_links_and_every_circle_has_one(pairs):
    pairs = [(a, b) for a, b in pairs if a != b]
    rings = cycles(pairs)
    for ring in rings:
        assert len(ring) == len(set(ring)) >= 2
        assert set(zip(ring, (*ring[1:], ring[0]), strict=True)) <= set(pairs)
    circles = {
        frozenset(other for other in NODES if leads(pairs, node, other) and leads(pairs, other, node))
        for node in NODES
        if leads(pairs, node, node)
    }
    assert {frozenset(ring) <= circle for ring in rings for circle in circles if ring[0] in circle} <= {True}
    assert sorted(min(circle) for circle in circles) == sorted(ring[0] for ring in rings)


def test_a_link_from_a_node_to_itself_is_no_circle():
    assert cycles([("a", "a"), ("a", "b")]) == []


def test_a_long_chain_is_followed_to_its_end():
    chain = [(f"{i:05}", f"{i + 1:05}") for i in range(4_000)]
    assert cycles(chain) == []
    (ring,) = cycles([*chain, ("04000", "00000")])
    assert len(ring) == 4_001
