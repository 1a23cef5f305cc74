"""Families: procedures that are similar but not the same, grouped under one entity; none is deprecated.

Its heading is what the titles have in common, its text names each member and the words that tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from priming.config.ids import uuid7
from priming.config.params.laws import FORGETTING, PLASTICITY
from priming.config.values import dataclass
from priming.config.words import SLEEP_SOURCE, SOURCE_OF, least
from priming.core.arguments.normal_forms import free_key, slug
from priming.remember.drafts import Draft
from priming.sleep.gist import HAND, Gist, author_of, gist_metadata, rewrite_entity
from priming.sleep.plan import PlannedItem, current_row
from priming.sleep.procedures import ProcedureText, compare_procedures
from priming.storage.rows import LinkRow, MemoryRow, RowChange, VersionRow
from priming.text.gists import gist_of
from priming.types import MemoryRecord

FAMILY = "family"
"""The form of an entity for similar procedures, and the action that makes or extends it."""
_QUOTED = 12
"""Maximum number of members that the text of a family names."""
_GAP = "…"


@dataclass(frozen=True, slots=True)
class FamilyEntity:
    """A family of an earlier night: its row, its versions, and the ids of its members."""

    memory: MemoryRow
    versions: Sequence[VersionRow]
    members: frozenset[str]


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A procedure of a family: its record, title and steps."""

    record: MemoryRecord
    text: ProcedureText

    @property
    def title(self) -> str:
        """Its title, or its first step."""
        return (self.text.title or self.text.steps[0]).strip().rstrip(".")


def is_family(metadata: Mapping[str, object]) -> bool:
    """Whether an entity is a family, by its metadata."""
    return metadata.get("form") == FAMILY


def plan_families(
    groups: Iterable[Sequence[FamilyMember]],
    families: Sequence[FamilyEntity],
    now: datetime,
    taken: Callable[[str], bool],
) -> list[PlannedItem]:
    """Plan a family for each group of procedures, or what a family of an earlier night lacks of it."""
    planned, keys, grown = list[PlannedItem](), set[str](), set[str]()
    for group in groups:
        ids = {member.record.id for member in group}
        family = max(families, key=lambda entry: len(entry.members & ids), default=None)
        if family is None or not family.members & ids:
            planned.append(_new_family(group, now, keys, taken))
        elif family.memory.id not in grown:
            grown.add(family.memory.id)
            item = _more(group, family, now)
            planned += [] if item is None else [item]
    return planned


def family_gist(members: Sequence[FamilyMember]) -> tuple[str, str]:
    """The heading and the text of a family.

    The heading has the words that all titles share, the text all titles and the words that make the difference.
    """
    titles = list(dict.fromkeys(member.title for member in members))
    shown = "; ".join(f"“{title}”" for title in titles[:_QUOTED])
    if len(titles) > _QUOTED:
        shown += f" and {len(titles) - _QUOTED} more"
    words = differences(members)
    if len(titles) == 1:  # the steps tell them apart
        return _heading(titles), f"{len(members)} procedures are all called {shown}: {_reasons(members)}."
    apart = f" They differ in: {', '.join(words)}." if words else f" Reason: {_reasons(members)}."
    return _heading(titles), f"Similar but not the same: {shown}.{apart}"


def _reasons(members: Sequence[FamilyMember]) -> str:
    """Why the other members are not the same as the first, with the words that tell them apart."""
    first, *others = members[:_QUOTED]
    reasons = dict[str, list[str]]()
    for other in others:
        change = compare_procedures(first.text, other.text)
        reasons.setdefault(change.reason or "they were never done alike", []).extend(change.words)
    return "; ".join(
        f"{reason} ({', '.join(dict.fromkeys(words))})" if words else reason
        for reason, words in reasons.items()
    )


def differences(members: Sequence[FamilyMember]) -> list[str]:
    """The words in which the other members differ from the first."""
    first, *others = members[:_QUOTED]
    changes = (compare_procedures(first.text, other.text) for other in others)
    return list(dict.fromkeys(word for change in changes for word in change.words))


def _heading(titles: Sequence[str]) -> str:
    """The words of the first title that all others have, with a gap for each run of others."""
    first, *others = titles
    common = [all(word.casefold() in other.casefold().split() for other in others) for word in first.split()]
    if not others or sum(common) * 2 < len(common):
        return gist_of(first)
    words = list[str]()
    for word, shared in zip(first.split(), common, strict=True):
        if shared or not words or words[-1] != _GAP:
            words.append(word if shared else _GAP)
    return " ".join(words)


def _new_family(
    group: Sequence[FamilyMember], now: datetime, keys: set[str], taken: Callable[[str], bool]
) -> PlannedItem:
    heading, text = family_gist(group)
    draft = Draft(
        text,
        heading=heading,
        kind="entity",
        metadata=gist_metadata({"form": FAMILY}, heading, Gist(text)),
        source=SLEEP_SOURCE,
        trust=least([member.record.trust for member in group]),
    )
    memory_id = uuid7(now)
    key = free_key(f"{FAMILY}:{slug(heading)}", memory_id, lambda name: name in keys or taken(name))
    keys.add(key)
    memory = MemoryRow(
        memory_id, key, "entity", weight=PLASTICITY.start, endurance=FORGETTING.initial_stability
    )
    rows = [RowChange(None, memory), RowChange(None, draft.version(memory_id, 1, now))]
    return _item(group, group, memory_id, heading, text, [*rows, *_links(group, memory_id, now)])


def _more(group: Sequence[FamilyMember], family: FamilyEntity, now: datetime) -> PlannedItem | None:
    """The members that a family lacks; None if it lacks none, or is no longer in use."""
    fresh = [member for member in group if member.record.id not in family.members]
    if not fresh or family.memory.status != "active":
        return None
    old = current_row(family.versions, max(row.version for row in family.versions))
    heading, text = family_gist(group)
    rows = list[RowChange]()
    if author_of(old) != HAND:
        trust = least([old.trust, *(member.record.trust for member in fresh)])
        rows = rewrite_entity(family.versions, old, Gist(text), trust, now)
    rows += _links(fresh, family.memory.id, now)
    return _item(group, fresh, family.memory.id, old.heading or heading, text, rows)


def _item(
    group: Sequence[FamilyMember],
    fresh: Sequence[FamilyMember],
    into: str,
    heading: str,
    text: str,
    rows: Sequence[RowChange],
) -> PlannedItem:
    evidence = {
        "heading": heading,
        "form": FAMILY,
        "text": text,
        "members": len(group),
        "words": differences(group),
    }
    reason = f"{len(group)} procedures are similar, but none replaces another"
    return PlannedItem(
        FAMILY, tuple(member.record.id for member in fresh), into, reason, evidence, tuple(rows)
    )


def _links(members: Iterable[FamilyMember], entity: str, now: datetime) -> list[RowChange]:
    return [
        RowChange(None, LinkRow(member.record.id, entity, SOURCE_OF, PLASTICITY.start, now))
        for member in members
    ]
