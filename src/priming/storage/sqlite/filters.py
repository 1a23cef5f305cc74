"""Filters, and searches for words, as SQL for SQLite. What comes from the caller is bound, not written in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from priming.serialization import stamp
from priming.storage.columns import RECORDED_AT
from priming.storage.filters import Comparison, Condition
from priming.storage.spaceless import phrases

_OF_MEMORY = {"id", "key", "kind", "priority", "weight", "uses"}
_COMPARE = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def compile_condition(condition: Condition) -> tuple[str, dict[str, Any]]:
    """The WHERE clause over ``memories m`` and ``versions v``, and its parameters by name."""
    compiler = _Compiler()
    return compiler.clause(condition), compiler.values


class _Compiler:
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
            return "1" if condition.operator == "and" else "0"
        # SQLite's parser is a hundred parentheses deep.
        return (
            parts[0]
            if len(parts) == 1
            else f" {condition.operator.upper()} ".join(f"({part})" for part in parts)
        )

    def _comparison(self, comparison: Comparison) -> str:
        if comparison.operator in ("ne", "nin"):
            positive = Comparison(
                comparison.path, {"ne": "eq", "nin": "in"}[comparison.operator], comparison.value
            )
            return f"NOT ({self._comparison(positive)})"
        operands = comparison.value if comparison.operator == "in" else (comparison.value,)
        if comparison.path[0] == "metadata":
            return self._of_metadata(comparison, operands)
        column = f"m.{comparison.path[0]}" if comparison.path[0] in _OF_MEMORY else f"v.{comparison.path[0]}"
        if comparison.path[0] == "recorded_at":
            column = f"({RECORDED_AT})"
        if comparison.operator == "exists":
            return f"{column} IS {'NOT ' if comparison.value else ''}NULL"
        if comparison.path == ("tags",):
            return self._any(
                f"EXISTS (SELECT 1 FROM json_each({column}) WHERE value IN {{}})", column, operands
            )
        if comparison.operator in ("eq", "in"):
            return self._any(f"coalesce({column} IN {{}}, 0)", column, operands)
        if comparison.operator == "contains":
            return f"coalesce(instr({column}, {self._bind(comparison.value)}), 0) > 0"
        return f"coalesce({column} {_COMPARE[comparison.operator]} {self._bind(comparison.value)}, 0)"

    def _any(self, inside: str, column: str, operands: Sequence[Any]) -> str:
        """Whether a column equals any of some values, of which one may be null."""
        values = [
            stamp(operand) if isinstance(operand, datetime) else operand
            for operand in operands
            if operand is not None
        ]
        clauses = [f"{column} IS NULL"] if len(values) < len(operands) else []
        if values:
            clauses.append(inside.format(self._list(values)))
        return " OR ".join(clauses) or "0"

    def _of_metadata(self, comparison: Comparison, operands: Sequence[Any]) -> str:
        path = self._bind(
            "$" + "".join(f".{json.dumps(part, ensure_ascii=False)}" for part in comparison.path[1:])
        )
        kind, value = f"json_type(v.metadata, {path})", f"json_extract(v.metadata, {path})"
        if comparison.operator == "exists":
            return f"{value} IS {'NOT ' if comparison.value else ''}NULL"
        if comparison.operator in ("eq", "in"):
            return self._equal(kind, value, operands)
        if comparison.operator == "contains":
            inside = self._equal("type", "value", operands)
            in_array = (
                f"{kind} IS 'array' AND EXISTS (SELECT 1 FROM json_each(v.metadata, {path}) WHERE {inside})"
            )
            if not isinstance(comparison.value, str):
                return in_array
            return (
                f"({in_array}) OR ({kind} IS 'text' AND instr({value}, {self._bind(comparison.value)}) > 0)"
            )
        same = f"{kind} IS 'text'" if isinstance(comparison.value, str) else _is_number(kind)
        return f"{same} AND {value} {_COMPARE[comparison.operator]} {self._bind(comparison.value)}"

    def _equal(self, kind: str, value: str, operands: Sequence[Any]) -> str:
        """Whether a JSON value equals any of some others, of its own type."""
        texts = [operand for operand in operands if isinstance(operand, str)]
        numbers = [
            operand
            for operand in operands
            if isinstance(operand, (int, float)) and not isinstance(operand, bool)
        ]
        clauses = [
            f"{kind} IS '{str(operand).lower()}'" for operand in (True, False) if _holds(operands, operand)
        ]
        if any(operand is None for operand in operands):
            clauses.append(f"{value} IS NULL")
        if texts:
            clauses.append(f"({kind} IS 'text' AND {value} IN {self._list(texts)})")
        if numbers:
            clauses.append(f"({_is_number(kind)} AND {value} IN {self._list(numbers)})")
        return " OR ".join(clauses) or "0"

    def _bind(self, value: Any) -> str:
        name = f"filter_{len(self.values)}"
        self.values[name] = stamp(value) if isinstance(value, datetime) else value
        return f":{name}"

    def _list(self, values: Sequence[Any]) -> str:
        return f"(SELECT value FROM json_each({self._bind(json.dumps(values, ensure_ascii=False))}))"


def _is_number(kind: str) -> str:
    return f"coalesce({kind} IN ('integer', 'real'), 0)"


def _holds(values: Sequence[Any], flag: bool) -> bool:
    return any(value is flag for value in values)


def fts_query(words: str) -> str:
    """The query for texts that contain all of the words.

    >>> fts_query("moved 大阪府 春")
    '"moved" "大阪 阪府" "春" *'
    """
    return (
        " ".join(_quoted(phrase) + (" *" if beginning else "") for phrase, beginning in phrases(words))
        or '""'
    )


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'
