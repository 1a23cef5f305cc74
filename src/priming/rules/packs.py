"""Packs: behaviours made into a file that can be handed on, and such a file installed, replaced and removed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from priming.core.arguments.checks import (
    check_description,
    check_pack_name,
    check_pack_version,
    check_path,
    check_tags,
    check_text,
)
from priming.errors import Conflict, NotFound, ParamError
from priming.namespace import Namespace
from priming.rules.pack_file import OWN_HISTORY, Origin, PackFile, PackLink, PackRule, pack_of, write_pack
from priming.rules.results import Pack
from priming.storage.protocol import Logged
from priming.storage.rows import LinkRow, RowChange
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
    """Write active behaviours and the links among them to a new file, without what this store knows of their use.

    Args:
        path: the file; it must not be there.
        name: what the pack is called, such as ``go-style``.
        version: such as ``1`` or ``2.1``.
        description: one line about it.
        tags: only behaviours with one of these tags.
        keys: these behaviours; with ``tags``, these as well. Neither: all.

    Raises:
        ParamError: a name or version that is none, or a key of something else than a behaviour.
        NotFound: a key that is not there, or no behaviour to pack.
        Conflict: the file is there already, or a behaviour that is named is not active.
        StoreError: a file that cannot be written.

    """
    path = check_path(path)
    origin = Origin(check_pack_name("name", name), check_pack_version("version", version))
    about = check_description("description", description)
    with memory.reading():
        chosen = _chosen(memory, tags, keys)
        own = _own_keys(chosen, origin)
        rules = tuple(_rule(own[one.id], one) for one in chosen)
        links = [one for one in links_among(memory, own) if one.relation not in OWN_HISTORY]
        ties = tuple(PackLink(own[one.source], own[one.target], one.relation, one.weight) for one in links)
    write_pack(path, PackFile(origin.name, origin.version, about, rules, ties))
    return Pack(origin.name, origin.version, about, len(rules), len(ties))


def _chosen(
    memory: Namespace, tags: Collection[str] | None, keys: Collection[str] | None
) -> list[MemoryRecord]:
    """The active behaviours that have one of the tags or are named, in the order of the store."""
    wanted = None if tags is None else set(check_tags(tags))
    named = {_behavior(memory, key).id for key in _keys(keys)}
    there = memory.store.page(memory.namespace, memory.now(), kinds=[BEHAVIOR], limit=None)
    if tags is None and keys is None:
        chosen = there
    else:
        chosen = [one for one in there if one.id in named or (wanted and wanted.intersection(one.tags))]
    if not chosen:
        raise NotFound(f"there is no active behaviour to pack in {memory.namespace!r}: see list")
    return chosen


def _keys(value: Collection[str] | None) -> Collection[str]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, (Collection, type(None))):
        raise ParamError("keys", value, "must be a list of keys")
    return value or ()


def _behavior(memory: Namespace, key: str) -> MemoryRecord:
    there = memory.find(key)
    if there.kind != BEHAVIOR:
        raise ParamError("keys", key, f"is of kind {there.kind}: a pack holds behaviours")
    if there.status != "active":
        raise Conflict(f"{there.key!r} is {there.status}: restore it first, or leave it out")
    return there


def _own_keys(chosen: Iterable[MemoryRecord], origin: Origin) -> dict[str, str]:
    """By id, the keys in the file: what came with this pack goes by the key that it had there."""
    own: dict[str, str] = {}
    for one in chosen:
        short = one.key.removeprefix(origin.key(""))
        own[one.id] = one.key if short in own.values() else short
    return own


def _rule(key: str, one: MemoryRecord) -> PackRule:
    return PackRule(
        key=key,
        content=one.content,
        heading=one.heading,
        when=one.when,
        tags=one.tags,
        rule=one.rule,
        importance=one.importance,
        priority=one.priority,
        confidence=one.confidence,
    )


def links_among(memory: Namespace, ids: Collection[str]) -> list[LinkRow]:
    """The links with both ends among some memories."""
    links = memory.store.links(memory.namespace, list(ids))
    return [one for one in links if one.source in ids and one.target in ids]


@dataclass(frozen=True, slots=True)
class PackMembers:
    """The behaviours of one pack in a store, of any status."""

    name: str
    all: tuple[MemoryRecord, ...]

    @property
    def active(self) -> list[MemoryRecord]:
        """Those that take part in recall."""
        return [one for one in self.all if one.status == "active"]

    @property
    def current(self) -> str | None:
        """The version that is there: of what is active, else of what was removed."""
        for status in ("active", "forgotten"):
            some = [one for one in self.all if one.status == status]
            pack = pack_of(max(some, key=_recorded).source) if some else None
            if pack is not None:
                return pack.version
        return None

    def returns(self, one: MemoryRecord) -> bool:
        """Whether a member that is out of recall comes back with an installation that has it.

        It does if the pack was removed, or if an earlier version of the pack dropped it; one that somebody took out
        while the pack was there stays out, and so does one that was merged into another.
        """
        pack = pack_of(one.source)
        dropped = pack is not None and pack.version != self.current
        return (one.status in ("deprecated", "forgotten") and dropped) or (
            one.status == "forgotten" and not self.active
        )


def _recorded(one: MemoryRecord) -> datetime:
    assert one.recorded_at is not None, "what is stored was recorded"
    return one.recorded_at


def members(memory: Namespace, now: datetime, name: str) -> PackMembers:
    """The behaviours of one pack."""
    return _packs(memory, now).get(name, PackMembers(name, ()))


def _packs(memory: Namespace, now: datetime) -> dict[str, PackMembers]:
    """All packs of which a behaviour is there, by name."""
    found: dict[str, list[MemoryRecord]] = {}
    for one in memory.store.page(memory.namespace, now, kinds=[BEHAVIOR], status=None, limit=None):
        pack = pack_of(one.source)
        if pack is not None and one.key.startswith(pack.key("")):
            found.setdefault(pack.name, []).append(one)
    return {name: PackMembers(name, tuple(found[name])) for name in sorted(found)}


def pack_list(memory: Namespace) -> list[Pack]:
    """The packs that are installed, by name."""
    with memory.lock:
        memory.require_exists()
        packs = _packs(memory, memory.now()).values()
        return [describe(memory, pack) for pack in packs if pack.active]


def describe(memory: Namespace, there: PackMembers) -> Pack:
    """What there is of a pack, and what the log says of its installation."""
    origin = Origin(there.name, there.current or "")
    logged = _installation(memory, origin)
    ids = {one.id for one in there.active}
    return Pack(
        name=origin.name,
        version=origin.version,
        description=logged.reason or "" if logged else "",
        behaviors=len(ids),
        links=sum(one.relation not in OWN_HISTORY for one in links_among(memory, ids)),
        installed_at=logged.at if logged else min(_recorded(one) for one in there.all),
    )


def _installation(memory: Namespace, origin: Origin) -> Logged | None:
    """The latest operation that installed a pack; None where the log does not go back so far."""
    found = memory.store.operations(memory.namespace, source=origin.source, limit=None)
    return next((one for one in found if one.kind == INSTALL and one.undone_by is None), None)


def pack_remove(memory: Namespace, name: str) -> Operation:
    """Take all behaviours of a pack out of recall; undo brings them back, and so does installing it again.

    Raises:
        NotFound: no such pack.
        Conflict: it is removed already.

    """
    check_text("name", name)
    with memory.writing() as now:
        memory.require_exists()
        packs = _packs(memory, now)
        if name not in packs:
            there = ", ".join(packs) or "none"
            raise NotFound(f"there is no pack {name!r} in {memory.namespace!r}: installed are {there}")
        active = packs[name].active
        if not active:
            raise Conflict(f"the pack {name!r} is removed already: install it to have it again")
        states = memory.store.memories(memory.namespace, [one.id for one in active])
        rows = [RowChange(one, replace(one, status="forgotten")) for one in states]
        number = "1 behaviour is" if len(rows) == 1 else f"{len(rows)} behaviours are"
        origin = Origin(name, packs[name].current or "")
        logged = memory.write(
            REMOVE,
            now,
            rows,
            source=origin.source,
            message=f"{number} out of recall: install it to have it again",
        )
        return memory.to_operation(logged)
