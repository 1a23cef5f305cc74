"""What is proposed about names and facts, with the evidence for it: the values that speak of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of a memory that speaks for something."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names for one thing: the entity ``alias`` goes into ``name``.

    ``reason`` is "said" where a text says so, "part" where the part of a full name is used in its session.
    """

    alias: str
    name: str
    reason: str
    evidence: tuple[Evidence, ...]
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What one of two facts says: its key, its text, its value, and when it was told."""

    key: str
    content: str
    value: str
    told_at: datetime | None


@dataclass(frozen=True, slots=True)
class Review:
    """Two facts that give one subject different values in one slot, and the commands that settle it."""

    id: str
    subject: str
    slot: str
    older: Claim
    newer: Claim
    commands: tuple[str, ...]
