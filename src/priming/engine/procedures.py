"""done: one execution of a procedure → how often it works, a review, credit for the recall that brought it up."""

from __future__ import annotations

from dataclasses import replace

from priming.checks import check_name, check_text
from priming.core.plasticity import CONSCIOUS
from priming.engine import traces
from priming.engine.feedback import Effect, brought_up, route
from priming.engine.retention import executions, used
from priming.errors import ParamError
from priming.namespace import Namespace
from priming.store.protocol import Trace
from priming.store.rows import MemoryRow, VerdictRow, use_of
from priming.types import MemoryRecord, Operation

KIND = "procedure"
_TIER = "conscious"


def done(
    memory: Namespace,
    key: str,
    *,
    success: bool = True,
    recall_id: str | None = None,
    reason: str | None = None,
) -> Operation:
    """Say that a procedure was carried out, and whether it worked: that counts, and is a review of it.

    Args:
        key: the procedure.
        success: whether it worked.
        recall_id: the recall that brought it up: it is judged too, as used or not useful.
        reason: why, for the log.

    Raises:
        NotFound: no such memory, or no such recall.
        ParamError: the memory is no procedure, or the recall did not bring it up.

    """
    if not isinstance(success, bool):
        raise ParamError("success", success, "must be true or false")
    recall = None if recall_id is None else check_text("recall_id", recall_id)
    why = check_name("reason", reason)
    with memory.writing() as now:
        record = memory.find(key, now)
        if record.kind != KIND:
            rule = f"is of kind {record.kind}, and only a {KIND} is carried out: judge it with feedback"
            raise ParamError("key", key, rule)
        effect = Effect(now, memory.next_operation_id(now))
        if recall is not None:
            _credit(memory, effect, record, traces.find(memory, recall), success=success)
        row = used(effect.state(memory, record.id), now)
        name = "helped" if success else "failed"
        row = effect.memories[record.id] = replace(row, **{name: getattr(row, name) + 1})
        effect.review(record, _TIER, recalled=success)
        logged = memory.write(
            "done",
            now,
            effect.rows(memory),
            source=_TIER,
            reason=why,
            message="; ".join([_record(row), *effect.messages]),
            operation_id=effect.operation,
        )
        return memory.to_operation(logged)


def _credit(memory: Namespace, effect: Effect, record: MemoryRecord, trace: Trace, *, success: bool) -> None:
    """Judge the recall by the execution, as used or not useful; said before of that recall, it counts no more."""
    verdict = "used" if success else "not-useful"
    brought_up(trace, record, "recall_id", trace.recall_id)
    before = memory.store.verdicts(memory.namespace, [record.id], recall=trace.recall_id)
    if any(row.verdict == verdict for row in before):
        effect.messages.append(f"recall {trace.recall_id} has this verdict already, so no link moved")
        return
    effect.verdicts.append(
        VerdictRow(
            record.id, verdict, effect.operation, trace.recall_id, effect.now, _TIER, trace.session, trace.cue
        )
    )
    if success:
        route(memory, effect, record, trace, CONSCIOUS)
        effect.useful[trace.recall_id] = (trace, [record.id])


def _record(row: MemoryRow) -> str:
    """How often a procedure worked, in words."""
    number = executions(use_of(row))
    return f"{row.helped} of {number} {'execution' if number == 1 else 'executions'} succeeded"
