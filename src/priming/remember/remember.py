"""remember: check the arguments, embed the texts, plan the rows and links, write them as one operation a batch.

The same kind, title, text, session and time are a duplicate; with a key the key decides, and another text under
it is a ``Conflict``. Near duplicates are linked, and a night may propose to merge them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from priming.config import profiles
from priming.config.params.limits import STORE
from priming.config.profiles import Profile
from priming.errors import ParamError
from priming.learning.feedback import count_as_used
from priming.namespace import Namespace
from priming.remember.drafts import Draft, check_draft, draft
from priming.remember.echo_filter import EchoGuard
from priming.remember.planner import PlannedMemory, RememberPlan, embed_drafts
from priming.remember.vectors import complete
from priming.results import Remembered
from priming.types import EMPTY, Progress

_ROOM_ORDER = {"memories": 0, "versions": 1, "links": 2}

_AUTOMATIC = "automatic"
_AGAIN = "a memory was stored again, so the links to its nearest grew"


def remember(
    memory: Namespace,
    content: str,
    *,
    heading: str | None = None,
    kind: str = "episode",
    key: str | None = None,
    session: str | None = None,
    speaker: str | None = None,
    occurred_at: datetime | None = None,
    tags: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
    when: Mapping[str, Any] | None = None,
    importance: float = 0.5,
    outcome: str | None = None,
    source: str | None = None,
    trust: str = "user",
    files: Sequence[str] = (),
    profile: str | None = None,
    echo_guard: bool = True,
) -> Remembered:
    """Store a memory and link it: to the previous memories of its session, the names in it, and similar memories.

    ``files`` are paths of files that it touches, such as those that a commit changed: it is linked to each.

    The same text of the same kind, title, session and time is a ``duplicate``; text that a recall emitted in
    the last day is an ``echo``, unless ``echo_guard`` is off. Neither is stored again: the result names the existing
    memory. ``profile`` names another profile by which the memory is linked.

    Raises:
        ParamError: an argument is outside its range.
        Conflict: another memory has ``key``.

    """
    raw = Draft(
        content,
        heading=heading,
        kind=kind,
        key=key,
        session=session,
        speaker=speaker,
        occurred_at=occurred_at,
        tags=tags,
        metadata=EMPTY if metadata is None else metadata,
        when=EMPTY if when is None else when,
        importance=importance,
        outcome=outcome,
        source=source,
        trust=trust,
        files=files,
    )
    if not isinstance(echo_guard, bool):
        raise ParamError("echo_guard", echo_guard, "must be true or false")
    linked_by = profiles.get(profile, memory.profiles) if profile else memory.profile
    return remember_draft(memory, check_draft(raw), profile=linked_by, echo_guard=echo_guard)


def remember_many(
    memory: Namespace,
    items: Iterable[Mapping[str, Any]],
    *,
    later: bool = False,
    progress: Progress | None = None,
) -> list[Remembered]:
    """Remember mappings of the arguments of ``remember``, one transaction and operation a batch of 500.

    Vectors that take their time are made after all texts are stored, which are found by their words until then; with
    ``later``, by the commands, servers and nights that follow. The nearest of such memories are linked by a night; in
    a namespace of more than 20,000 memories, they are of no load. The results leave ``links`` empty: call ``links``
    for them.

    ``progress`` is called with (done, total or None) after each batch of texts, then of vectors. An error or an
    interrupt keeps the batches before it, and the same call again skips them as duplicates.
    """
    if not isinstance(later, bool):
        raise ParamError("later", later, "must be true or false")
    total = len(items) if isinstance(items, Sequence) else None
    done: list[Remembered] = []
    for batch in _batches(items, STORE.batch):
        drafts = [_parsed(item, len(done) + i) for i, item in enumerate(batch)]
        planned, operations = _remember(memory, drafts, later=later)
        done += [Remembered(p.id, p.key, p.status, (), operations.get(p.status)) for p in planned]
        if progress is not None:
            progress(len(done), total)
    if not later and memory.must_wait(len(done)):
        complete(memory, dict.fromkeys(result.id for result in done), progress=progress)
    return done


def remember_draft(
    memory: Namespace, draft: Draft, *, profile: Profile | None = None, echo_guard: bool = True
) -> Remembered:
    """Remember one draft; the result lists the new links."""
    (planned,), operations = _remember(memory, [draft], profile, echo_guard=echo_guard)
    operation = operations.get(planned.status)
    with memory.lock:
        links = memory.to_links(planned.links)
    return Remembered(planned.id, planned.key, planned.status, links, operation)


def _remember(
    memory: Namespace,
    drafts: Sequence[Draft],
    profile: Profile | None = None,
    *,
    echo_guard: bool = True,
    later: bool = False,
) -> tuple[list[PlannedMemory], dict[str, str]]:
    """Remember drafts as one batch; return the result of each draft, and the operations by status of the results."""
    operations: dict[str, str] = {}
    waits = memory.must_wait(len(drafts), later=later)
    vectors = None if waits else embed_drafts(drafts, memory.embedder)
    with memory.lock:
        with memory.writing() as now:
            working, profile = memory.working(now), profile or memory.profile
            plan = RememberPlan(
                memory.store,
                working,
                memory.embedder,
                now,
                profile.linking,
                plasticity=profile.plasticity,
                forgetting=profile.forgetting_params,
                echo=EchoGuard(memory) if echo_guard else None,
            )
            nearest = len(drafts) == 1 or plan.working.memories <= plan.params.bulk_nearest
            plan.add_all(drafts, vectors, nearest=nearest)
            if plan.rows:
                documents = plan.documents()
                rows = sorted(plan.rows, key=lambda change: _ROOM_ORDER[change.room])
                logged = memory.write(
                    "remember",
                    now,
                    rows,
                    vectors=plan.vectors,
                    source=_AUTOMATIC if plan.strengthened else None,
                    reason=_AGAIN if plan.strengthened else None,
                )
                operations |= {"stored": logged.id, **({"duplicate": logged.id} if plan.strengthened else {})}
            if plan.echoed:
                operations["echo"] = count_as_used(memory, list(plan.echoed)).id
        if plan.rows:
            memory.queue_operation(plan.working.head, logged, documents)
        return plan.results, operations


def _parsed(item: Mapping[str, Any], position: int) -> Draft:
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
