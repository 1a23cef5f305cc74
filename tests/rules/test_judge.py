"""An agent may decide what the words of a correction leave open."""

import pytest

from priming import ParamError
from priming.llm.protocol import ScriptedAgent

ARGO, FLUX = "Ask argonaut about deploys", "Ask fluxion about deploys"


def contents(memory):
    return sorted(rule.content for rule in memory.list(kinds=["behavior"]))


@pytest.mark.parametrize(
    ("change", "placement", "rules"),
    [
        ("changes", "supersede", [FLUX]),
        ("same", "merge", [ARGO]),
        ("apart", "create", [ARGO, FLUX]),
        ("unclear", "create", [ARGO, FLUX]),
    ],
)
def test_an_agent_decides_what_the_words_leave_open(memory, change, placement, rules):
    agent = ScriptedAgent([{"change": change, "reason": "both name the tool of a deploy"}])
    memory.learn(ARGO, agent=agent)
    assert agent.prompts == []
    done = memory.learn(FLUX, agent=agent)
    assert (done.placement, done.change, contents(memory)) == (placement, change, rules)
    assert ARGO in agent.prompts[0]
    assert FLUX in agent.prompts[0]
    if change not in ("apart", "unclear"):
        assert "both name the tool of a deploy (says the agent)" in done.reasons[0]


def test_an_agent_is_not_asked_where_the_words_decide(memory):
    agent = ScriptedAgent([])
    for text in ("Use tabs", "Use spaces", "Prefer spaces", "Never push to main"):
        done = memory.learn(text, agent=agent)
        assert not any("agent" in reason for reason in done.reasons)
    assert agent.prompts == []


@pytest.mark.parametrize("answers", [[], [{"change": "replace", "reason": "x"}], [{"change": "same"}]])
def test_where_an_agent_fails_both_rules_stand_and_the_reply_says_why(memory, answers):
    memory.learn(ARGO)
    done = memory.learn(FLUX, agent=ScriptedAgent(answers))
    assert (done.placement, contents(memory)) == ("create", [ARGO, FLUX])
    assert any(reason.startswith("the agent did not decide") for reason in done.reasons)
    assert len(memory.review()) == 1


def test_an_agent_that_is_none_is_refused(memory):
    with pytest.raises(ParamError, match="agent"):
        memory.learn(ARGO, agent="claude")
