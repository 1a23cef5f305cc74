"""``get`` and ``list``: memories as they are stored, and for rules how often they were shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from priming.config.words import KINDS, SLEEP_SOURCE, STATUSES, TEXT_KINDS
from priming.core.arguments.checks import (
    PAGE_LIMIT,
    absent_if_empty,
    check_choice,
    check_choices,
    check_count,
    check_text,
)
from priming.errors import ParamError
from priming.history import as_of
from priming.history.as_of import moment
from priming.namespace import Namespace
from priming.recall.relevance import quiet_rules
from priming.storage.protocol import ShownRow
from priming.storage.rows import VersionRow
from priming.types import MemoryRecord


def get(memory: Namespace, key: str) -> MemoryRecord:
    """Return a memory's current version, by key or id, with any status; for a rule with the number of its recalls."""
    with memory.lock:
        return _with_shown(memory, [memory.find(key)])[0]


def _with_shown(memory: Namespace, records: list[MemoryRecord]) -> list[MemoryRecord]:
    """Return the records, those of rules with the number of stored recalls that gave them, and why they are quiet."""
    rules = [record for record in records if record.kind == "behavior"]
    counts = (
        {row.id: row.recalls for row in memory.rows(ShownRow, ids=[rule.id for rule in rules])}
        if rules
        else {}
    )
    quiet = {memory_id: rule.reason for memory_id, rule in quiet_rules(memory, rules).items()}
    return [
        replace(record, use=replace(record.use, shown=counts.get(record.id, 0), quiet=quiet.get(record.id)))
        if record.kind == "behavior"
        else record
        for record in records
    ]


def list_memories(
    memory: Namespace,
    *,
    kinds: Collection[str] | None = None,
    status: str | None = "active",
    limit: int = 100,
    after: str | None = None,
    matching: str | None = None,
    gists: bool = False,
    valid_at: datetime | None = None,
    known_at: datetime | None = None,
) -> list[MemoryRecord]:
    """List memories in the order in which they were remembered, a page at a time.

    ``after`` is the last id of the previous page; ``matching`` keeps memories that contain each of its words;
    ``status`` None means any. Entities are listed only when ``kinds`` asks for them; ``gists`` lists the summaries
    that sleep made of several memories, and nothing else. What holds only later is listed too; ``valid_at`` and
    ``known_at`` list what was true, and what was known, at another time.
    """
    with memory.lock:
        another = moment(valid_at, known_at)
        namespace = as_of.namespace_at(memory, another)
        kinds = absent_if_empty(kinds)
        if gists and kinds is not None:
            raise ParamError("gists", gists, "cannot be combined with kinds: leave one out")
        listed = ["entity"] if gists else TEXT_KINDS if kinds is None else kinds
        if status is not None:
            check_choice("status", status, STATUSES)
        check_count("limit", limit, 1, PAGE_LIMIT)
        if after is not None:
            after = namespace.find(after).id
        page = namespace.page_of(
            namespace.valid_time(namespace.now()),
            kinds=check_choices("kinds", listed, KINDS),
            words=None if matching is None else check_text("matching", matching),
            coming=another is None,
            after=after,
            limit=None if gists else limit,
            status=status,
        )
        if gists:
            return memory.listed([record for record in page if _is_gist(memory, record)][:limit])
        return memory.listed(_with_shown(memory, page))


def _is_gist(memory: Namespace, record: MemoryRecord) -> bool:
    """Tell whether sleep made an entity, whoever rewrote it since."""
    if record.source == SLEEP_SOURCE or record.version == 1:
        return record.source == SLEEP_SOURCE
    return memory.rows(VersionRow, ids=[record.id])[0].source == SLEEP_SOURCE
