"""What nights wrote of a memory whose text is superseded or erased: their gists quote it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from priming.config.params.sleep import SLEEP
from priming.namespace import Namespace
from priming.remember.drafts import Draft
from priming.rules.trust import least
from priming.sleep.deep import SOURCE, author_of, reword
from priming.sleep.gist import HAND, MODEL, Gist, central_sentence, sentences_of
from priming.sleep.plan import SOURCE_OF, current_row
from priming.sleep.reading import vectors_of
from priming.storage.rows import LinkRow, RowChange, VersionRow
from priming.types import MemoryRecord


def requote(
    memory: Namespace, old: VersionRow, draft: Draft, vector: NDArray[np.float32], now: datetime
) -> list[RowChange]:
    """What it takes that no entity says of a memory what its new text corrects.

    A sentence that only the old text holds gives way to the most central one of the sources as they are now, and so
    does what an agent wrote, of which nobody can tell what it is from. What somebody wrote stays.
    """
    lost = _sentences(old.content) - _sentences(draft.content)
    links = memory.store.links(memory.namespace, [old.id], SOURCE_OF)
    entities = [link.target for link in links if link.source == old.id]
    rows: list[RowChange] = []
    for entity in _active(memory, entities):
        versions = memory.store.versions(memory.namespace, entity)
        version = current_row(versions, max(row.version for row in versions))
        if not _is_told(version, lost):
            continue
        members, vectors = _members(memory, entity, now)
        at = next((i for i, row in enumerate(members) if row.id == old.id), None)
        if at is None:
            continue
        members[at], vectors[at] = replace(members[at], content=draft.content), vector
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(float).tiny)
        text = central_sentence(members, units, memory.embedder.embed, SLEEP.central)
        rows += reword(versions, version, Gist(text), least([version.trust, draft.trust]), now)
    return rows


def gists_quoting(memory: Namespace, memory_id: str) -> set[str]:
    """The entities that nights made, here or in the log, of which any version ever quoted any text of a memory."""
    texts = _texts(memory, memory_id)
    operations = memory.store.operations(memory.namespace, memory_id=memory_id, limit=None)
    links = [change.row for item in operations for change in item.rows if isinstance(change.row, LinkRow)]
    links += memory.store.links(memory.namespace, [memory_id], SOURCE_OF)
    entities = {link.target for link in links if (link.source, link.relation) == (memory_id, SOURCE_OF)}
    sentences = {sentence for item in texts for sentence in _sentences(item.content)}
    return {item for item in entities if any(_is_told(text, sentences) for text in _texts(memory, item))}


def _is_told(version: VersionRow, sentences: Collection[str]) -> bool:
    """Whether the text of an entity is one of some sentences, or an agent's."""
    if version.source != SOURCE or author_of(version) == HAND:
        return False
    return author_of(version) == MODEL or _plain(version.content) in sentences


def _sentences(text: str) -> set[str]:
    return {_plain(sentence) for sentence in sentences_of(text)}


def _plain(sentence: str) -> str:
    """A sentence without the mark at its end, which may come and go as others join it."""
    return sentence.rstrip(".!?…。！？ ")


def _active(memory: Namespace, ids: Sequence[str]) -> list[str]:
    rows = memory.store.memories(memory.namespace, ids) if ids else []
    return [row.id for row in rows if row.status == "active"]


def _members(memory: Namespace, entity: str, now: datetime) -> tuple[list[MemoryRecord], NDArray[np.float64]]:
    """The latest sources of an entity that are in recall, and their vectors."""
    links = memory.store.links(memory.namespace, [entity], SOURCE_OF)
    latest = nlargest(SLEEP.window, (link.source for link in links if link.target == entity))
    records = memory.store.records(memory.namespace, latest, now)
    members = [
        records[member_id]
        for member_id in sorted(latest)
        if member_id in records and records[member_id].status == "active"
    ]
    return members, vectors_of(memory, now, [member_id.id for member_id in members]).astype(np.float64)


def _texts(memory: Namespace, memory_id: str) -> Iterable[VersionRow]:
    """All versions of a memory that the store or the log holds."""
    yield from memory.store.versions(memory.namespace, memory_id)
    for logged in memory.store.operations(memory.namespace, memory_id=memory_id, limit=None):
        rows = (change.row for change in logged.rows)
        yield from (row for row in rows if isinstance(row, VersionRow) and row.id == memory_id)
