"""Undo under a law by which nights take a share of a weight: what is left is as if the step had never been."""

from datetime import timedelta

import pytest


@pytest.fixture
def orchard(open_memory):
    memory = open_memory(profile="world-weaver")
    memory.remember("Plant oaks in autumn.", key="oak")
    memory.remember("Prune ash trees in winter.", key="ash")
    memory.link("oak", "ash", "helps", 0.8)
    return memory


def weight(memory):
    (link,) = memory.links(relation="helps")
    return link.weight


def night(memory, clock, days):
    """Pass some days, and sleep."""
    clock.at += timedelta(days=days)
    memory.sleep(stages=["decay"])


def judge(memory):
    """Judge both as useful together; returns the id of the verdict."""
    recalled = memory.recall("oaks and ash trees")
    return memory.feedback(recalled.recall_id, used=["oak", "ash"]).id


def test_a_verdict_that_is_undone_after_a_night_leaves_what_there_was_without_it(orchard, clock):
    night(orchard, clock, 50)
    verdict = judge(orchard)
    assert weight(orchard) == pytest.approx(0.46)
    night(orchard, clock, 40)
    assert weight(orchard) == pytest.approx(0.46 * 0.6)
    undone = orchard.undo(verdict)
    assert weight(orchard) == pytest.approx(0.8 * 0.1)
    night(orchard, clock, 5)
    assert weight(orchard) == pytest.approx(0.8 * 0.05)
    orchard.undo(undone.id)
    assert weight(orchard) == pytest.approx(0.46 * 0.55)


def test_the_first_of_two_nights_undone_leaves_what_the_second_alone_would_have_left(orchard, clock):
    night(orchard, clock, 50)
    (first,) = [entry for entry in orchard.log() if entry.reason == "decay"]
    night(orchard, clock, 20)
    assert weight(orchard) == pytest.approx(0.8 * 0.3)
    orchard.undo(first.id)
    assert weight(orchard) == pytest.approx(0.8 * 0.3)
    night(orchard, clock, 1)
    assert weight(orchard) == pytest.approx(0.8 * 0.29)


def test_the_last_night_undone_gives_back_all_that_it_took(orchard, clock):
    night(orchard, clock, 25)
    night(orchard, clock, 25)
    last = orchard.log()[0]
    orchard.undo(last.id)
    assert weight(orchard) == pytest.approx(0.8 * 0.75)
    night(orchard, clock, 10)
    assert weight(orchard) == pytest.approx(0.8 * 0.4)


def test_an_earlier_verdict_undone_leaves_the_later_one_its_day(orchard, clock):
    first = judge(orchard)
    clock.at += timedelta(days=10)
    judge(orchard)
    assert weight(orchard) == pytest.approx(0.838)
    night(orchard, clock, 30)
    orchard.undo(first)
    assert weight(orchard) == pytest.approx((0.8 + 0.018) * 0.7)
