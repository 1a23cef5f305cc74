"""LanceDB's hybrid search: its full-text index and exact vectors, joined by its reciprocal rank fusion."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

import lancedb
from lancedb.rerankers import RRFReranker


def load(memories, vectors):
    database = lancedb.connect(str(protocol.folder()))
    rows = [
        {"key": memory.key, "text": memory.indexed, "vector": vector}
        for memory, vector in zip(memories, vectors, strict=True)
    ]
    table = database.create_table("memories", rows)
    table.create_fts_index("text", language="English", stem=True, remove_stop_words=True)
    return table, RRFReranker()


def search(store, text, vector, limit):
    table, fusion = store
    asked = table.search(query_type="hybrid").vector(vector).distance_type("cosine").text(text)
    return [row["key"] for row in asked.rerank(reranker=fusion).limit(limit).to_list()]


protocol.serve(load, search, versions=["lancedb"])
