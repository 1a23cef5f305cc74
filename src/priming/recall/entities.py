"""Entities by name: their keys, the entity that a merged name leads to, and the names that a text has in any case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import lru_cache

from priming.config.values import dataclass
from priming.config.words import MERGED
from priming.core.arguments.normal_forms import slug
from priming.index.document import SESSION, TERM, slot_of, slot_of_record
from priming.index.working_set import WorkingSet
from priming.storage.questions import StoredNamespace
from priming.storage.rows import LinkRow
from priming.text.name_forms.forms import Name
from priming.text.names import find, normal
from priming.text.tokens import is_stop, terms
from priming.text.word_lists import NAMES_LIKE_WORDS, PRONOUNS_AND_NUMERALS, is_common, is_formed

_WORD = re.compile(r"[^\W_](?:[\w./@#+'’&-]*[\w#+])?")
_BREAK = re.compile(r"[\n;:,!?()\[\]{}\"“”`]+")
_MOST_WORDS, _MOST_IN_TEXT = 6, 3
"""Words of the longest name that is looked for in any case: in a cue, and in a text that is remembered."""
_KEY = "entity:{}"
"""The key of the entity of a name, unless another memory took the key first."""
_FILE_KEY = "file:{}"


@lru_cache(maxsize=1 << 14)
def entity_key(form: str, name: str) -> str:
    """Return the key that the entity of a name gets, unless another memory took it first."""
    return f"{form}:{slug(name)}" if form in (SESSION, TERM) else _KEY.format(slug(name))


def file_key(path: str) -> str:
    """Return the key of the entity of a file.

    >>> file_key("src/pool.py")
    'file:src/pool.py'
    """
    return _FILE_KEY.format(path)


def resolve_entity(stored: StoredNamespace, merged: str | None, slot: str, now: datetime) -> str | None:
    """Return the id of the active entity that ``merged``, one of this slot, was merged into; None without one."""
    entity = None if merged is None else stored.record_named(merged, now)
    if entity is None or entity.status != "merged" or slot_of_record(entity) != slot:
        return None
    visited: set[str] = set()
    while entity is not None and entity.status == "merged" and entity.id not in visited:
        visited.add(entity.id)
        links = stored.rows(LinkRow, ids=[entity.id], relation=MERGED)
        targets = [link.target for link in links if link.source in visited and link.target not in visited]
        entity = stored.record_named(targets[0], now) if targets else None
    return entity.id if entity is not None and entity.status == "active" else None


def entities_in_cue(
    stored: StoredNamespace, working: WorkingSet, texts: Sequence[str], now: datetime
) -> list[int]:
    """Return the rows of the entities that texts name, each once; a merged name gives the entity it was merged into.

    A name that the namespace has is recognised whatever its case: "who runs kestrel" names Kestrel. Common
    words in lower case that are names elsewhere, such as "will", are not taken for names.
    """
    named = {name.text: name.kind for text in texts for name in find(text)}
    runs = (words for text in texts for words in _spans(text, _MOST_WORDS))
    spans = {" ".join(words): None for words in runs if len(words) > 1 or not _names_nothing(words[0])}
    slots = {
        slot_of(form, name): _KEY.format(slug(normal(name))) for name, form in {**spans, **named}.items()
    }
    rows = {working.entities[slot] for slot in slots if slot in working.entities}
    unknown = {slot: key for slot, key in slots.items() if slot not in working.entities}
    keys = stored.ids_of(unknown.values())
    for slot, key in unknown.items():
        entity = resolve_entity(stored, keys.get(key), slot, now)
        if entity in working.row_of:
            rows.add(working.row_of[entity])
    return sorted(rows)


def _spans(text: str, most: int) -> Iterator[list[str]]:
    """Yield every run of up to so many words between the marks of a text."""
    for part in _BREAK.split(text):
        words = _WORD.findall(part)
        for first in range(len(words)):
            for last in range(first + 1, min(first + most, len(words)) + 1):
                yield words[first:last]


def _names_nothing(word: str) -> bool:
    return is_stop(word) or word.lower() in PRONOUNS_AND_NUMERALS


def equivalent_names(stored: StoredNamespace, name: str, now: datetime) -> frozenset[str]:
    """Return the names that mean the same as ``name`` through merged aliases, in normal form as ``name`` is."""
    entity = stored.record_named(_KEY.format(slug(name)), now)
    if entity is None or slot_of_record(entity) != name:
        return frozenset((name,))
    visited, waiting = {entity.id}, {entity.id}
    while waiting:
        links = stored.rows(LinkRow, ids=waiting, relation=MERGED)
        waiting = {end for link in links for end in (link.source, link.target)} - visited
        visited |= waiting
    if len(visited) == 1:
        return frozenset((name,))
    slots = {slot_of_record(record) for record in stored.records(now, ids=visited).values()}
    return frozenset(slot for slot in slots if slot is not None) | {name}


def under_other_names(
    stored: StoredNamespace, text: str, names: Iterable[Name], now: datetime
) -> Iterator[str]:
    """Yield a text with each of its names replaced by another name of the same, through merged aliases."""
    for name in names:
        own = normal(name.text)
        for other in equivalent_names(stored, own, now) - {own}:
            yield other.join(re.split(rf"\b{re.escape(name.text)}\b", text, flags=re.IGNORECASE))


@dataclass(slots=True)
class FileNames:
    """The paths of the files of a namespace by their endings, since texts name most files by the last part only."""

    _by_ending: dict[str, str | None] = field(default_factory=dict)

    def add(self, path: str) -> None:
        """Add the path of a file; a name without folders is no path."""
        for ending in _endings(path):
            if self._by_ending.setdefault(ending, path) != path:
                self._by_ending[ending] = None

    def whole(self, ending: str) -> str | None:
        """Return the only path that ends in this name; None where there is none, or several.

        >>> names = FileNames()
        >>> names.add("src/pool.py"), names.add("src/__init__.py"), names.add("tests/__init__.py")
        (None, None, None)
        >>> names.whole("pool.py"), names.whole("__init__.py")
        ('src/pool.py', None)
        """
        return self._by_ending.get(ending)


def _endings(path: str) -> Iterator[str]:
    """Yield what follows each slash of a path."""
    at = path.find("/")
    while at >= 0:
        yield path[at + 1 :]
        at = path.find("/", at + 1)


class AnyCaseNames:
    """The names of a namespace, stored and planned, as they stand in small letters in new texts.

    ``planned`` has the entities of one operation by slot, ``holders`` its memories by term.
    """

    def __init__(
        self, working: WorkingSet, planned: Mapping[str, str], holders: Mapping[str, Sequence[str]]
    ) -> None:
        self._working = working
        self._planned = planned
        self._holders = holders
        self._mentions: Counter[str] = Counter()

    def add(self, entity: str) -> None:
        """Count a planned mention of an entity."""
        self._mentions[entity] += 1

    def entities(self, text: str) -> Iterator[str]:
        """Yield the ids of the entities that a text names in small letters: "who runs kestrel" names Kestrel.

        A single word counts if it is no common one, and if half of the memories that contain it name it; several
        words do as they are.
        """
        stored = self._working.entities
        for span in _spans(text, _MOST_IN_TEXT):
            slot = " ".join(span).casefold()
            if (slot in self._planned or slot in stored) and not all(word[0].isupper() for word in span):
                entity = self._planned.get(slot) or self._working.ids[stored[slot]]
                is_name = not any(map(_names_nothing, (span[0], span[-1])))
                if is_name and (len(span) > 1 or self._names(slot, entity)):
                    yield entity

    def _names(self, word: str, entity: str) -> bool:
        """Tell whether a word, if it is no common one, names an entity in half of the memories that contain it."""
        stems = terms(word, "english")
        if len(stems) != 1 or word in NAMES_LIKE_WORDS or is_common(word) or is_formed(word):
            return False
        working = self._working
        code, row = working.lexicon.code(stems[0]), working.row_of.get(entity)
        stored = 0 if code is None else int(working.lexicon.df[code])
        documents = stored + len(self._holders.get(stems[0], ()))
        mentions = self._mentions[entity] + (0 if row is None else int(working.topology.mentioned[row]))
        return 2 * mentions >= documents
