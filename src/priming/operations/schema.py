"""Requests and answers as JSON schema: what callers may send, read from the signatures of the operations.

``arguments`` turns a request into the arguments of an operation's function, and all that is wrong with it into one
``ParamError``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from inspect import Parameter
from typing import Any, get_args, get_origin, get_type_hints

from priming.config.values import dataclass
from priming.errors import ParamError, shown, violation
from priming.operations import json_shapes
from priming.operations.json_shapes import (
    INVALID,
    MISSING,
    UNKNOWN,
    JsonSchema,
    Place,
    Problem,
    Problems,
    Shape,
    allows_none,
    is_reference,
    object_schema,
    parsed,
    parts_of,
    plain,
    read_object,
    read_path,
    read_text,
    reader_of_list,
    title_of,
)
from priming.types import Cue
from priming.verbs.op import CHOICES, OWN_CHOICES, Op
from priming.verbs.rows import named

NOT_SENT = ("self", "memory", "progress", "agent", "beside")
"""What functions take that no request carries."""

_MEMBERS = 100
"""Most members of a request, and of an object in a list."""


def arguments(op: Op, request: Any, *, forgiving: bool = False) -> dict[str, Any]:
    """Read the arguments of an operation's function from a request; one ``ParamError`` has all that is wrong with it.

    A list may be sent as an array, as JSON text, or as words between commas; null means the default. ``forgiving``
    accepts other names for arguments (``Op.other_names``), a cue's parts beside the other arguments, and "" for null
    where an argument may be left out, as strict clients send it.
    """
    if not isinstance(request, Mapping):
        raise ParamError("request", request, "must be a JSON object of arguments")
    sent = _renamed(op, request) if forgiving else request
    _check_members("request", sent)
    for name, value in sent.items():
        for number, item in enumerate(value if isinstance(value, list) else ()):
            _check_members(f"{name}.{number}", item)
    wrong, hints = Problems(), _signature(op)
    values = _read_arguments(_fields(op), sent, (), wrong)
    if wrong.first:
        raise ParamError.of([_rule(op, problem) for problem in wrong.first], wrong.more)
    return {name: value for name, value in values.items() if value is not None or allows_none(hints[name])}


def _read_arguments(
    fields: Mapping[str, _Field], sent: Mapping[str, Any], place: Place, wrong: Problems
) -> dict[str, Any]:
    """Return the values of the arguments that were sent."""
    values = {}
    for name, field in fields.items():
        if name in sent:
            values[name] = field.shape.read(sent[name], (*place, name), wrong)
        elif field.is_required:
            wrong.add((*place, name), None, MISSING)
    for name in sent:
        if name not in fields:
            wrong.add((*place, str(name)), sent[name], UNKNOWN)
    return values


def _check_members(name: str, value: Any) -> None:
    """Refuse an object of more members than any has: each would be a violation."""
    if isinstance(value, Mapping) and len(value) > _MEMBERS:
        rule = f"has {len(value):,} members, at most {_MEMBERS}: put what is your own into metadata"
        raise ParamError(name, value, rule)


def argument_names(op: Op) -> tuple[str, ...]:
    """Return the names of the arguments of an operation."""
    return tuple(_signature(op))


@cache
def request_schema(op: Op, *, own: bool = True) -> dict[str, Any]:
    """Return the JSON schema of an operation's request; without ``own``, as others than the user may send it."""
    schema = _request(op)
    if own or not op.own:
        return schema
    properties = {name: part for name, part in schema["properties"].items() if name not in op.own}
    return {**schema, "properties": properties}


@cache
def answer_schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of an operation's answer, as ``priming.serialization.encode`` writes it."""
    return json_shapes.schema_of(named(name).answer)


def refuse_own(op: Op, request: Any) -> None:
    """Raise ``ParamError`` for an argument that only the user's own processes may send (``Op.own``)."""
    if isinstance(request, Mapping):
        for name in op.own:
            if request.get(name) is not None:
                rule = "belongs to the server's machine: only processes of its own user may name it; leave it out"
                raise ParamError(name, request[name], rule)


@dataclass(frozen=True, slots=True)
class _Field:
    """An argument: its shape, whether it must be sent, and its part of the schema."""

    shape: Shape
    is_required: bool
    schema: JsonSchema


_ANY_OF = Shape(
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    lambda value, place, wrong: (
        value
        if isinstance(value, str)
        or (isinstance(value, list) and all(isinstance(each, str) for each in value))
        else wrong.add(place, value, "must be a text, or a list of texts")
    ),
)
_CUE: Mapping[str, Shape] = {
    "text": plain(str).or_null(),
    **dict.fromkeys(("file", "language", "task", "environment", "project", "speaker"), _ANY_OF.or_null()),
    "at": plain(datetime).or_null(),
}
_CUE_NAME = "CueShape"
_CUE_PROPERTIES = {
    name: {**shape.schema, "default": None, "title": title_of(name)} for name, shape in _CUE.items()
}
_CUE_SCHEMA = object_schema(
    _CUE_PROPERTIES,
    (),
    "Cue",
    open_to=True,
    about="What recall starts from: a text, a context, or both. Of a list of values any will do.",
)


def _read_cue(value: Any, place: Place, wrong: Problems) -> Any:
    """Return what recall starts from, of an object."""
    value = parsed(value, "{")
    if not isinstance(value, Mapping):
        rule = 'must be an object, in a cue for instance {"text": "…", "file": "…"}'
        return wrong.add(place, value, rule)
    parts = {
        name: _CUE[name].read(part, (*place, name), wrong) if name in _CUE else part
        for name, part in value.items()
    }
    return INVALID if any(part is INVALID for part in parts.values()) else Cue(**parts)


@cache
def _signature(op: Op) -> dict[str, Any]:
    """Return the type of each argument that a request may carry."""
    hints = get_type_hints(op.function)
    carried: dict[str, Any] = {}
    for name, parameter in inspect.signature(op.function).parameters.items():
        if name in NOT_SENT:
            continue
        if parameter.kind is Parameter.VAR_KEYWORD:  # what supersede changes: arguments of remember
            changes = _signature(named("remember"))
            carried |= {field: changes[field] for field in changes if field not in (*carried, "kind", "key")}
        else:
            carried[name] = hints[name]
    return carried


@cache
def _fields(op: Op) -> dict[str, _Field]:
    """Return the arguments that a request may carry, by name."""
    parameters = inspect.signature(op.function).parameters
    meanings, fields = op.meanings, {}
    for name, hint in _signature(op).items():
        required = name in parameters and parameters[name].default is Parameter.empty
        shape = _shape(op.name, name, hint)
        shape = shape if required else shape.or_null()
        schema = {
            **shape.schema,
            **({} if required else {"default": _default(parameters, name)}),
            **({} if is_reference(shape.schema) else {"title": title_of(name)}),
            **({"description": meanings[name]} if name in meanings else {}),
        }
        fields[name] = _Field(shape, required, schema)
    return fields


@cache
def _request(op: Op) -> JsonSchema:
    """Return the schema of a request, with the schemas that it refers to."""
    fields = _fields(op)
    schema = object_schema(
        {name: field.schema for name, field in fields.items()},
        [name for name, field in fields.items() if field.is_required],
        _title(op),
        open_to=False,
    )
    defs = {name: about for field in fields.values() for name, about in field.shape.defs.items()}
    return {**schema, **({"$defs": defs} if defs else {})}


def _title(op: Op) -> str:
    return "".join(part.title() for part in op.name.split("_"))


def _default(parameters: Mapping[str, Parameter], argument: str) -> Any:
    """Return the default in JSON; null if the argument belongs to another operation."""
    default = parameters[argument].default if argument in parameters else None
    return list(default) if isinstance(default, tuple) else default


def _shape(op: str, name: str, hint: Any) -> Shape:
    """Return how an argument of a type is sent."""
    parts = parts_of(hint)
    if len(parts) > 1:  # a text or a path
        return Shape({"type": "string"}, read_path)
    (hint,) = parts
    if hint is Cue:
        return Shape({"$ref": f"#/$defs/{_CUE_NAME}"}, _read_cue, {_CUE_NAME: _CUE_SCHEMA})
    if hint is str and name in CHOICES:  # the library checks which, and says so
        return Shape({"type": "string", "enum": list(CHOICES[name])}, read_text)
    if get_origin(hint) is None:
        return plain(hint)
    if issubclass(get_origin(hint), Mapping):
        return Shape({"type": "object", "additionalProperties": True}, read_object)
    return _listed(name, get_args(hint)[0], op)


def _listed(name: str, inner: Any, op: str) -> Shape:
    """Return a list: an array, JSON text of one, or words between commas."""
    if inner is str:
        choices = OWN_CHOICES.get((op, name), CHOICES.get(name))
        words = {"type": "string", **({"enum": list(choices)} if choices else {})}
        schema: JsonSchema = {"anyOf": [{"type": "array", "items": words}, {"type": "string"}]}
        return Shape(schema, reader_of_list(read_text, words=True))
    item = named({"remember_many": "remember", "link_many": "link"}[op])
    schema = {"type": "array", "items": {"$ref": f"#/$defs/{_title(item)}"}}
    whole = _request(item)
    own = {part: value for part, value in whole.items() if part != "$defs"}
    defs = {**whole.get("$defs", {}), _title(item): own}
    return Shape(schema, reader_of_list(_reader_of_item(item), words=False), defs)


def _reader_of_item(op: Op) -> json_shapes.Read:
    """Return the reader of a request within a list, whose null members are left out."""

    def read(value: Any, place: Place, wrong: Problems) -> Any:
        if not isinstance(value, Mapping):
            return wrong.add(place, value, "must be an object")
        values = _read_arguments(_fields(op), value, place, wrong)
        return {name: each for name, each in values.items() if each is not None}

    return read


def _renamed(op: Op, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with its arguments under their own names; two names of one argument must have one value."""
    own_names = _signature(op)
    renamed = {name: value for name, value in request.items() if name in own_names}
    for name, value in request.items():
        if name not in own_names:
            own = op.other_names.get(name, name)
            if value is not None and renamed.get(own, value) not in (None, value):
                rule = f"contradicts {own} = {shown(renamed[own])}, which is the same: give one of the two"
                raise ParamError(name, value, rule)
            renamed[own] = renamed.get(own) if value is None else value
    optional = {name for name, own in _fields(op).items() if not own.is_required}.union(_CUE)
    renamed = {name: value for name, value in renamed.items() if value != "" or name not in optional}
    if "cue" not in own_names or isinstance(renamed.get("cue", {}), str):
        return renamed
    context = {
        name: renamed.pop(name)
        for name in _CUE
        if name in renamed and name not in own_names and name not in _CUE_ALONE
    }
    return {**renamed, "cue": {**context, **(renamed.get("cue") or {})}} if context else renamed


_CUE_ALONE = ("at",)
"""What is part of a cue only where it stands within it."""


def _rule(op: Op, problem: Problem) -> str:
    """Say in words one thing that is wrong with a request."""
    name, rule = ".".join(map(str, problem.place)), problem.rule
    if rule == UNKNOWN:
        rule = op.unknown(name)
    elif rule == MISSING:
        rule = op.missing(name)
    return violation(name, problem.value, rule)
