"""The caller: each surface states who calls it, and by what, and the log records it with the operation.

A client over TCP is named by its token and cannot choose its name; a process of the same user names its caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from priming.config.environment import default_actor
from priming.config.values import dataclass

LIBRARY = "library"
_LONGEST = 120
_HEADERS = {"actor": "Priming-Actor", "via": "Priming-Via", "session": "Priming-Session"}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, by what means, and in which session: an agent by its hook, a token over HTTP, a person by a command.

    ``actor`` is "user", an agent, "token NAME" or "server"; ``via`` the surface, and what was called there,
    as in "library", "command used", "hook prompt", "mcp feedback", "http learn", "socket ingest". ``everywhere`` says
    whether it may use all namespaces: to others no answer names another namespace, and none is looked at for it.
    ``identified`` says whether its token proves who it is, so that others who write here are other people.
    """

    actor: str
    via: str = LIBRARY
    session: str | None = None
    everywhere: bool = True
    identified: bool = False

    def attribution(self) -> dict[str, Any]:
        """Return what the log records of it with an operation."""
        return {name: getattr(self, name) for name in _HEADERS}

    def headers(self) -> dict[str, str]:
        """Return the headers of a request that carry it to the server of a store."""
        return {_HEADERS[name]: _ascii(value) for name, value in self.attribution().items() if value}

    def after(self, headers: Mapping[str, str]) -> Caller:
        """Return the caller that headers name; fields that they lack are those of this caller."""
        values = {name: _text(headers.get(header, "")) for name, header in _HEADERS.items()}
        actor, via, session = (values[name] or getattr(self, name) for name in _HEADERS)
        return replace(self, actor=actor, via=via, session=session)


def present_caller() -> Caller:
    """Return the current caller; by default the user, through the library."""
    return _CALLER.get() or Caller(default_actor())


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    """Attribute the operations in the block to a caller."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)


def _ascii(value: str) -> str:
    """Return a value encoded for a header."""
    return value[:_LONGEST].encode("unicode_escape").decode("ascii")


def _text(header: str) -> str:
    try:
        text = header.encode("ascii", "ignore").decode("unicode_escape")
    except UnicodeDecodeError:
        return ""
    return " ".join(text.encode("utf-8", "ignore").decode("utf-8").split())[:_LONGEST]


_CALLER: ContextVar[Caller | None] = ContextVar("priming_caller", default=None)
