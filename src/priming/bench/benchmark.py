"""One run of a benchmark: who takes part, what each got, and what lies between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from priming.bench import tokens
from priming.bench.baselines import Plain
from priming.bench.contestants import Contestant
from priming.bench.ours import Priming, Shelf
from priming.bench.rival import Rival
from priming.bench.running import Outcome, Prepared, Step, attempted, measured, prepared
from priming.bench.scoring import Summary, columns, headline, summary
from priming.bench.sets import BenchSet
from priming.config.params.bench import BENCH, BenchParams
from priming.core.metrics import Difference, paired_difference
from priming.embed.protocol import Embedder
from priming.errors import BenchError, ParamError

Watch = Callable[[str], AbstractContextManager[Step]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of a run.

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
    """One contestant: its answers and figures, what it has over the first, and what evidence costs with it.

    ``ablated`` are the terms that it goes without. Without a ``summary`` it could not run: its outcome says why.
    """

    outcome: Outcome
    ablated: Sequence[str] = ()
    summary: Summary | None = None
    over_first: Mapping[str, Difference] = field(default_factory=dict)
    costs: Sequence[tokens.Cost] = ()
    curve: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """All rows of a run, the profile as it is first of them."""

    of: BenchSet
    plan: Plan
    generation: str
    rows: Sequence[Row]


def run(of: BenchSet, embedder: Embedder, plan: Plan, watch: Watch) -> Benchmark:
    """Ask everybody everything.

    Raises:
        ParamError: a profile, term or baseline that is not there, or a set without questions.
        BenchError: an answer of our own that cannot be scored. What goes wrong with a rival is told in its row.

    """
    if not of.questions:
        raise ParamError("data", ", ".join(of.files), "must hold questions whose evidence is there")
    if plan.shuffled:
        of = of.shuffled(np.random.default_rng(plan.params.seed))
    with watch("vectors"):
        parts = prepared(of, embedder)
    rows = _own(of, parts, embedder, plan, watch)
    for folder in plan.rivals:
        with watch(folder.name) as step:
            outcome = _rival(folder, parts, plan, step)
        rows.append(_row(of, outcome, rows, plan.params))
    return Benchmark(of, plan, embedder.generation, rows)


def _own(of: BenchSet, parts: Sequence[Prepared], embedder: Embedder, plan: Plan, watch: Watch) -> list[Row]:
    """The rows of this process: the profile as it is, without each term, and the baselines."""
    rows: list[Row] = []
    with closing(Shelf(plan.profile, embedder)) as shelf:
        without = [Priming(shelf, terms.split(",")) for terms in plan.ablate]
        plain = [Plain(name, plan.params) for name in plan.baselines]
        everybody: list[Contestant] = [Priming(shelf), *without, *plain]
        for contestant in everybody:
            with watch(contestant.name) as step:
                outcome = measured(contestant, parts, plan.params.hits, step)
            row = _row(of, outcome, rows, plan.params)
            if isinstance(contestant, Priming) and contestant.ablate:
                row = replace(row, ablated=contestant.ablate)
            elif plan.token_costs:
                row = _costed(row, of, _deep(contestant, parts, plan, watch), plan.params)
            rows.append(row)
    return rows


def _deep(contestant: Contestant, parts: Sequence[Prepared], plan: Plan, watch: Watch) -> Outcome:
    with watch(f"{contestant.name}, deep") as step:
        return measured(contestant, parts, plan.params.deep, step)


def _rival(folder: Path, parts: Sequence[Prepared], plan: Plan, step: Step) -> Outcome:
    try:
        rival = Rival(folder, plan.cache, plan.params)
        return attempted(rival, parts, plan.params.hits, step, plan.params.rival_seconds)
    except BenchError as error:
        return Outcome(folder.name, "", {}, (), error=str(error))


def _row(of: BenchSet, outcome: Outcome, rows: Sequence[Row], params: BenchParams) -> Row:
    if outcome.error is not None:
        return Row(outcome)
    over_first = _over_first(of, outcome, rows, params)
    return Row(outcome, summary=summary(outcome.answers, of), over_first=over_first)


def _costed(row: Row, of: BenchSet, deep: Outcome, params: BenchParams) -> Row:
    """A row with what evidence costs, by answers that go deep."""
    answers = headline(deep.answers, of)
    if not answers:
        return row
    sizes = tokens.lengths(of)
    curve = tokens.curve(answers, sizes, params.budgets)
    return replace(row, costs=tokens.costs(answers, sizes), curve=curve)


def _over_first(
    of: BenchSet, outcome: Outcome, rows: Sequence[Row], params: BenchParams
) -> dict[str, Difference]:
    """What a contestant has over the first on the questions it was asked; each interval by draws of its own."""
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
