"""A life, lived: every event told to a memory at its time, every night slept, and what was answered written down."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from life import BAD, FACT, RIGHT, Asked, Carried, Changed, Event, Life, Told, questions_of_facts
from world import MISTAKES

from priming import FixedClock, Memory
from priming.results import Recall, Stats

AUDIT = 200 / 365
"""The part of a life after which the questions of the audit are asked."""
EVENING, NIGHT = timedelta(hours=14), timedelta(hours=15)
_LOOKED_AT = 3
MONTH = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to a question, and when: key, version and score of every hit."""

    question: str
    at: datetime
    hits: tuple[tuple[str, int, float], ...]

    @classmethod
    def of(cls, question: str, at: datetime, recall: Recall) -> Answer:
        """What a recall says, in a form that can be compared."""
        return cls(
            question, at, tuple((hit.memory.key, hit.memory.version, hit.score) for hit in recall.hits)
        )


@dataclass(frozen=True, slots=True)
class Night:
    """One night: how long it took, and how many items of each action it wrote."""

    day: int
    seconds: float
    actions: Mapping[str, int]
    operation: str | None


@dataclass(frozen=True, slots=True)
class Size:
    """What the store holds at the end of a day."""

    day: int
    at: datetime
    stats: Stats
    gists: int
    """Entities that sleep made."""


@dataclass
class Lived:
    """What the one who made the life up knows of it afterwards."""

    days: int
    audited: int
    told: dict[str, Told] = field(default_factory=dict)
    truth: dict[str, list[tuple[datetime, str]]] = field(default_factory=dict)
    told_as: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    recalls: int = 0
    stale: list[str] = field(default_factory=list)
    """Hits that said what was true no longer, or a memory twice."""
    answers: list[Answer] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    """What the facts said on the day of the audit, by key."""
    sizes: list[Size] = field(default_factory=list)
    nights: list[Night] = field(default_factory=list)
    left_alone: dict[frozenset[str], tuple[str, ...]] = field(default_factory=dict)
    """What the nights named as alike and left alone, by its keys, and the words that made the difference."""

    def holds(self, key: str) -> str:
        """What is true of a fact now."""
        return self.truth[key][-1][1]


def live(
    life: Life, memory: Memory, clock: FixedClock, progress: Callable[[int], None] = lambda _: None
) -> Lived:
    """Go through the days of a life; ``progress`` is told the number of those that are over."""
    lived = Lived(life.days, audited=min(life.days, max(1, round(life.days * AUDIT))) - 1)
    for day in life:
        for at, event in day.timed():
            clock.at = at
            _happen(lived, memory, event, at)
        clock.at = day.begin + EVENING
        if day.number == lived.audited:
            _audit(lived, memory, clock.at)
        clock.at = day.begin + NIGHT
        lived.nights.append(_slept(lived, memory, day.number))
        if (day.number + 1) % MONTH == 0 or day.number + 1 == life.days:
            lived.sizes.append(Size(day.number, clock.at, memory.stats(), _gists(memory)))
        progress(day.number + 1)
    return lived


def _happen(lived: Lived, memory: Memory, event: Event, at: datetime) -> None:
    if isinstance(event, Told):
        _tell(lived, memory, event, at)
    elif isinstance(event, Changed):
        memory.supersede(event.key, event.content)
        lived.truth[event.key].append((at, event.content))
    elif isinstance(event, Asked):
        _judge(lived, memory, _ask(lived, memory, event.question), event.topic)
    else:
        _carry_out(lived, memory, event)


def _tell(lived: Lived, memory: Memory, one: Told, at: datetime) -> None:
    done = memory.remember(
        one.content,
        key=one.key,
        kind=one.kind,
        session=one.session,
        importance=one.importance,
        outcome=one.outcome,
        trust=one.trust,
        occurred_at=at,
        metadata={"steps": list(one.steps)} if one.steps else None,
    )
    lived.told_as[done.status] += 1
    lived.told.setdefault(done.key, one)
    if one.role == FACT:
        lived.truth[one.key] = [(at, one.content)]


def _ask(lived: Lived, memory: Memory, question: str, kind: str | None = None) -> Recall:
    """Recall, and look whether anything that came up holds no longer."""
    recall = memory.recall(question, kinds=None if kind is None else [kind])
    lived.recalls += 1
    keys = [hit.memory.key for hit in recall.hits]
    for hit in recall.hits:
        one = hit.memory
        is_old = one.key in lived.truth and one.content != lived.holds(one.key)
        if is_old or hit.superseded_by is not None or keys.count(one.key) > 1:
            lived.stale.append(f"{one.key}, version {one.version}, asked: {question}")
    return recall


def _judge(lived: Lived, memory: Memory, recall: Recall, topic: str) -> None:
    """Say what came of a recall: the first right hit was used, of other mistakes nothing was asked."""
    mistakes = {one.name for one in MISTAKES}
    found = [(hit.memory.key, lived.told[hit.memory.key]) for hit in recall.hits]
    used = [key for key, one in found if one.topic == topic and one.role in RIGHT][:1]
    useless = [key for key, one in found if one.topic == topic and one.role == BAD]
    beside = [
        key
        for key, one in found[:_LOOKED_AT]
        if one.topic != topic and one.topic in mistakes and one.role != BAD
    ]
    if used or useless or beside:
        memory.feedback(recall.recall_id, used=used, not_useful=useless, not_relevant=beside)
    lived.verdicts.update({"used": len(used), "not useful": len(useless), "not relevant": len(beside)})


def _carry_out(lived: Lived, memory: Memory, one: Carried) -> None:
    recall = _ask(lived, memory, one.question, "procedure")
    keys = [hit.memory.key for hit in recall.hits if lived.told[hit.memory.key].topic == one.topic]
    if keys:
        memory.done(keys[0], success=one.works, recall_id=recall.recall_id)
        lived.verdicts["done" if one.works else "failed"] += 1


def _audit(lived: Lived, memory: Memory, at: datetime) -> None:
    """Ask of what recurs and of what is true, and write down the answers."""
    asked = [mistake.question for mistake in MISTAKES]
    lived.answers += [
        Answer.of(question, at, _ask(lived, memory, question))
        for question in (*asked, *questions_of_facts().values())
    ]
    lived.known |= {key: memory.get(key).content for key in lived.truth}


def _gists(memory: Memory) -> int:
    return len({one.target for one in memory.links(relation="source-of")})


def _slept(lived: Lived, memory: Memory, day: int) -> Night:
    began = time.perf_counter()
    night = memory.sleep()
    seconds = time.perf_counter() - began
    lived.left_alone |= {frozenset(one.keys): one.words for one in night.left_alone}
    return Night(day, seconds, Counter(one.action for one in night.items), night.operation)
