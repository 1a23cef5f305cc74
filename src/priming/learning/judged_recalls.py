"""Judged recalls: the cue of each recall with verdicts, the memories relevant to it, and the groups of like cues.

The same question asked ten times is one piece of evidence. Unjudged memories count as not relevant: a measure
that ignores them would call a recall perfect whose only judged memory came tenth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from priming.config.values import dataclass
from priming.index.cue_feedback import SIGN, weighted_jaccard
from priming.index.working_set import WorkingSet
from priming.namespace import Namespace
from priming.storage.protocol import Trace
from priming.storage.questions import recall_of
from priming.storage.rows import VerdictRow
from priming.text.tokens import terms

EXPIRED, OTHER_PROFILE, DELETED, NOT_RELEVANT = (
    "no longer kept",
    "by another profile",
    "relevant memories are gone",
    "nothing was relevant",
)
"""The reasons for not replaying a judged recall."""


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A recall with verdicts.

    ``relevant`` are the ids of the memories with more verdicts for than against, ``first`` is the operation of the
    first verdict.
    """

    trace: Trace
    relevant: frozenset[str]
    first: str

    @property
    def text(self) -> str:
        """The text of the cue."""
        return str(self.trace.cue.get("text", ""))


def judged_recalls(
    memory: Namespace, profile: str, working: WorkingSet, limit: int
) -> tuple[list[JudgedRecall], Mapping[str, int]]:
    """The latest ``limit`` judged recalls by a profile, oldest first, and the number of the others by reason."""
    rows: dict[str, list[VerdictRow]] = {}
    for row in memory.store.rows(memory.namespace, VerdictRow):
        if row.recall:
            rows.setdefault(row.recall, []).append(row)
    recalls, left_out = list[JudgedRecall](), Counter[str]()
    for recall_id, verdicts in rows.items():
        trace = recall_of(memory.store, memory.namespace, recall_id)
        relevant = relevant_ids(verdicts)
        present = {
            memory_id
            for memory_id in relevant
            if memory_id in working.row_of and working.alive[working.row_of[memory_id]]
        }
        why = _reason_left_out(trace, profile, relevant, present)
        if why is not None:
            left_out[why] += 1
        elif trace is not None:
            recalls.append(JudgedRecall(trace, frozenset(present), verdicts[0].operation))
    recalls.sort(key=lambda recall: (recall.trace.at, recall.trace.recall_id))
    if len(recalls) > limit:
        left_out[f"before the latest {limit:,}"] = len(recalls) - limit
    return recalls[-limit:], dict(sorted(left_out.items()))


def relevant_ids(verdicts: Iterable[VerdictRow]) -> set[str]:
    """The memories with more verdicts for than against."""
    balance = Counter[str]()
    for row in verdicts:
        balance[row.id] += SIGN[row.verdict]
    return {memory_id for memory_id, balanced in balance.items() if balanced > 0}


def _reason_left_out(
    trace: Trace | None, profile: str, relevant: Collection[str], present: Collection[str]
) -> str | None:
    if trace is None:
        return EXPIRED
    if trace.profile != profile:
        return OTHER_PROFILE
    if not relevant:
        return NOT_RELEVANT
    return None if present else DELETED


def cue_groups(
    recalls: Sequence[JudgedRecall], least: float, rarity: Callable[[str], float]
) -> list[list[int]]:
    """The positions of the recalls in groups of like cues, by single linkage at the likeness ``least``.

    The likeness of two cues is the Jaccard index of their terms, weighted by ``rarity``.
    """
    cues = [frozenset(terms(recall.text)) for recall in recalls]
    contexts = [_context(recall.trace.cue) for recall in recalls]
    recalls_of: dict[str, list[int]] = {}
    root = list(range(len(recalls)))
    for i, cue in enumerate(cues):
        for j in sorted({other for term in cue for other in recalls_of.get(term, ())}):
            same = cue == cues[j] or weighted_jaccard(cue, cues[j], rarity) >= least
            if _find_root(root, i) != _find_root(root, j) and same:
                root[_find_root(root, i)] = _find_root(root, j)
        for term in cue:
            recalls_of.setdefault(term, []).append(i)
    groups: dict[Any, list[int]] = {}
    for i in range(len(recalls)):
        groups.setdefault(_find_root(root, i) if cues[i] else contexts[i], []).append(i)
    return list(groups.values())


def _context(cue: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, str(value)) for name, value in cue.items()))


def _find_root(root: list[int], i: int) -> int:
    while root[i] != i:
        i = root[i]
    return i
