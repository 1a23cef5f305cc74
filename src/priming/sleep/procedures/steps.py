"""Whether two steps, or two titles, ask for the same, and in which words they differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from priming.config.values import dataclass
from priming.sleep.procedures.order import (
    called,
    exchanged,
    in_another_order,
    reordered,
    scoped,
    shown,
    swapped,
    verbs_exchanged,
)
from priming.sleep.procedures.synonyms import (
    GOAL,
    ask_for_the_same,
    kind_nouns,
    mean_the_same_for,
)
from priming.sleep.procedures.words import READ, StepWord, read_step
from priming.text.corrections.small_words import small_difference
from priming.text.word_values import are_antonyms, stem_of, value_types

OPPOSITES, REJECTED, TURNED = "opposites", "one rejects what the other asks for", "the other way round"
"""The differences that keep two steps apart in any case."""
ORDER, NUMBERS, TARGETS, WORDS = "another order", "other numbers or versions", "other targets", "other words"
_FEW = 2
"""Maximum number of differing words in two texts that say the opposite."""
_ARTICLE = re.compile(r"\ban? [a-z]", re.IGNORECASE)
StepKind = Literal["same", "variant", "other"]
_CACHED = 1 << 15


@dataclass(frozen=True, slots=True)
class StepChange:
    """The relation of two steps: ``same``, ``variant`` (the same except for some words), or ``other``.

    ``left`` and ``right`` are the words that only one has, ``shared`` is the number of words that both have; ``why``
    says of which sort the difference is.
    """

    kind: StepKind
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    why: str = ""
    shared: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """The words in which the two sides differ."""
        return (*self.left, *self.right)


@lru_cache(maxsize=_CACHED)
def compare_steps(left: str, right: str) -> StepChange:
    """Compare two steps by their words: each must be in both, or have a synonym there, in a like role.

    >>> compare_steps("Shut the server down.", "Stop the server").kind
    'same'
    >>> compare_steps("Deploy it to staging", "Roll it out to production").words
    ('staging', 'production')
    """
    if left == right:
        return StepChange("same", shared=len(read_step(left)))
    if max(len(left), len(right)) > READ:
        return StepChange("other", why="they are too long to compare")
    a, b = read_step(left), read_step(right)
    if not a and not b:
        same = _letters(left) == _letters(right)
        return StepChange("same") if same else StepChange("other", (left,), (right,), "other signs")
    pairs, only_a, only_b = _paired(a, b)
    only_a, only_b = _bare(a, only_a, only_b), _bare(b, only_b, only_a)
    only_a, only_b = _without_echoes(a, only_a), _without_echoes(b, only_b)
    only_a, only_b = _counted(only_a, only_b, right), _counted(only_b, only_a, left)
    if not only_a and not only_b:
        determined = scoped(pairs)
        turned = (
            swapped(pairs)
            or verbs_exchanged(a, b, pairs)
            or in_another_order(a, b, pairs)
            or exchanged(a, pairs)
        )
        for words, why in ((determined, TARGETS), (turned, TURNED), (reordered(a, b, pairs), ORDER)):
            if words is not None:
                return StepChange("variant", *words, why, len(pairs))
        small = small_difference(left, right)
        if small is not None:  # "give it to us", "give it to them"
            why = OPPOSITES if small.opposed else TARGETS
            return StepChange("variant", (small.earlier,), (small.later,), why, len(pairs))
        return StepChange("same", shared=len(pairs))
    ours, theirs = (tuple(shown(word.text) for word in side) for side in (only_a, only_b))
    if not pairs or max(len(ours), len(theirs)) > len(pairs) + 1:
        opposed = len(ours) == len(theirs) == 1 and opposite(only_a[0], only_b[0])
        if not opposed:
            return StepChange("other", ours, theirs, WORDS, len(pairs))
    return StepChange("variant", ours, theirs, _sort(only_a, only_b), len(pairs))


def _letters(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".;,!")


_VERSION = re.compile(r"^v\d|^\d+\.\d")


def opposed(left: str, right: str) -> StepChange | None:
    """The change between two texts that say the opposite, or the same about another target or version; or None.

    >>> opposed("Flag X was enabled.", "Flag X was disabled.").words
    ('enabled', 'disabled')
    >>> opposed("We meet on Monday.", "We meet at ten.") is None
    True
    """
    change = compare_steps(left, right)
    if change.kind != "variant" or max(len(change.left), len(change.right)) > _FEW:
        return None
    if change.why in (OPPOSITES, REJECTED, TURNED):
        return change
    sides = [side for side in (change.left, change.right) if side]
    named = [any(_is_place_or_time(word) for word in side) for side in sides]
    return change if len(sides) == 2 and all(named) else None


def _is_place_or_time(word: str) -> bool:
    types = value_types(stem_of(word.casefold()))
    return bool(_VERSION.match(word.casefold())) or not types <= {"number", "code", "other"}


def _paired(
    a: Sequence[StepWord], b: Sequence[StepWord]
) -> tuple[list[tuple[StepWord, StepWord]], list[StepWord], list[StepWord]]:
    """The words that both have, by their stems and then by their synonyms, and those that only one has."""
    pairs: list[tuple[StepWord, StepWord]] = []
    left, right = list(a), list(b)
    for agree in (_same_word, _synonyms_in(a, b)):
        left = _take(left, right, pairs, agree)
    left, right = _without_compounds(left, right, pairs)
    right, left = _without_compounds(right, left, pairs)
    # A word that a step repeats adds nothing.
    ours, theirs = ({(word.stem, word.sign) for word in side} for side in (a, b))
    return (
        pairs,
        [word for word in left if (word.stem, word.sign) not in theirs],
        [word for word in right if (word.stem, word.sign) not in ours],
    )


def _without_compounds(
    parts: list[StepWord], compounds: list[StepWord], pairs: list[tuple[StepWord, StepWord]]
) -> tuple[list[StepWord], list[StepWord]]:
    """Adjacent words that are one word on the other side form a pair: "lock file", "lockfile"."""
    for word in list(compounds):
        for first, second in pairwise(parts):
            like = first.sign == second.sign == word.sign
            if like and (first.text + second.text).removesuffix("s") == word.text.removesuffix("s"):
                parts = [part for part in parts if part is not first and part is not second]
                compounds = [other for other in compounds if other is not word]
                pairs.append((second, word))
                break
    return parts, compounds


def _take(
    left: Iterable[StepWord],
    right: list[StepWord],
    pairs: list[tuple[StepWord, StepWord]],
    agree: Callable[[StepWord, StepWord], bool],
) -> list[StepWord]:
    """Move words that agree to the pairs, those of one role first; return what is left over of the left."""
    rest = list[StepWord]()
    for word in left:
        fitting = [other for other in right if agree(word, other)]
        if not fitting:
            rest.append(word)
            continue
        match = next((other for other in fitting if other.role == word.role), fitting[0])
        right.remove(match)
        pairs.append((word, match))
    return rest


def _same_word(a: StepWord, b: StepWord) -> bool:
    return a.sign == b.sign and (a.stem == b.stem or a.text.casefold() == b.text.casefold())


def _synonyms_in(a: Sequence[StepWord], b: Sequence[StepWord]) -> Callable[[StepWord, StepWord], bool]:
    """Whether a word of one step and one of the other are synonyms, and neither is part of a command."""
    command = {*called(a), *called(b)}
    objects = tuple(
        frozenset([word.stem for word in words] + [GOAL for word in words if word.role == "goal"])
        for words in (a, b)
    )

    def agree(x: StepWord, y: StepWord) -> bool:
        if x.sign != y.sign or opposite(x, y):
            return False
        is_called = x in command or y in command
        return mean_the_same_for(x.stem, y.stem, *objects) or (
            not is_called and ask_for_the_same(x.stem, y.stem)
        )

    return agree


def opposite(a: StepWord, b: StepWord) -> bool:
    """Whether two words say the opposite of each other."""
    if are_antonyms(a.stem, b.stem) or are_antonyms(stem_of(a.stem), stem_of(b.stem)):
        return True
    verb, particle = _parts(a)
    other_verb, other_particle = _parts(b)
    turned = verb == other_verb and frozenset((particle, other_particle)) in _OPPOSED_PARTICLES
    return turned and a.senses.isdisjoint(b.senses)


_OPPOSED_PARTICLES = frozenset(
    frozenset(pair) for pair in (("on", "off"), ("up", "down"), ("in", "out"), ("out", "back"), ("in", "off"))
)


def _parts(word: StepWord) -> tuple[str, str]:
    verb, _, particle = word.stem.partition("_")
    return verb, particle


def _bare(words: Sequence[StepWord], only: Sequence[StepWord], others: Sequence[StepWord]) -> list[StepWord]:
    """The words of one side without nouns that merely name the kind of the word before them.

    They count where the other side has a word of its own that could stand in their place.
    """
    if any(word.stem in kind_nouns() or names_value(word) for word in others):
        return list(only)
    lone = list[StepWord]()
    for word in only:
        place = words.index(word)
        named = place > 1 and words[place - 1] not in only and words[place - 1].role == word.role
        if not (named and word.stem in kind_nouns() and word.sign > 0):
            lone.append(word)
    return lone


def _without_echoes(words: Sequence[StepWord], only: Sequence[StepWord]) -> list[StepWord]:
    """The words of one side without those that say what the word after them says: the "CI" of a "CI pipeline"."""
    echoes = {
        word
        for word, following in pairwise(words)
        if word.place + 1 == following.place
        and following not in only
        and ask_for_the_same(word.stem, following.stem)
    }
    return [word for word in only if word not in echoes]


def _counted(only: Sequence[StepWord], others: Sequence[StepWord], text: str) -> list[StepWord]:
    """The words that only one side has, without "one" where the other has "a"."""
    if _ARTICLE.search(text) is None or any(word.stem.isdecimal() for word in others):
        return list(only)
    return [word for word in only if word.stem != "1"]


def names_value(word: StepWord) -> bool:
    """Whether a word is a number, a target, a name in code, or one of a group of alternatives."""
    return value_types(word.stem) != {"other"}


def _sort(left: Sequence[StepWord], right: Sequence[StepWord]) -> str:
    """The sort of the words that only one side has."""
    if any(opposite(x, y) for x in left for y in right):
        return OPPOSITES
    if any(word.sign < 0 for word in (*left, *right)):
        return REJECTED
    types = frozenset[str]().union(*(value_types(word.stem) for word in (*left, *right))) - {"other"}
    if "number" in types:
        return NUMBERS
    if types:
        return TARGETS
    return WORDS
