from datetime import UTC, datetime
from threading import Thread

import pytest
from tests.rows import each_row

from priming import Conflict, HashedEmbedder, Memory, ParamError
from priming.maintenance.generations import change_embedder
from priming_adapters.common import (
    MOST_OPEN,
    Users,
    at_key,
    every,
    forget,
    key_of,
    message,
    put,
    put_all,
    remember,
    text_of,
)


def test_a_user_is_a_namespace_of_the_store_of_the_memory(memory):
    users = Users(memory)
    remember(users.of("ada"), message("Ada lives in Porto."))
    assert users.of() is users.of("default") is memory
    assert [record.content for record in users.of("ada").list()] == ["Ada lives in Porto."]
    assert not memory.list()
    assert not users.of("grace").recall("Where does Ada live?").hits
    users.close()
    assert not memory.list()
    for wrong in ("", "a\nb", 7, "x" * 600):
        with pytest.raises(ParamError, match="namespace"):
            users.of(wrong)


def test_an_adapter_closes_the_store_that_it_opened(url):
    with Users(url, namespace="ada") as users:
        remember(users.of("grace"), message("Grace lives in Braga."))
    with pytest.raises(Exception, match="closed"):
        users.of().list()
    with Memory.open(url, namespace="grace") as memory:
        assert [record.content for record in memory.list()] == ["Grace lives in Braga."]


def test_a_user_whose_namespace_was_changed_to_another_embedder_has_that(url, monkeypatch):
    monkeypatch.setenv("PRIMING_EMBEDDER", "auto")
    with Memory.open(url, namespace="ada", embedder="hashed:32") as memory:
        memory.remember("Ada lives in Porto.")
        change_embedder(memory, "hashed:64", switch=True)
    with Users(url) as users:
        assert users.of("ada").embedder.dimension == 64
        assert users.of("grace").embedder is users.of().embedder
    with Memory.open(url, embedder=HashedEmbedder(32)) as memory:
        assert Users(memory).of("ada").embedder is memory.embedder


def test_the_memories_of_many_users_stay_open_only_for_the_latest(memory):
    users = Users(memory)
    first = users.of("user-0")
    for number in range(1, MOST_OPEN + 1):
        users.of(f"user-{number}")
    assert users.of(f"user-{MOST_OPEN}") is users.of(f"user-{MOST_OPEN}")
    assert users.of("user-0") is not first


def test_a_text_under_a_key_gets_versions_also_once_it_was_forgotten(memory):
    put(memory, "home", "Ada lives in Porto.", kind="fact", metadata={"n": 1})
    assert forget(memory, "home")
    assert not forget(memory, "home")
    assert not forget(memory, "nowhere")
    record = put(memory, "home", "Ada lives in Braga.", kind="fact", metadata={"n": 2})
    assert (record.version, record.status, dict(record.metadata)) == (2, "active", {"n": 2})
    assert [version.content for version in memory.history("home")] == [
        "Ada lives in Porto.",
        "Ada lives in Braga.",
    ]


def test_texts_are_put_all_or_none(memory):
    put(memory, "a", "Ada lives in Porto.")
    number = len(memory.log())
    with pytest.raises(ParamError, match="metadata"):
        put_all(memory, {"b": {"content": "Grace lives in Braga."}, "a": {"content": "x", "metadata": 5}})
    assert len(memory.log()) == number
    assert [hit.memory.key for hit in memory.recall("Who lives in Porto or Braga?")] == ["a"]
    texts = {name: {"content": f"{name} lives in Braga."} for name in ("a", "b", "c")}
    put_all(memory, texts)
    assert [operation.kind for operation in memory.log()][:2] == ["supersede", "remember"]
    assert {record.key: record.content for record in memory.list()} == {
        name: item["content"] for name, item in texts.items()
    }


def test_every_memory_is_listed_over_pages(memory, monkeypatch):
    monkeypatch.setattr("priming_adapters.common.PAGE", 2)
    for number in range(5):
        put(memory, f"k{number}", f"Text {number} of five", metadata={"n": number})
    forget(memory, "k3")
    assert [record.key for record in every(memory)] == ["k0", "k1", "k2", "k4"]
    assert [record.key for record in every(memory, {"metadata.n": {"gte": 2}})] == ["k2", "k4"]


def test_a_message_is_remembered_with_its_speaker_session_time_and_trust(memory):
    at = datetime(2024, 5, 1, tzinfo=UTC)
    about = {"session": "monday", "occurred_at": at}
    remember(
        memory,
        message("I moved to Braga.", metadata={"id": "m1"}, **about),
        message("Noted: Braga.", role="assistant", **about),
        message(" \n"),
        message("I agree.", speaker="Ada"),
        message("Braga: 12 °C", role="tool"),
    )
    first, second, third, fourth = memory.list()
    assert (first.speaker, first.session, first.occurred_at, first.trust) == ("user", "monday", at, "user")
    assert (second.speaker, second.trust, third.speaker) == ("assistant", "agent", "Ada")
    assert fourth.trust == "tool"
    assert len(memory.log()) == 1


@each_row(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, "b"], "a\nb"),
        ([], ""),
        (7, ""),
    ],
)
def test_the_text_of_a_message_is_that_of_its_parts(content, text):
    assert text_of(content) == text


def test_a_name_is_a_key_and_one_that_cannot_be_has_a_digest():
    assert key_of("prefs/2024 α") == "prefs/2024 α"
    odd = ["e\u0301", "\u00e9", "a\nb", "a?b", " ", "x" * 600, "x" * 601, "\ud800", ""]
    keys = [key_of(name) for name in odd]
    assert len({*keys}) == len(odd)
    assert all(len(key) <= 512 and key.isprintable() and key.strip() for key in keys)


def test_an_entity_is_no_memory_of_a_user(memory):
    memory.remember("Checkout was down because Falcon ran out of connections.")
    assert memory.get("entity:falcon").kind == "entity"
    assert at_key(memory, "entity:falcon") is None
    assert not forget(memory, "entity:falcon")
    with pytest.raises(Conflict, match="taken"):
        put(memory, "entity:falcon", "Falcon is a database.")


def test_the_users_of_a_store_take_turns(memory):
    users = Users(memory)
    errors = []

    def work(number):
        try:
            for _ in range(5):
                user = users.of(f"user-{number % 3}")
                remember(user, message(f"Person {number} lives in Porto.", echo_guard=False))
                assert users.of(f"user-{number % 3}").recall("Who lives in Porto?").hits
        except Exception as error:  # noqa: BLE001 - of a thread, whose errors nobody sees
            errors.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert errors == []
    assert users.of("user-1").lock is users.of("user-2").lock is memory.lock
