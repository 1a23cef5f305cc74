"""One operation of the table: its name, its answer, and its properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from importlib import import_module
from typing import Any

from priming.config.values import dataclass
from priming.types import EMPTY

MEMORY = "priming.memory:Memory"
CALLS = "priming.operations.wire_calls"
_HOMES = {
    **dict.fromkeys(("str", "int"), "builtins"),
    "Path": "pathlib",
    **dict.fromkeys(("Link", "MemoryRecord", "Operation", "Proposal", "Version"), "priming.types"),
    **dict.fromkeys(("Learned", "NearDuplicates", "Pack", "Why"), "priming.rules.results"),
    **dict.fromkeys(("Oscillation", "StrengthEvent", "Strengths"), "priming.history.weights_over_time"),
    "Run": "priming.learning.results",
}
"""The modules of the types of answers; the others are in ``priming.results``."""


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation.

    ``answers`` names the type of the answer, ``takes`` the arguments that may be passed by position. ``writes``,
    ``destructive`` (data may be lost for good), ``admin`` (only a
    token of that kind may call it) and ``idempotent`` (a second call changes nothing more) are what a
    client may want to know before it calls. ``long`` operations report their progress, those that ``asks`` marks need
    an agent. ``group`` is the group of tools that it belongs to in MCP; ``other_names`` are other words that callers
    use for the arguments. ``own`` are arguments that name a folder or a command of this machine: only the user's own
    processes may send them. ``local`` is the reason why an operation is for this machine only; servers do not offer
    it. ``stands_for`` is such an operation in whose place this one is served. ``home`` is the module of the type of
    its answer, where that is not the library's.
    """

    name: str
    answers: str
    takes: tuple[str, ...] = ()
    writes: bool = False
    destructive: bool = False
    admin: bool = False
    idempotent: bool = False
    long: bool = False
    asks: bool = False
    group: str = ""
    other_names: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    own: tuple[str, ...] = ()
    stands_for: str = ""
    local: str = ""
    at: str = ""
    home: str = ""

    @property
    def needs(self) -> str:
        """The least kind of token that may call it."""
        return "admin" if self.admin else "write" if self.writes else "read"

    @property
    def answer(self) -> Any:
        """The type of its answer, loaded when first needed: most commands need only a few."""
        inner = self.answers.removeprefix("list[").removesuffix("]")
        answer_type: Any = getattr(import_module(self.home or _HOMES.get(inner, "priming.results")), inner)
        return answer_type if inner == self.answers else list[answer_type]

    @property
    def place(self) -> str:
        """Where its function is, as ``module:name``: a method of ``Memory`` unless ``at`` names another."""
        return self.at or f"{MEMORY}.{self.name}"

    @property
    def function(self) -> Callable[..., Any]:
        """Its function, loaded when first needed: its first argument is an open ``Memory``."""
        module, _, path = self.place.partition(":")
        function: Any = import_module(module)
        for name in path.split("."):
            function = getattr(function, name)
        return function  # type: ignore[no-any-return]

    @property
    def command(self) -> str:
        """Its name on the command line."""
        return self.name.replace("_", "-")
