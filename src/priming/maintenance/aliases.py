"""Aliases: names that stand for one thing, found by what the texts say, and merged in one operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nlargest
from itertools import combinations

from priming.config.params.learning import LINKING
from priming.core.arguments.checks import PAGE_LIMIT, check_count
from priming.index.document import CONFLICTS, is_rule_made, slot_of_record
from priming.index.topology import MENTIONS
from priming.maintenance.merge import RANKED, STATUS_IN_WORDS, MergePlan
from priming.namespace import Namespace
from priming.remember.drafts import gist_of
from priming.remember.entity_resolution import equivalent_names
from priming.results import Alias, AliasEvidence
from priming.rules.trust import is_trusted_as
from priming.storage.rows import LinkRow, RowChange
from priming.text.aliases import alias_statements
from priming.text.names import HANDLE, IDENTIFIER, NAME, QUOTED, normal
from priming.text.non_name_words import PLACES_AND_INSTITUTIONS, is_given_name
from priming.text.statements import values_differ
from priming.types import MemoryRecord

_FORMS = (NAME, IDENTIFIER, QUOTED, HANDLE)
_FEWEST, _MOST = 2, 3
"""Words of a person's full name."""

_SHOWN = 3
"""Pieces of evidence that an alias shows."""

_BELIEVED = "tool"
"""What is trusted less than this says nothing about names."""


def aliases(memory: Namespace, *, dry_run: bool = False, limit: int = 100) -> list[Alias]:
    """Merge names that stand for one thing, where the texts say so, all in one operation.

    Args:
        dry_run: only say what would be merged.
        limit: the most names to merge.

    Raises:
        ParamError: ``limit`` outside its range.

    """
    most = check_count("limit", limit, 1, PAGE_LIMIT)
    with memory.lock, memory.store.transaction(write=False) if dry_run else nullcontext():
        if dry_run:
            memory.require_exists()
            return [alias for _, _, alias in _proposals(memory, memory.now())[:most]]
        with memory.writing() as now:
            memory.require_exists()
            found = _proposals(memory, now)[:most]
            if not found:
                return []
            merging = _merging(memory, {one.id for gone, kept, _ in found for one in (gone, kept)})
            for gone, kept, _ in found:
                merging.merge(gone.id, kept.id, now, vouched=is_trusted_as(gone.trust, kept.trust))
            message = f"{len(found)} {'name is' if len(found) == 1 else 'names are'} merged"
            rows = [*merging.changes(), *_contradictions(memory, found, now)]
            logged = memory.write("alias", now, rows, message=message)
    return [replace(alias, operation=logged.id) for _, _, alias in found]


def _merging(memory: Namespace, ids: set[str]) -> MergePlan:
    store, namespace = memory.store, memory.namespace
    ranked = [link for relation in RANKED for link in store.links(namespace, relation=relation)]
    return MergePlan(store.memories(namespace, ids), store.links(namespace, ids), ranked)


Proposal = tuple[MemoryRecord, MemoryRecord, Alias]


def _contradictions(memory: Namespace, found: Sequence[Proposal], now: datetime) -> Iterator[RowChange]:
    """``conflicts`` links between facts that gave one thing different values under its different names."""
    names: dict[str, set[str]] = {}
    for gone, kept, _ in found:
        for slot in filter(None, map(slot_of_record, (gone, kept))):
            names.setdefault(kept.id, set()).update(
                equivalent_names(memory.store, memory.namespace, slot, now)
            )
    of = {name: kept for kept, some in names.items() for name in some}
    told: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for memory_id, subject, slot, value in memory.working(now).statements:
        if subject in of:
            told[of[subject], slot].append((memory_id, subject, value))
    for some in told.values():
        latest = nlargest(LINKING.rivals, some)  # ids sort by time
        for (newer, subject, value), (older, other, before) in combinations(latest, 2):
            if subject != other and values_differ(value, before):
                link = LinkRow(newer, older, CONFLICTS, 0.0, now)
                if memory.store.present(memory.namespace, link) is None:
                    yield RowChange(None, link)


def _proposals(memory: Namespace, now: datetime) -> list[Proposal]:
    """Which entity goes into which; where two could stand for a name, none does."""
    there = _There.read(memory, now)
    found: dict[str, dict[str, list[AliasEvidence]]] = defaultdict(lambda: defaultdict(list))
    reasons: dict[tuple[str, str], str] = {}
    for reason, pairs in (("said", there.said()), ("part", there.parts())):
        for alias, name, told in pairs:
            found[alias][name].append(told)
            reasons.setdefault((alias, name), reason)
    fullest = ((alias, _fullest(list(names))) for alias, names in found.items())
    into = {alias: name for alias, name in fullest if name is not None}
    proposals = []
    for alias, name in into.items():
        kept = _root(into, alias)
        if kept is not None and is_rule_made(there.entities[alias]):
            gone, stands = there.entities[alias], there.entities[kept]
            evidence = tuple(dict.fromkeys(found[alias][name]))[:_SHOWN]
            proposals.append((gone, stands, Alias(gone.key, stands.key, reasons[alias, name], evidence)))
    return sorted(proposals, key=lambda one: (one[2].reason != "said", one[2].name, one[2].alias))


def _fullest(names: Sequence[str]) -> str | None:
    """The one of several names that holds all the others: "robert smith" of that and "robert"."""
    longest = max(names, key=lambda name: len(name.split()))
    return longest if all(set(name.split()) <= set(longest.split()) for name in names) else None


def _root(into: Mapping[str, str], alias: str) -> str | None:
    """The name at the end of a chain of aliases; None where it leads in a circle."""
    met, at = {alias}, into[alias]
    while at in into:
        if at in met:
            return None
        met.add(at)
        at = into[at]
    return at


@dataclass
class _There:
    """The texts of a namespace and its names by slot, with the texts that mention each."""

    texts: dict[str, MemoryRecord]
    entities: dict[str, MemoryRecord]
    holders: dict[str, set[str]] = field(default_factory=dict)
    sharing: dict[str, list[str]] = field(default_factory=dict)
    """By word, the names of several words that hold it."""

    @classmethod
    def read(cls, memory: Namespace, now: datetime) -> _There:
        """Read what is active now."""
        store, namespace = memory.store, memory.namespace
        texts = {one.id: one for one in store.page(namespace, now, kinds=STATUS_IN_WORDS, limit=None)}
        entities: dict[str, MemoryRecord] = {}
        for one in store.page(namespace, now, kinds=["entity"], limit=None):
            slot = slot_of_record(one)
            if slot is not None and one.metadata.get("form", NAME) in _FORMS:
                entities.setdefault(slot, one)
        slots = {one.id: slot for slot, one in entities.items()}
        holders: dict[str, set[str]] = defaultdict(set)
        for link in store.links(namespace, relation=MENTIONS):
            if link.target in slots and link.source in texts:
                holders[slots[link.target]].add(link.source)
        return cls(texts, entities, holders, _sharing(entities))

    def said(self) -> Iterator[tuple[str, str, AliasEvidence]]:
        """Alias, name and evidence, where a text says that two names are one.

        A person's short name that is part of another full name too may mean either.
        """
        for one in self.texts.values():
            if is_trusted_as(one.trust, _BELIEVED):
                for told in alias_statements(one.content, self.entities.__contains__):
                    alias, name = normal(told.alias), normal(told.name)
                    if not (is_given_name(name.split()[0]) and self._rivals(alias, name)):
                        yield alias, name, AliasEvidence(one.key, told.sentence)

    def parts(self) -> Iterator[tuple[str, str, AliasEvidence]]:
        """Alias, name and evidence, where the part of one full name is used in the sessions that tell it."""
        speakers = {normal(one.speaker) for one in self.texts.values() if one.speaker}
        for full in self.entities:
            if not self._is_person(full, speakers):
                continue
            first, last = full.split()[0], full.split()[-1]
            for alias in (first, last, f"@{first}"):
                if alias in self.entities and not self._rivals(alias, full):
                    yield from ((alias, full, evidence) for evidence in self._used(alias, full))

    def _rivals(self, alias: str, full: str) -> list[str]:
        """The full names that have an alias as one of their words, apart from ``full`` and what it is part of."""
        return [one for one in self.sharing.get(alias.removeprefix("@"), ()) if not _within(one, full)]

    def _is_person(self, slot: str, speakers: Collection[str]) -> bool:
        """Whether a name is a person's full name: of a given name and others, or that of a speaker."""
        words = slot.split()
        if self.entities[slot].metadata.get("form", NAME) != NAME or not _FEWEST <= len(words) <= _MOST:
            return False
        if not all(word.isalpha() for word in words):
            return False
        return slot in speakers or (is_given_name(words[0]) and words[-1] not in PLACES_AND_INSTITUTIONS)

    def _used(self, alias: str, full: str) -> list[AliasEvidence]:
        """Where the alias stands alone; nothing if that is ever outside of the sessions that tell the full name."""
        told = {self.texts[one].session for one in self.holders.get(full, ())} - {None}
        alone = sorted(self.holders.get(alias, set()) - self.holders.get(full, set()))
        if any(self.texts[one].session not in told for one in alone):
            return []
        return [AliasEvidence(self.texts[one].key, gist_of(self.texts[one].content)) for one in alone]


def _sharing(slots: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for slot in slots:
        words = slot.split()
        if len(words) > 1 and "and" not in words:
            for word in set(words):
                found[word].append(slot)
    return found


def _within(part: str, whole: str) -> bool:
    """Whether the words of one name stand in another in a row, or the other way round."""
    return f" {part} " in f" {whole} " or f" {whole} " in f" {part} "
