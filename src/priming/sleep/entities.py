"""The entities that sleep makes: their rows, families of procedures, and what happens when what they quote changes.

An entity stands for episodes (``deep``), or for a family: procedures that are similar but not the same, none of
which is deprecated. The heading of a family is what the titles have in common, its text names each member and the
words that tell them apart. ``requote`` runs when a text is superseded, ``gists_quoting`` when a memory is purged;
neither is a stage of sleep.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.ids import uuid7
from priming.config.params.laws import FORGETTING, PLASTICITY
from priming.config.params.limits import SLEEP
from priming.config.values import dataclass
from priming.config.words import SLEEP_SOURCE, SOURCE_OF, least
from priming.core.arguments.arrays import Floats, unit_rows
from priming.core.arguments.normal_forms import free_key, slug
from priming.index.columns import NONE
from priming.namespace import Namespace
from priming.remember.drafts import Draft, restate, supersede_rows, valid_row
from priming.sleep.gist import EXTRACTIVE, HAND, MODEL, Gist, central_sentence
from priming.sleep.plan import PlannedItem
from priming.sleep.procedures import ProcedureCandidate, ProcedureText, compare_procedures, read_procedure
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.text.gists import gist_of
from priming.types import MemoryRecord

_GIST = "gist"
"""The metadata key that holds ``model`` if an agent wrote the text."""
_DIGEST = "written"
"""The metadata key of the digest of the text that sleep wrote; a text that was edited since has another digest."""
FAMILY = "family"
"""The form of an entity for similar procedures, and the action that makes or extends it."""
_QUOTED = 12
"""Maximum number of members that the text of a family names."""
_GAP = "…"


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity of an earlier night: its row, its versions, the ids of its members, and their centroid if needed."""

    memory: MemoryRow
    versions: Sequence[VersionRow]
    members: frozenset[str]
    centre: Floats = field(default_factory=lambda: np.zeros(0))


def is_family(metadata: Mapping[str, object]) -> bool:
    """Tell whether an entity is a family, by its metadata."""
    return metadata.get("form") == FAMILY


def plan_families(
    groups: Iterable[Sequence[ProcedureCandidate]],
    families: Sequence[KnownEntity],
    now: datetime,
    taken: Callable[[str], bool],
) -> list[PlannedItem]:
    """Plan a family for each group of procedures, or what a family of an earlier night lacks of it."""
    planned, keys, grown = list[PlannedItem](), set[str](), set[str]()
    for group in groups:
        ids = {member.record.id for member in group}
        family = max(families, key=lambda entry: len(entry.members & ids), default=None)
        if family is None or not family.members & ids:
            planned.append(_new_family(group, now, keys, taken))
        elif family.memory.id not in grown:
            grown.add(family.memory.id)
            item = _more(group, family, now)
            planned += [] if item is None else [item]
    return planned


def family_gist(members: Sequence[ProcedureText]) -> tuple[str, str]:
    """Return the heading and the text of a family.

    The heading has the words that all titles share, the text all titles and the words that make the difference.
    """
    titles = list(dict.fromkeys(member.name for member in members))
    shown = "; ".join(f"“{title}”" for title in titles[:_QUOTED])
    if len(titles) > _QUOTED:
        shown += f" and {len(titles) - _QUOTED} more"
    words = differences(members)
    if len(titles) == 1:  # the steps tell them apart
        return _heading(titles), f"{len(members)} procedures are all called {shown}: {_reasons(members)}."
    apart = f" They differ in: {', '.join(words)}." if words else f" Reason: {_reasons(members)}."
    return _heading(titles), f"Similar but not the same: {shown}.{apart}"


def _reasons(members: Sequence[ProcedureText]) -> str:
    """Say why the other members are not the same as the first, with the words that tell them apart."""
    first, *others = members[:_QUOTED]
    reasons = dict[str, list[str]]()
    for other in others:
        change = compare_procedures(first, other)
        reasons.setdefault(change.reason or "they were never done alike", []).extend(change.words)
    return "; ".join(
        f"{reason} ({', '.join(dict.fromkeys(words))})" if words else reason
        for reason, words in reasons.items()
    )


def differences(members: Sequence[ProcedureText]) -> list[str]:
    """Return the words in which the other members differ from the first."""
    first, *others = members[:_QUOTED]
    changes = (compare_procedures(first, other) for other in others)
    return list(dict.fromkeys(word for change in changes for word in change.words))


def _heading(titles: Sequence[str]) -> str:
    """Return the words of the first title that all others have, with a gap for each run of others."""
    first, *others = titles
    common = [all(word.casefold() in other.casefold().split() for other in others) for word in first.split()]
    if not others or sum(common) * 2 < len(common):
        return gist_of(first)
    words = list[str]()
    for word, shared in zip(first.split(), common, strict=True):
        if shared or not words or words[-1] != _GAP:
            words.append(word if shared else _GAP)
    return " ".join(words)


def _new_family(
    group: Sequence[ProcedureCandidate], now: datetime, keys: set[str], taken: Callable[[str], bool]
) -> PlannedItem:
    heading, text = family_gist([member.text for member in group])
    rows = new_entity(
        (heading, FAMILY, f"{FAMILY}:{slug(heading)}"),
        Gist(text),
        [m.record for m in group],
        now,
        keys,
        taken,
    )
    return _item(group, group, rows[0].ends[0], heading, text, rows)


def _more(group: Sequence[ProcedureCandidate], family: KnownEntity, now: datetime) -> PlannedItem | None:
    """Return the members that a family lacks; None if it lacks none, or is no longer in use."""
    fresh = [member for member in group if member.record.id not in family.members]
    if not fresh or family.memory.status != "active":
        return None
    old = valid_row(family.versions, now)
    heading, text = family_gist([member.text for member in group])
    rows = list[RowChange]()
    if author_of(old) != HAND:
        trust = least([old.trust, *(member.record.trust for member in fresh)])
        rows = rewrite_entity(family.versions, old, Gist(text), trust, now)
    rows += source_links([member.record for member in fresh], family.memory.id, now)
    return _item(group, fresh, family.memory.id, old.heading or heading, text, rows)


def _item(
    group: Sequence[ProcedureCandidate],
    fresh: Sequence[ProcedureCandidate],
    into: str,
    heading: str,
    text: str,
    rows: Sequence[RowChange],
) -> PlannedItem:
    evidence = {
        "heading": heading,
        "form": FAMILY,
        "text": text,
        "members": len(group),
        "words": differences([member.text for member in group]),
    }
    reason = f"{len(group)} procedures are similar, but none replaces another"
    return PlannedItem(
        FAMILY, tuple(member.record.id for member in fresh), into, reason, evidence, tuple(rows)
    )


def new_entity(
    named: tuple[str, str, str],
    summary: Gist,
    members: Sequence[MemoryRecord],
    at: datetime,
    keys: set[str],
    taken: Callable[[str], bool],
    confidence: float = 1.0,
) -> list[RowChange]:
    """Return the rows of an entity: its memory, its text, and its links from the members that it stands for.

    ``named`` are its heading, its form, and the key that it should have; ``keys`` are those of other planned
    entities, to which its own is added, and ``taken`` tells whether a stored memory has a key.
    """
    heading, form, preferred = named
    draft = Draft(
        summary.text,
        heading=heading,
        kind="entity",
        metadata=gist_metadata({"form": form}, heading, summary),
        source=SLEEP_SOURCE,
        trust=least([*(member.trust for member in members), *summary.trusts]),
    )
    memory_id = uuid7(at)
    key = free_key(preferred, memory_id, lambda name: name in keys or taken(name))
    keys.add(key)
    start, stability = PLASTICITY.start, FORGETTING.initial_stability
    memory = MemoryRow(memory_id, key, "entity", weight=start, confidence=confidence, endurance=stability)
    version = draft.version(memory_id, 1, at)
    return [RowChange(None, memory), RowChange(None, version), *source_links(members, memory_id, at)]


def source_links(members: Iterable[MemoryRecord], entity: str, at: datetime) -> list[RowChange]:
    """Return the new links from memories to the entity that stands for them."""
    return [
        RowChange(None, LinkRow(member.id, entity, SOURCE_OF, PLASTICITY.start, at)) for member in members
    ]


def author_of(old: VersionRow) -> str:
    """Tell who wrote the text of an entity: ``hand`` if it was edited since, else an agent or extraction."""
    if old.metadata.get(_DIGEST) != _digest(old.heading, old.content):
        return HAND
    return MODEL if old.metadata.get(_GIST) == MODEL else EXTRACTIVE


def rewrite_entity(
    versions: Sequence[VersionRow], old: VersionRow, summary: Gist, trust: str, at: datetime
) -> list[RowChange]:
    """Return the changes of an entity's text, author and trust; empty if they stay the same."""
    metadata = old.metadata if summary.by == HAND else gist_metadata(old.metadata, old.heading, summary)
    if summary.text != old.content:
        return supersede_rows(
            versions,
            old,
            at,
            content=summary.text,
            gist=gist_of(summary.text),
            digest=Draft(summary.text, heading=old.heading, kind="entity").digest,
            metadata=metadata,
            trust=trust,
        )
    if (trust, metadata) == (old.trust, old.metadata):
        return []
    return restate(versions, old, at, trust=trust, metadata=metadata)


def gist_metadata(metadata: Mapping[str, Any], heading: str | None, summary: Gist) -> dict[str, Any]:
    """Return the metadata of an entity, with the author and the digest of its text."""
    others = {name: value for name, value in metadata.items() if name != _GIST}
    by = {_GIST: MODEL} if summary.by == MODEL else {}
    return {**others, **by, _DIGEST: _digest(heading, summary.text)}


def _digest(heading: str | None, text: str) -> str:
    return hashlib.blake2b(f"{heading}\n{text}".encode(), digest_size=8).hexdigest()


def requote(
    memory: Namespace, old: VersionRow, draft: Draft, vector: NDArray[np.float32], now: datetime
) -> list[RowChange]:
    """Return the changes of entities whose gist quotes the old text of a memory.

    A gist that is a sentence of the old text only is replaced by the most central sentence of the present sources.
    So is a gist by an agent, whose source sentences are unknown. A text edited by hand stays.
    """
    links = memory.rows(LinkRow, ids=[old.id], relation=SOURCE_OF)
    entities = [link.target for link in links if link.source == old.id]
    rows: list[RowChange] = []
    for entity in _active(memory, entities):
        versions = memory.rows(VersionRow, ids=[entity])
        version = valid_row(versions, now)
        if not _is_quoted(version, [old.content], still=draft.content):
            continue
        members, vectors = _members(memory, entity, now)
        at = next((i for i, row in enumerate(members) if row.id == old.id), None)
        if at is None:
            continue
        members[at], vectors[at] = replace(members[at], content=draft.content), vector
        if is_family(version.metadata):
            kin = [read_procedure(row.heading, row.content, row.metadata) for row in members]
            text = family_gist(kin)[1]
        else:
            text = central_sentence(members, unit_rows(vectors), memory.embedder.embed, SLEEP.central)
        rows += rewrite_entity(versions, version, Gist(text), least([version.trust, draft.trust]), now)
    return rows


def gists_quoting(memory: Namespace, memory_id: str) -> set[str]:
    """Return the entities made by sleep, in the store or log, with a version that quotes any text of the memory."""
    texts = _texts(memory, memory_id)
    operations = memory.operations(memory_id=memory_id)
    links = [change.row for item in operations for change in item.rows if isinstance(change.row, LinkRow)]
    links += memory.rows(LinkRow, ids=[memory_id], relation=SOURCE_OF)
    entities = {link.target for link in links if (link.source, link.relation) == (memory_id, SOURCE_OF)}
    contents = {item.content for item in texts}
    return {item for item in entities if any(_is_quoted(text, contents) for text in _texts(memory, item))}


def _is_quoted(version: VersionRow, contents: Iterable[str], still: str = "") -> bool:
    """Tell whether the text of an entity stands in some but not ``still``, names procedures, or is an agent's."""
    if version.source != SLEEP_SOURCE or author_of(version) == HAND:
        return False
    is_read = author_of(version) == MODEL or is_family(version.metadata)
    return is_read or (any(_says(text, version) for text in contents) and not _says(still, version))


def _says(content: str, version: VersionRow) -> bool:
    """Tell whether a text has that of an entity, but for its final punctuation, which differs with the context."""
    return version.content.rstrip(".!?…。！？ ") in " ".join(content.split())


def _active(memory: Namespace, ids: Sequence[str]) -> list[str]:
    rows = memory.rows(MemoryRow, ids=ids)
    return [row.id for row in rows if row.status == "active"]


def _members(memory: Namespace, entity: str, now: datetime) -> tuple[list[MemoryRecord], NDArray[np.float64]]:
    """Return the latest active sources of an entity, and their vectors."""
    links = memory.rows(LinkRow, ids=[entity], relation=SOURCE_OF)
    latest = nlargest(SLEEP.window, (link.source for link in links if link.target == entity))
    members = memory.records(now, ids=sorted(latest), status="active")
    return list(members.values()), vectors_of(memory, now, list(members)).astype(np.float64)


def _texts(memory: Namespace, memory_id: str) -> Iterable[VersionRow]:
    """Yield all versions of a memory in the store and in the log."""
    yield from memory.rows(VersionRow, ids=[memory_id])
    for logged in memory.operations(memory_id=memory_id):
        rows = (change.row for change in logged.rows)
        yield from (row for row in rows if isinstance(row, VersionRow) and row.id == memory_id)


def vectors_of(memory: Namespace, now: datetime, ids: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of memories, rows of zeros for memories without one."""
    working = memory.working(now)
    vectors = np.zeros((len(ids), memory.embedder.dimension), np.float32)
    for i, memory_id in enumerate(ids):
        row = working.row_of.get(memory_id, NONE)
        document = NONE if row == NONE else int(working.document[row])
        if document != NONE:
            vectors[i] = working.vectors[document]
    return vectors
