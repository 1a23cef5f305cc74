"""The life of one agent, made up from a seed: what it is told each day, what it asks, what it looks up and does."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from world import (
    HABITS,
    MISTAKES,
    NOTES,
    ONCE,
    PEOPLE,
    PLACES,
    PROJECTS,
    SLOTS,
    TWINS,
    WORK,
    Mistake,
    Project,
    Slot,
    Twin,
)

BEGIN = datetime(2025, 1, 1, 8, tzinfo=UTC)
PER_DAY = 10_000 / 365

FIX, STEPS, BAD, ONE_OFF, FACT = "fix", "steps", "bad", "one-off", "fact"
SYMPTOM, TRIED, WORKED, HABIT = "symptom", "tried", "work", "habit"
TWIN, AGAIN = "twin", "paraphrase"
"""One of two procedures that are alike and not the same, and the same as the first in other words."""
RIGHT = frozenset((FIX, STEPS, ONE_OFF, FACT))
"""What answers a question about its topic."""

_ONCE_A_DAY = 0.5
_WORKS = 0.85
_STEADY = (0.8, 1.2)
_MINUTES = 12


@dataclass(frozen=True, slots=True)
class Told:
    """Something that the agent remembers: of which topic, and what it is to that topic."""

    key: str
    content: str
    topic: str
    role: str
    kind: str = "episode"
    session: str | None = None
    outcome: str | None = None
    importance: float = 0.5
    trust: str = "user"
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """A fact that was true until now, and what is true from now on."""

    key: str
    content: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in the course of a day, and its topic: what comes up is judged by that."""

    question: str
    topic: str


@dataclass(frozen=True, slots=True)
class Carried:
    """A procedure is looked up and carried out; it works or it does not."""

    question: str
    topic: str
    works: bool


Event = Told | Changed | Asked | Carried


@dataclass(frozen=True, slots=True)
class Day:
    """A day, by its number from 0, and what happens in it, some minutes apart."""

    number: int
    events: tuple[Event, ...]

    @property
    def begin(self) -> datetime:
        """Eight in the morning."""
        return BEGIN + timedelta(days=self.number)

    def timed(self) -> Iterator[tuple[datetime, Event]]:
        """The events with their times, before eight in the evening."""
        apart = min(timedelta(minutes=_MINUTES), timedelta(hours=12) / max(len(self.events), 1))
        return ((self.begin + i * apart, event) for i, event in enumerate(self.events))


@dataclass
class Life:
    """Days of a life, the same for the same seed: ``episodes`` in all, spread evenly."""

    days: int = 365
    episodes: int = 10_000
    seed: int = 1
    facts: dict[str, tuple[Project, Slot, str]] = field(default_factory=dict, init=False)
    _due: dict[str, float] = field(default_factory=dict, init=False)
    _met: dict[str, int] = field(default_factory=dict, init=False)
    _serial: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[Day]:
        self._chance = random.Random(self.seed)
        self._serial, self._met, self.facts = 0, {}, {}
        apart = {one.name: one.days for one in MISTAKES}
        slots = {_fact(project, slot): slot.days for project in PROJECTS for slot in SLOTS}
        self._due = {name: self._chance.uniform(0, days) for name, days in {**apart, **slots}.items()}
        for number in range(self.days):
            quota = (number + 1) * self.episodes // self.days - number * self.episodes // self.days
            yield Day(number, tuple(self._day(number, quota)))

    def _day(self, number: int, quota: int) -> list[Event]:
        events: list[Event] = [] if number else list(self._first_facts())
        parts = [self._meet(one, number) for one in MISTAKES if self._is_due(one.name, number, one.days)]
        parts += [
            self._change(project, slot, number)
            for project in PROJECTS
            for slot in SLOTS
            if self._is_due(_fact(project, slot), number, slot.days)
        ]
        if self._chance.random() < _ONCE_A_DAY:
            parts.append(self._once())
        parts.append([self._asked_fact()])
        habits = [self._habit(number, i) for i in range(len(HABITS))]
        told = sum(isinstance(one, Told) and one.kind == "episode" for part in parts for one in part)
        work = [[self._work(number)] for _ in range(max(0, quota - told - len(habits)))]
        mixed = [*parts, *work]
        self._chance.shuffle(mixed)
        events += habits[: max(0, quota - told)]
        events += self._twins(number)
        return [*events, *(one for part in mixed for one in part)]

    def _is_due(self, name: str, number: int, days: float) -> bool:
        if self._due[name] >= number + 1:
            return False
        self._due[name] += days * self._chance.uniform(*_STEADY)
        return True

    def _key(self, what: str) -> str:
        self._serial += 1
        return f"{what}-{self._serial:05d}"

    def _first_facts(self) -> Iterator[Told]:
        for project in PROJECTS:
            for slot in SLOTS:
                key = _fact(project, slot)
                content = self._state(project, slot, self._chance.choice(slot.values))
                yield Told(key, content, key, FACT, "fact")

    def _state(self, project: Project, slot: Slot, value: str) -> str:
        self.facts[_fact(project, slot)] = project, slot, value
        return f"The {slot.name} of {project.name} is {value}."

    def _change(self, project: Project, slot: Slot, number: int) -> list[Event]:
        """A fact that changes, and the episode of the change; nothing on the first day, when facts are told."""
        if number == 0:
            return []
        key = _fact(project, slot)
        before = self.facts[key][2]
        after = self._chance.choice([one for one in slot.values if one != before])
        told = Told(
            self._key("change"),
            f"{project.name} goes over from {before} to {after} today.",
            key,
            WORKED,
            session=_session(project, number),
        )
        return [told, Changed(key, self._state(project, slot, after))]

    def _asked_fact(self) -> Asked:
        project, slot = self._chance.choice(PROJECTS), self._chance.choice(SLOTS)
        return Asked(question_of(project, slot), _fact(project, slot))

    def _meet(self, one: Mistake, number: int) -> list[Event]:
        """A mistake is met: what is seen, what is asked, what is tried in vain, what mends it."""
        times = self._met[one.name] = self._met.get(one.name, 0) + 1
        project = next(project for project in PROJECTS if project.name == one.project)
        session, symptom = _session(project, number), self._chance.choice(one.symptoms)
        seen = Told(self._key("seen"), symptom, one.name, SYMPTOM, session=session)
        events: list[Event] = [seen]
        if times > 1:
            events.append(Asked(symptom, one.name))
        if times > 2 and one.steps:
            events.append(
                Carried(f"What are the steps when {one.question}", one.name, self._chance.random() < _WORKS)
            )
        tried = Told(self._key("tried"), one.tried, one.name, TRIED, "failure", session, "failure")
        mended = self._chance.choice(one.fixes)
        events += [
            tried,
            Told(
                self._key("mended"), mended, one.name, FIX, session=session, outcome="success", importance=0.7
            ),
        ]
        if times == 1 and one.bad:
            events.append(
                Told(self._key("forum"), one.bad, one.name, BAD, session=session, trust="untrusted")
            )
        if times in (1, 2) and one.steps:
            events.append(self._written(one, times))
        return events

    def _written(self, one: Mistake, times: int) -> Told:
        """The procedure, written down the first time, and the second time again with a step more."""
        steps = one.steps if times == 1 else (*one.steps, one.more)
        text = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
        return Told(self._key("steps"), text, one.name, STEPS, "procedure", steps=steps)

    def _twins(self, number: int) -> Iterator[Told]:
        """Two procedures that are alike and not the same, on a day of the first week each."""
        if number < len(TWINS):
            twin = TWINS[number]
            yield _twin(twin, "left", TWIN, twin.left)
            yield _twin(twin, "right", TWIN, twin.right)
        elif number - len(TWINS) < len(TWINS) and (twin := TWINS[number - len(TWINS)]).again is not None:
            yield _twin(twin, "again", AGAIN, twin.again)

    def _once(self) -> list[Event]:
        letters = "".join(self._chance.choices("BCDFGHJKLMNPQRSTVWXZ", k=2))
        code = f"{letters}-{self._chance.randint(1000, 9999)}"
        text = self._chance.choice(ONCE).format(
            code=code, room=self._chance.randint(100, 499), place=self._chance.choice(PLACES)
        )
        told = Told(self._key("once"), text, code, ONE_OFF, importance=0.7)
        return [told, Asked(question_once(code), code)] if self._chance.random() < _ONCE_A_DAY else [told]

    def _habit(self, number: int, which: int) -> Told:
        project = PROJECTS[(number + which) % len(PROJECTS)]
        return Told(
            self._key("habit"),
            HABITS[which].format(project=project.name),
            project.name,
            HABIT,
            session=_session(project, number),
            importance=0.3,
        )

    def _work(self, number: int) -> Told:
        project = self._chance.choice(PROJECTS)
        chosen = {
            "part": self._chance.choice(project.parts),
            "project": project.name,
            "person": self._chance.choice(PEOPLE),
        }
        note = self._chance.choice(NOTES).format(
            number=self._chance.randint(2, 900), other=self._chance.randint(2, 90)
        )
        text = self._chance.choice(WORK).format(**chosen, note=note)
        return Told(self._key("work"), text, project.name, WORKED, session=_session(project, number))


def _twin(twin: Twin, which: str, role: str, procedure: tuple[str, tuple[str, ...]]) -> Told:
    title, steps = procedure
    return Told(f"{twin.name}-{which}", title, f"twin {twin.name}", role, "procedure", steps=steps)


def question_of(project: Project, slot: Slot) -> str:
    """How one asks for a fact."""
    return f"What is the {slot.name} of {project.name}?"


def questions_of_facts() -> dict[str, str]:
    """How one asks for each of the facts, by its key."""
    return {_fact(project, slot): question_of(project, slot) for project in PROJECTS for slot in SLOTS}


def question_once(code: str) -> str:
    """How one asks by name for what happened once."""
    return f"What was the matter with {code}?"


def recurring(events: Sequence[Told], times: int = 3) -> list[Mistake]:
    """The mistakes that were mended so many times or more."""
    counts = [sum(one.topic == mistake.name and one.role == FIX for one in events) for mistake in MISTAKES]
    return [mistake for mistake, count in zip(MISTAKES, counts, strict=True) if count >= times]


def _fact(project: Project, slot: Slot) -> str:
    return f"{project.name.lower()}-{slot.name.replace(' ', '-')}"


def _session(project: Project, number: int) -> str:
    return f"{project.name} {BEGIN + timedelta(days=number):%Y-%m-%d}"
