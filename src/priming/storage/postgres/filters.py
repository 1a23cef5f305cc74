"""A parsed filter as SQL for PostgreSQL. What comes from the caller is bound, never written into the SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from priming.serialization import stamp
from priming.storage.columns import RECORDED_AT
from priming.storage.filters import Comparison, Condition

_OF_MEMORY = {"id", "key", "kind", "priority", "weight", "uses"}
_NUMBERS = {"importance", "priority", "weight", "version", "uses"}
_JSON = r"replace({}, '\u0000', '\ufffd')::jsonb"
"""JSON text as a value; PostgreSQL has no NUL, which JSON writes as an escape."""
_COMPARE = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def compile_condition(condition: Condition) -> tuple[str, dict[str, Any]]:
    """The WHERE clause over ``memories m`` and ``versions v``, and its parameters by name."""
    compiler = _PostgresClauses()
    return compiler.clause(condition), compiler.values


class _PostgresClauses:
    """Writes clauses that are true or false, never NULL, so that ``not`` may stand before each."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def clause(self, condition: Condition) -> str:
        if isinstance(condition, Comparison):
            return self._comparison(condition)
        parts = [self.clause(part) for part in condition.parts]
        if condition.operator == "not":
            return f"NOT ({parts[0]})"
        if not parts:
            return "true" if condition.operator == "and" else "false"
        return f" {condition.operator.upper()} ".join(f"({part})" for part in parts)

    def _comparison(self, comparison: Comparison) -> str:
        name, operator = comparison.path[0], comparison.operator
        if operator in ("ne", "nin"):
            positive = Comparison(comparison.path, {"ne": "eq", "nin": "in"}[operator], comparison.value)
            return f"NOT ({self._comparison(positive)})"
        operands = comparison.value if operator == "in" else (comparison.value,)
        if name == "metadata":
            return self._of_metadata(comparison, operands)
        column = f"m.{name}" if name in _OF_MEMORY else f"v.{name}"
        if name == "recorded_at":
            column = f"({RECORDED_AT})"
        if operator == "exists":
            return f"{column} IS {'NOT ' if comparison.value else ''}NULL"
        if name == "tags":
            return self._any(f"coalesce({_JSON.format(column)} ?| {{}}::text[], false)", column, operands)
        if operator in ("eq", "in"):
            kind = "numeric" if name in _NUMBERS else "text"
            exact = f"{column}::numeric" if name in _NUMBERS else column
            return self._any(f"coalesce({exact} = ANY({{}}::{kind}[]), false)", column, operands)
        if operator == "contains":
            return self._contains(f"coalesce(strpos({column}, {{}}::text), 0) > 0", comparison.value)
        kind = "numeric" if name in _NUMBERS else "text"
        return f"coalesce({column} {_COMPARE[operator]} {self._bind(comparison.value)}::{kind}, false)"

    def _any(self, inside: str, column: str, operands: Sequence[Any]) -> str:
        """Whether a column equals any of some values, of which one may be null."""
        values = [_plain(operand) for operand in operands if operand is not None and _can_be_stored(operand)]
        clauses = [f"{column} IS NULL"] if any(operand is None for operand in operands) else []
        if values:
            clauses.append(inside.format(self._bind(values)))
        return " OR ".join(clauses) or "false"

    def _of_metadata(self, comparison: Comparison, operands: Sequence[Any]) -> str:
        value = _JSON.format("v.metadata") + "".join(
            f" -> {self._bind(part)}::text" for part in comparison.path[1:]
        )
        value, kind = f"({value})", f"jsonb_typeof({value})"
        if comparison.operator == "exists":
            return f"{'' if comparison.value else 'NOT '}(coalesce({kind}, 'null') <> 'null')"
        if comparison.operator in ("eq", "in"):
            return self._equal(value, operands)
        if comparison.operator == "contains":
            # The set of an array's elements is asked for only of arrays.
            elements = (
                f"jsonb_array_elements(CASE {kind} WHEN 'array' THEN {value} ELSE '[]' END) AS e(value)"
            )
            in_array = f"EXISTS (SELECT 1 FROM {elements} WHERE {self._equal('e.value', operands)})"
            if not isinstance(comparison.value, str):
                return in_array
            part = self._contains(f"strpos({value} #>> '{{{{}}}}', {{}}::text) > 0", comparison.value)
            return f"({in_array}) OR coalesce({kind} = 'string' AND {part}, false)"
        operator, operand = _COMPARE[comparison.operator], self._bind(comparison.value)
        if isinstance(comparison.value, str):
            text = f"({value} #>> '{{}}') COLLATE \"C\""
            return f"coalesce({kind} = 'string' AND {text} {operator} {operand}::text, false)"
        # Of other types no number is made, in whatever order the parts are tried.
        number = f"(CASE {kind} WHEN 'number' THEN ({value} #>> '{{}}')::numeric END)"
        return f"coalesce({number} {operator} {operand}::numeric, false)"

    def _equal(self, value: str, operands: Sequence[Any]) -> str:
        """Whether a JSON value equals any of some others, of its own type."""
        kind = f"jsonb_typeof({value})"
        texts = [operand for operand in operands if isinstance(operand, str) and _can_be_stored(operand)]
        numbers = [
            _plain(operand)
            for operand in operands
            if isinstance(operand, (int, float)) and not isinstance(operand, bool)
        ]
        flags = [operand for operand in operands if isinstance(operand, bool)]
        clauses = [f"coalesce({value} = '{str(flag).lower()}'::jsonb, false)" for flag in flags]
        if any(operand is None for operand in operands):
            clauses.append(f"coalesce({kind}, 'null') = 'null'")
        if texts:
            clauses.append(
                f"coalesce({kind} = 'string' AND ({value} #>> '{{}}') = ANY({self._bind(texts)}::text[]), false)"
            )
        if numbers:
            number = f"(CASE {kind} WHEN 'number' THEN ({value} #>> '{{}}')::numeric END)"
            clauses.append(f"coalesce({number} = ANY({self._bind(numbers)}::numeric[]), false)")
        return " OR ".join(clauses) or "false"

    def _contains(self, inside: str, part: str) -> str:
        return inside.format(self._bind(part)) if _can_be_stored(part) else "false"

    def _bind(self, value: Any) -> str:
        name = f"filter_{len(self.values)}"
        self.values[name] = _plain(value)
        return f"%({name})s"


def _can_be_stored(value: Any) -> bool:
    """Whether a text is without NUL, which no text of PostgreSQL contains."""
    return not (isinstance(value, str) and "\x00" in value)


def _plain(value: Any) -> Any:
    """A value as it is bound: a time as its stamp, a number exactly."""
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, str) and "\x00" in value:
        return None
    if isinstance(value, float):
        return Decimal(repr(value))
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value
