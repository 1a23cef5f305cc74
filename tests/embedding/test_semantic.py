"""Words and sentences in one vector."""

from __future__ import annotations

import numpy as np
import pytest

from priming import HashedEmbedder
from priming.config.params.embedding import SemanticParams
from priming.embedding.registry import named
from priming.embedding.semantic import SemanticEmbedder, token_part, word_part
from priming.embedding.wordllama import StaticEmbedder
from priming.errors import ParamError

WORDS, OTHER = StaticEmbedder(), HashedEmbedder(32)
TEXTS = ["A heron stood in the reeds.", "The ledger closes at noon.", ""]


def test_the_cosine_of_two_texts_is_the_weighted_mean_of_both_cosines():
    both = SemanticEmbedder(WORDS, OTHER, SemanticParams(sentences=0.25)).embed(TEXTS[:2])
    words, others = WORDS.embed(TEXTS[:2]), OTHER.embed(TEXTS[:2])
    assert both[0] @ both[1] == pytest.approx(
        0.75 * (words[0] @ words[1]) + 0.25 * (others[0] @ others[1]), abs=1e-6
    )


def test_rows_have_length_one_and_an_empty_text_has_none():
    rows = SemanticEmbedder(WORDS, OTHER).embed(TEXTS)
    assert rows.shape == (3, 256 + 32)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0, 1.0, 0.0], abs=1e-6)


def test_no_texts_give_no_rows():
    assert SemanticEmbedder(WORDS, OTHER).embed([]).shape == (0, 256 + 32)


def test_other_parts_and_other_weights_are_other_generations():
    embedders = [
        SemanticEmbedder(WORDS, OTHER),
        SemanticEmbedder(WORDS, HashedEmbedder(16)),
        SemanticEmbedder(WORDS, OTHER, SemanticParams(sentences=0.1)),
    ]
    assert len({embedder.generation for embedder in embedders}) == 3
    assert len({embedder.stamp for embedder in embedders}) == 3
    assert all(embedder.generation.startswith("semantic-") for embedder in embedders)


def test_near_words_and_rarity_are_those_of_the_words():
    both = SemanticEmbedder(WORDS, OTHER)
    assert token_part(both) is word_part(both) is WORDS
    assert token_part(OTHER) is OTHER
    assert word_part(OTHER) is None


def test_any_embedder_of_sentences_can_stand_beside_the_words():
    embedder = named("semantic:http://localhost:8080/v1?model=m")
    assert isinstance(embedder, SemanticEmbedder)
    assert embedder.sentence_part.model == "m"


@pytest.mark.parametrize(
    "name", ["semantic:wordllama", "semantic:semantic", "semantic:hashed:8", "semantic:auto"]
)
def test_what_embeds_no_sentences_does_not_stand_beside_them(name):
    with pytest.raises(ParamError, match="must name what embeds sentences"):
        named(name)
