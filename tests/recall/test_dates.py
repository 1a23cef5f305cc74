"""Questions that name a date, over notes, a chat and a history."""

from datetime import UTC, datetime, timedelta

import pytest

from priming.embedding.wordllama import StaticEmbedder
from priming.types import Cue, FixedClock

from .test_recall import keys

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)  # a Saturday
NOTES = {
    "rack": (-33, "The staging database moved to the new rack."),
    "invoices": (-31, "The invoices for October went out."),
    "flood": (-19, "Yesterday the office was flooded; the carpets are gone."),
    "app": (-15, "The mobile app 4.2 was released."),
    "standup": (-11, "We meet on Mondays at ten from now on."),
    "closed": (-10, "The office will be closed on Monday for the carpets."),
    "logs": (-6, "Moved cold logs to the cheaper tier."),
    "pager": (-5, "Pager went off at 3 am: disk full on worker-3."),
    "rebuilt": (-4, "Worker-3 was rebuilt with a larger disk."),
    "shop": (-2, "Renewed the certificate of the shop."),
    "laptop": (-1, "We ordered a new laptop for Ben."),
}


@pytest.fixture
def notes(open_memory):
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    for key, (days, text) in NOTES.items():
        memory.remember(text, key=key, occurred_at=NOW + timedelta(days=days))
    return memory


@pytest.mark.parametrize(
    ("cue", "found"),
    [
        ("what happened on Monday?", {"pager"}),
        ("What happened Monday?", {"pager"}),
        ("Monday the 23rd", {"pager"}),
        ("what did we do last week?", {"standup", "closed", "logs"}),
        ("What was noted on the 9th?", {"flood"}),
        ("what happened between 8 and 13 November?", {"flood", "app"}),
        ("what's new since Wednesday?", {"shop", "laptop"}),
        ("the day before yesterday", {"shop"}),
        ("what changed in October?", {"rack", "invoices"}),
    ],
)
def test_what_happened_then_is_what_is_of_the_date_and_nothing_else(notes, cue, found):
    hits = notes.recall(cue).hits
    assert {hit.memory.key for hit in hits} == found
    assert min(hit.relevance for hit in hits) > 0.5


def test_what_of_it_is_asked_comes_first_and_a_date_is_no_other_day(notes):
    assert keys(notes.recall("what was ordered yesterday?"))[0] == "laptop"
    assert keys(notes.recall("when is the office closed?"))[0] == "closed"
    assert keys(notes.recall("was something rebuilt on Tuesday?"))[0] == "rebuilt"


def test_where_nothing_is_of_the_date_the_answer_says_so(notes):
    found = notes.recall("what happened on 3 May?")
    assert not found.hits
    assert "3 May" in found.reason
    assert keys(notes.recall("what happened in January?")) == []
    notes.remember("Prices go up in January.", key="prices", occurred_at=NOW - timedelta(days=3))
    assert keys(notes.recall("what happens in January?")) == ["prices"]


def test_a_verdict_on_one_day_does_not_bring_its_memories_up_on_another(notes):
    notes.feedback(notes.recall("What happened on Monday?").recall_id, used=["pager"])
    notes.feedback(notes.recall("What happened last week?").recall_id, used=["logs"])
    assert keys(notes.recall("What happened on Tuesday?")) == ["rebuilt"]
    week_later = Cue("What happened last week?", at=NOW + timedelta(days=7))
    assert "logs" not in keys(notes.recall(cue=week_later))


def test_of_a_chat_the_day_decides_too(open_memory):
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    said = (
        *("Did you talk to the landlord?", "He said he would call back.", "I said nothing of the tap."),
        *("The soup is on the stove.", "I bought blue paint.", "Great, we talk on Monday."),
        *("The bus was late again.", "Mine too, forty minutes.", "Next time I take the bike."),
    )
    for i, text in enumerate(said):
        memory.remember(
            text,
            key=f"{i // 3}-{i % 3}",
            speaker=("Ida", "Olaf")[i % 2],
            session=f"day {i // 3}",
            occurred_at=NOW + timedelta(days=i // 3 - 5, minutes=i),
        )
    for cue in ("What was said on 24 November?", "what did we talk about on Tuesday?"):
        assert set(keys(memory.recall(cue))) == {"1-0", "1-1", "1-2"}
    assert keys(memory.recall("What did Olaf say on Tuesday?"))[0] in {"1-0", "1-2"}


def test_of_a_history_the_commits_of_the_day_come_though_none_has_its_words(open_memory):
    memory = open_memory(embedder=StaticEmbedder(), clock=FixedClock(NOW))
    memory.remember_many(
        {
            "content": f"Change the {thing}\n\nWhat changed on disk was not read.",
            "key": f"{day}-{thing}",
            "source": "tool",
            "speaker": "Kim",
            "occurred_at": NOW - timedelta(days=day),
        }
        for day in range(12)
        for thing in ("parser", "cache", "pool", "docs")
    )
    found = keys(memory.recall("What changed on 21 November?"))
    assert len(found) == 4
    assert all(key.startswith("7-") for key in found)
