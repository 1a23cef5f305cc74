"""How relevant a hit is, and which hits are left out."""

from datetime import UTC, datetime

import numpy as np
import pytest

from priming import Memory
from priming.config.params.recall import RelevanceParams
from priming.embedding.wordllama import StaticEmbedder
from priming.recall.ranking import Ranked
from priming.recall.relevance.hits import Judged, hits_above, relevance

NOTES = {
    "allergy": "Vera is allergic to peanuts.",
    "deploy": "The deploy failed because the disk of Heron was full.",
    "office": "Our office moves to Linz in May.",
    "retries": "The billing service retries three times before it gives up.",
    "birthday": "Tom's birthday is on 4 July.",
}
MORE = {
    "cache": "We switched from Redis to Valkey for the cache.",
    "heron": "Heron has only 40 GB.",
    "report": "The quarterly report is due on Friday.",
    "cat": "The cat is called Miso and hates rain.",
    "staging": "The staging database is refreshed every Sunday night.",
    "tea": "Anna prefers tea to coffee.",
    "backups": "Backups are kept for 30 days in Frankfurt.",
    "login": "The login page times out after ten minutes.",
    "lock": "My bike lock code is in the blue notebook.",
    "printer": "The printer on floor 2 needs toner 78A.",
}
GERMAN = {
    "allergie": "Vera ist gegen Erdnüsse allergisch.",
    "büro": "Unser Büro zieht im Mai nach Linz um.",
    "geburtstag": "Tom hat am 4. Juli Geburtstag.",
    "katze": "Die Katze heißt Miso und hasst Regen.",
    "sicherung": "Sicherungen werden 30 Tage in Frankfurt aufbewahrt.",
    "drucker": "Der Drucker im zweiten Stock braucht Toner 78A.",
}


def filled(*stores):
    memory = Memory.open("sqlite://")
    for key, text in {key: text for notes in stores for key, text in notes.items()}.items():
        memory.remember(text, key=key)
    return memory


@pytest.fixture(scope="module")
def five():
    with filled(NOTES) as memory:
        yield memory


@pytest.fixture(scope="module")
def fifteen():
    with filled(NOTES, MORE) as memory:
        yield memory


@pytest.fixture(scope="module")
def german():
    with filled(GERMAN) as memory:
        yield memory


def keys(answer):
    return [hit.memory.key for hit in answer.hits]


@pytest.mark.parametrize(
    ("store", "cue", "answers"),
    [
        ("five", "What is Vera allergic to?", ["allergy"]),
        ("five", "where is the office going?", ["office"]),
        ("five", "how often does billing retry?", ["retries"]),
        ("fifteen", "how long are backups kept?", ["backups"]),
        ("fifteen", "where is the code of the bike lock?", ["lock"]),
        ("fifteen", "peanuts", ["allergy"]),
        ("german", "Wogegen ist Vera allergisch?", ["allergie"]),
        ("german", "Wann hat Tom Geburtstag?", ["geburtstag"]),
        ("german", "Wie heißt die Katze?", ["katze"]),
    ],
)
def test_a_small_store_answers_with_what_was_asked_for_and_not_with_everything(request, store, cue, answers):
    memory = request.getfixturevalue(store)
    assert keys(memory.recall(cue)) == answers
    assert len(memory.recall(cue, floor=0.0).hits) > 1


@pytest.mark.parametrize(
    ("store", "cue"),
    [
        ("five", "What is the capital of Mongolia?"),
        ("five", "who won the chess tournament?"),
        ("fifteen", "how do I bake sourdough bread?"),
        ("fifteen", "does Peter like jazz?"),
        ("german", "Wie backe ich Sauerteigbrot?"),
    ],
)
def test_a_cue_without_an_answer_is_met_with_silence_and_a_reason(request, store, cue):
    answer = request.getfixturevalue(store).recall(cue)
    assert answer.hits == ()
    assert answer.reason.startswith("nothing above the floor")


def test_what_a_sure_answer_leads_to_stays_though_it_shares_no_word_with_the_cue(fifteen):
    answer = fifteen.recall("why did the deploy fail?")
    assert keys(answer) == ["deploy", "heron"]
    assert answer.hits[1].path
    assert answer.hits[0].relevance > answer.hits[1].relevance


LED = [
    ("why did the export fail?", "The nightly export runs on {}.", "{} has only 40 GB of disk.", "worker-3"),
    (
        "Why is checkout slow?",
        "Checkout calls {} for every item.",
        "{} moved to the small machine.",
        "pricing-api",
    ),
    (
        "What broke the mobile login?",
        "The mobile login goes through {}.",
        "{} drops cookies.",
        "auth-gateway 2.4",
    ),
    (
        "Where does Nadia's team put raw files?",
        "Nadia leads Borealis.",
        "{} writes to borealis-raw-eu.",
        "Borealis",
    ),
]
ELSEWHERE = {key: text for key, text in MORE.items() if key not in ("login", "staging")}
ABOUT = (
    "{} was set up in spring.",
    "Ravi looks after {} on weekends.",
    "The dashboard of {} is on the wiki.",
)


@pytest.mark.parametrize("others", [0, 1, 3])
@pytest.mark.parametrize("size", [3, 8, 60])
@pytest.mark.parametrize(("cue", "start", "end", "name"), LED)
def test_what_a_shared_name_leads_to_stays_in_stores_of_any_size(cue, start, end, name, size, others):
    notes = dict(
        [*ELSEWHERE.items(), *((f"t-{n}", f"Ticket {n}: a button is too dark.") for n in range(52))][:size]
    )
    about = dict(enumerate(text.format(name) for text in ABOUT[:others]))
    store = {"start": start.format(name), "end": end.format(name)} | {
        f"about-{at}": about[at] for at in about
    }
    with filled(notes, store) as memory:
        answer = memory.recall(cue)
        assert keys(answer)[0] == "start"
        assert "end" in keys(answer)
        assert set(keys(answer)) <= set(store)
        assert all(hit.path for hit in answer.hits[1:])


def test_a_name_in_many_memories_leads_to_none_of_them():
    with filled(ELSEWHERE) as memory:
        for day in range(12):
            memory.remember(f"worker-3 was restarted on day {day} by hand {day * 7}.", key=f"day-{day}")
        memory.remember("The nightly export runs on worker-3.", key="start")
        assert keys(memory.recall("why did the export fail?")) == ["start"]


def test_the_right_hit_is_likely_and_the_others_are_not(fifteen):
    best, *others = fifteen.recall("What is Vera allergic to?", floor=0.0).hits
    assert best.relevance > 0.8
    assert max(hit.relevance for hit in others) < 0.1


def test_a_better_answer_is_likelier_than_a_worse_one(fifteen):
    right = fifteen.recall("Where is the code of my bike lock?").hits[0]
    vague = fifteen.recall("Which lock did the locksmith in Graz replace?", floor=0.0).hits[0]
    assert right.memory.key == vague.memory.key == "lock"
    assert right.relevance > vague.relevance


@pytest.mark.parametrize("floor", [0.0, 0.02, 0.035, 0.1, 0.5])
def test_no_hit_is_below_the_floor_and_no_other_is_left_out(fifteen, floor):
    cue = "does the billing service time out after minutes or days?"
    every = fifteen.recall(cue, floor=0.0).hits
    above = [hit.memory.key for hit in every if hit.relevance >= floor]
    assert keys(fifteen.recall(cue, floor=floor)) == above


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_shorter_answer_is_the_beginning_of_a_longer_one(fifteen, limit):
    cue = "does the billing service time out after minutes or days?"
    whole = [(hit.memory.key, hit.relevance) for hit in fifteen.recall(cue, floor=0.0).hits]
    short = [(hit.memory.key, hit.relevance) for hit in fifteen.recall(cue, floor=0.0, limit=limit).hits]
    assert short == whole[:limit]


def test_each_hit_says_how_relevant_it_is(fifteen):
    hits = fifteen.recall("What is Vera allergic to, and when does the report come?", floor=0.0).hits
    assert all(0.0 <= hit.relevance <= 1.0 for hit in hits)


def test_it_is_the_logistic_function_of_the_weighted_sum():
    law = RelevanceParams(constant=-1.0, match=2.0, lead=0.5)
    figures = {"match": np.array([0.0, 0.5, 1.0]), "lead": np.array([0.0, 0.0, 1.0])}
    sums = np.array([-1.0, 0.0, 1.5])
    assert relevance(figures, law) == pytest.approx(1.0 / (1.0 + np.exp(-sums)))


def test_extreme_figures_do_not_overflow():
    assert relevance({"match": np.array([-1e9, 1e9])}).tolist() == pytest.approx([0.0, 1.0])


def test_a_hit_of_unknown_relevance_is_kept():
    ranked = Ranked(np.array([7, 8, 9]), np.array([3.0, 2.0, 1.0]), {"bm25": np.array([1.0, 0.5, 0.2])})
    kept, values = hits_above(
        ranked, Judged(np.array([0.5, np.nan, 0.01]), np.zeros(3, np.bool_), 0.0), 0.1, 10
    )
    assert (kept.rows.tolist(), kept.scores.tolist()) == ([7, 8], [3.0, 2.0])
    assert kept.components["bm25"].tolist() == [1.0, 0.5]
    assert values.tolist() == pytest.approx([0.5, np.nan], nan_ok=True)


def test_what_proved_useful_for_a_cue_is_not_left_out_when_it_is_asked_again():
    with filled(NOTES, MORE) as memory:
        cue = "does the billing service time out after minutes or days?"
        every = memory.recall(cue, floor=0.0)
        hidden = every.hits[-1].memory.key
        assert hidden not in keys(memory.recall(cue))
        memory.feedback(every.recall_id, used=[hidden])
        assert hidden in keys(memory.recall(cue))


def test_what_happened_on_the_day_that_is_named_is_told_though_it_shares_no_word():
    with filled(NOTES, MORE) as memory:
        memory.remember("Standup, then pizza.", key="day", occurred_at=datetime(2023, 5, 7, tzinfo=UTC))
        memory.remember("Standup, then soup.", key="other", occurred_at=datetime(2023, 6, 9, tzinfo=UTC))
        found = keys(memory.recall("what happened on 7 May 2023?"))
    assert "day" in found
    assert "other" not in found


def test_the_further_a_hit_is_behind_the_less_relevant_it_is_however_unsure_the_answer(open_memory):
    memory = open_memory(embedder=StaticEmbedder())
    for speaker, text in (
        ("Ann", "Morning all! How was your weekend?"),
        ("Bob", "Long. We sailed to Hven and the mast broke."),
        ("Ann", "Haha okay, then tea it is."),
        ("Bob", "Sounds good to me, thanks!"),
    ):
        memory.remember(text, speaker=speaker, session="s")
    for text in ("The invoice of June was sent twice", "Pillow 10.3 needs a new wheel", "worker-7 has 8 GB"):
        memory.remember(text)
    for cue in ("why did customers get two bills?", "how many moons does Jupiter have?"):
        hits = memory.recall(cue, floor=0).hits
        alike = [hit for hit in hits if hit.memory.session and not hit.memory.content.endswith("?")]
        relevance = [round(hit.relevance, 6) for hit in alike if not hit.components["bm25"]]
        assert relevance == sorted(relevance, reverse=True)


def test_what_was_marked_for_a_question_is_more_or_less_relevant_to_it_the_more_often_it_was(open_memory):
    memory = open_memory(embedder=StaticEmbedder())
    for key, text in (NOTES | MORE).items():
        memory.remember(text, key=key)
    cue, shown, verdicts = "which database do we use?", {"staging": [], "cache": []}, []
    for _ in range(4):
        recall = memory.recall(cue, floor=0)
        for hit in recall.hits:
            if hit.memory.key in shown:
                shown[hit.memory.key].append(hit.relevance)
        verdicts.append(memory.feedback(recall.recall_id, used=["cache"], not_relevant=["staging"]))
    first, *_, last = shown["cache"]
    assert shown["cache"] == sorted(shown["cache"])
    assert first < 0.5 < 0.9 < last
    assert shown["staging"] == sorted(shown["staging"], reverse=True)
    assert shown["staging"][-1] < shown["staging"][0] / 5
    assert "staging" not in keys(memory.recall(cue))
    for verdict in reversed(verdicts):
        memory.undo(verdict.id)
    assert {h.memory.key: h.relevance for h in memory.recall(cue, floor=0).hits}["cache"] == first


def test_a_memory_that_a_wrong_path_led_to_does_not_come_back(open_memory):
    memory = open_memory(embedder=StaticEmbedder())
    memory.remember("The release failed because Kestrel was down.", key="outage")
    memory.remember("The key to Kestrel hangs in room 12.", key="kestrel-key")
    recall = memory.recall("why did the release fail?")
    assert keys(recall) == ["outage", "kestrel-key"]
    memory.feedback(recall.recall_id, not_relevant=["kestrel-key"])
    assert keys(memory.recall("why did the release fail?", floor=0.03)) == ["outage"]
