"""Who a cue is about by its pronouns: who asks, and who is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from priming.text.word_lists import read_word_groups

_PERSONS = {
    (language, word): person for language, person, *words in read_word_groups("persons") for word in words
}


def persons(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Yield the places of "I" and "you" in a text: not of a "you" that is asked for something now.

    >>> list(persons("What did I ask you?", "english")), list(persons("Can you tell me?", "english"))
    ([(9, 'i'), (15, 'you')], [])
    """
    words = list(re.finditer(r"[^\W\d_]+", text))
    kinds = ["", *(_PERSONS.get((language, word[0].lower()), "") for word in words), ""]
    for at, word in enumerate(words, 1):
        if kinds[at] == "i" or (kinds[at] == "you" and "now" not in kinds[at - 1 : at + 2]):
            yield word.start(), kinds[at]
