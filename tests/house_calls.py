"""Walk through real calls: the functions of the package that each enters, in order.

    python tests/house_calls.py SOURCE      print the walks as JSON, of the checkout whose packages lie in SOURCE

Every call but that of the hook is warm: the same has been done before, so that no import and no first use is counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

CUE = "why did the release fail?"
MEMORIES = [
    *(
        {"content": f"The release failed on day {day} because Kestrel was down.", "session": "s"}
        for day in range(3)
    ),
    {"content": "The release failed because Kestrel was down.", "key": "outage"},
]
_OPTIMIZED = 1
"""The flag of a function's code, which the bodies of modules and classes lack."""


class Walk:
    """What a call enters: the file and the function of each entry, below the folder of the packages."""

    def __init__(self, source: str) -> None:
        self.source = source.rstrip("/") + "/"
        self.steps: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call of a function of ours; comprehensions are part of the function that they are written in."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self.source) or not code.co_flags & _OPTIMIZED:
            return
        if not code.co_name.startswith("<") or code.co_name == "<lambda>":
            file = code.co_filename.removeprefix(self.source)
            self.steps.append((file, f"{code.co_qualname}:{code.co_firstlineno}"))


@contextmanager
def walked(source: str) -> Iterator[Walk]:
    """Trace this thread and those that start within."""
    walk = Walk(source)
    threading.setprofile(walk)
    sys.setprofile(walk)
    try:
        yield walk
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def of_memory(source: str) -> Iterator[tuple[str, Walk]]:
    """Walk through the verbs of a memory in this process, each for the second time but a night."""
    from priming import HashedEmbedder, Memory

    memory = Memory.open("sqlite://", embedder=HashedEmbedder(256))
    first, *_ = [memory.remember(**request) for request in MEMORIES]
    memory.recall(CUE)
    memory.feedback(used=[first.key])
    memory.learn("Use tabs in Makefiles.", wrong="Indented the Makefile with spaces.")
    calls: dict[str, Callable[[], Any]] = {
        "recall": lambda: memory.recall(CUE),
        "remember": lambda: memory.remember("The key to Kestrel hangs in room 12.", session="s", key="key"),
        "feedback": lambda: memory.feedback(used=["outage"]),
        "learn": lambda: memory.learn("Run the tests before a push.", wrong="Pushed without running them."),
        "sleep": memory.sleep,
    }
    for name, call in calls.items():
        with walked(source) as walk:
            call()
        yield name, walk


def of_server(source: str) -> tuple[str, Walk]:
    """Walk through a recall over HTTP: the application of the server, with the threads of its calls."""
    from priming import HashedEmbedder
    from priming.operations.service import LocalService
    from priming_server.access.tokens import Tokens
    from priming_server.http import create_app

    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/memory.db"
        service, tokens = LocalService(url, embedder=HashedEmbedder(256)), Tokens(url)
        with walked(source) as walk:
            app = create_app(service, tokens)
            for request in MEMORIES:
                asyncio.run(_posted(app, "remember", request))
            asyncio.run(_posted(app, "recall", {"text": CUE}))
            walk.steps.clear()
            answer = asyncio.run(_posted(app, "recall", {"text": CUE}))
        assert b"Kestrel" in answer, answer
        service.close()
        tokens.close()
    return "HTTP recall", walk


async def _posted(app: Any, operation: str, request: dict[str, str]) -> bytes:
    body, sent = json.dumps(request).encode(), []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": f"/v1/default/{operation}",
        "raw_path": f"/v1/default/{operation}".encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [*headers, (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 7777),
    }
    await app(scope, receive, send)
    assert sent[0]["status"] == 200, sent
    return b"".join(message.get("body", b"") for message in sent)


def of_hook(source: str) -> tuple[str, Walk]:
    """Walk through the hook of a prompt that no server answers, from its first line to its last."""
    from priming import Memory
    from priming_agents.client import run_plain

    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PRIMING_HOME": f"{folder}/home", "PRIMING_SERVER": "off", "HOME": folder}
        os.chdir(folder)
        Path(folder, ".priming").mkdir()
        with Memory.open() as memory:
            for request in MEMORIES:
                memory.remember(**request)
        payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": folder, "prompt": CUE}
        Path(folder, "event").write_text(json.dumps(payload))
        output, written = os.dup(1), os.open(f"{folder}/output", os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(os.open(f"{folder}/event", os.O_RDONLY), 0)
        os.dup2(written, 1)
        with walked(source) as walk:
            run_plain(["hook", "prompt", "--agent", "claude-code"])
        os.dup2(output, 1)
        assert "Kestrel" in Path(folder, "output").read_text()
        os.chdir("/")
    return "hook prompt", walk


def main() -> None:
    """Print the walks of a checkout, each as [file, function] of every entry."""
    source = str(Path(sys.argv[1]).resolve())
    sys.path.insert(0, source)
    walks = dict(of_memory(source))
    walks |= dict([of_server(source), of_hook(source)])
    print(json.dumps({name: walk.steps for name, walk in walks.items()}))


if __name__ == "__main__":
    main()
