"""The toolset of Pydantic AI, driven by an agent with a model that is a function."""

import asyncio

import pytest
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from priming_adapters.common import Users
from priming_adapters.pydantic_ai import PrimingToolset

pytestmark = pytest.mark.adapters


def model(*calls):
    """A model that makes calls, one after another, and then says what the last of them returned."""

    def answer(messages, _info):
        done = sum(isinstance(message, ModelResponse) for message in messages)
        if done < len(calls):
            name, arguments = calls[done]
            return ModelResponse([ToolCallPart(name, arguments)])
        return ModelResponse([TextPart(str(messages[-1].parts[-1].content))])

    return FunctionModel(answer)


def run(memory, *calls, user=None, deps=None):
    agent = Agent(model(*calls), toolsets=[PrimingToolset(memory, user=user)], deps_type=str)
    return asyncio.run(agent.run("Go on.", deps=deps)).output


def test_an_agent_remembers_and_recalls(memory):
    remembered = ("remember", {"content": "Ada lives in Porto.", "session": "monday", "speaker": "Ada"})
    assert "Ada lives in Porto." in run(memory, remembered, ("recall", {"text": "Where does Ada live?"}))
    (record,) = memory.list()
    assert (record.content, record.session, record.speaker) == ("Ada lives in Porto.", "monday", "Ada")


def test_an_agent_corrects_and_forgets(memory):
    memory.remember("Ada lives in Porto.", key="home")
    run(memory, ("supersede", {"key": "home", "content": "Ada lives in Braga."}))
    assert [version.content for version in memory.history("home")] == [
        "Ada lives in Porto.",
        "Ada lives in Braga.",
    ]
    run(memory, ("forget", {"key": "home"}))
    assert memory.list() == []
    memory.undo(memory.log(limit=1)[0].id)
    assert [record.content for record in memory.list()] == ["Ada lives in Braga."]


def test_the_user_of_a_run_has_a_memory_of_his_own(memory):
    remembered = ("remember", {"content": "I live in Porto."})
    run(memory, remembered, user=lambda ctx: ctx.deps, deps="ada")
    assert [record.content for record in Users(memory).of("ada").list()] == ["I live in Porto."]
    answer = run(memory, ("recall", {"text": "Where do I live?"}), user=lambda ctx: ctx.deps, deps="bo")
    assert "no memories" in answer
    assert "ada" not in answer
    assert "Porto" in run(memory, ("recall", {"text": "Where do I live?"}), user="ada")


def test_what_is_asked_wrongly_may_be_asked_again(memory):
    memory.remember("Ada lives in Porto.", key="home")
    assert "Ada lives in Porto." in run(memory, ("get", {"key": "nothing"}), ("get", {"key": "home"}))


def test_the_tools_are_those_of_mcp_with_their_instructions(memory):
    test_model = TestModel(call_tools=[])
    agent = Agent(test_model, toolsets=[PrimingToolset(memory)])
    asyncio.run(agent.run("Hello"))
    parameters = test_model.last_model_request_parameters
    assert {"remember", "recall", "supersede", "forget", "undo"} <= {
        tool.name for tool in parameters.function_tools
    }
    assert all(tool.description for tool in parameters.function_tools)
    assert any("memor" in part.content.lower() for part in parameters.instruction_parts)


def test_the_store_that_a_toolset_opened_is_closed(url):
    toolset = PrimingToolset(url)
    toolset.close()
    toolset.close()
