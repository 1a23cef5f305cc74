"""The service that carries out calls, on the memories of one store; and the answer of a call whose server ended.

Memories are opened by namespace. A lost answer is rebuilt from the log.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

from priming.config import environment
from priming.config.values import dataclass
from priming.core.arguments.checks import check_name
from priming.errors import Conflict, PrimingError, StoreError
from priming.results import Remembered
from priming.serialization import decode, encode
from priming.types import Link, Operation, Progress
from priming.verbs.rows import served

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.embedding.protocol import Embedder
    from priming.history.weights_over_time import StrengthEvent
    from priming.learning.run_actions import Run
    from priming.memory import Memory
    from priming.rules.results import Pack
    from priming.transfer.run import Follower
    from priming.types import Clock, MemoryRecord
    from priming.verbs.op import Op


LOG = logging.getLogger(__name__)
MOST_OPEN = 64
"""Maximum number of open namespaces; beyond it the least recently used one is closed."""


class How(TypedDict, total=False):
    """How a call is carried out."""

    forgiving: bool
    """Whether other names for arguments are accepted."""
    progress: Progress | None
    """Called with (done, total or None) by long operations."""
    operation_id: str | None
    """The id that the operation gets in the log."""


class Service(Protocol):
    """What answers calls: a ``LocalService`` of this process, or a client of a server."""

    def call(self, namespace: str, operation: str, request: Any, **how: Unpack[How]) -> Any:
        """Carry out an operation of the table and return its answer as JSON."""
        ...

    def memory(self, namespace: str) -> AbstractContextManager[Memory]:
        """Return the memory of a namespace in this process, for what a server does not do."""
        ...

    def close(self) -> None:
        """Release its resources."""
        ...


def call_here(
    service: Service,
    namespace: str,
    op: Op,
    request: Any,
    *,
    progress: Progress | None = None,
    agent: Callable[[], Any] = lambda: None,
) -> Any:
    """Carry out an operation in this process, one for this machine only too; ``agent`` opens the agent it may ask."""
    from priming.operations.schema import arguments

    values = arguments(op, request, forgiving=True)
    if op.long:
        values["progress"] = progress
    if op.asks:
        values["agent"] = agent()
    with service.memory(namespace) as memory:
        return encode(op.function(memory, **values))


@dataclass(slots=True)
class _OpenMemory:
    """An open memory and the number of its running calls."""

    memory: Memory
    calls: int = 0


class LocalService:
    """The memories of one store. Calls may come from many threads; those of one namespace run in turn."""

    def __init__(
        self,
        url: str | None = None,
        *,
        profile: str = "priming",
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
        most: int = MOST_OPEN,
    ) -> None:
        self.url, self.profile, self.settings = url, profile, settings
        self._embedder, self._clock, self._most = embedder, clock, most
        self._by_name = embedder is None
        self._open: OrderedDict[str, _OpenMemory] = OrderedDict()
        self._lock = Lock()
        self._closed = False
        self._heads: dict[str, int] = {}
        self._follower: Follower | None = None
        self._next_look = 0.0
        self._settled: set[tuple[str, int, str, int]] = set()

    def call(self, namespace: str, operation: str, request: Any, **how: Unpack[How]) -> Any:
        """Carry out an operation of the table and return its answer as JSON.

        Args:
            namespace: the namespace to work in.
            operation: the name of the operation in the table.
            request: a mapping of its arguments, as JSON has them.
            how: see ``How``.

        Raises:
            ParamError: an unknown operation, or invalid arguments.
            PrimingError: the errors of the operation.

        """
        from priming.operations.schema import arguments

        op = served(operation)
        values = arguments(op, request, forgiving=how.get("forgiving", False))
        if op.long:
            values["progress"] = how.get("progress")
        operation_id = how.get("operation_id")
        with self.memory(namespace) as memory:
            identified = op.writes and not op.long and operation_id is not None
            turn = memory.store.lease(memory.namespace) if op.long else nullcontext()
            with memory.identified(str(operation_id)) if identified else turn:
                return encode(op.function(memory, **values))

    @contextmanager
    def memory(self, namespace: str) -> Iterator[Memory]:
        """Hold the memory of a namespace; it stays open for later calls."""
        entry = self._take(namespace)
        try:
            yield entry.memory
        finally:
            self._give_back(entry)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that are open."""
        with self._lock:
            return tuple(self._open)

    @property
    def embedder(self) -> Embedder:
        """The embedder of its new memories; under ``auto`` an older namespace may go on with another."""
        if self._embedder is None:
            from priming.embedding.registry import chosen, named

            self._embedder = named(chosen(self.settings))
        return self._embedder

    @property
    def stamp(self) -> str:
        """Identifies the vectors of its memories, across processes."""
        from priming.embedding.registry import chosen, stamp, stamp_of

        return stamp(chosen(self.settings)) if self._by_name else stamp_of(self.embedder)

    def make_vectors(self, seconds: float, progress: Progress | None = None) -> None:
        """Spend so many seconds on the vectors that the memories of each open namespace wait for."""
        from priming.remember.vectors import follow

        for name in self.namespaces:
            with suppress(PrimingError), self.memory(name) as memory:
                follow(memory, seconds, progress=progress)

    def settle(self) -> None:
        """Let the user's agent, if there is one, decide on rules that are unclear, where something changed."""
        from priming.maintenance.contradictions import settle, users_judge

        judge = None if self.settings is None else users_judge(self.settings)
        if judge is None:
            return
        for name in self.namespaces:
            with suppress(PrimingError), self.memory(name) as memory:
                head = memory.store.head(name)
                if self._heads.get(name) != head:
                    self._heads[name] = head
                    settle(memory, judge, self._settled)

    def follow(self) -> None:
        """Bring the memories of the sources that the settings name in step, where something in them changed.

        Looking takes at most a thirtieth of the time.
        """
        paths = () if self.settings is None else self.settings.followed
        if not paths or self.settings is None or time.monotonic() < self._next_look:
            return
        from priming.transfer.run import Follower

        began = time.monotonic()
        self._follower = self._follower or Follower(paths)
        with suppress(PrimingError), self.memory(self.settings["store.namespace"]) as memory:
            for path, report in self._follower.follow(memory):
                if isinstance(report, PrimingError):
                    LOG.warning("%s is not followed: %s", path, report)
        self._next_look = began + 30 * (time.monotonic() - began)

    def close(self) -> None:
        """Close all memories; a running call closes its own when it ends."""
        with self._lock:
            self._closed = True
            idle = [entry for entry in self._open.values() if not entry.calls]
            self._open.clear()
        for entry in idle:
            entry.memory.close()

    def _take(self, namespace: str) -> _OpenMemory:
        namespace = check_name("namespace", namespace) or ""
        with self._lock:
            if self._closed:
                raise Conflict("this service is closed: open another")
            entry = self._open.get(namespace) or self._opened(namespace)
            self._open[namespace] = entry
            self._open.move_to_end(namespace)
            entry.calls += 1
            surplus = self._surplus()
        for unused in surplus:
            unused.memory.close()
        return entry

    def _opened(self, namespace: str) -> _OpenMemory:
        environment.load_numpy()
        from priming.embedding.registry import AUTO, chosen, is_auto
        from priming.memory import Memory

        is_open = self._by_name and is_auto(chosen(self.settings))
        return _OpenMemory(
            Memory.open(
                self.url,
                namespace=namespace,
                profile=self.profile,
                settings=self.settings,
                embedder=AUTO if is_open else self.embedder,
                clock=self._clock,
            )
        )

    def _surplus(self) -> list[_OpenMemory]:
        """Remove idle memories beyond the maximum from the open ones and return them, least recently used first."""
        idle = [name for name, entry in self._open.items() if not entry.calls]
        return [self._open.pop(name) for name in idle[: max(0, len(self._open) - self._most)]]

    def _give_back(self, entry: _OpenMemory) -> None:
        with self._lock:
            entry.calls -= 1
            last = self._closed and not entry.calls
        if last:
            entry.memory.close()


_NEVER_EMPTY = ("graph", "strengths")
"""Operations that answer something about a namespace without memories too, such as an empty drawing."""


def may_be_empty(op: Op, answer: Any) -> bool:
    """Tell whether an answer may be that of a namespace without memories."""
    return not answer or op.name in _NEVER_EMPTY


def reason_of(service: Service, namespace: str, op: Op, answer: Any) -> str | None:
    """Tell why the answer of an operation that reads is empty; None if it is not, or has a field for the reason."""
    if op.writes or isinstance(answer, dict) or not may_be_empty(op, answer):
        return None
    reason = service.call(namespace, "status", {})["reason"]
    return None if reason is None else str(reason)


Rebuild = Callable[["Memory", Operation], Any]


def answer_of(op: Op, memory: Memory, logged: Operation) -> Any:
    """Return the answer of a call that was carried out as the logged operation.

    Raises:
        StoreError: the log does not hold enough to rebuild it; the call was carried out nevertheless.

    """
    if op.answers in _REBUILDS:
        return _REBUILDS[op.answers](memory, logged)
    raise StoreError(
        f"{op.command} was carried out as operation {logged.id}, but the server ended before it answered: "
        "priming log shows what it did"
    )


def _remembered(memory: Memory, logged: Operation) -> Remembered:
    """Return the first memory of the operation is the one remembered; the others are names in it."""
    row = _rows(logged, "memories")[0]
    key = memory.get(row["id"]).key
    if logged.kind != "remember":
        return Remembered(row["id"], key, "echo", (), logged.id)
    return Remembered(row["id"], key, "stored", tuple(_links(memory, logged)), logged.id)


def _record(memory: Memory, logged: Operation) -> MemoryRecord:
    return memory.get(_rows(logged, "versions")[0]["id"])


def _link(memory: Memory, logged: Operation) -> Link:
    return _links(memory, logged)[0]


def _links(memory: Memory, logged: Operation) -> list[Link]:
    rows = _rows(logged, "links")
    ids = {row[end] for row in rows for end in ("source", "target")}
    keys = {memory_id: memory.get(memory_id).key for memory_id in ids}
    return [
        decode(Link, {**row, "source": keys[row["source"]], "target": keys[row["target"]]}) for row in rows
    ]


def _run(memory: Memory, logged: Operation) -> Run:
    run_id = _rows(logged, "runs")[0]["id"]
    (run,) = (each for each in memory.run_list() if each.id == run_id)
    return replace(run, operation=logged.id)


def _pack(memory: Memory, logged: Operation) -> Pack:
    (pack,) = (each for each in memory.pack_list() if each.operation == logged.id)
    return pack


def _events(memory: Memory, logged: Operation) -> list[StrengthEvent]:
    return [event for event in memory.events(since=logged.at) if event.operation == logged.id]


def _rows(logged: Operation, table: str) -> list[Mapping[str, Any]]:
    """Return the rows of a table as the operation left them."""
    return [change.after for change in logged.changes if change.table == table and change.after is not None]


_REBUILDS: Mapping[str, Rebuild] = {
    "Operation": lambda _, logged: logged,
    "Remembered": _remembered,
    "MemoryRecord": _record,
    "Version": _record,
    "Link": _link,
    "list[Link]": _links,
    "Run": _run,
    "Pack": _pack,
    "list[StrengthEvent]": _events,
}
"""How each type of answer is rebuilt; the log does not hold enough for the others."""
