"""The reads of each stage: the method of ``StageReader`` of its name reads its arguments and returns its plan.

Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from priming.config.params.limits import SLEEP
from priming.config.values import dataclass
from priming.config.words import CONFLICTS, KINDS, LEARNED_FROM, SLEEP_SOURCE, SOURCE_OF, STRUCTURE
from priming.graph.merge_plan import MergePlan, plan_merge
from priming.index.topology import SIMILAR
from priming.learning.coactivation import RELATION
from priming.llm.protocol import Agent
from priming.namespace import Namespace
from priming.remember.drafts import current_row
from priming.remember.remember import missing_mentions
from priming.sleep import decay, link, skill
from priming.sleep.deep import DeepStage
from priming.sleep.entities import FAMILY, KnownEntity, is_family, vectors_of
from priming.sleep.gist import GistWriter, centroid
from priming.sleep.link import MergeCandidate, VectorSpace
from priming.sleep.plan import (
    DUPLICATE_OF,
    CheckContext,
    Conflicts,
    Planned,
    PlannedItem,
    ProgressStep,
    is_duplicate,
    leaves_recall,
)
from priming.sleep.procedures import ProcedureCandidate, read_procedure
from priming.storage.filters import parse
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.types import MemoryRecord

Plan = Callable[[ProgressStep], Sequence[Planned]]
"""A function that plans over what was read; it reads only the versions of the memories that it changes."""

_RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class StageReader:
    """A namespace at the time of one stage."""

    memory: Namespace
    now: datetime
    agent: Agent | None = None
    window: int = SLEEP.window

    def stage(self, name: str) -> Plan:
        """Read what the stage ``name`` needs, by the method of that name, and return its plan."""
        plan: Plan = getattr(self, name)()
        return plan

    def check_context(self, planned: Sequence[PlannedItem]) -> CheckContext:
        """Return the checks' context: contradictions, and those of the leaving memories that others derive from."""
        if not planned:
            return CheckContext()
        leaving = {change.ends[0] for item in planned for change in item.rows if leaves_recall(change)}
        links = self.memory.rows(LinkRow, ids=leaving)
        derived = [(link.source, link.target) for link in links if link.relation == SOURCE_OF]
        derived += [(link.target, link.source) for link in links if link.relation == LEARNED_FROM]
        rows = self.memory.rows(MemoryRow, ids={into for _, into in derived})
        active = {row.id for row in rows if row.status == "active"}
        ids = {link for item in planned for link in (*item.ids, item.into) if link is not None}
        return CheckContext(
            self.conflicts(),
            frozenset(source for source, into in derived if into in active),
            self.memory.names(ids=ids),
        )

    def conflicts(self) -> Conflicts:
        """Return the pairs of ids that contradict each other."""
        return frozenset(
            frozenset((link.source, link.target)) for link in self.memory.rows(LinkRow, relation=CONFLICTS)
        )

    def decay(self) -> Plan:
        """Read the links that fade by the profile's law: the co-activated ones, or all but structural ones."""
        profile = self.memory.profile
        if profile.learning.fading == "none":
            return lambda _: []
        if profile.learning.fading == "exponential":
            faint = self.memory.rows(LinkRow, relation=RELATION)
            return lambda _: decay.plan_decay(faint, self.now, profile.plasticity, profile.forgetting_params)
        links = [link for link in self.memory.rows(LinkRow) if link.relation not in STRUCTURE]
        faded_at = decay.fadings(self._nights(), links)
        return lambda _: decay.plan_linear_decay(links, self.now, faded_at, profile.forgetting_params)

    def _nights(self) -> Iterator[Logged]:
        """Yield the operations of sleep, newest first, read one at a time: the latest concerns most links."""
        before = None
        while page := self.memory.operations(kind="sleep", before=before, limit=1):
            yield page[0]
            before = page[0].number

    def light(self) -> Plan:
        """Read the latest episodes."""
        records = self._latest("episode", SLEEP.light_window)
        conflicts = self.conflicts()
        return lambda _: decay.plan_light(records, self._versions, self.now, conflicts)

    def deep(self) -> Plan:
        """Read the latest episodes that are not duplicates, their vectors, and the entities of earlier nights."""
        episodes = [episode for episode in self._latest("episode", self.window) if not is_duplicate(episode)]
        deep = DeepStage(
            episodes,
            vectors_of(self.memory, self.now, [episode.id for episode in episodes]),
            self.memory.embedder.embed,
            self.now,
            self._entities(),
            self.conflicts(),
            self._is_taken,
            params=self.memory.profile.clustering,
            writer=GistWriter(self.agent),
        )
        return lambda step: replace(deep, step=step).plan()

    def skill(self) -> Plan:
        """Read the active procedures, and the families of earlier nights."""
        skills = [
            ProcedureCandidate(record, row, read_procedure(record.heading, record.content, record.metadata))
            for record, row in self._all("procedure")
        ]
        conflicts = self.conflicts()
        families = list(self._made_by_sleep(families=True))
        return lambda step: self._without_restored(
            lambda restored: skill.SkillStage(
                skills,
                self._versions,
                self.memory.embedder.embed,
                self.now,
                conflicts,
                restored,
                families,
                self._is_taken,
                step,
            ).plan()
        )

    def prune(self) -> Plan:
        """Read the memories with bad verdicts, and the marked duplicates."""
        judged = {row.id for row in self.memory.rows(MemoryRow) if decay.is_ineffective(row)}
        condition = parse({"importance": 0, f"metadata.{DUPLICATE_OF}": {"exists": True}})
        ids = judged.union(self.memory.names(condition=condition, at=self.now))
        records = self.memory.records(self.now, ids=ids)
        candidates = [
            decay.PruneCandidate(record := records[row.id], row, self._marked_at(record))
            for row in self.memory.rows(MemoryRow, ids=records)
        ]
        original_keys = [str(row.metadata[DUPLICATE_OF]) for row in records.values() if is_duplicate(row)]
        rows = self.memory.rows(MemoryRow, ids=set(self.memory.ids_of(original_keys).values()))
        originals = {row.key for row in rows if row.status == "active"}
        return lambda _: self._without_restored(
            lambda restored: decay.plan_prune(candidates, self.now, originals=originals, restored=restored)
        )

    def _marked_at(self, record: MemoryRecord) -> datetime | None:
        """Return when a duplicate was marked: the mark restates its version, whose first row is older."""
        if not is_duplicate(record):
            return None
        return current_row(self._versions(record.id), record.version).recorded_at

    def link(self) -> Plan:
        """Read the failures and patterns to merge, and all vectors."""
        candidates, space = self._merge_candidates(), self._vector_space()
        linked, conflicts = self._linked(space), self.conflicts()
        texts = [
            memory_id for memory_id, kind in zip(space.ids, space.kinds, strict=True) if kind != "entity"
        ]

        def plan(step: ProgressStep) -> Sequence[Planned]:
            merges = self._without_restored(
                lambda restored: link.plan_merges(
                    [candidate for candidate in candidates if candidate.row.id not in restored],
                    self._merge_plan,
                    self.now,
                    conflicts=conflicts,
                )
            )
            items = [item for item in merges if isinstance(item, PlannedItem)]
            gone = {end for item in items for end in (*item.ids, item.into) if end is not None}
            links = link.plan_links(
                space,
                linked | gone,
                self.now,
                step=step,
                linking=self.memory.profile.linking,
            )
            named = link.plan_mentions(
                [text for text in texts if text not in gone],
                self._missing_mentions,
                self.now,
            )
            return [*merges, *links, *named]

        return plan

    def _missing_mentions(self, ids: Sequence[str], most: int) -> tuple[list[str], list[RowChange]]:
        """Return the links to names that these memories lack, read while nobody else uses the store."""
        with self.memory.lock, self.memory.store.transaction(write=False):
            return missing_mentions(self.memory, ids, self.now, most)

    def _linked(self, space: VectorSpace) -> set[str]:
        """Return the memories with a ``similar-to`` link: in the graph in memory, else in the store."""
        working = self.memory.working(self.now)
        graph = working.topology
        similar = graph.alive.values & (graph.relation.values == graph.code(SIMILAR))
        ends = np.union1d(graph.source.values[similar], graph.target.values[similar])
        linked = {working.ids[row] for row in ends.tolist()}
        rest = [memory_id for memory_id in space.ids if memory_id not in linked]
        links = self.memory.rows(LinkRow, ids=rest, relation=SIMILAR)
        return linked.union(*((memory_id.source, memory_id.target) for memory_id in links))

    def _versions(self, memory_id: str) -> Sequence[VersionRow]:
        with self.memory.lock:
            return self.memory.rows(VersionRow, ids=[memory_id])

    def _is_taken(self, key: str) -> bool:
        with self.memory.lock:
            return bool(self.memory.ids_of([key]))

    def _merge_plan(self, ids: Collection[str]) -> MergePlan:
        with self.memory.lock:
            return plan_merge(self.memory, ids)

    def _latest(self, kind: str, limit: int) -> list[MemoryRecord]:
        """Return the latest active memories of a kind, oldest first."""
        working = self.memory.working(self.now)
        rows = np.flatnonzero(working.alive.values & (working.kind.values == KINDS.index(kind)))[-limit:]
        ids = [working.ids[row] for row in rows]
        return list(self.memory.records(self.now, ids=ids, status="active").values())

    def _all(self, *kinds: str) -> list[tuple[MemoryRecord, MemoryRow]]:
        """Return the active memories of some kinds, with their rows."""
        records = self.memory.page_of(self.now, kinds=kinds)
        rows = {row.id: row for row in self.memory.rows(MemoryRow, ids=[record.id for record in records])}
        return [(record, rows[record.id]) for record in records]

    def _entities(self) -> list[KnownEntity]:
        """Return the entities of episodes that earlier nights made, in any status."""
        return [
            replace(
                entity,
                centre=centroid(vectors_of(self.memory, self.now, sorted(entity.members)).astype(np.float64)),
            )
            for entity in self._made_by_sleep(families=False)
        ]

    def _made_by_sleep(self, *, families: bool) -> Iterator[KnownEntity]:
        """Yield the families or other entities of earlier nights, with the ids of their sources."""
        members: dict[str, set[str]] = {}
        for edge in self.memory.rows(LinkRow, relation=SOURCE_OF):
            members.setdefault(edge.target, set()).add(edge.source)
        for row in self.memory.rows(MemoryRow, ids=members):
            versions = self._versions(row.id)
            is_ours = row.kind == "entity" and versions[0].source == SLEEP_SOURCE
            if is_ours and is_family(versions[-1].metadata) is families:
                yield KnownEntity(row, versions, frozenset(members[row.id]))

    def _without_restored(self, plan: Callable[[Collection[str]], Sequence[Planned]]) -> Sequence[Planned]:
        """Return a plan without memories that somebody restored: it is made again until it concerns none of them.

        A family takes nothing out of recall, so that it concerns what was restored too.
        """
        restored: set[str] = set()
        while True:
            planned = plan(restored)
            leaving = (item for item in planned if isinstance(item, PlannedItem) and item.action != FAMILY)
            newly_restored = self._restored({end for item in leaving for end in item.ids}) - restored
            if not newly_restored:
                return planned
            restored |= newly_restored

    def _restored(self, ids: Collection[str]) -> set[str]:
        with self.memory.lock:
            return {
                memory_id
                for memory_id in ids
                for operation in self.memory.operations(memory_id=memory_id, kind=_RESTORE)
                if operation.undone_by is None
            }

    def _merge_candidates(self) -> list[MergeCandidate]:
        memories = self._all(*link.MERGED_KINDS)
        vectors = vectors_of(self.memory, self.now, [row.id for _, row in memories])
        return [MergeCandidate(*pair, vector) for pair, vector in zip(memories, vectors, strict=True)]

    def _vector_space(self) -> VectorSpace:
        working = self.memory.working(self.now)
        living = np.flatnonzero(working.living.values)
        rows = working.row.values[living]
        vectors = working.vectors.packed()[living]
        kinds = [KINDS[int(kind)] for kind in working.kind.values[rows]]
        return VectorSpace([working.ids[row] for row in rows], kinds, vectors)
