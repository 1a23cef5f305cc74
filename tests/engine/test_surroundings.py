"""What is counted once for many cues holds no longer than the memories that it was counted over."""

import random

import pytest

from priming.config.profiles import PRIMING
from priming.engine.evidence import Evidence

WORDS = ("red", "car", "sea", "sky", "wall", "paint", "Ada", "Bob")
CUES = ("Ada painted the red car", "sea sky", "red car wall")


def said(memory, text):
    """The evidence for each living memory, by key."""
    opened = memory._opened
    working = opened.working(opened.now())
    evidence = Evidence(working, opened.embedder, text, PRIMING.recall, opened.now())
    keys = {one.id: one.key for one in memory.list(limit=1000)}
    document = {keys[one]: int(working.document[row]) for one, row in working.row_of.items() if one in keys}
    terms = (
        evidence.bm25,
        evidence.cosine,
        evidence.pairs,
        evidence.window,
        evidence.session,
        evidence.prior,
    )
    return {
        key: [float(values[at]) for values in (*terms, evidence.h)] for key, at in document.items() if at >= 0
    }


def change(memory, rng, step):
    keys = [one.key for one in memory.list(limit=1000, kinds=["episode"])]
    text = " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
    if len(keys) > 4 and rng.random() < 0.3:
        memory.forget(rng.choice(keys))
    elif keys and rng.random() < 0.3:
        memory.supersede(rng.choice(keys), f"{text} {step}")
    else:
        memory.remember(f"{text} {step}", key=f"k{step}", session=rng.choice([None, "a", "b"]))


@pytest.mark.parametrize("seed", range(4))
def test_evidence_after_many_changes_is_that_of_a_store_opened_anew(open_memory, url, seed):
    rng, memory = random.Random(seed), open_memory(url)
    for step in range(24):
        change(memory, rng, step)
        memory.recall(rng.choice(CUES))
    held = {cue: said(memory, cue) for cue in CUES}
    fresh = open_memory(url)
    for cue in CUES:
        found = said(fresh, cue)
        assert found.keys() == held[cue].keys()
        assert any(any(values) for values in found.values())
        for key, values in found.items():
            assert held[cue][key] == pytest.approx(values, abs=1e-12), (cue, key)
