"""Quiet rules: those mostly overridden recently. They are shown by name at most until somebody confirms them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from priming.config.values import dataclass
from priming.core.metacognition import OVERRIDDEN, WINDOW, is_quiet
from priming.namespace import Namespace
from priming.storage.questions import operation_of
from priming.storage.rows import RowChange, VerdictRow, VersionRow
from priming.types import MemoryRecord

_INSTEAD_HOURS = 1.0
"""The hours around an overriding verdict in which a new rule shows what was done."""

_STATED = {"confirmed": "confirmed", "used": "confirmed", "overridden": "overridden"}
_START = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class QuietRule:
    """A quiet rule and the verdicts that overrode its present text, the latest first."""

    rule: MemoryRecord
    overridden: tuple[VerdictRow, ...]

    @property
    def reason(self) -> str:
        """Why it is quiet."""
        times = len(self.overridden) or self.rule.use.overridden
        return f"overridden {times} times, so it is shown by name at most until it is confirmed"


def quiet_rules(memory: Namespace, rules: Iterable[MemoryRecord]) -> dict[str, QuietRule]:
    """Those of some rules that are quiet, by id; reads only the verdicts on rules that were overridden often enough.

    A new text starts anew.
    """
    often = {rule.id: rule for rule in rules if rule.use.overridden >= OVERRIDDEN}
    if not often:
        return {}
    verdicts: dict[str, list[VerdictRow]] = {memory_id: [] for memory_id in often}
    for row in memory.store.rows(memory.namespace, VerdictRow, ids=often):
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
    if overridden < OVERRIDDEN or confirmed > overridden:
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
    """What was done instead of a quiet rule, the latest first.

    The overriding verdicts say so by their reasons, or by what proved useful in the same recall or operation; else
    it is what was learned about the same thing at that time.
    """
    texts: list[str] = []
    for row in quiet.overridden:
        logged = operation_of(memory.store, memory.namespace, row.operation)
        reason = logged.reason if logged else None
        stated = [reason] if reason and not reason.startswith("recall ") else []
        texts += stated or _useful_with(memory, row) or _learned_at(memory, quiet.rule, row)
    return tuple(dict.fromkeys(texts))[:WINDOW]


def _useful_with(memory: Namespace, row: VerdictRow) -> list[str]:
    """The texts of what was used or confirmed by the operation of a verdict, or for its recall."""
    recalled = memory.store.rows(memory.namespace, VerdictRow, recall=row.recall) if row.recall else []
    logged = operation_of(memory.store, memory.namespace, row.operation)
    together = [change.after for change in logged.rows] if logged else []
    verdicts = [*recalled, *(each for each in together if isinstance(each, VerdictRow))]
    useful = {each.id for each in verdicts if _judgement(each) == "confirmed" and each.id != row.id}
    records = memory.store.records(memory.namespace, memory.now(), ids=useful).values()
    return [record.content for record in records]


def _learned_at(memory: Namespace, rule: MemoryRecord, row: VerdictRow) -> list[str]:
    """What was learned in the session of a verdict, or within an hour of it about the same words."""
    from priming.text.corrections.polarity import comparison_keys

    ids = list(memory.store.names(memory.namespace, session=row.session, limit=WINDOW)) if row.session else []
    near = timedelta(hours=_INSTEAD_HOURS)
    logged = memory.store.operations(
        memory.namespace, kind="learn", since=row.at - near, until=row.at + near, limit=100
    )
    written = [change.after for each in logged for change in each.rows]
    versions = [each for each in written if isinstance(each, VersionRow) and each.id != rule.id]
    words = comparison_keys(rule.content)
    ids = [*ids, *(each.id for each in versions if words & comparison_keys(each.content))]
    records = memory.store.records(memory.namespace, memory.now(), ids=ids).values()
    texts = [record.metadata.get("right") for record in records if record.kind == "correction"]
    return [str(text) for text in texts if text and text != rule.content]
