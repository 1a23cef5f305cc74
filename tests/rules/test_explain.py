from datetime import timedelta

import pytest

from priming import Cue, NotFound, ParamError
from priming.results import Step
from priming.rules.results import Predicate


@pytest.fixture
def chain(memory):
    """a → b → c by links of one's own; only the words of a are asked for."""
    for key, text in (("a", "we paint walls"), ("b", "the sea is wide"), ("c", "bread and butter")):
        memory.remember(text, key=key)
    memory.link("a", "b", "requires", 0.8)
    memory.link("b", "c", "requires", 0.6)
    return memory


def query(memory, text="paint walls", **more):
    return memory.recall(text, ablate=["meaning"], floor=0, **more)


def test_what_the_cue_matched_is_anchored_and_says_so(chain, clock):
    recall = query(chain, session="s")
    why = chain.why("a")
    assert why.memory == chain.get("a")
    assert (why.route.recall_id, why.route.session, why.route.at) == (recall.recall_id, "s", clock.at)
    assert (why.route.rank, why.route.score, why.route.path) == (1, recall.hits[0].score, ())
    assert why.route.cue == {"text": "paint walls"}
    assert why.reasons[:2] == (
        "ranked 1 of 3 in the recall of 2024-05-17 for 'paint walls'",
        "anchored directly: the cue itself matched it",
    )


def test_what_links_brought_tells_its_path_and_the_share_and_weight_of_each(chain):
    hit = query(chain).hits[2]
    assert hit.memory.key == "c"
    why = chain.why("c")
    assert why.route.path == hit.path
    assert [(item.source, item.relation, item.target) for item in why.route.path] == [
        ("a", "requires", "b"),
        ("b", "requires", "c"),
    ]
    assert "was reached over 2 links from a" in why.reasons
    shares = {ends: (share, weight) for *ends_, share, weight in why.route.shares for ends in [tuple(ends_)]}
    # All that came to c came over both links, which is why the shares are the largest there are.
    assert {ends[0::2] for ends in shares} == {("a", "b"), ("b", "c")}
    assert [shares[ends][1] for ends in sorted(shares)] == [0.8, 0.6]
    assert all(share > 0.5 for share, _ in shares.values())


def test_the_weight_of_a_link_is_that_of_today(chain):
    query(chain)
    chain.set_strength("b", "c", 0.3)
    assert {share[0]: share[4] for share in chain.why("c").route.shares} == {"a": 0.8, "b": 0.3}


def test_one_recall_of_several_can_be_asked_for(chain):
    first = query(chain)
    second = query(chain, "walls of bread")
    assert chain.why("a").route.recall_id == second.recall_id
    assert chain.why("a", recall_id=first.recall_id).route.recall_id == first.recall_id


def test_a_recall_that_did_not_bring_it_up_says_so(chain):
    recall = query(chain, limit=1)
    why = chain.why("c", recall_id=recall.recall_id)
    assert why.route is None
    assert why.reasons[0] == "the recall of 2024-05-17 for 'paint walls' did not return it"
    assert chain.why("c").reasons[0] == "was never returned: it is not a hit of any stored recall"


def test_the_path_is_told_after_a_restart_too(open_memory, url):
    first = open_memory(url)
    first.remember("we paint walls", key="a")
    first.remember("the sea is wide", key="b")
    first.link("a", "b", "requires", 0.8)
    path = query(first).hits[1].path
    first.close()
    assert open_memory(url).why("b").route.path == path
    assert [(item.source, item.target) for item in path] == [("a", "b")]
    assert isinstance(path[0], Step)


def test_conditions_are_held_against_the_cue_else_against_that_of_the_recall(memory):
    when = {"language": ["go", "rust"], "task": "release", "project": "kite"}
    memory.remember("never skip tests", key="a", kind="behavior", when=when)
    query(memory, "skip tests", cue=Cue(language="Go"))
    assert memory.why("a").predicates == (
        Predicate("language", ["go", "rust"], "Go", "confirmed"),
        Predicate("task", "release", None, "absent"),
        Predicate("project", "kite", None, "absent"),
    )
    assert "the cue confirms 1 of 3 conditions" in memory.why("a").reasons
    why = memory.why("a", cue=Cue(language="python", task="a release"))
    assert [predicate.finding for predicate in why.predicates] == ["contradicted", "confirmed", "absent"]
    assert (
        "the cue contradicts its condition language = ['go', 'rust']: it cannot be a hit there" in why.reasons
    )


def test_rivals_are_named_with_the_reason(memory):
    for key, when in (
        ("narrow", {"language": "go", "task": "test"}),
        ("wide", {"language": "go"}),
        ("other", {}),
    ):
        memory.remember(f"{key} rule", key=key, kind="behavior", when=when)
    memory.link("narrow", "wide", "overrides")
    memory.link("other", "wide", "overrides")
    memory.link("narrow", "other", "conflicts")
    narrow, wide, other = (memory.why(key) for key in ("narrow", "wide", "other"))
    assert (narrow.overrides, wide.overridden_by, narrow.conflicts, other.conflicts) == (
        ("wide",),
        ("narrow", "other"),
        ("other",),
        ("narrow",),
    )
    assert "overrides wide because it is more specific" in narrow.reasons
    assert "overrides wide by a link" in other.reasons
    assert "is overridden by narrow wherever both apply" in wide.reasons
    assert "conflicts with other: only the more specific of the two is returned" in narrow.reasons
    memory.forget("narrow")
    assert "is overridden by narrow wherever both apply" not in memory.why("wide").reasons
    assert memory.why("wide").overridden_by == ("narrow", "other")


def test_a_fact_names_the_one_that_gives_another_value_and_which_comes_first(memory):
    memory.remember("The fee for a filling is 80 euros.", key="old")
    memory.remember("The fee for a filling is 95 euros.", key="new")
    for key, other in (("old", "new"), ("new", "old")):
        assert f"conflicts with {other}: the later comes first" in memory.why(key).reasons


def test_a_behavior_names_the_correction_that_it_was_learned_from(memory):
    learned = memory.learn("never push to main", wrong="pushed to main", cue=Cue(language="go"))
    why = memory.why(learned.key)
    assert why.learned_from == (learned.correction,)
    assert f"learned from {learned.correction}" in why.reasons
    assert memory.why(learned.correction).learned_from == ()


def test_verdicts_are_listed_and_what_they_did_is_said(chain, clock):
    recall = query(chain)
    chain.feedback(recall.recall_id, used=["a"])
    clock.at += timedelta(days=1)
    again = query(chain)
    chain.feedback(again.recall_id, used=["a"])
    why = chain.why("a")
    assert [(verdict.key, verdict.verdict, verdict.recall_id) for verdict in why.verdicts] == [
        ("a", "used", recall.recall_id),
        ("a", "used", again.recall_id),
    ]
    assert "used 2 times, last on 2024-05-18" in why.reasons
    # Each adds .01 to the weight of .5 that a memory starts with.
    assert "weight raised from 0.5 to 0.52 by 2 verdicts" in why.reasons
    assert chain.why("c").verdicts == ()
    assert "was never used" in chain.why("c").reasons


def test_what_is_out_of_recall_says_what_stands_for_it(chain):
    chain.deprecate("a", by="b")
    assert chain.why("a").reasons[0] == (
        "it is deprecated, replaced by b: no recall returns it until it is restored"
    )
    chain.forget("c")
    assert chain.why("c").reasons[0] == "it is forgotten: no recall returns it until it is restored"


def test_what_holds_only_later_says_from_when_on_a_recall_returns_it(memory, clock):
    memory.remember("The fee is 95 euros.", key="fee", valid_from=clock.at + timedelta(days=2))
    later = "it holds from 2024-05-19 on: no recall of the present returns it before"
    assert memory.why("fee").reasons[0] == later
    clock.at += timedelta(days=2)
    assert later not in memory.why("fee").reasons


def test_a_rule_that_may_not_instruct_says_so(memory):
    memory.remember("never push", key="theirs", kind="behavior", trust="tool")
    memory.remember("never pull", key="ours", kind="behavior")
    message = "its trust is 'tool': it is shown as quoted data, never as a rule"
    assert message in memory.why("theirs").reasons
    assert message not in memory.why("ours").reasons


def test_the_latest_operations_that_touched_it_are_listed_newest_first(chain):
    chain.forget("c")
    chain.set_strength("b", "c", 0.1)
    assert [entry.kind for entry in chain.why("c").operations] == [
        "set-strength",
        "forget",
        "link",
        "remember",
    ]
    assert [entry.kind for entry in chain.why("a").operations] == ["link", "remember"]
    for i in range(20):
        chain.set_strength("b", "c", 0.1 + i / 100)
    assert len(chain.why("c").operations) == 10


def test_why_changes_nothing(chain):
    query(chain)
    before = (chain.stats(), chain.links(), chain.list(status=None))
    chain.why("c", cue=Cue(language="go"))
    assert (chain.stats(), chain.links(), chain.list(status=None)) == before


def test_what_is_not_there_is_named(chain):
    with pytest.raises(NotFound, match="there is no memory 'd'"):
        chain.why("d")
    with pytest.raises(NotFound, match="there is no recall 'none'"):
        chain.why("a", recall_id="none")
    with pytest.raises(ParamError, match="cue = 'go': must be a Cue"):
        chain.why("a", cue="go")


def test_a_recall_of_another_namespace_is_not_found(open_memory, url):
    ours, theirs = open_memory(url, namespace="ours"), open_memory(url, namespace="theirs")
    for item in (ours, theirs):
        item.remember("we paint walls", key="a")
    recall = query(ours)
    with pytest.raises(NotFound, match="there is no recall"):
        theirs.why("a", recall_id=recall.recall_id)
    assert theirs.why("a").route is None


def test_names_and_sessions_can_be_asked_about(memory):
    memory.remember("Then Zed painted.", session="s")
    assert memory.why("entity:zed").reasons[0].startswith("was never returned")
