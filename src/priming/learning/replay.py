"""Recalls asked again of the memories of today, with what was learned as it was when they were first asked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priming.config.params.learning import ABLATION
from priming.config.params.recall import RecallParams
from priming.config.profiles import Profile
from priming.embedding.protocol import Embedder
from priming.history.log_replay import newest_first
from priming.index.working_set import WorkingSet
from priming.learning.coactivation import RELATION
from priming.learning.judged_recalls import JudgedRecall
from priming.learning.metrics import average_precision
from priming.namespace import Namespace
from priming.recall.candidates import RecallQuery, cue_text, eligible_candidates, no_result_reason
from priming.recall.designs import rank
from priming.recall.priors import Priors
from priming.recall.ranking import RankingQuery
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VerdictRow
from priming.types import Cue

_RAW = ("terms", "literal", "pairs", "neighboured", "window", "_practised", "_verdicts")
_BY_SWITCH = {"near": ("bm25", "session"), "idf": ("query", "cosine", "gist")}
"""Evidence that does not depend on weights: it is carried from one replay of a recall to the next.

Some of it depends on a switch, and is carried only where that stands the same in both."""


@dataclass(frozen=True, slots=True)
class WeightStep:
    """What one operation taught: rows of links, verdicts and practice, before and after."""

    id: str
    at: datetime
    changes: tuple[RowChange, ...]


class LearnedState:
    """A working set of one's own whose learned state can be moved to and fro along the log."""

    def __init__(self, working: WorkingSet, steps: Sequence[WeightStep]) -> None:
        """``steps`` are all that the working set has taken in since some time, oldest first."""
        self.working = working
        self._steps = steps
        self._known = len(steps)

    @property
    def is_late(self) -> bool:
        """Whether more than half of the steps are learned."""
        return 2 * self._known > len(self._steps)

    def to(self, known: int) -> None:
        """Have the first ``known`` steps learned, and no others."""
        while self._known > known:
            self._known -= 1
            changes = self._steps[self._known].changes
            self.working.learn([one.inverse() for one in reversed(changes)])
        while self._known < known:
            self.working.learn(self._steps[self._known].changes)
            self._known += 1


def steps_since(memory: Namespace, recalls: Sequence[JudgedRecall]) -> tuple[list[WeightStep], list[int]]:
    """What was learned since the first of some recalls, oldest first; and how much of it each of them knew.

    A recall knew what was done up to its time, and never a verdict on itself, whatever the clock says.
    """
    if not recalls:
        return [], []
    earliest, verdicts = min(one.trace.at for one in recalls), {one.first for one in recalls}
    steps = list[WeightStep]()
    for logged in newest_first(memory):
        if logged.at <= earliest and not verdicts:
            break
        verdicts.discard(logged.id)
        steps.append(WeightStep(logged.id, logged.at, _taught(logged)))
    lows = list(accumulate((one.at for one in steps), min))
    place = {one.id: i for i, one in enumerate(steps, 1)}
    later = [bisect_left(lows, True, key=one.trace.at.__ge__) for one in recalls]
    unknown = [max(i, place.get(one.first, 0)) for i, one in zip(later, recalls, strict=True)]
    return steps[::-1], [len(steps) - i for i in unknown]


def _taught(logged: Logged) -> tuple[RowChange, ...]:
    """Verdicts, practice, the weights of links, and links that verdicts made; what was told stays."""
    return tuple(change for change in logged.rows if _is_learned(change))


def _is_learned(change: RowChange) -> bool:
    row, both = change.row, change.before is not None and change.after is not None
    if isinstance(row, LinkRow):
        return both or row.relation == RELATION
    return isinstance(row, VerdictRow) or (both and isinstance(row, MemoryRow))


@dataclass(slots=True)
class ReplayCase:
    """A judged recall, ready to be replayed; ``known`` is how much had been learned."""

    judged: JudgedRecall
    query: RecallQuery
    known: int
    context: Mapping[int, float]
    eligible: NDArray[np.bool_]
    pool: NDArray[np.bool_]
    evidence: Priors | None = None


class Replay:
    """Judged recalls of one namespace, and how well each comes out with some weights and without some terms."""

    def __init__(
        self, embedder: Embedder, profile: Profile, learned: LearnedState, cases: Sequence[ReplayCase]
    ) -> None:
        self._embedder = embedder
        self._profile = profile
        self._learned = learned
        self.cases = cases
        arrays = (len(_RAW) + sum(map(len, _BY_SWITCH.values()))) * max(learned.working.documents, 1)
        self._carries = arrays * len(cases) <= ABLATION.carried

    @property
    def is_late(self) -> bool:
        """Whether more than half of what there is to learn is learned at present."""
        return self._learned.is_late

    def precision(self, case: ReplayCase, params: RecallParams, off: Collection[str] = ()) -> float:
        """The average precision of a recall's hits, with some weights and without some terms."""
        self._learned.to(case.known)
        evidence = self._evidence(case, params, off)
        query = replace(case.query, profile=replace(self._profile, recall=params))
        if no_result_reason(evidence, case.eligible, case.pool, query) is not None:
            return 0.0
        working = self._learned.working
        ranked = rank(
            RankingQuery(
                working,
                evidence,
                query.profile,
                case.eligible,
                case.pool,
                ABLATION.depth,
                case.judged.trace.at,
                lambda _: {},
                tuple,
                ablate=off,
            )
        )
        return average_precision(case.judged.relevant, [working.ids[row] for row in ranked.rows.tolist()])

    def _evidence(self, case: ReplayCase, params: RecallParams, off: Collection[str]) -> Priors:
        at = case.judged.trace.at
        made = Priors(
            self._learned.working, self._embedder, case.query.text, params, at, case.context, off, case.pool
        )
        if not self._carries:
            return made
        if case.evidence is None:
            case.evidence = made
        elif case.evidence is not made:
            vars(made).update(_carried(case.evidence, made))
        return made


def _carried(known: Priors, made: Priors) -> dict[str, Any]:
    """What of the evidence that is ``known`` is the same in ``made``, by name."""

    def stands(one: Priors, switch: str) -> bool:
        return bool(getattr(one.params, switch)) and switch not in one.ablate

    same = [names for switch, names in _BY_SWITCH.items() if stands(known, switch) == stands(made, switch)]
    return {name: vars(known)[name] for names in (_RAW, *same) for name in names if name in vars(known)}


def replay_cases(
    memory: Namespace,
    profile: Profile,
    working: WorkingSet,
    recalls: Sequence[JudgedRecall],
    known: Sequence[int],
) -> list[ReplayCase]:
    """The recalls as they can be asked again: by their text and context, of all that may answer today."""
    now = memory.now()
    replays = []
    for recall, steps in zip(recalls, known, strict=True):
        query = _query(profile, recall.trace.cue)
        context, eligible, pool = eligible_candidates(memory, query, working, now)
        replays.append(ReplayCase(recall, query, steps, context, eligible, pool))
    return replays


def _query(profile: Profile, values: Mapping[str, Any]) -> RecallQuery:
    """The query of a recall from the cue of its trace."""
    cue = Cue(**{name: value for name, value in values.items() if name != "text"})
    return RecallQuery(cue_text(values.get("text"), cue), cue, profile, limit=ABLATION.depth)
