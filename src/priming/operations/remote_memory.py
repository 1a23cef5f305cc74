"""A memory that another process holds open: the verbs of ``Memory``, answered by a server."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from priming.errors import NotFound
from priming.operations.client import Client, reach
from priming.operations.service import may_be_empty
from priming.operations.table import find, named
from priming.results import Listing, Status
from priming.serialization import decode, encode
from priming.types import Cue
from priming.verbs.op import Op

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.memory import Memory
    from priming.types import Proposal

_NO_VALUES = ("agent", "beside")
"""Arguments that are not plain values: a call with one of them works on the file, in this process."""


def open_memory(
    url: str | None = None,
    *,
    namespace: str = "default",
    profile: str = "priming",
    settings: Settings | None = None,
    server: bool = True,
) -> Memory:
    """Open a memory through a running server of its store, if ``server`` allows it and one runs, else its file."""
    client = reach(url, profile=profile, settings=settings) if server else None
    if client is not None:
        return cast("Memory", RemoteMemory(client, namespace))
    from priming.memory import Memory

    return Memory.open(url, namespace=namespace, profile=profile, settings=settings)


class RemoteMemory:
    """The verbs of a ``Memory``, with the same arguments, answers and errors, in a server or on the file."""

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
        """End the connection to the server; a second call does nothing."""
        self._client.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = find(name)
        if op is None:
            raise AttributeError(f"a memory behind a server has no {name!r}")
        return partial(self._call, op)

    def apply(self, proposal: Proposal | str, **options: Any) -> Any:
        """Apply a proposal: by its id while the server that made it runs, else by its items."""
        proposal_id = proposal if isinstance(proposal, str) else proposal.id
        try:
            return self._call(named("apply"), proposal_id, **options)
        except NotFound:
            if proposal_id is proposal:
                raise
            return self._on_file(named("apply"), (proposal,), options)

    def _call(self, op: Op, *positional: Any, **named: Any) -> Any:
        values = {name: value for name, value in named.items() if value or name not in _NO_VALUES}
        progress = values.pop("progress", None)
        if (
            op.local
            or len(positional) > len(op.takes)
            or not all(map(_survives_json, (*positional, *values.values())))
        ):
            return self._on_file(op, positional, named)
        arguments = {**dict(zip(op.takes, positional, strict=False)), **values}
        request = {name: _as_json(value) for name, value in arguments.items()}
        answer = decode(op.answer, self._client.call(self.namespace, op.name, request, progress=progress))
        if not isinstance(answer, list) or not may_be_empty(op, answer):
            return answer
        return Listing(answer, self._empty_reason())

    def _empty_reason(self) -> str | None:
        """Why a list is empty, as the file itself would say."""
        status: Status = self._call(named("status"))
        return status.reason

    def _on_file(self, op: Op, positional: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The same call on the file, in this process."""
        with self._client.memory(self.namespace) as memory:
            return op.function(memory, *positional, **named)


def _survives_json(value: Any) -> bool:
    """Whether a value is the same after it went through JSON; others are left to the library to judge."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, datetime):
        return value.tzinfo is not None
    if isinstance(value, Cue):
        return _survives_json(value.context()) and _survives_json(value.at)
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _survives_json(inner) for name, inner in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_survives_json, value))
    return value is None or isinstance(value, (str, int))


def _as_json(value: Any) -> Any:
    """A value as a request has it."""
    if isinstance(value, Cue):
        return encode({"text": value.text, "at": value.at, **value.context()})
    return encode(value)
