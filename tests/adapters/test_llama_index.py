"""The block of LlamaIndex, in its memory."""

import asyncio
import gc
import warnings

import pytest

with warnings.catch_warnings(action="ignore"):
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.llms.mock import MockFunctionCallingLLM
    from llama_index.core.memory import Memory

from priming_adapters.llama_index import PrimingMemoryBlock

pytestmark = [pytest.mark.adapters, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def _collected():
    """The database that LlamaIndex leaves open is complained of here, not in the next test."""
    yield
    gc.collect()


def chat_message(role, text, **more):
    return ChatMessage(role=role, content=text, additional_kwargs=more)


def test_what_is_put_is_remembered_with_speaker_and_session_and_recalled(memory):
    block = PrimingMemoryBlock(source=memory)

    async def life():
        await block.aput(
            [chat_message("user", "I live in Porto.", name="Ada"), chat_message("assistant", "Noted.")],
            session_id="monday",
        )
        await block.aput([chat_message("user", " ")])
        return await block.aget([chat_message("user", "Where do I live?")], session_id="tuesday")

    assert "I live in Porto." in asyncio.run(life())
    assert [(r.content, r.speaker, r.session, r.trust) for r in memory.list()] == [
        ("I live in Porto.", "Ada", "monday", "user"),
        ("Noted.", "assistant", "monday", "agent"),
    ]


@pytest.mark.parametrize("messages", [None, [], [chat_message("user", "")], [chat_message("user", " ")]])
def test_without_a_question_there_is_no_text(memory, messages):
    memory.remember("Ada lives in Porto.")
    assert asyncio.run(PrimingMemoryBlock(source=memory).aget(messages)) == ""


def test_a_block_is_shortened_from_its_end(memory):
    for number in range(9):
        memory.remember(f"Number {number} of nine lives in Porto.")
    block = PrimingMemoryBlock(source=memory)

    async def texts():
        whole = await block.aget([chat_message("user", "Who lives in Porto?")])
        return whole, await block.atruncate(whole, 40), await block.atruncate(whole, 10_000)

    whole, shorter, nothing = asyncio.run(texts())
    assert whole.startswith(shorter)
    assert len(shorter) <= len(whole) - 160
    assert nothing is None


def test_messages_that_leave_the_short_memory_come_back_as_what_they_are_about(memory):
    block = PrimingMemoryBlock(source=memory)
    whole = Memory.from_defaults(
        session_id="monday",
        token_limit=60,
        token_flush_size=30,
        chat_history_token_ratio=0.5,
        memory_blocks=[block],
    )

    async def talk():
        await whole.aput_messages(
            [
                chat_message("user", "I live in Porto with two cats."),
                chat_message("assistant", "How nice of you!"),
            ]
        )
        for number in range(12):
            await whole.aput_messages(
                [chat_message("user", f"Count to {number}, please."), chat_message("assistant", str(number))]
            )
        await whole.aput(chat_message("user", "Where do I live?"))
        return await whole.aget()

    messages = asyncio.run(talk())
    assert any("I live in Porto" in (message.content or "") for message in messages)
    assert {record.session for record in memory.list()} == {"monday"}


def test_an_agent_is_told_what_its_memory_recalls(memory):
    memory.remember("Ada lives in Porto.")
    prompts = []

    def answer(messages, *_, **__):
        prompts.extend(messages)
        return chat_message("assistant", "In Porto.")

    model = MockFunctionCallingLLM(response_generator=answer)
    agent = FunctionAgent(llm=model, tools=[])
    block = PrimingMemoryBlock(source=memory)

    async def run():
        await agent.run("Where does Ada live?", memory=Memory.from_defaults(memory_blocks=[block]))

    asyncio.run(run())
    assert any("Ada lives in Porto." in (message.content or "") for message in prompts)
