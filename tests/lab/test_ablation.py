"""Ablation: what each term is worth on judged recalls, without what their own verdicts taught; and other weights."""

import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from tests.rows import each_row

from priming import Cue, FixedClock, HashedEmbedder, Memory
from priming.config.params.recall import RecallParams
from priming.errors import Conflict, ParamError
from priming.recall.candidates import TERMS, write_weights
from priming_lab import tuning
from priming_lab.ablation import LEAST
from priming_lab.metrics import average_precision
from priming_lab.tuning import MARGIN, WEIGHTS, WeightSearch, propose_weights

START = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
LATER = START + timedelta(days=1)
CUES = 30
MINUTES = timedelta(minutes=5)


def words(number):
    """Four words that no other number has."""
    ending = f"{chr(97 + number // 6)}{chr(97 + number % 6)}"
    return [f"{stem}{ending}" for stem in ("oak", "elm", "fig", "yew")]


def judge(memory, clock, text, gold, **supplied):
    """Ask, and say of a memory that it was what was meant."""
    clock.at += MINUTES
    recall = memory.recall(text, limit=100, floor=0.0, **supplied)
    clock.at += MINUTES
    memory.feedback(recall.recall_id, used=[gold])
    return [hit.memory.key for hit in recall.hits]


def by_term(ablation):
    return {term.term: term for term in ablation.terms}


def dated(memory, number):
    """The same text on different days: nothing but the date tells one from the other."""
    days = [START - timedelta(days=10 * (i + 1)) for i in range(number)]
    for i, day in enumerate(days):
        memory.remember("The barges were loaded at the quay.", occurred_at=day, key=f"day-{i}")
    return [
        f"What did {' '.join(words(i))} load on {day.day} {day:%B} {day.year}?" for i, day in enumerate(days)
    ]


def told_and_near(memory, number=CUES):
    """For each cue a text that is nearer to it, and one told for its task: the context does not decide yet."""
    for i in range(number):
        item, two, three, _ = words(i)
        memory.remember(f"{item} {two} {three} stood by day", key=f"near-{i}")
        memory.remember(f"{item} {two} grew there tall and green", when={"task": f"t{i}"}, key=f"told-{i}")


def told_or_near(memory, number):
    """For each cue a text that is a little nearer to it, and one that was told for its task: its context decides."""
    for i in range(number):
        item, two, three, _ = words(i)
        memory.remember(f"{item} {two} {three} stood by day and by night too", key=f"near-{i}")
        memory.remember(f"{item} {two} grew", when={"task": f"t{i}"}, key=f"told-{i}")


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    """A store whose judged recalls want more of the context than the profile gives."""
    folder = tmp_path_factory.mktemp("settled")
    clock = FixedClock(START)
    with Memory.open(f"sqlite:///{folder}/memory.db", embedder=HashedEmbedder(256), clock=clock) as memory:
        told_and_near(memory, CUES + 1)
        for i in range(CUES):
            judge(memory, clock, " ".join(words(i)), f"told-{i}", cue=Cue(task=f"t{i}"))
    return folder


@pytest.fixture(scope="module")
def weighed(settled, tmp_path_factory):
    """The same store after its weights were applied, and what was said of them."""
    folder = tmp_path_factory.mktemp("weighed") / "store"
    copytree(settled, folder)
    clock = FixedClock(LATER)
    few = {term: WEIGHTS[term] for term in ("context", "session")}
    with (
        pytest.MonkeyPatch.context() as patch,
        Memory.open(f"sqlite:///{folder}/memory.db", embedder=HashedEmbedder(256), clock=clock) as memory,
    ):
        patch.setattr(
            tuning, "WEIGHTS", few
        )  # the search takes most of the time, and the others prove nothing here
        return folder, memory.ablate(["context"], apply=True)


@pytest.fixture
def place(settled, tmp_path):
    copytree(settled, tmp_path / "before")
    return f"sqlite:///{tmp_path}/before/memory.db"


@pytest.fixture
def applied(weighed, tmp_path):
    folder, ablation = weighed
    copytree(folder, tmp_path / "store")
    return f"sqlite:///{tmp_path}/store/memory.db", ablation


def first(memory, **supplied):
    """What comes up first for a cue that nobody judged."""
    recall = memory.recall(" ".join(words(CUES)), cue=Cue(task=f"t{CUES}"), **supplied)
    return recall.hits[0].memory.key


NEAR, TOLD = f"near-{CUES}", f"told-{CUES}"
"""What comes up first by the profile's own weights, and by those that are proposed."""


def test_a_term_that_alone_tells_right_from_wrong_is_worth_just_that(memory, clock):
    # What a verdict on one cue taught says nothing of the others, but would order what is alike otherwise.
    own, taught = RecallParams(), ("feedback", "use")
    before = {name: getattr(own, name) for name in taught}
    write_weights(memory, memory.profile, dict.fromkeys(taught, 0.0), before, clock.at)
    for i, cue in enumerate(dated(memory, 12)):
        judge(memory, clock, cue, f"day-{i}")
    result = memory.ablate(propose=False)
    assert (result.recalls, result.cues, result.quality, result.left_out) == (12, 12, 1.0, {})
    without = 1.0 - by_term(result)["date"].worth
    worth = by_term(result)["date"]
    assert worth.low > 0.0
    assert worth.worse == 0
    assert {term.term for term in result.terms if term.low > 0.0} <= {"date"}
    # Without the date the memories are alike, and what is first has nothing to do with the cue: about each of the
    # places once, of which ten are measured.
    assert without == pytest.approx(sum(1.0 / (i + 1) for i in range(10)) / 12, abs=0.05)


def test_a_term_that_does_nothing_has_an_interval_around_nothing(memory, clock):
    for i, cue in enumerate(dated(memory, 8)):
        judge(memory, clock, cue, f"day-{i}")
    (result,) = memory.ablate(["information"], propose=False).terms
    assert (result.worth, result.low, result.high, result.better, result.worse) == (0.0, 0.0, 0.0, 0, 0)
    assert result.weights == {"information": RecallParams().information}


@pytest.mark.parametrize(("drawn", "is_nothing"), [(["told"], False), (["told", "near"], True)])
def test_labels_that_are_drawn_by_lot_show_nothing(memory, clock, drawn, is_nothing):
    told_or_near(memory, 20)
    lot = random.Random(1)
    for i in range(20):
        judge(memory, clock, " ".join(words(i)), f"{lot.choice(drawn)}-{i}", cue=Cue(task=f"t{i}"))
    (worth,) = memory.ablate(["context"], propose=False).terms
    assert (worth.low <= 0.0 <= worth.high) == is_nothing


def test_a_verdict_does_not_vouch_for_itself(memory, clock):
    days = [START - timedelta(days=i + 1) for i in range(12)]
    for i, day in enumerate(days):
        memory.remember("The barges were loaded at the quay.", occurred_at=day, key=f"day-{i}")
    cues = [f"barges {word}" for word in ("kestrel", "violin", "porridge", "glacier", "lantern", "trumpet")]
    for i, cue in enumerate(cues):
        judge(memory, clock, cue, f"day-{11 - i}")
    # Asked again, each cue has the answer that it was told: by that verdict alone.
    assert [memory.recall(cue, floor=0.0).hits[0].memory.key for cue in cues] == [
        f"day-{11 - i}" for i in range(6)
    ]
    (worth,) = memory.ablate(["feedback"], propose=False).terms
    assert (worth.worth, worth.better, worth.worse) == (0.0, 0, 0)


def test_what_an_earlier_verdict_taught_counts_for_the_next_who_asks(memory, clock):
    days = [START - timedelta(days=i + 1) for i in range(12)]
    for i, day in enumerate(days):
        memory.remember("The barges were loaded at the quay.", occurred_at=day, key=f"day-{i}")
    cues = [f"barges {word}" for word in ("kestrel", "violin", "porridge", "glacier", "lantern", "trumpet")]
    for _ in range(2):
        for i, cue in enumerate(cues):
            judge(memory, clock, cue, f"day-{11 - i}")
    # What is used for a cue tells as much by its use.
    write_weights(memory, memory.profile, {"use": 0.0}, {"use": RecallParams().use}, clock.at)
    result = memory.ablate(["feedback"], propose=False)
    assert (result.recalls, result.cues) == (12, 6)
    assert by_term(result)["feedback"].better == 6
    assert by_term(result)["feedback"].low > 0.0


def test_a_clock_that_stands_still_lets_no_verdict_vouch_for_itself(memory):
    for i in range(12):
        memory.remember("The barges were loaded.", occurred_at=START - timedelta(days=i + 1), key=f"day-{i}")
    recall = memory.recall("barges kestrel", limit=100, floor=0.0)
    memory.feedback(recall.recall_id, used=["day-11"])
    (worth,) = memory.ablate(["feedback"], propose=False).terms
    assert worth.worth == 0.0


def test_links_that_verdicts_moved_are_replayed_as_they_were(memory, clock):
    memory.remember("Kestrel signs the builds.", key="signs", session="monday")
    memory.remember("Gulls nest upon the cliff.", key="gulls", session="monday")
    before = {(link.source, link.target): link.weight for link in memory.links()}
    for _ in range(4):
        clock.at += timedelta(days=2)
        judge(memory, clock, "Kestrel builds", "gulls")
    assert {(link.source, link.target): link.weight for link in memory.links()} != before
    present = memory.recall("Kestrel builds").hits
    memory.ablate(["spread"], propose=False)
    again = memory.recall("Kestrel builds").hits
    assert [(hit.memory.key, hit.score) for hit in again] == [(hit.memory.key, hit.score) for hit in present]


def test_a_replay_reads_the_cue_as_a_recall_without_the_term_does(memory, clock):
    memory.remember("Valkey, which holds sessions.", key="valkey")
    for number, text in enumerate(("the marathon", "to the mill", "along the beach")):
        memory.remember(
            f"On {('Monday', 'Tuesday', 'Friday')[number]} they run {text}.", key=f"other-{number}"
        )
    cue = "Which cache do we run?"
    ranked = [hit.memory.key for hit in memory.recall(cue, floor=0, ablate=["near"]).hits]
    judge(memory, clock, cue, "valkey")
    (worth,) = memory.ablate(["near"], propose=False).terms
    assert worth.worth == pytest.approx(1.0 - average_precision({"valkey"}, ranked))
    assert worth.worth > 0.0


def test_cues_that_are_alike_are_one(memory, clock):
    told_and_near(memory, 4)
    for i in range(4):
        for text in (" ".join(words(i)), f"{' '.join(words(i))}?", f"the {' '.join(words(i))}"):
            judge(memory, clock, text, f"told-{i}", cue=Cue(task=f"t{i}"))
    result = memory.ablate(["words"], propose=False)
    assert (result.recalls, result.cues) == (12, 4)


def test_too_few_judged_cues_propose_nothing_and_say_how_many_there_are(memory, clock):
    told_and_near(memory, 3)
    for i in range(3):
        judge(memory, clock, " ".join(words(i)), f"told-{i}", cue=Cue(task=f"t{i}"))
    result = memory.ablate(["context"], apply=True)
    assert (result.proposal, result.operation) == (None, None)
    assert "3 judged cues" in result.reason
    assert f"from {LEAST} on" in result.reason


def test_nothing_judged_is_said_and_is_no_error(memory):
    result = memory.ablate()
    assert (result.recalls, result.quality, result.terms, result.proposal) == (0, None, (), None)
    assert "0 judged cues" in result.reason


def test_what_cannot_be_replayed_is_counted(memory, clock):
    told_and_near(memory, 4)
    judge(memory, clock, " ".join(words(0)), "told-0", cue=Cue(task="t0"))
    judge(memory, clock, " ".join(words(1)), "told-1", cue=Cue(task="t1"))
    memory.forget("told-1")
    clock.at += MINUTES
    memory.feedback(memory.recall(" ".join(words(2))).recall_id, not_relevant=["near-2"])
    judge(memory, clock, " ".join(words(3)), "near-3", profile="ethos")
    result = memory.ablate(["words"], propose=False)
    assert result.recalls == 1
    assert result.left_out == {
        "by another profile": 1,
        "nothing was relevant": 1,
        "relevant memories are gone": 1,
    }


def test_only_the_latest_recalls_are_replayed_up_to_the_limit(memory, clock):
    told_and_near(memory, 4)
    for i in range(4):
        judge(memory, clock, " ".join(words(i)), f"told-{i}", cue=Cue(task=f"t{i}"))
    result = memory.ablate(["words"], limit=3, propose=False)
    assert (result.recalls, result.left_out) == (3, {"before the latest 3": 1})


@pytest.mark.parametrize(
    "options", [{"terms": ["context"], "propose": False}, pytest.param({}, marks=pytest.mark.slow)]
)
def test_it_moves_nothing_and_keeps_no_recall(place, tmp_path, clock, options):
    with Memory.open(place, embedder=HashedEmbedder(256), clock=clock) as memory:
        memory.export(tmp_path / "before.jsonl")
        before = memory.stats()
        memory.ablate(**options)
        memory.export(tmp_path / "after.jsonl")
        assert memory.stats() == before
    assert (tmp_path / "after.jsonl").read_bytes() == (tmp_path / "before.jsonl").read_bytes()


def test_weights_that_stand_are_proposed_and_applied_and_taken_back(applied, place, open_memory):
    url, result = applied
    own = RecallParams()
    assert result.proposal.stands
    assert result.proposal.weights["context"] > own.context
    assert result.proposal.low > 0.0
    assert result.proposal.worst <= MARGIN
    assert result.proposal.before == {name: getattr(own, name) for name in result.proposal.weights}
    assert all(value != getattr(own, name) for name, value in result.proposal.weights.items())
    assert first(open_memory(place)) == NEAR
    memory = open_memory(url)
    assert memory.stats().weights == {"priming": result.proposal.weights}
    assert first(memory) == TOLD
    assert memory.log(limit=1)[0].id == result.operation
    (message,) = (reason for reason in memory.why("told-3").reasons if "instead of" in reason)
    for name, value in result.proposal.weights.items():
        assert f"{name} {value:g} instead of {getattr(own, name):g}" in message
    memory.undo(result.operation)
    assert (memory.stats().weights, first(memory)) == ({}, NEAR)
    assert not any("instead of" in reason for reason in memory.why("told-3").reasons)


def test_weights_hold_in_every_process_and_after_reopening(applied, open_memory):
    url, result = applied
    item, other = open_memory(url), open_memory(url)
    assert first(other) == TOLD
    item.undo(result.operation)
    assert first(other) == NEAR
    item.undo(item.log(limit=1)[0].id)
    assert first(other) == TOLD
    item.close()
    other.close()
    assert first(open_memory(url)) == TOLD


def test_weights_are_those_of_one_namespace_and_one_profile(applied, open_memory):
    url, _ = applied
    other = open_memory(url, namespace="other")
    told_and_near(other, CUES + 1)
    assert first(other) == NEAR
    assert other.stats().weights == {}


def test_weights_go_with_an_export_and_come_back_with_the_import(applied, tmp_path, open_memory):
    url, result = applied
    open_memory(url).export(tmp_path / "all.jsonl")
    other = open_memory()
    other.import_(tmp_path / "all.jsonl")
    assert other.stats().weights == {"priming": result.proposal.weights}
    assert first(other) == TOLD
    again = open_memory()
    open_memory(url).export(tmp_path / "again.jsonl")
    again.import_(tmp_path / "again.jsonl")
    again.undo(result.operation)
    assert first(again) == NEAR


def test_weights_go_with_a_backup_and_come_back_with_it(applied, tmp_path, open_memory):
    url, result = applied
    memory = open_memory(url)
    memory.backup(tmp_path / "kept.db")
    memory.undo(result.operation)
    memory.restore_backup(tmp_path / "kept.db")
    assert first(memory) == TOLD


def test_a_recall_of_another_time_is_weighed_as_it_was_then(applied, open_memory):
    url, _ = applied
    memory = open_memory(url)
    assert first(memory, known_at=LATER - MINUTES) == NEAR
    assert first(memory, known_at=LATER) == TOLD


def test_weights_that_were_changed_meanwhile_are_not_overwritten(applied, open_memory):
    url, result = applied
    opened = open_memory(url)
    with (
        opened.writing() as now,
        pytest.raises(Conflict, match=r"by now, where .* was measured: ablate again"),
    ):
        write_weights(opened, opened.profile, result.proposal.weights, result.proposal.before, now)


def test_an_undo_that_a_later_change_forbids_names_the_weights(applied, open_memory):
    url, result = applied
    memory = open_memory(url)
    own = result.proposal.weights
    with memory.writing() as now:
        write_weights(memory, memory.profile, {"date": 0.5}, {"date": memory.profile.recall.date}, now)
    assert memory.stats().weights == {"priming": {**own, "date": 0.5}}
    with pytest.raises(Conflict, match=r"\(ablate\) changed the same weights since: undo that first"):
        memory.undo(result.operation)


@pytest.mark.slow
def test_what_helps_half_of_the_cues_and_harms_the_others_is_refused(memory, clock):
    told_and_near(memory)
    for i in range(CUES):
        gold = "told" if i % 2 else "near"
        judge(memory, clock, " ".join(words(i)), f"{gold}-{i}", cue=Cue(task=f"t{i}"))
    result = memory.ablate(["context"], apply=True)
    assert result.operation is None
    assert result.proposal is None or not result.proposal.stands
    assert memory.stats().weights == {}


@each_row(("helped", "harmed", "stands"), [(30, 0, True), (29, 1, False), (15, 15, False)])
def test_no_cue_pays_more_than_the_margin_for_the_others(helped, harmed, stands):
    own = RecallParams()

    def quality(params):
        moved = 0.5 * (params.date - own.date) / own.date
        return np.array([0.5 + moved] * helped + [0.5 - moved] * harmed)

    offer = propose_weights(WeightSearch(own, own, quality))
    result = {} if offer is None else offer.weights
    assert (result.get("date") == 2.0 * own.date) == stands
    assert offer is None or offer.worst <= MARGIN


def test_what_was_fitted_to_noise_does_not_stand():
    own, lot = RecallParams(), np.random.default_rng(3)
    noise = {}

    def quality(params):
        return noise.setdefault(params, lot.uniform(0.5, 0.7, CUES))

    offer = propose_weights(WeightSearch(own, own, quality))
    assert offer is not None
    assert not offer.stands


def test_terms_and_weights_are_those_of_recall():
    names = {name for weight in WEIGHTS.values() for name in weight}
    assert set(WEIGHTS) <= set(TERMS)
    assert names <= set(RecallParams.__dataclass_fields__)
    for term in TERMS:
        assert (term in WEIGHTS) == isinstance(getattr(RecallParams(), term, None), float)


@each_row(
    ("supplied", "message"),
    [
        ({"terms": ["luck"]}, "terms = 'luck': must be one of words"),
        ({"terms": []}, r"terms = \[\]: must be some of words"),
        ({"terms": 3}, "terms = 3: must be some of words"),
        ({"limit": 0}, "limit = 0: must be"),
        ({"limit": 2.5}, "limit = 2.5: must be"),
        ({"profile": "ethos"}, "profile = 'ethos': has no terms to weigh: name one .* such as priming"),
        ({"profile": "mine"}, "profile = 'mine': must be one of"),
        ({"apply": "yes"}, "apply = 'yes': must be true or false"),
        ({"propose": None}, "propose = None: must be true or false"),
        ({"apply": True, "propose": False}, "apply = True: needs propose"),
    ],
)
def test_what_is_wrong_is_said_with_its_rule(memory, supplied, message):
    with pytest.raises(ParamError, match=message):
        memory.ablate(**supplied)


def test_an_import_with_weights_that_cannot_be_is_refused(memory, tmp_path):
    path = Path(tmp_path, "bad.jsonl")
    for values in ('{"words": "much"}', '{"words": true}'):
        path.write_text(
            '{"format": "priming", "version": 5, "namespace": "default"}\n'
            f'{{"weights": {{"profile": "priming", "weights": {values}}}}}\n',
            "utf-8",
        )
        with pytest.raises(ParamError, match="words"):
            memory.import_(path)


def test_progress_counts_the_replays(memory, clock):
    told_and_near(memory, 2)
    for i in range(2):
        judge(memory, clock, " ".join(words(i)), f"told-{i}", cue=Cue(task=f"t{i}"))
    seen = []
    memory.ablate(
        ["words", "meaning"], propose=False, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(done, 6) for done in range(7)]


def test_average_precision_is_the_reciprocal_rank_of_a_single_one():
    ranked = list("abcdefghij")
    for place, item in enumerate(ranked, 1):
        assert math.isclose(average_precision({item}, ranked), 1.0 / place)
    assert average_precision({"a", "z"}, ranked) == 0.5
    assert average_precision(set("ab"), ranked) == 1.0
    assert average_precision({"z"}, ranked) == 0.0
