"""A pack taken into a store: its behaviours made, renewed, brought back or dropped, as one operation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.words import TRUST
from priming.core.arguments.checks import check_choice, check_path
from priming.embedding.protocol import Vectors
from priming.errors import Conflict
from priming.history.log import current_version, succeeding_rows
from priming.maintenance.merge import REPLACED
from priming.namespace import Namespace
from priming.remember.drafts import Draft
from priming.remember.planner import RememberPlan, embed_drafts
from priming.remember.relink import relink
from priming.rules.pack_file import OWN_HISTORY, Origin, PackFile, PackRule, read_pack
from priming.rules.packs import BEHAVIOR, INSTALL, PackMembers, describe, links_among, members
from priming.rules.results import Pack
from priming.storage.protocol import VersionKey
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.types import MemoryRecord


def pack_install(memory: Namespace, path: str | Path, *, trust: str = "tool") -> Pack:
    """Take in the behaviours of a pack, under ``NAME/KEY``; another version of it that is there is replaced.

    The same version again changes nothing: the answer has no operation then.

    Args:
        path: the file.
        trust: how far its author is trusted; below ``agent`` its behaviours are shown as data, never as rules.

    Raises:
        ParamError: a file that is no pack, with everything that is wrong with it.
        SchemaTooNew: the file was written by a newer Priming.
        Conflict: a key of the pack names a memory that is not of it.

    """
    path = check_path(path)
    trust = check_choice("trust", trust, TRUST)
    pack = read_pack(path)
    drafts = [_draft(pack.origin, one, trust) for one in pack.rules]
    vectors = embed_drafts(drafts, memory.embedder)
    with memory.writing() as now:
        there = members(memory, now, pack.name)
        if there.current == pack.version and there.active:
            return describe(memory, there)
        installing = PackInstallation(memory, pack, there, now)
        installing.take(drafts, vectors)
        logged = memory.write(
            INSTALL,
            now,
            installing.rows,
            vectors=installing.vectors,
            source=pack.origin.source,
            reason=pack.description or None,
            message=f"{pack.name} {pack.version}: {installing.counted()}",
        )
        done = describe(memory, members(memory, now, pack.name))
    return replace(done, operation=logged.id, metadata=installing.counts)


def _draft(origin: Origin, one: PackRule, trust: str) -> Draft:
    return Draft(
        one.content,
        heading=one.heading,
        kind=BEHAVIOR,
        key=origin.key(one.key),
        tags=one.tags,
        metadata={} if one.rule is None else {"rule": one.rule},
        when=one.when,
        importance=one.importance,
        source=origin.source,
        trust=trust,
    )


@dataclass
class PackInstallation:
    """The rows that install a pack over what is there of it."""

    memory: Namespace
    pack: PackFile
    there: PackMembers
    now: datetime
    rows: list[RowChange] = field(default_factory=list)
    vectors: dict[VersionKey, bytes] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    """By the pack's own keys, the ids of its behaviours."""
    plan: RememberPlan = field(init=False)
    _brought: dict[str, PackRule] = field(default_factory=dict, init=False)
    _relinked: list[RowChange] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        memory = self.memory
        self.plan = RememberPlan(
            memory.store, memory.working(self.now), memory.embedder, self.now, memory.echo
        )

    def take(self, drafts: Sequence[Draft], vectors: Vectors) -> None:
        """Plan everything: what is new, what is there already, what is gone, and the links."""
        prefix = self.pack.origin.key("")
        known = {one.key.removeprefix(prefix): one for one in self.there.all}
        keys = [one.key for one in self.pack.rules]
        self._make([i for i, key in enumerate(keys) if key not in known], drafts, vectors)
        states = self._states([known[key].id for key in keys if key in known])
        for i, key in enumerate(keys):
            if key in known:
                self.ids[key] = known[key].id
                self._renew(known[key], drafts[i], vectors[i])
                self._bring_back(known[key], states[known[key].id])
        self._drop([known[key].id for key in known.keys() - set(keys)])
        made = [_with_standing(change, self._brought) for change in self.plan.rows]
        self.rows += [*made, *self._relinked]
        self._link()

    def counted(self) -> str:
        """What the installation does, in words."""
        return ", ".join(f"{number} {what}" for what, number in self.counts.items()) or "nothing new"

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def _make(self, fresh: Sequence[int], drafts: Sequence[Draft], vectors: Vectors) -> None:
        """New behaviours, with the names that they mention; they are not linked to what is like them."""
        if not fresh:
            return
        memory = self.memory
        taken = memory.store.keys(
            memory.namespace, [self.pack.origin.key(self.pack.rules[i].key) for i in fresh]
        )
        if taken:
            raise Conflict(
                f"the keys {', '.join(map(repr, sorted(taken)))} are taken by memories that are not of the pack"
                f" {self.pack.name!r}: purge these, or give the pack another name"
            )
        plan = self.plan
        plan.add_all([drafts[i] for i in fresh], vectors[fresh], nearest=False)
        for i, planned in zip(fresh, plan.results, strict=True):
            rule = self.pack.rules[i]
            self.ids[rule.key] = planned.id
            self._brought[planned.id] = rule
            self._count("added")
        self.vectors |= plan.vectors

    def _states(self, ids: Collection[str]) -> dict[str, MemoryRow]:
        return {one.id: one for one in self.memory.store.memories(self.memory.namespace, ids)}

    def _renew(self, known: MemoryRecord, wanted: Draft, vector: NDArray[np.float32]) -> None:
        """What a behaviour that is there says, and where it is from."""
        old = current_version(self.memory, known)
        at = max(self.now, old.recorded_at)
        if _says(known) != _says(wanted):
            changes, version = succeeding_rows(self.memory, old, wanted, at, max(at, old.valid_from or at))
            self.rows += changes
            self._relinked += relink(self.plan, old, wanted, vector)
            if vector.any():
                self.vectors[known.id, version.version] = vector.astype("<f4").tobytes()
            self._count("changed")
        elif (old.source, old.trust) != (wanted.source, wanted.trust):
            self.rows += self._restated(old, wanted, at)

    def _bring_back(self, known: MemoryRecord, state: MemoryRow) -> None:
        """A behaviour that is out of recall: it comes back, or stays out as somebody wanted."""
        if self.there.returns(known):
            self.rows.append(RowChange(state, replace(state, status="active")))
            links = self.memory.store.links(self.memory.namespace, [known.id])
            instead = [one for one in links if one.source == known.id and one.relation in REPLACED]
            self.rows += [RowChange(one, None) for one in instead]
            self._count("brought back")
        elif known.status != "active":
            self._count("left out as before")

    def _restated(self, old: VersionRow, wanted: Draft, at: datetime) -> list[RowChange]:
        """The same version, from another source: a row of a version is never edited, only followed by another."""
        last = max(one.revision for one in self.memory.store.versions(self.memory.namespace, old.id))
        again = replace(old, revision=last + 1, recorded_at=at, source=wanted.source, trust=wanted.trust)
        return [RowChange(old, replace(old, retired_at=at)), RowChange(None, again)]

    def _drop(self, ids: Collection[str]) -> None:
        """What the new version no longer has."""
        for state in self._states(ids).values():
            if state.status == "active":
                self.rows.append(RowChange(state, replace(state, status="deprecated")))
                self._count("deprecated")

    def _link(self) -> None:
        """The links of the pack; one that is there keeps its weight, one that rules made and it lacks goes."""
        members = set(self.ids.values())
        there = {(one.source, one.target, one.relation): one for one in links_among(self.memory, members)}
        wanted = {
            (self.ids[one.source], self.ids[one.target], one.relation): one.weight for one in self.pack.ties
        }
        self.rows += [
            RowChange(row, None)
            for ends, row in there.items()
            if ends not in wanted and not row.given and row.relation not in OWN_HISTORY
        ]
        self.rows += [
            RowChange(None, LinkRow(*ends, weight, self.now))
            for ends, weight in wanted.items()
            if ends not in there
        ]


def _says(one: MemoryRecord | Draft) -> tuple[Any, ...]:
    """What a behaviour says, and when."""
    return one.content, one.heading, dict(one.when), one.tags, dict(one.metadata), one.importance


def _with_standing(change: RowChange, brought: Mapping[str, PackRule]) -> RowChange:
    """The change that makes a memory, with what the pack says of its standing."""
    row = change.after
    if isinstance(row, MemoryRow) and row.id in brought:
        rule = brought[row.id]
        return RowChange(None, replace(row, priority=rule.priority, confidence=rule.confidence))
    return change
