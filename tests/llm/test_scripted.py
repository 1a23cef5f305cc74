"""The agent whose answers are known beforehand."""

import pytest
from tests.rows import each_row

from priming import AgentError, ScriptedAgent
from priming.llm.protocol import Agent

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_it_is_an_agent():
    assert isinstance(ScriptedAgent([]), Agent)


def test_it_gives_the_answers_of_a_list_in_their_order_and_keeps_the_prompts():
    agent = ScriptedAgent([{"n": 1}, {"n": 2}])
    assert [agent.answer(item, SCHEMA) for item in ("a", "b")] == [{"n": 1}, {"n": 2}]
    assert agent.prompts == ["a", "b"]


def test_it_gives_what_a_function_makes_of_the_prompt_and_the_schema():
    agent = ScriptedAgent(lambda prompt, schema: {"n": len(prompt) + len(schema)})
    assert agent.answer("abcd", SCHEMA) == {"n": 7}


def test_at_the_end_of_its_list_it_has_no_answer():
    agent = ScriptedAgent([{"n": 1}])
    agent.answer("a", SCHEMA)
    with pytest.raises(AgentError, match="no answers left, after 1: give it more"):
        agent.answer("b", SCHEMA)


@each_row("answer", [{}, {"n": "one"}, ["n"]])
def test_its_answers_are_held_against_the_schema_as_any_agents(answer):
    with pytest.raises(AgentError, match="does not fit the schema"):
        ScriptedAgent([answer]).answer("a", SCHEMA)
