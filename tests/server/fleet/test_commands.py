"""The commands of ``fleet`` that end before any worker begins; those that go on are beside it."""

import json
import sys

from tests.rows import each_row


@each_row(
    ("words", "rule"),
    [
        (["--namespace", "x", "fleet", "sleep"], "choose with --namespaces GLOB"),
        (["fleet", "sleep", "nap"], "must be one of decay, light"),
        (["fleet", "import", "jsonl"], "priming fleet import jsonl FOLDER"),
        (["fleet", "import", "nosuch", "."], "must be one of priming"),
        (["fleet", "verify", "--at-once", "0"], "at_once"),
        (["fleet", "verify", "--run", "0198"], "no unfinished run"),
        (["fleet", "verify", "--stores", "nosuch.txt"], "cannot be read"),
        (["fleet", "verify", "--namespaces", "typo*"], "there is none"),
        (["fleet", "verify", "--address", "ray://127.0.0.1:10001"], "auto or HOST:PORT"),
    ],
)
def test_a_wrong_option_is_refused_with_its_rule(shell, words, rule):
    done = shell.run(*words)
    assert done.exit_code == 2
    assert rule in done.stderr


def test_a_cluster_without_ray_names_the_extra(shell, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    done = shell.run("fleet", "verify", "--address", "auto")
    assert done.exit_code == 1
    assert "pip install 'priming[fleet]'" in done.stderr


def test_a_store_without_namespaces_is_done_at_once(shell):
    done = shell.run("fleet", "verify")
    assert done.exit_code == 0
    assert "0 of 0 namespaces" in done.stdout


def test_a_run_says_its_id_when_it_begins(shell):
    shell.run("remember", "Ann likes tea.")
    done = shell.run("--json", "fleet", "verify")
    assert done.stderr == f"run {json.loads(done.stdout)['run']}\n"
    assert shell.run("fleet", "runs").stdout == "no run is unfinished\n"
