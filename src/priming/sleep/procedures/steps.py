"""Whether two steps, or two titles, ask for the same, and in which words they differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from priming.sleep.procedures.words import READ, StepWord, irreversible_verbs, kind_nouns, programs, read_step
from priming.text.word_values import are_antonyms, stem_of, value_types

OPPOSITES, REJECTED, TURNED = "opposites", "one rejects what the other asks for", "the other way round"
"""The differences that keep two steps apart in any case."""
_FEW = 2
"""Maximum number of differing words in two texts that say the opposite."""
_ARTICLE = re.compile(r"\ban? [a-z]", re.IGNORECASE)
StepKind = Literal["same", "variant", "other"]
_CACHED = 1 << 15
_OPPOSED_ROLES = frozenset(
    frozenset(pair)
    for pair in (("source", "goal"), ("source", "place"), ("over", "under"), ("after before", "after after"))
)


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
    >>> compare_steps("Deploy it to staging", "Release it to production").words
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
    only_a, only_b = _counted(only_a, only_b, right), _counted(only_b, only_a, left)
    if not only_a and not only_b:
        swapped = _swapped(pairs) or _in_another_order(a, b, pairs) or _exchanged(a, b, pairs)
        if not swapped:
            return StepChange("same", shared=len(pairs))
        return StepChange("variant", *swapped, TURNED, len(pairs))
    ours, theirs = (tuple(word.text.replace("_", " ") for word in side) for side in (only_a, only_b))
    if not pairs or max(len(ours), len(theirs)) > len(pairs) + 1:
        opposed = len(ours) == len(theirs) == 1 and opposite(only_a[0], only_b[0])
        if not opposed:
            return StepChange("other", ours, theirs, "other words", len(pairs))
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
    for agree in (_same_word, _synonyms_outside({*_called(a), *_called(b)})):
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


def _called(words: Sequence[StepWord]) -> Sequence[StepWord]:
    """The words of a step from the program on that it calls: "run git fetch" calls "git fetch"."""
    place = next((i for i, word in enumerate(words[:2]) if word.text in programs()), len(words))
    return words[place:]


def _synonyms_outside(command: Collection[StepWord]) -> Callable[[StepWord, StepWord], bool]:
    """Whether two words are synonyms, and neither is part of a command."""
    return lambda a, b: a not in command and b not in command and _synonyms(a, b)


def _synonyms(a: StepWord, b: StepWord) -> bool:
    is_exact = (a.stem in irreversible_verbs()) != (b.stem in irreversible_verbs())
    return a.sign == b.sign and not is_exact and not a.senses.isdisjoint(b.senses) and not opposite(a, b)


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


def _counted(only: Sequence[StepWord], others: Sequence[StepWord], text: str) -> list[StepWord]:
    """The words that only one side has, without "one" where the other has "a"."""
    if _ARTICLE.search(text) is None or any(word.stem.isdecimal() for word in others):
        return list(only)
    return [word for word in only if word.stem != "1"]


def names_value(word: StepWord) -> bool:
    """Whether a word is a number, a target, a name in code, or one of a group of alternatives."""
    return value_types(word.stem) != {"other"}


def _exchanged(
    a: Sequence[StepWord], b: Sequence[StepWord], pairs: Sequence[tuple[StepWord, StepWord]]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Two names, or two words of a command, that have changed places: "Ann pays Bob", "cp a.txt b.txt"."""
    called = {*_called(a)}
    fixed = [
        (x, y)
        for x, y in pairs
        if x in a and y in b and (x in called or x.is_code or x.text[:1].isupper() or y.text[:1].isupper())
    ]
    for x, y in fixed:
        for v, w in fixed:
            alike = x.role == y.role == v.role == w.role and x.stem != v.stem
            if alike and a.index(x) < a.index(v) and b.index(y) > b.index(w):
                return (x.text, v.text), (w.text, y.text)
    return None


def _swapped(pairs: Sequence[tuple[StepWord, StepWord]]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Two words that have changed roles, or one that has the opposite role: "copy A to B", "copy B to A"."""
    for a, b in pairs:
        if frozenset((a.role, b.role)) in _OPPOSED_ROLES:
            return (f"{a.role} {a.text}",), (f"{b.role} {b.text}",)
        for c, d in pairs:
            if a.role == d.role != b.role == c.role and a.stem != c.stem:
                return (a.text, c.text), (b.text, d.text)
    return None


def _in_another_order(
    a: Sequence[StepWord], b: Sequence[StepWord], pairs: Sequence[tuple[StepWord, StepWord]]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The words around "before" or "after" that are on its other side."""
    order = [word for word in a if word.role == "order" and word.stem in ("before", "after")]
    if not order or not any(word.stem == order[0].stem for word in b):
        return None
    before = a.index(order[0])
    elsewhere = next(place for place, word in enumerate(b) if word.stem == order[0].stem)
    moved = [
        (left, right)
        for left, right in pairs
        if left.role != "order" and (a.index(left) < before) != (b.index(right) < elsewhere)
    ]
    turned = bool(moved) and not (elsewhere == 0 or before == 0)
    return (tuple(x.text for x, _ in moved), tuple(y.text for _, y in moved)) if turned else None


def _sort(left: Sequence[StepWord], right: Sequence[StepWord]) -> str:
    """The sort of the words that only one side has."""
    if any(opposite(x, y) for x in left for y in right):
        return OPPOSITES
    if any(word.sign < 0 for word in (*left, *right)):
        return REJECTED
    types = frozenset[str]().union(*(value_types(word.stem) for word in (*left, *right))) - {"other"}
    if "number" in types:
        return "other numbers or versions"
    if types:
        return "other targets"
    return "other words"
