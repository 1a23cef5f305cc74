"""A parsed filter as a condition in SQL. What comes from the caller is bound, never written into the SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from priming.serialization import stamp
from priming.storage.columns import RECORDED_AT
from priming.storage.filters import Comparison, Condition

COMPARE = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_OF_MEMORY = {"id", "key", "kind", "priority", "weight", "uses"}
_NUMBERS = {"importance", "priority", "weight", "version", "uses"}


def can_order(value: Any) -> bool:
    """Whether a value is a number, as true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Clauses(ABC):
    """Writes clauses over ``memories m`` and ``versions v``: never NULL, so that ``not`` may precede each."""

    false: ClassVar[str]
    true: ClassVar[str]

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def clause(self, condition: Condition) -> str:
        """Return the condition in SQL; its values are in ``values``."""
        if isinstance(condition, Comparison):
            return self._comparison(condition)
        parts = [self.clause(part) for part in condition.parts]
        if condition.operator == "not":
            return f"NOT ({parts[0]})"
        if not parts:
            return self.true if condition.operator == "and" else self.false
        # SQLite's parser is a hundred parentheses deep.
        joined = f" {condition.operator.upper()} ".join(f"({part})" for part in parts)
        return parts[0] if len(parts) == 1 else joined

    def _comparison(self, comparison: Comparison) -> str:
        name, operator = comparison.path[0], comparison.operator
        if operator in ("ne", "nin"):
            positive = Comparison(comparison.path, {"ne": "eq", "nin": "in"}[operator], comparison.value)
            return f"NOT ({self._comparison(positive)})"
        operands = comparison.value if operator == "in" else (comparison.value,)
        if name == "metadata":
            return self.of_metadata(comparison, operands)
        column = f"m.{name}" if name in _OF_MEMORY else f"v.{name}"
        column = f"({RECORDED_AT})" if name == "recorded_at" else column
        if operator == "exists":
            return f"{column} IS {'NOT ' if comparison.value else ''}NULL"
        if name == "tags" or operator in ("eq", "in"):
            return self._any(name, column, operands)
        if operator == "contains":
            return self.has_part(column, comparison.value)
        return self.ordered(column, COMPARE[operator], comparison.value, is_number=name in _NUMBERS)

    def _any(self, name: str, column: str, operands: Sequence[Any]) -> str:
        """Whether a column equals, or has as a tag, any of some values, of which one may be null."""
        values = [operand for operand in operands if operand is not None and self.can_be_stored(operand)]
        clauses = [f"{column} IS NULL"] if any(operand is None for operand in operands) else []
        if values and name == "tags":
            clauses.append(self.has_tag(column, values))
        elif values:
            clauses.append(self.equals(column, values, is_number=name in _NUMBERS))
        return " OR ".join(clauses) or self.false

    def bind(self, value: Any) -> str:
        """Return the name under which a value, or a list, is bound."""
        name = f"filter_{len(self.values)}"
        self.values[name] = [*map(self.plain, value)] if isinstance(value, list) else self.plain(value)
        return f":{name}"

    def plain(self, value: Any) -> Any:
        """Return a value as it is bound: a time as its stamp."""
        return stamp(value) if isinstance(value, datetime) else value

    def can_be_stored(self, value: Any) -> bool:  # noqa: ARG002
        """Whether a text of this database can have this value."""
        return True

    @abstractmethod
    def equals(self, column: str, values: Sequence[Any], *, is_number: bool) -> str:
        """Whether a column has one of the values."""

    @abstractmethod
    def has_tag(self, column: str, values: Sequence[Any]) -> str:
        """Whether a column of tags has one of the values."""

    @abstractmethod
    def has_part(self, column: str, part: str) -> str:
        """Whether a text contains another."""

    @abstractmethod
    def ordered(self, column: str, operator: str, value: Any, *, is_number: bool) -> str:
        """Whether a column is before or after a value."""

    @abstractmethod
    def of_metadata(self, comparison: Comparison, operands: Sequence[Any]) -> str:
        """Whether a value of the user's metadata satisfies a comparison."""
