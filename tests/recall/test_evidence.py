"""What speaks for a memory: each term of the recipe is alone able to decide between two memories."""

import math
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import numpy as np
import pytest

from priming import Cue
from priming.config.profiles import PRIMING, get
from priming.core.lexical import idf
from priming.embedding.protocol import Background
from priming.embedding.wordllama import StaticEmbedder
from priming.recall.candidates import TERMS
from priming.recall.evidence import Evidence
from priming.recall.ranking import beyond

MAY, JULY = datetime(2023, 5, 7, tzinfo=UTC), datetime(2021, 7, 1, tzinfo=UTC)


def item(key, content, **more):
    return {"key": key, "content": content, **more}


def exchange(session="s"):
    """A question and the answer of another: they make a session a conversation, and add no term to it."""
    return [
        {"content": "So what?", "speaker": "you", "session": session},
        {"content": "So it is.", "speaker": "I", "session": session},
    ]


COMMON = [item(f"filler-{i}", f"common filler text {i}") for i in range(8)]
TWO_SESSIONS = [
    item("wrong", "we paint often", session="a"),
    item("after-wrong", "the sea is wide", session="a"),
    item("right", "we paint often", session="b"),
    item("after-right", "the walls are tall", session="b"),
    *exchange("a"),
    *exchange("b"),
]

# A term, and what of it decides → memories, cue, the terms that it needs beside it, links by hand. With the term (and
# those it needs) `right` stands before `wrong`; without it `wrong`, which is older, does, or `right` is no hit.
SHOWN = {
    "words": ([item("wrong", "sun"), item("right", "paint walls")], "paint", (), ()),
    "meaning": (
        [item("wrong", "from under a red car"), item("right", "the red car")],
        "the red car",
        ("words",),
        (),
    ),
    "near": (
        [item("wrong", "they paint a bridge"), item("right", "they paint a puppy")],
        "paint the dog",
        ("words",),
        (),
    ),
    "named": (
        [
            item("wrong", "paint dries", heading="Quill Brook"),
            item("right", "paint dries slow", heading="Quill"),
        ],
        "does Quill paint",
        ("words",),
        (),
    ),
    "date": (
        [
            item("wrong", "we paint walls", occurred_at=JULY),
            item("right", "we paint walls", occurred_at=MAY),
        ],
        "paint in May 2023",
        ("words",),
        (),
    ),
    "asks": (
        [
            item("wrong", "paint walls?", session="a"),
            item("right", "paint walls.", session="a"),
            *exchange("a"),
        ],
        "paint",
        ("words",),
        (),
    ),
    "session": (TWO_SESSIONS, "paint walls", ("words",), ()),
    "answered": (
        [
            item("before-wrong", "we paint walls.", session="a"),
            item("wrong", "only blue", session="a"),
            item("before-right", "do we paint walls?", session="b"),
            item("right", "only blue", session="b"),
            *exchange("a"),
            *exchange("b"),
        ],
        "paint walls blue",
        ("words",),
        (),
    ),
    "information: details": (
        [
            item("wrong", "we paint tall walls", session="a"),
            item("right", "we paint two walls", session="a"),
            *exchange("a"),
        ],
        "paint walls",
        ("words",),
        (),
    ),
    "information: new words": (
        [
            item("earlier", "we paint lamps", session="a"),
            item("wrong", "we paint lamps", session="a"),
            item("right", "we paint walls", session="a"),
            *exchange("a"),
        ],
        "paint",
        ("words",),
        (),
    ),
    "context": (
        [item("wrong", "we paint walls"), item("right", "we paint walls", when={"language": "go"})],
        Cue("paint", language="Go"),
        ("words",),
        (),
    ),
    "rest": (
        [
            item("top", "Zed paint wall"),
            item("wrong", "paint it"),
            item("right", "oslo tower bridge"),
            *COMMON,
        ],
        "paint wall Oslo",
        ("words",),
        (),
    ),
    "spread": (
        [item("top", "paint walls"), item("wrong", "wide sea"), item("right", "deep sky")],
        "paint",
        ("words",),
        (("top", "right", 0.5),),
    ),
    "next": (
        [
            item("top", "paint walls", session="a"),
            item("wrong", "wide sea"),
            item("right", "deep sky", session="a"),
        ],
        "paint",
        ("words", "spread"),
        (),
    ),
    "names": (
        [item("top", "they paint for Zed"), item("wrong", "wide sea"), item("right", "then Zed slept")],
        "paint",
        ("words", "spread"),
        (),
    ),
    "feedback: for": (
        [item("wrong", "we paint walls"), item("right", "they paint walls")],
        "paint walls",
        ("words",),
        (),
    ),
    "feedback: against": (
        [item("wrong", "we paint walls"), item("right", "they paint walls")],
        "paint walls",
        ("words",),
        (),
    ),
    "feedback: words": (
        [item("top", "we paint"), item("wrong", "wide sea paint"), item("right", "deep sky paint")],
        "paint walls",
        ("words",),
        (),
    ),
    "use": (
        [item("wrong", "we paint walls"), item("right", "they paint walls")],
        "paint walls",
        ("words",),
        (),
    ),
    "outdated": (
        [
            item("wrong", "the office is in Oslo now", occurred_at=JULY),
            item("right", "the office is in Bergen now", occurred_at=MAY),
        ],
        "where is the office now",
        ("words",),
        (),
    ),
    "other": (
        [
            item("wrong", "we paint walls", speaker="Bob", session="a"),
            item("right", "we paint walls", speaker="Ada", session="a"),
            *exchange("a"),
        ],
        "does Ada paint walls",
        (),
        (),
    ),
}
CALIBRATING = {"vocabulary", "size"}
"""What is the same for all hits of a cue: it is part of how probable they are, and of no order."""


JUDGED = {
    "feedback: for": {"used": ["right"]},
    "feedback: against": {"not_relevant": ["wrong"]},
    "feedback: words": {"used": ["right"]},
    "use": {"used": ["right"]},
}


def test_every_term_is_shown_above():
    assert {case.partition(":")[0] for case in SHOWN} | CALIBRATING == set(TERMS)


def place(answer, key):
    return [hit.memory.key for hit in answer.hits].index(key) if key in keys(answer) else np.inf


def keys(answer):
    return {hit.memory.key for hit in answer.hits}


@pytest.mark.parametrize("case", SHOWN)
def test_a_term_decides_and_can_be_switched_off(open_memory, clock, case):
    (items, cue, needed, links), term = SHOWN[case], case.partition(":")[0]
    memory = open_memory(embedder=StaticEmbedder()) if term == "near" else open_memory()
    memory.remember_many(items)
    memory.link_many({"source": a, "target": b, "weight": w} for a, b, w in links)
    cue = cue if isinstance(cue, Cue) else Cue(cue)
    if case in JUDGED:
        memory.feedback(memory.recall(cue=cue, floor=0).recall_id, **JUDGED[case])
        clock.at += timedelta(days=1)
    others = set(TERMS) - {term, *needed}
    on = memory.recall(cue=cue, ablate=others, floor=0)
    off = memory.recall(cue=cue, ablate=others | {term}, floor=0)
    assert place(on, "right") < place(on, "wrong")
    assert place(off, "right") == np.inf or place(off, "wrong") < place(off, "right")


@pytest.mark.parametrize("term", sorted(CALIBRATING))
def test_what_calibrates_changes_no_order(memory, term):
    memory.remember_many([item("a", "we paint walls"), item("b", "they paint doors"), *COMMON])
    # How far a later version counts depends on how well it fits.
    ablated = ["outdated"], ["outdated", term]
    whole, less = (memory.recall("paint the doors", floor=0, ablate=off) for off in ablated)
    assert [hit.memory.key for hit in whole.hits] == [hit.memory.key for hit in less.hits]
    assert whole.hits[0].score != less.hits[0].score


def test_a_term_that_is_off_is_no_component(memory):
    memory.remember("Ada painted walls last May.", occurred_at=MAY)
    (whole,) = memory.recall("when did Ada paint in May 2023", floor=0).hits
    for term in ("words", "meaning", "date", "vocabulary", "size"):
        (less,) = memory.recall("when did Ada paint in May 2023", floor=0, ablate=[term]).hits
        assert set(whole.components) - set(less.components) == {term}


# Each figure, against numbers computed by hand


def evidence(memory, text, **more):
    working = memory.working(memory.now())
    return Evidence(working, memory.embedder, text, PRIMING.recall, memory.now(), **more)


def every(result):
    return np.arange(result.working.documents)


class Plane:
    """Texts of a plane: each has a given cosine with every other text that is not listed."""

    generation, dimension, background = "plane", 2, Background(mean=0.1, spread=0.2, strength=1.0)
    cosines = MappingProxyType({"the sea": 1.0, "the sky": 0.6, "a wall": 0.0, "the old sea": 0.95})

    def embed(self, texts):
        cosines = np.array([self.cosines.get(text, 1.0) for text in texts])
        return np.stack([cosines, np.sqrt(1.0 - cosines**2)], axis=1).astype(np.float32)


def test_words_are_counted_in_nats_over_headings_and_texts_of_the_present_memories(memory):
    memory.remember("red car", key="1")
    memory.remember("blue car car", heading="Red", key="2")
    memory.remember("green car", key="gone")
    memory.forget("gone")
    result = evidence(memory, "red car")
    # Both words are in both memories: ln(1 + 3/2.5) = .788457 each. Their lengths are 2 and 4, 3 in the mean: with
    # norms of .9 and 1.5, one occurrence counts 2.2/1.9 and 2.2/2.5, two in the second 4.4/3.5.
    assert result.idf == pytest.approx([0.788457, 0.788457], abs=1e-6)
    assert result.words == pytest.approx([1.825900, 1.685046, 0.0], abs=1e-5)
    assert result.size == pytest.approx(math.log(2))
    # Of 2.634217 and 2.431008 that a word in common by chance may give, .4 · (1 − e^(−w/.4)), .399448 and .399083 go.
    figures = result.figures(np.array([0, 1]))
    assert figures["words"] == pytest.approx([2.234769, 2.031925], abs=1e-5)


def test_the_meaning_of_a_memory_is_beside_what_the_cue_has_with_anything(open_memory):
    memory = open_memory(embedder=Plane())
    memory.remember_many([{"content": text} for text in ("the sea", "the sky", "a wall")])
    result = evidence(memory, "which way")
    # Cosines of 1, .6 and 0 with 20 of mean .1 and spread .2: mean 3.6/23, variance 1.796522/23.
    assert result.background == pytest.approx((0.156522, 0.279481), abs=1e-5)
    assert result.working.trust == 1.0
    assert result.meaning(every(result)) == pytest.approx([3.01802, 1.58681, -0.56005], abs=1e-4)


def test_vocabulary_is_the_share_of_the_cue_of_which_any_memory_has_a_word(memory):
    memory.remember_many([{"content": "red car"}, {"content": "blue car"}])
    # "red" is in one memory of two, ln 3, and "bus" in none, ln 7.
    assert evidence(memory, "red bus").vocabulary == pytest.approx(0.360849, abs=1e-6)
    assert evidence(memory, "red car").vocabulary == pytest.approx(1.0)
    assert evidence(memory, "bus stop").vocabulary == 0.0
    assert evidence(memory, "?!").vocabulary == 0.0


def test_a_memory_has_evidence_beyond_another(memory):
    memory.remember_many([{"content": "red car"}, {"content": "red bus"}])
    result = evidence(memory, "red car bus")
    # ln 2.2 for "red", which both have, and ln 3 for each of the others.
    has = result.covered(np.array([0, 1]))
    assert beyond(has, has, result.idf) == pytest.approx(
        np.array([[0.0, 1.098612], [1.098612, 0.0]]), abs=1e-6
    )


def test_what_a_memory_has_beyond_the_best_counts_beside_the_best_by_words(memory):
    """The best hit of a chat may have no word of the cue: what asks the same must not rise over it for that."""
    memory.remember("Where is the key?", speaker="Ada", session="s")
    memory.remember("On the hook, since Monday 4 May.", speaker="Bob", session="s", key="hook")
    memory.remember("So it is.", speaker="Ada", session="s")
    hits = memory.recall("where is the key", floor=0).hits
    assert not any(hit.components.get("rest", 0.0) for hit in hits)


def test_outdated_is_what_has_a_later_version_that_fits_about_as_well(open_memory):
    memory = open_memory(embedder=Plane())
    memory.remember("the sea", occurred_at=JULY)
    memory.remember("the old sea", occurred_at=MAY)
    result = evidence(memory, "which way")
    # Of two candidates the rest counts 2/20, .1 + 2 · .2, and half-way from .1 to 1 counts 18/20: .545. A cosine of
    # .95 is 2.025 deviations of .2 beyond, where 1.9 are enough; one of log-odds 0, as probable, counts
    # 1/(1 + e^−1) · 1/(1 + e^−3.5) · 1/(1 + e^−2), and one of 2 that is 2 ahead 1/(1 + e^−3) · 1/(1 + e^−5.5) · 1/2.
    assert result.outdated(np.array([0, 1]), np.zeros(2)) == pytest.approx([0.625040, 0.0], abs=1e-5)
    assert result.outdated(np.array([0, 1]), np.array([0.0, 2.0])) == pytest.approx([0.474349, 0.0], abs=1e-5)
    assert result.outdated(np.array([0, 1]), np.array([0.0, 9.0]))[0] < 0.001, "the later leads to it at most"
    assert result.outdated(np.array([0, 1]), np.array([-9.0, -9.0]))[0] < 0.001, "neither fits the cue"
    assert not result.outdated(np.array([0]), np.zeros(1)).any()


def test_what_is_no_nearer_than_several_others_is_no_version(open_memory):
    memory = open_memory(embedder=Plane())
    for text in ("the sea", "more sea", "much sea"):
        memory.remember(text, occurred_at=JULY)
    memory.remember("the old sea", occurred_at=MAY)
    result = evidence(memory, "which way")
    assert not result.outdated(every(result), np.zeros(4)).any()


def test_what_has_a_figure_of_the_cue_is_outdated_by_nothing_without_it(open_memory):
    memory = open_memory(embedder=Plane())
    memory.remember("locker 7", occurred_at=JULY)
    memory.remember("locker 8", occurred_at=MAY)
    both = np.array([0, 1]), np.zeros(2)
    assert evidence(memory, "which locker").outdated(*both)[0] > 0.6, "the later may be another version of it"
    assert evidence(memory, "which locker 8").outdated(*both)[0] > 0.6
    assert not evidence(memory, "which locker 7").outdated(*both).any()


def test_what_has_a_name_of_the_cue_is_outdated_by_nothing_without_it(open_memory):
    memory = open_memory(embedder=Plane())
    memory.remember("the sea at bay C", occurred_at=JULY)
    memory.remember("the sea at bay B", occurred_at=MAY)
    both = np.array([0, 1]), np.zeros(2)
    assert evidence(memory, "which bay").outdated(*both)[0] > 0.6, "the later may be another version of it"
    assert not evidence(memory, "is bay C open").outdated(*both).any()
    assert evidence(memory, "is bay B open").outdated(*both)[0] > 0.6, (
        "the earlier has no name that the later lacks"
    )


def test_of_two_that_contradict_the_later_is_a_version_unless_both_hold(open_memory):
    memory = open_memory(embedder=Plane())
    memory.remember("locker 7", key="earlier", occurred_at=JULY)
    memory.remember("locker 8", key="later", occurred_at=MAY)
    both = np.array([0, 1]), np.zeros(2)
    assert not evidence(memory, "which locker 7").outdated(*both).any()
    memory.link("later", "earlier", "conflicts")
    assert evidence(memory, "which locker 7").outdated(*both) == pytest.approx([0.625040, 0.0], abs=1e-5)
    memory.link("later", "earlier", "kept-beside")
    assert not evidence(memory, "which locker 7").outdated(*both).any()
    assert not evidence(memory, "which locker").outdated(*both).any(), "however near they are to each other"


def test_of_two_that_contradict_and_were_told_at_once_the_last_is_the_later(open_memory):
    memory = open_memory(embedder=Plane())
    for text, key in (("locker 7", "earlier"), ("locker 8", "later")):
        memory.remember(text, key=key, occurred_at=JULY)
    both = np.array([0, 1]), np.zeros(2)
    assert not evidence(memory, "which locker").outdated(*both).any()
    memory.link("later", "earlier", "conflicts")
    assert evidence(memory, "which locker").outdated(*both) == pytest.approx([0.625040, 0.0], abs=1e-5)


def test_no_version_is_outdated_by_its_own_conversation_or_for_a_cue_that_names_a_time(open_memory):
    memory = open_memory(embedder=Plane())
    memory.remember_many(
        [
            item("1", "the sea", speaker="I", session="a", occurred_at=JULY),
            item("2", "the old sea", speaker="you", session="a", occurred_at=MAY),
            *exchange("a"),
        ]
    )
    assert not evidence(memory, "which way").outdated(np.array([0, 1]), np.zeros(2)).any()
    other = open_memory(namespace="other", embedder=Plane())
    other.remember_many([item("1", "the sea", occurred_at=JULY), item("2", "the old sea", occurred_at=MAY)])
    assert evidence(other, "which way").outdated(np.array([0, 1]), np.zeros(2)).any()
    assert not evidence(other, "which way in July 2021").outdated(np.array([0, 1]), np.zeros(2)).any()


def test_nothing_remembered_is_no_evidence(memory):
    result = evidence(memory, "When did Ada paint in May?")
    assert [len(values) for values in (result.words, result.cosine, result.literal)] == [0, 0, 0]
    assert len(result.candidates(np.zeros(0, np.bool_))) == 0


# Turns of a conversation


def turns(memory, text, *, session="s"):
    """The figures of all documents, once the two turns of an exchange make their session a conversation."""
    memory.remember_many(exchange(session))
    result = evidence(memory, text)
    return result.figures(every(result))


def test_a_turn_tells_its_details_and_the_words_that_no_older_memory_has_up_to_twenty(memory):
    memory.remember("met so kind", session="s", key="1st")
    memory.remember("we met Ada", session="s")
    memory.remember(" ".join(["kind", *(f"word{i}" for i in range(30))]), session="s")
    memory.remember("red walls by the sea")
    # Two new words, ln 3/ln 21; one and a name that counts five, ln 7/ln 21; enough is enough; and what is no turn.
    result = turns(memory, "met")["information"]
    assert result[:4] == pytest.approx([0.360849, 0.639151, 1.0, 0.0], abs=1e-6)


def test_a_session_has_what_its_turns_have_together_and_what_is_no_turn_has_none(memory):
    for text, session in (("red car", "a"), ("blue bus", "a"), ("red car", "b"), ("tall tree", "b")):
        memory.remember(text, session=session)
    memory.remember("red blue")
    memory.remember_many(exchange("a"))
    result = turns(memory, "red blue", session="b")["session"]
    assert result[0] == result[1] > result[2] == result[3] > 0.0
    assert result[4] == 0.0
    assert (result <= 1.0).all()


def test_speakers_are_no_words_of_what_a_session_is_about(memory):
    for i in range(3):
        memory.remember(f"red {i}", speaker="Ada", session="s")
        memory.remember(f"blue {i}", speaker="Bob", session="s")
    assert not turns(memory, "Ada")["session"].any()
    assert turns(memory, "Ada red")["session"][0] > 0.8


def test_an_answer_is_matched_by_the_question_that_it_follows(memory):
    for text in ("Red car?", "Yes.", "Red car.", "No."):
        memory.remember(text, session="s")
    memory.remember("Red car?")
    result = turns(memory, "red car")
    assert np.flatnonzero(result["answered"][:5]).tolist() == [1]
    assert result["answered"][1] == pytest.approx(result["meaning"][0])
    assert result["asks"][:5].tolist() == [1, 0, 0, 0, 0]


def test_the_answer_of_a_forgotten_question_follows_what_stood_before_it(memory):
    for at, text in enumerate(("Red car?", "Wait.", "Yes.")):
        memory.remember(text, session="s", key=f"k{at}")
    assert turns(memory, "red car")["answered"][2] == 0.0
    memory.forget("k1")
    assert evidence(memory, "red car").answered(np.array([2]))[0] > 0.0


@pytest.mark.parametrize(
    "message",
    [
        [("two red cars", None)],
        [("two red cars", "Ada"), ("a red bus", "Bob"), ("Red paint dries.", "Ada")],
        [("Are the cars red?", "Ada"), ("They are red.", "Ada")],
    ],
)
def test_where_nobody_answers_another_nothing_around_a_memory_says_anything(memory, message):
    memory.remember("red")
    for text, speaker in message:
        memory.remember(text, speaker=speaker, session="s")
    result = evidence(memory, "red")
    assert {"session", "information", "answered", "asks", "other"}.isdisjoint(result.figures(every(result)))


def test_of_speakers_the_one_named_first_is_asked_for(memory):
    for i in range(4):
        memory.remember(f"paint {i}", speaker="Ada", key=f"ada-{i}", session="s")
        memory.remember(f"paint {i}", speaker="Bob", key=f"bob-{i}", session="s")
    memory.remember_many(exchange())
    ranked = [
        hit
        for hit in memory.recall("does Bob paint more than Ada", floor=0).hits
        if hit.memory.key[3:4] == "-"
    ]
    assert [hit.components["other"] < 0 for hit in ranked] == [False] * 4 + [True] * 4
    assert {hit.memory.speaker for hit in ranked[:4]} == {"Bob"}


def test_a_note_about_a_person_loses_nothing_to_what_that_person_said(memory):
    memory.remember("Ada plays the tuba.", key="note")
    memory.remember("I like the sea.", speaker="Ada", session="s")
    result = turns(memory, "what does Ada play")
    assert result["other"][:2].tolist() == [0.0, 0.0]
    assert result["information"][0] > 0.0
    assert result["session"][0] == max(result["session"])


def test_what_somebody_says_of_a_person_is_no_note_about_that_person(memory):
    memory.remember("Ada plays the tuba.", speaker="Bo", session="monologue")
    memory.remember("I like the sea.", speaker="Ada", session="s")
    result = turns(memory, "what does Ada play")
    assert (result["information"][0], result["session"][0]) == (0.0, 0.0)


def test_of_headings_every_one_that_is_named_counts(memory):
    memory.remember_many([{"content": f"filler {i}"} for i in range(50)])
    for name in ("Dayton", "Oslo", "Graz"):
        memory.remember("a town", heading=name)
    result = evidence(memory, "Oslo or Dayton")
    assert result.figures(every(result))["named"][50:].tolist() == [1.0, 1.0, 0.0]
    assert {hit.memory.heading for hit in memory.recall("Oslo or Dayton").hits[:2]} == {"Dayton", "Oslo"}


# What a cue finds


def test_a_cue_typed_without_accents_finds_what_was_told_with_them(memory):
    memory.remember("we saw Aschenbrödel", key="told")
    memory.remember("we saw nothing")
    for cue in ("Aschenbrodel", "Aschenbrödel", "ASCHENBRO\u0308DEL"):
        assert (evidence(memory, cue).literal > 0).tolist() == [True, False]


def test_the_date_of_a_cue_may_be_relative_to_the_present(memory, clock):
    memory.remember("paint", occurred_at=clock.at.replace(month=4), key="april")
    memory.remember("paint", occurred_at=clock.at.replace(year=2022), key="long ago")
    assert memory.recall("paint last month").hits[0].memory.key == "april"
    at = clock.at.replace(year=2022, month=6)
    assert memory.recall(cue=Cue("paint last month", at=at)).hits[0].memory.key == "long ago"


def test_the_cue_is_weighted_by_the_rarity_of_its_tokens(memory, embedder):
    memory.remember_many([item("a", "common rare"), *COMMON])
    tokens = embedder.tokens(["common rare"])[0]
    weighted = embedder.pool(tokens, idf(np.array([9, 1]), 9))
    assert evidence(memory, "common rare").query == pytest.approx(weighted)
    plain = Evidence(memory.working(memory.now()), embedder, "common rare", get("ethos").recall, memory.now())
    assert plain.query == pytest.approx(embedder.embed(["common rare"])[0])


def test_a_verdict_counts_for_cues_that_share_half_of_what_their_terms_tell(memory):
    memory.remember("we paint walls", key="a")
    memory.remember("they paint walls", key="b")
    recall = memory.recall("who will paint the walls with Gwen")
    memory.feedback(recall.recall_id, not_relevant=["a"])
    common, unheard = np.log(1 + 0.5 / 2.5), np.log(1 + 2.5 / 0.5)  # idf in 2 of 2 memories, and in none
    alike = (common + unheard) / (2 * common + unheard)
    query = {
        "paint walls Gwen": 0.6,  # what the first verdict counts
        "paint with Gwen": 0.6 * (alike - 0.5) / 0.5,
        "paint walls": 0.0,
        "walls of Rome": 0.0,
    }
    for cue, weight in query.items():
        result = evidence(memory, cue)
        assert result.figures(every(result))["feedback"].tolist() == pytest.approx([-weight, 0.0])


def test_what_verdicts_said_is_forgotten_when_they_are_undone_and_kept_over_a_restart(open_memory, url):
    first = open_memory(url)
    first.remember("we paint walls", key="a")
    operation = first.feedback(first.recall("paint walls").recall_id, used=["a"])
    first.recall("paint walls")
    first.close()
    again = open_memory(url)
    assert evidence(again, "paint walls").figures(np.array([0]))["feedback"].tolist() == [0.6]
    again.undo(operation.id)
    assert "feedback" not in evidence(again, "paint walls").figures(np.array([0]))


def test_a_heading_is_named_whether_or_not_the_cue_has_its_parenthesis(memory):
    memory.remember("a verse tragedy", heading="Brand (play)")
    memory.remember("a village", heading="Brand")
    memory.remember("a comedy", heading="Brand New (play)")
    memory.remember_many(item(f"filler-{i}", f"filler number{i} here") for i in range(45))
    for cue in ("who wrote Brand", "who wrote the play Brand"):
        assert evidence(memory, cue).figures(np.arange(3))["named"].tolist() == [1.0, 1.0, 0.0]


def test_a_name_is_titled_as_long_as_a_memory_has_it_for_its_heading(memory):
    memory.remember("we met Kim", key="told")
    memory.remember("a painter", heading="Kim", key="about")

    def titled():
        working = memory.working(memory.now())
        return bool(working.titled(np.array([working.entities["kim"]]))[0])

    assert titled()
    memory.forget("about")
    assert not titled()


def test_a_speaker_is_no_heading_and_leads_to_nothing_else_that_he_said(memory):
    memory.remember("the valve leaks", speaker="Kim", key="valve")
    memory.remember("lunch is at noon", speaker="Kim", key="lunch")
    memory.remember("I asked Kim about the pump", speaker="Lee", key="pump")
    working = memory.working(memory.now())
    assert not working.titled(np.array([working.entities["kim"]]))[0]
    for cue in ("which valve leaks", "when is lunch", "who asked about the pump"):
        hits = memory.recall(cue).hits
        assert hits
        assert not [hit for hit in hits if hit.path]


def test_neither_does_a_part_of_a_speakers_name_lead_to_what_else_he_said(memory):
    memory.remember("the valve leaks", speaker="Kim van Dahl", key="valve")
    memory.remember("lunch is at noon", speaker="Kim van Dahl", key="lunch")
    memory.remember("I asked Dahl about the pump", speaker="Lee", key="pump")
    memory.remember("Dahl repaired the boiler", speaker="Lee", key="boiler")
    assert not [hit for hit in memory.recall("which valve leaks").hits if hit.path]
    (led,) = [
        hit for hit in memory.recall("who asked about the pump", floor=0).hits if hit.memory.key == "boiler"
    ]
    assert led.path


def test_a_compound_of_words_that_are_everywhere_leads_nowhere(memory):
    plain = [f"the flat roof of house {i} has a plate of tin" for i in range(11)]
    drag, paint = "drag was measured on a flat-plate", "paint flaked off pallet-jib"
    texts = (*plain, "heat flows along a flat-plate", drag, "cargo left Oslo on pallet-jib", paint)
    memory.remember_many([{"content": text} for text in texts])
    assert drag not in over_links(memory, "heat flows along")
    assert paint in over_links(memory, "cargo left Oslo")


def over_links(memory, cue):
    return [hit.memory.content for hit in memory.recall(cue, floor=0).hits if hit.path]


def test_a_verb_that_opens_a_release_note_is_no_name_to_cover(memory):
    memory.remember("the pool closes its sockets", key="pool")
    memory.remember("Removed the colour of links", key="colour")
    memory.remember("Sockets of Ada Quill", key="quill")
    opener = memory.recall("Removed sockets that the pool closes", floor=0).hits
    plain = memory.recall("removed sockets that the pool closes", floor=0).hits
    assert [(hit.memory.key, hit.score) for hit in opener] == [(hit.memory.key, hit.score) for hit in plain]
