"""The stage ``light``: marks episodes that repeat an earlier one word for word, and sets their importance to 0.

It reads the latest episodes. It never merges or removes a memory; ``prune`` archives marked duplicates later.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from priming.sleep.plan import (
    DUPLICATE_OF,
    Conflicts,
    Planned,
    PlannedItem,
    Versions,
    current_row,
    is_duplicate,
    restate,
    without_conflicts,
)
from priming.text.quotation import label
from priming.types import LeftAlone, MemoryRecord


def plan_light(
    episodes: Sequence[MemoryRecord], versions: Versions, now: datetime, conflicts: Conflicts = frozenset()
) -> list[Planned]:
    """Plan the marks of exact duplicates among ``episodes``, oldest first; the oldest copy stays as it is.

    The same text with another outcome, or under another title, is left alone.
    """
    same: dict[str, list[MemoryRecord]] = defaultdict(list)
    for episode in episodes:
        same[_digest(episode)].append(episode)
    marked = (_marked(group, versions, now, conflicts) for group in same.values() if len(group) > 1)
    return [
        *(item for item in marked if item is not None),
        *_otherwise([group[0] for group in same.values()]),
    ]


def _otherwise(originals: Sequence[MemoryRecord]) -> Iterator[LeftAlone]:
    """The episodes with the text of an earlier one but another outcome or title."""
    first: dict[str, MemoryRecord] = {}
    for episode in originals:
        earlier = first.setdefault(episode.content, episode)
        if earlier is episode or is_duplicate(episode):
            continue
        what, values = "titles", (earlier.title, episode.title)
        if earlier.outcome != episode.outcome:
            what, values = "outcomes", (earlier.outcome, episode.outcome)
        words = tuple(value or "none" for value in values)
        yield LeftAlone((earlier.id, episode.id), f"the same text, but their {what} differ", words)


def _digest(episode: MemoryRecord) -> str:
    """A digest of an episode's title, text and outcome."""
    identity = json.dumps([episode.title, episode.content, episode.outcome], ensure_ascii=False)
    return hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()


def _marked(
    group: Sequence[MemoryRecord], versions: Versions, now: datetime, conflicts: Conflicts
) -> PlannedItem | None:
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
        rows += restate(
            rows_of_copy, current_row(rows_of_copy, copy.version), now, importance=0.0, metadata=metadata
        )
    reason = f"says word for word what {label(original.key)} says"
    evidence = {"text": original.gist, "copies": len(fresh)}
    ids = tuple(copy.id for copy in fresh)
    return PlannedItem("mark", ids, original.id, reason, evidence, tuple(rows))
