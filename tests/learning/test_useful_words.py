"""What a memory was useful for is a field of words by which it is found."""

from datetime import timedelta

import pytest

from priming.embedding.wordllama import StaticEmbedder

TEXTS = {
    "pool": "The connection limit was raised to forty.",
    "cache": "Answers are kept for an hour.",
    "queue": "Jobs wait in Valkey until a worker is free.",
    "disk": "The third host has little space left.",
}
JUDGED = "why does checkout time out at noon"
OTHER_WORDS = "timeouts in the checkout"
"""It shares a word with the judged cue, and none with the memory."""


@pytest.fixture
def store(memory):
    memory.remember_many({"content": text, "key": key} for key, text in TEXTS.items())
    return memory


def result(memory, cue=OTHER_WORDS, ablate=(), **arguments):
    """What is found by words alone."""
    hits = memory.recall(cue, ablate=["meaning", *ablate], floor=0, **arguments).hits
    return [hit.memory.key for hit in hits if hit.components.get("words", 0.0) > 0]


def judge(memory, cue=JUDGED, **verdicts):
    return memory.feedback(memory.recall(cue, floor=0).recall_id, **verdicts)


def useful(memory, key, cue=OTHER_WORDS):
    def words(**more):
        hits = {hit.memory.key: hit for hit in memory.recall(cue, floor=0, **more).hits}
        return hits[key].components.get("words", 0.0) if key in hits else 0.0

    return words() - words(ablate=["feedback"])


def teach(memory, **verdicts):
    """Judge a cue whose recall returns the memory: its words, and those of the text."""
    return judge(memory, f"{JUDGED}, connection limit", **verdicts)


def test_a_memory_is_found_by_words_that_only_a_judged_cue_has(store):
    assert result(store) == []
    teach(store, used=["pool"])
    assert result(store) == ["pool"]
    assert result(store, ablate=["feedback", "use"]) == []


def test_undo_takes_the_words_back_and_redo_gives_them_again(store):
    operation = teach(store, used=["pool"])
    undone = store.undo(operation.id)
    assert result(store) == []
    store.undo(undone.id)
    assert result(store) == ["pool"]


def test_roll_back_takes_the_words_back(store, clock):
    clock.at += timedelta(minutes=1)
    teach(store, used=["pool"])
    store.rollback(since=clock.at)
    assert result(store) == []


def test_a_past_time_has_the_words_of_that_time(store, clock):
    early = clock.at
    clock.at += timedelta(days=1)
    operation = teach(store, used=["pool"])
    between = clock.at
    clock.at += timedelta(days=1)
    store.undo(operation.id)
    answers = {when: result(store, known_at=when) for when in (early, between, clock.at)}
    assert answers == {early: [], between: ["pool"], clock.at: []}


def test_words_last_over_a_restart_and_go_with_what_is_purged(open_memory, url):
    first = open_memory(url)
    first.remember_many({"content": text, "key": key} for key, text in TEXTS.items())
    teach(first, used=["pool"])
    first.close()
    again = open_memory(url)
    assert result(again) == ["pool"]
    again.purge("pool")
    assert result(again) == []


def test_words_are_exported_and_imported(store, open_memory, tmp_path):
    teach(store, used=["pool"])
    store.export(tmp_path / "all.jsonl")
    other = open_memory()
    other.import_(tmp_path / "all.jsonl")
    assert result(other) == ["pool"]


def test_a_verdict_against_a_memory_takes_off_the_words_of_its_cue(store):
    teach(store, used=["pool"])
    before = useful(store, "pool")
    judge(store, "checkout of books, connection limit", not_relevant=["pool"])
    assert useful(store, "pool") < before


def test_an_automatic_verdict_counts_less(open_memory):
    share = {}
    for tier in ("conscious", "automatic"):
        memory = open_memory(namespace=tier)
        memory.remember_many({"content": text, "key": key} for key, text in TEXTS.items())
        teach(memory, confirmed=["pool"], tier=tier)
        share[tier] = useful(memory, "pool", "connection of the checkout")
    assert 0 < share["automatic"] < share["conscious"]


def test_what_matches_the_cue_best_stays_first(store):
    for cue in ("host with a full limit", "which host broke the connection", "third limit of a host"):
        judge(store, cue, used=["pool"])
    assert result(store, "How much space has the third host left?")[0] == "disk"


def test_a_use_for_another_cue_raises_a_memory_above_its_equals_alone(memory):
    memory.remember("We paint walls.", key="older")
    memory.remember("They paint walls.", key="used")
    memory.remember("We paint big walls.", key="better")
    memory.feedback(memory.recall("which walls are blue").recall_id, used=["used"])
    assert result(memory, "who can paint")[:2] == ["used", "older"]
    assert result(memory, "who can paint big ones")[0] == "better"


FACTS = {
    "ferry": ("The last ferry to the island leaves at nine.", "When does the ferry leave for the island?"),
    "oven": ("The oven in the bakery needs forty minutes to heat.", "How long does the oven take to heat?"),
    "piano": ("Ines tunes the piano every second month.", "Who tunes the piano?"),
    "roof": ("The roof of the barn lost nine tiles in the storm.", "How many tiles did the barn lose?"),
    "goat": ("The goat escaped through the hole behind the shed.", "Where did the goat escape?"),
    "seeds": ("Marigold seeds are kept dry in the cellar.", "Where are the marigold seeds kept?"),
    "clock": ("The clock in the tower runs four minutes late.", "How late does the tower clock run?"),
    "boots": ("Aylin left her boots at the mill.", "What did Aylin leave at the mill?"),
}


@pytest.fixture
def village(memory):
    memory.remember_many({"content": fact, "key": key} for key, (fact, _) in FACTS.items())
    return memory


def firsts(memory, keys):
    """The first hit of the question about each fact."""
    return {key: memory.recall(FACTS[key][1]).hits[0].memory.key for key in keys}


def test_wrong_verdicts_leave_the_first_hit_of_other_questions(village):
    judged, others = ("ferry", "oven", "roof", "goat"), ("piano", "seeds", "clock", "boots")
    wrong = set()
    for number in range(16):
        recall = village.recall(FACTS[judged[number % 4]][1], floor=0)
        worse = [hit.memory.key for hit in recall.hits if hit.memory.key != judged[number % 4]]
        for key in worse[number // 4 :][:1]:
            village.feedback(recall.recall_id, **{"used" if number % 2 else "not_relevant": [key]})
            wrong.add(key)
    assert wrong.intersection(others)
    assert firsts(village, others) == {key: key for key in others}


def test_a_wrong_verdict_is_put_right_by_the_right_verdict(village):
    cue = FACTS["goat"][1]
    judge(village, cue, used=["boots"])
    judge(village, cue, used=["goat"], not_relevant=["boots"])
    assert firsts(village, ["goat"]) == {"goat": "goat"}


def test_a_second_verdict_that_agrees_counts_more_than_the_first_alone(village):
    cue, scores = "the goat and the hole", []
    for _ in range(3):
        scores.append({hit.memory.key: hit.score for hit in village.recall(cue, floor=0).hits}["boots"])
        judge(village, cue, used=["boots"])
    assert scores[0] < scores[1] < scores[2]
    assert scores[2] - scores[1] < scores[1] - scores[0]


TALK = (
    ("Lena", "How was your weekend, Omar?"),
    ("Omar", "Quiet. I put two lemon trees and a rosemary by the railing."),
    ("Lena", "Lovely! My sister has been ill, so I cooked for her."),
    ("Omar", "Poor thing. Is she better now?"),
    ("Lena", "She is. On Tuesday she goes back to the bakery."),
    ("Omar", "Then I will get my bread from her."),
    ("Lena", "The ferry to the island was late again, by the way."),
    ("Omar", "They ought to buy a second boat."),
    ("Lena", "I found the blue scarf that I had lost at the cinema."),
    ("Omar", "It was under the seat, as you said."),
    ("Lena", "The plants in our office stand in the dark."),
    ("Omar", "Mine had plants once; they all withered."),
    ("Lena", "A neighbour of mine has a balcony like a stage."),
)


def test_a_turn_that_answered_rises_when_the_same_is_asked_in_other_words(open_memory):
    memory = open_memory(embedder=StaticEmbedder())
    memory.remember_many(
        {"content": text, "key": f"turn-{at}", "speaker": who, "session": "sunday"}
        for at, (who, text) in enumerate(TALK)
    )
    others = ("What did Lena lose at the cinema?", "Who goes back to the bakery?", "What was late?")
    again = "Which plants stand on the balcony now?"
    before, answers = scores(memory, again), [keys(memory, cue)[0] for cue in others]
    judge(memory, "What grows on the balcony of Omar?", used=["turn-1"])
    after = scores(memory, again)
    assert after["turn-1"] > before["turn-1"]
    assert all(after[key] <= before[key] for key in before if key != "turn-1")
    assert [keys(memory, cue)[0] for cue in others] == answers


def scores(memory, cue):
    return {hit.memory.key: hit.score for hit in memory.recall(cue, floor=0, limit=20).hits}


def keys(memory, cue):
    return [hit.memory.key for hit in memory.recall(cue, floor=0, limit=20).hits]
