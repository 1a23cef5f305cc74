"""Purging: a memory, or all that is about somebody or something, with everything derived from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from priming.config.caller import present_caller
from priming.config.params.limits import STORE
from priming.config.words import CONSOLIDATED, LEARNED_FROM, MERGED, REASONS, SOURCE_OF
from priming.core.arguments.checks import check_key, check_text, check_unique
from priming.core.arguments.normal_forms import is_made_from, slug
from priming.errors import NotFound, ParamError
from priming.index.document import RULES
from priming.maintenance.subjects import Subject, name_words
from priming.namespace import Namespace
from priming.results import ErasedMemory, Receipt
from priming.sleep.entities import gists_quoting
from priming.storage.copies import begin_purge, finish_purges, purge_mark, remove_copies, texts_in
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
    memory: Namespace,
    key: str | None = None,
    *,
    subject: str | None = None,
    include: Sequence[str] = (),
    dry_run: bool = False,
) -> Receipt:
    """Erase a memory: its versions, vectors, links, index entries, log rows and recalls. Not undoable.

    Names that only this memory mentioned are erased with it, and the copies that Priming made unasked are removed.
    Backups and exports that somebody asked for are not changed. If a purge did not finish, the same call finishes it.

    Args:
        key: the memory.
        subject: instead of a memory, erase all that is about somebody or something: every memory that mentions this
            name or an alias of it, in any version, as speaker, title, key, session, tag or metadata; what was derived
            from those; and recalls, sessions of the loop and remarks that mention it. A memory that only may mention
            it is listed as doubtful, and stays.
        include: keys of doubtful memories that are about the subject, to be erased as well.
        dry_run: erase nothing, and answer what would be erased.

    """
    if (key is None) == (subject is None):
        raise ParamError("key", key, "must be given: either a memory's key, or a subject")
    name = None if subject is None else check_text("subject", subject).strip()
    if name is not None and not any(letter.isalnum() for letter in name):
        raise ParamError("subject", subject, "must be a name")
    chosen = check_unique("include", include, STORE.files)
    if chosen and name is None:
        raise ParamError("include", include, "needs a subject, of which these memories may be")
    places = memory.store.place.beside
    mark = purge_mark(places, memory.namespace, key or name or "")
    with memory.lock:
        try:
            with memory.changing() as now:
                receipt, private = _purged(memory, key, name, chosen, now)
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
            earlier = memory.operations(kind="purge", limit=1)
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
    memory: Namespace, key: str | None, subject: str | None, include: Collection[str], now: datetime
) -> tuple[Receipt, list[str]]:
    """Erase within a transaction; the receipt, and the names and texts that were erased."""
    names, about, doubts = list[str](), None, dict[str, str]()
    if subject is not None:
        names, own = _names_of(memory, subject)
        about = Subject(subject, names)
        reasons, doubts = _about(memory, about, own)
        _include(memory, include, reasons, now)
        _add_derived(memory, reasons)
    else:
        assert key is not None, "either a key or a subject"
        memory_id, subject = _stored_or_logged(memory, key, now)
        reasons = {memory_id: "it was to be purged"}
        for quoting in gists_quoting(memory, memory_id):
            reasons.setdefault(quoting, f"it quotes {label(subject)}")
    _add_orphans(memory, reasons)
    if about and not reasons and not doubts and not _is_mentioned(memory, about):
        raise memory.not_found(f"nothing in {memory.namespace!r} mentions {subject!r}")
    operation_id, by = memory.next_operation_id(now), present_caller().attribution()
    changes = Changes(memory.namespace, operation_id, "purge", now, reason=REASONS["purge"], **by)
    erased_memories = _listed(memory, reasons)
    doubtful = _listed(memory, {each: doubt for each, doubt in doubts.items() if each not in reasons})
    rows = memory.rows(VersionRow, ids=list(reasons))
    logged = [change.row for change in _logged_changes(memory, reasons.keys())]
    texts = [row.content for row in (*rows, *logged) if isinstance(row, VersionRow) and row.id in reasons]
    erased = memory.store.purge(changes, list(reasons), about.names if about else None)
    left = (*_sources(rows), *_not_reached(memory))
    receipt = Receipt(
        subject, erased, changes.id, subject if about else None, erased_memories, left, doubtful=doubtful
    )
    return receipt, [*names, *filter(None, (text.rstrip(" .!?…\n") for text in texts))]


def _listed(memory: Namespace, reasons: Mapping[str, str]) -> tuple[ErasedMemory, ...]:
    """Return memories by id, with the reason for each."""
    rows = {row.id: row for row in memory.rows(MemoryRow, ids=reasons)}
    return tuple(
        ErasedMemory(memory_id, rows[memory_id].key, rows[memory_id].kind, reason)
        if memory_id in rows
        else ErasedMemory(memory_id, memory_id, "only in the log", reason)
        for memory_id, reason in reasons.items()
    )


def _not_reached(memory: Namespace) -> tuple[str, ...]:
    """Return what a purge leaves as it is: backups that somebody asked for, by their path."""
    folder = memory.store.place.backups
    backups = sorted(folder.glob("*.db")) if folder is not None else []
    return (*(f"the backup {path}" for path in backups), *_OTHERS)


def _sources(rows: Iterable[VersionRow]) -> Iterator[str]:
    """Yield the sources of these versions that still are where they were."""
    for source in sorted({row.source for row in rows if row.source}):
        place = Path(source.partition(":")[2])
        if place.is_absolute() and place.exists():
            yield f"the source {place}: remove it there too, or the next import brings it back"


def _names_of(memory: Namespace, subject: str) -> tuple[list[str], set[str]]:
    """Return a name and its aliases: the names of entities merged into one another with it; and these entities."""
    store = memory.store
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
    called = name_words(subject)
    own = {entity for entity, names in texts.items() if called in map(name_words, names)}
    size = -1
    while len(own) != size:
        size = len(own)
        for link in merged:
            if link.source in own or link.target in own:
                own |= {link.source, link.target}
    names = dict.fromkeys([subject, *(name for entity in own for name in texts.get(entity, ()))])
    return [name for name in names if name.strip()], own


def _about(memory: Namespace, about: Subject, own: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the memories that name a subject, in the store or only in the log, and those that may, with reasons.

    ``own`` are its entities.
    """
    for row in _rows(memory):
        for text in texts_in([*_places(row).values()]):
            about.read(text)
    reasons = dict.fromkeys(own, "it is its name")
    doubts: dict[str, str] = {}
    titles: dict[str, set[str]] = defaultdict(set)
    rule_made, keys = set[str](), dict[str, str]()
    for row in _rows(memory):
        if isinstance(row, MemoryRow):
            keys[row.id] = row.key
            continue
        titles[row.id] |= {slug(text) for text in (row.heading, row.content) if text}
        if row.source == RULES:
            rule_made.add(row.id)
        for reason, value in _places(row).items():
            for text in texts_in(value):
                _note(about.doubt(text), reason, row.id, reasons, doubts)
    for memory_id, key in keys.items():
        # A key that was made from the text is read there, with its capitals.
        if memory_id not in rule_made and not any(is_made_from(key, t, memory_id) for t in titles[memory_id]):
            _note(about.doubt(key), "its key names it", memory_id, reasons, doubts)
    return reasons, {each: doubt for each, doubt in doubts.items() if each not in {*reasons, *rule_made}}


def _note(
    doubt: str | None, reason: str, memory_id: str, reasons: dict[str, str], doubts: dict[str, str]
) -> None:
    if doubt is not None:
        (doubts if doubt else reasons).setdefault(memory_id, doubt or reason)


def _rows(memory: Namespace) -> Iterator[MemoryRow | VersionRow]:
    """Yield the memories and versions of the store, then those of the log."""
    yield from memory.part(VersionRow)
    yield from memory.part(MemoryRow)
    for logged in memory.part(Logged):
        for change in logged.rows:
            for row in (change.row, change.before):
                if isinstance(row, (MemoryRow, VersionRow)):
                    yield row


def _places(row: MemoryRow | VersionRow) -> Mapping[str, object]:
    """Return the texts of a version by what they say about whom they name."""
    if isinstance(row, MemoryRow):
        return {}
    return {
        "it is the speaker": row.speaker,
        "its title names it": row.heading,
        "its text mentions it": [row.content, row.gist],
        "its session is named after it": row.session,
        "its tags, metadata or conditions name it": [row.tags, dict(row.metadata), dict(row.when)],
        "its source names it": row.source,
    }


def _include(memory: Namespace, include: Iterable[str], reasons: dict[str, str], now: datetime) -> None:
    """Add memories, by key or id, to those that are erased; a text that said why they may be may be erased by now."""
    for name in include:
        reasons.setdefault(_stored_or_logged(memory, name, now)[0], "it was to be included")


def _is_mentioned(memory: Namespace, about: Subject) -> bool:
    """Tell whether a recall mentions a subject."""
    return any(about.names([trace.cue, trace.session]) for trace in memory.rows(Trace, limit=10**6))


def _add_derived(memory: Namespace, reasons: dict[str, str]) -> None:
    """Add what was made of these memories, and of that again: gists, patterns, rules, what was merged."""
    keys = {row.id: row.key for row in memory.part(MemoryRow)}
    waiting = list(reasons)
    while waiting:
        links = memory.rows(LinkRow, ids=waiting)
        sources, waiting = set(waiting), []
        for link in links:
            for origin, derived in _derivations(link):
                if origin in sources and derived not in reasons:
                    reasons[derived] = f"derived from {label(keys.get(origin, origin))} ({link.relation})"
                    waiting.append(derived)


def _derivations(link: LinkRow) -> Iterable[tuple[str, str]]:
    """Yield origin and derived memory of a link, both ways where two were merged."""
    if link.relation in _DERIVING:
        yield link.source, link.target
    if link.relation in (MERGED, LEARNED_FROM):
        yield link.target, link.source


def _add_orphans(memory: Namespace, reasons: dict[str, str]) -> None:
    """Add the entities that a rule made of these memories alone, in the store or only in the log."""
    for orphan in sorted(_orphans(memory, set(reasons))):
        reasons.setdefault(orphan, "only what is erased mentions it")


def _stored_or_logged(memory: Namespace, key: str, now: datetime) -> tuple[str, str]:
    """Return the id and key of a memory, also of one that an undo removed and only the log has."""
    if memory.operations(memory_id=check_key(key), limit=1):
        return key, memory.names(ids=[key]).get(key, key)
    stored = memory.find(key, now)
    return stored.id, stored.key


def _orphans(memory: Namespace, ids: Set[str]) -> Set[str]:
    """Return entities made by rule that only memories to be erased link to, or did before a text was superseded.

    Of those that only the log has, the log tells what was linked to them.
    """
    rows = [change.row for change in _logged_changes(memory, ids)]
    logged = [row for row in rows if isinstance(row, LinkRow)]
    links = [*memory.rows(LinkRow, ids=list(ids)), *logged]
    targets = {link.target for link in links if link.source in ids} - ids
    records = memory.records(memory.now(), ids=list(targets)).values()
    stored = {entity.id for entity in records if entity.kind == "entity" and entity.source == RULES}
    by_rule = {row.id for row in rows if isinstance(row, VersionRow) and row.source == RULES}
    gone = (targets & by_rule) - memory.names(ids=targets).keys()
    shared = _linked_to_others(memory.rows(LinkRow, ids=stored), ids)
    return (stored - shared) | (gone - _linked_to_others(logged, ids))


def _logged_changes(memory: Namespace, ids: Set[str]) -> list[RowChange]:
    """Return all row changes of the operations on any of these memories."""
    return [
        change
        for logged in memory.part(Logged)
        if not ids.isdisjoint(end for change in logged.rows for end in change.ends)
        for change in logged.rows
    ]


def _linked_to_others(links: Iterable[LinkRow], ids: Collection[str]) -> set[str]:
    """Return the ends of links that touch none of these memories."""
    return {
        end
        for link in links
        if link.source not in ids and link.target not in ids
        for end in (link.source, link.target)
    }
