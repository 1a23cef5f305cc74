"""Chroma, in process: its HNSW index over cosine, with the harness's vectors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate(ANONYMIZED_TELEMETRY="False")

import chromadb
from chromadb.config import Settings

NAME = "memories"


def load(memories, vectors):
    client = chromadb.PersistentClient(
        path=str(protocol.folder()), settings=Settings(anonymized_telemetry=False)
    )
    collection = client.create_collection(
        NAME, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    most = client.get_max_batch_size()
    for start in range(0, len(memories), most):
        part = memories[start : start + most]
        collection.add(
            ids=[memory.key for memory in part],
            documents=[memory.indexed for memory in part],
            embeddings=vectors[start : start + most],
        )
    return collection, client


def search(store, text, vector, limit):
    collection, _ = store
    return collection.query(query_embeddings=[vector], n_results=limit, include=[])["ids"][0]


protocol.serve(load, search, versions=["chromadb"])
