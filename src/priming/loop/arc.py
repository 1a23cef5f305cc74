"""The memory of the loop in the form of its seed: failures and patterns by name, answered as Arc answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.config.params.laws import SCORE
from priming.config.params.loop import CONTEXT, ContextParams
from priming.core.score import effectiveness
from priming.engine import lessons
from priming.engine.reach import reach
from priming.errors import NotFound
from priming.loop.context import PROFILE, RESOLUTION, TRIGGER, gather
from priming.loop.learn import FAILURE, PATTERN, lesson
from priming.looping import Gathered
from priming.memory import Memory
from priming.types import MemoryRecord

TYPES = (FAILURE, PATTERN)
ADDED, MERGED, STRENGTHENED = "added", "merged", "strengthened"
REJECTED, SKIPPED, EXISTS = "rejected", "skipped", "exists"
_AT_LARGE = "loop:feedback"
"""A session that has no recalls: what is said under it is said of the memory, not of a recall."""
_MOST = 1_000_000
_DIGITS = 3
_SECONDS_A_DAY = 86_400.0


def store(
    memory: Memory,
    type: str,
    trigger: str,
    resolution: str,
    source: str | None = None,
    *,
    params: ContextParams = CONTEXT,
) -> dict[str, Any]:
    """Keep a failure or a pattern; one that is as good as there already is strengthened instead."""
    wrong = None
    if type not in TYPES:
        wrong = f"type must be {FAILURE} or {PATTERN}"
    elif len(trigger.strip()) < params.trigger:
        wrong = f"trigger too short: at least {params.trigger} characters"
    elif not resolution.strip():
        wrong = "resolution empty"
    if wrong is not None:
        return {"status": REJECTED, "name": "", "reason": wrong}
    told = lesson(type, trigger, resolution, params=params, source=source or None)
    kept = lessons.keep(memory, told, least=params.similar)
    if kept.status == lessons.STORED:
        return {"status": ADDED, "name": kept.key, "reason": ""}
    return {
        "status": MERGED,
        "name": kept.key,
        "reason": f"similar exists: {kept.cosine:.2f} alike, strengthened",
    }


def chunk(
    memory: Memory,
    task: str,
    outcome: str,
    approach: str,
    source: str = "chunked",
    *,
    params: ContextParams = CONTEXT,
) -> dict[str, Any]:
    """Make a pattern of what worked, or strengthen the one that says so already."""
    if not outcome.casefold().startswith("success"):
        return {"status": SKIPPED, "name": "", "reason": "only successes make patterns"}
    done = store(memory, PATTERN, task, approach, source, params=params)
    if done["status"] == MERGED:
        return {**done, "status": STRENGTHENED}
    return done


def recall(
    memory: Memory, query: str, type: str | None = None, limit: int = 5, *, session: str | None = None
) -> list[dict[str, Any]]:
    """Failures and patterns by .5 · relevance + .3 · effectiveness + .2 · recency."""
    kinds = TYPES if type is None else (type,)
    found = memory.recall(query, kinds=kinds, limit=limit, profile=PROFILE, session=session)
    return [
        {
            **shaped(hit.memory),
            "_relevance": round(hit.components["relevance"], _DIGITS),
            "_recency": round(hit.components["recency"], _DIGITS),
            "_score": round(hit.score, _DIGITS),
        }
        for hit in found.hits
    ]


def context(
    memory: Memory, objective: str, folder: Path | str, *, session: str | None = None
) -> dict[str, Any]:
    """What is known about an objective, for an agent that reasons about it."""
    found = gather(memory, objective, folder, session=session)
    return {
        "objective": objective,
        "memory": {
            **{
                part: [shaped(memory.get(one.key)) for one in some]
                for part, some in (
                    ("failures", found.failures),
                    ("patterns", found.patterns),
                    ("connected", found.connected),
                )
            },
            "injected_names": list(found.injected),
            "fired": list(found.fired),
        },
        "codebase": _codebase(found),
        "complexity": {"level": found.complexity.level, "signals": list(found.complexity.signals)},
    }


def _codebase(found: Gathered) -> dict[str, Any]:
    there = found.codebase
    return {
        "has_tests": bool(there.tests),
        "tests": list(there.tests),
        "languages": list(there.languages),
        "framework_hints": list(there.frameworks),
        "relevant_files": list(there.relevant),
        "files": there.files,
    }


def feedback(memory: Memory, utilized: Sequence[str], injected: Sequence[str]) -> dict[str, Any]:
    """What was used helped; what was injected and not used did not. Names that nobody was shown are ``missing``."""
    there, missing = list[str](), list[str]()
    for name in dict.fromkeys(injected):
        (there if get(memory, name) is not None else missing).append(name)
    missing += [name for name in dict.fromkeys(utilized) if name not in injected]
    used = [name for name in there if name in utilized]
    unused = [name for name in there if name not in utilized]
    repeated = {
        *lessons.judged(memory, used, "used", None),
        *lessons.judged(memory, unused, "not-useful", None),
    }
    for again, session in ((False, None), (True, _AT_LARGE)):
        good, bad = ([one for one in some if (one in repeated) is again] for some in (used, unused))
        if good or bad:
            memory.feedback(used=good, not_useful=bad, session=session, reason="loop feedback")
    return {"helped": len(used), "unhelpful": len(unused), "missing": missing}


def relate(memory: Memory, source: str, target: str, relation: str, weight: float = 1.0) -> dict[str, Any]:
    """Link two memories."""
    for name in (source, target):
        if get(memory, name) is None:
            return {"status": REJECTED, "reason": f"memory not found: {name}"}
    if source == target:
        return {"status": REJECTED, "reason": "a memory is not linked to itself"}
    there = memory.links(source, relation=relation)
    if any((one.source, one.target) == (source, target) for one in there):
        return {"status": EXISTS, "reason": "they are linked so already"}
    memory.link(source, target, relation, weight)
    return {"status": ADDED, "reason": ""}


def connected(memory: Memory, name: str, *, params: ContextParams = CONTEXT) -> list[dict[str, Any]]:
    """What strong links lead to from a memory, over up to two of them."""
    if get(memory, name) is None:
        return []
    found = reach(memory, [name], hops=params.hops, least=params.link_weight)
    return [{**shaped(one.memory), "_hop": one.hop, "_via": one.via} for one in found]


def get(memory: Memory, name: str) -> dict[str, Any] | None:
    """One memory by its name, or None."""
    try:
        return shaped(memory.get(name))
    except NotFound:
        return None


def prune(memory: Memory) -> dict[str, Any]:
    """Archive failures and patterns that rarely helped: 3 verdicts or more, effectiveness below .25."""
    return {"pruned": _slept(memory, "prune", "archive"), "remaining": len(_all(memory))}


def consolidate(memory: Memory) -> dict[str, Any]:
    """Merge failures, and patterns, that say the same: their counts add up, and their links move."""
    return {"merged": _slept(memory, "link", "merge"), "remaining": len(_all(memory))}


def decay(
    memory: Memory,
    now: datetime,
    days: float | None = None,
    min_uses: int | None = None,
    *,
    params: ContextParams = CONTEXT,
) -> dict[str, Any]:
    """Who is dormant: not used for so long, and judged less often. Recency takes them down in recall by itself."""
    most = params.dormant_days if days is None else days
    uses = params.dormant_uses if min_uses is None else min_uses
    dormant = [
        one.key
        for one in _all(memory)
        if one.use.helped + one.use.failed < uses and _idle(one, now) > most * _SECONDS_A_DAY
    ]
    return {
        "candidates_for_decay": dormant,
        "count": len(dormant),
        "threshold_days": most,
        "min_uses_to_survive": uses,
    }


def health(memory: Memory) -> dict[str, Any]:
    """How the memory of the loop is: how much there is, how much of it helped, and what is amiss."""
    there = _all(memory)
    by_type = {kind: _counted([one for one in there if one.kind == kind]) for kind in TYPES}
    by_type = {kind: counts for kind, counts in by_type.items() if counts["count"]}
    helped, failed = (sum(one[name] for one in by_type.values()) for name in ("helped", "failed"))
    judged = sum(1 for one in there if one.use.helped + one.use.failed)
    issues = []
    if not there:
        issues.append("No memories yet")
    elif not judged:
        issues.append("No feedback recorded: the learning loop is not closed")
    return {
        "status": "NEEDS_ATTENTION" if issues else "HEALTHY",
        "total": len(there),
        "by_type": by_type,
        "effectiveness": round(float(effectiveness(helped, failed)), _DIGITS),
        "with_feedback": judged,
        "relationships": len(_links(memory, {one.key for one in there})),
        "issues": issues,
    }


def shaped(one: MemoryRecord) -> dict[str, Any]:
    """A memory as the seed writes it."""
    when, what = (one.metadata.get(name) for name in (TRIGGER, RESOLUTION))
    helped, failed = one.use.helped, one.use.failed
    return {
        "name": one.key,
        "type": one.kind,
        "trigger": when if isinstance(when, str) else one.heading or one.gist,
        "resolution": what if isinstance(what, str) else one.content,
        "helped": helped,
        "failed": failed,
        "effectiveness": round(
            float(effectiveness(helped, failed)) if helped + failed else SCORE.neutral, _DIGITS
        ),
        "created_at": None if one.recorded_at is None else one.recorded_at.isoformat(),
        "source": one.source or "",
    }


def _all(memory: Memory) -> list[MemoryRecord]:
    """All failures and patterns in use."""
    try:
        return memory.list(kinds=TYPES, limit=_MOST)
    except NotFound:
        return []


def _links(memory: Memory, keys: set[str]) -> list[Any]:
    """The links between failures and patterns."""
    return [one for one in memory.links() if {one.source, one.target} <= keys] if keys else []


def _counted(some: Sequence[MemoryRecord]) -> dict[str, int]:
    return {
        "count": len(some),
        "helped": sum(one.use.helped for one in some),
        "failed": sum(one.use.failed for one in some),
    }


def _idle(one: MemoryRecord, now: datetime) -> float:
    """Seconds since a memory was used, or told."""
    last = one.use.last_used_at or one.recorded_at or now
    return (now - last).total_seconds()


def _slept(memory: Memory, stage: str, action: str) -> int:
    """Do what a stage of sleep proposes for failures and patterns, and nothing else of it; how many that were."""
    if not _all(memory):
        return 0
    night = memory.sleep([stage], dry_run=True)
    mine = [
        one
        for one in night.items
        if one.action == action and all(memory.get(key).kind in TYPES for key in one.keys)
    ]
    if mine:
        memory.apply(night, only=[one.id for one in mine])
    return sum(len(one.keys) for one in mine)
