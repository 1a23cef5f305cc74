"""Each profile learns, forgets and links by its own laws: nothing else moves its links."""

from datetime import timedelta

import pytest

from priming.config.profiles import ALL
from priming.types import Cue

CUE = "who signs the nightly builds"
TEXTS = {
    "hub": "Kestrel signs the nightly builds.",
    "gulls": "Gulls nest upon tall cliffs.",
    "honey": "Porridge tastes best with honey.",
    "violin": "Violins sound warmer when old.",
}


@pytest.fixture
def opened(open_memory):
    """A function that opens a memory with a hub and what it leads to, in a profile."""

    def opening(profile):
        memory = open_memory(profile=profile)
        for key, text in TEXTS.items():
            memory.remember(text, key=key)
        memory.link("hub", "gulls", "requires")
        memory.link("gulls", "honey", "requires")
        return memory

    return opening


def weights(memory):
    return {(link.source, link.target, link.relation): link.weight for link in memory.links()}


def judge(memory, clock, tier="conscious", **verdicts):
    clock.at += timedelta(hours=1)
    recall = memory.recall(CUE)
    return memory.feedback(recall.recall_id, tier=tier, **verdicts)


@pytest.mark.parametrize("profile", sorted(ALL))
def test_only_profiles_that_learn_from_co_activation_link_by_it(opened, clock, profile):
    memory = opened(profile)
    for _ in range(6):
        judge(memory, clock, used=["hub"])
    grown = memory.links(relation="co-activated")
    assert bool(grown) == (profile in ("priming", "floop"))


@pytest.mark.parametrize(("tier", "step"), [("conscious", 0.01), ("automatic", 0.00001)])
def test_in_poc_every_verdict_moves_a_link_by_exactly_its_tier_for_ever(opened, clock, tier, step):
    memory = opened("poc")
    memory.links()
    before = weights(memory)
    for number in range(1, 31):
        judge(memory, clock, tier, used=["gulls"])
        now = weights(memory)
        assert now.keys() == before.keys()
        moved = {ends: weight - before[ends] for ends, weight in now.items() if weight != before[ends]}
        assert moved == pytest.approx({("hub", "gulls", "requires"): number * step}, abs=1e-12)


@pytest.mark.parametrize("profile", ["poc", "ethos", "arc", "synapse"])
def test_what_no_law_of_a_profile_fades_is_as_it_was_after_months_and_nights(opened, clock, profile):
    memory = opened(profile)
    before = weights(memory)
    for _ in range(4):
        clock.at += timedelta(days=30)
        memory.sleep(["decay"])
    assert weights(memory) == before


@pytest.mark.parametrize("profile", ["poc", "ethos", "arc", "synapse", "world-weaver"])
def test_links_that_another_profile_learned_carry_nothing_here(opened, profile):
    memory = opened(profile)
    clear = memory.recall(CUE, limit=10)
    memory.link("hub", "violin", "co-activated", 0.9)
    after = memory.recall(CUE, limit=10)
    assert [(hit.memory.key, round(hit.score, 6)) for hit in after.hits] == [
        (hit.memory.key, round(hit.score, 6)) for hit in clear.hits
    ]


def test_a_verdict_follows_the_laws_of_the_profile_that_recalled(opened, clock):
    memory = opened("priming")
    for _ in range(4):
        clock.at += timedelta(hours=1)
        recall = memory.recall(CUE, profile="poc")
        memory.feedback(recall.recall_id, used=["gulls"])
    assert memory.links(relation="co-activated") == []
    for _ in range(3):
        judge(memory, clock, used=["gulls"])
    assert memory.links(relation="co-activated")


@pytest.mark.parametrize("profile", ["floop", "ethos", "arc", "synapse", "world-weaver"])
def test_a_run_moves_links_only_where_the_profile_has_that_law(opened, profile):
    for name, moves in ((profile, False), ("poc", True)):
        memory = opened(name)
        before = weights(memory)
        run = memory.run_start("work")
        memory.recall(CUE, session="work", limit=10)
        memory.run_end(run.id, used=True)
        assert (weights(memory) != before) == moves
        memory.close()


def test_in_poc_a_run_moves_the_links_among_what_it_was_shown_by_the_automatic_step(opened):
    memory = opened("poc")
    for used, total in ((True, 0.00001), (False, 0.0), (False, -0.00001)):
        run = memory.run_start("work")
        memory.recall(CUE, session="work", limit=10)
        memory.run_end(run.id, used=used)
        assert weights(memory)["hub", "gulls", "requires"] == pytest.approx(0.5 + total, abs=1e-12)


@pytest.fixture
def pair(open_memory):
    """Two facts that are linked, and one that is not, in World Weaver."""
    memory = open_memory(profile="world-weaver")
    memory.remember("The billing service keeps invoices in Postgres.", key="kept", kind="fact")
    memory.remember("Invoices are printed by a robot in the cellar.", key="printed", kind="fact")
    memory.remember("The cellar floods in March.", key="flood", kind="fact")
    memory.link("kept", "printed", "relates-to")
    memory.link("printed", "flood", "relates-to")
    return memory


def strength(memory, *ends):
    (link,) = [
        k for k in memory.links("printed") if (k.source, k.target) == ends and k.relation == "relates-to"
    ]
    return link.weight


def together(memory, clock, *keys, days=0.0):
    clock.at += timedelta(days=days, hours=1)
    recall = memory.recall("where are invoices kept and printed?")
    return memory.feedback(recall.recall_id, used=keys)


def test_world_weaver_strengthens_the_link_of_memories_that_were_useful_together(pair, clock):
    expected = 0.5
    for _ in range(5):
        together(pair, clock, "kept", "printed")
        expected += 0.1 * (1 - expected)
        assert strength(pair, "kept", "printed") == pytest.approx(expected, abs=1e-12)
    assert expected == pytest.approx(0.7048, abs=5e-5)
    assert strength(pair, "printed", "flood") == 0.5


def test_what_was_recalled_but_not_useful_strengthens_nothing(pair, clock):
    together(pair, clock, "kept")
    clock.at += timedelta(hours=1)
    recall = pair.recall("where are invoices kept and printed?")
    pair.feedback(recall.recall_id, used=["kept"], not_useful=["printed"])
    assert strength(pair, "kept", "printed") == 0.5


def test_a_pair_counts_once_a_recall_however_its_verdicts_are_told(pair, clock):
    clock.at += timedelta(hours=1)
    recall = pair.recall("where are invoices kept and printed?")
    pair.feedback(recall.recall_id, used=["kept"])
    assert strength(pair, "kept", "printed") == 0.5
    operation = pair.feedback(recall.recall_id, used=["printed"])
    assert strength(pair, "kept", "printed") == pytest.approx(0.55)
    assert "kept – printed 0.50 → 0.55" in operation.message
    again = pair.feedback(recall.recall_id, confirmed=["printed", "kept"])
    assert strength(pair, "kept", "printed") == pytest.approx(0.55)
    pair.undo(again.id)
    pair.undo(operation.id)
    assert strength(pair, "kept", "printed") == 0.5


@pytest.mark.parametrize("nights", [1, 2, 30])
def test_unused_links_fade_by_the_days_since_their_use_however_many_nights_there_are(pair, clock, nights):
    together(pair, clock, "kept", "printed")
    for _ in range(nights):
        clock.at += timedelta(days=60 / nights)
        pair.sleep(["decay"])
    assert strength(pair, "kept", "printed") == pytest.approx(0.55 * (1 - 0.01 * 60))


def test_a_link_that_is_used_between_nights_fades_from_then_on(pair, clock):
    clock.at += timedelta(days=20)
    pair.sleep(["decay"])
    assert strength(pair, "kept", "printed") == pytest.approx(0.5 * 0.8)
    together(pair, clock, "kept", "printed")
    assert strength(pair, "kept", "printed") == pytest.approx(0.4 + 0.1 * 0.6)
    clock.at += timedelta(days=10)
    pair.sleep(["decay"])
    assert strength(pair, "kept", "printed") == pytest.approx(0.46 * 0.9)


def test_a_night_that_is_undone_faded_nothing(pair, clock):
    clock.at += timedelta(days=30)
    night = pair.sleep(["decay"])
    pair.undo(night.operation)
    assert strength(pair, "kept", "printed") == 0.5
    clock.at += timedelta(days=30)
    pair.sleep(["decay"])
    assert strength(pair, "kept", "printed") == pytest.approx(0.5 * 0.4)


def test_a_link_that_faded_to_nothing_stays_and_can_grow_again(pair, clock):
    clock.at += timedelta(days=150)
    pair.sleep(["decay"])
    assert strength(pair, "kept", "printed") == 0.0
    together(pair, clock, "kept", "printed")
    assert strength(pair, "kept", "printed") == pytest.approx(0.1)


def test_names_and_sessions_do_not_fade(open_memory, clock):
    memory = open_memory(profile="world-weaver")
    for text in ("Ada met Kestrel.", "Kestrel met Grace."):
        memory.remember(text, session="talk")
    before = {ends: weight for ends, weight in weights(memory).items() if ends[2] != "similar-to"}
    clock.at += timedelta(days=50)
    memory.sleep(["decay"])
    assert {ends: weight for ends, weight in weights(memory).items() if ends[2] != "similar-to"} == before


def test_learning_that_two_rules_belong_together_never_lowers_what_reaches_either(open_memory, clock):
    """A link that is born between two that are linked already is no second neighbour."""
    memory = open_memory()
    memory.remember("Write table tests.", kind="behavior", key="hub", when={"language": "go"})
    memory.remember("Name each case.", kind="behavior", key="leaf", when={"editor": "vim"})
    memory.link("hub", "leaf", "requires", weight=1.0)
    clock.at += timedelta(hours=1)
    before = {hit.memory.key: hit.components["activation"] for hit in memory.active(Cue(language="go")).hits}
    memory.link("hub", "leaf", "co-activated", weight=0.12)
    after = {hit.memory.key: hit.components["activation"] for hit in memory.active(Cue(language="go")).hits}
    assert all(after[key] >= before[key] for key in before)


@pytest.mark.parametrize("slept_before", [False, True])
@pytest.mark.parametrize(
    "set_by_hand",
    [
        lambda memory: memory.set_strength("oak", "ash", 0.9),
        lambda memory: memory.link("oak", "ash", "helps", 0.9),
        lambda memory: memory.link_many(
            [{"source": "oak", "target": "ash", "relation": "helps", "weight": 0.9}]
        ),
    ],
    ids=["set_strength", "link", "link_many"],
)
def test_a_weight_set_by_hand_fades_from_the_day_on_which_it_was_set(
    open_memory, clock, set_by_hand, slept_before
):
    memory = open_memory(profile="world-weaver")
    memory.remember("Plant oaks in autumn.", key="oak")
    memory.remember("Prune ash trees in winter.", key="ash")
    memory.link("oak", "ash", "helps", 0.8)
    clock.at += timedelta(days=98)
    if slept_before:
        memory.sleep(stages=["decay"])
        clock.at += timedelta(minutes=1)
    set_by_hand(memory)
    for days, weight in ((1, 0.9 * 0.99), (2, 0.9 * 0.98), (50, 0.9 * 0.5)):
        clock.at += timedelta(days=days) - timedelta(days=0 if days == 1 else 1 if days == 2 else 2)
        memory.sleep(stages=["decay"])
        (link,) = memory.links(relation="helps")
        assert link.weight == pytest.approx(weight, abs=1e-9)


def test_a_second_night_seconds_later_stores_no_fading(open_memory, clock):
    memory = open_memory(profile="world-weaver")
    memory.remember("Plant oaks in autumn.", key="oak")
    memory.remember("Prune ash trees in winter.", key="ash")
    memory.link("oak", "ash", "helps", 0.8)
    clock.at += timedelta(days=10)
    assert len(memory.sleep(stages=["decay"]).items) == 1
    for _ in range(20):
        clock.at += timedelta(seconds=9)
        assert memory.sleep(stages=["decay"]).items == ()
    clock.at += timedelta(days=30) - timedelta(seconds=180)
    memory.sleep(stages=["decay"])
    (link,) = memory.links(relation="helps")
    assert link.weight == pytest.approx(0.8 * 0.6, abs=1e-9)
