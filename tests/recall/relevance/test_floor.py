"""How sure an answer is, and when nothing is said."""

from dataclasses import replace

import numpy as np
import pytest

from priming import Cue, Memory, ParamError
from priming.config.params.recall import RelevanceParams
from priming.config.profiles import PRIMING
from priming.recall.candidates import RecallQuery, eligible_candidates
from priming.recall.designs import rank
from priming.recall.priors import Priors
from priming.recall.ranking import Ranked, RankingQuery
from priming.recall.relevance.hits import answer_confidence, confidence, confidence_figures

PLACES = (
    "harbour",
    "orchard",
    "library",
    "station",
    "meadow",
    "quarry",
    "chapel",
    "bakery",
    "museum",
    "garden",
)
THINGS = ("ladder", "candle", "barrel", "blanket", "lantern", "whistle")


@pytest.fixture
def told():
    """Sixty turns of two speakers, each of whom said where they left half of the things."""
    memory = Memory.open("sqlite://")
    turns = [(place, thing) for place in PLACES for thing in THINGS]
    memory.remember_many(
        {
            "content": f"I left the {thing} of uncle number {i} at the {place} yesterday evening.",
            "speaker": "Ines" if i % 2 else "Tomas",
            "key": f"{place}-{thing}",
            "session": place,
        }
        for i, (place, thing) in enumerate(turns)
    )
    for place in PLACES:
        memory.remember("So what?", speaker="Ines", session=place)
        memory.remember("So it is.", speaker="Tomas", session=place)
    yield memory
    memory.close()


def ranked(memory, asked, limit=5):
    """The evidence for a cue, and the hits."""
    now = memory.now()
    working = memory.working(now)
    query = RecallQuery(asked, Cue(), PRIMING, limit=limit)
    context, eligible, pool = eligible_candidates(memory, query, working, now)
    evidence = Priors(working, memory.embedder, asked, PRIMING.recall, now, context, (), pool)
    ranking = RankingQuery(working, evidence, PRIMING, eligible, pool, limit, now, lambda _: {}, lambda: ())
    return evidence, rank(ranking)


def speaking(memory, asked):
    """What speaks for the best hit of a cue."""
    return confidence_figures(*ranked(memory, asked))


@pytest.mark.parametrize("profile", ["ethos", "poc", "floop", "arc", "world-weaver"])
def test_a_profile_without_confidence_refuses_a_floor_rather_than_ignore_it(memory, profile):
    memory.remember("Ines left the candle at the harbour.", key="candle")
    with pytest.raises(ParamError, match=rf"floor = 0.3: .* {profile}.* it counts in priming"):
        memory.recall("candle", floor=0.3, profile=profile)
    assert memory.recall("candle", floor=0, profile=profile).hits
    assert memory.recall("candle", floor=0.01, profile="priming").hits


def test_what_was_said_is_surer_than_what_was_not(told):
    said = told.recall("Where did Ines leave the candle at the harbour?", floor=0.0)
    unsaid = told.recall("Which orchestra did Ines conduct in Vienna?", floor=0.0)
    assert said.hits[0].memory.key == "harbour-candle"
    assert said.confidence > unsaid.confidence


def test_what_another_speaker_said_makes_an_answer_less_sure(told):
    right = told.recall("Did Ines leave the candle at the harbour?", floor=0.0)
    wrong = told.recall("Did Tomas leave the candle at the harbour?", floor=0.0)
    assert right.confidence > wrong.confidence


def test_who_is_no_speaker_has_no_rivals():
    facts = {
        "Kestrel": "Kestrel was written by Ines Moreau.",
        "Ines Moreau": "Ines Moreau was born in Vienna.",
        "Vienna": "Vienna lies on the Danube.",
        "Plover": "Plover is a small harbour.",
    }
    with Memory.open("sqlite://") as memory:
        memory.remember_many({"content": text, "heading": heading} for heading, text in facts.items())
        *_, rivalry = speaking(memory, "Where was the author of Kestrel born?")
    assert rivalry == 0.0


def test_a_score_counts_less_what_the_neighbourhood_adds(told):
    asked = "Where did Ines leave the candle at the harbour?"
    score, *_ = speaking(told, asked)
    best, p = told.recall(asked, floor=0.0).hits[0], PRIMING.recall
    lift = p.conversation * best.components["conversation"] + p.information
    assert best.components["conversation"] > 0
    assert score == pytest.approx(best.score - lift)


@pytest.mark.parametrize(
    ("asked", "counts"),
    [
        ("I left the candle of uncle number 1 at the harbour yesterday evening.", True),
        ("harbour candle", True),
        ("Who left the candle of an uncle at the harbour, and how heavy was it?", False),
    ],
)
def test_a_hit_that_holds_the_whole_cue_makes_an_answer_as_sure_at_any_rank(told, asked, counts):
    evidence, hits = ranked(told, asked, limit=60)
    second = Ranked(np.roll(hits.rows, 1), np.roll(hits.scores, 1))
    first_alone = confidence(*confidence_figures(evidence, second), PRIMING.confidence)
    assert (answer_confidence(evidence, second, PRIMING.confidence) > first_alone) is counts


def test_below_the_floor_nothing_comes_up_and_the_reason_names_both_figures(told):
    asked = "Which orchestra did Ines conduct in Vienna?"
    every = told.recall(asked, floor=0.0, limit=20)
    best = max(hit.relevance for hit in every.hits)
    floor = round(best + 0.05, 2)
    silent = told.recall(asked, floor=floor)
    assert silent.hits == ()
    assert silent.text == ""
    assert silent.reason == f"nothing above the floor: the best relevance is {best:.3f}, less than {floor:g}"
    assert silent.confidence == every.confidence


def test_without_a_word_of_the_cue_the_reason_says_how_near_the_nearest_was():
    with Memory.open("sqlite://") as memory:
        memory.remember("Vera is allergic to peanuts.")
        silent = memory.recall("zzz qqq")
        assert silent.hits == ()
        start = "nothing above the floor: no memory holds a word of the cue, and the best cosine is 0."
        assert silent.reason.startswith(start)
        assert silent.reason.endswith(f", less than {PRIMING.recall.floor:g}")
        assert memory.recall("zzz qqq", floor=0.0).hits


def test_at_the_floor_it_answers(told):
    asked = "Where did Ines leave the candle at the harbour?"
    best = told.recall(asked, limit=1).hits[0].relevance
    assert told.recall(asked, floor=best).hits


def test_who_narrows_a_recall_is_answered(told):
    told.profile = replace(told.profile, relevance=RelevanceParams(floor=1.0))
    told.remember("An old stool.", key="odd", tags=["rare"])
    vague = "Which orchestra did Ines conduct in Vienna in the spring, and on what stool did she sit?"
    assert told.recall(vague).hits == ()
    asked = told.recall(vague, filters={"tags": {"contains": "rare"}})
    assert [hit.memory.key for hit in asked.hits] == ["odd"]
    assert told.recall(vague, kinds=["episode"]).hits


def test_a_profile_that_does_not_say_how_sure_it_is_has_no_confidence_and_no_floor(told):
    found = told.recall("candle at the harbour", profile="ethos")
    assert found.hits
    assert found.confidence is None
    assert {hit.relevance for hit in found.hits} == {None}


@pytest.mark.parametrize("floor", [-0.1, 1.5, float("nan")])
def test_a_floor_is_a_share(told, floor):
    with pytest.raises(ParamError, match="floor"):
        told.recall("candle", floor=floor)
