"""One verb of the table: its name, its function, and what neither its signature nor its docstring can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from importlib import import_module
from typing import Any

from priming.config.values import dataclass
from priming.types import EMPTY
from priming.verbs.source import Declaration, answer_type, declaration
from priming.verbs.words import OTHER_WORDS

PROPERTIES = ("writes", "destructive", "admin", "idempotent", "asks")
"""What ``Op.about`` may say of an operation, beside its group."""


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation.

    ``at`` is where its function is, as ``module:name`` or, of the same name, ``module``. The function is a method of
    ``Memory``, too, unless it is no ``verb``; ``wire`` is the module of another function that carries out requests.
    ``about`` is the group of tools that it belongs to in MCP, and what a client may want to know before it calls:
    whether it ``writes``, is ``destructive`` (data may be lost for good), for ``admin`` (only a token of that kind
    may call it), ``idempotent`` (a second call changes nothing more), or ``asks`` (it needs an agent). ``words`` are
    other words that callers use for an argument, beside those of ``priming.verbs.words``; ``example`` is a request
    that shows more than the required arguments. ``own`` are arguments that name a folder or a command of this
    machine: only the user's own processes may send them. ``local`` is the reason why an operation is for this machine
    only; servers do not offer it. ``stands_for`` is such an operation in whose place this one is served.
    """

    name: str
    at: str
    about: str = ""
    example: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    words: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    own: tuple[str, ...] = ()
    stands_for: str = ""
    local: str = ""
    wire: str = ""
    verb: bool = True

    @property
    def group(self) -> str:
        """The group of tools that it belongs to in MCP; empty if it is for this machine only."""
        return next((word for word in self.about.split() if word not in PROPERTIES), "")

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return "writes" in self.about.split()

    @property
    def destructive(self) -> bool:
        """Whether data may be lost for good."""
        return "destructive" in self.about.split()

    @property
    def idempotent(self) -> bool:
        """Whether a second call changes nothing more."""
        return "idempotent" in self.about.split()

    @property
    def admin(self) -> bool:
        """Whether only a token of that kind may call it."""
        return "admin" in self.about.split()

    @property
    def asks(self) -> bool:
        """Whether it needs an agent."""
        return "asks" in self.about.split()

    @property
    def needs(self) -> str:
        """The least kind of token that may call it."""
        return "admin" if self.admin else "write" if self.writes else "read"

    @property
    def other_names(self) -> Mapping[str, str]:
        """Its arguments by the other words for them."""
        return _other_names(self)

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


@cache
def _other_names(op: Op) -> Mapping[str, str]:
    arguments, names = op.declared.arguments, dict[str, str]()
    for name, words in (*op.words.items(), *OTHER_WORDS.items()):
        for word in words.split() if name in arguments else ():
            if word not in arguments:
                names.setdefault(word, name)
    return names
