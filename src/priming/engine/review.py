"""Facts that contradict each other: which they are, and what settles it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime

from priming.checks import PAGE_LIMIT, check_count, check_text
from priming.core.slots import Statement, differ, same_slot, statement
from priming.engine.document import FACT
from priming.engine.opened import Opened
from priming.engine.standing import same_names
from priming.engine.statements import CONFLICTS, KEPT_BESIDE
from priming.errors import NotFound
from priming.reviewing import Claim, Review
from priming.store.rows import LinkRow, RowChange
from priming.types import MemoryRecord, Operation


def review(opened: Opened, *, limit: int) -> list[Review]:
    """The contradictions that nobody has settled yet, the latest first."""
    most = check_count("limit", limit, 1, PAGE_LIMIT)
    with opened.lock, opened.store.transaction(write=False):
        opened.readable()
        return [one for _, one in _open(opened, opened.now())[:most]]


def keep_both(opened: Opened, id: str) -> Operation:
    """Say that two facts may both hold: they are no contradiction any longer, nor are others with their values."""
    wanted = check_text("id", id)
    with opened.writing() as now:
        opened.readable()
        found = next(((links, one) for links, one in _open(opened, now) if one.id == wanted), None)
        if found is None:
            raise NotFound(f"there is no contradiction {wanted!r} to settle: review lists those there are")
        links, one = found
        kept = LinkRow(links[0].source, links[0].target, KEPT_BESIDE, 0.0, now, given=True)
        rows = [RowChange(link, None) for link in links]
        if opened.store.present(opened.namespace, kept) is None:
            rows.append(RowChange(None, kept))
        message = f"{one.older.key!r} and {one.newer.key!r} may both hold"
        return opened.operation(opened.write("keep-both", now, rows, message=message))


def _open(opened: Opened, now: datetime) -> list[tuple[list[LinkRow], Review]]:
    """What is not settled, each with its links: both facts are active, and still say different things of one slot."""
    linked: dict[frozenset[str], list[LinkRow]] = {}
    for link in opened.store.links(opened.namespace, relation=CONFLICTS):
        linked.setdefault(frozenset((link.source, link.target)), []).append(link)
    ids = {one for pair in linked for one in pair}
    there = opened.store.records(opened.namespace, ids, now) if ids else {}
    facts = {one.id: one for one in there.values() if one.kind == FACT and one.status == "active"}
    found = []
    for pair, links in linked.items():
        if pair <= facts.keys():
            older, newer = _in_order([facts[links[0].target], facts[links[0].source]])
            stated = _contradiction(opened, older, newer, now)
            if stated is not None:
                found.append((links, _review(older, newer, *stated)))
    return sorted(found, key=lambda one: max(link.created_at for link in one[0]), reverse=True)


def _in_order(pair: list[MemoryRecord]) -> list[MemoryRecord]:
    """The one that was told first, first; of two that were told at once, the one that the link leads to."""
    return sorted(pair, key=lambda one: one.recorded_at or datetime.min.replace(tzinfo=UTC))


def _contradiction(
    opened: Opened, older: MemoryRecord, newer: MemoryRecord, now: datetime
) -> tuple[Statement, Statement] | None:
    first, second = statement(older.content, older.speaker), statement(newer.content, newer.speaker)
    if first is None or second is None or not differ(first.value, second.value):
        return None
    if first.subject != second.subject:
        if second.subject not in same_names(opened.store, opened.namespace, first.subject, now):
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
        older=Claim(older.key, older.content, first.value, _told_at(older)),
        newer=Claim(newer.key, newer.content, second.value, _told_at(newer)),
        commands=(
            f"priming supersede {old} {shlex.quote(newer.content)}",
            f"priming deprecate {old} --by {new}",
            f"priming deprecate {new} --by {old}",
            f"priming review --keep {shlex.quote(named)}",
        ),
    )


def _told_at(one: MemoryRecord) -> datetime | None:
    return one.occurred_at or one.recorded_at
