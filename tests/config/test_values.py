"""Values behave as those of the standard library, and compile nothing before it is used."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest
from tests.rows import each_row

from priming.config import values


@values.dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = ()
    trail: list[int] = dataclasses.field(default_factory=list, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x")


def twins(**options: Any) -> list[type]:
    """The same class twice: of the standard library, and ours."""
    return [_declared(decorate(**options)) for decorate in (dataclasses.dataclass, values.dataclass)]


def _declared(decorate: Any) -> type:
    @decorate
    class Sample:
        """A sample."""

        name: str
        size: int = dataclasses.field(default=3, kw_only=True)
        parts: list[int] = dataclasses.field(default_factory=list, hash=False)
        key: str = dataclasses.field(default="secret", repr=False, compare=False)
        count: int = dataclasses.field(default=0, init=False)

    return Sample


@each_row(
    "options",
    [
        {},
        {"slots": True},
        {"frozen": True},
        {"frozen": True, "slots": True},
        {"frozen": True, "slots": True, "eq": False},
        {"eq": False, "repr": False},
    ],
)
def test_a_value_is_that_of_the_standard_library(options: dict[str, Any]) -> None:
    theirs, ours = twins(**options)
    for kind in (theirs, ours):
        value, same, other = kind("a", [1], size=5), kind("a", [1], "x", size=5), kind("a")
        assert (value == same, value == other, value == "a") == (options.get("eq", True), False, False)
        assert dataclasses.astuple(value) == ("a", 5, [1], "secret", 0)
        assert dataclasses.replace(value, size=6).size == 6
        assert other.parts is not kind("b").parts
        assert kind.__match_args__ == ("name", "parts", "key")
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)
    if options.get("repr", True):
        assert repr(ours("a")) == repr(theirs("a"))
    assert hasattr(ours, "__slots__") is hasattr(theirs, "__slots__")
    assert (ours.__hash__ is None) is (theirs.__hash__ is None)
    if ours.__hash__ is not None and options.get("eq", True):
        assert hash(ours("a")) == hash(theirs("a")) == hash(ours("a", [1], "x"))


@each_row("arguments", [(), ("a", [], "k", 1), ("a", "b", "c", "d")])
def test_wrong_arguments_are_refused_as_by_any_function(arguments: tuple[Any, ...]) -> None:
    for kind in twins(frozen=True):
        with pytest.raises(TypeError):
            kind(*arguments)
        with pytest.raises(TypeError):
            kind("a", colour="red")


def test_a_frozen_value_stays_as_it_is() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 5  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    assert point == Point(1, 2)


def test_a_frozen_value_can_be_copied_and_pickled() -> None:
    point = Point(1, tags=("a",), trail=[3])
    for twin in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert (twin, twin.trail, hash(twin)) == (point, [3], hash(point))


def test_what_a_class_defines_itself_stays() -> None:
    @values.dataclass(frozen=True, slots=True)
    class Word:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Word) and other.text.lower() == self.text.lower()

        def __hash__(self) -> int:
            return hash(self.text.lower())

        def __repr__(self) -> str:
            return self.text

    assert (Word("A") == Word("a"), hash(Word("A")) == hash(Word("a")), repr(Word("A"))) == (True, True, "A")


def test_a_value_may_extend_another() -> None:
    @values.dataclass(frozen=True, slots=True)
    class Place(Point):
        """A point with a name."""

        name: str = "here"

    assert repr(Place(1, name="home")) == (
        "test_a_value_may_extend_another.<locals>.Place(x=1, y=2, tags=(), name='home')"
    )
    assert (Place(1) == Place(1), Place(1) == Point(1)) == (True, False)
    with pytest.raises(ValueError, match="x"):
        Place(-1)


def test_methods_are_compiled_when_they_are_first_used() -> None:
    @values.dataclass(frozen=True, slots=True)
    class Pair:
        """Two numbers."""

        left: int
        right: int

    methods = ("__init__", "__eq__", "__hash__")
    assert not any(inspect.isfunction(vars(Pair)[name]) for name in methods)
    assert Pair(1, 2) == Pair(1, 2)
    assert [inspect.isfunction(vars(Pair)[name]) for name in methods] == [True, True, False]
