"""An embedder behind an endpoint of this machine: what a recall takes, and loses, where vectors come over a socket.

Whoever asks gets vectors and nothing else: no tokens to weigh, and no words of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from priming.embedding.endpoint import EndpointEmbedder
from priming.embedding.protocol import Embedder


@contextmanager
def served(embedder: Embedder) -> Iterator[Embedder]:
    """The same vectors, asked for as those of a remote model are; the server ends with the block."""

    class Handler(BaseHTTPRequestHandler):
        """Answers requests for embeddings."""

        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """The vectors of one batch."""
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            rows = [
                {"object": "embedding", "index": at, "embedding": row}
                for at, row in enumerate(embedder.embed(asked["input"]).tolist())
            ]
            said = json.dumps({"object": "list", "data": rows, "model": asked["model"]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Nothing: a line a request would drown the tables."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        model, _, _ = embedder.generation.partition("/")
        yield EndpointEmbedder(f"http://127.0.0.1:{server.server_port}/v1", f"{model}-served")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
