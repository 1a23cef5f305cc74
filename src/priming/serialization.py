"""Values, rows and errors ↔ JSON: one codec for the command line, every server, the store's log and its columns.

Both ways are compiled from the fields of frozen dataclasses, once a type. Two forms differ in their times only: a
value has them in ISO 8601 as short as they are, a row in a fixed width that sorts as text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from priming import errors
from priming.config.values import dataclass
from priming.errors import MissingExtra, ParamError, PrimingError

R = TypeVar("R")
T = TypeVar("T")
Coder = Callable[[Any], Any]
TIMES = ("occurred_at", "recorded_at", "valid_from", "valid_to")
"""Fields of a filter whose values are times."""
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)

_CLASSES: Mapping[str, type[PrimingError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, PrimingError)
}
_EXTRA = re.compile(r"needs the extra '([^']*)'")


def _once(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Apply ``functools.cache`` to a function of types, which mypy does not accept as hashable."""
    return cache(function)


def encode(value: Any) -> Any:
    """Return ``value`` in what JSON holds: dataclasses become objects, times ISO 8601 in UTC, None stays null.

    A number that JSON cannot hold (NaN, infinity) becomes null.

    >>> from priming.results import Step
    >>> encode(Step("a", "next", "b", 0.5))
    {'source': 'a', 'relation': 'next', 'target': 'b', 'amount': 0.5}
    """
    return _encoder(type(value))(value)


def decode(kind: Any, value: Any) -> Any:
    """Return the value of a type from its JSON, the inverse of ``encode``. Fields that the type lacks are ignored.

    >>> from priming.results import Step
    >>> decode(tuple[Step, ...], [{"source": "a", "relation": "next", "target": "b", "amount": 0.5}])
    (Step(source='a', relation='next', target='b', amount=0.5),)
    """
    return None if value is None else _decoder(kind)(value)


def _unchanged(value: Any) -> Any:
    return value


@_once
def _encoder(kind: Any) -> Coder:
    if issubclass(kind, (str, int, NoneType)):
        return _unchanged
    if is_dataclass(kind):
        return partial(_encode_fields, tuple(field.name for field in fields(kind)))
    for base, coder in _ENCODERS:
        if issubclass(kind, base) and not issubclass(kind, (bytes, bytearray)):
            return coder
    raise TypeError(f"{kind.__name__} has no JSON form")


def _encode_fields(names: tuple[str, ...], value: Any) -> dict[str, Any]:
    return {name: encode(getattr(value, name)) for name in names}


_ENCODERS: tuple[tuple[type, Coder], ...] = (
    (float, lambda value: value if math.isfinite(value) else None),
    (Path, str),
    (datetime, lambda value: value.astimezone(UTC).isoformat()),
    (Mapping, lambda value: {str(name): encode(item) for name, item in value.items()}),
    (Set, lambda value: sorted(map(encode, value))),
    (Sequence, lambda value: list(map(encode, value))),
)


@_once
def _decoder(kind: Any) -> Coder:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _decoder(next(option for option in inner if option is not NoneType))
    if origin in (list, tuple):
        decoders = tuple(_decoder(item) for item in inner if item is not Ellipsis)
        return origin if decoders == (_unchanged,) else partial(_decode_items, origin, decoders)
    if origin is not None:
        decoder = _decoder(inner[1])
        return MappingProxyType if decoder is _unchanged else partial(_decode_mapping, decoder)
    if is_dataclass(kind):
        return partial(_decode_fields, kind)
    return _DECODERS.get(kind, _unchanged)


def _decode_items(origin: Callable[[Iterable[Any]], Any], decoders: tuple[Coder, ...], value: Any) -> Any:
    """Return a list or tuple: a decoder for each item where there are as many, else the first for all."""
    each = decoders if len(decoders) == len(value) else decoders[:1] * len(value)
    return origin(_decode_item(decoder, item) for decoder, item in zip(each, value, strict=True))


def _decode_mapping(decoder: Coder, value: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType({name: _decode_item(decoder, item) for name, item in value.items()})


def _decode_item(decoder: Coder, value: Any) -> Any:
    return None if value is None else decoder(value)


def _decode_fields(kind: Any, value: Mapping[str, Any]) -> Any:
    names, decoders = _field_decoders(kind)
    arguments = {name: item for name, item in value.items() if name in names}
    for name, decoder in decoders:
        if arguments.get(name) is not None:
            arguments[name] = decoder(arguments[name])
    return kind(**arguments)


@_once
def _field_decoders(kind: Any) -> tuple[frozenset[str], tuple[tuple[str, Coder], ...]]:
    """Return the names of a dataclass's fields, and the decoders of those that JSON does not hold as they are."""
    decoders = [(name, _decoder(hint)) for name, hint in get_type_hints(kind).items()]
    names = frozenset(name for name, _ in decoders)
    return names, tuple((name, decoder) for name, decoder in decoders if decoder is not _unchanged)


@lru_cache(maxsize=4096)
def parse_time(text: str) -> datetime:
    """Return a time from its ISO 8601 form."""
    return datetime.fromisoformat(text)


def _parse_number(value: Any) -> float:
    """Return a number from JSON; ``float`` itself would read true as 1."""
    if isinstance(value, bool):
        raise TypeError(f"{value} is not a number")
    return float(value)


_DECODERS: dict[Any, Coder] = {datetime: parse_time, float: _parse_number, Path: Path, bool: bool}


def with_times(filters: Any, moment: Callable[[str, str], datetime]) -> Any:
    """Return a filter read from JSON, its times parsed by ``moment(name, text)``: JSON itself has none."""
    if isinstance(filters, Mapping):
        return {
            name: _filter_times(str(name), value, moment) if name in TIMES else with_times(value, moment)
            for name, value in filters.items()
        }
    if isinstance(filters, (list, tuple)):
        return [with_times(value, moment) for value in filters]
    return filters


def _filter_times(name: str, value: Any, moment: Callable[[str, str], datetime]) -> Any:
    if isinstance(value, str):
        return moment(f"filters.{name}", value)
    if isinstance(value, Mapping):
        return {operator: _filter_times(name, bound, moment) for operator, bound in value.items()}
    if isinstance(value, (list, tuple)):
        return [_filter_times(name, option, moment) for option in value]
    return value


def stamp(at: datetime) -> str:
    """Return a time as text of fixed width, in UTC."""
    return _stamp(at if at.tzinfo is UTC else at.astimezone(UTC))


@lru_cache(maxsize=256)
def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")


_COLUMN_ENCODERS: dict[Any, Coder] = {datetime: stamp, Mapping: dict, tuple: list}


@dataclass(frozen=True, slots=True)
class _Columns:
    """The fields of a row, and by position those that JSON does not hold as they are."""

    names: tuple[str, ...]
    values: Callable[[Any], tuple[Any, ...]]
    encoders: tuple[tuple[int, Coder], ...]
    decoders: tuple[tuple[int, Coder], ...]


@_once
def _columns(cls: Any) -> _Columns:
    names, hints = column_names(cls), get_type_hints(cls)
    kinds = [next(iter(_required(hints[name]))) for name in names]
    encoders = [_COLUMN_ENCODERS.get(get_origin(kind) or kind) for kind in kinds]
    decoders = [_decoder(kind) for kind in kinds]
    return _Columns(
        names,
        attrgetter(*names),
        tuple((i, encoder) for i, encoder in enumerate(encoders) if encoder is not None),
        tuple(
            (i, decoder) for i, decoder in enumerate(decoders) if decoder not in (_unchanged, _parse_number)
        ),
    )


def _required(hint: Any) -> tuple[Any, ...]:
    """Return the types that a field may have beside None."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(option for option in get_args(hint) if option is not NoneType)
    return (hint,)


@_once
def column_names(cls: Any) -> tuple[str, ...]:
    """Return the names of a row's fields, in order."""
    return tuple(field.name for field in fields(cls))


def to_columns(row: Any) -> list[Any]:
    """Return the values of a row's fields as JSON holds them, in order."""
    columns = _columns(type(row))
    values = list(columns.values(row))
    for i, encoder in columns.encoders:
        if values[i] is not None:
            values[i] = encoder(values[i])
    return values


def from_columns(cls: type[R], values: Iterable[Any]) -> R:
    """Return the row of encoded values, all of them and in order."""
    decoded = list(values)
    for i, decoder in _columns(cls).decoders:
        if decoded[i] is not None:
            decoded[i] = decoder(decoded[i])
    return cls(*decoded)


def encode_row(row: Any) -> dict[str, Any]:
    """Return a row as JSON holds it."""
    return dict(zip(column_names(type(row)), to_columns(row), strict=True))


def decode_row(cls: type[R], values: Mapping[str, Any]) -> R:
    """Return the row of an encoded mapping; fields that it lacks take their defaults."""
    columns = _columns(cls)
    decoded = {name: values[name] for name in columns.names if name in values}
    for i, decoder in columns.decoders:
        if decoded.get(columns.names[i]) is not None:
            decoded[columns.names[i]] = decoder(decoded[columns.names[i]])
    return cls(**decoded)


def json_text(value: Any) -> str:
    """Compact JSON text of what JSON holds."""
    return _JSON.encode(value)


def column_text(values: Mapping[str, Any] | Sequence[str]) -> str | None:
    """Return the JSON text of a mapping or a list, as a column keeps it; None when it is empty."""
    if not values:
        return None
    return json_text(dict(values) if isinstance(values, Mapping) else list(values))


def error_payload(error: PrimingError) -> dict[str, str]:
    """Return an error as every surface answers it: its stable code, and its message with its notes.

    >>> error_payload(errors.NotFound("there is no memory 'x'"))
    {'code': 'not_found', 'message': "there is no memory 'x'"}
    """
    message = str(error) if isinstance(error, ParamError) else errors.brief(str(error))
    return {"code": error.code, "message": "; ".join([message, *getattr(error, "__notes__", [])])}


def outward_message(error: PrimingError) -> str:
    """Return the message of an error for those who may use one namespace: without other namespaces and files."""
    if isinstance(error, errors.NotFound):
        return errors.brief(str(error))
    if isinstance(error, errors.StoreError):
        outcome = "nothing was changed"
        if error.is_unknown:
            outcome = "nobody knows whether the write was carried out: read before you send it again"
        return f"the store failed ({error.code}): {outcome}; the server's log says more"
    return error_payload(error)["message"]


def full_error_payload(error: PrimingError) -> dict[str, Any]:
    """Return an error with its violations in a list as well, so that a client can raise the same error again."""
    payload: dict[str, Any] = {**error_payload(error)}
    if isinstance(error, ParamError):
        payload["violations"] = list(error.violations)
    return payload


def error_from_payload(payload: Mapping[str, Any]) -> PrimingError:
    """Return the error that a payload describes, in the class that has its code."""
    message = str(payload["message"])
    kind = _CLASSES.get(payload["code"], PrimingError)
    if issubclass(kind, ParamError):
        error: PrimingError = ParamError.of(payload.get("violations") or [message])
        if note := message.removeprefix(str(error)).removeprefix("; "):
            error.add_note(note)
        return error
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    if isinstance(error, MissingExtra):
        extra = _EXTRA.search(message)
        error.extra = extra[1] if extra else ""
    return error
