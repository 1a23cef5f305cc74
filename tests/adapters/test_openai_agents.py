"""The session of OpenAI Agents, driven by its runner with a scripted model."""

import asyncio

import pytest
from agents.memory import Session, SQLiteSession
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from agents import Agent, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from priming_adapters.openai_agents import PrimingSession

pytestmark = pytest.mark.adapters
ITEMS = [
    {"role": "user", "content": "I live in Porto."},
    {"role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
    {"type": "function_call", "name": "weather", "arguments": '{"city": "Porto"}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "Rain"},
    {"type": "reasoning", "id": "r", "summary": []},
]


class Scripted(Model):
    """Answers with the outputs of a list, and notes what it was asked."""

    def __init__(self, *outputs):
        self.outputs, self.inputs = list(outputs), []

    async def get_response(self, system_instructions, input, *_, **__):
        self.inputs.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


def says(text):
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


def contents(memory):
    return [(record.content, record.speaker, record.trust) for record in memory.list()]


def test_it_is_a_session_and_its_items_are_those_of_the_original(memory):
    async def life(session):
        await session.add_items(ITEMS)
        await session.add_items([])
        answers = [await session.get_items(), await session.get_items(2), await session.get_items(0)]
        answers += [await session.pop_item(), await session.get_items(1)]
        await session.clear_session()
        return [*answers, await session.get_items(), await session.pop_item()]

    ours, theirs = PrimingSession("monday", memory), SQLiteSession("monday")
    assert isinstance(ours, Session)
    assert asyncio.run(life(ours)) == asyncio.run(life(theirs))
    theirs.close()


def test_an_item_is_a_memory_with_its_speaker_and_session(memory):
    asyncio.run(PrimingSession("monday", memory).add_items(ITEMS))
    assert contents(memory) == [
        ("I live in Porto.", "user", "user"),
        ("Noted.", "assistant", "agent"),
        ("ran weather: Porto", "assistant", "agent"),
        ("Rain", "tool", "tool"),
        ("(reasoning)", "assistant", "agent"),
    ]
    assert {record.session for record in memory.list()} == {"monday"}
    assert memory.recall("Where do I live?").hits[0].content == "I live in Porto."


def test_a_runner_goes_on_where_the_session_was(memory):
    @function_tool
    def weather(city: str) -> str:
        """The weather."""
        return f"Rain in {city}."

    call = ResponseFunctionToolCall(
        call_id="c", name="weather", arguments='{"city": "Porto"}', type="function_call"
    )
    model = Scripted(call, says("It rains."), says("In Porto."))
    agent = Agent("weather", model=model, tools=[weather])
    set_tracing_disabled(True)

    async def talk():
        first = await Runner.run(agent, "Weather in Porto?", session=PrimingSession("monday", memory))
        second = await Runner.run(agent, "Where was that?", session=PrimingSession("monday", memory))
        return first.final_output, second.final_output

    assert asyncio.run(talk()) == ("It rains.", "In Porto.")
    assert model.inputs[-1][0]["content"] == "Weather in Porto?"
    assert "function_call_output" in [item.get("type") for item in model.inputs[-1]]
    assert memory.list()[2].content == "Rain in Porto."


def test_sessions_do_not_mix_and_the_settings_limit_what_is_returned(memory):
    from agents.memory import SessionSettings

    async def items():
        monday = PrimingSession("monday", memory, session_settings=SessionSettings(limit=1))
        await monday.add_items(ITEMS[:2])
        await PrimingSession("tuesday", memory).add_items(ITEMS[:1])
        return await monday.get_items(), await PrimingSession("tuesday", memory).get_items()

    monday, tuesday = asyncio.run(items())
    assert (monday, tuesday) == ([ITEMS[1]], [ITEMS[0]])


def test_what_was_remembered_otherwise_is_a_message_of_the_session(memory):
    memory.remember("The build host is full.", session="monday", trust="agent")
    (item,) = asyncio.run(PrimingSession("monday", memory).get_items())
    assert item == {"role": "assistant", "content": "The build host is full."}


def test_a_corrected_item_has_its_new_text(memory):
    session = PrimingSession("monday", memory)
    asyncio.run(session.add_items(ITEMS[:1]))
    memory.supersede(memory.list()[0].id, "I live in Braga.")
    assert asyncio.run(session.get_items()) == [{"role": "user", "content": "I live in Braga."}]
