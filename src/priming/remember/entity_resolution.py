"""Entities by name: the entity that a merged name leads to, and the names that mean the same."""

from __future__ import annotations

from datetime import datetime

from priming.index.document import slot_of, slot_of_record
from priming.index.working_set import WorkingSet
from priming.maintenance.merge import MERGED
from priming.remember.drafts import slug
from priming.storage.protocol import Store
from priming.text.names import find

_KEY = "entity:{}"
"""The key of the entity of a name, unless another memory took the key first."""


def resolve_entity(store: Store, namespace: str, merged: str | None, slot: str, now: datetime) -> str | None:
    """The id of the active entity that ``merged``, an entity of this slot, was merged into; None without one."""
    entity = None if merged is None else store.get(namespace, merged, now)
    if entity is None or entity.status != "merged" or slot_of_record(entity) != slot:
        return None
    visited: set[str] = set()
    while entity is not None and entity.status == "merged" and entity.id not in visited:
        visited.add(entity.id)
        links = store.links(namespace, [entity.id], MERGED)
        targets = [link.target for link in links if link.source in visited and link.target not in visited]
        entity = store.get(namespace, targets[0], now) if targets else None
    return entity.id if entity is not None and entity.status == "active" else None


def entities_in_cue(store: Store, working: WorkingSet, text: str, now: datetime) -> list[int]:
    """The rows of the entities that a text names, each once; a merged name gives the entity it was merged into."""
    slots = {slot_of(name.kind, name.text): _KEY.format(slug(name.text)) for name in find(text)}
    rows = {working.entities[slot] for slot in slots if slot in working.entities}
    unknown = {slot: key for slot, key in slots.items() if slot not in working.entities}
    keys = store.keys(working.namespace, unknown.values()) if unknown else {}
    for slot, key in unknown.items():
        entity = resolve_entity(store, working.namespace, keys.get(key), slot, now)
        if entity in working.row_of:
            rows.add(working.row_of[entity])
    return sorted(rows)


def equivalent_names(store: Store, namespace: str, name: str, now: datetime) -> frozenset[str]:
    """The names that mean the same as ``name`` through merged aliases, in normal form as ``name`` is."""
    entity = store.get(namespace, _KEY.format(slug(name)), now)
    if entity is None or slot_of_record(entity) != name:
        return frozenset((name,))
    visited, waiting = {entity.id}, {entity.id}
    while waiting:
        links = store.links(namespace, waiting, MERGED)
        waiting = {end for link in links for end in (link.source, link.target)} - visited
        visited |= waiting
    if len(visited) == 1:
        return frozenset((name,))
    slots = {slot_of_record(record) for record in store.records(namespace, visited, now).values()}
    return frozenset(slot for slot in slots if slot is not None) | {name}
