"""Memories by key, and in the order in which they were remembered."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from priming.config.words import KINDS, STATUSES
from priming.core.arguments.checks import PAGE_LIMIT, check_choice, check_count, check_text
from priming.history import as_of
from priming.namespace import Namespace
from priming.types import MemoryRecord


def get(memory: Namespace, key: str) -> MemoryRecord:
    """The memory of a key or id, in its present version, whatever its status."""
    with memory.lock:
        return memory.find(key)


def list_memories(
    memory: Namespace,
    *,
    kinds: Collection[str] | None = None,
    status: str | None = "active",
    limit: int = 100,
    after: str | None = None,
    matching: str | None = None,
    valid_at: datetime | None = None,
    known_at: datetime | None = None,
) -> list[MemoryRecord]:
    """Memories in the order in which they were remembered, a page at a time.

    ``after`` is the last id of the page before; ``matching`` keeps those that hold every one of its words;
    ``status`` None means any; entities made by rule are listed only when ``kinds`` asks for them. ``valid_at``
    and ``known_at`` list what was true, and what was known, at another time.
    """
    with memory.lock:
        memory.require_exists()
        namespace = as_of.namespace_at(memory, as_of.moment(valid_at, known_at))
        kinds = [kinds] if isinstance(kinds, str) else kinds
        listed = [kind for kind in KINDS if kind != "entity"] if kinds is None else kinds
        if status is not None:
            check_choice("status", status, STATUSES)
        check_count("limit", limit, 1, PAGE_LIMIT)
        if after is not None:
            after = namespace.find(after).id
        return namespace.store.page(
            memory.namespace,
            namespace.valid_time(namespace.now()),
            kinds=[check_choice("kinds", kind, KINDS) for kind in listed],
            status=status,
            matching=None if matching is None else check_text("matching", matching),
            limit=limit,
            after=after,
        )
