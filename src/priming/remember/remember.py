"""remember: check the arguments, embed the texts, plan the rows and links, write them as one operation a batch.

The same kind, title, text, session and time are a duplicate; with a key the key decides, and another text under
it is a ``Conflict``. Near duplicates are linked, and a night may propose to merge them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from itertools import islice
from typing import Any

from priming.config import profiles
from priming.config.params.limits import STORE
from priming.config.profiles import Profile
from priming.config.words import CONFLICTS
from priming.errors import ParamError
from priming.index.columns import NONE
from priming.index.document import TERM, slot_of
from priming.index.topology import MENTIONS
from priming.namespace import Namespace
from priming.recall.entities import entity_key, resolve_entity
from priming.remember.drafts import Draft, check_draft, draft, embed_drafts
from priming.remember.planner import PlannedMemory, PlannedText, RememberPlan
from priming.remember.similar import EchoGuard, to_settle
from priming.remember.vectors import complete
from priming.results import Remembered
from priming.storage.rows import LinkRow, RowChange, VersionRow
from priming.text.name_forms.forms import FILE, Name
from priming.text.tokens import terms
from priming.types import EMPTY, Progress

Coming = Callable[[Collection[str]], Collection[str]]
"""Which of some memories the rest of a load says again."""

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
    valid_from: datetime | None = None,
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
        valid_from=valid_from,
        tags=tags,
        metadata=EMPTY if metadata is None else metadata,
        when=EMPTY if when is None else when,
        importance=importance,
        outcome=outcome,
        source=source,
        trust=trust,
        files=files,
        echo_guard=echo_guard,
    )
    linked_by = profiles.get(profile, memory.profiles) if profile else memory.profile
    return remember_draft(memory, check_draft(raw), profile=linked_by)


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
    total = len(items) if isinstance(items, Sequence) else None
    coming = repeated_after(memory, lambda: () if total is None else _readable(items))
    done: list[Remembered] = []
    waits = False
    for batch in _batches(items, STORE.batch):
        drafts = [_parsed(item, len(done) + i) for i, item in enumerate(batch)]
        done += remember_drafts(memory, drafts, later=later, coming=partial(coming, len(done) + len(batch)))
        waits = waits or memory.must_wait(drafts)
        if progress is not None:
            progress(len(done), total)
    if waits and not later:
        complete(memory, dict.fromkeys(result.id for result in done), progress=progress)
    return done


def nothing(_: Collection[str]) -> Collection[str]:
    """Return no memory."""
    return ()


def repeated_after(
    memory: Namespace, drafts: Callable[[], Iterable[Draft]]
) -> Callable[[int, Collection[str]], Collection[str]]:
    """Return a function that tells which memories are said again after so many drafts, which it reads if it must."""
    last = cache(lambda: {digest: at for at, each in enumerate(drafts()) for digest in each.digests})

    def coming(number: int, ids: Collection[str]) -> Collection[str]:
        rows = memory.rows(VersionRow, ids=ids)
        return {row.id for row in rows if last().get(row.digest, -1) >= number}

    return coming


def remember_drafts(
    memory: Namespace, drafts: Sequence[Draft], *, later: bool = False, coming: Coming = nothing
) -> list[Remembered]:
    """Remember checked drafts as one batch, as ``remember_many`` does; ``coming`` are said again by later ones."""
    planned, operations = _remember(memory, drafts, later=later, coming=coming)
    return [Remembered(p.id, p.key, p.status, (), operations.get(p.status)) for p in planned]


def remember_draft(memory: Namespace, draft: Draft, *, profile: Profile | None = None) -> Remembered:
    """Remember one draft; the result lists the new links, and says how to settle what it contradicts.

    What begins later contradicts nothing before.
    """
    (planned,), operations = _remember(memory, [draft], profile)
    operation = operations.get(planned.status)
    with memory.lock:
        links = memory.to_links(planned.links)
        rivals = {link.target for link in planned.links if link.relation == CONFLICTS}
        among = memory.rows(LinkRow, ids=rivals, relation=CONFLICTS)
        rivals -= {link.target for link in among if link.source in rivals}  # a later one contradicts it
        now = memory.now()
        earlier = {} if draft.start(now) > now else memory.records(now, ids=rivals)
    messages = {each.key: to_settle(each.key, each.content, planned.key) for each in earlier.values()}
    links = tuple(
        replace(link, message=messages.get(link.target)) if link.relation == CONFLICTS else link
        for link in links
    )
    return Remembered(planned.id, planned.key, planned.status, links, operation)


def _remember(
    memory: Namespace,
    drafts: Sequence[Draft],
    profile: Profile | None = None,
    *,
    later: bool = False,
    coming: Coming = nothing,
) -> tuple[list[PlannedMemory], dict[str, str]]:
    """Remember drafts as one batch; return the result of each draft, and the operations by status of the results."""
    operations: dict[str, str] = {}
    waits = memory.must_wait(drafts, later=later)
    vectors = None if waits else embed_drafts(drafts, memory.embedder)
    with memory.lock:
        with memory.writing() as now:
            profile = profile or memory.profile
            plan = RememberPlan(
                memory,
                now,
                profile.linking,
                plasticity=profile.plasticity,
                forgetting=profile.forgetting_params,
                echo=EchoGuard(memory) if any(each.echo_guard for each in drafts) else None,
                coming=coming,
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
                from priming.learning.feedback import count_as_used

                operations["echo"] = count_as_used(memory, list(plan.echoed)).id
        if plan.rows:
            memory.queue_operation(plan.working.head, logged, documents)
        return plan.results, operations


def _parsed(item: Mapping[str, Any], position: int) -> Draft:
    try:
        return draft(item)
    except ParamError as error:
        raise ParamError.of([f"item {position}: {violation}" for violation in error.violations]) from None


def _readable(items: Iterable[Mapping[str, Any]]) -> Iterator[Draft]:
    """Yield the drafts of items before the first that is invalid, after which none is remembered."""
    with suppress(ParamError):
        yield from map(draft, items)


def _batches(items: Iterable[Mapping[str, Any]], size: int) -> Iterator[list[Mapping[str, Any]]]:
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        raise ParamError("items", items, "must be a sequence of mappings, one for each memory")
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def relink_mentions(
    memory: Namespace,
    old: VersionRow,
    new: Draft,
    now: datetime,
    *,
    at_once: bool,
) -> list[RowChange]:
    """Return the changes of links, and the new entities, for a memory whose text ``old`` is superseded by ``new``.

    Links by rule to names of the old text only are removed. Without ``at_once`` the old text is valid for a while
    yet, and none is removed; nor if a later version follows, whose names may be the same.
    """
    plan = RememberPlan(memory, now)
    changes = relink(plan, old, new, at_once=at_once)
    return [*plan.rows, *changes]


def relink(
    plan: RememberPlan,
    old: VersionRow,
    new: Draft,
    *,
    at_once: bool = True,
) -> list[RowChange]:
    """Return the changes of links, as ``relink_mentions``; new entities are added to the rows of ``plan``."""
    words = tuple(dict.fromkeys(terms(new.content)))
    old_words = set(terms(old.content))
    names = new.names[: plan.params.names]
    # The old text already decided which of its words are rare.
    text = PlannedText(names, [word for word in words if word not in old_words])
    links = [*plan.mention_links(old.id, new, text), *plan.conflict_links(old.id, new)]
    before = plan.memory.rows(LinkRow, ids=[old.id], relation=MENTIONS)
    changes = [RowChange(None, link) for link in links if plan.memory.stored(link) is None]
    if at_once and old.valid_to is None:
        targets = {link.target for link in links} | {
            plan.working.entity(slot_of(TERM, word)) for word in words
        }
        by_rule = [link for link in before if link.source == old.id and not link.given]
        changes += [RowChange(link, None) for link in by_rule if link.target not in targets]
    return changes


def missing_mentions(
    memory: Namespace, ids: Sequence[str], now: datetime, most: int
) -> tuple[list[str], list[RowChange]]:
    """Return which of these memories lack links to names in their texts, at most ``most``, and the rows making them.

    A store that was written under other rules for names has such memories, and so has one in which a name was written
    in small letters before it was the name of anything.
    """
    working = memory.working(now)
    plan = RememberPlan(memory, now)
    linked = {(link.source, link.target) for link in memory.rows(LinkRow, relation=MENTIONS)}
    changed: list[str] = []
    links: list[RowChange] = []
    for record in memory.records(now, ids=ids).values():
        draft = Draft(record.content, record.heading, record.kind, speaker=record.speaker, trust=record.trust)
        names = [name for name in draft.names[: plan.params.names] if name.kind != FILE]
        rows = [working.entities.get(slot_of(name.kind, name.text), NONE) for name in names]
        if all(row != NONE and (record.id, working.ids[row]) in linked for row in rows):
            names = []
        elif NONE in rows:
            names = _without_forgotten(memory, names, now)
        fresh = [
            RowChange(None, link)
            for link in plan.mention_links(record.id, draft, PlannedText(names, ()))
            if (link.source, link.target) not in linked
        ]
        if fresh:
            changed.append(record.id)
            links += fresh
        if len(changed) >= most:
            break
    return changed, [*plan.rows, *links]


def _without_forgotten(memory: Namespace, names: Sequence[Name], now: datetime) -> list[Name]:
    """Return the names without those whose entities somebody forgot: a night makes none of them again."""
    keys = {name: entity_key(name.kind, name.text) for name in names}
    holders = memory.ids_of(keys.values())
    entities = memory.working(now).entities
    remaining = []
    for name, key in keys.items():
        slot, holder = slot_of(name.kind, name.text), holders.get(key)
        merged = resolve_entity(memory, holder, slot, now)
        if slot in entities or holder is None or merged is not None:
            remaining.append(name)
    return remaining
