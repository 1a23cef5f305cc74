"""``server-memory`` in our place: its answers and its file, as recorded from the original.

``tests/agents/test_server_memory.py`` compares the two directly, and records them again.
"""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from priming import HashedEmbedder, Memory
from priming.mcp.protocol import McpClient
from priming.operations.service import LocalService
from priming_adapters.server_memory import ServerMemory

RECORDED = Path(__file__).with_name("server_memory_calls.json")
ADA = {"name": "Ada", "entityType": "person", "observations": ["lives in Porto"]}
KITE = {"name": "Kite", "entityType": "service", "observations": []}


class Talk:
    """A client of the server, in this process."""

    def __init__(self, url):
        self.service = LocalService(url, embedder=HashedEmbedder(256))
        self.server = ServerMemory(McpClient(lambda: self.service, "default", "core", lambda: None))
        self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )

    def request(self, method, **params):
        reply = self.server.answer({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return reply.get("result") or reply["error"]

    def call(self, name, /, **arguments):
        return self.request("tools/call", name=name, arguments=arguments)

    def graph(self):
        return self.call("read_graph")["structuredContent"]


@pytest.fixture
def talk(url):
    talk = Talk(url)
    yield talk
    talk.service.close()


@pytest.fixture
def memory(talk):
    with talk.service.memory("default") as memory:
        yield memory


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMORY_FILE_PATH", str(tmp_path / "graph.jsonl"))
    return tmp_path / "graph.jsonl"


def test_each_call_is_answered_as_the_original_answered_it_and_the_file_is_the_same(file, talk):
    recorded = json.loads(RECORDED.read_text("utf-8"))
    for call in recorded["calls"]:
        answer = talk.call(call["name"], **call["arguments"])
        is_recall = call["name"] == "search_nodes" and not call["answer"]["structuredContent"]["entities"]
        if call["answer"].get("isError"):
            assert answer["isError"]
        elif not is_recall:  # else there is what the query recalls
            assert answer == call["answer"]
        assert (file.read_text("utf-8") if file.exists() else None) == call["file"]


def test_the_tools_have_the_shapes_of_the_original(talk):
    def shape(schema):
        if isinstance(schema, dict):
            left_out = ("$schema", "description", "additionalProperties")
            return {name: shape(value) for name, value in schema.items() if name not in left_out}
        return schema

    recorded = json.loads(RECORDED.read_text("utf-8"))["tools"]
    tools = talk.request("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [tool["name"] for tool in recorded]
    for own, original in zip(tools, recorded, strict=True):
        for part in ("inputSchema", "outputSchema", "annotations"):
            assert shape(own[part]) == shape(original[part])


def test_an_entity_is_a_memory_with_versions_and_a_relation_is_linked_to_its_entities(talk, memory):
    talk.call("create_entities", entities=[ADA, KITE])
    talk.call("create_relations", relations=[{"from": "Ada", "to": "Kite", "relationType": "looks after"}])
    talk.call("add_observations", observations=[{"entityName": "Ada", "contents": ["plays the cello"]}])
    ada, kite, relation = memory.list()
    assert (ada.content, ada.version, ada.trust) == (
        "Ada (person)\nlives in Porto\nplays the cello",
        2,
        "agent",
    )
    assert (kite.key, relation.content) == ("server-memory:Kite", "Ada looks after Kite")
    links = memory.links(relation.key, relation="part-of")
    assert {link.target for link in links} == {ada.key, kite.key}
    assert {operation.actor for operation in memory.log()} == {"test"}
    talk.call("delete_entities", entityNames=["Ada"])
    assert talk.graph() == {"entities": [KITE], "relations": []}
    assert memory.get(ada.id).status == memory.get(relation.id).status == "forgotten"
    memory.restore(ada.id)
    assert [entity["name"] for entity in talk.graph()["entities"]] == ["Ada", "Kite"]


def test_a_search_that_nothing_contains_recalls(talk):
    talk.call(
        "create_entities", entities=[ADA, {**KITE, "observations": ["stores the invoices of customers"]}]
    )
    assert talk.call("search_nodes", query="INVOICES")["structuredContent"]["entities"][0]["name"] == "Kite"
    recalled = talk.call("search_nodes", query="which service has customers' invoices?")["structuredContent"]
    assert KITE["name"] in [entity["name"] for entity in recalled["entities"]]
    assert talk.call("search_nodes", query="")["structuredContent"] == talk.graph()


def test_the_file_is_read_once_and_again_when_another_program_wrote_it(file, url):
    lines = [{"type": "entity", **ADA}, {"type": "other"}, {"type": "entity", **KITE}]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    talk = Talk(url)
    assert talk.graph() == {"entities": [ADA, KITE], "relations": []}
    with talk.service.memory("default") as memory:
        number = len(memory.log())
        talk.graph()
        assert len(memory.log()) == number
        changed = {**ADA, "observations": ["lives in Braga"]}
        file.write_text(json.dumps({"type": "entity", **changed}))
        assert talk.graph() == {"entities": [changed], "relations": []}
        assert (memory.get("server-memory:Ada").version, memory.get("server-memory:Kite").status) == (
            2,
            "forgotten",
        )
    talk.service.close()
    again = Talk(url)
    assert again.graph() == {"entities": [changed], "relations": []}
    again.service.close()


def test_a_file_that_cannot_be_read_is_left_alone_and_said(file, talk):
    file.write_text('{"type": "entity", "name": "Ada"')
    answer = talk.call("create_entities", entities=[KITE])
    assert answer["isError"]
    assert "line 1" in answer["content"][0]["text"]
    file.write_text('{"type": "entity", "name": "Ada"}')
    assert "entityType" in talk.call("read_graph")["content"][0]["text"]
    assert file.read_text() == '{"type": "entity", "name": "Ada"}'


def test_graphs_of_two_files_and_of_none_are_apart(tmp_path, monkeypatch, url):
    for name in ("a.jsonl", "b.jsonl", None):
        if name:
            monkeypatch.setenv("MEMORY_FILE_PATH", str(tmp_path / name))
        else:
            monkeypatch.delenv("MEMORY_FILE_PATH")
        talk = Talk(url)
        assert talk.graph()["entities"] == []
        talk.call("create_entities", entities=[ADA])
        talk.service.close()
    with Memory.open(url, embedder=HashedEmbedder(256)) as memory:
        assert len(memory.list()) == 3


def test_an_entity_that_comes_back_is_the_last_of_the_graph_again(talk):
    talk.call("create_entities", entities=[ADA, KITE])
    talk.call("delete_entities", entityNames=["Ada"])
    talk.call("create_entities", entities=[ADA])
    assert talk.graph()["entities"] == [KITE, ADA]


def test_a_call_that_fails_changes_nothing(talk):
    talk.call("create_entities", entities=[ADA])
    before = talk.graph()
    odd = {"name": "Odd", "entityType": "x", "observations": ["a\0b"]}
    assert talk.call("create_entities", entities=[KITE, odd])["isError"]
    missing = [{"entityName": "Ada", "contents": ["x"]}, {"entityName": "Nobody", "contents": ["x"]}]
    assert talk.call("add_observations", observations=missing)["isError"]
    for name, arguments in [("nope", {}), ("open_nodes", {"names": "Ada"}), ("search_nodes", {})]:
        assert talk.call(name, **arguments)["isError"]
    assert talk.graph() == before


def test_calls_at_once_lose_nothing(talk):
    def create(number):
        talk.call("create_entities", entities=[{**ADA, "name": f"n{number}"}])

    threads = [threading.Thread(target=create, args=[number]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {entity["name"] for entity in talk.graph()["entities"]} == {f"n{number}" for number in range(12)}


def test_the_graph_is_a_resource_and_there_is_no_other(talk):
    talk.call("create_entities", entities=[ADA])
    (resource,) = talk.request("resources/list")["resources"]
    (content,) = talk.request("resources/read", uri=resource["uri"])["contents"]
    assert json.loads(content["text"]) == {"entities": [ADA], "relations": []}
    assert talk.request("resources/read", uri="memory://other")["code"] == -32602
    assert talk.request("prompts/list")["code"] == -32601
    assert talk.request("resources/templates/list") == {"resourceTemplates": []}


def test_a_graph_without_memories_makes_no_store(talk, tmp_path):
    assert talk.graph() == {"entities": [], "relations": []}
    talk.call("search_nodes", query="Ada")
    assert not (tmp_path / "memory.db").exists()


def test_a_call_that_fails_forgets_nothing_of_what_another_program_wrote(file, talk):
    talk.call("create_entities", entities=[ADA])
    file.write_text("\n".join(json.dumps({"type": "entity", **each}) for each in (ADA, KITE)))
    assert talk.call("add_observations", observations=[{"entityName": "Nobody", "contents": ["x"]}])[
        "isError"
    ]
    assert talk.graph()["entities"] == [ADA, KITE]


@pytest.mark.slow
def test_two_servers_of_a_file_lose_nothing_of_each_other(file, url):
    talks = [Talk(url), Talk(url)]

    def create(number):
        for place in range(15):
            entity = {**ADA, "name": f"n{number}-{place}"}
            assert not talks[number].call("create_entities", entities=[entity]).get("isError")

    threads = [threading.Thread(target=create, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(talks[0].graph()["entities"]) == len(file.read_text().splitlines()) == 30
    assert talks[0].graph() == talks[1].graph()
    for talk in talks:
        talk.service.close()


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_what_is_no_file_is_neither_read_nor_replaced(make, file, talk):
    make(file)
    answer = talk.call("create_entities", entities=[ADA])
    assert "is no file" in answer["content"][0]["text"]
    assert not file.is_file()


def test_a_link_to_the_file_stays_one(file, talk, tmp_path):
    file.symlink_to(tmp_path / "elsewhere")
    talk.call("create_entities", entities=[ADA])
    assert file.is_symlink()
    assert json.loads((tmp_path / "elsewhere").read_text())["name"] == "Ada"


@pytest.mark.parametrize("kind", ["[]", "{}", "5"])
def test_a_line_whose_type_is_no_text_does_not_count(kind, file, talk):
    file.write_text(f'{{"type":{kind}}}')
    assert talk.graph() == {"entities": [], "relations": []}


@pytest.mark.slow
def test_the_command_answers_as_that_server_does_and_refuses_another_name(tmp_path):
    start = [sys.executable, "-c", "from priming.cli.start import main; main()"]
    command = [*start, "--url", f"sqlite:///{tmp_path}/memory.db", "mcp", "--compat"]
    calls = [("create_entities", {"entities": [ADA]}), ("read_graph", {})]
    requests = [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    done = subprocess.run(
        [*command, "server-memory"],
        input="\n".join(map(json.dumps, requests)),
        capture_output=True,
        text=True,
    )
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert answers[0]["structuredContent"] == {"entities": [ADA]}
    assert done.returncode == 0
    refused = subprocess.run([*command, "nothing"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "must be one of server-memory" in refused.stderr
