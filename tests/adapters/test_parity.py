"""One story through every adapter: two memories, a question, an update, a deletion, the question again.

A driver tells the story in the words of its library. What the store holds afterwards is the same.
"""

import asyncio
import warnings
from contextlib import contextmanager
from typing import ClassVar

import pytest
from langchain_core.messages import HumanMessage
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

with warnings.catch_warnings(action="ignore"):
    from autogen_core.memory import MemoryContent, MemoryMimeType
    from google.adk.events.event import Event
    from google.genai.types import Content, Part
    from llama_index.core.base.llms.types import ChatMessage

from priming.mcp.protocol import McpClient
from priming_adapters import mem0
from priming_adapters.adk import PrimingMemoryService
from priming_adapters.anthropic_memory import PrimingMemoryTool
from priming_adapters.autogen import PrimingMemory as AutoGenMemory
from priming_adapters.langchain import PrimingChatMessageHistory, PrimingRetriever
from priming_adapters.langgraph import PrimingStore
from priming_adapters.llama_index import PrimingMemoryBlock
from priming_adapters.openai_agents import PrimingSession
from priming_adapters.pydantic_ai import PrimingToolset
from priming_adapters.server_memory import ServerMemory

pytestmark = pytest.mark.adapters

HOME, MOVED, HOBBY = "Ada lives in Porto.", "Ada lives in Braga.", "Ada plays the cello."
QUESTION = "Where does Ada live, and what does she play?"


class Driver:
    """What a library has no words for is done by the verbs of the memory."""

    speaker = session = None
    """Whose words a memory has, and of which session, where the library tells it."""

    def __init__(self, memory):
        self.memory = memory

    def remember(self, name, text):
        """Remember a text under a name, or an id of the adapter's, which is returned."""
        raise NotImplementedError

    def ask(self, question):
        """The texts that the library answers a question with."""
        return [hit.content for hit in self.memory.recall(question)]

    def update(self, name, text):
        self.memory.supersede(name, text)

    def delete(self, name):
        self.memory.forget(name)

    def versions(self, record):
        """The texts that a memory had."""
        return [version.content for version in self.memory.history(record.id)]


class LangGraph(Driver):
    def __init__(self, memory):
        super().__init__(memory)
        self.store = PrimingStore(memory)

    def remember(self, name, text):
        self.store.put(("default",), name, {"text": text})
        return name

    update = remember

    def ask(self, question):
        return [item.value["text"] for item in self.store.search(("default",), query=question)]

    def delete(self, name):
        self.store.delete(("default",), name)


class LangChain(Driver):
    speaker, session = "Ada", "monday"

    def remember(self, name, text):
        PrimingChatMessageHistory("monday", self.memory).add_messages(
            [HumanMessage(text, name="Ada", id=name)]
        )
        return self.memory.list()[-1].id

    def ask(self, question):
        return [document.page_content for document in PrimingRetriever(source=self.memory).invoke(question)]


class OpenStore:
    """A service with one memory."""

    def __init__(self, memory):
        self.opened = memory

    @contextmanager
    def memory(self, _):
        yield self.opened


class ReferenceServer(Driver):
    def __init__(self, memory):
        super().__init__(memory)
        self.server = ServerMemory(McpClient(lambda: OpenStore(memory), memory.namespace))

    def call(self, name, /, **arguments):
        params = {"name": name, "arguments": arguments}
        reply = self.server.answer({"id": 1, "method": "tools/call", "params": params})
        return reply["result"]["structuredContent"]

    def remember(self, name, text):
        self.call("create_entities", entities=[{"name": name, "entityType": "", "observations": [text]}])
        return name

    def ask(self, question):
        entities = self.call("search_nodes", query=question)["entities"]
        return [text for entity in entities for text in entity["observations"]]

    def update(self, name, text):
        (entity,) = self.call("open_nodes", names=[name])["entities"]
        changes = [{"entityName": name, "observations": entity["observations"]}]
        self.call("add_observations", observations=[{"entityName": name, "contents": [text]}])
        self.call("delete_observations", deletions=changes)

    def delete(self, name):
        self.call("delete_entities", entityNames=[name])

    def versions(self, record):
        """The first line is the entity's name; between two texts it has both."""
        texts = [version.content.split("\n")[1:] for version in self.memory.history(record.id)]
        return [text for (text, *more) in texts if not more]


class AnthropicMemory(Driver):
    def __init__(self, memory):
        super().__init__(memory)
        self.tool = PrimingMemoryTool(memory)

    def remember(self, name, text):
        path = f"/memories/{name}.md"
        self.tool.call({"command": "create", "path": path, "file_text": text})
        return path

    def update(self, path, text):
        old = self.memory.get(path).content
        self.tool.call({"command": "str_replace", "path": path, "old_str": old, "new_str": text})

    def delete(self, path):
        self.tool.call({"command": "delete", "path": path})


class Mem0(Driver):
    speaker, session = "Ada", "monday"

    def __init__(self, memory):
        super().__init__(memory)
        self.mem0 = mem0.Memory(memory)

    def remember(self, name, text):
        message = {"role": "user", "name": "Ada", "content": text}
        (added,) = self.mem0.add(message, user_id="default", run_id="monday", infer=False)["results"]
        return added["id"]

    def ask(self, question):
        answer = self.mem0.search(question, filters={"user_id": "default"}, threshold=0)
        return [result["memory"] for result in answer["results"]]

    def update(self, own, text):
        self.mem0.update(own, text)

    def delete(self, own):
        self.mem0.delete(own)


class OpenAIAgents(Driver):
    speaker, session = "user", "monday"

    def remember(self, name, text):
        message = {"role": "user", "content": text}
        asyncio.run(PrimingSession("monday", self.memory).add_items([message]))
        return self.memory.list()[-1].id

    def ask(self, question):
        return [item["content"] for item in asyncio.run(PrimingSession("monday", self.memory).get_items())]

    def delete(self, own):
        asyncio.run(PrimingSession("monday", self.memory).pop_item())


class LlamaIndex(Driver):
    speaker, session = "Ada", "monday"

    def remember(self, name, text):
        message = ChatMessage(role="user", content=text, additional_kwargs={"name": "Ada"})
        asyncio.run(PrimingMemoryBlock(source=self.memory).aput([message], session_id="monday"))
        return self.memory.list()[-1].id

    def ask(self, question):
        block = PrimingMemoryBlock(source=self.memory)
        text = asyncio.run(block.aget([ChatMessage(role="user", content=question)]))
        return [each for each in (HOME, MOVED, HOBBY) if each in text]


class AutoGen(Driver):
    speaker, session = "Ada", "monday"

    def remember(self, name, text):
        about = {"speaker": "Ada", "session": "monday"}
        content = MemoryContent(content=text, mime_type=MemoryMimeType.TEXT, metadata=about)
        asyncio.run(AutoGenMemory(self.memory).add(content))
        return self.memory.list()[-1].id

    def ask(self, question):
        return [each.content for each in asyncio.run(AutoGenMemory(self.memory).query(question)).results]


class Adk(Driver):
    speaker, session = "user", "monday"
    user: ClassVar = {"app_name": "app", "user_id": "default"}

    def remember(self, name, text):
        event = Event(author="user", content=Content(role="user", parts=[Part(text=text)]))
        service = PrimingMemoryService(self.memory)
        asyncio.run(service.add_events_to_memory(events=[event], session_id="monday", **self.user))
        return self.memory.list()[-1].id

    def ask(self, question):
        answer = asyncio.run(PrimingMemoryService(self.memory).search_memory(query=question, **self.user))
        return [entry.content.parts[0].text for entry in answer.memories]

    def delete(self, own):
        asyncio.run(PrimingMemoryService(self.memory).delete_memory(memory_id=own, **self.user))


class PydanticAI(Driver):
    speaker, session = "Ada", "monday"

    def call(self, name, **arguments):
        def answer(messages, _info):
            if len(messages) == 1:
                return ModelResponse([ToolCallPart(name, arguments)])
            return ModelResponse([TextPart(str(messages[-1].parts[-1].content))])

        agent = Agent(FunctionModel(answer), toolsets=[PrimingToolset(self.memory)])
        return asyncio.run(agent.run("Go on.")).output

    def remember(self, name, text):
        self.call("remember", content=text, key=name, speaker="Ada", session="monday")
        return name

    def ask(self, question):
        text = self.call("recall", text=question)
        return [each for each in (HOME, MOVED, HOBBY) if each in text]

    def update(self, name, text):
        self.call("supersede", key=name, content=text)

    def delete(self, name):
        self.call("forget", key=name)


DRIVERS = [Mem0, OpenAIAgents, LlamaIndex, AutoGen, Adk, PydanticAI]
DRIVERS += [LangGraph, LangChain, ReferenceServer, AnthropicMemory]


@pytest.mark.parametrize("kind", DRIVERS)
def test_the_same_story_leaves_the_same_memories(kind, memory):
    driver = kind(memory)
    home, hobby = driver.remember("home", HOME), driver.remember("hobby", HOBBY)
    assert {HOME, HOBBY} <= {*driver.ask(QUESTION)}
    driver.update(home, MOVED)
    driver.delete(hobby)
    answers = driver.ask(QUESTION)
    assert MOVED in answers
    assert not {HOME, HOBBY} & {*answers}
    memories = [
        (driver.versions(record), record.status, record.speaker, record.session)
        for record in memory.list(status=None)
    ]
    about = (driver.speaker, driver.session)
    assert memories == [([HOME, MOVED], "active", *about), ([HOBBY], "forgotten", *about)]
