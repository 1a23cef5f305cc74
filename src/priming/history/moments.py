"""The moment of a query, the namespace as it was then, and what answers say of versions that no longer hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime

from priming.config.values import dataclass
from priming.core.arguments.checks import check_time
from priming.errors import ParamError
from priming.namespace import Namespace
from priming.results import Hit
from priming.storage.filters import Combination, Comparison, Condition
from priming.storage.protocol import Store
from priming.storage.questions import activations

EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_SEVERAL = {"eq": "in", "in": "in", "ne": "nin", "nin": "nin"}
"""For comparisons of equality, those with several values."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """A superseded version: its memory, the end of its validity, the next version, and when that was stored."""

    id: str
    key: str
    valid_to: datetime
    followed_by: int
    retired_at: datetime


@dataclass(eq=False, repr=False)
class PastNamespace(Namespace):
    """A namespace as it was after the operation ``latest``, at the valid times from ``since`` up to ``until``.

    ``head`` is the operation up to which the present was checked for purges. ``outdated`` are, by their id in this
    namespace, the memories that represent superseded versions.
    """

    latest: str | None = None
    head: int = 0
    true_at: datetime = EARLIEST
    since: datetime = EARLIEST
    until: datetime = LATEST
    superseded: bool = False
    outdated: Mapping[str, Outdated] = field(default_factory=dict)
    present: Store | None = None
    """The store that this is the past of, which has the counts of activations."""

    def activations(self, profile: str, ids: Collection[str]) -> dict[str, int]:
        """How often each of these memories had been activated by then."""
        return activations(self.present or self.store, self.namespace, profile, ids, self.now())

    def valid_time(self, now: datetime) -> datetime:  # noqa: ARG002
        """The valid time of queries."""
        return self.true_at

    def matches(self, latest: str | None, valid: datetime, superseded: bool) -> bool:
        """Whether this is the namespace after an operation at a valid time."""
        same = (self.latest, self.superseded) == (latest, superseded)
        return same and self.since <= valid < self.until


@dataclass(frozen=True, slots=True)
class Moment:
    """A valid time and a known time; None is the present.

    ``superseded``: whether versions that no longer hold may be returned too.
    """

    valid_at: datetime | None
    known_at: datetime | None
    superseded: bool = False


def moment(
    valid_at: datetime | None, known_at: datetime | None, *, superseded: object = False
) -> Moment | None:
    """The moment of a query, checked; None is the present without superseded versions."""
    if not isinstance(superseded, bool):
        raise ParamError("include_superseded", superseded, "must be true or false")
    checked = Moment(
        None if valid_at is None else check_time("valid_at", valid_at),
        None if known_at is None else check_time("known_at", known_at),
        superseded,
    )
    return None if checked == Moment(None, None) else checked


def past_room(memory: Namespace, limit: int) -> int:
    """The number of hits to retrieve: a current version may rank below the outdated one that it must precede."""
    return 2 * limit if isinstance(memory, PastNamespace) and memory.outdated else limit


def naming_versions(memory: Namespace, condition: Condition) -> Condition:
    """A filter in which the key or id of a memory names its outdated versions too."""
    if not (isinstance(memory, PastNamespace) and memory.outdated):
        return condition
    if isinstance(condition, Combination):
        return replace(condition, parts=tuple(naming_versions(memory, part) for part in condition.parts))
    operator = _SEVERAL.get(condition.operator)
    if condition.path not in (("key",), ("id",)) or operator is None:
        return condition
    name = condition.path[0]
    values = condition.value if operator == condition.operator else (condition.value,)
    versions = [version for version, old in memory.outdated.items() if getattr(old, name) in values]
    return Comparison(condition.path, operator, (*values, *versions))


def describe_moment(memory: Namespace, hits: tuple[Hit, ...], limit: int) -> tuple[Hit, ...]:
    """The best hits, with outdated versions marked as such.

    An outdated version never scores higher than the current version of its memory among the hits, and follows it.
    """
    if not (isinstance(memory, PastNamespace) and memory.outdated):
        return hits
    scores = {hit.memory.id: hit.score for hit in hits}
    marked = [_mark_outdated(hit, memory.outdated.get(hit.memory.id), scores) for hit in hits]
    return tuple(sorted(marked, key=lambda hit: (-hit.score, hit.superseded_by is not None))[:limit])


def _mark_outdated(hit: Hit, outdated: Outdated | None, scores: Mapping[str, float]) -> Hit:
    if outdated is None:
        return hit
    version = replace(hit.memory, id=outdated.id, key=outdated.key, valid_to=outdated.valid_to)
    version = replace(version, retired_at=outdated.retired_at)
    score = min(hit.score, scores.get(outdated.id, hit.score))
    return replace(hit, memory=version, score=score, superseded_by=outdated.followed_by)
