"""The memory of the loop in the form of its seed, over days: fading, pruning, merging."""

from datetime import timedelta

import pytest

from priming.errors import ParamError
from priming.loop.steps.lessons import memory_shape
from priming.loop.steps.results import ConsolidateReply, PruneReply
from priming.types import Cue

TRIGGER, RESOLUTION = "The gate hangs on grandchildren", "Kill the whole process group"


def store(memory, trigger=TRIGGER, type="failure"):
    return memory.loop_store(trigger, RESOLUTION, type=type).name


def judge(memory, name, used, unused):
    for good in [True] * used + [False] * unused:
        memory.loop_feedback([name] if good else [], [name])


def test_recall_sinks_by_half_a_recency_in_seven_days(memory, clock):
    store(memory)
    (before,) = memory.loop_recall("a gate that hangs")
    clock.at += timedelta(days=7)
    (after,) = memory.loop_recall("a gate that hangs")
    assert (before.recency, after.recency) == (1.0, 0.5)
    # Recency weighs .2 (docs/laws.md).
    assert before.score - after.score == pytest.approx(0.1, abs=0.002)


@pytest.mark.parametrize(
    ("used", "unused", "pruned"),
    # Effectiveness must be below .25, of at least three verdicts.
    [(0, 3, 1), (0, 2, 0), (1, 3, 0), (1, 4, 1)],
)
def test_what_rarely_helped_is_pruned_once_it_is_a_day_old(memory, clock, used, unused, pruned):
    judge(memory, store(memory), used, unused)
    assert memory.loop_prune() == PruneReply(0, 1)
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


def test_a_memory_that_is_no_lesson_is_shaped_by_its_own_words(memory):
    key = memory.remember("Zebras graze. They do so at noon.", kind="fact").key
    shaped = memory_shape(memory.get(key))
    assert (shaped.trigger, shaped.resolution) == ("Zebras graze.", "Zebras graze. They do so at noon.")


def test_the_context_of_an_objective_needs_no_folder_and_takes_a_cue_in_its_place(memory):
    store(memory, "Release the parser to the registry")
    rule = memory.remember("Sign the parcel.", kind="pattern", when={"language": "go"}).key
    plain = memory.loop_context("Release the parser to the registry")
    assert plain.memory.injected_names == ("release-the-parser-to-the-registry",)
    assert plain.memory.fired == plain.memory.injected_names
    assert (plain.codebase.files, plain.codebase.languages) == (0, ())
    for cue, fires in ((Cue(language="go"), True), (Cue(language="python"), False)):
        assert (rule in memory.loop_context("Wrap a parcel", cue=cue).memory.fired) is fires


@pytest.mark.parametrize("folder", ["here", "/no/such/folder"])
def test_a_folder_is_an_absolute_path_that_exists(memory, folder):
    with pytest.raises(ParamError, match="absolute path of an existing folder"):
        memory.loop_context("Mend it", folder=folder)


def test_what_cannot_be_a_lesson_is_refused_and_nothing_is_stored(memory):
    for trigger, resolution, kind in (
        ("short", "x", "failure"),
        (TRIGGER, " ", "failure"),
        (TRIGGER, "x", "fact"),
    ):
        with pytest.raises(ParamError):
            memory.loop_store(trigger, resolution, type=kind)
    assert memory.list() == []


def test_a_success_becomes_a_pattern_once(memory):
    said = {"task": "Mend the gate", "outcome": "Success", "approach": RESOLUTION}
    first, again = memory.loop_chunk(**said), memory.loop_chunk(**said)
    assert (first.status, again.status) == ("added", "strengthened")
    assert first.stored == again.strengthened
    assert memory.loop_chunk(**{**said, "outcome": "failed"}).status == "skipped"
    with pytest.raises(ParamError, match="one of the two"):
        memory.loop_chunk("session", task="Mend the gate")
