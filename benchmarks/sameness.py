"""Do two statements say the same? What the judge makes of labelled pairs, through the verbs that agents call.

    python benchmarks/sameness.py PAIRS.jsonl [--facts | --unrelated] [--show]
    python benchmarks/sameness.py tests/text/correction_pairs.tsv

A line of ``PAIRS.jsonl`` has ``first``, ``second``, ``label`` (same, changes, apart, wider, narrower) and ``kind``.
Each pair is learned in a memory of its own, in that order. *Right*: a change took the place of the earlier rule, the
same was merged, and what is apart stands apart; wider and narrower: both stand, or the later is a version of the
earlier. *Harm*: a change was merged, or what is apart was merged or replaced. *Missed*: a change stands beside the
earlier rule, and ``review`` does not list the two. ``--facts`` remembers both as facts: which does ``review`` list?
``--unrelated`` judges every second earlier rule with every other such rule. A ``.tsv`` has the split, the label, the
earlier and the later of older sets, which are judged without a memory, by split.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from itertools import combinations
from pathlib import Path

from priming import Memory
from priming.text.statements.judge import judge

Pair = dict[str, str]
_LABELS = {"opposite": "changes", "other_value": "changes", "other_slot": "apart"}


def learned(pair: Pair) -> str:
    """Return what became of a pair: merged, replaced, listed (both stand and review lists them) or kept."""
    memory = Memory.open("sqlite://")
    memory.learn(pair["first"])
    done = memory.learn(pair["second"])
    if done.placement in ("merge", "widen"):
        return "merged"
    if done.placement == "supersede":
        return "merged" if done.change == "same" else "replaced"
    return "listed" if memory.review() else "kept"


def listed(pair: Pair) -> bool:
    """Tell whether review lists two facts."""
    memory = Memory.open("sqlite://")
    for text in (pair["first"], pair["second"]):
        memory.remember(text, kind="fact")
    return bool(memory.review())


def unrelated(pairs: list[Pair]) -> None:
    """Print what the judge says of rules that have nothing to do with each other."""
    texts = [pair["first"] for pair in pairs][::2]
    print(Counter(judge(a, b).kind for a, b in combinations(texts, 2)))


def older_sets(path: Path) -> None:
    """Print how often the judge is right on each split of the older sets, by labels that were six."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    for split in dict.fromkeys(row[0] for row in rows):
        labels = [
            (_LABELS.get(label, label), judge(old, new).kind) for of, label, old, new in rows if of == split
        ]
        right = sum(kind == label or (label, kind) == ("apart", "unclear") for label, kind in labels)
        print(f"{split}: right {right / len(labels):.3f} of {len(labels)}")


def is_right(label: str, became: str) -> bool:
    """Tell whether what became of a pair is what its label asks for."""
    wanted = {"changes": ("replaced",), "same": ("merged",), "apart": ("listed", "kept")}
    return became in wanted.get(label, ("replaced", "listed", "kept"))


def main() -> None:
    """Judge the pairs and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--facts", action="store_true")
    parser.add_argument("--show", action="store_true", help="show the pairs that are not right")
    parser.add_argument("--unrelated", action="store_true")
    arguments = parser.parse_args()
    if arguments.pairs.suffix == ".tsv":
        older_sets(arguments.pairs)
        return
    pairs = [json.loads(line) for line in arguments.pairs.read_text("utf-8").splitlines()]
    if arguments.unrelated:
        unrelated(pairs)
        return
    if arguments.facts:
        of = Counter(pair["label"] for pair in pairs)
        lists = Counter(pair["label"] for pair in pairs if listed(pair))
        others = sum(of.values()) - of["changes"]
        print(f"changed values listed: {lists['changes'] / of['changes']:.3f} of {of['changes']}")
        print(f"others listed: {(sum(lists.values()) - lists['changes']) / others:.3f} of {others}")
        return
    outcomes = [(pair, learned(pair)) for pair in pairs]
    right = sum(is_right(pair["label"], became) for pair, became in outcomes)
    harms = [
        (pair, became)
        for pair, became in outcomes
        if (pair["label"] == "changes" and became == "merged")
        or (pair["label"] == "apart" and became in ("merged", "replaced"))
    ]
    changes = [became for pair, became in outcomes if pair["label"] == "changes"]
    print(f"right {right / len(pairs):.3f}, harm {len(harms) / len(pairs):.3f}, of {len(pairs)} pairs")
    print(f"changes: missed {changes.count('kept') / len(changes):.3f}, {Counter(changes)}")
    for label in ("same", "apart", "wider", "narrower"):
        print(f"{label}: {Counter(became for pair, became in outcomes if pair['label'] == label)}")
    for pair, became in outcomes if arguments.show else harms:
        if not is_right(pair["label"], became) or (pair, became) in harms:
            print(f"  {pair['label']} {became}: {pair['first']} / {pair['second']}")


if __name__ == "__main__":
    main()
