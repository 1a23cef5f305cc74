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
    for episode in episodes:
        same[_digest(episode)].append(episode)
    return [
        planned
        for group in same.values()
        if len(group) > 1 and (planned := _marked(group, versions, now, conflicts)) is not None
    ]


def _digest(episode: MemoryRecord) -> str:
    """Equal for what says the same: title, text, and how it came out."""
    identity = json.dumps([episode.title, episode.content, episode.outcome], ensure_ascii=False)
    return hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()


def _marked(
    group: Sequence[MemoryRecord], versions: Versions, now: datetime, conflicts: Conflicts
) -> Planned | None:
    original = next((copy for copy in group if not is_duplicate(copy)), None)
    if original is None:
        return None
    unopposed = set(without_conflicts([original.id, *(copy.id for copy in group)], conflicts)) - {original.id}
    fresh = [copy for copy in group if copy.id in unopposed and not is_duplicate(copy)]
    if not fresh:
        return None
    rows = []
    for copy in fresh:
        rows_of_copy = versions(copy.id)
        metadata = {**copy.metadata, DUPLICATE_OF: original.key}
        rows += restated(
            rows_of_copy, known(rows_of_copy, copy.version), now, importance=0.0, metadata=metadata
        )
    reason = f"says word for word what {original.key} says"
    evidence = {"text": original.gist, "copies": len(fresh)}
    ids = tuple(copy.id for copy in fresh)
    return Planned("mark", ids, original.id, reason, evidence, tuple(rows))
