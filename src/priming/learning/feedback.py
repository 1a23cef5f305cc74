"""Feedback: verdicts on recalled memories become credit, and credit moves the weights of links and memories.

Links change their weight in three places, each of which writes one operation:

- here: a verdict is credited to the links of the path that led to the memory (``credit_path``), or to the
  links between memories that proved useful together (``VerdictEffect``);
- ``coactivation``: useful recalls link memories that were active together, and move such links by Oja's rule.
  It is called from here and from ``runs``, and adds its changes to their operation;
- ``runs``: the output of a run moves the links among all memories that the run was shown, by the automatic step.

Each happens only where the profile of the recall has that law (``LearningParams``). ``sleep.decay`` lets links
fade or removes them, by the profile too; no other code learns the weight of a link.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from priming.config.values import dataclass
from priming.config.words import VERDICTS
from priming.core.arguments.checks import check_choice, check_keys, check_name, check_text
from priming.core.plasticity import TIERS, nudge
from priming.errors import ParamError
from priming.history.log import check_recalled_in, check_session
from priming.history.movements import memory_text
from priming.learning.coactivation import POSITIVE
from priming.learning.verdict_effect import (
    REVIEW_RATINGS,
    Credited,
    EffectLine,
    VerdictEffect,
    check_recalled,
    credit_path,
    profile_of,
    with_use,
)
from priming.namespace import Namespace
from priming.recall import traces
from priming.storage.protocol import Trace
from priming.storage.rows import MemoryRow, VerdictRow
from priming.text.gists import gist_of
from priming.text.quotation import label
from priming.types import MemoryRecord, Operation

_CONTRADICTIONS = (("used", "not-relevant"), ("used", "not-useful"), ("confirmed", "overridden"))
"""Pairs of verdicts that cannot both be given on one memory."""
_AGAINST = frozenset(("not-relevant", "not-useful", "overridden"))
_LINK_SIGNS = {"used": 1.0, "not-relevant": -1.0}
"""The verdicts that move the links of the path, and in which direction."""
_WEIGHT_SIGNS = {"used": 1.0, "not-useful": -1.0}
"""The verdicts that move the weight of the memory, and in which direction."""


@dataclass(frozen=True, slots=True)
class VerdictBatch:
    """The checked arguments of ``feedback``."""

    verdicts: Mapping[str, tuple[str, ...]]
    """The keys under each verdict, in the caller's order."""
    recall_id: str | None = None
    tier: str = "conscious"
    session: str | None = None
    reason: str | None = None
    again: bool = False
    """Whether a verdict that a recall has already is recorded again, about the memory itself."""


def feedback(
    memory: Namespace,
    recall_id: str | None = None,
    *,
    used: Collection[str] = (),
    not_relevant: Collection[str] = (),
    not_useful: Collection[str] = (),
    confirmed: Collection[str] = (),
    overridden: Collection[str] = (),
    tier: str = "conscious",
    session: str | None = None,
    reason: str | None = None,
) -> Operation:
    """Report whether recalled memories were useful, and move the links and memories that deserve credit or blame.

    Args:
        recall_id: the recall that returned the memories; None: for each memory, the latest recall that returned it.
        used: keys of memories that helped: the links of their paths and their weights rise.
        not_relevant: keys of memories that do not fit the cue: the links of their paths sink.
        not_useful: keys of memories that fit the cue but did not help: their weights sink.
        confirmed: keys of rules that proved right; counted.
        overridden: keys of rules that proved wrong; counted.
        tier: ``conscious`` (.01 a step) or ``automatic`` (.00001).
        session: without ``recall_id``, only recalls of this session count; it must be in use.
        reason: a reason for the log.

    A verdict counts once for each recall and memory. A repeated verdict changes nothing, and the operation that
    recorded the first is returned. For a direct match that is not relevant no link moves; its cue is recorded.

    Raises:
        NotFound: a key or session that does not exist, a recall that does not exist, has expired or is of another
            namespace, or a memory that no recall of the session returned.
        ParamError: no verdict, two verdicts that contradict, or a memory that the recall did not return.

    """
    names = [verdict.replace("-", "_") for verdict in VERDICTS]
    lists = map(check_keys, names, (used, not_relevant, not_useful, confirmed, overridden))
    verdicts = dict(zip(VERDICTS, lists, strict=True))
    if not any(verdicts.values()):
        raise ParamError("feedback", None, f"must have at least one key under one of {', '.join(names)}")
    batch = VerdictBatch(
        verdicts,
        None if recall_id is None else check_text("recall_id", recall_id),
        tier=check_choice("tier", tier, [name for name, step in TIERS.items() if step is not None]),
        session=check_name("session", session),
        reason=check_name("reason", reason),
    )
    with memory.changing():
        if batch.session is not None:
            check_session(memory, batch.session)
        if batch.session is not None and batch.recall_id is None:
            judged = {key: memory.find(key) for keys in verdicts.values() for key in keys}
            check_recalled_in(memory, batch.session, judged.values())
        return record_verdicts(memory, batch)


def record_verdicts(memory: Namespace, batch: VerdictBatch) -> Operation:
    """Record verdicts and move what they credit or blame, as one operation.

    Verdicts that repeat earlier ones on the same recall and memory move nothing. If all do, the operation that
    recorded the first is returned.
    """
    with memory.changing() as now:
        trace = None if batch.recall_id is None else traces.find_trace(memory, batch.recall_id)
        judged = _resolve_verdicts(memory, batch, now)
        effect = VerdictEffect(now, memory.next_operation_id(now), memory.profile.forgetting_params)
        effect.session = batch.session
        repeated: list[VerdictRow] = []
        for verdict, record in judged:
            earlier = _gather_verdict(memory, batch, effect, verdict, record, trace)
            if earlier is not None:
                repeated.append(earlier)
                already = f"{earlier.verdict} already, by operation {earlier.operation}"
                effect.lines.append(EffectLine(record.key, rest=already))
        if not effect.verdicts:
            return _repeated_operation(memory, repeated[0], effect.message(memory, effect.rows(memory)))
        useful = {row.id for row in effect.verdicts if row.verdict in POSITIVE}
        reason = batch.reason or _describe_recalls(effect)
        return effect.write(memory, "feedback", batch.tier, reason, useful)


def _resolve_verdicts(
    memory: Namespace, batch: VerdictBatch, now: datetime
) -> list[tuple[str, MemoryRecord]]:
    """Return each verdict with its memory; ``ParamError`` where two verdicts contradict each other."""
    records = {key: memory.find(key, now) for keys in batch.verdicts.values() for key in keys}
    ids = {
        verdict: {records[key].id: records[key] for key in keys} for verdict, keys in batch.verdicts.items()
    }
    for verdict, opposite in _CONTRADICTIONS:
        if both := ids.get(verdict, {}).keys() & ids.get(opposite, {}).keys():
            record = ids[verdict][min(both)]
            raise ParamError(
                verdict.replace("-", "_"), record.key, f"must not be among {opposite.replace('-', '_')} too"
            )
    return [(verdict, record) for verdict, memories in ids.items() for record in memories.values()]


def _gather_verdict(
    memory: Namespace,
    batch: VerdictBatch,
    effect: VerdictEffect,
    verdict: str,
    record: MemoryRecord,
    named_trace: Trace | None,
) -> VerdictRow | None:
    """Gather the changes of one verdict, or return the row of an earlier equal verdict, which changes nothing."""
    trace = named_trace
    if trace is None:
        trace = traces.latest_trace(memory, record.id, batch.session)
    if named_trace is not None:
        check_recalled(named_trace, record, verdict.replace("-", "_"), record.key)
    before = memory.rows(VerdictRow, ids=[record.id], recall=trace.recall_id) if trace else []
    same = next((row for row in before if row.verdict == verdict), None)
    if same is not None and batch.again:
        trace = same = None
    if same is not None and not (same.tier == "automatic" and batch.tier == "conscious"):
        return same
    same_session = _judged_in_session(memory, batch, verdict, record, trace)
    if same_session is not None:
        return same_session
    if same is not None:
        effect.replaced.append(same)
    effect.add(record, verdict, batch.tier, trace, batch.session)
    profile = profile_of(memory, trace)
    delta = profile.plasticity.step(batch.tier)
    credited = Credited()
    if verdict in _LINK_SIGNS:
        credited = credit_path(memory, effect, record, trace, _LINK_SIGNS[verdict] * delta)
    weighs = profile.learning.verdicts == "path"
    step = _WEIGHT_SIGNS.get(verdict, 0.0) * delta if weighs else 0.0
    bounds = profile.plasticity.low, profile.plasticity.high
    counted = _count(memory, effect, verdict, record, batch.tier, (step, *bounds), is_raised=same is not None)
    effect.lines.append(EffectLine(f"{verdict} {label(record.key)}", credited, counted))
    if verdict in POSITIVE and trace is not None:
        effect.useful.setdefault(trace.recall_id, (trace, []))[1].append(record.id)
    return None


def _judged_in_session(
    memory: Namespace, batch: VerdictBatch, verdict: str, record: MemoryRecord, trace: Trace | None
) -> VerdictRow | None:
    """Return what bars an automatic confirmation in a session: an earlier one, or a negative verdict on the memory.

    Silence confirms once a session, and takes nothing back that somebody said.
    """
    session = trace.session if trace else batch.session
    if batch.tier != "automatic" or verdict != "confirmed" or session is None:
        return None
    for row in memory.rows(VerdictRow, ids=[record.id], session=session):
        if (row.verdict == verdict and row.tier == batch.tier) or row.verdict in _AGAINST:
            return row
    return None


_COUNTS: Mapping[str, Mapping[str, int]] = {
    "used": {"helped": 1, "followed": 1},
    "not-relevant": {},
    "not-useful": {"failed": 1},
    "confirmed": {"confirmed": 1},
    "overridden": {"overridden": 1},
}
_RAISED_COUNTS: Mapping[str, Mapping[str, int]] = {"confirmed": {"confirmed": 1, "followed": -1}}
"""How the counts change where a conscious verdict replaces an automatic one."""


def _count(
    memory: Namespace,
    effect: VerdictEffect,
    verdict: str,
    record: MemoryRecord,
    tier: str,
    move: tuple[float, float, float],
    *,
    is_raised: bool,
) -> str:
    """Move a memory's weight and count the verdict, and report it; ``is_raised`` if it replaces an automatic verdict.

    ``move`` is the step of the weight, with its bounds.
    """
    row = effect.state(memory, record.id)
    counts = _RAISED_COUNTS.get(verdict, {}) if is_raised else _COUNTS[verdict]
    if verdict == "confirmed" and tier == "automatic":
        counts = {"followed": 1}
    changed: dict[str, Any] = {name: getattr(row, name) + step for name, step in counts.items()}
    weight = float(nudge(row.weight, *move)) if move[0] else row.weight
    after = replace(row, weight=weight, **changed)
    effect.memories[record.id] = (
        with_use(after, effect.now) if verdict in POSITIVE and not is_raised else after
    )
    if verdict in REVIEW_RATINGS and not is_raised:
        effect.review(record, tier, recalled=REVIEW_RATINGS[verdict])
    return memory_text(row, after, move) or _count_text(row, after)


def _count_text(before: MemoryRow, after: MemoryRow) -> str:
    """Tell which count of a memory moved."""
    for name in ("helped", "failed", "confirmed", "followed", "overridden"):
        old, new = getattr(before, name), getattr(after, name)
        if new > old:
            return f"{_COUNT_NAMES.get(name, name)} {old:,} → {new:,} times"
    return ""


_COUNT_NAMES = {"helped": "useful", "failed": "not useful", "followed": "confirmed by silence"}


def _describe_recalls(effect: VerdictEffect) -> str | None:
    """Return the judged recalls in words, for the log."""
    recalls = {row.recall: str(row.cue.get("text", "")) for row in effect.verdicts if row.recall}
    return "; ".join(f"recall {recall_id} of {gist_of(cue)!r}" for recall_id, cue in recalls.items()) or None


def _repeated_operation(memory: Namespace, earlier: VerdictRow, message: str) -> Operation:
    """Return the operation that recorded or imported an earlier verdict, with a message that nothing changed."""
    logged = memory.operation_of(earlier.operation)
    if logged is None:  # the verdict was imported: that operation is in the log of another store
        operations = memory.operations(memory_id=earlier.id)
        logged = next(item for item in operations if any(change.after == earlier for change in item.rows))
    return replace(memory.to_operation(logged), message=f"nothing changed; {message}")


def count_as_used(memory: Namespace, ids: Collection[str]) -> Operation:
    """Count memories as used automatically: their recalled text was written back to the memory."""
    return feedback(memory, used=ids, tier="automatic", reason="its text was stored again")
