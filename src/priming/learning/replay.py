"""Replays of judged recalls: over today's memories, with the learned state of the time of the recall.

A recall is replayed with what had been learned by its time, never with a verdict on itself: otherwise every
term that learns would look good, above all one that memorised. Texts, names and links are those of today, as
the weights are for today's use. The working set is built once and moved along the log.

Unjudged memories count as not relevant: a measure that ignores them would call a recall perfect whose only judged
memory came tenth.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.recall import RecallParams
from priming.config.profiles import Profile
from priming.config.values import dataclass
from priming.embedding.protocol import Embedder
from priming.errors import ParamError
from priming.history.log import newest_first
from priming.index.cue_feedback import SIGN
from priming.index.working_set import WorkingSet
from priming.learning.coactivation import RELATION
from priming.namespace import Namespace
from priming.recall.candidates import (
    RecallQuery,
    cue_text,
    eligible_candidates,
    no_result_reason,
    recall_context,
    weighted_profile,
)
from priming.recall.designs import rank
from priming.recall.evidence import Evidence
from priming.recall.ranking import RankingQuery
from priming.storage.protocol import Trace
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VerdictRow
from priming.types import Cue

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


def judged_recalls(
    memory: Namespace, profile: str, working: WorkingSet, limit: int
) -> tuple[list[JudgedRecall], Mapping[str, int]]:
    """Return the latest ``limit`` judged recalls by a profile, oldest first, and the number of others by reason."""
    rows: dict[str, list[VerdictRow]] = {}
    for row in memory.rows(VerdictRow):
        if row.recall:
            rows.setdefault(row.recall, []).append(row)
    recalls, left_out = list[JudgedRecall](), Counter[str]()
    for recall_id, verdicts in rows.items():
        trace = memory.recall_of(recall_id)
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
    """Return the memories with more verdicts for than against."""
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


RECALLS = 200
"""The judged recalls that are replayed, the latest first."""
DEPTH = 10
"""The hits that are measured in each replay."""
SEED = 7
"""The seed of folds and intervals."""
_CARRIED = 25_000_000
"""The most numbers of evidence cached between replays; the rest is computed again."""

_WEIGHTLESS = "query", "background", "signed_cosine", "named_date", "_verdicts"
_READ = "near", "kind", "date"
_BY_SWITCHES = {"terms": _READ, "near": _READ, "words": (*_READ, "feedback")}
"""Evidence that does not depend on weights, and is shared by all replays of a recall.

Evidence with switches is shared only by replays in which each of them has the same value."""


@dataclass(frozen=True, slots=True)
class WeightStep:
    """The changes of one operation that count as learned: of links, verdicts and practice."""

    id: str
    at: datetime
    changes: tuple[RowChange, ...]


class LearnedState:
    """A separate working set whose learned state can be moved back and forth along the log."""

    def __init__(self, working: WorkingSet, steps: Sequence[WeightStep]) -> None:
        """Take ``steps``, the latest steps of the working set, oldest first."""
        self.working = working
        self._steps = steps
        self._learned = len(steps)

    @property
    def is_mostly_learned(self) -> bool:
        """Whether more than half of the steps are learned."""
        return 2 * self._learned > len(self._steps)

    def move_to(self, count: int) -> None:
        """Make the first ``count`` steps learned, and no others."""
        while self._learned > count:
            self._learned -= 1
            changes = self._steps[self._learned].changes
            self.working.learn([change.inverse() for change in reversed(changes)])
        while self._learned < count:
            self.working.learn(self._steps[self._learned].changes)
            self._learned += 1


def steps_since(memory: Namespace, recalls: Sequence[JudgedRecall]) -> tuple[list[WeightStep], list[int]]:
    """Return the steps since the first recall, oldest first, and the number of steps that precede each recall.

    A step precedes a recall if it was written before the recall; a verdict on the recall never precedes it, even if
    the clock was set back.
    """
    if not recalls:
        return [], []
    earliest, verdicts = min(recall.trace.at for recall in recalls), {recall.first for recall in recalls}
    steps = list[WeightStep]()
    for logged in newest_first(memory):
        if logged.at <= earliest and not verdicts:
            break
        verdicts.discard(logged.id)
        steps.append(WeightStep(logged.id, logged.at, tuple(filter(_is_learned, logged.rows))))
    lows = list(accumulate((recall.at for recall in steps), min))
    place = {recall.id: i for i, recall in enumerate(steps, 1)}
    later = [bisect_left(lows, True, key=recall.trace.at.__ge__) for recall in recalls]
    unknown = [max(i, place.get(recall.first, 0)) for i, recall in zip(later, recalls, strict=True)]
    return steps[::-1], [len(steps) - i for i in unknown]


def _is_learned(change: RowChange) -> bool:
    """Tell whether a change was learned: a verdict, practice, the weight of a link, or a link made by a verdict."""
    row, both = change.row, change.before is not None and change.after is not None
    if isinstance(row, LinkRow):
        return both or row.relation == RELATION
    return isinstance(row, VerdictRow) or (both and isinstance(row, MemoryRow))


@dataclass(slots=True)
class ReplayCase:
    """A judged recall, ready to be replayed; ``learned`` is the number of steps that precede it."""

    judged: JudgedRecall
    query: RecallQuery
    learned: int
    context: Mapping[int, float]
    eligible: NDArray[np.bool_]
    pool: NDArray[np.bool_]
    evidence: Evidence | None = None


class Replay:
    """Replays the judged recalls of one namespace with given weights and without given terms."""

    def __init__(
        self, embedder: Embedder, profile: Profile, learned: LearnedState, cases: Sequence[ReplayCase]
    ) -> None:
        self._embedder = embedder
        self._profile = profile
        self._learned = learned
        self.cases = cases
        arrays = (len(_WEIGHTLESS) + len(_BY_SWITCHES)) * max(learned.working.documents, 1)
        self._shares_evidence = arrays * len(cases) <= _CARRIED

    @property
    def working(self) -> WorkingSet:
        """The working set over which recalls are replayed."""
        return self._learned.working

    def in_order(self) -> list[int]:
        """Return the cases' places in order along the log: each replay then moves the learned state but little."""
        places = sorted(range(len(self.cases)), key=lambda i: self.cases[i].learned)
        return places[::-1] if self._learned.is_mostly_learned else places

    def ranking(self, case: ReplayCase, params: RecallParams, off: Collection[str] = ()) -> list[str]:
        """Return the ids of a recall's hits, best first, with the weights ``params``, without the terms ``off``."""
        self._learned.move_to(case.learned)
        evidence = self._evidence(case, params, off)
        query = replace(case.query, profile=replace(self._profile, recall=params))
        if no_result_reason(evidence, case.eligible, case.pool, query) is not None:
            return []
        working = self.working
        ranked = rank(
            RankingQuery(
                evidence,
                query.profile,
                case.eligible,
                case.pool,
                DEPTH,
                case.judged.trace.at,
                lambda _: {},
                tuple,
                context=query.context,
            )
        )
        return [working.ids[row] for row in ranked.rows.tolist()]

    def _evidence(self, case: ReplayCase, params: RecallParams, off: Collection[str]) -> Evidence:
        at = case.judged.trace.at
        evidence = Evidence(
            self._learned.working, self._embedder, case.query.text, params, at, case.context, off, case.pool
        )
        if not self._shares_evidence:
            return evidence
        if case.evidence is None:
            case.evidence = evidence
        elif case.evidence is not evidence:
            vars(evidence).update(_shared_evidence(case.evidence, evidence))
        return evidence


def _shared_evidence(earlier: Evidence, evidence: Evidence) -> dict[str, Any]:
    """Return the evidence of ``earlier`` that is the same in ``evidence``, by name."""

    def is_on(evidence: Evidence, switch: str) -> bool:
        return bool(getattr(evidence.params, switch)) and switch not in evidence.ablate

    same = [
        name
        for name, switches in _BY_SWITCHES.items()
        if all(is_on(earlier, switch) == is_on(evidence, switch) for switch in switches)
    ]
    return {name: vars(earlier)[name] for name in (*_WEIGHTLESS, *same) if name in vars(earlier)}


def replay_cases(
    memory: Namespace,
    profile: Profile,
    working: WorkingSet,
    recalls: Sequence[JudgedRecall],
    learned: Sequence[int],
) -> list[ReplayCase]:
    """Return the cases of the recalls: each with its query, its context, and today's candidates."""
    now = memory.now()
    replays = []
    for recall, step_count in zip(recalls, learned, strict=True):
        query = _query(profile, recall.trace.cue)
        context, eligible, pool = eligible_candidates(memory, query, working, now)
        replays.append(ReplayCase(recall, query, step_count, context, eligible, pool))
    return replays


def _query(profile: Profile, values: Mapping[str, Any]) -> RecallQuery:
    """Return the query of a recall, from the cue in its trace."""
    cue = Cue(**{name: value for name, value in values.items() if name != "text"})
    text = values.get("text")
    context = recall_context(profile, cue, text)
    return RecallQuery(cue_text(text, cue), cue, profile, limit=DEPTH, context=context)


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """The judged recalls of a namespace, ready to be replayed, and the recipe in force."""

    at: datetime
    now: RecallParams
    replay: Replay
    left_out: Mapping[str, int]


def judged_sample(memory: Namespace, profile: Profile, limit: int) -> JudgedSample:
    """Read everything that replays need from one state of the store; replays then hold no lock."""
    with memory.lock, memory.store.transaction(write=False):
        now = memory.now()
        working = WorkingSet(memory.store, memory.namespace, memory.embedder)
        working.refresh(now)
        recalls, left_out = judged_recalls(memory, profile.name, working, limit)
        steps, steps_known = steps_since(memory, recalls)
        cases = replay_cases(memory, profile, working, recalls, steps_known)
        params = weighted_profile(memory, profile).recall
    replay = Replay(memory.embedder, profile, LearnedState(working, steps), cases)
    return JudgedSample(now, params, replay, left_out)


def reciprocal_rank(gold: Collection[str], ranked: Sequence[str]) -> float:
    """Compute 1 / rank of the first gold item, ranks counted from 1; 0 if there is none.

    Parameters
    ----------
    gold : the relevant items; not empty.
    ranked : the items returned, best first.

    Returns
    -------
    A number in [0, 1]. Its mean over questions is the MRR.

    Raises
    ------
    ParamError : no gold.

    Examples
    --------
    >>> reciprocal_rank({"b"}, ["c", "a", "d", "b"])
    0.25
    """
    relevant = check_gold(gold)
    return next((1.0 / place for place, key in enumerate(ranked, 1) if key in relevant), 0.0)


def check_gold(gold: Collection[str]) -> frozenset[str]:
    """Return the relevant items of a question, each once; ``ParamError`` if there are none."""
    if not gold:
        raise ParamError("gold", list(gold), "must not be empty: such a question cannot be scored")
    return frozenset(gold)
