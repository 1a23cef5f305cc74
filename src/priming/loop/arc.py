"""Arc's vocabulary over the memory of the loop: failures and patterns in the shapes that Arc's commands return."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.config.params.laws import SCORE
from priming.config.params.loop import CONTEXT, ContextParams
from priming.config.params.sleep import SLEEP
from priming.core.score import effectiveness
from priming.errors import NotFound
from priming.graph.traversal import neighbors
from priming.learning import lessons
from priming.learning.lessons import RESOLUTION, TRIGGER
from priming.loop.context import PROFILE, gather
from priming.loop.learning import FAILURE, PATTERN, lesson
from priming.loop.session import ObjectiveContext
from priming.memory import Memory
from priming.types import MemoryRecord

TYPES = (FAILURE, PATTERN)
ADDED, MERGED, STRENGTHENED = "added", "merged", "strengthened"
REJECTED, SKIPPED, EXISTS = "rejected", "skipped", "exists"
_WITHOUT_RECALL = "loop:feedback"
"""A session without recalls: verdicts under it concern the memory, not a recall."""
_MOST = 1_000_000
_DIGITS = 3
_NAMED = 5
"""Most memories that an issue names."""
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
    """Store a failure or a pattern; a similar one that exists is strengthened instead."""
    reason = None
    if type not in TYPES:
        reason = f"type must be {FAILURE} or {PATTERN}"
    elif len(trigger.strip()) < params.trigger:
        reason = f"trigger too short: at least {params.trigger} characters"
    elif not resolution.strip():
        reason = "resolution empty"
    if reason is not None:
        return {"status": REJECTED, "name": "", "reason": reason}
    arguments = lesson(type, trigger, resolution, params=params, source=source or None)
    stored = lessons.store_lesson(memory, arguments, least=params.similar)
    if stored.status == lessons.STORED:
        return {"status": ADDED, "name": stored.key, "reason": ""}
    reason = f"similar exists: {stored.cosine:.2f} alike, strengthened"
    return {"status": MERGED, "name": stored.key, "reason": reason}


def chunk(
    memory: Memory,
    task: str,
    outcome: str,
    approach: str,
    source: str = "chunked",
    *,
    params: ContextParams = CONTEXT,
) -> dict[str, Any]:
    """Store what worked as a pattern, or strengthen the similar pattern that exists."""
    if not outcome.casefold().startswith("success"):
        return {"status": SKIPPED, "name": "", "reason": "only successes make patterns"}
    result = store(memory, PATTERN, task, approach, source, params=params)
    if result["status"] == MERGED:
        return {**result, "status": STRENGTHENED}
    return result


def recall(
    memory: Memory, query: str, type: str | None = None, limit: int = 5, *, session: str | None = None
) -> list[dict[str, Any]]:
    """Failures and patterns by .5 · relevance + .3 · effectiveness + .2 · recency."""
    kinds = TYPES if type is None else (type,)
    result = memory.recall(query, kinds=kinds, limit=limit, profile=PROFILE, session=session)
    return [
        {
            **memory_shape(hit.memory),
            "_relevance": round(hit.components["relevance"], _DIGITS),
            "_recency": round(hit.components["recency"], _DIGITS),
            "_score": round(hit.score, _DIGITS),
        }
        for hit in result.hits
    ]


def context(
    memory: Memory, objective: str, folder: Path | str, *, session: str | None = None
) -> dict[str, Any]:
    """The context of an objective, for an agent that plans."""
    gathered = gather(memory, objective, folder, session=session)
    parts = {name: getattr(gathered, name) for name in ("failures", "patterns", "connected")}
    return {
        "objective": objective,
        "memory": {
            **{name: [memory_shape(memory.get(m.key)) for m in memories] for name, memories in parts.items()},
            "injected_names": list(gathered.injected),
            "fired": list(gathered.fired),
        },
        "codebase": _codebase(gathered),
        "complexity": {"level": gathered.complexity.level, "signals": list(gathered.complexity.signals)},
    }


def _codebase(gathered: ObjectiveContext) -> dict[str, Any]:
    codebase = gathered.codebase
    return {
        "has_tests": bool(codebase.tests),
        "tests": list(codebase.tests),
        "languages": list(codebase.languages),
        "framework_hints": list(codebase.frameworks),
        "relevant_files": list(codebase.relevant),
        "files": codebase.files,
    }


def feedback(memory: Memory, utilized: Sequence[str], injected: Sequence[str]) -> dict[str, Any]:
    """Credit what was used, and debit what was only injected; names that were not injected are ``missing``."""
    existing, missing = list[str](), list[str]()
    for name in dict.fromkeys(injected):
        (existing if get(memory, name) is not None else missing).append(name)
    missing += [name for name in dict.fromkeys(utilized) if name not in injected]
    used = [name for name in existing if name in utilized]
    unused = [name for name in existing if name not in utilized]
    repeated = {
        *lessons.judged_keys(memory, used, "used", None),
        *lessons.judged_keys(memory, unused, "not-useful", None),
    }
    for again, session in ((False, None), (True, _WITHOUT_RECALL)):
        good, bad = ([name for name in names if (name in repeated) is again] for names in (used, unused))
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
    links = memory.links(source, relation=relation)
    if any((link.source, link.target) == (source, target) for link in links):
        return {"status": EXISTS, "reason": "they are linked so already"}
    link = memory.link(source, target, relation, weight)
    return {"status": ADDED, "reason": link.message or ""}


def connected(memory: Memory, name: str, *, params: ContextParams = CONTEXT) -> list[dict[str, Any]]:
    """The memories that strong links connect with a memory, at most two links away."""
    if get(memory, name) is None:
        return []
    neighbours = neighbors(memory, [name], hops=params.hops, least=params.link_weight, automatic=False)
    return [{**memory_shape(node.memory), "_hop": node.hop, "_via": node.via} for node in neighbours]


def get(memory: Memory, name: str) -> dict[str, Any] | None:
    """The memory of a name, or None."""
    try:
        return memory_shape(memory.get(name))
    except NotFound:
        return None


def prune(memory: Memory) -> dict[str, Any]:
    """Archive failures and patterns that rarely helped: 3 verdicts or more, effectiveness below .25."""
    return {"pruned": _sleep(memory, "prune", "archive"), "remaining": len(_all(memory))}


def consolidate(memory: Memory) -> dict[str, Any]:
    """Merge failures, and patterns, that say the same: their counts add up, and their links move."""
    return {"merged": _sleep(memory, "link", "merge"), "remaining": len(_all(memory))}


def decay(
    memory: Memory,
    now: datetime,
    days: float | None = None,
    min_uses: int | None = None,
    *,
    params: ContextParams = CONTEXT,
) -> dict[str, Any]:
    """The dormant memories: unused for longer, with fewer verdicts. Their rank sinks by recency alone."""
    threshold = params.dormant_days if days is None else days
    uses = params.dormant_uses if min_uses is None else min_uses
    dormant = [
        record.key
        for record in _all(memory)
        if record.use.helped + record.use.failed < uses
        and _idle_seconds(record, now) > threshold * _SECONDS_A_DAY
    ]
    return {
        "candidates_for_decay": dormant,
        "count": len(dormant),
        "threshold_days": threshold,
        "min_uses_to_survive": uses,
    }


def health(memory: Memory) -> dict[str, Any]:
    """The state of the failures and patterns: their number, how many helped, and issues."""
    records = _all(memory)
    by_type = {kind: _counts([record for record in records if record.kind == kind]) for kind in TYPES}
    by_type = {kind: counts for kind, counts in by_type.items() if counts["count"]}
    helped, failed = (sum(counts[name] for counts in by_type.values()) for name in ("helped", "failed"))
    judged = sum(1 for record in records if record.use.helped + record.use.failed)
    issues = []
    if not records:
        issues.append("No memories yet")
    elif not judged:
        issues.append("No feedback recorded: the learning loop is not closed")
    issues += _figures(records, helped, failed)
    return {
        "status": "NEEDS_ATTENTION" if issues else "HEALTHY",
        "total": len(records),
        "by_type": by_type,
        "effectiveness": round(float(effectiveness(helped, failed)), _DIGITS),
        "with_feedback": judged,
        "relationships": _count_links(memory, {record.key for record in records}),
        "issues": issues,
    }


def _figures(records: Sequence[MemoryRecord], helped: int, failed: int) -> list[str]:
    """What the counts of verdicts say that needs attention."""
    poor = [record for record in records if _rarely_helped(record)]
    issues = []
    if poor:
        counts = [f"{r.key} ({r.use.helped} of {r.use.helped + r.use.failed})" for r in poor[:_NAMED]]
        more = f" and {len(poor) - _NAMED} more" if len(poor) > _NAMED else ""
        names = f"{', '.join(counts)}{more}"
        issues.append(
            f"{len(poor)} of {len(records)} rarely helped: {names}; 'priming loop prune' archives them"
        )
    if failed > helped:
        total = helped + failed
        issues.append(f"Memories helped in {helped} of {total} verdicts: most of what is shown is of no use")
    return issues


def _rarely_helped(record: MemoryRecord) -> bool:
    """Whether a memory has enough verdicts, and too few good verdicts, to be pruned."""
    helped, failed = record.use.helped, record.use.failed
    enough = helped + failed >= SLEEP.uses
    return enough and float(effectiveness(helped, failed)) < SLEEP.effectiveness


def memory_shape(record: MemoryRecord) -> dict[str, Any]:
    """A memory in Arc's shape."""
    when, what = (record.metadata.get(name) for name in (TRIGGER, RESOLUTION))
    helped, failed = record.use.helped, record.use.failed
    worth = float(effectiveness(helped, failed)) if helped + failed else SCORE.neutral
    return {
        "name": record.key,
        "type": record.kind,
        "trigger": when if isinstance(when, str) else record.heading or record.gist,
        "resolution": what if isinstance(what, str) else record.content,
        "helped": helped,
        "failed": failed,
        "effectiveness": round(worth, _DIGITS),
        "created_at": None if record.recorded_at is None else record.recorded_at.isoformat(),
        "source": record.source or "",
    }


def _all(memory: Memory) -> list[MemoryRecord]:
    """All failures and patterns in use."""
    try:
        return memory.list(kinds=TYPES, limit=_MOST)
    except NotFound:
        return []


def _count_links(memory: Memory, keys: set[str]) -> int:
    """The number of links among memories."""
    return sum({link.source, link.target} <= keys for link in memory.links()) if keys else 0


def _counts(records: Sequence[MemoryRecord]) -> dict[str, int]:
    return {
        "count": len(records),
        "helped": sum(record.use.helped for record in records),
        "failed": sum(record.use.failed for record in records),
    }


def _idle_seconds(record: MemoryRecord, now: datetime) -> float:
    """The time since a memory was used, or recorded."""
    return (now - (record.use.last_used_at or record.recorded_at or now)).total_seconds()


def _sleep(memory: Memory, stage: str, action: str) -> int:
    """Apply what a stage of sleep proposes for failures and patterns only; returns the number of these."""
    if not _all(memory):
        return 0
    proposal = memory.sleep([stage], dry_run=True)
    items = [
        item
        for item in proposal.items
        if item.action == action and all(memory.get(key).kind in TYPES for key in item.keys)
    ]
    if items:
        memory.apply(proposal, only=[item.id for item in items])
    return sum(len(item.keys) for item in items)
