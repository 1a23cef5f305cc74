"""Fit the weights of recall's one score on many kinds of material, and say how far they can be trusted.

    python benchmarks/fit.py --data FOLDER --genres FOLDER... [--questions N] [--embedder NAME]

Each question gives its candidates, their figures under the weights in force (``recall/ranking.py``), and which of
them answer it. The weights are those with the least loss: the mean over the kinds of material (``genres.every_set``)
of the log loss of the probabilities, plus ALPHA times that of the order. They are fitted on all kinds, and once
without each: what they do there is what they would do on material not given here. Results go to ``results/fit.json``,
those of another embedder to ``results/fit-NAME.json``. Needs scipy, which comes with scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize

from common import RESULTS, given, machine, versions
from genres import every_set, of_kinds
from priming.config.profiles import get
from priming.core.lexical import beyond_chance
from priming.embedding.registry import named
from priming.recall.candidates import RecallQuery, eligible_candidates
from priming.recall.evidence import Evidence
from priming.recall.ranking import (
    APART,
    RankingQuery,
    Scored,
    among_rivals,
    arrivals,
    beyond,
    by_row,
    either,
    least_probability,
)
from priming.types import Cue
from priming_lab.contestants import Shelf
from priming_lab.sets import BenchSet

FIGURES = (
    *("size", "words", "meaning", "vocabulary", "date", "named", "rest", "outdated"),
    *("other", "asks", "information", "session", "answered"),
)
"""The figures that these sets can say something about: no memory has a predicate, a verdict or a use."""
AFTER = "arrived", "arrival", "led"
ALPHA, RIDGE, ROUNDS = 0.5, 1e-4, 1
PROFILE = get("priming")
HITS, TOP = 10, 20
EDGES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
Array = Any


@dataclass(frozen=True, slots=True)
class Case:
    """One question: its candidates' figures, what arrives at each, and which of them answer it."""

    kind: str
    direct: Array
    after: Array
    leader: Array
    has: Array
    """What each has of the terms of the cue, times what they tell, in nats / ln N."""
    turns: Array
    answers: Array
    labels: tuple[str, ...]
    gold: int


def main() -> None:
    options = given(_parser())
    embedder = named(options.embedder)
    cases = [
        case
        for kind, of in every_set(options)
        for case in _cases(kind, of.first(options.questions), embedder)
    ]
    kinds = sorted({case.kind for case in cases})
    present, law = _present(), PROFILE.relevance
    assert law is not None, "the default has a probability"
    fitted = fit(cases, present)
    apart = {kind: fit([case for case in cases if case.kind != kind], fitted) for kind in kinds}
    table, found, pooled = (
        Table("kind", "questions", "in force", "fitted", "not fitted", "Brier", "base"),
        {},
        [],
    )
    firsts: list[tuple[float, float]] = []
    for kind in kinds:
        own = [case for case in cases if case.kind == kind]
        told = [measured(own, weights) for weights in (present, fitted, apart[kind])]
        pooled += [
            pair for case in own for pair in zip(chances(case, apart[kind]), case.answers, strict=True)
        ]
        for case in (case for case in own if case.gold):
            p = chances(case, present)
            firsts.append((float(p.max()), float(case.answers[np.argmax(p)])))
        found[kind] = {
            "questions": len(own),
            **dict(zip(("present", "fitted", "held_out"), told, strict=True)),
            "weights": dict(zip(_names(), apart[kind].round(3).tolist(), strict=True)),
        }
        shown = [f"{100 * one['ndcg']:.1f}" for one in told]
        table.add_row(kind, str(len(own)), *shown, f"{told[2]['brier']:.4f}", f"{told[2]['base']:.4f}")
    Console().print(table)
    ratio = {name: _over_ten(found, name) for name in ("recall", "precision")}
    print(
        "returned, in shares of ten hits:", ", ".join(f"{name} {value:.2f}" for name, value in ratio.items())
    )
    content = {
        "benchmark": "fit",
        "generation": embedder.generation,
        "questions": options.questions,
        "weights": dict(zip(_names(), fitted.round(3).tolist(), strict=True)),
        "kinds": found,
        "over_ten": ratio,
        "reliability": _reliability(np.array(pooled, np.float64)),
        "reliability of first hits": _reliability(np.array(firsts, np.float64)),
        "versions": versions(["scipy"]),
        "machine": machine(),
    }
    RESULTS.mkdir(exist_ok=True)
    other = (
        "" if options.embedder == "wordllama" else f"-{re.sub(r'[^a-z0-9]+', '-', options.embedder.lower())}"
    )
    path = RESULTS / f"{'quick-' if options.quick else ''}fit{other}.json"
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(path)


def _names() -> tuple[str, ...]:
    return ("constant", *FIGURES, *AFTER, "rivals")


def _present() -> Array:
    """The weights in force."""
    own = PROFILE.relevance
    assert own is not None, "the default has a probability"
    return np.array([getattr(PROFILE.recall, name) for name in _names()[:-1]] + [own.rivals])


def _cases(kind: str, of: BenchSet, embedder: Any) -> Iterator[Case]:
    shelf = Shelf("priming", embedder)
    for part in of.parts:
        memory = shelf.memory(part)
        now = memory.now()
        working = memory.working(now)
        label = {item.key: item.label for item in part.items}
        names = memory.store.names(memory.namespace, ids=list(working.ids))
        for query in part.queries:
            asked = RecallQuery(query.text, Cue(), PROFILE, limit=TOP)
            context, eligible, pool = eligible_candidates(memory, asked, working, now)
            evidence = Evidence(working, embedder, query.text, PROFILE.recall, now, context, (), pool)
            ranking = RankingQuery(evidence, PROFILE, eligible, pool, TOP, now, lambda _: {}, tuple)
            scored = Scored.of(evidence, evidence.candidates(pool))
            if not len(scored.documents):
                continue
            _, reached, came, anchors = arrivals(ranking, scored)
            more = working.document[reached[~np.isin(reached, working.row[scored.documents])]]
            scored = scored.with_others(evidence, more[more >= 0])
            rows = working.row[scored.documents]
            arrived, leader = by_row(rows, reached, came, anchors)
            none, texts = np.zeros(len(rows)), scored.documents >= 0
            scored.figures["outdated"] = none.copy()
            scored.figures["outdated"][texts] = evidence.outdated(scored.documents[texts], scored.odds[texts])
            figures = [np.ones(len(rows)), *(scored.figures.get(name, none) for name in FIGURES)]
            labels = tuple(label.get(names.get(working.ids[row], ""), "") for row in rows.tolist())
            yield Case(
                kind,
                np.stack(figures, 1),
                np.stack(
                    [np.ones(len(rows)), np.log(arrived + 1e-6), np.maximum(0.0, scored.figures["meaning"])],
                    1,
                ),
                leader,
                scored.has * (evidence.idf / evidence.size),
                working.is_turn(rows),
                np.array([one in query.gold for one in labels], np.float64),
                labels,
                len(query.gold),
            )
    shelf.close()


def chances(case: Case, weights: Array) -> Array:
    """The probability of each candidate."""
    first = 1 + len(FIGURES)
    d, v = case.direct @ weights[:first], case.after @ weights[first:-1]
    whole, p = either(d, v), PROFILE.recall
    best = np.argsort(-whole, kind="stable")[:APART]
    words = beyond(case.has, case.has[best], np.ones(case.has.shape[1]))
    room = np.minimum(
        weights[1 + FIGURES.index("words")] * beyond_chance(words, p.incidental),
        np.where(case.turns, 0.0, np.maximum(0.0, d))[:, None],
    )
    every = np.ones(len(d), np.bool_)
    return among_rivals(d, v, case.leader, every, weights[-1], best, room) + 1e-12 * whole


def fit(cases: Sequence[Case], start: Array) -> Array:
    """The weights with the least loss."""
    count = Counter(case.kind for case in cases)
    share = np.array([1.0 / (len(count) * count[case.kind]) for case in cases])
    bounds = [(None, None)] * (len(start) - 1) + [(0.0, 1.0)]
    found = minimize(_loss, start, (cases, share, start), jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x)


def _loss(weights: Array, cases: Sequence[Case], share: Array, start: Array) -> tuple[float, Array]:
    """The loss and its gradient."""
    total, gradient, first = (
        RIDGE * float(((weights - start) ** 2).sum()),
        2 * RIDGE * (weights - start),
        1 + len(FIGURES),
    )
    for case, worth in zip(cases, share, strict=True):
        d, v = case.direct @ weights[:first], case.after @ weights[first:-1]
        s = np.logaddexp(d, v)
        rivals = np.logaddexp.reduce(np.append(s, 0.0))
        soft, z = np.exp(s - rivals), s - weights[-1] * rivals
        right = max(1.0, float(case.answers.sum()))
        each = worth / np.sqrt(right)
        total += each * float((np.logaddexp(0.0, z) - case.answers * z).sum())
        slope = each * (1.0 / (1.0 + np.exp(-z)) - case.answers)
        gradient[-1] -= rivals * slope.sum()
        by_s = slope - weights[-1] * soft * slope.sum()
        if case.answers.any():
            order = np.exp(s - np.logaddexp.reduce(s))
            total -= ALPHA * worth * float((case.answers / right * np.log(order + 1e-300)).sum())
            by_s += ALPHA * worth * (order - case.answers / right)
        gradient[:first] += case.direct.T @ (by_s * np.exp(d - s))
        gradient[first:-1] += case.after.T @ (by_s * np.exp(v - s))
    return total, gradient


def measured(cases: Sequence[Case], weights: Array) -> dict[str, float]:
    """nDCG@10, the Brier score of all candidates, that of their frequency, and what ten hits and the cut return."""
    law = PROFILE.relevance
    assert law is not None, "the default has a probability"
    gains, errors, rights = [], [], []
    returned: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        p = chances(case, weights)
        best = np.argsort(-p, kind="stable")
        seen: set[str] = set()
        gain = 0.0
        for place, at in enumerate(best[:HITS].tolist()):
            if case.answers[at] and case.labels[at] not in seen:
                seen.add(case.labels[at])
                gain += 1.0 / np.log2(place + 2)
        if case.gold:
            gains.append(gain / sum(1.0 / np.log2(place + 2) for place in range(min(case.gold, HITS))))
            ten = best[:HITS]
            for name, hits in (("10", ten), ("", ten[p[ten] >= least_probability(p[best[:TOP]], law)])):
                right = len({case.labels[at] for at in hits.tolist() if case.answers[at]})
                returned[f"recall{name}"].append(right / case.gold)
                returned[f"precision{name}"].append(float(case.answers[hits].mean()) if len(hits) else 0.0)
        errors.append((p - case.answers) ** 2)
        rights.append(case.answers)
    every = np.concatenate(rights)
    return {
        "ndcg": float(np.mean(gains)),
        "brier": float(np.concatenate(errors).mean()),
        "base": float(every.mean() * (1.0 - every.mean())),
        **{name: float(np.mean(values)) for name, values in returned.items()},
    }


def _over_ten(found: dict[str, Any], name: str) -> float:
    """What the cut returns by the weights in force, on the mean of kinds, in shares of what ten hits would."""
    cut, ten = (
        np.mean([kind["present"][figure] for kind in found.values()]) for figure in (name, f"{name}10")
    )
    return float(cut / ten)


def _reliability(pairs: Array) -> list[dict[str, float]]:
    """Of the candidates within each range of probability: its mean, the share that answers, and their number."""
    bins = np.clip(np.searchsorted(EDGES, pairs[:, 0], "right") - 1, 0, len(EDGES) - 2)
    return [
        {
            "low": EDGES[at],
            "high": EDGES[at + 1],
            "mean": float(pairs[bins == at, 0].mean()),
            "relevant": float(pairs[bins == at, 1].mean()),
            "hits": int((bins == at).sum()),
        }
        for at in range(len(EDGES) - 1)
        if (bins == at).any()
    ]


def _parser() -> argparse.ArgumentParser:
    parser = of_kinds((__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--questions", type=int, default=150, help="at most so many of each set, evenly spaced"
    )
    parser.add_argument("--embedder", default="wordllama", help="what makes the vectors")
    return parser


if __name__ == "__main__":
    main()
