"""Clients of a server: as good as the file, and better off than the server when it dies."""

import json
import random
import signal
import socket
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue

import pytest
from priming.api.line import Broken, Line

from priming import Conflict, Cue, HashedEmbedder, Memory, NotFound, ParamError, StoreError
from priming.operations.client import Client, reach
from priming.operations.remote_memory import Remote, open_memory

LIGHT = """
import sys
from priming.operations.remote_memory import Remote, open_memory
with open_memory(sys.argv[1]) as memory:
    assert isinstance(memory, Remote)
    assert memory.recall("who wrote the program").hits
heavy = {"numpy", "pydantic", "typer", "asyncio", "priming.engine.memory"} & set(sys.modules)
print(sorted(heavy))
"""


@pytest.fixture
def remote(socket_server):
    """A memory behind a server of its own."""
    with open_memory(socket_server.url) as memory:
        assert isinstance(memory, Remote)
        yield memory


def test_answers_are_the_values_that_the_library_gives(remote, socket_server):
    told = remote.remember("Ada wrote the program.", key="ada", occurred_at=datetime(2026, 3, 1, tzinfo=UTC))
    found = remote.recall("who wrote the program", cue=Cue(file="a.go", branch="main"), kinds=["episode"])
    with Memory.open(socket_server.url) as memory:
        assert told.links == tuple(memory.links("ada"))
        assert found.hits[0].memory == memory.get("ada")
        assert remote.log() == memory.log()
        assert remote.stats() == memory.stats()
        assert remote.status() == memory.status()
        assert remote.get("ada") == memory.get("ada")
        assert remote.list(status=None) == memory.list(status=None)


def test_errors_are_those_of_the_library(remote):
    with pytest.raises(NotFound, match="there is no memory 'ada' in 'default'"):
        remote.get("ada")
    with pytest.raises(ParamError) as caught:
        remote.recall("x", limit="many", tokens="few")
    assert len(caught.value.violations) == 2
    remote.remember("Ada wrote it.", key="ada")
    with pytest.raises(Conflict):
        remote.remember("Bob wrote it.", key="ada")
    with pytest.raises(AttributeError, match="no_such"):
        remote.no_such()


@pytest.mark.parametrize(
    "given",
    [
        {"importance": float("nan")},
        {"metadata": {"x": float("inf")}},
        {"metadata": {"x": b"bytes"}},
        {"occurred_at": datetime(2026, 3, 1)},
        {"tags": object()},
    ],
)
def test_what_json_would_change_is_judged_by_the_library_itself(remote, given):
    with Memory.open("sqlite://") as memory, pytest.raises(ParamError) as wanted:
        memory.remember("x", **given)
    with pytest.raises(ParamError) as caught:
        remote.remember("x", **given)
    if "object" not in str(wanted.value):
        assert caught.value.violations == wanted.value.violations


def test_namespaces_stay_apart(socket_server):
    with (
        open_memory(socket_server.url, namespace="a") as a,
        open_memory(socket_server.url, namespace="b") as b,
    ):
        a.remember("in a", key="own")
        b.remember("in b", key="own")
        assert (a.get("own").content, b.get("own").content) == ("in a", "in b")


def test_what_names_a_file_works_here(remote, tmp_path):
    remote.remember("the port is 8080", key="port")
    assert remote.export(tmp_path / "out.jsonl") == 1
    assert remote.remember_many({"content": f"Note {n}."} for n in range(3))[2].status == "stored"
    assert remote.status().memories == 4


def test_a_proposal_is_applied_by_whoever_made_it_or_here(remote, socket_server):
    for day in ("monday", "tuesday"):
        remote.remember("We meet at ten.", session=day, key=day)
    proposal = remote.sleep(["light"], dry_run=True)
    assert proposal.items
    socket_server.end(signal.SIGKILL)
    socket_server.start()
    done = remote.apply(proposal)
    assert done.changes
    with pytest.raises(NotFound):
        remote.apply("no such proposal")


def test_progress_is_heard(remote):
    heard = []
    remote.remember_many(
        [{"content": f"Note {n}."} for n in range(600)], progress=lambda *one: heard.append(one)
    )
    assert heard[-1] == (600, 600)


def test_an_interrupt_ends_the_call_and_not_the_memory(remote):
    def stop(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remote.remember_many([{"content": f"Note {n}."} for n in range(5_000)], progress=stop)
    assert remote.status().memories < 5_000
    assert remote.remember("after", key="after").status == "stored"


def test_a_client_loads_nothing_heavy(remote, socket_server):
    remote.remember("Ada wrote the program.")
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, socket_server.url],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "[]"


def test_without_a_server_the_file_is_opened(tmp_path):
    with open_memory(f"sqlite:///{tmp_path}/memory.db") as memory:
        assert isinstance(memory, Memory)
        memory.remember("x")
    assert reach(f"sqlite:///{tmp_path}/memory.db") is None
    assert reach("sqlite://") is None


@pytest.mark.parametrize("setting", ["off", "OFF"])
def test_a_server_can_be_forbidden(socket_server, monkeypatch, setting):
    with open_memory(socket_server.url, server=False) as memory:
        assert isinstance(memory, Memory)
    monkeypatch.setenv("PRIMING_SERVER", setting)
    assert reach(socket_server.url) is None


def test_a_setting_that_is_neither_on_nor_off_is_refused(socket_server, monkeypatch):
    monkeypatch.setenv("PRIMING_SERVER", "maybe")
    with pytest.raises(ParamError, match="PRIMING_SERVER"):
        reach(socket_server.url)


def test_a_server_of_another_profile_is_not_used(socket_server):
    assert reach(socket_server.url, profile="ethos") is None


def test_a_server_that_is_less_careful_is_not_used(socket_server):
    assert reach(f"{socket_server.url}?synchronous=full") is None


def test_a_server_of_the_file_that_was_here_before_is_not_used(socket_server):
    reach(socket_server.url).close()
    for one in ("", "-wal", "-shm"):
        path = Path(socket_server.folder, f"memory.db{one}")
        path.rename(path.with_name(f"old.db{one}"))
    with Memory.open(socket_server.url, embedder=HashedEmbedder()) as memory:
        memory.remember("a new file")
    assert reach(socket_server.url) is None


def test_a_store_found_by_another_way_has_the_same_server(socket_server, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    (other / "linked").symlink_to(socket_server.folder)
    client = reach(f"sqlite:///{other}/linked/memory.db")
    assert client is not None
    client.close()
    monkeypatch.chdir(socket_server.folder)
    client = reach("sqlite:///memory.db")
    assert client is not None
    client.close()


def test_a_server_that_does_not_speak_is_not_waited_for(tmp_path):
    """It takes connections, and says nothing."""
    with Memory.open(f"sqlite:///{tmp_path}/memory.db") as memory:
        memory.remember("x")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mute:
        mute.bind(f"{tmp_path}/memory.db.sock")
        mute.listen()
        assert reach(f"sqlite:///{tmp_path}/memory.db") is None


def test_a_server_that_was_killed_is_done_without_and_one_that_is_back_is_used(remote, socket_server):
    remote.remember("before", key="before")
    socket_server.end(signal.SIGKILL)
    assert remote.remember("without", key="without").status == "stored"
    assert remote.get("before").content == "before"
    socket_server.start()
    assert remote.remember("again", key="again").status == "stored"
    assert {one["kind"] for one in socket_server.ask({"op": "log"})[0]["data"]} == {"remember"}
    assert socket_server.ask({"op": "status"})[0]["data"]["memories"] == 3


class Deaf(Line):
    """A line that loses the answer: the server has done what it was asked, and the client does not know."""

    def ask(self, message, progress=None):
        answer = super().ask(message, progress)
        if answer["status"] == "ok":
            self.close()
            raise Broken
        return answer


@pytest.fixture
def deaf(remote):
    """The same memory, each of whose answers is lost on the way."""
    client = remote._client

    class Losing(Client):
        def _line(self):
            line = super()._line()
            return Deaf(line._end)

    losing = Losing(client._path, client._wanted, client._line())
    with Remote(losing, "default") as memory:
        yield memory


WRITES = {
    "remember": lambda memory: memory.remember("Ada wrote the analytical program.", session="s"),
    "supersede": lambda memory: memory.supersede("one", "The port is 9090."),
    "forget": lambda memory: memory.forget("one"),
    "link": lambda memory: memory.link("one", "two", "requires", 0.7),
    "link_many": lambda memory: memory.link_many(
        [{"source": "one", "target": "two", "relation": "requires"}]
    ),
    "set_strength": lambda memory: memory.set_strength("one", "two", 0.6),
    "feedback": lambda memory: memory.feedback(used=["one"]),
    "run_start": lambda memory: memory.run_start("session"),
    "undo": lambda memory: memory.undo(memory.log(limit=1)[0].id),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_call_whose_answer_was_lost_is_answered_from_the_log(remote, deaf, name):
    remote.remember("The port is 8080.", key="one")
    remote.remember("The host is local.", key="two")
    remote.link("one", "two", "similar-to", 0.5)
    remote.recall("which port")
    before = len(remote.log())
    answer = WRITES[name](deaf)
    after = remote.log()
    assert len(after) == before + 1
    told = answer[0] if isinstance(answer, list) else answer
    if hasattr(told, "changes"):
        assert told == after[0]
    elif hasattr(told, "operation"):
        assert told.operation == after[0].id
    if name == "remember":
        assert told.status == "stored"
        assert {(one.relation, one.target) for one in told.links} == {
            (one.relation, one.target) for one in remote.links(told.key) if one.source == told.key
        }
    if name == "supersede":
        assert (told.content, told.version) == ("The port is 9090.", 2)
    if name == "link":
        assert (told.source, told.target, told.relation, told.weight, told.given) == (
            "one", "two", "requires", 0.7, True,
        )  # fmt: skip


def test_an_echo_whose_answer_was_lost_is_still_an_echo(remote, deaf):
    remote.remember("The analytical engine weaves algebraic patterns.", key="one")
    remote.recall("analytical engine")
    told = deaf.remember("The analytical engine weaves algebraic patterns.", session="other")
    assert (told.key, told.status) == ("one", "echo")
    assert told.operation == remote.log(limit=1)[0].id


def test_where_the_log_does_not_say_enough_the_error_names_the_operation(remote, deaf):
    with pytest.raises(StoreError, match="learn was carried out as operation") as caught:
        deaf.learn("Use tabs.", wrong="Use spaces.")
    assert remote.log(limit=1)[0].id in str(caught.value)
    remote.remember("The port is 8080.", key="one")
    with pytest.raises(StoreError, match="purge was carried out"):
        deaf.purge("one")
    with pytest.raises(NotFound):
        remote.get("one")


def test_reads_whose_answer_was_lost_are_done_again(remote, deaf):
    remote.remember("The port is 8080.", key="one")
    assert deaf.get("one") == remote.get("one")
    assert [hit.memory.key for hit in deaf.recall("which port").hits] == ["one"]


WRITER = """
import itertools, json, pathlib, sys
from priming.operations.remote_memory import open_memory
url, name, end = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
with open_memory(url) as memory:
    for turn in itertools.takewhile(lambda _: not end.exists(), itertools.count()):
        key = f"{name}-{turn}"
        told = memory.remember(f"Client {name} says word{turn} and number{turn * 7}.", key=key)
        print(json.dumps(["remember", key, told.operation]), flush=True)
        told = memory.feedback(used=[key], reason=key)
        print(json.dumps(["feedback", key, told.id]), flush=True)
"""
KILLS = 5


def test_a_server_that_is_killed_again_and_again_loses_nothing_and_does_nothing_twice(
    socket_server, tmp_path
):
    """Each call that was acknowledged is in the log once, as the operation that was named, and no other is there."""
    chance, end, heard = random.Random(5), tmp_path / "end", Queue()
    clients = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, socket_server.url, f"c{number}", str(end)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    readers = [
        threading.Thread(target=lambda one=one: [heard.put(line) for line in one.stdout]) for one in clients
    ]
    for one in readers:
        one.start()
    told = []
    for _ in range(KILLS):
        told += [json.loads(heard.get(timeout=60)) for _ in range(chance.randrange(1, 40))]
        socket_server.end(signal.SIGKILL)  # some calls are at work whenever it is killed
        socket_server.start()
    end.touch()
    errors = [one.stderr.read() for one in clients]
    for one, reader in zip(clients, readers, strict=True):
        reader.join()
        one.stdout.close()
        one.stderr.close()
        assert one.wait() == 0, errors
    told += [json.loads(heard.get_nowait()) for _ in range(heard.qsize())]
    with Memory.open(socket_server.url) as memory:
        log = {one.id: one for one in memory.log(limit=100_000)}
        assert sorted(log) == sorted(operation for _, _, operation in told)
        assert all(log[operation].kind == verb for verb, _, operation in told)
        assert memory.status().memories == len(told) / 2
        assert memory.validate() == []
