"""What recall needs to know of one memory's text: its terms, tokens, vector and signs of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.core.dates import has_time, is_question
from priming.core.details import details
from priming.core.lexical import spelled, terms
from priming.core.names import heading_name, normal
from priming.core.slots import Statement, statement
from priming.embed.protocol import Embedder, TokenEmbedder, WordEmbedder
from priming.types import MemoryRecord


@dataclass(frozen=True, slots=True)
class Document:
    """One memory, prepared for the working set. ``heading`` and ``body`` are its terms in order."""

    id: str
    kind: str
    title: str | None
    heading: tuple[str, ...]
    body: tuple[str, ...]
    tokens: NDArray[np.int64]
    vector: NDArray[np.float32] | None
    session: str | None
    occurred: float
    timed: bool
    asks: bool
    details: int
    indexed: bool
    slot: str | None
    when: Mapping[str, Any]
    stated: Statement | None = None
    words: Mapping[str, str] = field(default_factory=dict)


def is_rule_made(record: MemoryRecord) -> bool:
    """Whether the memory is a bare name that a rule found: it carries activation but is no text to match."""
    return record.kind == "entity" and record.source == RULES


RULES = "rules"
"""The source of entities that were made by rule."""

PROCEDURE = "procedure"
"""The kind of what is carried out."""

FACT = "fact"
"""The kind of what is compared with what was told before of the same thing."""

SESSION, TERM = "session", "term"
"""Forms of entities that are no names: a session that memories are part of, a rare word that they share."""

_LONGEST_NAME = 80


def slot_of(form: str | None, name: str) -> str:
    """Where an entity is looked up: names of any form share one place, sessions and terms have their own."""
    return f"{form}:{name}" if form in (SESSION, TERM) else normal(name)


def is_rare_word(slot: str | None) -> bool:
    """Whether a slot is that of a word that few memories share, rather than of a name."""
    return slot is not None and slot.startswith(f"{TERM}:")


def slot_of_record(record: MemoryRecord) -> str | None:
    """The slot of an entity; None for what is no entity, or was told by hand and is too long to be a name."""
    if record.kind != "entity":
        return None
    name = record.heading or record.content
    is_name = is_rule_made(record) or len(name) <= _LONGEST_NAME
    return slot_of(record.metadata.get("form"), name) if is_name else None


def slot_of_title(title: str) -> str:
    """The slot of the entity that a heading or speaker names."""
    return normal(heading_name(title))


def bare_terms(title: str, spelt: Sequence[str]) -> int:
    """How many of a title's terms, ``spelt``, come before its parenthesis; all of them if it does not end in one.

    >>> bare_terms("Brand (play)", ("brand", "play")), bare_terms("Sleep", ("sleep",))
    (1, 1)
    """
    if "(" not in title and "[" not in title:
        return len(spelt)
    bare = terms(heading_name(title))
    return len(bare) if bare and list(spelt[: len(bare)]) == bare else len(spelt)


def embedded_text(title: str | None, content: str) -> str:
    """What a memory's vector is made of: its title and its text."""
    return f"{title}: {content}" if title else content


def searched_text(record: MemoryRecord) -> str:
    """What a memory is found by beside its title: its text, and a procedure's trigger and steps."""
    trigger, steps = practice(record)
    return "\n".join([record.content, *([trigger] if trigger else []), *steps])


def practice(record: MemoryRecord) -> tuple[str | None, tuple[str, ...]]:
    """When a procedure is due, and its steps, as far as its metadata say; nothing for other memories."""
    if record.kind != PROCEDURE:
        return None, ()
    trigger, steps = record.metadata.get("trigger"), record.metadata.get("steps")
    told = tuple(one for one in steps if isinstance(one, str)) if isinstance(steps, (list, tuple)) else ()
    return trigger if isinstance(trigger, str) else None, told


def describe(
    records: Sequence[MemoryRecord],
    vectors: Sequence[NDArray[np.float32] | None],
    embedder: Embedder,
) -> list[Document]:
    """The documents of some records; a rule-made entity has no text of its own."""
    texts = ["" if is_rule_made(r) else embedded_text(r.title, r.content) for r in records]
    none = [np.zeros(0, np.int64)] * len(records)
    tokens = embedder.tokens(texts) if isinstance(embedder, TokenEmbedder) else none
    by_word = isinstance(embedder, WordEmbedder)
    return [
        _document(record, np.unique(ids), vector, by_word)
        for record, ids, vector in zip(records, tokens, vectors, strict=True)
    ]


def _document(
    record: MemoryRecord, tokens: NDArray[np.int64], vector: NDArray[np.float32] | None, by_word: bool
) -> Document:
    indexed = not is_rule_made(record)
    at = record.occurred_at
    return Document(
        id=record.id,
        kind=record.kind,
        title=record.title,
        heading=tuple(terms(record.title)) if indexed and record.title else (),
        body=tuple(terms(searched_text(record))) if indexed else (),
        tokens=tokens,
        vector=vector,
        session=record.session,
        occurred=at.timestamp() if at is not None else np.nan,
        timed=indexed and has_time(record.content),
        asks=indexed and is_question(record.content),
        details=details(record.content) if indexed else 0,
        indexed=indexed,
        slot=slot_of_record(record),
        when=record.when,
        stated=statement(record.content, record.speaker) if record.kind == FACT else None,
        words=spelled(f"{record.title or ''}\n{searched_text(record)}") if indexed and by_word else {},
    )
