"""A night with an id of the caller's choice: repeated after an interruption, it goes on where it ended."""

import pytest

from priming import Conflict
from priming.config.ids import derived
from priming.config.words import NIGHT, STAGES
from priming.storage.rows import LinkRow, MemoryRow, VersionRow

from .test_kill import live

NIGHT_ID = "0197a3b2-1c4d-7e5f-8a6b-9c0d1e2f3a4b"


class EndOfProcessError(Exception):
    """What happens in the middle of a night."""


def stop_before(stage):
    """A progress that ends the night before this stage begins."""
    begun = iter(STAGES)

    def step(_done, total):
        if total is None and next(begun) == stage:
            raise EndOfProcessError

    return step


def picture(memory):
    """What a namespace holds, by keys: the ids of what a night makes are new each time."""
    store, name = memory.store, memory.namespace
    rows = store.rows(name, MemoryRow)
    keys = {row.id: row.key for row in rows}
    texts = sorted(
        (keys[each.id], each.version, each.content, each.retired_at is None)
        for each in store.rows(name, VersionRow)
    )
    links = sorted(
        (keys[link.source], link.relation, keys[link.target], link.weight)
        for link in store.rows(name, LinkRow)
    )
    return sorted((row.key, row.kind, row.status, row.weight, row.uses) for row in rows), texts, links


def stages(memory):
    return [operation.reason for operation in reversed(memory.log(source=f"{NIGHT}{NIGHT_ID}"))]


@pytest.fixture
def lived(open_memory, clock):
    return live(open_memory(), clock)


@pytest.fixture
def whole(open_memory, clock):
    """The same memories after a night that nothing interrupted."""
    start = clock.at
    memory = live(open_memory(), clock)
    with memory.identified(NIGHT_ID):
        memory.sleep()
    after, clock.at = picture(memory), start
    return after


@pytest.mark.extra
@pytest.mark.parametrize(
    "stage", [pytest.param(stage, marks=[pytest.mark.slow] * (stage != "skill")) for stage in STAGES[1:]]
)
def test_an_interrupted_night_that_is_repeated_by_its_id_does_the_stages_that_were_left(whole, lived, stage):
    with lived.identified(NIGHT_ID), pytest.raises(EndOfProcessError):
        lived.sleep(progress=stop_before(stage))
    before = stages(lived)
    with lived.identified(NIGHT_ID):
        night = lived.sleep()
    assert before == list(STAGES[: STAGES.index(stage)])
    assert stages(lived) == list(STAGES)
    assert (night.id, len(night.operations)) == (NIGHT_ID, len(STAGES))
    assert picture(lived) == whole


def test_a_whole_night_that_is_repeated_by_its_id_changes_nothing(whole, lived):
    for _ in range(2):
        with lived.identified(NIGHT_ID):
            night = lived.sleep()
    assert picture(lived) == whole
    assert night.items == ()
    assert night.operation == lived.log(limit=1)[0].id


@pytest.mark.slow
def test_undoing_a_repeated_night_takes_both_parts_back(lived):
    before = picture(lived)
    with lived.identified(NIGHT_ID), pytest.raises(EndOfProcessError):
        lived.sleep(progress=stop_before("skill"))
    with lived.identified(NIGHT_ID):
        night = lived.sleep()
    lived.undo(night.operation)
    assert picture(lived)[2] == before[2]


def test_the_first_operation_of_a_night_has_its_id_so_that_it_cannot_be_written_twice(lived):
    with lived.identified(NIGHT_ID):
        night = lived.sleep()
    assert night.operations[:2] == (NIGHT_ID, derived(NIGHT_ID, "light"))
    with pytest.raises(Conflict), lived.identified(NIGHT_ID):
        lived.remember("By the same id.")


def test_ids_that_follow_from_another_are_the_same_each_time_and_differ_by_name():
    names = [("light",), ("deep",), ("light", "deep"), ("lightdeep",)]
    ids = [derived(NIGHT_ID, *name) for name in names]
    assert ids == [derived(NIGHT_ID, *name) for name in names]
    assert len({*ids, NIGHT_ID}) == 5
    assert all(each[:13] == NIGHT_ID[:13] and each[14] == "7" and each[19] in "89ab" for each in ids)
