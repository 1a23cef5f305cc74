"""Agents from settings."""

import pytest
from tests.rows import each_row

from priming import CommandAgent, EndpointAgent, ParamError
from priming.config.environment import AgentSettings
from priming.llm.agents import check_agent, open_agent


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


@each_row("settings", [AgentSettings(""), AgentSettings(model=""), AgentSettings(model="qwen3")])
def test_what_names_nothing_is_refused(settings):
    with pytest.raises(ParamError, match="must be"):
        open_agent(settings)


@each_row("value", [7, "claude -p", CommandAgent])
def test_an_agent_has_a_method_that_answers(value):
    with pytest.raises(ParamError, match="must have a method answer"):
        check_agent(value)
