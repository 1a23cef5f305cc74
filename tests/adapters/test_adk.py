"""The memory service of ADK, driven by its runner with a scripted model."""

import asyncio
import warnings

import pytest

with warnings.catch_warnings(action="ignore"):
    from google.adk.agents import LlmAgent
    from google.adk.events.event import Event
    from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService
    from google.adk.sessions.session import Session
    from google.adk.tools import load_memory
    from google.genai.types import Content, FunctionCall, Part

from priming_adapters.adk import PrimingMemoryService
from priming_adapters.common import Users

pytestmark = [pytest.mark.adapters, pytest.mark.filterwarnings("ignore")]
AT = 1_772_442_000.0
ADA = {"app_name": "app", "user_id": "ada"}


def event(author, text, own, **more):
    role = "user" if author == "user" else "model"
    return Event(
        id=own, author=author, timestamp=AT, content=Content(role=role, parts=[Part(text=text)]), **more
    )


def session(*events, own="monday", user="ada", app="app"):
    return Session(id=own, app_name=app, user_id=user, events=list(events))


def contents(memory):
    return [record.content for record in memory.list()]


def texts(response):
    return [entry.content.parts[0].text for entry in response.memories]


def test_an_event_is_a_memory_of_its_user_and_is_remembered_once(memory):
    service = PrimingMemoryService(memory)
    thought = Event(id="4", author="helper", content=Content(parts=[Part(text="Hm.", thought=True)]))
    events = [
        event("user", "I live in Porto.", "1"),
        event("helper", "Noted.", "2"),
        Event(id="3", author="x"),
        thought,
    ]

    async def life():
        await service.add_session_to_memory(session(*events[:1]))
        await service.add_session_to_memory(session(*events))
        return await service.search_memory(query="Where do I live?", **ADA)

    answer = asyncio.run(life())
    ada = Users(memory).of("ada")
    assert contents(ada) == ["I live in Porto.", "Noted."]
    first = ada.list()[0]
    assert (first.speaker, first.session, first.trust, first.occurred_at.timestamp()) == (
        "user",
        "monday",
        "user",
        AT,
    )
    assert answer.memories[0].id == first.id
    assert (texts(answer)[0], answer.memories[0].author) == ("I live in Porto.", "user")
    assert answer.memories[0].timestamp == "2026-03-02T09:00:00+00:00"


def test_users_and_apps_do_not_mix(memory):
    service = PrimingMemoryService(memory)

    async def life():
        await service.add_session_to_memory(session(event("user", "I live in Porto.", "1")))
        await service.add_session_to_memory(session(event("user", "I live in Braga.", "1"), user="bo"))
        await service.add_session_to_memory(session(event("user", "I live in Faro.", "1"), app="other"))
        return await service.search_memory(query="Where do I live?", **ADA)

    assert texts(asyncio.run(life())) == ["I live in Porto."]


def test_what_was_remembered_otherwise_is_there_for_every_app(memory):
    Users(memory).of("ada").remember("Ada lives in Porto.")
    answer = asyncio.run(PrimingMemoryService(memory).search_memory(query="Where does Ada live?", **ADA))
    assert texts(answer) == ["Ada lives in Porto."]


@pytest.mark.parametrize("kind", [PrimingMemoryService, InMemoryMemoryService])
def test_what_was_deleted_stays_deleted_when_its_session_is_added_again(memory, kind):
    service = kind(memory) if kind is PrimingMemoryService else kind()

    async def life():
        await service.add_session_to_memory(session(event("user", "I live in Porto.", "1")))
        (entry,) = (await service.search_memory(query="Porto live", **ADA)).memories
        await service.delete_memory(memory_id=entry.id, **ADA)
        await service.delete_memory(memory_id="nothing", **ADA)
        await service.add_session_to_memory(session(event("user", "I live in Porto.", "1")))
        return (await service.search_memory(query="Porto live", **ADA)).memories

    assert asyncio.run(life()) == []


def test_texts_are_added_without_events(memory):
    service = PrimingMemoryService(memory)
    entry = MemoryEntry(
        content=Content(parts=[Part(text="Ada likes soup.")]),
        timestamp="2026-03-02T09:00:00",
        custom_metadata={"n": 1},
    )

    async def life():
        await service.add_memory(memories=[entry], custom_metadata={"source": "form"}, **ADA)
        return await service.search_memory(query="What does Ada like?", **ADA), await service.search_memory(
            query=" ", **ADA
        )

    answer, nothing = asyncio.run(life())
    assert texts(answer) == ["Ada likes soup."]
    assert answer.memories[0].custom_metadata["n"] == 1
    assert nothing.memories == []


class Scripted(BaseLlm):
    """Looks into the memory, and answers with what it was told."""

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response is None:
            part = Part(
                function_call=FunctionCall(name="load_memory", args={"query": "Where does Ada live?"})
            )
        else:
            part = Part(text="Porto" if "Porto" in str(last.function_response.response) else "nowhere")
        yield LlmResponse(content=Content(role="model", parts=[part]))


def test_an_agent_loads_what_an_earlier_session_said(memory):
    service, sessions = PrimingMemoryService(memory), InMemorySessionService()
    agent = LlmAgent(name="helper", model=Scripted(model="scripted"), tools=[load_memory])
    runner = Runner(app_name="app", agent=agent, session_service=sessions, memory_service=service)

    async def talk():
        await service.add_session_to_memory(session(event("user", "Ada lives in Porto.", "1")))
        await sessions.create_session(session_id="tuesday", **ADA)
        message = Content(role="user", parts=[Part(text="Where does Ada live?")])
        return [
            each async for each in runner.run_async(user_id="ada", session_id="tuesday", new_message=message)
        ]

    assert asyncio.run(talk())[-1].content.parts[-1].text == "Porto"
