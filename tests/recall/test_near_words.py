"""Words near in meaning to a cue's stand for them in part: where, for which words, and for how long."""

import numpy as np
import pytest

from priming.config.profiles import PRIMING
from priming.embedding.wordllama import StaticEmbedder
from priming.recall.priors import Priors

ROOMS = ("the car was slow", "the bridge was wide", "a puppy in a boat")


@pytest.fixture(scope="module")
def by_word():
    return StaticEmbedder()


@pytest.fixture
def told(open_memory, by_word):
    """A memory of which single words have a meaning."""
    memory = open_memory(embedder=by_word)
    memory.remember_many({"content": text, "key": text.split()[1]} for text in ROOMS)
    return memory


def evidence(memory, text, **more):
    return Priors(memory.working(memory.now()), memory.embedder, text, PRIMING.recall, memory.now(), **more)


def test_a_word_finds_what_is_near_to_it_less_than_the_word_itself_does(told):
    near, itself = evidence(told, "vehicle").bm25, evidence(told, "car").bm25
    assert 0 < near[0] < itself[0]
    assert near[1:].tolist() == [0, 0]


def test_a_word_that_is_there_counts_whole(told):
    found = evidence(told, "car")
    assert found.bm25[0] == pytest.approx(found.literal[0])
    assert found.literal[0] > 0


def test_a_nearer_word_counts_for_more(told):
    told.remember("a dog in a boat")
    puppy, dog = evidence(told, "puppies and dogs").bm25[[2, 3]], evidence(told, "dog").bm25
    assert dog[3] > dog[2] > 0 == dog[1]
    assert (puppy > 0).all()


def test_literal_matches_know_no_near_words(told):
    assert not evidence(told, "vehicle").literal.any()


def test_switched_off_a_word_stands_for_itself_alone(told):
    found = evidence(told, "a vehicle or a car", ablate=["near"])
    assert found.bm25.tolist() == found.literal.tolist()
    assert found.bm25[0] > 0


def test_where_single_words_have_no_meaning_they_stand_for_themselves_alone(memory):
    memory.remember_many({"content": text} for text in ROOMS)
    found = evidence(memory, "a vehicle or a car")
    assert found.bm25.tolist() == found.literal.tolist()
    assert found.bm25[0] > 0


def test_a_name_stands_for_itself_alone_unless_its_capital_only_opens_the_cue(told):
    assert not evidence(told, "who met Vehicle").bm25.any()
    assert evidence(told, "Vehicle on the road").bm25[0] > 0


@pytest.mark.parametrize(("asked", "there"), [("number7", "number8"), ("2019", "2018"), ("v2.1", "v3.1")])
def test_a_word_with_a_digit_stands_for_itself_alone(open_memory, by_word, asked, there):
    memory = open_memory(embedder=by_word)
    memory.remember(f"it was {there}")
    working, word = evidence(memory, asked).working, asked.partition(".")[0]
    assert len(working.vocabulary.near({word: None}, working.lexicon.words, 0.25, 16)[word].codes)
    for cue in (f"about {asked}", asked, asked.title()):
        found = evidence(memory, cue)
        assert found.bm25.tolist() == found.literal.tolist()


def test_a_word_that_no_living_memory_holds_stands_for_nothing(told):
    assert evidence(told, "vehicle").bm25[0] > 0
    told.forget("car")
    found = evidence(told, "vehicle")
    assert not found.bm25.any()
    code = found.working.lexicon.code("car")
    assert all(code not in one.codes for one in found.near)


def test_near_words_reach_into_the_session(told):
    told.remember("we took the car", session="s")
    told.remember("Did it rain?", speaker="Ada", session="s")
    told.remember("It rained.", speaker="Bob", session="s")
    found = evidence(told, "vehicle")
    assert found.session[4] > 0 == found.literal[4]
    assert not evidence(told, "vehicle", ablate=["near"]).session.any()


def test_near_words_are_the_same_after_a_restart(open_memory, by_word, tmp_path):
    url = f"sqlite:///{tmp_path}/near.db"
    first = open_memory(url, embedder=by_word)
    first.remember_many({"content": f"{text} {i}"} for i in range(120) for text in ROOMS)
    before = evidence(first, "vehicle and dog")
    first.recall("vehicle")
    first.close()
    after = evidence(open_memory(url, embedder=by_word), "vehicle and dog")
    assert after.near == before.near
    assert after.bm25.tolist() == before.bm25.tolist()
    assert after.working.lexicon.words == before.working.lexicon.words
    assert np.any(after.bm25)


@pytest.mark.parametrize("profile", ["floop", "synapse", "ethos"])
def test_other_profiles_know_no_near_words(told, profile):
    def scores(**more):
        return [(hit.memory.key, hit.score) for hit in told.recall("vehicle by the sea", **more).hits]

    assert scores(profile=profile) == scores(profile=profile, ablate=["near"])
    assert scores() != scores(ablate=["near"])


def test_a_number_is_near_no_word(open_memory, by_word):
    memory = open_memory(embedder=by_word)
    memory.remember("it took 10 tries")
    assert not evidence(memory, "many").bm25.any()


def test_a_common_word_near_a_rare_one_counts_less(open_memory, by_word):
    def share(count):
        memory = open_memory(embedder=by_word)
        vehicles = [f"a vehicle {number}" for number in range(count)]
        memory.remember_many({"content": text} for text in ("a car", *vehicles, "a boat", "a tree", "a sea"))
        (expansion,) = evidence(memory, "car").near
        code = memory.working(memory.now()).lexicon.code("vehicl")
        return dict(zip(expansion.codes, expansion.shares, strict=True))[code]

    # Of 5 memories one has either word; of 10, six have "vehicle": its idf is ln(1 + 4.5/6.5), that of "car"
    # ln(1 + 9.5/1.5).
    as_rare = share(1)
    assert 0 < as_rare < 1
    assert share(6) == pytest.approx(as_rare * np.sqrt(np.log(1 + 4.5 / 6.5) / np.log(1 + 9.5 / 1.5)))
