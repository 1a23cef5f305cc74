"""Installing a pack: its behaviours are added, changed, restored or deprecated, as one operation.

The author of a pack is not the user: trust is ``tool``, and no similarity links lead to the user's own rules. A
behaviour that the user took out of recall stays out of an upgrade.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from priming.config.values import dataclass
from priming.config.words import BRINGS, TAKES, TRUST
from priming.core.arguments.arrays import TextVectors
from priming.core.arguments.checks import check_choice, check_path
from priming.errors import Conflict
from priming.history.movements import link_identity
from priming.index.document import packed_vectors
from priming.namespace import Namespace
from priming.remember.drafts import (
    Draft,
    current_version,
    deprecated_rows,
    embed_drafts,
    restate,
    restored_rows,
    succeeding_rows,
)
from priming.remember.planner import RememberPlan
from priming.remember.remember import relink
from priming.remember.vectors import complete
from priming.rules.pack_file import OWN_HISTORY, Origin, PackFile, PackRule, pack_of, read_pack
from priming.rules.packs import BEHAVIOR, INSTALL, PackMembers, describe_pack, pack_members
from priming.rules.results import Pack
from priming.storage.protocol import VersionKey
from priming.storage.rows import LinkRow, MemoryRow, RelationRow, RowChange, VersionRow
from priming.types import MemoryRecord

_EFFECTS = {BRINGS: "bring activation", TAKES: "take activation away"}


def pack_install(memory: Namespace, path: str | Path, *, trust: str = "tool") -> Pack:
    """Install the rules of a pack. Another installed version of it is replaced.

    Their keys are ``NAME/KEY``. Installing the same version again changes nothing; the answer then has no
    operation.

    Args:
        path: the file.
        trust: how far the author is trusted; below ``agent``, the behaviours are shown as data, never as rules.

    Raises:
        ParamError: the file is not a valid pack; the error names every violation.
        SchemaTooNew: a newer Priming wrote the file.
        Conflict: a key of the pack belongs to a memory that is not part of it, or links outside the pack have one of
            its relations with the other sign.

    """
    path = check_path(path)
    trust = check_choice("trust", trust, TRUST)
    pack = read_pack(path)
    drafts = [_draft(pack.origin, rule, trust) for rule in pack.rules]
    vectors = None if memory.must_wait(drafts) else embed_drafts(drafts, memory.embedder)
    with memory.writing() as now:
        present = pack_members(memory, now, pack.name)
        if present.version == pack.version and present.active:
            return describe_pack(memory, present)
        installation = PackInstallation(memory, pack, present, now)
        installation.plan_changes(drafts, vectors)
        logged = memory.write(
            INSTALL,
            now,
            installation.rows,
            vectors=installation.vectors,
            source=pack.origin.source,
            reason=pack.description or None,
            message=f"{pack.name} {pack.version}: {installation.summary()}",
        )
        installed = describe_pack(memory, pack_members(memory, now, pack.name))
    if vectors is None:
        complete(memory, list(installation.ids.values()))
    return replace(installed, operation=logged.id, metadata=dict(installation.counts))


def _draft(origin: Origin, rule: PackRule, trust: str) -> Draft:
    return Draft(
        rule.content,
        heading=rule.heading,
        kind=BEHAVIOR,
        key=origin.key(rule.key),
        tags=rule.tags,
        metadata={} if rule.rule is None else {"rule": rule.rule},
        when=rule.when,
        importance=rule.importance,
        source=origin.source,
        trust=trust,
        state={"priority": rule.priority, "confidence": rule.confidence},
    )


@dataclass
class PackInstallation:
    """The rows that install a pack, given its behaviours already in the store."""

    memory: Namespace
    pack: PackFile
    members: PackMembers
    now: datetime
    rows: list[RowChange] = field(default_factory=list)
    vectors: dict[VersionKey, bytes] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    ids: dict[str, str] = field(default_factory=dict)
    """By key in the pack, the ids of its behaviours."""
    plan: RememberPlan = field(init=False)
    _relinked: list[RowChange] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        memory = self.memory
        self.plan = RememberPlan(memory, self.now)

    def plan_changes(self, drafts: Sequence[Draft], vectors: Sequence[TextVectors] | None) -> None:
        """Plan all rows: new, existing and dropped behaviours, and the links."""
        prefix = self.pack.origin.key("")
        present = {record.key.removeprefix(prefix): record for record in self.members.all}
        keys = [rule.key for rule in self.pack.rules]
        self._add([i for i, key in enumerate(keys) if key not in present], drafts, vectors)
        states = self._states([present[key].id for key in keys if key in present])
        for i, key in enumerate(keys):
            if key in present:
                self.ids[key] = present[key].id
                self._update(present[key], drafts[i], None if vectors is None else vectors[i])
                self._restore(present[key], states[present[key].id])
        self._deprecate([present[key].id for key in present.keys() - set(keys)])
        self.rows += [*self.plan.rows, *self._relinked]
        self._link()

    def summary(self) -> str:
        """Return the counts of the installation, in words."""
        return ", ".join(f"{number} {label}" for label, number in self.counts.items()) or "nothing new"

    def _add(
        self, positions: Sequence[int], drafts: Sequence[Draft], vectors: Sequence[TextVectors] | None
    ) -> None:
        """Plan new behaviours with the names that they mention, without links to similar memories."""
        if not positions:
            return
        users = self._users([self.pack.origin.key(self.pack.rules[i].key) for i in positions])
        positions = [i for i in positions if self.pack.origin.key(self.pack.rules[i].key) not in users]
        plan = self.plan
        own = None if vectors is None else [vectors[i] for i in positions]
        plan.add_all([drafts[i] for i in positions], own, nearest=False)
        for i, planned in zip(positions, plan.results, strict=True):
            self.ids[self.pack.rules[i].key] = planned.id
            self.counts["added"] += 1
        self.vectors |= plan.vectors

    def _users(self, keys: Collection[str]) -> Collection[str]:
        """Return keys of rules that came with the pack and that the user has changed or taught since: they stay."""
        taken = self.memory.ids_of(keys)
        versions = self.memory.rows(VersionRow, ids=[*taken.values()])
        came = {version.id for version in versions if _is_of(self.pack.name, version)}
        foreign = sorted(key for key, taken_by in taken.items() if taken_by not in came)
        if foreign:
            raise Conflict(
                f"the keys {', '.join(map(repr, foreign))} are taken by memories outside the pack"
                f" {self.pack.name!r}: purge these, or give the pack another name"
            )
        for _ in taken:
            self.counts["kept as taught here"] += 1
        return taken

    def _states(self, ids: Collection[str]) -> dict[str, MemoryRow]:
        return {row.id: row for row in self.memory.rows(MemoryRow, ids=ids)}

    def _update(self, record: MemoryRecord, new: Draft, vectors: TextVectors | None) -> None:
        """Plan a new version of an existing behaviour, or the same version with a new source and trust."""
        old = current_version(self.memory, record, self.now)
        at = max(self.now, old.recorded_at)
        if _text_and_conditions(record) != _text_and_conditions(new):
            changes, version = succeeding_rows(self.memory, old, new, at, max(at, old.valid_from or at))
            self.rows += changes
            self._relinked += relink(self.plan, old, new)
            if vectors is not None:
                self.vectors |= packed_vectors([(record.id, version.version)], [vectors])
            self.counts["changed"] += 1
        elif (old.source, old.trust) != (new.source, new.trust):
            rows = self.memory.rows(VersionRow, ids=[old.id])
            self.rows += restate(rows, old, at, source=new.source, trust=new.trust)

    def _restore(self, record: MemoryRecord, state: MemoryRow) -> None:
        """Plan the activation of an inactive behaviour, unless a user took it out of recall."""
        if self.members.is_restorable(record):
            self.rows += restored_rows(self.memory, state)
            self.counts["brought back"] += 1
        elif record.status != "active":
            self.counts["left out as before"] += 1

    def _deprecate(self, ids: Collection[str]) -> None:
        """Deprecate the behaviours that the new version no longer contains."""
        for state in self._states(ids).values():
            if state.status == "active":
                self.rows += deprecated_rows(self.memory, state, None, self.now)
                self.counts["deprecated"] += 1

    def _link(self) -> None:
        """Add the links of the pack; existing ones keep their weight, and others made by rule are removed."""
        ids = set(self.ids.values())
        present = {link_identity(link): link for link in self.memory.rows(LinkRow, ids=ids, both=True)}
        packed = {
            (self.ids[link.source], self.ids[link.target], link.relation): link.weight
            for link in self.pack.links
            if link.source in self.ids and link.target in self.ids
        }
        self.rows += [
            RowChange(row, None)
            for name, row in present.items()
            if name not in packed and not row.given and row.relation not in OWN_HISTORY
        ]
        self.rows += [
            RowChange(None, LinkRow(*name, weight, self.now))
            for name, weight in packed.items()
            if name not in present
        ]
        self._sign(ids)

    def _sign(self, ids: Collection[str]) -> None:
        """Store the signs of the pack's relations that differ here; links outside the pack must not have them."""
        memory = self.memory
        stored = {row.relation: row for row in memory.rows(RelationRow)}
        own = memory.signs()
        for relation, sign in self.pack.signs.items():
            if own.sign(relation) == sign:
                continue
            linked = memory.rows(LinkRow, relation=relation)
            if not all(link.source in ids and link.target in ids for link in linked):
                does, did = _EFFECTS[sign], _EFFECTS[-sign]
                raise Conflict(
                    f"links of the relation {relation!r} {does} in the pack {self.pack.name!r} and {did} in"
                    f" {memory.namespace!r}: rename it in the pack, or set its sign here with link"
                )
            before = stored.get(relation)
            introduced = before.introduced if before else not linked
            self.rows.append(RowChange(before, RelationRow(relation, sign, introduced)))


def _is_of(name: str, version: VersionRow) -> bool:
    """Tell whether a version came with a pack."""
    pack = pack_of(version.source)
    return pack is not None and pack.name == name


def _text_and_conditions(behavior: MemoryRecord | Draft) -> tuple[Any, ...]:
    return (
        behavior.content,
        behavior.heading,
        dict(behavior.when),
        behavior.tags,
        dict(behavior.metadata),
        behavior.importance,
    )
