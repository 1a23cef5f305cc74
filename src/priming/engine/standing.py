"""Which name stands for one that was merged."""

from __future__ import annotations

from datetime import datetime

from priming.engine.document import slot_of_record
from priming.engine.merging import MERGED
from priming.store.protocol import Store


def stands_for(store: Store, namespace: str, merged: str | None, slot: str, now: datetime) -> str | None:
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
