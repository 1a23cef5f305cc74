"""The stage ``deep``: clusters the latest episodes, and makes or updates an entity with the gist of each cluster.

Episodes are linked to their entity by ``source-of`` and stay as they are. It never joins episodes that contradict
each other, and never overwrites a gist that somebody edited. Clusters are HDBSCAN's, in batches, and checked to be of
similar members.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field, replace
from datetime import datetime
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import ClusterParams
from priming.config.params.limits import SLEEP
from priming.config.values import dataclass
from priming.config.words import least
from priming.core.arguments.arrays import Floats, Ints, unit_rows
from priming.core.arguments.normal_forms import slug
from priming.errors import MissingExtra
from priming.remember.drafts import valid_row
from priming.sleep.entities import KnownEntity, author_of, new_entity, rewrite_entity, source_links
from priming.sleep.gist import (
    HAND,
    MODEL,
    Embed,
    EpisodeWindow,
    Gist,
    GistWriter,
    Theme,
    central_sentence,
    centroid,
)
from priming.sleep.plan import Conflicts, Planned, PlannedItem, ProgressStep, opponents_of, without_conflicts
from priming.sleep.procedures import differing
from priming.storage.rows import RowChange, VersionRow
from priming.text.statements.judge import judge, subjects
from priming.text.statements.reader import read
from priming.text.statements.words import opposite
from priming.types import LeftAlone, MemoryRecord

_CLUSTERS = ClusterParams()


@dataclass
class DeepStage:
    """The plan of one window: ``episodes`` oldest first, and their vectors, rows of zeros without a vector."""

    episodes: Sequence[MemoryRecord]
    vectors: NDArray[Any]
    embed: Embed
    now: datetime
    entities: Sequence[KnownEntity] = ()
    conflicts: Conflicts = frozenset()
    taken: Callable[[str], bool] = field(default=lambda _: False)
    step: ProgressStep | None = None
    params: ClusterParams = _CLUSTERS
    writer: GistWriter = field(default_factory=GistWriter)

    def plan(self) -> list[Planned]:
        """Plan new entities from clusters, and updates of entities by them; other episodes stay as they are."""
        groups = cluster_rows(self.vectors, self.step, self.params)
        if not groups:
            return []
        window = EpisodeWindow(self.episodes)
        units = unit_rows(self.vectors.astype(np.float64))
        keys: set[str] = set()
        planned: list[Planned] = []
        matched = self._match_entities(groups, units)
        for number, (together, entity) in enumerate(matched):
            if self.step is not None:
                self.step(number, len(matched))
            rows, left_alone = self._without_contradictions(together, units, entity)
            planned += left_alone
            if len(rows) < self.params.min_occurrences:
                continue
            if entity is None:
                theme = window.theme(rows, units, self.embed)
                summary = self._gist(rows, units, theme.text)
                item: PlannedItem | None = self._new_entity(theme, summary, rows, keys)
            else:
                item = self._update_entity(entity, rows, units)
            planned += [] if item is None else [item]
        return planned

    def _without_contradictions(
        self, rows: Ints, units: Floats, entity: KnownEntity | None
    ) -> tuple[Ints, list[LeftAlone]]:
        """Return a cluster without the episodes that contradict a member nearer to its centroid, or say its opposite.

        Episodes that the entity has already come first. Those that say the opposite are left alone.
        """
        members = frozenset[str]() if entity is None else entity.members
        nearest = [self.episodes[row] for row in _nearest(rows, units)]
        nearest.sort(key=lambda episode: episode.id not in members)
        opposed_pairs = self._opposed(rows, units)
        conflicts = self.conflicts.union(opposed_pairs)
        compatible = set(without_conflicts([episode.id for episode in nearest], conflicts))
        left_alone = []
        for episode in nearest:
            if episode.id not in compatible and episode.id not in members:
                pair = next(
                    (pair for pair in opposed_pairs if episode.id in pair and pair & compatible), None
                )
                if pair is not None:
                    (other,) = pair - {episode.id}
                    left_alone.append(LeftAlone((other, episode.id), *opposed_pairs[pair]))
        return np.array([row for row in rows if self.episodes[row].id in compatible], np.int64), left_alone

    def _opposed(self, rows: Ints, units: Floats) -> dict[frozenset[str], tuple[str, tuple[str, ...]]]:
        """Return a cluster's pairs of episodes that say the opposite, and near ones that answer a question two ways.

        Each with the reason and the words; an episode is compared with those that are nearest to it. Other counts
        keep no two apart: what happened a third time is of one theme with what happened twice.
        """
        pairs = {}
        cosines = units[rows] @ units[rows].T
        for a, b in _nearest_pairs(cosines):
            left, right = self.episodes[rows[a]], self.episodes[rows[b]]
            if left.content != right.content:
                judgement = judge(left.content, right.content)
                removed, added = map(" ".join, (judgement.removed, judgement.added))
                is_near = cosines[a, b] >= SLEEP.tight
                is_changed, is_unclear = (judgement.kind == kind for kind in ("changes", "unclear"))
                # What the words leave open is the opposite only where two say the same but for a few of them.
                is_alike = is_near and len(judgement.shared) > len(judgement.removed) + len(judgement.added)
                turned = (is_changed or (is_unclear and is_alike)) and _is_reversed(
                    left.content, right.content
                )
                turned |= is_changed and is_near and not (removed and added)
                valued = (
                    is_near
                    and judgement.kind in ("changes", "unclear")
                    and subjects(removed) & subjects(added)
                )
                if turned or valued:
                    words = differing([left.content], [right.content])
                    pairs[frozenset((left.id, right.id))] = judgement.reason, words
        return pairs

    def _match_entities(self, groups: Sequence[Ints], units: Floats) -> list[tuple[Ints, KnownEntity | None]]:
        """Return each cluster with its entity of an earlier night, if any; clusters of one entity are joined."""
        new: list[tuple[Ints, KnownEntity | None]] = []
        again: dict[str, tuple[Ints, KnownEntity]] = {}
        for rows in groups:
            entity = self._matching_entity({self.episodes[row].id for row in rows}, centroid(units[rows]))
            if entity is None:
                new.append((rows, None))
                continue
            others, _ = again.get(entity.memory.id, (rows, entity))
            again[entity.memory.id] = np.union1d(others, rows), entity
        return [*again.values(), *new]

    def _matching_entity(self, ids: set[str], centre: Floats) -> KnownEntity | None:
        """Return the entity that shares most of the members, else that with the nearest centroid, if near enough."""
        best, match = (0, 0.0), None
        for entity in self.entities:
            shared, near = len(ids & entity.members), float(centre @ entity.centre)
            is_shared = 2 * shared >= min(len(ids), len(entity.members)) > 0
            if (is_shared or near >= SLEEP.tight) and (shared, near) > best:
                best, match = (shared, near), entity
        return match

    def _gist(self, rows: Ints, units: Floats, extractive: str) -> Gist:
        central = _nearest(rows, units)[: SLEEP.central]
        return self.writer.gist([self.episodes[row] for row in central], extractive)

    def _confidence(self, rows: Ints) -> float:
        return min(1.0, len(rows) / len(self.episodes))

    def _new_entity(self, theme: Theme, summary: Gist, rows: Ints, keys: set[str]) -> PlannedItem:
        members = [self.episodes[row] for row in rows]
        heading, key = self._heading_and_key(theme, keys)
        confidence, named = self._confidence(rows), (heading, theme.form, key)
        changes = new_entity(named, summary, members, self.now, keys, self.taken, confidence)
        reason = f"{len(members)} of the last {len(self.episodes):,} episodes are about {heading}"
        return PlannedItem(
            "make",
            tuple(member.id for member in members),
            changes[0].ends[0],
            reason,
            self._evidence(heading, theme.form, summary.text, members, confidence) | summary.evidence,
            tuple(changes),
        )

    def _heading_and_key(self, theme: Theme, keys: Collection[str]) -> tuple[str, str]:
        """Return the heading and key of a new entity, longer by a word if the key is in use."""
        key = f"{theme.form}:{slug(theme.heading)}"
        if theme.word is None or not (key in keys or self.taken(key)):
            return theme.heading, key
        heading = f"{theme.heading}: {theme.word}"
        return heading, f"{theme.form}:{slug(heading)}"

    def _update_entity(self, entity: KnownEntity, rows: Ints, units: Floats) -> PlannedItem | None:
        """Return the update of an entity by a cluster; None if it adds nothing, or the entity is no longer active."""
        members = [self.episodes[row] for row in rows]
        opponents = opponents_of(self.conflicts)
        outside = [member for member in members if member.id not in entity.members]
        fresh = [member for member in outside if entity.members.isdisjoint(opponents.get(member.id, ()))]
        if entity.memory.status != "active":
            return None
        old = valid_row(entity.versions, self.now)
        summary = self._updated_gist(old, rows, units, is_changed=bool(fresh))
        trust = least([old.trust, *(member.trust for member in members), *summary.trusts])
        changes = rewrite_entity(entity.versions, old, summary, trust, self.now)
        if not fresh and not changes:
            return None
        confidence = self._confidence(rows)
        after = replace(entity.memory, confidence=confidence)
        if after != entity.memory:
            changes.append(RowChange(entity.memory, after))
        changes += source_links(fresh, entity.memory.id, self.now)
        last = next((c.row for c in reversed(changes) if isinstance(c.after, VersionRow)), old)
        assert isinstance(last, VersionRow), "chosen as one"
        heading, form = old.heading or old.gist, str(old.metadata.get("form"))
        return PlannedItem(
            "update",
            tuple(member.id for member in fresh),
            entity.memory.id,
            f"{len(fresh)} more about {heading}" if fresh else f"another text describes {heading} best",
            self._evidence(heading, form, last.content, members, confidence) | summary.evidence,
            tuple(changes),
        )

    def _updated_gist(self, old: VersionRow, rows: Ints, units: Floats, *, is_changed: bool) -> Gist:
        """Return the gist after an update: text by hand stays, as does an agent's while the members are the same."""
        by = author_of(old)
        if by == HAND:
            return Gist(old.content, HAND)
        if by == MODEL and not is_changed:
            return Gist(old.content, MODEL)
        members = [self.episodes[row] for row in rows]
        extractive = central_sentence(members, units[rows], self.embed, SLEEP.central)
        if extractive == old.content and not is_changed:
            return Gist(extractive)
        return self._gist(rows, units, extractive)

    def _evidence(
        self, heading: str, form: str, text: str, members: Sequence[MemoryRecord], confidence: float
    ) -> dict[str, Any]:
        return {
            "heading": heading,
            "form": form,
            "text": text,
            "members": len(members),
            "window": len(self.episodes),
            "confidence": confidence,
        }


def _nearest_pairs(cosines: Floats) -> list[tuple[int, int]]:
    """Return the pairs of rows, of each those with its nearest, so far as they are alike at all."""
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, : SLEEP.compared + 1]
    pairs = {
        (min(a, b), max(a, b))
        for a, others in enumerate(nearest.tolist())
        for b in others
        if a != b and cosines[a, b] >= SLEEP.alike
    }
    return sorted(pairs)


def _is_reversed(first: str, second: str) -> bool:
    """Tell whether one of two texts says a word of the other with the other sign, or its opposite."""
    ours, theirs = ({word.stem: word.sign for word in read(text).words} for text in (first, second))
    signs = any(theirs.get(stem, sign) != sign for stem, sign in ours.items())
    alone = ours.keys() - theirs.keys(), theirs.keys() - ours.keys()
    return signs or any(opposite(a, b) for a in alone[0] for b in alone[1])


def _nearest(rows: Ints, units: Floats) -> Ints:
    """Return the rows, those nearest to their centroid first."""
    nearest: Ints = rows[np.argsort(-(units[rows] @ centroid(units[rows])), kind="stable")]
    return nearest


EXTRA, LIBRARY = "sleep", "sklearn"
_NOISE = -1


def cluster_rows(
    vectors: NDArray[Any], step: ProgressStep | None = None, params: ClusterParams = _CLUSTERS
) -> list[Ints]:
    """Return the clusters of at least ``min_cluster_size`` rows of ``vectors``, each in order; all others are noise.

    Rows of zeros are in no cluster. Windows larger than a batch are clustered batch by batch, and clusters with near
    centroids are joined.

    Raises:
        MissingExtra: there are enough rows for a cluster, and the extra ``sleep`` is not installed.

    """
    nonzero = np.flatnonzero(np.any(vectors != 0.0, axis=1))
    units = unit_rows(vectors[nonzero].astype(np.float64))
    count = -(-len(units) // SLEEP.batch)
    groups: list[Ints] = []
    for number, batch in enumerate(np.array_split(np.arange(len(units)), max(count, 1)), start=1):
        groups += [batch[group] for group in _of_batch(units[batch], params)]
        if step is not None:
            step(number, max(count, 1))
    joined = _joined(units, groups, SLEEP.tight) if count > 1 else groups
    whole = (_coherent(units, group, SLEEP.coherent) for group in joined)
    return [nonzero[np.sort(group)] for group in whole if len(group) >= params.min_cluster_size]


def _of_batch(units: Floats, params: ClusterParams) -> Iterator[Ints]:
    if len(units) < params.min_cluster_size:
        return
    labels = _hdbscan(units, params)
    if np.all(labels == _NOISE):
        # A window with a single theme looks like noise to the first attempt.
        labels = _hdbscan(units, params, allow_single_cluster=True, cluster_selection_epsilon=SLEEP.epsilon)
        for members in _members(labels):
            if float((units[members] @ centroid(units[members])).min()) >= SLEEP.tight:
                yield members
        return
    yield from _members(labels)


def check_library() -> None:
    """Raise ``MissingExtra`` if the library of HDBSCAN is not installed."""
    if find_spec(LIBRARY) is None:
        raise MissingExtra(EXTRA, "the stage 'deep' of sleep")


def _hdbscan(units: Floats, params: ClusterParams, **settings: Any) -> Ints:
    check_library()
    from sklearn.cluster import HDBSCAN

    clustering = HDBSCAN(
        min_cluster_size=params.min_cluster_size,
        min_samples=min(params.min_samples, len(units)),
        metric="cosine",
        algorithm="brute",
        cluster_selection_method="eom",
        copy=True,
        **settings,
    )
    labels: Ints = clustering.fit(units).labels_
    return labels


def _members(labels: Ints) -> list[Ints]:
    return [np.flatnonzero(labels == label) for label in range(int(labels.max(initial=_NOISE)) + 1)]


def _joined(units: Floats, groups_of_batches: list[Ints], tight: float) -> list[Ints]:
    """Return the clusters of several batches, joined where their centroids are near, the largest first."""
    groups: list[Ints] = []
    centres = np.zeros((len(groups_of_batches), units.shape[1]))
    for group in sorted(groups_of_batches, key=lambda rows: (-len(rows), int(rows[0]))):
        here = centroid(units[group])
        cosines = centres[: len(groups)] @ here
        near = int(cosines.argmax()) if groups else _NOISE
        if near != _NOISE and cosines[near] >= tight:
            groups[near] = np.concatenate([groups[near], group])
            centres[near] = centroid(units[groups[near]])
        else:
            centres[len(groups)] = here
            groups.append(group)
    return groups


def _coherent(units: Floats, rows: Ints, least: float) -> Ints:
    """Return the rows of a cluster that are near the others on average; HDBSCAN also joins less distant noise."""
    if len(rows) < 2:
        return rows
    own = units[rows]
    near = (own @ own.sum(axis=0) - 1.0) / (len(rows) - 1)
    coherent: Ints = rows[near >= least]
    return coherent
