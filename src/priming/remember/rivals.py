"""The facts that cannot hold beside a new one: those that share its rarest words, as the judge of statements says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from priming.index.document import FACT
from priming.storage.rows import VersionRow
from priming.text.statements.judge import differ
from priming.text.statements.reader import as_told
from priming.types import MemoryRecord

STATED = 240
"""Most characters of a fact that is compared with others: a longer text says more than one thing."""
_RAREST, _HOLDERS = 3, 64
"""How many words of a fact, the rarest first, are looked up for facts like it, and in how many memories of each."""


def likest_holders(
    holders: Iterable[Sequence[str]], texts: int, most: int, memory_id: str
) -> Collection[str]:
    """Return the ids of at most ``most`` memories that share the rarest words, the latest of each word first.

    ``holders`` has the memories that contain each word, the oldest first; ``texts`` is under how many names a fact
    is told, ``memory_id`` the fact itself.
    """
    shared = sorted((ids for ids in holders if ids), key=len)[: _RAREST * texts]
    latest = dict.fromkeys(
        other for ids in shared for other in reversed(ids[-_HOLDERS:]) if other != memory_id
    )
    return list(latest)[:most]


def facts_told(
    ids: Collection[str], stored: Iterable[MemoryRecord], planned: Iterable[tuple[str, VersionRow]]
) -> Mapping[str, str]:
    """Return the texts of the facts among some memories, stored or planned, with their speakers named."""
    facts = [(each.id, each.content, each.speaker) for each in stored if ids and each.kind == FACT]
    facts += [(each.id, each.content, each.speaker) for kind, each in planned if kind == FACT]
    return {each: as_told(text, speaker) for each, text, speaker in facts if len(text) <= STATED}


def judged(facts: Mapping[str, str], texts: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the ids of the facts that a new one contradicts, under any of its names, and those of the others."""
    rivals = {each for each, fact in facts.items() if any(differ(fact, text) for text in texts)}
    return rivals, facts.keys() - rivals
