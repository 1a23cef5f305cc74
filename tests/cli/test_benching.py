"""``priming bench`` on a tiny set."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

TURNS = ("I adopted a grey cat called Turing.", "My bicycle was stolen.", "The police found it in a ditch.")


@pytest.fixture
def data(tmp_path):
    """A LoCoMo of three turns and two questions."""
    turns = [
        {"speaker": who, "dia_id": f"D1:{i}", "text": text}
        for i, (who, text) in enumerate(zip("ABA", TURNS, strict=True), 1)
    ]
    asked = [
        {"question": "What is the name of the cat?", "evidence": ["D1:1"], "category": 4},
        {"question": "What colour was the stolen boat?", "evidence": ["D1:2"], "category": 5},
    ]
    one = {"sample_id": "a", "conversation": {"session_1": turns}, "qa": asked}
    path = tmp_path / "locomo_tiny.json"
    path.write_text(json.dumps([one]), "utf-8")
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
    said = shell.ask("bench", "locomo", "--data", data, "--embedder", "hashed", "--limit", 1)
    assert said["benchmark"] == "locomo"
    assert [one["category"] for one in said["contestants"][0]["questions"]] == ["4"]


def test_the_profile_is_that_of_the_option(shell, data):
    said = shell.ask("bench", "locomo", "--data", data, "--embedder", "hashed", "--profile", "ethos")
    assert [one["name"] for one in said["contestants"]] == ["ethos"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("nonesuch",), "must be one of locomo, hotpot, musique"),
        (("locomo", "--out", "nowhere/out.json"), "must be a file in a folder that is there"),
        (("locomo", "--ablate", "nonesuch"), "ablate"),
        (("locomo", "--embedder", "nonesuch"), "embedder"),
        (("locomo", "--rivals", "nowhere"), "must be a folder that holds folders of rivals"),
        (("hotpot",), "holds no file hotpot*.json"),
    ],
)
def test_bad_input_is_told_before_anything_is_measured(shell, data, given, problem):
    name, *more = given
    done = shell.run("bench", name, "--data", data.parent, *more)
    assert done.exit_code == 2
    assert problem in done.stderr


def test_the_help_loads_neither_numpy_nor_the_harness():
    code = (
        "import sys; from typer.testing import CliRunner; from priming.cli.main import app;"
        "CliRunner().invoke(app, ['bench', '--help']);"
        "sys.exit(bool({'numpy', 'priming.bench.benchmark'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
