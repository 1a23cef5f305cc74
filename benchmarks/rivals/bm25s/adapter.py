"""BM25 by bm25s: Snowball stems, English stop words out."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()
from classic import Classic


def search(store, text, vector, limit):
    scores = store.bm25(text)
    return store.keys([row for row in protocol.best(scores, limit) if scores[row] > 0])


protocol.serve(Classic, search, versions=["bm25s", "PyStemmer"])
