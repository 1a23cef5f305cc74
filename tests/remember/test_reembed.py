"""A store whose vectors another embedder made."""

from math import inf

import pytest

from priming import EmbedderError, HashedEmbedder, Memory
from priming.config.params.limits import VECTORS
from priming.embedding import weights
from priming.remember.vectors import follow

OLD, NEW = HashedEmbedder(16), HashedEmbedder(32)


@pytest.fixture
def url(tmp_path):
    """A store of another generation, with a memory that has two versions."""
    url = f"sqlite:///{tmp_path}/memory.db"
    with Memory.open(url, embedder=OLD) as memory:
        memory.remember("A pear is a fruit.", key="pear")
        memory.remember("The port is 8080.", key="port")
        memory.supersede("port", "The port is 9090.")
    return url


def opened(url, embedder=NEW):
    return Memory.open(url, embedder=embedder)


class Failing(HashedEmbedder):
    """Fails at its second call, as one behind a network may."""

    calls = 0

    def embed(self, texts):
        self.calls += 1
        if self.calls == 2:
            raise EmbedderError("the network is down; try again")
        return super().embed(texts)


def test_a_store_of_another_generation_says_so_and_what_helps(url):
    with opened(url) as memory:
        result = memory.recall("fruit")
        assert result.hits[0].memory.key == "pear"
        assert result.degraded == ("vectors",)
        (finding,) = memory.validate()
        assert "priming reembed" in finding.remedy


def test_reembed_brings_the_vectors_back_and_logs_nothing(url):
    with opened(url) as memory:
        before = memory.log()
        assert memory.reembed() == 3
        assert memory.log() == before
        result = memory.recall("fruit")
        assert result.degraded == ()
        assert result.hits[0].components["meaning"] > 0
        assert memory.validate() == []


def test_vectors_are_those_that_the_embedder_makes_of_a_new_memory(url):
    with opened(url) as memory, Memory.open("sqlite://", embedder=NEW) as fresh:
        memory.reembed()
        fresh.remember("A pear is a fruit.", key="pear")
        assert vectors(memory)["pear", 1] == vectors(fresh)["pear", 1]


def test_a_second_time_there_is_nothing_to_do(url):
    with opened(url) as memory:
        memory.reembed()
        assert memory.reembed() == 0


def test_who_goes_back_to_the_old_embedder_finds_its_vectors_there(url):
    with opened(url) as memory:
        memory.reembed()
    with opened(url, OLD) as memory:
        assert memory.recall("fruit").degraded == ()
        assert memory.reembed() == 0


def test_what_failed_half_way_goes_on_where_it_stopped(url):
    half = Failing(32)
    with opened(url, OLD) as memory:
        memory.remember_many([{"content": f"Note {n}."} for n in range(VECTORS.reembed_batch)])
    with opened(url, half) as memory:
        with pytest.raises(EmbedderError):
            memory.reembed()
        assert len(vectors(memory)) == VECTORS.reembed_batch
        steps = []
        assert memory.reembed(progress=lambda done, total: steps.append((done, total))) == 3
        assert steps == [(3, 3)]
        assert memory.recall("fruit").degraded == ()


def test_a_process_that_had_it_open_leaves_no_snapshot_without_the_vectors(url):
    with opened(url) as other:
        other.recall("fruit")
        other.remember("A plum is one, too.", key="plum")
        other.recall("plum")
        with opened(url) as memory:
            memory.reembed()
    with opened(url) as memory:
        assert memory.recall("fruit").degraded == ()


def test_a_purge_takes_the_new_vectors_too(url):
    with opened(url) as memory:
        memory.reembed()
        memory.purge("pear")
        assert {key for key, _ in vectors(memory)} == {"port"}


def test_the_past_has_vectors_too(url):
    with opened(url) as memory:
        memory.reembed()
        assert {("port", 1), ("port", 2)} <= vectors(memory).keys()


def test_another_namespace_is_left_alone(url):
    with Memory.open(url, namespace="other", embedder=OLD) as memory:
        memory.remember("Elsewhere.", key="elsewhere")
    with opened(url) as memory:
        memory.reembed()
    with Memory.open(url, namespace="other", embedder=NEW) as memory:
        assert memory.recall("elsewhere").degraded == ("vectors",)


def test_in_a_namespace_without_memories_nothing_is_embedded(url):
    with Memory.open(url, namespace="nowhere", embedder=NEW) as memory:
        assert memory.reembed() == 0


def vectors(memory):
    """The stored vectors of the embedder in use, by key and version."""
    result = dict(memory.stored_vectors(memory.embedder.generation))
    names = memory.store.names(memory.namespace, ids={memory_id for memory_id, _ in result})
    return {(names[memory_id], version): vector for (memory_id, version), vector in result.items()}


@pytest.fixture
def of_words(tmp_path):
    """A store that was made before the model of sentences was installed."""
    url = f"sqlite:///{tmp_path}/words.db"
    with Memory.open(url, embedder="wordllama") as memory:
        memory.remember("Maria leads the mobile team.", key="maria")
        memory.remember("The canteen is closed on Fridays.", key="canteen")
    return url


LUNCH = "when can I not get lunch?"


@pytest.mark.slow
def test_a_store_of_words_moves_to_sentences_by_what_comes_next(of_words):
    with Memory.open(of_words, embedder="auto") as memory:
        assert memory.status().generation.startswith("semantic-")
        assert memory.status().waiting == 2
        assert memory.recall("Maria").degraded == ("vectors",)
        assert memory.recall("Maria").hits[0].memory.key == "maria"
        assert follow(memory, inf) == 2
        assert memory.recall(LUNCH).degraded == ()
        assert memory.recall(LUNCH).hits[0].memory.key == "canteen"
    with Memory.open(of_words, embedder="wordllama") as memory:
        assert memory.recall("Maria").degraded == ()


@pytest.mark.slow
def test_without_the_packages_of_sentences_words_go_on(of_words, monkeypatch):
    monkeypatch.setattr(weights, "RUNTIME", "no_such_package")
    with Memory.open(of_words, embedder="auto") as memory:
        assert memory.status().generation.startswith("wordllama-")
        assert memory.recall("Maria").degraded == ()


@pytest.mark.slow
def test_a_new_store_takes_sentences_at_once(tmp_path):
    with Memory.open(f"sqlite:///{tmp_path}/new.db", embedder="auto") as memory:
        assert memory.recall(LUNCH).hits == ()
        memory.remember("The canteen is closed on Fridays.", key="canteen")
        assert memory.recall(LUNCH).hits[0].memory.key == "canteen"
