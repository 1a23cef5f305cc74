"""Reviews and uses: what verdicts leave in a memory, and how recall feels it as time passes."""

import math
from datetime import UTC, datetime, timedelta

import fsrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priming import Cue, FixedClock, HashedEmbedder, Memory
from priming.config.params.laws import BASE_LEVEL
from priming.index.cue_feedback import Practice, base_levels, retained_share
from priming.learning.verdict_effect import is_due, review, with_use
from priming.serialization import stamp
from priming.storage.rows import MemoryRow
from priming.types import Retention, Use, days_between

START = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
DAY = timedelta(days=1)
NEW = MemoryRow("a", "a", "fact")
scheduler = fsrs.Scheduler(enable_fuzzing=False, learning_steps=(), relearning_steps=())


def reviewed(row, now, *, recalled):
    after = review(row, START, now, recalled=recalled)
    return with_use(after, now) if recalled else after


# One review


def test_the_first_review_by_hand():
    good, again = (review(NEW, START, START + DAY, recalled=item) for item in (True, False))
    # FSRS-6: w2 and w0. World Weaver, a day after it was told: R = 1.9^(−½), S · (1 + .1 · (1 − R)) and S · .8.
    assert (good.stability, again.stability) == (2.3065, 0.212)
    assert good.endurance == pytest.approx(1 + 0.1 * (1 - 1.9**-0.5))
    assert again.endurance == pytest.approx(0.8)
    assert good.difficulty < again.difficulty
    assert good.reviewed_at == again.reviewed_at == START + DAY


def test_world_weaver_counts_from_the_last_use_and_a_failed_recall_is_none():
    once = reviewed(NEW, START + DAY, recalled=True)
    failed = reviewed(once, START + 3 * DAY, recalled=False)
    assert failed.endurance == pytest.approx(once.endurance * 0.8)
    again = review(failed, START, START + 5 * DAY, recalled=True)
    left = (1 + 0.9 * 4 / failed.endurance) ** -0.5
    assert again.endurance == pytest.approx(failed.endurance * (1 + 0.1 * (1 - left)))


@given(st.lists(st.tuples(st.integers(0, 400), st.booleans()), min_size=1, max_size=8))
def test_reviews_at_whole_days_leave_what_the_reference_of_fsrs_leaves(history):
    card, row, now = fsrs.Card(card_id=1), NEW, START
    for days, recalled in history:
        now += timedelta(days=days)
        rating = fsrs.Rating.Good if recalled else fsrs.Rating.Again
        card, _ = scheduler.review_card(card, rating, now)
        row = reviewed(row, now, recalled=recalled)
        assert (row.stability, row.difficulty) == pytest.approx((card.stability, card.difficulty), rel=1e-9)
    (later,) = [Practice(0, 0.0, (), row.stability, now.timestamp())]
    for days in (0, 1, 30):
        at = now + timedelta(days=days)
        assert retained_share([later], at) == pytest.approx(scheduler.get_card_retrievability(card, at))


@given(st.lists(st.tuples(st.floats(0, 400), st.booleans()), max_size=12))
def test_world_weavers_stability_is_never_clamped(history):
    row, now, expected = NEW, START, 1.0
    for days, recalled in history:
        last = row.last_used_at or START
        now += timedelta(days=days)
        left = (1 + 0.9 * ((now - last) / DAY) / expected) ** -0.5
        expected *= 1 + 0.1 * (1 - left) if recalled else 0.8
        row = reviewed(row, now, recalled=recalled)
        assert row.endurance == pytest.approx(expected, rel=1e-9)


def test_a_clock_that_was_set_back_counts_as_no_time():
    assert days_between(START + DAY, START) == 0
    once = reviewed(NEW, START + DAY, recalled=True)
    same, back = (reviewed(once, at, recalled=True) for at in (START + DAY, START))
    assert (back.stability, back.endurance) == (same.stability, same.endurance)
    assert back.first_used_at == START
    assert base_levels([Practice.of(*state(back))], START)[0] <= 1


def state(row):
    use = Use(row.uses, row.last_used_at, first_used_at=row.first_used_at,
              recent=tuple(map(datetime.fromisoformat, row.recent)))  # fmt: skip
    return use, Retention(row.stability, row.difficulty, row.endurance, row.reviewed_at)


def test_an_automatic_verdict_is_a_review_once_a_day():
    assert is_due(None, START, "automatic")
    assert not is_due(START, START + DAY - timedelta(seconds=1), "automatic")
    assert is_due(START, START + DAY, "automatic")
    assert is_due(START, START, "conscious")


# Uses


def test_the_latest_uses_are_kept_with_their_times_and_all_are_counted():
    row = NEW
    for number in range(BASE_LEVEL.recent + 3):
        row = with_use(row, START + number * DAY)
    assert row.uses == BASE_LEVEL.recent + 3
    assert row.recent == tuple(stamp(START + number * DAY) for number in range(12, 2, -1))
    assert (row.first_used_at, row.last_used_at) == (START, START + 12 * DAY)


def test_the_base_level_of_uses_is_petrovs_law():
    few = Practice(2, hours_ago(5), (hours_ago(3), hours_ago(5)), 0.0, 0.0)
    many = Practice(3, hours_ago(6), (hours_ago(3), hours_ago(5)), 0.0, 0.0)
    exact = math.log(3**-0.5 + 5**-0.5)
    # LAWS §3: hybrid([3, 5], 3, 6) = .37253; a score is 1 / (1 + e^(−(B + 1))).
    expected = [1 / (1 + math.exp(-(level + 1))) for level in (exact, 0.37253)]
    assert base_levels([few, many], START) == pytest.approx(expected, rel=1e-5)


def hours_ago(hours):
    return (START - timedelta(hours=hours)).timestamp()


def test_a_use_from_before_times_were_kept_counts_from_the_last():
    old = Practice.of(Use(uses=5, last_used_at=START), Retention())
    assert (old.recent, old.first) == ((START.timestamp(),), START.timestamp())
    assert Practice.of(Use(uses=5), Retention()) is None
    assert Practice.of(Use(), Retention()) is None


# Verdicts


CUE = "who signs the builds"


@pytest.fixture
def reply(memory, clock):
    """Two facts of the same text, which match every cue alike."""
    for key, days in (("kestrel", 2), ("heron", 1)):
        memory.remember("Kestrel signs the builds.", key=key, kind="fact", occurred_at=clock.at - days * DAY)
    return memory


def judge(memory, **verdicts):
    return memory.feedback(memory.recall(CUE).recall_id, **verdicts)


@pytest.mark.parametrize("verdict", ["used", "confirmed"])
def test_praise_is_a_successful_recall(reply, clock, verdict):
    clock.at += DAY
    judge(reply, **{verdict: ["kestrel"]})
    item = reply.get("kestrel")
    assert item.retention.stability == 2.3065
    assert item.retention.endurance == pytest.approx(1 + 0.1 * (1 - 1.9**-0.5))
    assert item.retention.reviewed_at == item.use.first_used_at == clock.at
    assert item.use.recent == (clock.at,)


@pytest.mark.parametrize("verdict", ["not_useful", "overridden"])
def test_blame_is_a_failed_recall(reply, clock, verdict):
    judge(reply, **{verdict: ["kestrel"]})
    item = reply.get("kestrel")
    assert (item.retention.stability, item.retention.endurance) == (0.212, 0.8)
    assert (item.use.recent, item.use.first_used_at, item.retention.reviewed_at) == ((), None, clock.at)


@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(st.tuples(st.integers(0, 60), st.booleans()), min_size=1, max_size=6))
def test_verdicts_at_whole_days_leave_what_the_reference_of_fsrs_leaves(history):
    clock = FixedClock(START)
    with Memory.open("sqlite://", embedder=HashedEmbedder(64), clock=clock) as memory:
        memory.remember("Kestrel signs the builds.", key="kestrel", kind="fact")
        card = fsrs.Card(card_id=1)
        for days, recalled in history:
            clock.at += days * DAY
            judge(memory, **{"used" if recalled else "not_useful": ["kestrel"]})
            rating = fsrs.Rating.Good if recalled else fsrs.Rating.Again
            card, _ = scheduler.review_card(card, rating, clock.at)
        left = memory.get("kestrel").retention
        assert (left.stability, left.difficulty) == pytest.approx((card.stability, card.difficulty))


def test_what_is_not_relevant_was_not_reviewed(reply):
    judge(reply, not_relevant=["kestrel"])
    assert reply.get("kestrel").retention == Retention()


def test_verdicts_given_together_are_one_review_that_failed_if_any_did(reply):
    judge(reply, used=["kestrel"], confirmed=["kestrel"], overridden=["heron"])
    assert reply.get("kestrel").retention.stability == 2.3065
    judge(reply, confirmed=["kestrel"], not_useful=["kestrel"])
    assert reply.get("kestrel").retention.stability < 2.3065
    assert reply.get("kestrel").use.uses == 3


def test_automatic_verdicts_of_a_day_are_one_review_and_each_is_a_use(reply, clock):
    judge(reply, used=["kestrel"])
    for hours in (5, 23):
        clock.at += timedelta(hours=hours)
        reply.feedback(reply.recall(CUE).recall_id, used=["kestrel"], tier="automatic")
    item = reply.get("kestrel")
    assert (item.use.uses, item.use.last_used_at) == (3, clock.at)
    # That of 5 hours was no review, that of 28 hours was.
    assert item.retention.reviewed_at == clock.at
    row = review(NEW, START, START, recalled=True)
    assert (
        item.retention.stability == review(row, START, START + timedelta(hours=28), recalled=True).stability
    )


def test_a_review_is_undone_with_its_verdict_and_done_again(reply):
    judge(reply, used=["kestrel"])
    before = reply.get("kestrel")
    done = judge(reply, not_useful=["kestrel"])
    after = reply.get("kestrel")
    assert after.retention != before.retention
    undone = reply.undo(done.id)
    assert reply.get("kestrel") == before
    reply.undo(undone.id)
    assert reply.get("kestrel") == after


def test_a_merge_adds_the_uses_up_and_keeps_what_is_retained_better(reply, clock):
    judge(reply, used=["kestrel"])
    clock.at += DAY
    judge(reply, used=["heron"])
    clock.at += DAY
    judge(reply, used=["heron"])
    heron = reply.get("heron")
    reply.merge("heron", "kestrel")
    item = reply.get("kestrel")
    assert item.retention == heron.retention
    assert item.use.recent == (clock.at, clock.at - DAY, clock.at - 2 * DAY)
    assert (item.use.uses, item.use.first_used_at) == (3, clock.at - 2 * DAY)


def test_what_is_retained_travels(reply, open_memory, tmp_path):
    judge(reply, used=["kestrel"], not_useful=["heron"])
    reply.export(tmp_path / "all.jsonl")
    copy = open_memory(namespace="copy")
    copy.import_(tmp_path / "all.jsonl")
    for key in ("kestrel", "heron"):
        assert copy.get(key).retention == reply.get(key).retention
        assert copy.get(key).use == reply.get(key).use


# Forgetting that is felt


def components(memory, profile="priming", **more):
    return {
        hit.memory.key: (hit.score, dict(hit.components))
        for hit in memory.recall(CUE, profile=profile, **more).hits
    }


def order(memory, profile, cue=CUE):
    return [hit.memory.key for hit in memory.recall(cue, profile=profile).hits]


@pytest.mark.parametrize("profile", ["priming", "world-weaver", "arc", "floop", "poc", "ethos", "synapse"])
def test_without_verdicts_nothing_is_known_to_be_forgotten(reply, clock, profile):
    clock.at += 300 * DAY
    whole = reply.recall(CUE, profile=profile)
    less = reply.recall(CUE, profile=profile, ablate=["use"])
    assert whole.hits == less.hits
    assert whole.hits
    shown = {name for hit in whole.hits for name in hit.components}
    assert "retention" not in shown
    assert profile == "floop" or "base" not in shown


def test_a_verdict_on_one_memory_leaves_the_scores_of_the_others(reply, clock):
    reply.remember("Gulls nest upon tall cliffs.", key="gulls")
    before = components(reply, ablate=["feedback"])
    reply.feedback(reply.recall("gulls nest").recall_id, used=["gulls"])
    clock.at += 30 * DAY
    after = components(reply, ablate=["feedback"])
    for key in ("kestrel", "heron"):
        own = [
            {name: part for name, part in result[key][1].items() if name != "rivals"}
            for result in (before, after)
        ]
        assert {name: own[1][name] for name in own[0]} == pytest.approx(own[0], abs=1e-3)
        assert "use" not in own[0] or own[0]["use"] == 0


def test_in_the_default_profile_what_is_nearly_forgotten_yields_to_its_equal(reply, clock):
    judge(reply, used=["kestrel"])
    clock.at += 2 * 365 * DAY
    on = components(reply)
    left = (1 + (0.9 ** (-1 / 0.1542) - 1) * 730 / 2.3065) ** -0.1542
    base = 1 / (1 + math.exp(-1 + 0.5 * math.log(730 * 24)))
    assert on["kestrel"][1]["use"] == pytest.approx(0.3 * (base + left - 1.0))
    assert on["kestrel"][1]["use"] < 0.0 == on["heron"][1].get("use", 0.0)


def test_in_the_default_profile_what_was_used_lately_comes_first(reply, clock):
    judge(reply, used=["heron"])
    clock.at += timedelta(hours=1)
    assert list(components(reply, ablate=["feedback"])) == ["heron", "kestrel"]


def test_in_arc_a_memory_loses_half_of_its_recency_in_a_week_and_its_rank_with_it(memory, clock):
    memory.remember("Kestrel signs the builds.", key="old")
    clock.at += 7 * DAY
    memory.remember("Heron signs the builds.", key="new")
    result = components(memory, "arc")
    assert (result["old"][1]["recency"], result["new"][1]["recency"]) == (0.5, 1.0)
    # What the likeness gives the old one over the new is less than the .1 that its recency lost.
    assert abs(result["old"][1]["relevance"] - result["new"][1]["relevance"]) < 0.2
    assert order(memory, "arc") == ["new", "old"]
    judge(memory, confirmed=["old"])
    assert components(memory, "arc")["old"][1]["recency"] == 1.0


def test_in_world_weaver_a_fact_that_failed_falls_below_one_that_was_recalled(reply, clock):
    clock.at += DAY
    judge(reply, used=["heron"], not_useful=["kestrel"])
    clock.at += 3 * DAY
    result = components(reply, "world-weaver")
    assert order(reply, "world-weaver") == ["heron", "kestrel"]
    praised = 1 + 0.1 * (1 - 1.9**-0.5)
    assert result["heron"][1]["retrievability"] == pytest.approx((1 + 0.9 * 3 / praised) ** -0.5)
    assert result["kestrel"][1]["retrievability"] == pytest.approx((1 + 0.9 * 4 / 0.8) ** -0.5)


def test_in_world_weaver_a_failed_recall_is_felt_at_once(reply, clock):
    clock.at += 10 * DAY
    before = components(reply, "world-weaver")["kestrel"][1]["retrievability"]
    judge(reply, not_useful=["kestrel"])
    assert components(reply, "world-weaver")["kestrel"][1]["retrievability"] < before


def test_in_world_weaver_uses_raise_the_activation_of_a_fact(reply, clock):
    clock.at += 10 * DAY
    before = components(reply, "world-weaver")["kestrel"][1]["activation"]
    judge(reply, used=["kestrel"])
    clock.at += 10 * DAY
    judge(reply, used=["kestrel"])
    clock.at += 10 * DAY
    after = components(reply, "world-weaver")["kestrel"][1]["activation"]
    # ln 2 more at the same age, give or take noise of sigma .1 on both: three of its deviations are .43.
    assert math.log(after / (1 - after)) - math.log(before / (1 - before)) > math.log(2) - 0.43


def test_a_conflict_takes_no_part_in_the_association_of_names(open_memory):
    with open_memory(profile="world-weaver") as memory:
        memory.remember("Kestrel signs the builds.", key="fact", kind="fact")
        before = components(memory, "world-weaver")
        memory.link("entity:kestrel", "fact", "conflicts", 1.0)
        query = Cue("What does Kestrel do?")
        assert order(memory, "world-weaver", query.text) == ["fact"]
        assert components(memory, "world-weaver") == before


def test_floop_counts_the_age_of_a_memory_from_its_first_use(reply, clock):
    judge(reply, used=["kestrel"])
    clock.at += DAY
    judge(reply, used=["kestrel"])
    # LAWS §3, two uses, the first a day ago: ln(2 · 24^(−.5) / .5); 1 / (1 + e^(−(B + 1))).
    level = math.log(2 * 24**-0.5 / 0.5)
    assert components(reply, "floop")["kestrel"][1]["base"] == pytest.approx(1 / (1 + math.exp(-(level + 1))))


def test_what_is_practised_is_known_after_a_restart_and_after_a_snapshot(open_memory, url, clock):
    memory = open_memory(url)
    memory.remember_many({"content": f"Build {n} is signed by host {n}.", "session": "s"} for n in range(300))
    key = memory.recall("build 7", floor=0).hits[0].memory.key
    memory.feedback(memory.recall("build 7", floor=0).recall_id, used=[key])
    clock.at += 20 * DAY
    holder = dict(memory.working(clock.at).practice)
    answer = memory.recall("build 7 host").hits
    memory.close()
    again = open_memory(url)
    assert again.recall("build 7 host").hits == answer
    assert again._working.snapshot_size
    assert again._working.practice == holder
    again.drop_snapshot()
    assert again.recall("build 7 host").hits == answer
    assert again._working.practice == holder


def test_what_is_out_of_recall_is_as_if_it_were_never_practised(open_memory, url, clock):
    memory = open_memory(url)
    for key in ("kestrel", "heron"):
        memory.remember(f"{key} signs the builds", key=key)
    memory.forget("heron")
    before = memory.recall(CUE, ablate=["feedback"]).hits
    memory.restore("heron")
    memory.feedback(memory.recall(CUE).recall_id, used=["heron"])
    memory.forget("heron")
    answer = memory.recall(CUE, ablate=["feedback"]).hits
    assert answer == before
    assert open_memory(url).recall(CUE, ablate=["feedback"]).hits == answer
    memory.restore("heron")
    clock.at += DAY
    assert "use" in memory.recall(CUE).hits[0].components


def test_a_memory_that_is_gone_is_no_longer_practised(reply):
    done = judge(reply, used=["kestrel"])
    working = reply.working
    assert set(working(START).practice) == {reply.get("kestrel").id}
    reply.undo(done.id)
    assert working(START).practice == {}
    judge(reply, used=["kestrel"])
    reply.purge("kestrel")
    assert working(START).practice == {}
