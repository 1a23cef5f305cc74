"""The actions of Ethos are answered in its envelope, by the operations of the table."""

import pytest
from tests.rows import each_row

from priming import HashedEmbedder, ParamError
from priming.operations.service import LocalService
from priming_server.ethos.actions import greet
from priming_server.ethos.socket import reply
from priming_server.jobs import Cancelled


@pytest.fixture
def service(tmp_path):
    opened = LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder())
    yield opened
    opened.close()


def done(service, **request):
    answer = reply(service, request)
    assert (answer["status"], answer["error"], answer["version"]) == ("ok", None, "0.1.0"), answer
    assert set(answer) == {"status", "data", "error", "version"}
    return answer["data"]


def refused(service, **request):
    answer = reply(service, request)
    assert (answer["status"], answer["data"]) == ("error", None)
    return answer["error"]


@pytest.fixture
def three(service):
    """Two memories that share a session, and one apart."""
    done(service, action="ingest", content="The parser reads tokens.", key="parser", session="s")
    done(
        service,
        action="ingest",
        payload={"content": "Brackets must match.", "key": "brackets", "session": "s"},
    )
    done(service, action="ingest", text="It rained on Tuesday.", key="rain")
    service.call(
        "default", "link", {"source": "parser", "target": "brackets", "relation": "similar-to", "weight": 0.9}
    )
    return service


def test_ping_is_answered(service):
    assert done(service, action="ping") == "pong"


def test_health_says_what_there_is(three):
    answer = done(three, action="health")
    assert (answer["healthy"], answer["memories"], answer["version"]) == (True, 3, "0.1.0")


def test_a_search_without_spreading_is_plain_cosine(three):
    query = "The parser reads tokens."
    plain = done(three, action="search", query=query, limit=5)
    assert plain == {
        **done(three, action="search", query=query, use_spreading=False),
        "recall_id": plain["recall_id"],
    }
    assert plain["results"][0]["key"] == "parser"
    for result in plain["results"]:
        assert result["score"] == pytest.approx(result["components"]["cosine"])
        assert result["path"] == []


def test_a_search_with_spreading_finds_what_links_lead_to(three):
    results = done(three, action="search", query="The parser reads tokens.", limit=5, use_spreading=True)[
        "results"
    ]
    assert {"parser", "brackets"} <= {result["key"] for result in results}
    assert set(results[0]) == {
        "id", "key", "kind", "content", "source", "metadata", "created_at", "score", "components", "path", "distance",
    }  # fmt: skip


def test_a_search_has_five_results_by_default(service):
    for number in range(8):
        done(service, action="ingest", content=f"Note {number} on tokens.")
    assert len(done(service, action="search", query="Note on tokens.")["results"]) == 5
    assert len(done(service, action="search", query="Note on tokens.", limit=7)["results"]) == 7


ROOF, SIDE = "The roof of the barn leaks in the rain.", "The roof of the barn leaks in the snow."


@pytest.mark.parametrize("between", [None, "search", "recall"])
@pytest.mark.parametrize("more", [{}, {"echo_guard": False}])
def test_the_same_text_again_strengthens_and_is_no_second_row(service, between, more):
    done(service, action="ingest", content=SIDE)
    first = done(service, action="ingest", content=ROOF)
    (link,) = service.call("default", "links", {"key": first["key"], "relation": "similar-to"})
    assert link["weight"] >= 0.6
    if between == "search":
        done(service, action="search", query=ROOF, use_spreading=True)
    elif between == "recall":
        service.call("default", "recall", {"text": ROOF})
    again = done(service, action="ingest", content=ROOF, **more)
    assert (again["status"], again["key"]) == ("duplicate", first["key"])
    (after,) = service.call("default", "links", {"key": first["key"], "relation": "similar-to"})
    assert after["weight"] == pytest.approx(min(1.0, link["weight"] + 0.1))
    assert service.call("default", "stats", {})["memories"]["episode"]["active"] == 2
    service.call("default", "undo", {"operation_id": again["operation"]})
    (before,) = service.call("default", "links", {"key": first["key"], "relation": "similar-to"})
    assert before["weight"] == link["weight"]


def test_outside_the_actions_a_plain_store_strengthens_nothing(service):
    done(service, action="ingest", content=SIDE)
    first = done(service, action="ingest", content=ROOF)
    weights = [link["weight"] for link in service.call("default", "links", {"relation": "similar-to"})]
    assert service.call("default", "remember", {"content": ROOF})["key"] == first["key"]
    assert [
        link["weight"] for link in service.call("default", "links", {"relation": "similar-to"})
    ] == weights


@pytest.mark.parametrize(
    "again",
    [
        "Barley needs lime.\n",
        "  Barley needs lime.",
        "\r\nBarley needs lime. \r\n",
        "Barley needs lime.\u2003",
    ],
)
def test_white_space_around_a_text_makes_no_second_row(service, again):
    first = done(service, action="ingest", content="Barley needs lime.")
    second = done(service, action="ingest", content=again)
    assert (second["status"], second["id"]) == ("duplicate", first["id"])
    assert done(service, action="health")["memories"] == 1


def test_white_space_within_a_text_makes_another(service):
    done(service, action="ingest", content="if rain:\n    wait")
    done(service, action="ingest", content="if rain:\nwait")
    assert done(service, action="health")["memories"] == 2


@each_row(
    ("message", "named"),
    [
        (
            {"content": "Rye", "payload": {"content": "Oats"}},
            "payload.content = 'Oats': contradicts content = 'Rye'",
        ),
        ({"kind": "fact", "payload": {"content": "Rye", "kind": "episode"}}, "payload.kind = 'episode'"),
        ({"text": "Rye", "payload": {"content": "Oats"}}, "text = 'Rye': contradicts content = 'Oats'"),
        ({"content": "Rye", "text": "Oats"}, "text = 'Oats': contradicts content = 'Rye'"),
    ],
)
def test_two_values_for_one_argument_of_an_ingest_are_refused(service, message, named):
    assert any(named in text for text in refused(service, action="ingest", **message)["violations"])
    assert done(service, action="health")["memories"] == 0


def test_the_same_value_twice_and_null_beside_a_value_are_one_value(service):
    done(service, action="ingest", content="Rye", payload={"content": "Rye", "key": "rye"}, kind=None)
    assert done(service, action="get", key="rye")["content"] == "Rye"
    done(service, action="ingest", content=None, payload={"content": "Oats", "key": "oats"})
    assert done(service, action="get", key="oats")["content"] == "Oats"


def test_an_echo_is_stored_where_the_guard_is_off(service):
    done(service, action="ingest", content=f"{ROOF}\n{SIDE}")
    done(service, action="search", query=ROOF)
    assert done(service, action="ingest", content=ROOF)["status"] == "echo"
    assert done(service, action="ingest", content=ROOF, echo_guard=False)["status"] == "stored"
    assert refused(service, action="ingest", content=SIDE, echo_guard="perhaps")["code"] == "bad_param"


def test_verdicts_on_a_search_follow_the_laws_of_ethos(three):
    result = done(three, action="search", query="The parser reads tokens.", use_spreading=True)
    for _ in range(4):
        again = done(three, action="search", query="The parser reads tokens.", use_spreading=True)
        three.call("default", "feedback", {"recall_id": again["recall_id"], "used": ["brackets", "parser"]})
    relations = {link["relation"] for link in three.call("default", "links", {})}
    assert "co-activated" not in relations
    assert three.call("default", "why", {"key": "brackets"})
    assert result["recall_id"] != again["recall_id"]


def test_a_search_honours_every_argument_of_recall(three):
    search = {"action": "search", "query": "The parser reads tokens."}
    assert (
        done(three, **search, spread=True)["results"] == done(three, **search, use_spreading=True)["results"]
    )
    traced = done(three, **search, use_spreading=True, trace=True)
    assert set(traced) == {"results", "recall_id", "reason", "spread", "carried"}
    assert len(traced["spread"]) == 4
    assert traced["carried"]
    packed = done(three, **search, tokens=12)
    assert "parser" in packed["text"] or packed["omitted"]
    assert done(three, **search, tokens=0)["text"] == ""
    other = done(three, **search, profile="poc", spread=True)
    assert (other["profile"], "activation" in other["results"][0]["components"]) == ("poc", True)
    assert [item["kind"] for item in done(three, **search, kinds=["fact"])["results"]] == []


@each_row(
    ("more", "named"),
    [
        ({"profile": "etho"}, "profile"),
        ({"text": "rain"}, "text = 'rain': is called query here"),
        ({"spread": "yes"}, "spread"),
        ({"spread": True, "use_spreading": False}, "spread = True: contradicts use_spreading"),
        ({"trace": "loud"}, "trace"),
        ({"tokens": "few"}, "tokens"),
        ({"floor": 0.5}, "floor = 0.5: has no effect: the profile ethos"),
        (
            {"profile": "arc", "spread": True},
            "has no effect: nothing spreads in the profile arc; leave it out",
        ),
        ({"profile": "world-weaver", "use_spreading": True}, "nothing spreads in the profile world-weaver"),
        ({"loud": 1}, "loud = 1: is not an argument: search takes query, use_spreading, "),
        ({"query": " "}, "query = ' '"),
    ],
)
def test_a_search_refuses_by_name_what_it_cannot_honour(three, more, named):
    error = refused(three, **{"action": "search", "query": "The parser reads tokens.", **more})
    assert not any("takes text" in violation for violation in error["violations"])
    assert any(named in violation for violation in error["violations"]), error


def test_a_memory_is_got_by_key_or_id(three):
    by_key = done(three, action="get", key="rain")
    assert done(three, action="get", id=by_key["id"]) == by_key
    assert refused(three, action="get", key="snow")["code"] == "not_found"


def test_consolidate_sleeps(three):
    answer = done(three, action="consolidate", stages=["light"], dry_run=True)
    assert answer["stages"] == ["light"]
    assert done(three, action="consolidate", stages="decay")["stages"] == ["decay"]


def test_embed_gives_the_vector_of_a_text(service):
    answer = done(service, action="embed", text="tokens")
    assert answer["dimension"] == len(answer["embedding"]) == HashedEmbedder().dimension
    assert answer["embedding"] == HashedEmbedder().embed(["tokens"])[0].tolist()
    assert answer["generation"] == HashedEmbedder().generation


def test_namespaces_stay_apart(three):
    assert refused(three, action="get", key="rain", namespace="other")["code"] == "not_found"
    done(three, action="ingest", content="Elsewhere.", key="rain", namespace="other")
    assert done(three, action="get", key="rain", namespace="other")["content"] == "Elsewhere."


@each_row(
    ("request_", "named"),
    [
        ({"action": "fly"}, "action"),
        ({"action": None}, "action"),
        ({"action": "ping", "loudly": True}, "loudly"),
        ({"action": "search"}, "query"),
        ({"action": "search", "query": 5}, "query"),
        ({"action": "search", "query": "x", "use_spreading": "maybe"}, "use_spreading"),
        ({"action": "search", "query": "x", "limit": "many"}, "limit"),
        ({"action": "search", "query": "x", "what": 1}, "what"),
        ({"action": "ingest", "payload": 5}, "payload"),
        ({"action": "ingest"}, "content"),
        ({"action": "embed"}, "text"),
        ({"action": "embed", "text": ["a"]}, "text"),
        ({"action": "get"}, "key"),
        ({"action": "consolidate", "stages": ["fly"]}, "stages"),
        ({"action": "health", "namespace": 5}, "namespace"),
    ],
)
def test_what_is_wrong_with_a_request_is_named(service, request_, named):
    error = refused(service, **request_)
    assert error["code"] == "bad_param"
    assert any(named in violation for violation in error["violations"]), error


def test_an_unknown_action_is_answered_with_all_that_there_are(service):
    (violation,) = refused(service, action="fly")["violations"]
    assert "one of hello, ping, health, ingest, search, get, consolidate, embed" in violation


def test_a_hello_takes_no_argument():
    greeting = {"version": "0.1.0"}
    assert greet(greeting, {"action": "hello"}) == greeting
    with pytest.raises(ParamError, match="loud = True: is not an argument of this action"):
        greet(greeting, {"action": "hello", "loud": True})


def test_a_bug_is_answered_without_its_message(service, caplog):
    def progress(_done, _total):
        raise RuntimeError("the secret content")

    request = {"op": "remember_many", "args": {"items": [{"content": "a secret"}]}, "id": 1}
    answer = reply(service, request, progress)
    assert (answer["error"]["code"], answer["id"]) == ("internal", 1)
    assert "RuntimeError" in caplog.text
    assert "secret" not in "".join(record.getMessage() for record in caplog.records)
    assert "secret" not in answer["error"]["message"]


def test_a_call_whose_caller_went_away_has_no_answer(service):
    def progress(_done, _total):
        raise Cancelled

    with pytest.raises(Cancelled):
        reply(service, {"op": "remember_many", "args": {"items": [{"content": "x"}]}}, progress)
