"""The actions of Ethos are answered in its envelope, by the operations of the table."""

import pytest
from priming.api.requests import Gone, reply

from priming import HashedEmbedder
from priming.operations.service import LocalService


@pytest.fixture
def host(tmp_path):
    made = LocalService(f"sqlite:///{tmp_path}/memory.db", embedder=HashedEmbedder())
    yield made
    made.close()


def done(host, **request):
    told = reply(host, request)
    assert (told["status"], told["error"], told["version"]) == ("ok", None, "0.1.0"), told
    assert set(told) == {"status", "data", "error", "version"}
    return told["data"]


def refused(host, **request):
    told = reply(host, request)
    assert (told["status"], told["data"]) == ("error", None)
    return told["error"]


@pytest.fixture
def three(host):
    """Two memories that share a session, and one apart."""
    done(host, action="ingest", content="The parser reads tokens.", key="parser", session="s")
    done(
        host, action="ingest", payload={"content": "Brackets must match.", "key": "brackets", "session": "s"}
    )
    done(host, action="ingest", text="It rained on Tuesday.", key="rain")
    host.call(
        "default", "link", {"source": "parser", "target": "brackets", "relation": "similar-to", "weight": 0.9}
    )
    return host


def test_ping_is_answered(host):
    assert done(host, action="ping") == "pong"


def test_health_says_what_there_is(three):
    told = done(three, action="health")
    assert (told["healthy"], told["memories"], told["version"]) == (True, 3, "0.1.0")


def test_a_search_without_spreading_is_plain_cosine(three):
    asked = "The parser reads tokens."
    plain = done(three, action="search", query=asked, limit=5)
    assert plain == {
        **done(three, action="search", query=asked, use_spreading=False),
        "recall_id": plain["recall_id"],
    }
    assert plain["results"][0]["key"] == "parser"
    for one in plain["results"]:
        assert one["score"] == pytest.approx(one["components"]["cosine"])
        assert one["path"] == []


def test_a_search_with_spreading_brings_up_what_links_lead_to(three):
    found = done(three, action="search", query="The parser reads tokens.", limit=5, use_spreading=True)[
        "results"
    ]
    assert {"parser", "brackets"} <= {one["key"] for one in found}
    assert set(found[0]) == {
        "id", "key", "kind", "content", "source", "metadata", "created_at", "score", "components", "path", "distance",
    }  # fmt: skip


def test_a_search_has_five_results_unless_told_otherwise(host):
    for number in range(8):
        done(host, action="ingest", content=f"Note {number} on tokens.")
    assert len(done(host, action="search", query="Note on tokens.")["results"]) == 5
    assert len(done(host, action="search", query="Note on tokens.", limit=7)["results"]) == 7


def test_a_memory_is_got_by_key_or_id(three):
    by_key = done(three, action="get", key="rain")
    assert done(three, action="get", id=by_key["id"]) == by_key
    assert refused(three, action="get", key="snow")["code"] == "not_found"


def test_consolidate_sleeps(three):
    told = done(three, action="consolidate", stages=["light"], dry_run=True)
    assert told["stages"] == ["light"]
    assert done(three, action="consolidate")["stages"][0] == "decay"


def test_embed_gives_the_vector_of_a_text(host):
    told = done(host, action="embed", text="tokens")
    assert told["dimension"] == len(told["embedding"]) == HashedEmbedder().dimension
    assert told["embedding"] == HashedEmbedder().embed(["tokens"])[0].tolist()
    assert told["generation"] == HashedEmbedder().generation


def test_namespaces_stay_apart(three):
    assert refused(three, action="get", key="rain", namespace="other")["code"] == "not_found"
    done(three, action="ingest", content="Elsewhere.", key="rain", namespace="other")
    assert done(three, action="get", key="rain", namespace="other")["content"] == "Elsewhere."


@pytest.mark.parametrize(
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
def test_what_is_wrong_with_a_request_is_named(host, request_, named):
    error = refused(host, **request_)
    assert error["code"] == "bad_param"
    assert any(named in one for one in error["violations"]), error


def test_what_should_not_happen_is_told_without_what_was_said(host, caplog):
    def progress(_done, _total):
        raise RuntimeError("the secret content")

    request = {"op": "remember_many", "args": {"items": [{"content": "a secret"}]}, "id": 1}
    told = reply(host, request, progress)
    assert (told["error"]["code"], told["id"]) == ("internal", 1)
    assert "RuntimeError" in caplog.text
    assert "secret" not in "".join(one.getMessage() for one in caplog.records if one.levelname != "DEBUG")
    assert "secret" not in told["error"]["message"]


def test_a_call_whose_caller_went_away_has_no_answer(host):
    def progress(_done, _total):
        raise Gone

    with pytest.raises(Gone):
        reply(host, {"op": "remember_many", "args": {"items": [{"content": "x"}]}}, progress)
