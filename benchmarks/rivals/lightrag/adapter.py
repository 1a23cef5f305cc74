"""LightRAG: texts as documents, their chunks in its own vector store, found in its naive mode.

A language model draws the entities of its graph from every chunk; its naive mode would need none to search, but a
document whose extraction failed is not kept.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

import asyncio

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer

LOOP = asyncio.new_event_loop()
LONGEST = 1 << 16


class Bytes:
    """LightRAG's seam for tokenizers, since its own fetches a vocabulary: one token a byte."""

    def encode(self, text):
        return list(text.encode())

    def decode(self, tokens):
        return bytes(tokens).decode(errors="replace")


async def no_model(*_, **__):
    raise RuntimeError("LightRAG asks a language model for the entities of a text, and there is none")


def load(memories, vectors):
    return LOOP.run_until_complete(inserted(memories, vectors))


async def inserted(memories, vectors):
    known = protocol.Known([memory.indexed for memory in memories], vectors)

    async def embed(texts):
        return np.asarray(known.many(texts))

    rag = LightRAG(
        working_dir=str(protocol.folder()),
        llm_model_func=no_model,
        tokenizer=Tokenizer("bytes", Bytes()),
        chunk_token_size=LONGEST,
        embedding_func=EmbeddingFunc(embedding_dim=known.dimension, max_token_size=8192, func=embed),
    )
    await rag.initialize_storages()
    for part in (memories[:1], memories[1:]):  # the first alone, so that it fails early
        keys = [memory.key for memory in part]
        await rag.ainsert([memory.indexed for memory in part], ids=keys, file_paths=keys)
        counts = await rag.get_processing_status()
        if not counts.get("processed"):
            raise RuntimeError(f"no text was processed without a language model: {counts}")
    return rag, known


def search(store, text, vector, limit):
    rag, known = store
    known.tell(text, vector)
    asked = QueryParam(mode="naive", chunk_top_k=limit, enable_rerank=False)
    found = LOOP.run_until_complete(rag.aquery_data(text, asked))
    return list(dict.fromkeys(chunk["file_path"] for chunk in found["data"]["chunks"]))


protocol.serve(load, search, versions=["lightrag-hku"])
