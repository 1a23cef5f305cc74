"""HashedEmbedder: the embedder of tests and demonstrations."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.embedding.protocol import HashedEmbedder, TokenEmbedder
from priming.errors import ParamError

ONE = HashedEmbedder(32)


def test_it_is_an_embedder_of_tokens():
    assert isinstance(ONE, TokenEmbedder)
    assert ONE.embed(["a", "b"]).shape == (2, 32)
    assert ONE.embed(["a", "b"]).dtype == np.float32


def test_texts_of_the_same_words_are_equal_whatever_case_and_order():
    first, second = ONE.embed(["The red fish!", "fish, THE red"])
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_words_in_common_make_texts_alike():
    cue, near, far = HashedEmbedder().embed(["red fish swim", "a red fish", "green cars drive"])
    assert cue @ near > cue @ far


@given(st.lists(st.text(st.characters()), max_size=5))
def test_rows_are_of_length_one_or_zero(texts):
    for row, ids in zip(ONE.embed(texts), ONE.tokens(texts), strict=True):
        length = np.linalg.norm(row)
        assert length == pytest.approx(1.0, abs=1e-6) or length == 0.0
        assert len(ids) or not row.any()
        assert ((ids >= 0) & (ids < ONE.vocabulary)).all()


def test_pooling_with_equal_weights_is_embedding():
    ids = ONE.tokens(["one two two"])[0]
    np.testing.assert_allclose(
        ONE.pool(ids, np.full(len(ids), 2.0)), ONE.embed(["one two two"])[0], atol=1e-6
    )


@pytest.mark.slow
def test_another_process_gives_the_same_vectors():
    code = (
        "import sys; from priming.embedding.protocol import HashedEmbedder\n"
        "sys.stdout.buffer.write(HashedEmbedder(32).embed(['the same everywhere']).tobytes())"
    )
    other = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
    assert other == ONE.embed(["the same everywhere"]).tobytes()


def test_another_dimension_is_another_generation():
    assert HashedEmbedder(8).generation != HashedEmbedder(16).generation


@each_row("dimension", [1, 7, 64, 513, 1000])
def test_any_dimension_is_of_use(dimension):
    rows = HashedEmbedder(dimension).embed(["alpha", "beta"])
    assert rows.shape == (2, dimension)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


@each_row("dimension", [0, -1, 2.5, True])
def test_a_wrong_dimension_is_refused(dimension):
    with pytest.raises(ParamError, match="dimension"):
        HashedEmbedder(dimension)


def test_one_text_instead_of_a_list_is_refused():
    with pytest.raises(ParamError, match="texts"):
        ONE.embed("one text")
