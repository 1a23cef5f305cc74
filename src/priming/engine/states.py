"""Memories that bring a state along when they are imported, and what of an import is there already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.engine.merging import UNDIRECTED
from priming.engine.opened import Opened
from priming.engine.remember import remember_many
from priming.state import State
from priming.store.rows import MemoryRow, RowChange
from priming.types import Remembered

OPERATION = "import-state"


def remember(
    opened: Opened, items: Sequence[Mapping[str, Any]], states: Sequence[State | None]
) -> list[Remembered]:
    """Remember items with the states that they bring, both or neither.

    A memory that is there already keeps the state that it has, also one that is forgotten: it is a duplicate.
    """
    with _together(opened):
        resting = _at_rest(opened, items)
        fresh = [item for item in items if item.get("key") not in resting]
        made = iter(remember_many(opened, fresh))
        answers = [resting.get(item.get("key", "")) or next(made) for item in items]
        brought = {
            one.id: state
            for one, state in zip(answers, states, strict=True)
            if state is not None and one.status == "stored"
        }
        if brought:
            _apply(opened, brought)
        return answers


@contextmanager
def _together(opened: Opened) -> Iterator[None]:
    with opened.lock:
        try:
            with opened.store.transaction():
                yield
        except BaseException:
            opened.untake()
            raise


def _at_rest(opened: Opened, items: Sequence[Mapping[str, Any]]) -> dict[str, Remembered]:
    """By key, what is there with the text that an item has, but is not active."""
    texts = {item["key"]: item["content"] for item in items if item.get("key")}
    ids = opened.store.keys(opened.namespace, texts)
    rows = opened.store.memories(opened.namespace, set(ids.values())) if ids else []
    now = opened.now()
    return {
        row.key: Remembered(row.id, row.key, "duplicate")
        for row in rows
        if row.status != "active" and _text(opened, row.id, now) == texts[row.key]
    }


def _text(opened: Opened, memory_id: str, now: datetime) -> str | None:
    there = opened.store.get(opened.namespace, memory_id, now)
    return None if there is None else there.content


def _apply(opened: Opened, states: Mapping[str, State]) -> None:
    with opened.writing() as now:
        rows = opened.store.memories(opened.namespace, states)
        changes = [RowChange(row, after) for row in rows if (after := _with(row, states[row.id])) != row]
        if changes:
            opened.write(OPERATION, now, changes)


def _with(row: MemoryRow, state: State) -> MemoryRow:
    return replace(
        row,
        status=state.status,
        priority=float(state.priority),
        confidence=float(state.confidence),
        uses=state.uses,
        confirmed=state.confirmed,
        followed=state.followed,
        overridden=state.overridden,
        last_used_at=state.last_used_at,
    )


def to_link(opened: Opened, items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of links to be made, as ``link_many`` takes them, those that nobody made before.

    A link that was made by rule takes the weight that is asked for; one without direction keeps the direction that
    it has.
    """
    with opened.lock, opened.store.transaction(write=False):
        keys = {end for one in items for end in (one["source"], one["target"])}
        ids = opened.store.keys(opened.namespace, keys)
        rows = opened.store.links(opened.namespace, set(ids.values())) if ids else []
    there: dict[tuple[str | None, str | None, str], bool] = {
        (one.source, one.target, one.relation): one.given for one in rows
    }
    wanted = []
    for one in items:
        source, target, relation = ids.get(one["source"]), ids.get(one["target"]), one["relation"]
        turned = relation in UNDIRECTED and (target, source, relation) in there
        if not there.get((target, source, relation) if turned else (source, target, relation)):
            wanted.append({**one, "source": one["target"], "target": one["source"]} if turned else one)
    return wanted
