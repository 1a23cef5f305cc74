"""What an import writes: batches, memories with a state, and links that must not replace a user's."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
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
from priming.remember.drafts import Draft, bare_text
from priming.remember.links import link_many
from priming.remember.remember import Coming, nothing, remember_drafts
from priming.results import Remembered
from priming.storage.questions import ids_of, operation_of, raised_activations, record_named
from priming.storage.rows import LinkIdentity, LinkRow, MemoryRow, RowChange

T = TypeVar("T")
OPERATION = "import-state"
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


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def remember_states(
    memory: Namespace,
    drafts: Sequence[Draft],
    states: Sequence[ImportedState | None],
    coming: Coming = nothing,
) -> list[Remembered]:
    """Remember a batch of drafts and apply their states, both in one transaction.

    An existing memory is a duplicate and keeps its own state, even if it is forgotten.
    """
    if all(state is None for state in states):
        return remember_drafts(memory, drafts, later=True, coming=coming)
    with _one_transaction(memory):
        inactive = _inactive_duplicates(memory, drafts)
        active = [draft for draft in drafts if draft.key not in inactive]
        new = iter(remember_drafts(memory, active, later=True, coming=coming))
        results = [inactive.get(draft.key or "") or next(new) for draft in drafts]
        stored = {
            result.id: state
            for result, state in zip(results, states, strict=True)
            if state is not None and result.status == "stored"
        }
        if stored:
            _apply(memory, stored)
        return results


def moment(text: str | None) -> datetime | None:
    """A time in ISO 8601, or None."""
    return None if text is None else datetime.fromisoformat(text)


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
    """The result of storing items; if this import has stored them, that of a repetition that is taken back.

    The id of the operation follows from that of the import and from the items.
    """
    operation_id = derived(import_id, json.dumps(items, sort_keys=True, default=str))
    if operation_of(memory.store, memory.namespace, operation_id) is None:
        with memory.identified(operation_id):
            return work()
    results = list[T]()
    with suppress(_TakenBack), _one_transaction(memory):
        results.append(work())
        raise _TakenBack
    return results[0]


def _inactive_duplicates(memory: Namespace, drafts: Sequence[Draft]) -> dict[str, Remembered]:
    """By key, the memories that have the key and the text of a draft, but are not active."""
    texts = {draft.key: draft.content for draft in drafts if draft.key}
    ids = ids_of(memory.store, memory.namespace, texts)
    rows = memory.store.rows(memory.namespace, MemoryRow, ids=set(ids.values())) if ids else []
    now = memory.now()
    return {
        row.key: Remembered(row.id, row.key, "duplicate")
        for row in rows
        if row.status != "active" and bare_text(_text(memory, row.id, now) or "") == bare_text(texts[row.key])
    }


def _text(memory: Namespace, memory_id: str, now: datetime) -> str | None:
    record = record_named(memory.store, memory.namespace, memory_id, now)
    return None if record is None else record.content


def _apply(memory: Namespace, states: Mapping[str, ImportedState]) -> None:
    with memory.writing() as now:
        rows = memory.store.rows(memory.namespace, MemoryRow, ids=states)
        changes = [
            RowChange(row, after) for row in rows if (after := _with_state(row, states[row.id])) != row
        ]
        if changes:
            memory.write(OPERATION, now, changes)
        counts = {row.id: states[row.id].uses for row in rows if states[row.id].uses}
        totals = raised_activations(memory.store, memory.namespace, FLOOP.name, counts, now)
        memory.store.append(memory.namespace, totals)


def _with_state(row: MemoryRow, state: ImportedState) -> MemoryRow:
    return replace(
        row,
        status=state.status,
        priority=float(state.priority),
        confidence=float(state.confidence),
        uses=state.uses,
        confirmed=state.confirmed,
        followed=state.followed,
        overridden=state.overridden,
        last_used_at=state.last_used_at,
    )


def without_user_links(memory: Namespace, items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The links to import, as arguments of ``link_many``, without those that a user or an importer made before.

    A link that a rule made takes the imported weight; an undirected link keeps its stored direction.
    """
    with memory.lock, memory.store.transaction(write=False):
        keys = {end for item in items for end in (item["source"], item["target"])}
        ids = ids_of(memory.store, memory.namespace, keys)
        rows = memory.store.rows(memory.namespace, LinkRow, ids=set(ids.values())) if ids else []
    given_by_link: dict[tuple[str | None, str | None, str], bool] = {
        (row.source, row.target, row.relation): row.given for row in rows
    }
    links = []
    for item in items:
        source, target, relation = ids.get(item["source"]), ids.get(item["target"]), item["relation"]
        is_reversed = relation in UNDIRECTED and (target, source, relation) in given_by_link
        if not given_by_link.get((target, source, relation) if is_reversed else (source, target, relation)):
            reversed_item = {**item, "source": item["target"], "target": item["source"]}
            links.append(reversed_item if is_reversed else item)
    return links


Times = tuple[datetime | None, datetime | None]
"""When a link was made, and when it was last active."""


def link_with_times(
    memory: Namespace, links: Sequence[Mapping[str, Any]], times: Mapping[LinkIdentity, Times]
) -> int:
    """Make links as ``link_many`` does, each with the times at which it was made and last active; their number.

    ``times`` are by source, relation and target, the ends by key.
    """
    if not times:
        return len(link_many(memory, links))
    with _one_transaction(memory):
        new_links = link_many(memory, links)
        chosen = {(link.source, link.relation, link.target): link for link in new_links}
        with memory.writing() as now:
            ids = ids_of(
                memory.store,
                memory.namespace,
                {end for link in new_links for end in (link.source, link.target)},
            )
            names = {memory_id: key for key, memory_id in ids.items()}
            changes = []
            for row in memory.store.rows(memory.namespace, LinkRow, ids=set(ids.values())) if ids else []:
                name = names.get(row.source, ""), row.relation, names.get(row.target, "")
                source, relation, target = name
                backwards = (target, relation, source) if relation in UNDIRECTED else name
                if name in chosen and (stamps := times.get(name) or times.get(backwards)):
                    created, active = stamps
                    after = replace(row, created_at=created or row.created_at, last_activated=active)
                    changes += [RowChange(row, after)] if after != row else []
            if changes:
                memory.write(OPERATION, now, changes)
    return len(new_links)


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
