"""An agent's judgement of two rules, where their words leave open what the later changes.

Its answer is data, checked against a schema.
"""

from __future__ import annotations

from typing import get_args

from priming.config.settings import Settings
from priming.config.values import dataclass
from priming.llm.agents import open_agent
from priming.llm.protocol import Agent, Schema, fenced, prompt
from priming.text.quotation import quote_text
from priming.text.statements.judge import Judgement, JudgementKind

PACKAGE, PHASE = "priming.rules", "change"
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "change": {"enum": list(get_args(JudgementKind))},
        "reason": {"type": "string", "minLength": 1, "maxLength": 200},
    },
    "required": ["change", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class RuleJudge:
    """Asks an agent what the later of two rules does to the earlier."""

    agent: Agent

    def __call__(self, earlier: str, later: str) -> Judgement:
        """Return its judgement; ``AgentError`` if it gives no valid answer."""
        places = {"earlier": fenced(quote_text(earlier)), "later": fenced(quote_text(later))}
        answer = self.agent.answer(prompt(PACKAGE, PHASE, places, SCHEMA), SCHEMA)
        return Judgement(answer["change"], f"{' '.join(str(answer['reason']).split())} (says the agent)")


def users_judge(settings: Settings) -> RuleJudge | None:
    """Return what asks the agent that the user's settings name; None if they name none."""
    agent = open_agent(settings.agent())
    return None if agent is None else RuleJudge(agent)
