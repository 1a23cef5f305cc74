"""Recalls a second over HTTP, at 1, 4 and 16 clients, against the library in one process.

The server is a process of its own, the clients are threads of another, each with one connection that it keeps. All
ask the same namespace, whose recalls take turns. An answer that is not 200 is an error, and ends in exit status 1.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import common
import corpus
from priming import Memory

SHELL = Path(sys.executable).parent / "priming"
CLIENTS = (1, 4, 16)


def main() -> None:
    options = common.arguments(__doc__ or "").parse_args()
    count, asked = (500, 160) if options.quick else (10_000, 1_600)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/memory.db"
        with Memory.open(url) as memory:
            memory.remember_many(corpus.memories(count))
            questions = list(corpus.questions(asked))
            library = timed([lambda text: bool(memory.recall(text))], questions)
        with server(url) as port:
            served = {number: over_http(port, number, questions) for number in CLIENTS}
    rows = [
        common.Row(
            f"a recall, {number} clients", each.a_call, library.a_call, against="the library", growth=True
        )
        for number, each in served.items()
    ]
    common.show("Recalls over HTTP: time spent for each", rows)
    figures = {"library": library.figures(), **{f"{n} clients": one.figures() for n, one in served.items()}}
    for name, each in figures.items():
        print(f"{name:10}  {each}")
    print(
        common.write("serving", rows, packages=("starlette", "uvicorn"), quick=options.quick, figures=figures)
    )
    if any(each["errors"] for each in figures.values()):
        sys.exit("some recalls were not answered")


class Taken:
    """How long each call took, and all of them together."""

    def __init__(self, calls: Sequence[float], whole: float, errors: int) -> None:
        self.calls, self.whole, self.errors = sorted(calls), whole, errors

    @property
    def a_call(self) -> float:
        """Milliseconds of the whole for each call."""
        return self.whole * 1000 / len(self.calls)

    def figures(self) -> dict[str, float]:
        """What is read first."""
        cuts = statistics.quantiles(self.calls, n=100)
        return {
            "calls": len(self.calls),
            "errors": self.errors,
            "recalls_a_second": round(len(self.calls) / self.whole, 1),
            "p50_ms": round(cuts[49] * 1000, 2),
            "p99_ms": round(cuts[98] * 1000, 2),
        }


def timed(callers: Sequence[Callable[[str], bool]], questions: Sequence[str]) -> Taken:
    """The questions shared out among the callers, all at once, each first asking one that does not count."""
    calls: list[float] = []
    answered: list[bool] = []
    ready = threading.Barrier(len(callers) + 1)

    def ask(place: int) -> None:
        callers[place](questions[place])
        ready.wait()
        for text in questions[place :: len(callers)]:
            began = time.perf_counter()
            answered.append(callers[place](text))
            calls.append(time.perf_counter() - began)

    with ThreadPoolExecutor(len(callers)) as pool:
        asking = [pool.submit(ask, place) for place in range(len(callers))]
        ready.wait()
        began = time.perf_counter()
        for one in asking:
            one.result()
        return Taken(calls, time.perf_counter() - began, answered.count(False))


def over_http(port: int, number: int, questions: Sequence[str]) -> Taken:
    """The questions asked by so many clients."""
    connections = [HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(number)]

    def caller(connection: HTTPConnection) -> Callable[[str], bool]:
        def ask(text: str) -> bool:
            body = json.dumps({"text": text}).encode()
            connection.request("POST", "/v1/default/recall", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return bool(json.loads(answer.read())) and answer.status == 200

        return ask

    try:
        return timed([caller(one) for one in connections], questions)
    finally:
        for one in connections:
            one.close()


@contextmanager
def server(url: str, **variables: str) -> Iterator[int]:
    """A server of the store, as a process with more variables of the environment; its port."""
    command = [SHELL, "--json", "serve", "--port", "0", "--rate", "0", "--url", url]
    silent = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=silent, text=True, env={**os.environ, **variables}
    ) as process:
        try:
            assert process.stdout is not None
            yield int(json.loads(process.stdout.readline())["listening"].rpartition(":")[2])
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
