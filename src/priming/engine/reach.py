"""Which memories strong links lead to from some others, and over how many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from priming.config.params.laws import SUPPRESSING
from priming.engine.merging import REPLACED
from priming.namespace import Namespace
from priming.types import MemoryRecord

_NOT_WALKED = frozenset((*SUPPRESSING, *REPLACED, "part-of"))
"""What is replaced or suppressed says nothing of the other end, and a session leads to all that was said in it."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory, over how many links it was reached, by which relation at last, and the weakest link on the way."""

    memory: MemoryRecord
    hop: int
    via: str
    weight: float


def reach(memory: Namespace, keys: Collection[str], *, hops: int, least: float) -> list[Reached]:
    """Active memories within ``hops`` links of weight ``least`` or more, in either direction; the nearest first.

    Among those as near, the one with the stronger weakest link comes first. Names lead on, but are not returned.
    """
    with memory.lock:
        memory.require_exists()
        now = memory.now()
        start = [memory.find(key, now).id for key in keys]
        met = dict.fromkeys(start, 1.0)
        found: list[Reached] = []
        front = met
        for hop in range(1, hops + 1):
            ahead = _ahead(memory, front, met.keys(), least)
            records = memory.store.records(memory.namespace, ahead, now)
            active = {
                one: records[one] for one in ahead if one in records and records[one].status == "active"
            }
            front = {one: ahead[one][0] for one in active}
            met |= front
            fresh = [Reached(there, hop, ahead[one][1], ahead[one][0]) for one, there in active.items()]
            found += sorted(fresh, key=lambda one: (-one.weight, one.memory.key))
        return [one for one in found if one.memory.kind != "entity"]


def _ahead(
    memory: Namespace, front: dict[str, float], met: Collection[str], least: float
) -> dict[str, tuple[float, str]]:
    """What one more link leads to: by id the strongest of the weakest links on the way, and its relation."""
    ahead: dict[str, tuple[float, str]] = defaultdict(lambda: (0.0, ""))
    for link in memory.store.links(memory.namespace, front) if front else ():
        if link.weight < least or link.relation in _NOT_WALKED:
            continue
        for here, there in ((link.source, link.target), (link.target, link.source)):
            if here in front and there not in met:
                weakest = min(front[here], link.weight)
                ahead[there] = max(ahead[there], (weakest, link.relation))
    return dict(ahead)
