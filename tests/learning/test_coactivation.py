from datetime import timedelta

import pytest

from priming import Cue
from priming.config.params.laws import PLASTICITY
from priming.config.profiles import get
from priming.core.graph import Graph
from priming.core.plasticity import birth_weight, co_activation_pairs, oja
from priming.core.spread import spread, squash
from priming.recall import traces
from priming.storage.rows import PairRow

HUB = "Kestrel signs the nightly builds."
CUE = "who signs the nightly builds"
LEAVES = (
    "Gulls nest upon tall cliffs.",
    "Porridge tastes best with honey.",
    "Violins sound warmer when old.",
)


@pytest.fixture
def hub(memory):
    """A hub of three: the cue matches the hub, activation reaches its leaves."""
    memory.remember(HUB, key="hub")
    for number, text in enumerate(LEAVES):
        memory.remember(text, key=f"leaf-{number}")
        memory.link("hub", f"leaf-{number}", "requires")
    return memory


def learnt(memory):
    """The links that were learnt, by their ends in order of key."""
    links = memory.links(relation="co-activated")
    return {tuple(sorted((item.source, item.target))): item.weight for item in links}


def use(memory, clock, *keys, after=timedelta(hours=1), **query):
    clock.at += after
    recall = memory.recall(CUE, **query, floor=0)
    return memory.feedback(recall.recall_id, used=keys)


def test_learning_fires_on_a_hub_of_three_with_default_parameters(hub, clock):
    for time in range(3):
        assert learnt(hub) == {}, f"after {time} co-activations"
        use(hub, clock, "leaf-1")
    assert ("hub", "leaf-1") in learnt(hub)


def test_what_was_taken_out_of_recall_since_learns_nothing(hub, clock):
    for _ in range(2):
        use(hub, clock, "leaf-1", "leaf-2")
    clock.at += timedelta(hours=1)
    recall = hub.recall(CUE, floor=0)
    hub.forget("leaf-1")
    hub.feedback(recall.recall_id, used=["leaf-1", "leaf-2"])
    assert ("hub", "leaf-2") in learnt(hub)
    assert [pair for pair in learnt(hub) if "leaf-1" in pair] == []


def test_the_leaves_of_a_hub_learn_at_our_threshold_and_could_not_at_the_originals():
    """A leaf of a hub of three gets at most .8 · .5 / 3 = .133, which floop squashes to .158: below its .3."""
    floop = get("floop")
    graph = Graph.from_links(4, [0, 0, 0], [1, 2, 3], [1.0, 1.0, 1.0])
    activation = spread(graph, {0: 1.0}, floop.spread)
    values = squash(activation.values, gain=floop.squash.gain, centre=floop.squash.centre)
    levels = dict(zip(activation.rows.tolist(), values.tolist(), strict=True))
    assert levels[1] == pytest.approx(0.1588, abs=1e-4)
    assert co_activation_pairs(levels, {0}, 0.3) == []
    assert (0, 1) in co_activation_pairs(levels, {0}, floop.plasticity.threshold)


def test_the_third_time_within_a_week_links_a_pair_with_the_weight_of_its_birth(hub, clock):
    for _ in range(2):
        use(hub, clock, "leaf-0")
    clock.at += timedelta(hours=1)
    recall = hub.recall(CUE, floor=0)
    flow = traces.flow_of(traces.find_trace(hub, recall.recall_id))
    levels = {flow.nodes[row]: level for row, level, _ in flow.active}
    hub.feedback(recall.recall_id, used=["leaf-0"])
    a, b = sorted(hub.get(key).id for key in ("hub", "leaf-0"))
    assert learnt(hub)["hub", "leaf-0"] == pytest.approx(birth_weight(levels[a], levels[b]))
    assert hub.store.rows("default", PairRow, ids=[a, b], both=True) == []


def test_a_recall_counts_once_for_a_pair_whichever_of_the_two_is_judged(hub, clock):
    for _ in range(3):
        use(hub, clock, "leaf-0", "leaf-1")
    clock.at += timedelta(hours=1)
    recall = hub.recall(CUE, floor=0)
    before = learnt(hub)["leaf-0", "leaf-1"]
    hub.feedback(recall.recall_id, confirmed=["leaf-0"])
    once = learnt(hub)["leaf-0", "leaf-1"]
    assert once != before
    hub.feedback(recall.recall_id, confirmed=["leaf-1"])
    assert learnt(hub)["leaf-0", "leaf-1"] == once


def test_a_recall_that_is_judged_after_the_window_leaves_no_pair(hub, clock):
    recall = hub.recall(CUE, floor=0)
    clock.at += timedelta(days=PLASTICITY.window_days, seconds=1)
    hub.feedback(recall.recall_id, used=["leaf-0"])
    assert hub.store.rows("default", PairRow) == []


def test_a_linked_pair_follows_ojas_rule(hub, clock):
    for _ in range(3):
        use(hub, clock, "leaf-0")
    before = learnt(hub)["hub", "leaf-0"]
    clock.at += timedelta(hours=1)
    recall = hub.recall(CUE, floor=0)
    flow = traces.flow_of(traces.find_trace(hub, recall.recall_id))
    levels = {flow.nodes[row]: level for row, level, _ in flow.active}
    a, b = sorted(hub.get(key).id for key in ("hub", "leaf-0"))
    hub.feedback(recall.recall_id, confirmed=["leaf-0"])
    assert learnt(hub)["hub", "leaf-0"] == pytest.approx(oja(before, levels[a], levels[b]))


def test_only_pairs_with_what_was_used_are_counted(hub, clock):
    for _ in range(3):
        use(hub, clock, "leaf-0")
    assert all("leaf-0" in pair for pair in learnt(hub))


def test_two_anchors_are_never_linked(memory, clock):
    memory.remember(HUB, key="one")
    memory.remember("The nightly builds are signed by Kestrel too.", key="two")
    memory.link("one", "two", "requires")
    for _ in range(5):
        clock.at += timedelta(hours=1)
        recall = memory.recall(CUE, floor=0)
        memory.feedback(recall.recall_id, used=["one", "two"])
    assert learnt(memory) == {}


def test_what_was_not_useful_teaches_no_pair(hub, clock):
    for _ in range(4):
        clock.at += timedelta(hours=1)
        hub.feedback(hub.recall(CUE, floor=0).recall_id, not_relevant=["leaf-0"], overridden=["leaf-1"])
    assert learnt(hub) == {}


def test_times_older_than_a_week_do_not_count(hub, clock):
    for _ in range(6):
        use(hub, clock, "leaf-0", after=timedelta(days=3.6))
    assert learnt(hub) == {}
    for _ in range(2):
        use(hub, clock, "leaf-0", after=timedelta(days=1))
    assert ("hub", "leaf-0") in learnt(hub)


def test_a_recall_judged_twice_is_one_co_activation(hub, clock):
    clock.at += timedelta(hours=1)
    recall = hub.recall(CUE, floor=0)
    hub.feedback(recall.recall_id, used=["leaf-0"])
    hub.feedback(recall.recall_id, used=["leaf-0"])
    hub.feedback(recall.recall_id, confirmed=["leaf-0"])
    use(hub, clock, "leaf-0")
    assert learnt(hub) == {}


def test_pairs_are_counted_across_restarts(open_memory, url, clock):
    memory = open_memory(url)
    memory.remember(HUB, key="hub")
    memory.remember(LEAVES[0], key="leaf-0")
    memory.link("hub", "leaf-0", "requires")
    for _ in range(2):
        use(memory, clock, "leaf-0")
    memory.close()
    again = open_memory(url)
    use(again, clock, "leaf-0")
    assert ("hub", "leaf-0") in learnt(again)


def test_a_learnt_link_that_faded_away_is_pruned(hub, clock):
    for _ in range(3):
        use(hub, clock, "leaf-0")
    # w · e^(−.01 h) is below .01 after ln(w / .01) / .01 hours: 460 even of the largest weight.
    clock.at += timedelta(hours=460)
    assert ("hub", "leaf-0") in learnt(hub)
    operation = use(hub, clock, "hub")
    assert ("hub", "leaf-0") not in learnt(hub)
    hub.undo(operation.id)
    assert ("hub", "leaf-0") in learnt(hub)


def test_undo_of_the_verdict_that_linked_a_pair_takes_the_link_back(hub, clock):
    for _ in range(2):
        use(hub, clock, "leaf-0")
    operation = use(hub, clock, "leaf-0")
    assert learnt(hub)
    hub.undo(operation.id)
    assert learnt(hub) == {}
    use(hub, clock, "leaf-0")
    assert ("hub", "leaf-0") in learnt(hub)


def test_the_threshold_is_that_of_the_laws():
    assert (PLASTICITY.threshold, PLASTICITY.needed, PLASTICITY.window_days) == (0.15, 3, 7.0)


def test_rules_that_are_active_together_are_linked(memory, clock):
    """The leaf of a hub of three reaches .158 under floop's gains where the hub is wholly active (LAWS §1)."""
    cue = Cue(language="go", file="main.go", task="test", environment="ci", project="kestrel")
    context = {"language": "go", "file": "*.go", "task": "test", "environment": "ci", "project": "kestrel"}
    memory.remember("Write table tests.", kind="behavior", key="hub", when=context)
    for number, text in enumerate(LEAVES):
        memory.remember(text, kind="behavior", key=f"leaf-{number}", when={"editor": f"e{number}"})
        memory.link("hub", f"leaf-{number}", "requires", weight=1.0)
    for _ in range(3):
        assert learnt(memory) == {}
        clock.at += timedelta(hours=1)
        active = memory.active(cue)
        memory.feedback(active.recall_id, confirmed=["hub"])
    assert learnt(memory) == pytest.approx({("hub", f"leaf-{n}"): 0.1 for n in range(3)}, abs=0.02)
