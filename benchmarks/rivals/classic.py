"""Textbook retrieval, as the classic rivals share it: stemmed BM25 and the cosine of the harness's vectors."""

from __future__ import annotations

import bm25s
import numpy as np
import Stemmer

import protocol


class Classic:
    """An index over memories that scores all of them."""

    def __init__(self, memories: list[protocol.Memory], vectors: np.ndarray | None) -> None:
        self.memories = memories
        self.vectors = vectors
        self._stemmer = Stemmer.Stemmer("english")
        self._bm25 = bm25s.BM25(k1=1.2)
        texts = [memory.indexed for memory in memories]
        self._bm25.index(
            bm25s.tokenize(texts, stopwords="en_plus", stemmer=self._stemmer, show_progress=False),
            show_progress=False,
        )

    def bm25(self, text: str) -> np.ndarray:
        """The BM25 score of every memory."""
        found = bm25s.tokenize(
            text, stopwords="en_plus", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        known = [term for term in found[0] if term in self._bm25.vocab_dict]
        return self._bm25.get_scores(known) if known else np.zeros(len(self.memories), dtype=np.float32)

    def cosine(self, vector: np.ndarray | None) -> np.ndarray:
        """The cosine of every memory with the cue."""
        if self.vectors is None or vector is None:
            raise ValueError("vectors None must be rows: this rival needs an embedder in the harness")
        return self.vectors @ vector

    def hybrid(self, text: str, vector: np.ndarray | None) -> np.ndarray:
        """Half BM25 and half cosine, each laid on 0 to 1."""
        return 0.5 * spanned(self.bm25(text)) + 0.5 * spanned(self.cosine(vector))

    def keys(self, rows: np.ndarray) -> list[str]:
        """The keys of rows."""
        return [self.memories[row].key for row in rows]


def spanned(scores: np.ndarray) -> np.ndarray:
    """Scores laid on 0 to 1 between their least and their greatest."""
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)
