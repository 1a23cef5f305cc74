"""``priming mcp --compat server-memory`` beside the original, which npm installs: the same calls to both.

python tests/agents/test_server_memory.py    record what the original answers for ``tests/adapters``
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.agents

PACKAGE = "@modelcontextprotocol/server-memory"
RECORDED = Path(__file__).parents[1] / "adapters" / "server_memory_calls.json"
START = "from priming.cli.start import main; main()"
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
NAMES = ["Ada", "Kite", "kite", "São Tomé", "", 'quo"ted', "line\nbreak", "\u2028\x7f\x01"]
TYPES = ["person", "service", ""]
TEXTS = ["lives in Porto", "Lives in Braga", "", "x", "uses Kite", "déjà vu 🙂", "a\tb\\"]


def original(folder: Path) -> list[str]:
    """The command of the original, installed."""
    subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), PACKAGE], check=True)
    return ["node", str(folder / "node_modules" / PACKAGE / "dist" / "index.js")]


@contextmanager
def talking(command: list[str], file: Path) -> Iterator[Any]:
    """A function that sends a request to a server on standard input and returns its result."""
    environment = {**os.environ, "MEMORY_FILE_PATH": str(file)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def request(method: str, params: Any) -> Any:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())["result"]

        try:
            request("initialize", HELLO)
            process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
            yield request
        finally:
            process.kill()


def calls(seed: int, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Random calls, most of them valid."""
    draw = random.Random(seed)

    def several(values: list[str]) -> list[str]:
        return [draw.choice(values) for _ in range(draw.randint(0, 3))]

    def relation() -> dict[str, str]:
        ends = {"from": draw.choice(NAMES), "to": draw.choice(NAMES)}
        return {**ends, "relationType": draw.choice(["knows", "looks after", ""])}

    def entity() -> dict[str, Any]:
        about = {"name": draw.choice(NAMES), "entityType": draw.choice(TYPES)}
        return {**about, "observations": several(TEXTS), **({"extra": 1} if draw.random() < 0.2 else {})}

    def observations(of: str) -> list[dict[str, Any]]:
        return [{"entityName": draw.choice(NAMES), of: several(TEXTS)} for _ in range(draw.randint(0, 2))]

    makers: dict[str, Any] = {
        "create_entities": lambda: {"entities": [entity() for _ in range(draw.randint(0, 3))]},
        "create_relations": lambda: {"relations": [relation() for _ in range(draw.randint(0, 3))]},
        "add_observations": lambda: {"observations": observations("contents")},
        "delete_entities": lambda: {"entityNames": several(NAMES)[:1]},
        "delete_observations": lambda: {"deletions": observations("observations")},
        "delete_relations": lambda: {"relations": [relation()]},
        "read_graph": dict,
        "search_nodes": lambda: {"query": draw.choice(["kite", "PORTO", "", "o", "vu 🙂", "Person"])},
        "open_nodes": lambda: {"names": several(NAMES)},
    }
    names = ["create_entities", "create_relations", "add_observations", *makers]
    for _ in range(number):
        name = draw.choice(names)
        yield name, makers[name]()


def outcome(request: Any, file: Path, name: str, arguments: Any) -> dict[str, Any]:
    answer = request("tools/call", {"name": name, "arguments": arguments})
    return {"answer": answer, "file": file.read_text("utf-8") if file.exists() else None}


def compared(name: str, result: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """What is compared: of an error that there is one, and nothing where ours recalls what theirs does not find."""
    answer = expected["answer"]
    if answer.get("isError"):
        return {**result, "answer": result["answer"].get("isError")}
    is_recall = name == "search_nodes" and not answer["structuredContent"]["entities"]
    return {**result, "answer": None} if is_recall else result


@pytest.mark.parametrize("seed", range(5))
def test_random_calls_are_answered_and_written_as_by_the_original(tmp_path: Path, seed: int) -> None:
    theirs, own = tmp_path / "theirs.jsonl", tmp_path / "own.jsonl"
    store = ["--url", f"sqlite:///{tmp_path}/memory.db", "mcp", "--compat", "server-memory"]
    ours = [sys.executable, "-c", START, *store]
    with talking(original(tmp_path), theirs) as expected, talking(ours, own) as request:
        for name, arguments in calls(seed, 60):
            answers = [
                outcome(ask, file, name, arguments) for ask, file in ((expected, theirs), (request, own))
            ]
            expected_answer, answer = (compared(name, each, answers[0]) for each in answers)
            assert answer == expected_answer, (name, arguments)


def test_the_two_servers_can_take_turns_on_a_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    store = ["--url", f"sqlite:///{tmp_path}/memory.db", "mcp", "--compat", "server-memory"]
    commands = [original(tmp_path), [sys.executable, "-c", START, *store]]
    with talking(commands[0], file) as theirs, talking(commands[1], file) as ours:
        for number, (name, arguments) in enumerate(calls(7, 60)):
            outcome((theirs, ours)[number % 2], file, name, arguments)
            graphs = [ask("tools/call", {"name": "read_graph", "arguments": {}}) for ask in (theirs, ours)]
            assert graphs[0] == graphs[1]


def record(folder: Path) -> None:
    """Write what the original lists and answers."""
    file = folder / "graph.jsonl"
    with talking(original(folder), file) as request:
        tools = request("tools/list", {})["tools"]
        answered = [
            {"name": name, "arguments": arguments, **outcome(request, file, name, arguments)}
            for name, arguments in calls(0, 60)
        ]
    text = json.dumps({"tools": tools, "calls": answered}, ensure_ascii=False)
    RECORDED.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
