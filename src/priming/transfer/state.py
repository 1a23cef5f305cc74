"""Memories that bring a state along when they are imported, and what of an import is there already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.maintenance.merge import UNDIRECTED
from priming.namespace import Namespace
from priming.remember.remember import remember_many
from priming.results import Remembered
from priming.storage.rows import MemoryRow, RowChange
from priming.types import ImportedState

OPERATION = "import-state"


def remember_states(
    memory: Namespace, items: Sequence[Mapping[str, Any]], states: Sequence[ImportedState | None]
) -> list[Remembered]:
    """Remember items with the states that they bring, both or neither.

    A memory that is there already keeps the state that it has, also one that is forgotten: it is a duplicate.
    """
    with _together(memory):
        resting = _at_rest(memory, items)
        fresh = [item for item in items if item.get("key") not in resting]
        made = iter(remember_many(memory, fresh))
        answers = [resting.get(item.get("key", "")) or next(made) for item in items]
        brought = {
            one.id: state
            for one, state in zip(answers, states, strict=True)
            if state is not None and one.status == "stored"
        }
        if brought:
            _apply(memory, brought)
        return answers


@contextmanager
def _together(memory: Namespace) -> Iterator[None]:
    with memory.lock:
        try:
            with memory.store.transaction():
                yield
        except BaseException:
            memory.discard_queued()
            raise


def _at_rest(memory: Namespace, items: Sequence[Mapping[str, Any]]) -> dict[str, Remembered]:
    """By key, what is there with the text that an item has, but is not active."""
    texts = {item["key"]: item["content"] for item in items if item.get("key")}
    ids = memory.store.keys(memory.namespace, texts)
    rows = memory.store.memories(memory.namespace, set(ids.values())) if ids else []
    now = memory.now()
    return {
        row.key: Remembered(row.id, row.key, "duplicate")
        for row in rows
        if row.status != "active" and _text(memory, row.id, now) == texts[row.key]
    }


def _text(memory: Namespace, memory_id: str, now: datetime) -> str | None:
    there = memory.store.get(memory.namespace, memory_id, now)
    return None if there is None else there.content


def _apply(memory: Namespace, states: Mapping[str, ImportedState]) -> None:
    with memory.writing() as now:
        rows = memory.store.memories(memory.namespace, states)
        changes = [RowChange(row, after) for row in rows if (after := _with(row, states[row.id])) != row]
        if changes:
            memory.write(OPERATION, now, changes)


def _with(row: MemoryRow, state: ImportedState) -> MemoryRow:
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


def to_link(memory: Namespace, items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of links to be made, as ``link_many`` takes them, those that nobody made before.

    A link that was made by rule takes the weight that is asked for; one without direction keeps the direction that
    it has.
    """
    with memory.lock, memory.store.transaction(write=False):
        keys = {end for one in items for end in (one["source"], one["target"])}
        ids = memory.store.keys(memory.namespace, keys)
        rows = memory.store.links(memory.namespace, set(ids.values())) if ids else []
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
