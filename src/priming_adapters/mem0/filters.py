"""Where mem0's filters lead: into which namespaces, and what is to be looked for there."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from types import NoneType
from typing import Any

from priming import Memory, MemoryRecord
from priming_adapters.common import Source, Users, at_key, every
from priming_adapters.mem0.shapes import IDS, identity, refused

_FIELDS = {
    "actor_id": "speaker",
    "data": "content",
    "memory": "content",
    "created_at": "recorded_at",
    "updated_at": "recorded_at",
}
_OPERATORS = ("eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains")
_LOGICAL = {"AND": "and", "OR": "or", "NOT": "not"}


class Scopes:
    """The memories of the users of a store, and the parts of them that filters name."""

    def __init__(self, source: Source = None) -> None:
        self._users = Users(source)
        self.close = self._users.close

    def of(self, name: str) -> Memory:
        """Return the memory of a namespace."""
        return self._users.of(name)

    def names(self) -> list[str]:
        """Return the namespaces in which something may lie whose user is not named."""
        with self._users.memory.lock:
            return self._users.memory.store.namespaces()

    def memories(self) -> Iterator[Memory]:
        """Return all memories."""
        return map(self.of, self.names())

    def within(self, scope: Mapping[str, Any], *, expired: bool) -> tuple[list[Memory], dict[str, Any]]:
        """Return the memories in which a scope may lie, that of its user or else all, and the filter for there."""
        user = scope.get("user_id")
        if isinstance(user, str) and user != "*":
            others = {name: value for name, value in scope.items() if name != "user_id"}
            return [self.of(user)], condition(others, expired=expired)
        return [*self.memories()], condition(scope, expired=expired)

    def all(
        self, scope: Mapping[str, Any], most: int | None, *, expired: bool
    ) -> list[tuple[Memory, MemoryRecord]]:
        """Return those in a scope, in the order in which they were added."""
        memories, which = self.within(scope, expired=expired)
        return [*islice(((memory, record) for memory in memories for record in every(memory, which)), most)]

    def find(self, memory_id: object) -> tuple[Memory, MemoryRecord] | None:
        """Return the memory of an id, or of the id that it had before an import, with any status, and where it is."""
        for memory in self.memories():
            for key in (str(memory_id), f"mem0:{memory_id}"):
                if (record := at_key(memory, key)) is not None:
                    return memory, record
        return None

    def active(self, memory_id: object, more: str = "") -> tuple[Memory, MemoryRecord]:
        """Return the same, unless it was deleted."""
        pair = self.find(memory_id)
        if pair is None or pair[1].status != "active":
            raise refused(f"Memory with id {memory_id} not found{more}")
        return pair


def most_of(value: Any) -> int:
    """Return how many results may be returned."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise refused("top_k must be a valid integer")
    if value < 0:
        raise refused(f"Invalid top_k: {value}. Must be a non-negative integer.")
    return min(value, sys.maxsize)


def scope(filters: Mapping[str, Any] | None, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return filters with the ids of older calls, such as ``user_id=``; there must be an id among them."""
    if not isinstance(filters, (Mapping, NoneType)):
        raise refused(f"filters must be a dictionary, not {type(filters).__name__}")
    whole = {**(filters or {}), **{name: more[name] for name in IDS if more.get(name) is not None}}
    plain = {name: whole[name] for name in IDS if name in whole and not isinstance(whole[name], (dict, list))}
    plain = {name: value for name, value in plain.items() if value != "*" or name in more}
    if not {*IDS} & {*_names(whole)}:
        rule = "filters must contain at least one of: user_id, agent_id, run_id."
        raise refused(f"{rule} Example: filters={{'user_id': 'u1'}}")
    return whole | identity(**plain)


def _names(filters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of which filters speak."""
    for name, value in filters.items():
        yield name
        if name in _LOGICAL and isinstance(value, list):
            for each in value:
                yield from _names(each) if isinstance(each, Mapping) else ()


def condition(filters: Mapping[str, Any], *, expired: bool = False) -> dict[str, Any]:
    """Return filters of mem0 as those of Priming; unless ``expired``, without memories whose time is over."""
    parts = [_clause(name, value) for name, value in filters.items()]
    if not expired:
        ends, today = "metadata.expiration_date", datetime.now(UTC).date().isoformat()
        parts.append({"or": [{ends: {"exists": False}}, {ends: {"gte": today}}]})
    return {"and": parts} if parts else {}


def _clause(name: str, value: Any) -> dict[str, Any]:
    if name in _LOGICAL:
        if not isinstance(value, list) or not value or not all(isinstance(each, Mapping) for each in value):
            raise refused(f"{name} operator requires a non-empty list of conditions")
        parts = [condition(each, expired=True) for each in value]
        return {"not": {"or": parts}} if name == "NOT" else {_LOGICAL[name]: parts}
    field = _FIELDS.get(name, f"metadata.{name}")
    if value == "*":
        return {}
    if isinstance(value, list):
        return {field: {"in": value}}
    if not isinstance(value, Mapping):
        return {field: value}
    return {"and": [_comparison(field, operator, operand) for operator, operand in value.items()]}


def _comparison(field: str, operator: str, operand: Any) -> dict[str, Any]:
    if operator == "icontains":
        text = str(operand)
        cases = dict.fromkeys((text, text.lower(), text.upper(), text.capitalize(), text.title()))
        return {"or": [{field: {"contains": each}} for each in cases]}
    if operator not in _OPERATORS:
        raise refused(f"Unsupported metadata filter operator: {operator}")
    present = {"exists": True} if operator in ("ne", "nin") else {}
    return {field: {operator: operand, **present}}
