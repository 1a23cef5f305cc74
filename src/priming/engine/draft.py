"""What a caller wants remembered, checked once at the edge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from priming.checks import (
    check_choice,
    check_content,
    check_fraction,
    check_metadata,
    check_name,
    check_predicates,
    check_tags,
    check_time,
)
from priming.engine.ids import gist_of
from priming.errors import ParamError
from priming.serialization import stamp
from priming.store.rows import VersionRow
from priming.types import EMPTY
from priming.words import KINDS, OUTCOMES, TRUST


@dataclass(frozen=True, slots=True)
class Draft:
    """The arguments of ``remember``, checked."""

    content: str
    heading: str | None = None
    kind: str = "episode"
    key: str | None = None
    session: str | None = None
    speaker: str | None = None
    occurred_at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    when: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    importance: float = 0.5
    outcome: str | None = None
    source: str | None = None
    trust: str = "user"

    @property
    def title(self) -> str | None:
        """What the memory is indexed under beside its text."""
        return self.heading or self.speaker

    @property
    def digest(self) -> str:
        """Equal for what would be the same memory: kind, title, text, session and time."""
        at = stamp(self.occurred_at) if self.occurred_at else None
        same = json.dumps([self.kind, self.title, self.content, self.session, at], ensure_ascii=False)
        return hashlib.blake2b(same.encode(), digest_size=16).hexdigest()

    def version(
        self, memory_id: str, number: int, now: datetime, start: datetime | None = None
    ) -> VersionRow:
        """What is told here as a version of a memory, recorded now and true from ``start`` on; None: ever since."""
        return VersionRow(
            id=memory_id,
            version=number,
            recorded_at=now,
            valid_from=start,
            content=self.content,
            gist=gist_of(self.content),
            digest=self.digest,
            heading=self.heading,
            session=self.session,
            speaker=self.speaker,
            when=self.when,
            tags=self.tags,
            metadata=self.metadata,
            source=self.source,
            trust=self.trust,
            importance=self.importance,
            outcome=self.outcome,
            occurred_at=self.occurred_at,
        )


FIELDS = tuple(f.name for f in fields(Draft))


def draft(arguments: Mapping[str, Any]) -> Draft:
    """Check the arguments of ``remember``; the first that is wrong raises ``ParamError``."""
    if not isinstance(arguments, Mapping):
        raise ParamError("item", arguments, "must be a mapping of the arguments of remember")
    unknown = [name for name in arguments if name not in FIELDS]
    if unknown:
        raise ParamError("item", unknown[0], f"is not an argument of remember: {', '.join(FIELDS)}")
    given = {name: value for name, value in arguments.items() if value is not None}
    importance = given.get("importance", 0.5)
    kind = check_choice("kind", given.get("kind", "episode"), KINDS)
    known = check_metadata(given.get("metadata", EMPTY))
    if kind == "procedure":
        _check_procedure(known)
    return Draft(
        content=check_content(given.get("content")),
        heading=check_name("heading", given.get("heading")),
        kind=kind,
        key=check_name("key", given.get("key")),
        session=check_name("session", given.get("session")),
        speaker=check_name("speaker", given.get("speaker")),
        occurred_at=check_time("occurred_at", given["occurred_at"]) if "occurred_at" in given else None,
        tags=check_tags(given.get("tags", ())),
        metadata=known,
        when=check_predicates(given.get("when", EMPTY)),
        importance=check_fraction("importance", importance),
        outcome=check_choice("outcome", given["outcome"], OUTCOMES) if "outcome" in given else None,
        source=check_name("source", given.get("source")),
        trust=check_choice("trust", given.get("trust", "user"), TRUST),
    )


def words(value: Any) -> str:
    """A value of a cue as it is matched by its words; of a list all of them."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _check_procedure(known: Mapping[str, Any]) -> None:
    """What the metadata of a procedure say of how and when it is carried out."""
    steps = known.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(one, str) and one.strip() for one in steps):
        raise ParamError("metadata.steps", steps, "must be a list of texts, one for each step")
    trigger = known.get("trigger")
    if trigger is not None and not (isinstance(trigger, str) and trigger.strip()):
        raise ParamError("metadata.trigger", trigger, "must be a text that says when to do it")
