"""A parsed filter as SQL for SQLite. What comes from the caller is bound, never written into the SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from priming.filters import Comparison, Condition
from priming.serialization import stamp

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

    def _comparison(self, one: Comparison) -> str:
        if one.operator in ("ne", "nin"):
            positive = Comparison(one.path, {"ne": "eq", "nin": "in"}[one.operator], one.value)
            return f"NOT ({self._comparison(positive)})"
        wanted = one.value if one.operator == "in" else (one.value,)
        if one.path[0] == "metadata":
            return self._of_metadata(one, wanted)
        column = f"m.{one.path[0]}" if one.path[0] in _OF_MEMORY else f"v.{one.path[0]}"
        if one.operator == "exists":
            return f"{column} IS {'NOT ' if one.value else ''}NULL"
        if one.path == ("tags",):
            return self._any(
                f"EXISTS (SELECT 1 FROM json_each({column}) WHERE value IN {{}})", column, wanted
            )
        if one.operator in ("eq", "in"):
            return self._any(f"coalesce({column} IN {{}}, 0)", column, wanted)
        if one.operator == "contains":
            return f"coalesce(instr({column}, {self._bind(one.value)}), 0) > 0"
        return f"coalesce({column} {_COMPARE[one.operator]} {self._bind(one.value)}, 0)"

    def _any(self, inside: str, column: str, wanted: Sequence[Any]) -> str:
        """Whether a column equals any of some values, of which one may be null."""
        some = [stamp(one) if isinstance(one, datetime) else one for one in wanted if one is not None]
        clauses = [f"{column} IS NULL"] if len(some) < len(wanted) else []
        if some:
            clauses.append(inside.format(self._list(some)))
        return " OR ".join(clauses) or "0"

    def _of_metadata(self, one: Comparison, wanted: Sequence[Any]) -> str:
        path = self._bind("$" + "".join(f".{json.dumps(part, ensure_ascii=False)}" for part in one.path[1:]))
        kind, value = f"json_type(v.metadata, {path})", f"json_extract(v.metadata, {path})"
        if one.operator == "exists":
            return f"{value} IS {'NOT ' if one.value else ''}NULL"
        if one.operator in ("eq", "in"):
            return self._equal(kind, value, wanted)
        if one.operator == "contains":
            inside = self._equal("type", "value", wanted)
            held = (
                f"{kind} IS 'array' AND EXISTS (SELECT 1 FROM json_each(v.metadata, {path}) WHERE {inside})"
            )
            if not isinstance(one.value, str):
                return held
            return f"({held}) OR ({kind} IS 'text' AND instr({value}, {self._bind(one.value)}) > 0)"
        same = f"{kind} IS 'text'" if isinstance(one.value, str) else _is_number(kind)
        return f"{same} AND {value} {_COMPARE[one.operator]} {self._bind(one.value)}"

    def _equal(self, kind: str, value: str, wanted: Sequence[Any]) -> str:
        """Whether a JSON value equals any of some others, of its own type."""
        texts = [one for one in wanted if isinstance(one, str)]
        numbers = [one for one in wanted if isinstance(one, (int, float)) and not isinstance(one, bool)]
        clauses = [f"{kind} IS '{str(one).lower()}'" for one in (True, False) if _holds(wanted, one)]
        if any(one is None for one in wanted):
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
    return any(one is flag for one in values)
