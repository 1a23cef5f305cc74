"""Types as JSON: the schema of a type, and how a value that was sent is read.

Reading is lenient where callers are careless: ``"3"`` is a whole number, ``"yes"`` is true, a list may be JSON text
or words between commas. The library pydantic is the oracle of ``tests/operations/test_json_shapes.py``.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from pathlib import Path, PurePath
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from priming.config.values import dataclass
from priming.core.arguments.checks import check_json
from priming.errors import MOST_VIOLATIONS
from priming.operations.local_socket import MESSAGE_VALUES
from priming.serialization import encode

JsonSchema = dict[str, Any]
Place = tuple[str | int, ...]
INVALID: Any = object()
"""What a reader returns for a value that it refused."""
UNKNOWN, MISSING = "unknown", "missing"
NULL: JsonSchema = {"type": "null"}
_WORD = 2.0**63
"""From which on a number with a point is no whole number of 64 bits."""
_TRUE, _FALSE = ("true", "1", "yes", "on", "t", "y"), ("false", "0", "no", "off", "f", "n")
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?", re.ASCII)
_TIME = "must be ISO 8601 text with a time zone, such as 2026-03-01T09:30:00Z"
_ZONE = "must carry a time zone, such as 2026-03-01T09:30:00Z"
_PLAIN: Mapping[Any, JsonSchema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: NULL,
    datetime: {"type": "string", "format": "date-time"},
    Path: {"type": "string", "format": "path"},
    Any: {},
}


class Problem(NamedTuple):
    """One thing that is wrong with a request: where, the value, and the rule, or ``UNKNOWN`` or ``MISSING``."""

    place: Place
    value: Any
    rule: str


class Problems:
    """What is wrong with a request: the first problems, and the number of further ones."""

    def __init__(self) -> None:
        self.first: list[Problem] = []
        self.more = 0

    def add(self, place: Place, value: Any, rule: str) -> Any:
        """Note a problem and return ``INVALID``."""
        if len(self.first) < MOST_VIOLATIONS:
            self.first.append(Problem(place, value, rule))
        else:
            self.more += 1
        return INVALID


Read = Callable[[Any, Place, Problems], Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """A type as callers send it: its schema, the reader of a value, and the schemas that it refers to by name."""

    schema: JsonSchema
    read: Read
    defs: Mapping[str, JsonSchema] = dataclasses.field(default_factory=dict)

    def or_null(self) -> Shape:
        """Return the shape that also takes null."""
        return Shape(
            {"anyOf": [*self.schema.get("anyOf", [self.schema]), NULL]},
            lambda value, place, wrong: None if value is None else self.read(value, place, wrong),
            self.defs,
        )


def parts_of(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, without None; of any other type itself."""
    if get_origin(hint) not in (Union, UnionType):
        return (hint,)
    return tuple(part for part in get_args(hint) if part is not NoneType)


def allows_none(hint: Any) -> bool:
    """Tell whether a type is a union with None."""
    return get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)


def title_of(name: str) -> str:
    """Return the title of an argument or field.

    >>> title_of("occurred_at")
    'Occurred At'
    """
    return name.replace("_", " ").title()


def read_text(value: Any, place: Place, wrong: Problems) -> Any:
    """Return a text."""
    return value if isinstance(value, str) else wrong.add(place, value, "must be a text")


def read_path(value: Any, place: Place, wrong: Problems) -> Any:
    """Return a path, as text."""
    return value if isinstance(value, PurePath) else read_text(value, place, wrong)


def read_whole(value: Any, place: Place, wrong: Problems) -> Any:
    """Return a whole number, also as text."""
    rule = "must be a valid integer"
    if isinstance(value, bool):
        return wrong.add(place, value, rule)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value) and not value.is_integer():
            return wrong.add(place, value, f"{rule}, got a number with a fractional part")
        return (
            int(value)
            if abs(value) < _WORD
            else wrong.add(place, value, f"{rule}, of 64 bits if it has a point")
        )
    if isinstance(value, str):
        text = value.strip()
        # A longer number is beyond every limit, and takes the square of its length to read.
        if len(text) <= 4_000 and _WHOLE.fullmatch(text):
            return int(text.partition(".")[0])
        return wrong.add(place, value, f"{rule}, unable to parse string as an integer")
    return wrong.add(place, value, rule)


def read_number(value: Any, place: Place, wrong: Problems) -> Any:
    """Return a number, also as text."""
    rule = "must be a valid number"
    if isinstance(value, bool):
        return wrong.add(place, value, rule)
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return wrong.add(place, value, rule)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return wrong.add(place, value, f"{rule}, unable to parse string as a number")
    return wrong.add(place, value, rule)


def read_flag(value: Any, place: Place, wrong: Problems) -> Any:
    """Read true or false, also as a word."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.lower() in (*_TRUE, *_FALSE):
        return value.lower() in _TRUE
    return wrong.add(place, value, "must be a valid boolean, unable to interpret input")


def read_time(value: Any, place: Place, wrong: Problems) -> Any:
    """Return a time with a zone; a number would be taken for seconds."""
    if not isinstance(value, str):
        return wrong.add(place, value, _TIME)
    try:
        time = datetime.fromisoformat(value.strip().upper())
    except ValueError:
        return wrong.add(place, value, _TIME)
    return time if time.tzinfo is not None else wrong.add(place, value, _ZONE)


def read_object(value: Any, place: Place, wrong: Problems) -> Any:
    """Return an object, also as JSON text."""
    value = parsed(value, "{")
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return dict(value)
    return wrong.add(place, value, "must be an object")


def reader_of_list(item: Read, *, words: bool) -> Read:
    """Return the reader of a list, also as JSON text, and with ``words`` as words between commas."""

    def read(value: Any, place: Place, wrong: Problems) -> Any:
        if words and isinstance(value, str) and not value.lstrip().startswith("["):
            value = [part.strip() for part in value.split(",") if part.strip()]
        value = parsed(value, "[")
        if not isinstance(value, (list, tuple, AbstractSet)):
            return wrong.add(place, value, "must be a valid list")
        items = [item(each, (*place, number), wrong) for number, each in enumerate(value)]
        return INVALID if any(each is INVALID for each in items) else items

    return read


def parsed(value: Any, start: str) -> Any:
    """Parse JSON text that begins with ``start``; return anything else unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(start):
        return value
    check_json("request", value.encode("utf-8", "replace"), MESSAGE_VALUES)
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


READERS: Mapping[Any, Read] = {
    str: read_text,
    int: read_whole,
    float: read_number,
    bool: read_flag,
    datetime: read_time,
}


def plain(hint: Any) -> Shape:
    """Return the shape of a plain type: text, number, truth, time."""
    return Shape(_PLAIN[hint], READERS[hint])


def schema_of(hint: Any) -> JsonSchema:
    """Return the schema of an answer of a type, as ``priming.serialization.encode`` writes it.

    >>> schema_of(list[int])
    {'type': 'array', 'items': {'type': 'integer'}}
    """
    defs: dict[str, JsonSchema] = {}
    schema = _answer(hint, defs)
    if "$ref" in schema and defs:
        name = schema["$ref"].rpartition("/")[2]
        if f'"#/$defs/{name}"' not in json.dumps(defs, default=str):
            schema = defs.pop(name)
    return {**schema, **({"$defs": defs} if defs else {})}


def _answer(hint: Any, defs: dict[str, JsonSchema]) -> JsonSchema:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in defs:
            defs[hint.__name__] = {}
            defs[hint.__name__] = _record(hint, defs)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if get_origin(hint) in (Union, UnionType):
        return {"anyOf": [_answer(part, defs) for part in get_args(hint)]}
    origin, inner = get_origin(hint), get_args(hint)
    if origin is None:
        return dict(_PLAIN[hint])
    if issubclass(origin, Mapping):
        values = _answer(inner[1], defs)
        return {"type": "object", "additionalProperties": values or True}
    if origin is tuple and inner[-1] is not Ellipsis:
        size = {"minItems": len(inner), "maxItems": len(inner)}
        return {"type": "array", **size, "prefixItems": [_answer(part, defs) for part in inner]}
    items = {"type": "array", "items": _answer(inner[0], defs)}
    return {**items, "uniqueItems": True} if issubclass(origin, AbstractSet) else items


def _record(record: type, defs: dict[str, JsonSchema]) -> JsonSchema:
    """Return the schema of a dataclass."""
    hints = get_type_hints(record)
    properties, required = {}, []
    for field in dataclasses.fields(record):
        schema = _answer(hints[field.name], defs)
        if field.default is not dataclasses.MISSING:
            schema["default"] = encode(field.default)
        elif field.default_factory is dataclasses.MISSING:
            required.append(field.name)
        if not is_reference(schema):
            schema["title"] = title_of(field.name)
        properties[field.name] = schema
    about = inspect.cleandoc(record.__doc__ or "")
    return object_schema(properties, required, record.__name__, about=about)


def is_reference(schema: JsonSchema) -> bool:
    """Tell whether a schema only refers to another, or to another or null."""
    others = [part for part in schema.get("anyOf", [schema]) if part != NULL]
    return len(others) == 1 and "$ref" in others[0]


def object_schema(
    properties: Mapping[str, JsonSchema],
    required: Sequence[str],
    title: str,
    *,
    open_to: bool | None = None,
    about: str = "",
) -> JsonSchema:
    """Return the schema of an object; ``open_to`` says whether it may have others than ``properties``."""
    return {
        "type": "object",
        "title": title,
        **({"description": about} if about else {}),
        "properties": dict(properties),
        **({} if open_to is None else {"additionalProperties": open_to}),
        **({"required": list(required)} if required else {}),
    }
