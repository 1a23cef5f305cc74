"""Reciprocal rank fusion of BM25 and cosine, Σ 1/(60 + rank), over both complete rankings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()
import numpy as np

from classic import Classic

K = 60


def search(store, text, vector, limit):
    fused = np.zeros(len(store.memories))
    for scores in (store.bm25(text), store.cosine(vector)):
        order = protocol.best(scores, len(scores))
        order = order[scores[order] > 0]
        fused[order] += 1 / (K + 1 + np.arange(len(order)))
    return store.keys(protocol.best(fused, limit))


protocol.serve(Classic, search, versions=["bm25s", "PyStemmer", "numpy"])
