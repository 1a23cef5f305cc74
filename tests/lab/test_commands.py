"""``priming ablate`` and ``priming bench``."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from tests.rows import each_row

from priming import HashedEmbedder, Memory
from priming.recall.candidates import TERMS, write_weights


def with_verdicts(shell):
    """Two recalls that were judged."""
    shell.ask("remember", "Kestrel signs the builds.", "--key", "signs")
    shell.ask("remember", "Gulls nest upon the cliff.", "--key", "gulls")
    for text, key in (("who signs builds", "signs"), ("where do gulls nest", "gulls")):
        result = shell.ask("recall", text)
        shell.ask("feedback", "--recall", result["recall_id"], "--used", key)


@pytest.fixture
def judged(shell, prepared):
    """A store in which two recalls were judged."""
    prepared(shell, with_verdicts)
    return shell


def test_each_term_stands_in_a_row_with_its_worth_and_interval(judged):
    done = judged.run("ablate", "--no-propose")
    assert done.exit_code == 0
    assert done.stdout.startswith("priming  2 judged recalls, 2 cues\naverage precision at 10: 1.000\n")
    for term in TERMS:
        assert re.search(rf"^{term} +[+-]\d\.\d{{3}} +[+-]\d\.\d{{3}} … [+-]\d\.\d{{3}} ", done.stdout, re.M)


def test_some_terms_alone_are_asked_for_by_name(judged):
    result = judged.ask("ablate", "spread", "words", "--no-propose")
    assert [item["term"] for item in result["terms"]] == ["words", "spread"]
    assert (result["recalls"], result["cues"], result["measure"]) == (2, 2, "average precision at 10")


def test_too_few_judged_recalls_are_counted(judged):
    done = judged.run("ablate", "words", "--apply")
    assert done.exit_code == 0
    assert "no weights are proposed: 2 judged cues" in done.stdout
    assert judged.ask("log", "--limit", "1")[0]["kind"] == "feedback"


def test_an_unknown_term_is_refused_with_those_there_are(judged):
    done = judged.run("ablate", "luck")
    assert done.exit_code == 2
    assert "terms = 'luck': must be one of words, meaning" in done.stderr


def test_to_apply_without_looking_for_weights_is_refused(judged):
    done = judged.run("ablate", "--apply", "--no-propose")
    assert done.exit_code == 2
    assert "needs propose" in done.stderr


def test_weights_that_are_set_stand_in_the_figures_of_the_namespace(judged):
    with Memory.open(judged.url, embedder=HashedEmbedder()) as memory:
        opened = memory
        own = opened.profile.recall.date
        with opened.writing() as now:
            write_weights(opened, opened.profile, {"date": 0.5}, {"date": own}, now)
    assert re.search(r"^priming +date +0\.5$", judged.run("stats").stdout, re.M)
    assert judged.ask("stats")["weights"] == {"priming": {"date": 0.5}}
    assert f"weights of priming: date {own:g} → 0.5" in judged.run("log", "--limit", "1").stdout
    judged.run("undo", "last")
    assert judged.ask("stats")["weights"] == {}


TURNS = ("I adopted a grey cat called Turing.", "My bicycle was stolen.", "The police found it in a ditch.")


@pytest.fixture
def data(tmp_path):
    """A LoCoMo of three turns and two questions."""
    turns = [
        {"speaker": who, "dia_id": f"D1:{i}", "text": text}
        for i, (who, text) in enumerate(zip("ABA", TURNS, strict=True), 1)
    ]
    query = [
        {"question": "What is the name of the cat?", "evidence": ["D1:1"], "category": 4},
        {"question": "What colour was the stolen boat?", "evidence": ["D1:2"], "category": 5},
    ]
    item = {"sample_id": "a", "conversation": {"session_1": turns}, "qa": query}
    path = tmp_path / "locomo_tiny.json"
    path.write_text(json.dumps([item]), "utf-8")
    return path


def test_a_benchmark_prints_its_tables_and_writes_its_files(shell, data, tmp_path):
    done = shell.run(
        *("bench", "locomo", "--data", data.parent, "--embedder", "hashed", "--baselines", "--tokens"),
        *("--ablate", "spread", "--out", tmp_path / "out.json", "--plots", tmp_path / "plots"),
    )
    assert (done.exit_code, done.stderr) == (0, "")
    for words in ("2 questions, 3 memories, hashed", "priming without spread", "plain hybrid", "median ms"):
        assert words in done.stdout
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert len(written["contestants"]) == 6
    assert not any(text in json.dumps(written) for text in (*TURNS, "What is the name"))
    assert len(list((tmp_path / "plots").glob("*.svg"))) == 3


def test_with_json_the_document_is_printed(shell, data):
    message = shell.ask("bench", "locomo", "--data", data, "--embedder", "hashed", "--limit", 1)
    assert message["benchmark"] == "locomo"
    assert [item["category"] for item in message["contestants"][0]["questions"]] == ["4"]


def test_the_profile_is_that_of_the_option(shell, data):
    message = shell.ask("bench", "locomo", "--data", data, "--embedder", "hashed", "--profile", "ethos")
    assert [item["name"] for item in message["contestants"]] == ["ethos"]


@pytest.fixture
def own(tmp_path):
    """A set in the genre format, of two parts."""
    folder = tmp_path / "mine"
    folder.mkdir()
    documents = [
        {"id": f"{part}{i}", "part": part, "text": text} for part in "ab" for i, text in enumerate(TURNS)
    ]
    questions = [
        {"part": part, "text": "Where was the stolen bicycle?", "gold": [f"{part}1", f"{part}2"]}
        for part in "ab"
    ]
    for name, rows in (("documents", documents), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return folder


def test_a_folder_of_ones_own_is_measured_beside_plain_methods_and_leaves_the_store_alone(shell, own):
    shell.ask("remember", "Kestrel signs the builds.", "--key", "signs")
    before = shell.ask("stats")
    done = shell.run("bench", own, "--embedder", "hashed")
    assert (done.exit_code, done.stderr) == (0, "")
    rows = [line.split("  ")[0] for line in done.stdout.splitlines()]
    contestants = ["priming", "priming without spread", "plain bm25", "plain cosine", "plain hybrid"]
    assert rows[1:7] == ["contestant", *contestants]
    assert rows[8:13] == ["points over priming", *contestants[1:]]
    assert rows[14:17] == ["nDCG@10 by part", "a", "b"]
    assert "category" not in done.stdout
    assert shell.ask("stats") == before


def test_a_folder_of_ones_own_as_json_has_every_figure_the_parts_and_the_intervals(shell, own):
    message = shell.ask(
        "bench", own, "--embedder", "hashed", "--baselines", "--ablate", "spread", "--limit", 1
    )
    assert message["benchmark"] == "mine"
    assert [row["name"] for row in message["contestants"]][1:] == [
        "priming without spread",
        *("plain bm25", "plain cosine", "plain fusion", "plain hybrid"),
    ]
    first, *others = message["contestants"]
    assert {"questions", "R@5", "R@10", "nDCG@10", "MRR"} <= set(first["headline"])
    assert first["by_part"]["a"]["questions"] == 1
    assert first["median_ms"] > 0
    assert all(set(row["over_first"]["nDCG@10"]) == {"mean", "error", "low", "high"} for row in others)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nonesuch", "must be a folder with documents.jsonl and questions.jsonl, or locomo, hotpot, musique"),
        ("locomo", "--data = None: must be given: the file of locomo, or the folder it is in"),
        ("mine/documents.jsonl", "must be the folder of documents.jsonl and questions.jsonl, not a file"),
        ("mine", "mine/questions.jsonl, line 3: gold = 'x': is no id of documents.jsonl in the same part"),
    ],
)
def test_what_is_no_set_of_ones_own_is_refused(shell, own, name, problem, monkeypatch):
    with (own / "questions.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"part": "a", "text": "Who?", "gold": ["x"]}')
    monkeypatch.chdir(own.parent)
    done = shell.run("bench", name)
    assert done.exit_code == 2
    assert problem in done.stderr


@each_row(
    ("supplied", "problem"),
    [
        (("nonesuch",), "must be one of locomo, hotpot, musique"),
        (("locomo", "--out", "nowhere/out.json"), "must be a file in an existing folder"),
        (("locomo", "--ablate", "nonesuch"), "ablate"),
        (("locomo", "--embedder", "nonesuch"), "embedder"),
        (("locomo", "--rivals", "nowhere"), "must be a folder that holds folders of rivals"),
        (("hotpot",), "holds no file hotpot*.json"),
    ],
)
def test_bad_input_is_told_before_anything_is_measured(shell, data, supplied, problem):
    name, *more = supplied
    done = shell.run("bench", name, "--data", data.parent, *more)
    assert done.exit_code == 2
    assert problem in done.stderr


@pytest.mark.slow
def test_the_help_loads_neither_numpy_nor_the_harness():
    code = (
        "import sys; from typer.testing import CliRunner; from priming.cli.start import app;"
        "CliRunner().invoke(app, ['bench', '--help']);"
        "sys.exit(bool({'numpy', 'priming_lab.run'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
