"""What each stage reads, and the plan that it makes of it; nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.engine.arrays import NONE
from priming.engine.merging import LEARNED, RANKED, Merging
from priming.engine.opened import Opened
from priming.engine.sleep import decay, light, link, prune, skill
from priming.engine.sleep.checks import Surroundings, leaves
from priming.engine.sleep.clusters import centroid
from priming.engine.sleep.deep import SOURCE, Deep, Known
from priming.engine.sleep.gist import Teller
from priming.engine.sleep.planned import (
    CONFLICTS,
    DUPLICATE_OF,
    SOURCE_OF,
    Conflicts,
    Planned,
    Step,
    is_duplicate,
)
from priming.engine.sleep.steps import steps_of
from priming.filters import parse
from priming.llm.protocol import Agent
from priming.params import SleepParams
from priming.store.rows import MemoryRow, VersionRow
from priming.types import MemoryRecord
from priming.words import KINDS

Plan = Callable[[Step], list[Planned]]
"""A plan over what was read; of the store it still asks for the versions of what it is going to change."""

_RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class Reading:
    """A namespace as one stage finds it."""

    opened: Opened
    now: datetime
    params: SleepParams
    agent: Agent | None = None

    def stage(self, name: str) -> Plan:
        """Read what a stage needs."""
        return _STAGES[name](self)

    def surroundings(self, planned: Sequence[Planned]) -> Surroundings:
        """What the items of a stage are checked against; of what is derived only that from what would leave."""
        if not planned:
            return Surroundings()
        leaving = {change.ends[0] for item in planned for change in item.rows if leaves(change)}
        links = self.opened.store.links(self.opened.namespace, leaving) if leaving else []
        derived = [(one.source, one.target) for one in links if one.relation == SOURCE_OF]
        derived += [(one.target, one.source) for one in links if one.relation == LEARNED]
        active = {one.id for one in self._rows({into for _, into in derived}) if one.status == "active"}
        ids = {one for item in planned for one in (*item.ids, item.into) if one is not None}
        return Surroundings(
            self.conflicts(),
            frozenset(source for source, into in derived if into in active),
            self.opened.store.names(self.opened.namespace, ids),
        )

    def conflicts(self) -> Conflicts:
        """The pairs of ids that contradict each other."""
        return frozenset(frozenset((one.source, one.target)) for one in self._links(CONFLICTS))

    def decay(self) -> Plan:
        """Links that were learnt from use."""
        links = self._links(decay.RELATION)
        return lambda _: decay.plan(links, self.now, self.opened.profile.plasticity)

    def light(self) -> Plan:
        """The latest episodes."""
        records = self._latest("episode", self.params.light_window)
        conflicts = self.conflicts()
        return lambda _: light.plan(records, self._versions, self.now, conflicts)

    def deep(self) -> Plan:
        """The latest episodes that say something new, their vectors, and the entities of earlier nights."""
        episodes = [one for one in self._latest("episode", self.params.window) if not is_duplicate(one)]
        deep = Deep(
            episodes,
            vectors_of(self.opened, self.now, [one.id for one in episodes]),
            self.opened.embedder.embed,
            self.now,
            self._entities(),
            self.conflicts(),
            self._is_taken,
            self.params,
            teller=Teller(self.agent, self.params),
        )

        def plan(step: Step) -> list[Planned]:
            deep.step = step
            return deep.plan()

        return plan

    def skill(self) -> Plan:
        """The procedures that are in use."""
        records = self._all("procedure")
        rows = {one.id: one for one in self._rows([one.id for one in records])}
        skills = [skill.Skill(one, rows[one.id], steps_of(one.content, one.metadata)) for one in records]
        conflicts = self.conflicts()
        return lambda step: self._unsettled(
            lambda settled: skill.plan(
                skills,
                self._versions,
                self.opened.embedder.embed,
                self.now,
                conflicts=conflicts,
                settled=settled,
                params=self.params,
                step=step,
            )
        )

    def prune(self) -> Plan:
        """Memories that verdicts spoke against, and those that weigh nothing."""
        store, namespace = self.opened.store, self.opened.namespace
        judged = {one.id for one in store.memories(namespace) if prune.is_ineffective(one, self.params)}
        condition = parse({"importance": 0, f"metadata.{DUPLICATE_OF}": {"exists": True}})
        ids = judged.union(store.matching(namespace, condition, self.now))
        records = store.records(namespace, ids, self.now) if ids else {}
        candidates = [prune.Candidate(records[one.id], one) for one in self._rows(records)]
        said = [str(one.metadata[DUPLICATE_OF]) for one in records.values() if is_duplicate(one)]
        kept = self._rows(set(store.keys(namespace, said).values()))
        originals = {one.key for one in kept if one.status == "active"}
        return lambda _: self._unsettled(
            lambda settled: prune.plan(
                candidates, self.now, originals=originals, settled=settled, params=self.params
            )
        )

    def likeness(self) -> Plan:
        """Failures and patterns to merge, and all vectors."""
        twins, space = self._twins(), self._space()
        linked, conflicts = self._linked(space), self.conflicts()

        def plan(step: Step) -> list[Planned]:
            merges = self._unsettled(
                lambda settled: link.plan_merges(
                    [one for one in twins if one.row.id not in settled],
                    self._merging,
                    self.now,
                    conflicts=conflicts,
                    params=self.params,
                )
            )
            gone = {one for item in merges for one in (*item.ids, item.into) if one is not None}
            return merges + link.plan_links(space, linked | gone, self.now, params=self.params, step=step)

        return plan

    def _linked(self, space: link.Space) -> set[str]:
        """What has a ``similar-to`` link; the store is asked of those that the graph in use has none of."""
        working, store = self.opened.working(self.now), self.opened.store
        graph = working.topology
        some = graph.alive.values & (graph.relation.values == graph.code(link.SIMILAR))
        ends = np.union1d(graph.source.values[some], graph.target.values[some])
        found = {working.ids[row] for row in ends.tolist()}
        rest = [one for one in space.ids if one not in found]
        links = store.links(self.opened.namespace, rest, link.SIMILAR) if rest else []
        return found.union(*((one.source, one.target) for one in links))

    def _links(self, relation: str) -> list[Any]:
        return self.opened.store.links(self.opened.namespace, relation=relation)

    def _rows(self, ids: Collection[str]) -> list[MemoryRow]:
        return self.opened.store.memories(self.opened.namespace, ids) if ids else []

    def _versions(self, memory_id: str) -> Sequence[VersionRow]:
        with self.opened.lock:
            return self.opened.store.versions(self.opened.namespace, memory_id)

    def _is_taken(self, key: str) -> bool:
        with self.opened.lock:
            return bool(self.opened.store.keys(self.opened.namespace, [key]))

    def _merging(self, ids: Collection[str]) -> Merging:
        with self.opened.lock:
            ranked = [one for relation in RANKED for one in self._links(relation)]
            return Merging(self._rows(ids), self.opened.store.links(self.opened.namespace, ids), ranked)

    def _latest(self, kind: str, most: int) -> list[MemoryRecord]:
        """The latest active memories of a kind, oldest first."""
        working = self.opened.working(self.now)
        rows = np.flatnonzero(working.alive.values & (working.kind.values == KINDS.index(kind)))[-most:]
        ids = [working.ids[row] for row in rows]
        found = self.opened.store.records(self.opened.namespace, ids, self.now) if ids else {}
        return [found[one] for one in ids if one in found and found[one].status == "active"]

    def _all(self, *kinds: str) -> list[MemoryRecord]:
        return self.opened.store.page(self.opened.namespace, self.now, kinds=kinds, limit=None)

    def _entities(self) -> list[Known]:
        """The entities that earlier nights made, whatever became of them since."""
        members: dict[str, set[str]] = {}
        for one in self._links(SOURCE_OF):
            members.setdefault(one.target, set()).add(one.source)
        found = []
        for row in self._rows(members):
            versions = self._versions(row.id)
            if row.kind == "entity" and versions[0].source == SOURCE:
                ids = sorted(members[row.id])
                vectors = vectors_of(self.opened, self.now, ids).astype(np.float64)
                found.append(Known(row, versions, frozenset(ids), centroid(vectors)))
        return found

    def _unsettled(self, plan: Callable[[Collection[str]], list[Planned]]) -> list[Planned]:
        """A plan that takes nothing out of recall that somebody brought back: who decided is not asked again."""
        settled: set[str] = set()
        while True:
            planned = plan(settled)
            again = self._restored({one for item in planned for one in item.ids}) - settled
            if not again:
                return planned
            settled |= again

    def _restored(self, ids: Collection[str]) -> set[str]:
        store, namespace = self.opened.store, self.opened.namespace
        with self.opened.lock:
            return {
                one
                for one in ids
                for told in store.operations(namespace, memory_id=one, kind=_RESTORE, limit=None)
                if told.undone_by is None
            }

    def _twins(self) -> list[link.Twin]:
        records = self._all(*link.MERGED_KINDS)
        rows = {one.id: one for one in self._rows([one.id for one in records])}
        vectors = vectors_of(self.opened, self.now, [one.id for one in records])
        return [link.Twin(one, rows[one.id], vector) for one, vector in zip(records, vectors, strict=True)]

    def _space(self) -> link.Space:
        working = self.opened.working(self.now)
        living = np.flatnonzero(working.living.values)
        rows = working.row.values[living]
        vectors = working.vectors.packed()[living]
        kinds = [KINDS[int(kind)] for kind in working.kind.values[rows]]
        return link.Space([working.ids[row] for row in rows], kinds, vectors)


def vectors_of(opened: Opened, now: datetime, ids: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of some memories, rows of zeros for those that have none."""
    working = opened.working(now)
    found = np.zeros((len(ids), opened.embedder.dimension), np.float32)
    for i, one in enumerate(ids):
        row = working.row_of.get(one, NONE)
        document = NONE if row == NONE else int(working.document[row])
        if document != NONE:
            found[i] = working.vectors[document]
    return found


_STAGES: Mapping[str, Callable[[Reading], Plan]] = {
    "decay": Reading.decay,
    "light": Reading.light,
    "deep": Reading.deep,
    "skill": Reading.skill,
    "prune": Reading.prune,
    "link": Reading.likeness,
}
