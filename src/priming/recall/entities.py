"""Entities by name: their keys, the entity that a merged name leads to, and the names that mean the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from priming.config.words import MERGED
from priming.core.arguments.keys import slug
from priming.index.document import SESSION, TERM, slot_of, slot_of_record
from priming.index.working_set import WorkingSet
from priming.storage.protocol import Store
from priming.storage.questions import ids_of, record_named
from priming.storage.rows import LinkRow
from priming.text.names import find, normal
from priming.text.tokens import is_stop
from priming.text.word_lists import PRONOUNS_AND_NUMERALS

_WORD = re.compile(r"[^\W_](?:[\w./@#+'’&-]*[\w#+])?")
_BREAK = re.compile(r"[\n;:,!?()\[\]{}\"“”`]+")
_MOST_WORDS = 6
"""Words of the longest name that is looked for in any case."""
_KEY = "entity:{}"
"""The key of the entity of a name, unless another memory took the key first."""
_FILE_KEY = "file:{}"


def entity_key(form: str, name: str) -> str:
    """The key that the entity of a name gets, unless another memory took it first."""
    return f"{form}:{slug(name)}" if form in (SESSION, TERM) else _KEY.format(slug(name))


def file_key(path: str) -> str:
    """The key of the entity of a file.

    >>> file_key("src/pool.py")
    'file:src/pool.py'
    """
    return _FILE_KEY.format(path)


def resolve_entity(store: Store, namespace: str, merged: str | None, slot: str, now: datetime) -> str | None:
    """The id of the active entity that ``merged``, an entity of this slot, was merged into; None without one."""
    entity = None if merged is None else record_named(store, namespace, merged, now)
    if entity is None or entity.status != "merged" or slot_of_record(entity) != slot:
        return None
    visited: set[str] = set()
    while entity is not None and entity.status == "merged" and entity.id not in visited:
        visited.add(entity.id)
        links = store.rows(namespace, LinkRow, ids=[entity.id], relation=MERGED)
        targets = [link.target for link in links if link.source in visited and link.target not in visited]
        entity = record_named(store, namespace, targets[0], now) if targets else None
    return entity.id if entity is not None and entity.status == "active" else None


def entities_in_cue(store: Store, working: WorkingSet, texts: Sequence[str], now: datetime) -> list[int]:
    """The rows of the entities that some texts name, each once; a merged name gives the entity it was merged into.

    A name that the namespace has is recognised whatever its case: "who runs kestrel" names Kestrel. Common
    words in lower case that are names elsewhere, such as "will", are not taken for names.
    """
    named = {name.text: name.kind for text in texts for name in find(text)}
    spans = {span: None for text in texts for span in _spans(text)}
    slots = {
        slot_of(form, name): _KEY.format(slug(normal(name))) for name, form in {**spans, **named}.items()
    }
    rows = {working.entities[slot] for slot in slots if slot in working.entities}
    unknown = {slot: key for slot, key in slots.items() if slot not in working.entities}
    keys = ids_of(store, working.namespace, unknown.values()) if unknown else {}
    for slot, key in unknown.items():
        entity = resolve_entity(store, working.namespace, keys.get(key), slot, now)
        if entity in working.row_of:
            rows.add(working.row_of[entity])
    return sorted(rows)


def _spans(text: str) -> Iterator[str]:
    """Every run of up to ``_MOST_WORDS`` words that may be a name in any case, except function words alone."""
    for part in _BREAK.split(text):
        words = _WORD.findall(part)
        for first in range(len(words)):
            for last in range(first + 1, min(first + _MOST_WORDS, len(words)) + 1):
                span = words[first:last]
                if len(span) > 1 or not (is_stop(span[0]) or span[0].lower() in PRONOUNS_AND_NUMERALS):
                    yield " ".join(span)


def equivalent_names(store: Store, namespace: str, name: str, now: datetime) -> frozenset[str]:
    """The names that mean the same as ``name`` through merged aliases, in normal form as ``name`` is."""
    entity = record_named(store, namespace, _KEY.format(slug(name)), now)
    if entity is None or slot_of_record(entity) != name:
        return frozenset((name,))
    visited, waiting = {entity.id}, {entity.id}
    while waiting:
        links = store.rows(namespace, LinkRow, ids=waiting, relation=MERGED)
        waiting = {end for link in links for end in (link.source, link.target)} - visited
        visited |= waiting
    if len(visited) == 1:
        return frozenset((name,))
    slots = {slot_of_record(record) for record in store.records(namespace, now, ids=visited).values()}
    return frozenset(slot for slot in slots if slot is not None) | {name}
