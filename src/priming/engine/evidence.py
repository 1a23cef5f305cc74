"""What speaks for each memory, given a cue: its matches, and the priors beside them (RECALL.md, per cue 1–5)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from priming.core.check import Floats
from priming.core.dates import asks_time, cue_date, date_match
from priming.core.lexical import idf, scaled
from priming.core.recipe import evidence
from priming.engine.neighbourhood import Neighbourhood
from priming.engine.retention import base_levels, retained
from priming.index.columns import NONE
from priming.index.cue_feedback import Practice

_AROUND = ("window", "session", "gist", "answer", "details")
"""The priors that only what surrounds a memory can give it."""


@dataclass(frozen=True)
class Evidence(Neighbourhood):
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
        return evidence(self.match, self._living(self.prior))

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
        values[documents] = retained(some, self.now)
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
