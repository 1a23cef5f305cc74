"""``dataclass`` as the standard library defines it, but for the time at which methods are compiled: the first use.

A command uses few methods of the values that it imports. To compile all of them took a quarter of the time that a
hook takes from start to end, and most were never called.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import MISSING, FrozenInstanceError, fields
from functools import partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]


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
    """A function from its source."""
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
    """The methods of a value that its class does not define itself."""
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
        """The same as ``dataclasses.dataclass``."""
        if kind is None:
            return partial(dataclass, frozen=frozen, slots=slots, eq=eq, repr=repr)
        kind.__doc__ = kind.__doc__ or kind.__name__  # else a signature is written, which is slow
        own = set(vars(kind))
        value = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(kind)
        for name, method in _methods(value, frozen=frozen, slots=slots, eq=eq, repr=repr).items():
            if name not in own:
                setattr(value, name, method)
        return value
