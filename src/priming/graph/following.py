"""The memories and links that an agent's action followed: what it wrote is compared with what it was shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations

from priming.history.run_actions import RunAction
from priming.namespace import Namespace
from priming.storage.rows import LinkIdentity, LinkRow, MemoryPair
from priming.text.tokens import terms
from priming.types import MemoryRecord

_WORDS = 2
"""Number of a memory's distinctive words that a text must use to follow it; all of them if it has fewer."""
_FOLLOWED_RELATIONS = ("similar-to",)
"""Relations made by rule between texts on the same subject."""


def followed(memory: Namespace, action: RunAction, shown: Collection[str]) -> set[str]:
    """Those of the memories ``shown`` whose words or links an action follows.

    A link follows its ends, and a new version what it revises. A new memory follows those that it is linked to by
    hand or by likeness; any text those that it names by key, and those of whose distinctive words it uses two or
    more: words that not all of ``shown`` have.
    """
    created = action.written - action.revised
    ids = set(shown) - created
    ends = {*action.linked, *action.revised} & ids
    if not action.written:
        return ends
    for link in memory.store.links(memory.namespace, created) if created else ():
        other = link.target if link.source in created else link.source
        if other in ids and (link.given or link.relation in _FOLLOWED_RELATIONS):
            ends.add(other)
    records = memory.store.records(memory.namespace, [*ids, *action.written], memory.now())
    texts = [records[memory_id].content for memory_id in action.written if memory_id in records]
    candidates = {memory_id: records[memory_id] for memory_id in ids - action.written if memory_id in records}
    return ends | _named_in(texts, candidates)


def _named_in(texts: Iterable[str], records: Mapping[str, MemoryRecord]) -> set[str]:
    """The memories that some texts follow by their words."""
    words = {memory_id: set(terms(record.content)) for memory_id, record in records.items()}
    common = set.intersection(*words.values()) if len(words) > 1 else set[str]()
    named = set[str]()
    for text in texts:
        own = set(terms(text))
        for memory_id, record in records.items():
            distinctive = words[memory_id] - common or words[memory_id]
            shared = len(distinctive & own)
            if shared >= min(_WORDS, len(distinctive)) > 0 or record.key in text:
                named.add(memory_id)
    return named


def followed_links(
    links: Collection[LinkRow],
    follows: Collection[str],
    ways: Mapping[str, Collection[MemoryPair]],
) -> dict[LinkIdentity, LinkRow]:
    """The links that lead from a followed memory to another one: directly, or else over one memory between them.

    A followed memory from which none leads to another was reached by the way of its recall, ``ways``. ``links`` are
    those among what was shown, without those that the run itself made.
    """
    between: dict[MemoryPair, list[LinkRow]] = {}
    near: dict[str, set[str]] = {}
    for link in links:
        between.setdefault(_pair(link.source, link.target), []).append(link)
        near.setdefault(link.source, set()).add(link.target)
        near.setdefault(link.target, set()).add(link.source)
    pairs = set[MemoryPair]()
    for a, b in combinations(sorted(follows), 2):
        if (a, b) in between:
            pairs.add((a, b))
        else:
            for middle in near.get(a, set()) & near.get(b, set()):
                pairs |= {_pair(a, middle), _pair(b, middle)}
    connected = {end for pair in pairs for end in pair}
    for memory_id in set(follows) - connected:
        pairs |= {_pair(*hop) for hop in ways.get(memory_id, ())} & between.keys()
    return {
        (link.source, link.target, link.relation): link for pair in sorted(pairs) for link in between[pair]
    }


def _pair(a: str, b: str) -> MemoryPair:
    return min(a, b), max(a, b)
