"""remember: text → parse → embed → store → link, many at a time in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from priming.config.params.store import STORE
from priming.engine.draft import Draft, draft
from priming.engine.feedback import came_back
from priming.engine.opened import Opened
from priming.engine.plan import Plan, Planned, embed_drafts
from priming.errors import ParamError
from priming.types import Remembered

Progress = Callable[[int, int | None], None]

_ROOM_ORDER = {"memories": 0, "versions": 1, "links": 2}


def remember_many(
    opened: Opened, items: Iterable[Mapping[str, Any]], progress: Progress | None = None
) -> list[Remembered]:
    """Remember items in batches, each one operation; what is wrong with an item stops before its batch."""
    total = len(items) if isinstance(items, Sequence) else None
    done: list[Remembered] = []
    for batch in _batches(items, STORE.batch):
        planned, operations = _remember(
            opened, [_checked(item, len(done) + i) for i, item in enumerate(batch)]
        )
        done += [Remembered(p.id, p.key, p.status, (), operations.get(p.status)) for p in planned]
        if progress is not None:
            progress(len(done), total)
    return done


def remember_one(opened: Opened, arguments: Mapping[str, Any]) -> Remembered:
    """Remember one memory; the answer lists the links that were made."""
    (planned,), operations = _remember(opened, [draft(arguments)])
    operation = operations.get(planned.status)
    with opened.lock:
        links = opened.links(planned.links)
    return Remembered(planned.id, planned.key, planned.status, links, operation)


def _remember(opened: Opened, drafts: Sequence[Draft]) -> tuple[list[Planned], dict[str, str]]:
    """What became of each draft, and the operations by status: what was stored, and which echoes were counted."""
    operations: dict[str, str] = {}
    vectors = embed_drafts(drafts, opened.embedder)
    with opened.lock:
        with opened.writing() as now:
            working, linking = opened.working(now), opened.profile.linking
            plan = Plan(opened.store, working, opened.embedder, now, opened.echo, linking)
            few = len(drafts) == 1 or plan.working.memories <= plan.params.bulk_nearest
            plan.add_all(drafts, vectors, nearest=few)
            if plan.rows:
                documents = plan.documents()
                rows = sorted(plan.rows, key=lambda change: _ROOM_ORDER[change.room])
                logged = opened.write("remember", now, rows, vectors=plan.vectors)
                operations |= {"stored": logged.id, **({"duplicate": logged.id} if plan.again else {})}
            if plan.echoed:
                operations["echo"] = came_back(opened, plan.echoed).id
        if plan.rows:
            opened.took(plan.working.head, logged, documents)
        return plan.results, operations


def _checked(item: Mapping[str, Any], position: int) -> Draft:
    try:
        return draft(item)
    except ParamError as error:
        raise ParamError.of([f"item {position}: {violation}" for violation in error.violations]) from None


def _batches(items: Iterable[Mapping[str, Any]], size: int) -> Iterator[list[Mapping[str, Any]]]:
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        raise ParamError("items", items, "must be a sequence of mappings, one for each memory")
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch
