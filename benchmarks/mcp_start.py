"""How soon the first answer of ``priming mcp`` comes, against importing the protocol library alone.

Each run is a process from nothing. The client writes its first request at once and waits for the answer to it:
``initialize``, or ``server/discover`` from a client of the newest protocol. The store holds 10,000 memories.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import common
import corpus
from priming import Memory

SHELL = Path(sys.executable).parent / "priming"
NEWEST = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
FIRST: Mapping[str, Mapping[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
    "server/discover": {"_meta": META},
}


def main() -> None:
    options = common.arguments(__doc__ or "").parse_args()
    count, times = (500, 5) if options.quick else (10_000, 15)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/memory.db"
        with Memory.open(url) as memory:
            memory.remember_many(corpus.memories(count))
        cases = {method: lambda _, method=method: first_answer(url, method) for method in FIRST}
        taken = common.medians(
            {**cases, "import": lambda _: import_alone()}, [None] * times, warm_up=1, block=times
        )
    rows = [
        common.Row(
            f"priming mcp, {method}",
            taken[method],
            taken["import"],
            1.3,
            "python -c 'import mcp.server'",
            growth=True,
        )
        for method in FIRST
    ]
    common.show("The first answer of MCP, from a cold start", rows)
    common.write("mcp_start", rows, packages=("mcp",), memories=count)


def first_answer(url: str, method: str) -> None:
    """Start the command, ask, read one line, and end it."""
    command = [str(SHELL), "--url", url, "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": FIRST[method]}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert "result" in answer, answer
        process.kill()


def import_alone() -> None:
    """What any server on this library pays."""
    subprocess.run([sys.executable, "-c", "import mcp.server"], check=True)


if __name__ == "__main__":
    main()
