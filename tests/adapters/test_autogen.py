"""The memory of AutoGen, driven by its agent with a model that replays answers."""

import asyncio
import warnings
from pathlib import Path

import pytest

with warnings.catch_warnings(action="ignore"):
    from autogen_agentchat.agents import AssistantAgent
    from autogen_core.memory import MemoryContent, MemoryMimeType
    from autogen_core.model_context import BufferedChatCompletionContext
    from autogen_core.models import SystemMessage, UserMessage
    from autogen_ext.models.replay import ReplayChatCompletionClient

from priming import Memory, ParamError
from priming_adapters.autogen import PrimingMemory

pytestmark = [pytest.mark.adapters, pytest.mark.filterwarnings("ignore")]
TEXT = MemoryMimeType.TEXT


def test_what_is_added_is_remembered_with_its_metadata_and_queried(memory):
    async def life():
        ours = PrimingMemory(memory)
        about = {"session": "monday", "speaker": "Ada", "tags": ["home"], "page": 3}
        await ours.add(MemoryContent(content="Ada lives in Porto.", mime_type=TEXT, metadata=about))
        await ours.add(MemoryContent(content={"food": "soup"}, mime_type=MemoryMimeType.JSON))
        await ours.add(MemoryContent(content=" ", mime_type=TEXT))
        return (
            await ours.query("Where does Ada live?", limit=1),
            await ours.query("soup"),
            await ours.query(" "),
        )

    answer, soup, nothing = asyncio.run(life())
    (hit,) = answer.results
    assert (hit.content, hit.metadata["page"], hit.metadata["speaker"]) == ("Ada lives in Porto.", 3, "Ada")
    assert 0 < hit.metadata["score"] <= 1
    assert (soup.results[0].content, soup.results[0].mime_type) == ({"food": "soup"}, "application/json")
    assert nothing.results == []
    record = memory.get(hit.metadata["id"])
    assert (record.session, record.speaker, record.tags) == ("monday", "Ada", ("home",))


def test_the_context_gets_what_its_latest_message_recalls(memory):
    memory.remember("Ada lives in Porto.")
    context = BufferedChatCompletionContext(buffer_size=10)

    async def update(text):
        await context.add_message(UserMessage(content=text, source="user"))
        result = await PrimingMemory(memory).update_context(context)
        return result.memories.results, await context.get_messages()

    results, messages = asyncio.run(update("Where does Ada live?"))
    assert [each.content for each in results] == ["Ada lives in Porto."]
    assert isinstance(messages[-1], SystemMessage)
    assert "Ada lives in Porto." in messages[-1].content


def test_an_empty_context_or_memory_adds_nothing(memory):
    context = BufferedChatCompletionContext(buffer_size=10)

    async def update():
        first = await PrimingMemory(memory).update_context(context)
        await context.add_message(UserMessage(content="Where?", source="user"))
        second = await PrimingMemory(memory).update_context(context)
        return first.memories.results, second.memories.results, len(await context.get_messages())

    assert asyncio.run(update()) == ([], [], 1)


def test_an_agent_is_told_what_its_memory_recalls(memory):
    memory.remember("Ada lives in Porto.")
    model = ReplayChatCompletionClient(["In Porto."])
    agent = AssistantAgent("helper", model_client=model, memory=[PrimingMemory(memory)])
    answer = asyncio.run(agent.run(task="Where does Ada live?"))
    assert answer.messages[-1].content == "In Porto."
    (call,) = model.create_calls
    assert any("Ada lives in Porto." in str(message.content) for message in call["messages"])


def test_clearing_forgets_and_undo_restores(memory):
    async def life():
        ours = PrimingMemory(memory)
        await ours.add(MemoryContent(content="Ada lives in Porto.", mime_type=TEXT))
        await ours.clear()
        return (await ours.query("Where does Ada live?")).results

    assert asyncio.run(life()) == []
    memory.undo(memory.log(limit=1)[0].id)
    assert [record.content for record in memory.list()] == ["Ada lives in Porto."]


def test_what_is_no_text_is_refused(memory):
    with pytest.raises(TypeError, match="describe it in words"):
        asyncio.run(
            PrimingMemory(memory).add(MemoryContent(content=b"\x00", mime_type=MemoryMimeType.BINARY))
        )


@pytest.mark.parametrize("of", [str, lambda url: Path(url.removeprefix("sqlite:///"))])
def test_it_is_made_again_of_its_configuration(of, url):
    ours = PrimingMemory(of(url), namespace="ada", tokens=50)
    again = PrimingMemory.load_component(ours.dump_component())

    async def life():
        await ours.add(MemoryContent(content="Ada lives in Porto.", mime_type=TEXT))
        contents = (await again.query("Where does Ada live?")).results
        await ours.close()
        await again.close()
        return [each.content for each in contents]

    assert asyncio.run(life()) == ["Ada lives in Porto."]
    with Memory.open(url, namespace="ada") as memory:
        assert len(memory.list()) == 1


def test_an_open_memory_is_refused_a_configuration(memory):
    with pytest.raises(ParamError, match="give the URL or path"):
        PrimingMemory(memory).dump_component()


def test_a_corrected_object_is_its_new_text(memory):
    async def life():
        ours = PrimingMemory(memory)
        await ours.add(MemoryContent(content={"food": "soup"}, mime_type=MemoryMimeType.JSON))
        memory.supersede(memory.list()[0].id, "The food is stew.")
        return (await ours.query("What is the food?")).results

    (result,) = asyncio.run(life())
    assert (result.content, result.mime_type) == ("The food is stew.", MemoryMimeType.TEXT)
