"""The memory of the loop in the form of its seed, over days: fading, pruning, merging."""

from datetime import timedelta

import pytest

from priming.loop import arc

TRIGGER, RESOLUTION = "The gate hangs on grandchildren", "Kill the whole process group"


def store(memory, trigger=TRIGGER, type="failure"):
    return arc.store(memory, type, trigger, RESOLUTION)["name"]


def judge(memory, name, used, unused):
    for good in [True] * used + [False] * unused:
        arc.feedback(memory, [name] if good else [], [name])


def test_recall_sinks_by_half_a_recency_in_seven_days(memory, clock):
    store(memory)
    (before,) = arc.recall(memory, "a gate that hangs")
    clock.at += timedelta(days=7)
    (after,) = arc.recall(memory, "a gate that hangs")
    assert (before["_recency"], after["_recency"]) == (1.0, 0.5)
    # Recency weighs .2 (docs/laws.md).
    assert before["_score"] - after["_score"] == pytest.approx(0.1, abs=0.002)


@pytest.mark.parametrize(
    ("used", "unused", "pruned"),
    # Effectiveness must be below .25, of at least three verdicts.
    [(0, 3, 1), (0, 2, 0), (1, 3, 0), (1, 4, 1)],
)
def test_what_rarely_helped_is_pruned_once_it_is_a_day_old(memory, clock, used, unused, pruned):
    judge(memory, store(memory), used, unused)
    assert arc.prune(memory) == {"pruned": 0, "remaining": 1}
    clock.at += timedelta(days=2)
    assert arc.prune(memory) == {"pruned": pruned, "remaining": 1 - pruned}


def test_health_tells_what_the_figures_say(memory):
    texts = ("The gate hangs", "The printer jams", "The build is slow", "The parrot escaped")
    names = [store(memory, f"{text} on Mondays", "pattern") for text in texts]
    for name in names[:3]:
        judge(memory, name, 0, 3)
    judge(memory, names[3], 1, 0)
    told = arc.health(memory)
    assert told["status"] == "NEEDS_ATTENTION"
    few, most = told["issues"]
    assert few.startswith("3 of 4 rarely helped:")
    assert all(f"{name} (0 of 3)" in few for name in names[:3])
    assert "priming loop prune" in few
    assert most.startswith("Memories helped in 1 of 10 verdicts")


def test_health_is_well_where_most_helps(memory):
    judge(memory, store(memory), 3, 1)
    assert (arc.health(memory)["status"], arc.health(memory)["issues"]) == ("HEALTHY", [])


def test_what_is_pruned_can_be_brought_back(memory, clock):
    name = store(memory)
    judge(memory, name, 0, 3)
    clock.at += timedelta(days=2)
    arc.prune(memory)
    assert arc.recall(memory, "a gate that hangs") == []
    memory.restore(name)
    assert [item["name"] for item in arc.recall(memory, "a gate that hangs")] == [name]


def test_memories_of_other_kinds_are_neither_pruned_nor_merged(memory, clock):
    for text in ("The gate hangs.", "The gate hangs!"):
        judge(memory, memory.remember(text, kind="fact", session=text).key, 0, 3)
    store(memory, "Something else broke")
    clock.at += timedelta(days=2)
    assert arc.prune(memory)["pruned"] == 0
    assert arc.consolidate(memory)["merged"] == 0
    assert len(memory.list(kinds=["fact"])) == 2


def test_merging_adds_the_counts_and_moves_the_links(memory):
    item, other = (
        memory.remember(f"The gate hangs on grandchildren{end}", kind="failure").key for end in ("", "!")
    )
    far = memory.remember("Zebras graze.", kind="fact").key
    arc.relate(memory, other, far, "causes")
    judge(memory, item, 2, 0)
    judge(memory, other, 1, 1)
    assert arc.consolidate(memory) == {"merged": 1, "remaining": 1}
    saved = arc.get(memory, item)
    assert (saved["helped"], saved["failed"]) == (3, 1)
    assert [link.target for link in memory.links(item, relation="causes")] == [far]


def test_dormant_is_what_nobody_used_for_long_and_hardly_judged(memory, clock):
    quiet, judged = store(memory), store(memory, "Another thing broke down")
    judge(memory, judged, 0, 2)
    clock.at += timedelta(days=31)
    fresh = store(memory, "The third thing is new here")
    result = arc.decay(memory, clock.now())
    assert result["candidates_for_decay"] == [quiet]
    assert fresh not in arc.decay(memory, clock.now(), days=0)["candidates_for_decay"]


def test_a_memory_that_is_no_lesson_is_shaped_by_its_own_words(memory):
    key = memory.remember("Zebras graze. They do so at noon.", kind="fact").key
    shaped = arc.get(memory, key)
    assert (shaped["trigger"], shaped["resolution"]) == ("Zebras graze.", "Zebras graze. They do so at noon.")
