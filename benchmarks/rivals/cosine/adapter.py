"""Exact cosine of the vectors that the harness hands over, in numpy."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()


def load(memories, vectors):
    if vectors is None:
        raise ValueError("vectors None must be rows: this rival needs an embedder in the harness")
    return [memory.key for memory in memories], vectors


def search(store, text, vector, limit):
    keys, vectors = store
    return [keys[row] for row in protocol.best(vectors @ vector, limit)]


protocol.serve(load, search, versions=["numpy"])
