"""Packs: behaviours in a file that can be shared; creating, listing and removing them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from priming.config.values import dataclass
from priming.config.words import BUILT_IN, LEARNED_FROM
from priming.core.arguments.checks import (
    absent_if_empty,
    check_description,
    check_keys,
    check_pack_name,
    check_pack_version,
    check_path,
    check_tags,
    check_text,
)
from priming.errors import Conflict, ParamError
from priming.namespace import Namespace
from priming.remember.links import LinkRequest
from priming.rules.pack_file import OWN_HISTORY, Origin, PackFile, PackRule, pack_of, write_pack
from priming.rules.results import Pack
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, MemoryRow, RowChange
from priming.types import MemoryRecord, Operation

BEHAVIOR, INSTALL, REMOVE = "behavior", "pack-install", "pack-remove"


def pack_create(
    memory: Namespace,
    path: str | Path,
    *,
    name: str,
    version: str = "1",
    description: str = "",
    tags: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
) -> Pack:
    """Write active rules to a new file that can be shared.

    The links among them are in it, the history of their use is not. With ``tags`` and ``keys`` it has the rules of
    either, with neither all.

    Args:
        path: the file; it must not exist.
        name: name of the pack, e.g. go-style.
        version: its version, e.g. 2.1.
        description: one line about it.
        tags: only rules with this tag.
        keys: only this rule.

    Raises:
        ParamError: an invalid name or version, or a key of a memory that is not a behaviour.
        NotFound: no memory of a key, or no behaviour to pack.
        Conflict: the file exists, or the behaviour of a key is not active.
        StoreError: the file cannot be written.

    """
    path = check_path(path)
    origin = Origin(check_pack_name("name", name), check_pack_version("version", version))
    about = check_description("description", description)
    with memory.reading():
        records = _select(memory, tags, keys)
        pack_keys = _pack_keys(records, origin)
        rules = tuple(_pack_rule(pack_keys[record.id], record) for record in records)
        rows = [
            link
            for link in memory.rows(LinkRow, ids=pack_keys, both=True)
            if link.relation not in OWN_HISTORY
        ]
        links = tuple(
            LinkRequest(pack_keys[row.source], pack_keys[row.target], row.relation, row.weight)
            for row in rows
        )
        own = memory.signs()
        signs = {row.relation: own.sign(row.relation) for row in rows if row.relation not in BUILT_IN}
    write_pack(path, PackFile(origin.name, origin.version, about, rules, links, signs))
    return Pack(origin.name, origin.version, about, len(rules), len(links))


def _select(
    memory: Namespace, tags: Collection[str] | None, keys: Collection[str] | None
) -> list[MemoryRecord]:
    """Return the active behaviours that have one of the tags or one of the keys, in the order of the store."""
    tags, keys = absent_if_empty(tags), absent_if_empty(keys)
    tag_set = set() if tags is None else set(check_tags(tags))
    named = {_active_behavior(memory, key).id for key in check_keys("keys", () if keys is None else keys)}
    records = memory.page_of(memory.now(), kinds=[BEHAVIOR])
    if tags is not None or keys is not None:
        records = [record for record in records if record.id in named or tag_set.intersection(record.tags)]
    if not records:
        raise memory.not_found(f"there is no active behaviour to pack in {memory.namespace!r}: see list")
    return records


def _active_behavior(memory: Namespace, key: str) -> MemoryRecord:
    record = memory.find(key)
    if record.kind != BEHAVIOR:
        raise ParamError("keys", key, f"is of kind {record.kind}: a pack contains only behaviours")
    if record.status != "active":
        raise Conflict(f"{record.key!r} is {record.status}: restore it first, or leave it out")
    return record


def _pack_keys(records: Iterable[MemoryRecord], origin: Origin) -> dict[str, str]:
    """Map each id to its key in the file: a behaviour installed from this pack has the key that it had there."""
    keys: dict[str, str] = {}
    for record in records:
        short = record.key.removeprefix(origin.key(""))
        keys[record.id] = record.key if short in keys.values() else short
    return keys


def _pack_rule(key: str, record: MemoryRecord) -> PackRule:
    return PackRule(
        key=key,
        content=record.content,
        heading=record.heading,
        when=record.when,
        tags=record.tags,
        rule=record.rule,
        importance=record.importance,
        priority=record.priority,
        confidence=record.confidence,
    )


@dataclass(frozen=True, slots=True)
class PackMembers:
    """The behaviours of a pack in a store, of any status."""

    name: str
    all: tuple[MemoryRecord, ...]

    @property
    def active(self) -> list[MemoryRecord]:
        """The behaviours that take part in recall."""
        return [record for record in self.all if record.status == "active"]

    @property
    def version(self) -> str | None:
        """The installed version: of the active behaviours, else of the removed ones."""
        for status in ("active", "forgotten"):
            records = [record for record in self.all if record.status == status]
            pack = pack_of(max(records, key=_recorded_at).source) if records else None
            if pack is not None:
                return pack.version
        return None

    def is_restorable(self, record: MemoryRecord) -> bool:
        """Tell whether installing a pack that contains this inactive behaviour activates it again.

        It does if the pack was removed, or if an earlier version of the pack dropped the behaviour. A behaviour that
        a user forgot while the pack was installed, or that was merged into another, stays inactive.
        """
        pack = pack_of(record.source)
        dropped = pack is not None and pack.version != self.version
        return (record.status in ("deprecated", "forgotten") and dropped) or (
            record.status == "forgotten" and not self.active
        )


def _recorded_at(record: MemoryRecord) -> datetime:
    assert record.recorded_at is not None, "a stored memory has a time of recording"
    return record.recorded_at


def pack_members(memory: Namespace, now: datetime, name: str) -> PackMembers:
    """Return the behaviours of a pack."""
    return _packs(memory, now).get(name, PackMembers(name, ()))


def _packs(memory: Namespace, now: datetime) -> dict[str, PackMembers]:
    """Return all packs with a behaviour in the store, by name, without those changed or taught here since."""
    packs: dict[str, list[MemoryRecord]] = {}
    taught = {link.source for link in memory.rows(LinkRow, relation=LEARNED_FROM)}
    for record in memory.page_of(now, kinds=[BEHAVIOR], status=None):
        pack = pack_of(record.source)
        if pack is not None and record.key.startswith(pack.key("")) and record.id not in taught:
            packs.setdefault(pack.name, []).append(record)
    return {name: PackMembers(name, tuple(packs[name])) for name in sorted(packs)}


def pack_list(memory: Namespace) -> list[Pack]:
    """List installed packs."""
    with memory.lock:
        packs = _packs(memory, memory.now()).values()
        return memory.listed(describe_pack(memory, pack) for pack in packs if pack.active)


def describe_pack(memory: Namespace, members: PackMembers) -> Pack:
    """Return the installed behaviours of a pack, with its description and time of installation from the log."""
    origin = Origin(members.name, members.version or "")
    logged = _installation(memory, origin)
    ids = {record.id for record in members.active}
    return Pack(
        name=origin.name,
        version=origin.version,
        description=logged.reason or "" if logged else "",
        behaviors=len(ids),
        links=sum(link.relation not in OWN_HISTORY for link in memory.rows(LinkRow, ids=ids, both=True)),
        installed_at=logged.at if logged else min(_recorded_at(record) for record in members.all),
    )


def _installation(memory: Namespace, origin: Origin) -> Logged | None:
    """Return the latest operation that installed a pack; None if the log begins later."""
    operations = memory.operations(source=origin.source)
    return next(
        (logged for logged in operations if logged.kind == INSTALL and logged.undone_by is None), None
    )


def pack_remove(memory: Namespace, name: str) -> Operation:
    """Remove all rules of a pack from recall. Undo restores them.

    So does installing the pack again.

    Args:
        name: name of the pack, without its version.

    Raises:
        NotFound: no such pack.
        Conflict: the pack is removed already.

    """
    check_text("name", name)
    with memory.changing() as now:
        packs = _packs(memory, now)
        if name not in packs:
            names = ", ".join(packs) or "none"
            raise memory.not_found(
                f"there is no pack {name!r} in {memory.namespace!r}: installed are {names}"
            )
        active = packs[name].active
        if not active:
            raise Conflict(f"the pack {name!r} is removed already: install it again to restore it")
        states = memory.rows(MemoryRow, ids=[record.id for record in active])
        rows = [RowChange(state, replace(state, status="forgotten")) for state in states]
        number = "1 behaviour is" if len(rows) == 1 else f"{len(rows)} behaviours are"
        origin = Origin(name, packs[name].version or "")
        logged = memory.write(
            REMOVE,
            now,
            rows,
            source=origin.source,
            message=f"{number} out of recall: install it again to restore it",
        )
        return memory.to_operation(logged)
