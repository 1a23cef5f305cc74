"""Which name stands for one that was merged, and which names mean the same."""

from __future__ import annotations

from datetime import datetime

from priming.index.document import slot_of, slot_of_record
from priming.index.working_set import WorkingSet
from priming.maintenance.merge import MERGED
from priming.remember.drafts import slug
from priming.storage.protocol import Store
from priming.text.names import find

_KEY = "entity:{}"
"""The key that the entity of a name has, unless something else had it first."""


def resolve_entity(store: Store, namespace: str, merged: str | None, slot: str, now: datetime) -> str | None:
    """The id of the active entity that ``merged``, an entity of that slot, was merged into; None if there is none."""
    there = None if merged is None else store.get(namespace, merged, now)
    if there is None or there.status != "merged" or slot_of_record(there) != slot:
        return None
    met: set[str] = set()
    while there is not None and there.status == "merged" and there.id not in met:
        met.add(there.id)
        leaving = store.links(namespace, [there.id], MERGED)
        into = [one.target for one in leaving if one.source in met and one.target not in met]
        there = store.get(namespace, into[0], now) if into else None
    return there.id if there is not None and there.status == "active" else None


def entities_in_cue(store: Store, working: WorkingSet, text: str, now: datetime) -> list[int]:
    """The rows of the entities that a text names, or that stand for those that it names, each once."""
    slots = {slot_of(name.kind, name.text): _KEY.format(slug(name.text)) for name in find(text)}
    rows = {working.entities[slot] for slot in slots if slot in working.entities}
    unknown = {slot: key for slot, key in slots.items() if slot not in working.entities}
    keys = store.keys(working.namespace, unknown.values()) if unknown else {}
    for slot, key in unknown.items():
        kept = resolve_entity(store, working.namespace, keys.get(key), slot, now)
        if kept in working.row_of:
            rows.add(working.row_of[kept])
    return sorted(rows)


def equivalent_names(store: Store, namespace: str, name: str, now: datetime) -> frozenset[str]:
    """The normal forms of the names that mean the same as ``name``, a normal form, by aliases that were merged."""
    there = store.get(namespace, _KEY.format(slug(name)), now)
    if there is None or slot_of_record(there) != name:
        return frozenset((name,))
    met, waiting = {there.id}, {there.id}
    while waiting:
        links = store.links(namespace, waiting, MERGED)
        waiting = {end for link in links for end in (link.source, link.target)} - met
        met |= waiting
    if len(met) == 1:
        return frozenset((name,))
    slots = {slot_of_record(one) for one in store.records(namespace, met, now).values()}
    return frozenset(slot for slot in slots if slot is not None) | {name}
