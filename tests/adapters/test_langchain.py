"""The retriever, by the suite that LangChain has for retrievers, and the history of a chat."""

import asyncio

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests

from priming import Memory
from priming_adapters.langchain import PrimingChatMessageHistory, PrimingRetriever

pytestmark = pytest.mark.adapters


class TestPrimingRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _store(self, memory):
        for city in ("Porto", "Braga", "Lisbon", "Faro"):
            memory.remember(f"The ferry to {city} leaves in the morning.", key=city.lower())
        self.memory = memory

    @property
    def retriever_constructor(self):
        return PrimingRetriever

    @property
    def retriever_constructor_params(self):
        return {"source": self.memory}

    @property
    def retriever_query_example(self):
        return "When does the ferry leave?"


def test_a_document_tells_how_relevant_its_memory_is_and_can_be_judged(memory):
    memory.remember("Ada lives in Porto.", key="home", speaker="Ada", session="monday", metadata={"page": 3})
    (document,) = PrimingRetriever(source=memory).invoke("Where does Ada live?")
    assert (document.page_content, document.id) == ("Ada lives in Porto.", memory.get("home").id)
    about = document.metadata
    assert (about["key"], about["page"], about["speaker"], about["session"]) == ("home", 3, "Ada", "monday")
    assert 0 < about["score"] < 1
    assert memory.feedback(about["recall_id"], used=[about["key"]]).kind == "feedback"


def test_a_retriever_takes_the_arguments_of_recall_and_a_user(memory):
    memory.remember("Ada lives in Porto.", session="monday")
    retriever = PrimingRetriever(source=memory)
    assert retriever.invoke("Where does Ada live?", filters={"session": "tuesday"}) == []
    assert retriever.invoke("Where does Ada live?", user="grace") == []
    assert len(retriever.invoke("Where does Ada live?", user="default")) == 1


def test_a_retriever_opens_and_closes_a_store(url):
    with Memory.open(url, namespace="ada") as memory:
        memory.remember("Ada lives in Porto.")
    retriever = PrimingRetriever(source=url, namespace="ada")
    assert len(retriever.batch(["Where does Ada live?", "Porto"])) == 2
    retriever.close()
    with pytest.raises(Exception, match="closed"):
        retriever.invoke("Porto")


MESSAGES = [
    SystemMessage("Be brief."),
    HumanMessage("ok", name="Ada", id="m1"),
    HumanMessage("ok", name="Ada", id="m1"),
    AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Porto"}, "id": "c1"}]),
    ToolMessage("12 °C", tool_call_id="c1"),
    AIMessage([{"type": "text", "text": "It is 12 °C."}, {"type": "text", "text": "Cold."}], id="a1"),
    HumanMessage([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]),
]


def test_the_messages_of_a_session_come_back_as_they_were_and_in_order(memory):
    history = PrimingChatMessageHistory("monday", memory)
    PrimingChatMessageHistory("tuesday", memory).add_user_message("Another session")
    history.add_messages(MESSAGES)
    assert history.messages == MESSAGES
    assert asyncio.run(history.aget_messages()) == MESSAGES
    assert [(record.speaker, record.trust) for record in memory.list()][1:] == [
        ("system", "agent"),
        ("Ada", "user"),
        ("Ada", "user"),
        ("assistant", "agent"),
        ("tool", "tool"),
        ("assistant", "agent"),
        ("user", "user"),
    ]
    assert memory.list()[6].content == "It is 12 °C.\nCold."


def test_a_message_that_a_recall_just_showed_is_stored_again(memory):
    history = PrimingChatMessageHistory("monday", memory)
    history.add_user_message("Ada lives in Porto.")
    memory.recall("Where does Ada live?")
    history.add_ai_message("Ada lives in Porto.")
    assert [message.type for message in history.messages] == ["human", "ai"]


def test_a_session_that_is_cleared_is_forgotten_and_no_other(memory):
    history, other = (PrimingChatMessageHistory(session, memory) for session in ("monday", "tuesday"))
    history.add_messages(MESSAGES)
    other.add_user_message("Ada lives in Porto.")
    history.clear()
    assert history.messages == []
    assert len(other.messages) == 1
    memory.undo(memory.log()[0].id)
    assert history.messages == MESSAGES[-1:]


def test_what_was_remembered_otherwise_in_a_session_is_in_its_history(memory):
    memory.remember("I moved to Braga.", session="monday", speaker="Ada")
    memory.remember("Noted.", session="monday", speaker="assistant")
    assert PrimingChatMessageHistory("monday", memory).messages == [
        HumanMessage("I moved to Braga."),
        AIMessage("Noted."),
    ]


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
def test_a_chain_keeps_its_history_in_a_memory(url):
    def reply(messages):
        return AIMessage(f"You said {len(messages)} things.")

    def history(session_id):
        return PrimingChatMessageHistory(session_id, url)

    chain = RunnableWithMessageHistory(RunnableLambda(reply), history)
    config = {"configurable": {"session_id": "monday"}}
    assert chain.invoke([HumanMessage("Hello")], config).content == "You said 1 things."
    assert chain.invoke([HumanMessage("Again")], config).content == "You said 3 things."
    with history("monday") as stored:
        assert [message.content for message in stored.messages][::2] == ["Hello", "Again"]
