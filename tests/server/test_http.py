"""The HTTP server: operations over real sockets, and what surrounds them."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
import shutil
from contextlib import closing
from uuid import uuid4

import jsonschema
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from tests.rows import each_row

from priming import HashedEmbedder
from priming.operations import schema as wire
from priming.operations.connection import connect
from priming.operations.service import LocalService
from priming.verbs.rows import BY_NAME, SERVED
from priming_server.access.tokens import Tokens
from priming_server.http import create_app
from priming_server.telemetry import JsonFormatter

from .conftest import bearer, until
from .scene import OPERATIONS, example, prepare

SECRET = "Kestrel lives in the cellar"


def in_scene(served, namespace, token=None):
    """A namespace in which the examples work; the ids that they name."""

    def call(operation, request, operation_id):
        headers = {} if operation_id is None else {"Idempotency-Key": operation_id}
        answer = served.ask(operation, request, namespace, token, **headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return prepare(call)


@pytest.fixture(scope="module")
def document():
    with Tokens("sqlite://") as tokens:
        return create_app(LocalService("sqlite://", embedder=HashedEmbedder()), tokens).openapi()


def test_what_was_remembered_is_recalled(served):
    done = served.done("remember", {"content": "The server listens on port 8080.", "key": "port"})
    assert (done["key"], done["status"]) == ("port", "stored")
    result = served.done("recall", {"text": "which port"})
    assert [hit["memory"]["key"] for hit in result["hits"]] == ["port"]


def test_a_folder_or_a_command_of_this_machine_is_named_by_the_user_only(served, tmp_path):
    session = served.done("loop_task_new_session", {"objective": "Mend it"})["session_id"]
    task = {"session": session, "seq": 1, "objective": "Mend it", "verify": "true"}
    for operation, request in (
        ("loop_context", {"objective": "Mend it", "folder": str(tmp_path)}),
        ("loop_task_new_session", {"folder": str(tmp_path)}),
        ("loop_task_add", task),
    ):
        answer = served.ask(operation, request)
        assert answer.status_code == 400
        assert "only processes of its own user may name it" in answer.json()["error"]["message"]
    with closing(connect(served.local.path, served.local.greeting, 60.0)) as own:
        begun = own.call("default", "loop_task_new_session", {"folder": str(tmp_path)})
        added = own.call("default", "loop_task_add", {**task, "session": begun["session_id"]})
    assert added["status"] == "pending"
    refused = served.ask("loop_task_close", {"session": added["session_id"], "seq": 1, "delivered": "Done."})
    assert refused.status_code == 409
    assert [row["tasks"] for row in served.done("loop_list")] == [1, 0]


def test_every_operation_has_an_example():
    assert {op.name for op in SERVED} == set(OPERATIONS)


@pytest.mark.slow
def test_every_example_works_and_is_answered_as_documented(served, document):
    reading = in_scene(served, "reading")
    for operation in OPERATIONS:
        own = operation if BY_NAME[operation].writes else "reading"
        request = example(operation, in_scene(served, own) if own == operation else reading)
        answer = served.done(operation, request, own)
        about = document["paths"][f"/v1/{{namespace}}/{operation}"]["post"]
        schema = about["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema.validate(answer, {**schema, "components": document["components"]})
        query = about["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.validate(request, {**query, "components": document["components"]})


def test_every_example_keeps_to_the_documented_request(document):
    for operation in OPERATIONS:
        about = document["paths"][f"/v1/{{namespace}}/{operation}"]["post"]
        schema = about["requestBody"]["content"]["application/json"]["schema"]
        jsonschema.validate(example(operation, {}), {**schema, "components": document["components"]})


def test_the_document_has_every_operation_with_summary_example_and_errors(document):
    for op in SERVED:
        about = document["paths"][f"/v1/{{namespace}}/{op.name}"]["post"]
        assert about["summary"]
        assert about["requestBody"]["content"]["application/json"]["examples"]
        for status in (400, 401, 403, 404, 409, 413, 415, 429, 500, 501, 502, 503, 504):
            schema = about["responses"][str(status)]["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/Error"}
        assert "422" not in about["responses"]


def test_every_reference_in_the_document_leads_somewhere(document):
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert named <= set(document["components"]["schemas"])
    assert "$defs" not in json.dumps(document)


def test_no_two_schemas_of_the_table_share_a_name():
    answers, requests = {}, {}
    for op in SERVED:
        for neighbours, schema in (
            (answers, wire.answer_schema(op.name)),
            (requests, wire.request_schema(op)),
        ):
            for name, item in schema.get("$defs", {}).items():
                assert neighbours.setdefault(name, item) == item


def test_the_document_is_served(lasting, document):
    assert lasting.client.get("/openapi.json").json() == json.loads(json.dumps(document))


def test_head_is_answered_wherever_get_is_and_without_a_body(lasting):
    for path in ("/health", "/openapi.json", "/docs"):
        answer = lasting.client.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


def test_the_page_lists_every_operation_and_asks_nobody_else(lasting):
    page = lasting.client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    for op in SERVED:
        assert f"/v1/{{namespace}}/{op.name}</code>" in page.text
    assert not re.search(r"(https?:)?//[\w.-]+", page.text)
    assert not re.search(r"\b(src|@import|url\()", page.text)


def test_the_page_may_run_its_own_script_only(lasting):
    page = lasting.client.get("/docs")
    (script,) = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page.headers["content-security-policy"]


@each_row(
    ("operation", "request_", "status", "code"),
    [
        ("get", {"key": "nothing"}, 404, "not_found"),
        ("remember", {}, 400, "bad_param"),
        ("remember", {"content": "x", "colour": "red"}, 400, "bad_param"),
        ("recall", {"text": "x", "limit": "many"}, 400, "bad_param"),
        ("undo", {"operation_id": str(uuid4())}, 404, "not_found"),
        ("nothing", {}, 404, "not_found"),
        ("backup", {"path": "/tmp/x"}, 404, "not_found"),
        ("export", {"path": "/tmp/x"}, 404, "not_found"),
    ],
)
def test_an_error_has_a_status_a_code_and_a_message(lasting, operation, request_, status, code):
    answer = lasting.ask(operation, request_)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["message"]


@each_row("path", ["v1/default/recal", "v1/default/search", "v1/recall", "query"])
def test_a_path_that_leads_nowhere_is_answered_with_the_operation_it_may_mean(lasting, path):
    assert "POST /v1/{namespace}/recall?" in lasting.client.post(f"/{path}").json()["error"]["message"]
    assert "did you mean" not in lasting.ask("export").json()["error"]["message"]


def test_a_key_that_is_taken_is_a_conflict(served):
    served.done("remember", {"content": "one", "key": "k"})
    assert served.ask("remember", {"content": "two", "key": "k"}).status_code == 409


def test_a_namespace_that_cannot_be_is_refused(lasting):
    assert lasting.ask("status", namespace="%20").status_code == 400


def test_another_method_is_refused_by_name(lasting):
    answer = lasting.client.get("/v1/default/recall")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"]["code"] == "method_not_allowed"


def test_a_call_of_the_same_key_is_carried_out_once(served):
    once = {"Idempotency-Key": str(uuid4())}
    assert served.ask("remember", {"content": "x", "key": "x"}, **once).status_code == 200
    assert served.ask("remember", {"content": "y", "key": "y"}, **once).status_code == 409
    assert served.done("log")[0]["id"] == once["Idempotency-Key"]
    assert served.ask("remember", {"content": "z"}, **{"Idempotency-Key": "again"}).status_code == 400


def test_a_request_id_is_answered_or_made(lasting):
    assert lasting.ask("status", **{"X-Request-Id": "my-1"}).headers["x-request-id"] == "my-1"
    new = lasting.ask("status", **{"X-Request-Id": "my 1\x7f"}).headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{32}", new)


@each_row("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"])
def test_a_body_that_is_not_said_to_be_json_is_refused(lasting, kind):
    answer = lasting.client.post("/v1/default/status", content="{}", headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")


def test_a_charset_may_be_said_and_an_empty_body_is_no_arguments(lasting):
    kind = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert lasting.client.post("/v1/default/status", content="{}", headers=kind).status_code == 200
    assert lasting.client.post("/v1/default/status").status_code == 200


def test_other_names_for_arguments_are_for_those_who_guess(served):
    assert served.ask("recall", {"query": "x"}).status_code == 400


def test_it_says_that_it_is_alive_and_ready(lasting):
    assert lasting.client.get("/health").json()["status"] == "alive"
    assert lasting.client.get("/ready").json()["status"] == "ready"


def test_a_store_that_does_not_answer_is_not_ready(served):
    served.tokens.close()
    assert served.client.get("/ready").status_code == 503


def test_probes_may_use_the_names_of_kubernetes(lasting):
    assert lasting.client.get("/healthz").json()["status"] == "alive"
    assert lasting.client.get("/readyz").json()["status"] == "ready"


@pytest.mark.parametrize("event", ["deleted", "replaced"])
def test_a_store_whose_file_is_gone_is_alive_but_not_ready(served, tmp_path, event):
    file = tmp_path / "memory.db"
    file.rename(tmp_path / "moved.db")
    if event == "replaced":
        shutil.copyfile(tmp_path / "moved.db", file)
    answer = served.client.get("/ready")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "store")
    assert served.client.get("/health").status_code == 200


def test_a_server_whose_end_is_announced_is_not_ready_but_answers(served):
    served.app.state.server.draining = True
    answer = served.client.get("/ready")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "stopping")
    assert served.client.get("/health").status_code == 200
    served.done("remember", {"content": "x"})


def test_figures_count_requests_by_operation_and_status(served):
    served.done("remember", {"content": "x"})
    served.ask("get", {"key": "nothing"})
    text = served.client.get("/metrics").text
    result = {
        (sample.name, sample.labels.get("operation"), sample.labels.get("status")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert result["priming_requests_total", "remember", "200"] == 1
    assert result["priming_requests_total", "get", "404"] == 1
    assert result["priming_request_seconds_count", "get", None] == 1
    assert result["priming_open_namespaces", None, None] == 1
    assert result["priming_in_flight", None, None] == 1  # the one that asks


def test_the_log_has_a_line_for_each_request_and_no_content(served, caplog):
    caplog.set_level(logging.INFO)
    served.ask("remember", {"content": SECRET, "key": "kestrel-key"}, **{"X-Request-Id": "one"})
    served.ask("recall", {"text": SECRET}, **{"X-Request-Id": "two"})
    served.ask("recall", {"text": SECRET, "limit": SECRET}, **{"X-Request-Id": "three"})
    served.client.get(f"/v1/default/{SECRET}")
    written = [
        JsonFormatter().format(record) for record in caplog.records if not record.name.startswith("httpx2")
    ]
    lines = [json.loads(item) for item in written]
    answer = {line["request_id"]: line for line in lines if line["event"] == "request"}
    assert (answer["one"]["operation"], answer["one"]["status"]) == ("remember", 200)
    assert (answer["three"]["status"], answer["three"]["code"]) == (400, "bad_param")
    assert not [item for item in written if "estrel" in item or "cellar" in item]


def test_a_bug_is_answered_and_logged_without_what_it_says(served, caplog, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError(SECRET)

    monkeypatch.setattr(served.service, "call", broken)
    answer = served.ask("status")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "estrel" not in answer.text
    written = [JsonFormatter().format(record) for record in caplog.records]
    assert any('"error": "RuntimeError"' in item and "broken" in item for item in written)
    assert not [item for item in written if "estrel" in item]


def test_spans_tell_of_requests_where_tracing_is_configured(serve):
    spans = InMemorySpanExporter()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    served = serve(tracers=tracers)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    served.ask("remember", {"content": SECRET}, traceparent=parent)
    until(spans.get_finished_spans, "the span, which ends after the answer")
    (span,) = spans.get_finished_spans()
    assert span.name == "priming.remember"
    assert span.attributes["http.response.status_code"] == 200
    assert f"{span.context.trace_id:032x}" == parent.split("-")[1]
    assert "estrel" not in span.to_json()


class Greeting:
    """An application that greets whoever may use the namespace ``shop``."""

    async def __call__(self, scope, receive, send):
        context = scope["state"]["context"]
        context.enter("shop", "greeting")
        await PlainTextResponse(f"hello {context.token.name}")(scope, receive, send)


def test_another_application_stands_behind_the_same_gate(serve):
    served = serve(mounts=[Route("/greeting", Greeting())])
    shop, theirs = served.tokens.new("shop", "Ada"), served.tokens.new("theirs")
    assert served.client.get("/greeting").status_code == 401
    assert served.client.get("/greeting", headers=bearer(theirs.secret)).status_code == 403
    assert served.client.get("/greeting", headers=bearer(shop.secret)).text == "hello Ada"


def test_the_log_says_which_token_called_by_which_route(served):
    secret = served.tokens.new("default", name="laptop").secret
    served.ask("remember", {"content": "Gulls nest."}, token=secret, **{"Priming-Actor": "somebody else"})
    (logged,) = served.ask("log", token=secret).json()
    assert (logged["actor"], logged["via"], logged["session"]) == ("token laptop", "http remember", None)
