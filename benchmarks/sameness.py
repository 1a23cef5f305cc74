"""Do two statements say the same? What the judge makes of labelled pairs, through the verbs that agents call.

    python benchmarks/sameness.py PAIRS.jsonl [--facts] [--show]

A line of ``PAIRS.jsonl`` has ``first``, ``second``, ``label`` (same, changes, apart, wider, narrower) and ``kind``.
Each pair is learned in a memory of its own, in that order. *Right*: a change took the place of the earlier rule, the
same was merged, and what is apart stands apart; wider and narrower: both stand, or the later is a version of the
earlier. *Harm*: a change was merged, or what is apart was merged or replaced. *Missed*: a change stands beside the
earlier rule, and ``review`` does not list the two. ``--facts`` remembers both as facts: which does ``review`` list?
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from priming import Memory

Pair = dict[str, str]


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
    arguments = parser.parse_args()
    pairs = [json.loads(line) for line in arguments.pairs.read_text("utf-8").splitlines()]
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
