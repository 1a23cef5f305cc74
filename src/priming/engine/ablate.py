"""ablate: judged recalls → replays without each term → what it is worth → other weights, if they stand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from priming.ablation import Ablation, Reweighing, Worth
from priming.checks import check_choice, check_count
from priming.config.params.learning import ABLATION
from priming.config.params.recall import RecallParams
from priming.config.params.store import STORE
from priming.config.profiles import Profile, get
from priming.core.check import Floats
from priming.core.metrics import paired_difference
from priming.engine import judged, weights
from priming.engine.evidence import Evidence
from priming.engine.opened import Opened
from priming.engine.recall import TERMS
from priming.engine.replay import Learned, Replay, cases, steps_since
from priming.engine.reweigh import WEIGHTS, Search, proposed
from priming.engine.working import WorkingSet
from priming.errors import ParamError

Progress = Callable[[int, int | None], None]
MEASURE = f"average precision at {ABLATION.depth}"


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of ``ablate``, checked."""

    terms: tuple[str, ...]
    profile: Profile
    limit: int
    propose: bool
    apply: bool
    progress: Progress


@dataclass(slots=True)
class Sample:
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


def asked(opened: Opened, arguments: Mapping[str, Any]) -> Asked:
    """Check the arguments of ``ablate``."""
    given = arguments["profile"]
    profile = get(given, opened.profiles) if given is not None else opened.profile
    if profile.anchors is not None:
        rule = "has no terms to weigh: name one that follows docs/recall.md, such as priming"
        raise ParamError("profile", profile.name, rule)
    for name in ("propose", "apply"):
        if not isinstance(arguments[name], bool):
            raise ParamError(name, arguments[name], "must be true or false")
    if arguments["apply"] and not arguments["propose"]:
        raise ParamError("apply", True, "cannot stand without propose: leave one out")
    return Asked(
        terms=_terms(arguments["terms"]),
        profile=profile,
        limit=check_count("limit", arguments["limit"], 1, STORE.trace_count),
        propose=arguments["propose"],
        apply=arguments["apply"],
        progress=arguments["progress"] or (lambda _done, _total: None),
    )


def _terms(given: Any) -> tuple[str, ...]:
    """The terms asked for, in their order; None: all."""
    if given is None:
        return TERMS
    some = (given,) if isinstance(given, str) else given
    if not isinstance(some, Collection) or not some:
        raise ParamError("terms", given, f"must be some of {', '.join(TERMS)}")
    wanted = {check_choice("terms", one, TERMS) for one in some}
    return tuple(one for one in TERMS if one in wanted)


def ablate(opened: Opened, one: Asked) -> Ablation:
    """Replay the judged recalls without each term; nothing is written unless the proposal stands and is asked for."""
    sample = _sample(opened, one)
    found = Ablation(
        at=sample.at,
        namespace=opened.namespace,
        profile=one.profile.name,
        measure=MEASURE,
        recalls=len(sample.replay.cases),
        cues=len(sample.groups),
        left_out=sample.left_out,
        quality=None,
    )
    if not sample.groups:
        return replace(found, reason=_too_few(0))
    base = sample.quality(sample.now)
    without = {term: sample.quality(sample.now, (term,)) for term in one.terms}
    found = replace(
        found,
        quality=float(base.mean()),
        terms=tuple(_worth(sample.now, term, base, without[term]) for term in one.terms),
    )
    if not one.propose:
        return found
    if len(sample.groups) < ABLATION.least:
        return replace(found, reason=_too_few(len(sample.groups)))
    offer = proposed(Search(one.profile.recall, sample.now, sample.quality))
    if offer is None:
        return replace(found, reason="no other weights serve the judged cues better")
    found = replace(found, proposal=offer)
    if not (one.apply and offer.stands):
        return found
    return replace(found, operation=_apply(opened, one.profile, offer))


def _too_few(cues: int) -> str:
    return (
        f"{cues} judged {'cue' if cues == 1 else 'cues'}, of those alike only one counted: weights are proposed from"
        f" {ABLATION.least} on, so judge more recalls (priming used KEY)"
    )


def _sample(opened: Opened, one: Asked) -> Sample:
    """Read everything that replays need, in one state of the store; they then hold up nobody."""
    with opened.lock, opened.store.transaction(write=False):
        opened.readable()
        now = opened.now()
        working = WorkingSet(opened.store, opened.namespace, opened.embedder)
        working.refresh(now)
        recalls, left_out = judged.judged(opened, one.profile.name, working, one.limit)
        steps, known = steps_since(opened, recalls)
        made = cases(opened, one.profile, working, recalls, known)
        params = weights.in_force(opened, one.profile).recall
    replay = Replay(opened.embedder, one.profile, Learned(working, steps), made)
    rarity = Evidence(working, opened.embedder, "", params, now).rarity
    groups = judged.groups(recalls, params.same_cue, rarity)
    return Sample(now, params, replay, groups, left_out, _counted(one, len(made)))


def _counted(one: Asked, recalls: int) -> Callable[[], None]:
    """Tells of each replay: how many there will be is known until weights are searched."""
    done, total = 0, recalls * (1 + len(one.terms))
    one.progress(done, total)

    def tick() -> None:
        nonlocal done
        done += 1
        one.progress(done, total if done <= total else None)

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


def _apply(opened: Opened, profile: Profile, offer: Reweighing) -> str:
    with opened.writing() as now:
        return weights.write(opened, profile, offer.weights, offer.before, now).id
