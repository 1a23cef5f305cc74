"""The links of a memory whose text is superseded: those of new names are made, those of old names removed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from priming.index.columns import NONE
from priming.index.document import TERM, slot_of
from priming.index.topology import MENTIONS
from priming.namespace import Namespace
from priming.recall.entities import entity_key, resolve_entity
from priming.remember.drafts import Draft
from priming.remember.planner import PlannedText, RememberPlan
from priming.storage.questions import ids_of, present
from priming.storage.rows import LinkRow, RowChange, VersionRow
from priming.text.name_forms.kinds import FILE, Name
from priming.text.tokens import terms


def relink_mentions(
    memory: Namespace,
    old: VersionRow,
    new: Draft,
    now: datetime,
    *,
    at_once: bool,
) -> list[RowChange]:
    """The changes of links, and the new entities, for a memory whose text ``old`` is superseded by ``new``.

    Links by rule to names of the old text only are removed. Without ``at_once`` the old text is valid for a while
    yet, and none is removed.
    """
    plan = RememberPlan(memory.store, memory.working(now), memory.embedder, now)
    changes = relink(plan, old, new, at_once=at_once)
    return [*plan.rows, *changes]


def relink(
    plan: RememberPlan,
    old: VersionRow,
    new: Draft,
    *,
    at_once: bool = True,
) -> list[RowChange]:
    """The changes of links, as ``relink_mentions``; new entities are added to the rows of ``plan``."""
    words = tuple(dict.fromkeys(terms(new.content)))
    old_words = set(terms(old.content))
    names = new.names[: plan.params.names]
    # The old text already decided which of its words are rare.
    text = PlannedText(names, [word for word in words if word not in old_words])
    links = [*plan.mention_links(old.id, new, text), *plan.conflict_links(old.id, new)]
    store, namespace = plan.store, plan.working.namespace
    before = store.rows(namespace, LinkRow, ids=[old.id], relation=MENTIONS)
    changes = [RowChange(None, link) for link in links if present(store, namespace, link) is None]
    if at_once:
        targets = {link.target for link in links} | {
            plan.working.entity(slot_of(TERM, word)) for word in words
        }
        by_rule = [link for link in before if link.source == old.id and not link.given]
        changes += [RowChange(link, None) for link in by_rule if link.target not in targets]
    return changes


def missing_mentions(
    memory: Namespace, ids: Sequence[str], now: datetime, most: int
) -> tuple[list[str], list[RowChange]]:
    """Which of these memories lack links to names in their texts, at most ``most``, and the rows that make them.

    A store that was written under other rules for names has such memories, and so has one in which a name was written
    in small letters before it was the name of anything.
    """
    working = memory.working(now)
    plan = RememberPlan(memory.store, working, memory.embedder, now)
    linked = {
        (link.source, link.target) for link in memory.store.rows(memory.namespace, LinkRow, relation=MENTIONS)
    }
    changed: list[str] = []
    links: list[RowChange] = []
    for record in memory.store.records(memory.namespace, now, ids=ids).values():
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
    """Names without those whose entities somebody forgot: a night makes none of them again."""
    keys = {name: entity_key(name.kind, name.text) for name in names}
    holders = ids_of(memory.store, memory.namespace, keys.values())
    entities = memory.working(now).entities
    remaining = []
    for name, key in keys.items():
        slot, holder = slot_of(name.kind, name.text), holders.get(key)
        merged = resolve_entity(memory.store, memory.namespace, holder, slot, now)
        if slot in entities or holder is None or merged is not None:
            remaining.append(name)
    return remaining
