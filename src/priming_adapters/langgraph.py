"""A store of LangGraph: a namespace, its labels joined by periods, is a namespace of Priming; an item is a memory.

A search with a query is a recall, so it returns what is relevant, up to the limit. Deleted and expired items are
forgotten. A value stands in the metadata of its memory, whose text is that of the fields that are indexed.
"""

from __future__ import annotations

import asyncio
import json
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, TypeAlias

from priming import Conflict, Memory, MemoryRecord, MissingExtra, ParamError
from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_metadata, check_number
from priming.recall.recall import MOST_HITS
from priming_adapters.common import Source, Users, at_key, every, forget, key_of, put_all

with MissingExtra("langgraph", "a store of LangGraph"):
    from langgraph.store import base

_OPERATORS = {"$eq": "eq", "$ne": "ne", "$gt": "gt", "$gte": "ge", "$lt": "lt", "$lte": "le"}
Row: TypeAlias = tuple[tuple[str, ...], Memory, MemoryRecord, float | None]
_REFRESHED = 0.01
"""The part of its time to live after which reading an item prolongs it: else each read would be a new version."""


class PrimingStore(Users, base.BaseStore):
    """The items of a LangGraph store as memories."""

    supports_ttl = True

    def __init__(
        self, source: Source = None, *, index: Any = None, ttl: Any = None, floor: float | None = None
    ) -> None:
        """Keep items in a memory's store; ``index`` and ``ttl`` are the configurations that LangGraph's stores take.

        Of ``index`` the ``fields`` count, as vectors are the memory's own. ``floor`` is that of recall.
        """
        super().__init__(source)
        self._fields = [*((index or {}).get("fields") or ["$"])]
        self.ttl_config, self._floor, self._swept_at = ttl or {}, floor, self.memory.now()

    def batch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Carry out operations: reads see the state before the batch, and of puts to an item the last counts."""
        ops = [*ops]
        for op in ops:
            base.validate_op_namespace(op)
        results = [self._read(op) for op in ops]
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, base.PutOp)}
        for namespace in dict.fromkeys(path for path, _ in puts):
            self._write(
                self.of(".".join(namespace)), [op for op in puts.values() if op.namespace == namespace]
            )
        minutes = self.ttl_config.get("sweep_interval_minutes")
        if minutes and self.memory.now() - self._swept_at >= timedelta(minutes=minutes):
            self.sweep_ttl()
        return results

    async def abatch(self, ops: Iterable[base.Op]) -> list[base.Result]:
        """Carry out operations in a thread."""
        return await asyncio.to_thread(self.batch, [*ops])

    def sweep_ttl(self) -> int:
        """Forget the items that have expired; return their number."""
        self._swept_at = self.memory.now()
        items = [(memory, record) for _, memory in self._spaces(()) for record in every(memory)]
        return sum(
            forget(memory, record.id, "expired") for memory, record in items if has_expired(memory, record)
        )

    def _read(self, op: base.Op) -> base.Result:
        if isinstance(op, base.GetOp):
            memory = self.of(".".join(op.namespace))
            record = at_key(memory, key_of(op.key))
            if record is None or record.status != "active" or not self._shows(memory, record):
                return None
            self._prolong(memory, record, op.refresh_ttl)
            return base.Item(**item_parts(record, op.namespace))
        if isinstance(op, base.SearchOp):
            start, limit = (
                check_count(name, getattr(op, name), 0, PAGE_LIMIT) for name in ("offset", "limit")
            )
            page = [*islice(self._searched(op), start, start + limit)]
            for _, memory, record, _ in page:
                self._prolong(memory, record, op.refresh_ttl)
            return [
                base.SearchItem(**item_parts(record, path), score=score) for path, _, record, score in page
            ]
        if isinstance(op, base.ListNamespacesOp):
            conditions = op.match_conditions or ()
            spaces = [
                pair for pair in self._spaces(()) if all(path_fits(pair[0], *each) for each in conditions)
            ]
            used = {
                path for path, memory in spaces if any(self._shows(memory, item) for item in every(memory))
            }
            return sorted({path[: op.max_depth] for path in used})[op.offset : op.offset + op.limit]
        if isinstance(op, base.PutOp):
            return None
        raise ParamError("op", op, "must be a GetOp, SearchOp, PutOp or ListNamespacesOp")

    def _write(self, memory: Memory, ops: Sequence[base.PutOp]) -> None:
        """Put the items of a namespace, all or none, once the others are deleted."""
        with memory.lock:
            items = {key_of(op.key): self._item(memory, op) for op in ops if op.value is not None}
            for op in ops:
                if op.value is None:
                    forget(memory, key_of(op.key))
            if items:
                put_all(memory, items)

    def _item(self, memory: Memory, op: base.PutOp) -> dict[str, Any]:
        """Return the arguments of ``remember`` for an item."""
        metadata = {**check_metadata({"value": op.value, "key": op.key})}
        texts, now, old = self._texts(op), memory.now(), at_key(memory, key_of(op.key))
        created_at = item_times(old)[0] if old is not None and old.status == "active" else now
        metadata |= {"created_at": created_at.isoformat(), "updated_at": now.isoformat()}
        if not texts:
            metadata["indexed"] = False
        if op.ttl is not None:
            minutes = check_number("ttl", op.ttl)
            metadata |= {"ttl": minutes, "expires_at": now.timestamp() + 60 * minutes}
        return {"content": "\n".join(texts) or json.dumps(op.value), "kind": "fact", "metadata": metadata}

    def _texts(self, op: base.PutOp) -> list[str]:
        paths = self._fields if op.index is None else op.index or []
        if paths == ["$"]:
            return value_texts(op.value)
        return [text for path in paths for text in base.get_text_at_path(op.value, path) if text.strip()]

    def _spaces(self, prefix: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Memory]]:
        for name in self.memory.store.namespaces():
            path = tuple(name.split("."))
            if path[: len(prefix)] == prefix and all(path):
                yield path, self.of(name)

    def _searched(self, op: base.SearchOp) -> Iterator[Row]:
        for row in self._recalled(op) if op.query else self._listed(op):
            if self._shows(*row[1:3]) and holds(item_value(row[2]), op.filter or {}):
                yield row

    def _listed(self, op: base.SearchOp) -> Iterator[Row]:
        for path, memory in self._spaces(op.namespace_prefix):
            yield from ((path, memory, record, None) for record in every(memory))

    def _recalled(self, op: base.SearchOp) -> list[Row]:
        limit = MOST_HITS if op.filter else min(MOST_HITS, max(1, op.offset + op.limit))
        indexed = {"metadata.indexed": {"ne": False}}
        hits = [
            (path, memory, hit.memory, hit.score if hit.relevance is None else hit.relevance)
            for path, memory in self._spaces(op.namespace_prefix)
            for hit in memory.recall(op.query, limit=limit, floor=self._floor, filters=indexed)
        ]
        return sorted(hits, key=lambda row: -row[3])

    def _shows(self, memory: Memory, record: MemoryRecord) -> bool:
        return not (self.ttl_config.get("omit_expired") and has_expired(memory, record))

    def _prolong(self, memory: Memory, record: MemoryRecord, refresh: bool) -> None:
        if refresh and "ttl" in record.metadata:
            lifetime = 60 * record.metadata["ttl"]
            until = memory.now().timestamp() + lifetime
            if until - record.metadata["expires_at"] >= lifetime * _REFRESHED:
                with suppress(Conflict):  # it was deleted since
                    metadata = {**record.metadata, "expires_at": until}
                    memory.supersede(record.id, record.content, metadata=metadata)


def item_parts(record: MemoryRecord, namespace: tuple[str, ...]) -> dict[str, Any]:
    """Return what an item is made of."""
    created_at, updated_at = item_times(record)
    return {
        "namespace": namespace,
        "key": record.metadata.get("key", record.key),
        "value": item_value(record),
        "created_at": created_at,
        "updated_at": updated_at,
    }


def item_value(record: MemoryRecord) -> dict[str, Any]:
    """Return the value of an item; of a memory that was remembered otherwise, its text."""
    value = record.metadata.get("value")
    return value if isinstance(value, dict) else {"text": record.content}


def item_times(record: MemoryRecord) -> list[datetime]:
    """Return when an item was created, and when it was put last."""
    times = (record.metadata.get(name, record.recorded_at) for name in ("created_at", "updated_at"))
    return [datetime.fromisoformat(str(time)) for time in times]


def has_expired(memory: Memory, record: MemoryRecord) -> bool:
    """Return whether the time to live of an item is over."""
    return "ttl" in record.metadata and bool(record.metadata["expires_at"] <= memory.now().timestamp())


def value_texts(value: Any) -> list[str]:
    """Return the texts and figures in a value, each with the names that lead to it, unless there is one alone."""
    pairs = [*_leaves(value)]
    return [text for _, text in pairs] if len(pairs) == 1 else [f"{name}: {text}" for name, text in pairs]


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _leaves(item, f"{name} {inner}".strip())
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item, name)
    elif value is not None and str(value).strip():
        yield name, str(value)


def path_fits(path: tuple[str, ...], match_type: str, pattern: Sequence[str]) -> bool:
    """Return whether a namespace begins or ends with a pattern, in which a star is any label."""
    if match_type not in ("prefix", "suffix"):
        raise ParamError("match_type", match_type, "must be prefix or suffix")
    step = 1 if match_type == "prefix" else -1
    pairs = zip(path[::step], pattern[::step], strict=False)
    return len(path) >= len(pattern) and all(part in ("*", label) for label, part in pairs)


def holds(value: Any, condition: Any) -> bool:
    """Return whether a value fits a condition of a filter."""
    if isinstance(condition, Mapping):
        fits = isinstance(value, Mapping) or any(str(name)[:1] == "$" for name in condition)
        return fits and all(_compares(value, str(name), each) for name, each in condition.items())
    if isinstance(condition, (list, tuple)):
        same = isinstance(value, (list, tuple)) and len(value) == len(condition)
        return same and all(map(holds, value, condition))
    return bool(value == condition)


def _compares(value: Any, name: str, other: Any) -> bool:
    """Tell whether a field or an operator holds: an order is that of numbers, or of texts."""
    if name[:1] != "$":
        return isinstance(value, Mapping) and holds(value.get(name), other)
    if name not in _OPERATORS:
        raise ParamError("filter", name, f"must be one of {', '.join(_OPERATORS)}")
    if name not in ("$eq", "$ne") and not (isinstance(value, str) and isinstance(other, str)):
        try:
            value, other = float(value), float(other)
        except (TypeError, ValueError):
            return False
    return bool(getattr(operator, _OPERATORS[name])(value, other))
