"""How an import meets what a namespace has: it follows its source, and leaves what the user made of it.

An item is known by its key. One that differs from what its source said before is a new version; one that the user
changed since stays the user's until the source changes too. A memory that its source no longer has was renamed, if
another with its text came in the same run, and else is gone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, field, replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from priming.config.caller import calling, present_caller
from priming.config.params.laws import PLASTICITY
from priming.config.values import dataclass
from priming.config.words import FOLLOW
from priming.errors import Conflict, NotFound, ParamError, PrimingError
from priming.history.movements import link_identity
from priming.maintenance.replacing import deprecate, merge, restore, supersede
from priming.namespace import Namespace
from priming.remember.drafts import Draft, bare_text, draft
from priming.remember.links import LinkRequest, link_request, link_requested
from priming.remember.remember import Coming, repeated_after
from priming.storage.rows import LinkRow, RowChange, VersionRow
from priming.text.quotation import count_text
from priming.transfer import state
from priming.transfer.comparing import COMPARED, entry_name, is_same, is_there, left_behind, resettled
from priming.transfer.importers import TAKEN_OUT, AllTies, Entry, Item, Present, Report, Skipped, Stored, Tie
from priming.transfer.reading import skipping
from priming.types import MemoryRecord, Progress

_REASONS = 100
_HELD = ("stored", "duplicate", "echo", "changed", "renamed")
_TAKING_BACK = ("undo", "rollback", "restore-backup")
_ORDER = ("next", "next-but-one", "part-of")
"""The links by which a memory stands in its session."""


@dataclass
class Following:
    """A running import of one path."""

    memory: Namespace
    name: str
    place: Path
    ties: IO[str]
    progress: Progress | None
    operation_id: str | None
    own_keys: bool = False
    everything: bool = False
    """Whether nothing that the namespace has of the place is gone."""
    hidden: set[str | None] = field(default_factory=set)
    """The sources of what was skipped and may be a memory, None where it may be any: not known to be gone."""
    done: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    skipped: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    ids: dict[str, None] = field(default_factory=dict)
    """The ids of the memories that its entries are."""
    fresh: dict[str, str | None] = field(default_factory=dict)
    """Those of them that are new, or came back: with the session of the latter."""
    stored: dict[str, str] = field(default_factory=dict)
    """By key of an entry of the run that was not there before, the id of its memory."""
    stored_as: dict[str, str] = field(default_factory=dict)
    """By key of an entry, the other key of the memory that it duplicates."""
    texts: dict[str, int] = field(default_factory=dict)
    """By key of an entry, the hash of its text."""
    sessions: dict[str, list[str]] = field(default_factory=dict)
    """By session, the ids of its memories in the order in which the source has them."""
    whole: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """By relation, all its ties, where the importer says that they are all."""

    def report(self) -> Report:
        """Return the counts so far."""
        names = ("stored", "echoes", "links", "refused", "loose", "changed", "renamed", "gone", "retired")
        counts: dict[str, Any] = {name: self.counts[name] for name in names} | {"echoes": self.counts["echo"]}
        return Report(
            duplicates=self.counts["duplicate"],
            skipped=tuple(self.skipped),
            moved=tuple(self.moved),
            **counts,
        )

    def follow(
        self, items: Callable[[], Iterator[Item]], digest: Callable[[], str] | None, *, prune: bool
    ) -> None:
        """Bring the memories of the path in step with it, unless they are."""
        with calling(replace(present_caller(), via=f"import {self.name}")):
            state_of_path = None if digest is None else digest()
            if state_of_path is not None and (items_of_path := self._in_step(state_of_path)):
                self.counts["duplicate"] = items_of_path
                return
            start = self.memory.store.head(self.memory.namespace)
            self._load(items)
            if digest is not None and not self.everything:
                self._settle_gone(prune=prune)
            self._make_ties()
            is_open = self.counts["refused"] or self.counts["gone"] > self.counts["retired"]
            has_written = self.memory.store.head(self.memory.namespace) > start
            if state_of_path is not None and (has_written or not is_open):
                total = count_text(sum(self.counts[name] for name in _HELD), "item")
                message = f"{total} since operation {start}, state {'open' if is_open else state_of_path}"
                with self.memory.writing() as now:
                    self.memory.write(FOLLOW, now, [], reason=self._reason, message=message)

    @property
    def _reason(self) -> str:
        place = hashlib.blake2b(str(self.place).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        return f"{self.place.name} was followed, as {self.name} {place}"

    def _in_step(self, state_of_path: str) -> int:
        """Count the items of the path, if nothing changed there since it was followed, nor was taken back."""
        with self.memory.reading():
            operations = partial(self.memory.store.operations, self.memory.namespace, rows=False)
            latest = operations(kind=FOLLOW, limit=_REASONS)
            last = next((logged for logged in latest if logged.reason == self._reason), None)
            if last is None or not (last.message or "").endswith(f" {state_of_path}"):
                return 0
            is_taken_back = any(operations(kind=kind, after=last.number, limit=1) for kind in _TAKING_BACK)
            return 0 if is_taken_back else int((last.message or "").split()[0].replace(",", ""))

    def of_path(self) -> dict[str, str]:
        """Map the ids to the keys of the active memories whose source is the path, or below it."""
        return Stored(self.memory).below(f"{self.name}:{self.place}")

    def _load(self, items: Callable[[], Iterator[Item]]) -> None:
        """Store the entries in batches, and write the ties to a file: the end of a tie may come later, or never."""
        coming = repeated_after(
            self.memory, lambda: (_draft_of(each) for each in skipping(items()) if isinstance(each, Entry))
        )
        for batch in state.batches(self._entries(items())):
            self.done += len(batch)
            remember = partial(self._remember, coming=partial(coming, self.done))
            present = self._records(batch)
            new = [entry for entry in batch if entry.arguments.get("key") not in present]
            for entry, error in state.refused(new, remember, (ParamError, Conflict)):
                self._refuse(entry, error)
            for entry in batch:
                if (record := present.get(entry.arguments.get("key") or "")) is not None:
                    try:
                        self.counts[self._meet(entry, record)] += 1
                    except (ParamError, Conflict) as error:
                        self._refuse(entry, error)
                self._order(entry, record)
            if self.progress is not None:
                self.progress(self.done, None)

    def _order(self, entry: Entry, record: MemoryRecord | None) -> None:
        session, key = entry.arguments.get("session"), entry.arguments.get("key")
        own = record.id if record is not None else self.stored.get(key) if key else None
        if session is not None and own is not None:
            self.sessions.setdefault(session, []).append(own)

    def _entries(self, items: Iterator[Item]) -> Iterator[Entry]:
        """Yield the entries among the items, each key once: the same key with another text is refused."""
        for item in items:
            match item:
                case Entry():
                    key, text = item.arguments.get("key"), hash(item.arguments.get("content"))
                    if key is not None and self.texts.setdefault(key, text) != text:
                        self._refuse(
                            item, ParamError("key", key, "comes twice in the source: give each its own")
                        )
                        continue
                    yield item
                case Skipped():
                    self.hidden |= {item.source} if item.hides else set()
                    self.counts["refused"] += 1
                    _add(self.skipped, str(item.error))
                case Present():
                    self._find_present(item)
                case AllTies():
                    self.whole[item.relation] = set()
                case _:
                    self.ties.write(json.dumps(astuple(item)) + "\n")

    def _find_present(self, item: Present) -> None:
        ids = self.memory.ids_of(item.keys).values()
        self.counts["duplicate"] += len(ids)
        self.ids |= dict.fromkeys(ids)
        self.everything = self.everything or item.all

    def _records(self, batch: Sequence[Entry]) -> dict[str, MemoryRecord]:
        """Map the keys of the batch to the memories that have them."""
        keys = [key for entry in batch if isinstance(key := entry.arguments.get("key"), str)]
        with self.memory.reading() as now:
            ids = self.memory.ids_of(keys) if keys else {}
            records = self.memory.records(now, ids=ids.values())
        return {record.key: record for record in records.values()}

    def _remember(self, batch: list[Entry], coming: Coming) -> None:
        """Remember new entries; if the import has an id, once only, by an id that follows from it and from them."""
        drafts = [_draft_of(entry) for entry in batch]
        states = [entry.state for entry in batch]
        write = partial(state.remember_states, self.memory, drafts, states, coming)
        texts = [entry.arguments for entry in batch]
        results = (
            write() if self.operation_id is None else state.once(self.memory, self.operation_id, texts, write)
        )
        for entry, result in zip(batch, results, strict=True):
            key = entry.arguments.get("key")
            if key is not None:
                self.stored[key] = result.id
                if key != result.key:
                    self.stored_as[key] = result.key
            self.counts[result.status] += 1
            self.ids[result.id] = None
            if result.status == "stored":
                self.fresh[result.id] = None

    def _meet(self, entry: Entry, record: MemoryRecord) -> str:
        """Compare an entry with the memory that has its key, and follow what changed; what became of it."""
        self.ids[record.id] = None
        new = _draft_of(entry)
        if record.status != "active":
            if not self._retired_here(record):
                return "duplicate"
            restore(self.memory, record.key)
            self.fresh[record.id] = record.session
        is_elsewhere = record.source != new.source and not self.own_keys and not is_there(record.source)
        if not is_elsewhere and is_same(new, record):
            return "duplicate" if record.status == "active" else "stored"
        last = self._last_imported(record)
        if last is None or not (self.own_keys or is_elsewhere or record.source == new.source):
            if bare_text(record.content) == bare_text(new.content):
                return "duplicate"
            raise Conflict(f"key {record.key!r} is taken: choose another, or supersede the memory it names")
        if not is_elsewhere and is_same(new, last):
            return "duplicate"
        if new.kind != record.kind:
            raise Conflict(f"{record.key!r} is of kind {record.kind}, which stays: give the item another key")
        changes = {name: getattr(new, name) for name in (*COMPARED, "source", "valid_from")}
        supersede(self.memory, record.key, new.content, **changes)
        _add(self.moved, f"changed: {record.key}")
        return "changed" if record.status == "active" else "stored"

    def _last_imported(self, record: MemoryRecord) -> VersionRow | MemoryRecord | None:
        """Return the latest version that this importer wrote; None if the memory is not its own."""
        for kind in ("supersede", "remember"):
            for row in (change.after for each in self._operations(record, kind) for change in each.rows):
                current = record.id, None, None
                if isinstance(row, VersionRow) and (row.id, row.valid_to, row.retired_at) == current:
                    return row
        is_early = (record.source or "").startswith(f"{self.name}:") and record.version == 1
        return record if is_early else None  # imported by a version that did not say so in the log

    def _retired_here(self, record: MemoryRecord) -> bool:
        """Tell whether an import took the memory out of recall, and nobody else since."""
        kind = TAKEN_OUT.get(record.status)
        with self.memory.reading():
            logged = self.memory.operations(memory_id=record.id, kind=kind, limit=1) if kind else []
        return any((each.via or "").startswith("import ") for each in logged)

    def _operations(self, record: MemoryRecord, kind: str) -> Iterator[Any]:
        """Return the operations of a kind on a memory by this importer, the latest first."""
        with self.memory.reading():
            operations = self.memory.operations(memory_id=record.id, kind=kind)
        via = f"import {self.name}"
        return (each for each in operations if each.via == via and each.undone_by is None)

    def _settle_gone(self, *, prune: bool) -> None:
        """Merge what was renamed into what it is called now, and report or deprecate what is gone."""
        absent = [name for name in self.of_path() if name not in self.ids]
        with self.memory.reading() as now:
            gone = self.memory.records(now, ids=absent)
        self._settle_order({*self.fresh.values(), *(record.session for record in gone.values())})
        with self.memory.reading() as now:
            followed = self.memory.operations(kind=FOLLOW, rows=False, limit=1)
            came = self.memory.records(now, ids=[*self.fresh] if gone or followed else [])
            left = left_behind(self.memory, self.name, {*self.ids, *absent}, now) if came else {}
        pairs, gone = resettled(gone, left, came)
        for old, new in pairs:
            try:
                self._rename(old, new)
            except PrimingError:
                gone[old.id] = old
                continue
            became = "renamed" if bare_text(old.content) == bare_text(new.content) else "changed"
            self.counts[became] += 1
            self.counts["stored"] -= 1
            _add(self.moved, f"{became}: {old.key} → {new.key}")
        for record in (each for each in gone.values() if self.hidden.isdisjoint((None, each.source))):
            self.counts["gone"] += 1
            if prune:
                deprecate(self.memory, record.key, reason=f"it is gone from {self.place.name}")
                self.counts["retired"] += 1
            elif record.id in left:  # so that a later import with prune knows it
                supersede(self.memory, record.key, record.content, source=record.source)
            _add(self.moved, f"gone: {record.key}")

    def _settle_order(self, disturbed: set[str | None]) -> None:
        """Link the memories of sessions in which some came or went between others in the order of the source."""
        for session, ids in self.sessions.items():
            is_new = [name in self.fresh for name in ids]
            if session not in disturbed and is_new == sorted(is_new):
                continue
            pairs = {(*ends, "next") for ends in pairwise(ids)}
            pairs |= {(*ends, "next-but-one") for ends in zip(ids, ids[2:], strict=False)}
            with self.memory.changing() as now:
                rows = self.memory.rows(LinkRow, ids=ids, both=True)
                links = {link_identity(row): row for row in rows if row.relation in _ORDER}
                stale = [links[name] for name in links.keys() - pairs if not links[name].given]
                fresh = [LinkRow(*name, PLASTICITY.start, now) for name in pairs - links.keys()]
                changes = [*(RowChange(row, None) for row in stale), *(RowChange(None, row) for row in fresh)]
                if changes:
                    self.memory.write("link", now, changes, reason=f"the order in {self.place.name}")

    def _rename(self, old: MemoryRecord, new: MemoryRecord) -> None:
        """Let a new memory take over what an old one has, but not its place in its session."""
        with self.memory.changing() as now:
            links = self.memory.rows(LinkRow, ids=[old.id])
            placed = [RowChange(row, None) for row in links if row.relation in _ORDER and not row.given]
            if placed:
                self.memory.write("link", now, placed, reason="it moved to another place")
        merge(self.memory, old.key, new.key)

    def _make_ties(self) -> None:
        """Make the links of the ties in the file, and remove those that the source no longer states."""
        links = {relation: self._links(relation) for relation in self.whole}
        self.ties.seek(0)
        for batch in state.batches(self._new_ties(links)):
            for tie, error in state.refused(batch, self._link, (NotFound, ParamError)):
                self.counts["loose"] += 1
                _add(self.skipped, f"{tie.source} ─{tie.relation}→ {tie.target}: {error}")
        stale = [
            row for name, rows in links.items() for pair, row in rows.items() if pair not in self.whole[name]
        ]
        with self.memory.changing() as now:
            changes = [RowChange(row, None) for row in stale if row.given and self._linked_here(row)]
            if changes:
                self.memory.write("link", now, changes, reason="its source no longer says so")

    def _new_ties(self, links: Mapping[str, Mapping[tuple[str, str], LinkRow]]) -> Iterator[Tie]:
        """Yield the ties in the file, but those of a relation that is whole whose links are there."""
        for tie in (Tie(*json.loads(line)) for line in self.ties):
            pair = self.stored_as.get(tie.source, tie.source), self.stored_as.get(tie.target, tie.target)
            if tie.relation in self.whole:
                self.whole[tie.relation].add(pair)
            if pair not in links.get(tie.relation, ()):
                yield replace(tie, source=pair[0], target=pair[1])

    def _links(self, relation: str) -> dict[tuple[str, str], LinkRow]:
        """Return the links of a relation from memories of the run, by the keys of both ends."""
        with self.memory.reading():
            rows = [row for row in self.memory.rows(LinkRow, relation=relation) if row.source in self.ids]
            names = self.memory.names(ids={end for row in rows for end in (row.source, row.target)})
        return {(names[row.source], names[row.target]): row for row in rows}

    def _link(self, batch: list[Tie]) -> None:
        """Make the links of a batch but those that must stay unchanged."""
        fresh, others = list[LinkRequest](), list[LinkRequest]()
        for tie in batch:
            link = link_request(tie.source, tie.target, tie.relation, tie.weight)
            created, active = map(_moment, (tie.created_at, tie.last_activated))
            (fresh if tie.fresh else others).append(replace(link, created_at=created, last_activated=active))
        links = others + (state.without_user_links(self.memory, fresh) if fresh else [])
        self.counts["links"] += len(link_requested(self.memory, links))

    def _linked_here(self, row: LinkRow) -> bool:
        """Tell whether an import made a link, and nobody else set it since."""
        for logged in self.memory.operations(memory_id=row.source):
            for change in logged.rows:
                if isinstance(change.after, LinkRow) and link_identity(change.after) == link_identity(row):
                    return (logged.via or "").startswith("import ")
        return False

    def _refuse(self, entry: Entry, error: PrimingError) -> None:
        self.counts["refused"] += 1
        _add(self.skipped, f"{entry_name(entry)}: {str(error).removeprefix('item 0: ')}")


def _add(lines: list[str], line: str) -> None:
    if len(lines) < _REASONS:
        lines.append(line)


def _draft_of(entry: Entry) -> Draft:
    return entry.checked or draft(entry.arguments)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
