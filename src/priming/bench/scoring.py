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


def asked(answer: Found, query: Query, part: Part, number: int, ms: float, limit: int) -> Asked:
    """Check an answer and put it beside its question.

    Raises:
        BenchError: a score that is not finite, a key that was never handed over or stands twice, too many keys.

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


def _problem(answer: Found, keys: Sequence[str], labels: Mapping[str, str], limit: int) -> str | None:
    """What cannot be scored in an answer, if anything."""
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


def columns(answers: Sequence[Asked], ks: Sequence[int]) -> dict[str, list[float]]:
    """Each figure of each question, by name."""
    recalls = {f"R@{k}": [recall_at(answer.gold, answer.labels, k) for answer in answers] for k in ks}
    return {**recalls, MRR: [reciprocal_rank(answer.gold, answer.labels) for answer in answers]}


def headline(answers: Sequence[Asked], of: BenchSet) -> list[Asked]:
    """The questions that the headline is about: those that have an answer."""
    return [answer for answer in answers if answer.category != of.unanswerable]


def summary(answers: Sequence[Asked], of: BenchSet) -> Summary:
    """All figures of one contestant on one set."""
    if not answers:
        raise BenchError(f"{of.name}: no question was asked, so there is nothing to sum up")
    times = [answer.ms for answer in answers]
    median, p99 = percentiles(times, (0.5, 0.99))
    categories = sorted({answer.category for answer in answers})
    return Summary(
        headline=figures(headline(answers, of), of.ks),
        by_category={
            name: figures([answer for answer in answers if answer.category == name], of.ks)
            for name in categories
        },
        median_ms=median,
        p99_ms=p99,
        auc=_auc(answers, of),
    )


def figures(answers: Sequence[Asked], ks: Sequence[int]) -> Figures:
    """Means over questions; no figures of none."""
    values = columns(answers, ks) if answers else {}
    means = {name: math.fsum(each) / len(each) for name, each in values.items()}
    return Figures(len(answers), means, sum(not answer.keys for answer in answers))


def _auc(answers: Sequence[Asked], of: BenchSet) -> float | None:
    """How well confidence tells answerable from unanswerable; who says nothing is the least sure of all."""
    if all(answer.confidence is None for answer in answers):
        return None
    sure: tuple[list[float], list[float]] = ([], [])
    for answer in answers:
        sure[answer.category == of.unanswerable].append(
            -math.inf if answer.confidence is None else answer.confidence
        )
    return auc(*sure) if all(sure) else None
