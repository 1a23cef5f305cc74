"""Weights of links that fade by nights, without a step that came before: the nights fade what is left."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from priming.config.params.laws import FORGETTING
from priming.core.forgetting import edge_decay_linear
from priming.core.plasticity import nudge
from priming.namespace import Namespace
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, RowChange, identity
from priming.types import days_between

_FADES = ("decay", "proposal")
"""The reasons of operations in which links fade."""
_DIGITS = 12


def refaded(
    memory: Namespace, done: Logged, change: RowChange, restored: LinkRow, together: Collection[str]
) -> LinkRow:
    """A link without a step of an operation, where later nights let it fade: as if the step had never been.

    A step that is subtracted from a faded weight would leave more, or less, than there was without it. The later
    steps and nights are repeated on the weight before it instead. Without such a night the link is ``restored``.
    """
    before, after = change.before, change.after
    if not (isinstance(before, LinkRow) and isinstance(after, LinkRow)):
        return restored
    operations = memory.store.operations(memory.namespace, memory_id=before.source, limit=None)
    moves = [
        (logged, own)
        for logged in reversed(operations)
        if logged.undone_by is None and logged.id not in together
        for own in logged.rows
        if identity(own.row) == identity(before)
    ]
    later = [(logged, own) for logged, own in moves if logged.number > done.number]
    if not any(_fades(logged, own) for logged, own in later):
        return restored
    row, faded = before, _last_fading(moves, done, before)
    for logged, own in later:
        was, then = own.before, own.after
        if not (isinstance(was, LinkRow) and isinstance(then, LinkRow)):
            return restored  # it was removed, or made anew
        if _fades(logged, own):
            row, faded = _faded(row, faded, logged.at), logged.at
        else:
            bounds = memory.profile.plasticity
            weight = float(nudge(row.weight, then.weight - was.weight, bounds.low, bounds.high))
            row = replace(row, weight=weight)
        if then.last_activated != was.last_activated:
            row, faded = replace(row, last_activated=then.last_activated), None
    return replace(restored, weight=round(row.weight, _DIGITS), last_activated=row.last_activated)


def _fades(logged: Logged, change: RowChange) -> bool:
    """Whether an operation let a link fade."""
    before, after = change.before, change.after
    rows = isinstance(before, LinkRow) and isinstance(after, LinkRow) and after.weight < before.weight
    return rows and logged.reason in _FADES


def _last_fading(moves: Collection[tuple[Logged, RowChange]], done: Logged, link: LinkRow) -> datetime | None:
    """When a link faded last before an operation, since its last use."""
    used = link.last_activated or link.created_at
    times = [
        logged.at
        for logged, own in moves
        if logged.number < done.number and logged.at > used and _fades(logged, own)
    ]
    return max(times, default=None)


def _faded(link: LinkRow, faded: datetime | None, at: datetime) -> LinkRow:
    """A link after a night, of which an earlier night may have taken a share."""
    used = link.last_activated or link.created_at
    rate = FORGETTING.linear_rate
    left = float(edge_decay_linear(1.0, days_between(used, at), rate))
    left_before = float(edge_decay_linear(1.0, days_between(used, faded or used), rate))
    return replace(link, weight=link.weight * left / left_before) if 0.0 <= left < left_before else link
