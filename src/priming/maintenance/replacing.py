"""Memories that are replaced: by a newer text, by a successor, or by another of which they become part; and restored.

The survivor of a merge keeps its text and, where its trust is higher, its standing. ``learned-from`` links are
copied. A link that would close a circle of ``overrides`` or ``requires`` is left out, and the message says so.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.config.params.limits import PASSAGES
from priming.config.words import TEXT_KINDS, instructs, is_trusted_as
from priming.core.arguments.checks import check_choice, check_fraction, check_name, check_time
from priming.core.similarity import MERGE, WHEN_SHARE, ComparedBehaviour, likeness
from priming.errors import Conflict, ParamError
from priming.graph.merge_plan import MergePlan, plan_merge
from priming.history.undo import restored_vectors
from priming.index.document import packed_vectors, vectors_of
from priming.namespace import Namespace
from priming.remember.drafts import (
    FIELDS,
    current_version,
    deprecated_rows,
    draft,
    restored_rows,
    succeeding_rows,
)
from priming.remember.remember import relink_mentions
from priming.rules.pack_file import pack_of
from priming.rules.results import NearDuplicates
from priming.sleep.entities import requote
from priming.storage.rows import LinkRow, MemoryRow, VersionRow, record
from priming.text.quotation import quote_text
from priming.text.statements.reader import forbids
from priming.text.tokens import terms
from priming.types import MemoryRecord, Operation

ConditionalText = tuple[str, Mapping[str, Any]]
"""The content of a memory, and the conditions under which it applies."""
_ROUNDING = 1e-9


def deprecate(memory: Namespace, key: str, *, by: str | None = None, reason: str | None = None) -> Operation:
    """Remove a memory from recall because it is no longer true.

    ``by`` names the memory that replaces it.

    Raises:
        NotFound: the memory does not exist.
        Conflict: one of the two is not active.
        ParamError: ``by`` is the memory itself, or ``reason`` has more than one line.

    """
    why = check_name("reason", reason)
    with memory.changing() as now:
        row = _active(memory, key, now)
        message, instead = None, None
        if by is not None:
            successor = _active(memory, by, now)
            if successor.id == row.id:
                raise ParamError("by", by, "must differ from the memory that is deprecated")
            message, instead = f"{quote_text(successor.key)} replaces it", successor.id
        rows = deprecated_rows(memory, row, instead, now)
        return memory.to_operation(memory.write("deprecate", now, rows, reason=why, message=message))


def restore(memory: Namespace, key: str) -> Operation:
    """Restore a memory that was deprecated, merged, archived or forgotten.

    Links to its replacement are removed.

    Raises:
        NotFound: the memory does not exist.
        Conflict: the memory is active.

    """
    with memory.changing() as now:
        row = _row(memory, key, now)
        if row.status == "active":
            raise Conflict(f"{row.key!r} is active already: deprecate or forget it to take it out of recall")
        rows = restored_rows(memory, row)
        replacements = [change.row for change in rows if isinstance(change.row, LinkRow)]
        message = "; ".join([f"it was {row.status}", *_removed_links(memory, row, replacements)])
        return memory.to_operation(memory.write("restore", now, rows, message=message))


def _removed_links(memory: Namespace, row: MemoryRow, links: Sequence[LinkRow]) -> list[str]:
    """Return the links that restoring a memory removes, in words."""
    names = memory.names(ids=[link.target for link in links])
    sentences = [f"its {link.relation} link to {quote_text(names[link.target])} is removed" for link in links]
    if row.status == "merged" and links:
        sentences.append("what was merged stays there")
    return sentences


def merge(memory: Namespace, key: str, into: str) -> Operation:
    """Merge a memory into another of its kind, which takes over its uses and links.

    The other keeps its own text.

    Raises:
        NotFound: a memory does not exist.
        Conflict: one of the two is not active, or their kinds differ.
        ParamError: ``into`` is the memory itself.

    """
    with memory.changing() as now:
        source, survivor = _active(memory, key, now), _active(memory, into, now)
        if source.id == survivor.id:
            raise ParamError("into", into, "must differ from the memory that is merged")
        if source.kind != survivor.kind:
            raise Conflict(
                f"{source.key!r} is of kind {source.kind} and {survivor.key!r} of kind {survivor.kind}:"
                " merge memories of one kind, or link them"
            )
        source_trust = memory.find(source.id, now).trust
        survivor_trust = memory.find(survivor.id, now).trust
        if source.kind == "behavior" and instructs(source_trust) and not instructs(survivor_trust):
            raise Conflict(
                f"{source.key!r} is a rule from {source_trust}, and {survivor.key!r} from {survivor_trust} may not"
                f" instruct: merge {survivor.key!r} into {source.key!r}, or deprecate {source.key!r}"
            )
        plan = plan_merge(memory, [source.id, survivor.id])
        plan.merge(source.id, survivor.id, now, vouched=is_trusted_as(source_trust, survivor_trust))
        merged = f"{quote_text(source.key)} is merged into {quote_text(survivor.key)}"
        message = f"{merged}{_omitted_links(plan)}"
        return memory.to_operation(memory.write("merge", now, plan.changes(), message=message))


def _omitted_links(plan: MergePlan) -> str:
    """Return the links that a merge does not move, in words."""
    text = ""
    if number := plan.left_out:
        links = "1 link is left out: it" if number == 1 else f"{number} links are left out: they"
        text += f"; {links} would close a cycle"
    if number := len(plan.unvouched):
        links = "1 link stays" if number == 1 else f"{number} links stay"
        text += f"; {links} with the memory of lower trust"
    return text


def deduplicate(
    memory: Namespace, *, dry_run: bool = False, threshold: float | None = None, kind: str = "behavior"
) -> list[NearDuplicates]:
    """Merge memories that say the same, in one operation.

    The memory with the most evidence survives.

    Args:
        dry_run: only list what would be merged.
        threshold: minimum similarity to merge, in [0, 1]; 0.9 by default.
        kind: the kind of memories, any but entity.

    Raises:
        ParamError: an argument is outside its range.

    """
    kind = check_choice("kind", kind, TEXT_KINDS)
    bar = MERGE if threshold is None else check_fraction("threshold", threshold)
    with memory.reading() if dry_run else memory.changing() as now:
        duplicates = _find_duplicates(memory, kind, bar, now)
        if dry_run or not duplicates:
            return memory.listed(result for *_, result in duplicates)
        plan = plan_merge(memory, {record.id for *pair, _ in duplicates for record in pair})
        for source, survivor, _ in duplicates:
            plan.merge(source.id, survivor.id, now, vouched=is_trusted_as(source.trust, survivor.trust))
        number = f"{len(duplicates)} {'memory is' if len(duplicates) == 1 else 'memories are'} merged"
        logged = memory.write("deduplicate", now, plan.changes(), message=number + _omitted_links(plan))
    return [replace(result, operation=logged.id) for _, _, result in duplicates]


def _find_duplicates(
    memory: Namespace, kind: str, bar: float, now: datetime
) -> list[tuple[MemoryRecord, MemoryRecord, NearDuplicates]]:
    """Return the memories to merge, each with its survivor, the most similar first."""
    records = sorted(memory.records(now, kinds=[kind], status="active").values(), key=_precedence)
    duplicates = [
        (source, survivor, NearDuplicates(survivor.key, source.key, similarity))
        for source, survivor, similarity in _similar_pairs(records, bar)
    ]
    return sorted(duplicates, key=lambda entry: (-entry[2].similarity, entry[2].kept, entry[2].merged))


def _similar_pairs(
    records: Sequence[MemoryRecord], bar: float
) -> Iterator[tuple[MemoryRecord, MemoryRecord, float]]:
    """Yield the records that nearly repeat an earlier one, each with the earlier record and the similarity.

    A behaviour that forbids something is never merged with another that asks for it.
    """
    for forbidding in (False, True):
        group = [
            record
            for record in records
            if (record.kind == "behavior" and forbids(record.content)) is forbidding
        ]
        texts = [(record.content, record.when) for record in group]
        for source, survivor, similarity in near_duplicates(texts, bar):
            yield group[source], group[survivor], similarity


def _precedence(record: MemoryRecord) -> tuple[float, ...]:
    """Return the sort key by which the survivor comes first; among equals the oldest comes first already.

    A memory that is not trusted to instruct never replaces one that is, whatever evidence it has.
    """
    return -instructs(record.trust), -(record.use.confirmed + record.use.followed), -record.priority


def near_duplicates(texts: Sequence[ConditionalText], threshold: float) -> list[tuple[int, int, float]]:
    """Return the texts that nearly repeat an earlier one: their positions, those of the earlier texts, similarities.

    Each text is compared with the earlier texts that are no duplicates themselves. It is a duplicate of the most
    similar of those above ``threshold``, and of the earliest among equals.

    Two texts whose Jaccard index is above j share one of the rarest n − ⌈j·n⌉ + 1 words of each [1]. Only pairs
    that do, and that have enough words in common, are compared in full.

    References
    ----------
    .. [1] Chaudhuri, S., Ganti, V., Kaushik, R. (2006). A primitive operator for similarity joins in data
       cleaning. ICDE 2006.

    """
    sayings = [ComparedBehaviour.of(content, when) for content, when in texts]
    frequency = Counter(word for saying in sayings for word in saying.words)
    index: dict[Hashable, list[int]] = defaultdict(list)
    duplicates = []
    for position, saying in enumerate(sayings):
        rarest = sorted(saying.words, key=lambda word: (frequency[word], word))
        signature = list(_signature(saying, rarest, _minimum_overlap(threshold, True)))
        candidates = {earlier for feature in signature for earlier in index[feature]}
        similarities = (
            (likeness(sayings[earlier], saying), -earlier)
            for earlier in candidates
            if _may_be_similar(sayings[earlier], saying, threshold)
        )
        similarity, nearest = max(similarities, default=(0.0, 0))
        if similarity > threshold:
            duplicates.append((position, -nearest, similarity))
        else:
            for feature in signature:
                index[feature].append(position)
    return duplicates


def _minimum_overlap(threshold: float, comparable: bool) -> float:
    """Return the least Jaccard index of a pair's words: lower where both have conditions, which may agree in full."""
    if not comparable:
        return threshold
    if threshold <= WHEN_SHARE:
        return 0.0
    return (threshold - WHEN_SHARE) / (1.0 - WHEN_SHARE)


def _signature(saying: ComparedBehaviour, rarest: Sequence[str], least: float) -> Iterator[Hashable]:
    """Yield the features of which every similar pair shares at least one."""
    if not rarest:
        yield "text", saying.content
    needed = max(1, math.ceil(least * len(rarest) - _ROUNDING))
    yield from rarest[: len(rarest) - needed + 1]
    if least <= 0.0:
        for name, values in saying.scope.items():
            for value in values:
                yield "when", name, value


def _may_be_similar(a: ComparedBehaviour, b: ComparedBehaviour, threshold: float) -> bool:
    """Tell whether a pair has enough words in common; two texts without words are always compared in full."""
    least = _minimum_overlap(threshold, not a.scope.keys().isdisjoint(b.scope))
    shared = len(a.words & b.words)
    together = len(a.words) + len(b.words)
    return not together or shared >= least * (together - shared) - _ROUNDING


def _row(memory: Namespace, key: str, now: datetime) -> MemoryRow:
    (row,) = memory.rows(MemoryRow, ids=[memory.find(key, now).id])
    return row


def _active(memory: Namespace, key: str, now: datetime) -> MemoryRow:
    """Return the row of an active memory; any other raises ``Conflict``."""
    row = _row(memory, key, now)
    if row.status != "active":
        raise Conflict(f"{row.key!r} is {row.status} already: restore makes it active again")
    return row


_NOT_SUPERSEDED = ("kind", "key")


def supersede(
    memory: Namespace, /, key: str, content: str, *, valid_from: datetime | None = None, **changes: Any
) -> MemoryRecord:
    """Give a memory a new version, valid from ``valid_from`` (now) on; the old version stays in its history.

    A later version stays as it is: the new one holds until that begins. The text that it has makes no version.

    ``changes`` are arguments of ``remember`` except kind and key; the other arguments keep their values, but for a
    heading, which told the old text, unless no word of it is among those that changed, and for a source that is a
    pack, with its trust.

    Raises:
        NotFound: no such memory.
        ParamError: ``valid_from`` is before the start of the old version.
        Conflict: the memory is not active.

    """
    for name in _NOT_SUPERSEDED:
        if name in changes:
            raise ParamError(
                name, changes[name], "stays the same over versions: remember a new memory instead"
            )
    boundary = None if valid_from is None else check_time("valid_from", valid_from)
    with memory.changing() as now:
        current = memory.find(key, now)
        if current.status != "active":
            raise Conflict(f"{current.key!r} is {current.status}: restore it first")
        old = current_version(memory, current, now, boundary)
        if boundary is None and not changes and content == old.content:
            return current  # told again
        arguments = _arguments(old, current.kind)
        if pack_of(old.source) is not None:  # the author of the pack did not say this
            del arguments["source"], arguments["trust"]
        if old.heading and not _words(old.heading) & (_words(old.content) - _words(content)):
            arguments["heading"] = old.heading
        new = draft({**arguments, **changes, "content": content})
        rows, version = succeeding_rows(memory, old, new, now, boundary)
        at = version.recorded_at
        at_once = boundary is None or boundary <= at
        waits = memory.must_wait([new])
        read = replace(new, content=new.content[: PASSAGES.whole]) if waits else new
        (vectors,) = vectors_of(memory.embedder, [read])
        rows += relink_mentions(memory, old, new, at, at_once=at_once)
        gists = requote(memory, old, new, vectors.whole, at) if at_once else []
        rows += gists
        stored = restored_vectors(memory, gists)
        if not waits:
            stored |= packed_vectors([(current.id, version.version)], [vectors])
        memory.write("supersede", at, rows, vectors=stored)
        (row,) = memory.rows(MemoryRow, ids=[current.id])
        return record(memory.namespace, row, version)


def _words(text: str) -> set[str]:
    return set(terms(text))


def _arguments(old: VersionRow, kind: str) -> dict[str, Any]:
    """Return the arguments of ``remember`` that a new version keeps."""
    return {"kind": kind, **{name: getattr(old, name) for name in FIELDS if name not in _OWN}}


_OWN = ("content", "heading", "kind", "key", "gist", "files", "valid_from")
"""The arguments of which each version has its own, or none."""
