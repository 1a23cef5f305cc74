"""A local service answers calls on the memories of one store."""

import os
import sys
import tempfile
import threading
import time
from contextlib import closing
from uuid import uuid4

import pytest
from tests.rows import each_row

from priming import HashedEmbedder, Memory
from priming.config import settings
from priming.errors import Conflict, NotFound, ParamError
from priming.operations.service import LocalService
from priming.serialization import error_payload


@pytest.fixture
def service(tmp_path):
    opened = LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder(), most=2)
    yield opened
    opened.close()


def test_a_call_answers_as_json(service):
    answer = service.call("default", "remember", {"content": "The port is 8080.", "key": "port"})
    assert (answer["key"], answer["status"]) == ("port", "stored")
    answer = service.call("default", "recall", {"text": "which port"})
    assert [hit["memory"]["key"] for hit in answer["hits"]] == ["port"]


@pytest.mark.slow
def test_between_calls_the_agent_of_the_settings_decides_on_rules_that_are_unclear(tmp_path, monkeypatch):
    script = tmp_path / "agent.py"
    script.write_text("""print('{"change": "changes", "reason": "the tool was replaced"}')""")
    monkeypatch.setenv("PRIMING_AGENT", f"{sys.executable} {script}")
    chosen = settings.load(project=False)
    service = LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder(), settings=chosen)
    for text in ("Ask argonaut about deploys", "Ask fluxion about deploys"):
        service.call("default", "learn", {"right": text})
    service.settle()
    (rule,) = service.call("default", "list", {"kinds": ["behavior"]})
    assert rule["content"] == "Ask fluxion about deploys"
    (decision,) = service.call("default", "log", {"limit": 1})
    assert (decision["kind"], decision["actor"]) == ("deprecate", "agent")
    service.close()


def test_namespaces_do_not_see_each_other(service):
    service.call("a", "remember", {"content": "only in a", "key": "one"})
    service.call("b", "remember", {"content": "only in b", "key": "two"})
    with pytest.raises(NotFound):
        service.call("b", "get", {"key": "one"})


def test_a_namespace_is_open_once_however_its_letters_are_composed(service):
    for name in ("M\u00fcnchen", "Mu\u0308nchen"):
        service.call(name, "remember", {"content": "The port is 8080."})
    assert service.namespaces == ("M\u00fcnchen",)


def test_more_namespaces_than_are_kept_open_lose_nothing(service):
    for name in "abcd":
        service.call(name, "remember", {"content": f"in {name}", "key": "own"})
    for name in "abcd":
        assert service.call(name, "get", {"key": "own"})["content"] == f"in {name}"


def test_a_memory_that_is_at_work_is_not_closed(service):
    service.call("a", "remember", {"content": "in a", "key": "own"})
    with service.memory("a") as memory:
        for name in "bcd":
            service.call(name, "remember", {"content": f"in {name}"})
        assert memory.get("own").content == "in a"


def test_calls_from_many_threads_all_count(service):
    def write(number):
        for turn in range(5):
            service.call(
                f"n{number % 3}", "remember", {"content": f"{number} {turn}", "key": f"{number}-{turn}"}
            )

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(service.call(f"n{n}", "status", {})["memories"] for n in range(3)) == 30


def test_a_call_can_be_looked_for_by_the_id_that_the_caller_gave_it(service):
    operation_id = str(uuid4())
    service.call("default", "remember", {"content": "x", "key": "x"}, operation_id=operation_id)
    assert service.call("default", "log", {})[0]["id"] == operation_id


def test_a_call_of_the_same_id_is_not_carried_out_twice(service):
    operation_id = str(uuid4())
    service.call("default", "remember", {"content": "x", "key": "x"}, operation_id=operation_id)
    with pytest.raises(Conflict, match="carried out already"):
        service.call("default", "remember", {"content": "y", "key": "y"}, operation_id=operation_id)
    assert service.call("default", "status", {})["memories"] == 1


def test_an_id_of_its_own_does_not_stay_for_the_next_call(service):
    service.call("default", "remember", {"content": "x", "key": "x"})
    operation_id = str(uuid4())
    service.call(
        "default", "remember", {"content": "x", "key": None}, operation_id=operation_id
    )  # a duplicate: nothing written
    service.call("default", "remember", {"content": "y"})
    assert operation_id not in [row["id"] for row in service.call("default", "log", {})]


@each_row("operation", ["export", "backup", "restore_backup", "pack_install", "nothing"])
def test_what_is_not_served_is_refused(service, operation):
    with pytest.raises(ParamError, match="operation"):
        service.call("default", operation, {"path": "/tmp/x"})


def test_a_closed_service_answers_no_more(tmp_path):
    service = LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder())
    service.call("default", "remember", {"content": "x"})
    service.close()
    with pytest.raises(Conflict, match="closed"):
        service.call("default", "status", {})


def test_a_proposal_is_applied_by_its_id(service):
    for day in ("monday", "tuesday"):
        service.call("default", "remember", {"content": "We meet at ten.", "session": day, "key": day})
    proposal = service.call("default", "sleep", {"dry_run": True})
    answer = service.call("default", "apply", {"proposal": proposal["id"], "only": "light-1"})
    assert answer["kind"] == "sleep"
    with pytest.raises(NotFound, match="no proposal"):
        service.call("default", "apply", {"proposal": str(uuid4())})


def test_an_export_crosses_as_text(service):
    service.call("a", "remember", {"content": "ünïcode 記憶", "key": "one"})
    sent = service.call("a", "export_lines", {})
    assert service.call("b", "import_lines", {"lines": sent["lines"]}) == sent["memories"] == 1
    assert service.call("b", "get", {"key": "one"})["content"] == "ünïcode 記憶"


def test_a_pack_crosses_as_text(service):
    service.call("a", "learn", {"right": "always run the tests", "cue": {"language": "go"}})
    pack = service.call("a", "pack_content", {"name": "go-style"})
    assert service.call("b", "pack_add", {"pack": pack})["behaviors"] == 1


def test_an_error_is_answered_by_code_and_message_with_its_notes():
    error = NotFound("there is no memory 'x'")
    error.add_note("that is the global store")
    assert error_payload(error) == {
        "code": "not_found",
        "message": "there is no memory 'x'; that is the global store",
    }


def test_an_id_that_is_no_uuid_is_refused():
    with Memory.open("sqlite://") as memory, pytest.raises(ParamError, match="UUID"), memory.identified("x"):
        pass


def test_who_lost_an_answer_finds_the_operation_by_its_id(service):
    operation_id = str(uuid4())
    service.call("default", "remember", {"content": "x", "key": "x"}, operation_id=operation_id)
    answer = service.call("default", "operation", {"operation_id": operation_id})
    assert (answer["id"], answer["kind"]) == (operation_id, "remember")
    with pytest.raises(NotFound, match="not carried out"):
        service.call("default", "operation", {"operation_id": str(uuid4())})


@pytest.mark.parametrize(("operation", "argument"), [("import_lines", "lines"), ("pack_add", "pack")])
def test_what_is_wrong_with_a_text_names_no_file_of_the_server(service, operation, argument):
    with pytest.raises(ParamError) as caught:
        service.call("default", operation, {argument: "garbage"})
    assert tempfile.gettempdir() not in str(caught.value)
    assert argument in str(caught.value)


def test_the_sources_of_the_settings_are_followed_between_calls(tmp_path, monkeypatch):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "wifi.md").write_text("# Wifi\nThe password is hunter2.\n", "utf-8")
    monkeypatch.setenv("PRIMING_SOURCES_FOLLOW", f"{notes}{os.pathsep}{tmp_path / 'away'}")
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with closing(LocalService(url, settings=settings.load(project=False))) as service:
        service.follow()
        (item,) = service.call("default", "list", {"kinds": ["fact"]})
        (notes / "wifi.md").write_text("# Wifi\nThe password is tr0ub4dor.\n", "utf-8")
        deadline, again = time.monotonic() + 60, item
        while again["version"] == 1 and time.monotonic() < deadline:
            threading.Event().wait(0.05)
            service.follow()
            (again,) = service.call("default", "list", {"kinds": ["fact"]})
    assert (item["content"], again["content"]) == ("The password is hunter2.", "The password is tr0ub4dor.")
    assert item["key"] == again["key"]
