"""light: episodes that say exactly what an earlier one said are marked, and weigh nothing."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from priming.engine.sleep.planned import (
    DUPLICATE_OF,
    Conflicts,
    Planned,
    Versions,
    is_duplicate,
    known,
    restated,
    without_conflicts,
)
from priming.types import MemoryRecord


def plan(
    episodes: Sequence[MemoryRecord], versions: Versions, now: datetime, conflicts: Conflicts = frozenset()
) -> list[Planned]:
    """Mark exact duplicates among ``episodes``, which come oldest first; the oldest keeps everything.

    One pass: each text is looked up by its digest.
    """
    same: dict[str, list[MemoryRecord]] = defaultdict(list)
    for one in episodes:
        same[_digest(one)].append(one)
    return [
        planned
        for group in same.values()
        if len(group) > 1 and (planned := _marked(group, versions, now, conflicts)) is not None
    ]


def _digest(one: MemoryRecord) -> str:
    """Equal for what says the same: title, text, and how it came out."""
    said = json.dumps([one.title, one.content, one.outcome], ensure_ascii=False)
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def _marked(
    group: Sequence[MemoryRecord], versions: Versions, now: datetime, conflicts: Conflicts
) -> Planned | None:
    original = next((one for one in group if not is_duplicate(one)), None)
    if original is None:
        return None
    wanted = set(without_conflicts([original.id, *(one.id for one in group)], conflicts)) - {original.id}
    fresh = [one for one in group if one.id in wanted and not is_duplicate(one)]
    if not fresh:
        return None
    rows = []
    for one in fresh:
        there = versions(one.id)
        metadata = {**one.metadata, DUPLICATE_OF: original.key}
        rows += restated(there, known(there, one.version), now, importance=0.0, metadata=metadata)
    reason = f"says word for word what {original.key} says"
    evidence = {"text": original.gist, "copies": len(fresh)}
    ids = tuple(one.id for one in fresh)
    return Planned("mark", ids, original.id, reason, evidence, tuple(rows))
