"""The contestants of ``dropins.py``: the shapes of other libraries, and these.

    python benchmarks/dropin_stores.py CONTESTANT FOLDER QUESTION

opens what ``dropins.py`` left in a folder and searches once. Nothing that another contestant needs is imported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

NAME, FIRST = "notes", 10
SERVER = "@modelcontextprotocol/server-memory"
START = "from priming.cli.start import main; main()"
CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
Items = Sequence[tuple[str, str]]
"""Keys and texts."""


@dataclass(frozen=True, slots=True)
class Store:
    """What every contestant can do: keep texts, name the keys that a search returns, and end."""

    load: Callable[[Items], Any]
    search: Callable[[str], list[str]]
    close: Callable[[], Any]


class Vectors:
    """The installed sentence model, which reads each text once; ``saved`` has those of another process."""

    dimension = 384

    def __init__(self, saved: Path | None = None) -> None:
        self._rows: dict[str, Any] = {}
        self._model: Any = None
        self.seconds = 0.0
        if saved is not None:
            texts = json.loads((saved / "texts.json").read_text("utf-8"))
            self._rows = dict(zip(texts, np.load(saved / "rows.npy"), strict=True))

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit rows, one a text."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._rows]:
            from priming.embedding.registry import named

            began = time.perf_counter()
            self._model = self._model or named("onnx")
            self._rows.update(zip(new, self._model.embed(new), strict=True))
            self.seconds += time.perf_counter() - began
        return np.array([self._rows[text] for text in texts], np.float32).reshape(-1, self.dimension)

    def save(self, folder: Path) -> None:
        """Write them for another process."""
        (folder / "texts.json").write_text(json.dumps([*self._rows]), "utf-8")
        np.save(folder / "rows.npy", np.array([*self._rows.values()]))


def opened(folder: Path, vectors: Vectors) -> Any:
    """A memory with the embedder that Priming has by default, which takes the vectors of texts from here."""
    from priming import Memory
    from priming.embedding.registry import named

    embedder: Any = named("semantic")
    embedder.embed = vectors.embed
    return Memory.open(f"sqlite:///{folder}/memory.db", embedder=embedder)


def in_memory_store(_: Path, vectors: Vectors) -> Store:
    from langgraph.store.memory import InMemoryStore

    def embed(texts: Sequence[str]) -> Any:
        return vectors.embed(texts).tolist()

    return langgraph(InMemoryStore(index={"dims": vectors.dimension, "embed": embed, "fields": ["text"]}))


def priming_store(folder: Path, vectors: Vectors) -> Store:
    from priming_adapters.langgraph import PrimingStore

    memory = opened(folder, vectors)
    return langgraph(PrimingStore(memory, index={"fields": ["text"]}), memory.close)


def langgraph(store: Any, close: Callable[[], Any] = lambda: None) -> Store:
    from langgraph.store.base import PutOp

    return Store(
        lambda items: store.batch([PutOp((NAME,), key, {"text": text}) for key, text in items]),
        lambda text: [item.key for item in store.search((NAME,), query=text, limit=FIRST)],
        close,
    )


def mem0(folder: Path, vectors: Vectors) -> Store:
    os.environ |= {"MEM0_TELEMETRY": "false", "MEM0_DIR": str(folder)}
    from mem0 import Memory
    from mem0.embeddings.base import EmbeddingBase

    class Embedder(EmbeddingBase):
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002
            return list(vectors.embed([text])[0].tolist())

    place = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": vectors.dimension}
    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    store = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": place},
            "history_db_path": str(folder / "history.db"),
            "llm": unused,
            "embedder": unused,
        }
    )
    store.embedding_model = Embedder()
    return of_mem0(store, lambda: (store.close(), store.vector_store.client.close()))


def priming_mem0(folder: Path, vectors: Vectors) -> Store:
    from priming_adapters.mem0 import Memory

    memory = opened(folder, vectors)
    return of_mem0(Memory(memory), memory.close)


def of_mem0(store: Any, close: Callable[[], Any]) -> Store:
    def load(items: Items) -> None:
        for key, text in items:
            store.add(text, user_id=NAME, metadata={"key": key}, infer=False)

    def search(text: str) -> list[str]:
        hits = store.search(text, filters={"user_id": NAME}, top_k=FIRST)["results"]
        return [hit["metadata"]["key"] for hit in hits]

    return Store(load, search, close)


def chroma(folder: Path, vectors: Vectors) -> Store:
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
    notes = client.get_or_create_collection(NAME, embedding_function=None)

    def load(items: Items) -> None:
        size = client.get_max_batch_size()
        for start in range(0, len(items), size):
            keys, texts = zip(*items[start : start + size], strict=True)
            notes.add(ids=[*keys], documents=[*texts], embeddings=vectors.embed(texts))

    def search(text: str) -> list[str]:
        found = notes.query(query_embeddings=vectors.embed([text]), n_results=FIRST, include=[])
        return list(found["ids"][0])

    return Store(load, search, client.close)


def priming_memory(folder: Path, vectors: Vectors) -> Store:
    memory = opened(folder, vectors)
    return Store(
        lambda items: memory.remember_many([{"content": text, "key": key} for key, text in items]),
        lambda text: [hit.memory.key for hit in memory.recall(text, limit=FIRST)],
        memory.close,
    )


def server_memory(folder: Path, _: Vectors) -> Store:
    place = Path(os.environ["NODE_PATH"], SERVER, "dist", "index.js")
    return over_mcp(["node", str(place)], MEMORY_FILE_PATH=str(folder / "graph.jsonl"))


def priming_server(folder: Path, _: Vectors) -> Store:
    store = ["--url", f"sqlite:///{folder}/memory.db", "mcp", "--compat", "server-memory"]
    return over_mcp([sys.executable, "-c", START, *store])


def over_mcp(command: Sequence[str], **environment: str) -> Store:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=os.environ | environment
    )

    def request(method: str, params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())["result"]

    def called(name: str, **arguments: Any) -> Any:
        return request("tools/call", {"name": name, "arguments": arguments})["structuredContent"]

    def load(items: Items) -> None:
        called(
            "create_entities",
            entities=[{"name": key, "entityType": "note", "observations": [text]} for key, text in items],
        )

    request("initialize", CLIENT)
    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    return Store(
        load,
        lambda text: [each["name"] for each in called("search_nodes", query=text)["entities"]],
        lambda: (process.kill(), process.communicate()),
    )


STORES: dict[str, Callable[[Path, Vectors], Store]] = {
    each.__name__: each
    for each in (
        in_memory_store,
        priming_store,
        mem0,
        priming_mem0,
        chroma,
        priming_memory,
        server_memory,
        priming_server,
    )
}


def reopened(name: str, folder: Path, vectors: Vectors) -> Store:
    """What is in a folder; a store in memory is filled anew, from ``items.json``."""
    store = STORES[name](folder, vectors)
    if name == in_memory_store.__name__:
        store.load(json.loads((folder / "items.json").read_text("utf-8")))
    return store


def main() -> None:
    name, folder, question = sys.argv[1:]
    reopened(name, Path(folder), Vectors(Path(folder))).search(question)
    os._exit(0)  # threads of a library are not waited for


if __name__ == "__main__":
    main()
