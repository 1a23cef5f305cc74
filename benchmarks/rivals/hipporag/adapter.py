"""HippoRAG 2: names and facts drawn by a language model, personalised PageRank over them.

hipporag 2.0.0a4 requires torch 2.5.1 and vLLM 0.6.6.post1: for Linux, builds with CUDA of several gigabytes, which
`requirements.txt` leaves out. Its indexing asks a language model about every text. `pagerank` beside this stands in
for its retrieval. Where hipporag is installed by hand, this adapter runs it.
"""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import protocol

protocol.isolate()

try:
    metadata.version("hipporag")
except metadata.PackageNotFoundError:
    sys.exit(
        "hipporag 2.0.0a4 is not installed: it requires torch 2.5.1 and vLLM 0.6.6.post1, builds with CUDA"
    )

from hipporag import HippoRAG


def load(memories, vectors):
    store = HippoRAG(save_dir=str(protocol.folder()))
    store.index(docs=[memory.indexed for memory in memories])
    return store, {memory.indexed: memory.key for memory in memories}


def search(store, text, vector, limit):
    rag, keys = store
    return [keys[found] for found in rag.retrieve(queries=[text], num_to_retrieve=limit)[0].docs]


protocol.serve(load, search, versions=["hipporag"])
