"""The shape of mem0 beside mem0 itself, whose embedder is a fake and whose model is never asked."""

import asyncio
import inspect
import warnings

import httpx
import pytest
from starlette.routing import Route
from tests.server.conftest import serve  # noqa: F401

from priming.llm.protocol import ScriptedAgent
from priming_adapters.common import Users
from priming_adapters.mem0 import AsyncMemory, Memory
from priming_adapters.mem0.rest import APPLICATION

pytestmark = pytest.mark.adapters
METHODS = [
    "add",
    "search",
    "get",
    "get_all",
    "update",
    "delete",
    "delete_all",
    "history",
    "reset",
    "close",
    "chat",
]
DIALOGUE = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "I live in Porto.", "name": "Ada"},
    {"role": "assistant", "content": [{"type": "text", "text": "Noted: Porto."}]},
]


class Lengths:
    """An embedder of mem0 whose vectors tell texts of other lengths apart."""

    def embed(self, text, memory_action=None):
        return [float(len(text)), 1.0, 2.0, 3.0]

    def embed_batch(self, texts, memory_action=None):
        return [self.embed(text) for text in texts]


@pytest.fixture(scope="module")
def mem0(tmp_path_factory):
    """The package; it keeps its files in a temporary folder, and sends nothing."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):
        patch.setenv("MEM0_DIR", str(tmp_path_factory.mktemp("mem0")))
        patch.setenv("MEM0_TELEMETRY", "False")
        import mem0
        import mem0.memory.main as main

        patch.setattr(main.EmbedderFactory, "create", lambda *_: Lengths())
        patch.setattr(main.LlmFactory, "create", lambda *_: None)
        yield mem0


def original(mem0, folder):
    """mem0's own memory in a folder."""
    store = {
        "path": str(folder / "qdrant"),
        "collection_name": "m",
        "embedding_model_dims": 4,
        "on_disk": True,
    }
    return mem0.Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": str(folder / "history.db"),
            "embedder": {"provider": "openai", "config": {"api_key": "x"}},
            "llm": {"provider": "openai", "config": {"api_key": "x"}},
        }
    )


@pytest.fixture
def both(mem0, memory, tmp_path):
    """mem0 and ours."""
    with warnings.catch_warnings(action="ignore"):
        theirs = original(mem0, tmp_path)
        yield theirs, Memory(memory)
        theirs.close()
        theirs.vector_store.client.close()


def shape(value):
    """A value with the type in place of each text and number."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value)


def texts(answer):
    return sorted(result["memory"] for result in answer["results"])


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", ["Memory", "AsyncMemory"])
def test_the_arguments_are_those_of_mem0(mem0, name, kind):
    def arguments(method):
        return [
            (each.name, each.kind, repr(each.default) if type(each.default) is not object else "unset")
            for each in inspect.signature(method).parameters.values()
            if each.name != "llm"  # a model of LangChain, which only the async add takes
        ]

    ours = {"Memory": Memory, "AsyncMemory": AsyncMemory}[kind]
    assert arguments(getattr(ours, name)) == arguments(getattr(getattr(mem0, kind), name))
    if kind == "AsyncMemory" and name != "close":
        assert inspect.iscoroutinefunction(getattr(ours, name))


def test_a_life_of_some_memories_has_the_same_answers(both):
    answers = []
    for memory in both:
        added = memory.add(DIALOGUE, user_id="ada", run_id="monday", metadata={"topic": "home"}, infer=False)
        first, second = (result["id"] for result in added["results"])
        answers.append(
            [
                added,
                memory.update(first, "I live in Braga.", metadata={"sure": True, "user_id": "eve"}),
                memory.get(first),
                memory.delete(second),
                memory.get(second),
                memory.get_all(filters={"user_id": "ada"}),
                memory.search("Where do I live?", filters={"user_id": "ada"}, threshold=0),
                memory.search("Where do I live?", filters={"user_id": "eve"}, threshold=0),
                memory.history(first),
                memory.history(second),
                memory.history("nothing"),
                memory.delete_all(user_id="ada"),
                memory.get_all(filters={"user_id": "ada"}),
                memory.reset(),
            ]
        )
    theirs, ours = answers
    assert shape(ours) == shape(theirs)
    for ask in (
        "memory",
        "event",
        "hash",
        "metadata",
        "actor_id",
        "role",
        "user_id",
        "run_id",
        "old_memory",
        "new_memory",
    ):
        assert values(ours, ask) == values(theirs, ask), ask


def values(value, name):
    """All that stands under a name, in order."""
    if isinstance(value, dict):
        return [value[name] for _ in [0] if name in value] + values([*value.values()], name)
    return [each for item in value for each in values(item, name)] if isinstance(value, list) else []


MISUSES = {
    "no id": lambda m: m.add("A text."),
    "odd messages": lambda m: m.add(7, user_id="ada"),
    "white space in an id": lambda m: m.add("A text.", user_id="a b", infer=False),
    "an empty id": lambda m: m.add("A text.", user_id=" ", infer=False),
    "another type of memory": lambda m: m.add("A text.", user_id="ada", memory_type="x"),
    "a day that is none": lambda m: m.add("A text.", user_id="ada", expiration_date="soon", infer=False),
    "no query": lambda m: m.search(" ", filters={"user_id": "ada"}),
    "a query without an id": lambda m: m.search("where"),
    "a list without an id": lambda m: m.get_all(filters={"topic": "home"}),
    "a negative limit": lambda m: m.search("where", filters={"user_id": "ada"}, top_k=-1),
    "an odd limit": lambda m: m.get_all(filters={"user_id": "ada"}, top_k="many"),
    "a threshold above 1": lambda m: m.search("where", filters={"user_id": "ada"}, threshold=2),
    "an odd operator": lambda m: m.search("where", filters={"user_id": "ada", "n": {"gt": 1, "is": 2}}),
    "an OR of nothing": lambda m: m.search("where", filters={"user_id": "ada", "OR": []}),
    "nothing to update": lambda m: m.update("id-1"),
    "an unknown id to update": lambda m: m.update("id-1", "A text."),
    "an unknown id to delete": lambda m: m.delete("id-1"),
    "everything deleted": lambda m: m.delete_all(),
    "chat": lambda m: m.chat("Hello"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_what_mem0_refuses_is_refused(both, mem0, misuse):
    def error(memory):
        with pytest.raises((ValueError, NotImplementedError, mem0.exceptions.MemoryError)) as caught:
            MISUSES[misuse](memory)
        return caught.value

    theirs, ours = map(error, both)
    assert isinstance(ours, type(theirs) if isinstance(theirs, NotImplementedError) else ValueError)
    assert str(ours).split()[:3] == str(theirs).split()[:3] or misuse == "an odd operator"


FILTERS = [
    {"n": 2},
    {"n": {"gt": 1}},
    {"n": {"gte": 2, "lt": 3}},
    {"n": {"ne": 2}},
    {"topic": {"in": ["home", "work"]}},
    {"topic": {"nin": ["home"]}},
    {"topic": {"contains": "home"}},
    {"topic": {"icontains": "HOME"}},
    {"topic": "*"},
    {"OR": [{"n": 1}, {"topic": "work"}]},
    {"AND": [{"n": {"gte": 1}}, {"topic": "home"}]},
    {"NOT": [{"n": 1}, {"topic": "work"}]},
    {"NOT": [{"n": 1, "topic": "work"}]},
    {"run_id": "monday"},
    {"actor_id": "Ada"},
    {"role": "assistant"},
]


@pytest.mark.parametrize("which", FILTERS, ids=str)
def test_a_filter_chooses_as_in_mem0(both, which):
    chosen = []
    for memory in both:
        for number, topic in enumerate(("home", "home", "work", None)):
            about = {"n": number} | ({"topic": topic} if topic else {})
            memory.add(f"Number {number} of four.", user_id="ada", metadata=about, infer=False)
        memory.add(DIALOGUE, user_id="ada", run_id="monday", infer=False)
        chosen.append(texts(memory.search("Number", filters={"user_id": "ada", **which}, threshold=0)))
    theirs, ours = chosen
    assert ours == theirs


def test_what_expired_is_hidden_as_in_mem0(both):
    for memory in both:
        memory.add("Over.", user_id="ada", expiration_date="2020-01-01", infer=False)
        memory.add("Not over.", user_id="ada", expiration_date="2999-01-01", infer=False)
        scope = {"user_id": "ada"}
        assert texts(memory.get_all(filters=scope)) == ["Not over."]
        assert texts(memory.get_all(filters=scope, show_expired=True)) == ["Not over.", "Over."]


def test_the_ids_of_earlier_releases_and_an_agent_or_a_run_alone_find_the_same(memory):
    ours = Memory(memory)
    ours.add("Ada cooks soup.", user_id="ada", agent_id="cook", run_id="monday")
    ours.add("The stove is hot.", agent_id="cook")
    ours.add("It is Monday.", run_id="monday")
    assert (
        texts(ours.get_all(user_id="ada"))
        == texts(ours.get_all(filters={"user_id": "ada"}))
        == ["Ada cooks soup."]
    )
    assert texts(ours.get_all(agent_id="cook")) == ["Ada cooks soup.", "The stove is hot."]
    assert texts(ours.search("what", run_id="monday", limit=5, threshold=0)) == [
        "Ada cooks soup.",
        "It is Monday.",
    ]
    assert texts(ours.get_all(filters={"OR": [{"user_id": "ada"}, {"user_id": "bo"}]})) == ["Ada cooks soup."]
    ours.delete_all(agent_id="cook")
    assert texts(ours.get_all(filters={"user_id": "*"})) == ["It is Monday."]
    assert texts(ours.get_all(run_id="monday")) == ["It is Monday."]


def test_users_do_not_meet(memory):
    ours = Memory(memory)
    ours.add("I live in Porto.", user_id="ada")
    (same,) = ours.add("I live in Porto.", user_id="grace")["results"]
    assert same["event"] == "ADD"
    assert [record.content for record in Memory(memory)._scopes.of("grace").list()] == ["I live in Porto."]


def test_a_changed_fact_is_an_update_and_the_same_is_none(memory):
    ours = Memory(memory)
    (first,) = ours.add("I live in Porto.", user_id="ada")["results"]
    (changed,) = ours.add("I live in Braga.", user_id="ada")["results"]
    (same,) = ours.add("I live in Braga.", user_id="ada")["results"]
    (question,) = ours.add("Where do I live?", user_id="ada")["results"]
    assert [each["event"] for each in (first, changed, same, question)] == ["ADD", "UPDATE", "NONE", "ADD"]
    assert changed["id"] == same["id"] == first["id"]
    assert changed["previous_memory"] == "I live in Porto."
    assert [each["event"] for each in ours.history(first["id"])] == ["ADD", "UPDATE"]


def test_many_messages_are_added_at_once_and_those_that_change_others_of_them_are_updates(memory):
    ours = Memory(memory)
    ours.add("I work at Falcon.", user_id="default")
    number = len(memory.log())
    texts = [
        "I live in Porto.",
        "The ferry sails on Mondays.",
        "I live in Braga.",
        "I live in Braga.",
        "I work at Kite.",
        "I live in Faro.",
        "I work at Kite.",
        "The ferry sails on Mondays.",
    ]
    spoken = [{"role": "user", "content": text} for text in texts]
    results = ours.add(spoken, user_id="default")["results"]
    events = ["ADD", "ADD", "UPDATE", "NONE", "UPDATE", "UPDATE", "NONE", "NONE"]
    assert [each["event"] for each in results] == events
    assert [each["memory"] for each in results] == texts
    assert [each.get("previous_memory") for each in results if each["event"] == "UPDATE"] == [
        "I live in Porto.",
        "I work at Falcon.",
        "I live in Braga.",
    ]
    assert len({results[place]["id"] for place in (0, 2, 3, 5)}) == 1
    operations = [operation.kind for operation in reversed(memory.log())][number:]
    assert operations == ["remember", "supersede", "supersede", "supersede"]
    assert {record.content for record in memory.list()} == {
        "I live in Faro.",
        "I work at Kite.",
        "The ferry sails on Mondays.",
    }
    plain = ours.add(spoken, user_id="ada", infer=False)["results"]
    assert [each["event"] for each in plain] == ["ADD", "ADD", "ADD", "NONE", "ADD", "ADD", "NONE", "NONE"]
    assert [operation.kind for operation in Users(memory).of("ada").log()] == ["remember"]


def test_what_somebody_else_says_of_themselves_changes_nothing(memory):
    ours = Memory(memory)
    ours.add({"role": "user", "content": "I live in Porto.", "name": "Ada"}, user_id="home")
    (other,) = ours.add({"role": "user", "content": "I live in Braga.", "name": "Bo"}, user_id="home")[
        "results"
    ]
    assert other["event"] == "ADD"


def test_a_model_adds_updates_and_deletes(memory):
    ours = Memory(memory)
    ours.add("Ada lives in Porto.", user_id="ada")
    ours.add("Ada has a cat.", user_id="ada")
    numbers = {}

    def model(prompt, _schema):
        for line in prompt.splitlines():
            number, _, text = line.partition(" ")
            numbers[text] = int(number) if number.isdigit() else 0
        return {
            "memories": [
                {"event": "UPDATE", "number": numbers["Ada lives in Porto."], "text": "Ada lives in Braga."},
                {"event": "DELETE", "number": numbers["Ada has a cat."]},
                {"event": "ADD", "text": "Ada plays chess."},
                {"event": "UPDATE", "number": 99, "text": "Of nothing."},
                {"event": "NONE", "number": 1},
            ]
        }

    agent = ScriptedAgent(model)
    with Memory.from_config({"priming": {"url": memory, "agent": agent}}) as modelled:
        events = [
            each["event"] for each in modelled.add("I moved.", user_id="ada", prompt="Keep names.")["results"]
        ]
    assert events == ["UPDATE", "DELETE", "ADD"]
    assert "Keep names." in agent.prompts[0]
    assert texts(ours.get_all(user_id="ada")) == ["Ada lives in Braga.", "Ada plays chess."]


def test_what_the_open_edition_refuses_works(memory):
    ours = Memory.from_config(
        {"priming": {"url": memory}, "graph_store": {"provider": "neo4j", "config": {}}}
    )
    (old,) = ours.add("Checkout was down because Falcon failed.", user_id="ada", timestamp=1_772_442_000)[
        "results"
    ]
    ours.add("Grace looks after Falcon.", user_id="ada")
    answer = ours.search(
        "Checkout is down", user_id="ada", threshold=0, reference_date="2026-03-03", explain=True
    )
    assert {"source", "relationship", "destination"} == {*answer["relations"][0]}
    assert answer["results"][0]["score_details"]
    assert (
        memory.__class__(*_parts(memory, "ada")).get(old["id"]).occurred_at.isoformat()
        == "2026-03-02T09:00:00+00:00"
    )


def _parts(memory, name):
    return memory.store, name, memory.embedder, memory.clock, memory.profile, memory.profiles


def test_deleted_is_forgotten_and_undone(memory):
    ours = Memory(memory)
    (added,) = ours.add("Ada lives in Porto.", user_id="default")["results"]
    ours.delete(added["id"])
    assert ours.get(added["id"]) is None
    memory.undo(memory.log(limit=1)[0].id)
    assert ours.get(added["id"])["memory"] == "Ada lives in Porto."


def test_a_reset_leaves_what_came_otherwise(memory):
    memory.remember("The build host is full.")
    ours = Memory(memory)
    ours.add("Ada lives in Porto.", user_id="default")
    ours.reset()
    assert [record.content for record in memory.list()] == ["The build host is full."]
    assert texts(ours.get_all(user_id="default")) == ["The build host is full."]


def test_the_async_memory_does_the_same(memory):
    async def life():
        async with AsyncMemory(memory) as ours:
            (added,) = (await ours.add("Ada lives in Porto.", user_id="ada"))["results"]
            await ours.update(added["id"], text="Ada lives in Braga.")
            return await asyncio.gather(
                *(ours.search("Ada", user_id="ada") for _ in range(4))
            ), await ours.get(added["id"])

    answers, record = asyncio.run(life())
    assert record["memory"] == "Ada lives in Braga."
    assert [texts(answer) for answer in answers] == [["Ada lives in Braga."]] * 4


def test_a_procedure_of_an_agent_is_a_procedure(memory):
    ours = Memory(memory)
    (added,) = ours.add(DIALOGUE, agent_id="cook", memory_type="procedural_memory")["results"]
    assert ours._scopes.of("agent:cook").get(added["id"]).kind == "procedure"


@pytest.mark.parametrize(
    "messages", ["", [], [{"role": "user"}], [None, 7], [{"role": "system", "content": "x"}]]
)
@pytest.mark.parametrize("infer", [True, False])
def test_nothing_said_adds_nothing(memory, messages, infer):
    assert Memory(memory).add(messages, user_id="ada", infer=infer) == {"results": []}


@pytest.mark.parametrize("call", [lambda m: m.add("x", user_id="*"), lambda m: m.search("x", user_id="*")])
def test_an_id_that_means_any_is_none_of_a_user(memory, call):
    Memory(memory).add("Ada lives in Porto.", user_id="ada")
    with pytest.raises(ValueError, match="Invalid user_id"):
        call(Memory(memory))


def test_the_client_of_mem0_finds_its_service_here(mem0, serve):  # noqa: F811
    server = serve(mounts=[Route(APPLICATION.path, APPLICATION)])
    secret = server.tokens.new("ada").secret
    clients = [httpx.Client(), httpx.Client()]
    client = mem0.MemoryClient(api_key=secret, host=f"{server.at}/mem0/", client=clients[0])
    scope = {"user_id": "ada"}
    (added,) = client.add("I live in Porto.", user_id="ada", metadata={"topic": "home"})["results"]
    assert client.add("I live in Braga.", filters=scope)["results"][0]["event"] == "UPDATE"
    assert client.get(added["id"])["memory"] == "I live in Braga."
    assert texts(client.get_all(filters=scope, page=1, page_size=10)) == ["I live in Braga."]
    assert texts(client.search("Where do I live?", filters=scope, top_k=3)) == ["I live in Braga."]
    client.update(added["id"], text="I live in Lagos.")
    assert [each["event"] for each in client.history(added["id"])] == ["ADD", "UPDATE", "UPDATE"]
    client.delete(added["id"])
    with pytest.raises(mem0.exceptions.MemoryNotFoundError):
        client.get(added["id"])
    client.delete_all(user_id="ada")
    with pytest.raises(mem0.exceptions.MemoryError):
        client.search("Where?", filters={"user_id": "bo"})
    with pytest.raises(ValueError, match="401"):
        mem0.MemoryClient(api_key="wrong", host=f"{server.at}/mem0/", client=clients[1])
    for each in clients:
        each.close()


def test_a_search_without_a_threshold_returns_as_many_as_are_asked_for(memory):
    ours, question = Memory(memory), "When does the ferry leave?"
    for number in range(20):
        ours.add(f"The ferry to island {number} sails on Mondays.", user_id="default", infer=False)
    results = ours.search(question, user_id="default", limit=15)["results"]
    assert len(results) == 15
    assert results[-1]["score"] < 0.1
    assert ours.search(question, user_id="default", threshold=0.99)["results"] == []
