"""Facts that contradict each other: which they are, and what settles it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime

from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_text
from priming.errors import NotFound
from priming.index.document import CONFLICTS, FACT, KEPT_BESIDE
from priming.namespace import Namespace
from priming.remember.entity_resolution import equivalent_names
from priming.results import ConflictingFact, Review
from priming.storage.rows import LinkRow, RowChange
from priming.text.statements import Statement, same_slot, statement, values_differ
from priming.types import MemoryRecord, Operation


def review(memory: Namespace, *, limit: int = 50) -> list[Review]:
    """Facts that give one subject different values in one slot, the latest first, and what settles it.

    Args:
        limit: the most to list.

    Raises:
        ParamError: ``limit`` outside its range.

    """
    most = check_count("limit", limit, 1, PAGE_LIMIT)
    with memory.reading() as now:
        return [contradiction for _, contradiction in _open(memory, now)[:most]]


def keep_both(memory: Namespace, id: str) -> Operation:
    """Say of two facts that ``review`` lists that both may hold; it does not list them again.

    Raises:
        NotFound: nothing of this id is under review.

    """
    name = check_text("id", id)
    with memory.writing() as now:
        memory.require_exists()
        match = next(((links, entry) for links, entry in _open(memory, now) if entry.id == name), None)
        if match is None:
            raise NotFound(f"there is no contradiction {name!r} to settle: review lists those there are")
        links, contradiction = match
        beside = LinkRow(links[0].source, links[0].target, KEPT_BESIDE, 0.0, now, given=True)
        rows = [RowChange(link, None) for link in links]
        if memory.store.present(memory.namespace, beside) is None:
            rows.append(RowChange(None, beside))
        message = f"{contradiction.older.key!r} and {contradiction.newer.key!r} may both hold"
        return memory.to_operation(memory.write("keep-both", now, rows, message=message))


def _open(memory: Namespace, now: datetime) -> list[tuple[list[LinkRow], Review]]:
    """What is not settled, each with its links: both facts are active, and still say different things of one slot."""
    linked: dict[frozenset[str], list[LinkRow]] = {}
    for link in memory.store.links(memory.namespace, relation=CONFLICTS):
        linked.setdefault(frozenset((link.source, link.target)), []).append(link)
    ids = {one for pair in linked for one in pair}
    there = memory.store.records(memory.namespace, ids, now) if ids else {}
    facts = {one.id: one for one in there.values() if one.kind == FACT and one.status == "active"}
    found = []
    for pair, links in linked.items():
        if pair <= facts.keys():
            older, newer = _in_order([facts[links[0].target], facts[links[0].source]])
            stated = _contradiction(memory, older, newer, now)
            if stated is not None:
                found.append((links, _review(older, newer, *stated)))
    return sorted(found, key=lambda one: max(link.created_at for link in one[0]), reverse=True)


def _in_order(pair: list[MemoryRecord]) -> list[MemoryRecord]:
    """The one that was told first, first; of two that were told at once, the one that the link leads to."""
    return sorted(pair, key=lambda one: one.recorded_at or datetime.min.replace(tzinfo=UTC))


def _contradiction(
    memory: Namespace, older: MemoryRecord, newer: MemoryRecord, now: datetime
) -> tuple[Statement, Statement] | None:
    first, second = statement(older.content, older.speaker), statement(newer.content, newer.speaker)
    if first is None or second is None or not values_differ(first.value, second.value):
        return None
    if first.subject != second.subject:
        if second.subject not in equivalent_names(memory.store, memory.namespace, first.subject, now):
            return None
        second = replace(second, subject=first.subject)
    return (first, second) if same_slot(first, second) else None


def _review(older: MemoryRecord, newer: MemoryRecord, first: Statement, second: Statement) -> Review:
    named = f"{older.key}+{newer.key}"
    old, new = shlex.quote(older.key), shlex.quote(newer.key)
    return Review(
        id=named,
        subject=first.subject,
        slot=first.slot,
        older=ConflictingFact(older.key, older.content, first.value, _told_at(older)),
        newer=ConflictingFact(newer.key, newer.content, second.value, _told_at(newer)),
        commands=(
            f"priming supersede {old} {shlex.quote(newer.content)}",
            f"priming deprecate {old} --by {new}",
            f"priming deprecate {new} --by {old}",
            f"priming review --keep {shlex.quote(named)}",
        ),
    )


def _told_at(one: MemoryRecord) -> datetime | None:
    return one.occurred_at or one.recorded_at
