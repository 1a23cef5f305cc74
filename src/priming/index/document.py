"""The index entry of a memory: terms, tokens, vector, passages, signs of time, and what a fact states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from priming.config.params.limits import PASSAGES
from priming.config.values import dataclass
from priming.core.arguments.arrays import TextVectors, distinct
from priming.core.arguments.normal_forms import is_made_from
from priming.core.score import success_rate
from priming.embedding.protocol import Embedder, token_part, word_part
from priming.storage.protocol import VersionKey
from priming.text.dates import Days, day_order, day_told, is_question, named_days, specificity
from priming.text.gists import pieces
from priming.text.names import heading_name, normal
from priming.text.statements.reader import is_event
from priming.text.tokens import language_of, readings, spelled, terms
from priming.types import MemoryRecord, executions

_ENDS_SENTENCE = re.compile(r"[.!?。！？][\"'”’)\]]*\s*$")
_OF_AN_IMPORT = re.compile(r"pack:|[\w.-]+:/(?!/)")
_WORD_LETTERS = 64
_LETTERS = re.compile(rf"\S{{1,{_WORD_LETTERS}}}\s*")


def is_long(text: str) -> bool:
    """Tell whether a text is longer than what a model of sentences reads whole."""
    return _bytes(text) > PASSAGES.whole


def passage_ends(text: str) -> tuple[int, ...]:
    """Return where each passage of a long text ends: after a sentence or line, in a longer one after a word.

    A text that a model of sentences reads whole has no passages. A heading stands with what follows it. Sizes are
    bytes of UTF-8, as the tokens of models are: of Chinese, a third as many characters make a passage.

    >>> passage_ends("It rained. We stayed in.")
    ()
    >>> passage_ends("It rained all day. " * 1000)[:2]
    (398, 797)
    """
    if not is_long(text):
        return ()
    ends, size = list[int](), 0
    start = before = here = 0
    for end in _places(text, PASSAGES.most):
        step = _bytes(text[here:end])
        if size and (size + step > PASSAGES.most or (size >= PASSAGES.least and text[here - 1] == "\n")):
            is_line = before > start and text[before - 1] == text[here - 1] == "\n"
            is_heading = is_line and not _ENDS_SENTENCE.search(text[before:here])
            ends.append(before if is_heading else here)
            start, size = ends[-1], _bytes(text[ends[-1] : here])
        before, here, size = here, end, size + step
    if size < PASSAGES.least:
        ends.pop()
    return (*ends, len(text)) if ends else ()


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return where the sentences of a passage begin and end; a short one, such as a label, goes with the next."""
    spans, begin = list[tuple[int, int]](), start
    for piece in pieces(text[start:end]):
        start += len(piece)
        if start - begin >= PASSAGES.sentence or start == end:
            spans.append((begin, start))
            begin = start
    return spans


def _places(text: str, most: int) -> Iterator[int]:
    """Yield where a passage may end: after each sentence or line, and after each word of a longer one."""
    end = 0
    for piece in pieces(text):
        start, end = end, end + len(piece)
        if start and not piece.isspace():
            yield start
        if _bytes(piece) > most:
            yield from (start + word.end() for word in _LETTERS.finditer(piece) if start + word.end() < end)
    yield end


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


RULES = "rules"
"""The source of entities that were made by rule."""

PROCEDURE, FACT, EPISODE = "procedure", "fact", "episode"
"""The kind that can be carried out, and those that may state how things are."""

SESSION, TERM = "session", "term"
"""Forms of entities that are not names: a session of memories, and a rare word that memories share."""

ESTIMATE, ESTIMATED_FROM = "success_estimate", "success_rate"
"""The metadata keys of a procedure's estimate of success, and of the share of successes that it started from."""

_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Document:
    """One memory, prepared for the index. ``heading`` and ``body`` are its terms in order."""

    id: str
    kind: str
    title: str | None
    spoken: bool
    """Whether the title is the speaker's."""
    heading: tuple[str, ...]
    body: tuple[str, ...]
    tokens: NDArray[np.int64]
    vectors: TextVectors | None
    session: str | None
    occurred: float
    told_at: float
    named_days: tuple[Days, ...]
    """The days that its text names."""
    day_order: int
    """Whether its dates have the day before the month: above 0, after it: below 0."""
    language: str | None
    """The language that its words tell, in which it is read; where they tell none it is read as English."""
    asks: bool
    learned: bool
    """Whether it is a correction from which a rule was learned, which speaks for it in recall."""
    states: bool
    """Whether it may state how things are, which is compared with other statements."""
    specificity: int
    indexed: bool
    slot: str | None
    when: Mapping[str, Any]
    words: Mapping[str, str] = field(default_factory=dict)


STATED = 240
"""Most characters of a statement that is compared with others: a longer text says more than one thing."""


def may_state(kind: str, content: str, session: str | None, occurred_at: datetime | None) -> bool:
    """Tell whether a memory may state how things are: a fact, or an episode without session or time of its own."""
    is_told = kind == EPISODE and session is None and occurred_at is None
    return (kind == FACT or is_told) and len(content) <= STATED


def is_rule_made(record: MemoryRecord) -> bool:
    """Tell whether the memory is a bare name that a rule found, which carries activation but has no text to match."""
    return record.kind == "entity" and record.source == RULES


def slot_of(form: str | None, name: str) -> str:
    """Return the slot an entity is looked up by: names of all forms share one, sessions and terms have their own."""
    return f"{form}:{name}" if form in (SESSION, TERM) else normal(name)


def is_rare_word(slot: str | None) -> bool:
    """Tell whether a slot is that of a word that few memories share, rather than of a name."""
    return slot is not None and slot.startswith(f"{TERM}:")


def slot_of_record(record: MemoryRecord) -> str | None:
    """Return an entity's slot; None for other memories, and for an entity by hand that is too long for a name."""
    if record.kind != "entity":
        return None
    name = record.heading or record.content
    is_name = is_rule_made(record) or len(name) <= _LONGEST_NAME
    return slot_of(record.metadata.get("form"), name) if is_name else None


def slot_of_title(title: str) -> str:
    """Return the slot of the entity that a heading or speaker names."""
    return normal(heading_name(title))


_SPEAKER_WORDS = 8
"""A speaker of more words has no parts: what stands there is hardly a name."""


def stretches_of(words: list[str]) -> Iterator[str]:
    """Yield each stretch of words that stand side by side; of a long list only the whole."""
    count = len(words)
    fewest = 1 if count <= _SPEAKER_WORDS else count
    for start in range(count):
        for end in range(start + fewest, count + 1):
            yield " ".join(words[start:end])


def bare_terms(title: str, title_terms: Sequence[str]) -> int:
    """Return how many of a title's terms come before its closing parenthesis; all of them if it does not end in one.

    >>> bare_terms("Brand (play)", ("brand", "play")), bare_terms("Sleep", ("sleep",))
    (1, 1)
    """
    if "(" not in title and "[" not in title:
        return len(title_terms)
    bare = terms(heading_name(title))
    return len(bare) if bare and list(title_terms[: len(bare)]) == bare else len(title_terms)


def embedded_text(title: str | None, content: str) -> str:
    """Return the text that a memory's vector is computed from: its title and its content."""
    return f"{title}: {content}" if title else content


class Embeddable(Protocol):
    """What has a text: a draft, a memory, or a version of one."""

    @property
    def heading(self) -> str | None: ...  # noqa: D102

    @property
    def speaker(self) -> str | None: ...  # noqa: D102

    @property
    def content(self) -> str: ...  # noqa: D102


def vectors_needed(texts: Iterable[Embeddable | None]) -> int:
    """Return how many vectors texts have, roughly: one each, and of a long one those of its passages."""
    return sum(
        1 + (_bytes(text.content) // PASSAGES.most if text and is_long(text.content) else 0) for text in texts
    )


def vectors_of(embedder: Embedder, texts: Sequence[Embeddable | None]) -> list[TextVectors]:
    """Return the vectors of texts, of each whole and of a long one's passages; zeros for None and without tokens."""
    ends = [() if text is None else passage_ends(text.content) for text in texts]
    parts = [
        "" if text is None else embedded_text(text.heading or text.speaker, text.content[start:end])
        for text, own in zip(texts, ends, strict=True)
        for start, end in [(0, None), *zip((0, *own), own, strict=False)]
    ]
    rows = embedder.embed(parts)
    firsts = np.cumsum([0, *(1 + len(own) for own in ends)])
    return [
        TextVectors(rows[first], rows[first + 1 : first + 1 + len(own)], own)
        for first, own in zip(firsts.tolist(), ends, strict=False)
    ]


def packed_vectors(keys: Iterable[VersionKey], vectors: Iterable[TextVectors]) -> dict[VersionKey, bytes]:
    """Return the vectors by version, as the store has them."""
    return {key: own.packed() for key, own in zip(keys, vectors, strict=True)}


def searched_text(record: MemoryRecord) -> str:
    """Return the text a memory is searched by beside its title: its content, and a procedure's trigger and steps."""
    trigger, steps = procedure_steps(record)
    return "\n".join([record.content, *([trigger] if trigger else []), *steps])


def procedure_steps(record: MemoryRecord) -> tuple[str | None, tuple[str, ...]]:
    """Return a procedure's trigger and steps, as far as its metadata hold them; nothing for other memories."""
    if record.kind != PROCEDURE:
        return None, ()
    trigger, steps = record.metadata.get("trigger"), record.metadata.get("steps")
    texts = tuple(step for step in steps if isinstance(step, str)) if isinstance(steps, (list, tuple)) else ()
    return trigger if isinstance(trigger, str) else None, texts


def times_of(record: MemoryRecord) -> tuple[datetime | None, datetime | None]:
    """Return when what a memory tells happened, and when it was told; None where nothing says.

    It was told at the time that came with it, else when it was stored: not so what is of a pack, or of a file that a
    format and a path name, of which all was stored at the time of an import. It happened then too, unless its text
    tells one other day from there, as "yesterday" does; a long text tells of more than one. What is stored ahead
    happens when it begins to hold.
    """
    is_imported = record.source is not None and _OF_AN_IMPORT.match(record.source)
    told_at = record.occurred_at or (None if is_imported else record.recorded_at)
    since = record.valid_from
    if since is not None and record.recorded_at is not None and since > record.recorded_at:
        return since, told_at
    if told_at is None or is_long(record.content):
        return told_at, told_at
    return day_told(record.content, told_at) or told_at, told_at


def describe(
    records: Sequence[MemoryRecord],
    vectors: Sequence[TextVectors | None],
    embedder: Embedder,
) -> list[Document]:
    """Return the documents of ``records``; a rule-made entity has no text of its own."""
    texts = [
        "" if is_rule_made(record) else embedded_text(record.title, record.content) for record in records
    ]
    none = [np.zeros(0, np.int64)] * len(records)
    pooler, by_word = token_part(embedder), word_part(embedder) is not None
    tokens = none if pooler is None else pooler.tokens(texts)
    return [
        _document(record, distinct(ids), own, by_word)
        for record, ids, own in zip(records, tokens, vectors, strict=True)
    ]


def _document(
    record: MemoryRecord, tokens: NDArray[np.int64], vectors: TextVectors | None, by_word: bool
) -> Document:
    indexed = not is_rule_made(record)
    occurred, told_at = times_of(record)
    searched = searched_text(record) if indexed else ""
    text = f"{record.title}\n{searched}" if indexed and record.title else searched
    own_language = language_of(text)
    language = own_language or "english"
    titled = readings(record.title, language) if indexed and record.title else []
    read = readings(searched, language)
    heading, body = (tuple(term for term, _ in pairs) for pairs in (titled, read))
    labels = _label_words(record, {*heading, *body}, language) if indexed else {}
    return Document(
        id=record.id,
        kind=record.kind,
        title=record.title,
        spoken=not record.heading and bool(record.speaker),
        heading=heading,
        body=(*body, *labels),
        tokens=tokens,
        vectors=vectors,
        session=record.session,
        occurred=occurred.timestamp() if occurred is not None else np.nan,
        told_at=told_at.timestamp() if told_at is not None else np.nan,
        named_days=_days_named(text, record.content, told_at) if indexed else (),
        day_order=day_order(text),
        language=own_language,
        asks=indexed and is_question(record.content),
        learned=record.kind == "correction" and "right" in record.metadata,
        states=may_state(record.kind, record.content, record.session, record.occurred_at),
        specificity=specificity(record.content) if indexed else 0,
        indexed=indexed,
        slot=slot_of_record(record),
        when=record.when,
        words={**dict(reversed([*titled, *read])), **labels} if indexed and by_word else {},
    )


def _days_named(text: str, content: str, told_at: datetime | None) -> tuple[Days, ...]:
    """Return the days that a text names: of what happened the last or the next ones from when it was told."""
    days = named_days(text)
    return named_days(text, told_at) if days and told_at is not None and is_event(content) else days


def _label_words(record: MemoryRecord, own: set[str], language: str) -> dict[str, str]:
    """Return the terms of tags and a key by which somebody named a memory, which its text lacks, each with its word.

    A key that was made from a text says nothing that the text does not, and after a change what the text said before:
    in a changed memory a key that shares words with the text counts as made from it. What stands in a key before a
    colon says of what kind it is, and a word with digits is a number of it.
    """
    is_first = record.version == 1
    is_made = is_first and is_made_from(record.key, record.heading or record.content, record.id)
    of_key = {} if is_made else spelled(record.key.rpartition(":")[2], language)
    is_made = is_made or not (is_first or own.isdisjoint(of_key))
    named = (
        {} if is_made else {term: word for term, word in of_key.items() if not any(map(str.isdigit, term))}
    )
    labels = named | spelled(" ; ".join(record.tags), language)
    return {term: word for term, word in labels.items() if term not in own}


def success_estimate(record: MemoryRecord) -> float:
    """Return how often a procedure succeeds: the share of its executions, plus the gain credited by sleep.

    Sleep writes an estimate, and the share at that time, into the metadata of a procedure that others were merged
    into. What the estimate exceeds the share by stays; executions since then move the rest.
    """
    rate = float(success_rate(record.use.helped, executions(record.use)))
    estimate = record.metadata.get(ESTIMATE)
    if not _is_share(estimate):
        return rate
    then = record.metadata.get(ESTIMATED_FROM)
    return min(1.0, max(0.0, estimate + (rate - then if _is_share(then) else 0.0)))


def _is_share(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 <= value <= 1.0
