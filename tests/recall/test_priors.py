"""What speaks for a memory: each term of the recipe is alone able to decide between two memories."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from priming.recall.priors import Priors

from priming import Cue
from priming.config.profiles import PRIMING, get
from priming.core.lexical import bm25, idf, scaled
from priming.embedding.wordllama import StaticEmbedder
from priming.recall.terms import TERMS

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
    item("wrong", "we paint walls", session="a"),
    item("after-wrong", "the sea is wide", session="a"),
    item("right", "we paint walls", session="b"),
    item("after-right", "a wall to paint", session="b"),
    *exchange("a"),
    *exchange("b"),
]

# A term, and what of it decides → memories, cue, the terms that it needs beside it, links by hand. With the term (and
# those it needs) `right` stands before `wrong`; without it `wrong`, which is older, does, or `right` is no hit.
SHOWN = {
    "bm25": ([item("wrong", "sun"), item("right", "paint walls")], "paint", (), ()),
    "cosine": (
        [item("wrong", "from under a red car"), item("right", "the red car")],
        "the red car",
        ("bm25",),
        (),
    ),
    "near": (
        [item("wrong", "they paint a bridge"), item("right", "they paint a puppy")],
        "paint the dog",
        ("bm25",),
        (),
    ),
    "pairs": ([item("wrong", "car red fast"), item("right", "red car fast")], "red car", ("bm25",), ()),
    "named": (
        [
            item("wrong", "paint dries", heading="Quill Brook"),
            item("right", "paint dries slow", heading="Quill"),
        ],
        "does Quill paint",
        ("bm25",),
        (),
    ),
    "date": (
        [
            item("wrong", "we paint walls", occurred_at=JULY),
            item("right", "we paint walls", occurred_at=MAY),
        ],
        "paint in May 2023",
        ("bm25",),
        (),
    ),
    "information: question": (
        [
            item("wrong", "paint walls?", session="a"),
            item("right", "paint walls.", session="a"),
            *exchange("a"),
        ],
        "paint",
        ("bm25",),
        (),
    ),
    "conversation: words before": (
        [
            item("before-wrong", "the sea is wide", session="a"),
            item("wrong", "we paint walls", session="a"),
            item("before-right", "a wall to paint", session="b"),
            item("right", "we paint walls", session="b"),
            *exchange("a"),
            *exchange("b"),
        ],
        "paint walls",
        ("bm25",),
        (),
    ),
    "conversation: words of the session": (TWO_SESSIONS, "paint walls", ("bm25",), ()),
    "conversation: meaning before": (
        [
            item("before-wrong", "deep sky", session="a"),
            item("wrong", "paint", session="a"),
            item("before-right", "the red car went by", session="b"),
            item("right", "paint", session="b"),
            *exchange("a"),
            *exchange("b"),
        ],
        "paint the red car",
        ("bm25",),
        (),
    ),
    "conversation: question before": (
        [
            item("before-wrong", "we paint walls.", session="a"),
            item("wrong", "only blue", session="a"),
            item("before-right", "do we paint walls?", session="b"),
            item("right", "only blue", session="b"),
            *exchange("a"),
            *exchange("b"),
        ],
        "paint walls blue",
        ("bm25",),
        (),
    ),
    "information: details": (
        [
            item("wrong", "we paint tall walls", session="a"),
            item("right", "we paint two walls", session="a"),
            *exchange("a"),
        ],
        "paint walls",
        ("bm25",),
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
        ("bm25",),
        (),
    ),
    "context": (
        [item("wrong", "we paint walls"), item("right", "we paint walls", when={"language": "go"})],
        Cue("paint", language="Go"),
        ("bm25",),
        (),
    ),
    "coverage": (
        [
            item("top", "zed paint wall brush"),
            item("wrong", "paint wall brush"),
            item("right", "oslo tower bridge"),
        ],
        "Zed paint wall brush Oslo",
        ("bm25",),
        (),
    ),
    "spread": (
        [item("top", "paint walls"), item("wrong", "wide sea"), item("right", "deep sky")],
        "paint",
        ("bm25",),
        (("top", "right", 0.5),),
    ),
    "next": (
        [
            item("top", "paint walls", session="a"),
            item("right", "deep sky", session="a"),
            item("wrong", "wide sea"),
        ],
        "paint",
        ("bm25", "spread"),
        (),
    ),
    "names": (
        [item("top", "they paint for Zed"), item("wrong", "wide sea"), item("right", "then Zed slept")],
        "paint",
        ("bm25", "spread"),
        (),
    ),
    "feedback: for": (
        [item("wrong", "we paint walls"), item("right", "they paint walls")],
        "paint walls",
        ("bm25",),
        (),
    ),
    "feedback: against": (
        [item("wrong", "we paint walls"), item("right", "they paint walls")],
        "paint walls",
        ("bm25",),
        (),
    ),
    "feedback: words": (
        [item("top", "we paint"), item("wrong", "wide sea paint"), item("right", "deep sky paint")],
        "paint walls",
        ("bm25",),
        (),
    ),
    "retention": (
        [item("wrong", "we paint walls"), item("right", "they paint walls")],
        "paint walls",
        ("bm25",),
        (),
    ),
    "base": (
        [item("wrong", "we paint walls"), item("right", "they paint walls")],
        "paint walls",
        ("bm25",),
        (),
    ),
    "bridge": (
        [
            item("top", "we paint walls red for Zed and Kim"),
            item("wrong", "then Zed met Kim"),
            item("right", "the sea was wide for Kim"),
            *COMMON,
        ],
        "paint walls red sea",
        ("bm25", "spread", "names"),
        (),
    ),
    "repeated: words": (
        [
            item("top", "paint walls brush for Zed"),
            item("next", "the sea was wide for Zed"),
            item("wrong", "paint walls"),
            item("right", "salt fish water"),
        ],
        "paint walls brush sea fish",
        ("bm25", "spread", "names", "bridge"),
        (),
    ),
    "repeated: heading": (
        [
            item("top", "paint walls red", heading="Quill"),
            item("wrong", "paint walls blue sky", heading="Quill"),
            item("right", "paint walls big dark room", heading="Brook"),
            *(item(f"filler-{i}", f"filler number{i} here") for i in range(45)),
        ],
        "paint walls",
        ("bm25",),
        (),
    ),
}


JUDGED = {
    "feedback: for": {"used": ["right"]},
    "feedback: against": {"not_relevant": ["wrong"]},
    "feedback: words": {"used": ["right"]},
    "retention": {"used": ["wrong"]},
    "base": {"used": ["right"]},
}


def test_every_term_is_shown_below():
    assert {case.partition(":")[0] for case in SHOWN} == set(TERMS)


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
        memory.feedback(memory.recall(cue=cue).recall_id, **JUDGED[case])
        clock.at += timedelta(days=30)
    others = set(TERMS) - {term, *needed}
    on = memory.recall(cue=cue, ablate=others)
    off = memory.recall(cue=cue, ablate=others | {term})
    assert place(on, "right") < place(on, "wrong")
    assert place(off, "right") == np.inf or place(off, "wrong") < place(off, "right")


def test_a_term_that_is_off_is_no_component(memory):
    memory.remember("Ada painted walls last May.", occurred_at=MAY)
    (whole,) = memory.recall("when did Ada paint").hits
    for term in (
        "bm25",
        "cosine",
        "pairs",
        "named",
        "date",
        "conversation",
        "information",
        "context",
    ):
        (less,) = memory.recall("when did Ada paint", ablate=[term]).hits
        assert set(whole.components) - set(less.components) == {term}


# The evidence of the working set, against the formula counted by hand


def evidence(memory, text, **more):
    working = memory.working(memory.now())
    return Priors(working, memory.embedder, text, PRIMING.recall, memory.now(), **more)


def test_bm25_counts_headings_and_texts_of_the_present_memories(memory):
    memory.remember("red car", key="1")
    memory.remember("blue car car", heading="Red", key="2")
    memory.remember("green car", key="gone")
    memory.forget("gone")
    found = evidence(memory, "red car").bm25
    mean = (2 + 4) / 2
    a = bm25(1, 2, 2, 2, mean) + bm25(1, 2, 2, 2, mean)
    b = bm25(1, 2, 2, 4, mean) + bm25(2, 2, 2, 4, mean)
    assert found == pytest.approx([a, b, 0.0])


def test_pairs_count_the_rarity_of_what_stands_side_by_side(memory):
    for text in ("red car went by", "a car was red", "the red car", "sea"):
        memory.remember(text)
    assert evidence(memory, "red car").pairs == pytest.approx([idf(2, 4), 0, idf(2, 4), 0])


def test_a_cue_typed_without_accents_finds_what_was_told_with_them(memory):
    memory.remember("we saw Aschenbrödel", key="told")
    memory.remember("we saw nothing")
    for cue in ("Aschenbrodel", "Aschenbrödel", "ASCHENBRO\u0308DEL"):
        assert (evidence(memory, cue).literal > 0).tolist() == [True, False]


def test_a_pair_does_not_reach_from_the_heading_into_the_text(memory):
    memory.remember("car by the sea", heading="red")
    assert evidence(memory, "red car").pairs.tolist() == [0]


def test_the_window_is_the_memory_with_the_two_before_it_each_counting_less(memory):
    for i in range(7):
        memory.remember("red" if i == 3 else f"word{i}", session="s")
    memory.remember("blue")
    memory.remember_many(exchange())
    found = evidence(memory, "red").window
    assert (found > 0).tolist()[:8] == [False, False, False, True, True, True, False, False]
    assert found[3] > found[4] > found[5]


def test_the_window_knows_speakers_by_their_turns_and_not_by_their_names(memory):
    for i in range(3):
        memory.remember(f"red {i}", speaker="Ada", session="s")
        memory.remember(f"blue {i}", speaker="Bob", session="s")
    assert not evidence(memory, "Ada").window.any()
    assert evidence(memory, "Ada red").window.tolist() == evidence(memory, "red").window.tolist()


def test_the_gist_is_the_mean_cosine_of_the_window(memory):
    for text in ("red car", "wide sea", "deep sky", "tall tree"):
        memory.remember(text, session="s")
    memory.remember("paint walls")
    memory.remember_many(exchange())
    found, fade = evidence(memory, "red sea sky"), PRIMING.recall.window_fade
    a, b, c, d, alone = found.working.vectors.exact(found.query)[:5]
    weight = 1 + fade + fade**2
    expected = [
        a,
        (b + fade * a) / (1 + fade),
        (c + fade * b + fade**2 * a) / weight,
        (d + fade * c + fade**2 * b) / weight,
        alone,
    ]
    assert found.gist[:5] == pytest.approx(np.maximum(expected, 0), abs=1e-5)


def test_a_turn_is_matched_by_its_window_its_session_and_the_question_that_it_answers(memory):
    for text in ("Red?", "Yes.", "Red.", "No."):
        memory.remember(text, session="s")
    memory.remember("Red?")
    memory.remember_many(exchange())
    found = evidence(memory, "red")
    window, gist, session = (scaled(values) for values in (found.window, found.gist, found.session))
    answered = np.array([0, 1, 0, 0, 0, 0, 0])
    assert found.priors["conversation"] == pytest.approx((window + gist + session + answered) / 4)
    assert found.priors["conversation"][4] < 1


def information(memory, cue):
    return evidence(memory, cue).priors["information"]


FULL, DETAIL, STATED = (
    PRIMING.recall.information_full,
    PRIMING.recall.detail,
    PRIMING.recall.statement,
)


def told(words, states=True):
    return (1 - STATED) * min(1, math.log1p(words) / math.log1p(FULL)) + STATED * states


def test_a_turn_tells_its_details_and_the_words_that_no_older_memory_has_up_to_a_number(memory):
    memory.remember("met so kind", session="s", key="1st")
    memory.remember("we met Ada", session="s")
    memory.remember("we met Ada, Bob, Cem, Dora and Emil", session="s")
    memory.remember("we met Ada and Bob?", session="s")
    memory.remember_many(exchange())
    memory.remember("met alone")
    shares = [told(2), told(DETAIL + 1), 1, told(2 * DETAIL, states=False)]
    found = information(memory, "met")
    assert found[:4] == pytest.approx(shares)
    assert found[4:6].tolist() == [0, 0]
    stating = [*shares[:3], told(0)]
    assert found[6] == pytest.approx(np.quantile(stating, 0.75))  # no turn: more than most that do not ask
    memory.forget("1st")
    assert information(memory, "met")[1] == pytest.approx(told(DETAIL + 2))


def test_enough_new_words_are_enough(memory):
    memory.remember("so kind", session="s")
    memory.remember(" ".join(["kind", *(f"word{i}" for i in range(2 * FULL))]), session="s")
    memory.remember_many(exchange())
    assert information(memory, "kind")[1] == 1


def test_where_every_turn_asks_a_memory_that_is_none_is_no_question(memory):
    memory.remember("red walls")
    memory.remember("Are the walls red?", speaker="Ada", session="s")
    memory.remember("Which walls?", speaker="Bob", session="s")
    assert information(memory, "walls")[0] == STATED


def test_where_nobody_answers_another_what_a_memory_tells_does_not_count(memory):
    for text in ("red car", "car, red"):
        memory.remember(text)
    assert information(memory, "red").tolist() == [0, 0]
    memory.remember("two red cars", session="s")
    memory.remember_many(exchange())
    first, second, turn = information(memory, "red")[:3]
    assert turn > first == second > 0


def test_where_nothing_leads_on_from_the_best_hit_its_rivals_do_not_give_way(memory):
    for text in ("paint walls brush", "paint walls", "sea salt fish"):
        memory.remember(text)
    answer = memory.recall("paint walls brush sea", floor=0.0)
    assert [hit.components["repeated"] for hit in answer.hits] == [0.0] * 3


def test_in_a_conversation_no_hit_gives_way_for_its_words(memory):
    for text in ("paint walls brush for Zed", "paint walls", "paint"):
        memory.remember(text, session="s")
    memory.remember_many(exchange())
    for text in ("brush walls", "the sea was wide for Zed"):
        memory.remember(text)
    answer = memory.recall("paint walls brush sea", floor=0.0)
    shares = {hit.memory.content: hit.components["repeated"] for hit in answer.hits}
    assert shares.pop("brush walls") > 0
    assert {"paint walls brush for Zed", "paint walls", "paint"} <= set(shares)
    del shares["the sea was wide for Zed"]
    assert not any(shares.values())


def test_a_memory_without_neighbours_is_its_own_window_and_session(memory):
    memory.remember("sea", session="s")
    memory.remember("sky", session="s")
    memory.remember("red")
    memory.remember_many(exchange())
    found = evidence(memory, "red")
    assert (found.window > 0).tolist()[:3] == [False, False, True]
    assert (found.session > 0).tolist()[:3] == [False, False, True]


@pytest.mark.parametrize(
    "turns",
    [
        [("two red cars", None)],
        [("two red cars", "Ada"), ("a red bus", "Bob"), ("Red paint dries.", "Ada")],
        [("Are the cars red?", "Ada"), ("They are red.", "Ada")],
    ],
)
def test_where_nobody_answers_another_nothing_around_a_memory_says_anything(memory, turns):
    memory.remember("red")
    for text, speaker in turns:
        memory.remember(text, speaker=speaker, session="s")
    found = evidence(memory, "red")
    for name in ("conversation", "information"):
        assert not found.priors[name].any()


def test_the_window_closes_over_a_forgotten_memory(memory):
    for i in range(5):
        memory.remember("red" if i == 0 else f"word{i}", session="s", key=f"k{i}")
    memory.remember_many(exchange())
    assert evidence(memory, "red").window[3] == 0
    memory.forget("k1")
    assert evidence(memory, "red").window[3] > 0


def test_a_session_is_scored_as_one_text(memory):
    for text, session in (("red car", "a"), ("sea", "a"), ("red", "b"), ("blue", "b"), ("red sky", "c")):
        memory.remember(text, session=session)
    memory.remember_many([*exchange("a"), *exchange("b")])
    mean = (3 + 2 + 2) / 3
    a, b = bm25(1, 3, 3, 3, mean), bm25(1, 3, 3, 2, mean)
    assert evidence(memory, "red").session[:5] == pytest.approx([a, a, b, b, b])


def test_the_date_of_a_cue_may_be_relative_to_the_present(memory, clock):
    memory.remember("paint", occurred_at=clock.at.replace(month=4), key="april")
    memory.remember("paint", occurred_at=clock.at.replace(year=2022), key="long ago")
    assert memory.recall("paint last month").hits[0].memory.key == "april"
    at = clock.at.replace(year=2022, month=6)
    assert memory.recall(cue=Cue("paint last month", at=at)).hits[0].memory.key == "long ago"


def test_of_speakers_only_the_one_named_first_counts(memory):
    for i in range(4):
        memory.remember(f"paint {i}", speaker="Ada", key=f"ada-{i}")
        memory.remember(f"paint {i}", speaker="Bob", key=f"bob-{i}")
    ranked = memory.recall("does Bob paint more than Ada", limit=8, ablate=["repeated"]).hits
    assert [hit.components["named"] for hit in ranked] == [1.0] * 4 + [0.0] * 4
    assert {hit.memory.speaker for hit in ranked[:4]} == {"Bob"}


def test_of_rare_headings_every_one_that_is_named_counts(memory):
    memory.remember_many([{"content": f"filler {i}"} for i in range(50)])
    for name in ("Dayton", "Oslo"):
        memory.remember("a town", heading=name)
    named = {hit.memory.heading: hit.components["named"] for hit in memory.recall("Oslo or Dayton").hits}
    assert named["Dayton"] == named["Oslo"] == 1.0


def test_the_cue_is_weighted_by_the_rarity_of_its_tokens(memory, embedder):
    memory.remember_many([item("a", "common rare"), *COMMON])
    tokens = embedder.tokens(["common rare"])[0]
    weighted = embedder.pool(tokens, idf(np.array([9, 1]), 9))
    assert evidence(memory, "common rare").query == pytest.approx(weighted)
    plain = Priors(memory.working(memory.now()), embedder, "common rare", get("ethos").recall, memory.now())
    assert plain.query == pytest.approx(embedder.embed(["common rare"])[0])


def test_nothing_remembered_is_no_evidence(memory):
    found = evidence(memory, "When did Ada paint in May?")
    assert [len(array) for array in (found.bm25, found.cosine, found.window, found.h)] == [0, 0, 0, 0]


def test_a_verdict_counts_for_cues_that_share_half_of_what_their_terms_tell(memory):
    memory.remember("we paint walls", key="a")
    memory.remember("they paint walls", key="b")
    recall = memory.recall("who will paint the walls with Gwen")
    memory.feedback(recall.recall_id, not_relevant=["a"])
    common, unheard = np.log(1 + 0.5 / 2.5), np.log(1 + 2.5 / 0.5)  # idf in 2 of 2 memories, and in none
    alike = (common + unheard) / (2 * common + unheard)
    asked = {
        "paint walls Gwen": 0.6,  # what the first verdict counts
        "paint with Gwen": 0.6 * (alike - 0.5) / 0.5,
        "paint walls": 0.0,
        "walls of Rome": 0.0,
    }
    for cue, weight in asked.items():
        priors = evidence(memory, cue).priors
        assert priors["negative_feedback"].tolist() == pytest.approx([weight, 0.0])
        assert priors["positive_feedback"].tolist() == [0.0, 0.0]


def test_what_verdicts_said_is_forgotten_when_they_are_undone_and_kept_over_a_restart(open_memory, url):
    first = open_memory(url)
    first.remember("we paint walls", key="a")
    operation = first.feedback(first.recall("paint walls").recall_id, used=["a"])
    first.recall("paint walls")
    first.close()
    again = open_memory(url)
    assert evidence(again, "paint walls").priors["positive_feedback"].tolist() == [0.6]
    again.undo(operation.id)
    assert "positive_feedback" not in evidence(again, "paint walls").priors


def test_a_heading_is_named_whether_or_not_the_cue_has_its_parenthesis(memory):
    memory.remember("a verse tragedy", heading="Brand (play)")
    memory.remember("a village", heading="Brand")
    memory.remember("a comedy", heading="Brand New (play)")
    memory.remember_many(item(f"filler-{i}", f"filler number{i} here") for i in range(45))
    assert evidence(memory, "who wrote Brand").priors["named"][:3].tolist() == [1.0, 1.0, 0.0]
    assert evidence(memory, "who wrote the play Brand").priors["named"][:3].tolist() == [1.0, 1.0, 0.0]


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
    (led,) = [hit for hit in memory.recall("who asked about the pump").hits if hit.memory.key == "boiler"]
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
    opener = memory.recall("Removed sockets that the pool closes", ablate=["spread"], floor=0).hits
    plain = memory.recall("removed sockets that the pool closes", ablate=["spread"], floor=0).hits
    assert [hit.memory.key for hit in opener] == [hit.memory.key for hit in plain]
    assert opener[0].components["activation"] == plain[0].components["activation"]


def test_details_speak_for_no_memory_that_matches_nothing(memory):
    memory.remember("the sea", session="s")
    memory.remember("Ada met Bob", session="s", key="other")
    memory.remember_many(exchange())
    words = evidence(memory, "sea", ablate=["cosine"])
    assert words.priors["information"][1] == 0 < words.working.specificity[1]


def test_turns_beside_notes_keep_the_order_that_they_have_alone(open_memory):
    turns = [
        {"content": text, "key": text.split()[0], "speaker": speaker, "session": "monday"}
        for text, speaker in (
            ("who plans our sprint?", "Ann"),
            ("bob plans the sprint.", "Eve"),
            ("which sprint is next?", "Ann"),
            ("any sprint is short.", "Eve"),
            ("her logo is ready.", "Ann"),
        )
    ]
    notes = [item(f"note-{number}", f"a logo for team {number}") for number in range(12)]
    alone, beside = open_memory(), open_memory()
    alone.remember_many(turns)
    beside.remember_many([*turns, *notes])

    def bm25_of_turns(memory):
        read = evidence(memory, "the logo of a sprint")
        assert read.working.conversation_context.is_mixed is (memory is beside)
        return read.bm25[:5]

    # In all, more memories have a logo than a sprint; of the turns, one has.
    assert bm25_of_turns(alone).argmax() == bm25_of_turns(beside).argmax() == 4
