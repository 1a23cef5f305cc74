"""The arguments of ``remember`` as one checked value, and the versions of a memory that are made of it, or follow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from priming.config.params.laws import PLASTICITY
from priming.config.params.limits import STORE
from priming.config.values import dataclass
from priming.config.words import DEPRECATED, KINDS, OUTCOMES, REPLACED, TRUST
from priming.core.arguments.arrays import TextVectors
from priming.core.arguments.checks import (
    check_choice,
    check_content,
    check_fraction,
    check_metadata,
    check_name,
    check_predicates,
    check_tags,
    check_time,
    check_unique,
)
from priming.core.arguments.normal_forms import normalized
from priming.core.bitemporal import in_order, split
from priming.embedding.protocol import Embedder
from priming.errors import Conflict, ParamError
from priming.index.document import RULES, vectors_of
from priming.namespace import Namespace
from priming.recall.cue import ASSISTANT, USER
from priming.recall.entities import file_key
from priming.serialization import stamp
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.text.gists import gist_of
from priming.text.name_forms.forms import FILE, Name
from priming.text.names import find
from priming.types import EMPTY, MemoryRecord

_RULE = "behavior"
_JSON = json.JSONEncoder(ensure_ascii=False).encode


def bare_text(text: str) -> str:
    r"""Return a text without the white space around it and at the ends of its lines, its letters composed.

    >>> bare_text(" Kestrel signs. \r\nIt is slow.\n")
    'Kestrel signs.\nIt is slow.'
    """
    return "\n".join(line.rstrip() for line in normalized("NFC", text).strip().splitlines())


@dataclass(frozen=True)
class Draft:
    """The arguments of ``remember``, checked; importers may add a ``gist`` of their own."""

    content: str
    heading: str | None = None
    kind: str = "episode"
    key: str | None = None
    session: str | None = None
    speaker: str | None = None
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    when: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    importance: float = 0.5
    outcome: str | None = None
    source: str | None = None
    trust: str = "user"
    gist: str | None = None
    files: Sequence[str] = ()
    """The files that it touches, by their paths."""
    echo_guard: bool = True
    """Whether text that a recall has just returned counts as an echo."""
    state: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    """What its row has that others do not begin with, such as a confidence: no argument of ``remember``."""

    @property
    def title(self) -> str | None:
        """The heading or speaker, which is indexed beside the text."""
        return self.heading or self.speaker

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """The names in the text and the title; a rule's heading is a sentence, a role in a chat is no name."""
        title = self.speaker if self.kind == _RULE else self.title
        is_role = title == self.speaker and (title or "").lower() in (*USER, *ASSISTANT)
        return find(self.content, None if is_role else title)

    @cached_property
    def digest(self) -> str:
        """A hash of kind, title, text, session and time: equal digests mean the same memory.

        White space around the text and at the ends of its lines does not count, nor how its letters are composed.
        """
        return self._digest_of(bare_text(self.content))

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """Its digest, and the one under which an earlier version stored a text with white space around it."""
        return tuple(dict.fromkeys((self.digest, self._digest_of(self.content))))

    def start(self, now: datetime) -> datetime:
        """Return when it begins to hold, from now on."""
        return max(now, self.valid_from or now)

    def repeated(self, ids: Mapping[str, str]) -> str | None:
        """Return the memory that has its text, title, session and time, of memories by their digests."""
        return next((ids[digest] for digest in self.digests if digest in ids), None)

    def _digest_of(self, text: str) -> str:
        at = stamp(self.occurred_at) if self.occurred_at else None
        identity = _JSON([self.kind, self.title, text, self.session, at])
        return hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()

    def version(
        self, memory_id: str, number: int, now: datetime, start: datetime | None = None
    ) -> VersionRow:
        """Return this draft as a version of a memory, recorded now and valid from ``start`` or its own on."""
        return VersionRow(
            id=memory_id,
            version=number,
            recorded_at=now,
            valid_from=start or self.valid_from,
            content=self.content,
            gist=self.gist or gist_of(self.content, self.kind),
            digest=self.digest,
            heading=self.heading,
            session=self.session,
            speaker=self.speaker,
            when=self.when,
            tags=tuple(self.tags),
            metadata=self.metadata,
            source=self.source,
            trust=self.trust,
            importance=self.importance,
            outcome=self.outcome,
            occurred_at=self.occurred_at,
        )


_GUARD = "echo_guard"
_NAMES = tuple(f.name for f in fields(Draft) if f.name != "state")
FIELDS = tuple(name for name in _NAMES if name != _GUARD)


def draft(item: Mapping[str, Any]) -> Draft:
    """Check a mapping of the arguments of ``remember``; the first invalid one raises ``ParamError``."""
    if not isinstance(item, Mapping):
        raise ParamError("item", item, "must be a mapping of the arguments of remember")
    if unknown := [name for name in item if name not in _NAMES]:
        raise ParamError("item", unknown[0], f"is not an argument of remember: {', '.join(FIELDS)}")
    return check_draft(Draft(**{"content": None, **item}))


def check_draft(raw: Draft) -> Draft:
    """Check every field of a draft, where None means the default; the first invalid one raises ``ParamError``."""
    kind = check_choice("kind", _or(raw.kind, "episode"), KINDS)
    details = check_metadata(_or(raw.metadata, EMPTY))
    if kind == "procedure":
        _check_procedure(details)
    if not isinstance(raw.echo_guard, bool):
        raise ParamError(_GUARD, raw.echo_guard, "must be true or false")
    return Draft(
        content=check_content(raw.content),
        heading=check_name("heading", raw.heading),
        kind=kind,
        key=check_name("key", raw.key),
        session=check_name("session", raw.session),
        speaker=check_name("speaker", raw.speaker),
        occurred_at=None if raw.occurred_at is None else check_time("occurred_at", raw.occurred_at),
        valid_from=None if raw.valid_from is None else check_time("valid_from", raw.valid_from),
        tags=check_tags(_or(raw.tags, ())),
        metadata=details,
        when=check_predicates(_or(raw.when, EMPTY)),
        importance=check_fraction("importance", _or(raw.importance, 0.5)),
        outcome=None if raw.outcome is None else check_choice("outcome", raw.outcome, OUTCOMES),
        source=check_name("source", raw.source),
        trust=check_choice("trust", _or(raw.trust, "user"), TRUST),
        gist=check_name("gist", raw.gist),
        files=check_files(_or(raw.files, ())),
        echo_guard=raw.echo_guard,
    )


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def check_files(value: Any) -> tuple[str, ...]:
    """Return paths of files, each once; a path never begins with ``./``."""
    return tuple(
        dict.fromkeys(path.removeprefix("./") or path for path in check_unique("files", value, STORE.files))
    )


def _check_procedure(metadata: Mapping[str, Any]) -> None:
    """Check the steps and the trigger in the metadata of a procedure."""
    steps = metadata.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(step, str) and step.strip() for step in steps):
        raise ParamError("metadata.steps", steps, "must be a list of texts, one for each step")
    trigger = metadata.get("trigger")
    if trigger is not None and not (isinstance(trigger, str) and trigger.strip()):
        raise ParamError("metadata.trigger", trigger, "must be a text that says when to do it")


def succeeding_rows(
    memory: Namespace, old: VersionRow, new: Draft, now: datetime, start: datetime | None = None
) -> tuple[list[RowChange], VersionRow]:
    """Return the changes that let ``new`` follow the version ``old`` from ``start`` on, and the new version.

    By default it starts now, or when the old version did if the clock was set back since. It ends where the old one
    was to end, so that a planned version stays.
    """
    at = max(now, old.recorded_at)  # a clock that was set back does not reorder versions
    if start is None:
        start = max(now, old.valid_from or now) if (old.valid_from or now) <= at else now
    if old.valid_from is not None and start < old.valid_from:
        rule = (
            f"must be ≥ {old.valid_from.isoformat()}, the start of the version that it ends:"
            " give a time from then on, or undo what made that version"
        )
        raise ParamError("valid_from", start.isoformat(), rule)
    rows = memory.rows(VersionRow, ids=[old.id])
    number = max(row.version for row in rows) + 1
    fresh = replace(new.version(old.id, number, at, start), revision=_last(rows) + 2, valid_to=old.valid_to)
    return _followed_by(rows, old, fresh), fresh


def supersede_rows(
    rows: Sequence[VersionRow], old: VersionRow, at: datetime, **changes: Any
) -> list[RowChange]:
    """Add a new version from now on, with other fields; ``rows`` are all rows of the memory's versions."""
    at = max(at, old.recorded_at)
    fresh = replace(
        old,
        version=max(row.version for row in rows) + 1,
        revision=_last(rows) + 2,
        recorded_at=at,
        valid_from=max(at, old.valid_from or at),
        **changes,
    )
    return _followed_by(rows, old, fresh)


def _followed_by(rows: Sequence[VersionRow], old: VersionRow, new: VersionRow) -> list[RowChange]:
    """Return the old row is retired, and its copy ends where the new version begins."""
    assert new.valid_from is not None, "a new version has a start"
    parts = split(old, boundary=new.valid_from, at=new.recorded_at)
    ended = replace(parts.ended, revision=_last(rows) + 1)
    return [RowChange(old, parts.retired), RowChange(None, ended), RowChange(None, new)]


def restate(rows: Sequence[VersionRow], old: VersionRow, at: datetime, **changes: Any) -> list[RowChange]:
    """Change fields of a version that keeps its number: its row is retired and followed by a new row."""
    at = max(at, old.recorded_at)  # a clock that was set back does not reorder rows
    again = replace(old, revision=_last(rows) + 1, recorded_at=at, **changes)
    return [RowChange(old, replace(old, retired_at=at)), RowChange(None, again)]


def deprecated_rows(memory: Namespace, row: MemoryRow, by: str | None, now: datetime) -> list[RowChange]:
    """Return the changes that end a memory, with a link to the one that is true instead, if there is one."""
    rows = [RowChange(row, replace(row, status="deprecated"))]
    link = None if by is None else LinkRow(row.id, by, DEPRECATED, PLASTICITY.start, now)
    if link is not None and memory.stored(link) is None:
        rows.append(RowChange(None, link))
    return rows


def restored_rows(memory: Namespace, row: MemoryRow) -> list[RowChange]:
    """Return the changes by which a memory is in use again, without its links to what replaced it."""
    own = (link for link in memory.rows(LinkRow, ids=[row.id]) if link.source == row.id)
    links = [RowChange(link, None) for link in own if link.relation in REPLACED]
    return [RowChange(row, replace(row, status="active")), *links]


def current_row(rows: Sequence[VersionRow], version: int) -> VersionRow:
    """Return the current row of a version."""
    return next(row for row in reversed(rows) if row.version == version and row.retired_at is None)


def _last(rows: Sequence[VersionRow]) -> int:
    return max(row.revision for row in rows)


def valid_row(rows: Sequence[VersionRow], at: datetime) -> VersionRow:
    """Return the current row that holds at a time, the last before it where none does, or else the first."""
    current = in_order(row for row in rows if row.retired_at is None)
    return next(
        (row for row in reversed(current) if row.valid_from is None or row.valid_from <= at), current[0]
    )


def current_version(
    memory: Namespace, memory_record: MemoryRecord, now: datetime, start: datetime | None = None
) -> VersionRow:
    """Return the version of a memory that a new version supersedes: the present one, or of a later ``start``.

    If the clock was set back, the present is when the memory was last written.
    """
    versions = memory.rows(VersionRow, ids=[memory_record.id])
    at = max(now, start or now, *(version.recorded_at for version in versions))
    old = valid_row(versions, at)
    if old.valid_to is not None and old.valid_to <= at:
        end = old.valid_to.isoformat()
        raise Conflict(f"{memory_record.key!r} has no open version to supersede: it ended at {end}")
    return old


def file_draft(path: str, trust: str) -> Draft:
    """Return a file as a bare name, made by rule, which has no text to match but carries activation."""
    return Draft(path, kind="entity", key=file_key(path), source=RULES, trust=trust, metadata={"form": FILE})


def is_bare_name(draft: Draft) -> bool:
    """Tell whether a draft is a name without a text of its own, such as a file."""
    return draft.kind == "entity" and draft.source == RULES


def embed_drafts(drafts: Sequence[Draft], embedder: Embedder) -> list[TextVectors]:
    """Return the vectors of drafts, computed before the write lock is taken; a bare name gets no text to embed."""
    return vectors_of(embedder, [None if is_bare_name(draft) else draft for draft in drafts])
