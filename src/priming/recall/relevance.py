"""The relevance of a rule in a context: which of its conditions hold, its score by floop, and rules that are quiet.

Quiet rules are those mostly overridden recently. They are shown by name at most until somebody confirms them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from priming.config.ids import time_of
from priming.config.profiles import FLOOP, Profile
from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats
from priming.core.arguments.checks import check_text
from priming.core.base_level import base_level_score, optimized
from priming.core.metacognition import OVERRIDDEN, WINDOW, is_quiet
from priming.core.score import (
    Score,
    context_score,
    feedback_ratio,
    floop,
    partial_activation,
    priority_score,
    rule_boost,
)
from priming.core.when import CueValue, findings, read
from priming.namespace import Namespace
from priming.recall.formatting import rule_kind
from priming.storage.rows import RowChange, VerdictRow, VersionRow
from priming.text.languages import language_of, languages_in, task_of
from priming.types import Cue, MemoryRecord, days_between

_HOURS = 24.0
"""Hours in a day."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The conditions of a memory that a context confirms, by name, and the number of all its conditions."""

    confirmed: tuple[str, ...]
    total: int

    @property
    def share(self) -> float:
        """The share of conditions that hold; .5 without conditions."""
        return float(context_score(len(self.confirmed), self.total))

    @property
    def is_seed(self) -> bool:
        """Whether activation starts here: a condition holds, or there is none."""
        return bool(self.confirmed) or not self.total

    @property
    def is_whole(self) -> bool:
        """Whether every condition holds."""
        return len(self.confirmed) == self.total

    @property
    def start(self) -> float:
        """The activation that a seed starts with."""
        return float(partial_activation(len(self.confirmed), self.total))


def words(value: Any) -> str:
    """Return a value of a cue as text to match words against; a list is joined."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def context_of(cue: Cue, text: str | None = None) -> Mapping[str, Any]:
    """Return a cue's context, its text included, with the language that a file or the text names if it gives none.

    ``text`` replaces that of the cue.
    """
    context = cue.context()
    for name, value in context.items():
        check_text(f"cue.{check_text('cue', name)}", words(value))
    text = cue.text if text is None else text
    if text is not None and check_text("cue.text", text).strip():
        context["text"] = text
    return _with_language(context)


def _with_language(context: dict[str, Any]) -> dict[str, Any]:
    if context.get("language"):
        return context
    named = [language_of(file) for file in _files(context)]
    languages = [language for language in named if language] or languages_in(context.get("text", ""))
    return {**context, "language": languages} if languages else context


def _files(context: Mapping[str, Any]) -> list[str]:
    """Return the files of a context."""
    files = context.get("file") or ()
    return [files] if isinstance(files, str) else [str(file) for file in files]


class ReadContext(NamedTuple):
    """A context, read once for the conditions of many memories, and the texts that hint at its task."""

    context: Mapping[str, CueValue]
    hints: CueValue


def read_context(context: Mapping[str, Any]) -> ReadContext:
    """Read a context. Its text or a test file may confirm a task; neither contradicts any."""
    hints = [context["text"]] if "text" in context else []
    hints += [task for file in _files(context) if (task := task_of(file))]
    return ReadContext(read(context), CueValue(hints))


def fit_of(when: Mapping[str, Any], reading: ReadContext) -> Fit | None:
    """Return how conditions fit a context; None where it contradicts any of them."""
    results = findings(when, reading.context)
    if results.get("task") == "absent" and findings(when, {"task": reading.hints})["task"] == "confirmed":
        results["task"] = "confirmed"
    if "contradicted" in results.values():
        return None
    return Fit(tuple(name for name, finding in results.items() if finding == "confirmed"), len(results))


def fits_of(whens: Iterable[Mapping[str, Any]], context: Mapping[str, Any]) -> list[Fit | None]:
    """Return how the conditions of many memories fit a context, in their order."""
    read_once = read_context(context)
    return [fit_of(when, read_once) for when in whens]


def cue_relevance(
    records: list[MemoryRecord],
    values: Floats,
    fit: Floats,
    active: Mapping[str, int],
    now: datetime,
    profile: Profile = FLOOP,
) -> Score:
    """Return the score of floop for memories with activation ``values``, which replace a ``fit`` of NaN as context.

    ``active`` counts by id how often each was active so far.
    """
    law = profile.base_level_params
    # Before activations were counted, and where another store counted them, each use was an activation.
    counts = np.array([max(active.get(record.id, 0), record.use.uses) for record in records], np.float64)
    ages = np.array([days_between(_born(record, now), now) * _HOURS for record in records])
    ages = np.maximum(ages, law.min_age)
    return floop(
        np.where(np.isnan(fit), values, fit),
        base_level_score(np.asarray(optimized(counts, ages, law.d)), counts),
        feedback_ratio(*(counts_of(records, name) for name in ("confirmed", "followed", "overridden"))),
        priority_score(np.array([record.priority for record in records], np.float64)),
        boost=np.array(
            [rule_boost(rule_kind(record), profile.scoring.boosts) for record in records], np.float64
        ),
        weights=profile.scoring.floop,
    )


def _born(record: MemoryRecord, now: datetime) -> datetime:
    """Return when a memory was made. An imported rule was made when it was first learned."""
    learned = record.occurred_at if record.kind == "behavior" else None
    times = (
        time_of(record.id),
        record.recorded_at,
        learned,
        record.use.first_used_at,
        record.use.last_used_at,
    )
    return min((at for at in times if at is not None), default=now)


def counts_of(records: list[MemoryRecord], name: str) -> Floats:
    """Return a count of the use of each memory."""
    return np.array([getattr(record.use, name) for record in records], np.float64)


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
    """Return those of some rules that are quiet, by id; read only the verdicts on rules overridden often enough.

    A new text starts anew.
    """
    often = {rule.id: rule for rule in rules if rule.use.overridden >= OVERRIDDEN}
    if not often:
        return {}
    verdicts: dict[str, list[VerdictRow]] = {memory_id: [] for memory_id in often}
    for row in memory.rows(VerdictRow, ids=often):
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
    """Return the judgement of a rule by a verdict; silence is an automatic confirmation."""
    stated = _STATED.get(row.verdict)
    return "silent" if stated == "confirmed" and row.tier == "automatic" else stated


def _before(rule: MemoryRecord, rows: Iterable[VerdictRow]) -> list[str]:
    """Return the judgements that were imported as counts: their order is not known, so that overriding comes last."""
    counted = [_judgement(row) for row in rows]
    confirmed = rule.use.confirmed + rule.use.followed - counted.count("confirmed") - counted.count("silent")
    overridden = rule.use.overridden - counted.count("overridden")
    if overridden < OVERRIDDEN or confirmed > overridden:
        return []
    return ["confirmed"] * max(0, confirmed) + ["overridden"] * overridden


def confirmed_by_teaching(
    memory: Namespace, rule: MemoryRecord, operation: str, now: datetime
) -> list[RowChange]:
    """Return the confirmation of a quiet rule that is taught again, as its row; nothing for any other rule."""
    if not quiet_rules(memory, [rule]):
        return []
    return [RowChange(None, VerdictRow(rule.id, "confirmed", operation, "", now, "conscious"))]


def done_instead(memory: Namespace, quiet: QuietRule) -> tuple[str, ...]:
    """Return what was done instead of a quiet rule, the latest first.

    The overriding verdicts say so by their reasons, or by what proved useful in the same recall or operation; else
    it is what was learned about the same thing at that time.
    """
    texts: list[str] = []
    for row in quiet.overridden:
        logged = memory.operation_of(row.operation)
        reason = logged.reason if logged else None
        stated = [reason] if reason and not reason.startswith("recall ") else []
        texts += stated or _useful_with(memory, row) or _learned_at(memory, quiet.rule, row)
    return tuple(dict.fromkeys(texts))[:WINDOW]


def _useful_with(memory: Namespace, row: VerdictRow) -> list[str]:
    """Return the texts of what was used or confirmed by the operation of a verdict, or for its recall."""
    recalled = memory.rows(VerdictRow, recall=row.recall) if row.recall else []
    logged = memory.operation_of(row.operation)
    together = [change.after for change in logged.rows] if logged else []
    verdicts = [*recalled, *(each for each in together if isinstance(each, VerdictRow))]
    useful = {each.id for each in verdicts if _judgement(each) == "confirmed" and each.id != row.id}
    records = memory.records(memory.now(), ids=useful).values()
    return [record.content for record in records]


def _learned_at(memory: Namespace, rule: MemoryRecord, row: VerdictRow) -> list[str]:
    """Return what was learned in the session of a verdict, or within an hour of it about the same words."""
    from priming.text.statements.judge import subjects

    ids = list(memory.names(session=row.session, limit=WINDOW)) if row.session else []
    near = timedelta(hours=_INSTEAD_HOURS)
    logged = memory.operations(kind="learn", since=row.at - near, until=row.at + near, limit=100)
    written = [change.after for each in logged for change in each.rows]
    versions = [each for each in written if isinstance(each, VersionRow) and each.id != rule.id]
    words = subjects(rule.content)
    ids = [*ids, *(each.id for each in versions if words & subjects(each.content))]
    records = memory.records(memory.now(), ids=ids).values()
    texts = [record.metadata.get("right") for record in records if record.kind == "correction"]
    return [str(text) for text in texts if text and text != rule.content]
