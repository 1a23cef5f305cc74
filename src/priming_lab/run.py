"""Runs a benchmark: asks each contestant all questions of a set, one contestant after another."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import field, replace
from pathlib import Path

import numpy as np

from priming.config.values import dataclass
from priming.embedding.protocol import Embedder, Vectors
from priming.errors import BenchError, ParamError
from priming_lab import scoring
from priming_lab.contestants import BENCH, BenchParams, Contestant, Plain, Priming, Shelf
from priming_lab.metrics import PairedDifference, paired_difference
from priming_lab.rivals import Rival
from priming_lab.scoring import ScoredAnswer, Summary, columns, headline, score_answer, summary
from priming_lab.sets import BenchPart, BenchSet

ProgressCallback = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class PreparedPart:
    """A part with the vectors of its items and cues, and the milliseconds to embed each cue."""

    part: BenchPart
    vectors: Vectors
    cues: Vectors
    cue_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ContestantOutcome:
    """The answers of a contestant in the order of the questions, or the ``error`` that ended it."""

    name: str
    what: str
    versions: dict[str, str]
    answers: tuple[ScoredAnswer, ...]
    load_seconds: float = 0.0
    error: str | None = None


def prepare(of: BenchSet, embedder: Embedder) -> list[PreparedPart]:
    """Compute the vectors that contestants share; each cue is embedded by itself, as in a recall."""
    parts = []
    for part in of.parts:
        vectors = embedder.embed([item.indexed for item in part.items])
        cues = embedder.embed([query.text for query in part.queries])
        times = []
        for query in part.queries:
            began = time.perf_counter()
            embedder.embed([query.text])
            times.append((time.perf_counter() - began) * 1000.0)
        parts.append(PreparedPart(part, vectors, cues, tuple(times)))
    return parts


def measure(
    contestant: Contestant,
    parts: Sequence[PreparedPart],
    hits: int,
    step: ProgressCallback,
    seconds: float = math.inf,
) -> ContestantOutcome:
    """Load each part into a contestant and ask its questions, after a warm-up.

    Of ``seconds`` each part gets an even share of what is left. A part that takes longer than its share is asked
    for half a share more, or half as long as it took to load (at most half of ``seconds``); the questions asked are
    spread over it. A part whose turn does not come before the end is left out.

    Raises:
        BenchError: it could not run, or an answer cannot be scored.

    """
    answers: list[ScoredAnswer] = []
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
    return ContestantOutcome(contestant.name, contestant.what, dict(contestant.versions), ordered, loading)


def attempt(
    contestant: Contestant,
    parts: Sequence[PreparedPart],
    hits: int,
    step: ProgressCallback,
    seconds: float = math.inf,
) -> ContestantOutcome:
    """Measure as ``measure`` does, but make an error the contestant's outcome, so that the others go on."""
    try:
        return measure(contestant, parts, hits, step, seconds)
    except BenchError as error:
        return ContestantOutcome(contestant.name, contestant.what, {}, (), error=str(error))


def spread_order(count: int) -> list[int]:
    """Return all indices below ``count``, in an order of which every prefix is spread evenly.

    Steps of the golden section, to the nearest number that shares no divisor with ``count``.

    >>> spread_order(8)
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    golden = count * (math.sqrt(5.0) - 1.0) / 2.0
    coprime = [step for step in range(1, count) if math.gcd(step, count) == 1]
    stride = min(coprime, key=lambda step: abs(step - golden), default=1)
    return [place * stride % count for place in range(count)]


def _answers(
    contestant: Contestant, prepared: PreparedPart, hits: int, before: int, until: float
) -> Iterator[ScoredAnswer]:
    """Ask the questions of a part until the time is up; in their order if there is no limit.

    The first is asked twice and only its second answer counts, unless it is time after the first.
    """
    part = prepared.part
    order = range(len(part.queries)) if until == math.inf else spread_order(len(part.queries))
    warm = contestant.search(part.queries[0].text, prepared.cues[0], hits)
    answer = warm if time.perf_counter() >= until else None
    for place in order:
        query = part.queries[place]
        answer = answer or contestant.search(query.text, prepared.cues[place], hits)
        ms = answer.ms + (prepared.cue_ms[place] if contestant.vectors else 0.0)
        yield score_answer(answer, query, part, before + place, ms, hits)
        answer = None
        if time.perf_counter() >= until:
            break


Watch = Callable[[str], AbstractContextManager[ProgressCallback]]


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """The settings of a run.

    Each of ``ablate`` is a run of its own without that term, or without all that its commas join; ``token_costs``
    asks deep as well; ``shuffled`` deals the gold out anew, after which nothing should be found but by chance.
    """

    profile: str = "priming"
    ablate: Sequence[str] = ()
    baselines: Sequence[str] = ()
    rivals: Sequence[Path] = ()
    cache: Path = Path(".bench")
    token_costs: bool = False
    shuffled: bool = False
    params: BenchParams = BENCH


@dataclass(frozen=True, slots=True)
class Row:
    """A contestant with its answers, its figures, its difference from the first, and its cost of evidence in tokens.

    ``ablated`` are the terms that it goes without. Without a ``summary`` it could not run: its outcome says why.
    """

    outcome: ContestantOutcome
    ablated: Sequence[str] = ()
    summary: Summary | None = None
    over_first: Mapping[str, PairedDifference] = field(default_factory=dict)
    costs: Sequence[scoring.Cost] = ()
    curve: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """All rows of a run; the first is the unchanged profile."""

    of: BenchSet
    plan: BenchPlan
    generation: str
    rows: Sequence[Row]


def run(of: BenchSet, embedder: Embedder, plan: BenchPlan, watch: Watch) -> Benchmark:
    """Run all contestants on all sets.

    Raises:
        ParamError: a profile, term or baseline that is not there, or a set without questions.
        BenchError: an answer of our own that cannot be scored. What goes wrong with a rival is told in its row.

    """
    if not of.questions:
        raise ParamError("data", ", ".join(of.files), "must hold questions whose evidence is there")
    if plan.shuffled:
        of = of.shuffled(np.random.default_rng(plan.params.seed))
    with watch("vectors"):
        parts = prepare(of, embedder)
    rows = _own(of, parts, embedder, plan, watch)
    for folder in plan.rivals:
        with watch(folder.name) as step:
            outcome = _rival(folder, parts, plan, step)
        rows.append(_row(of, outcome, rows, plan.params))
    return Benchmark(of, plan, embedder.generation, rows)


def _own(
    of: BenchSet, parts: Sequence[PreparedPart], embedder: Embedder, plan: BenchPlan, watch: Watch
) -> list[Row]:
    """Measure this process's contestants: the unchanged profile, the profile without each term, and the baselines."""
    rows: list[Row] = []
    with closing(Shelf(plan.profile, embedder)) as shelf:
        without = [Priming(shelf, terms.split(",")) for terms in plan.ablate]
        plain = [Plain(name, plan.params) for name in plan.baselines]
        everybody: list[Contestant] = [Priming(shelf), *without, *plain]
        for contestant in everybody:
            with watch(contestant.name) as step:
                outcome = measure(contestant, parts, plan.params.hits, step)
            row = _row(of, outcome, rows, plan.params)
            if isinstance(contestant, Priming) and contestant.ablate:
                row = replace(row, ablated=contestant.ablate)
            elif plan.token_costs:
                row = _costed(row, of, _deep(contestant, parts, plan, watch), plan.params)
            rows.append(row)
    return rows


def _deep(
    contestant: Contestant, parts: Sequence[PreparedPart], plan: BenchPlan, watch: Watch
) -> ContestantOutcome:
    with watch(f"{contestant.name}, deep") as step:
        return measure(contestant, parts, plan.params.deep, step)


def _rival(
    folder: Path, parts: Sequence[PreparedPart], plan: BenchPlan, step: ProgressCallback
) -> ContestantOutcome:
    try:
        rival = Rival(folder, plan.cache, plan.params)
        return attempt(rival, parts, plan.params.hits, step, plan.params.rival_seconds)
    except BenchError as error:
        return ContestantOutcome(folder.name, "", {}, (), error=str(error))


def _row(of: BenchSet, outcome: ContestantOutcome, rows: Sequence[Row], params: BenchParams) -> Row:
    if outcome.error is not None:
        return Row(outcome)
    over_first = _over_first(of, outcome, rows, params)
    return Row(outcome, summary=summary(outcome.answers, of), over_first=over_first)


def _costed(row: Row, of: BenchSet, deep: ContestantOutcome, params: BenchParams) -> Row:
    """Return a row with its cost of evidence, computed from long answers."""
    answers = headline(deep.answers, of)
    if not answers:
        return row
    sizes = scoring.lengths(of)
    curve = scoring.curve(answers, sizes, params.budgets)
    return replace(row, costs=scoring.costs(answers, sizes), curve=curve)


def _over_first(
    of: BenchSet, outcome: ContestantOutcome, rows: Sequence[Row], params: BenchParams
) -> dict[str, PairedDifference]:
    """Return the difference from the first contestant on the questions that were asked, with its intervals."""
    if not rows:
        return {}
    numbers = {answer.number for answer in outcome.answers}
    first = [answer for answer in rows[0].outcome.answers if answer.number in numbers]
    if len(first) != len(outcome.answers):
        raise BenchError(
            f"{outcome.name} answered {len(outcome.answers)} questions, {len(first)} of them asked"
        )
    if not headline(first, of):
        return {}
    theirs, ours = (columns(headline(answers, of), of.ks) for answers in (first, outcome.answers))
    return {
        name: paired_difference(ours[name], theirs[name], np.random.default_rng(params.seed)) for name in ours
    }
