"""Which words of a namespace are near another: what is kept is what would be found anew."""

import random

import pytest

from priming import HashedEmbedder
from priming.embed.static import StaticEmbedder
from priming.engine.vocabulary import Vocabulary

WORDS = (
    *("car", "vehicle", "truck", "lorry", "bus", "road", "dog", "puppy", "cat", "kitten", "animal", "bridge"),
    *("river", "sea", "ship", "boat", "harbour", "paint", "brush", "wall", "colour", "red", "blue", "sky"),
    *("cloud", "rain", "storm", "weather", "bread", "baker", "flour", "cake", "oven", "kitchen"),
)
ASKED = ("vehicle", "dog", "boat", "weather", "bread")


@pytest.fixture(scope="module")
def embedder():
    return StaticEmbedder()


def told(found):
    return {word: (one.codes.tolist(), one.cosines.tolist()) for word, one in found.items()}


def asked(words, met, rng):
    """Words, some of those that were met with their codes."""
    return {word: met.index(word) if word in met and rng.random() < 0.5 else None for word in words}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [2, 16])
def test_neighbours_kept_while_words_came_are_those_looked_up_afresh(embedder, seed, most):
    rng = random.Random(seed)
    coming, met, kept = rng.sample(WORDS, len(WORDS)), [], Vocabulary(embedder)
    while coming:
        count = rng.randint(1, 8)
        met, coming = met + coming[:count], coming[count:]
        kept.near(asked(rng.sample(ASKED, rng.randint(0, len(ASKED))), met, rng), met, 0.2, most)
    fresh = {}
    for word in ASKED:
        fresh |= Vocabulary(embedder).near({word: None}, met, 0.2, most)
    found = told(kept.near(asked(ASKED, met, rng), met, 0.2, most))
    assert {word: codes for word, (codes, _) in found.items()} == {
        word: one.codes.tolist() for word, one in fresh.items()
    }
    for word, one in fresh.items():
        assert found[word][1] == pytest.approx(one.cosines.tolist(), abs=2e-6)
    assert any(codes for codes, _ in found.values())


def test_neighbours_are_the_nearest_first_above_the_floor_and_at_most_so_many(embedder):
    met = list(WORDS)
    (one,) = Vocabulary(embedder).near({"vehicle": None}, met, 0.2, 4).values()
    assert met[one.codes[0]] == "vehicle"
    assert len(one.codes) == 4
    assert (one.cosines > 0.2).all()
    assert one.cosines.tolist() == sorted(one.cosines.tolist(), reverse=True)


def test_an_embedder_of_whole_texts_alone_has_no_near_words():
    assert Vocabulary(HashedEmbedder(16)).near({"vehicle": None}, list(WORDS), 0.0, 16) == {}
