"""Clients of a server: as good as the file, and better off than the server when it dies."""

import socket
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from priming import Conflict, Cue, HashedEmbedder, Memory, NotFound, ParamError, StoreError
from priming.cli.options import StoreOptions
from priming.config.params.limits import SocketParams
from priming.operations.client import Client, RemoteMemory, open_memory, reach
from priming.operations.connection import ConnectionLost, ServerConnection, about
from priming.operations.local_socket import GREETING_PATH
from priming.operations.service import LocalService


@contextmanager
def behind(server, url=None, **options):
    """A memory behind a server."""
    with open_memory(url or server.url, settings=server.settings, **options) as memory:
        assert isinstance(memory, RemoteMemory)
        yield memory


def on_file(server):
    """The same memory, in the file itself."""
    return Memory.open(server.url, settings=server.settings)


@pytest.fixture
def remote(server):
    with behind(server) as memory:
        yield memory


def test_answers_are_the_values_that_the_library_gives(remote, server):
    stored = remote.remember(
        "Ada wrote the program.", key="ada", occurred_at=datetime(2026, 3, 1, tzinfo=UTC)
    )
    recall = remote.recall("who wrote the program", cue=Cue(file="a.go", branch="main"), kinds=["episode"])
    with on_file(server) as memory:
        assert stored.links == tuple(memory.links("ada"))
        assert recall.hits[0].memory == memory.get("ada")
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
    "supplied",
    [
        {"importance": float("nan")},
        {"metadata": {"x": float("inf")}},
        {"metadata": {"x": b"bytes"}},
        {"occurred_at": datetime(2026, 3, 1)},
        {"tags": object()},
    ],
)
def test_what_json_would_change_is_judged_by_the_library_itself(remote, supplied):
    with Memory.open("sqlite://") as memory, pytest.raises(ParamError) as expected:
        memory.remember("x", **supplied)
    with pytest.raises(ParamError) as caught:
        remote.remember("x", **supplied)
    if "object" not in str(expected.value):
        assert caught.value.violations == expected.value.violations


def test_namespaces_stay_apart(server):
    with (
        behind(server, namespace="a") as a,
        behind(server, namespace="b/with a slash") as b,
    ):
        a.remember("in a", key="own")
        b.remember("in b", key="own")
        assert (a.get("own").content, b.get("own").content) == ("in a", "in b")


def test_what_names_a_file_works_here(remote, tmp_path):
    remote.remember("the port is 8080", key="port")
    assert remote.export(tmp_path / "out.jsonl") == 1
    assert remote.remember_many({"content": f"Note {n}."} for n in range(3))[2].status == "stored"
    assert remote.status().memories == 4


def test_a_proposal_is_applied_by_whoever_made_it_or_here(remote, server):
    for day in ("monday", "tuesday"):
        remote.remember("We meet at ten.", session=day, key=day)
    proposal = remote.sleep(["light"], dry_run=True)
    assert proposal.items
    server.end()
    server.start()
    done = remote.apply(proposal)
    assert done.changes
    with pytest.raises(NotFound):
        remote.apply("no such proposal")


@pytest.mark.usefixtures("short_batches")
def test_progress_is_heard(remote):
    steps = []
    remote.remember_many(
        [{"content": f"Note {n}."} for n in range(21)], progress=lambda *step: steps.append(step)
    )
    assert steps[-1] == (21, 21)


@pytest.mark.usefixtures("short_batches")
def test_an_interrupt_ends_the_call_and_not_the_memory(remote):
    def stop(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remote.remember_many([{"content": f"Note {n}."} for n in range(41)], progress=stop)
    assert remote.status().memories < 41
    assert remote.remember("after", key="after").status == "stored"


def test_without_a_server_the_file_is_opened(tmp_path):
    with open_memory(f"sqlite:///{tmp_path}/memory.db") as memory:
        assert isinstance(memory, Memory)
        memory.remember("x")
    assert reach(f"sqlite:///{tmp_path}/memory.db") is None
    assert reach("sqlite://") is None


@pytest.mark.parametrize("setting", ["off", "OFF"])
def test_a_server_can_be_forbidden(server, monkeypatch, setting):
    with open_memory(server.url, settings=server.settings, server=False) as memory:
        assert isinstance(memory, Memory)
    monkeypatch.setenv("PRIMING_SERVER", setting)
    assert reach(server.url, settings=server.settings) is None


def test_a_setting_that_is_neither_on_nor_off_is_refused(server, monkeypatch):
    monkeypatch.setenv("PRIMING_SERVER", "maybe")
    with pytest.raises(ParamError, match="PRIMING_SERVER"):
        reach(server.url, settings=server.settings)


def test_a_server_of_another_profile_is_not_used(server):
    assert reach(server.url, profile="ethos", settings=server.settings) is None


def test_a_server_that_is_less_careful_is_not_used(server):
    assert reach(f"{server.url}?synchronous=full", settings=server.settings) is None


def test_a_server_of_the_file_that_was_here_before_is_not_used(server):
    reach(server.url, settings=server.settings).close()
    for suffix in ("", "-wal", "-shm"):
        path = Path(server.folder, f"memory.db{suffix}")
        path.rename(path.with_name(f"old.db{suffix}"))
    with Memory.open(server.url, embedder=HashedEmbedder()) as memory:
        memory.remember("a new file")
    assert reach(server.url, settings=server.settings) is None


def test_a_store_found_by_another_way_has_the_same_server(server, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    (other / "linked").symlink_to(server.folder)
    client = reach(f"sqlite:///{other}/linked/memory.db", settings=server.settings)
    assert client is not None
    client.close()
    monkeypatch.chdir(server.folder)
    client = reach("sqlite:///memory.db", settings=server.settings)
    assert client is not None
    client.close()


def test_a_server_that_does_not_speak_is_not_waited_for(tmp_path, monkeypatch):
    """It takes connections, and says nothing."""
    monkeypatch.setattr("priming.operations.client.SOCKET", SocketParams(knock=0.01))
    with Memory.open(f"sqlite:///{tmp_path}/memory.db") as memory:
        memory.remember("x")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mute:
        mute.bind(f"{tmp_path}/memory.db.sock")
        mute.listen()
        assert reach(f"sqlite:///{tmp_path}/memory.db") is None


def test_a_server_that_ended_is_done_without_and_one_that_is_back_is_used(remote, server):
    remote.remember("before", key="before")
    server.end()
    assert remote.remember("without", key="without").status == "stored"
    assert remote.get("before").content == "before"
    server.start()
    assert remote.remember("again", key="again").status == "stored"
    assert remote._client._idle
    assert remote.status().memories == 3


def test_a_server_says_at_its_socket_what_it_is(server):
    greeting = about(Path(server.folder, "memory.db.sock"), 60.0, GREETING_PATH)
    assert greeting["database"] == f"{server.folder}/memory.db"
    assert about(Path(server.folder, "no.sock"), 60.0, GREETING_PATH) is None


class DeafConnection(ServerConnection):
    """A connection that loses the answer: the server has done the call, and the client does not know."""

    def call(self, *arguments, **options):
        super().call(*arguments, **options)
        self.close()
        raise ConnectionLost


@pytest.fixture
def deaf(remote):
    """The same memory, each of whose answers is lost on the way."""
    client = remote._client

    class Losing(Client):
        def _connection(self):
            connection = DeafConnection(self._path)
            connection.connect()
            return connection

    losing = Losing(client._path, client._expected, client._connection(), client._settings)
    with RemoteMemory(losing, "default") as memory:
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
    value = answer[0] if isinstance(answer, list) else answer
    if hasattr(value, "changes"):
        assert value == after[0]
    elif hasattr(value, "operation"):
        assert value.operation == after[0].id
    if name == "remember":
        assert value.status == "stored"
        assert {(link.relation, link.target) for link in value.links} == {
            (link.relation, link.target) for link in remote.links(value.key) if link.source == value.key
        }
    if name == "supersede":
        assert (value.content, value.version) == ("The port is 9090.", 2)
    if name == "link":
        assert (value.source, value.target, value.relation, value.weight, value.given) == (
            "one", "two", "requires", 0.7, True,
        )  # fmt: skip


def test_an_echo_whose_answer_was_lost_is_still_an_echo(remote, deaf):
    remote.remember("The analytical engine weaves algebraic patterns.", key="one")
    remote.recall("analytical engine")
    echo = deaf.remember("The analytical engine weaves algebraic patterns.", session="other")
    assert (echo.key, echo.status) == ("one", "echo")
    assert echo.operation == remote.log(limit=1)[0].id


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


def test_a_command_uses_the_server_unless_it_is_told_not_to(server, monkeypatch):
    for options, kind in (
        (StoreOptions(url=server.url, embedder="hashed"), RemoteMemory),
        (StoreOptions(url=server.url, embedder="hashed", file_only=True), Memory),
        (StoreOptions(url=server.url, embedder="hashed", profile="ethos"), Memory),
    ):
        with options.open() as memory:
            assert isinstance(memory, kind)
    monkeypatch.setenv("PRIMING_SERVER", "off")
    with StoreOptions(url=server.url, embedder="hashed").open() as memory:
        assert isinstance(memory, Memory)


def test_the_service_of_a_surface_is_the_server_too(server):
    for options, kind in (
        (StoreOptions(url=server.url, embedder="hashed"), Client),
        (StoreOptions(url=server.url, embedder="hashed", file_only=True), LocalService),
    ):
        service = options.service()
        assert isinstance(service, kind)
        assert service.call("default", "status", {})["memories"] == 0
        service.close()
