"""Quiet rules: those mostly overridden recently. They are shown by name at most until somebody confirms them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from priming.config.params.laws import QUIET
from priming.core.metacognition import is_quiet
from priming.namespace import Namespace
from priming.storage.rows import RowChange, VerdictRow
from priming.types import MemoryRecord

_STATED = {"confirmed": "confirmed", "used": "confirmed", "overridden": "overridden"}
_START = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class QuietRule:
    """A quiet rule and the verdicts that overrode its present text, the latest first."""

    rule: MemoryRecord
    overridden: tuple[VerdictRow, ...]


def quiet_rules(memory: Namespace, rules: Iterable[MemoryRecord]) -> dict[str, QuietRule]:
    """Those of some rules that are quiet, by id; reads only the verdicts on rules that were overridden often enough.

    A new text starts anew.
    """
    often = {rule.id: rule for rule in rules if rule.use.overridden >= QUIET.overridden}
    if not often:
        return {}
    verdicts: dict[str, list[VerdictRow]] = {memory_id: [] for memory_id in often}
    for row in memory.store.verdicts(memory.namespace, often):
        verdicts[row.id].append(row)
    quiet = {}
    for memory_id, rule in often.items():
        since = rule.recorded_at if rule.version > 1 and rule.recorded_at else _START
        rows = [row for row in verdicts[memory_id] if row.at >= since]
        events = [(row.at, judgement) for row in rows if (judgement := _judgement(row)) is not None]
        before = _before(rule, verdicts[memory_id]) if rule.version == 1 else []
        if is_quiet([*before, *(judgement for _, judgement in sorted(events, key=lambda event: event[0]))]):
            against = [row for row in reversed(rows) if row.verdict == "overridden"]
            quiet[memory_id] = QuietRule(rule, tuple(against))
    return quiet


def _judgement(row: VerdictRow) -> str | None:
    """The judgement of a rule by a verdict; silence is an automatic confirmation."""
    stated = _STATED.get(row.verdict)
    return "silent" if stated == "confirmed" and row.tier == "automatic" else stated


def _before(rule: MemoryRecord, rows: Iterable[VerdictRow]) -> list[str]:
    """The judgements that were imported as counts: their order is not known, so that overriding comes last."""
    counted = [_judgement(row) for row in rows]
    confirmed = rule.use.confirmed + rule.use.followed - counted.count("confirmed") - counted.count("silent")
    overridden = rule.use.overridden - counted.count("overridden")
    if overridden < QUIET.overridden or confirmed > overridden:
        return []
    return ["confirmed"] * max(0, confirmed) + ["overridden"] * overridden


def confirmed_by_teaching(
    memory: Namespace, rule: MemoryRecord, operation: str, now: datetime
) -> list[RowChange]:
    """The confirmation of a quiet rule that is taught again, as its row; nothing for any other rule."""
    if not quiet_rules(memory, [rule]):
        return []
    return [RowChange(None, VerdictRow(rule.id, "confirmed", operation, "", now, "conscious"))]


def done_instead(memory: Namespace, quiet: QuietRule) -> tuple[str, ...]:
    """What was done instead of a quiet rule, as stated by the overriding verdicts, the latest first."""
    texts = []
    for row in quiet.overridden:
        logged = memory.store.operation(memory.namespace, row.operation)
        reason = logged.reason if logged else None
        if reason and not reason.startswith("recall "):
            texts.append(reason)
        elif row.session is not None:
            texts += _corrected(memory, row)
    return tuple(dict.fromkeys(texts))[: QUIET.window]


def _corrected(memory: Namespace, row: VerdictRow) -> list[str]:
    """What was learned in the session of a verdict."""
    ids = memory.store.session_tail(memory.namespace, row.session or "", QUIET.window)
    records = memory.store.records(memory.namespace, ids, memory.now()).values()
    return [str(record.metadata["right"]) for record in records if record.metadata.get("right")]
