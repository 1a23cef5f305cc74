"""What anybody can build in an afternoon: BM25, cosine, and two ways to fuse them, over our own terms and vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib import metadata

import numpy as np

from priming.bench.contestants import Found
from priming.bench.sets import Part
from priming.config.params.bench import BENCH, BenchParams
from priming.core.check import Floats
from priming.core.lexical import terms
from priming.core.recipe import best
from priming.embed.protocol import Vectors
from priming.errors import ParamError
from priming.index.lexicon import Lexicon


class Plain:
    """One baseline: terms of title and text, unit vectors, and a way to make one score of the two."""

    def __init__(self, name: str, params: BenchParams = BENCH) -> None:
        if name not in _SCORES:
            raise ParamError("baseline", name, f"must be one of {', '.join(BASELINES)}")
        self._how, self.name, self.params = name, f"plain {name}", params
        self._keys: list[str] = []
        self._lexicon, self._vectors = Lexicon(), np.zeros((0, 0), np.float32)

    @property
    def what(self) -> str:
        """In one sentence."""
        return _SAID[self._how].format(p=self.params)

    @property
    def versions(self) -> Mapping[str, str]:
        """What it is computed with."""
        return {"numpy": metadata.version("numpy")}

    @property
    def vectors(self) -> bool:
        """All but BM25 need the cue's."""
        return self._how != "bm25"

    def begin(self) -> None:
        """Nothing to be done."""

    def load(self, part: Part, vectors: Vectors) -> None:
        """Index the terms; keep the vectors."""
        self._lexicon, self._vectors = Lexicon(), vectors
        for item in part.items:
            self._lexicon.append(terms(item.title or ""), terms(item.text))
        self._keys = [item.key for item in part.items]

    def search(self, text: str, vector: Vectors, limit: int) -> Found:
        """Score every memory; what has no score is not brought up."""
        began = time.perf_counter()
        scores = _SCORES[self._how](self, text, vector)
        rows = best(scores, limit)
        ms = (time.perf_counter() - began) * 1000.0
        return Found([self._keys[row] for row in rows], ms, scores[rows].tolist())

    def close(self) -> None:
        """Nothing is held but memory."""

    def _bm25(self, text: str) -> Floats:
        codes = [self._lexicon.code(term) for term in dict.fromkeys(terms(text))]
        return self._lexicon.score([code for code in codes if code is not None])

    def _cosine(self, vector: Vectors) -> Floats:
        return np.maximum(np.asarray(self._vectors @ vector, np.float64), 0.0)

    def _fused(self, text: str, vector: Vectors) -> Floats:
        return self._inverse_ranks(self._bm25(text)) + self._inverse_ranks(self._cosine(vector))

    def _inverse_ranks(self, scores: Floats) -> Floats:
        rows = best(scores, len(scores))
        worth = np.zeros(len(scores))
        worth[rows] = 1.0 / (self.params.fusion_k + 1.0 + np.arange(len(rows)))
        return worth

    def _hybrid(self, text: str, vector: Vectors) -> Floats:
        share = self.params.hybrid
        return share * _unit_range(self._bm25(text)) + (1.0 - share) * _unit_range(self._cosine(vector))


def _unit_range(scores: Floats) -> Floats:
    """Scores moved and stretched to [0, 1]; equal ones to 0."""
    low, high = float(scores.min(initial=0.0)), float(scores.max(initial=0.0))
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))


_SCORES: Mapping[str, Callable[[Plain, str, Vectors], Floats]] = {
    "bm25": lambda plain, text, _: plain._bm25(text),
    "cosine": lambda plain, _, vector: plain._cosine(vector),
    "fusion": lambda plain, text, vector: plain._fused(text, vector),
    "hybrid": lambda plain, text, vector: plain._hybrid(text, vector),
}
_SAID = {
    "bm25": "BM25 over stems without stop words, title and text",
    "cosine": "cosine of the cue's vector and each memory's",
    "fusion": "rank fusion of BM25 and cosine, k = {p.fusion_k}",
    "hybrid": "BM25 and cosine, each scaled to [0, 1], {p.hybrid:g} of the former",
}
BASELINES = tuple(_SCORES)
"""Their names."""
