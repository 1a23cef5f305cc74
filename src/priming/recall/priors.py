"""What the memories around a memory say for it, in a conversation (RECALL.md, per cue 3)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from priming.core.arguments.arrays import Floats, Ints
from priming.core.lexical import idf, okapi, scaled
from priming.index.columns import NONE
from priming.index.cue_feedback import Practice
from priming.index.lexicon import Occurrences, summed
from priming.learning.retention import base_levels, retained_share
from priming.recall.fusion import combined_evidence
from priming.recall.retrieval import Retrieval
from priming.text.dates import asks_time, cue_date, date_match

DENSE = 8
"""Up to so many places for each occurrence, sums are counted place by place; beyond, by sorting the occurrences."""


@dataclass(frozen=True)
class ContextEvidence(Retrieval):
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


_AROUND = ("window", "session", "gist", "answer", "details")
"""The priors that only what surrounds a memory can give it."""


@dataclass(frozen=True)
class Priors(ContextEvidence):
    """The matches and priors of every document, each computed when first asked for."""

    @cached_property
    def priors(self) -> dict[str, Floats]:
        """What speaks for a memory beside its match, by name, in [0, 1] before its weight."""
        made = {
            "named": lambda: self.naming,
            "date": self._date,
            "time": self._time,
            "length": self._length,
            "question": lambda: self.working.asks.values.astype(np.float64),
            "window": lambda: np.asarray(scaled(self.window)),
            "session": lambda: np.asarray(scaled(self.session)),
            "gist": lambda: np.asarray(scaled(self.gist)),
            "answer": self._answer,
            "details": self._details,
            "news": self._news,
            "context": self._context,
        }
        if self.working.cue_feedback:
            made |= {"proved": lambda: self._judged(1.0), "refused": lambda: self._judged(-1.0)}
        if self._practised[0]:
            made |= {"retention": self._retention, "base": self._base}
        return {
            name: make()
            for name, make in made.items()
            if name not in self.ablate and getattr(self.params, name)
        }

    @cached_property
    def prior(self) -> Floats:
        """p: the priors, weighted and summed.

        Questions, short memories, what brings nothing new and what is being forgotten lose.
        """
        total = np.zeros(self.working.documents)
        for name, values in self.priors.items():
            weight = getattr(self.params, name)
            if name in ("question", "refused"):
                total -= weight * values
            elif name in ("length", "news", "retention"):
                total += weight * (values - 1.0)
            else:
                total += weight * values
        return total

    @cached_property
    def h(self) -> Floats:
        """The evidence for each memory with a text, relative to the best."""
        return combined_evidence(self.match, self._living(self.prior))

    @cached_property
    def naming(self) -> Floats:
        """1 where every term of the heading is in the cue, less where only those before its parenthesis are.

        Of speakers, only the one mentioned first is named.
        """
        working = self.working
        ordered = self.terms.ordered
        known = set(ordered)
        matched = [
            title
            for term in dict.fromkeys(ordered)
            for title in working.titles_by_term.get(term, ())
            if known.issuperset(working.title_terms[title][: working.title_bare[title]])
        ]
        speakers = [title for title in matched if self.speakers[title]]
        if len(speakers) > 1:
            spelt = working.title_terms
            first = min(speakers, key=lambda title: (ordered.index(spelt[title][0]), spelt[title]))
            matched = [title for title in matched if title not in speakers or title == first]
        flags = np.zeros(len(working.title_terms) + 1)
        whole = [known.issuperset(working.title_terms[title]) for title in matched]
        flags[matched] = np.where(whole, 1.0, self.params.named_bare)
        return np.asarray(flags[working.title.values])

    def _date(self) -> Floats:
        named = cue_date(self.text, self.now)
        if named is None:
            return np.zeros(self.working.documents)
        return np.asarray(date_match(named, self.working.occurred.values, self.params))

    def _time(self) -> Floats:
        return np.asarray(self.working.timed.values * float(asks_time(self.text)), np.float64)

    def _length(self) -> Floats:
        full = np.log1p(self.params.length_terms)
        return np.asarray(np.minimum(1.0, self.working.lexicon.log_lengths / full))

    def _context(self) -> Floats:
        values = np.zeros(self.working.documents)
        for document, activation in self.context.items():
            values[document] = activation
        return values

    def _judged(self, sign: float) -> Floats:
        """What verdicts on cues like this one said for a memory, or against it; in [0, 1]."""
        values, working = np.zeros(self.working.documents), self.working
        for memory_id, balance in self._verdicts.items():
            row = working.row_of.get(memory_id, NONE)
            document = NONE if row == NONE else int(working.document[row])
            if document != NONE:
                values[document] = min(1.0, max(0.0, sign * balance))
        return values

    def _retention(self) -> Floats:
        """How much of each memory is retained since its last review; 1 of one that never had any."""
        values = np.ones(self.working.documents)
        documents, some = self._practised
        values[documents] = retained_share(some, self.now)
        return values

    def _base(self) -> Floats:
        """Base level of each memory by its uses, as far as the cue matches it; 0 of one that was never used.

        What was used often is not thereby of use for everything.
        """
        values = np.zeros(self.working.documents)
        documents, some = self._practised
        values[documents] = base_levels(some, self.now)
        return np.asarray(values * scaled(self.match))

    @cached_property
    def _practised(self) -> tuple[list[int], list[Practice]]:
        """The documents that were used or reviewed, and their practice."""
        working, found = self.working, {}
        for memory_id, one in working.practice.items():
            row = working.row_of.get(memory_id, NONE)
            if row != NONE and working.document[row] != NONE:
                found[int(working.document[row])] = one
        return list(found), list(found.values())

    @cached_property
    def _verdicts(self) -> dict[str, float]:
        return self.working.cue_feedback.balance(self.terms.ordered, self.params.same_cue, self.rarity)

    def lift(self, document: int) -> float:
        """What its neighbourhood adds to the score of a memory: where there is a dialogue all scores are higher."""
        told = [name for name in _AROUND if name in self.priors]
        return float(sum(getattr(self.params, name) * self.priors[name][document] for name in told))

    def lacking(self, best: int, names: Collection[str]) -> tuple[Floats, float]:
        """What the best anchor lacks of the cue's names: R of every row, and ω (RECALL.md, per cue 5)."""
        lexicon, p = self.working.lexicon, self.params
        codes = [code for code in self.terms.codes if self._spelled(code) in names]
        reach = np.zeros(self.working.documents)
        if not codes or not lexicon.documents:
            return reach, 0.0
        missing = 0.0
        for code in codes:
            found = lexicon.postings(code)
            part = found.tf / (found.tf + lexicon.norms[found.rows])
            covered = np.minimum(1.0, p.coverage_gain * part)
            own = covered[found.rows == best]
            lack = float(idf(lexicon.df[code], lexicon.documents)) * (
                1.0 - (float(own[0]) if len(own) else 0.0)
            )
            missing += lack
            reach[found.rows] += lack * covered
        everything = sum(lexicon.rarity(self.terms.codes).tolist())
        share = min(p.coverage_cap, missing / everything) if everything else 0.0
        return self._living((p.coverage_base + self.h) * reach), share

    def _spelled(self, code: int) -> str:
        return next(term for term in self.terms.ordered if self.working.lexicon.code(term) == code)
