"""Purging: a memory, or all that is about somebody or something, with everything derived from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain

from priming.config.caller import present_caller
from priming.config.words import CONSOLIDATED, LEARNED_FROM, MERGED, REASONS, SOURCE_OF
from priming.core.arguments.checks import check_text
from priming.core.arguments.normal_forms import folded
from priming.errors import NotFound, ParamError
from priming.index.document import RULES
from priming.namespace import Namespace
from priming.results import ErasedMemory, Receipt
from priming.sleep.entities import gists_quoting
from priming.storage.copies import begin_purge, finish_purges, mentions_any, purge_mark, remove_copies
from priming.storage.protocol import Changes, Logged, Trace
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.text.quotation import label

_DERIVING = (SOURCE_OF, CONSOLIDATED, MERGED)
"""The relations whose targets were made of their sources."""
_OTHERS = (
    "backups, exports and packs that somebody asked for; what servers, agents and other machines logged",
    "texts that call it by a name that is no alias here: 'priming aliases' lists them",
    "other namespaces of this store, and of a PostgreSQL server its journal, standbys and dumps",
)


class _DryRun(Exception):
    """Ends a transaction whose changes were only counted."""


def purge(
    memory: Namespace, key: str | None = None, *, subject: str | None = None, dry_run: bool = False
) -> Receipt:
    """Erase a memory: its versions, vectors, links, index entries, log rows and recalls. Not undoable.

    Names that only this memory mentioned are erased with it, and the copies that Priming made unasked are removed.
    Backups and exports that somebody asked for are not changed. If a purge did not finish, the same call finishes it.

    Args:
        key: the memory.
        subject: instead of a memory, erase all that is about somebody or something: every memory that mentions this
            name or an alias of it, in any version, as speaker, title, key, session, tag or metadata; what was derived
            from those; and recalls, sessions of the loop and remarks that mention it.
        dry_run: erase nothing, and answer what would be erased.

    """
    if (key is None) == (subject is None):
        raise ParamError("key", key, "must be given: either a memory's key, or a subject")
    name = None if subject is None else check_text("subject", subject).strip()
    if name is not None and not any(letter.isalnum() for letter in name):
        raise ParamError("subject", subject, "must be a name")
    places = memory.store.place.beside
    mark = purge_mark(places, memory.namespace, key or name or "")
    with memory.lock:
        try:
            with memory.changing() as now:
                receipt, private = _purged(memory, key, name, now)
                if dry_run:
                    raise _DryRun
                begin_purge(mark)
        except _DryRun:
            memory.discard_queued()
            copies = remove_copies(places, private, dry_run=True)
            return replace(receipt, operation="", dry_run=True, copies=copies)
        except NotFound:
            if mark is None or dry_run or not mark.exists():
                raise
            earlier = memory.store.operations(memory.namespace, kind="purge", limit=1)
            operation = "".join(logged.id for logged in earlier)
            receipt = Receipt(key or name or "", {}, operation, name, not_reached=_not_reached(memory))
            private = [name] if name else []
        memory.drop_snapshot()
        memory.proposals.clear()
    # Not in the lock: a hook that is at work may wait for it, and the state of its session waits for the hook.
    copies = remove_copies(places, private)
    with memory.lock:
        memory.store.flush()
    if all(copy.reached for copy in copies):
        finish_purges(places)
    return replace(receipt, copies=copies)


def _purged(
    memory: Namespace, key: str | None, subject: str | None, now: datetime
) -> tuple[Receipt, list[str]]:
    """Erase within a transaction; the receipt, and the names and texts that were erased."""
    names = list[str]()
    if subject is not None:
        names = _names_of(memory, subject)
        reasons = _about(memory, names)
        _add_derived(memory, reasons)
    else:
        assert key is not None, "either a key or a subject"
        memory_id, subject = _stored_or_logged(memory, key, now)
        reasons = {memory_id: "it was to be purged"}
        for quoting in gists_quoting(memory, memory_id):
            reasons.setdefault(quoting, f"it quotes {label(subject)}")
    _add_orphans(memory, reasons)
    if names and not reasons and not _is_mentioned(memory, names):
        raise memory.not_found(f"nothing in {memory.namespace!r} mentions {subject!r}")
    caller = present_caller()
    changes = Changes(
        memory.namespace,
        memory.next_operation_id(now),
        "purge",
        now,
        actor=caller.actor,
        reason=REASONS["purge"],
        via=caller.via,
        session=caller.session,
    )
    rows = (
        {row.id: row for row in memory.store.rows(memory.namespace, MemoryRow, ids=reasons)}
        if reasons
        else {}
    )
    erased_memories = tuple(
        ErasedMemory(memory_id, rows[memory_id].key, rows[memory_id].kind, reason)
        if memory_id in rows
        else ErasedMemory(memory_id, memory_id, "only in the log", reason)
        for memory_id, reason in reasons.items()
    )
    logged = [change.row for memory_id in reasons for change in _logged_changes(memory, memory_id)]
    versions = [
        row
        for memory_id in reasons
        for row in memory.store.rows(memory.namespace, VersionRow, ids=[memory_id])
    ]
    texts = [row.content for row in (*versions, *logged) if isinstance(row, VersionRow) and row.id in reasons]
    erased = memory.store.purge(changes, list(reasons), names)
    left = _not_reached(memory)
    receipt = Receipt(subject, erased, changes.id, subject if names else None, erased_memories, left)
    return receipt, [*names, *filter(None, (text.rstrip(" .!?…\n") for text in texts))]


def _not_reached(memory: Namespace) -> tuple[str, ...]:
    """What a purge leaves as it is: backups that somebody asked for, by their path."""
    folder = memory.store.place.backups
    backups = sorted(folder.glob("*.db")) if folder is not None else []
    return (*(f"the backup {path}" for path in backups), *_OTHERS)


def _names_of(memory: Namespace, subject: str) -> list[str]:
    """A name and its aliases: the names of entities that were merged into one another with it."""
    store, is_named = memory.store, mentions_any([subject])
    entities = {row.id for row in store.part(memory.namespace, MemoryRow) if row.kind == "entity"}
    texts: dict[str, list[str]] = {}
    for version in store.part(memory.namespace, VersionRow):
        if version.id in entities:
            texts.setdefault(version.id, []).append(version.content)
    merged = [
        link
        for link in store.rows(memory.namespace, LinkRow, relation=MERGED)
        if {link.source, link.target} <= entities
    ]
    own = {entity for entity, names in texts.items() if any(_is_same(name, subject) for name in names)}
    size = -1
    while len(own) != size:
        size = len(own)
        for link in merged:
            if link.source in own or link.target in own:
                own |= {link.source, link.target}
    names = dict.fromkeys([subject, *(name for entity in own for name in texts.get(entity, ()))])
    return [name for name in names if name == subject or (name.strip() and not is_named(name))]


def _is_same(name: str, subject: str) -> bool:
    return folded(name).split() == folded(subject).split()


def _about(memory: Namespace, names: Collection[str]) -> dict[str, str]:
    """The memories that mention a name, in the store or only in the log, each with the reason."""
    is_named = mentions_any(names)
    reasons: dict[str, str] = {}

    def note(row: object) -> None:
        if isinstance(row, MemoryRow) and is_named(row.key):
            reasons.setdefault(row.id, "its key names it")
        elif isinstance(row, VersionRow):
            where: Mapping[str, object] = {
                "it is the speaker": row.speaker,
                "its title names it": row.heading,
                "its text mentions it": [row.content, row.gist],
                "its session is named after it": row.session,
                "its tags, metadata or conditions name it": [row.tags, dict(row.metadata), dict(row.when)],
                "its source names it": row.source,
            }
            reason = next((reason for reason, value in where.items() if is_named(value)), None)
            if reason is not None:
                reasons.setdefault(row.id, reason)

    for item in chain(
        memory.store.part(memory.namespace, VersionRow), memory.store.part(memory.namespace, MemoryRow)
    ):
        note(item)
    for logged in memory.store.part(memory.namespace, Logged):
        for change in logged.rows:
            note(change.row)
            note(change.before)
    return reasons


def _is_mentioned(memory: Namespace, names: Collection[str]) -> bool:
    """Whether a recall mentions a name."""
    is_named = mentions_any(names)
    return any(
        is_named([trace.cue, trace.session])
        for trace in memory.store.rows(memory.namespace, Trace, limit=10**6)
    )


def _add_derived(memory: Namespace, reasons: dict[str, str]) -> None:
    """Add what was made of these memories, and of that again: gists, patterns, rules, what was merged."""
    keys = {row.id: row.key for row in memory.store.part(memory.namespace, MemoryRow)}
    waiting = list(reasons)
    while waiting:
        links = memory.store.rows(memory.namespace, LinkRow, ids=waiting)
        sources, waiting = set(waiting), []
        for link in links:
            for origin, derived in _derivations(link):
                if origin in sources and derived not in reasons:
                    reasons[derived] = f"derived from {label(keys.get(origin, origin))} ({link.relation})"
                    waiting.append(derived)


def _derivations(link: LinkRow) -> Iterable[tuple[str, str]]:
    """Origin and derived memory of a link, both ways where two were merged."""
    if link.relation in _DERIVING:
        yield link.source, link.target
    if link.relation in (MERGED, LEARNED_FROM):
        yield link.target, link.source


def _add_orphans(memory: Namespace, reasons: dict[str, str]) -> None:
    """Add the entities that a rule made of these memories alone, in the store or only in the log."""
    ids = set(reasons)
    for memory_id in list(reasons):
        for orphan in (*_orphans(memory, memory_id, ids), *_logged_orphans(memory, memory_id, ids)):
            reasons.setdefault(orphan, "only what is erased mentions it")


def _stored_or_logged(memory: Namespace, key: str, now: datetime) -> tuple[str, str]:
    """The id and key of a memory, also of one that an undo removed and only the log has."""
    if isinstance(key, str) and memory.store.operations(memory.namespace, memory_id=key, limit=1):
        return key, memory.store.names(memory.namespace, ids=[key]).get(key, key)
    stored = memory.find(key, now)
    return stored.id, stored.key


def _logged_orphans(memory: Namespace, memory_id: str, ids: Collection[str]) -> set[str]:
    """Entities made by rule that only the log has, where only memories to be erased were linked to them."""
    changes = _logged_changes(memory, memory_id)
    links = [change.row for change in changes if isinstance(change.row, LinkRow)]
    by_rule = {
        change.row.id
        for change in changes
        if isinstance(change.row, VersionRow) and change.row.source == RULES
    }
    own = {link.target for link in links if link.source == memory_id} & by_rule
    return own - _linked_to_others(links, ids) - memory.store.names(memory.namespace, ids=own).keys()


def _orphans(memory: Namespace, memory_id: str, ids: Collection[str]) -> list[str]:
    """Entities made by rule that only memories to be erased are linked to, or were before a text was superseded."""
    links = memory.store.rows(memory.namespace, LinkRow, ids=[memory_id])
    links += [change.row for change in _logged_changes(memory, memory_id) if isinstance(change.row, LinkRow)]
    targets = {link.target for link in links if link.source == memory_id}
    records = memory.store.records(memory.namespace, memory.now(), ids=list(targets))
    by_rule = [entity.id for entity in records.values() if entity.kind == "entity" and entity.source == RULES]
    shared = _linked_to_others(memory.store.rows(memory.namespace, LinkRow, ids=by_rule), ids)
    return [entity_id for entity_id in by_rule if entity_id not in shared]


def _logged_changes(memory: Namespace, memory_id: str) -> list[RowChange]:
    """All row changes of the operations on a memory."""
    operations = memory.store.operations(memory.namespace, memory_id=memory_id)
    return [change for logged in operations for change in logged.rows]


def _linked_to_others(links: Iterable[LinkRow], ids: Collection[str]) -> set[str]:
    """The ends of links that touch none of these memories."""
    return {
        end
        for link in links
        if link.source not in ids and link.target not in ids
        for end in (link.source, link.target)
    }
