"""Entities made by sleep that quote a memory: their gists change when the memory's text is superseded or erased.

``requote`` runs when a text is superseded, ``gists_quoting`` when a memory is purged; neither is a stage of sleep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from priming.config.params.limits import SLEEP
from priming.config.words import SLEEP_SOURCE, SOURCE_OF, least
from priming.namespace import Namespace
from priming.remember.drafts import Draft
from priming.sleep.families import FamilyMember, family_gist, is_family
from priming.sleep.gist import HAND, MODEL, Gist, author_of, central_sentence, rewrite_entity, sentences_of
from priming.sleep.plan import current_row
from priming.sleep.procedures import read_procedure
from priming.sleep.reading import vectors_of
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.types import MemoryRecord


def requote(
    memory: Namespace, old: VersionRow, draft: Draft, vector: NDArray[np.float32], now: datetime
) -> list[RowChange]:
    """The changes of entities whose gist quotes the old text of a memory.

    A gist that is a sentence of the old text only is replaced by the most central sentence of the present sources.
    So is a gist by an agent, whose source sentences are unknown. A text edited by hand stays.
    """
    lost = _sentences(old.content) - _sentences(draft.content)
    links = memory.store.rows(memory.namespace, LinkRow, ids=[old.id], relation=SOURCE_OF)
    entities = [link.target for link in links if link.source == old.id]
    rows: list[RowChange] = []
    for entity in _active(memory, entities):
        versions = memory.store.rows(memory.namespace, VersionRow, ids=[entity])
        version = current_row(versions, max(row.version for row in versions))
        if not _is_quoted(version, lost):
            continue
        members, vectors = _members(memory, entity, now)
        at = next((i for i, row in enumerate(members) if row.id == old.id), None)
        if at is None:
            continue
        members[at], vectors[at] = replace(members[at], content=draft.content), vector
        if is_family(version.metadata):
            kin = [
                FamilyMember(row, read_procedure(row.heading, row.content, row.metadata)) for row in members
            ]
            text = family_gist(kin)[1]
            rows += rewrite_entity(versions, version, Gist(text), least([version.trust, draft.trust]), now)
            continue
        units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(float).tiny)
        text = central_sentence(members, units, memory.embedder.embed, SLEEP.central)
        rows += rewrite_entity(versions, version, Gist(text), least([version.trust, draft.trust]), now)
    return rows


def gists_quoting(memory: Namespace, memory_id: str) -> set[str]:
    """The entities made by sleep, in the store or the log, with a version that quotes any text of the memory."""
    texts = _texts(memory, memory_id)
    operations = memory.store.operations(memory.namespace, memory_id=memory_id)
    links = [change.row for item in operations for change in item.rows if isinstance(change.row, LinkRow)]
    links += memory.store.rows(memory.namespace, LinkRow, ids=[memory_id], relation=SOURCE_OF)
    entities = {link.target for link in links if (link.source, link.relation) == (memory_id, SOURCE_OF)}
    sentences = {sentence for item in texts for sentence in _sentences(item.content)}
    return {item for item in entities if any(_is_quoted(text, sentences) for text in _texts(memory, item))}


def _is_quoted(version: VersionRow, sentences: Collection[str]) -> bool:
    """Whether the text of an entity is among ``sentences``, names procedures, or was written by an agent."""
    if version.source != SLEEP_SOURCE or author_of(version) == HAND:
        return False
    return author_of(version) == MODEL or is_family(version.metadata) or _plain(version.content) in sentences


def _sentences(text: str) -> set[str]:
    return {_plain(sentence) for sentence in sentences_of(text)}


def _plain(sentence: str) -> str:
    """A sentence without its final punctuation, which differs with the context."""
    return sentence.rstrip(".!?…。！？ ")


def _active(memory: Namespace, ids: Sequence[str]) -> list[str]:
    rows = memory.store.rows(memory.namespace, MemoryRow, ids=ids) if ids else []
    return [row.id for row in rows if row.status == "active"]


def _members(memory: Namespace, entity: str, now: datetime) -> tuple[list[MemoryRecord], NDArray[np.float64]]:
    """The latest active sources of an entity, and their vectors."""
    links = memory.store.rows(memory.namespace, LinkRow, ids=[entity], relation=SOURCE_OF)
    latest = nlargest(SLEEP.window, (link.source for link in links if link.target == entity))
    records = memory.store.records(memory.namespace, now, ids=latest)
    members = [
        records[member_id]
        for member_id in sorted(latest)
        if member_id in records and records[member_id].status == "active"
    ]
    return members, vectors_of(memory, now, [member_id.id for member_id in members]).astype(np.float64)


def _texts(memory: Namespace, memory_id: str) -> Iterable[VersionRow]:
    """All versions of a memory in the store and in the log."""
    yield from memory.store.rows(memory.namespace, VersionRow, ids=[memory_id])
    for logged in memory.store.operations(memory.namespace, memory_id=memory_id):
        rows = (change.row for change in logged.rows)
        yield from (row for row in rows if isinstance(row, VersionRow) and row.id == memory_id)
