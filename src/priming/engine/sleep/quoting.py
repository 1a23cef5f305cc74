"""What nights wrote of a memory whose text is superseded or erased: their gists quote it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from priming.config.params.sleep import SLEEP
from priming.core.trust import least
from priming.engine.draft import Draft
from priming.engine.sleep.deep import SOURCE, reworded, written_by
from priming.engine.sleep.gist import HAND, MODEL, Gist
from priming.engine.sleep.planned import SOURCE_OF, known
from priming.engine.sleep.reading import vectors_of
from priming.engine.sleep.theme import gist, sentences_of
from priming.namespace import Namespace
from priming.store.rows import LinkRow, RowChange, VersionRow
from priming.types import MemoryRecord


def quoted_anew(
    memory: Namespace, old: VersionRow, wanted: Draft, vector: NDArray[np.float32], now: datetime
) -> list[RowChange]:
    """What it takes that no entity says of a memory what its new text corrects.

    A sentence that only the old text holds gives way to the most central one of the sources as they are now, and so
    does what an agent wrote, of which nobody can tell what it is from. What somebody wrote stays.
    """
    lost = _sentences(old.content) - _sentences(wanted.content)
    links = memory.store.links(memory.namespace, [old.id], SOURCE_OF)
    entities = [link.target for link in links if link.source == old.id]
    rows: list[RowChange] = []
    for entity in _active(memory, entities):
        versions = memory.store.versions(memory.namespace, entity)
        there = known(versions, max(one.version for one in versions))
        if not _is_told(there, lost):
            continue
        members, vectors = _members(memory, entity, now)
        at = next((i for i, one in enumerate(members) if one.id == old.id), None)
        if at is None:
            continue
        members[at], vectors[at] = replace(members[at], content=wanted.content), vector
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(float).tiny)
        text = gist(members, units, memory.embedder.embed, SLEEP.central)
        rows += reworded(versions, there, Gist(text), least([there.trust, wanted.trust]), now)
    return rows


def quoting(memory: Namespace, memory_id: str) -> set[str]:
    """The entities that nights made, here or in the log, of which any version ever quoted any text of a memory."""
    texts = _texts(memory, memory_id)
    told = memory.store.operations(memory.namespace, memory_id=memory_id, limit=None)
    links = [change.row for one in told for change in one.rows if isinstance(change.row, LinkRow)]
    links += memory.store.links(memory.namespace, [memory_id], SOURCE_OF)
    made = {link.target for link in links if (link.source, link.relation) == (memory_id, SOURCE_OF)}
    said = {sentence for one in texts for sentence in _sentences(one.content)}
    return {one for one in made if any(_is_told(text, said) for text in _texts(memory, one))}


def _is_told(there: VersionRow, sentences: Collection[str]) -> bool:
    """Whether the text of an entity is one of some sentences, or an agent's."""
    if there.source != SOURCE or written_by(there) == HAND:
        return False
    return written_by(there) == MODEL or _plain(there.content) in sentences


def _sentences(text: str) -> set[str]:
    return {_plain(one) for one in sentences_of(text)}


def _plain(sentence: str) -> str:
    """A sentence without the mark at its end, which may come and go as others join it."""
    return sentence.rstrip(".!?…。！？ ")


def _active(memory: Namespace, ids: Sequence[str]) -> list[str]:
    rows = memory.store.memories(memory.namespace, ids) if ids else []
    return [one.id for one in rows if one.status == "active"]


def _members(memory: Namespace, entity: str, now: datetime) -> tuple[list[MemoryRecord], NDArray[np.float64]]:
    """The latest sources of an entity that are in recall, and their vectors."""
    links = memory.store.links(memory.namespace, [entity], SOURCE_OF)
    latest = nlargest(SLEEP.window, (link.source for link in links if link.target == entity))
    found = memory.store.records(memory.namespace, latest, now)
    members = [found[one] for one in sorted(latest) if one in found and found[one].status == "active"]
    return members, vectors_of(memory, now, [one.id for one in members]).astype(np.float64)


def _texts(memory: Namespace, memory_id: str) -> Iterable[VersionRow]:
    """All versions of a memory that the store or the log holds."""
    yield from memory.store.versions(memory.namespace, memory_id)
    for one in memory.store.operations(memory.namespace, memory_id=memory_id, limit=None):
        rows = (change.row for change in one.rows)
        yield from (row for row in rows if isinstance(row, VersionRow) and row.id == memory_id)
