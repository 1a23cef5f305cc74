"""What the user wishes at each moment: the script's own knowledge, which no memory is told but by corrections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from drawn import Due, Life
from wishes import Scope, State, Wish
from work import Activity, Step

RIGHT, STALE, BESIDE = "right", "stale", "beside"


@dataclass
class Truth:
    """The wishes of a life, and which corrections were made so far."""

    life: Life
    made: list[Due] = field(default_factory=list)

    def present(self, wish: Wish, day: int) -> State | None:
        """What is wished on a day; None before the wish has begun, or where it is over."""
        state = wish.state(self.life.era(day))
        return state if state is not None and state.sayings else None

    def meaning(self, content: str) -> tuple[Wish, State] | None:
        """The wish that a text expresses, and the state of it."""
        pairs = ((wish, state) for wish in self.life.wishes for state in wish.states)
        return next((pair for pair in pairs if says(content, pair[1].texts)), None)

    def standing(self, content: str, when: Mapping[str, Any], day: int) -> State | None:
        """The present state of the wish that a rule expresses; None where that is not wished, or not so widely."""
        expressed = self.meaning(content)
        if expressed is None:
            return None
        wish, state = expressed
        present = self.present(wish, day)
        return present if present and present.value == state.value and _within(when, present.scope) else None

    def judged(self, content: str, when: Mapping[str, Any], step: Step, activity: Activity, day: int) -> str:
        """Whether to tell a rule at a step is right, stale, or beside the point in such a session."""
        state = self.standing(content, when, day)
        expressed = self.meaning(content)
        if state is None or expressed is None:
            return STALE
        excepted = self._excepted(expressed[0], step, day)
        return RIGHT if activity.meets(state.scope) and not excepted else BESIDE

    def applying(self, step: Step, day: int) -> Iterator[tuple[Wish, State]]:
        """The wishes that apply at a step and were put into words."""
        for wish in self.life.wishes:
            state = self.present(wish, day)
            if state is None or not step.meets(state.scope) or self._excepted(wish, step, day):
                continue
            if any(due.state is state for due in self.made):
                yield wish, state

    def due(self, activity: Activity, day: int) -> list[Due]:
        """The corrections that are due in a session."""
        return [
            due
            for due in self.life.due
            if due.day <= day
            and due not in self.made
            and self.present(due.wish, day) is due.state
            and activity.meets(due.state.scope)
        ]

    def _excepted(self, wish: Wish, step: Step, day: int) -> bool:
        """Whether another wish holds at a step in the place of this one."""
        others = (self.present(other, day) for other in self.life.wishes if other.name in wish.exceptions)
        return any(other is not None and step.meets(other.scope) for other in others)


def says(content: str, texts: Iterable[str]) -> bool:
    """Whether a text is one of some texts, its case, its spaces and its full stop aside."""
    return _plain(content) in map(_plain, texts)


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()


def _within(when: Mapping[str, Any], scope: Scope) -> bool:
    """Whether conditions ask for all that a scope asks for: a rule may hold less widely than was wished, not more."""
    for name, value in scope.items():
        present = when.get(name)
        if any(each != value for each in (present if isinstance(present, (list, tuple)) else [present])):
            return False
    return True
