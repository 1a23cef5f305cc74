"""A memory in PostgreSQL, as a user opens it."""

import pytest

from priming import FixedClock, HashedEmbedder, Memory
from priming.errors import ParamError, StoreError

from ..making import NOW


@pytest.fixture
def url(postgres: str) -> str:
    return f"{postgres}&schema=opening"


def opened(url: str, **options):
    return Memory.open(url, embedder=HashedEmbedder(64), clock=FixedClock(NOW), **options)


def test_what_one_remembers_another_recalls_from_the_same_database(url):
    with opened(url, namespace="team") as ann, opened(url, namespace="team") as ben:
        note = ann.remember("The export runs on worker-3 at night.")
        answer = ben.recall("where does the export run?")
        assert [hit.memory.key for hit in answer.hits] == [note.key]
        ben.feedback(answer.recall_id, used=[note.key])
        assert ann.why(note.key).memory.use.helped == 1
        ann.forget(note.key)
        assert ben.recall("where does the export run?").hits == ()


def test_a_namespace_sees_nothing_of_another(url):
    with opened(url, namespace="ours") as ours, opened(url, namespace="theirs") as theirs:
        ours.remember("The safe opens at nine.", key="safe")
        assert theirs.recall("when does the safe open?").hits == ()
        assert theirs.list() == []


def test_a_server_that_is_not_there_is_named_without_the_password():
    with pytest.raises(StoreError, match="'team' on localhost:1 cannot be reached") as refused:
        opened("postgresql://ann:secret@localhost:1/team?connect_timeout=1")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("schema=a-b", "letters, digits"),
        ("schema=", "letters, digits"),
        ("pool=0", "from 1"),
        ("pool=x", "from 1"),
    ],
)
def test_a_wrong_option_is_refused_without_the_password(query, rule):
    with pytest.raises(ParamError, match=rule) as refused:
        opened(f"postgresql://ann:secret@localhost/team?{query}")
    assert "secret" not in str(refused.value)
