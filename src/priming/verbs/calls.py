"""Calls of verbs in Python: results stand for their names, and a wrong name is answered with the right one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from priming.errors import ParamError
from priming.verbs.op import MEANINGS, Op

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
    missing, raise ``ParamError``, and so does what is to be true or false and is neither.
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
    flags = {each.name for each in parameters if each.annotation == "bool"}
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters)

    @wraps(function)
    def call(memory: Any, *values: Any, **arguments: Any) -> Any:
        if len(values) > len(names):
            extra = values[len(names)]
            place = f"takes {', '.join(names) or 'nothing'} by position: name the other arguments"
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
        for name, value in (*zip(names, values, strict=False), *arguments.items()):
            if name in flags and not isinstance(value, bool):
                raise ParamError(name, value, "must be true or false")
        return function(
            memory,
            *(_named(op, name, value) for name, value in zip(names, values, strict=False)),
            **{name: _named(op, name, value) for name, value in arguments.items()},
        )

    return call


def _named(op: Op, argument: str, value: Any) -> Any:
    """A value, or the id of a result where an id is wanted; the id, as another memory may have its key."""
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
    """The id of a result of a verb; any other value as it is."""
    if not any(kind.__module__ in _RESULTS for kind in type(value).__mro__):
        return value
    value = getattr(value, "memory", value)
    return next((name for field in fields if isinstance(name := getattr(value, field, None), str)), value)
