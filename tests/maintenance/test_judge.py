"""An agent may decide what the words of two rules leave open; its decision is an operation like any other."""

import pytest

from priming.errors import AgentError
from priming.llm.protocol import ScriptedAgent
from priming.maintenance.contradictions import RuleJudge, settle

ARGO, FLUX = "Ask argonaut about deploys", "Ask fluxion about deploys"


def contents(memory):
    return sorted(rule.content for rule in memory.list(kinds=["behavior"]))


@pytest.fixture
def unclear(memory):
    memory.learn(ARGO)
    assert memory.learn(FLUX).change == "unclear"
    return memory


@pytest.mark.parametrize(
    ("change", "kind", "rules"),
    [
        ("changes", "deprecate", [FLUX]),
        ("same", "merge", [ARGO]),
        ("apart", "keep-both", [ARGO, FLUX]),
        ("narrower", "keep-both", [ARGO, FLUX]),
    ],
)
def test_an_agent_decides_what_the_words_leave_open(unclear, change, kind, rules):
    agent = ScriptedAgent([{"change": change, "reason": "both name the tool of a deploy"}])
    (operation,) = settle(unclear, RuleJudge(agent), set())
    assert (operation.kind, contents(unclear), unclear.review()) == (kind, rules, [])
    assert all(text in agent.prompts[0] for text in (ARGO, FLUX))
    assert (operation.actor, operation.via) == (
        "agent",
        "settles: both name the tool of a deploy (says the agent)",
    )
    unclear.undo(operation.id)
    assert contents(unclear) == [ARGO, FLUX]
    assert len(unclear.review()) == 1


def test_a_pair_that_an_agent_cannot_decide_is_left_and_not_asked_about_again(unclear):
    agent, settled = ScriptedAgent([{"change": "unclear", "reason": "I do not know the team"}]), set()
    assert settle(unclear, RuleJudge(agent), settled) == settle(unclear, RuleJudge(agent), settled) == []
    assert (len(agent.prompts), len(unclear.review())) == (1, 1)


def test_an_agent_is_not_asked_where_the_words_decide(memory):
    agent = ScriptedAgent([])
    for text in ("Use tabs", "Use spaces", "Prefer spaces", "Never push to main"):
        memory.learn(text)
    assert settle(memory, RuleJudge(agent), set()) == []
    assert agent.prompts == []


def test_a_rule_of_less_trust_is_not_put_before_an_agent_to_replace_the_users(memory):
    memory.learn(ARGO)
    memory.learn(FLUX, trust="agent")
    agent = ScriptedAgent([{"change": "changes", "reason": "it says so"}])
    assert settle(memory, RuleJudge(agent), set()) == []
    assert agent.prompts == []


@pytest.mark.parametrize("answers", [[], [{"change": "replace", "reason": "x"}], [{"change": "same"}]])
def test_where_an_agent_fails_both_rules_stand(unclear, answers):
    with pytest.raises(AgentError):
        settle(unclear, RuleJudge(ScriptedAgent(answers)), set())
    assert contents(unclear) == [ARGO, FLUX]
    assert len(unclear.review()) == 1


def test_what_an_agent_says_is_shown_harmless_and_a_rule_that_changed_is_judged_anew(unclear):
    answers = [
        {"change": "unclear", "reason": "who knows"},
        {"change": "changes", "reason": "new\x1b[31m\x00tool"},
    ]
    judge, settled = RuleJudge(ScriptedAgent(answers)), set()
    assert settle(unclear, judge, settled) == []
    (rule,) = unclear.list(kinds=["behavior"], matching="fluxion")
    unclear.supersede(rule.key, "Ask quantum about deploys")
    (operation,) = settle(unclear, judge, settled)
    assert operation.kind == "deprecate"
    assert "\x1b" not in f"{operation.via}{operation.reason}"
