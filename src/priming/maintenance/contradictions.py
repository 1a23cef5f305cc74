"""Contradictions: pairs of facts that give one subject different values, and the commands that settle them."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime

from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_text
from priming.index.document import CONFLICTS, FACT, KEPT_BESIDE
from priming.namespace import Namespace
from priming.remember.entity_resolution import equivalent_names
from priming.results import ConflictingFact, Review
from priming.storage.rows import LinkRow, RowChange
from priming.text.statements import Statement, same_slot, statement, values_differ
from priming.types import MemoryRecord, Operation


def review(memory: Namespace, *, limit: int = 50) -> list[Review]:
    """List facts that give one subject different values in one slot, the latest first, with commands that settle it.

    Args:
        limit: the maximum number to list.

    Raises:
        ParamError: ``limit`` is outside its range.

    """
    most = check_count("limit", limit, 1, PAGE_LIMIT)
    with memory.reading() as now:
        return memory.listed(contradiction for _, contradiction in _unsettled(memory, now)[:most])


def keep_both(memory: Namespace, id: str) -> Operation:
    """Settle that both facts of a contradiction may hold; ``review`` does not list them again.

    Raises:
        NotFound: ``review`` lists no contradiction with this id.

    """
    name = check_text("id", id)
    with memory.changing() as now:
        match = next(((links, entry) for links, entry in _unsettled(memory, now) if entry.id == name), None)
        if match is None:
            raise memory.not_found(
                f"there is no contradiction {name!r} to settle: review lists those there are"
            )
        links, contradiction = match
        both_hold = LinkRow(links[0].source, links[0].target, KEPT_BESIDE, 0.0, now, given=True)
        rows = [RowChange(link, None) for link in links]
        if memory.store.present(memory.namespace, both_hold) is None:
            rows.append(RowChange(None, both_hold))
        message = f"{contradiction.older.key!r} and {contradiction.newer.key!r} may both hold"
        return memory.to_operation(memory.write("keep-both", now, rows, message=message))


def _unsettled(memory: Namespace, now: datetime) -> list[tuple[list[LinkRow], Review]]:
    """Contradictions with their links, where both facts are active and their values for one slot still differ."""
    linked: dict[frozenset[str], list[LinkRow]] = {}
    for link in memory.store.links(memory.namespace, relation=CONFLICTS):
        linked.setdefault(frozenset((link.source, link.target)), []).append(link)
    ids = {end for pair in linked for end in pair}
    records = memory.store.records(memory.namespace, ids, now) if ids else {}
    facts = {fact.id: fact for fact in records.values() if fact.kind == FACT and fact.status == "active"}
    unsettled = []
    for pair, links in linked.items():
        if pair <= facts.keys():
            older, newer = _oldest_first([facts[links[0].target], facts[links[0].source]])
            statements = _contradiction(memory, older, newer, now)
            if statements is not None:
                unsettled.append((links, _review(older, newer, *statements)))
    return sorted(unsettled, key=lambda pair: max(link.created_at for link in pair[0]), reverse=True)


def _oldest_first(pair: list[MemoryRecord]) -> list[MemoryRecord]:
    """A pair in the order in which it was recorded; of two recorded at once, the first stays first."""
    return sorted(pair, key=lambda record: record.recorded_at or datetime.min.replace(tzinfo=UTC))


def _contradiction(
    memory: Namespace, older: MemoryRecord, newer: MemoryRecord, now: datetime
) -> tuple[Statement, Statement] | None:
    """The statements of two facts, if their values for the same subject and slot differ."""
    first, second = statement(older.content, older.speaker), statement(newer.content, newer.speaker)
    if first is None or second is None or not values_differ(first.value, second.value):
        return None
    if first.subject != second.subject:
        if second.subject not in equivalent_names(memory.store, memory.namespace, first.subject, now):
            return None
        second = replace(second, subject=first.subject)
    return (first, second) if same_slot(first, second) else None


def _review(older: MemoryRecord, newer: MemoryRecord, first: Statement, second: Statement) -> Review:
    pair_id = f"{older.key}+{newer.key}"
    old, new = shlex.quote(older.key), shlex.quote(newer.key)
    return Review(
        id=pair_id,
        subject=first.subject,
        slot=first.slot,
        older=ConflictingFact(older.key, older.content, first.value, _stated_at(older)),
        newer=ConflictingFact(newer.key, newer.content, second.value, _stated_at(newer)),
        commands=(
            f"priming supersede {old} {shlex.quote(newer.content)}",
            f"priming deprecate {old} --by {new}",
            f"priming deprecate {new} --by {old}",
            f"priming review --keep {shlex.quote(pair_id)}",
        ),
    )


def _stated_at(record: MemoryRecord) -> datetime | None:
    return record.occurred_at or record.recorded_at
