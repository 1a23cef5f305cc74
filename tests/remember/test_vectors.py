"""When vectors are made: of a few texts at once, of many after all are stored, at the latest by what comes next."""

import threading
import time
from dataclasses import replace
from math import inf
from uuid import uuid4

import numpy as np
import pytest

from priming import HashedEmbedder, Memory, namespace
from priming.config.params.limits import PASSAGES, VECTORS
from priming.embedding.protocol import SemanticEmbedder
from priming.embedding.wordllama import StaticEmbedder
from priming.errors import EmbedderError, ParamError
from priming.operations.service import LocalService
from priming.remember import vectors
from priming.remember.vectors import complete, follow, reembed
from priming.storage.questions import StoredNamespace

WORDS = StaticEmbedder()
AT_ONCE, BATCH = 16, 4
"""A quarter of what VECTORS says: what waits is the same."""
MANY = AT_ONCE + BATCH
"""Enough texts to wait, in several batches."""
ITEMS = [{"content": f"Crate {number} holds bolts of kind {number}."} for number in range(MANY)]


class Sentences(HashedEmbedder):
    """Counts the texts that it embeds, and may fail at a call."""

    def __init__(self, fails_at=None, raises=EmbedderError):
        super().__init__(32)
        self.texts, self.calls, self.fails_at, self.raises = [], 0, fails_at, raises

    def embed(self, texts):
        self.calls += 1
        if self.calls == self.fails_at:
            raise self.raises("it is broken")
        self.texts += texts
        return super().embed(texts)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    fewer = replace(VECTORS, at_once=AT_ONCE, reembed_batch=BATCH)
    for module in (namespace, vectors):
        monkeypatch.setattr(module, "VECTORS", fewer)


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/memory.db"


def opened(url, sentences=None, **options):
    return Memory.open(url, embedder=SemanticEmbedder(WORDS, sentences or Sentences()), **options)


def filled(url, items=ITEMS):
    with opened(url) as memory:
        memory.remember_many(items, later=True)
    return url


def test_a_text_gets_its_vector_as_it_is_stored(url):
    with opened(url) as memory:
        memory.remember("A pear is a fruit.")
        assert memory.status().waiting == 0
        assert memory.recall("fruit").degraded == ()


def test_a_few_texts_are_linked_to_their_nearest_as_one_is(url):
    with opened(url) as memory:
        memory.remember_many([{"content": "A pear is a fruit."}, {"content": "A pear is a fruit, yes."}])
        assert [link.relation for link in memory.links()] == ["similar-to"]


def test_what_is_left_for_later_is_found_by_its_words_and_counted(url):
    with opened(url) as memory:
        memory.remember_many(ITEMS, later=True)
        assert memory.status().waiting == MANY
        recall = memory.recall("Crate 7 bolts")
        assert recall.hits
        assert recall.degraded == ("vectors",)
        assert [finding.rule for finding in memory.validate()] == ["missing-vectors"]


def test_a_load_makes_its_vectors_after_all_texts_and_says_how_far_it_is(url):
    steps = []
    with opened(url) as memory:
        memory.remember_many(ITEMS, progress=lambda done, total: steps.append((done, total)))
        assert memory.status().waiting == 0
        assert memory.recall("bolts").degraded == ()
    assert steps[0] == steps[-1] == (MANY, MANY)
    assert (BATCH, MANY) in steps


def long(passages):
    """A text of so many passages, roughly."""
    return "This sentence speaks of barge 7 and its cargo of salt. " * (passages * PASSAGES.most // 55)


@pytest.mark.parametrize("verb", ["remember", "supersede"])
def test_the_vectors_of_a_very_long_text_follow_as_those_of_many_texts_do(url, verb):
    sentences = Sentences()
    with opened(url, sentences) as memory:
        memory.remember("A pear is a fruit.", key="told")
        getattr(memory, verb)(content=long(3 * AT_ONCE), key="told" if verb == "supersede" else "long")
        assert memory.status().waiting == 1
        assert len(sentences.texts) < AT_ONCE
        assert [hit.memory.content[:13] for hit in memory.recall("barge salt")] == ["This sentence"]
        assert follow(memory, AT_ONCE / VECTORS.a_second) == 0  # it takes longer than there is time for
        assert reembed(memory) == 1
        assert memory.status().waiting == 0
        assert len(sentences.texts) > 3 * AT_ONCE


def test_a_load_of_few_long_texts_makes_their_vectors_itself(url):
    with opened(url) as memory:
        memory.remember_many([{"content": long(AT_ONCE)}, {"content": "A pear is a fruit."}])
        assert memory.status().waiting == 0


def test_long_texts_are_made_one_by_one_while_there_is_time(url):
    with opened(url) as memory:
        memory.remember_many([{"content": f"{name} {long(3)}"} for name in "ABC"], later=True)
        assert complete(memory, memory.working(memory.now()).waiting_ids, until=0.0) == 1
        assert memory.status().waiting == 2


def test_later_must_be_true_or_false(url):
    with opened(url) as memory, pytest.raises(ParamError, match="later = 'no': must be true or false"):
        memory.remember_many(ITEMS, later="no")


def test_sums_over_tokens_wait_for_nothing(url):
    with Memory.open(url, embedder=WORDS) as memory:
        memory.remember_many(ITEMS, later=True)
        assert memory.status().waiting == 0


def test_the_designs_of_other_systems_link_by_vectors_as_they_store(url):
    with opened(url, profile="ethos") as memory:
        memory.remember_many(ITEMS, later=True)
        assert memory.status().waiting == 0


def test_what_comes_next_makes_what_it_has_time_for(url):
    with opened(filled(url)) as memory:
        assert follow(memory, 0.0) == BATCH
        assert memory.status().waiting == MANY - BATCH
        assert follow(memory, inf) == MANY - BATCH
        assert memory.status().waiting == 0
        assert follow(memory, inf) == 0


@pytest.mark.parametrize("raises", [KeyboardInterrupt, EmbedderError])
def test_what_was_stopped_on_its_way_lost_nothing_and_goes_on(url, raises):
    with opened(url, Sentences(3, raises)) as memory, pytest.raises(raises):
        memory.remember_many(ITEMS)
    later = Sentences()
    with opened(url, later) as memory:
        assert len(memory.list(limit=MANY + 1)) == MANY
        assert memory.status().waiting == MANY - 2 * BATCH
        assert follow(memory, inf) == len(later.texts) == memory.status().memories - 2 * BATCH


def test_a_failure_of_the_embedder_is_no_failure_of_what_follows(url):
    with opened(filled(url), Sentences(1)) as memory:
        assert follow(memory, inf) == 0
        assert memory.status().waiting == MANY


def test_two_at_once_make_each_vector_once(url):
    filled(url)
    sentences = [Sentences(), Sentences()]

    def work(own):
        with opened(url, own) as memory:
            complete(memory, memory.working(memory.now()).waiting_ids)

    threads = [threading.Thread(target=work, args=(own,)) for own in sentences]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sentences[0].texts + sentences[1].texts) == sorted(item["content"] for item in ITEMS)
    with opened(url) as memory:
        assert memory.status().waiting == 0


def test_who_has_it_open_sees_vectors_that_another_made(url):
    with opened(url) as reader, opened(url) as writer:
        writer.remember_many(ITEMS, later=True)
        assert reader.recall("bolts").degraded == ("vectors",)
        follow(writer, inf)
        assert reader.recall("bolts").degraded == ()


def test_vectors_that_came_later_are_in_the_next_snapshot(url, tmp_path):
    items = [{"content": f"Crate {number}.", "session": "s"} for number in range(300)]
    filled(url, items)
    (snapshot,) = tmp_path.glob("*.working/*.snapshot")
    before = snapshot.read_bytes()
    with opened(url) as memory:
        assert memory.status().waiting == 300
        follow(memory, inf)
        memory.recall("crate")
    assert snapshot.read_bytes() != before
    with opened(url) as memory:
        assert memory.working(memory.now()).head
        assert memory.status().waiting == 0
        assert memory.recall("Crate 7").hits[0].components["meaning"] > 0


def test_a_text_that_changed_meanwhile_has_the_vector_of_its_new_text(url):
    with opened(filled(url)) as memory:
        key = memory.list(limit=1)[0].key
        memory.supersede(key, "It holds nails.")
        follow(memory, inf)
        assert memory.status().waiting == 0
        generation = memory.embedder.generation
        vectors = dict(
            StoredNamespace(memory.store, "default").stored_vectors(generation, [memory.get(key).id])
        )
        (version, blob), *others = [(number, blob) for (_, number), blob in vectors.items()]
        assert (version, others) == (2, [])
        assert np.array_equal(np.frombuffer(blob, "<f4"), memory.embedder.embed(["It holds nails."])[0])


def test_texts_are_never_sent_elsewhere_unasked(url):
    sentences = Sentences()
    sentences.remote = True
    with opened(filled(url), sentences) as memory:
        assert follow(memory, inf) == 0
        assert memory.status().waiting == MANY
        assert reembed(memory) == MANY


def test_a_read_only_namespace_is_left_alone(url):
    with opened(filled(url)) as memory:
        memory.store.set_read_only("default", on=True)
        assert follow(memory, inf) == 0


def test_a_night_makes_them_first(url):
    with opened(filled(url)) as memory:
        memory.sleep(dry_run=True)
        assert memory.status().waiting == MANY
        memory.sleep()
        assert memory.status().waiting == 0


def test_a_night_links_what_a_load_left_unlinked(url):
    with opened(url) as memory:
        memory.remember_many(ITEMS)
        assert not [link for link in memory.links() if link.relation == "similar-to"]
        memory.sleep(["link"])
        assert [link for link in memory.links() if link.relation == "similar-to"]


def test_a_server_makes_them_for_the_namespaces_that_it_has_open(url):
    service = LocalService(filled(url), embedder=SemanticEmbedder(WORDS, Sentences()))
    service.make_vectors(inf)
    assert service.call("default", "status", {})["waiting"] == MANY
    service.make_vectors(inf)
    assert service.call("default", "status", {})["waiting"] == 0
    service.close()


@pytest.mark.parametrize("later", [False, True])
def test_an_import_makes_them_or_leaves_them(url, tmp_path, later):
    file = tmp_path / "export.jsonl"
    with opened(filled(url)) as memory:
        memory.export(file)
    with opened(f"sqlite:///{tmp_path}/other.db") as memory:
        assert memory.import_(file, later=later) >= MANY
        assert memory.status().waiting == (MANY if later else 0)


def test_a_load_that_is_redone_waits_as_the_load_did(url):
    with opened(url) as memory:
        operation = memory.remember_many(ITEMS)[0].operation
        undone = memory.undo(operation)
        assert memory.status().memories == 0
        memory.undo(undone.id)
        assert memory.status().memories == MANY
        follow(memory, inf)
        assert memory.status().waiting == 0


def test_waiting_texts_are_near_by_the_vectors_of_their_words(url):
    with opened(url) as memory:
        memory.remember("A heron stood in the reeds.")
        memory.remember_many(
            [{"content": "The kettle boils water."}, {"content": "The ledger closes at noon."}], later=True
        )
        working = memory.working(memory.now())
        assert working.waiting.tolist() == [1, 2]
        documents, cosines = working.word_cosines("a pot of hot tea")
        assert documents.tolist() == [1, 2]
        assert cosines[0] > cosines[1]
        documents, cosines = working.word_cosines("The ledger closes at noon.")
        assert cosines[1] == pytest.approx(1.0, abs=1e-6)
        memory.remember_many([{"content": "A gull cried."}], later=True)
        working = memory.working(memory.now())
        assert len(working.word_cosines("gull")[0]) == 3
        complete(memory, [working.ids[working.row[1]]])
        documents, cosines = memory.working(memory.now()).word_cosines("gull")
        assert documents.tolist() == [2, 3]
        assert cosines[1] > cosines[0]


def test_without_vectors_of_words_nothing_stands_in(url):
    with Memory.open(url, embedder=Plain()) as memory:
        memory.remember_many([{"content": "The kettle boils water."}], later=True)
        documents, cosines = memory.working(memory.now()).word_cosines("tea")
        assert (len(documents), len(cosines)) == (0, 0)


def test_a_pack_whose_operation_has_an_id_lets_others_finish_the_vectors_it_waits_for(url, tmp_path):
    with opened(f"sqlite:///{tmp_path}/rules.db") as author:
        for number in range(MANY):
            author.learn(right=f"Stack crate {number} beside barge {number * 7}")
        author.pack_create(tmp_path / "crates.json", name="crates")
    pack = (tmp_path / "crates.json").read_text("utf-8")
    sentences, begun, go_on = Sentences(), threading.Event(), threading.Event()

    def embed(texts):
        begun.set()
        assert go_on.wait(60)
        return Sentences.embed(sentences, texts)

    sentences.embed = embed
    service = LocalService(url, embedder=SemanticEmbedder(WORDS, sentences))
    calls = [
        threading.Thread(target=service.call, args=("default", *request), kwargs=how, daemon=True)
        for *request, how in (
            ("remember_many", {"items": ITEMS}, {}),
            ("pack_add", {"pack": pack}, {"operation_id": str(uuid4())}),
        )
    ]
    calls[0].start()
    assert begun.wait(60)
    calls[1].start()
    with opened(url) as memory:
        while not memory.list(kinds=["behavior"], limit=1):
            time.sleep(0.01)
        go_on.set()
        for call in calls:
            call.join(60)
        assert not any(call.is_alive() for call in calls), "each waits for what the other has"
        assert memory.status().waiting == 0
    service.close()


class Plain:
    """An embedder of texts and of nothing else."""

    generation, dimension = "plain/32/0", 32

    def embed(self, texts):
        return HashedEmbedder(32).embed(texts)
