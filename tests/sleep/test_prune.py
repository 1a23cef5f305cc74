from tests.rows import each_row

from priming.sleep.decay import PruneCandidate, plan_prune

from .making import DAY, NOW, answer, row


def candidate(kind="failure", days=10, state=None, content="It broke.", memory_id="a", **fields):
    item = answer(memory_id, content, kind, state=state, recorded_at=NOW - days * DAY, **fields)
    return PruneCandidate(item, row(memory_id, kind, **(state or {})))


def archived(item, **more):
    return [each.rows[0].after.status for each in plan_prune([item], NOW, **more)] == ["archived"]


@each_row(
    ("helped", "failed", "goes"),
    [(0, 3, True), (0, 2, False), (1, 3, False), (1, 4, True), (2, 7, True), (5, 5, False), (0, 0, False)],
)
def test_three_uses_and_less_than_a_quarter_that_helped_archive_a_memory(helped, failed, goes):
    # 1 of 4 is .25, which is not below it; 1 of 5 is .2, and 2 of 9 .22.
    assert archived(candidate(state={"helped": helped, "failed": failed})) is goes


@each_row("kind", ["failure", "pattern", "fact", "behavior", "procedure", "episode"])
def test_every_kind_that_says_something_can_be_pruned(kind):
    assert archived(candidate(kind, state={"failed": 4}))


def test_a_name_is_never_pruned():
    assert not archived(candidate("entity", state={"failed": 4}))


@each_row(
    ("content", "metadata", "goes"),
    [
        ("Never push to main.", {}, False),
        ("Leave main alone.", {"rule": "constraint"}, False),
        ("Never mind the tests.", {"rule": "directive"}, True),
        ("Use tabs.", {}, True),
    ],
)
def test_a_rule_that_forbids_is_never_pruned(content, metadata, goes):
    item = candidate("behavior", state={"failed": 4}, content=content, metadata=metadata)
    assert archived(item) is goes


def test_what_was_just_stored_is_never_pruned():
    assert not archived(candidate(days=0.5, state={"failed": 4}))
    assert not archived(candidate(days=-3, state={"failed": 4}))


def test_what_is_out_of_recall_already_stays_as_it_is():
    assert not archived(candidate(state={"failed": 4, "status": "forgotten"}))


def test_what_somebody_brought_back_stays():
    assert not archived(candidate(state={"failed": 4}), restored={"a"})


def duplicate(days, importance=0.0):
    return candidate("episode", days, importance=importance, metadata={"duplicate_of": "first"})


def test_a_duplicate_goes_thirty_days_after_it_was_marked():
    assert archived(duplicate(31), originals={"first"})
    assert not archived(duplicate(30), originals={"first"})


def test_a_duplicate_stays_where_its_original_is_gone_or_it_weighs_something_again():
    assert not archived(duplicate(31), originals=set())
    assert not archived(duplicate(31, importance=0.5), originals={"first"})


def test_a_duplicate_stays_where_its_original_goes_the_same_night():
    failing = candidate("episode", state={"failed": 4}, memory_id="b")
    twin = candidate("episode", 31, importance=0.0, metadata={"duplicate_of": "key-b"})
    assert [item.ids for item in plan_prune([twin, failing], NOW, originals={"key-b"})] == [("b",)]


def test_of_two_that_are_said_to_repeat_each_other_one_stays():
    two = [
        candidate("episode", 31, importance=0.0, memory_id=here, metadata={"duplicate_of": f"key-{present}"})
        for here, present in ("ab", "ba")
    ]
    assert [item.ids for item in plan_prune(two, NOW, originals={"key-a", "key-b"})] == [("a",)]


@each_row("message", [["first"], {"of": "first"}, 7, None])
def test_metadata_of_somebody_else_are_no_mark(message):
    item = candidate("episode", 31, importance=0.0, metadata={"duplicate_of": message})
    assert not archived(item, originals={"first"})


def test_the_reason_gives_the_numbers():
    (item,) = plan_prune([candidate(state={"helped": 1, "failed": 4})], NOW)
    assert item.reason == "helped 1 of 5 times: 0.20 is below 0.25"
