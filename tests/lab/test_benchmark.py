"""Whole runs on the small sets, with Priming, baselines and rivals as they are."""

import json
import math
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from priming import BenchError, ParamError
from priming.results import Recall
from priming_lab import report, scoring, sets
from priming_lab.contestants import BASELINES, BENCH, Plain, Priming, SearchResult, Shelf
from priming_lab.run import BenchPlan, attempt, measure, prepare, run
from priming_lab.sets import BenchItem, BenchPart, BenchQuery

from .rivalling import rival

pytestmark = pytest.mark.slow  # whole benchmarks; scoring, sets and tokens are tested apart

NOW = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
QUICK = replace(BENCH, hits=3, deep=6, search_seconds=600.0)


def silent(_done, _total):
    """Nobody watches."""


def watch(_what):
    return nullcontext(silent)


@pytest.fixture
def go(small, embedder):
    """A run on the small set."""
    return lambda of=None, **plan: run(of or small, embedder, BenchPlan(**{"params": QUICK} | plan), watch)


def crowd(count=60, questions=40):
    """Memories of one rare word each, and questions that name it."""
    words = [
        f"{a}{b}"
        for a in "bdfgklmn"
        for b in ("arum", "elix", "irop", "onda", "umba", "ysto", "ekko", "ozza")
    ]
    items = tuple(
        BenchItem(f"k{i}", f"The {words[i]} stands on shelf {i}.", f"k{i}", kind="fact") for i in range(count)
    )
    query = tuple(
        BenchQuery(f"Where is the {words[i]}?", frozenset([f"k{i}"]), "only") for i in range(questions)
    )
    return sets.BenchSet("crowd", (BenchPart("crowd", items, query),), (1, 3), "0" * 64, ("crowd.json",))


def test_each_question_is_answered_by_a_memory_of_its_own_dialogue(go):
    (row,) = go().rows
    assert row.outcome.name == "priming"
    first = {answer.number: answer.keys[0] for answer in row.outcome.answers}
    assert first[0] == first[4] == "D1:1"
    assert [answer.part for answer in row.outcome.answers] == ["one"] * 4 + ["two"] * 4
    assert all(answer.ms > 0 for answer in row.outcome.answers)


def test_a_run_gives_the_same_ranking_twice(go):
    item, other = (go(ablate=["spread"], baselines=BASELINES) for _ in range(2))
    ranked = [[(a.keys, a.scores) for a in row.outcome.answers] for row in item.rows]
    assert ranked == [[(a.keys, a.scores) for a in row.outcome.answers] for row in other.rows]


def test_shuffled_gold_changes_no_ranking_and_leaves_only_chance(go):
    of = crowd()
    plan = {"baselines": BASELINES}
    real, dealt = go(of, **plan), go(of, shuffled=True, **plan)
    for row, other in zip(real.rows, dealt.rows, strict=True):
        assert [a.keys for a in row.outcome.answers] == [a.keys for a in other.outcome.answers]
    # One of 60 memories is gold: three places hold it by chance once in twenty.
    chance = 3 / 60
    error = math.sqrt(chance * (1 - chance) / 40)
    assert real.rows[0].summary.headline.values["R@3"] > 0.5
    assert dealt.rows[0].summary.headline.values["R@3"] < chance + 3 * error


def test_each_term_is_switched_off_alone_and_terms_joined_by_commas_together(go):
    rows = go(ablate=["spread", "words,meaning"]).rows
    assert [row.ablated for row in rows] == [(), ("spread",), ("words", "meaning")]
    assert rows[2].outcome.name == "priming without words, meaning"
    assert [a.scores for a in rows[0].outcome.answers] != [a.scores for a in rows[2].outcome.answers]


def test_what_a_contestant_has_over_the_first_is_the_difference_of_their_figures(go):
    first, other = go(crowd(), ablate=["words,meaning"]).rows
    for name, apart in other.over_first.items():
        figures = (row.summary.headline.values[name] for row in (other, first))
        assert apart.mean == pytest.approx(next(figures) - next(figures))
        assert apart.low <= apart.mean <= apart.high


@pytest.mark.parametrize(
    "supplied", [{"profile": "nonesuch"}, {"ablate": ["nonesuch"]}, {"baselines": ["x"]}]
)
def test_a_name_that_is_not_there_is_refused(go, supplied):
    with pytest.raises(ParamError, match="must be one of"):
        go(**supplied)


def test_a_set_without_questions_is_refused(go, small):
    empty = replace(small, parts=tuple(replace(part, queries=()) for part in small.parts))
    with pytest.raises(ParamError, match="must hold questions"):
        go(empty)


@pytest.mark.slow
def test_a_rival_that_fails_is_told_and_the_others_go_on(go, tmp_path):
    broken = rival(tmp_path, "broken", before="""asked["op"] == "search" and sys.exit(1)""")
    paperless = rival(tmp_path, "paperless")
    (paperless / "about.json").unlink()
    good = rival(tmp_path, "good")
    result = go(rivals=[broken, paperless, good], cache=tmp_path / "cache")
    assert [row.outcome.error is None for row in result.rows] == [True, False, False, True]
    assert [name for name, _ in report.failures(result)] == ["broken", "paperless"]
    names, cells = report.results(result)
    assert cells[1] == ("broken", "", *["failed"] * 5, "", "", "")
    assert len(names) == len(cells[0]) == len(cells[3])


SLOW = """__import__("threading").Event().wait(0.05) if asked["op"] == "search" else None"""


@pytest.mark.slow
def test_a_rival_that_is_slow_is_asked_for_its_time_and_set_against_the_same_questions(go, tmp_path):
    of = crowd()
    hasty = replace(QUICK, rival_seconds=0.5)
    result = go(of, rivals=[rival(tmp_path, "slow", before=SLOW)], cache=tmp_path / "cache", params=hasty)
    first, slow = result.rows
    numbers = [answer.number for answer in slow.outcome.answers]
    assert 1 <= len(numbers) <= 10
    assert numbers == sorted(numbers)
    assert report.results(result)[1][1][1] == str(len(numbers))
    assert report.report_document(result, NOW)["contestants"][1]["asked"] == len(numbers)
    for name, apart in slow.over_first.items():
        same = scoring.figures(
            [answer for answer in first.outcome.answers if answer.number in numbers], of.ks
        )
        assert apart.mean == pytest.approx(slow.summary.headline.values[name] - same.values[name])


def test_questions_are_asked_in_an_order_that_is_spread_from_the_first(embedder):
    of = crowd(60, 40)
    item = Counting()
    result = measure(item, prepare(of, embedder), 3, silent, seconds=1e6)
    places = [of.parts[0].queries.index(query) for query in item.queries_of(of)]
    assert sorted(places) == list(range(40))
    for begun in (4, 10, 20):
        gaps = np.diff([*sorted(places[:begun]), 40 + min(places[:begun])])
        assert gaps.max() <= 3 * 40 / begun
    assert [each.number for each in result.answers] == list(range(40))


def test_a_part_whose_turn_comes_after_the_end_is_left_out(small, embedder):
    item = Counting()
    result = measure(item, prepare(small, embedder), 3, silent, seconds=0.0)
    assert [each.number for each in result.answers] == [0]
    assert len(item.texts) == 1  # it is its own warm-up, and counts


class Counting:
    """A contestant of this process that keeps what it was asked."""

    name, what, vectors = "counting", "Notes questions.", False
    versions: dict[str, str] = {}  # noqa: RUF012

    def __init__(self):
        self.texts = []

    def begin(self):
        """Nothing."""

    def load(self, *_supplied):
        """Nothing."""

    def close(self):
        """Nothing."""

    def search(self, text, *_supplied):
        """Nothing found."""
        self.texts.append(text)
        return SearchResult([], 1.0)

    def queries_of(self, of):
        """The queries in the order that they were asked in, without the warm-up."""
        by_text = {query.text: query for part in of.parts for query in part.queries}
        return [by_text[text] for text in self.texts[1:]]


class Broken:
    """A contestant of this process whose scores are no numbers."""

    name, what, vectors = "broken", "Scores NaN.", False
    versions: dict[str, str] = {}  # noqa: RUF012
    closed = False

    def begin(self):
        """Nothing."""

    def load(self, *_supplied):
        """Nothing."""

    def search(self, *_supplied):
        """The same for every question."""
        return SearchResult(["D1:1"], 1.0, [math.nan])

    def close(self):
        self.closed = True


def test_a_score_that_is_no_number_ends_a_run_and_the_contestant_is_closed(small, embedder):
    item, parts = Broken(), prepare(small, embedder)
    with pytest.raises(BenchError, match="scores and times must be finite, not nan"):
        measure(item, parts, 3, silent)
    assert item.closed
    assert attempt(Broken(), parts, 3, silent).error.startswith("question 0 of one")


def test_progress_counts_the_questions_of_each_contestant(small, embedder):
    seen = []

    @contextmanager
    def watched(what):
        yield lambda done, total: seen.append((what, done, total))

    run(small, embedder, BenchPlan(baselines=["bm25"], params=QUICK), watched)
    assert [item for item in seen if item[0] == "plain bm25"] == [("plain bm25", i, 8) for i in range(1, 9)]
    assert ("priming", 8, 8) in seen


def plain(name, embedder, items, cue, **params):
    """What a baseline brings up."""
    part = BenchPart("p", items, ())
    entry = Plain(name, replace(BENCH, **params))
    entry.load(part, embedder.embed([item.indexed for item in items]))
    return entry.search(cue, embedder.embed([cue])[0], 3)


PETS = (
    BenchItem("a", "The cat eats tuna.", "a"),
    BenchItem("b", "The dog eats.", "b"),
    BenchItem("c", "Rain falls.", "c", heading="Weather"),
)


def test_bm25_brings_up_only_what_shares_a_term_titles_among_them(embedder):
    assert plain("bm25", embedder, PETS, "a cat and a dog that eat tuna").keys == ["a", "b"]
    assert plain("bm25", embedder, PETS, "weather").keys == ["c"]


def test_cosine_scores_by_the_vectors_that_it_is_handed(embedder):
    result = plain("cosine", embedder, PETS, "Weather: Rain falls.")
    assert result.keys[0] == "c"
    assert result.scores[0] == pytest.approx(1.0, abs=1e-6)


def test_rank_fusion_adds_the_inverse_ranks(embedder):
    result = plain("fusion", embedder, PETS, "The cat eats tuna.", fusion_k=10)
    assert result.keys[0] == "a"
    assert result.scores[0] == pytest.approx(2 / 11)


def test_the_hybrid_of_a_text_itself_is_one_by_both(embedder):
    result = plain("hybrid", embedder, PETS, "The cat eats tuna.")
    assert (result.keys[0], result.scores[0]) == ("a", pytest.approx(1.0))


def test_a_part_is_remembered_once_for_all_that_only_recall_differently(small, embedder):
    shelf = Shelf("priming", embedder)
    item, other = Priming(shelf), Priming(shelf, ("spread",))
    for each in (item, other):
        each.load(small.parts[0], np.zeros((6, 1), np.float32))
    assert item._memory is other._memory
    assert item._memory.stats().memories["episode"]["active"] == 6
    shelf.close()


def test_a_recall_without_hits_is_sure_of_nothing():
    from priming_lab.contestants import confidence

    assert confidence(Recall("r", ())) is None


def test_the_document_holds_each_questions_answers_and_no_text(go, small):
    result = go(baselines=["hybrid"], token_costs=True)
    message = report.report_document(result, NOW)
    text = json.dumps(message, allow_nan=False)
    for part in small.parts:
        assert not [query.text for query in part.queries if query.text in text]
        assert not [item.text for item in part.items if item.text in text]
    assert message["data"]["sha256"] == small.digest
    assert message["at"] == "2026-03-04T09:00:00+00:00"
    assert {"priming", "numpy", "python"} <= set(message["versions"])
    assert {"cores", "system"} <= set(message["machine"])
    first, plain_hybrid = message["contestants"]
    assert first["questions"][2]["gold"] == ["D2:1", "D2:3"]
    assert len(first["questions"]) == len(plain_hybrid["questions"]) == 8
    assert [item["share"] for item in first["costs"]] == [0.8, 0.9]


def test_the_document_without_questions_is_a_summary(go):
    message = report.report_document(go(), NOW, questions=False)
    assert "questions" not in message["contestants"][0]
    assert message["contestants"][0]["headline"]["questions"] == 6


def test_gold_titles_are_written_as_the_keys_that_have_them(musique, embedder):
    result = run(sets.load("musique", musique), embedder, BenchPlan(params=QUICK), watch)
    (query,) = report.report_document(result, NOW)["contestants"][0]["questions"]
    assert query["gold"] == ["musique_small-0", "musique_small-1", "musique_small-2"]


def test_tables_tell_quality_beside_time_and_the_unanswerable_apart(go):
    result = go(baselines=["bm25"], token_costs=True)
    columns, cells = report.results(result)
    assert columns == (
        "contestant",
        "n",
        "R@5",
        "R@10",
        "R@20",
        "nDCG@10",
        "MRR",
        "AUC",
        "median ms",
        "p99 ms",
    )
    assert [row[0] for row in cells] == ["priming", "plain bm25"]
    assert cells[0][1] == "6"
    assert float(cells[0][2]) <= 100.0
    columns, cells = report.categories(result)
    assert [row[:2] for row in cells] == [("1", "2"), ("2", "2"), ("4", "2"), ("5", "2")]
    assert [row[0] for row in report.differences(result)[1]] == ["plain bm25"]
    columns, cells = report.parts(result)
    assert columns == ("nDCG@10 by part", "questions", "priming", "plain bm25")
    assert [row[:2] for row in cells] == [("one", "3"), ("two", "3")]
    assert [row[1] for row in report.costs(result)[1]] == ["80 %", "90 %"] * 2


def test_a_baseline_stems_by_the_language_of_the_texts_though_the_cue_does_not_tell_it(embedder):
    texts = (
        "Die Fähren fahren nicht, wenn der Sturm zu stark ist.",
        "Wir haben die Boote am Hafen gestrichen.",
    )
    items = [BenchItem(f"g{i}", text, f"g{i}", kind="fact") for i, text in enumerate(texts)]
    assert plain("bm25", embedder, items, "Fähre").keys == ["g0"]


def test_a_set_that_all_can_be_answered_of_has_no_column_for_what_cannot(hotpot, embedder):
    result = run(sets.load("hotpot", hotpot), embedder, BenchPlan(params=QUICK), watch)
    assert report.results(result)[0] == (
        "contestant",
        "n",
        "R@2",
        "R@5",
        "R@10",
        "nDCG@10",
        "MRR",
        "median ms",
        "p99 ms",
    )
