from dataclasses import replace

import numpy as np
from tests.rows import each_row

from priming.config.params.limits import SLEEP
from priming.config.params.recall import LINKING
from priming.graph.merge_plan import MergePlan
from priming.sleep.link import MergeCandidate, VectorSpace, plan_links, plan_merges
from priming.storage.rows import LinkRow, MemoryRow
from priming.types import LeftAlone

from .making import DAY, NOW, answer, link, row, units

NEAR = units([1, 0, 0], [0.95, 0.31225, 0], [0.8, 0.6, 0])  # cosines to the first: 1, .95, .8


def twin(memory_id, vector, kind="failure", text="It broke.", state=None, **fields):
    return MergeCandidate(
        answer(memory_id, text, kind, state=state, **fields), row(memory_id, kind, **(state or {})), vector
    )


def merges(*twins, links=(), **more):
    def merging(ids):
        rows = [item.row for item in twins if item.row.id in ids]
        return MergePlan(rows, [item for item in links if {item.source, item.target} & set(ids)], [])

    return plan_merges(twins, merging, NOW, **more)


def test_failures_from_nine_tenths_on_become_one_with_the_counts_of_all():
    (item,) = merges(
        twin("a", NEAR[0], state={"helped": 2, "failed": 1}),
        twin("b", NEAR[1], state={"helped": 1, "failed": 3}),
        twin("c", NEAR[2]),
    )
    assert (item.ids, item.into) == (("b",), "a")
    states = {c.after.id: c.after for c in item.rows if isinstance(c.after, MemoryRow)}
    assert (states["a"].helped, states["a"].failed) == (3, 4)
    assert states["b"].status == "merged"


def test_links_come_to_the_one_that_is_kept():
    (item,) = merges(twin("a", NEAR[0]), twin("b", NEAR[1]), links=[link("x", "b", "requires")])
    moved = {(c.after.source, c.after.target) for c in item.rows if isinstance(c.after, LinkRow)}
    assert ("x", "a") in moved


def test_what_helped_more_is_kept_and_what_may_instruct_before_that():
    helped = twin("b", NEAR[1], state={"helped": 4})
    assert merges(twin("a", NEAR[0]), helped)[0].into == "b"
    assert (
        merges(twin("a", NEAR[0]), replace(helped, record=answer("b", "It broke.", "failure", trust="tool")))[
            0
        ].into
        == "a"
    )


def test_other_kinds_contexts_and_contradictions_stay_apart():
    here = twin("a", NEAR[0])
    assert merges(here, twin("b", NEAR[0], kind="pattern")) == []
    assert merges(here, twin("b", NEAR[0], when={"language": "go"})) == []
    assert [type(item) for item in merges(here, twin("b", NEAR[0], text="Never do it."))] == [LeftAlone]
    assert merges(here, twin("b", NEAR[0], valid_to=NOW + DAY)) == []
    assert merges(here, twin("b", NEAR[0]), conflicts=frozenset({frozenset("ab")})) == []
    assert merges(twin("a", NEAR[0], "episode"), twin("b", NEAR[0], "episode")) == []
    assert merges(twin("a", np.zeros(3)), twin("b", np.zeros(3))) == []


def links(vectors, linked=(), kinds=None, **more):
    ids = [f"m{i}" for i in range(len(vectors))]
    space = VectorSpace(ids, kinds or ["episode"] * len(ids), np.asarray(vectors, np.float32))
    return plan_links(space, set(linked), NOW, **more)


def pairs(planned):
    return [(c.after.source, c.after.target, round(c.after.weight, 2)) for item in planned for c in item.rows]


def test_what_has_no_link_is_linked_to_its_like_at_their_cosine():
    assert pairs(links(NEAR, linked=["m1", "m2"])) == [("m0", "m1", 0.95), ("m0", "m2", 0.8)]


def test_a_pair_is_linked_once():
    assert pairs(links(NEAR[:2])) == [("m0", "m1", 0.95)]


def test_only_so_many_as_at_once():
    vectors = np.repeat(NEAR[:1], 6, axis=0)
    assert len(pairs(links(vectors, linked=["m1", "m2", "m3", "m4", "m5"]))) == LINKING.nearest


def test_what_is_not_alike_or_has_no_vector_stays_alone():
    assert links(np.eye(3)) == links(np.zeros((3, 3))) == links(np.zeros((0, 3))) == []


def test_rules_and_entities_are_not_linked_by_likeness():
    assert links(NEAR, kinds=["behavior", "entity", "correction"]) == []


def test_a_night_looks_at_so_many_and_other_nights_at_others(monkeypatch):
    monkeypatch.setattr("priming.sleep.link.SLEEP", replace(SLEEP, linked=2))
    vectors = np.repeat(NEAR[:1], 40, axis=0)
    assert len(links(vectors)) <= 2
    assert links(vectors) == links(vectors)


@each_row(
    ("text", "other", "words"),
    [
        ("Enable flag X", "Disable flag X", ("enable", "disable")),
        ("It broke on staging", "It broke on production", ("staging", "production")),
        ("It broke in v1", "It broke in v2", ("v1", "v2")),
        ("It broke on Monday", "It broke on Friday", ("Monday", "Friday")),
        ("Ask Ada", "Ask Grace", ("Ada", "Grace")),
        ("Copy A to B", "Copy B to A", ()),
    ],
)
def test_what_differs_in_a_word_is_left_alone_however_near_it_is(text, other, words):
    (left,) = merges(twin("a", NEAR[0], text=text), twin("b", NEAR[0], text=other))
    assert (left.keys, left.words) == (("a", "b"), words)


def test_what_is_too_long_to_compare_is_merged_only_word_for_word():
    long = "It broke again. " * 150
    assert merges(twin("a", NEAR[0], text=long), twin("b", NEAR[0], text=long))[0].ids == ("b",)
    (left,) = merges(twin("a", NEAR[0], text=long), twin("b", NEAR[0], text=f"{long}Not here."))
    assert left.reason == "they are too long to compare"


def test_a_paraphrase_is_merged():
    (item,) = merges(
        twin("a", NEAR[0], text="Delete the folder"), twin("b", NEAR[0], text="Remove the directory")
    )
    assert item.ids == ("b",)
