"""Where calls are answered: the memories of one store, opened by namespace, for every server and surface."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from priming import serialization
from priming.api.ops import served
from priming.errors import Conflict, PrimingError

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.embed.protocol import Embedder
    from priming.memory import Memory
    from priming.types import Clock

Progress = Callable[[int, int | None], None]
MOST_OPEN = 64
"""How many namespaces are kept open; beyond that the one unused for longest is closed."""


class Service(Protocol):
    """What answers calls: a ``Host`` of this process, or a client of another's."""

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
        """Carry out an operation of the table and answer it as JSON."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


@dataclass(slots=True)
class _Open:
    """An open memory, and how many calls are at work in it."""

    memory: Memory
    calls: int = 0


class Host:
    """The memories of one store. Calls may come from many threads; those of one namespace take turns."""

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
        self._open: OrderedDict[str, _Open] = OrderedDict()
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
        """Carry out an operation of the table and answer it as JSON.

        Args:
            namespace: where.
            operation: its name in the table.
            request: a mapping of its arguments, as JSON has them.
            forgiving: whether other names for arguments do too.
            progress: called with (done, total or None) by what takes long.
            operation_id: the id that the operation is to have in the log, so that the caller can look for it.

        Raises:
            ParamError: no such operation, or what is wrong with its arguments.
            PrimingError: what the operation raises.

        """
        from priming.api.wire import arguments

        op = served(operation)
        given = arguments(op, request, forgiving=forgiving)
        if op.long:
            given["progress"] = progress
        with self.memory(namespace) as memory:
            named = op.writes and not op.long and operation_id is not None
            with memory.identified(str(operation_id)) if named else nullcontext():
                return serialization.encode(op.function(memory, **given))

    @contextmanager
    def memory(self, namespace: str) -> Iterator[Memory]:
        """The memory of a namespace, kept open for the next call."""
        held = self._take(namespace)
        try:
            yield held.memory
        finally:
            self._give_back(held)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Those that are open."""
        with self._lock:
            return tuple(self._open)

    @property
    def embedder(self) -> Embedder:
        """What makes the vectors of its memories."""
        if self._embedder is None:
            from priming.embed.choose import DEFAULT, named

            self._embedder = named(self.settings["store.embedder"] if self.settings else DEFAULT)
        return self._embedder

    def close(self) -> None:
        """Close all memories; a call that is still at work closes its own when it is done."""
        with self._lock:
            self._closed = True
            idle = [one for one in self._open.values() if not one.calls]
            self._open.clear()
        for one in idle:
            one.memory.close()

    def _take(self, namespace: str) -> _Open:
        with self._lock:
            if self._closed:
                raise Conflict("this host is closed: open another")
            held = self._open.get(namespace) or self._opened(namespace)
            self._open[namespace] = held
            self._open.move_to_end(namespace)
            held.calls += 1
            over = self._over()
        for one in over:
            one.memory.close()
        return held

    def _opened(self, namespace: str) -> _Open:
        from priming.memory import Memory

        return _Open(
            Memory.open(
                self.url,
                namespace=namespace,
                profile=self.profile,
                settings=self.settings,
                embedder=self.embedder,
                clock=self._clock,
            )
        )

    def _over(self) -> list[_Open]:
        """Those to be closed, so that no more than the most stay open: idle ones, the longest unused first."""
        idle = [name for name, one in self._open.items() if not one.calls]
        return [self._open.pop(name) for name in idle[: max(0, len(self._open) - self._most)]]

    def _give_back(self, held: _Open) -> None:
        with self._lock:
            held.calls -= 1
            last = self._closed and not held.calls
        if last:
            held.memory.close()


def told(error: PrimingError) -> dict[str, str]:
    """An error as every surface tells it: its stable code and its message."""
    return {"code": error.code, "message": "; ".join([str(error), *getattr(error, "__notes__", [])])}
