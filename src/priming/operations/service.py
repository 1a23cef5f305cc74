"""The service that carries out calls: the memories of one store, opened by namespace."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from priming.config.values import dataclass
from priming.errors import Conflict, PrimingError
from priming.operations.table import served
from priming.serialization import encode
from priming.types import Progress

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.embedding.protocol import Embedder
    from priming.memory import Memory
    from priming.types import Clock
    from priming.verbs.op import Op

MOST_OPEN = 64
"""Maximum number of open namespaces; beyond it the least recently used one is closed."""


class Service(Protocol):
    """What answers calls: a ``LocalService`` of this process, or a client of a server."""

    def call(
        self,
        namespace: str,
        operation: str,
        request: Any,
        *,
        forgiving: bool = False,
        progress: Progress | None = None,
        operation_id: str | None = None,
    ) -> Any:
        """Carry out an operation of the table and return its answer as JSON."""
        ...

    def memory(self, namespace: str) -> AbstractContextManager[Memory]:
        """The memory of a namespace in this process, for what a server does not do."""
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

    def call(
        self,
        namespace: str,
        operation: str,
        request: Any,
        *,
        forgiving: bool = False,
        progress: Progress | None = None,
        operation_id: str | None = None,
    ) -> Any:
        """Carry out an operation of the table and return its answer as JSON.

        Args:
            namespace: the namespace to work in.
            operation: the name of the operation in the table.
            request: a mapping of its arguments, as JSON has them.
            forgiving: whether other names for arguments are accepted.
            progress: called with (done, total or None) by long operations.
            operation_id: the id that the operation gets in the log.

        Raises:
            ParamError: an unknown operation, or invalid arguments.
            PrimingError: the errors of the operation.

        """
        from priming.operations.schema import arguments

        op = served(operation)
        values = arguments(op, request, forgiving=forgiving)
        if op.long:
            values["progress"] = progress
        with self.memory(namespace) as memory:
            identified = op.writes and not op.long and operation_id is not None
            turn = memory.store.lease(namespace) if op.long else nullcontext()
            with memory.identified(str(operation_id)) if identified else turn:
                return encode(op.function(memory, **values))

    @contextmanager
    def memory(self, namespace: str) -> Iterator[Memory]:
        """The memory of a namespace; it stays open for later calls."""
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

    def close(self) -> None:
        """Close all memories; a running call closes its own when it ends."""
        with self._lock:
            self._closed = True
            idle = [entry for entry in self._open.values() if not entry.calls]
            self._open.clear()
        for entry in idle:
            entry.memory.close()

    def _take(self, namespace: str) -> _OpenMemory:
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
        """Idle memories beyond the maximum, least recently used first, removed from the open ones."""
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
    """Whether an answer may be that of a namespace without memories."""
    return not answer or op.name in _NEVER_EMPTY


def reason_of(service: Service, namespace: str, op: Op, answer: Any) -> str | None:
    """Why the answer of an operation that reads is empty; None if it is not, or has a field for the reason."""
    if op.writes or isinstance(answer, dict) or not may_be_empty(op, answer):
        return None
    reason = service.call(namespace, "status", {})["reason"]
    return None if reason is None else str(reason)
