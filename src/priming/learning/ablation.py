"""ablate: judged recalls → replays without each term → what it is worth → other weights, if they stand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from priming.config.params.learning import ABLATION
from priming.config.params.recall import RecallParams
from priming.config.params.store import STORE
from priming.config.profiles import Profile, get
from priming.core.arguments.arrays import Floats
from priming.core.arguments.checks import check_choice, check_count
from priming.errors import ParamError
from priming.index.working_set import WorkingSet
from priming.learning.judged_recalls import cue_groups, judged_recalls
from priming.learning.metrics import paired_difference
from priming.learning.replay import LearnedState, Replay, replay_cases, steps_since
from priming.learning.results import Ablation, Reweighing, Worth
from priming.learning.tuning import WEIGHTS, WeightSearch, propose_weights
from priming.namespace import Namespace
from priming.recall import term_weights
from priming.recall.priors import Priors
from priming.recall.term_weights import TERMS

Progress = Callable[[int, int | None], None]
MEASURE = f"average precision at {ABLATION.depth}"


@dataclass(frozen=True, slots=True)
class AblationQuery:
    """The checked arguments of ``ablate``."""

    terms: tuple[str, ...]
    profile: Profile
    limit: int
    propose: bool
    apply: bool
    progress: Progress


@dataclass(slots=True)
class JudgedSample:
    """The judged recalls of a namespace, ready to be replayed: ``groups`` are those whose cues are alike."""

    at: datetime
    now: RecallParams
    replay: Replay
    groups: Sequence[Sequence[int]]
    left_out: Mapping[str, int]
    tick: Callable[[], None]

    def quality(self, params: RecallParams, off: Collection[str] = ()) -> Floats:
        """The mean average precision of each group of cues, with some weights and without some terms."""
        found = np.zeros(len(self.replay.cases))
        # To and fro along the log: each replay begins where the one before it ended.
        places = [i for group in self.groups for i in group]
        places.sort(key=lambda i: self.replay.cases[i].known, reverse=self.replay.is_late)
        for i in places:
            found[i] = self.replay.precision(self.replay.cases[i], params, off)
            self.tick()
        return np.array([found[list(group)].mean() for group in self.groups])


def ablate(
    memory: Namespace,
    terms: Collection[str] | None = None,
    *,
    profile: str | None = None,
    limit: int = ABLATION.recalls,
    propose: bool = True,
    apply: bool = False,
    progress: Progress | None = None,
) -> Ablation:
    """Replay the recalls that were judged, without each term in turn: what it is worth, and better weights.

    Args:
        terms: names of terms (``priming.recall.term_weights.TERMS``); None: all.
        profile: whose recalls, and whose weights; one that follows ``docs/recall.md``. None: this memory's own.
        limit: the latest judged recalls, so many of them.
        propose: whether other weights are looked for: it takes longest.
        apply: whether weights that stand are set, as one operation. Without it, nothing changes.
        progress: called with (done, total or None) after each replay.

    Raises:
        ParamError: an argument outside its range, or a profile without such terms.
        Conflict: other weights were set meanwhile.

    """
    for name, value in (("propose", propose), ("apply", apply)):
        if not isinstance(value, bool):
            raise ParamError(name, value, "must be true or false")
    if apply and not propose:
        raise ParamError("apply", True, "cannot stand without propose: leave one out")
    query = AblationQuery(
        terms=_terms(terms),
        profile=_weighed_profile(memory, profile),
        limit=check_count("limit", limit, 1, STORE.trace_count),
        propose=propose,
        apply=apply,
        progress=progress or (lambda _done, _total: None),
    )
    return _ablate(memory, query)


def _weighed_profile(memory: Namespace, name: str | None) -> Profile:
    """The profile of a name, by default the memory's own; it must have terms."""
    profile = get(name, memory.profiles) if name is not None else memory.profile
    if profile.anchors is not None:
        rule = "has no terms to weigh: name one that follows docs/recall.md, such as priming"
        raise ParamError("profile", profile.name, rule)
    return profile


def _terms(value: Any) -> tuple[str, ...]:
    """The terms to leave out, in their order; None: all."""
    if value is None:
        return TERMS
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Collection) or not names:
        raise ParamError("terms", value, f"must be some of {', '.join(TERMS)}")
    chosen = {check_choice("terms", name, TERMS) for name in names}
    return tuple(name for name in TERMS if name in chosen)


def _ablate(memory: Namespace, query: AblationQuery) -> Ablation:
    """Replay the judged recalls without each term; nothing is written unless the proposal stands and is asked for."""
    sample = _sample(memory, query)
    result = Ablation(
        at=sample.at,
        namespace=memory.namespace,
        profile=query.profile.name,
        measure=MEASURE,
        recalls=len(sample.replay.cases),
        cues=len(sample.groups),
        left_out=sample.left_out,
        quality=None,
    )
    if not sample.groups:
        return replace(result, reason=_too_few(0))
    base = sample.quality(sample.now)
    without = {term: sample.quality(sample.now, (term,)) for term in query.terms}
    result = replace(
        result,
        quality=float(base.mean()),
        terms=tuple(_worth(sample.now, term, base, without[term]) for term in query.terms),
    )
    if not query.propose:
        return result
    if len(sample.groups) < ABLATION.least:
        return replace(result, reason=_too_few(len(sample.groups)))
    offer = propose_weights(WeightSearch(query.profile.recall, sample.now, sample.quality))
    if offer is None:
        return replace(result, reason="no other weights serve the judged cues better")
    result = replace(result, proposal=offer)
    if not (query.apply and offer.stands):
        return result
    return replace(result, operation=_apply(memory, query.profile, offer))


def _too_few(cues: int) -> str:
    return (
        f"{cues} judged {'cue' if cues == 1 else 'cues'}, of those alike only one counted: weights are proposed from"
        f" {ABLATION.least} on, so judge more recalls (priming used KEY)"
    )


def _sample(memory: Namespace, query: AblationQuery) -> JudgedSample:
    """Read everything that replays need, in one state of the store; they then hold up nobody."""
    with memory.lock, memory.store.transaction(write=False):
        memory.require_exists()
        now = memory.now()
        working = WorkingSet(memory.store, memory.namespace, memory.embedder)
        working.refresh(now)
        recalls, left_out = judged_recalls(memory, query.profile.name, working, query.limit)
        steps, known = steps_since(memory, recalls)
        made = replay_cases(memory, query.profile, working, recalls, known)
        params = term_weights.in_force(memory, query.profile).recall
    replay = Replay(memory.embedder, query.profile, LearnedState(working, steps), made)
    rarity = Priors(working, memory.embedder, "", params, now).rarity
    groups = cue_groups(recalls, params.same_cue, rarity)
    return JudgedSample(now, params, replay, groups, left_out, _counted(query, len(made)))


def _counted(query: AblationQuery, recalls: int) -> Callable[[], None]:
    """Tells of each replay: how many there will be is known until weights are searched."""
    done, total = 0, recalls * (1 + len(query.terms))
    query.progress(done, total)

    def tick() -> None:
        nonlocal done
        done += 1
        query.progress(done, total if done <= total else None)

    return tick


def _worth(now: RecallParams, term: str, base: Floats, without: Floats) -> Worth:
    apart = paired_difference(base, without, np.random.default_rng(ABLATION.seed))
    return Worth(
        term=term,
        worth=apart.mean,
        low=apart.low,
        high=apart.high,
        better=int(np.count_nonzero(base > without)),
        worse=int(np.count_nonzero(base < without)),
        weights={name: getattr(now, name) for name in WEIGHTS.get(term, ())},
    )


def _apply(memory: Namespace, profile: Profile, offer: Reweighing) -> str:
    with memory.writing() as now:
        return term_weights.write_weights(memory, profile, offer.weights, offer.before, now).id
