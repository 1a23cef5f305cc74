"""What an import writes: batches, memories with a state, and links that must not replace a user's."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from priming.config.ids import derived
from priming.config.profiles import FLOOP
from priming.config.values import dataclass
from priming.config.words import STATUSES, UNDIRECTED
from priming.core.arguments.checks import check_time
from priming.errors import ParamError, PrimingError
from priming.namespace import Namespace
from priming.remember.drafts import Draft
from priming.remember.links import LinkRequest
from priming.remember.remember import Coming, nothing, remember_drafts
from priming.results import Remembered
from priming.storage.rows import LinkRow

T = TypeVar("T")
_COUNTS = ("uses", "confirmed", "followed", "overridden")


@dataclass(frozen=True, slots=True)
class ImportedState:
    """The state and use of an imported memory; all violations are raised as one ``ParamError``.

    ``priority`` is any number, ``confidence`` is in [0, 1]; ``uses`` counts recalls that returned the memory, and the
    other counts are verdicts on it.
    """

    status: str = "active"
    priority: float = 0.0
    confidence: float = 1.0
    uses: int = 0
    confirmed: int = 0
    followed: int = 0
    overridden: int = 0
    last_used_at: datetime | None = None

    def __post_init__(self) -> None:
        violations = []
        if self.status not in STATUSES:
            violations.append(f"status = {self.status!r}: must be one of {', '.join(STATUSES)}")
        if not _is_number(self.priority):
            violations.append(f"priority = {self.priority!r}: must be a finite number")
        if not _is_number(self.confidence) or not 0 <= self.confidence <= 1:
            violations.append(f"confidence = {self.confidence!r}: must be in [0, 1]")
        for name in _COUNTS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                violations.append(f"{name} = {value!r}: must be a whole number ≥ 0")
        if violations:
            raise ParamError.of(violations)
        if self.last_used_at is not None:
            object.__setattr__(self, "last_used_at", check_time("last_used_at", self.last_used_at))

    @property
    def row(self) -> dict[str, Any]:
        """The fields that the row of the memory has from the start."""
        return {**asdict(self), "priority": float(self.priority), "confidence": float(self.confidence)}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def remember_states(
    memory: Namespace,
    drafts: Sequence[Draft],
    states: Sequence[ImportedState | None],
    coming: Coming = nothing,
) -> list[Remembered]:
    """Remember a batch of drafts with their states, and count their uses; an existing memory keeps its own."""
    if all(state is None for state in states):
        return remember_drafts(memory, drafts, later=True, coming=coming)
    with _one_transaction(memory):
        pairs = zip(drafts, states, strict=True)
        stateful = [draft if state is None else replace(draft, state=state.row) for draft, state in pairs]
        results = remember_drafts(memory, stateful, later=True, coming=coming)
        uses = {
            result.id: state.uses
            for result, state in zip(results, states, strict=True)
            if state is not None and state.uses and result.status == "stored"
        }
        if uses:
            with memory.writing() as now:
                totals = memory.raised_activations(FLOOP.name, uses, now)
                memory.store.append(memory.namespace, totals)
        return results


@contextmanager
def _one_transaction(memory: Namespace) -> Iterator[None]:
    with memory.lock:
        try:
            with memory.store.transaction(memory.namespace):
                yield
        except BaseException:
            memory.discard_queued()
            raise


class _TakenBack(Exception):
    """Ends a transaction whose changes are not kept."""


def once(memory: Namespace, import_id: str, items: Sequence[Mapping[str, Any]], work: Callable[[], T]) -> T:
    """Return the result of storing items; if this import has stored them, that of a repetition that is taken back.

    The id of the operation follows from that of the import and from the items.
    """
    operation_id = derived(import_id, json.dumps(items, sort_keys=True, default=str))
    if memory.operation_of(operation_id) is None:
        with memory.identified(operation_id):
            return work()
    results = list[T]()
    with suppress(_TakenBack), _one_transaction(memory):
        results.append(work())
        raise _TakenBack
    return results[0]


def without_user_links(memory: Namespace, links: Sequence[LinkRequest]) -> list[LinkRequest]:
    """Return the links to import, without those that a user or an importer made before.

    A link that a rule made takes the imported weight; an undirected link keeps its stored direction.
    """
    with memory.lock, memory.store.transaction(write=False):
        ids = memory.ids_of({end for link in links for end in (link.source, link.target)})
        rows = memory.rows(LinkRow, ids=set(ids.values()))
    given_by_link: dict[tuple[str | None, str | None, str], bool] = {
        (row.source, row.target, row.relation): row.given for row in rows
    }
    chosen = []
    for link in links:
        source, target, relation = ids.get(link.source), ids.get(link.target), link.relation
        is_reversed = relation in UNDIRECTED and (target, source, relation) in given_by_link
        if not given_by_link.get((target, source, relation) if is_reversed else (source, target, relation)):
            chosen.append(replace(link, source=link.target, target=link.source) if is_reversed else link)
    return chosen


def refused(
    batch: list[T], work: Callable[[list[T]], None], refusals: tuple[type[PrimingError], ...]
) -> list[tuple[T, PrimingError]]:
    """Do the work of a batch, halved until an invalid item is alone; the items that are refused, and why."""
    if not batch:
        return []
    try:
        work(batch)
    except refusals as error:
        if len(batch) == 1:
            return [(batch[0], error)]
        half = len(batch) // 2
        return refused(batch[:half], work, refusals) + refused(batch[half:], work, refusals)
    return []


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield items as lists of as many as one transaction writes."""
    from priming.config.params.limits import STORE

    source = iter(items)
    while batch := list(islice(source, STORE.batch)):
        yield batch
