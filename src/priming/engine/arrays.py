"""One namespace as arrays: the rows of its graph, and the documents that evidence is counted over.

A row is a memory or a bare name, in order of insertion, whatever becomes of it; a memory with a text is also a
document. What changes its text or status leaves its document and may take a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.core.check import Floats
from priming.core.lexical import length_norm
from priming.embed.protocol import Embedder, TokenEmbedder
from priming.engine.columns import Column, Ints, Ragged, Vectors
from priming.engine.document import Document, bare_terms, is_rare_word, slot_of_title
from priming.engine.judgements import Judgements
from priming.engine.lexicon import Lexicon
from priming.engine.news import brought, tally
from priming.engine.retention import Practice
from priming.engine.statements import Statements
from priming.engine.surroundings import Surroundings, surroundings
from priming.engine.topology import Topology
from priming.engine.vocabulary import Vocabulary
from priming.words import KINDS

NONE = -1
ENTITY = KINDS.index("entity")
REACH = 2
"""A memory's window reaches this far back in its session."""
_KEEP_AFTER = 256


class Arrays:
    """What is derived from the memories of one namespace; every change is one call."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.pooler = embedder if isinstance(embedder, TokenEmbedder) else None
        self.clear()

    def clear(self) -> None:
        """Begin with nothing."""
        vocabulary = self.pooler.vocabulary if self.pooler else 0
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.places: dict[str, int] = {}
        self.alive = Column(np.bool_)
        self.kind = Column(np.int64)
        self.document = Column(np.int64)
        self.topology = Topology()
        self.entities: dict[str, int] = {}
        self.slots: dict[int, str] = {}
        self.row = Column(np.int64)
        self.living = Column(np.bool_)
        self.embedded = Column(np.bool_)
        self.session = Column(np.int64)
        self.before = Column(np.int64)
        self.behind = Column(np.int64)
        self.title = Column(np.int64)
        self.occurred = Column(np.float64)
        self.timed = Column(np.bool_)
        self.asks = Column(np.bool_)
        self.details = Column(np.int64)
        self.lexicon = Lexicon()
        self.vectors = Vectors(self.embedder.dimension)
        self.vocabulary = Vocabulary(self.embedder)
        self.tokens = Ragged()
        self.token_df = Column(np.int64, np.zeros(vocabulary, np.int64))
        self.predicates: dict[int, Mapping[str, Any]] = {}
        self.judgements = Judgements()
        self.statements = Statements()
        self.practice: dict[str, Practice] = {}
        self.sessions: dict[str, int] = {}
        self.session_end: dict[int, int] = {}
        self.titles: dict[str, int] = {}
        self.title_terms: list[tuple[str, ...]] = []
        self.title_bare: list[int] = []
        self.title_count = Column(np.int64)
        self.title_entity = Column(np.int64)
        self.titles_by_term: dict[str, list[int]] = {}
        self._titles_with: dict[str, list[int]] = {}
        self._titles_read = 0
        self.title_slots: dict[str, list[int]] = {}
        self.boundaries: dict[str, float] = {}
        self.head = 0
        self.kept_rows = 0
        self._window_norm: tuple[float, Floats] | None = None
        self._surroundings: Surroundings | None = None
        self._titled: NDArray[np.bool_] | None = None
        self._order: Ints | None = None
        self._news = Column(np.int64)
        self._counted = 0

    @property
    def rows(self) -> int:
        """Number of rows of the graph, dead ones included."""
        return len(self.ids)

    @property
    def documents(self) -> int:
        """Number of documents, dead ones included: the length of the evidence."""
        return self.row.size

    @property
    def memories(self) -> int:
        """Number of living memories with a text."""
        return self.lexicon.documents

    @property
    def missing_vectors(self) -> bool:
        """Whether a living memory with a text has no vector of the present generation."""
        return bool(np.any(self.living.values & ~self.embedded.values))

    @property
    def unembedded(self) -> list[str]:
        """The memories that it lacks a vector of."""
        lacking = np.flatnonzero(self.living.values & ~self.embedded.values)
        return [self.ids[int(row)] for row in self.row.values[lacking]]

    @property
    def order(self) -> Ints | None:
        """The documents in the order of their rows, the oldest memory first; None if they stand in it."""
        if self._counted != self.documents:
            rows = self.row.values
            in_order = bool(np.all(rows[1:] >= rows[:-1]))
            self._counted, self._order = self.documents, None if in_order else np.argsort(rows, kind="stable")
        return self._order

    def windowed(self, documents: Ints, fade: float) -> tuple[Ints, Ints, Floats]:
        """The documents whose windows hold each of ``documents``, the position that each came from, and its weight.

        A window is the memory (weight 1) and those said before it (``fade``, then its square).
        """
        at, where = documents, np.arange(len(documents))
        targets, positions, weights = [at], [where], [np.ones(len(at))]
        for distance in range(1, REACH + 1):
            at = self.behind.values[at]
            where, at = where[at != NONE], at[at != NONE]
            targets.append(at)
            positions.append(where)
            weights.append(np.full(len(at), fade**distance))
        return np.concatenate(targets), np.concatenate(positions), np.concatenate(weights)

    def window_norm(self, fade: float) -> Floats:
        """What BM25 saturates occurrences by in each window; counted anew as documents come and go."""
        if self._window_norm is None or self._window_norm[0] != fade:
            targets, at, weights = self.windowed(np.arange(self.documents), fade)
            lengths = np.where(self.living.values, self.lexicon.length.values, 0.0)
            total = np.bincount(targets, weights=lengths[at] * weights, minlength=self.documents)
            mean = float(total[self.living.values].mean()) if self.memories else 1.0
            self._window_norm = fade, np.asarray(length_norm(total, max(mean, 1.0)))
        return self._window_norm[1]

    def over_window(self, values: Floats, fade: float) -> Floats:
        """The mean of ``values`` over the window of each document, by weight."""
        total, around = values.copy(), self.surroundings
        for distance, (held, at) in enumerate(around.earlier, 1):
            total[held] += fade**distance * values[at]
        return np.asarray(total / np.cumsum([1.0, *(fade**d for d in range(1, REACH + 1))])[around.reaches])

    @property
    def surroundings(self) -> Surroundings:
        """Sessions, and who has neighbours; counted anew when documents came or went."""
        if self._surroundings is None:
            self._surroundings = surroundings(self, REACH)
        return self._surroundings

    @property
    def news(self) -> Ints:
        """How many terms each document was the first to bring, counted when first asked for."""
        if self._news.size != self.documents:
            self._news = Column(np.int64, brought(self))
        return np.asarray(self._news.values)

    @property
    def worth_keeping(self) -> bool:
        """Whether enough came since the last snapshot for another to save more time than it costs."""
        dead = int(np.count_nonzero(~self.alive.values))
        return self.rows - self.kept_rows > max(_KEEP_AFTER, self.kept_rows // 100) and dead * 3 < self.rows

    def at(self, values: Floats, rows: Ints) -> Floats:
        """What the evidence ``values`` says of some rows; 0 of those without a text."""
        documents = self.document[rows]
        if not len(values):
            return np.zeros(len(rows))
        return np.where(documents == NONE, 0.0, values[np.maximum(documents, 0)])

    def _new_row(self, memory_id: str) -> int:
        self.ids.append(memory_id)
        self.alive.append(False)
        self.kind.append(NONE)
        self.document.append(NONE)
        self.topology.add_row()
        return self.rows - 1

    def add(self, document: Document) -> None:
        """Add a memory or a bare name; one that was removed before takes its old row."""
        row = self.places.pop(document.id, NONE)
        row = self._new_row(document.id) if row == NONE else row
        self.row_of[document.id] = row
        self.alive[row] = True
        self.kind[row] = KINDS.index(document.kind)
        self.topology.words[row] = is_rare_word(document.slot)
        self.document[row] = self._add_text(row, document) if document.indexed else NONE
        if document.stated is not None:
            self.statements.put(document.id, document.stated)
        if document.slot is not None:
            self.slots[row] = document.slot
            if row <= self.entities.get(document.slot, row):
                self._settle(document.slot, row)

    def _add_text(self, row: int, document: Document) -> int:
        number = self.documents
        self._window_norm = self._surroundings = self._titled = None
        self.topology.held.forget()
        self.row.append(row)
        self.living.append(True)
        self.embedded.append(document.vector is not None or not (document.body or document.heading))
        self.occurred.append(document.occurred)
        self.timed.append(document.timed)
        self.asks.append(document.asks)
        self.details.append(document.details)
        self.title.append(self._title(document))
        fresh = self.lexicon.append(document.heading, document.body, document.words)
        if self._news.size == number:
            self._news.append(fresh)
            if row < self.rows - 1:
                tally(self, self._news.values, number, 1)
        self.vectors.append(document.vector)
        self.tokens.append(document.tokens)
        self.token_df[document.tokens] += 1
        self._enter_session(number, document.session)
        if document.when:
            self.predicates[number] = document.when
        return number

    def _settle(self, slot: str, row: int) -> None:
        """An entity takes (or, with ``NONE``, leaves) its slot."""
        self._titled = None
        self.topology.held.forget()
        if row == NONE:
            del self.entities[slot]
        else:
            self.entities[slot] = row
        for code in self.title_slots.get(slot, ()):
            self.title_entity[code] = row

    def heading_entity(self, rows: Ints) -> Ints:
        """For each row, the entity that its own heading names; −1 if there is none."""
        documents = self.document[rows]
        if not self.title_entity.size:
            return np.full(len(rows), NONE, np.int64)
        titles = np.where(documents == NONE, NONE, self.title[np.maximum(documents, 0)])
        return np.where(titles == NONE, NONE, self.title_entity[np.maximum(titles, 0)])

    def titled(self, rows: Ints) -> NDArray[np.bool_]:
        """Which rows are entities that the heading of a living memory names; counted anew when headings change."""
        if self._titled is None or len(self._titled) < self.rows:
            self._titled = np.zeros(self.rows, np.bool_)
            named = self.title_entity.values[self.title_count.values > 0]
            self._titled[named[named != NONE]] = True
        return np.asarray(self._titled[rows])

    def titles_with(self, term: str) -> list[int]:
        """The headings that hold a term; those that came since are read when it is asked for."""
        for code in range(self._titles_read, len(self.title_terms)):
            for one in set(self.title_terms[code]):
                self._titles_with.setdefault(one, []).append(code)
        self._titles_read = len(self.title_terms)
        return self._titles_with.get(term, [])

    def _title(self, document: Document) -> int:
        if document.title is None:
            return NONE
        code = self.titles.setdefault(document.title, len(self.titles))
        if code == len(self.title_terms):
            self.title_terms.append(document.heading)
            self.title_bare.append(bare_terms(document.title, document.heading))
            self.title_count.append(0)
            if document.heading:
                self.titles_by_term.setdefault(document.heading[0], []).append(code)
            slot = slot_of_title(document.title)
            self.title_slots.setdefault(slot, []).append(code)
            self.title_entity.append(self.entities.get(slot, NONE))
        self.title_count[code] += 1
        return code

    def _enter_session(self, number: int, session: str | None) -> None:
        self.before.append(NONE)
        self.behind.append(NONE)
        if session is None:
            self.session.append(NONE)
            return
        code = self.sessions.setdefault(session, len(self.sessions))
        self.session.append(code)
        before, behind = self.session_end.get(code, NONE), NONE
        while before != NONE and self.row[before] > self.row[number]:
            before, behind = int(self.before[before]), before
        self.before[number], self.behind[number] = before, behind
        if before != NONE:
            self.behind[before] = number
        if behind != NONE:
            self.before[behind] = number
        else:
            self.session_end[code] = number

    def remove(self, memory_id: str) -> None:
        """Take a memory out, with its links; its row stays its own."""
        row = self.row_of.pop(memory_id, None)
        if row is None:
            return
        self.places[memory_id] = row
        self.alive[row] = False
        self.statements.drop(memory_id)
        self.topology.drop_row(row)
        if self.document[row] != NONE:
            self._remove_text(int(self.document[row]))
        slot = self.slots.pop(row, None)
        if slot is not None and self.entities[slot] == row:
            shared = len(self.slots) >= len(self.entities)
            heirs = [at for at, other in self.slots.items() if other == slot] if shared else []
            self._settle(slot, min(heirs, default=NONE))

    def drop(self, memory_id: str) -> None:
        """Remove a memory that is no more: should it come back, then as the latest."""
        self.remove(memory_id)
        self.boundaries.pop(memory_id, None)
        self.practice.pop(memory_id, None)
        row = self.places.pop(memory_id, NONE)
        if row != NONE:
            self.ids[row] = ""

    def _remove_text(self, number: int) -> None:
        self.living[number] = False
        self._window_norm = self._surroundings = self._titled = None
        if self._news.size == self.documents:
            tally(self, self._news.values, number, -1)
        self.topology.held.forget()
        self.predicates.pop(number, None)
        self.lexicon.remove(number)
        self.token_df[self.tokens[number]] -= 1
        if self.title[number] != NONE:
            self.title_count[self.title[number]] -= 1
        self._leave_session(number)

    def _leave_session(self, number: int) -> None:
        before, behind = int(self.before[number]), int(self.behind[number])
        if before != NONE:
            self.behind[before] = behind
        if behind != NONE:
            self.before[behind] = before
        session = int(self.session[number])
        if session != NONE and self.session_end.get(session) == number:
            self.session_end[session] = before
        self.before[number] = self.behind[number] = NONE
