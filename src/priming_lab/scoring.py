"""Computes figures from answers. No other module reads the gold labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from priming.config.values import dataclass
from priming.core.pack import estimate_tokens
from priming.errors import BenchError
from priming.learning.replay import reciprocal_rank
from priming.recall.formatting import format_full
from priming.types import MemoryRecord
from priming_lab.contestants import SearchResult
from priming_lab.metrics import auc, ndcg_at, percentiles, recall_at
from priming_lab.sets import BenchItem, BenchPart, BenchQuery, BenchSet

MRR, NDCG = "MRR", "nDCG@10"
_NDCG_PLACES = 10


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """A question and the keys that a contestant returned for it.

    ``labels`` are what gold names the ``keys`` by; ``confidence`` is None where the contestant is silent or does
    not say.
    """

    part: str
    number: int
    category: str
    gold: frozenset[str]
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    scores: tuple[float, ...] | None
    confidence: float | None
    ms: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions: ``values`` by name, such as ``R@5`` and ``MRR``; ``silent`` had no hit."""

    questions: int
    values: Mapping[str, float]
    silent: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of one contestant.

    ``auc`` says how well its confidence tells answerable from unanswerable questions; None where the set has none
    or it says no confidence.
    """

    headline: Figures
    by_category: Mapping[str, Figures]
    by_part: Mapping[str, Figures]
    median_ms: float
    p99_ms: float
    auc: float | None


def score_answer(
    answer: SearchResult, query: BenchQuery, part: BenchPart, number: int, ms: float, limit: int
) -> ScoredAnswer:
    """Check an answer and pair it with its question.

    Raises:
        BenchError: a score that is not finite, an unknown or repeated key, or too many keys.

    """
    labels = {item.key: item.label for item in part.items}
    keys = tuple(answer.keys)
    problem = _problem(answer, keys, labels, limit)
    if problem:
        raise BenchError(f"question {number} of {part.name}: {problem}")
    scores = None if answer.scores is None else tuple(float(score) for score in answer.scores)
    confidence = answer.confidence
    if confidence is None and scores:
        confidence = scores[0]
    return ScoredAnswer(
        part.name,
        number,
        query.category,
        query.gold,
        keys,
        tuple(labels[key] for key in keys),
        scores,
        confidence,
        ms,
    )


def _problem(answer: SearchResult, keys: Sequence[str], labels: Mapping[str, str], limit: int) -> str | None:
    """Return the reason why an answer cannot be scored, if any."""
    numbers = [*(answer.scores or ()), answer.ms, *([] if answer.confidence is None else [answer.confidence])]
    wild = next((number for number in numbers if not math.isfinite(number)), None)
    if wild is not None:
        return f"scores and times must be finite, not {wild}"
    if answer.scores is not None and len(answer.scores) != len(keys):
        return f"{len(answer.scores)} scores for {len(keys)} keys"
    if len(keys) > limit:
        return f"{len(keys)} keys, at most {limit} were asked for"
    if len(set(keys)) < len(keys):
        return "a key stands twice"
    unknown = [key for key in keys if key not in labels]
    return f"the key {unknown[0]!r} was never handed over" if unknown else None


def columns(answers: Sequence[ScoredAnswer], ks: Sequence[int]) -> dict[str, list[float]]:
    """Return each figure of each question, by name."""
    recalls = {f"R@{k}": [recall_at(answer.gold, answer.labels, k) for answer in answers] for k in ks}
    gains = [ndcg_at(answer.gold, answer.labels, _NDCG_PLACES) for answer in answers]
    return {
        **recalls,
        NDCG: gains,
        MRR: [reciprocal_rank(answer.gold, answer.labels) for answer in answers],
    }


def headline(answers: Sequence[ScoredAnswer], of: BenchSet) -> list[ScoredAnswer]:
    """Return the questions of the headline figures: those that have an answer."""
    return [answer for answer in answers if answer.category != of.unanswerable]


def summary(answers: Sequence[ScoredAnswer], of: BenchSet) -> Summary:
    """Return all figures of one contestant on one set."""
    if not answers:
        raise BenchError(f"{of.name}: no question was asked, so there is nothing to sum up")
    times = [answer.ms for answer in answers]
    median, p99 = percentiles(times, (0.5, 0.99))
    categories = sorted({answer.category for answer in answers if answer.gold})
    parts = dict.fromkeys(answer.part for answer in answers)
    answerable = headline(answers, of)
    return Summary(
        headline=figures(answerable, of.ks),
        by_category={
            name: figures([answer for answer in answers if answer.category == name], of.ks)
            for name in categories
        },
        by_part={
            name: figures([answer for answer in answerable if answer.part == name], of.ks) for name in parts
        },
        median_ms=median,
        p99_ms=p99,
        auc=_auc(answers, of),
    )


def figures(answers: Sequence[ScoredAnswer], ks: Sequence[int]) -> Figures:
    """Return the means over questions; without questions there are no figures."""
    values = columns(answers, ks) if answers else {}
    means = {name: math.fsum(each) / len(each) for name, each in values.items()}
    return Figures(len(answers), means, sum(not answer.keys for answer in answers))


def _auc(answers: Sequence[ScoredAnswer], of: BenchSet) -> float | None:
    """Tell how well confidence parts answerable from unanswerable questions; no answer is the lowest confidence."""
    if all(answer.confidence is None for answer in answers):
        return None
    sure: tuple[list[float], list[float]] = ([], [])
    for answer in answers:
        sure[answer.category == of.unanswerable].append(
            -math.inf if answer.confidence is None else answer.confidence
        )
    return auc(*sure) if all(sure) else None


SHARES = (0.8, 0.9)
"""Of the gold, how much is to be held on the mean."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The tokens needed to include ``share`` of the gold, averaged over questions.

    ``budget``: the smallest number of tokens that does it, the same for each question. ``k``: the fewest hits that
    do, and ``tokens``, the mean length of so many. ``saved``: 1 − budget / whole, ``whole`` being the mean length
    of all that a question could be about. None where the ranking does not hold so much.
    """

    share: float
    whole: float
    budget: int | None = None
    k: int | None = None
    tokens: float | None = None

    @property
    def saved(self) -> float | None:
        """The fraction of all tokens that need not be read."""
        return None if self.budget is None else 1.0 - self.budget / self.whole


_ANY_DAY = datetime(2026, 1, 1, tzinfo=UTC)
"""When an item without a time is told: all days are as long."""


def length(item: BenchItem) -> int:
    """Return the tokens of an item as recall packs it, line end included: the same for every contestant."""
    values = {name: value for name, value in item.arguments().items() if name != "files"}
    record = MemoryRecord(id=item.key, namespace="bench", gist=item.text, recorded_at=_ANY_DAY, **values)
    return estimate_tokens(format_full(record) + "\n")


def lengths(of: BenchSet) -> dict[str, dict[str, int]]:
    """Return the length of each item, by part and key."""
    return {part.name: {item.key: length(item) for item in part.items} for part in of.parts}


def tokens_of_part(answers: Sequence[ScoredAnswer], sizes: Mapping[str, Mapping[str, int]]) -> float:
    """Return the mean over questions of the tokens of all memories of their part."""
    total = {name: sum(each.values()) for name, each in sizes.items()}
    return math.fsum(total[answer.part] for answer in answers) / len(answers)


def costs(
    answers: Sequence[ScoredAnswer], sizes: Mapping[str, Mapping[str, int]], shares: Sequence[float] = SHARES
) -> tuple[Cost, ...]:
    """Return the cost of each share; ``answers`` should be far longer than needed."""
    everything = tokens_of_part(answers, sizes)
    by_tokens = evidence_by_budget([_arrivals(answer, sizes[answer.part]) for answer in answers])
    by_place = evidence_by_budget([_arrivals(answer, dict.fromkeys(answer.keys, 1)) for answer in answers])
    return tuple(_cost(share, everything, by_tokens, by_place, answers, sizes) for share in shares)


def _cost(
    share: float,
    everything: float,
    by_tokens: Sequence[tuple[int, float]],
    by_place: Sequence[tuple[int, float]],
    answers: Sequence[ScoredAnswer],
    sizes: Mapping[str, Mapping[str, int]],
) -> Cost:
    budget, k = reaching(by_tokens, share), reaching(by_place, share)
    if budget is None or k is None:
        return Cost(share, everything)
    taken = [sum(sizes[answer.part][key] for key in answer.keys[:k]) for answer in answers]
    return Cost(share, everything, budget, k, math.fsum(taken) / len(taken))


def _arrivals(answer: ScoredAnswer, sizes: Mapping[str, int]) -> tuple[list[int], int]:
    """Return the amount read at which each gold item is included, and the number of gold items."""
    seen, used, at = set(), 0, []
    for key, label in zip(answer.keys, answer.labels, strict=True):
        used += sizes[key]
        if label in answer.gold and label not in seen:
            seen.add(label)
            at.append(used)
    return at, len(answer.gold)


def evidence_by_budget(arrivals: Sequence[tuple[Sequence[int], int]]) -> list[tuple[int, float]]:
    """Return the mean share of the gold included, at each point where it grows: (amount read, share), ascending.

    >>> evidence_by_budget([([3, 10], 2), ([3], 1)])
    [(3, 0.75), (10, 1.0)]
    """
    growth: dict[int, list[float]] = {}
    for at, gold in arrivals:
        for size in at:
            growth.setdefault(size, []).append(1.0 / (gold * len(arrivals)))
    parts: list[float] = []
    steps = []
    for at_most in sorted(growth):
        parts += growth[at_most]
        steps.append((at_most, round(math.fsum(parts), _EXACT)))
    return steps


def reaching(steps: Sequence[tuple[int, float]], share: float) -> int | None:
    """Return the least amount that includes a share; None if none does.

    >>> reaching([(3, 0.75), (10, 1.0)], 0.8)
    10
    """
    return next((used for used, got in steps if got >= share), None)


def curve(
    answers: Sequence[ScoredAnswer], sizes: Mapping[str, Mapping[str, int]], budgets: Sequence[int]
) -> list[tuple[int, float]]:
    """Return the mean share that is included within each budget."""
    steps = evidence_by_budget([_arrivals(answer, sizes[answer.part]) for answer in answers])
    return [(budget, max((got for used, got in steps if used <= budget), default=0.0)) for budget in budgets]


_EXACT = 12
"""Decimals of a share: sums of fractions that make a whole are one."""
