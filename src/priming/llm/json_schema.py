"""The part of JSON Schema that answers of agents are described in: the keywords of ``KEYWORDS``.

Others that restrict values are refused, so that none is overlooked; those that only describe are skipped. Messages
are those of the library ``jsonschema``, the oracle of ``tests/llm/test_json_schema.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
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


def _const(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    if not _is_equal(value, rule):
        yield Violation(path, f"{rule!r} was expected")


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


def _unique(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    if rule and isinstance(value, list) and any(_is_equal(*pair) for pair in combinations(value, 2)):
        yield Violation(path, f"{value!r} has non-unique elements")


def _any_of(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    wrong = [violation_of_part for schema in rule if (violation_of_part := violation_of(value, schema))]
    if len(wrong) == len(rule):
        deepest = max(wrong, key=lambda each: len(each.path))
        is_single = len(wrong) == 1 or deepest.path
        yield (
            deepest._replace(path=(*path, *deepest.path))
            if is_single
            else Violation(path, f"{value!r} is not valid under any of the given schemas")
        )


def _pattern(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
    if isinstance(value, str) and not re.search(rule, value):
        yield Violation(path, f"{value!r} does not match {rule!r}")


def _size(kind: type, *, least: bool) -> Callable[[Any, Any, Any, Path], Wrong]:
    """The check of the length of a text or list."""
    keyword = f"{'min' if least else 'max'}{'Length' if kind is str else 'Items'}"

    def check(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
        if isinstance(value, kind) and (len(value) < rule if least else len(value) > rule):  # type: ignore[arg-type]
            words = ("should be non-empty" if rule == 1 else "is too short") if least else "is too long"
            words = "is expected to be empty" if not least and rule == 0 else words
            yield Violation(path, f"{value!r} {words}", f" ({keyword}: {rule})")

    return check


def _bound(
    words: str, is_beyond: Callable[[Any, Any], bool], keyword: str
) -> Callable[[Any, Any, Any, Path], Wrong]:
    """The check of a number."""

    def check(value: Any, rule: Any, _: Any, path: Path) -> Wrong:
        if _is_number(value) and is_beyond(value, rule):
            limit = f" ({keyword}: {rule})" if isinstance(rule, int) else ""
            yield Violation(path, f"{value!r} is {words} of {rule!r}", limit)

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same: true is not 1, at any depth."""
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
    """The check of a keyword's own value."""
    return lambda keyword, rule: None if is_right(rule) else f"{keyword} must be {what}, not {rule!r}"


def _is_texts(rule: Any) -> bool:
    return isinstance(rule, list) and all(isinstance(each, str) for each in rule)


def _is_types(rule: Any) -> bool:
    names = [rule] if isinstance(rule, str) else rule
    return _is_texts(names) and bool(names) and set(names) <= set(TYPES)


def _is_pattern(rule: Any) -> bool:
    try:
        return isinstance(rule, str) and bool(re.compile(rule))
    except re.error:
        return False


def _schemas(keyword: str, rule: Any) -> str | None:
    """The problem of the first schema within a keyword's value that has one."""
    if keyword == "properties":
        if not isinstance(rule, Mapping):
            return f"properties must be an object, not {rule!r}"
        parts = [*rule.values()]
    elif keyword == "anyOf":
        if not isinstance(rule, list) or not rule:
            return f"anyOf must be a list of schemas, not {rule!r}"
        parts = rule
    else:
        parts = [rule]
    return next((problem for part in parts if (problem := schema_problem(part)) is not None), None)


_NUMBER = _must("a number", _is_number)
_COUNT = _must("a whole number ≥ 0", lambda rule: TYPES["integer"](rule) and rule >= 0)
KEYWORDS: Mapping[
    str, tuple[Callable[[str, Any], str | None], Callable[[Any, Any, Any, Path], Iterator[Violation]]]
] = {
    "type": (_must(f"of {', '.join(TYPES)}", _is_types), _type),
    "enum": (_must("a list", lambda rule: isinstance(rule, list)), _enum),
    "const": (lambda _, __: None, _const),
    "properties": (_schemas, _properties),
    "required": (_must("a list of names", _is_texts), _required),
    "additionalProperties": (_schemas, _additional),
    "items": (_schemas, _items),
    "uniqueItems": (_must("true or false", lambda rule: isinstance(rule, bool)), _unique),
    "anyOf": (_schemas, _any_of),
    "pattern": (_must("a regular expression", _is_pattern), _pattern),
    "minLength": (_COUNT, _size(str, least=True)),
    "maxLength": (_COUNT, _size(str, least=False)),
    "minItems": (_COUNT, _size(list, least=True)),
    "maxItems": (_COUNT, _size(list, least=False)),
    "minimum": (_NUMBER, _bound("less than the minimum", lambda value, rule: value < rule, "minimum")),
    "maximum": (_NUMBER, _bound("greater than the maximum", lambda value, rule: value > rule, "maximum")),
    "exclusiveMinimum": (
        _NUMBER,
        _bound("less than or equal to the minimum", lambda value, rule: value <= rule, "exclusiveMinimum"),
    ),
    "exclusiveMaximum": (
        _NUMBER,
        _bound("greater than or equal to the maximum", lambda value, rule: value >= rule, "exclusiveMaximum"),
    ),
}
"""Each keyword: what is wrong with its value, and what a value violates of it."""
