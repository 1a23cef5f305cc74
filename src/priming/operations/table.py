"""The operation table: every operation once, for the command line, HTTP, the socket and MCP alike.

Its rows are those of the library (``priming.verbs.rows``) and of the packages beside it. A surface reads this table
and nothing else of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from priming import extensions
from priming.config.values import rule_of
from priming.config.words import TOOL_GROUPS
from priming.errors import ParamError
from priming.verbs.op import Op
from priming.verbs.rows import ROWS

_OWN_NAMES: Mapping[str, Op] = {op.name: op for op in ROWS}

OPS: tuple[Op, ...]
"""Every operation: those of the library, and of what is installed beside it."""
BY_NAME: Mapping[str, Op]
SERVED: tuple[Op, ...]
"""Those that a server offers."""


@cache
def _all() -> Mapping[str, Op]:
    beside = (op for more in extensions.load(extensions.OPERATIONS) for op in more)
    return {op.name: op for op in (*ROWS, *beside)}


def __getattr__(name: str) -> Any:
    """Return ``BY_NAME``, ``OPS`` or ``SERVED``, for which what is installed is looked up when first needed."""
    match name:
        case "BY_NAME":
            return _all()
        case "OPS":
            return tuple(_all().values())
        case "SERVED":
            return tuple(op for op in _all().values() if not op.local)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def find(name: str) -> Op | None:
    """Return the operation of that name; the library's own are found without looking for others."""
    return _OWN_NAMES.get(name) or _all().get(name)


def named(name: str) -> Op:
    """Return the operation of a name that there is."""
    return _OWN_NAMES.get(name) or _all()[name]


def group_names(groups: str) -> set[str]:
    """The groups of a list with commas between; case and white space do not count."""
    return {word.strip().lower() for word in groups.split(",")} - {""}


def tools(groups: str, name: str = "tools", *, own: bool = False) -> tuple[Op, ...]:
    """The operations of these groups, which have commas between; errors say ``name``.

    They are those that a server offers; to the user's ``own`` process also those for this machine only.
    """
    words = group_names(groups)
    if not words or words - {*TOOL_GROUPS}:
        raise ParamError(name, groups, f"must be {rule_of({'members': TOOL_GROUPS})}")
    offered = [op for op in _all().values() if op.group in words or (op.group and "all" in words)]
    return tuple(op for op in offered if not (op.stands_for if own else op.local))


def served(name: str) -> Op:
    """The operation of that name that a server offers, or ``ParamError`` with the names there are."""
    op = find(name)
    if op is None or op.local:
        why = (
            f"is not served: {op.local}"
            if op
            else f"must be one of {', '.join(each.name for each in _all().values() if not each.local)}"
        )
        raise ParamError("operation", name, why)
    return op
