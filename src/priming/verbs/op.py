"""One verb of the table: its name, its function, and what neither its signature nor its docstring can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from importlib import import_module
from typing import Any

from priming.config.values import dataclass
from priming.types import EMPTY
from priming.verbs.source import Declaration, answer_type, declaration


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation.

    ``at`` is where its function is, as ``module:name`` or, of the same name, ``module``. The function is a method of
    ``Memory``, too, unless it is no ``verb``; ``wire`` is the module of another function that carries out requests.
    ``writes``, ``destructive`` (data may be lost for good), ``admin`` (only a token of that kind may call it) and
    ``idempotent`` (a second call changes nothing more) are what a client may want to know before it calls. Those that
    ``asks`` marks need an agent. ``group`` is the group of tools that it belongs to in MCP; ``words`` are other words
    that callers use for an argument, with spaces between; ``example`` is a request that shows more than the required
    arguments. ``own`` are arguments that name a folder or a command of this machine: only the user's own processes
    may send them. ``local`` is the reason why an operation is for this machine only; servers do not offer it.
    ``stands_for`` is such an operation in whose place this one is served.
    """

    name: str
    at: str
    group: str = ""
    writes: bool = False
    destructive: bool = False
    admin: bool = False
    idempotent: bool = False
    asks: bool = False
    example: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    words: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    own: tuple[str, ...] = ()
    stands_for: str = ""
    local: str = ""
    wire: str = ""
    verb: bool = True

    @property
    def needs(self) -> str:
        """The least kind of token that may call it."""
        return "admin" if self.admin else "write" if self.writes else "read"

    @property
    def other_names(self) -> Mapping[str, str]:
        """The arguments by the other words for them."""
        return {word: name for name, words in self.words.items() for word in words.split()}

    @property
    def method(self) -> str:
        """Where the function is that ``Memory`` has, as ``module:name``."""
        return self.at if ":" in self.at else f"{self.at}:{self.name}"

    @property
    def place(self) -> str:
        """Where the function is that carries out a request, as ``module:name``."""
        return f"{self.wire}:{self.name}" if self.wire else self.method

    @property
    def declared(self) -> Declaration:
        """What its function declares, without importing it."""
        return declaration(self.place)

    @property
    def answers(self) -> str:
        """The type of its answer as written, such as ``list[Link]``."""
        return self.declared.answer

    @property
    def answer(self) -> Any:
        """The type of its answer, loaded when first needed: most commands need only a few."""
        return answer_type(self.place)

    @property
    def takes(self) -> tuple[str, ...]:
        """The arguments that may be passed by position."""
        return tuple(name for name, argument in self.declared.arguments.items() if argument.is_positional)

    @property
    def long(self) -> bool:
        """Whether it reports its progress."""
        return "progress" in self.declared.arguments

    @property
    def function(self) -> Callable[..., Any]:
        """The function that carries out a request, loaded when first needed: its first argument is a ``Memory``."""
        return load(self.place)

    @property
    def command(self) -> str:
        """Its name on the command line."""
        return self.name.replace("_", "-")


def load(place: str) -> Callable[..., Any]:
    """Return the function at ``module:name``."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
