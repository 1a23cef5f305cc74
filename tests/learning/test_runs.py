from datetime import timedelta

import pytest

from priming import Conflict, NotFound, ParamError
from priming.config.params.laws import PLASTICITY

CUE = "who signs the nightly builds"


@pytest.fixture
def work(memory):
    """Three linked memories, of which a recall shows two, and a fourth that it does not show."""
    memory.remember("Kestrel signs the nightly builds.", key="a")
    memory.remember("Gulls nest upon tall cliffs.", key="b")
    memory.remember("Porridge tastes best with honey.", key="c")
    memory.link("a", "b")
    memory.link("b", "c", weight=0.2)
    return memory


def weights(memory):
    return {(link.source, link.target): link.weight for link in memory.links(relation="similar-to")}


def test_links_among_what_a_run_was_shown_rise_when_its_output_is_used(work, clock):
    run = work.run_start()
    clock.at += timedelta(minutes=1)
    shown = [hit.memory.key for hit in work.recall(CUE, session=run.session, limit=2, floor=0).hits]
    assert sorted(shown) == ["a", "b"]
    work.recall("porridge", session="another")
    clock.at += timedelta(minutes=1)
    ended = work.run_end(run.id)
    assert ended.shown == tuple(shown)
    assert weights(work) == {("a", "b"): 0.5, ("b", "c"): 0.2}
    done = work.run_used(run.id)
    assert done.settled == "used"
    assert weights(work) == pytest.approx({("a", "b"): 0.5 + 1e-5, ("b", "c"): 0.2}, abs=1e-12)
    (operation,) = work.log(limit=1)
    assert (operation.id, operation.kind, operation.source) == (done.operation, "run", "automatic")
    assert run.id in operation.reason
    work.undo(operation.id)
    assert weights(work) == {("a", "b"): 0.5, ("b", "c"): 0.2}
    assert [item.settled for item in work.run_list()] == [None]


def test_they_sink_when_it_ends_in_nothing(work):
    run = work.run_start()
    work.recall(CUE, session=run.session, limit=2, floor=0)
    assert work.run_end(run.id, used=False).settled == "unused"
    assert weights(work) == pytest.approx({("a", "b"): 0.5 - 1e-5, ("b", "c"): 0.2}, abs=1e-12)
    with pytest.raises(Conflict, match="settled as unused: undo that operation"):
        work.run_used(run.id)


def test_twenty_runs_move_a_link_by_a_five_thousandth(work, clock):
    for _ in range(20):
        clock.at += timedelta(minutes=1)
        run = work.run_start()
        work.recall(CUE, session=run.session, limit=2, floor=0)
        work.run_used(run.id)
    assert weights(work)["a", "b"] == pytest.approx(0.5002, abs=1e-12)


def test_a_run_is_one_operation_however_many_links_it_moves(work):
    work.link("b", "a", weight=0.3)
    run = work.run_start()
    work.recall(CUE, session=run.session, limit=3, floor=0)
    before = work.stats().operations
    work.run_used(run.id)
    assert work.stats().operations == before + 1


def test_an_output_that_nobody_used_for_a_week_counts_as_unused(work, clock):
    run = work.run_start()
    work.recall(CUE, session=run.session, limit=2, floor=0)
    work.run_end(run.id)
    clock.at += timedelta(days=PLASTICITY.run_days)
    work.run_end(work.run_start().id)
    assert weights(work)["a", "b"] == 0.5
    clock.at += timedelta(seconds=1)
    work.run_start()
    assert weights(work)["a", "b"] == pytest.approx(0.5 - 1e-5, abs=1e-12)
    assert work.run_used(run.id).settled == "used", "a late report takes the step down back"
    assert weights(work)["a", "b"] == pytest.approx(0.5 + 1e-5, abs=1e-12)
    with pytest.raises(Conflict, match="settled as used"):
        work.run_used(run.id)


def test_a_used_run_counts_the_co_activations_of_its_recalls(work, clock):
    for _ in range(3):
        assert work.links(relation="co-activated") == []
        clock.at += timedelta(hours=1)
        run = work.run_start()
        work.recall(CUE, session=run.session, floor=0)
        work.run_used(run.id)
    pairs = {tuple(sorted((link.source, link.target))) for link in work.links(relation="co-activated")}
    assert ("a", "b") in pairs


def test_a_run_is_settled_after_a_restart(open_memory, url):
    first = open_memory(url)
    first.remember("Kestrel signs the nightly builds.", key="a")
    first.remember("Gulls nest upon tall cliffs.", key="b")
    first.link("a", "b")
    run = first.run_start("my work")
    first.recall(CUE, session="my work", floor=0)
    first.close()
    again = open_memory(url)
    assert again.run_used(run.id).shown == ("a", "b")
    assert weights(again)["a", "b"] == pytest.approx(0.5 + 1e-5, abs=1e-12)


def test_what_was_recalled_before_the_run_began_is_not_of_it(work, clock):
    work.recall(CUE, session="s", floor=0)
    clock.at += timedelta(minutes=1)
    run = work.run_start("s")
    assert work.run_end(run.id).shown == ()


def test_two_runs_of_one_session_at_a_time_are_refused(work):
    work.run_start("s")
    with pytest.raises(Conflict, match="under way"):
        work.run_start("s")


def test_a_run_ends_once_and_is_settled_once(work):
    run = work.run_start()
    work.run_end(run.id)
    with pytest.raises(Conflict, match="ended at"):
        work.run_end(run.id)
    work.run_used(run.id)
    with pytest.raises(Conflict, match="settled as used"):
        work.run_used(run.id)


def test_an_unknown_run_is_not_found(work):
    for act in (work.run_end, work.run_used):
        with pytest.raises(NotFound, match="nothing"):
            act("nothing")


def test_purging_a_memory_takes_it_out_of_the_runs(work):
    run = work.run_start()
    work.recall(CUE, session=run.session, limit=2, floor=0)
    work.run_end(run.id)
    work.purge("b")
    assert work.run_list()[0].shown == ("a",)
    work.run_used(run.id)


@pytest.mark.parametrize("used", ["no", 1, 0, []])
def test_what_became_of_a_run_is_yes_or_no(memory, used):
    run = memory.run_start()
    with pytest.raises(ParamError, match="True, False or None"):
        memory.run_end(run.id, used=used)
    assert memory.run_list()[0].ended_at is None
