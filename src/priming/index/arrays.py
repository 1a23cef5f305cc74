"""The arrays of one namespace: the rows of its graph, and the documents that evidence is counted over.

A row is a memory or a bare name, in the order of insertion, and stays its own. A memory with a text is also a
document; when its text or status changes, the document is removed and a new one may be added.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from priming.config.words import KINDS
from priming.core.arguments.arrays import Bools, Floats, Ints, TextVectors, distinct
from priming.core.graph import among
from priming.embedding.protocol import Embedder, token_part
from priming.index.columns import NONE, Column, Ragged, VectorColumn
from priming.index.cue_feedback import CueFeedback, Practice
from priming.index.document import Document, bare_terms, is_rare_word, slot_of_title, stretches_of
from priming.index.lexicon import Lexicon
from priming.index.nearest import SAMPLE, NearestIndex, PassageColumn, evenly, trust_in
from priming.index.topology import ConversationContext, Conversations, Topology
from priming.index.vocabulary import Vocabulary, WaitingVectors
from priming.text.dates import Days
from priming.text.tokens import LANGUAGES

ENTITY = KINDS.index("entity")


class NamespaceArrays:
    """Everything derived from the memories of one namespace; every change is one call."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.pooler = token_part(embedder)
        self.clear()

    def clear(self) -> None:
        """Start empty."""
        self._changed()
        vocabulary = self.pooler.vocabulary if self.pooler else 0
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.reserved_rows: dict[str, int] = {}
        self.alive = Column(np.bool_)
        self.kind = Column(np.int64)
        self.document = Column(np.int64)
        self.topology = Topology()
        self.entities: dict[str, int] = {}
        self.slots: dict[int, str] = {}
        self.row = Column(np.int64)
        self.living = Column(np.bool_)
        self.embedded = Column(np.bool_)
        self.occurred, self.told_at = Column(np.float64), Column(np.float64)
        self.day_order = Column(np.int64)
        self.language = Column(np.int8)
        self.asks = Column(np.bool_)
        self.learned = Column(np.bool_)
        self.states = Column(np.bool_)
        self.specificity = Column(np.int64)
        self.conversations = Conversations()
        self.lexicon = Lexicon()
        self.vectors = VectorColumn(self.embedder.dimension)
        self.neighbours = NearestIndex(self.vectors)
        self.passages = PassageColumn(self.embedder.dimension)
        self.vocabulary = Vocabulary(self.embedder)
        self.tokens = Ragged()
        self.token_df = Column(np.int64, np.zeros(vocabulary, np.int64))
        self.predicates: dict[int, Mapping[str, Any]] = {}
        self.named_days: dict[int, tuple[Days, ...]] = {}
        self.cue_feedback = CueFeedback()
        self.practice: dict[str, Practice] = {}
        self.boundaries: dict[str, float] = {}
        self.head = 0
        self.snapshot_size = 0
        self.late_vectors = 0
        """The number of vectors that came after their texts, since the last snapshot."""
        self._waiting_vectors = WaitingVectors(self.embedder)
        self._novelty = Column(np.int64)
        self._clear_titles()

    def _clear_titles(self) -> None:
        self.title = Column(np.int64)
        self.titles: dict[str, int] = {}
        self.title_terms: list[tuple[str, ...]] = []
        self.title_bare: list[int] = []
        self.title_count = Column(np.int64)
        self.title_spoken = Column(np.int64)
        self.spoken = Column(np.bool_)
        self.title_entity = Column(np.int64)
        self.titles_by_term: dict[str, list[int]] = {}
        self.title_slots: dict[str, list[int]] = {}
        self._speaker_names: Ints | None = None

    def _changed(self) -> None:
        for name in _DERIVED:
            self.__dict__.pop(name, None)

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

    @cached_property
    def waiting(self) -> Ints:
        """The living documents with a text and without a vector of the present generation."""
        return np.flatnonzero(self.living.values & ~self.embedded.values)

    @property
    def missing_vectors(self) -> bool:
        """Whether any document waits for its vector."""
        return len(self.waiting) > 0

    @property
    def waiting_ids(self) -> list[str]:
        """The ids of the memories that wait for their vectors."""
        return [self.ids[row] for row in self.row.values[self.waiting].tolist()]

    def word_cosines(self, text: str) -> tuple[Ints, Floats]:
        """Return the documents that wait for vectors, and the cosines of their words' vectors with those of a text.

        Both are empty where the embedder has no vectors of words.
        """
        return self._waiting_vectors.cosines(text, self.waiting, self.tokens)

    def give_vectors(self, memory_id: str, vectors: TextVectors) -> None:
        """Set the vectors that a memory waited for."""
        document = int(self.document[self.row_of[memory_id]])
        self.vectors[document] = vectors.whole
        self.passages.put(document, vectors)
        self.embedded[document] = True
        self.late_vectors += 1
        self._changed()

    @cached_property
    def eligible(self) -> Bools:
        """The rows that may be hits where nothing narrows a recall: living memories, but no names.

        Nor the corrections from which rules were learned: a rule speaks for them, and where it is gone they are.
        """
        rows = np.asarray(self.alive.values & (self.kind.values != ENTITY))
        rows[self.row.values[self.learned.values]] = False
        return rows

    @cached_property
    def pool(self) -> Bools:
        """The living documents of these rows."""
        return np.asarray(self.eligible[self.row.values] & self.living.values)

    @cached_property
    def order(self) -> Ints | None:
        """The documents ordered by row, the oldest memory first; None if they already are."""
        rows = self.row.values
        return None if np.all(rows[1:] >= rows[:-1]) else np.argsort(rows, kind="stable")

    @cached_property
    def able(self) -> Ints:
        """The living documents with vectors, the oldest memory first."""
        able = self.living.values & self.embedded.values
        return np.flatnonzero(able) if self.order is None else self.order[able[self.order]]

    @cached_property
    def trust(self) -> float:
        """How far the vectors can be trusted, in [0, 1]."""
        is_english = self.main_language == "english"
        return trust_in(self.vectors, self.lexicon, evenly(self.able, SAMPLE), english=is_english)

    @cached_property
    def conversation_context(self) -> ConversationContext:
        """The turns of conversations."""
        return self.conversations.context(self.title.values, self.asks.values)

    @property
    def novelty(self) -> Ints:
        """How many terms each document was the first to hold, counted on first use."""
        if self._novelty.size != self.documents:
            self._novelty = Column(np.int64, self.lexicon.novel_terms(self.row.values, self.living.values))
        return np.asarray(self._novelty.values)

    def _update_novelty(self, number: int, sign: int) -> None:
        row, living = self.row.values, self.living.values
        self.lexicon.update_novel_terms(self._novelty.values, number, sign, row, living)

    def _new_row(self, memory_id: str) -> int:
        self._changed()
        self.ids.append(memory_id)
        self.alive.append(False)
        self.kind.append(NONE)
        self.document.append(NONE)
        self.topology.add_row()
        return self.rows - 1

    def add(self, document: Document) -> None:
        """Add a memory or a bare name; a removed one returns to its old row."""
        self._changed()
        row = self.reserved_rows.pop(document.id, NONE)
        row = self._new_row(document.id) if row == NONE else row
        self.row_of[document.id] = row
        self.alive[row] = True
        self.kind[row] = KINDS.index(document.kind)
        self.topology.words[row] = is_rare_word(document.slot)
        self.document[row] = self._add_text(row, document) if document.indexed else NONE
        if document.slot is not None:
            self.slots[row] = document.slot
            if row <= self.entities.get(document.slot, row):
                self._settle(document.slot, row)

    @cached_property
    def main_language(self) -> str:
        """The language of most texts that tell theirs: that of a cue whose words do not tell."""
        own = self.language.values[self.living.values]
        return LANGUAGES[int(np.bincount(own[own != NONE], minlength=1).argmax())]

    @cached_property
    def read_in(self) -> tuple[str, ...]:
        """The languages in which its texts were read, English where their words do not tell."""
        return tuple(LANGUAGES[code] for code in distinct(np.maximum(self.language.values, 0)))

    @cached_property
    def day_first(self) -> bool | None:
        """Whether the dates of its texts have the day before the month; None where none shows it."""
        return order > 0 if (order := int(self.day_order.values[self.living.values].sum())) else None

    def _add_text(self, row: int, document: Document) -> int:
        number = self.documents
        self._speaker_names = None
        self.topology.weight_cache.clear()
        self.row.append(row)
        self.living.append(True)
        self.embedded.append(document.vectors is not None or not (document.body or document.heading))
        self.occurred.append(document.occurred)
        self.told_at.append(document.told_at)
        self.day_order.append(document.day_order)
        language = document.language
        self.language.append(NONE if language is None else LANGUAGES.index(language))
        self.asks.append(document.asks)
        self.learned.append(document.learned)
        self.states.append(document.states)
        self.specificity.append(document.specificity)
        self.title.append(self._title(document))
        self.spoken.append(document.spoken)
        fresh = self.lexicon.append(document.heading, document.body, document.words)
        if self._novelty.size == number:
            self._novelty.append(fresh)
            if row < self.row.values.max():
                self._update_novelty(number, 1)
        self.vectors.append(None if document.vectors is None else document.vectors.whole)
        if document.vectors is not None:
            self.passages.put(number, document.vectors)
        self.tokens.append(document.tokens)
        self.token_df[document.tokens] += 1
        self.conversations.append(document.session, self.row.values)
        if document.when:
            self.predicates[number] = document.when
        if document.named_days:
            self.named_days[number] = document.named_days
        return number

    def _settle(self, slot: str, row: int) -> None:
        """Set the entity of a slot, or clear it with ``NONE``."""
        self._speaker_names = None
        self.topology.weight_cache.clear()
        if row == NONE:
            del self.entities[slot]
        else:
            self.entities[slot] = row
        for code in self.title_slots.get(slot, ()):
            self.title_entity[code] = row

    def is_own_speaker(self, rows: Ints, entities: Ints) -> Bools:
        """Tell which ``entities`` are the speaker of the memory in the same place of ``rows``, or part of that name.

        The parts, such as a surname, are cached until headings or names change.
        """
        documents = self.document.values[rows]
        if not self.spoken.size:
            return np.zeros(len(rows), np.bool_)
        at = np.maximum(documents, 0)
        if self._speaker_names is None:
            self._speaker_names = self._names_of_speakers()
        names = among((self.title.values[at] << 32) + entities, self._speaker_names)
        return np.asarray((documents != NONE) & self.spoken.values[at] & names)

    def _names_of_speakers(self) -> Ints:
        """Return pairs of a speaker's title and an entity whose name is that speaker's, or stretches of its words."""
        pairs = [
            (code << 32) + self.entities[name]
            for slot, codes in self.title_slots.items()
            for code in codes
            if self.title_spoken[code]
            for name in stretches_of(slot.split())
            if name in self.entities
        ]
        return np.sort(np.array(pairs, np.int64))

    def title_entity_of(self, rows: Ints) -> Ints:
        """Return for each row the entity that its own heading, or its speaker, names; −1 if none."""
        documents = self.document.values[rows]
        if not self.title_entity.size:
            return np.full(len(rows), NONE, np.int64)
        titles = np.where(documents == NONE, NONE, self.title.values[np.maximum(documents, 0)])
        return np.where(titles == NONE, NONE, self.title_entity.values[np.maximum(titles, 0)])

    def titled(self, rows: Ints) -> Bools:
        """Tell which rows are entities that the heading of a living memory names."""
        return self._titled[rows]

    @cached_property
    def _titled(self) -> Bools:
        titled = np.zeros(self.rows, np.bool_)
        named = self.title_entity.values[self.title_count.values > self.title_spoken.values]
        titled[named[named != NONE]] = True
        return titled

    def is_common_compound(self, rows: Ints, most: float) -> Bools:
        """Tell which rows are names such as "flat-plate" whose every word is in more than ``most`` documents."""
        names, at = np.unique(rows, return_inverse=True)
        common = [self.lexicon.is_common_compound(self.slots.get(row, ""), most) for row in names.tolist()]
        return np.array(common, np.bool_)[at]

    def is_turn(self, rows: Ints) -> Bools:
        """Tell which rows are turns of a conversation."""
        around, documents = self.conversation_context, self.document.values[rows]
        if not around.any_turns:
            return np.zeros(len(rows), np.bool_)
        return np.asarray((documents != NONE) & around.turn[np.maximum(documents, 0)])

    def _title(self, document: Document) -> int:
        if document.title is None:
            return NONE
        code = self.titles.setdefault(document.title, len(self.titles))
        if code == len(self.title_terms):
            self.title_terms.append(document.heading)
            self.title_bare.append(bare_terms(document.title, document.heading))
            self.title_count.append(0)
            self.title_spoken.append(0)
            if document.heading:
                self.titles_by_term.setdefault(document.heading[0], []).append(code)
            slot = slot_of_title(document.title)
            self.title_slots.setdefault(slot, []).append(code)
            self.title_entity.append(self.entities.get(slot, NONE))
        self.title_count[code] += 1
        self.title_spoken[code] += document.spoken
        return code

    def remove(self, memory_id: str) -> None:
        """Remove a memory and its links; its row stays reserved."""
        row = self.row_of.pop(memory_id, None)
        if row is None:
            return
        self._changed()
        self.reserved_rows[memory_id] = row
        self.alive[row] = False
        self.topology.drop_row(row)
        if self.document[row] != NONE:
            self._remove_text(int(self.document[row]))
        slot = self.slots.pop(row, None)
        if slot is not None and self.entities[slot] == row:
            shared = len(self.slots) >= len(self.entities)
            heirs = [at for at, other in self.slots.items() if other == slot] if shared else []
            self._settle(slot, min(heirs, default=NONE))

    def drop(self, memory_id: str) -> None:
        """Remove a memory and its row; if it returns, it takes a new row."""
        self.remove(memory_id)
        self.boundaries.pop(memory_id, None)
        self.practice.pop(memory_id, None)
        row = self.reserved_rows.pop(memory_id, NONE)
        if row != NONE:
            self.ids[row] = ""

    def _remove_text(self, number: int) -> None:
        self.living[number] = False
        if self._novelty.size == self.documents:
            self._update_novelty(number, -1)
        self.topology.weight_cache.clear()
        self.predicates.pop(number, None)
        self.named_days.pop(number, None)
        self.lexicon.remove(number)
        self.token_df[self.tokens[number]] -= 1
        if self.title[number] != NONE:
            self.title_count[self.title[number]] -= 1
            self.title_spoken[self.title[number]] -= self.spoken[number]
        self.conversations.remove(number)


_DERIVED = tuple(name for name, value in vars(NamespaceArrays).items() if isinstance(value, cached_property))
"""What is cached until a memory is added or removed, or gets its vectors."""
