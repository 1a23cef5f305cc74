"""A life, lived: hooks at every moment, corrections learned, verdicts given, and a sleep after every day."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from desk import Desk
from drawn import Due, Life, Session
from truth import BESIDE, RIGHT, STALE, Truth, says
from wishes import State, Wish
from work import Step

from priming import Cue
from priming.core.pack import estimate_tokens
from priming.text.quotation import read_line

NIGHT = 23
QUIET = "quiet-rule"
_AT_ONCE = 2
"""How many corrections a user makes at one moment."""
_EVERYTHING = 10_000


@dataclass(frozen=True, slots=True)
class Manner:
    """How a user judges: with what chance there is a verdict, and how often it slips."""

    ahead: float = 0.5
    """A change of mind is said at the beginning of a session, rather than when the agent does it the old way."""
    helped: float = 0.25
    confirmed: float = 0.15
    overridden: float = 0.6
    beside: float = 0.4
    slip: float = 0.02


@dataclass(frozen=True, slots=True)
class Telling:
    """A rule that a hook told, and whether that was right.

    ``whole``: all of its text was told; ``has_text``: some of it, rather than its name alone. ``spread``: none of its
    conditions was met.
    """

    session: Session
    moment: str
    key: str
    content: str
    when: Mapping[str, Any]
    whole: bool
    has_text: bool
    spread: bool
    judged: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A wish that applied at a step of a session, and whether it had been told there by then."""

    session: Session
    moment: str
    wish: str
    forbids: bool
    told: bool


@dataclass(frozen=True, slots=True)
class Evening:
    """The end of a day: the number of rules in force, and the texts of those that are no present wish."""

    day: int
    rules: int
    wrong: tuple[str, ...]


@dataclass
class Lived:
    """What a life knows of itself afterwards."""

    learning: bool
    learned: list[tuple[Due, str, str]] = field(default_factory=list)
    """Of each correction: what it was placed as, and the text that stood then."""
    tellings: list[Telling] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)
    evenings: list[Evening] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    """What the hooks told in each session."""
    seconds: dict[str, list[float]] = field(default_factory=dict)
    """How long each hook took, by event."""
    process: float = 0.0
    """How long a hook took as a process of its own, in seconds."""
    verdicts: Counter[str] = field(default_factory=Counter)
    nights: Counter[str] = field(default_factory=Counter)
    links: int = 0
    """Links that co-activation has made and that stand at the end."""


def live(life: Life, at: Desk, progress: Callable[[int], None] = lambda _: None) -> Lived:
    """Go through the sessions of a life; ``progress`` is called with the number of days that are over."""
    lived, truth, user = Lived(at.learning), Truth(life), random.Random(f"{life.seed} user")
    sessions = list(life.sessions())
    for number, session in enumerate(sessions, start=1):
        _Sitting(lived, truth, at, session, user).work()
        if number == len(sessions) or sessions[number].day != session.day:
            _sleep(lived, truth, at, session.day)
            progress(session.day + 1)
    return lived


def _sleep(lived: Lived, truth: Truth, at: Desk, day: int) -> None:
    """Look which rules are in force at the end of a day, and sleep."""
    with at.memory() as memory:
        quiet = {each.key for each in memory.review(limit=_EVERYTHING) if getattr(each, "kind", "") == QUIET}
        rules = [rule for rule in memory.list(kinds=["behavior"], limit=_EVERYTHING) if rule.key not in quiet]
        wrong = [rule for rule in rules if truth.standing(rule.content, rule.when, day) is None]
        lived.evenings.append(Evening(day, len(rules), tuple(rule.content for rule in wrong)))
        at.clock.at = at.clock.at.replace(hour=NIGHT)
        lived.nights.update(item.action for item in memory.sleep().items)
        lived.links = len(memory.links(relation="co-activated"))


@dataclass
class _Sitting:
    """One session: its steps, what was told in it, and what the user makes of that."""

    lived: Lived
    truth: Truth
    at: Desk
    session: Session
    user: random.Random
    manner: Manner = field(default_factory=Manner)
    told: list[str] = field(default_factory=list)
    tokens: int = 0

    def work(self) -> None:
        """Go through the session."""
        self.at.clock.at = self.session.at
        self._hook("session-start", Step())
        for due in self._due():
            if due.is_change and self.user.random() < self.manner.ahead:
                self._say(due)
        for step in self.session.activity.steps:
            self._take(step)
        self._hook("stop", Step())
        self.lived.tokens.append(self.tokens)

    def _take(self, step: Step) -> None:
        tellings = self._hook("prompt" if step.prompt else "pre-tool", step)
        for wish, state in self.truth.applying(step, self.session.day):
            self._look(step, wish, state)
        corrected = [due for due in self._due() if step.meets(due.state.scope)][:_AT_ONCE]
        for due in corrected:
            self._say(due)
        self._judge(tellings, {due.wish.name for due in corrected})
        if step.command.startswith("git commit"):
            self._hook("post-tool", step)

    def _due(self) -> list[Due]:
        return self.truth.due(self.session.activity, self.session.day)

    def _hook(self, name: str, step: Step) -> list[tuple[Telling, str]]:
        """What a hook tells, each with the recall that brought it up."""
        text, seconds = self.at.hook(name, self.session.name, step)
        self.lived.seconds.setdefault(name, []).append(seconds)
        self.tokens += estimate_tokens(text)
        tellings = list(self._tellings(text, step, name))
        self.lived.tellings += [telling for telling, _ in tellings]
        self.told += [telling.content for telling, _ in tellings if telling.whole]
        return tellings

    def _tellings(self, text: str, step: Step, name: str) -> Iterator[tuple[Telling, str]]:
        hits = {
            hit["memory"]["key"]: (hit, answer["recall_id"])
            for answer in self.at.answers
            for hit in answer["hits"]
        }
        for line in filter(None, map(read_line, text.splitlines())):
            if line.key not in hits:
                continue
            hit, recall = hits[line.key]
            content, when = hit["memory"]["content"], hit["memory"]["when"] or {}
            judged = self.truth.judged(content, when, step, self.session.activity, self.session.day)
            telling = Telling(
                self.session,
                step.prompt or step.file or step.command or name,
                line.key,
                content,
                when,
                has_text=line.text is not None,
                whole=content.strip(" .") in (line.text or ""),
                spread=bool(when) and hit["components"]["context"] == 0.0,
                judged=judged,
            )
            yield telling, recall

    def _look(self, step: Step, wish: Wish, state: State) -> None:
        """Note whether a wish that applies here was told in this session."""
        told = any(says(content, wish.ways(state)) for content in self.told)
        moment = Moment(self.session, step.file or step.command, wish.name, wish.forbids, told)
        self.lived.moments.append(moment)

    def _say(self, due: Due) -> None:
        """Correct the agent, which learns it."""
        cue = Cue(**due.state.scope) if due.state.scope else None
        with self.at.memory() as memory:
            learned = memory.learn(due.saying.text, wrong=due.saying.wrong, cue=cue)
        self.truth.made.append(due)
        self.told.append(due.saying.text)
        self.lived.learned.append((due, f"{learned.placement}, {learned.change}", learned.content))

    def _judge(self, tellings: list[tuple[Telling, str]], corrected: set[str]) -> None:
        """Give the user's verdicts on what was told just now: they follow the wishes, with slips and silence."""
        for telling, recall in tellings:
            if not telling.has_text:
                continue
            verdict = self._verdict(telling, corrected)
            if verdict is None:
                continue
            self.lived.verdicts[verdict] += 1
            if self.at.learning:
                with self.at.memory() as memory:
                    memory.feedback(recall, **{verdict: [telling.key]}, session=self.session.name)

    def _verdict(self, telling: Telling, corrected: set[str]) -> str | None:
        slips, chance, manner = self.user.random() < self.manner.slip, self.user.random(), self.manner
        if telling.judged == RIGHT:
            if slips:
                return "overridden"
            if chance < manner.helped:
                return "used"
            return "confirmed" if chance < manner.helped + manner.confirmed else None
        if telling.judged == STALE:
            meaning = self.truth.meaning(telling.content)
            if meaning is not None and meaning[0].name in corrected:
                return None  # the correction itself says it
            return ("confirmed" if slips else "overridden") if chance < manner.overridden else None
        assert telling.judged == BESIDE
        return ("used" if slips else "not_relevant") if chance < manner.beside else None
