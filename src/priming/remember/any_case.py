"""Names in small letters: a text names what the namespace has a name for, whatever its case.

A single word counts if it is no common one and half of the memories that contain it name the entity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from priming.index.columns import NONE
from priming.index.working_set import WorkingSet
from priming.text.tokens import is_stop, terms
from priming.text.word_lists import NAMES_LIKE_WORDS, PRONOUNS_AND_NUMERALS, is_common, is_formed

_WORD = re.compile(r"[^\W_](?:[\w./@#+'’&-]*[\w#+])?")
_BREAK = re.compile(r"[\n;:,!?()\[\]{}\"“”`]+")
_MOST_WORDS = 3
"""Words of the longest name that is looked for."""


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
        """The ids of the entities that a text names in small letters: "who runs kestrel" names Kestrel.

        A single word counts if it is no common one, and if half of the memories that contain it name it; several
        words do as they are.
        """
        for part in _BREAK.split(text):
            words = _WORD.findall(part)
            for first in range(len(words)):
                for last in range(first + 1, min(first + _MOST_WORDS, len(words)) + 1):
                    span = words[first:last]
                    slot = " ".join(span).casefold()
                    entity = self._planned.get(slot) or self._stored(slot)
                    if entity is not None and not all(word[0].isupper() for word in span):
                        ends = (span[0], span[-1])
                        if not any(map(_names_nothing, ends)) and (
                            len(span) > 1 or self._names(slot, entity)
                        ):
                            yield entity

    def _stored(self, slot: str) -> str | None:
        row = self._working.entities.get(slot, NONE)
        return None if row == NONE else self._working.ids[row]

    def _names(self, word: str, entity: str) -> bool:
        """Whether a word, if it is no common one, names an entity in half of the memories that contain it."""
        stems = terms(word, "english")
        if len(stems) != 1 or word in NAMES_LIKE_WORDS or is_common(word) or is_formed(word):
            return False
        working = self._working
        code, row = working.lexicon.code(stems[0]), working.row_of.get(entity)
        documents = len(self._holders.get(stems[0], ())) + (
            0 if code is None else int(working.lexicon.df[code])
        )
        mentions = self._mentions[entity] + (0 if row is None else int(working.topology.mentioned[row]))
        return 2 * mentions >= documents


def _names_nothing(word: str) -> bool:
    return is_stop(word) or word.lower() in PRONOUNS_AND_NUMERALS
