"""The part of JSON Schema that answers of agents are described in: the keywords of ``KEYWORDS``.

Others that restrict values are refused, so that none is overlooked; those that only describe are skipped. Messages
are those of the library ``jsonschema``, the oracle of ``tests/llm/test_json_schema.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: _is_number(value),
    "integer": lambda value: _is_number(value) and value == int(value),
}
DESCRIBING = frozenset(
    "$schema $id $comment title description default examples deprecated readOnly writeOnly".split()  # noqa: SIM905
)
_PLAIN_NAME = re.compile(r"^[a-zA-Z][a-zA-Z0-9_]*$")


class Violation(NamedTuple):
    """What a value violates: the path to it, and the rule, with its limit if that is a number."""

    path: tuple[str | int, ...]
    rule: str
    limit: str = ""

    def __str__(self) -> str:
        return f"{_json_path(self.path)}: {self.rule}{self.limit}"


def violation_of(value: Any, schema: Any) -> Violation | None:
    """Return what a value violates first, nearest to its root; None if it is valid.

    >>> print(violation_of({"n": ["one"]}, {"properties": {"n": {"items": {"type": "integer"}}}}))
    $.n[0]: 'one' is not of type 'integer'
    """
    return min(_violations(value, schema, ()), key=lambda wrong: len(wrong.path), default=None)


def schema_problem(schema: Any) -> str | None:
    """Return why a value is no schema that is read here; None if it is.

    >>> schema_problem({"items": {"type": "text"}})
    "type must be of object, array, string, boolean, null, number, integer, not 'text'"
    """
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, Mapping):
        return f"{schema!r} is no object"
    for keyword, rule in schema.items():
        if keyword in DESCRIBING:
            continue
        if keyword not in KEYWORDS:
            return f"the keyword {keyword!r} is not read here: use {', '.join(KEYWORDS)}"
        problem = KEYWORDS[keyword][0](keyword, rule)
        if problem is not None:
            return problem
    return None


def _violations(value: Any, schema: Any, path: tuple[str | int, ...]) -> Iterator[Violation]:
    if isinstance(schema, bool):
        if not schema:
            yield Violation(path, f"False schema does not allow {value!r}")
        return
    for keyword, rule in schema.items():
        if keyword in KEYWORDS:
            yield from KEYWORDS[keyword][1](value, rule, schema, path)


Path = tuple[str | int, ...]
Wrong = Iterator[Violation]


def _type(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    names = [rule] if isinstance(rule, str) else rule
    if not any(TYPES[name](value) for name in names):
        yield Violation(path, f"{value!r} is not of type {', '.join(map(repr, names))}")


def _enum(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    if not any(_is_equal(value, each) for each in rule):
        yield Violation(path, f"{value!r} is not one of {rule!r}")


def _properties(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    if isinstance(value, dict):
        for name, schema in rule.items():
            if name in value:
                yield from _violations(value[name], schema, (*path, name))


def _required(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    if isinstance(value, dict):
        yield from (Violation(path, f"{name!r} is a required property") for name in rule if name not in value)


def _additional(value: Any, rule: Any, schema: Any, path: Path) -> Wrong:
    if not isinstance(value, dict):
        return
    extras = [name for name in value if name not in schema.get("properties", {})]
    if rule is False and extras:
        verb = "was" if len(extras) == 1 else "were"
        names = ", ".join(map(repr, sorted(extras)))
        yield Violation(path, f"Additional properties are not allowed ({names} {verb} unexpected)")
    elif rule is not False:
        for name in extras:
            yield from _violations(value[name], rule, (*path, name))


def _items(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _violations(item, rule, (*path, place))


def _shortest(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    if isinstance(value, str) and len(value) < rule:
        words = "should be non-empty" if rule == 1 else "is too short"
        yield Violation(path, f"{value!r} {words}", f" (minLength: {rule})")


def _longest(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    if isinstance(value, str) and len(value) > rule:
        words = "is too long" if rule else "is expected to be empty"
        yield Violation(path, f"{value!r} {words}", f" (maxLength: {rule})")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_equal(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same: true is not 1, at any depth."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_is_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_is_equal(left[name], right[name]) for name in left)
    return bool(left == right)


def _json_path(path: Sequence[str | int]) -> str:
    text = "$"
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_NAME.match(part):
            text += f".{part}"
        else:
            text += "['" + part.replace("\\", "\\\\").replace("'", "\\'") + "']"
    return text


def _must(what: str, is_right: Callable[[Any], bool]) -> Callable[[str, Any], str | None]:
    """Return the check of a keyword's own value."""
    return lambda keyword, rule: None if is_right(rule) else f"{keyword} must be {what}, not {rule!r}"


def _is_texts(rule: Any) -> bool:
    return isinstance(rule, list) and all(isinstance(each, str) for each in rule)


def _is_types(rule: Any) -> bool:
    names = [rule] if isinstance(rule, str) else rule
    return _is_texts(names) and bool(names) and set(names) <= set(TYPES)


def _schemas(keyword: str, rule: Any) -> str | None:
    """Return the problem of the first schema within a keyword's value that has one."""
    if keyword == "properties":
        if not isinstance(rule, Mapping):
            return f"properties must be an object, not {rule!r}"
        parts = [*rule.values()]
    else:
        parts = [rule]
    return next((problem for part in parts if (problem := schema_problem(part)) is not None), None)


_COUNT = _must("a whole number ≥ 0", lambda rule: TYPES["integer"](rule) and rule >= 0)
KEYWORDS: Mapping[
    str, tuple[Callable[[str, Any], str | None], Callable[[Any, Any, Any, Path], Iterator[Violation]]]
] = {
    "type": (_must(f"of {', '.join(TYPES)}", _is_types), _type),
    "enum": (_must("a list", lambda rule: isinstance(rule, list)), _enum),
    "properties": (_schemas, _properties),
    "required": (_must("a list of names", _is_texts), _required),
    "additionalProperties": (_schemas, _additional),
    "items": (_schemas, _items),
    "minLength": (_COUNT, _shortest),
    "maxLength": (_COUNT, _longest),
}
"""Each keyword: what is wrong with its value, and what a value violates of it."""
