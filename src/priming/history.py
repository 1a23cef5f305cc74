"""What became different between two times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class MemoryMove:
    """What became of a memory; ``before`` and ``after`` are its gists, None where it was not known.

    ``what`` is "known", "gone" (what made it was undone), "superseded", "reverted" (that was undone), "restored", or
    the status that it took.
    """

    key: str
    kind: str
    what: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class LinkMove:
    """What became of a link: its weights, None where it was not there. ``what`` is "made", "removed" or "moved"."""

    source: str
    relation: str
    target: str
    what: str
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True)
class RankMove:
    """What became of a hit: its ranks from 1, scores and gists, None where it did not come up.

    ``what`` is "new", "gone", "up", "down", "restated" (where it stood, with another text) or "same".
    """

    key: str
    what: str
    rank_before: int | None = None
    rank_after: int | None = None
    score_before: float | None = None
    score_after: float | None = None
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """What was done after ``since`` and up to ``until``, as it stands at the end.

    Names that rules found are left out of ``memories``. ``answers`` compares the answers to ``question``, in the
    order of the later one and what is gone from it last.
    """

    since: datetime
    until: datetime
    memories: tuple[MemoryMove, ...] = ()
    links: tuple[LinkMove, ...] = ()
    question: str | None = None
    answers: tuple[RankMove, ...] = ()
