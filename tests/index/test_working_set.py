"""The working set: whatever was done, and by whom, it is what the store says."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priming import Cue, FixedClock, Memory, PrimingError
from priming.config import profiles
from priming.index.snapshot import load, save
from priming.index.working_set import WorkingSet

NOW = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
WORDS = (
    *("violin", "trumpet", "clarinet", "oboe", "tuba", "horn"),
    *("guitar", "banjo", "cello", "piano", "viola", "lute"),
)
NAMES = ("Ada", "Grace Hopper", "src/app.py", "Oslo")
CUES = (Cue("Did Ada play the banjo in Oslo, or tuba and horn?"), Cue("Grace's violin", language="go"))


def a_text(rng):
    return " ".join(["they", *rng.sample(WORDS, rng.randint(1, 4)), *rng.sample(NAMES, rng.randint(0, 2))])


def an_item(rng):
    item = {"content": a_text(rng)}
    if rng.random() < 0.6:
        item["session"] = rng.choice("abc")
    if rng.random() < 0.4:
        item["heading"] = rng.choice(["Ada", "Ada Byron", "banjo", "zither (music)"])
    if rng.random() < 0.2:
        item["when"] = {"language": rng.choice(["go", "rust"])}
    if rng.random() < 0.3:
        item["kind"] = rng.choice(["fact", "procedure", "entity", "entity"])
    return item


def a_change(memory, rng):
    """One random operation on what is there."""
    keys = [record.key for record in memory.list(kinds=None, limit=1000)]
    entities = [record.key for record in memory.list(kinds=["entity"], limit=1000)]
    target = rng.choice(keys + entities) if keys + entities else "none"
    other = rng.choice(keys or ["none"])
    operations = [entry.id for entry in memory.log(limit=12)] or ["none"]
    return rng.choice(
        [
            lambda: memory.remember(**an_item(rng)),
            lambda: memory.remember(**an_item(rng)),
            lambda: memory.remember_many([an_item(rng) for _ in range(4)]),
            lambda: memory.forget(target),
            lambda: memory.undo(rng.choice(operations)),
            lambda: memory.undo(rng.choice(operations)),
            lambda: memory.supersede(other, a_text(rng), session=rng.choice([None, "a", "b"])),
            lambda: memory.supersede(other, a_text(rng), valid_from=memory.now() + timedelta(days=3)),
            lambda: memory.link(target, other, rng.choice(["similar-to", "requires", "mentions"]), 0.7),
            lambda: memory.set_strength(target, other, rng.random()),
            lambda: memory.purge(target),
        ]
    )


def live_through(memories, clock, rng, steps):
    """A random history; several memories over one file take turns. What cannot be done is not done."""
    for _ in range(steps):
        memory = rng.choice(memories)
        clock.at += timedelta(hours=rng.choice([0, 0, 1, 20]))
        try:
            a_change(memory, rng)()
        except PrimingError:
            continue
        if rng.random() < 0.3:
            memory.recall("violin")


def scores(memory):
    """Every hit of some recalls under every profile, by id, and what each is made of."""
    return {
        (cue.text, profile, hit.memory.id): (hit.score, dict(hit.components), hit.memory.content)
        for cue in CUES
        for profile in profiles.ALL
        for hit in memory.recall(cue=cue, profile=profile, limit=500).hits
    }


def assert_alike(actual, expected):
    """Single precision has seven digits, and what a product of vectors rounds to depends on where they stand."""
    assert actual.keys() == expected.keys()
    for which, (score, components, content) in actual.items():
        assert content == expected[which][2]
        assert score == pytest.approx(expected[which][0], abs=1e-5), which
        assert components == pytest.approx(expected[which][1], abs=1e-5), which


@settings(max_examples=1 + settings.default.max_examples // 20)
@given(st.integers(0, 10**6))
def test_what_is_kept_current_is_what_is_built_anew(embedder, tmp_path_factory, seed):
    rng, clock = random.Random(seed), FixedClock(NOW)
    folder = tmp_path_factory.mktemp("history")
    url = f"sqlite:///{folder}/memory.db"
    settings = {"embedder": embedder, "clock": clock}
    with Memory.open(url, **settings) as ours, Memory.open(url, **settings) as theirs:
        live_through([ours, theirs], clock, rng, 14)
        halfway = ours.working(clock.now())
        save(halfway, folder / "halfway", {"head": halfway.head})
        live_through([ours, theirs], clock, rng, 14)
        with Memory.open(url, **settings) as anew, Memory.open(url, **settings) as restored:
            working = WorkingSet(restored.store, "default", embedder)
            assert load(working, folder / "halfway", lambda _: True)
            restored._working = working
            expected = scores(anew)
            for memory in (ours, theirs, restored):
                assert_alike(scores(memory), expected)
        assert ours.validate() == []


def test_what_is_counted_once_is_counted_again_after_each_change(open_memory, url):
    memory = open_memory(url)
    memory.remember("They play the banjo and the lute.", key="a")
    first = memory.working(memory.now())
    assert (first.main_language, first.eligible.tolist(), first.pool.tolist()) == ("english", [True], [True])
    memory.remember("Die Laute und das Horn sind nicht für alle.", key="b")
    memory.forget("a")
    second = memory.working(memory.now())
    assert (second.main_language, second.eligible.tolist()) == ("german", [False, True])
    assert second.pool.tolist() == [False, True]


def test_memories_that_one_operation_brings_back_stand_as_in_the_store(open_memory, url):
    memory = open_memory(url)
    words = "a banjo and a lute"
    for key in "ab":
        memory.remember(f"{words} {key}", key=key, session="s")
    memory.supersede("a", f"{words} once more")
    memory.recall(words)
    gone = memory.rollback(since=memory.log()[-1].at)
    memory.recall(words)
    memory.undo(gone.id)
    with open_memory(url) as other:
        assert memory.recall(words).hits == other.recall(words).hits
        rows = [[item._working.row_of[memory.get(key).id] for key in "ab"] for item in (memory, other)]
    assert rows[0] == sorted(rows[0])
    assert rows[1] == sorted(rows[1])


def test_what_was_stored_ahead_is_told_from_its_day_on_also_by_who_asked_before(memory, clock):
    day = clock.at + timedelta(days=9)
    memory.remember("The club fee is 95 euros.", key="fee", valid_from=day)
    memory.remember("The hall is heated.", key="hall")
    assert [hit.memory.key for hit in memory.recall("club fee", floor=0)] == ["hall"]
    clock.at = day
    assert memory.recall("club fee").hits[0].memory.key == "fee"
    memory.supersede("fee", "The club fee is 99 euros.", valid_from=day + timedelta(days=1))
    memory.forget("fee")
    memory.restore("fee")
    assert memory.recall("club fee").hits[0].memory.content == "The club fee is 95 euros."
    clock.at += timedelta(days=1)
    assert memory.recall("club fee").hits[0].memory.content == "The club fee is 99 euros."
