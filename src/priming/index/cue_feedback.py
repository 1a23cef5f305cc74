"""Feedback in the index: verdicts by their cues, and the uses and reviews of each memory.

Words of a cue for which a memory was useful are read from the verdicts and stored nowhere else, so that what
takes back a verdict takes back its words. One verdict has part of its effect, as an agent can be wrong once; it
counts by how alike the cues are, and for cues of the same days only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import numpy as np

from priming.config.ids import time_of
from priming.config.params.laws import BASE_LEVEL, FORGETTING
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats
from priming.core.base_level import base_level_score, hybrid
from priming.core.forgetting import fsrs_retrievability
from priming.storage.rows import VerdictRow
from priming.text.dates import cue_date, local_time
from priming.text.name_forms.forms import sought_terms
from priming.text.time_grammar import CueDate, days_of, period
from priming.text.tokens import language_of, terms
from priming.types import Retention, Use

_HOUR, _DAY = 3600.0, 86400.0
SIGN = {"used": 1, "confirmed": 1, "not-relevant": -1, "not-useful": -1, "overridden": -1}
"""Whether a verdict counts for a memory or against it."""

_VOTES = 10
"""The votes of a conscious verdict: whole numbers, so that one that is taken back leaves nothing."""
AUTOMATIC = 1 / _VOTES
"""How much a verdict of the automatic tier counts beside a conscious one: nobody looked at the memory."""

Verdict = tuple[str, str, str, str, str, str]
"""Memory, verdict, operation, cue, tier, and when the cue was asked, as ISO 8601 with its zone."""


@dataclass(frozen=True, slots=True)
class AskedCue:
    """What a cue asked: its terms, and the days that it named, since "yesterday" is another day on each day.

    A verdict on a cue says nothing of one with another date, or with one where it has none.
    """

    terms: frozenset[str]
    date: CueDate | None
    key: str
    """The same for the same terms and date."""

    @classmethod
    def of(cls, text: str, at: datetime, main_language: str) -> AskedCue:
        """Read a cue in its language, or in the main one of the namespace where its words do not tell.

        The words that name the date are no terms, unless there are no others.
        """
        language = language_of(text, main_language) or main_language
        today = local_time(at)
        every, named = frozenset(sought_terms(text, language)), cue_date(text, today, language)
        own = (every.difference(terms(named.words, language)) or every) if named else every
        date = None if named is None else days_of(*period(named, today.date()))
        return cls(own, date, f"{' '.join(sorted(own))} {date or ''}")


class CueFeedback:
    """Verdicts by the terms of their cues; verdicts on cues without a text are ignored.

    The cues for which a memory was useful are a field of words by which it is found. Nothing of it is stored beside
    the verdicts, so that what takes back a verdict takes back its words.
    """

    def __init__(self, verdicts: Iterable[Verdict] = (), main_language: str = "english") -> None:
        self._verdicts: dict[tuple[str, str, str], tuple[str, str, str]] = {}
        """The cue, the tier and the time of each verdict."""
        self._language = main_language
        self._clear()
        for memory_id, verdict, operation, cue, tier, at in verdicts:
            self._add((memory_id, verdict, operation), cue, tier, at)

    def _clear(self) -> None:
        self._judged: dict[str, AskedCue] = {}
        self._cues: dict[str, set[str]] = {}
        """The keys of the cues with each term."""
        self._votes: dict[str, Counter[str]] = {}
        """By cue and memory, the votes in favour less those against."""
        self._uses: dict[str, Mapping[str, float]] = {}

    def __bool__(self) -> bool:
        return bool(self._verdicts)

    def __iter__(self) -> Iterator[Verdict]:
        return ((*identity, *judged) for identity, judged in self._verdicts.items())

    def read_in(self, main_language: str) -> None:
        """Read the cues whose words tell no language in this one."""
        if main_language != self._language:
            self._language = main_language
            self._clear()
            for identity, judged in self._verdicts.items():
                self._count(identity, *judged, step=1)

    def put(self, row: VerdictRow) -> None:
        """Add a verdict, unless it was added before."""
        own = row.cue.get("at")
        at = datetime.fromisoformat(own) if isinstance(own, str) else time_of(row.recall) or row.at
        identity = (row.id, row.verdict, row.operation)
        self._add(identity, str(row.cue.get("text", "")), row.tier, at.isoformat())

    def drop(self, row: VerdictRow) -> None:
        """Remove a verdict, if it was added."""
        identity = (row.id, row.verdict, row.operation)
        judged = self._verdicts.pop(identity, None)
        if judged is not None:
            self._count(identity, *judged, step=-1)

    def uses(self, term: str, cue: AskedCue) -> Mapping[str, float]:
        """Count by memory the cues with this term in which it was useful, less those in which it was not, if above 0.

        Each cue counts once, however often it was asked and judged, and none of another date than ``cue``.
        """
        if cue.date is not None:
            return self._sum_of_uses(term, cue)
        uses = self._uses.get(term)
        if uses is None:
            uses = self._uses[term] = self._sum_of_uses(term, cue)
        return uses

    def _sum_of_uses(self, term: str, cue: AskedCue) -> Mapping[str, float]:
        totals: dict[str, float] = {}
        for other in self._others(self._cues.get(term, ()), cue):
            for memory_id, votes in self._votes[other.key].items():
                totals[memory_id] = totals.get(memory_id, 0.0) + max(-1.0, min(1.0, votes / _VOTES))
        return {memory_id: total for memory_id, total in totals.items() if total > 0.0}

    def balance(
        self, cue: AskedCue, least: float, rarity: Callable[[str], float], first: float = 1.0
    ) -> dict[str, float]:
        """Return by memory the balance of verdicts on cues similar to this one: above 0 in favour, below 0 against.

        Each verdict counts by how far the similarity of the two cues is above ``least``, up to 1 for the same cue.
        Similarity is the Jaccard index of their terms weighted by rarity, so that cues that name different things are
        dissimilar, and cues of different dates are not similar at all. One verdict may be wrong: it counts
        ``first``, and each further one that agrees the same share of what is left. However many agree, a memory's
        balance is limited to what the most similar cue counts, so that a verdict on this very cue outweighs verdicts
        on related ones.
        """
        balance: dict[str, float] = {}
        most: dict[str, float] = {}
        for other in self._others({key for term in cue.terms for key in self._cues.get(term, ())}, cue):
            share = _above(weighted_jaccard(cue.terms, other.terms, rarity), least)
            if not share:
                continue
            for memory_id, votes in self._votes[other.key].items():
                balance[memory_id] = balance.get(memory_id, 0.0) + share * (votes / _VOTES)
                most[memory_id] = max(most.get(memory_id, 0.0), share)
        agreed = {memory_id: _agreement(total, first) for memory_id, total in balance.items()}
        return {memory_id: max(-limit, min(limit, agreed[memory_id])) for memory_id, limit in most.items()}

    def _others(self, keys: Iterable[str], cue: AskedCue) -> Iterator[AskedCue]:
        """Return the judged cues that may say something of a cue, in order: a sum of floats depends on it."""
        judged = (self._judged[key] for key in sorted(keys))
        return (other for other in judged if other.date == cue.date)

    def _add(self, identity: tuple[str, str, str], cue: str, tier: str, at: str) -> None:
        if identity not in self._verdicts and terms(cue):
            self._verdicts[identity] = cue, tier, at
            self._count(identity, cue, tier, at, step=1)

    def _count(self, identity: tuple[str, str, str], cue: str, tier: str, at: str, *, step: int) -> None:
        memory_id, verdict, _ = identity
        read = AskedCue.of(cue, datetime.fromisoformat(at), self._language)
        self._judged[read.key] = read
        for term in read.terms:
            self._cues.setdefault(term, set()).add(read.key)
            self._uses.pop(term, None)
        votes = SIGN[verdict] if tier == "automatic" else SIGN[verdict] * _VOTES
        self._votes.setdefault(read.key, Counter())[memory_id] += step * votes


def _above(similarity: float, least: float) -> float:
    """Return how far a similarity is above the least, 1 for the same cue."""
    if similarity >= 1.0:
        return 1.0
    return max(0.0, (similarity - least) / (1.0 - least)) if least < 1.0 else 0.0


def _agreement(balance: float, first: float) -> float:
    """Count a balance of verdicts within [−1, 1]: the first its share, each further one that share of the rest."""
    size = abs(balance)
    strength = first * size if size <= 1.0 else 1.0 - (1.0 - first) ** size
    return strength if balance > 0.0 else -strength


def weighted_jaccard(a: frozenset[str], b: frozenset[str], rarity: Callable[[str], float]) -> float:
    """Return the Jaccard index of two sets of terms, each term weighted by its rarity."""
    shared, either = (sum(map(rarity, sorted(terms_))) for terms_ in (a & b, a | b))
    return shared / either if either else 0.0


@dataclass(frozen=True, slots=True)
class Practice:
    """Uses and reviews of one memory: times in seconds, the latest use first.

    ``stability`` is 0 if there was no review.
    """

    uses: int
    first: float
    recent: tuple[float, ...]
    stability: float
    reviewed: float

    @classmethod
    def of(cls, use: Use, retention: Retention) -> Practice | None:
        """Return the practice of a memory; None if it was neither used nor reviewed."""
        recent = use.recent or ((use.last_used_at,) if use.last_used_at and use.uses else ())
        if not recent and retention.stability is None:
            return None
        first = min((*recent, *((use.first_used_at,) if use.first_used_at else ())), default=None)
        return cls(
            use.uses,
            first.timestamp() if first else 0.0,
            tuple(at.timestamp() for at in recent),
            retention.stability or 0.0,
            retention.reviewed_at.timestamp() if retention.reviewed_at else 0.0,
        )


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
    """Return the base level of each practice in (0, 1), its latest uses counted exactly; 0 without a use."""
    values = np.zeros(len(practices))
    for count in {len(practice.recent) for practice in practices} - {0}:
        at = [i for i, practice in enumerate(practices) if len(practice.recent) == count]
        ages = np.array([[now.timestamp() - time for time in practices[i].recent] for i in at]) / _HOUR
        life = np.array([now.timestamp() - practices[i].first for i in at]) / _HOUR
        uses = np.array([practices[i].uses for i in at], np.float64)
        levels = hybrid(np.maximum(ages, 0.0), uses, np.maximum(life, 0.0), d)
        values[at] = np.asarray(base_level_score(levels))
    return values
