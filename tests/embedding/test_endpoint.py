"""Embedders behind an endpoint: a real server on this machine, well-behaved and not."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from tests.rows import each_row

from priming import EmbedderError, HashedEmbedder, Memory, MissingExtra, ParamError
from priming.config.params.services import EmbedderParams
from priming.embedding.endpoint import EndpointEmbedder
from priming.embedding.protocol import Embedder, TokenEmbedder
from priming.llm import agents

pytestmark = pytest.mark.extra  # openai's

LOCAL = HashedEmbedder(16)
TEXTS = ["a pear", "two apples", "no fruit at all", "ünïcödé 🙂", "a pear"]
KEY = "sk-very-secret"
DOWN = 503, {}, "down"


def answer(vectors, places=None):
    """The reply of an endpoint, with vectors as lists of numbers."""
    places = range(len(vectors)) if places is None else places
    data = [{"object": "embedding", "index": i, "embedding": v} for i, v in zip(places, vectors, strict=True)]
    return 200, {}, json.dumps({"object": "list", "data": data, "model": "m"})


def honest(body):
    """What a working endpoint answers: vectors that are not of length one, the last one first."""
    vectors = [[3.0 * float(x) for x in row] for row in LOCAL.embed(body["input"])]
    return answer(vectors[::-1], [*range(len(vectors))][::-1])


@dataclass
class Place:
    """A server: what it replies, one after the other, then honestly; and what it was asked."""

    url: str = ""
    replies: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    waits: list = field(default_factory=list)
    end: threading.Event = field(default_factory=threading.Event)

    def embedder(self, *replies, key=None, dimensions=16, **params):
        self.replies[:] = replies
        return EndpointEmbedder(
            self.url, "m", key, dimensions=dimensions, params=EmbedderParams(**params), wait=self.waits.append
        )

    def failure(self, embedder, texts=("a",)):
        with pytest.raises(EmbedderError) as caught:
            embedder.embed(texts)
        message, start = str(caught.value), f"the embedder 'm' at {self.url} "
        assert message.startswith(start)
        return message.removeprefix(start)


@pytest.fixture
def place(monkeypatch):
    """A server that ends with the test."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    place = Place()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            place.requests.append((self.path, headers, body))
            reply = place.replies.pop(0) if place.replies else honest
            with suppress(ConnectionError):
                self.reply(*(reply(body) if callable(reply) else reply))

        def reply(self, status, headers, text):
            data = text.encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        place.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield place
        place.end.set()
        server.shutdown()
        serving.join()


def test_vectors_are_those_of_the_model_in_the_order_of_the_texts_at_length_one(place):
    embedder = place.embedder(batch=2)
    assert embedder.embed(TEXTS) == pytest.approx(LOCAL.embed(TEXTS), abs=1e-6)
    assert [len(body["input"]) for _, _, body in place.requests] == [2, 2, 1]
    assert isinstance(embedder, Embedder)
    assert not isinstance(embedder, TokenEmbedder)


def test_a_request_is_what_the_interface_says(place):
    place.embedder(key=KEY).embed(["a pear"])
    ((path, headers, body),) = place.requests
    assert path == "/v1/embeddings"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body == {"model": "m", "input": ["a pear"], "encoding_format": "float", "dimensions": 16}


def test_without_dimensions_the_model_is_asked_how_many_it_has_once(place):
    embedder = place.embedder(dimensions=None)
    assert embedder.dimension == 16
    assert embedder.embed(["a"]).shape == (1, 16)
    assert len(place.requests) == 2
    assert "dimensions" not in place.requests[0][2]


def test_empty_texts_are_zeros_and_are_not_sent(place):
    rows = place.embedder().embed(["", "a pear", " \n"])
    assert rows.any(axis=1).tolist() == [False, True, False]
    assert [body["input"] for _, _, body in place.requests] == [["a pear"]]
    assert place.embedder().embed([]).shape == (0, 16)


def test_of_a_long_text_the_beginning_is_sent(place):
    place.embedder(characters=4).embed(["a pear", "a \ud83c"])
    assert place.requests[0][2]["input"] == ["a pe", "a ?"]


def test_one_text_is_no_list_of_texts(place):
    with pytest.raises(ParamError, match="must be a sequence of texts"):
        place.embedder().embed("a pear")


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (answer([[1.0] * 16]), "answered 2 texts with 1 vectors"),
        (answer([[1.0] * 16] * 2, [0, 0]), "does not say which vector is whose, from 0 to 1"),
        (answer([[1.0] * 16] * 2, [1, 2]), "does not say which vector is whose"),
        (answer([[1.0] * 16] * 2, [False, True]), "does not say which vector is whose"),
        (answer([[1.0] * 16, [float("nan")] * 16]), "answered with numbers that are not finite"),
        (answer([[1.0] * 16, [float("inf")] * 16]), "answered with numbers that are not finite"),
        (
            answer([[1.0] * 16, [1.0] * 15]),
            "answered with vectors that are not numbers, or of several lengths",
        ),
        (answer([["1"] * 16] * 2), "answered with vectors that are not numbers"),
        (answer([[10**400] * 16] * 2), "answered with vectors that are not numbers"),
        (answer([[1.0] * 8] * 2), "answered with 8 dimensions, not 16: ask for dimensions that it has"),
        (
            (200, {}, "<html>hello</html>"),
            "did not answer with a list of embeddings: '<html>hello</html>'",
        ),
        ((200, {}, "[]"), "did not answer with a list of embeddings"),
        ((200, {}, '{"data": [{"index": 0}]}'), "did not answer with a list of embeddings"),
        ((200, {}, "[" * 100_000), "did not answer with a list of embeddings"),
        ((404, {}, "no such model"), "answered with status 404: 'no such model'; see that URL, name and"),
    ],
)
def test_an_answer_that_is_no_use_is_refused_with_what_is_wrong(place, reply, message):
    assert message in place.failure(place.embedder(reply), ["a", "b"])


def test_a_model_that_changes_its_dimension_is_caught(place):
    embedder = place.embedder(dimensions=None)
    assert embedder.dimension == 16
    place.replies[:] = [answer([[1.0] * 8])]
    assert "answered with 8 dimensions, not 16" in place.failure(embedder)


def test_a_vector_of_zeros_stays_one_and_huge_numbers_do_not_overflow(place):
    zeros, huge = place.embedder(answer([[0.0] * 16, [1e300] * 16])).embed(["a", "b"])
    assert not zeros.any()
    assert np.linalg.norm(huge) == pytest.approx(1.0)


def test_what_is_too_much_or_broken_now_is_sent_again(place):
    busy = 429, {"retry-after": "7"}, "slow down"
    rows = place.embedder(busy, DOWN, pause=0.5).embed(["a pear"])
    assert rows == pytest.approx(LOCAL.embed(["a pear"]), abs=1e-6)
    assert place.waits == [7.0, 1.0]


def test_what_is_broken_for_ever_is_given_up(place):
    message = place.failure(place.embedder(*[DOWN] * 5, retries=2))
    assert "answered with status 503: 'down'" in message
    assert "PRIMING_EMBEDDER_KEY" in message
    assert len(place.requests) == 3


def test_an_endpoint_that_takes_too_long_is_given_up(place):
    def late(_):
        place.end.wait()
        return DOWN

    assert "gave no answer" in place.failure(place.embedder(late, timeout=0.2))


def test_an_endless_answer_is_cut_off(place):
    message = place.failure(place.embedder((200, {}, "x" * 5000), output=1000))
    assert "answered with more than 1,000 bytes" in message


def test_nobody_at_home_is_an_error_of_the_embedder():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with pytest.raises(EmbedderError, match=r"gave no answer: .*; see that it runs"):
            EndpointEmbedder(url, "m", dimensions=2).embed(["a"])


def test_the_key_is_in_no_message_and_no_representation(place):
    echoing = 401, {}, f"Incorrect API key provided: {KEY}"
    embedder = place.embedder(echoing, key=KEY)
    assert KEY not in repr(embedder)
    assert KEY not in embedder.stamp
    assert KEY not in embedder.generation
    message = place.failure(embedder)
    assert "Incorrect API key provided: …" in message
    with pytest.raises(ParamError) as caught:
        EndpointEmbedder(place.url, "m", f"{KEY}\nx")
    assert KEY not in str(caught.value)


def test_a_redirect_is_not_followed(place):
    message = place.failure(place.embedder((307, {"location": "http://127.0.0.1:1/v1"}, ""), key=KEY))
    assert "answered with status 307" in message


def test_another_address_model_or_length_is_another_generation(place):
    item = place.embedder()
    others = [
        EndpointEmbedder(f"{place.url}x", "m", dimensions=16),
        EndpointEmbedder(place.url, "n", dimensions=16),
        EndpointEmbedder(place.url, "m", dimensions=8),
        place.embedder(characters=9),
    ]
    assert len({item.generation, *(other.generation for other in others)}) == 5
    assert EndpointEmbedder(f"{place.url}/", "m", dimensions=16).generation == item.generation
    assert item.generation.startswith("m/16/")


@each_row(
    ("url", "model", "options"),
    [
        ("ftp://h/v1", "m", {}),
        ("http://h/v1?x=1", "m", {}),
        ("http://u:p@h/v1", "m", {}),
        ("http://h/v1", " ", {}),
        ("http://h/v1", "m", {"dimensions": 0}),
        ("http://h/v1", "m", {"dimensions": True}),
    ],
)
def test_what_can_be_no_endpoint_is_refused(url, model, options):
    with pytest.raises(ParamError):
        EndpointEmbedder(url, model, **options)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(agents, "LIBRARY", "no_such_package")
    with pytest.raises(MissingExtra, match=r"pip install 'priming\[openai\]'"):
        EndpointEmbedder("http://localhost:8080/v1", "m")


def test_a_memory_works_with_it_by_name(place):
    with Memory.open("sqlite://", embedder=f"{place.url}?model=m&dimensions=16") as memory:
        memory.remember("A pear is a fruit.", key="pear")
        recall = memory.recall("which fruit?")
        assert [hit.memory.key for hit in recall.hits] == ["pear"]
        assert "vectors" not in recall.degraded
