"""One story through every adapter: two memories, a question, an update, a deletion, the question again.

A driver tells the story in the words of its library. What the store holds afterwards is the same.
"""

from contextlib import contextmanager

import pytest
from langchain_core.messages import HumanMessage

from priming.mcp.protocol import McpClient
from priming_adapters.anthropic_memory import PrimingMemoryTool
from priming_adapters.langchain import PrimingChatMessageHistory, PrimingRetriever
from priming_adapters.langgraph import PrimingStore
from priming_adapters.server_memory.server import ServerMemory

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


DRIVERS = [LangGraph, LangChain, ReferenceServer, AnthropicMemory]


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
