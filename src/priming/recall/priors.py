"""The priors of memories beside their match, most of them from their conversation (``docs/recall.md``, 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from priming.config.params.laws import BASE_LEVEL, FORGETTING
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints
from priming.core.base_level import base_level_score, hybrid
from priming.core.forgetting import fsrs_retrievability
from priming.core.lexical import idf, okapi, scaled
from priming.index.columns import NONE
from priming.index.conversation_context import windowed
from priming.index.cue_feedback import Practice
from priming.index.lexicon import Occurrences, among_like, summed
from priming.recall.fusion import combined_evidence, raised
from priming.recall.retrieval import Retrieval
from priming.text.names import marked_words
from priming.text.tokens import terms

DENSE = 8
"""Up to this number of places for each occurrence, sums are counted by place; beyond it, by sorting."""

_HOUR, _DAY = 3600.0, 86400.0
_CONTEXT = ("conversation", "information")
"""The priors that only a conversation gives."""
_NOTE = 0.75
"""The share of the turns that do not ask which tell less than a memory that is no turn."""
_WEIGHTS = {"positive_feedback": "feedback", "negative_feedback": "feedback"}
"""The terms of priors, where they have another name."""


@dataclass(frozen=True)
class ContextEvidence(Retrieval):
    """The matches of every document and of its conversation; the latter are 0 where there is no conversation."""

    @cached_property
    def turns(self) -> NDArray[np.bool_]:
        """Whether a memory is a turn of a conversation."""
        return self.working.conversation_context.turn

    @cached_property
    def window(self) -> Floats:
        """BM25 over each memory and the memories before it in its session, without the names of speakers.

        The first memory of a session is a window of its own; where there is no conversation, all values are 0.
        """
        working, around = self.working, self.working.conversation_context
        if not around.any_turns:
            return np.zeros(working.documents)
        silent = np.array([code in self._speaker_codes for code in self.terms.codes], np.bool_)
        spoken = self.literal_occurrences.only(~silent[self.literal_occurrences.term])
        targets, at, weights = windowed(around, spoken.rows, self.params.window_fade)
        within = Occurrences(spoken.term[at], targets, spoken.tf[at] * weights, spoken.count)
        norm, living = working.window_norm(self.params.window_fade), working.living.values
        return self._living(self._weighed(within, norm, working.memories, around.turn, living))

    @cached_property
    def _speaker_codes(self) -> frozenset[int]:
        """The cue's terms that are in a speaker's name: they say who spoke, not of what."""
        lexicon = self.working.lexicon
        return frozenset(code for term in self.speaker_terms if (code := lexicon.code(term)) is not None)

    @cached_property
    def gist(self) -> Floats:
        """Cosine of the cue and each memory with the memories before it; 0 where there is no conversation."""
        if not self.working.conversation_context.any_turns:
            return np.zeros(self.working.documents)
        return self._living(
            np.maximum(self.working.window_mean(self.signed_cosine, self.params.window_fade), 0.0)
        )

    @cached_property
    def session(self) -> Floats:
        """BM25 over each memory's whole session, near words included; a memory without a session is its own."""
        working, around = self.working, self.working.conversation_context
        if not around.any_turns:
            return np.zeros(working.documents)
        every = self._near_occurrences if self._expands else self.literal_occurrences
        living = every.only(working.living[every.rows])
        within = Occurrences(living.term, around.session[living.rows], living.tf, living.count)
        turn, lives = (np.zeros(len(around.session_norm), np.bool_) for _ in range(2))
        turn[around.session[around.turn]] = lives[around.session[working.living.values]] = True
        scores = self._weighed(within, around.session_norm, around.sessions, turn, lives)
        return self._living(scores[around.session])

    def _weighed(
        self,
        within: Occurrences,
        norm: Floats,
        places: int,
        turn: NDArray[np.bool_],
        living: NDArray[np.bool_],
    ) -> Floats:
        """BM25 of windows or sessions, among their like where the namespace also has other memories than turns."""
        counted = _counted(within, len(norm))
        scores = _bm25(counted, norm, places)
        mixed = self.working.conversation_context.is_mixed
        return among_like(scores, counted, norm, turn, living) if mixed else scores

    def _conversation(self) -> Floats:
        """The match of what was said around each turn: the mean of four, each relative to the best.

        They are the words and the meaning of its window, the words of its session, and the question that it answers.
        """
        if not self.working.conversation_context.any_turns:
            return np.zeros(self.working.documents)
        matches = (
            scaled(self.window),
            scaled(self.gist),
            scaled(self.session),
            self.answered(np.asarray(scaled(self.match))),
        )
        return np.asarray(sum(matches) / len(matches), np.float64)

    def answered(self, match: Floats) -> Floats:
        """The match of the question that each turn follows; 0 for other memories."""
        previous = self.working.conversations.previous.values
        answers = np.flatnonzero((previous != NONE) & self.turns)
        answers = answers[self.working.asks.values[previous[answers]]]
        values = np.zeros(self.working.documents)
        values[answers] = match[previous[answers]]
        return self._living(values)

    def _information(self) -> Floats:
        """What each turn that matches at all tells: its details, its new terms, and that it does not ask.

        A memory that is no turn was stored because it tells something: three of four turns that do not ask tell less.
        """
        working, p = self.working, self.params
        if not working.conversation_context.any_turns:
            return np.zeros(working.documents)
        asks, turns = working.asks.values, self.turns
        words = np.log1p(p.detail * working.specificity.values + working.novelty) / np.log1p(
            p.information_full
        )
        share = (1.0 - p.statement) * np.minimum(1.0, words) + p.statement * ~asks
        stated = share[turns & ~asks]
        note = float(np.quantile(stated, _NOTE)) if stated.size else p.statement
        return np.where(self.match > 0, np.where(turns, share, note), 0.0)


def _bm25(counted: Occurrences, norm: Floats, documents: int) -> Floats:
    """BM25 of every place; ``norm`` has the length norm of each."""
    df = np.bincount(counted.term, minlength=counted.count)
    rarity = np.asarray(idf(df, np.maximum(df, documents)), np.float64)
    return summed(counted.rows, okapi(counted.tf, norm[counted.rows], rarity[counted.term]), len(norm))


def _counted(occurrences: Occurrences, size: int) -> Occurrences:
    """The occurrences of each term in each of ``size`` places, together."""
    keys = occurrences.term * size + occurrences.rows
    key, tf = _counts(keys, occurrences.tf, occurrences.count * size)
    return Occurrences(*np.divmod(key, size), tf, occurrences.count)


def _counts(keys: Ints, tf: Floats, size: int) -> tuple[Ints, Floats]:
    """The distinct keys, ascending, and the occurrences of each."""
    if size <= DENSE * len(keys):
        counts = summed(keys, tf, size)
        distinct = np.flatnonzero(counts)
        return distinct, counts[distinct]
    distinct, at = np.unique(keys, return_inverse=True)
    return distinct, summed(at, tf, len(distinct))


@dataclass(frozen=True)
class Priors(ContextEvidence):
    """The matches and priors of every document, each computed at its first use."""

    @cached_property
    def priors(self) -> dict[str, Floats]:
        """The priors by name, each in [0, 1] before it is weighted."""
        computed = {
            "named": lambda: self.naming,
            "date": self._date,
            "conversation": self._conversation,
            "information": self._information,
            "context": self._context,
        }
        if self.working.cue_feedback:
            computed |= {
                "positive_feedback": lambda: self._feedback(1.0),
                "negative_feedback": lambda: self._feedback(-1.0),
            }
        if self._practice[0]:
            computed |= {"retention": self._retention, "base": self._base}
        return {
            name: compute()
            for name, compute in computed.items()
            if _WEIGHTS.get(name, name) not in self.ablate and self._weight(name)
        }

    def _weight(self, prior: str) -> float:
        """The weight of a prior."""
        return float(getattr(self.params, _WEIGHTS.get(prior, prior)))

    @cached_property
    def prior(self) -> Floats:
        """p: the weighted sum of the priors. What is being forgotten loses, and what was judged to be wrong."""
        total = np.zeros(self.working.documents)
        for name, values in self.priors.items():
            weight = self._weight(name)
            if name == "negative_feedback":
                total -= weight * values
            elif name == "retention":
                total += weight * (values - 1.0)
            else:
                total += weight * values
        return total

    @cached_property
    def h(self) -> Floats:
        """The evidence for each memory with a text, relative to the best; what was useful before is raised."""
        p = self.params
        h = combined_evidence(self.match, self._living(self.prior))
        if not self.useful.any():
            return h
        best = float((self.match + self._living(self.prior)).max())
        return raised(h, p.bm25 * self.useful / best if best > 0 else self.useful, p.useful_below)

    @cached_property
    def naming(self) -> Floats:
        """1 where every term of the heading before its parenthesis is in the cue.

        If the cue names several speakers, only the first counts. Outside of conversations, the name of a speaker or
        author may be a common word: there it counts only where the cue marks it as a name.
        """
        working = self.working
        ordered = self.terms.ordered
        cue_terms = set(ordered)
        titles = [
            title
            for term in dict.fromkeys(ordered)
            for title in working.titles_by_term.get(term, ())
            if cue_terms.issuperset(working.title_terms[title][: working.title_bare[title]])
        ]
        speakers = [title for title in titles if self.speakers[title]]
        if len(speakers) > 1:
            spelling = working.title_terms
            first = min(speakers, key=lambda title: (ordered.index(spelling[title][0]), spelling[title]))
            titles = [title for title in titles if title not in speakers or title == first]
        flags = np.zeros(len(working.title_terms) + 1)
        flags[titles] = 1.0
        marked = {
            term for word in marked_words(self.text, self.language) for term in terms(word, self.language)
        }
        outside = flags.copy()
        outside[[title for title in speakers if not marked.issuperset(working.title_terms[title])]] = 0.0
        at = working.title.values
        return np.asarray(np.where(self.turns, flags[at], outside[at]))

    def _date(self) -> Floats:
        """How well the time of each memory fits the date; half of it for what is no turn: BM25 has the other half."""
        return self.dated * np.where(self.turns, 1.0, 0.5)

    def _context(self) -> Floats:
        values = np.zeros(self.working.documents)
        for document, activation in self.context.items():
            values[document] = activation
        return values

    def _feedback(self, sign: float) -> Floats:
        """The verdicts on similar cues that are for each memory, or by a negative ``sign`` against it; in [0, 1]."""
        values, working = np.zeros(self.working.documents), self.working
        for memory_id, balance in self._verdicts.items():
            row = working.row_of.get(memory_id, NONE)
            document = NONE if row == NONE else int(working.document[row])
            if document != NONE:
                values[document] = min(1.0, max(0.0, sign * balance))
        return values

    def _retention(self) -> Floats:
        """The share of each memory that is retained since its last review; 1 for a memory without reviews."""
        values = np.ones(self.working.documents)
        documents, practices = self._practice
        values[documents] = retained_share(practices, self.now, self.forgetting.fsrs_decay)
        return values

    def _base(self) -> Floats:
        """Base level of each memory by its uses, times the square of the share of the cue that it was useful for.

        Frequent use does not make a memory relevant to every cue: for others a small part counts, times the match,
        so that of two equal memories the used one wins. 0 for a memory that was never used.
        """
        values = np.zeros(self.working.documents)
        documents, practices = self._practice
        values[documents] = base_levels(practices, self.now, self.base_level.d)
        elsewhere = self.params.base_elsewhere * np.asarray(scaled(self.match))
        return values * np.maximum(self.useful_share**2, elsewhere)

    @cached_property
    def _practice(self) -> tuple[list[int], list[Practice]]:
        """The documents that were used or reviewed, and their practice."""
        working, practices = self.working, dict[int, Practice]()
        for memory_id, practice in working.practice.items():
            row = working.row_of.get(memory_id, NONE)
            if row != NONE and working.document[row] != NONE:
                practices[int(working.document[row])] = practice
        return list(practices), list(practices.values())

    @cached_property
    def _verdicts(self) -> dict[str, float]:
        p, feedback = self.params, self.working.cue_feedback
        return feedback.balance(self.cue_of_feedback, p.same_cue, self.rarity, p.first_verdict)

    def lift(self, document: int) -> float:
        """What a conversation adds to the score of a memory: in a dialogue all scores are higher.

        Of what a turn tells it is the most that it could, so that a turn that tells little makes an answer less sure.
        """
        priors = {name: self.priors[name] for name in _CONTEXT if name in self.priors}
        added = {name: float(values[document]) for name, values in priors.items()}
        if "information" in added and self.turns[document]:
            added["information"] = 1.0
        return sum(self._weight(name) * value for name, value in added.items())

    def name_coverage(self, best: int, names: Collection[str]) -> tuple[Floats, float]:
        """How well each document covers the names that the best anchor lacks, R, and ω (``docs/recall.md``, 5)."""
        lexicon, p = self.working.lexicon, self.params
        spelling: dict[int | None, str] = {}
        for term in self.terms.ordered:
            spelling.setdefault(lexicon.code(term), term)
        codes = [code for code in self.terms.codes if spelling[code] in names]
        reach = np.zeros(self.working.documents)
        if not codes or not lexicon.documents:
            return reach, 0.0
        missing = 0.0
        for code in codes:
            postings = lexicon.postings(code)
            part = okapi(postings.tf, lexicon.norms[postings.rows], np.ones(len(postings.rows)))
            covered = np.minimum(1.0, part)
            own = covered[postings.rows == best]
            lack = float(idf(lexicon.df[code], lexicon.documents)) * (
                1.0 - (float(own[0]) if len(own) else 0.0)
            )
            missing += lack
            reach[postings.rows] += lack * covered
        everything = sum(lexicon.rarity(self.terms.codes).tolist())
        share = missing / everything if everything else 0.0
        return self._living((p.coverage_base + self.h) * reach), share


def retained_share(
    practices: Sequence[Practice], now: datetime, decay: float = FORGETTING.fsrs_decay
) -> Floats:
    """FSRS retrievability of each practice; 1 without a review."""
    stability = np.array([practice.stability for practice in practices])
    since = np.array([max(0.0, now.timestamp() - practice.reviewed) / _DAY for practice in practices])
    reviewed = stability > 0
    values = fsrs_retrievability(since, np.where(reviewed, stability, 1.0), decay)
    return np.where(reviewed, np.asarray(values), 1.0)


def base_levels(practices: Sequence[Practice], now: datetime, d: float = BASE_LEVEL.d) -> Floats:
    """Base level of each practice in (0, 1), its latest uses counted exactly; 0 without a use."""
    values = np.zeros(len(practices))
    for count in {len(practice.recent) for practice in practices} - {0}:
        at = [i for i, practice in enumerate(practices) if len(practice.recent) == count]
        ages = np.array([[now.timestamp() - time for time in practices[i].recent] for i in at]) / _HOUR
        life = np.array([now.timestamp() - practices[i].first for i in at]) / _HOUR
        uses = np.array([practices[i].uses for i in at], np.float64)
        levels = hybrid(np.maximum(ages, 0.0), uses, np.maximum(life, 0.0), d)
        values[at] = np.asarray(base_level_score(levels))
    return values
