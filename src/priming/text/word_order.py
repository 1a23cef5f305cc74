"""The words of two statements in pairs, and those that changed places where places matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from priming.text.polarity import EXCLUDING, Word
from priming.text.word_values import ORDERING

_DIRECTED = frozenset(
    ("to", "into", "onto", "from", "over", "against", "than", "via", "through", "behind", "above")
)
"""Prepositions that make a difference between what stands before and after them."""
_OPPOSED_LEADS = frozenset(
    map(
        frozenset,
        (("max", "min"), ("above", "below"), ("over", "under"), ("inside", "outside"), ("if", "unless")),
    )
)
_INCLUDING = frozenset(("in", "on", "at", "for", "when", "if", "inside", "during", "within"))


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two words that changed places; ``directed``: around a verb or an order, not between two slots."""

    first: str
    second: str
    directed: bool


def exchanged(aligned: Sequence[tuple[Word, Word]]) -> Exchange | None:
    """The first two words that changed places, by what stands between them, before them, or beside them.

    >>> from priming.text.polarity import read_statement
    >>> old, new = map(read_statement, ("Merge main into develop", "Merge develop into main"))
    >>> exchanged([(a, b) for a in old.words for b in new.words if a.stem == b.stem])
    Exchange(first='main', second='develop', directed=True)
    """
    pairs = [(a, b) for a, b in aligned if a.stem == b.stem and a.role != "reason"]
    pairs.sort(key=lambda pair: pair[0].place)
    return next(_around(pairs), None) or _led(pairs) or _between_slots(pairs)


def _around(pairs: Sequence[tuple[Word, Word]]) -> Iterator[Exchange]:
    """Words that changed sides of a word: "A reviews B" and "B reviews A"."""
    places = [b.place for _, b in pairs]
    for middle, (a, b) in enumerate(pairs):
        if a.lead or b.lead:
            continue  # a noun
        for left in range(middle):
            for right in range(middle + 1, len(pairs)):
                turned = places[right] < places[middle] < places[left]
                three = (left, middle, right)
                together = all(len({pairs[i][side].part for i in three}) == 1 for side in (0, 1))
                if turned and (together or a.stem in ORDERING):
                    yield Exchange(pairs[left][0].text, pairs[right][0].text, directed=True)


def _led(pairs: Sequence[tuple[Word, Word]]) -> Exchange | None:
    """Words of which a preposition leads now the other: "from A to B" and "from B to A"."""
    for lead in _DIRECTED:
        before = [a for a, b in pairs if a.lead == lead != b.lead]
        after = [a for a, b in pairs if b.lead == lead != a.lead]
        if before and after:
            return Exchange(after[0].text, before[0].text, directed=True)
    return None


def _between_slots(pairs: Sequence[tuple[Word, Word]]) -> Exchange | None:
    """Words that changed places between two members: "2 in YAML and 4 in Python", "4 in YAML and 2 in Python"."""
    old, new = (_members(pairs, side) for side in (0, 1))
    lost, gained = (
        [part for part in parts if part not in others] for parts, others in ((old, new), (new, old))
    )
    if len(lost) != 2 or len(gained) != 2:
        return None
    for first, second in (gained, gained[::-1]):
        out, into = lost[0] - first, first - lost[0]
        stays = lost[0] & first and lost[1] & second
        if out and into and stays and out == second - lost[1] and into == lost[1] - second:
            texts = {a.stem: a.text for a, _ in pairs}
            return Exchange(texts[min(out)], texts[min(into)], directed=False)
    return None


def _members(pairs: Sequence[tuple[Word, Word]], side: int) -> list[frozenset[str]]:
    """The stems of each clause or member of an enumeration."""
    parts: dict[int, set[str]] = {}
    for pair in pairs:
        parts.setdefault(pair[side].part, set()).add(pair[side].stem)
    return [frozenset(stems) for stems in parts.values()]


def leads_oppose(a: str, b: str) -> bool:
    """Tell whether two prepositions say the opposite: at most and at least, in and outside, if and unless.

    >>> leads_oppose("max", "min"), leads_oppose("in", "except"), leads_oppose("in", "for")
    (True, True, False)
    """
    if frozenset((a, b)) in _OPPOSED_LEADS:
        return True
    return (a in EXCLUDING and b in _INCLUDING) or (b in EXCLUDING and a in _INCLUDING)


def pair_words(
    removed: list[Word],
    added: list[Word],
    pairs: list[tuple[Word, Word]],
    agree: Callable[[Word, Word], bool],
) -> None:
    """Move words that agree from the rests to the pairs, each once."""
    for word in list(removed):
        match = next((other for other in added if agree(word, other)), None)
        if match is not None:
            removed.remove(word)
            added.remove(match)
            pairs.append((word, match))


def without_repeats(
    removed: Sequence[Word], added: Sequence[Word], aligned: Sequence[tuple[Word, Word]]
) -> tuple[list[Word], list[Word]]:
    """The rests without words that a statement only repeats."""
    old, new = ({(pair[side].stem, pair[side].sign) for pair in aligned} for side in (0, 1))
    return (
        [word for word in removed if (word.stem, word.sign) not in old],
        [word for word in added if (word.stem, word.sign) not in new],
    )
