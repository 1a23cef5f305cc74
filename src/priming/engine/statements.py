"""What the facts of a namespace state, by subject and slot: a new one is compared with those of its slot only."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from priming.core.slots import Statement

CONFLICTS, KEPT_BESIDE = "conflicts", "kept-beside"
"""Relations between two facts of one slot: that they contradict each other, and that both may hold all the same."""

Place = tuple[str, str]
"""A subject and a slot."""


class Statements:
    """The statements of living facts, by their ids and by their places."""

    def __init__(self) -> None:
        self._of: dict[str, Statement] = {}
        self._at: dict[Place, list[tuple[str, str]]] = {}
        """Ids and values, sorted: ids sort by time."""

    def __iter__(self) -> Iterator[tuple[str, str, str, str]]:
        """Id, subject, slot and value of each, as the snapshot keeps them."""
        return ((memory_id, one.subject, one.slot, one.value) for memory_id, one in self._of.items())

    def put(self, memory_id: str, stated: Statement) -> None:
        """Take in what a fact states."""
        self.drop(memory_id)
        self._of[memory_id] = stated
        insort(self._at.setdefault((stated.subject, stated.slot), []), (memory_id, stated.value))

    def drop(self, memory_id: str) -> None:
        """Let a fact go."""
        stated = self._of.pop(memory_id, None)
        if stated is not None:
            place = stated.subject, stated.slot
            there = self._at[place]
            del there[bisect_left(there, (memory_id, stated.value))]
            if not there:
                del self._at[place]

    def beside(self, stated: Statement, most: int) -> list[tuple[str, str]]:
        """Ids and values of the facts that speak of the same slot of the same subject, the latest first."""
        return self._at.get((stated.subject, stated.slot), [])[: -most - 1 : -1]
