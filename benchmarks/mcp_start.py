"""The processor time until ``priming mcp`` answers, against that of a Python which imports ``json``.

Each run is a process from nothing. The client writes its first requests at once and waits for the answers:
``initialize`` and the list of tools, or ``server/discover`` from a client of the newest protocol. The store holds
10,000 memories.
"""

from __future__ import annotations

import json
import resource
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
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
FIRST: Mapping[str, tuple[float, Mapping[str, Mapping[str, Any]]]] = {
    "initialize and tools/list": (8.0, {"initialize": HELLO, "tools/list": {}}),
    "server/discover": (8.0, {"server/discover": {"_meta": META}}),
}
"""The first requests with their parameters, and what their answers may take, as a multiple of that."""


def main() -> None:
    options = common.arguments(__doc__ or "").parse_args()
    count, times = (500, 5) if options.quick else (10_000, 15)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/memory.db"
        with Memory.open(url) as memory:
            memory.remember_many(corpus.memories(count))
        cases = {name: lambda _, sent=sent: first_answers(url, sent) for name, (_, sent) in FIRST.items()}
        taken = common.medians(
            {**cases, "import": lambda _: import_alone()},
            [None] * times,
            warm_up=1,
            block=times,
            clock=processor_time,
        )
    rows = [
        common.Row(
            f"priming mcp, {name}",
            taken[name],
            taken["import"],
            most,
            "python -c 'import json'",
            growth=True,
        )
        for name, (most, _) in FIRST.items()
    ]
    common.show("The first answer of MCP, from a cold start", rows)
    common.write("mcp_start", rows, memories=count)


def first_answers(url: str, requests: Mapping[str, Mapping[str, Any]]) -> None:
    """Start the command, ask, read a line for each request, and end it."""
    command = [str(SHELL), "--url", url, "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, (method, params) in enumerate(requests.items()):
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        for _ in requests:
            answer = json.loads(process.stdout.readline())
            assert "result" in answer, answer
        process.kill()


def import_alone() -> None:
    """What any program pays."""
    subprocess.run([sys.executable, "-c", "import json"], check=True)


def processor_time() -> float:
    """Return the seconds that the processes took which have ended, in all."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
