"""Which words of a namespace are near another: cached neighbours are those that a new search finds."""

import random

import pytest

from priming import HashedEmbedder
from priming.embedding.wordllama import StaticEmbedder
from priming.index.vocabulary import Vocabulary

WORDS = (
    *("car", "vehicle", "truck", "lorry", "bus", "road", "dog", "puppy", "cat", "kitten", "animal", "bridge"),
    *("river", "sea", "ship", "boat", "harbour", "paint", "brush", "wall", "colour", "red", "blue", "sky"),
    *("cloud", "rain", "storm", "weather", "bread", "baker", "flour", "cake", "oven", "kitchen"),
)
ASKED = ("vehicle", "dog", "boat", "weather", "bread")


@pytest.fixture(scope="module")
def embedder():
    return StaticEmbedder()


def values(neighbours):
    return {word: (near.codes.tolist(), near.cosines.tolist()) for word, near in neighbours.items()}


def queries(words, seen, rng):
    """Words to look up; some of those that were seen come with their codes."""
    return {word: seen.index(word) if word in seen and rng.random() < 0.5 else None for word in words}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [2, 16])
def test_neighbours_vocabulary_while_words_came_are_those_looked_up_afresh(embedder, seed, most):
    rng = random.Random(seed)
    coming, seen, vocabulary = rng.sample(WORDS, len(WORDS)), [], Vocabulary(embedder)
    while coming:
        count = rng.randint(1, 8)
        seen, coming = seen + coming[:count], coming[count:]
        vocabulary.near(queries(rng.sample(ASKED, rng.randint(0, len(ASKED))), seen, rng), seen, 0.2, most)
    fresh = {}
    for word in ASKED:
        fresh |= Vocabulary(embedder).near({word: None}, seen, 0.2, most)
    result = values(vocabulary.near(queries(ASKED, seen, rng), seen, 0.2, most))
    assert {word: codes for word, (codes, _) in result.items()} == {
        word: near.codes.tolist() for word, near in fresh.items()
    }
    for word, near in fresh.items():
        assert result[word][1] == pytest.approx(near.cosines.tolist(), abs=2e-6)
    assert any(codes for codes, _ in result.values())


def test_neighbours_are_the_nearest_first_above_the_floor_and_at_most_so_many(embedder):
    seen = list(WORDS)
    (near,) = Vocabulary(embedder).near({"vehicle": None}, seen, 0.2, 4).values()
    assert seen[near.codes[0]] == "vehicle"
    assert len(near.codes) == 4
    assert (near.cosines > 0.2).all()
    assert near.cosines.tolist() == sorted(near.cosines.tolist(), reverse=True)


def test_an_embedder_of_whole_texts_alone_has_no_near_words():
    assert Vocabulary(HashedEmbedder(16)).near({"vehicle": None}, list(WORDS), 0.0, 16) == {}
