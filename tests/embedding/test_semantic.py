"""Words and sentences in one vector."""

from __future__ import annotations

import numpy as np
import pytest
from tests.rows import each_row

from priming import HashedEmbedder
from priming.embedding.protocol import SemanticEmbedder, token_part, word_part
from priming.embedding.registry import named
from priming.embedding.wordllama import StaticEmbedder
from priming.errors import ParamError

WORDS, OTHER = StaticEmbedder(), HashedEmbedder(32)
TEXTS = ["A heron stood in the reeds.", "The ledger closes at noon.", ""]


def test_the_vectors_of_texts_are_those_of_the_sentences():
    assert np.array_equal(SemanticEmbedder(WORDS, OTHER).embed(TEXTS), OTHER.embed(TEXTS))


def test_no_texts_give_no_rows():
    assert SemanticEmbedder(WORDS, OTHER).embed([]).shape == (0, 32)


def test_another_embedder_of_sentences_is_another_generation():
    embedders = [SemanticEmbedder(WORDS, OTHER), SemanticEmbedder(WORDS, HashedEmbedder(16))]
    assert len({embedder.generation for embedder in embedders}) == 2
    assert len({embedder.stamp for embedder in embedders}) == 2
    assert all(embedder.generation.startswith("semantic-") for embedder in embedders)


def test_near_words_and_rarity_are_those_of_the_words():
    both = SemanticEmbedder(WORDS, OTHER)
    assert token_part(both) is word_part(both) is WORDS
    assert token_part(OTHER) is OTHER
    assert word_part(OTHER) is None


@pytest.mark.extra
def test_any_embedder_of_sentences_can_stand_beside_the_words():
    embedder = named("semantic:http://localhost:8080/v1?model=m")
    assert isinstance(embedder, SemanticEmbedder)
    assert embedder.sentence_part.model == "m"


@each_row("name", ["semantic:wordllama", "semantic:semantic", "semantic:hashed:8", "semantic:auto"])
def test_what_embeds_no_sentences_does_not_stand_beside_them(name):
    with pytest.raises(ParamError, match="must name what embeds sentences"):
        named(name)
