"""The agent that settings name."""

import pytest

from priming import CommandAgent, EndpointAgent, ParamError
from priming.config import AgentSettings
from priming.llm.agents import open_agent


def test_settings_that_name_none_mean_none():
    assert agent_of(AgentSettings()) is None


def test_a_command_is_asked_as_it_stands():
    agent = agent_of(AgentSettings("claude -p --model 'a b'"))
    assert isinstance(agent, CommandAgent)
    assert agent.arguments == ("claude", "-p", "--model", "a b")


def test_a_model_is_asked_at_its_endpoint_with_the_key():
    agent = agent_of(AgentSettings(model="http://localhost:8080/v1,qwen3", key="secret"))
    assert isinstance(agent, EndpointAgent)
    assert (agent.url, agent.model, agent.key) == ("http://localhost:8080/v1", "qwen3", "secret")


@pytest.mark.parametrize(
    "settings", [AgentSettings(""), AgentSettings(model=""), AgentSettings(model="qwen3")]
)
def test_what_names_nothing_is_refused(settings):
    with pytest.raises(ParamError, match="must be"):
        agent_of(settings)
