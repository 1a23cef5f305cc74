"""Tantivy's BM25: English stems, all words of the cue, any of them enough."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

import re

import tantivy


def load(memories, vectors):
    english = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.stopword("english"))
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )
    fields = tantivy.SchemaBuilder()
    fields.add_integer_field("row", stored=True)
    fields.add_text_field("text", tokenizer_name="english")
    index = tantivy.Index(fields.build())
    index.register_tokenizer("english", english)
    writer = index.writer(num_threads=1)
    for row, memory in enumerate(memories):
        writer.add_document(tantivy.Document(row=row, text=memory.indexed))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index, [memory.key for memory in memories]


def search(store, text, vector, limit):
    index, keys = store
    query = index.parse_query(" ".join(re.findall(r"\w+", text)), ["text"])
    searcher = index.searcher()
    return [keys[searcher.doc(place)["row"][0]] for _, place in searcher.search(query, limit).hits]


protocol.serve(load, search, versions=["tantivy"])
