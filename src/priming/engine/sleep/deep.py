"""deep: episodes that belong together make an entity that says what they have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.core.check import Floats
from priming.core.trust import least
from priming.engine.columns import Ints
from priming.engine.draft import Draft
from priming.engine.ids import free_key, gist_of, slug, uuid7
from priming.engine.sleep.clusters import centroid, clusters
from priming.engine.sleep.planned import (
    SOURCE_OF,
    Conflicts,
    Planned,
    Step,
    known,
    restated,
    succeeded,
    without_conflicts,
)
from priming.engine.sleep.theme import Embed, Theme, Window, gist
from priming.params import FORGETTING, PLASTICITY, SLEEP, SleepParams
from priming.store.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.types import MemoryRecord

SOURCE = "sleep"
"""The source of what sleep wrote itself."""
_WRITTEN = "written"
"""Where metadata holds the digest of what sleep wrote: a text that somebody changed since is left alone."""


@dataclass(frozen=True, slots=True)
class Known:
    """An entity that an earlier night made: its state, its versions, the ids of its episodes, and their centroid."""

    memory: MemoryRow
    versions: Sequence[VersionRow]
    members: frozenset[str]
    centre: Floats


@dataclass
class Deep:
    """The plan of one window: ``episodes`` oldest first, and their vectors, rows of zeros where there is none."""

    episodes: Sequence[MemoryRecord]
    vectors: NDArray[Any]
    embed: Embed
    now: datetime
    entities: Sequence[Known] = ()
    conflicts: Conflicts = frozenset()
    taken: Callable[[str], bool] = field(default=lambda _: False)
    params: SleepParams = SLEEP
    step: Step | None = None

    def plan(self) -> list[Planned]:
        """Entities that are made of clusters, or updated by them; what belongs nowhere stays as it is."""
        found = clusters(self.vectors, self.params.cluster, self.params, self.step)
        if not found:
            return []
        window = Window(self.episodes)
        lengths = np.linalg.norm(self.vectors.astype(np.float64), axis=1, keepdims=True)
        units = self.vectors / np.where(lengths > 0.0, lengths, 1.0)
        keys: set[str] = set()
        planned = []
        for together, entity in self._matched(found, units):
            rows = self._at_peace(together, units)
            if len(rows) < self.params.cluster:
                continue
            if entity is None:
                one: Planned | None = self._made(
                    window.theme(rows, units, self.embed, self.params), rows, keys
                )
            else:
                one = self._updated(entity, rows, units)
            planned += [] if one is None else [one]
        return planned

    def _at_peace(self, rows: Ints, units: Floats) -> Ints:
        """A cluster without those that contradict a member nearer to its centroid."""
        nearest = rows[np.argsort(-(units[rows] @ centroid(units[rows])), kind="stable")]
        kept = set(without_conflicts([self.episodes[row].id for row in nearest], self.conflicts))
        return np.array([row for row in rows if self.episodes[row].id in kept], np.int64)

    def _is_at_peace(self, one: MemoryRecord, entity: Known) -> bool:
        """Whether an episode contradicts none that the entity is about already."""
        return not any(frozenset((one.id, other)) in self.conflicts for other in entity.members)

    def _matched(self, found: Sequence[Ints], units: Floats) -> list[tuple[Ints, Known | None]]:
        """Each cluster with the entity that it made before, if any; clusters of one entity are one."""
        new: list[tuple[Ints, Known | None]] = []
        again: dict[str, tuple[Ints, Known]] = {}
        for rows in found:
            entity = self._before({self.episodes[row].id for row in rows}, centroid(units[rows]))
            if entity is None:
                new.append((rows, None))
                continue
            others, _ = again.get(entity.memory.id, (rows, entity))
            again[entity.memory.id] = np.union1d(others, rows), entity
        return [*again.values(), *new]

    def _before(self, ids: set[str], centre: Floats) -> Known | None:
        """The entity that most of the members are of already, else one whose episodes are where they are."""
        best, found = (0, 0.0), None
        for entity in self.entities:
            shared, near = len(ids & entity.members), float(centre @ entity.centre)
            is_of = 2 * shared >= min(len(ids), len(entity.members)) > 0
            if (is_of or near >= self.params.tight) and (shared, near) > best:
                best, found = (shared, near), entity
        return found

    def _confidence(self, rows: Ints) -> float:
        return min(1.0, len(rows) / len(self.episodes))

    def _made(self, theme: Theme, rows: Ints, keys: set[str]) -> Planned:
        members = [self.episodes[row] for row in rows]
        heading, wanted = self._named(theme, keys)
        draft = Draft(
            theme.text,
            heading=heading,
            kind="entity",
            metadata={"form": theme.form, _WRITTEN: _digest(heading, theme.text)},
            source=SOURCE,
            trust=least(one.trust for one in members),
        )
        memory_id = uuid7(self.now)
        key = free_key(wanted, memory_id, lambda one: one in keys or self.taken(one))
        keys.add(key)
        memory = MemoryRow(
            memory_id,
            key,
            "entity",
            weight=PLASTICITY.start,
            confidence=self._confidence(rows),
            endurance=FORGETTING.initial_stability,
        )
        version = VersionRow(
            memory_id,
            1,
            self.now,
            draft.content,
            gist_of(draft.content),
            draft.digest,
            heading=draft.heading,
            metadata=draft.metadata,
            source=draft.source,
            trust=draft.trust,
        )
        changes = [RowChange(None, memory), RowChange(None, version), *self._links(members, memory_id)]
        reason = f"{len(members)} of the last {len(self.episodes):,} episodes are about {heading}"
        return Planned(
            "make",
            tuple(one.id for one in members),
            memory_id,
            reason,
            self._evidence(heading, theme.form, theme.text, members, memory.confidence),
            tuple(changes),
        )

    def _named(self, theme: Theme, keys: Collection[str]) -> tuple[str, str]:
        """The heading of a new entity and the key that it wants: longer by a word where another has that name."""
        wanted = f"{theme.form}:{slug(theme.heading)}"
        if theme.word is None or not (wanted in keys or self.taken(wanted)):
            return theme.heading, wanted
        heading = f"{theme.heading}: {theme.word}"
        return heading, f"{theme.form}:{slug(heading)}"

    def _updated(self, entity: Known, rows: Ints, units: Floats) -> Planned | None:
        """What a cluster adds to the entity that is there; nothing where it adds nothing, or somebody took it out."""
        members = [self.episodes[row] for row in rows]
        fresh = [one for one in members if one.id not in entity.members and self._is_at_peace(one, entity)]
        if entity.memory.status != "active":
            return None
        old = known(entity.versions, max(one.version for one in entity.versions))
        text = gist(members, units[rows], self.embed, self.params.central)
        changes = self._reworded(entity, old, text, least([old.trust, *(one.trust for one in members)]))
        if not fresh and not changes:
            return None
        confidence = self._confidence(rows)
        after = replace(entity.memory, confidence=confidence)
        if after != entity.memory:
            changes.append(RowChange(entity.memory, after))
        changes += self._links(fresh, entity.memory.id)
        last = next((c.row for c in reversed(changes) if isinstance(c.after, VersionRow)), old)
        assert isinstance(last, VersionRow), "chosen as one"
        heading, form = old.heading or old.gist, str(old.metadata.get("form"))
        return Planned(
            "update",
            tuple(one.id for one in fresh),
            entity.memory.id,
            f"{len(fresh)} more about {heading}"
            if fresh
            else f"another sentence says best what {heading} is about",
            self._evidence(heading, form, last.content, members, confidence),
            tuple(changes),
        )

    def _reworded(self, entity: Known, old: VersionRow, text: str, trust: str) -> list[RowChange]:
        """The entity's text and trust, where they change."""
        by_hand = old.metadata.get(_WRITTEN) != _digest(old.heading, old.content)
        if not by_hand and text != old.content:
            digest = Draft(text, heading=old.heading, kind="entity").digest
            written = {**old.metadata, _WRITTEN: _digest(old.heading, text)}
            return succeeded(
                entity.versions,
                old,
                self.now,
                content=text,
                gist=gist_of(text),
                digest=digest,
                metadata=written,
                trust=trust,
            )
        return restated(entity.versions, old, self.now, trust=trust) if trust != old.trust else []

    def _links(self, members: Sequence[MemoryRecord], entity: str) -> list[RowChange]:
        return [
            RowChange(None, LinkRow(one.id, entity, SOURCE_OF, PLASTICITY.start, self.now)) for one in members
        ]

    def _evidence(
        self, heading: str, form: str, text: str, members: Sequence[MemoryRecord], confidence: float
    ) -> Mapping[str, Any]:
        return {
            "heading": heading,
            "form": form,
            "text": text,
            "members": len(members),
            "window": len(self.episodes),
            "confidence": confidence,
        }


def _digest(heading: str | None, text: str) -> str:
    return hashlib.blake2b(f"{heading}\n{text}".encode(), digest_size=8).hexdigest()
