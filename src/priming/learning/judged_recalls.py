"""The recalls that were judged: the cue of each, what was relevant to it, and which of them ask the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from priming.index.cue_feedback import SIGN, weighted_jaccard
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.storage.protocol import Trace
from priming.storage.rows import VerdictRow
from priming.text.tokens import terms

LOST, OTHER, GONE, NOTHING = (
    "no longer kept",
    "by another profile",
    "relevant memories are gone",
    "nothing was relevant",
)
"""Why a judged recall is not replayed."""


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A recall that was judged.

    ``relevant`` are the ids of the memories that verdicts spoke for, ``first`` is the operation of the first verdict.
    """

    trace: Trace
    relevant: frozenset[str]
    first: str

    @property
    def text(self) -> str:
        """What was asked."""
        return str(self.trace.cue.get("text", ""))


def judged_recalls(
    memory: Namespace, profile: str, working: WorkingSet, limit: int
) -> tuple[list[JudgedRecall], Mapping[str, int]]:
    """The latest recalls by a profile that were judged, oldest first; and how many others there are, by reason."""
    rows: dict[str, list[VerdictRow]] = {}
    for row in memory.store.verdicts(memory.namespace):
        if row.recall:
            rows.setdefault(row.recall, []).append(row)
    found, left = list[JudgedRecall](), Counter[str]()
    for recall_id, verdicts in rows.items():
        trace = memory.store.trace(memory.namespace, recall_id)
        told = relevant_ids(verdicts)
        here = {one for one in told if one in working.row_of and working.alive[working.row_of[one]]}
        why = _left_out(trace, profile, told, here)
        if why is not None:
            left[why] += 1
        elif trace is not None:
            found.append(JudgedRecall(trace, frozenset(here), verdicts[0].operation))
    found.sort(key=lambda one: (one.trace.at, one.trace.recall_id))
    if len(found) > limit:
        left[f"before the latest {limit:,}"] = len(found) - limit
    return found[-limit:], dict(sorted(left.items()))


def relevant_ids(verdicts: Iterable[VerdictRow]) -> set[str]:
    """The memories that more verdicts of a recall spoke for than against."""
    balance = Counter[str]()
    for row in verdicts:
        balance[row.id] += SIGN[row.verdict]
    return {one for one, sum_ in balance.items() if sum_ > 0}


def _left_out(trace: Trace | None, profile: str, told: Collection[str], here: Collection[str]) -> str | None:
    if trace is None:
        return LOST
    if trace.profile != profile:
        return OTHER
    if not told:
        return NOTHING
    return None if here else GONE


def cue_groups(
    recalls: Sequence[JudgedRecall], least: float, rarity: Callable[[str], float]
) -> list[list[int]]:
    """The places of recalls whose cues are alike, from ``least`` on: what is like one of a group belongs to it."""
    known = [frozenset(terms(one.text)) for one in recalls]
    contexts = [_context(one.trace.cue) for one in recalls]
    held: dict[str, list[int]] = {}
    root = list(range(len(recalls)))
    for i, mine in enumerate(known):
        for j in sorted({other for term in mine for other in held.get(term, ())}):
            same = mine == known[j] or weighted_jaccard(mine, known[j], rarity) >= least
            if _root(root, i) != _root(root, j) and same:
                root[_root(root, i)] = _root(root, j)
        for term in mine:
            held.setdefault(term, []).append(i)
    found: dict[Any, list[int]] = {}
    for i in range(len(recalls)):
        found.setdefault(_root(root, i) if known[i] else contexts[i], []).append(i)
    return list(found.values())


def _context(cue: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, str(value)) for name, value in cue.items()))


def _root(root: list[int], i: int) -> int:
    while root[i] != i:
        i = root[i]
    return i
