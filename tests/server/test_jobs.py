"""Long work over HTTP: as jobs that tell of their progress, and can be cancelled."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from urllib.parse import quote

import pytest

from priming.verbs.rows import SERVED

from .conftest import until
from .scene import example
from .test_http import in_scene

pytestmark = pytest.mark.usefixtures("short_batches")
LONG = [op.name for op in SERVED if op.long]
ITEMS = [{"content": f"Entry number {number}."} for number in range(21)]
"""One more than a step."""


def begun(served, operation, request, namespace="default"):
    answer = served.ask(f"jobs/{operation}", request, namespace)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/{namespace}/jobs/{answer.json()['id']}"
    return answer.headers["location"]


def over(served, at):
    """The job, once it is over."""

    def ended():
        job = served.client.get(at).json()
        return job if job["ended_at"] else None

    return until(ended, "the end of the job")


def reply(text):
    """Server-sent events as (name, id, data)."""
    blocks = [word.splitlines() for word in text.strip().split("\n\n") if not word.startswith(":")]
    return [
        (lines[0].removeprefix("event: "), int(lines[1].removeprefix("id: ")), json.loads(lines[2][6:]))
        for lines in blocks
    ]


@pytest.fixture
def gate(served, monkeypatch):
    """Holds jobs at every step of theirs, until it is opened."""
    opened, call = threading.Event(), served.service.call
    served.steps = []

    def holder(namespace, operation, request, *, progress=None, **more):
        def step(done, total):
            served.steps.append(done)
            assert opened.wait(30)
            progress(done, total)

        return call(namespace, operation, request, progress=step if progress else None, **more)

    monkeypatch.setattr(served.service, "call", holder)
    yield opened
    opened.set()


@pytest.mark.parametrize(
    "operation", [LONG[0], *(pytest.param(name, marks=pytest.mark.slow) for name in LONG[1:])]
)
def test_what_is_long_can_be_a_job(served, operation):
    ids = in_scene(served, "default")
    job = over(served, begun(served, operation, example(operation, ids)))
    assert (job["status"], job["error"]) == ("done", None)
    assert type(job["result"]) is type(served.done(operation, example(operation, ids)))


def test_other_operations_are_no_jobs(served):
    assert served.ask("jobs/recall", {"text": "x"}).status_code in (404, 405)


def test_a_job_is_found_where_it_says_in_any_namespace(served):
    answer = served.ask("jobs/remember_many", {"items": ITEMS[:1]}, quote("Ünïcode 記憶 ?"))
    job = over(served, answer.headers["location"])
    assert (job["status"], served.client.get(f"/v1/default/jobs/{job['id']}").status_code) == ("done", 404)


def test_what_is_wrong_with_a_request_is_said_at_once(served):
    assert served.ask("jobs/export_lines", {}, "%0D%0Aset-cookie:x").status_code == 400
    answer = served.ask("jobs/remember_many", {"item": []})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_param")


def test_an_error_of_the_work_is_that_of_the_job(served):
    job = over(served, begun(served, "remember_many", {"items": [{"content": " "}]}))
    assert (job["status"], job["error"]["code"], job["result"]) == ("failed", "bad_param", None)
    ((name, _, message),) = reply(served.client.get(f"/v1/default/jobs/{job['id']}/events").text)
    assert (name, message["error"]["code"]) == ("error", "bad_param")


def test_a_job_tells_of_its_steps_and_its_end(served):
    at = begun(served, "remember_many", {"items": ITEMS})
    events = reply(served.client.get(f"{at}/events").text)
    assert [number for _, number, _ in events] == sorted({number for _, number, _ in events})
    *steps, (name, number, result) = events
    assert (name, len(result)) == ("result", len(ITEMS))
    assert {item for item, _, _ in steps} <= {"progress"}
    again = reply(served.client.get(f"{at}/events", headers={"Last-Event-ID": str(number)}).text)
    assert again == [("result", number, result)]


def test_events_go_on_after_the_last_one_that_was_seen(served, gate):
    at = begun(served, "remember_many", {"items": ITEMS})
    until(lambda: served.steps)
    with served.client.stream("GET", f"{at}/events") as stream:
        lines = stream.iter_lines()
        seen = [next(lines) for _ in range(4)]
        assert seen[0] == "event: progress"
        last = seen[1].removeprefix("id: ")
        gate.set()
    rest = reply(served.client.get(f"{at}/events", headers={"Last-Event-ID": last}).text)
    assert rest[-1][0] == "result"
    assert all(number > int(last) for _, number, _ in rest)


def test_a_job_is_cancelled_between_two_steps(served, gate):
    at = begun(served, "remember_many", {"items": ITEMS})
    until(lambda: served.steps)
    assert served.client.delete(at).json()["status"] == "running"
    gate.set()
    job = over(served, at)
    assert (job["status"], job["result"], job["done"]) == ("cancelled", None, 20)
    assert reply(served.client.get(f"{at}/events").text)[0][0] == "cancelled"
    (operation,) = served.done("log")
    assert served.done("status")["memories"] == 20
    served.done("undo", {"operation_id": operation["id"]})


def test_a_job_that_waits_is_cancelled_before_it_begins(serve, monkeypatch):
    served = serve(jobs_at_once=1)
    opened, call = threading.Event(), served.service.call

    def holder(*supplied, **named):
        assert opened.wait(30)
        return call(*supplied, **named)

    monkeypatch.setattr(served.service, "call", holder)
    first, second = (begun(served, "remember_many", {"items": ITEMS[:1]}) for _ in range(2))
    assert served.client.delete(second).json()["status"] == "waiting"
    opened.set()
    assert (over(served, first)["status"], over(served, second)["status"]) == ("done", "cancelled")


def test_a_job_that_is_over_can_be_dropped(served):
    at = begun(served, "export_lines", {})
    over(served, at)
    assert served.client.delete(at).status_code == 200
    assert served.client.get(at).status_code == 404


def test_the_latest_jobs_are_kept_for_a_while(serve, clock):
    served = serve(clock=clock, jobs_kept=2, job_minutes=10)
    at = []
    for _ in range(3):
        at.append(begun(served, "export_lines", {}))
        over(served, at[-1])
    assert [served.client.get(item).status_code for item in at] == [404, 200, 200]
    clock.at += timedelta(minutes=11)
    assert [served.client.get(item).status_code for item in at] == [404, 404, 404]


def test_too_many_jobs_are_refused(serve, monkeypatch):
    served = serve(jobs_waiting=1)
    opened = threading.Event()
    monkeypatch.setattr(served.service, "call", lambda *_, **__: opened.wait(30))
    begun(served, "export_lines", {})
    answer = served.ask("jobs/export_lines")
    opened.set()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "overloaded")
    assert answer.headers["retry-after"]


def test_events_end_when_the_token_is_revoked(served, gate):
    new = served.tokens.new("default")
    head = {"Authorization": f"Bearer {new.secret}"}
    served.client.headers.update(head)
    at = begun(served, "remember_many", {"items": ITEMS})
    until(lambda: served.steps)
    with served.client.stream("GET", f"{at}/events") as stream:
        parts = stream.iter_text()
        assert "progress" in next(parts)
        served.tokens.revoke(new.token.id)
        gate.set()
        assert "result" not in "".join(parts)


def test_a_purge_forgets_the_results_of_its_namespace(served):
    served.ask("remember", {"content": "A secret.", "key": "k"})
    mine, other = begun(served, "export_lines", {}), begun(served, "export_lines", {}, "other")
    assert "A secret." in over(served, mine)["result"]["lines"]
    over(served, other)
    assert served.ask("purge", {"key": "k"}).json()["copies"] == []
    assert [served.client.get(at).status_code for at in (mine, other)] == [404, 200]
