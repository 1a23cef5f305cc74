"""Small sets in the form of the published ones, made for the tests."""

import json

import pytest
from tests.cli.conftest import prepared, shell  # noqa: F401

from priming.embedding.protocol import HashedEmbedder
from priming_lab import sets

SAID = {
    "D1:1": ("Ada", "I adopted a grey cat called Turing last week."),
    "D1:2": ("Ben", "How lovely! What does the cat eat?"),
    "D1:3": ("Ada", "Mostly tuna, and the butter when nobody looks."),
    "D2:1": ("Ben", "My bicycle was stolen from the station."),
    "D2:2": ("Ada", "Did you report the theft to the police?"),
    "D2:3": ("Ben", "Yes, officer Mills found the bicycle in a ditch."),
}
ASKED = (
    ("What is the name of Ada's cat?", ["D1:1"], 4),
    ("What does the cat of Ada eat?", ["D:1:03"], 1),
    ("Who found Ben's bicycle?", ["D2:03; D2:1"], 2),
    ("What did the cat say about tuna?", ["D1:3"], 5),
    ("When was this nowhere?", ["D9:9"], 3),
)


def dialogue(name="one", query=ASKED):
    """A dialogue of two sessions, in the form of LoCoMo."""
    turns = [{"speaker": who, "dia_id": key, "text": text} for key, (who, text) in SAID.items()]
    turns[0]["blip_caption"] = "a photo of a grey cat"
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns[:3],
            "session_2_date_time": "9:05 am on 25 May, 2023",
            "session_2": turns[3:],
        },
        "qa": [{"question": text, "evidence": gold, "category": kind} for text, gold, kind in query],
    }


@pytest.fixture
def locomo(tmp_path):
    """The file of a LoCoMo of two dialogues."""
    path = tmp_path / "locomo_small.json"
    path.write_text(json.dumps([dialogue("one"), dialogue("two")]), "utf-8")
    return path


@pytest.fixture
def small(locomo):
    """That set, read."""
    return sets.load("locomo", locomo)


@pytest.fixture
def embedder():
    """Vectors at once."""
    return HashedEmbedder()


@pytest.fixture
def hotpot(tmp_path):
    """The file of a HotpotQA of two questions, its corpus beside it."""
    corpus = {
        "Ada Lovelace": ["Ada Lovelace wrote notes.", " They are on the Engine."],
        "Analytical Engine": ["A machine by Charles Babbage."],
        "Tuna": ["A fish."],
    }
    query = [
        {
            "_id": "a",
            "type": "bridge",
            "question": "Who designed the machine that Ada Lovelace wrote notes on?",
            "supporting_facts": [["Ada Lovelace", 0], ["Analytical Engine", 0], ["Ada Lovelace", 1]],
        },
        {
            "_id": "b",
            "type": "comparison",
            "question": "Is tuna a fish?",
            "supporting_facts": [["Tuna", 0], ["Nobody wrote this", 0]],
        },
    ]
    (tmp_path / "hotpot_small_corpus.json").write_text(json.dumps(corpus), "utf-8")
    path = tmp_path / "hotpot_small.json"
    path.write_text(json.dumps(query), "utf-8")
    return path


@pytest.fixture
def musique(tmp_path):
    """The file of a MuSiQue of one question, its corpus beside it."""
    corpus = [
        {"title": "Bath", "text": "A city in Somerset."},
        {"title": "Bath", "text": "A tub of water."},
        {"title": "Somerset", "text": "A county of England."},
    ]
    paragraphs = [
        {"title": "Bath", "is_supporting": True},
        {"title": "Somerset", "is_supporting": True},
        {"title": "Tuna", "is_supporting": False},
    ]
    query = [{"id": "3hop1__1_2_3", "question": "Where is Bath?", "paragraphs": paragraphs}]
    (tmp_path / "musique_small_corpus.json").write_text(json.dumps(corpus), "utf-8")
    path = tmp_path / "musique_small.json"
    path.write_text(json.dumps(query), "utf-8")
    return path
