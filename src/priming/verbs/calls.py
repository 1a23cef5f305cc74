"""Calls of verbs in Python: results stand for their names, and a wrong name is answered with the right one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from priming.errors import ParamError
from priming.verbs.op import MEANINGS, Op

_RESULTS = ("priming.types", "priming.results", "priming.rules.results")
"""Where the types are of what verbs answer."""
_NAMES: Mapping[str, tuple[str, ...]] = {
    "recall_id": ("recall_id",),
    "operation_id": ("operation", "id"),
    "run_id": ("id",),
}
"""The fields that name a result, by the argument that it is passed for; for any other, its key."""


def called(op: Op, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verb's function as a method of ``Memory``.

    It takes hits, memories and operations where keys and ids are. An argument that there is not, and one that is
    missing, raise ``ParamError``.
    """
    _, *parameters = inspect.signature(function).parameters.values()
    names = [
        each.name
        for each in parameters
        if each.kind is each.POSITIONAL_OR_KEYWORD or each.kind is each.POSITIONAL_ONLY
    ]
    required = [
        each.name for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD
    ]
    own = {each.name for each in parameters}
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters)

    @wraps(function)
    def call(memory: Any, *values: Any, **arguments: Any) -> Any:
        if len(values) > len(names):
            extra = values[len(names)]
            place = f"takes {', '.join(names) or 'nothing'} by position: name the others, as in {op.name}(…, limit=…)"
            raise ParamError(f"argument {len(names) + 1}", extra, f"{op.name} {place}")
        if not is_open and not own.issuperset(arguments):
            raise ParamError.of(
                [
                    f"{name} = {value!r:.80}: {op.unknown(name)}"
                    for name, value in arguments.items()
                    if name not in own
                ]
            )
        for name in required[len(values) :]:
            if name not in arguments:
                raise ParamError(
                    name, None, f"must be given: {MEANINGS.get(name) or f'see the help of {op.name}'}"
                )
        return function(
            memory,
            *(_named(name, value) for name, value in zip(names, values, strict=False)),
            **{name: _named(name, value) for name, value in arguments.items()},
        )

    return call


def _named(argument: str, value: Any) -> Any:
    """A value, or the key or id by which a result is named."""
    if type(value) in (list, tuple):
        named = [_named(argument, each) for each in value]
        return value if all(new is old for new, old in zip(named, value, strict=True)) else named
    if type(value).__module__ not in _RESULTS:
        return value
    fields = _NAMES.get(argument, ("key",))
    return next((name for field in fields if isinstance(name := getattr(value, field, None), str)), value)
