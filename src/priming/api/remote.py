"""A memory that another process holds open: the verbs of ``Memory``, answered by a service."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from priming import serialization
from priming.api.client import Client, reach
from priming.api.ops import BY_NAME, Op
from priming.errors import NotFound
from priming.types import Cue

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.memory import Memory
    from priming.sleeping import Proposal

_STAY = ("agent", "beside")
"""Arguments that are no values: with one of them the file is worked on in this process."""


def open_memory(
    url: str | None = None,
    *,
    namespace: str = "default",
    profile: str = "priming",
    settings: Settings | None = None,
    server: bool = True,
) -> Memory:
    """Open a memory by a running server of its store, if there is one and ``server`` allows it, else by its file."""
    client = reach(url, profile=profile, settings=settings) if server else None
    if client is not None:
        return cast("Memory", Remote(client, namespace))
    from priming.memory import Memory

    return Memory.open(url, namespace=namespace, profile=profile, settings=settings)


class Remote:
    """The verbs of a ``Memory``, with the same arguments, answers and errors, in a server or in the file."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self.namespace = namespace

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Part from the server; a second call does nothing."""
        self._client.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = BY_NAME.get(name)
        if op is None:
            raise AttributeError(f"a memory behind a server has no {name!r}")
        return partial(self._call, op)

    def apply(self, proposal: Proposal | str, **named: Any) -> Any:
        """Do what a proposal says: by its id where the server that made it still runs."""
        sent = proposal if isinstance(proposal, str) else proposal.id
        try:
            return self._call(BY_NAME["apply"], sent, **named)
        except NotFound:
            if sent is proposal:
                raise
            return self._here(BY_NAME["apply"], (proposal,), named)

    def _call(self, op: Op, *given: Any, **named: Any) -> Any:
        sent = {name: one for name, one in named.items() if one or name not in _STAY}
        progress = sent.pop("progress", None)
        if op.local or len(given) > len(op.takes) or not all(map(_crosses, (*given, *sent.values()))):
            return self._here(op, given, named)
        request = {**dict(zip(op.takes, given, strict=False)), **sent}
        asked = {name: _sent(one) for name, one in request.items()}
        return serialization.decode(
            op.answer, self._client.call(self.namespace, op.name, asked, progress=progress)
        )

    def _here(self, op: Op, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The same call on the file, in this process."""
        with self._client.memory(self.namespace) as memory:
            return op.function(memory, *given, **named)


def _crosses(value: Any) -> bool:
    """Whether a value is the same after it went through JSON; of another the library itself is to say what it is."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, datetime):
        return value.tzinfo is not None
    if isinstance(value, Cue):
        return _crosses(value.context()) and _crosses(value.at)
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _crosses(one) for name, one in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_crosses, value))
    return value is None or isinstance(value, (str, int))


def _sent(value: Any) -> Any:
    """A value as a request has it."""
    if isinstance(value, Cue):
        return serialization.encode({"text": value.text, "at": value.at, **value.context()})
    return serialization.encode(value)
