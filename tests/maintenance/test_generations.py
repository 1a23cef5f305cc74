"""A change of the embedder: the former answers until the new is built and compared, and can be returned to."""

import pytest

from priming import Conflict, EmbedderError, HashedEmbedder, Memory, NotFound, ParamError
from priming.config.params.limits import VECTORS
from priming.embedding import registry
from priming.maintenance.generations import change_embedder, compare_embedders, roll_back_embedder

INSTRUMENTS = ("violin", "cello", "oboe", "tuba", "horn", "lute", "piano", "banjo")
OLD = HashedEmbedder(256)


def fill(memory, place):
    """Memories, and a verdict on the hit at this place of each recall."""
    for i, name in enumerate(INSTRUMENTS):
        memory.remember(
            f"The {name} was tuned by Ada in hall {i} with the {INSTRUMENTS[(i + 3) % 8]}.", key=name
        )
    for i, name in enumerate(INSTRUMENTS):
        recall = memory.recall(f"who tuned the {name} and {INSTRUMENTS[(i + 1) % 8]}", limit=8)
        memory.feedback(recall.recall_id, used=[recall.hits[min(place, len(recall.hits) - 1)].memory.key])


@pytest.fixture(scope="module")
def models(open_shared):
    first, fourth = open_shared(embedder=OLD), open_shared(embedder=OLD)
    fill(first, 0)
    fill(fourth, 3)
    return first, fourth


@pytest.fixture
def judged_first(models, copy_of, url):
    return copy_of(models[0], url, embedder=OLD)


@pytest.fixture
def judged_fourth(models, copy_of, url):
    return copy_of(models[1], url, embedder=OLD)


def answering(open_memory, url):
    """The generation with which the namespace goes on when nobody names one."""
    return open_memory(url, embedder="auto").embedder.generation


def test_an_embedder_that_answers_no_worse_answers_from_now_on(judged_fourth, open_memory, url):
    change = change_embedder(judged_fourth, "hashed:16")
    assert (change.switched, change.vectors) == (True, 8)
    assert change.comparison.recalls == 8
    assert change.comparison.new.mrr > change.comparison.old.mrr
    assert change.comparison.new.hit_at_5 >= change.comparison.new.hit_at_1
    assert 0 < change.comparison.better <= change.comparison.recalls - change.comparison.worse
    assert judged_fourth.embedder.generation == change.generation == HashedEmbedder(16).generation
    assert answering(open_memory, url) == change.generation
    assert judged_fourth.validate() == []
    (logged,) = judged_fourth.log(limit=1)
    assert (logged.id, logged.kind, logged.message, logged.changes) == (
        change.operation,
        "reembed",
        "hashed:16",
        (),
    )


def test_one_that_answers_worse_does_not_unless_it_is_told_to(judged_first, open_memory, url):
    change = change_embedder(judged_first, "hashed:16")
    assert not change.switched
    assert change.comparison.is_worse
    assert change.generation == judged_first.embedder.generation == OLD.generation
    again = change_embedder(judged_first, "hashed:16", switch=True)
    assert (again.switched, again.vectors) == (True, 0)
    assert answering(open_memory, url) == HashedEmbedder(16).generation


def test_a_change_can_only_be_built_and_compared(judged_fourth):
    head = judged_fourth.store.head("default")
    change = change_embedder(judged_fourth, "hashed:16", switch=False)
    assert (change.switched, change.operation) == (False, None)
    assert judged_fourth.store.head("default") == head


def test_without_judged_recalls_there_is_nothing_to_compare_on(open_memory):
    memory = open_memory(embedder=OLD)
    memory.remember("We sing.")
    assert compare_embedders(memory, HashedEmbedder(16)) is None
    change = change_embedder(memory, "hashed:16")
    assert not change.switched
    assert "no judged recall" in change.reason
    assert change_embedder(memory, "hashed:16", switch=True).switched


def test_recalls_are_answered_by_the_former_embedder_while_the_new_is_built(judged_fourth):
    before = [hit.score for hit in judged_fourth.recall("the violin").hits]
    during = []

    def recalling(_done, _total):
        recall = judged_fourth.recall("the violin")
        during.append(([hit.score for hit in recall.hits], recall.degraded))

    change_embedder(judged_fourth, "hashed:16", switch=False, progress=recalling)
    assert during
    assert all(scores == pytest.approx(before) and degraded == () for scores, degraded in during)


class Failing(HashedEmbedder):
    """Fails at its second call, as one behind a network may."""

    calls = 0

    def embed(self, texts):
        self.calls += 1
        if self.calls == 2:
            raise EmbedderError("the network is down; try again")
        return super().embed(texts)


def test_a_build_that_was_interrupted_goes_on_where_it_stopped(open_memory, monkeypatch):
    memory = open_memory(embedder=OLD)
    memory.remember_many([{"content": f"note {number}"} for number in range(150)])
    new = Failing(64)
    monkeypatch.setitem(registry._MAKERS, "hashed", lambda *_: new)
    with pytest.raises(EmbedderError):
        change_embedder(memory, "hashed:64", switch=True)
    assert memory.embedder is OLD
    assert change_embedder(memory, "hashed:64", switch=True).vectors == 150 - VECTORS.reembed_batch


def test_a_change_is_rolled_back_and_back_again(judged_fourth, open_memory, url):
    change_embedder(judged_fourth, "hashed:24", switch=True)
    change_embedder(judged_fourth, "hashed:16", switch=True)
    judged_fourth.remember("The harp came later.", key="harp")
    back = roll_back_embedder(judged_fourth)
    assert (back.embedder, back.generation, back.vectors) == ("hashed:24", HashedEmbedder(24).generation, 1)
    assert answering(open_memory, url) == back.generation
    assert judged_fourth.recall("the harp").degraded == ()
    assert roll_back_embedder(judged_fourth).embedder == "hashed:16"


def test_the_first_change_rolls_back_to_what_is_installed(open_memory, url):
    with Memory.open(url, embedder="auto") as memory:
        memory.remember("We sing.")
        before = memory.embedder.generation
        change_embedder(memory, "hashed:24", switch=True)
    with Memory.open(url, embedder="auto") as memory:
        assert memory.embedder.generation == HashedEmbedder(24).generation
        assert roll_back_embedder(memory).generation == before
    assert answering(open_memory, url) == before


def test_vectors_that_were_only_computed_choose_no_embedder(open_memory, url):
    with Memory.open(url, embedder="auto") as memory:
        memory.remember("We sing.")
        before = memory.embedder.generation
        for to in ("wordllama", "hashed:24"):
            assert not change_embedder(memory, to, switch=False).switched
        with pytest.raises(NotFound, match="never changed"):
            roll_back_embedder(memory)
        assert (memory.stats().generation, memory.status().waiting) == (before, 0)
    assert answering(open_memory, url) == before


def test_a_build_that_a_crash_ended_chooses_no_embedder(open_memory, url, monkeypatch):
    with Memory.open(url, embedder="auto") as memory:
        memory.remember_many([{"content": f"The choir sings song {i}."} for i in range(40)])
        before = memory.embedder.generation
        monkeypatch.setattr("priming.maintenance.generations.compare_embedders", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            change_embedder(memory, "wordllama")
    assert answering(open_memory, url) == before


def test_namespaces_choose_by_themselves_and_a_named_embedder_wins(judged_fourth, open_memory, url):
    change_embedder(judged_fourth, "hashed:16", switch=True)
    other = open_memory(url, namespace="other", embedder="auto")
    assert other.embedder.generation != HashedEmbedder(16).generation
    assert open_memory(url, embedder=OLD).embedder is OLD


def test_undo_points_to_the_way_back_and_undo_of_the_last_passes_over_it(judged_fourth):
    judged_fourth.remember("To be undone.", key="undone")
    change = change_embedder(judged_fourth, "hashed:16", switch=True)
    with pytest.raises(Conflict, match="--roll-back"):
        judged_fourth.undo(change.operation)
    judged_fourth.undo("last")
    assert "undone" not in {record.key for record in judged_fourth.list(limit=100)}
    assert judged_fourth.verify().findings == ()


def test_a_change_that_is_none_is_refused(judged_fourth):
    for name in ("hashed:256", "auto", "no-such-embedder", " "):
        with pytest.raises(ParamError):
            change_embedder(judged_fourth, name)
    with pytest.raises(NotFound, match="never changed"):
        roll_back_embedder(judged_fourth)
