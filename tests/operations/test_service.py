"""A host answers calls on the memories of one store."""

import tempfile
import threading
from uuid import uuid4

import pytest

from priming import HashedEmbedder, Memory
from priming.errors import Conflict, NotFound, ParamError


@pytest.fixture
def host(tmp_path):
    made = Host(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder(), most=2)
    yield made
    made.close()


def test_a_call_answers_as_json(host):
    done = host.call("default", "remember", {"content": "The port is 8080.", "key": "port"})
    assert (done["key"], done["status"]) == ("port", "stored")
    found = host.call("default", "recall", {"text": "which port"})
    assert [hit["memory"]["key"] for hit in found["hits"]] == ["port"]


def test_namespaces_do_not_see_each_other(host):
    host.call("a", "remember", {"content": "only in a", "key": "one"})
    host.call("b", "remember", {"content": "only in b", "key": "two"})
    with pytest.raises(NotFound):
        host.call("b", "get", {"key": "one"})


def test_more_namespaces_than_are_kept_open_lose_nothing(host):
    for name in "abcd":
        host.call(name, "remember", {"content": f"in {name}", "key": "own"})
    for name in "abcd":
        assert host.call(name, "get", {"key": "own"})["content"] == f"in {name}"


def test_a_memory_that_is_at_work_is_not_closed(host):
    host.call("a", "remember", {"content": "in a", "key": "own"})
    with host.memory("a") as memory:
        for name in "bcd":
            host.call(name, "remember", {"content": f"in {name}"})
        assert memory.get("own").content == "in a"


def test_calls_from_many_threads_all_count(host):
    def write(number):
        for turn in range(5):
            host.call(
                f"n{number % 3}", "remember", {"content": f"{number} {turn}", "key": f"{number}-{turn}"}
            )

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sum(host.call(f"n{n}", "status", {})["memories"] for n in range(3)) == 30


def test_a_call_can_be_looked_for_by_the_id_that_the_caller_gave_it(host):
    asked = str(uuid4())
    host.call("default", "remember", {"content": "x", "key": "x"}, operation_id=asked)
    assert host.call("default", "log", {})[0]["id"] == asked


def test_a_call_of_the_same_id_is_not_carried_out_twice(host):
    asked = str(uuid4())
    host.call("default", "remember", {"content": "x", "key": "x"}, operation_id=asked)
    with pytest.raises(Conflict, match="carried out already"):
        host.call("default", "remember", {"content": "y", "key": "y"}, operation_id=asked)
    assert host.call("default", "status", {})["memories"] == 1


def test_an_id_of_its_own_does_not_stay_for_the_next_call(host):
    host.call("default", "remember", {"content": "x", "key": "x"})
    asked = str(uuid4())
    host.call(
        "default", "remember", {"content": "x", "key": None}, operation_id=asked
    )  # a duplicate: nothing written
    host.call("default", "remember", {"content": "y"})
    assert asked not in [one["id"] for one in host.call("default", "log", {})]


@pytest.mark.parametrize("operation", ["export", "backup", "restore_backup", "pack_install", "nothing"])
def test_what_is_not_served_is_refused(host, operation):
    with pytest.raises(ParamError, match="operation"):
        host.call("default", operation, {"path": "/tmp/x"})


def test_a_closed_host_answers_no_more(tmp_path):
    host = Host(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder())
    host.call("default", "remember", {"content": "x"})
    host.close()
    with pytest.raises(Conflict, match="closed"):
        host.call("default", "status", {})


def test_a_proposal_is_applied_by_its_id(host):
    for day in ("monday", "tuesday"):
        host.call("default", "remember", {"content": "We meet at ten.", "session": day, "key": day})
    proposal = host.call("default", "sleep", {"dry_run": True})
    done = host.call("default", "apply", {"proposal": proposal["id"], "only": "light-1"})
    assert done["kind"] == "sleep"
    with pytest.raises(NotFound, match="no proposal"):
        host.call("default", "apply", {"proposal": str(uuid4())})


def test_an_export_crosses_as_text(host):
    host.call("a", "remember", {"content": "ünïcode 記憶", "key": "one"})
    sent = host.call("a", "export_lines", {})
    assert host.call("b", "import_lines", {"lines": sent["lines"]}) == sent["memories"] == 1
    assert host.call("b", "get", {"key": "one"})["content"] == "ünïcode 記憶"


def test_a_pack_crosses_as_text(host):
    host.call("a", "learn", {"right": "always run the tests", "cue": {"language": "go"}})
    pack = host.call("a", "pack_content", {"name": "go-style"})
    assert host.call("b", "pack_add", {"pack": pack})["behaviors"] == 1


def test_an_error_is_told_by_code_and_message_with_its_notes():
    error = NotFound("there is no memory 'x'")
    error.add_note("that is the global store")
    assert told(error) == {
        "code": "not_found",
        "message": "there is no memory 'x'; that is the global store",
    }


def test_an_id_that_is_no_uuid_is_refused():
    with Memory.open("sqlite://") as memory, pytest.raises(ParamError, match="UUID"), memory.identified("x"):
        pass


def test_who_lost_an_answer_finds_the_operation_by_its_id(host):
    asked = str(uuid4())
    host.call("default", "remember", {"content": "x", "key": "x"}, operation_id=asked)
    found = host.call("default", "operation", {"operation_id": asked})
    assert (found["id"], found["kind"]) == (asked, "remember")
    with pytest.raises(NotFound, match="not carried out"):
        host.call("default", "operation", {"operation_id": str(uuid4())})


@pytest.mark.parametrize(("operation", "argument"), [("import_lines", "lines"), ("pack_add", "pack")])
def test_what_is_wrong_with_a_text_names_no_file_of_the_server(host, operation, argument):
    with pytest.raises(ParamError) as caught:
        host.call("default", operation, {argument: "garbage"})
    assert tempfile.gettempdir() not in str(caught.value)
    assert argument in str(caught.value)
