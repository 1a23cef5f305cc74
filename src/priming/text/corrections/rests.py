"""What is left over of two statements when the words that both have are taken out."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from priming.text.corrections.polarity import SignedText, Word
from priming.text.corrections.word_classes import rivals_of, types_of
from priming.text.word_lists import read_word_groups, read_words
from priming.text.word_values import stem_of, value_types

MEANS = frozenset(("with", "using", "via", "through", "by"))
"""Prepositions before what another act is done with: "install packages with pip"."""
ONE_OF = frozenset(("as", "by", "to", "than", "via", "per", "is", "are", "be", "max", "min"))
"""Prepositions after which one of two that differ can hold: "as strings"; not "in English", "in the past tense"."""

_ORDINAL = re.compile(
    r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last|\d+(?:st|nd|rd|th)"
)


def is_ordinal(word: Word) -> bool:
    """Whether a word numbers a member of a series: "fifth", "15th", "last"."""
    return _ORDINAL.fullmatch(word.text) is not None


def names_the_rejected(word: Word, asking: Collection[int]) -> bool:
    """Whether a word names what is rejected in favour of something, and no place where that is not so."""
    apart = word.contrasted or word.part not in asking
    return word.sign < 0 and apart and not word.lacking and word.role != "scope"


def without_rejected(removed: Sequence[Word], added: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The rests without what either rejects, where both ask for something."""
    rests = [[word for word in words if word.sign > 0] for words in (removed, added)]
    asks = all(any(word.role != "scope" for word in words) for words in rests)
    return (rests[0], rests[1]) if asks else (list(removed), list(added))


def serve_differently(removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Whether what each rejects says that they choose for different ends: "ruff, not flake8", "black, not yapf"."""
    ends, stems = [], []
    for words in (removed, added):
        chosen, rejected = ([word for word in words if word.sign == sign] for sign in (1, -1))
        ends.append(types_of(chosen) & types_of(rejected) - {"number", "target", "code", "other"})
        stems.append({word.stem for word in words})
    return all(ends) and ends[0].isdisjoint(ends[1]) and stems[0].isdisjoint(stems[1])


def bounds(word: Word) -> bool:
    """Whether a word beside a value says of what it is: "in production", "audit logs"."""
    kinds = value_types(word.stem)
    return "number" not in kinds and (word.role == "scope" or kinds <= {"other", "target"})


def narrows(places: Sequence[Word], rest: Sequence[Word], crossed: Sequence[tuple[Word, Word]]) -> bool:
    """Whether an earlier rejection holds only in a place, or for a kind of what it rejects."""
    parts = {a.part for a, _ in crossed}
    beside = any(word.place + 1 == a.place for word in rest for a, _ in crossed)
    return bool(places) or (beside and all(word.part in parts and word.role != "head" for word in rest))


def without_genus(words: Sequence[Word]) -> list[Word]:
    """Words without what a value is one of: "past tense", "title case"."""
    return [
        word
        for word in words
        if not (word.stem in _genera() and any(w.place == word.place - 1 and rivals_of(w) for w in words))
    ]


def same_genus(removed: Sequence[Word], added: Sequence[Word], old: SignedText, new: SignedText) -> bool:
    """Whether one word says of both rests what they are: "sentence *case*", "title *case*"."""
    after = [
        {word.stem for word in statement.words if word.place == rest[-1].place + 1} & _genera()
        for rest, statement in ((removed, old), (added, new))
    ]
    return bool(after[0] & after[1])


def kinds_in(words: Sequence[Word]) -> frozenset[str]:
    """The kinds of value among some words, also of those that say what they are; code and other words are of none."""
    return types_of(words) - {"code", "other"} | {word.stem for word in words if word.stem in _genera()}


@cache
def _genera() -> frozenset[str]:
    return frozenset(map(stem_of, read_words("genera")))


def all_scope(words: Sequence[Word]) -> bool:
    """Whether all words, of which there are any, tell where something applies."""
    return bool(words) and all(word.role == "scope" for word in words)


def expressed(removed: Sequence[Word], added: Sequence[Word], head: Word) -> bool:
    """Whether targets are no places but what something is written in, or called."""
    return head.stem in ("name", "call") or all(
        word.lead == "in" and word.role == "value" and not _is_place(word) for word in (removed[0], added[0])
    )


def _is_place(word: Word) -> bool:
    return "target" in value_types(word.stem) and word.stem not in _programming_languages()


@cache
def _programming_languages() -> frozenset[str]:
    groups = read_word_groups("targets")
    return frozenset(stem_of(word) for group in groups if "python" in group for word in group)


def same_lead(removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Whether a preposition that is the same stands before both rests."""
    return bool(removed[0].lead) and removed[0].lead == added[0].lead


def same_family(removed: Sequence[Word], added: Sequence[Word]) -> bool:
    """Whether both rests are one code each, of one family: "eu-west-1" and "eu-central-1"."""
    if len(removed) != 1 or len(added) != 1 or removed[0].lead != added[0].lead:
        return False
    families = [word.stem.split("-") for word in (removed[0], added[0])]
    plain = not any(set("/.\\") & set(word.stem) for word in (removed[0], added[0]))
    return plain and min(map(len, families)) > 1 and families[0][0] == families[1][0]


def is_kind(word: Word, rest: Sequence[Word], values: Collection[str]) -> bool:
    """Whether a word of a rest is no value, but says of what there is one: "*weekly* backups for 90 days"."""
    types = value_types(word.stem)
    if types.isdisjoint(values):
        return True
    return types != {"number"} and any(value_types(other.stem) == {"number"} for other in rest)
