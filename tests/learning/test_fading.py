from dataclasses import replace
from datetime import timedelta

import pytest
from tests.rows import each_row

from priming import ParamError
from priming.config import profiles
from priming.learning.reviews import expected_loss
from priming.types import MemoryRecord, Use

DAY = timedelta(days=1)
CUE = "who signs the builds"


def fsrs(days, stability):
    """LAWS §4."""
    return (1 + (0.9 ** (-1 / 0.1542) - 1) * days / stability) ** -0.1542


@pytest.fixture
def answer(memory):
    memory.remember("Kestrel signs the builds.", key="kestrel", importance=0.9)
    memory.remember("Gulls nest upon tall cliffs.", key="gulls")
    return memory


def keys(memory, **more):
    return [memory.key for memory in memory.fading(**more)]


def test_what_matters_and_was_told_long_ago_is_listed_with_what_would_be_lost(answer, clock):
    clock.at += 30 * DAY
    (item,) = answer.fading()
    left, later = fsrs(30, 2.3065), fsrs(37, 2.3065)
    assert (item.key, item.kind, item.gist) == ("kestrel", "episode", "Kestrel signs the builds.")
    assert (item.retrievability, item.later, item.worth) == pytest.approx((left, later, 0.9))
    assert item.lost == pytest.approx(0.9 * (left - later))
    assert item.since == clock.at - 30 * DAY
    assert item.reason == "importance 0.9; last told 30 days ago"


def test_what_was_just_told_is_never_listed(answer, clock):
    assert keys(answer, below=1.0) == []
    clock.at += DAY - timedelta(seconds=1)
    assert keys(answer, below=1.0) == []
    clock.at += timedelta(seconds=1)
    assert keys(answer, below=1.0) == ["kestrel"]


def test_what_was_used_matters_and_counts_from_its_review(answer, clock):
    answer.feedback(answer.recall("gulls nest").recall_id, used=["gulls"])
    clock.at += 10 * DAY
    answer.feedback(answer.recall("tall cliffs").recall_id, used=["gulls"])
    clock.at += 60 * DAY
    result = {memory.key: memory for memory in answer.fading(below=1.0)}
    gulls, stability = result["gulls"], answer.get("gulls").retention.stability
    assert gulls.retrievability == pytest.approx(fsrs(60, stability))
    assert gulls.worth == pytest.approx(1 - 0.5 / 3)
    assert gulls.reason == "importance 0.5, used 2 times; last recalled 60 days ago"
    assert stability > 2.3065


def test_most_is_lost_first_and_the_list_is_cut(answer, clock):
    answer.remember("Herons wade.", key="herons", importance=0.7)
    clock.at += 40 * DAY
    answer.remember("Owls hoot.", key="owls", importance=0.95)
    clock.at += 10 * DAY
    result = answer.fading()
    assert {item.key for item in result} == {"kestrel", "herons", "owls"}
    assert [item.lost for item in result] == sorted((item.lost for item in result), reverse=True)
    assert result[0].key == "owls"
    assert keys(answer, limit=1) == ["owls"]


def test_only_what_will_be_below_the_bar_is_listed(answer, clock):
    clock.at += 5 * DAY
    later = fsrs(12, 2.3065)
    assert keys(answer, below=later + 1e-9) == ["kestrel"]
    assert keys(answer, below=later - 1e-9) == []


def test_the_law_is_that_of_the_profile(answer, clock):
    clock.at += 10 * DAY
    laws = {
        "world-weaver": lambda days: (1 + 0.9 * days) ** -0.5,
        "arc": lambda days: 2 ** (-days / 7),
    }
    for name, law in laws.items():
        answer.profile = profiles.get(name)
        (item,) = answer.fading()
        assert (item.retrievability, item.later) == pytest.approx((law(10), law(17)))
    slow = replace(profiles.ARC.forgetting_params, half_life=100.0)
    answer.profile = replace(profiles.ARC, forgetting_params=slow)
    assert answer.fading(below=1.0)[0].retrievability == pytest.approx(2**-0.1)


@pytest.mark.parametrize("profile", ["floop", "ethos", "synapse", "poc"])
def test_a_design_that_forgets_nothing_has_nothing_that_fades(answer, clock, profile):
    clock.at += 300 * DAY
    answer.profile = profiles.get(profile)
    assert answer.fading(below=1.0) == []


def test_names_and_what_is_out_of_recall_are_not_listed(answer, clock):
    clock.at += 30 * DAY
    answer.forget("kestrel")
    assert answer.fading(below=1.0) == []
    answer.restore("kestrel")
    assert keys(answer) == ["kestrel"]


def test_worth_is_importance_raised_by_priority_and_by_uses_that_did_not_fail():
    item = MemoryRecord("a", "default", "a", "fact", "A.", "A.")
    assert expected_loss(item) == 0.5
    assert expected_loss(replace(item, priority=10.0)) == 1.0
    assert expected_loss(replace(item, importance=0.0, priority=4.0)) == pytest.approx(0.4)
    assert expected_loss(replace(item, use=Use(uses=1))) == 0.75
    assert expected_loss(replace(item, use=Use(uses=1, failed=3))) == 0.5


def test_to_look_changes_nothing(answer, clock):
    clock.at += 30 * DAY
    before = answer.stats()
    assert answer.fading()
    assert answer.stats() == before


@each_row(
    ("wrong", "message"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": True}, "limit"),
        ({"below": 2}, "below"),
        ({"below": "low"}, "below"),
    ],
)
def test_arguments_are_checked(answer, wrong, message):
    with pytest.raises(ParamError, match=message):
        answer.fading(**wrong)


def test_in_a_namespace_without_memories_nothing_fades(open_memory):
    assert open_memory(namespace="elsewhere").fading() == []
