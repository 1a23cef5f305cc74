"""How relevant a hit is: fits the weights of relevance, and says how true the probabilities are.

    python benchmarks/relevance.py --data FOLDER [--genres FOLDER] [--questions N] [--stores N]

``--data`` has the three sets of ``quality.py``, ``--genres`` folders with ``documents.jsonl`` and
``questions.jsonl``. Each set is asked as a whole, and in small stores of 5, 20 and 60 of its memories: with
questions that these answer, and with others. One half of the questions is fitted; what is reported is told of
the other half, and of the weights in force where an answer ends. Results go to ``results/relevance.json``, and the
weights fitted on both halves are printed as ``RelevanceParams`` takes them.
"""

from __future__ import annotations

import argparse
import json
import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression

from common import RESULTS, given, machine, of_sets, versions
from priming.bench import sets
from priming.bench.contestants import Shelf
from priming.bench.genre import load_genre
from priming.bench.sets import BenchItem, BenchPart
from priming.config.params.recall import RELEVANCE, RelevanceParams
from priming.config.profiles import PRIMING
from priming.embedding.registry import named
from priming.learning.metrics import auc
from priming.memory import Memory
from priming.recall.candidates import RecallQuery, eligible_candidates
from priming.recall.designs import rank
from priming.recall.fusion import breadth, least_worth, recall_weight
from priming.recall.priors import Priors
from priming.recall.ranking import RankingQuery
from priming.recall.relevance.hits import (
    answer_confidence,
    hit_figures,
    is_spoken,
    led_shares,
    led_to,
    left_open,
    relevance,
)
from priming.types import Cue

WEIGHTS = ("confidence", "match", "memories", "lead", "behind", "activation", "bridge", "turn", "asks")
ENDING = (
    "led",
    "led_well",
    "open",
    "led_near",
    "led_surely",
    "least_most",
    "sure",
    "recall_weight",
    "few",
    "alike",
    "broad",
    "spoken",
    "floor",
)
SIZES = (5, 20, 60)
HITS = 10
BINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
GENRES = {
    "hotpot": "multi-hop passages",
    "musique": "multi-hop passages",
    "locomo": "dialogue",
    "realtalk": "dialogue",
    "qmsum": "meetings",
    "cosqa": "code",
    "nl2bash": "shell",
    "cran": "abstracts",
    "git": "commits",
    "bugs": "bug reports",
    "xquad": "passages, other languages",
}
"""The genre of a set, by the beginning of its name."""
UNSAID = "5"
"""LoCoMo's questions about what was never said."""
ANY = ("git-",)
"""Sets of which any gold memory answers: their recall is that of the first."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question to one store, and what is known of its first hits."""

    set: str
    size: str
    text: str
    labels: tuple[str, ...]
    gold: frozenset[str]
    figures: np.ndarray
    led: np.ndarray
    confidence: float
    left: float
    """The share of the cue that the best hit leaves open."""
    breadth: float
    memories: int

    @property
    def relevant(self) -> np.ndarray:
        """Which hits are gold."""
        return np.array([label in self.gold for label in self.labels])

    @property
    def kind(self) -> tuple[str, str, bool]:
        """What weighs as much as any other: a set at a size, with an answer or without."""
        return self.set, self.size, bool(self.gold)

    @property
    def genre(self) -> str:
        """What its texts are."""
        return next(genre for start, genre in GENRES.items() if self.set.startswith(start))

    @property
    def half(self) -> int:
        """The half of the questions that it belongs to, whatever else is asked."""
        return zlib.crc32(self.text.encode()) % 2


def cases(name: str, size: str, part: BenchPart, memory: Memory) -> Iterator[Case]:
    """The questions of a part, asked of the store that has its memories."""
    working = memory.working(memory.now())
    label = {
        working.row_of[memory.find(item.key).id]: item.label
        for item in part.items
        if memory_has(memory, item)
    }
    for query in part.queries:
        now = memory.now()
        asked = RecallQuery(query.text, Cue(), PRIMING, limit=RELEVANCE.width)
        context, eligible, pool = eligible_candidates(memory, asked, working, now)
        evidence = Priors(working, memory.embedder, query.text, PRIMING.recall, now, context, (), pool)
        ranking = RankingQuery(
            working, evidence, PRIMING, eligible, pool, asked.limit, now, lambda _: {}, lambda: ()
        )
        ranked = rank(ranking)
        confidence = answer_confidence(evidence, ranked, PRIMING.confidence)
        if confidence is not None:
            figures = hit_figures(evidence, ranked, confidence, RELEVANCE)
            table = np.stack([figures[weight] for weight in WEIGHTS], 1)
            labels = tuple(label.get(row, "") for row in ranked.rows.tolist())
            gold = frozenset() if query.category == UNSAID and name == "locomo" else query.gold
            led, left = led_shares(evidence, ranked), left_open(evidence, ranked)
            broad = breadth(evidence.bm25, working.memories if is_spoken(evidence, ranked) else 0)
            seen = (led, confidence, left, broad, working.memories)
            yield Case(name, size, query.text, labels, gold, table, *seen)


def memory_has(memory: Memory, item: BenchItem) -> bool:
    """Whether an item is stored: the text of another may be the same."""
    return item.key in memory.store.keys(memory.namespace, [item.key])


def small(part: BenchPart, size: int, rng: random.Random) -> BenchPart:
    """A store of ``size`` memories around some questions; with four questions that it answers, and four others."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(part.items):
        places[item.label].append(place)
    asked = rng.sample(part.queries, min(40, len(part.queries)))
    full = {query.text: {place for label in query.gold for place in places[label]} for query in asked}
    chosen: set[int] = set()
    for query in asked:
        if (
            query.category != UNSAID
            and len(chosen | full[query.text]) <= 0.6 * size + 1
            and len(chosen) < 0.4 * size
        ):
            chosen |= full[query.text]
    turns = any(item.session and item.speaker for item in part.items)
    while len(chosen) < min(size, len(part.items)):
        near = (
            rng.choice(sorted(chosen)) + rng.choice((-2, -1, 1, 2))
            if turns and chosen and rng.random() < 0.8
            else -1
        )
        chosen.add(near if 0 <= near < len(part.items) else rng.randrange(len(part.items)))
    inside = [q for q in asked if q.category != UNSAID and full[q.text] and full[q.text] <= chosen]
    outside = [
        replace(q, gold=frozenset()) for q in asked if not full[q.text] & chosen or q.category == UNSAID
    ]
    queries = (*inside[:4], *outside[:4])
    return BenchPart(
        f"{part.name}-{size}-{rng.random()}", tuple(part.items[at] for at in sorted(chosen)), queries
    )


def collect(options: argparse.Namespace) -> list[Case]:
    """Every case of every set."""
    parts = {}
    for name in sets.NAMES:
        parts[name] = sets.load(name, options.data).parts
    for folder in sorted(options.genres.iterdir()) if options.genres else ():
        if (folder / "questions.jsonl").is_file() and not folder.name.startswith("git-B"):
            parts[folder.name] = load_genre(folder).parts
    rng, shelf, found = random.Random(7), Shelf("priming", named("wordllama")), []
    for name, of in parts.items():
        few = options.questions * (2 if name == "locomo" else 1)
        asked = sorted(
            rng.sample(
                [(p, q) for p, part in enumerate(of) for q in range(len(part.queries))],
                min(few, sum(len(part.queries) for part in of)),
            )
        )
        for at, part in enumerate(of):
            mine = replace(part, queries=tuple(part.queries[q] for p, q in asked if p == at))
            if mine.queries:
                found += cases(name, "all", mine, shelf.memory(mine))
                shelf.close()
        asking = [part for part in of if part.queries]
        for size in SIZES:
            for _ in range(options.stores):
                store = small(rng.choice(asking), size, rng)
                found += cases(name, str(size), store, shelf.memory(store))
                shelf.close()
        print(name, len(found), flush=True)
    return found


def fitted(some: Sequence[Case]) -> RelevanceParams:
    """Weights under which relevant hits are told from others; each set, size and kind of question weighs the same."""
    kinds = Counter(case.kind for case in some)
    weight = np.concatenate([np.full(len(case.labels[:HITS]), 1000.0 / kinds[case.kind]) for case in some])
    figures = np.concatenate([case.figures[:HITS] for case in some])
    mean, spread = figures.mean(0), figures.std(0) + 1e-9
    right = np.concatenate([case.relevant[:HITS] for case in some])
    law = LogisticRegression(C=10.0, max_iter=500).fit((figures - mean) / spread, right, sample_weight=weight)
    slopes = law.coef_[0] / spread
    values = {name: round(float(value), 3) for name, value in zip(WEIGHTS, slopes, strict=True)}
    return replace(RELEVANCE, constant=round(float(law.intercept_[0] - slopes @ mean), 3), **values)


def probabilities(case: Case, law: RelevanceParams) -> np.ndarray:
    """The relevance of each hit of a case, as recall computes it."""
    own = relevance(dict(zip(WEIGHTS, case.figures.T, strict=True)), law)
    return np.where(led_to(own, case.led, case.left, law), np.maximum(own, law.least_most), own)


def answered(case: Case, law: RelevanceParams) -> np.ndarray:
    """Which hits of a case recall returns."""
    own = relevance(dict(zip(WEIGHTS, case.figures.T, strict=True)), law)
    weight = recall_weight(case.breadth, case.memories, law)
    return (own >= least_worth(own, weight, law.floor / case.breadth)) | led_to(own, case.led, case.left, law)


def told(some: Sequence[tuple[Case, np.ndarray]]) -> dict[str, Any]:
    """How true the probabilities of some cases are."""
    p = np.concatenate([each[:HITS] for _, each in some])
    right = np.concatenate([case.relevant[:HITS] for case, _ in some])
    at = np.digitize(p, BINS[1:-1])
    bins = [
        [*BINS[b : b + 2], *(round(float(of[at == b].mean()), 4) for of in (p, right)), int((at == b).sum())]
        for b in range(len(BINS) - 1)
        if (at == b).any()
    ]
    share = right.mean()
    brier, base = float(((p - right) ** 2).mean()), float(share * (1 - share))
    stated = float(p.mean())
    return {
        "hits": len(p),
        "relevant": float(share),
        "stated": stated,
        "brier": brier,
        "base": base,
        "bins": bins,
    }


def cut(some: Sequence[tuple[Case, RelevanceParams]]) -> dict[str, float]:
    """Precision and R@10 of what is returned, of all hits and where recall ends; and how many hits there are."""
    answerable = [(case, law) for case, law in some if case.gold]
    returned = np.zeros(4)
    recalls, shares = [], []
    for case, law in answerable:
        every = np.arange(len(case.labels))[:HITS]
        first = np.flatnonzero(answered(case, law))[:HITS]
        right = case.relevant
        returned += right[every].sum(), len(every), right[first].sum(), len(first)
        recalls.append([_recall(case, places) for places in (every, first)])
        shares.append([right[places].sum() / max(len(places), 1) for places in (every, first)])
    before, after = np.mean(recalls, axis=0)
    each, each_floor = np.mean(shares, axis=0)
    return {
        "precision": returned[0] / max(returned[1], 1),
        "precision_floor": returned[2] / max(returned[3], 1),
        "precision_question": float(each),
        "precision_question_floor": float(each_floor),
        "recall": float(before),
        "recall_floor": float(after),
        "hits": returned[1] / len(answerable),
        "hits_floor": returned[3] / len(answerable),
        "questions": len(answerable),
    }


def _recall(case: Case, places: np.ndarray) -> float:
    answers = {case.labels[place] for place in places} & case.gold
    return float(bool(answers)) if case.set.startswith(ANY) else len(answers) / len(case.gold)


def main() -> None:
    options = given(_parser())
    some = collect(options)
    halves = [[case for case in some if case.half == half] for half in (0, 1)]
    law = [fitted(half) for half in halves]
    fitted_elsewhere = [(case, law[1 - half]) for half in (0, 1) for case in halves[half]]
    held_out = [(case, probabilities(case, other)) for case, other in fitted_elsewhere]
    in_force = [(case, probabilities(case, RELEVANCE)) for case in some]
    every = fitted(some)
    apart = []
    for genre in dict.fromkeys(case.genre for case in some):
        others = fitted([case for case in some if case.genre != genre])
        apart += [(case, probabilities(case, others)) for case in some if case.genre == genre]
    names = list(dict.fromkeys(case.set for case in some))
    dialogue = [case for case in some if case.set == "locomo" and case.size == "all"]
    content = {
        "benchmark": "relevance",
        "cases": len(some),
        "fitted": {name: getattr(every, name) for name in ("constant", *WEIGHTS)},
        "in_force": {name: getattr(RELEVANCE, name) for name in ("constant", *WEIGHTS, *ENDING)},
        "all": {
            kind: told(of) for kind, of in (("half", held_out), ("genre", apart), ("in_force", in_force))
        },
        "genres": {
            genre: {
                kind: told([(c, p) for c, p in of if c.genre == genre])
                for kind, of in (("half", held_out), ("genre", apart))
            }
            for genre in dict.fromkeys(case.genre for case in some)
        },
        "sets": {
            name: cut([(c, RELEVANCE) for c in some if c.set == name and c.size == "all"]) for name in names
        },
        "sizes": {size: cut([(c, RELEVANCE) for c in some if c.size == size]) for size in map(str, SIZES)},
        "sets_half": {
            name: cut([(c, one) for c, one in fitted_elsewhere if c.set == name and c.size == "all"])
            for name in names
        },
        "unanswerable": {
            size: float(
                np.mean([answered(c, RELEVANCE)[:HITS].sum() for c in some if c.size == size and not c.gold])
            )
            for size in map(str, SIZES)
        },
        "auc_unsaid": auc(
            [c.confidence for c in dialogue if c.gold], [c.confidence for c in dialogue if not c.gold]
        ),
        "versions": versions(["scikit-learn"]),
        "machine": machine(),
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{'quick-' if options.quick else ''}relevance.json"
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    show(content)


def show(content: dict[str, Any]) -> None:
    """Print the weights, how true they are, and what the floor cuts."""
    console = Console(width=150)
    console.print("fitted", content["fitted"], "\nin force", content["in_force"])
    for kind, one in content["all"].items():
        console.print(f"{kind}: Brier {one['brier']:.4f} (base rate {one['base']:.4f})", one["bins"])
    table = Table(title="where an answer ends, in force")
    for column in ("set", "questions", "precision", "to the end", "R@10", "to the end", "hits", "to the end"):
        table.add_column(column)
    ratios = {}
    for name, one in {**content["sets"], **content["sizes"]}.items():
        ratios[name] = one["precision_floor"] / one["precision"], one["recall"] - one["recall_floor"]
        shares = (
            f"{100 * one[key]:.1f}" for key in ("precision", "precision_floor", "recall", "recall_floor")
        )
        table.add_row(name, str(one["questions"]), *shares, f"{one['hits']:.1f}", f"{one['hits_floor']:.1f}")
    console.print(table)
    for key in ("sets", "sets_half"):
        of = content[key].values()
        gain = np.mean([one["precision_floor"] / one["precision"] for one in of])
        means = np.mean([one["precision_floor"] for one in of]) / np.mean([one["precision"] for one in of])
        loss = 100 * np.mean([one["recall"] - one["recall_floor"] for one in of])
        own = np.mean([one["precision_question_floor"] / one["precision_question"] for one in of])
        console.print(
            f"{key}: precision × {gain:.2f}, of the means × {means:.2f}, of each question × {own:.2f}"
        )
        console.print(f"{key}: R@10 − {loss:.2f} points")
    console.print(
        "hits for what is not there", content["unanswerable"], "AUC", round(content["auc_unsaid"], 3)
    )


def _parser() -> argparse.ArgumentParser:
    parser = of_sets((__doc__ or "").partition("\n")[0])
    parser.add_argument("--genres", type=Path, help="folder of sets with documents.jsonl and questions.jsonl")
    parser.add_argument("--questions", type=int, default=150, help="at most so many of each set")
    parser.add_argument("--stores", type=int, default=5, help="small stores of each size from each set")
    return parser


if __name__ == "__main__":
    main()
