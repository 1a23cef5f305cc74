"""A long memory is told by the passages that answer the cue, as many as the budget holds."""

import numpy as np
import pytest
from tests.rows import each_row

from priming.core.pack import estimate_tokens
from priming.recall.formatting import HEADER
from priming.text.quotation import read_line

ANSWER = "The spare key of the boathouse hangs behind the barometer in the chandler's office."
FILLER = [
    f"Item {i}. The committee heard report number {i} on the harbour wall and took note of it. "
    "Thanks were given to all who had helped with the painting. The next date was left open.\n"
    for i in range(60)
]
MINUTES = "".join([*FILLER[:41], f"Keys. {ANSWER} It goes back by six.\n", *FILLER[41:]])
CUE = "where is the spare key of the boathouse?"


@pytest.fixture(scope="module")
def model(open_shared):
    memory = open_shared()
    memory.remember(MINUTES, key="minutes", heading="Meeting of May")
    memory.remember("The chandler sells rope.", key="rope")
    return memory


@pytest.fixture
def minutes(model, copy_of):
    return copy_of(model)


def lines(answer):
    return {(line := read_line(text)).key: line for text in answer.text.removeprefix(HEADER).splitlines()}


@each_row("tokens", [250, 500, 1_000, 2_000])
def test_the_passage_that_answers_is_told_and_the_budget_is_used_and_not_exceeded(minutes, tokens):
    answer = minutes.recall(CUE, tokens=tokens)
    line = lines(answer)["minutes"]
    assert ANSWER in line.text
    assert tokens - 110 < estimate_tokens(answer.text) <= tokens
    assert "in part" in line.note
    assert "get" in line.note


def test_what_is_told_of_a_long_memory_is_its_text_in_order_with_a_mark_where_it_is_left_out(minutes):
    text = lines(minutes.recall(CUE, tokens=1_000))["minutes"].text
    assert text.startswith("… ")
    parts = [part.strip() for part in text.split("…") if part.strip()]
    places = [MINUTES.index(part) for part in parts]
    assert places == sorted(places)
    assert len(places) > 1


def test_a_long_memory_that_fits_is_told_whole_and_unmarked(minutes):
    for tokens in (None, 5_000):
        line = lines(minutes.recall(CUE, tokens=tokens))["minutes"]
        assert (line.text, "get" in line.note) == (MINUTES, False)


def test_where_no_passage_fits_its_best_sentence_is_told(minutes):
    line = lines(minutes.recall(CUE, tokens=70))["minutes"]
    assert ANSWER in line.text
    assert len(line.text) < 200


def test_a_hit_says_where_its_passages_are_the_best_first(minutes):
    hits = {hit.memory.key: hit for hit in minutes.recall(CUE, floor=0.0).hits}
    content = hits["minutes"].memory.content
    start, end = hits["minutes"].passages[0]
    assert end - start < 2 * len(ANSWER)
    assert ANSWER in content[start:end]
    assert "".join(content[start:end] for start, end in sorted(hits["minutes"].passages)) == content
    assert hits["rope"].passages == ()


def test_the_best_passage_of_a_text_counts_until_the_text_is_forgotten(minutes):
    with minutes.lock:
        working = minutes.working(minutes.now())
        (query,) = minutes.embedder.embed([ANSWER])
        document = int(working.document[working.row_of[minutes.get("minutes").id]])
        (place,), (cosine,) = working.passages.best(query, np.array([document]))
    assert place == 0
    assert cosine > float(working.vectors[document] @ query)
    vectors, ends = working.passages.of(document)
    best = int((vectors @ query).argmax())
    assert ANSWER in MINUTES[(0, *ends)[best] : ends[best]]
    minutes.forget("minutes")
    assert "minutes" not in lines(minutes.recall(CUE))


def test_a_memory_is_found_by_the_meaning_of_a_passage_far_down(memory):
    memory.remember_many(
        [{"content": f"Note {i} of the barometer: it fell by {i} points"} for i in range(150)]
    )
    memory.remember(MINUTES, key="minutes")
    with memory.lock:
        working = memory.working(memory.now())
        (query,) = memory.embedder.embed([ANSWER])
        pool = working.living.values
        document = int(working.document[working.row_of[memory.get("minutes").id]])
        assert working.passages.nearest(query, 1, pool).tolist() == [document]
        assert working.passages.nearest(query, 1, ~pool).tolist() == []


def test_vectors_that_follow_a_load_have_passages_too(open_memory, url):
    memory = open_memory(url)
    memory.remember_many([{"content": text} for text in (FILLER[0], MINUTES, *FILLER[1:])], later=True)
    memory.reembed()
    with memory.lock:
        working = memory.working(memory.now())
        (query,) = memory.embedder.embed([ANSWER])
        (document,) = working.passages.nearest(query, 60, working.living.values).tolist()
    assert working.passages.of(document)[1][-1] == len(MINUTES)


def test_a_memory_of_several_pages_leaves_room_for_the_other_hits(minutes):
    minutes.remember(MINUTES.replace("boathouse", "sail loft"), key="june")
    answer = lines(minutes.recall("the spare key of the boathouse and of the sail loft", tokens=700))
    assert {"minutes", "june"} <= answer.keys()
    assert "boathouse" in answer["minutes"].text
    assert "sail loft" in answer["june"].text


def test_passages_are_there_again_after_a_restart_and_after_an_import(open_memory, url, tmp_path):
    first = open_memory(url)
    first.remember(MINUTES, key="minutes")
    expected = first.recall(CUE, tokens=500).text
    first.export(tmp_path / "all.jsonl")
    first.close()
    assert open_memory(url).recall(CUE, tokens=500).text == expected
    other = open_memory()
    other.import_(tmp_path / "all.jsonl")
    assert other.recall(CUE, tokens=500).text == expected


def test_a_new_version_has_passages_of_its_own(minutes):
    minutes.supersede("minutes", MINUTES.replace("behind the barometer", "under the mat"))
    assert "under the mat" in lines(minutes.recall(CUE, tokens=400))["minutes"].text
