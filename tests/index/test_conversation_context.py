"""What is cached for many cues is computed again when a memory is added or removed."""

import random

import numpy as np
import pytest

from priming.config.profiles import PRIMING
from priming.recall.evidence import Evidence

WORDS = ("red", "car", "sea", "sky", "wall", "paint", "Ada", "Bob")
SPEAKERS = ("Ada", "Bob", None)
CUES = ("Ada painted the red car", "sea sky", "red car wall")


def evidence_by_key(memory, text):
    """The evidence for each living memory, by key."""
    working = memory.working(memory.now())
    evidence = Evidence(working, memory.embedder, text, PRIMING.recall, memory.now())
    keys = {record.id: record.key for record in memory.list(limit=1000)}
    document = {
        keys[item]: int(working.document[row]) for item, row in working.row_of.items() if item in keys
    }
    living = {key: at for key, at in document.items() if at >= 0}
    figures = evidence.figures(np.array(list(living.values()), np.int64))
    return {
        key: {name: float(values[place]) for name, values in figures.items()}
        for place, key in enumerate(living)
    }


def change(memory, rng, step):
    keys = [record.key for record in memory.list(limit=1000, kinds=["episode"])]
    text = " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
    if len(keys) > 4 and rng.random() < 0.3:
        memory.forget(rng.choice(keys))
    elif keys and rng.random() < 0.3:
        memory.supersede(rng.choice(keys), f"{text} {step}")
    else:
        message = {"session": rng.choice(["a", "b"]), "speaker": rng.choice(SPEAKERS)}
        memory.remember(f"{text} {step}{rng.choice('.?')}", key=f"k{step}", **rng.choice([message, {}]))


@pytest.mark.parametrize("seed", range(2))
def test_evidence_after_many_changes_is_that_of_a_store_opened_anew(open_memory, url, seed):
    rng, memory = random.Random(seed), open_memory(url)
    for step in range(24):
        change(memory, rng, step)
        memory.recall(rng.choice(CUES))
    cached = {cue: evidence_by_key(memory, cue) for cue in CUES}
    fresh = open_memory(url)
    for cue in CUES:
        expected = evidence_by_key(fresh, cue)
        assert expected.keys() == cached[cue].keys()
        assert any(any(values.values()) for values in expected.values())
        for key, values in expected.items():
            assert cached[cue][key] == pytest.approx(values, abs=1e-12), (cue, key)
