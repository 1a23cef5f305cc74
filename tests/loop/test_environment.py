"""Agents with limited time."""

import pytest

from priming import AgentError, CommandAgent, ScriptedAgent
from priming_loop.environment import with_timeout
from priming_loop.session_store import limits


def test_a_timeout_is_that_of_each_answer():
    assert with_timeout(CommandAgent("claude -p"), 7.0).params.timeout == 7.0
    own = ScriptedAgent([])
    assert with_timeout(own, 7.0) is own


@pytest.mark.parametrize(("seconds", "stopped"), [(1.0, "agent"), (31.0, "minutes")])
def test_an_agent_that_was_cut_short_by_its_deadline_is_not_at_fault(runs, seconds, stopped):
    now = [0.0]

    def fails(_prompt, _schema):
        now[0] += seconds
        raise AgentError("it was stopped")

    assert runs.run(fails, limits=limits(minutes=1), monotonic=lambda: now[0]).stopped == stopped
