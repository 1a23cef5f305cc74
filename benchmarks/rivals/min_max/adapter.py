"""The min-max hybrid: half BM25 and half cosine, each laid on 0 to 1."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()
from classic import Classic


def search(store, text, vector, limit):
    return store.keys(protocol.best(store.hybrid(text, vector), limit))


protocol.serve(Classic, search, versions=["bm25s", "PyStemmer", "numpy"])
