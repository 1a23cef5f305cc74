"""The arithmetic that embedders share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.embedding.protocol import Embedder, TokenEmbedder, checked_pool, unit
from priming.errors import ParamError


class Wholesale:
    """An embedder that knows texts only, as a remote service would."""

    generation = "remote/2/x"
    dimension = 2

    def embed(self, texts):
        return np.ones((len(texts), 2), dtype=np.float32) / np.float32(2**0.5)


def test_plain_attributes_fulfil_the_protocol():
    assert isinstance(Wholesale(), Embedder)
    assert not isinstance(Wholesale(), TokenEmbedder)


def test_unit_keeps_direction_and_zeros():
    assert unit(np.array([3.0, 4.0])).tolist() == pytest.approx([0.6, 0.8])
    assert unit(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


@given(st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=5))
def test_weights_keep_their_proportions_and_do_not_overflow(weights):
    ids, factors = checked_pool(range(len(weights)), weights, 5)
    assert ids.tolist() == list(range(len(weights)))
    top = max(map(abs, weights))
    assert np.allclose(factors * top, weights)
    assert np.abs(factors).max() == (1.0 if top > 0 else 0.0)


def test_more_ids_than_weights_are_refused():
    with pytest.raises(ParamError, match=r"weights = 1: must be as many as the ids, 2"):
        checked_pool([0, 1], [1.0], 5)
