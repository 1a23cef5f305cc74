"""Words that two steps share and that have changed places, roles or numbers: "copy A to B", "copy B to A"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from priming.sleep.procedures.synonyms import NUMBER, programs, symmetric_verbs
from priming.sleep.procedures.words import StepWord

_OPPOSED_ROLES = frozenset(
    frozenset(pair)
    for pair in (("source", "goal"), ("source", "place"), ("over", "under"), ("after before", "after after"))
)
_SEQUENCE = frozenset(("order", "sequence", "one_by_one", "first"))
_PREPOSITIONS = {"source": "from", "goal": "to", "means": "by", "place": "at", "object": ""}
_UNITS = {unit.casefold(): unit for unit in ("KB", "MB", "GB", "TB", "%")}
_MEASURES = frozenset(("goal", "means", "source", "for", "place", "over", "under"))


def called(words: Sequence[StepWord]) -> Sequence[StepWord]:
    """The words of a step from the program on that it calls: "run git fetch" calls git, "zip the log" nothing."""
    calls = (i for i, word in enumerate(words[:2]) if word.text in programs() and not word.is_prose)
    return words[next(calls, len(words)) :]


def exchanged(
    a: Sequence[StepWord], pairs: Sequence[tuple[StepWord, StepWord]]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Two names, or two words of a command, that have changed places: "Ann pays Bob", "cp a.txt b.txt"."""
    command = {*called(a)}
    fixed = [
        (x, y) for x, y in pairs if x in command or x.is_code or x.text[:1].isupper() or y.text[:1].isupper()
    ]
    turned = next(_turned(fixed), None)
    return turned and _texts(*turned)


def verbs_exchanged(
    a: Sequence[StepWord], b: Sequence[StepWord], pairs: Sequence[tuple[StepWord, StepWord]]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The verbs of two steps of which each is an object of the other: "test the backup", "back up the test"."""
    mates = dict(pairs)
    others = {y: x for x, y in pairs}
    if not a or not b or not (a[0].is_prose and b[0].is_prose) or mates.get(a[0]) in (None, b[0]):
        return None
    return ((a[0].text,), (b[0].text,)) if others.get(b[0]) not in (None, a[0]) else None


def scoped(pairs: Sequence[tuple[StepWord, StepWord]]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """A word with another determiner in each step: "every worker", "a worker"; "my key", "your key"."""
    for x, y in pairs:
        others = x.points_at and y.points_at and x.points_at != y.points_at
        addressed = x.role == y.role == "goal" and x.is_prose == y.is_prose and _numbers_differ(x, y)
        if (
            {x.scope, y.scope} == {"all", "part"}
            or others
            or _one_of_all(x, y)
            or _one_of_all(y, x)
            or addressed
        ):
            return (f"{x.determiner} {x.text}".strip(),), (f"{y.determiner} {y.text}".strip(),)
    return None


def _numbers_differ(x: StepWord, y: StepWord) -> bool:
    """Whether one is a noun in the singular, and the other the same in the plural: "the user", "the users"."""
    return (
        x.stem == y.stem
        and {x.text, y.text} in ({x.text, f"{x.text}s"}, {y.text, f"{y.text}s"})
        and x.text != y.text
    )


def _one_of_all(x: StepWord, y: StepWord) -> bool:
    """Whether one step speaks of a single thing, and the other of each: "the page", "all pages" or "every page"."""
    plural = y.text.endswith("s") and not x.text.endswith("s")
    single = not x.scope and x.role == "object" and not x.text.endswith("s")
    return single and y.scope == "all" and (plural or y.determiner in ("each", "every"))


def reordered(
    a: Sequence[StepWord], b: Sequence[StepWord], pairs: Sequence[tuple[StepWord, StepWord]]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Two words in another order: next to each other ("rename users customers"), or items of an enumeration.

    Items may be in any order where the verb is such ("mix flour and water") and no order is asked for.
    """
    is_listed = not a or a[0].stem not in symmetric_verbs() or _is_sequence(a) or _is_sequence(b)
    for (x, y), (v, w) in _turned(pairs):
        items = is_listed and x.item < v.item and y.item > w.item
        adjacent = v.place - x.place == 1 == y.place - w.place and a[0] is not x and b[0] is not w
        if items or adjacent:
            return _texts((x, y), (v, w))
    return None


def _turned(
    pairs: Sequence[tuple[StepWord, StepWord]],
) -> Iterator[tuple[tuple[StepWord, StepWord], tuple[StepWord, StepWord]]]:
    """The pairs of two words of one role that stand in one order in one step and in the other in the other."""
    for x, y in pairs:
        for v, w in pairs:
            alike = x.role == y.role == v.role == w.role and x.stem != v.stem
            if alike and x.place < v.place and y.place > w.place:
                yield (x, y), (v, w)


def _texts(
    first: tuple[StepWord, StepWord], second: tuple[StepWord, StepWord]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (first[0].text, second[0].text), (second[1].text, first[1].text)


def _is_sequence(words: Sequence[StepWord]) -> bool:
    """Whether a step asks for an order: "in this order"."""
    return any(word.text in _SEQUENCE for word in words[1:])


def shown(word: str) -> str:
    """A word as people write it: phrases with spaces, units with their capitals."""
    return _UNITS.get(word, word.replace("_", " "))


def _placed(word: StepWord) -> str:
    """A word with the preposition of its role: "from laptop"."""
    preposition = _PREPOSITIONS.get(word.role, word.role.removeprefix("after "))
    return f"{preposition} {shown(word.text)}".strip()


def swapped(pairs: Sequence[tuple[StepWord, StepWord]]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Two words that have changed roles, or one that has the opposite role: "copy A to B", "copy B to A"."""
    for a, b in pairs:
        if frozenset((a.role, b.role)) in _OPPOSED_ROLES or _measures(a, b):
            return (_placed(a),), (_placed(b),)
        for c, d in pairs:
            if a.role == d.role != b.role == c.role and a.stem != c.stem:
                return (a.text, c.text), (b.text, d.text)
    return None


def _measures(a: StepWord, b: StepWord) -> bool:
    """Whether a number is two measures: "by 5 percent" is not "to 5 percent"; "at 5" is "to 5"."""
    roles = {a.role, b.role}
    return (
        bool(NUMBER.match(a.stem)) and len(roles) == 2 and roles <= _MEASURES and roles != {"goal", "place"}
    )


def in_another_order(
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
