"""Results of the verbs: frozen values that carry their evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import TypeVar

from priming.config.values import Named, dataclass
from priming.types import EMPTY, Link, MemoryRecord

T = TypeVar("T")
GAP = " … "
"""What stands for text that is left out."""


class Listing(list[T]):
    """A list that a verb returns; ``reason`` says why it is empty, where the namespace has no memories."""

    def __init__(self, items: Iterable[T] = (), reason: str | None = None) -> None:
        super().__init__(items)
        self.reason = reason


def no_memories(namespace: str) -> str:
    """Return the reason why answers about a namespace are empty, without the names of others.

    >>> no_memories("work")
    'there are no memories in "work"'
    """
    return f'there are no memories in "{namespace}"'


@dataclass(frozen=True, slots=True)
class Remembered(Named):
    """The answer to ``remember``; with the status ``duplicate`` or ``echo``, it names the existing memory."""

    id: str
    key: str
    status: str
    links: tuple[Link, ...] = ()
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the path to a hit, in the direction in which activation spread."""

    source: str
    relation: str
    target: str
    amount: float


@dataclass(frozen=True, slots=True)
class Hit(Named):
    """A memory that recall returns, with its evidence."""

    memory: MemoryRecord
    score: float
    components: Mapping[str, float]
    path: tuple[Step, ...] = ()
    distance: int = 0
    origin: str | None = None
    """The name of the store, where several are read together; None is the queried one."""
    relevance: float | None = None
    """The probability that the memory is relevant to the cue; None if the profile computes none."""
    superseded_by: int | None = None
    """The number of the version that followed; None if this version holds at the queried time."""
    tier: str | None = None
    """How much of a rule the text of ``active`` contains: full, gist or name; None if nothing."""
    passages: tuple[tuple[int, int], ...] = ()
    """Where the passages of a long text begin and end, those that answer the cue first, the best by its sentences."""
    quiet: bool = False
    """Whether a rule is shown by name at most, because it was mostly overridden recently."""

    @property
    def key(self) -> str:
        """The key of the memory."""
        return self.memory.key

    @property
    def content(self) -> str:
        """The text of the memory."""
        return self.memory.content

    def excerpt(self, spans: Iterable[tuple[int, int]]) -> str:
        """Return the parts of the text between places of its characters, with … where text is left out."""
        content, text, end = self.content, "", 0
        for start, after in sorted(spans):
            part = content[start:after]
            text = text + part if start == end else text.rstrip() + GAP + part.lstrip()
            end = after
        return text.lstrip() if end == len(content) else f"{text.strip()} …"


@dataclass(frozen=True, slots=True)
class Omitted:
    """A hit that was left out, and the reason."""

    key: str
    reason: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Recall(Named):
    """The answer to ``recall`` and ``active``; ``reason`` says why there are no hits."""

    recall_id: str
    hits: tuple[Hit, ...]
    reason: str | None = None
    degraded: tuple[str, ...] = ()
    text: str = ""
    omitted: tuple[Omitted, ...] = ()
    profile: str = "priming"
    notice: str | None = None
    """What the answer lacks: constraints that apply, hits beyond the limit, and what did not fit into the tokens."""
    confidence: float | None = None
    """The relevance of the best memory, even if it was not returned; None if the profile computes none."""
    floor: float | None = None
    """The relevance below which hits were left out; None without relevance."""
    timings: Mapping[str, float] = field(default_factory=lambda: EMPTY)
    spread: tuple[Mapping[str, float], ...] = ()
    """Of a trace: the activation of each memory by key; first of the anchors, then after each step."""
    carried: tuple[Step, ...] = ()
    """Of a trace: the activation that links carried towards hits, over all steps; most first."""
    recorded: bool = True
    """Whether the store has the recall, so that its hits can be judged; it has none of another time."""
    more: int = 0
    """How many further hits the limit left out, of those that were ranked."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]


@dataclass(frozen=True, slots=True)
class FileReason:
    """A memory that says why a task touches a file; ``share`` is its part of what reached the file over links."""

    key: str
    gist: str
    share: float
    at: datetime | None = None
    """When it happened."""


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A file that a task is likely to touch."""

    path: str
    key: str
    activation: float
    """What reached it; the best votes of memories alone add up to 1."""
    named: bool = False
    """Whether the task names it."""
    reasons: tuple[FileReason, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """The answer to ``files``; ``reason`` says why there are none."""

    recall_id: str
    files: tuple[TaskFile, ...]
    reason: str | None = None
    text: str = ""
    recorded: bool = True
    """Whether the store has the recall, so that its files can be judged."""


@dataclass(frozen=True, slots=True)
class ErasedMemory:
    """A memory that a purge erased, and the reason: what it mentioned, or what it was derived from."""

    id: str
    key: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class StoreCopy:
    """A copy of texts that Priming made unasked, and what a purge did with it."""

    path: str
    outcome: str
    reached: bool = True


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a purge erased: the number of rows by table, and the memories with the reason for each.

    ``key`` is that of the memory, or the ``subject``; ``doubtful`` are the memories that only may be about it, each
    with the doubt: they stay unless they are included. ``copies`` are those that Priming made unasked,
    ``not_reached`` is what else may hold copies. A dry run erases nothing, and has no ``operation``.
    """

    key: str
    erased: Mapping[str, int]
    operation: str
    subject: str | None = None
    memories: tuple[ErasedMemory, ...] = ()
    not_reached: tuple[str, ...] = ()
    dry_run: bool = False
    copies: tuple[StoreCopy, ...] = ()
    doubtful: tuple[ErasedMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """The size of a namespace, by table and kind."""

    namespace: str
    memories: Mapping[str, Mapping[str, int]]
    links: Mapping[str, int]
    operations: int
    traces: int
    bytes: int
    generation: str | None
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: EMPTY)
    """By profile, the weights that this namespace overrides."""
    reason: str | None = None
    """Why there is nothing to count; None where there are memories."""


@dataclass(frozen=True, slots=True)
class Status:
    """The version of Priming, the open namespace, and its size."""

    version: str
    namespace: str
    profile: str
    memories: int
    """The number of active memories, without entities created by rule."""
    links: int
    operations: int
    generation: str
    """The embedder in use: model, dimension and preparation."""
    reason: str | None = None
    """Why there are no memories: the namespace, and those with memories that resemble it."""
    waiting: int = 0
    """The number of memories that wait for their vectors, which commands, servers and nights make."""


@dataclass(frozen=True, slots=True)
class Exported:
    """An export as JSON Lines, which ``import_`` reads, and its number of memories."""

    memories: int
    lines: str
    reason: str | None = None
    """Why there are no memories."""


@dataclass(frozen=True, slots=True)
class Fading:
    """An important memory that is about to be forgotten.

    ``retrievability`` is the present one and ``later`` that in a week, by the profile's law, counted from ``since``;
    ``lost`` is the difference times ``worth``, the importance of the memory.
    """

    key: str
    kind: str
    gist: str
    worth: float
    retrievability: float
    later: float
    lost: float
    since: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that ``validate`` or ``verify`` reports, and its remedy."""

    rule: str
    subject: str
    detail: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What a verification read, and what is wrong; ``snapshot``: a working set on disk was compared, too."""

    namespace: str
    operations: int
    rows: int
    vectors: int
    snapshot: bool
    findings: tuple[Finding, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryMove:
    """A change of a memory; ``before`` and ``after`` are its gists, None where it did not exist.

    ``what`` is "known" (new), "gone" (its creation was undone), "superseded", "reverted" (the supersede was undone),
    "restored", or the new status.
    """

    key: str
    kind: str
    what: str
    before: str | None = None
    after: str | None = None
    at: datetime | None = None
    """When the store recorded the change."""
    valid_from: datetime | None = None
    """From when the new version is true; None: ever since."""
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class LinkMove:
    """A change of a link: its weights, None where it did not exist. ``what`` is "made", "removed" or "moved".

    ``at`` is when the store recorded the last change.
    """

    source: str
    relation: str
    target: str
    what: str
    before: float | None = None
    after: float | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RankMove:
    """A change of a hit: its ranks from 1, scores and gists; None if it is not a hit.

    ``what`` is "new", "gone", "up", "down", "restated" (same rank, another text) or "same".
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
    """The differences between two times: changes after ``since`` and up to ``until``.

    ``memories`` has no names found by rule. ``answers`` compares the answers to ``question``, in the order of the
    later answer; hits that are gone come last.
    """

    since: datetime
    until: datetime
    memories: tuple[MemoryMove, ...] = ()
    links: tuple[LinkMove, ...] = ()
    question: str | None = None
    answers: tuple[RankMove, ...] = ()
    reason: str | None = None
    """Why there is nothing to compare; None where there are memories."""


@dataclass(frozen=True, slots=True)
class AliasEvidence:
    """A sentence of a memory as evidence for an alias."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names of one entity: ``alias`` is merged into ``name``.

    ``reason`` is "said" if a text states the alias, "part" if a part of a full name is used in the same session.
    """

    alias: str
    name: str
    reason: str
    evidence: tuple[AliasEvidence, ...]
    operation: str | None = None
