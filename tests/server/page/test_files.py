"""The files of the page as a server answers them, and the drawing of a graph."""

import gzip

import pytest
from tests.rows import each_row

from priming_server.page import site


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A page of three files, as a build leaves them."""
    folder = tmp_path / "site"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Priming</title>")
    (folder / "assets" / "index-1a2b.js").write_text("let priming;" * 100)
    (folder / "digest").write_text("…")
    monkeypatch.setattr(site, "folder", lambda: folder)
    return folder


@pytest.mark.usefixtures("built")
def test_the_page_is_served_with_a_strict_policy_and_asked_for_anew(served):
    answer = served.client.get("/")
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-cache"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    again = served.client.get("/", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = served.client.head("/")
    assert (head.status_code, head.headers["etag"], head.content) == (200, answer.headers["etag"], b"")


@pytest.mark.usefixtures("built")
def test_its_files_are_compressed_and_last_for_ever(served):
    answer = served.client.get("/page/assets/index-1a2b.js")
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.text == "let priming;" * 100
    plain = served.client.get("/page/assets/index-1a2b.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert len(plain.content) == 1200


@pytest.mark.usefixtures("built")
def test_nothing_but_its_files_is_served(served):
    others = ["none.js", "..%2Findex.html", "../index.html", "%2e%2e/digest", "..%2Fdigest", "x/../../digest"]
    answers = {name: served.client.get(f"/page/assets/{name}").status_code for name in others}
    assert answers == dict.fromkeys(others, 404)


@pytest.mark.usefixtures("built")
def test_a_store_with_tokens_shows_the_page_and_nothing_else(served):
    served.tokens.new("default")
    assert served.client.get("/").status_code == 200
    assert served.client.get("/page/assets/index-1a2b.js").status_code == 200
    assert served.ask("recall", {"text": "x"}).status_code == 401
    assert served.client.post("/page/drawing/default", json={}).status_code == 401


def test_without_a_page_the_server_says_how_to_get_it(served, monkeypatch):
    monkeypatch.setattr(site, "folder", lambda: None)
    answer = served.client.get("/")
    assert (answer.status_code, answer.text.count("\n")) == (404, 1)
    assert "make page" in answer.text


def test_a_build_that_could_not_make_it_is_quoted(served, tmp_path, monkeypatch):
    (tmp_path / site.MISSING).write_text("built without its page: no npm\n")
    monkeypatch.setattr(site, "folder", lambda: tmp_path)
    assert served.client.get("/").text == "built without its page: no npm\n"


def test_a_file_is_compressed_the_same_at_each_start(built):
    first, second = site.read(built), site.read(built)
    assert first == second
    assert gzip.decompress(first["index.html"].compressed) == first["index.html"].data


def draw(served, **request):
    answer = served.client.post("/page/drawing/default", json=request)
    return answer.json() if answer.is_success else answer.json()["error"]


@pytest.fixture
def linked(served):
    """Three memories in a row, and what their texts name."""
    for key in ("a", "b", "c"):
        served.done("remember", {"content": f"The text of {key}", "key": key, "kind": "fact"})
    served.done("link", {"source": "a", "target": "b", "relation": "requires", "weight": 0.9})
    served.done("link", {"source": "b", "target": "c", "relation": "conflicts", "weight": 0.2})
    return served


def test_a_drawing_has_keys_and_weights_and_no_texts(linked):
    answer = draw(linked)
    assert {key for key, _, _ in answer["nodes"]} >= {"a", "b", "c"}
    names = [key for key, _, _ in answer["nodes"]]
    links = {
        (names[s], answer["relations"][r][0], names[t], weight, answer["relations"][r][1])
        for s, t, r, weight in answer["links"]
    }
    assert {("a", "requires", "b", 0.9, 1), ("b", "conflicts", "c", 0.2, -1)} <= links
    assert "The text" not in str(answer)


def required(answer):
    """The weights of the links of the relation requires."""
    return [weight for *_, r, weight in answer["links"] if answer["relations"][r][0] == "requires"]


def test_a_drawing_of_some_keys_has_the_links_between_them(linked):
    answer = draw(linked, keys=["a", "b", "nothing"])
    assert {key for key, _, _ in answer["nodes"]} == {"a", "b"}
    assert required(answer) == [0.9]
    assert draw(linked, keys=["nothing"])["nodes"] == []


def test_a_limit_draws_those_with_the_most_links_and_says_what_is_left_out(linked):
    answer = draw(linked, limit=1)
    assert [key for key, _, _ in answer["nodes"]] == ["b"]
    assert answer["links"] == []
    assert answer["left_out"] >= 2


def test_a_drawing_of_another_time_has_the_links_of_that_time(linked):
    before = linked.done("log")[0]["at"]
    linked.done("set_strength", {"source": "a", "target": "b", "relation": "requires", "weight": 0.1})
    assert required(draw(linked, keys=["a", "b"])) == [0.1]
    assert required(draw(linked, keys=["a", "b"], known_at=before)) == [0.9]


@each_row("request_", [{"limit": 0}, {"limit": 50_001}, {"keys": 3}, {"known_at": "yesterday"}, {"other": 1}])
def test_what_a_drawing_cannot_take_is_a_bad_argument(lasting, request_):
    assert draw(lasting, **request_)["code"] == "bad_param"
