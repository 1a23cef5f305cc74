"""Agents with limited time."""

import pytest

from priming import AgentError, CommandAgent, ScriptedAgent
from priming_loop.environment import DeadlineAgent, DeadlineExceeded, with_timeout


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
