"""ablate: measures the worth of each term of recall on judged recalls, and proposes better weights.

Judged recalls are replayed without each term in turn; the difference in average precision is its worth.
``priming.learning.replay`` repeats a recall, ``tuning`` searches for weights, and ``metrics`` holds the measures. The
same question asked ten times is one piece of evidence: the unit is a group of like cues.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from priming.config.params.limits import STORE
from priming.config.params.recall import RecallParams
from priming.config.profiles import Profile, get
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats
from priming.core.arguments.checks import check_choice, check_count
from priming.errors import ParamError
from priming.index.cue_feedback import weighted_jaccard
from priming.learning.replay import DEPTH, RECALLS, SEED, JudgedSample, judged_sample
from priming.namespace import Namespace
from priming.recall.candidates import TERMS, write_weights
from priming.recall.evidence import Evidence
from priming.text.tokens import terms as terms_of
from priming.types import Progress
from priming_lab.metrics import average_precision, paired_difference
from priming_lab.results import Ablation, Reweighing, Worth
from priming_lab.tuning import WEIGHTS, WeightSearch, propose_weights

LEAST = 30
"""The least number of judged cues for a proposal; similar cues count as one."""

MEASURE = f"average precision at {DEPTH}"


def ablate(
    memory: Namespace,
    terms: Collection[str] | None = None,
    *,
    profile: str | None = None,
    limit: int = RECALLS,
    propose: bool = True,
    apply: bool = False,
    progress: Progress | None = None,
) -> Ablation:
    """Replay judged recalls without each term in turn: report the worth of each term, and propose better weights.

    Args:
        terms: names of terms (``priming.recall.candidates.TERMS``); None: all.
        profile: the profile whose recalls are replayed and whose weights are tuned; it must follow
            ``docs/recall.md``. None: the memory's own.
        limit: the maximum number of judged recalls, the latest first.
        propose: whether to search for better weights, which takes the most time.
        apply: whether to set the proposed weights if the gain is certain, as one operation. Otherwise nothing
            changes.
        progress: called with (done, total or None) after each replay.

    Raises:
        ParamError: an argument outside its range, or a profile without such terms.
        Conflict: the weights were changed during the search.

    """
    if apply and not propose:
        raise ParamError("apply", True, "needs propose: set propose too, or leave apply out")
    chosen, weighed = _terms(terms), _weighed_profile(memory, profile)
    sample = judged_sample(memory, weighed, check_count("limit", limit, 1, STORE.trace_count))
    rarity = Evidence(sample.replay.working, memory.embedder, "", sample.now, sample.at).rarity
    recalls = len(sample.replay.cases)
    tick = _progress_counter(progress or (lambda _done, _total: None), recalls * (1 + len(chosen)))
    judged = JudgedCues(sample, cue_groups(sample, rarity), tick)
    result = Ablation(
        at=sample.at,
        namespace=memory.namespace,
        profile=weighed.name,
        measure=MEASURE,
        recalls=recalls,
        cues=len(judged.groups),
        left_out=sample.left_out,
        quality=None,
    )
    if not judged.groups:
        return replace(result, reason=_too_few(0))
    base = judged.quality(sample.now)
    without = {term: judged.quality(sample.now, (term,)) for term in chosen}
    worths = tuple(_worth(sample.now, term, base, without[term]) for term in chosen)
    result = replace(result, quality=float(base.mean()), terms=worths)
    if not propose:
        return result
    if len(judged.groups) < LEAST:
        return replace(result, reason=_too_few(len(judged.groups)))
    offer = propose_weights(WeightSearch(weighed.recall, sample.now, judged.quality))
    if offer is None:
        return replace(result, reason="no other weights serve the judged cues better")
    operation = _apply(memory, weighed, offer) if apply and offer.stands else None
    return replace(result, proposal=offer, operation=operation)


def _weighed_profile(memory: Namespace, name: str | None) -> Profile:
    """Return the profile of that name, by default the memory's own; ``ParamError`` if it has no terms."""
    profile = get(name, memory.profiles) if name is not None else memory.profile
    if profile.anchors is not None:
        rule = "has no terms to weigh: name one that follows docs/recall.md, such as priming"
        raise ParamError("profile", profile.name, rule)
    return profile


def _terms(value: Any) -> tuple[str, ...]:
    """Return the checked terms, in the order of ``TERMS``; None: all."""
    if value is None:
        return TERMS
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Collection) or not names:
        raise ParamError("terms", value, f"must be some of {', '.join(TERMS)}")
    chosen = {check_choice("terms", name, TERMS) for name in names}
    return tuple(name for name in TERMS if name in chosen)


@dataclass(frozen=True, slots=True)
class JudgedCues:
    """Judged recalls in groups of like cues, by their positions; ``tick`` is called after each replay."""

    sample: JudgedSample
    groups: Sequence[Sequence[int]]
    tick: Callable[[], None]

    def quality(self, params: RecallParams, off: Collection[str] = ()) -> Floats:
        """Return the mean average precision of each group, with weights ``params`` and without the terms ``off``."""
        replay = self.sample.replay
        precisions = np.zeros(len(replay.cases))
        for i in replay.in_order():
            case = replay.cases[i]
            precisions[i] = average_precision(case.judged.relevant, replay.ranking(case, params, off))
            self.tick()
        return np.array([precisions[list(group)].mean() for group in self.groups])


def cue_groups(sample: JudgedSample, rarity: Callable[[str], float]) -> list[list[int]]:
    """Return the positions of the recalls in groups of like cues, by single linkage at the likeness ``same_cue``.

    The likeness of two cues is the Jaccard index of their terms, weighted by ``rarity``.
    """
    judged_cues = [case.judged.trace.cue for case in sample.replay.cases]
    cues = [frozenset(terms_of(str(cue.get("text", "")))) for cue in judged_cues]
    recalls_of: dict[str, list[int]] = {}
    root = list(range(len(cues)))
    for i, cue in enumerate(cues):
        for j in sorted({other for term in cue for other in recalls_of.get(term, ())}):
            same = cue == cues[j] or weighted_jaccard(cue, cues[j], rarity) >= sample.now.same_cue
            if _find_root(root, i) != _find_root(root, j) and same:
                root[_find_root(root, i)] = _find_root(root, j)
        for term in cue:
            recalls_of.setdefault(term, []).append(i)
    groups: dict[Any, list[int]] = {}
    for i, judged_cue in enumerate(judged_cues):
        context = tuple(sorted((name, str(value)) for name, value in judged_cue.items()))
        groups.setdefault(_find_root(root, i) if cues[i] else context, []).append(i)
    return list(groups.values())


def _find_root(root: list[int], i: int) -> int:
    while root[i] != i:
        i = root[i]
    return i


def _too_few(cues: int) -> str:
    return (
        f"{cues} judged {'cue' if cues == 1 else 'cues'}, of those alike only one counted: weights are proposed from"
        f" {LEAST} on, so judge more recalls (priming used KEY)"
    )


def _progress_counter(progress: Progress, total: int) -> Callable[[], None]:
    """Return a function that reports one more replay; the total is None once weights are searched."""
    done = 0
    progress(done, total)

    def tick() -> None:
        nonlocal done
        done += 1
        progress(done, total if done <= total else None)

    return tick


def _worth(now: RecallParams, term: str, base: Floats, without: Floats) -> Worth:
    difference = paired_difference(base, without, np.random.default_rng(SEED))
    return Worth(
        term=term,
        worth=difference.mean,
        low=difference.low,
        high=difference.high,
        better=int(np.count_nonzero(base > without)),
        worse=int(np.count_nonzero(base < without)),
        weights={name: getattr(now, name) for name in WEIGHTS.get(term, ())},
    )


def _apply(memory: Namespace, profile: Profile, offer: Reweighing) -> str:
    with memory.changing() as now:
        return write_weights(memory, profile, offer.weights, offer.before, now).id
