"""From answers to figures: what each question got, and what that comes to. The only place that reads gold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from priming.bench.contestants import Found
from priming.bench.sets import BenchSet, Part, Query
from priming.core.metrics import auc, percentiles, recall_at, reciprocal_rank
from priming.errors import BenchError

MRR = "MRR"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what a contestant brought up for it.

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
    """Means over some questions: ``values`` by name, ``R@5`` … and ``MRR``; ``silent`` got no hit at all."""

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
    median_ms: float
    p99_ms: float
    auc: float | None


def asked(found: Found, query: Query, part: Part, number: int, ms: float, limit: int) -> Asked:
    """Check an answer and put it beside its question.

    Raises:
        BenchError: a score that is not finite, a key that was never handed over or stands twice, too many keys.

    """
    labels = {item.key: item.label for item in part.items}
    keys = tuple(found.keys)
    problem = _problem(found, keys, labels, limit)
    if problem:
        raise BenchError(f"question {number} of {part.name}: {problem}")
    scores = None if found.scores is None else tuple(float(one) for one in found.scores)
    confidence = found.confidence
    if confidence is None and scores:
        confidence = scores[0]
    return Asked(
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


def _problem(found: Found, keys: Sequence[str], labels: Mapping[str, str], limit: int) -> str | None:
    """What cannot be scored in an answer, if anything."""
    numbers = [*(found.scores or ()), found.ms, *([] if found.confidence is None else [found.confidence])]
    wild = next((one for one in numbers if not math.isfinite(one)), None)
    if wild is not None:
        return f"scores and times must be finite, not {wild}"
    if found.scores is not None and len(found.scores) != len(keys):
        return f"{len(found.scores)} scores for {len(keys)} keys"
    if len(keys) > limit:
        return f"{len(keys)} keys, at most {limit} were asked for"
    if len(set(keys)) < len(keys):
        return "a key stands twice"
    unknown = [key for key in keys if key not in labels]
    return f"the key {unknown[0]!r} was never handed over" if unknown else None


def columns(answers: Sequence[Asked], ks: Sequence[int]) -> dict[str, list[float]]:
    """Each figure of each question, by name."""
    found = {f"R@{k}": [recall_at(one.gold, one.labels, k) for one in answers] for k in ks}
    return {**found, MRR: [reciprocal_rank(one.gold, one.labels) for one in answers]}


def headline(answers: Sequence[Asked], of: BenchSet) -> list[Asked]:
    """The questions that the headline is about: those that have an answer."""
    return [one for one in answers if one.category != of.unanswerable]


def summary(answers: Sequence[Asked], of: BenchSet) -> Summary:
    """All figures of one contestant on one set."""
    if not answers:
        raise BenchError(f"{of.name}: no question was asked, so there is nothing to sum up")
    times = [one.ms for one in answers]
    median, p99 = percentiles(times, (0.5, 0.99))
    categories = sorted({one.category for one in answers})
    return Summary(
        headline=figures(headline(answers, of), of.ks),
        by_category={
            name: figures([one for one in answers if one.category == name], of.ks) for name in categories
        },
        median_ms=median,
        p99_ms=p99,
        auc=_auc(answers, of),
    )


def figures(answers: Sequence[Asked], ks: Sequence[int]) -> Figures:
    """Means over questions; no figures of none."""
    values = columns(answers, ks) if answers else {}
    means = {name: math.fsum(each) / len(each) for name, each in values.items()}
    return Figures(len(answers), means, sum(not one.keys for one in answers))


def _auc(answers: Sequence[Asked], of: BenchSet) -> float | None:
    """How well confidence tells answerable from unanswerable; who says nothing is the least sure of all."""
    if all(one.confidence is None for one in answers):
        return None
    sure: tuple[list[float], list[float]] = ([], [])
    for one in answers:
        sure[one.category == of.unanswerable].append(-math.inf if one.confidence is None else one.confidence)
    return auc(*sure) if all(sure) else None
