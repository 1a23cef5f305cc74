"""Words near in meaning to a cue's stand for them in part: where, for which words, and for how long."""

import numpy as np
import pytest

from priming.config.profiles import PRIMING
from priming.embedding.wordllama import StaticEmbedder
from priming.recall.evidence import Evidence

ROOMS = ("the car was slow", "the bridge was wide", "a puppy in a boat")


@pytest.fixture(scope="module")
def by_word():
    return StaticEmbedder()


@pytest.fixture
def answer(open_memory, by_word):
    """A memory of which single words have a meaning."""
    memory = open_memory(embedder=by_word)
    memory.remember_many({"content": text, "key": text.split()[1]} for text in ROOMS)
    return memory


def evidence(memory, text, **more):
    return Evidence(memory.working(memory.now()), memory.embedder, text, PRIMING.recall, memory.now(), **more)


def test_a_word_finds_what_is_near_to_it_less_than_the_word_itself_does(answer):
    near, itself = evidence(answer, "vehicle").words, evidence(answer, "car").words
    assert 0 < near[0] < itself[0]
    assert near[1:].tolist() == [0, 0]


def test_a_word_that_is_there_counts_whole(answer):
    result = evidence(answer, "car").words
    assert result[0] == evidence(answer, "car", ablate=["near"]).words[0] > 0


def test_a_nearer_word_counts_for_more(answer):
    answer.remember("a dog in a boat")
    puppy, dog = evidence(answer, "puppies and dogs").words[[2, 3]], evidence(answer, "dog").words
    assert dog[3] > dog[2] > 0 == dog[1]
    assert (puppy > 0).all()


def test_literal_matches_know_no_near_words(answer):
    assert not evidence(answer, "vehicle").literal.any()


def test_switched_off_a_word_stands_for_itself_alone(answer):
    result = evidence(answer, "a vehicle or a car", ablate=["near"]).words
    assert result.tolist() == evidence(answer, "a car", ablate=["near"]).words.tolist()
    assert result[0] > 0


def test_where_single_words_have_no_meaning_they_stand_for_themselves_alone(memory):
    memory.remember_many({"content": text} for text in ROOMS)
    result = evidence(memory, "a vehicle or a car").words
    assert result.tolist() == evidence(memory, "a car").words.tolist()
    assert result[0] > 0


def test_a_name_stands_for_itself_alone_unless_its_capital_only_opens_the_cue(answer):
    assert not evidence(answer, "who met Vehicle").words.any()
    assert evidence(answer, "Vehicle on the road").words[0] > 0


@pytest.mark.parametrize(("query", "present"), [("number7", "number8"), ("2019", "2018"), ("v2.1", "v3.1")])
def test_a_word_with_a_digit_stands_for_itself_alone(open_memory, by_word, query, present):
    memory = open_memory(embedder=by_word)
    memory.remember(f"it was {present}")
    working, word = evidence(memory, query).working, query.partition(".")[0]
    assert len(working.vocabulary.near({word: None}, working.lexicon.words, 0.25, 16)[word].codes)
    for cue in (f"about {query}", query, query.title()):
        assert evidence(memory, cue).words.tolist() == evidence(memory, cue, ablate=["near"]).words.tolist()


def test_a_word_that_no_living_memory_holds_stands_for_nothing(answer):
    assert evidence(answer, "vehicle").words[0] > 0
    answer.forget("car")
    result = evidence(answer, "vehicle")
    assert not result.words.any()
    code = result.working.lexicon.code("car")
    assert all(code not in item.codes for item in result.near.values())


def test_near_words_reach_into_the_session(answer):
    answer.remember("we took the car", session="s")
    answer.remember("Did it rain?", speaker="Ada", session="s")
    answer.remember("It rained.", speaker="Bob", session="s")
    result = evidence(answer, "vehicle")
    assert result.covered_by_session(np.arange(6))[4] > 0 == result.literal[4]
    assert not evidence(answer, "vehicle", ablate=["near"]).covered_by_session(np.arange(6)).any()


def test_near_words_are_the_same_after_a_restart(open_memory, by_word, tmp_path):
    url = f"sqlite:///{tmp_path}/near.db"
    first = open_memory(url, embedder=by_word)
    first.remember_many({"content": f"{text} {i}"} for i in range(120) for text in ROOMS)
    before = evidence(first, "vehicle and dog")
    first.recall("vehicle")
    first.close()
    after = evidence(open_memory(url, embedder=by_word), "vehicle and dog")
    assert after.near == before.near
    assert after.words.tolist() == before.words.tolist()
    assert after.working.lexicon.words == before.working.lexicon.words
    assert np.any(after.words)


@pytest.mark.parametrize("profile", ["floop", "synapse", "ethos"])
def test_other_profiles_know_no_near_words(answer, profile):
    def scores(**more):
        return [(hit.memory.key, hit.score) for hit in answer.recall("vehicle by the sea", **more).hits]

    assert scores(profile=profile) == scores(profile=profile, ablate=["near"])
    assert scores() != scores(ablate=["near"])


def test_a_number_is_near_no_word(open_memory, by_word):
    memory = open_memory(embedder=by_word)
    memory.remember("it took 10 tries")
    assert not evidence(memory, "many").words.any()


def test_a_common_word_near_a_rare_one_counts_less(open_memory, by_word):
    def share(count):
        memory = open_memory(embedder=by_word)
        vehicles = [f"a vehicle {number}" for number in range(count)]
        memory.remember_many({"content": text} for text in ("a car", *vehicles, "a boat", "a tree", "a sea"))
        (expansion,) = evidence(memory, "car").near.values()
        code = memory.working(memory.now()).lexicon.code("vehicl")
        return dict(zip(expansion.codes, expansion.shares, strict=True))[code]

    # Of 5 memories one has either word; of 10, six have "vehicle": its idf is ln(1 + 4.5/6.5), that of "car"
    # ln(1 + 9.5/1.5).
    as_rare = share(1)
    assert 0 < as_rare < 1
    assert share(6) == pytest.approx(as_rare * np.sqrt(np.log(1 + 4.5 / 6.5) / np.log(1 + 9.5 / 1.5)))
