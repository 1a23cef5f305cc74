"""done: one execution of a procedure → how often it works, a review, credit for the recall that brought it up."""

from __future__ import annotations

from dataclasses import replace

from priming.checks import check_name, check_text
from priming.core.plasticity import CONSCIOUS
from priming.engine import traces
from priming.engine.feedback import Effect, brought_up, route
from priming.engine.opened import Opened
from priming.engine.retention import executions, used
from priming.errors import ParamError
from priming.store.protocol import Trace
from priming.store.rows import MemoryRow, VerdictRow, use_of
from priming.types import MemoryRecord, Operation

KIND = "procedure"
_TIER = "conscious"


def done(opened: Opened, key: str, *, success: bool, recall_id: str | None, reason: str | None) -> Operation:
    """Count one execution of a procedure, as one operation; each counts, however many there were of one recall."""
    if not isinstance(success, bool):
        raise ParamError("success", success, "must be true or false")
    recall = None if recall_id is None else check_text("recall_id", recall_id)
    why = check_name("reason", reason)
    with opened.writing() as now:
        memory = opened.find(key, now)
        if memory.kind != KIND:
            rule = f"is of kind {memory.kind}, and only a {KIND} is carried out: judge it with feedback"
            raise ParamError("key", key, rule)
        effect = Effect(now, opened.operation_id(now))
        if recall is not None:
            _credit(opened, effect, memory, traces.find(opened, recall), success=success)
        row = used(effect.state(opened, memory.id), now)
        name = "helped" if success else "failed"
        row = effect.memories[memory.id] = replace(row, **{name: getattr(row, name) + 1})
        effect.review(memory, _TIER, recalled=success)
        logged = opened.write(
            "done",
            now,
            effect.rows(opened),
            source=_TIER,
            reason=why,
            message="; ".join([_record(row), *effect.said]),
            operation_id=effect.operation,
        )
        return opened.operation(logged)


def _credit(opened: Opened, effect: Effect, memory: MemoryRecord, trace: Trace, *, success: bool) -> None:
    """Judge the recall by the execution, as used or not useful; said before of that recall, it counts no more."""
    verdict = "used" if success else "not-useful"
    brought_up(trace, memory, "recall_id", trace.recall_id)
    before = opened.store.verdicts(opened.namespace, [memory.id], recall=trace.recall_id)
    if any(row.verdict == verdict for row in before):
        effect.said.append(f"recall {trace.recall_id} has this verdict already, so no link moved")
        return
    effect.verdicts.append(
        VerdictRow(
            memory.id, verdict, effect.operation, trace.recall_id, effect.now, _TIER, trace.session, trace.cue
        )
    )
    if success:
        route(opened, effect, memory, trace, CONSCIOUS)
        effect.useful[trace.recall_id] = (trace, [memory.id])


def _record(row: MemoryRow) -> str:
    """How often a procedure worked, in words."""
    number = executions(use_of(row))
    return f"{row.helped} of {number} {'execution' if number == 1 else 'executions'} succeeded"
