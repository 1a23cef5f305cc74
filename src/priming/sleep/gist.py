"""The gist of a cluster of episodes: one or two sentences by an agent, else their most central sentence.

``deep`` uses it; ``EpisodeWindow.theme`` also finds the heading of the entity. It never writes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from priming.config.params.limits import SLEEP
from priming.config.values import dataclass
from priming.config.words import INSTRUCTING
from priming.core.arguments.arrays import Floats, Ints
from priming.core.arguments.checks import check_content
from priming.errors import AgentError, ParamError
from priming.index.document import embedded_text
from priming.llm.protocol import Agent, Schema, fenced, prompt
from priming.recall.formatting import format_full
from priming.text.gists import sentences
from priming.text.name_forms.forms import FILE, IDENTIFIER, Name
from priming.text.names import find, normal
from priming.text.tokens import spelled, terms
from priming.types import MemoryRecord

PHASE, PACKAGE = "gist", "priming.sleep"

EXTRACTIVE, MODEL, HAND = "extractive", "model", "hand"
"""The authors of a gist: a sentence of the cluster, an agent, or somebody who edited it."""

_CUT = "…"


@dataclass(frozen=True, slots=True)
class Gist:
    """The text of an entity, its author, and the reason why the agent did not write it, if it should have."""

    text: str
    by: str = EXTRACTIVE
    degraded: str | None = None

    @property
    def trusts(self) -> tuple[str, ...]:
        """The trust that the text adds to that of its sources: an agent's words are trusted as an agent's."""
        return (INSTRUCTING,) if self.by == MODEL else ()

    @property
    def evidence(self) -> dict[str, Any]:
        """The author, as evidence of an item."""
        return {"gist": self.by, **({} if self.degraded is None else {"degraded": self.degraded})}


@dataclass
class GistWriter:
    """Writes gists; an agent that failed ``gist_failures`` times in a row is not asked again in the same night."""

    agent: Agent | None = None
    _failures: list[str] = field(default_factory=list, init=False)

    def gist(self, members: Sequence[MemoryRecord], extractive: str) -> Gist:
        """Return the agent's gist of the members, the most central first; without an answer, the extractive gist."""
        if self.agent is None:
            return Gist(extractive)
        if len(self._failures) >= SLEEP.gist_failures:
            why = f"not asked, after {len(self._failures)} failures in a row: {self._failures[-1]}"
            return Gist(extractive, degraded=why)
        try:
            text = self._ask(self.agent, members)
        except AgentError as error:
            self._failures.append(str(error))
            return Gist(extractive, degraded=str(error))
        self._failures.clear()
        return Gist(text, MODEL)

    def _ask(self, agent: Agent, members: Sequence[MemoryRecord]) -> str:
        answer = agent.answer(gist_prompt(members), SCHEMA)
        try:
            return check_content(" ".join(answer["gist"].split()))
        except ParamError as error:
            raise AgentError(f"the agent's gist cannot be stored: {error}") from None


SCHEMA: Schema = {
    "type": "object",
    "properties": {"gist": {"type": "string", "minLength": 1, "maxLength": SLEEP.gist_length}},
    "required": ["gist"],
    "additionalProperties": False,
}
"""The JSON schema of the agent's answer."""


def gist_prompt(members: Sequence[MemoryRecord]) -> str:
    """Return the prompt for the gist of episodes, quoted one a line and each cut to an equal share of the length."""
    share = max(1, SLEEP.gist_shown // len(members))
    lines = [format_full(replace(member, content=_cut(member.content, share))) for member in members]
    places = {"length": str(SLEEP.gist_length), "episodes": fenced("\n".join(lines))}
    return prompt(PACKAGE, PHASE, places, SCHEMA)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}{_CUT}"


PROJECT, TOOL, CONCEPT = "project", "tool", "concept"

F = TypeVar("F", str, tuple[str, str])
Embed = Callable[[Sequence[str]], NDArray[np.float32]]

_WORD = re.compile(r"[^\W_]+")
_CLAUSE = re.compile(r"[^\w\s'’-]+")
_LONGEST = 400
_OPENING = 3


@dataclass(frozen=True, slots=True)
class Theme:
    """The heading of an entity, its form, its text, and a word that distinguishes it from others of that heading."""

    heading: str
    form: str
    text: str
    word: str | None = None


class EpisodeWindow:
    """The episodes of a night, and how many of them contain each name and term."""

    def __init__(self, episodes: Sequence[MemoryRecord]) -> None:
        texts = [embedded_text(episode.heading, episode.content) for episode in episodes]
        self._terms = [*map(spelled, texts)]
        self._names = [_names(episode) for episode in episodes]
        self._episodes = episodes
        self._pairs = [*map(_pairs, texts)]
        self._pairs_in = Counter(pair for pairs_of_episode in self._pairs for pair in pairs_of_episode)
        self._terms_in = Counter(term for names_of_episode in self._terms for term in names_of_episode)
        self._names_in = Counter(name for names_of_episode in self._names for name in names_of_episode)

    def theme(self, rows: Ints, units: Floats, embed: Embed) -> Theme:
        """Return the theme of the episodes in ``rows``."""
        members = [self._episodes[row] for row in rows]
        project = _majority((_project(member) for member in members), len(members) * SLEEP.shared)
        name = self._most_distinctive(self._names, self._names_in, rows, SLEEP.shared)
        if project is not None:
            heading, form = project, PROJECT
        elif name is not None:
            spelt = [self._names[row][name] for row in rows if name in self._names[row]]
            heading = Counter(member.text for member in spelt).most_common(1)[0][0]
            form = TOOL if all(member.kind in (FILE, IDENTIFIER) for member in spelt) else CONCEPT
        else:
            heading, form = self._phrase(rows) or " ".join(members[0].content.split()[:_OPENING]), CONCEPT
        text = central_sentence(members, units[rows], embed, SLEEP.central)
        return Theme(heading, form, text, self._word(rows, frozenset(terms(heading))))

    def _phrase(self, rows: Ints) -> str | None:
        """Return the words by which people would call a theme: two that stand together in several of its episodes.

        Otherwise the two that most distinguish it, in the order of a text that has both.
        """
        scores = self._distinctive(self._pairs, self._pairs_in, rows, 0.0)
        if scores:
            best = max(scores.values())
            # What stands last is what the words before it describe: "bought green tea".
            pair = [each for each, score in scores.items() if score == best][-1]
            spelt: Counter[str] = Counter(self._pairs[row][pair] for row in rows if pair in self._pairs[row])
            return spelt.most_common(1)[0][0]
        first = self._word(rows)
        second = None if first is None else self._word(rows, frozenset(terms(first)))
        if first is None or second is None:
            beside = (text for row in rows for text in self._pairs[row].values() if first in text.split())
            return next(beside, first)
        texts = [list(self._terms[row].values()) for row in rows]
        order = next((words for words in texts if first in words and second in words), [first, second])
        return " ".join(sorted((first, second), key=order.index))

    def _word(self, rows: Ints, excluded: Collection[str] = ()) -> str | None:
        """Return the word that most distinguishes the members from other episodes, without the ``excluded`` terms."""
        term = self._most_distinctive(self._terms, self._terms_in, rows, 0.0, excluded)
        if term is None:
            return None
        words: Counter[str] = Counter(self._terms[row][term] for row in rows if term in self._terms[row])
        return words.most_common(1)[0][0]

    def _most_distinctive(
        self,
        features: Sequence[Mapping[F, Any]],
        whole: Counter[F],
        rows: Ints,
        least: float,
        excluded: Collection[F] = (),
    ) -> F | None:
        """Return the most distinctive feature for the rest of the window, among those that enough members share."""
        scores = self._distinctive(features, whole, rows, least, excluded)
        return min(scores, key=lambda feature: (-scores[feature], feature), default=None)

    def _distinctive(
        self,
        features: Sequence[Mapping[F, Any]],
        whole: Counter[F],
        rows: Ints,
        least: float,
        excluded: Collection[F] = (),
    ) -> dict[F, float]:
        """Return how much each feature that enough members share distinguishes them, in order of occurrence."""
        within = Counter(feature for row in rows for feature in features[row] if feature not in excluded)
        others = max(len(features) - len(rows), 1)
        return {
            feature: number / len(rows) - (whole[feature] - number) / others
            for feature, number in within.items()
            if number >= 2 and number >= least * len(rows)
        }


def centroid(units: Floats) -> Floats:
    """Return the direction of the mean of unit vectors; zeros if they cancel out."""
    mean: Floats = units.mean(axis=0)
    length = float(np.linalg.norm(mean))
    if length > 0.0:
        mean /= length
    return mean


def central_sentence(members: Sequence[MemoryRecord], units: Floats, embed: Embed, most: int) -> str:
    """Return the most central sentence of the members nearest to their centroid."""
    centre = centroid(units)
    nearest = np.argsort(-(units @ centre), kind="stable")[:most]
    parts = list(dict.fromkeys(part[:_LONGEST] for i in nearest for part in sentences(members[i].content)))
    cosines = embed(parts).astype(np.float64) @ centre
    return parts[int(cosines.argmax())]


def _pairs(text: str) -> dict[tuple[str, str], str]:
    """Return the terms that follow one another within a clause, at most a small word apart, each pair as written."""
    pairs: dict[tuple[str, str], str] = {}
    for clause in _CLAUSE.split(text.lower()):
        last: tuple[int, str] | None = None
        words = _WORD.findall(clause)
        for at, word in enumerate(words):
            term = next(iter(terms(word)), None)
            if term is None:
                continue
            if last is not None and at - last[0] <= 2 and last[1] != term:
                pairs.setdefault((last[1], term), " ".join(words[last[0] : at + 1]))
            last = at, term
    return pairs


def _names(record: MemoryRecord) -> dict[str, Name]:
    """Return the names in a text by their normal form, without the speaker."""
    speaker = normal(record.speaker) if record.speaker else None
    return {
        slot: name for name in find(record.content, record.heading) if (slot := normal(name.text)) != speaker
    }


def _project(record: MemoryRecord) -> str | None:
    """Return the project of an episode, from its context or metadata."""
    project = record.when.get(PROJECT, record.metadata.get(PROJECT))
    return project if isinstance(project, str) and project.strip() else None


def _majority(values: Iterable[str | None], least: float) -> str | None:
    """Return the most frequent value, if at least ``least`` episodes have it."""
    (value, number), *_ = [*Counter(item for item in values if item is not None).most_common(1), (None, 0)]
    return value if number and number >= least else None
