from dataclasses import replace
from datetime import timedelta

import pytest
from tests.rows import each_row

from priming import Cue, NotFound, ParamError
from priming.config.params.laws import PLASTICITY
from priming.config.params.limits import STORE
from priming.recall import traces

CUE = "who signs the nightly builds"


@pytest.fixture(scope="module")
def model(open_shared):
    """A–B–hit, with a leaf at each of them; the cue matches A alone."""
    texts = {
        "a": "Kestrel signs the nightly builds.",
        "b": "Gulls nest upon tall cliffs.",
        "hit": "Porridge tastes best with honey.",
        "leaf-a": "Zebras gallop across savannah plains.",
        "leaf-b": "Violins sound warmer when old.",
        "leaf-hit": "Glaciers carve deep round valleys.",
    }
    memory = open_shared()
    for key, text in texts.items():
        memory.remember(text, key=key)
    for source, target in (("a", "b"), ("b", "hit"), ("a", "leaf-a"), ("b", "leaf-b"), ("hit", "leaf-hit")):
        memory.link(source, target)
    return memory


@pytest.fixture
def chain(model, copy_of):
    return copy_of(model)


def weights(memory):
    return {(link.source, link.relation, link.target): link.weight for link in memory.links()}


def nodes(memory):
    return {record.key: record.weight for record in memory.list(kinds=["episode"])}


def moved(before, after):
    """What links that were there moved by, those that moved."""
    return {
        f"{link[0]}>{link[2]}": after[link] - weight
        for link, weight in before.items()
        if after[link] != weight
    }


@pytest.mark.parametrize("profile", ["priming", "poc", "ethos"])
def test_not_relevant_weakens_the_links_of_the_path_and_nothing_else(chain, profile):
    recall = chain.recall(CUE, floor=0, profile=profile)
    path = next(hit.path for hit in recall.hits if hit.memory.key == "hit")
    assert [(step.source, step.target) for step in path] == [("a", "b"), ("b", "hit")]
    before, weighed = weights(chain), nodes(chain)
    operation = chain.feedback(recall.recall_id, not_relevant=["hit"])
    assert moved(before, weights(chain)) == pytest.approx({"a>b": -0.01, "b>hit": -0.01}, rel=1e-3)
    assert nodes(chain) == weighed
    assert (operation.kind, operation.source) == ("feedback", "conscious")
    assert operation.message == "not-relevant hit: 2 links weakened: 0.50 → 0.49 each"
    assert operation.reason == f"recall {recall.recall_id} of {CUE!r}"
    chain.undo(operation.id)
    assert weights(chain) == before


def test_used_strengthens_the_path_and_raises_the_hit(chain):
    recall = chain.recall(CUE, floor=0)
    before = weights(chain)
    chain.feedback(recall.recall_id, used=["hit"])
    assert moved(before, weights(chain)) == pytest.approx({"a>b": 0.01, "b>hit": 0.01}, rel=1e-3)
    judged = chain.get("hit")
    assert judged.weight == pytest.approx(0.51)
    assert (judged.use.uses, judged.use.helped, judged.use.followed) == (1, 1, 1)
    assert judged.use.last_used_at == chain.log(limit=1)[0].at
    assert {key: weight for key, weight in nodes(chain).items() if key != "hit"} == dict.fromkeys(
        ("a", "b", "leaf-a", "leaf-b", "leaf-hit"), 0.5
    )


def test_not_useful_lowers_the_hit_and_leaves_the_links(chain):
    recall = chain.recall(CUE, floor=0)
    before = weights(chain)
    chain.feedback(recall.recall_id, not_useful=["hit"])
    assert weights(chain) == before
    assert chain.get("hit").weight == pytest.approx(0.49)
    assert chain.get("hit").use.failed == 1


def test_confirmed_and_overridden_are_counted_and_move_no_weight(chain):
    recall = chain.recall(CUE, floor=0)
    before, weighed = weights(chain), nodes(chain)
    chain.feedback(recall.recall_id, confirmed=["b"], overridden=["hit"])
    assert (chain.get("b").use.confirmed, chain.get("hit").use.overridden) == (1, 1)
    assert (weights(chain), nodes(chain)) == (before, weighed)


def test_two_paths_share_by_what_they_carried(memory):
    for key, text in (
        ("a", "Kestrel signs the nightly builds."),
        ("b", "Gulls nest."),
        ("c", "Zebras gallop."),
    ):
        memory.remember(text, key=key)
    memory.remember("Porridge tastes best with honey.", key="hit")
    # Under poc nothing is normalised: of what A gives, B brings .8 · .5 and C .4 · .5 to the hit. The cue is a
    # little like B and C themselves (a hashed vector is never quite at right angles), hence the tolerance.
    for source, target, weight in (("a", "b", 0.8), ("a", "c", 0.4), ("b", "hit", 0.5), ("c", "hit", 0.5)):
        memory.link(source, target, weight=weight)
    before = weights(memory)
    memory.feedback(memory.recall(CUE, profile="poc").recall_id, not_relevant=["hit"])
    expected = {"a>b": -0.01, "b>hit": -0.01, "a>c": -0.005, "c>hit": -0.005}
    assert moved(before, weights(memory)) == pytest.approx(expected, rel=0.08)


def test_all_links_between_two_memories_of_the_path_move(memory):
    memory.remember("Kestrel signs the nightly builds.", key="a")
    memory.remember("Gulls nest upon tall cliffs.", key="b")
    memory.link("a", "b", weight=0.4)
    memory.link("b", "a", weight=0.6)
    memory.link("a", "b", "conflicts", weight=0.5)
    memory.feedback(memory.recall(CUE, profile="poc").recall_id, not_relevant=["b"])
    between = {key: weight for key, weight in weights(memory).items() if {key[0], key[2]} == {"a", "b"}}
    assert between == pytest.approx(
        {("a", "similar-to", "b"): 0.39, ("b", "similar-to", "a"): 0.59, ("a", "conflicts", "b"): 0.5}
    )


def test_a_direct_match_that_is_not_relevant_moves_nothing_and_its_cue_is_recorded(chain):
    recall = chain.recall(CUE, floor=0)
    assert recall.hits[0].memory.key == "a"
    before, weighed = weights(chain), nodes(chain)
    operation = chain.feedback(recall.recall_id, not_relevant=["a"])
    assert (weights(chain), nodes(chain)) == (before, weighed)
    assert (
        operation.message
        == "not-relevant a: the cue itself matched it, so no link moved; the cue is recorded"
    )
    (change,) = operation.changes
    assert change.table == "verdicts"
    assert change.after["cue"] == {"text": CUE}


def test_without_a_recall_the_links_of_the_memory_move_and_the_answer_says_so(chain):
    before = weights(chain)
    operation = chain.feedback(not_relevant=["b"])
    touching = {f"{s}>{t}" for s, _, t in before if "b" in (s, t)}
    assert moved(before, weights(chain)) == pytest.approx(dict.fromkeys(touching, -0.01))
    assert "no stored recall returned it" in operation.message


def test_without_a_recall_id_the_latest_recall_that_brought_it_up_is_judged(chain, clock):
    first = chain.recall(CUE, floor=0, session="one")
    clock.at += timedelta(minutes=1)
    second = chain.recall(CUE, floor=0, session="two")
    clock.at += timedelta(minutes=1)
    chain.recall("zzz qqq", floor=1.0, session="two")
    assert second.recall_id in chain.feedback(used=["hit"]).reason
    assert first.recall_id in chain.feedback(used=["hit"], session="one").reason


def test_a_recall_is_judged_after_a_restart(open_memory, url):
    first = open_memory(url)
    first.remember("Kestrel signs the nightly builds.", key="a")
    first.remember("Gulls nest upon tall cliffs.", key="b")
    first.link("a", "b")
    recall = first.recall(CUE, floor=0)
    first.close()
    again = open_memory(url)
    again.feedback(recall.recall_id, not_relevant=["b"])
    assert weights(again)["a", "similar-to", "b"] == pytest.approx(0.49)


def test_credit_is_for_the_graph_that_was_walked_not_for_the_one_that_there_is(chain):
    recall = chain.recall(CUE, floor=0)
    chain.link("leaf-a", "hit", weight=0.9)
    chain.set_strength("a", "b", 0.9)
    before = weights(chain)
    chain.feedback(recall.recall_id, not_relevant=["hit"])
    assert moved(before, weights(chain)) == pytest.approx({"a>b": -0.01, "b>hit": -0.01}, rel=1e-3)


def test_a_link_that_is_gone_is_passed_over(chain):
    recall = chain.recall(CUE, floor=0)
    new = [entry for entry in chain.log(key="b") if entry.kind == "link" and "hit" in str(entry.changes)]
    chain.undo(new[0].id)
    before = weights(chain)
    chain.feedback(recall.recall_id, not_relevant=["hit"])
    assert moved(before, weights(chain)) == pytest.approx({"a>b": -0.01}, rel=1e-3)


def test_a_verdict_counts_once_for_each_recall_and_memory(chain):
    recall = chain.recall(CUE, floor=0)
    first = chain.feedback(recall.recall_id, used=["hit"])
    before, operations = weights(chain), chain.stats().operations
    again = chain.feedback(recall.recall_id, used=["hit"])
    assert (again.id, chain.stats().operations, weights(chain)) == (first.id, operations, before)
    assert "nothing changed" in again.message
    chain.feedback(chain.recall(CUE, floor=0).recall_id, used=["hit"])
    assert weights(chain) != before


def test_of_verdicts_that_were_given_in_part_the_rest_counts(chain):
    recall = chain.recall(CUE, floor=0)
    chain.feedback(recall.recall_id, used=["b"])
    chain.feedback(recall.recall_id, used=["b", "hit"])
    assert [chain.get(key).use.uses for key in ("b", "hit")] == [1, 1]


def test_a_verdict_whose_undo_was_asked_for_can_be_given_anew(chain):
    recall = chain.recall(CUE, floor=0)
    before = weights(chain)
    chain.undo(chain.feedback(recall.recall_id, not_relevant=["hit"]).id)
    assert weights(chain) == before
    chain.feedback(recall.recall_id, used=["hit"])
    assert moved(before, weights(chain)) == pytest.approx({"a>b": 0.01, "b>hit": 0.01}, rel=1e-3)


def test_the_automatic_tier_moves_a_thousandth_of_the_conscious_one(chain):
    recall = chain.recall(CUE, floor=0)
    before = weights(chain)
    operation = chain.feedback(recall.recall_id, used=["hit"], tier="automatic")
    assert moved(before, weights(chain)) == pytest.approx({"a>b": 1e-5, "b>hit": 1e-5}, rel=1e-3)
    assert operation.source == "automatic"


@pytest.mark.parametrize("verdict", ["overridden", "not_relevant", "not_useful"])
def test_silence_takes_nothing_back_that_was_said_in_the_session(chain, verdict):
    operation = chain.feedback(chain.recall(CUE, floor=0, session="s").recall_id, **{verdict: ["hit"]})
    again = chain.feedback(
        chain.recall(CUE, floor=0, session="s").recall_id, confirmed=["hit"], tier="automatic"
    )
    assert again.id == operation.id
    assert verdict.replace("_", "-") in again.message
    assert chain.get("hit").use.followed == 0
    chain.feedback(chain.recall(CUE, floor=0, session="t").recall_id, confirmed=["hit"], tier="automatic")
    assert chain.get("hit").use.followed == 1


def test_an_automatic_confirmation_counts_as_followed_once_a_session(chain):
    for _ in range(2):
        chain.feedback(chain.recall(CUE, floor=0, session="s").recall_id, confirmed=["hit"], tier="automatic")
    chain.feedback(chain.recall(CUE, floor=0, session="t").recall_id, confirmed=["hit"], tier="automatic")
    use = chain.get("hit").use
    assert (use.confirmed, use.followed) == (0, 2)


@pytest.mark.parametrize(
    ("weight", "verdict", "after"), [(0.052, "not_relevant", 0.05), (0.945, "used", 0.95)]
)
def test_weights_stay_within_their_bounds(memory, weight, verdict, after):
    memory.remember("Kestrel signs the nightly builds.", key="a")
    memory.remember("Gulls nest upon tall cliffs.", key="b")
    memory.link("a", "b", weight=weight)
    memory.feedback(memory.recall(CUE, profile="poc").recall_id, **{verdict: ["b"]})
    assert weights(memory)["a", "similar-to", "b"] == pytest.approx(after)


def test_praise_does_not_lower_a_link_of_full_weight(memory):
    memory.remember("Kestrel signs the nightly builds.", key="a")
    memory.remember("Gulls nest upon tall cliffs.", key="b")
    memory.link("a", "b", weight=1.0)
    memory.feedback(memory.recall(CUE, floor=0).recall_id, used=["b"])
    assert weights(memory)["a", "similar-to", "b"] == 1.0


@pytest.mark.parametrize("query", [{"spread": False}, {"ablate": ["spread"]}])
@pytest.mark.parametrize("profile", ["priming", "floop", "synapse", "ethos", "poc"])
def test_a_recall_without_spreading_brings_up_direct_matches_only(chain, profile, query):
    recall = chain.recall(CUE, floor=0, profile=profile, limit=100, **query)
    assert [hit.memory.key for hit in recall.hits if hit.path] == []
    before = weights(chain)
    operation = chain.feedback(recall.recall_id, not_relevant=[recall.hits[0].memory.key])
    assert weights(chain) == before
    assert "the cue itself matched it" in operation.message


def test_plain_recalls_change_no_weight(chain):
    before, weighed, operations = weights(chain), nodes(chain), chain.stats().operations
    for number in range(100):
        chain.recall(CUE, floor=0, session=f"s{number % 7}", profile=("priming", "floop")[number % 2])
    assert (weights(chain), nodes(chain), chain.stats().operations) == (before, weighed, operations)


def test_a_flow_that_is_no_longer_kept_is_said(chain, monkeypatch):
    monkeypatch.setattr(traces, "STORE", replace(STORE, flow_count=3))
    recall = chain.recall(CUE, floor=0)
    for _ in range(3):
        chain.recall("porridge")
    operation = chain.feedback(recall.recall_id, not_relevant=["hit"])
    assert "the flow of that recall is no longer stored" in operation.message


@each_row(
    ("wrong", "error", "message"),
    [
        ({}, ParamError, "at least one key"),
        ({"used": "hit"}, ParamError, "must be a list of keys"),
        ({"used": ["nobody"]}, NotFound, "nobody"),
        ({"used": ["hit"], "not_relevant": ["hit"]}, ParamError, "must not be among not_relevant"),
        ({"used": ["hit"], "not_useful": ["hit"]}, ParamError, "must not be among not_useful"),
        ({"confirmed": ["hit"], "overridden": ["hit"]}, ParamError, "must not be among overridden"),
        ({"used": ["hit"], "tier": "manual"}, ParamError, "automatic, conscious"),
        ({"used": ["hit"], "tier": "loud"}, ParamError, "automatic, conscious"),
        ({"used": [""]}, ParamError, "key"),
        ({"used": [3]}, ParamError, "text"),
    ],
)
def test_what_is_wrong_with_a_verdict_is_said_and_nothing_changes(chain, wrong, error, message):
    recall = chain.recall(CUE, floor=0)
    before, operations = weights(chain), chain.stats().operations
    with pytest.raises(error, match=message):
        chain.feedback(recall.recall_id, **wrong)
    assert (weights(chain), chain.stats().operations) == (before, operations)


def test_a_recall_of_another_namespace_is_not_found(open_memory, url):
    ours, theirs = open_memory(url, namespace="ours"), open_memory(url, namespace="theirs")
    for memory in (ours, theirs):
        memory.remember("Kestrel signs the nightly builds.", key="a")
    recall = theirs.recall(CUE, floor=0)
    with pytest.raises(NotFound, match=recall.recall_id):
        ours.feedback(recall.recall_id, used=["a"])
    assert ours.get("a").use.uses == 0


def test_an_expired_recall_is_not_found_and_the_error_says_how_long_they_are_kept(chain, clock):
    recall = chain.recall(CUE, floor=0)
    clock.at += timedelta(days=STORE.trace_days + 1)
    chain.recall(CUE, floor=0)
    with pytest.raises(NotFound, match="30 days"):
        chain.feedback(recall.recall_id, used=["hit"])


def test_a_recall_expires_even_if_nothing_is_recalled_after_it(chain, clock):
    recall = chain.recall(CUE, floor=0)
    clock.at += timedelta(days=STORE.trace_days, seconds=1)
    with pytest.raises(NotFound, match="30 days"):
        chain.feedback(recall.recall_id, used=["hit"])
    assert "no stored recall" in chain.feedback(used=["hit"]).message


def test_a_verdict_that_was_imported_is_not_given_again(open_memory, tmp_path):
    texts = {"a": "Kestrel signs the nightly builds.", "b": "Gulls nest upon tall cliffs."}
    theirs, ours = open_memory(), open_memory()
    for key, text in texts.items():
        theirs.remember(text, key=key)
    theirs.feedback(theirs.recall(CUE, session="s", floor=0).recall_id, confirmed=["a"], tier="automatic")
    theirs.export(tmp_path / "theirs.jsonl")
    ours.remember("Porridge tastes best with honey.")
    ours.import_(tmp_path / "theirs.jsonl")
    recall = ours.recall(CUE, session="s", floor=0)
    operation = ours.feedback(recall.recall_id, confirmed=["a"], tier="automatic")
    assert operation.kind == "import"
    assert "nothing changed; a: confirmed already" in operation.message
    assert ours.get("a").use.followed == 1


def test_links_that_are_all_gone_are_said(chain):
    recall = chain.recall(CUE, floor=0)
    for entry in chain.log():
        if entry.kind == "link":
            chain.undo(entry.id)
    operation = chain.feedback(recall.recall_id, not_relevant=["hit"])
    assert operation.message == "not-relevant hit: the links that led to it no longer exist, so none moved"


def test_of_many_small_ways_none_is_blamed_and_the_answer_says_so(memory):
    # 60 ways of equal links: each brings about a sixtieth, well below the floor of a twentieth.
    memory.remember("Kestrel signs the nightly builds.", key="a")
    memory.remember("Porridge tastes best with honey.", key="hit")
    for number in range(60):
        memory.remember(f"Gulls{number}x nest{number}x.", key=f"way-{number}")
        memory.link("a", f"way-{number}")
        memory.link(f"way-{number}", "hit")
    recall = memory.recall(CUE, floor=0)
    assert next(hit for hit in recall.hits if hit.memory.key == "hit").path
    before = weights(memory)
    operation = memory.feedback(recall.recall_id, not_relevant=["hit"])
    assert weights(memory) == before
    assert operation.message == (
        "not-relevant hit: the links that led to it each contributed too little, so none moved"
    )


def test_a_memory_that_the_recall_did_not_bring_up_is_refused(chain):
    recall = chain.recall(CUE, floor=0, limit=1)
    with pytest.raises(ParamError, match="must be a memory that recall"):
        chain.feedback(recall.recall_id, used=["hit"])


def test_a_purged_memory_is_not_found(chain):
    recall = chain.recall(CUE, floor=0)
    chain.purge("hit")
    before = weights(chain)
    with pytest.raises(NotFound):
        chain.feedback(recall.recall_id, used=["hit"])
    assert weights(chain) == before


def test_a_memory_whose_remember_was_undone_is_not_found(chain):
    stored = chain.remember("Owls hoot at the builds by night.", key="owl")
    recall = chain.recall("owls hoot")
    chain.undo(stored.operation)
    with pytest.raises(NotFound, match="owl"):
        chain.feedback(recall.recall_id, used=["owl"])


def test_an_older_verdict_is_undone_under_a_newer_one_and_leaves_what_that_one_gave(chain):
    def weights():
        return {(x.source, x.relation, x.target): x.weight for x in chain.links()}

    start = weights()
    first = chain.feedback(chain.recall(CUE, floor=0).recall_id, used=["hit"])
    once = weights()
    chain.feedback(chain.recall(CUE, floor=0).recall_id, used=["hit"])
    twice, helped = weights(), chain.get("hit").use.helped
    chain.undo(first.id)
    assert chain.get("hit").use.helped == helped - 1
    left = {name: weight - (once[name] - start[name]) for name, weight in twice.items()}
    assert weights() == pytest.approx(left)
    assert left != twice


def test_ten_verdicts_turn_the_wrong_route_into_the_last_and_the_right_one_into_the_first(memory, clock):
    """A question leads to the wrong place; told so ten times, to the right one; taken back, all is as it was."""
    memory.remember("Kestrel signs the nightly builds.", key="kestrel")
    memory.remember("Gulls nest upon tall cliffs.", key="wrong")
    memory.remember("Porridge tastes best with honey.", key="right")
    memory.remember("Violins sound warmer when old.", key="other")
    for target, weight in (("wrong", 0.55), ("other", 0.52), ("right", 0.50)):
        memory.link("kestrel", target, weight=weight)

    def led_to():
        recall = memory.recall(CUE, floor=0)
        return recall, [hit.memory.key for hit in recall.hits if hit.path]

    assert led_to()[1] == ["wrong", "other", "right"]
    history = [weights(memory)]
    operations = []
    for _ in range(10):
        clock.at += timedelta(minutes=1)
        recall, _ = led_to()
        operations.append(memory.feedback(recall.recall_id, used=["right"], not_relevant=["wrong"]))
        history.append(weights(memory))
    assert led_to()[1] == ["right", "other", "wrong"]
    whole = 10 * PLASTICITY.conscious
    assert 0.55 - whole - 1e-9 <= history[-1]["kestrel", "similar-to", "wrong"] < 0.55 - 0.9 * whole
    for operation in reversed(operations):
        assert weights(memory) == history.pop()
        memory.undo(operation.id)
    assert weights(memory) == history.pop()
    assert led_to()[1] == ["wrong", "other", "right"]
    assert memory.get("right").use.uses == 0


def test_a_direct_match_that_was_not_relevant_yields_when_the_same_is_asked_again(memory):
    memory.remember("The nightly builds are signed with a key.", key="first")
    memory.remember("Nightly builds are kept for a week.", key="second")
    recall = memory.recall("which key signs the nightly builds", floor=0)
    assert [hit.memory.key for hit in recall.hits] == ["first", "second"]
    operation = memory.feedback(recall.recall_id, not_relevant=["first"], used=["second"])
    again = memory.recall("which key signs the nightly builds", floor=0)
    assert [hit.memory.key for hit in again.hits] == ["second", "first"]
    assert again.hits[0].components["feedback"] == -again.hits[1].components["feedback"] > 0.0
    memory.undo(operation.id)
    assert [hit.score for hit in memory.recall("which key signs the nightly builds", floor=0).hits] == [
        hit.score for hit in recall.hits
    ]


def test_rules_are_judged_by_the_recall_that_activated_them(memory):
    memory.learn("Always run the linter before a commit.", cue=Cue(language="python"))
    memory.learn("Name tests as sentences.", cue=Cue(language="python"))
    cue = Cue(language="python")
    first = memory.active(cue)
    linter, names = (
        next(h.memory.key for h in first.hits if word in h.memory.content) for word in ("linter", "tests")
    )
    for _ in range(3):
        memory.feedback(memory.active(cue).recall_id, confirmed=[linter], overridden=[names])
    after = {hit.memory.key: hit.components["feedback"] for hit in memory.active(cue).hits}
    assert (after[linter], after[names]) == (1.0, 0.0)
    assert [hit.memory.key for hit in memory.active(cue).hits] == [linter, names]


def test_rules_of_another_store_are_judged_in_that_store(open_memory, tmp_path):
    ours, everywhere = open_memory(), open_memory(f"sqlite:///{tmp_path}/global.db")
    rule = everywhere.learn("Never push to main on a Friday.")
    active = ours.active(Cue(task="push"), beside={"global": everywhere})
    assert [hit.origin for hit in active.hits] == ["global"]
    everywhere.feedback(active.recall_id, confirmed=[rule.key])
    assert everywhere.get(rule.key).use.confirmed == 1


def test_what_was_counted_automatically_can_be_meant_and_counts_once(chain):
    recall = chain.recall(CUE, floor=0)
    before = weights(chain)
    chain.feedback(recall.recall_id, used=["hit"], confirmed=["b"], tier="automatic")
    operation = chain.feedback(recall.recall_id, used=["hit"], confirmed=["b"])
    assert moved(before, weights(chain)) == pytest.approx(
        {"a>b": 0.01 + 1e-5, "b>hit": 0.01 + 1e-5}, rel=1e-3
    )
    use = chain.get("hit").use
    assert (use.uses, use.helped, use.followed) == (1, 1, 1)
    use = chain.get("b").use
    assert (use.uses, use.confirmed, use.followed) == (1, 1, 0)
    assert chain.feedback(recall.recall_id, used=["hit"], tier="automatic").id == operation.id
    chain.undo(operation.id)
    assert moved(before, weights(chain)) == pytest.approx({"a>b": 1e-5, "b>hit": 1e-5}, rel=1e-3)


def test_an_unknown_recall_is_refused_with_the_latest_recalls(chain):
    recall = chain.recall(CUE, floor=0)
    with pytest.raises(NotFound, match=f"the latest: {recall.recall_id}"):
        chain.feedback("no-such-recall", used=["hit"])
