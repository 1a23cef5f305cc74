"""What speaks for a memory as the answer of a cue, each figure absolute (``docs/recall.md``)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from priming.config.values import dataclass
from priming.config.words import CONFLICTS, KEPT_BESIDE
from priming.core.arguments.arrays import Bools, Floats, Ints, best_rows, distinct
from priming.core.lexical import beyond_chance, evidence_idf, idf, okapi
from priming.embedding.protocol import Vectors, background_of, word_part
from priming.index.columns import NONE
from priming.index.cue_feedback import base_levels, retained_share
from priming.index.nearest import evenly
from priming.index.vocabulary import EXACT
from priming.recall.cue import CueReading

_SAMPLE = 256
"""Memories whose cosines with a cue are the background of the cosine of a hit."""
_PSEUDO = 20.0
"""Observations that the embedder's own background counts for beside that sample."""
_FULL = np.log(21.0)
"""Twenty new words are all the information that counts."""
_FOUND = 60
"""How many candidates each kind of evidence brings."""
_DATED = 0.5
"""How well a memory fits a date, from which it may tell of it: within the time in which half of that is lost."""
_ALIKE, _SURELY = 2.0, 1.9
"""Deviations above the background from which two may be versions of one memory, and beyond the rest when they are."""
_FEW = 20.0
"""Below so many candidates the rest hardly tells what is near here: half-way to the same stands in."""
_VERSIONS = 3
"""Versions of one memory may be so many: each has all but one of them nearer than the rest."""
_RIVALS = 40
"""How many of the best are compared with each other for that."""
_FITS, _BEHIND, _AHEAD = 1.0, 3.5, 2.0
"""Minus the log-odds of a later version, and log-odds by which it is behind, at which it counts half."""
_ITSELF = 4.0
"""How many times as much as a heading a key counts that is the whole cue."""
_DETAIL = 5.0
"""New words that a name, number or time counts for."""


@dataclass(frozen=True)
class Evidence(CueReading):
    """The figures of a cue and of documents, each computed at its first use."""

    def _living(self, values: Floats) -> Floats:
        return values if self.texts.all() else np.where(self.texts, values, 0.0)

    @cached_property
    def size(self) -> float:
        """Ln N, N the memories with a text: what it takes to single out one by chance."""
        return float(np.log(max(2, self.working.memories)))

    @cached_property
    def query(self) -> Vectors:
        """The cue's vector; the tokens of a sum of tokens are weighted by their rarity in this namespace."""
        pooler = self.working.pooler
        if pooler is not self.embedder or not self.params.idf:
            (vector,) = self.embedder.embed([self.text])
            return np.asarray(vector, np.float32)
        ids = pooler.tokens([self.text])[0]
        weights = idf(self.working.token_df[ids], max(self.working.memories, 1))
        return np.asarray(pooler.pool(ids, weights), np.float32)

    @cached_property
    def cosine(self) -> Floats:
        """Cosine of the cue and each memory, 0 where it is negative."""
        return self._living(np.maximum(self.signed_cosine, 0.0))

    @cached_property
    def signed_cosine(self) -> Floats:
        """Cosine of the cue and each document, or its best passage, negative ones too."""
        return self.cosines()

    @cached_property
    def figure_terms(self) -> list[int]:
        """The places of the cue's terms that have a digit."""
        return [place for place, term in enumerate(self.terms) if any(map(str.isdecimal, term))]

    @cached_property
    def idf(self) -> Floats:
        """What each term tells by itself, in nats (``evidence_idf``)."""
        lexicon, df = self.working.lexicon, []
        for term in self.terms:
            code, near = lexicon.code(term), self.near.get(term)
            own = 0 if code is None else int(lexicon.df[code])
            df.append(float(own) if near is None else near.df)
        count = max(lexicon.documents, 1)
        return np.asarray(evidence_idf(np.minimum(df, count), count), np.float64)

    @cached_property
    def shares(self) -> Floats:
        """The share of the cue that each term is, by what it tells."""
        return np.asarray(self.idf / max(float(self.idf.sum()), 1e-9), np.float64)

    @cached_property
    def words(self) -> Floats:
        """The evidence of words for every document, in nats: Σ idf · part over the cue's terms."""
        norms, total = self.working.lexicon.norms, np.zeros(self.working.documents)
        for own, rarity in zip(self.postings, self.idf.tolist(), strict=True):
            total[own.rows] += okapi(own.tf, norms[own.rows], rarity)
        return self._living(total)

    def covered(self, documents: Ints) -> Floats:
        """Return how much of each term each document has: min(1, part), shape (documents, terms)."""
        norms, parts = self.working.lexicon.norms[documents], np.zeros((len(documents), len(self.terms)))
        for at, own in enumerate(self.postings):
            parts[:, at] = okapi(own.counts(documents), norms, 1.0)
        return np.minimum(1.0, parts)

    def have_all(self, documents: Ints) -> Bools:
        """Tell whether each document has every term of the cue: it is about nothing else."""
        return np.asarray((self.covered(documents) > 0.0).all(axis=1) & bool(self.terms))

    @cached_property
    def literal(self) -> Floats:
        """BM25 of heading and body for the cue's own terms only."""
        return self._living(self.working.lexicon.score(self.codes))

    def cosines(self, documents: Ints | None = None) -> Floats:
        """Return the cosine of the cue and each of some documents (None: of all), or the best passage of each."""
        cosines = np.round(self.working.vectors.exact(self.query, documents), EXACT)
        if self.params.passages:
            long, best = self.working.passages.best(self.query, documents)
            cosines[long] = np.maximum(cosines[long], best)
        return cosines

    @cached_property
    def background(self) -> tuple[float, float]:
        """The mean and spread of this cue's cosines with anything, by a sample, shrunk to the embedder's own."""
        working, own = self.working, background_of(self.embedder)
        cosines = self.cosines(evenly(working.able, _SAMPLE))
        count = len(cosines) + _PSEUDO
        mean = (cosines.sum() + _PSEUDO * own.mean) / count
        second = ((cosines - mean) ** 2).sum() + _PSEUDO * (own.spread**2 + (own.mean - mean) ** 2)
        return float(mean), float(np.sqrt(second / count))

    @cached_property
    def _by_words(self) -> dict[int, float]:
        """Z by the vectors of words, of documents that wait for their own."""
        documents, cosines = self.working.word_cosines(self.text)
        own = background_of(word_part(self.embedder) or self.embedder)
        return dict(
            zip(documents.tolist(), (own.strength * (cosines - own.mean) / own.spread).tolist(), strict=True)
        )

    def deviations(self, cosines: Floats) -> Floats:
        """Give the deviations of each cosine above what this cue has with anything, as far as vectors are trusted.

        A cue of figures alone, or of which the embedder knows no word, says nothing of any: 1200 is not nearly 1201.
        """
        if not self.query.any() or 0 < len(self.figure_terms) == len(self.terms):
            return np.zeros(len(cosines))
        mean, spread = self.background
        strength = background_of(self.embedder).strength * self.working.trust
        return np.asarray(strength * (cosines - mean) / spread, np.float64)

    def fits(self, words: Floats, deviations: Floats) -> Floats:
        """Return how well words (nats / ln N) and meaning fit together, in log-odds."""
        p = self.params
        return p.words * beyond_chance(words, p.incidental) + p.meaning * deviations

    def meaning(self, documents: Ints) -> Floats:
        """Return Z: how many deviations the cosine of each document is above what this cue has with anything."""
        values = self.deviations(self.cosines(documents))
        if self.working.missing_vectors:
            values = np.where(self.working.embedded[documents], values, 0.0)
            for at, document in enumerate(documents.tolist()):
                values[at] = self._by_words.get(document, values[at])
        return np.asarray(values, np.float64)

    def match(self, rows: Ints) -> Floats:
        """Tell how well words and meaning of each row fit, in log-odds, 0 if they speak against it or are absent."""
        every, values = self.working.document[rows], np.zeros(len(rows))
        documents = every[every != NONE]
        own = self.working.lexicon.score(self.codes, documents)
        words = np.where(self.texts[documents], own, 0.0) / self.size
        values[every != NONE] = np.maximum(0.0, self.fits(words, self.meaning(documents)))
        return values

    @cached_property
    def vocabulary(self) -> float:
        """The share of the cue, by what its terms tell, of which any memory has a word."""
        living = self.working.living.values
        occurs = np.array([living[own.rows].any() for own in self.postings], np.bool_)
        total = float(self.idf.sum())
        return float(self.idf[occurs].sum()) / total if total else 0.0

    @cached_property
    def turns(self) -> Bools:
        """Whether a memory is a turn of a conversation."""
        return self.working.conversation_context.turn

    def covered_by_session(self, documents: Ints) -> Floats:
        """Return the share of the cue, without speakers' names, that the conversation of each document has."""
        around = self.working.conversation_context
        silent = np.array([term in self.speaker_terms for term in self.terms], np.bool_)
        rarity = np.where(silent, 0.0, self.idf)
        total = float(rarity.sum())
        if not around.any_turns or not total or not len(documents):
            return np.zeros(len(documents))
        sessions, at = np.unique(around.session[documents], return_inverse=True)
        share, norms = np.zeros(len(sessions)), self.working.lexicon.norms
        for own, weight in zip(self.postings, rarity.tolist(), strict=True):
            if weight and len(own.rows):
                session = around.session[own.rows]
                place = np.minimum(np.searchsorted(sessions, session), len(sessions) - 1)
                here = (sessions[place] == session) & self.working.living.values[own.rows]
                part = np.minimum(1.0, okapi(own.tf[here], norms[own.rows[here]], 1.0))
                best = np.zeros(len(sessions))
                np.maximum.at(best, place[here], part)
                share += weight * best
        return np.where(self.turns[documents], (share / total)[at], 0.0)

    @cached_property
    def about_speaker(self) -> Bools:
        """The documents that name the speaker whom the cue names first, and that nobody says."""
        first, titles, bare = self.named_speakers[:1], self.working.title_terms, self.working.title_bare
        names = {name for code in first.tolist() for name in titles[code][: bare[code]]}
        is_said = np.append(self.speakers, False)[self.working.title.values]
        return np.asarray(self._with_all(names) & ~is_said, np.bool_)

    @cached_property
    def _own_session(self) -> float:
        """The share of the cue that the best conversation of the speaker whom it names first has."""
        of_speaker = np.isin(self.working.title.values, self.named_speakers[:1])
        return float(self.covered_by_session(np.flatnonzero(of_speaker & self.turns)).max(initial=0.0))

    def answered(self, documents: Ints) -> Floats:
        """Return how well the meaning of the question fits that each document follows; 0 where it follows none."""
        working = self.working
        previous = working.conversations.previous.values[documents]
        follows = (previous != NONE) & self.turns[documents]
        follows[follows] = working.asks.values[previous[follows]]
        questions, at = np.unique(previous[follows], return_inverse=True)
        values = np.zeros(len(documents))
        values[follows] = np.maximum(0.0, self.meaning(questions))[at]
        return values

    def information(self, documents: Ints) -> Floats:
        """Return what each turn tells: its names, numbers and times, and its new words, in [0, 1]."""
        working = self.working
        details = _DETAIL * working.specificity.values[documents] + working.novelty[documents]
        return np.asarray(np.minimum(1.0, np.log1p(details) / _FULL), np.float64)

    def candidates(self, pool: Bools) -> Ints:
        """Return the documents worth scoring: the best by words, by meaning, by conversation, and of the date.

        Of equals the older memory is the better, here as below, whichever documents its versions are: so the past is
        ranked as it was.
        """
        best = [self._best(self.words, pool), self.nearest(pool)]
        if self._itself != NONE and pool[self._itself]:
            best.append(np.array([self._itself]))
        if self.named_date is not None:
            best.append(self._best(np.where(self.dated >= _DATED, self.dated, 0.0), pool))
        if self.context:
            best.append(np.array([at for at in self.context if pool[at]], np.int64))
        if self.working.conversation_context.any_turns and len(best[0]):
            best.append(self._of_sessions(pool))
        rows = self.working.row.values[np.concatenate(best)]
        documents: Ints = self.working.document.values[distinct(rows)]
        return documents

    def _best(self, values: Floats, pool: Bools) -> Ints:
        """Return the documents of the largest positive values."""
        return best_rows(np.where(pool & self.texts, values, 0.0), _FOUND, self.working.row.values)

    def nearest(self, pool: Bools) -> Ints:
        """Return the documents nearest in meaning."""
        able, rows = pool & self.texts, self.working.row.values
        near, _ = self.working.neighbours.nearest(self.query, _FOUND, able, rows)
        by_passage = self.working.passages.nearest(self.query, _FOUND, able, rows)
        waiting = (
            [document for document in self._by_words if able[document]]
            if self.working.missing_vectors
            else []
        )
        best = sorted(waiting, key=lambda document: (-self._by_words[document], rows[document]))[:_FOUND]
        return np.concatenate([near, by_passage, np.array(best, np.int64)])

    def _of_sessions(self, pool: Bools) -> Ints:
        """Return the turns that match best together with their conversation."""
        turns = np.flatnonzero(pool & self.texts & self.turns & (self.words > 0))
        match = self.params.words * self.words[turns] / self.size
        match += self.params.session * self.covered_by_session(turns)
        return turns[np.lexsort((self.working.row.values[turns], -match))[:_FOUND]]

    def outdated(self, documents: Ints, odds: Floats) -> Floats:
        """Tell how far a later version of each is there, one of another conversation that fits the cue about as well.

        Two are versions of one memory where each is nearer to the other than to all but one of the rest; what fits
        less than the later may be what that leads to. A cue that names a time asks for what was so then; what has a
        name of the cue ("Ana", "locker 8") has no version without it. Of two that contradict, the later is one.
        """
        own, values = background_of(self.embedder), np.zeros(len(documents))
        if self.named_date is not None or len(documents) < 2:
            return values
        at = np.flatnonzero(odds >= np.sort(odds)[-_RIVALS:][0])
        vectors = self.working.vectors.take(documents)
        # A product of matrices would wake threads of BLAS, which then wait in a loop for 20 ms.
        near = np.vecdot(vectors[at][:, None], vectors)
        near[np.arange(len(at)), at] = -1.0
        rest = np.sort(near, axis=1)[:, -_VERSIONS] if len(documents) > _VERSIONS else -1.0
        rest = np.maximum(rest, own.mean + _ALIKE * own.spread)
        few = max(0.0, 1.0 - len(documents) / _FEW)
        rest += few * np.maximum(0.0, (1.0 + own.mean) / 2.0 - rest)
        beyond = self.working.trust * (near[:, at].T - rest) / own.spread
        alike = np.clip(np.minimum(beyond, beyond.T) / _SURELY, 0.0, 1.0)
        better = odds[at] - odds[at][:, None]
        fits = 1.0 / (1.0 + np.exp(-_FITS - odds[at])) / (1.0 + np.exp(better - _AHEAD))
        fits /= 1.0 + np.exp(-better - _BEHIND)
        when = self.working.occurred.values[documents[at]]
        session = self.working.conversation_context.session[documents[at]]
        alike *= session != session[:, None]
        if names := [place for place, term in enumerate(self.terms) if term in self.named_terms]:
            has = self.covered(documents[at])[:, names] > 0.0
            alike *= ~(has[:, None] & ~has).any(axis=2)
        between, rows = self.working.topology.between, self.working.row[documents[at]]
        conflicts = between(rows, CONFLICTS)
        alike[conflicts] = 1.0
        alike[between(rows, KEPT_BESIDE)] = 0.0
        # Of two told at once that contradict, the one told last.
        later = (when > when[:, None]) | (conflicts & (when == when[:, None]) & (rows > rows[:, None]))
        values[at] = np.where(later, alike * fits, 0.0).max(axis=1)
        return values

    def figures(self, documents: Ints) -> dict[str, Floats]:
        """Return the figures of some documents by the name of their weight."""
        working, turns, none = self.working, self.turns[documents], np.zeros(len(documents))
        title = working.title.values[documents]
        values = {
            "size": np.full(len(documents), self.size),
            "words": beyond_chance(self.words[documents] / self.size, self.params.incidental),
            "meaning": self.meaning(documents),
            "vocabulary": np.full(len(documents), self.vocabulary),
            "date": self.dated[documents],
            "named": np.where(
                documents == self._itself, _ITSELF, np.where(turns, 0.0, self._is_named[title])
            ),
        }
        if working.conversation_context.any_turns:
            named = self.named_speakers
            is_other = turns & (title != named[0]) if named.size else np.zeros(len(documents), np.bool_)
            about, session = self.about_speaker[documents] & ~turns, self.covered_by_session(documents)
            values |= {
                "other": np.where(is_other, 1.0, none),
                "asks": np.where(turns, working.asks.values[documents], none),
                "information": np.where(turns | about, self.information(documents), none),
                "session": np.where(about, self._own_session, session) if about.any() else session,
                "answered": self.answered(documents),
            }
        if self.context:
            values["context"] = np.array([self.context.get(at, 0.0) for at in documents.tolist()])
        practice = working.practice
        if not (practice or working.cue_feedback):
            return values
        ids = [working.ids[row] for row in working.row[documents].tolist()]
        if working.cue_feedback:
            values["feedback"] = np.array([self._verdicts.get(memory_id, 0.0) for memory_id in ids])
        practised = {
            at: working.practice[memory_id]
            for at, memory_id in enumerate(ids)
            if memory_id in working.practice
        }
        if practised:
            own, values["use"] = list(practised.values()), none.copy()
            values["use"][list(practised)] = (
                base_levels(own, self.now, self.base_level.d)
                + retained_share(own, self.now, self.forgetting.fsrs_decay)
                - 1.0
            )
        return values

    @cached_property
    def _itself(self) -> int:
        """The document whose key or id the cue is."""
        row = self.working.named_by(self.text, self.now)
        return NONE if row is None else int(self.working.document[row])

    @cached_property
    def _is_named(self) -> Floats:
        """By title, whether the cue has every term of it before its parenthesis; the last one is no title's."""
        working, cue_terms = self.working, set(self.terms)
        flags = np.zeros(len(working.title_terms) + 1)
        for term in cue_terms:
            for title in working.titles_by_term.get(term, ()):
                if cue_terms.issuperset(working.title_terms[title][: working.title_bare[title]]):
                    flags[title] = 1.0
        return flags

    @cached_property
    def _verdicts(self) -> dict[str, float]:
        p, feedback = self.params, self.working.cue_feedback
        return feedback.balance(self.cue_of_feedback, p.same_cue, self.rarity, p.first_verdict)
