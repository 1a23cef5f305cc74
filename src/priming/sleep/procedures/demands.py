"""Whether a text asks for an action, or only mentions it, or rejects it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

from priming.sleep.procedures.synonyms import senses_of, step_stem
from priming.sleep.procedures.words import StepWord, read_step
from priming.text.word_lists import read_words

_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]{1,400}”|«[^»]{1,400}»|(?<!\w)'[^']{1,400}'(?!\w)")
_NOUN = r"\b(?:the|an?|this|that|these|those|our|my|your|its|their|each|every)\s+{}\b"
_PHASES = frozenset(
    step_stem(word)
    for word in (
        "try",
        "retry",
        "attempt",
        "help",
        "start",
        "begin",
        "continue",
        "finish",
        "complete",
        "redo",
        "let",
    )
)
"""Verbs that say of another action that it begins, ends or is tried."""
_RESULTS = frozenset(step_stem(word) for word in ("make_sure", "ensure", "see"))
"""Verbs before what is to be the case: "make sure that Django is upgraded"."""
_NOUN_ENDINGS = ("s", "ment", "tion", "sion", "ance", "ence")
_ADVERBS = frozenset(
    (
        "today",
        "tomorrow",
        "tonight",
        "now",
        "first",
        "later",
        "soon",
        "ever",
        "here",
        "there",
        "everywhere",
        "again",
    )
)


def demands(text: str, action: str) -> bool:
    """Whether a text that has the words of an action asks for it.

    An action that is not in the imperative, such as "the gate hangs", must only not be rejected.

    >>> demands("Bump the version and upgrade Django", "Upgrade Django")
    True
    >>> demands("Do not upgrade Django", "Upgrade Django"), demands("Explain how to upgrade Django", "Upgrade Django")
    (False, False)
    """
    if rejects(text, action):
        return False
    bare, meant = _QUOTED.sub(" ", text), read_step(action)
    words = read_step(bare if read_step(bare) else text)
    if not meant or not _is_imperative(action, meant):
        return True
    if sorted(word.stem for word in words) == sorted(word.stem for word in meant):
        return True
    nouns = {
        word.stem for word in words if re.search(_NOUN.format(re.escape(word.text)), text, re.IGNORECASE)
    }
    heads = (head for head in _heads(words) if head.stem == meant[0].stem and head.stem not in nouns)
    return any(not _goes_on(head, meant, words) for head in heads)


def rejects(text: str, action: str) -> bool:
    """Whether a text rejects what an action asks for, or asks for what it rejects.

    >>> rejects("Never upgrade Django", "Upgrade Django"), rejects("Upgrade Django", "Upgrade Django")
    (True, False)
    """
    signs: dict[str, set[int]] = {}
    for word in read_step(text):
        signs.setdefault(word.stem, set()).add(word.sign)
    return any(word.stem in signs and word.sign not in signs[word.stem] for word in read_step(action))


def _heads(words: Sequence[StepWord]) -> Iterator[StepWord]:
    """The first word of each clause that is to be carried out, and the word after a verb such as "try"."""
    for _, clause in groupby(words, key=lambda word: word.item):
        members = list(clause)
        if members[0].role == "order":
            continue
        yield members[0]
        if members[0].stem in _RESULTS:
            yield from members[1:]
        elif members[0].stem in _PHASES:
            yield from members[1:2]


def _goes_on(head: StepWord, action: Sequence[StepWord], words: Sequence[StepWord]) -> bool:
    """Whether the object of an action is part of a longer name: "upgrade the Django docs" for "upgrade Django"."""
    stems = {word.stem for word in action}
    clause = [word for word in words if word.item == head.item]
    last = [word for word in clause if word.stem in stems][-1]
    following = next((word for word in clause if word.place == last.place + 1), None)
    if last is head or following is None or following.is_code or following.role != last.role:
        return False
    return following.text not in _ADVERBS and not following.text.endswith(("ly", "ed", "ing"))


def _is_imperative(text: str, words: Sequence[StepWord]) -> bool:
    """Whether a text begins with a verb in its base form, by the lists of verbs."""
    first = words[0]
    begins = text.lstrip(" -*•'\"`").casefold().startswith(first.text.partition("_")[0])
    return (
        begins
        and not first.text.endswith(_NOUN_ENDINGS)
        and (bool(senses_of(first.stem)) or first.stem in _verbs())
    )


@cache
def _verbs() -> frozenset[str]:
    lists = ("observing_verbs", "irreversible_verbs", "phrasal_verbs", "title_verbs", "symmetric_verbs")
    return frozenset(step_stem(word) for name in lists for word in read_words(name))
