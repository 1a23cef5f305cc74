"""What became different between two times."""

from datetime import datetime, timedelta

import pytest
from tests.rows import each_row

from priming import ParamError
from priming.results import LinkMove, MemoryMove, RankMove

DAY = timedelta(days=1)


def moves(result):
    return [(memory.key, memory.what) for memory in result.memories]


def links(result, relation):
    return [link for link in result.links if link.relation == relation]


@pytest.fixture
def two(memory):
    memory.remember("gulls nest on cliffs", key="gulls")
    memory.remember("porridge needs salt", key="porridge")
    return memory


def test_a_new_memory_is_known(two, clock):
    start = clock.at
    clock.at += DAY
    two.remember("terns nest on beaches", key="terns", kind="fact")
    diff = two.diff(start, clock.at)
    assert diff.memories == (MemoryMove("terns", "fact", "known", None, "terns nest on beaches", clock.at),)
    assert (diff.since, diff.until, diff.question, diff.answers) == (start, clock.at, None, ())


def test_the_first_time_is_excluded_and_the_second_included(two, clock):
    first = clock.at
    clock.at += DAY
    two.remember("terns nest on beaches", key="terns")
    second = clock.at
    clock.at += DAY
    two.remember("puffins dig burrows", key="puffins")
    assert moves(two.diff(first, second)) == [("terns", "known")]
    assert moves(two.diff(second, clock.at)) == [("puffins", "known")]
    assert moves(two.diff(first - DAY, second)) == [
        ("gulls", "known"),
        ("porridge", "known"),
        ("terns", "known"),
    ]
    assert moves(two.diff(second, second)) == []


def test_a_superseded_memory_has_both_texts(two, clock):
    start = clock.at
    clock.at += DAY
    two.supersede("gulls", "gulls nest on roofs")
    before, after = "gulls nest on cliffs", "gulls nest on roofs"
    assert two.diff(start, clock.at).memories == (
        MemoryMove("gulls", "episode", "superseded", before, after, clock.at, clock.at),
    )
    middle = clock.at
    clock.at += DAY
    two.undo(two.log()[0].id)
    reverted = MemoryMove("gulls", "episode", "reverted", after, before, clock.at)
    assert two.diff(middle, clock.at).memories == (reverted,)
    assert two.diff(start, clock.at).memories == ()


def test_a_changed_status_is_reported(two, clock):
    start = clock.at
    clock.at += DAY
    two.forget("gulls")
    two.deprecate("porridge")
    assert moves(two.diff(start, clock.at)) == [("gulls", "forgotten"), ("porridge", "deprecated")]
    middle = clock.at
    clock.at += DAY
    two.restore("gulls")
    assert moves(two.diff(middle, clock.at)) == [("gulls", "restored")]
    assert moves(two.diff(start, clock.at)) == [("porridge", "deprecated")]


def test_a_merge_and_a_memory_forgotten_within_the_span(two, clock):
    start = clock.at
    clock.at += DAY
    two.remember("gulls nest upon cliffs", key="again")
    two.merge("again", "gulls")
    assert moves(two.diff(start, clock.at)) == [("again", "known"), ("again", "merged")]


def test_a_memory_removed_by_an_undo_is_gone(two, clock):
    start = clock.at
    clock.at += DAY
    two.undo(two.log()[0].id)
    gone = MemoryMove("porridge", "episode", "gone", "porridge needs salt", None, clock.at)
    assert two.diff(start, clock.at).memories == (gone,)


def test_a_memory_created_and_undone_within_the_span_is_no_difference(two, clock):
    start = clock.at
    clock.at += DAY
    two.remember("terns nest on beaches", key="terns")
    two.undo(two.log()[0].id)
    diff = two.diff(start, clock.at)
    assert (diff.memories, diff.links) == ((), ())


def test_names_found_by_rule_are_left_out_but_their_links_are_reported(two, clock):
    start = clock.at
    clock.at += DAY
    two.remember("We met Grace Hopper.", key="met")
    diff = two.diff(start, clock.at)
    assert moves(diff) == [("met", "known")]
    new = [(link.source, link.target, link.what) for link in links(diff, "mentions")]
    assert ("met", "entity:grace-hopper", "made") in new


def test_each_change_has_the_time_at_which_it_was_recorded(two, clock):
    start, times = clock.at, []
    for change in (
        lambda: two.remember("terns nest on beaches", key="terns"),
        lambda: two.supersede("terns", "terns nest on islands", valid_from=start + 40 * DAY),
        lambda: two.supersede("terns", "terns nest on piers", valid_from=start + 60 * DAY),
        lambda: two.forget("terns"),
        lambda: two.feedback(not_useful=["terns"]),
        lambda: two.link("terns", "gulls", "requires"),
        lambda: two.sleep(),
    ):
        clock.at += DAY
        change()
        times.append(clock.at)
    diff = two.diff(start, clock.at)
    assert [(move.what, move.at, move.valid_from) for move in diff.memories if move.key == "terns"] == [
        ("known", times[0], None),
        ("forgotten", times[3], start + 60 * DAY),
        ("superseded", times[2], start + 60 * DAY),
    ]
    assert [link.at for link in links(diff, "requires")] == [times[5]]


def test_links_made_moved_and_removed(two, clock):
    start = clock.at
    clock.at += DAY
    two.link("gulls", "porridge", "requires", 0.3)
    new, middle = clock.at, two.log()[0].id
    assert links(two.diff(start, new), "requires") == [
        LinkMove("gulls", "requires", "porridge", "made", None, 0.3, new)
    ]
    clock.at += DAY
    two.set_strength("gulls", "porridge", 0.8, "requires")
    moved = two.log()[0].id
    assert links(two.diff(new, clock.at), "requires") == [
        LinkMove("gulls", "requires", "porridge", "moved", 0.3, 0.8, clock.at)
    ]
    assert links(two.diff(start, clock.at), "requires") == [
        LinkMove("gulls", "requires", "porridge", "made", None, 0.8, clock.at)
    ]
    clock.at += DAY
    two.undo(moved)
    two.undo(middle)
    assert links(two.diff(new, clock.at), "requires") == [
        LinkMove("gulls", "requires", "porridge", "removed", 0.3, None, clock.at)
    ]


def test_links_of_a_removed_memory_are_named_by_its_key(two, clock):
    two.link("gulls", "porridge", "requires", 0.3)
    start = clock.at
    clock.at += DAY
    two.undo(two.log()[1].id)
    diff = two.diff(start, clock.at)
    assert ("porridge", "gone") in moves(diff)
    removed = LinkMove("gulls", "requires", "porridge", "removed", 0.3, None, clock.at)
    assert links(diff, "requires") == [removed]


GULLS, PORRIDGE = "gulls nest on cliffs", "porridge served in a nest on cliffs"


def test_the_answers_to_a_question_side_by_side(memory, clock):
    memory.remember(GULLS, key="gulls", session="a")
    memory.remember(PORRIDGE, key="porridge", session="b")
    start, before = clock.at, memory.recall("nest on cliffs")
    assert [hit.memory.key for hit in before.hits] == ["gulls", "porridge"]
    clock.at += DAY
    memory.forget("gulls")
    diff = memory.diff(start, clock.at, question="nest on cliffs")
    (left,) = memory.recall("nest on cliffs").hits
    first, second = (hit.score for hit in before.hits)
    assert diff.question == "nest on cliffs"
    assert diff.answers == (
        RankMove("porridge", "up", 2, 1, second, left.score, PORRIDGE, PORRIDGE),
        RankMove("gulls", "gone", 1, None, first, None, GULLS, None),
    )


def test_another_text_at_the_same_rank_is_restated(memory, clock):
    memory.remember("The office is in Oslo.", key="office")
    memory.remember("The office plays banjo.", key="banjo")
    memory.supersede("office", "The office is in Bergen.", valid_from=clock.at + 5 * DAY)
    clock.at += DAY
    diff = memory.diff(clock.at, clock.at + 9 * DAY, question="where is the office in?", limit=1)
    assert (diff.memories, diff.links) == ((), ()), "nothing was done: it came true meanwhile"
    (item,) = diff.answers
    assert (item.key, item.what, item.rank_before, item.rank_after) == ("office", "restated", 1, 1)
    assert (item.before, item.after) == ("The office is in Oslo.", "The office is in Bergen.")


def test_a_hit_below_a_new_better_one_goes_down(memory, clock):
    memory.remember("terns nest with gulls on the cliffs of roofs", key="porridge", session="b")
    start = clock.at
    clock.at += DAY
    memory.remember("gulls nest on cliffs", key="gulls", session="a")
    question = "which gulls nest on cliffs?"
    diff = memory.diff(start, clock.at, question=question)
    assert [(answer.key, answer.what, answer.rank_before, answer.rank_after) for answer in diff.answers] == [
        ("gulls", "new", None, 1),
        ("porridge", "down", 1, 2),
    ]
    again = memory.diff(clock.at, clock.at, question=question)
    assert {answer.what for answer in again.answers} == {"same"}


def test_a_question_is_asked_of_each_time(two, clock):
    diff = two.diff(clock.at - DAY, clock.at, question="gulls", limit=1)
    assert [(answer.key, answer.what, answer.rank_after) for answer in diff.answers] == [("gulls", "new", 1)]
    assert two.stats().traces == 0


@each_row(
    ("change", "name"),
    [
        ({"d1": datetime(2024, 1, 1)}, "d1"),
        ({"d2": "today"}, "d2"),
        ({"limit": 0}, "limit"),
        ({"question": " "}, "text"),
    ],
)
def test_a_bad_argument_is_named(two, clock, change, name):
    with pytest.raises(ParamError, match=name):
        two.diff(**{"d1": clock.at, "d2": clock.at, **change})


def test_the_earlier_time_comes_first(two, clock):
    with pytest.raises(ParamError, match="name the earlier time first"):
        two.diff(clock.at, clock.at - DAY)


def test_in_a_namespace_without_memories_nothing_differs(open_memory, clock):
    difference = open_memory(namespace="elsewhere").diff(clock.at, clock.at, question="who?")
    assert (difference.memories, difference.links, difference.answers) == ((), (), ())
    assert difference.reason == 'there are no memories in "elsewhere"'
