"""What the stages read of a namespace, and what they leave aside."""

from dataclasses import replace

import pytest

from priming import HashedEmbedder
from priming.config.params.limits import SLEEP
from priming.sleep import deep, reading

from .making import DAY

TEA = ["nobody bought green tea", "nobody bought more green tea", "nobody ever bought green tea"]


@pytest.fixture
def lived(memory):
    for number, text in enumerate(TEA):
        memory.remember(text, session=f"t{number}", key=f"tea{number}")
    return memory


def planned(memory, clock, stage, window=SLEEP.window, **params):
    """What a stage plans, as the keys that each item is about."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (deep, reading):
            patch.setattr(module, "SLEEP", replace(SLEEP, **params))
        reader = reading.StageReader(memory, clock.at, window=window)
        names = {record.id: record.key for record in memory.list(status=None, limit=100)}
        return [tuple(names[item] for item in item.ids) for item in reader.stage(stage)(lambda *_: None)]


def test_light_compares_the_latest_only(memory, clock):
    for number, text in enumerate(["Lunch was late.", "Tea was late.", "Lunch was late."]):
        memory.remember(text, session=f"s{number}", key=f"m{number}")
    assert planned(memory, clock, "light", light_window=3) == [("m2",)]
    assert planned(memory, clock, "light", light_window=2) == []


@pytest.mark.extra
def test_deep_clusters_the_latest_only_and_a_larger_window_batch_by_batch(lived, clock):
    assert planned(lived, clock, "deep", window=2) == []
    for number, text in enumerate(TEA):
        lived.remember(f"{text}, again", session=f"u{number}", key=f"again{number}")
    whole = [("tea0", "tea1", "tea2", "again0", "again1", "again2")]
    assert planned(lived, clock, "deep", window=6, batch=3) == planned(lived, clock, "deep") == whole


@pytest.mark.parametrize("verb", ["forget", "deprecate", "purge"])
@pytest.mark.parametrize("stage", ["light", "deep"])
def test_what_is_out_of_recall_takes_no_part(memory, clock, verb, stage):
    for number in range(3):
        memory.remember(TEA[0], session=f"t{number}", key=f"tea{number}")
    getattr(memory, verb)("tea1")
    expected = {"light": [("tea2",)], "deep": []}
    assert planned(memory, clock, stage) == expected[stage]


def test_a_text_that_was_superseded_takes_no_part(memory, clock):
    for session in "ab":
        memory.remember("Lunch was late.", session=session, key=session)
    memory.supersede("b", "Lunch was early.")
    assert planned(memory, clock, "light") == []


def test_vectors_of_another_model_take_no_part(open_memory, url):
    with open_memory(url) as memory:
        for number, text in enumerate(TEA):
            memory.remember(text, session=f"t{number}", key=f"tea{number}")
    with open_memory(url, embedder=HashedEmbedder(64)) as memory:
        assert memory.sleep(dry_run=True).items == ()
        assert [item.rule for item in memory.validate()] == ["missing-vectors"]


@pytest.mark.parametrize("message", [["m0"], {"of": "m0"}, 7, None])
def test_metadata_that_only_look_like_a_mark_stop_no_night(memory, clock, message):
    memory.remember("Lunch was late.", key="m0")
    memory.remember("Tea was late.", key="m1", importance=0, metadata={"duplicate_of": message})
    clock.at += 40 * DAY
    assert planned(memory, clock, "prune") == []
