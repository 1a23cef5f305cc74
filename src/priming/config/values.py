"""What values are declared with: ``dataclass``, and parameters that know their range.

``dataclass`` is as the standard library defines it, but for the time at which methods are compiled: the first use. A
command uses few methods of the values that it imports. To compile all of them took a quarter of the time that a hook
takes from start to end, and most were never called.

A ``*Params`` value checks itself when it is created: all violations are reported at once.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, FrozenInstanceError, fields
from functools import partial
from numbers import Integral, Real
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from priming.errors import ParamError, violation

__all__ = ["Checked", "Named", "dataclass", "fits", "param", "rule_of"]


class Named:
    """A value that answers a wrong name of an attribute with those that it has."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Refuse a name: those that exist are found before."""
            own, kind = type(self), type(self).__name__
            names = ", ".join(each for each in dir(own) if not each.startswith("_"))
            raise AttributeError(f"{kind} has no {name!r}: it has {names}", name=name, obj=self)


class _Method:
    """A method that is compiled when it is looked up for the first time."""

    __slots__ = ("_compiled", "_name", "_owner")

    def __init__(self, owner: type, name: str, compiled: Callable[[type], Any]) -> None:
        self._owner, self._name, self._compiled = owner, name, compiled

    def __get__(self, value: object | None, kind: type | None = None) -> Any:
        method = self._compiled(self._owner)
        setattr(self._owner, self._name, method)
        return method.__get__(value, kind)


def _define(owner: type, name: str, parameters: str, body: Iterable[str], **names: Any) -> Any:
    """Return a function from its source."""
    lines = "".join(f"\n {line}" for line in body) or "\n pass"
    exec(f"def {name}({parameters}):{lines}", names)
    method = names[name]
    method.__qualname__, method.__module__ = f"{owner.__qualname__}.{name}", owner.__module__
    return method


def _init(owner: type, *, frozen: bool) -> Any:
    positional, by_keyword, body = ["self"], list[str](), list[str]()
    names: dict[str, Any] = {"_set": object.__setattr__, "_absent": MISSING}
    for field in fields(owner):
        name, value, default = field.name, field.name, ""
        if field.default is not MISSING:
            names[f"_default_{name}"] = field.default
            default = f"=_default_{name}"
        elif field.default_factory is not MISSING:
            names[f"_new_{name}"] = field.default_factory
            value = f"_new_{name}() if {name} is _absent else {name}" if field.init else f"_new_{name}()"
            default = "=_absent"
        elif not field.init:
            continue
        if field.init:
            (by_keyword if field.kw_only else positional).append(f"{name}{default}")
        elif field.default is not MISSING:
            value = f"_default_{name}"
        slot = getattr(owner, name, None)
        if frozen and isinstance(slot, MemberDescriptorType):
            names[f"_set_{name}"] = slot.__set__  # half the time of ``object.__setattr__``
            body.append(f"_set_{name}(self, {value})")
        else:
            body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = [*positional, *(["*", *by_keyword] if by_keyword else [])]
    method = _define(owner, "__init__", ", ".join(parameters), body, **names)
    method.__annotations__ = {field.name: field.type for field in fields(owner) if field.init}
    return method


def _eq(owner: type) -> Any:
    names = [field.name for field in fields(owner) if field.compare]
    mine, others = (_tuple(who, names) for who in ("self", "other"))
    body = [f"return {mine} == {others} if other.__class__ is self.__class__ else NotImplemented"]
    return _define(owner, "__eq__", "self, other", body)


def _hash(owner: type) -> Any:
    names = [field.name for field in fields(owner) if (field.compare if field.hash is None else field.hash)]
    return _define(owner, "__hash__", "self", [f"return hash({_tuple('self', names)})"])


def _tuple(variable: str, names: Iterable[str]) -> str:
    return "(" + "".join(f"{variable}.{name}, " for name in names) + ")"


@recursive_repr()
def _repr(self: Any) -> str:
    values = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(values)})"


def _refuse_assignment(_self: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _restore(self: Any, state: Iterable[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


def _methods(owner: type, *, frozen: bool, slots: bool, eq: bool, repr: bool) -> dict[str, Any]:
    """Return the methods of a value that its class does not define itself."""
    methods: dict[str, Any] = {"__init__": _Method(owner, "__init__", partial(_init, frozen=frozen))}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = _Method(owner, "__eq__", _eq)
        methods["__hash__"] = _Method(owner, "__hash__", _hash) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    return methods


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        kind: type | None = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        eq: bool = True,
        repr: bool = True,
    ) -> Any:
        """Return the same as ``dataclasses.dataclass``."""
        if kind is None:
            return partial(dataclass, frozen=frozen, slots=slots, eq=eq, repr=repr)
        kind.__doc__ = kind.__doc__ or kind.__name__  # else a signature is written, which is slow
        own = set(vars(kind))
        value = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(kind)
        for name, method in _methods(value, frozen=frozen, slots=slots, eq=eq, repr=repr).items():
            if name not in own:
                setattr(value, name, method)
        return value


_MOST: Mapping[str, float] = {
    "": 100.0,
    "1/hour": 100.0,
    "1/day": 100.0,
    "seconds": 604_800.0,
    "minutes": 525_600.0,
    "hours": 876_000.0,
    "days": 36_500.0,
    "levels": 1_000,
    "links": 1_000,
    "steps": 1_000,
    "bytes": 2**40,
}
"""The ceiling of a number that has none of its own, by its unit; of all other units, ``_MOST_COUNTED``."""
_MOST_COUNTED = 2**32
"""The ceiling of what is counted, and of whole numbers without a unit."""


def param(
    default: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[Any, ...] = (),
    optional: bool = False,
    unit: str = "",
    source: str = "",
) -> Any:
    """Return a dataclass field that knows its range (inclusive), its unit and where the default comes from.

    A number without a stated bound gets one by its unit, so that none can be absurd.
    """
    if not isinstance(default, (bool, str, tuple)) and not choices and not (default is None and low is None):
        whole = isinstance(default if default is not None else low, int)
        most = _MOST_COUNTED if whole and not unit else _MOST.get(unit, _MOST_COUNTED)
        high = (most if whole else float(most)) if high is None else high
        low = -high if low is None else low
    about = {"low": low, "high": high, "choices": choices, "optional": optional}
    return dataclasses.field(default=default, metadata={**about, "unit": unit, "source": source})


def rule_of(about: Mapping[str, Any]) -> str:
    """Return the range of a parameter in words, as messages and tables print it."""
    if about.get("choices"):
        return "one of " + ", ".join(str(choice) for choice in about["choices"])
    if about.get("members"):
        return f"one or several of {', '.join(about['members'])}, with commas between"
    low, high = about.get("low"), about.get("high")
    if about.get("below") is not None:
        return f"≥ {low} and < {about['below']}"
    if low is not None and high is not None:
        rule = f"in [{low}, {high}]"
    else:
        rule = f"≥ {low}" if low is not None else f"≤ {high}" if high is not None else "any"
    return rule + " or none" if about.get("optional") else rule


def fits(value: Any, about: Mapping[str, Any]) -> bool:
    """Tell whether a value is within the range of a parameter; a list or a table, which has none, is."""
    if value is None:
        return bool(about.get("optional"))
    if about.get("choices"):
        return value in about["choices"]
    low, high, below = about.get("low"), about.get("high"), about.get("below")
    if low is None and high is None:
        return True
    if not isinstance(value, Real) or math.isnan(value):
        return False
    return not (
        (low is not None and value < low)
        or (high is not None and value > high)
        or (below is not None and value >= below)
    )


class Checked:
    """Mixed into the ``*Params`` values: checks every field against its range."""

    __slots__ = ()

    def __post_init__(self) -> None:
        broken = []
        for f in fields(self):  # type: ignore[arg-type]
            about = f.metadata
            if "choices" not in about:
                continue
            value = getattr(self, f.name)
            whole = f.type == "int" or f.type == "int | None"
            if whole and value is not None and (isinstance(value, bool) or not isinstance(value, Integral)):
                broken.append(violation(f.name, value, "must be a whole number"))
            elif not fits(value, about):
                broken.append(violation(f.name, value, f"must be {rule_of(about)}"))
        if broken:
            raise ParamError.of(broken)
