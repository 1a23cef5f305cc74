"""Lessons over days: pruning, merging, dormancy, and what the health of all says."""

from datetime import timedelta

import pytest

from priming.errors import ParamError
from priming_loop.steps.results import ConsolidateReply, PruneReply

TRIGGER, RESOLUTION = "The gate hangs on grandchildren", "Kill the whole process group"


def store(memory, trigger=TRIGGER, type="failure"):
    return memory.loop_store(trigger, RESOLUTION, type=type).name


def judge(memory, name, used, unused):
    for good in [True] * used + [False] * unused:
        memory.loop_feedback([name] if good else [], [name])


@pytest.mark.parametrize(
    ("used", "unused", "pruned"),
    # Effectiveness must be below .25, of at least three verdicts.
    [(0, 3, 1), (0, 2, 0), (1, 3, 0), (1, 4, 1)],
)
def test_what_rarely_helped_is_pruned_once_it_is_a_day_old(memory, clock, used, unused, pruned):
    judge(memory, store(memory), used, unused)
    assert (memory.loop_prune().pruned, len(memory.list())) == (0, 1)
    clock.at += timedelta(days=2)
    assert memory.loop_prune() == PruneReply(pruned, 1 - pruned)


def test_health_tells_what_the_figures_say(memory):
    texts = ("The gate hangs", "The printer jams", "The build is slow", "The parrot escaped")
    names = [store(memory, f"{text} on Mondays", "pattern") for text in texts]
    for name in names[:3]:
        judge(memory, name, 0, 3)
    judge(memory, names[3], 1, 0)
    health = memory.loop_health()
    assert health.status == "NEEDS_ATTENTION"
    few, most = health.issues
    assert few.startswith("3 of 4 rarely helped:")
    assert all(f"{name} (0 of 3)" in few for name in names[:3])
    assert "priming loop prune" in few
    assert most.startswith("Memories helped in 1 of 10 verdicts")


def test_health_is_well_where_most_helps(memory):
    judge(memory, store(memory), 3, 1)
    assert (memory.loop_health().status, memory.loop_health().issues) == ("HEALTHY", ())


def test_what_is_pruned_can_be_brought_back(memory, clock):
    name = store(memory)
    judge(memory, name, 0, 3)
    clock.at += timedelta(days=2)
    memory.loop_prune()
    assert memory.loop_recall("a gate that hangs") == []
    memory.restore(name)
    assert [item.memory.name for item in memory.loop_recall("a gate that hangs")] == [name]


def test_memories_of_other_kinds_are_neither_pruned_nor_merged(memory, clock):
    for text in ("The gate hangs.", "The gate hangs!"):
        judge(memory, memory.remember(text, kind="fact", session=text).key, 0, 3)
    store(memory, "Something else broke")
    clock.at += timedelta(days=2)
    assert memory.loop_prune().pruned == 0
    assert memory.loop_consolidate().merged == 0
    assert len(memory.list(kinds=["fact"])) == 2


def test_merging_adds_the_counts_and_moves_the_links(memory):
    item, other = (
        memory.remember(f"The gate hangs on grandchildren{end}", kind="failure").key for end in ("", "!")
    )
    far = memory.remember("Zebras graze.", kind="fact").key
    memory.link(other, far, "causes")
    judge(memory, item, 2, 0)
    judge(memory, other, 1, 1)
    assert memory.loop_consolidate() == ConsolidateReply(1, 1)
    saved = memory.get(item).use
    assert (saved.helped, saved.failed) == (3, 1)
    assert [link.target for link in memory.links(item, relation="causes")] == [far]


def test_dormant_is_what_nobody_used_for_long_and_hardly_judged(memory, clock):
    quiet, judged = store(memory), store(memory, "Another thing broke down")
    judge(memory, judged, 0, 2)
    clock.at += timedelta(days=31)
    fresh = store(memory, "The third thing is new here")
    assert memory.loop_decay().candidates_for_decay == (quiet,)
    assert fresh not in memory.loop_decay(days=0).candidates_for_decay


def test_health_says_what_pruning_does_now_and_pruning_says_why_a_lesson_stays(memory, clock):
    names = [
        store(memory, f"{text} at dawn", "pattern") for text in ("The kettle leaks", "The lamp flickers")
    ]
    judge(memory, names[0], 0, 3)
    assert f"archives 0 of them now; not {names[0]} (younger than 1 d)" in memory.loop_health().issues[0]
    assert memory.loop_prune() == PruneReply(0, 2, (f"{names[0]}: younger than 1 d",))
    clock.at += timedelta(days=2)
    assert memory.loop_health().issues[0].endswith("'priming loop prune' archives them")
    assert memory.loop_prune() == PruneReply(1, 1)
    memory.restore(names[0])
    why = "it was restored after it was archived"
    assert f"not {names[0]} ({why})" in memory.loop_health().issues[0]
    assert memory.loop_prune() == PruneReply(0, 2, (f"{names[0]}: {why}",))


@pytest.mark.parametrize("values", [{"days": -1}, {"days": float("nan")}, {"min_uses": -1}])
def test_dormant_is_nothing_before_the_present(memory, values):
    with pytest.raises(ParamError, match=next(iter(values))):
        memory.loop_decay(**values)
