"""LlamaIndex: its vector and BM25 retrievers, fused by reciprocal rank without generated queries."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

import Stemmer
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.retrievers.bm25 import BM25Retriever


class Handed(BaseEmbedding):
    """LlamaIndex's seam for embedders; never called, since nodes and cues bring their vectors."""

    def _get_text_embedding(self, text):
        raise LookupError(f"no vector was handed over for {text!r}")

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query):
        return self._get_query_embedding(query)


class Retrievers:
    """The index, and one fused retriever for each limit."""

    def __init__(self, memories, vectors):
        nodes = [
            TextNode(id_=memory.key, text=memory.indexed, embedding=vector.tolist())
            for memory, vector in zip(memories, vectors, strict=True)
        ]
        self.index = VectorStoreIndex(nodes, embed_model=Handed())
        self.nodes = nodes
        self.fused = {}

    def of(self, limit):
        if limit not in self.fused:
            words = BM25Retriever.from_defaults(
                nodes=self.nodes,
                similarity_top_k=limit,
                stemmer=Stemmer.Stemmer("english"),
                language="english",
            )
            near = self.index.as_retriever(similarity_top_k=limit)
            self.fused[limit] = QueryFusionRetriever(
                [near, words],
                llm=MockLLM(),
                mode="reciprocal_rerank",
                similarity_top_k=limit,
                num_queries=1,
                use_async=False,
            )
        return self.fused[limit]


def search(store, text, vector, limit):
    found = store.of(limit).retrieve(QueryBundle(text, embedding=vector.tolist()))
    return [hit.node.node_id for hit in found]


protocol.serve(Retrievers, search, versions=["llama-index-core", "llama-index-retrievers-bm25", "PyStemmer"])
