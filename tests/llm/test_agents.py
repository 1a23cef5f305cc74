"""Agents from settings, and agents with limited time."""

import pytest

from priming import AgentError, CommandAgent, EndpointAgent, ParamError, ScriptedAgent
from priming.config.environment import AgentSettings
from priming.llm.agents import DeadlineAgent, DeadlineExceeded, check_agent, open_agent, with_timeout


def test_settings_that_name_none_mean_none():
    assert open_agent(AgentSettings()) is None


def test_a_command_is_asked_as_it_stands():
    agent = open_agent(AgentSettings("claude -p --model 'a b'"))
    assert isinstance(agent, CommandAgent)
    assert agent.arguments == ("claude", "-p", "--model", "a b")


@pytest.mark.extra
def test_a_model_is_asked_at_its_endpoint_with_the_key():
    agent = open_agent(AgentSettings(model="http://localhost:8080/v1,qwen3", key="secret"))
    assert isinstance(agent, EndpointAgent)
    assert (agent.url, agent.model, agent.key) == ("http://localhost:8080/v1", "qwen3", "secret")


@pytest.mark.parametrize(
    "settings", [AgentSettings(""), AgentSettings(model=""), AgentSettings(model="qwen3")]
)
def test_what_names_nothing_is_refused(settings):
    with pytest.raises(ParamError, match="must be"):
        open_agent(settings)


@pytest.mark.parametrize("value", [7, "claude -p", CommandAgent])
def test_an_agent_has_a_method_that_answers(value):
    with pytest.raises(ParamError, match="must have a method answer"):
        check_agent(value)


def test_a_timeout_is_that_of_each_answer():
    assert with_timeout(CommandAgent("claude -p"), 7.0).params.timeout == 7.0
    own = ScriptedAgent([])
    assert with_timeout(own, 7.0) is own


def test_an_agent_is_asked_before_its_deadline_only():
    agent = DeadlineAgent(ScriptedAgent([{"n": 1}, {"n": 2}]), 10.0, lambda: 9.0)
    assert agent.answer("?", {}) == {"n": 1}
    with pytest.raises(DeadlineExceeded):
        DeadlineAgent(agent.agent, 10.0, lambda: 10.0).answer("?", {})


def test_an_agent_that_fails_before_its_deadline_is_at_fault():
    with pytest.raises(AgentError, match="no answers left"):
        DeadlineAgent(ScriptedAgent([]), 10.0, lambda: 9.0).answer("?", {})


def test_an_agent_that_was_cut_short_by_its_deadline_is_not_at_fault():
    times = iter([0.0, 0.0, 10.0])
    agent = DeadlineAgent(CommandAgent("no-such-program-at-all"), 10.0, lambda: next(times))
    with pytest.raises(DeadlineExceeded):
        agent.answer("?", {})
