"""The values that users see: records, links, operations, proposals, cues, tokens, and the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from dataclasses import fields as dataclass_fields
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

from priming.config.values import Named, dataclass
from priming.config.words import RULES, TOKEN_KINDS
from priming.core.arguments.checks import check_time
from priming.core.arguments.normal_forms import normalized

EMPTY: Mapping[str, Any] = MappingProxyType({})
Progress = Callable[[int, int | None], None]
"""A function that is called with the number of items done and the total, None where the total is unknown."""


class Clock(Protocol):
    """The source of the present time."""

    def now(self) -> datetime:
        """Return the present, as an aware datetime."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """Return the present."""
        return datetime.now(UTC)


@dataclass(slots=True)
class FixedClock:
    """A clock that is set by hand, for tests and simulations."""

    at: datetime

    def now(self) -> datetime:
        """Return the instant that the clock was set to."""
        return self.at


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a memory so far: counts of verdicts, and the times of use."""

    uses: int = 0
    last_used_at: datetime | None = None
    helped: int = 0
    failed: int = 0
    confirmed: int = 0
    followed: int = 0
    overridden: int = 0
    first_used_at: datetime | None = None
    recent: tuple[datetime, ...] = ()
    """The latest times of use, newest first; earlier uses are only counted."""
    shown: int | None = field(default=None, compare=False)
    """The number of stored recalls that returned it; ``get`` and ``list`` count them for rules."""
    quiet: str | None = field(default=None, compare=False)
    """Why a rule is told by name at most, in the answers of ``get`` and ``list``; None while it is in force."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How well a memory is retained, as its reviews (the verdicts on it) determine (``docs/laws.md``).

    ``stability``, in days, and ``difficulty`` are FSRS-6's and None before the first review; ``endurance`` is World
    Weaver's stability, in days.
    """

    stability: float | None = None
    difficulty: float | None = None
    endurance: float = 1.0
    reviewed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryRecord(Named):
    """A memory in one version."""

    id: str
    namespace: str
    key: str
    kind: str
    content: str
    gist: str
    heading: str | None = None
    session: str | None = None
    speaker: str | None = None
    when: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    source: str | None = None
    trust: str = "user"
    importance: float = 0.5
    outcome: str | None = None
    occurred_at: datetime | None = None
    recorded_at: datetime | None = None
    retired_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    version: int = 1
    status: str = "active"
    priority: float = 0.0
    weight: float = 0.5
    confidence: float = 1.0
    use: Use = field(default_factory=Use)
    retention: Retention = field(default_factory=Retention)

    @property
    def title(self) -> str | None:
        """The heading, else the speaker: indexed beside the text."""
        return self.heading or self.speaker

    @property
    def rule(self) -> str | None:
        """The kind of rule in the metadata, one of ``RULES``, or None."""
        rule = self.metadata.get("rule")
        return rule if isinstance(rule, str) and rule in RULES else None


Version = MemoryRecord
"""A version is a record with its ``version`` and its recorded and valid intervals."""


@dataclass(frozen=True, slots=True)
class Link:
    """A weighted link between two memories, named by their keys."""

    source: str
    target: str
    relation: str
    weight: float
    created_at: datetime
    last_activated: datetime | None = None
    given: bool = False
    sign: int = 1
    """Of its relation: 1 brings activation to the target, −1 takes it away."""
    message: str | None = field(default=None, compare=False)
    """What is new about the relation, in the answer of ``link``; what the earlier says, in that of ``remember``."""


@dataclass(frozen=True, slots=True)
class Change:
    """A row that an operation changed: ``before`` is None for a new row, ``after`` for a removed one."""

    table: str
    key: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the log: ``actor`` is who asked for it, ``via`` by what, ``session`` that of an agent.

    ``source`` is the tier of learning, ``reason`` why it was done, ``message`` what came of it.
    """

    id: str
    kind: str
    at: datetime
    actor: str | None = None
    source: str | None = None
    reason: str | None = None
    changes: tuple[Change, ...] = ()
    undone_by: str | None = None
    message: str | None = None
    via: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """Similar memories that a stage left as they are: the reason, and the words in which they differ.

    A plan names the memories by their ids, a proposal by their keys. Without memories it is the stage that was left.
    """

    keys: tuple[str, ...]
    reason: str
    words: tuple[str, ...] = ()
    stage: str = ""


@dataclass(frozen=True, slots=True)
class ProposedItem:
    """One change that sleep proposes, with its reason, its evidence and the rows that it changes.

    ``keys`` are the memories concerned, ``into`` the memory that replaces them. No two items of a proposal change
    the same row, so that each can be applied or left out.
    """

    id: str
    stage: str
    action: str
    keys: tuple[str, ...]
    into: str | None
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    changes: tuple[Change, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class StageCheck:
    """The result of one rule for the items of a stage: how many passed, and why each of the others was dropped."""

    stage: str
    rule: str
    held: int
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """The changes of a night: ``operations`` are those of its stages, ``operation`` is the last of them.

    Undoing ``operation`` undoes the whole night. After a dry run, ``items`` are only proposed and can be applied.
    """

    id: str
    at: datetime
    namespace: str
    stages: tuple[str, ...]
    items: tuple[ProposedItem, ...] = ()
    operation: str | None = None
    operations: tuple[str, ...] = ()
    checks: tuple[StageCheck, ...] = ()
    left_alone: tuple[LeftAlone, ...] = ()
    """Similar memories that were not merged, with the words in which they differ."""
    head: int = 0
    """The number of the last operation before planning; later operations may have changed what the items rest on."""


@dataclass(frozen=True, slots=True)
class Cue:
    """The input of a recall: a text, a context, or both. Of a list of values, any may match."""

    text: str | None = None
    file: str | Sequence[str] | None = None
    language: str | Sequence[str] | None = None
    task: str | Sequence[str] | None = None
    environment: str | Sequence[str] | None = None
    project: str | Sequence[str] | None = None
    speaker: str | Sequence[str] | None = None
    at: datetime | None = None
    other: Mapping[str, Any] = field(default_factory=lambda: EMPTY)

    def __init__(
        self,
        text: str | None = None,
        file: str | Sequence[str] | None = None,
        language: str | Sequence[str] | None = None,
        task: str | Sequence[str] | None = None,
        environment: str | Sequence[str] | None = None,
        project: str | Sequence[str] | None = None,
        speaker: str | Sequence[str] | None = None,
        at: datetime | None = None,
        **other: Any,
    ) -> None:
        values = (
            text,
            file,
            language,
            task,
            environment,
            project,
            speaker,
            at,
            MappingProxyType(dict(other)),
        )
        for f, value in zip(dataclass_fields(self), values, strict=True):
            object.__setattr__(self, f.name, value)
        if at is not None:
            check_time("at", at)

    def context(self) -> dict[str, Any]:
        """Return the predicates of the cue by name, as those of rules are stored, without its text and time."""
        named = {
            name: getattr(self, name)
            for name in ("file", "language", "task", "environment", "project", "speaker")
            if getattr(self, name) is not None
        }
        return {**{normalized("NFC", name): value for name, value in self.other.items()}, **named}


_DAY = 86400.0
"""Seconds in a day."""


def executions(use: Use) -> int:
    """Return the number of executions of a procedure with a known outcome."""
    return use.helped + use.failed


def days_between(earlier: datetime, later: datetime) -> float:
    """Return fractional days from one time to another; 0 where the clock was set back."""
    return max(0.0, (later - earlier).total_seconds() / _DAY)


EVERYWHERE = "*"
"""The namespace of a token that may use all namespaces."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token; its secret is not stored."""

    id: str
    namespace: str
    name: str | None
    created_at: datetime
    revoked_at: datetime | None = None
    used_at: datetime | None = None
    kind: str = "admin"
    """What it may do: read, write, or all (``admin``)."""
    expires_at: datetime | None = None
    """From when on it is refused; None: never."""

    def may(self, kind: str) -> bool:
        """Tell whether the token may do what needs a token of a kind.

        >>> from datetime import UTC
        >>> token = Token("id", "shop", None, datetime(2026, 3, 1, tzinfo=UTC), kind="write")
        >>> token.may("read"), token.may("write"), token.may("admin")
        (True, True, False)
        """
        return TOKEN_KINDS.index(self.kind) >= TOKEN_KINDS.index(kind)

    def may_use(self, namespace: str) -> bool:
        """Tell whether the token may use a namespace.

        >>> from datetime import UTC
        >>> token = Token("id", "shop", None, datetime(2026, 3, 1, tzinfo=UTC))
        >>> token.may_use("shop"), token.may_use("other")
        (True, False)
        """
        return self.namespace in (namespace, EVERYWHERE)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token with its ``secret``, which is available only now."""

    token: Token
    secret: str = field(repr=False)
