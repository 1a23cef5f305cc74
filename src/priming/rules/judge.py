"""An agent's judgement of corrections that the words leave open. Its answer is data, checked against a schema.

It is asked before the store is locked, about the three nearest rules whose change is unclear. Whatever it
answers too late or wrongly leaves both rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from priming.errors import AgentError
from priming.llm.protocol import Agent, Schema, fenced, prompt
from priming.rules.placement import BehaviorComparison
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
_MOST = 3
"""Most questions about one correction, about the nearest rules."""


def judge(
    agent: Agent, text: str, comparisons: Sequence[BehaviorComparison]
) -> tuple[dict[str, Judgement], str | None]:
    """The agent's judgements of the unclear changes, by the earlier text, and its error, if it failed."""
    unclear = [near for near in comparisons if near.change.kind == "unclear" and near.scopes != "apart"]
    verdicts: dict[str, Judgement] = {}
    for near in unclear[:_MOST]:
        earlier = near.existing.content
        places = {"earlier": fenced(quote_text(earlier)), "later": fenced(quote_text(text))}
        try:
            answer = agent.answer(prompt(PACKAGE, PHASE, places, SCHEMA), SCHEMA)
        except AgentError as error:
            return verdicts, f"the agent did not decide, and the words do not: {error}"
        reason = " ".join(str(answer["reason"]).split())
        verdicts[earlier] = Judgement(answer["change"], f"{reason} (says the agent)")
    return verdicts, None
