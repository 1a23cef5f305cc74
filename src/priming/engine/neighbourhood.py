"""What the memories around a memory say for it, in a conversation (RECALL.md, per cue 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from priming.core.check import Floats
from priming.core.lexical import idf, okapi, scaled
from priming.engine.matches import Matches
from priming.index.columns import NONE, Ints
from priming.index.lexicon import Occurrences, summed

DENSE = 8
"""Up to so many places for each occurrence, sums are counted place by place; beyond, by sorting the occurrences."""


@dataclass(frozen=True)
class Neighbourhood(Matches):
    """The matches of every document, and those of what it stands among; nothing where none has a neighbour."""

    @cached_property
    def neighboured(self) -> NDArray[np.bool_]:
        """Whether a memory has a neighbour in its session."""
        return self.working.conversation_context.has_neighbour

    @cached_property
    def window(self) -> Floats:
        """BM25 over each memory and what was said before it, less the names of speakers.

        A memory that nothing was said before stands alone; where no memory has a neighbour there is no such
        evidence at all.
        """
        working, around = self.working, self.working.conversation_context
        if not around.any_neighbours:
            return np.zeros(working.documents)
        silent = np.array([code in self._speaker_codes for code in self.terms.codes], np.bool_)
        found = self.found.only(~silent[self.found.term])
        targets, at, weights = working.conversations.windowed(found.rows, self.params.window_fade)
        within = Occurrences(found.term[at], targets, found.tf[at] * weights, found.count)
        return self._living(_scored(within, working.window_norm(self.params.window_fade), working.memories))

    @cached_property
    def _speaker_codes(self) -> frozenset[int]:
        """Those of the cue's terms that are in a speaker's name: they tell who spoke, not of what."""
        working = self.working
        often = np.flatnonzero(self.speakers).tolist()
        named = {term for title in often for term in working.title_terms[title]}
        return frozenset(code for term in named if (code := working.lexicon.code(term)) is not None)

    @cached_property
    def gist(self) -> Floats:
        """Cosine of the cue and each memory with what was said before it; none where no memory has a neighbour."""
        if not self.working.conversation_context.any_neighbours:
            return np.zeros(self.working.documents)
        return self._living(
            np.maximum(self.working.window_mean(self._products, self.params.window_fade), 0.0)
        )

    @cached_property
    def session(self) -> Floats:
        """BM25 over each memory's whole session, near words included; one without is a session of its own."""
        working, around = self.working, self.working.conversation_context
        if not around.any_neighbours:
            return np.zeros(working.documents)
        found = self._nearby if self._looks_near else self.found
        found = found.only(working.living[found.rows])
        within = Occurrences(found.term, around.session[found.rows], found.tf, found.count)
        return self._living(_scored(within, around.session_norm, around.sessions)[around.session])

    def _answer(self) -> Floats:
        """Of what follows a question: the match of that question."""
        before = self.working.conversations.previous.values
        asked = np.flatnonzero(before != NONE)
        asked = asked[self.working.asks.values[before[asked]]]
        values = np.zeros(self.working.documents)
        values[asked] = scaled(self.match)[before[asked]]
        return self._living(values)

    def _details(self) -> Floats:
        """How much a memory that matches at all has to tell beside talk.

        Nothing where no memory has a neighbour, for then none is talk.
        """
        if not self.working.conversation_context.any_neighbours:
            return np.zeros(self.working.documents)
        share = np.minimum(1.0, self.working.specificity.values / self.params.details_full)
        return np.where(self.match > 0, share, 0.0)

    def _news(self) -> Floats:
        """How many words a memory brought that no older one holds; one that stands alone lacks nothing."""
        working, around = self.working, self.working.conversation_context
        if not around.any_neighbours:
            return np.ones(working.documents)
        brought = np.log1p(working.novelty) / np.log1p(self.params.news_full)
        return np.where(around.has_neighbour, np.minimum(1.0, brought), 1.0)


def _scored(found: Occurrences, norm: Floats, documents: int) -> Floats:
    """BM25 of every place from the occurrences of terms there; ``norm`` is that of each place."""
    size = len(norm)
    key, tf = _tallied(found.term * size + found.rows, found.tf, found.count * size)
    term, place = np.divmod(key, size)
    held = np.bincount(term, minlength=found.count)
    rarity = np.asarray(idf(held, np.maximum(held, documents)), np.float64)
    return summed(place, okapi(tf, norm[place], rarity[term]), size)


def _tallied(keys: Ints, tf: Floats, size: int) -> tuple[Ints, Floats]:
    """The distinct keys, ascending, and the occurrences of each."""
    if size <= DENSE * len(keys):
        counted = summed(keys, tf, size)
        held = np.flatnonzero(counted)
        return held, counted[held]
    held, at = np.unique(keys, return_inverse=True)
    return held, summed(at, tf, len(held))
