"""A life drawn from a seed: the wishes that the user has, when they are put into words, and each day's work."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from wishes import WISHES, Saying, State, Wish
from work import ACTIVITIES, Activity

BEGIN = datetime(2025, 3, 3, 9, tzinfo=UTC)
SESSIONS = 4
ERAS = 3
CORRECTIONS = 40
_CHANGING, _SILENT = 10, 3
"""How many wishes are drawn that change in words, and that change in silence; the others are steady."""
_FIRST = 0.25
"""The part of a life in which the wishes that will change are first put into words; the others take twice as long."""
_AGAIN = 0.15


@dataclass(frozen=True, slots=True)
class Due:
    """A correction that the user will make at the first occasion from a day on."""

    day: int
    wish: Wish
    state: State
    saying: Saying
    number: int
    """Of the saying among those of its state, from 0: later ones repeat it in other words."""

    @property
    def is_change(self) -> bool:
        """Whether it says for the first time that the user has changed their mind."""
        return self.state.era > 0 and self.number == 0


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a day: when it begins and what is done."""

    name: str
    at: datetime
    day: int
    activity: Activity


@dataclass
class Life:
    """Days of a coding agent and its user, the same for the same seed."""

    days: int = 60
    seed: int = 1
    corrections: int = CORRECTIONS
    wishes: tuple[Wish, ...] = field(init=False)
    due: tuple[Due, ...] = field(init=False)

    def __post_init__(self) -> None:
        chance = random.Random(self.seed)
        self.wishes = tuple(_drawn(chance, self.corrections))
        self.due = tuple(
            sorted(self._corrections(chance), key=lambda due: (due.day, due.wish.name, due.number))
        )

    def era(self, day: int) -> int:
        """The era of a day: the wishes change twice."""
        return min(day * ERAS // self.days, ERAS - 1)

    def first_day(self, era: int) -> int:
        """The first day of an era."""
        return next(day for day in range(self.days) if self.era(day) == era)

    def sessions(self) -> Iterator[Session]:
        """All sessions, four a day, two hours and a half apart."""
        chance = random.Random(f"{self.seed} sessions")
        shares = [activity.share for activity in ACTIVITIES]
        for day in range(self.days):
            for number in range(SESSIONS):
                (activity,) = chance.choices(ACTIVITIES, shares)
                at = BEGIN + timedelta(days=day, hours=2.5 * number)
                yield Session(f"session-{day:02d}-{number}", at, day, activity)

    def _corrections(self, chance: random.Random) -> Iterator[Due]:
        for wish in self.wishes:
            share = _FIRST if len(wish.states) > 1 else 2 * _FIRST
            for state in wish.states:
                first = self.first_day(state.era)
                start = first if state.era else chance.randrange(max(round(share * self.days), 1))
                end = self.first_day(state.era + 1) if state.era + 1 < ERAS else self.days
                apart = max(round(_AGAIN * self.days), 1)
                for number, saying in enumerate(state.sayings):
                    day = start + number * apart
                    if number == 0 or day < end:
                        yield Due(day, wish, state, saying, number)


def _drawn(chance: random.Random, corrections: int) -> Iterator[Wish]:
    """Wishes with about so many corrections, of each sort some; an exception comes with its rule."""
    silent = [wish for wish in WISHES if any(state.silent for state in wish.states)]
    changing = [wish for wish in WISHES if len(wish.states) > 1 and wish not in silent]
    steady = [wish for wish in WISHES if len(wish.states) == 1]
    chosen = [*chance.sample(silent, _SILENT), *chance.sample(changing, _CHANGING)]
    chance.shuffle(steady)
    for wish in steady:
        if _count(chosen) >= corrections:
            break
        if wish not in chosen:
            chosen += [
                wish,
                *(other for other in WISHES if other.name in wish.exceptions and other not in chosen),
            ]
    yield from (wish for wish in WISHES if wish in chosen)


def _count(wishes: Sequence[Wish]) -> int:
    return sum(len(state.sayings) for wish in wishes for state in wish.states)
