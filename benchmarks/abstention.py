"""How sure an answer is: fits the weights of the confidence, and says how well it tells what was said.

Answerable: every question as it stands. Unanswerable: LoCoMo's questions about what was never said (category 5), and
each other question once more with the memories that answer it taken out of the pool. What is reported as held out is
told by weights that were fitted without that part.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression

from common import RESULTS, given, machine, of_sets, versions
from priming.bench import sets
from priming.bench.contestants import Shelf
from priming.bench.sets import BenchPart
from priming.config.params.recall import CONFIDENCE
from priming.config.profiles import PRIMING
from priming.embedding.registry import named
from priming.learning.metrics import auc
from priming.memory import Memory
from priming.recall.candidates import RecallQuery, eligible_candidates
from priming.recall.designs import rank
from priming.recall.priors import Priors
from priming.recall.ranking import RankingQuery
from priming.recall.relevance.hits import confidence_figures
from priming.types import Cue

FIGURES = ("score", "covered", "cosine", "rivalry", "asks")
HITS = 20
UNSAID = 3.0
"""How much more a question about what was never said weighs than one whose answer was taken out."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question: its set and part, what kind of case it is, and what speaks for its best hit."""

    set: str
    part: str
    kind: str
    figures: tuple[float, ...]


def cases(name: str, part: BenchPart, unanswerable: str | None, memory: Memory) -> Iterator[Case]:
    """Every question of a part as it stands, and the answerable ones without what answers them."""
    now = memory.now()
    working = memory.working(now)
    row = {memory.find(item.key).id: item for item in part.items}
    rows: dict[str, list[int]] = {}
    for memory_id, item in row.items():
        rows.setdefault(item.label, []).append(working.row_of[memory_id])
    for query in part.queries:
        unsaid = query.category == unanswerable
        gone = np.array(sorted({one for label in query.gold for one in rows.get(label, ())}), np.int64)
        for kind, without in (("unsaid" if unsaid else "said", gone[:0]), ("taken out", gone)):
            found = _figures(memory, query.text, without)
            if found is not None and not (unsaid and kind == "taken out"):
                yield Case(name, part.name, kind, found)


def _figures(memory: Memory, text: str, without: np.ndarray) -> tuple[float, ...] | None:
    now = memory.now()
    working = memory.working(now)
    query = RecallQuery(text, Cue(), PRIMING, limit=HITS)
    context, eligible, pool = eligible_candidates(memory, query, working, now)
    eligible[without] = False
    pool = pool & ~np.isin(working.row.values, without)
    evidence = Priors(working, memory.embedder, text, PRIMING.recall, now, context, (), pool)
    ranking = RankingQuery(working, evidence, PRIMING, eligible, pool, HITS, now, lambda _: {}, lambda: ())
    return confidence_figures(evidence, rank(ranking))


def fitted(some: Sequence[Case]) -> LogisticRegression:
    """Weights under which what was said is told from what was not; each kind of each set weighs the same.

    But for what was never said: it weighs more, for it is what is met in earnest.
    """
    kinds = [(one.set, one.kind) for one in some]
    weight = np.array([(UNSAID if kind[1] == "unsaid" else 1.0) / kinds.count(kind) for kind in kinds])
    said = np.array([one.kind == "said" for one in some])
    for half in (said, ~said):
        weight[half] *= len(some) / (2.0 * weight[half].sum())
    return LogisticRegression(C=1.0).fit(np.array([one.figures for one in some]), said, sample_weight=weight)


def held_out(some: Sequence[Case]) -> np.ndarray:
    """The confidence of each case by weights that were fitted on the other parts."""
    sure = np.zeros(len(some))
    for part in dict.fromkeys(one.part for one in some):
        inside = np.array([one.part == part for one in some])
        law = fitted([one for one in some if one.part != part])
        sure[inside] = law.predict_proba(np.array([one.figures for one in some])[inside])[:, 1]
    return sure


def in_force(some: Sequence[Case]) -> np.ndarray:
    """The confidence of each case by the weights that the default profile has."""
    weights = np.array([getattr(CONFIDENCE, name) for name in FIGURES])
    total = np.array([one.figures for one in some]) @ weights + CONFIDENCE.constant
    return 1.0 / (1.0 + np.exp(-total))


def aucs(some: Sequence[Case], sure: np.ndarray) -> dict[str, float]:
    """How well the confidence tells what was said from each kind of what was not, by set."""
    found = {}
    for name, kind in sorted({(one.set, one.kind) for one in some if one.kind != "said"}):
        said = np.array([one.set == name and one.kind == "said" for one in some])
        not_said = np.array([one.set == name and one.kind == kind for one in some])
        found[f"{name}, {kind}"] = auc(sure[said], sure[not_said])
    return found


def main() -> None:
    options = given(of_sets(__doc__.splitlines()[0]))
    shelf, some, digests = Shelf("priming", named("wordllama")), [], {}
    for name in sets.NAMES:
        loaded = sets.load(name, options.data).first(60 if options.quick else None)
        digests[name] = loaded.digest
        for part in loaded.parts:
            some += cases(name, part, loaded.unanswerable, shelf.memory(part))
    law, sure = fitted(some), in_force(some)
    weights = dict(
        zip((*FIGURES, "constant"), [*law.coef_[0].tolist(), float(law.intercept_[0])], strict=True)
    )
    content = {
        "benchmark": "abstention",
        "cases": len(some),
        "fitted": weights,
        "in_force": {name: getattr(CONFIDENCE, name) for name in (*FIGURES, "constant")},
        "auc": aucs(some, sure),
        "auc_held_out": aucs(some, held_out(some)),
        "data": digests,
        "versions": versions(["scikit-learn"]),
        "machine": machine(),
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{'quick-' if options.quick else ''}abstention.json"
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    show(content)


def show(content: dict[str, Any]) -> None:
    """Print the fit, and how well it tells what was said from what was not."""
    console = Console()
    console.print("fitted", {name: round(value, 2) for name, value in content["fitted"].items()})
    console.print("in force", content["in_force"])
    table = Table(title="how well the confidence tells (AUC)")
    for column in ("", "in force", "fitted on other parts"):
        table.add_column(column, justify="left" if not column else "right")
    for name in content["auc"]:
        table.add_row(name, *(f"{content[kind][name]:.3f}" for kind in ("auc", "auc_held_out")))
    console.print(table)


if __name__ == "__main__":
    main()
