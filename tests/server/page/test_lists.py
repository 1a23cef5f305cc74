"""What only the page asks a server for: lists of memories, of operations and of jobs, and the tokens."""

import json

import pytest
from tests.rows import each_row

from ..conftest import bearer

PAGE = {"X-Priming": "page", "Content-Type": "application/json"}


def ask(server, name, request=None, token=None, namespace="default", status=200):
    body = json.dumps(request or {})
    answer = server.client.post(f"/page/{name}/{namespace}", content=body, headers={**PAGE, **bearer(token)})
    assert answer.status_code == status, answer.text
    return answer.json()


def tokens(server, method, part="", token=None, body=None, **headers):
    content = None if body is None else json.dumps(body)
    headers = {**PAGE, **bearer(token), **headers}
    return server.client.request(method, f"/page/tokens{part}", content=content, headers=headers)


def entries(server):
    return ask(server, "entries")["operations"]


@pytest.fixture
def server(serve):
    return serve()


def keys(answer):
    return [memory["key"] for memory in answer["memories"]]


def remember(server, *texts, **more):
    return [
        server.done("remember", {"content": text, "key": text.split()[0], **more})["key"] for text in texts
    ]


def test_memories_are_listed_a_page_at_a_time_the_latest_first(server):
    remember(server, "a note", "b note", "c note", "d note")
    first = ask(server, "listing", {"limit": 3})
    assert (keys(first), first["total"], first["end"]) == (["d", "c", "b"], 4, 1)
    remember(server, "e note")
    second = ask(server, "listing", {"limit": 3, "end": first["end"]})
    assert (keys(second), second["total"], second["end"]) == (["a"], 5, 0)


def test_a_filter_and_kinds_restrict_the_list(server):
    remember(server, "a of Ada", session="monday")
    remember(server, "b of Ada", "c of Ada", kind="fact", source="mail")
    assert keys(ask(server, "listing", {"filters": {"session": "monday"}})) == ["a"]
    assert keys(ask(server, "listing", {"kinds": ["fact"], "filters": {"source": "mail"}, "limit": 1})) == [
        "c"
    ]
    assert keys(ask(server, "listing", {"kinds": ["fact"]})) == ["c", "b"]
    assert "entity:ada" in keys(ask(server, "listing", {"kinds": ["entity"]}))


def test_what_is_forgotten_or_over_is_not_listed(server):
    remember(server, "a note", "b note")
    server.done("forget", {"key": "a"})
    assert keys(ask(server, "listing")) == ["b"]
    assert keys(ask(server, "listing", {"filters": {"kind": "episode"}})) == ["b"]


@each_row("request_", [{"limit": 0}, {"end": -1}, {"kinds": ["no"]}, {"filters": {"no": 1}}, {"more": 1}])
def test_what_cannot_be_listed_is_refused(lasting, request_):
    assert ask(lasting, "listing", request_, status=400)["error"]["code"] == "bad_param"


def test_operations_are_listed_without_their_changes(server):
    remember(server, "a ferry", "b timetable", "c ticket")
    server.done("forget", {"key": "b"})
    first = ask(server, "entries", {"limit": 3})
    assert [each["kind"] for each in first["operations"]] == ["forget", "remember", "remember"]
    assert all(each["changes"] == [] for each in first["operations"])
    last = ask(server, "entries", {"limit": 3, "before": first["before"]})
    assert (len(last["operations"]), last["before"]) == (1, None)
    assert len(ask(server, "entries", {"key": "b"})["operations"]) == 2
    assert [each["kind"] for each in ask(server, "entries", {"kind": "forget"})["operations"]] == ["forget"]
    until = last["operations"][0]["at"]
    assert ask(server, "entries", {"until": until})["operations"] == []
    assert ask(server, "entries", {"key": "nobody"}, status=404)["error"]["code"] == "not_found"


def test_an_entry_names_the_first_memories_that_it_is_about(server):
    hostile = "<b>\u202e & more"
    remember(server, "ferry of Ada", "boat of Ada")
    server.done("remember", {"content": "x", "key": hostile})
    server.done("supersede", {"key": "boat", "content": "The boat is sold."})
    server.done("link", {"source": "ferry", "target": "boat"})
    recall = server.done("recall", {"text": "Who sold the boat?"})["recall_id"]
    server.done("feedback", {"recall_id": recall, "used": ["boat"]})
    server.done("forget", {"key": "ferry"})
    many = [{"content": f"note {n}", "key": f"n{n}", "session": "s"} for n in range(300)]
    server.done("remember_many", {"items": many})
    about = [[(part["key"], part["text"]) for part in each["subjects"]] for each in entries(server)]
    bulk, forgotten, judged, linked, superseded, odd, second, first = about
    assert [key for key, _ in bulk] == ["n0", "n1", "n2", "n3"]
    assert (forgotten, judged) == ([("ferry", None)], [("boat", None)])
    assert linked == [("ferry", None), ("boat", None)]
    assert superseded == [("boat", "The boat is sold.")]
    assert (odd, second) == ([(hostile, "x")], [("boat", "boat of Ada")])
    assert first == [("ferry", "ferry of Ada")]


def test_an_entry_of_what_is_gone_names_it_unless_it_was_purged(server):
    remember(server, "ferry of Ada", "boat of Ada")
    server.done("undo", {"operation_id": entries(server)[0]["id"]})
    assert [each["subjects"][0]["key"] for each in entries(server)] == ["boat", "boat", "ferry"]
    server.done("purge", {"key": "ferry"})
    assert "ferry" not in json.dumps(entries(server))


def test_lists_are_of_the_namespace_of_a_token(server):
    reader = server.tokens.new("mine", kind="read").secret
    assert ask(server, "listing", token=reader, namespace="mine")["total"] == 0
    for name in ("listing", "entries"):
        assert ask(server, name, token=reader, namespace="other", status=403)["error"]["code"] == "forbidden"
    answer = server.client.get("/page/jobs/other", headers={**PAGE, **bearer(reader)})
    assert answer.status_code == 403


def test_jobs_are_listed_the_latest_first_without_what_came_of_them(server):
    ids = [
        server.client.post(f"/v1/default/jobs/{name}", headers=PAGE).json()["id"]
        for name in ("verify", "sleep")
    ]
    server.client.post("/v1/other/jobs/verify", headers=PAGE)
    jobs = server.client.get("/page/jobs/default", headers=PAGE).json()
    assert [job["id"] for job in jobs] == ids[::-1]
    assert all(job["result"] is None for job in jobs)


def test_the_secret_of_a_token_is_answered_once(server):
    created = tokens(server, "POST", body={"namespace": "*", "kind": "admin", "name": "me"})
    assert created.status_code == 201
    secret = created.json()["secret"]
    assert created.headers["cache-control"] == "no-store"
    assert tokens(server, "GET").status_code == 401
    listed = tokens(server, "GET", token=secret)
    assert [each["name"] for each in listed.json()["tokens"]] == ["me"]
    assert secret.rpartition("_")[2] not in listed.text
    (stored,) = listed.json()["tokens"]
    assert tokens(server, "DELETE", f"/{stored['id']}", token=secret).json()["revoked_at"] is not None
    assert tokens(server, "GET", token=secret).status_code == 401


def test_a_token_can_be_for_a_namespace_a_kind_and_some_days(server):
    secret = tokens(server, "POST", body={"namespace": "mine", "kind": "read", "days": 2}).json()["secret"]
    (token,) = server.tokens.list()
    assert (token.namespace, token.kind, (token.expires_at - token.created_at).days) == ("mine", "read", 2)
    assert server.ask("status", namespace="mine", token=secret).status_code == 200
    assert server.ask("status", namespace="other", token=secret).status_code == 403


@each_row(
    "body",
    [
        [],
        "text",
        {},
        {"namespace": "*"},
        {"namespace": 3, "kind": "read"},
        {"namespace": "*", "kind": ["read"]},
        {"namespace": "*", "kind": "root"},
        {"namespace": "*", "kind": "read", "days": 0},
        {"namespace": "*", "kind": "read", "days": 1e300},
        {"namespace": "*", "kind": "read", "days": True},
        {"namespace": "*", "kind": "read", "name": {}},
        {"namespace": "*", "kind": "read", "secret": "mine"},
    ],
)
def test_what_makes_no_token_is_refused(lasting, body):
    assert tokens(lasting, "POST", body=body).status_code == 400
    assert lasting.tokens.list() == []


@pytest.mark.parametrize(("namespace", "kind"), [("*", "write"), ("*", "read"), ("default", "admin")])
def test_tokens_are_for_who_may_do_everything(server, namespace, kind):
    secret = server.tokens.new(namespace, kind=kind).secret
    (own,) = server.tokens.list()
    for method, part in (("GET", ""), ("POST", ""), ("DELETE", f"/{own.id}")):
        answer = tokens(server, method, part, token=secret, body={"namespace": "*", "kind": "admin"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert server.tokens.list()[0].revoked_at is None
    assert len(server.tokens.list()) == 1


@pytest.mark.parametrize("has_tokens", [False, True])
def test_other_sites_can_neither_see_nor_make_tokens(server, has_tokens):
    secret = server.tokens.new("*", kind="admin").secret if has_tokens else None
    for name, value in (
        ("X-Priming", "other"),
        ("Origin", "http://elsewhere.example"),
        ("Sec-Fetch-Site", "cross-site"),
    ):
        for method in ("GET", "POST"):
            body = {"namespace": "*", "kind": "admin"}
            assert tokens(server, method, token=secret, body=body, **{name: value}).status_code == 403
    assert len(server.tokens.list()) == has_tokens


def test_an_unknown_token_cannot_be_revoked(server):
    answer = tokens(server, "DELETE", "/nobody")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
