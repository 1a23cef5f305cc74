"""What strong links lead to."""

from priming_loop.neighbours import neighbors


def remember_all(memory, *texts):
    return [memory.remember(text, kind="fact").key for text in texts]


def reached(memory, keys, hops=2, least=0.5):
    neighbours = neighbors(memory, keys, hops=hops, least=least)
    return [(item.memory.key, item.hop, item.via, item.weight) for item in neighbours]


def test_links_are_walked_both_ways_within_their_hops(memory):
    a, b, c, d = remember_all(memory, "apples", "bears", "clouds", "drums")
    memory.link(b, a, "requires", 0.9)
    memory.link(b, c, "causes", 0.7)
    memory.link(c, d, "causes", 0.9)
    assert reached(memory, [a]) == [(b, 1, "requires", 0.9), (c, 2, "causes", 0.7)]
    assert reached(memory, [a], hops=1) == [(b, 1, "requires", 0.9)]


def test_weak_and_suppressing_links_are_not_walked(memory):
    a, b, c = remember_all(memory, "apples", "bears", "clouds")
    memory.link(a, b, "requires", 0.49)
    memory.link(a, c, "conflicts", 0.9)
    assert reached(memory, [a]) == []


def test_the_stronger_of_two_ways_counts_by_its_weakest_link(memory):
    a, b, c, d = remember_all(memory, "apples", "bears", "clouds", "drums")
    for source, target, weight in ((a, b, 0.9), (b, d, 0.6), (a, c, 0.8), (c, d, 0.7)):
        memory.link(source, target, "causes", weight)
    assert reached(memory, [a])[-1] == (d, 2, "causes", 0.7)


def test_what_is_forgotten_is_neither_returned_nor_walked(memory):
    a, b, c = remember_all(memory, "apples", "bears", "clouds")
    memory.link(a, b, "causes", 0.9)
    memory.link(b, c, "causes", 0.9)
    memory.forget(b)
    assert reached(memory, [a]) == []


def test_names_lead_on_but_are_not_returned(memory):
    a, b = remember_all(memory, "Ada Lovelace wrote it.", "It was Ada Lovelace.")
    for key in (a, b):
        memory.link(key, "entity:ada-lovelace", "causes", 0.9)
    assert [neighbour[0] for neighbour in reached(memory, [a], least=0.0)] == [b]


def test_links_in_a_circle_end_and_from_nothing_there_is_no_way(memory):
    a, b = remember_all(memory, "apples", "bears")
    memory.link(a, b, "causes", 0.9)
    memory.link(b, a, "causes", 0.9)
    assert reached(memory, [a], hops=9) == [(b, 1, "causes", 0.9)]
    assert reached(memory, []) == []
