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
from priming.engine.opened import Opened
from priming.engine.sleep.deep import SOURCE, reworded, written_by
from priming.engine.sleep.gist import HAND, MODEL, Gist
from priming.engine.sleep.planned import SOURCE_OF, known
from priming.engine.sleep.reading import vectors_of
from priming.engine.sleep.theme import gist, sentences_of
from priming.store.rows import LinkRow, RowChange, VersionRow
from priming.types import MemoryRecord


def quoted_anew(
    opened: Opened, old: VersionRow, wanted: Draft, vector: NDArray[np.float32], now: datetime
) -> list[RowChange]:
    """What it takes that no entity says of a memory what its new text corrects.

    A sentence that only the old text holds gives way to the most central one of the sources as they are now, and so
    does what an agent wrote, of which nobody can tell what it is from. What somebody wrote stays.
    """
    lost = _sentences(old.content) - _sentences(wanted.content)
    links = opened.store.links(opened.namespace, [old.id], SOURCE_OF)
    entities = [link.target for link in links if link.source == old.id]
    rows: list[RowChange] = []
    for entity in _active(opened, entities):
        versions = opened.store.versions(opened.namespace, entity)
        there = known(versions, max(one.version for one in versions))
        if not _is_told(there, lost):
            continue
        members, vectors = _members(opened, entity, now)
        at = next((i for i, one in enumerate(members) if one.id == old.id), None)
        if at is None:
            continue
        members[at], vectors[at] = replace(members[at], content=wanted.content), vector
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(float).tiny)
        text = gist(members, units, opened.embedder.embed, SLEEP.central)
        rows += reworded(versions, there, Gist(text), least([there.trust, wanted.trust]), now)
    return rows


def quoting(opened: Opened, memory_id: str) -> set[str]:
    """The entities that nights made, here or in the log, of which any version ever quoted any text of a memory."""
    texts = _texts(opened, memory_id)
    told = opened.store.operations(opened.namespace, memory_id=memory_id, limit=None)
    links = [change.row for one in told for change in one.rows if isinstance(change.row, LinkRow)]
    links += opened.store.links(opened.namespace, [memory_id], SOURCE_OF)
    made = {link.target for link in links if (link.source, link.relation) == (memory_id, SOURCE_OF)}
    said = {sentence for one in texts for sentence in _sentences(one.content)}
    return {one for one in made if any(_is_told(text, said) for text in _texts(opened, one))}


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


def _active(opened: Opened, ids: Sequence[str]) -> list[str]:
    rows = opened.store.memories(opened.namespace, ids) if ids else []
    return [one.id for one in rows if one.status == "active"]


def _members(opened: Opened, entity: str, now: datetime) -> tuple[list[MemoryRecord], NDArray[np.float64]]:
    """The latest sources of an entity that are in recall, and their vectors."""
    links = opened.store.links(opened.namespace, [entity], SOURCE_OF)
    latest = nlargest(SLEEP.window, (link.source for link in links if link.target == entity))
    found = opened.store.records(opened.namespace, latest, now)
    members = [found[one] for one in sorted(latest) if one in found and found[one].status == "active"]
    return members, vectors_of(opened, now, [one.id for one in members]).astype(np.float64)


def _texts(opened: Opened, memory_id: str) -> Iterable[VersionRow]:
    """All versions of a memory that the store or the log holds."""
    yield from opened.store.versions(opened.namespace, memory_id)
    for one in opened.store.operations(opened.namespace, memory_id=memory_id, limit=None):
        rows = (change.row for change in one.rows)
        yield from (row for row in rows if isinstance(row, VersionRow) and row.id == memory_id)
