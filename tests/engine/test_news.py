"""How many terms each memory was the first to bring: what is carried on is what would be counted anew."""

import random

import pytest

from priming.engine.news import brought

WORDS = ["red", "car", "sea", "sky", "wind", "boat", "lamp", "wall", "rain", "road", "bread", "stone"]


def text(rng):
    return " ".join(rng.sample(WORDS, rng.randint(1, 5)))


@pytest.mark.parametrize("seed", range(8))
def test_counts_that_are_carried_on_are_those_counted_anew(memory, seed):
    rng = random.Random(seed)
    told, gone = [], []
    for step in range(40):
        kind = rng.choice(("remember", "remember", "forget", "restore", "supersede"))
        if kind == "remember" or not told:
            told.append(memory.remember(f"{text(rng)} number{step}", session="s").key)
        elif kind == "forget":
            gone.append(told.pop(rng.randrange(len(told))))
            memory.forget(gone[-1])
        elif kind == "restore" and gone:
            told.append(gone.pop())
            memory.restore(told[-1])
        elif kind == "supersede":
            memory.supersede(rng.choice(told), f"{text(rng)} again{step}")
        working = memory.working(memory.now())
        assert working.news.tolist() == brought(working).tolist()


def test_what_the_oldest_brought_the_next_brings_once_it_went(memory):
    for key, content in (("first", "red car"), ("second", "red sea"), ("third", "red sky")):
        memory.remember(content, key=key)
    assert memory.working(memory.now()).news.tolist() == [2, 1, 1]
    memory.forget("first")
    assert memory.working(memory.now()).news.tolist() == [0, 2, 1]
    memory.restore("first")
    working = memory.working(memory.now())
    assert working.news[working.document[working.row_of[memory.get("first").id]]] == 2
