"""A hook of an agent, answered at once: the command line, which takes longer to load, is not needed for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_OPTIONS = {f"--{name}": name for name in ("agent", "url", "namespace", "profile", "embedder")}


def answered(arguments: Sequence[str]) -> bool:
    """Whether the arguments are a plain call of a hook, which then is answered."""
    asked = hook_of(arguments)
    if asked is None:
        return False
    from priming.serve import hooks

    hooks.run(**asked)
    return True


def hook_of(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The options of a plain ``hook EVENT --agent NAME …``; None for anything else, such as a question for help.

    >>> hook_of(["hook", "stop", "--agent", "cursor"]), hook_of(["hook", "--help"]), hook_of(["recall", "x"])
    ({'event': 'stop', 'agent': 'cursor'}, None, None)
    """
    if len(arguments) < 2 or arguments[0] != "hook" or arguments[1].startswith("-"):
        return None
    given: dict[str, Any] = {"event": arguments[1]}
    rest = iter(arguments[2:])
    for one in rest:
        name, _, value = one.partition("=")
        if name not in _OPTIONS:
            return None
        value = value or next(rest, "")
        if not value:
            return None
        given[_OPTIONS[name]] = value
    return given
