"""Asking every contestant every question of a set, one contestant after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from priming.bench.contestants import Contestant
from priming.bench.scoring import Asked, asked
from priming.bench.sets import BenchSet, Part
from priming.embed.protocol import Embedder, Vectors
from priming.errors import BenchError

Step = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A part with the vectors of its items and cues, and the milliseconds that each cue's took."""

    part: Part
    vectors: Vectors
    cues: Vectors
    cue_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one contestant did: its answers in the order of the questions, or the ``error`` that ended it."""

    name: str
    what: str
    versions: dict[str, str]
    answers: tuple[Asked, ...]
    load_seconds: float = 0.0
    error: str | None = None


def prepared(of: BenchSet, embedder: Embedder) -> list[Prepared]:
    """Make the vectors that contestants share; each cue's alone, as it comes."""
    parts = []
    for part in of.parts:
        vectors = embedder.embed([item.indexed for item in part.items])
        cues = embedder.embed([query.text for query in part.queries])
        times = []
        for query in part.queries:
            began = time.perf_counter()
            embedder.embed([query.text])
            times.append((time.perf_counter() - began) * 1000.0)
        parts.append(Prepared(part, vectors, cues, tuple(times)))
    return parts


def measured(
    contestant: Contestant, parts: Sequence[Prepared], hits: int, step: Step, seconds: float = math.inf
) -> Outcome:
    """Load each part into a contestant and ask its questions, warm.

    Of ``seconds`` each part gets an even share of what is left. A part that takes longer than its share is asked
    for half a share more, or half as long as it took to load (at most half of ``seconds``); the questions asked are
    spread over it. A part whose turn does not come before the end is left out.

    Raises:
        BenchError: it could not run, or an answer cannot be scored.

    """
    answers: list[Asked] = []
    total = sum(len(part.part.queries) for part in parts)
    before, loading = 0, 0.0
    with closing(contestant):
        contestant.begin()
        end = time.perf_counter() + seconds
        for place, part in enumerate(parts):
            began = time.perf_counter()
            if place and began >= end:
                break
            share = (end - began) / (len(parts) - place)
            contestant.load(part.part, part.vectors)
            loaded = time.perf_counter()
            loading += loaded - began
            until = max(began + share, loaded + max(share, min(loaded - began, seconds)) / 2)
            for answer in _answers(contestant, part, hits, before, until):
                answers.append(answer)
                step(len(answers), total)
            before += len(part.part.queries)
    ordered = tuple(sorted(answers, key=lambda answer: answer.number))
    return Outcome(contestant.name, contestant.what, dict(contestant.versions), ordered, loading)


def attempted(
    contestant: Contestant, parts: Sequence[Prepared], hits: int, step: Step, seconds: float = math.inf
) -> Outcome:
    """As ``measured``, but what cannot run is told as its outcome: the others go on."""
    try:
        return measured(contestant, parts, hits, step, seconds)
    except BenchError as error:
        return Outcome(contestant.name, contestant.what, {}, (), error=str(error))


def spread(count: int) -> list[int]:
    """All places below ``count``, in an order of which every beginning is spread evenly over them.

    Steps of the golden section, to the nearest number that shares no divisor with ``count``.

    >>> spread(8)
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    golden = count * (math.sqrt(5.0) - 1.0) / 2.0
    coprime = [step for step in range(1, count) if math.gcd(step, count) == 1]
    stride = min(coprime, key=lambda step: abs(step - golden), default=1)
    return [place * stride % count for place in range(count)]


def _answers(
    contestant: Contestant, prepared: Prepared, hits: int, before: int, until: float
) -> Iterator[Asked]:
    """Ask the questions of a part until it is time, in their order where that never comes.

    The first is asked twice and only its second answer counts, unless it is time after the first.
    """
    part = prepared.part
    order = range(len(part.queries)) if until == math.inf else spread(len(part.queries))
    warm = contestant.search(part.queries[0].text, prepared.cues[0], hits)
    answer = warm if time.perf_counter() >= until else None
    for place in order:
        query = part.queries[place]
        answer = answer or contestant.search(query.text, prepared.cues[place], hits)
        ms = answer.ms + (prepared.cue_ms[place] if contestant.vectors else 0.0)
        yield asked(answer, query, part, before + place, ms, hits)
        answer = None
        if time.perf_counter() >= until:
            break
