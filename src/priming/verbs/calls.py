"""Calls of verbs in Python: results stand for their names, and a wrong name is answered with the right one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import NoneType
from typing import Any

from priming.errors import ParamError, violation
from priming.types import Cue
from priming.verbs.op import Op

_RESULTS = ("priming.types", "priming.results", "priming.rules.results", "priming.learning.run_actions")
"""Where the types are of what verbs answer."""
KEYS = ("key", "target", "by", "into", "after")
LISTS = ("keys", "used", "not_relevant", "not_useful", "confirmed", "overridden", "include")
"""Arguments that are keys or ids of memories, and lists of such."""
_IDS: Mapping[str, tuple[str, ...]] = {
    "recall_id": ("recall_id",),
    "operation_id": ("operation", "id"),
    "run_id": ("id",),
}
"""Arguments that are ids of other things, and the fields of results that have them."""
_NEW = ("remember", "remember_many", "learn")
"""Verbs whose key is that of what they make."""


def called(op: Op, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verb's function as a method of ``Memory``.

    It takes hits, memories and operations where keys and ids are. An argument that there is not, and one that is
    missing, raise ``ParamError``, and so does a value that breaks the rule of its type.
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
    hints = {each.name: each.annotation for each in parameters}
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters)

    @wraps(function)
    def call(memory: Any, *values: Any, **arguments: Any) -> Any:
        if len(values) > len(names):
            extra = values[len(names)]
            place = f"takes {', '.join(names) or 'nothing'} by position: name the other arguments"
            raise ParamError(f"argument {len(names) + 1}", extra, f"{op.name} {place}")
        if not is_open and not own.issuperset(arguments):
            extra = [name for name in arguments if name not in own]
            raise ParamError.of([violation(name, arguments[name], op.unknown(name)) for name in extra])
        for name in required[len(values) :]:
            if name not in arguments:
                raise ParamError(name, None, op.missing(name))
        return function(
            memory,
            *(_checked(op, name, value, hints[name]) for name, value in zip(names, values, strict=False)),
            **{name: _checked(op, name, value, hints.get(name, "")) for name, value in arguments.items()},
        )

    return call


def _checked(op: Op, argument: str, value: Any, hint: str) -> Any:
    """Return a value of the kind that its type says; what else is wrong with it its function says better."""
    value = _named(op, argument, value)
    if hint == "bool" and not isinstance(value, bool):
        raise ParamError(argument, value, "must be true or false")
    if hint == "Cue | None" and not isinstance(value, (Cue, NoneType)):
        raise ParamError(argument, value, "must be a Cue, such as Cue('a text', language='python')")
    if hint.startswith("Iterable[") and (isinstance(value, Mapping) or not isinstance(value, Iterable)):
        raise ParamError(argument, value, "must be a sequence of mappings")
    return value


def _named(op: Op, argument: str, value: Any) -> Any:
    """Return a value, or the id of a result where an id is wanted; the id, as another memory may have its key."""
    if argument in _IDS:
        return _id_of(value, _IDS[argument])
    if op.name in _NEW:
        return value
    if argument in KEYS or (argument == "source" and "target" in op.declared.arguments):
        return _id_of(value)
    if argument not in LISTS or isinstance(value, (str, bytes)):
        return value
    if type(value).__module__ in _RESULTS and not isinstance(value, Iterable):
        return [_id_of(value)]
    return [_id_of(each) for each in value] if isinstance(value, Iterable) else value


def _id_of(value: Any, fields: tuple[str, ...] = ("id",)) -> Any:
    """Return the id of a result of a verb; any other value as it is."""
    if not any(kind.__module__ in _RESULTS for kind in type(value).__mro__):
        return value
    value = getattr(value, "memory", value)
    return next((name for field in fields if isinstance(name := getattr(value, field, None), str)), value)
