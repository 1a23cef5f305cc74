"""Sets in the genre format: what is read, what is refused, and where."""

import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.rows import each_row

from priming import ParamError
from priming.embedding.wordllama import StaticEmbedder
from priming_lab.contestants import BENCH
from priming_lab.genre import load_genre
from priming_lab.run import BenchPlan, run
from priming_lab.sets import BenchQuery

STORY = Path(__file__).resolve().parents[2] / "demo" / "story"
FACT = {"id": "d1", "text": "The gate closes at nine."}
TURN = {"id": 7, "text": "Who has the key?", "author": "Ada", "session": "s1", "time": "2026-03-01T10:00:00"}
QUESTION = {"text": "When does the gate close?", "gold": ["d1"]}


@pytest.fixture
def write(tmp_path):
    """A folder with these lines; a text is written as it is."""

    def lines(documents, questions):
        for name, rows in (("documents", documents), ("questions", questions)):
            texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
            (tmp_path / f"{name}.jsonl").write_text("\n".join(texts), "utf-8")
        return tmp_path

    return lines


def test_a_document_is_a_fact_unless_it_happened_or_was_said(write):
    folder = write([FACT, TURN, {**FACT, "id": "d2", "files": ["gate.py"], "title": "Gate"}], [QUESTION])
    (part,) = load_genre(folder).parts
    assert [item.arguments() for item in part.items] == [
        {"content": "The gate closes at nine.", "key": "d1", "kind": "fact"},
        {
            "content": "Who has the key?",
            "key": "7",
            "kind": "episode",
            "speaker": "Ada",
            "session": "s1",
            "occurred_at": datetime(2026, 3, 1, 10, 0, tzinfo=UTC),
        },
        {
            "content": "The gate closes at nine.",
            "key": "d2",
            "kind": "fact",
            "heading": "Gate",
            "files": ("gate.py",),
        },
    ]
    assert part.queries == (BenchQuery("When does the gate close?", frozenset(["d1"]), "all"),)


def test_each_part_has_its_own_documents_and_one_without_questions_is_left_out(write):
    folder = write(
        [{**FACT, "part": "north"}, {**FACT, "part": "south"}, {**FACT, "part": "west"}],
        [{**QUESTION, "part": "south", "category": 2}, {**QUESTION, "part": "north"}],
    )
    result = load_genre(folder)
    assert [(part.name, len(part.items), part.queries[0].category) for part in result.parts] == [
        ("north", 1, "all"),
        ("south", 1, "2"),
    ]
    assert (result.name, result.ks, result.questions) == (folder.name, (5, 10), 2)


@each_row(
    ("documents", "questions", "message"),
    [
        ([FACT, "{"], [QUESTION], "documents.jsonl, line 2 = '{': must be JSON"),
        ([FACT, "[1]"], [QUESTION], "documents.jsonl, line 2 = '[1]': must be a JSON object such as {\"id\""),
        (
            [{"text": "x"}],
            [QUESTION],
            "documents.jsonl, line 1: id = None: must be a text that names the doc",
        ),
        ([{"id": "d1", "text": " "}], [QUESTION], "documents.jsonl, line 1: text = ' ': must be a text that"),
        ([FACT, FACT], [QUESTION], "documents.jsonl, line 2: id = 'd1': is the id of an earlier line: give"),
        ([{**FACT, "time": "soon"}], [QUESTION], "line 1: time = 'soon': must be an ISO 8601 time, such as"),
        ([{**FACT, "files": "a.py"}], [QUESTION], "line 1: files = 'a.py': must be a list of paths, such as"),
        ([{**FACT, "kind": "thing"}], [QUESTION], "documents.jsonl, line 1: kind = 'thing': must be one of"),
        ([FACT], [{"text": "When?"}], "questions.jsonl, line 1: gold = None: must be a list of ids"),
        ([FACT], [{**QUESTION, "gold": []}], "gold = []: is empty in each line of"),
        (
            [FACT],
            ["", {**QUESTION, "gold": ["d1", "d9"]}],
            "questions.jsonl, line 2: gold = 'd9': is no id of",
        ),
        ([{**FACT, "files": ["a.py"]}], [{**QUESTION, "gold": ["a.py"]}], "gold = 'a.py': is a file, and no"),
        (
            [FACT],
            [{"gold": ["d1"]}],
            "questions.jsonl, line 1: text = None: must be a text that is not blank",
        ),
        (
            [FACT],
            [{**QUESTION, "part": "x"}],
            "line 1: part = 'x': is the part of no document: write one of all",
        ),
        ([], [QUESTION], "documents.jsonl': is empty: each line must be a JSON object such as"),
        ([FACT], [" "], "questions.jsonl': is empty: each line must be a JSON object such as"),
    ],
)
def test_a_bad_line_is_named_by_its_file_its_number_and_its_rule(write, documents, questions, message):
    folder = write(documents, questions)
    with pytest.raises(ParamError) as raised:
        load_genre(folder)
    assert message in str(raised.value)
    assert str(folder) in str(raised.value)


def test_a_question_that_nothing_answers_counts_for_how_sure_an_answer_is_and_for_nothing_else(write):
    more = {"id": "d2", "text": "The boiler was mended by Ada."}
    unasked = {"text": "Who mended the roof of the barn?", "gold": [], "category": "2"}
    result = load_genre(write([FACT, more], [QUESTION, unasked]))
    assert [query.category for query in result.parts[0].queries] == ["all", "unanswerable"]
    plan = BenchPlan(params=replace(BENCH, search_seconds=600.0))
    (row,) = run(result, StaticEmbedder(), plan, lambda _what: nullcontext(lambda _done, _total: None)).rows
    assert (row.summary.headline.questions, row.summary.auc) == (1, 1.0)
    assert set(row.summary.by_category) == {"all"}


def test_a_line_as_remember_takes_it_is_a_document_too(write):
    folder = write([{"key": "d1", "content": FACT["text"], "occurred_at": "2026-03-01"}], [QUESTION])
    (item,) = load_genre(folder).parts[0].items
    assert (item.label, item.text, item.occurred_at) == ("d1", FACT["text"], datetime(2026, 3, 1, tzinfo=UTC))


def test_a_folder_without_one_of_the_files_is_told_which(tmp_path):
    (tmp_path / "documents.jsonl").write_text("{}", "utf-8")
    with pytest.raises(ParamError, match=r"must hold documents\.jsonl and questions\.jsonl: add questions"):
        load_genre(tmp_path)


def test_the_story_that_is_shipped_is_a_set():
    result = load_genre(STORY)
    assert 20 <= result.memories <= 40
    assert result.questions >= 10
