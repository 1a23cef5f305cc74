"""Fit the constants of the default recall on the development sets, and say how far the fit can be trusted.

A coordinate search: each constant in turn to a neighbouring round value, if that is worth it. What counts is the
mean over the sets of their headline figures, each relative to what the present constants reach there. It is done once
on all questions, and once for each fold without it, a fold being a dialogue or half of the questions of another set:
what the constants of the others do on a fold's own questions is what they would do on data not given here. Flatness
says how far each constant alone can go before the loss is more than two standard errors.

Only evidence and ranking are computed, on the engine's own parts: nothing is packed or kept.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from common import RESULTS, given, of_sets
from priming.bench import sets
from priming.bench.contestants import Shelf
from priming.bench.report import machine, versions
from priming.config.params.recall import RecallParams
from priming.config.profiles import Profile, get
from priming.embedding.registry import named
from priming.learning.metrics import recall_at, reciprocal_rank
from priming.recall.candidates import RecallQuery, eligible_candidates
from priming.recall.designs import rank
from priming.recall.priors import Priors
from priming.recall.ranking import RankingQuery
from priming.types import Cue

LADDER = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
"""Round values, and their tenths and tens."""
HITS = 20
FEW = 20
"""Questions of each set where it is to be quick."""
HEADLINES = {"locomo": (5, 10), "hotpot": (2, 5), "musique": (2, 5)}
"""Places that count; of LoCoMo the reciprocal rank as well."""
UNMEASURED = {
    *("context", "feedback", "useful_below", "first_verdict", "same_cue", "retention", "base"),
    *("base_elsewhere", "sentence", "floor"),
}
"""Constants that nothing in these sets depends on: no predicates, no verdicts, no reviews, no wider recall."""
_NEAR = ("near", "near_floor", "near_most", "kind")
KEPT: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("terms", "literal", "literal_occurrences", "pairs", "neighboured"), ()),
    **dict.fromkeys(("query", "_products", "cosine"), ("idf",)),
    **dict.fromkeys(("bm25", "session"), _NEAR),
    "window": ("window_fade",),
    "gist": ("window_fade", "idf"),
}
"""Evidence that is computed once a question for each value of the few constants and terms that it depends on."""
LEAST = 1.0
"""A move must be worth so many standard errors of what it changes: less would follow chance."""
ERRORS = 2.0
"""What is no worse than by so many is flat."""

Constants = tuple[tuple[str, float], ...]
"""What departs from the present constants, by name."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question, ready to be ranked again and again."""

    of: str
    fold: str
    gold: frozenset[str]
    labels: Mapping[int, str]
    memory: Any
    asked: Any
    kept: dict[tuple[Any, ...], Any] = field(default_factory=dict)


def main() -> None:
    options = _options()
    profile = get("priming")
    with Progress() as say:
        cases = list(_cases(options, profile, say))
        fit = Fit(cases, profile, say)
        names = options.constant or constants(profile.recall)
        found = {"": search(fit, names, np.ones(len(cases), bool), options.passes)}
        folds = sorted({case.fold for case in cases})
        for fold in folds:
            others = np.array([case.fold != fold for case in cases])
            found[fold] = search(fit, names, others, options.passes)
        flat = [flatness(fit, name) for name in names]
    held_out = np.select(
        [[case.fold == fold for case in cases] for fold in folds], [fit.each(found[fold]) for fold in folds]
    )
    show(fit, found, held_out, flat)
    path = options.out
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(_document(fit, found, held_out, flat, options), indent=1) + "\n", "utf-8")
    print(path)


class Progress:
    """How many rankings were made, on stderr."""

    def __enter__(self) -> Callable[[str], None]:
        self._tty = sys.stderr.isatty()
        return self.say

    def __exit__(self, *_: object) -> None:
        if self._tty:
            print(file=sys.stderr)

    def say(self, what: str) -> None:
        """One line that is written over on a terminal, else a line of its own."""
        print(
            f"\r\x1b[K{what}" if self._tty else what,
            end="" if self._tty else "\n",
            file=sys.stderr,
            flush=True,
        )


def constants(params: RecallParams) -> list[str]:
    """The numbers of the recipe that these sets can say something about."""
    numeric = [
        one.name
        for one in fields(params)
        if isinstance(getattr(params, one.name), (int, float))
        and not isinstance(getattr(params, one.name), bool)
    ]
    return [name for name in numeric if name not in UNMEASURED]


def _cases(options: argparse.Namespace, profile: Profile, say: Callable[[str], None]) -> Iterator[Case]:
    embedder = named(options.embedder)
    for name in HEADLINES:
        of = sets.load(name, options.data)
        shelf = Shelf("priming", embedder)  # stays open: the cases hold its working sets
        for part in of.first(options.questions).parts:
            say(f"{name}: {part.name}, {len(part.items)} memories")
            memory = shelf.memory(part)
            working = memory.working(memory.now())
            label = {item.key: item.label for item in part.items}
            names = memory.store.names(memory.namespace, list(working.ids))
            labels = {
                row: label[names[one]] for row, one in enumerate(working.ids) if names.get(one) in label
            }
            for i, query in enumerate(part.queries):
                if query.category != of.unanswerable:
                    fold = part.name if len(of.parts) > 1 else f"{name}, {('even', 'odd')[i % 2]}"
                    asked = RecallQuery(query.text, Cue(), profile, limit=HITS)
                    yield Case(name, fold, query.gold, labels, memory, asked)


def ranked(case: Case, profile: Profile, *, fresh: bool = False) -> list[str]:
    """The labels of what comes up for a case under a profile, best first."""
    memory, asked = case.memory, replace(case.asked, profile=profile)
    now = memory.now()
    working = memory.working(now)
    context, eligible, pool = eligible_candidates(memory, asked, working, now)
    ev = Priors(working, memory.embedder, asked.text, profile.recall, now, context, asked.ablate, pool)
    keys = {} if fresh else {name: _key(name, profile.recall, asked.ablate) for name in KEPT}
    vars(ev).update({name: case.kept[key] for name, key in keys.items() if key in case.kept})
    ranking = RankingQuery(
        working, ev, profile, eligible, pool, HITS, now, lambda _: {}, lambda: (), True, asked.ablate
    )
    rows = rank(ranking).rows.tolist()
    case.kept.update({key: vars(ev)[name] for name, key in keys.items() if name in vars(ev)})
    return [case.labels[row] for row in rows if row in case.labels]


def _key(name: str, params: RecallParams, ablated: Collection[str]) -> tuple[Any, ...]:
    """Under what a kept piece of evidence is found again."""
    return (name, *((getattr(params, one), one in ablated) for one in KEPT[name]))


class Fit:
    """The figures of every question under any constants, each computed once."""

    def __init__(self, cases: Sequence[Case], profile: Profile, say: Callable[[str], None]) -> None:
        self.cases, self.profile, self.say = cases, profile, say
        self.of = np.array([case.of for case in cases])
        self._known: dict[Constants, Any] = {}
        self.base = self.each(())
        self._check()

    def each(self, changed: Constants) -> Any:
        """The headline figure of each question, shape (n,): the mean of its set's."""
        if changed not in self._known:
            profile = self.with_(changed)
            self._known[changed] = np.array([_figure(case, ranked(case, profile)) for case in self.cases])
            self.say(f"{len(self._known)} settings tried, the last {dict(changed) or 'the present one'}")
        return self._known[changed]

    def with_(self, changed: Constants) -> Profile:
        """The profile with other constants."""
        return replace(
            self.profile, recall=replace(self.profile.recall, **_typed(self.profile.recall, changed))
        )

    def gain(self, values: Any, where: Any, against: Any = None) -> tuple[float, float]:
        """What values have over the present ones, relative to these, mean over the sets; and its standard error."""
        base = self.base if against is None else against
        parts = []
        for name in HEADLINES:
            at = where & (self.of == name)
            scale = self.base[self.of == name].mean()
            if at.any() and scale:
                apart = (values - base)[at] / scale
                parts.append((apart.mean(), apart.var(ddof=1) / len(apart) if len(apart) > 1 else 0.0))
        count = max(len(parts), 1)
        return sum(mean for mean, _ in parts) / count, math.sqrt(sum(var for _, var in parts)) / count

    def _check(self) -> None:
        """What is kept of a question must not depend on any constant."""
        for name in constants(self.profile.recall):
            for value in neighbours(getattr(self.profile.recall, name), self.bounds(name), 1):
                profile = self.with_(((name, value),))
                for case in self.cases[:: max(1, len(self.cases) // 3)]:
                    if ranked(case, profile) != ranked(case, profile, fresh=True):
                        sys.exit(
                            f"evidence that is kept depends on {name}: mend KEPT in {Path(__file__).name}"
                        )

    def bounds(self, name: str) -> tuple[float, float]:
        """The range of a constant."""
        about = next(one.metadata for one in fields(self.profile.recall) if one.name == name)
        low, high = about["low"], about["high"]
        return -math.inf if low is None else low, math.inf if high is None else high


def _typed(params: RecallParams, changed: Constants) -> dict[str, Any]:
    return {name: type(getattr(params, name))(value) for name, value in changed}


def _figure(case: Case, labels: Sequence[str]) -> float:
    parts = [recall_at(case.gold, labels, k) for k in HEADLINES[case.of]]
    if case.of == "locomo":
        parts.append(reciprocal_rank(case.gold, labels))
    return sum(parts) / len(parts)


def neighbours(value: float, bounds: tuple[float, float], reach: int) -> list[float]:
    """The round values next to one, ``reach`` on each side, nearest first; from 0 only upwards."""
    whole = isinstance(value, int)
    rungs = sorted({round(step * 10.0**power, 12) for step in LADDER for power in range(-6, 4)} | {0.0})
    if whole:
        rungs = [rung for rung in rungs if rung == int(rung)]
    if value == 0.0:
        rungs = [rung for rung in rungs if rung >= LADDER[0] / 100]
    below = [rung for rung in rungs if rung < value * (1 - 1e-9)][-reach:][::-1]
    above = [rung for rung in rungs if rung > value * (1 + 1e-9)][:reach]
    return [one for one in (*below, *above) if bounds[0] <= one <= bounds[1]]


def search(fit: Fit, names: Sequence[str], where: Any, passes: int) -> Constants:
    """Move each constant in turn to the best of its neighbours, where that is worth a move."""
    here: Constants = ()
    for _ in range(passes):
        before = here
        for name in names:
            here = _moved(fit, here, name, where)
        if here == before:
            break
    return here


def _moved(fit: Fit, here: Constants, name: str, where: Any) -> Constants:
    present = getattr(fit.profile.recall, name)
    value = dict(here).get(name, present)
    now, best, most = fit.each(here), here, 0.0
    for other in neighbours(type(present)(value), fit.bounds(name), 2):
        changed = {**dict(here), name: other}
        if other == present:
            del changed[name]
        key = tuple(sorted(changed.items()))
        gain, error = fit.gain(fit.each(key), where, now)
        if gain > max(most, LEAST * error):
            best, most = key, gain
    return best


def flatness(fit: Fit, name: str) -> dict[str, Any]:
    """How far a constant alone can go, of the values tried, before the loss is above two standard errors."""
    value = getattr(fit.profile.recall, name)
    every = np.ones(len(fit.cases), bool)
    tried = {}
    for other in neighbours(value, fit.bounds(name), 2):
        gain, error = fit.gain(fit.each(((name, other),)), every)
        tried[other] = {"gain": gain, "error": error, "flat": gain >= -ERRORS * error}
    kept = [value, *(other for other, one in tried.items() if one["flat"])]
    return {"name": name, "value": value, "low": min(kept), "high": max(kept), "tried": tried}


def show(fit: Fit, found: Mapping[str, Constants], held_out: Any, flat: Sequence[Mapping[str, Any]]) -> None:
    console, every = Console(), np.ones(len(fit.cases), bool)
    table = Table(title="What the fit is worth: headline figures, percent")
    for column in ("set", "questions", "present", "fitted on all", "fitted on the others"):
        table.add_column(column, justify="left" if column == "set" else "right")
    fitted = fit.each(found[""])
    for name in HEADLINES:
        at = fit.of == name
        table.add_row(
            name, str(at.sum()), *(f"{100 * one[at].mean():.2f}" for one in (fit.base, fitted, held_out))
        )
    gains = [fit.gain(values, every) for values in (fitted, held_out)]
    told = [f"{100 * gain:+.2f} ± {100 * error:.2f}" for gain, error in gains]
    table.add_row("gain, relative", str(len(fit.cases)), "", *told)
    console.print(table)
    for fold, changed in found.items():
        moves = ", ".join(f"{name} {value:g}" for name, value in changed) or "nothing moves"
        console.print(f"{f'without {fold}' if fold else 'on all'}: {moves}", highlight=False)
    table = Table(
        title="How far each constant can go alone: gain in percent, * where it is a loss above two errors"
    )
    for column in ("constant", "value", "from", "to", "tried"):
        table.add_column(column, justify="right" if column in ("value", "from", "to") else "left")
    for one in flat:
        tried = ", ".join(
            f"{other:g}: {100 * got['gain']:+.2f}{'' if got['flat'] else '*'}"
            for other, got in one["tried"].items()
        )
        table.add_row(one["name"], *(f"{one[part]:g}" for part in ("value", "low", "high")), tried)
    console.print(table)


def _document(
    fit: Fit,
    found: Mapping[str, Constants],
    held_out: Any,
    flat: Sequence[Mapping[str, Any]],
    options: argparse.Namespace,
) -> dict[str, Any]:
    every = np.ones(len(fit.cases), bool)
    fitted = fit.each(found[""])
    values = {"present": fit.base, "in_sample": fitted, "held_out": held_out}
    return {
        "benchmark": "fit",
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {name: sets.load(name, options.data).digest for name in HEADLINES},
        "settings": {"questions": options.questions, "passes": options.passes, "embedder": options.embedder},
        "versions": versions(),
        "machine": machine(),
        "figures": {
            name: {kind: round(float(one[fit.of == name].mean()), 5) for kind, one in values.items()}
            for name in HEADLINES
        },
        "gain": {kind: [round(x, 5) for x in fit.gain(one, every)] for kind, one in values.items()},
        "moves": {fold or "on all": dict(changed) for fold, changed in found.items()},
        "flatness": [
            {**one, "tried": {f"{value:g}": _rounded(got) for value, got in one["tried"].items()}}
            for one in flat
        ],
    }


def _rounded(got: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "gain": round(float(got["gain"]), 5),
        "error": round(float(got["error"]), 5),
        "flat": bool(got["flat"]),
    }


def _options() -> argparse.Namespace:
    parser = of_sets((__doc__ or "").partition("\n")[0])
    parser.add_argument("--questions", type=int, help="at most so many of each set, evenly spaced")
    parser.add_argument("--passes", type=int, default=1, help="how often all constants are gone through")
    parser.add_argument("--constant", action="append", help="only this constant (repeatable)")
    parser.add_argument("--embedder", default="wordllama", help="what makes the vectors")
    parser.add_argument(
        "--out", type=Path, help="where the figures are written; results/fit.json if not given"
    )
    options = given(parser)
    if options.quick:
        options.questions = FEW
    options.out = options.out or RESULTS / f"{'quick-' if options.quick else ''}fit.json"
    return options


if __name__ == "__main__":
    main()
