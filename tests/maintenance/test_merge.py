from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from priming import Conflict, Cue, HashedEmbedder, Memory, NotFound, ParamError
from priming.config.words import KINDS
from priming.core.similarity import ComparedBehaviour, likeness
from priming.graph.merge_plan import MergePlan
from priming.maintenance.replacing import near_duplicates
from priming.rules.results import NearDuplicates
from priming.storage.rows import LinkRow, MemoryRow, RowChange


@pytest.fixture
def three(memory):
    """Three memories that no rule links."""
    for key, text in (("a", "we paint walls"), ("b", "the sea is wide"), ("c", "bread and butter")):
        memory.remember(text, key=key)
    return memory


def stand(memory, key, **state):
    """Give a memory counts and a standing, as verdicts would over time."""
    with memory.writing() as now:
        (row,) = memory.store.rows(memory.namespace, MemoryRow, ids=[memory.get(key).id])
        memory.write("stand", now, [RowChange(row, replace(row, **state))])


def rules(memory, *texts, **more):
    """Behaviours with the keys a, b, c, …"""
    for key, text in zip("abcdefgh", texts, strict=False):
        memory.remember(text, key=key, kind="behavior", **more)


def everything(memory):
    return memory.list(kinds=KINDS, status=None), memory.links()


def weights(memory, *args, **more):
    return {(link.source, link.relation, link.target): link.weight for link in memory.links(*args, **more)}


def recalled(memory, text="walls"):
    hits = memory.recall(text).hits
    return [hit.memory.key for hit in hits if hit.components.get("words") or hit.path]


def refused(memory, error, message, verb, *args, **more):
    """An error that says so, and leaves everything as it was."""
    before, count = everything(memory), memory.stats().operations
    with pytest.raises(error, match=message):
        verb(*args, **more)
    assert (everything(memory), memory.stats().operations) == (before, count)


# Deprecate


def test_what_is_deprecated_is_in_no_recall_and_keeps_its_text(three):
    operation = three.deprecate("a", reason="the walls are glass now")
    assert (operation.kind, operation.reason, operation.message) == (
        "deprecate",
        "the walls are glass now",
        None,
    )
    assert (three.get("a").status, three.get("a").content) == ("deprecated", "we paint walls")
    assert recalled(three) == []
    assert [record.key for record in three.list(status="deprecated")] == ["a"]


def test_a_successor_is_linked_and_named(three):
    operation = three.deprecate("a", by="b")
    assert operation.message == '"b" replaces it'
    assert weights(three) == {("a", "deprecated-to", "b"): 0.5}
    assert three.validate() == []


@pytest.mark.parametrize("by", [None, "b"])
def test_undo_of_a_deprecate_brings_back_exactly_what_was(three, by):
    before = everything(three)
    three.undo(three.deprecate("a", by=by).id)
    assert everything(three) == before
    assert recalled(three) == ["a"]


def test_a_link_to_the_successor_that_is_there_already_stays_as_it_is(three):
    three.link("a", "b", "deprecated-to", 0.9)
    assert [finding.rule for finding in three.validate()] == ["replaced-but-active"]
    before = everything(three)
    operation = three.deprecate("a", by="b")
    assert weights(three) == {("a", "deprecated-to", "b"): 0.9}
    assert three.validate() == []
    three.undo(operation.id)
    assert everything(three) == before


def test_only_what_is_active_is_deprecated_and_only_for_what_is_active(three):
    three.deprecate("a")
    three.forget("b")
    refused(three, Conflict, "'a' is deprecated already: restore makes it active again", three.deprecate, "a")
    refused(three, Conflict, "'b' is forgotten already: restore makes it active again", three.deprecate, "b")
    refused(three, Conflict, "'a' is deprecated already", three.deprecate, "c", by="a")
    refused(three, NotFound, "there is no memory 'd'", three.deprecate, "d")
    refused(three, NotFound, "there is no memory 'd'", three.deprecate, "c", by="d")
    refused(three, ParamError, "by = 'c': must differ from the memory", three.deprecate, "c", by="c")
    refused(three, ParamError, "reason = 'two", three.deprecate, "c", reason="two\nlines")


# Restore


def test_what_was_forgotten_or_deprecated_comes_back(three):
    three.forget("a")
    assert three.restore("a").message == "it was forgotten"
    assert recalled(three) == ["a"]
    three.deprecate("a", by="b")
    operation = three.restore("a")
    assert operation.message == 'it was deprecated; its deprecated-to link to "b" is removed'
    assert (three.get("a").status, three.links()) == ("active", [])
    assert recalled(three) == ["a"]


def test_what_was_merged_comes_back_and_leaves_what_was_merged(three):
    stand(three, "a", uses=2)
    three.merge("a", "b")
    operation = three.restore("a")
    assert operation.message == (
        'it was merged; its merged-into link to "b" is removed; what was merged stays there'
    )
    assert [three.get(key).use.uses for key in "ab"] == [2, 2]
    assert three.links() == []
    assert three.validate() == []


def test_undo_of_a_restore_brings_back_exactly_what_was(three):
    three.deprecate("a", by="b")
    before = everything(three)
    three.undo(three.restore("a").id)
    assert everything(three) == before


def test_what_is_active_or_was_erased_is_not_restored(three):
    refused(three, Conflict, "'a' is active already: deprecate or forget it", three.restore, "a")
    three.purge("a")
    refused(three, NotFound, "there is no memory 'a'", three.restore, "a")


# Merge


def test_uses_add_up_and_the_higher_standing_counts(three, clock):
    stand(three, "a", uses=2, helped=1, failed=1, confirmed=4, followed=2, overridden=1, priority=3.0,
          confidence=0.6, last_used_at=clock.at)  # fmt: skip
    stand(three, "b", uses=3, helped=3, confirmed=1, followed=3, priority=1.0, confidence=0.8,
          last_used_at=clock.at - timedelta(days=1))  # fmt: skip
    operation = three.merge("a", "b")
    survivor = three.get("b")
    use = survivor.use
    assert (use.uses, use.helped, use.failed, use.confirmed, use.followed, use.overridden) == (
        5,
        4,
        1,
        5,
        5,
        1,
    )
    assert (use.last_used_at, survivor.priority, survivor.confidence) == (clock.at, 3.0, 0.8)
    assert (survivor.content, survivor.weight, survivor.version) == ("the sea is wide", 0.5, 1)
    assert (three.get("a").status, three.get("a").use.uses) == ("merged", 2)
    assert (operation.kind, operation.message) == ("merge", '"a" is merged into "b"')


def test_links_move_to_what_is_kept_and_the_larger_weight_stays(three):
    three.remember("stars are far", key="d")
    three.link("a", "c", "requires", 0.2)
    three.link("b", "c", "requires", 0.7)
    three.link("d", "a", "similar-to", 0.9)
    three.link("d", "b", "similar-to", 0.1)
    three.link("c", "a", "source-of", 0.3)
    three.link("a", "b", "similar-to", 0.4)
    three.link("b", "a", "next", 0.4)
    three.merge("a", "b")
    assert weights(three) == {
        ("b", "requires", "c"): 0.7,
        ("d", "similar-to", "b"): 0.9,
        ("c", "source-of", "b"): 0.3,
        ("a", "merged-into", "b"): 0.5,
    }


def test_a_link_that_means_both_directions_stays_one(three):
    three.link("c", "b", "similar-to", 0.3)
    three.link("a", "c", "similar-to", 0.8)
    three.link("c", "b", "source-of", 0.3)
    three.link("a", "c", "source-of", 0.8)
    three.merge("a", "b")
    assert weights(three, "c") == {
        ("c", "similar-to", "b"): 0.8,
        ("c", "source-of", "b"): 0.3,
        ("b", "source-of", "c"): 0.8,
    }


def test_a_merged_memory_keeps_what_it_was_learned_from_and_the_other_takes_it_over(three):
    three.link("a", "c", "learned-from", 0.5)
    three.merge("a", "b")
    assert weights(three, relation="learned-from") == {
        ("a", "learned-from", "c"): 0.5,
        ("b", "learned-from", "c"): 0.5,
    }


def test_what_was_merged_earlier_leads_to_what_is_kept_now(three):
    three.merge("a", "b")
    three.merge("b", "c")
    assert weights(three) == {("a", "merged-into", "c"): 0.5, ("b", "merged-into", "c"): 0.5}


def test_a_merge_closes_no_circle_of_overrides_and_says_so(three):
    three.link("a", "c", "overrides")
    three.link("c", "b", "overrides")
    operation = three.merge("a", "b")
    assert operation.message == '"a" is merged into "b"; 1 link is left out: it would close a cycle'
    assert weights(three, relation="overrides") == {("c", "overrides", "b"): 0.5}
    assert three.validate() == []


def test_what_was_merged_is_in_no_recall_and_its_links_carry_for_the_other(three):
    three.link("c", "a", "requires", 0.9)
    assert recalled(three, "bread") == ["c", "a"]
    three.merge("a", "b")
    assert recalled(three, "bread") == ["c", "b"]
    assert "a" not in recalled(three)


def test_undo_of_a_merge_brings_back_exactly_what_was(three):
    stand(three, "a", uses=2, confirmed=1)
    three.link("a", "c", "requires", 0.9)
    three.link("b", "c", "requires", 0.2)
    three.link("a", "b", "similar-to", 0.4)
    before = everything(three)
    operation = three.merge("a", "b")
    assert everything(three) != before
    undone = three.undo(operation.id)
    assert everything(three) == before
    assert recalled(three) == ["a", "c", "b"]
    three.undo(undone.id)
    assert weights(three, relation="requires") == {("b", "requires", "c"): 0.9}


def test_only_two_active_memories_of_one_kind_are_merged(three):
    three.remember("walls", kind="fact", key="fact")
    refused(three, ParamError, "into = 'a': must differ from the memory", three.merge, "a", "a")
    message = "'fact' is of kind fact and 'a' of kind episode: merge memories of one kind, or link them"
    refused(three, Conflict, message, three.merge, "fact", "a")
    refused(three, NotFound, "there is no memory 'd'", three.merge, "a", "d")
    three.merge("a", "b")
    refused(three, Conflict, "'a' is merged already: restore makes it active again", three.merge, "a", "c")
    refused(three, Conflict, "'a' is merged already", three.merge, "c", "a")


def test_a_rule_that_may_instruct_is_not_merged_into_one_that_may_not(memory):
    rules(memory, "sign every build", "sign every build twice", trust="agent")
    memory.remember("sign all builds", key="theirs", kind="behavior", trust="tool")
    message = r"'a' is a rule from agent, and 'theirs' from tool may not instruct: merge 'theirs' into 'a'"
    refused(memory, Conflict, message, memory.merge, "a", "theirs")
    memory.merge("theirs", "a")
    memory.merge("a", "b")
    memory.remember("bread is baked", key="ours", kind="fact")
    memory.remember("bread was baked", key="read", kind="fact", trust="tool")
    assert memory.merge("ours", "read").kind == "merge"


def test_a_chain_of_merges_in_one_step_is_the_same_as_one_after_the_other(clock):
    memories = [MemoryRow(item, item, "fact", uses=1) for item in "abc"]
    links = [LinkRow("a", "c", "requires", 0.3, clock.at), LinkRow("b", "a", "requires", 0.6, clock.at)]
    merging = MergePlan(memories, links, links)
    merging.merge("a", "b", clock.at)
    merging.merge("b", "c", clock.at)
    changes = list(merging.changes())
    assert {item.row.id: item.after.uses for item in changes if isinstance(item.row, MemoryRow)} == {
        "a": 1,
        "b": 2,
        "c": 3,
    }
    after = {(item.row.source, item.row.relation, item.row.target): item.after for item in changes[3:]}
    assert {ends for ends, row in after.items() if row is not None} == {
        ("a", "merged-into", "c"),
        ("b", "merged-into", "c"),
    }
    assert {ends for ends, row in after.items() if row is None} == {
        ("a", "requires", "c"),
        ("b", "requires", "a"),
    }


# Deduplicate

CORE_TOOLS = "always run the whole test suite before each commit"
TEN = CORE_TOOLS + " please"


def test_what_says_the_same_is_merged_into_what_was_there_first(memory):
    rules(memory, CORE_TOOLS, TEN, "prefer short functions", when={"language": "go"})
    # The words of one are 9 of the 10 of the other, the conditions are the same: .4 + .6 · 9/10.
    (twins,) = memory.deduplicate()
    assert (twins.kept, twins.merged) == ("a", "b")
    assert twins.similarity == pytest.approx(0.94)
    (operation,) = memory.log(limit=1)
    assert (operation.id, operation.kind, operation.message) == (
        twins.operation,
        "deduplicate",
        "1 memory is merged",
    )
    assert {record.key: record.status for record in memory.list(status=None)} == {
        "a": "active",
        "b": "merged",
        "c": "active",
    }
    assert memory.deduplicate() == []


def test_the_one_that_proved_itself_is_kept_then_the_one_of_higher_priority(memory):
    rules(memory, CORE_TOOLS, TEN, CORE_TOOLS + " !", when={"language": "go"})
    stand(memory, "b", priority=2.0)
    assert {pair.kept for pair in memory.deduplicate(dry_run=True)} == {"b"}
    stand(memory, "c", confirmed=1, followed=1)
    stand(memory, "a", confirmed=1)
    assert {pair.kept for pair in memory.deduplicate(dry_run=True)} == {"c"}


def test_what_may_not_instruct_never_takes_the_place_of_what_may(memory):
    memory.remember(CORE_TOOLS, key="theirs", kind="behavior", trust="tool")
    memory.remember(CORE_TOOLS + " !", key="ours", kind="behavior", trust="user")
    stand(memory, "theirs", confirmed=9, priority=9.0)
    assert [(pair.kept, pair.merged) for pair in memory.deduplicate()] == [("ours", "theirs")]


def test_opposites_are_never_one(memory):
    words = "commit the generated files of every package in this repository together with their sources"
    rules(memory, f"always {words}", f"never {words}")
    # 13 words each, of which they share 12 of 14.
    assert memory.deduplicate(threshold=0.8) == []
    memory.remember(f"always {words} please", key="d", kind="behavior")
    assert [(pair.kept, pair.merged) for pair in memory.deduplicate(threshold=0.8)] == [("a", "d")]


def test_of_a_chain_only_what_is_like_the_one_that_is_kept_is_merged(memory):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    rules(memory, " ".join(words), " ".join([*words, "x"]), " ".join([*words, "x", "y"]))
    # 10/11 and 11/12 are above .9, 10/12 is not.
    recalled = memory.deduplicate()
    assert [(item.kept, item.merged) for item in recalled] == [("a", "b")]
    assert [item.similarity for item in recalled] == pytest.approx([10 / 11])
    assert weights(memory, relation="merged-into") == {("b", "merged-into", "a"): 0.5}
    assert memory.get("c").status == "active"
    assert memory.deduplicate() == []


def test_what_is_like_two_that_are_kept_goes_to_the_more_alike_in_the_same_operation(memory):
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    texts = [words, [*words, "x", "y"], [*words, "x", "y", "z"], [*words, "y"]]
    rules(memory, *(" ".join(item) for item in texts))
    # a and b share 10 of 12; c and b 12 of 13, c and a 10 of 13; d and b 11 of 12, d and a 10 of 11.
    recalled = memory.deduplicate()
    assert [(item.kept, item.merged) for item in recalled] == [("b", "c"), ("b", "d")]
    assert [item.similarity for item in recalled] == pytest.approx([12 / 13, 11 / 12])
    assert len({item.operation for item in recalled}) == 1


def test_what_is_trusted_less_raises_no_standing_and_silences_nothing_by_being_merged(memory):
    rules(memory, CORE_TOOLS, "sign every build twice")
    for key, text in (("theirs", CORE_TOOLS + " !"), ("theirs-too", "sign every build twice!")):
        memory.remember(text, key=key, kind="behavior", trust="tool")
    memory.link("theirs", "theirs-too", "overrides")
    memory.link("theirs", "b", "conflicts")
    memory.link("theirs", "b", "requires")
    stand(memory, "theirs", priority=9.0)
    stand(memory, "a", confidence=0.6)
    before = everything(memory)
    done = memory.deduplicate()
    assert {(item.kept, item.merged) for item in done} == {("a", "theirs"), ("b", "theirs-too")}
    assert (memory.get("a").priority, memory.get("a").confidence) == (0.0, 0.6)
    assert memory.links("a", relation="overrides") == memory.links("a", relation="conflicts") == []
    assert memory.links("a", relation="requires")
    assert "2 links stay with the memory of lower trust" in memory.log(limit=1)[0].message
    assert {hit.memory.key for hit in memory.active(Cue()).hits} == {"a", "b"}
    memory.undo(done[0].operation)
    assert everything(memory) == before


def test_undo_of_a_deduplicate_brings_back_exactly_what_was(memory):
    rules(memory, CORE_TOOLS, TEN, CORE_TOOLS + " !", "prefer short functions")
    memory.link("b", "d", "requires", 0.7)
    memory.link("c", "b", "overrides", 0.7)
    before = everything(memory)
    (first, *_) = memory.deduplicate(threshold=0.8)
    assert everything(memory) != before
    memory.undo(first.operation)
    assert everything(memory) == before


def test_a_dry_run_changes_nothing(memory):
    rules(memory, CORE_TOOLS, TEN)
    before, count = everything(memory), memory.stats().operations
    (twins,) = memory.deduplicate(threshold=0.8, dry_run=True)
    assert twins == NearDuplicates("a", "b", twins.similarity, None)
    assert twins.similarity == pytest.approx(0.9)
    assert (everything(memory), memory.stats().operations) == (before, count)


def test_only_what_is_above_the_threshold_is_merged(memory):
    rules(memory, "one two three four", "one two three five")
    # They share 3 of 5 words.
    assert memory.deduplicate(threshold=0.6) == []
    assert len(memory.deduplicate(threshold=0.59)) == 1


def test_without_a_threshold_or_with_a_low_one_conditions_alone_make_no_twins_at_nine_tenths(memory):
    rules(memory, "paint walls", "bake bread", when={"language": "go"})
    assert memory.deduplicate() == []
    # .4 · 1 + .6 · 0
    assert memory.deduplicate(threshold=0.4) == []
    assert [pair.similarity for pair in memory.deduplicate(threshold=0.3, dry_run=True)] == pytest.approx(
        [0.4]
    )


def test_only_active_memories_of_the_kind_are_merged(memory):
    rules(memory, CORE_TOOLS, CORE_TOOLS + " !")
    memory.remember(CORE_TOOLS + " ?", key="fact", kind="fact")
    memory.remember(CORE_TOOLS + " !!", key="fact-too", kind="fact")
    assert [(pair.kept, pair.merged) for pair in memory.deduplicate(kind="fact")] == [("fact", "fact-too")]
    memory.forget("a")
    assert memory.deduplicate() == []


def test_bad_arguments_of_deduplicate_are_named(memory, open_memory, url):
    rules(memory, CORE_TOOLS, TEN)
    refused(memory, ParamError, r"threshold = 1.1: must be in \[0, 1\]", memory.deduplicate, threshold=1.1)
    refused(memory, ParamError, "kind = 'entity': must be one of", memory.deduplicate, kind="entity")
    refused(memory, ParamError, "kind = 'rule': must be one of", memory.deduplicate, kind="rule")
    open_memory(url).remember("x")
    for dry_run in (True, False):
        assert open_memory(url, namespace="theirs").deduplicate(dry_run=dry_run) == []


@each_row("threshold", [0.0, 0.2, 0.4, 0.55, 0.7, 0.9])
def test_what_stands_for_each_is_that_of_comparing_it_with_all_that_are_kept(threshold):
    words = ["run", "tests", "commit", "never", "push", "main"]
    texts = [
        (
            " ".join(words[i % 6 : i % 6 + 1 + i % 5]) or "…",
            {"language": ["go", "py"][i % 2]} if i % 3 else {},
        )
        for i in range(40)
    ] + [("!", {}), ("!", {"task": "x"}), ("?", {})]
    survivor, slow = [], []
    for i, a in enumerate(texts):
        new = ComparedBehaviour.of(*a)
        likes = [(likeness(ComparedBehaviour.of(*texts[j]), new), -j) for j in survivor]
        similarity, nearest = max(likes, default=(0.0, 0))
        if similarity > threshold:
            slow.append((i, -nearest, similarity))
        else:
            survivor.append(i)
    assert near_duplicates(texts, threshold) == slow


def test_a_reopened_memory_shows_the_same(open_memory, url):
    first = open_memory(url)
    rules(first, CORE_TOOLS, TEN, when={"language": "go"})
    first.deduplicate()
    first.deprecate("a")
    first.close()
    again = open_memory(url, embedder=HashedEmbedder(256))
    assert {record.key: record.status for record in again.list(status=None)} == {
        "a": "deprecated",
        "b": "merged",
    }
    assert again.recall("test suite", cue=Cue(language="go")).hits == ()
    again.restore("a")
    assert [hit.memory.key for hit in again.recall("test suite", cue=Cue(language="go")).hits] == ["a"]


KEYS = "abcde"
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["merge", "deprecate", "restore", "deduplicate", "link", "undo"]),
        st.permutations(KEYS),
        st.sampled_from(["overrides", "requires", "similar-to"]),
    ),
    max_size=12,
)


@settings(max_examples=settings.default.max_examples // 4)
@given(STEPS)
def test_whatever_is_done_nothing_is_wrong_and_undo_brings_back_exactly_what_was(steps):
    with Memory.open("sqlite://", embedder=HashedEmbedder(16)) as memory:
        rules(memory, "run tests", "run the tests", "run all tests", "never run", "push")
        done = []
        for verb, (a, b, *_), relation in steps:
            before = everything(memory)
            try:
                if verb == "undo" and done:
                    operation, was = done.pop()
                    memory.undo(operation)
                    assert everything(memory) == was
                elif verb == "deduplicate":
                    done += [(pair.operation, before) for pair in memory.deduplicate(threshold=0.6)[:1]]
                elif verb == "link":
                    # From the earlier key to the later, so that the links by hand lead in no circle themselves.
                    memory.link(*sorted([a, b]), relation)
                    done += [(memory.log(limit=1)[0].id, before)] if everything(memory) != before else []
                elif verb != "undo":
                    more = {"merge": (b,), "deprecate": (), "restore": ()}[verb]
                    done.append((getattr(memory, verb)(a, *more).id, before))
            except Conflict:
                assert everything(memory) == before
            assert memory.validate() == []
