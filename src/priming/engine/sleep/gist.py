"""What a cluster says in a sentence or two: an agent's words where there is one that answers, else one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from priming.checks import check_content
from priming.config.params.sleep import SLEEP, SleepParams
from priming.core.trust import INSTRUCTING
from priming.engine.present import full
from priming.errors import AgentError, ParamError
from priming.llm.prompts import fenced, prompt
from priming.llm.protocol import Agent, Schema
from priming.types import MemoryRecord

PHASE, PACKAGE = "gist", "priming.engine.sleep"

EXTRACTIVE, MODEL, HAND = "extractive", "model", "hand"
"""Where a gist is from: a sentence of the cluster, an agent, or somebody who wrote it."""

_CUT = "…"


@dataclass(frozen=True, slots=True)
class Gist:
    """The text of an entity, where it is from, and why it is not from the agent that should have said it."""

    text: str
    by: str = EXTRACTIVE
    degraded: str | None = None

    @property
    def trusts(self) -> tuple[str, ...]:
        """Whom the text adds to its sources: an agent's words are trusted no more than an agent."""
        return (INSTRUCTING,) if self.by == MODEL else ()

    @property
    def evidence(self) -> dict[str, Any]:
        """Where it is from, as an item says it."""
        return {"gist": self.by, **({} if self.degraded is None else {"degraded": self.degraded})}


@dataclass
class Teller:
    """Says what clusters have in common. An agent that failed a few times in a row is left in peace for the night."""

    agent: Agent | None = None
    params: SleepParams = SLEEP
    _failures: list[str] = field(default_factory=list, init=False)

    def gist(self, members: Sequence[MemoryRecord], extractive: str) -> Gist:
        """What the agent says of members, the most central first; where it says nothing, the extractive gist."""
        if self.agent is None:
            return Gist(extractive)
        if len(self._failures) >= self.params.gist_failures:
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
        schema = schema_of(self.params)
        answer = agent.answer(question(members, self.params), schema)
        try:
            return check_content(" ".join(answer["gist"].split()))
        except ParamError as error:
            raise AgentError(f"the agent's gist cannot be kept: {error}") from None


def schema_of(params: SleepParams = SLEEP) -> Schema:
    """The schema of the answer."""
    gist = {"type": "string", "minLength": 1, "maxLength": params.gist_length}
    return {
        "type": "object",
        "properties": {"gist": gist},
        "required": ["gist"],
        "additionalProperties": False,
    }


def question(members: Sequence[MemoryRecord], params: SleepParams = SLEEP) -> str:
    """The prompt for the gist of some episodes, as quoted data, one a line; each has the same share of the room."""
    share = max(1, params.gist_shown // len(members))
    lines = [full(replace(member, content=_cut(member.content, share))) for member in members]
    places = {"length": str(params.gist_length), "episodes": fenced("\n".join(lines))}
    return prompt(PACKAGE, PHASE, places, schema_of(params))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}{_CUT}"
