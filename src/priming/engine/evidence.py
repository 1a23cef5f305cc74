"""What speaks for each memory, given a cue: matches of words and meaning, and priors (RECALL.md, per cue 1–4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from priming.core.check import Floats
from priming.core.dates import asks_time, cue_date, date_match
from priming.core.lexical import bm25, idf, scaled, terms, tf_part
from priming.core.recipe import evidence, fuse
from priming.embed.protocol import Embedder, TokenEmbedder, Vectors
from priming.engine.arrays import NONE
from priming.engine.retention import Practice, base_levels, retained
from priming.engine.working import WorkingSet
from priming.params import RecallParams

EXACT = 6
"""Decimals of a cosine that count: like texts tie."""


@dataclass(frozen=True, slots=True)
class CueTerms:
    """A cue's terms: in order, and without repeats with their codes in the lexicon."""

    ordered: tuple[str, ...]
    codes: tuple[int, ...]

    @classmethod
    def of(cls, text: str, working: WorkingSet) -> CueTerms:
        """Read a cue against the words of a namespace."""
        ordered = tuple(terms(text))
        lexicon = working.lexicon
        found = [lexicon.code(term) for term in dict.fromkeys(ordered)]
        return cls(ordered, tuple(code for code in found if code is not None and lexicon.df[code]))


@dataclass(frozen=True)
class Evidence:
    """The matches and priors of every document, each computed when first asked for.

    They are relative to the best of ``pool``, the documents that may answer; the others have none.
    """

    working: WorkingSet
    embedder: Embedder
    text: str
    params: RecallParams
    now: datetime
    context: Mapping[int, float] = field(default_factory=dict)
    ablate: Collection[str] = ()
    pool: NDArray[np.bool_] | None = None

    @cached_property
    def terms(self) -> CueTerms:
        """The cue's terms."""
        return CueTerms.of(self.text, self.working)

    @cached_property
    def bm25(self) -> Floats:
        """BM25 of heading and body."""
        return self._living(self.working.lexicon.score(self.terms.codes))

    @cached_property
    def query(self) -> Vectors:
        """The cue's vector: its tokens weighted by how rare they are in this namespace, unless that is off."""
        weighs = self.params.idf and "idf" not in self.ablate
        if not weighs or not isinstance(self.embedder, TokenEmbedder):
            (vector,) = self.embedder.embed([self.text])
            return np.asarray(vector, np.float32)
        ids = self.embedder.tokens([self.text])[0]
        weights = idf(self.working.token_df[ids], max(self.working.memories, 1))
        return self.embedder.pool(ids, weights)

    @cached_property
    def cosine(self) -> Floats:
        """Cosine of the cue and each memory, 0 where it is negative."""
        found = np.round(self.working.vectors.exact(self.query), EXACT)
        return self._living(np.maximum(found, 0.0))

    @cached_property
    def pairs(self) -> Floats:
        """Worth of the cue's adjacent terms that stand side by side in a memory."""
        codes = [self.working.lexicon.code(term) for term in self.terms.ordered]
        return self._living(self.working.lexicon.pair_score(codes, self.working.living.values))

    @cached_property
    def neighboured(self) -> NDArray[np.bool_]:
        """Whether a memory has a neighbour in its session."""
        alone = (self.working.before.values == NONE) & (self.working.behind.values == NONE)
        return np.asarray(~alone, np.bool_)

    @cached_property
    def window(self) -> Floats:
        """BM25 over each memory and its neighbours in the session; one without neighbours stands alone.

        Where no memory has a neighbour there is no such evidence at all.
        """
        working = self.working
        if not self.neighboured.any():
            return np.zeros(working.documents)
        total = working.window_lengths
        mean = float(total[working.living.values].mean()) if working.memories else 1.0
        scores = np.zeros(working.documents)
        for code in self.terms.codes:
            found = working.lexicon.postings(code)
            living = working.living[found.rows]
            targets, at = working.windowed(found.rows[living])
            rows, inverse = np.unique(targets, return_inverse=True)
            tf = np.bincount(inverse, weights=found.tf[living][at], minlength=len(rows))
            df = len(rows)
            scores[rows] += bm25(tf, df, max(working.memories, df), total[rows], max(mean, 1.0))
        return self._living(scores)

    @cached_property
    def session(self) -> Floats:
        """BM25 over each memory's whole session; a memory without one is a session of its own."""
        working = self.working
        if not self.neighboured.any():
            return np.zeros(working.documents)
        own = len(working.sessions) + np.arange(working.documents)
        of = np.where(working.session.values == NONE, own, working.session.values)
        living = working.living.values
        count = len(working.sessions) + working.documents
        length = np.bincount(of[living], weights=working.lexicon.length.values[living], minlength=count)
        sessions = max(int(np.count_nonzero(length)), 1)
        mean = max(float(length.sum()) / sessions, 1.0)
        scores = np.zeros(count)
        for code in self.terms.codes:
            found = working.lexicon.postings(code)
            inside = living[found.rows]
            tf = np.bincount(of[found.rows[inside]], weights=found.tf[inside], minlength=count)
            held = np.flatnonzero(tf)
            scores[held] += bm25(tf[held], len(held), sessions, length[held], mean)
        return self._living(scores[of])

    @cached_property
    def matches(self) -> dict[str, Floats]:
        """The scaled matches that are fused, by name."""
        return {name: np.asarray(scaled(getattr(self, name))) for name in self._matched}

    @property
    def _matched(self) -> dict[str, float]:
        """Weights of the fused matches; without sentence vectors their weight goes to the memory's own."""
        p = self.params
        weights = {"bm25": p.bm25, "cosine": p.cosine + p.sentence, "pairs": p.pairs}
        return {name: w for name, w in weights.items() if w and name not in self.ablate}

    @cached_property
    def priors(self) -> dict[str, Floats]:
        """What speaks for a memory beside its match, by name, in [0, 1] before its weight."""
        made = {
            "named": self._named,
            "date": self._date,
            "time": self._time,
            "length": self._length,
            "question": lambda: self.working.asks.values.astype(np.float64),
            "window": lambda: np.asarray(scaled(self.window)),
            "session": lambda: np.asarray(scaled(self.session)),
            "context": self._context,
        }
        if self.working.judgements:
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
        """p: the priors, weighted and summed; questions, short memories and those being forgotten lose."""
        total = np.zeros(self.working.documents)
        for name, values in self.priors.items():
            weight = getattr(self.params, name)
            if name in ("question", "refused"):
                total -= weight * values
            elif name in ("length", "retention"):
                total += weight * (values - 1.0)
            else:
                total += weight * values
        return total

    @cached_property
    def h(self) -> Floats:
        """The evidence for each memory with a text, relative to the best."""
        return evidence(self.match, self._living(self.prior))

    @cached_property
    def match(self) -> Floats:
        """r: the fused matches, without what else speaks for a memory."""
        fused = fuse(self.matches, self._matched) if self.matches else np.zeros(self.working.documents)
        return self._living(fused)

    @property
    def _texts(self) -> NDArray[np.bool_]:
        return self.working.living.values if self.pool is None else self.pool

    def _living(self, values: Floats) -> Floats:
        return np.where(self._texts, values, 0.0)

    def _named(self) -> Floats:
        """1 where every term of the heading is in the cue; of speakers, only for the one mentioned first."""
        working = self.working
        ordered = self.terms.ordered
        known = set(ordered)
        matched = [
            title
            for term in dict.fromkeys(ordered)
            for title in working.titles_by_term.get(term, ())
            if known.issuperset(working.title_terms[title])
        ]
        bar = self.params.speaker_share * working.memories
        speakers = [title for title in matched if working.title_count[title] >= bar]
        if len(speakers) > 1:
            spelt = working.title_terms
            first = min(speakers, key=lambda title: (ordered.index(spelt[title][0]), spelt[title]))
            matched = [title for title in matched if title not in speakers or title == first]
        flags = np.zeros(len(working.title_terms) + 1)
        flags[matched] = 1.0
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
        return np.asarray(np.minimum(1.0, np.log1p(self.working.lexicon.length.values) / full))

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
        """Base level of each memory by its uses; 0 of one that was never used."""
        values = np.zeros(self.working.documents)
        documents, some = self._practised
        values[documents] = base_levels(some, self.now)
        return values

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
        return self.working.judgements.on(self.terms.ordered, self.params.same_cue, self._rarity)

    def _rarity(self, term: str) -> float:
        """How much a term tells: its idf, that of a term no memory has being the greatest."""
        lexicon = self.working.lexicon
        code = lexicon.code(term)
        df = 0 if code is None else int(lexicon.df[code])
        return float(idf(min(df, lexicon.documents), max(lexicon.documents, 1)))

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
            covered = np.minimum(
                1.0, p.coverage_gain * tf_part(found.tf, lexicon.length[found.rows], lexicon.mean_length)
            )
            own = covered[found.rows == best]
            lack = float(idf(lexicon.df[code], lexicon.documents)) * (
                1.0 - (float(own[0]) if len(own) else 0.0)
            )
            missing += lack
            reach[found.rows] += lack * covered
        everything = sum(float(idf(lexicon.df[code], lexicon.documents)) for code in self.terms.codes)
        share = min(p.coverage_cap, missing / everything) if everything else 0.0
        return self._living((p.coverage_base + self.h) * reach), share

    def _spelled(self, code: int) -> str:
        return next(term for term in self.terms.ordered if self.working.lexicon.code(term) == code)
