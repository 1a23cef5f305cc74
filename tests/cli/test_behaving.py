"""Learning rules and asking for them on the command line."""

from __future__ import annotations

import json

import pytest

RULE = "Never push to main"
KEY = "never-push-to-main"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """The folder of the global store."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PRIMING_HOME", str(folder))
    return folder


def keys(answer):
    return [(hit["memory"]["key"], hit["origin"]) for hit in answer["hits"]]


def test_a_correction_is_learned_with_all_that_is_told_of_it(shell):
    done = shell.ask(
        *("learn", "--right", RULE, "--wrong", "git push", "--language", "go", "--context", "team=a"),
        *("--file", "*.go", "--task", "release", "--environment", "prod", "--project", "kestrel"),
        *("--tag", "git", "--tag", "care", "--priority", "3", "--rule", "directive"),
        *("--source", "review", "--trust", "agent"),
    )
    assert (done["key"], done["placement"], done["rule"]) == (KEY, "create", "directive")
    there = shell.ask("show", KEY)
    assert there["when"] == {
        "file": "*.go",
        "language": "go",
        "task": "release",
        "environment": "prod",
        "project": "kestrel",
        "team": "a",
    }
    assert (there["tags"], there["priority"], there["source"], there["trust"]) == (
        ["git", "care"],
        3,
        "review",
        "agent",
    )
    assert shell.ask("show", done["correction"])["metadata"] == {"right": RULE, "wrong": "git push"}


def test_of_values_given_more_than_once_any_will_do(shell):
    shell.run("learn", "--right", RULE, "--language", "go", "--language", "rust")
    assert shell.ask("show", KEY)["when"] == {"language": ["go", "rust"]}
    assert keys(shell.ask("active", "--language", "rust")) == [(KEY, None)]
    assert keys(shell.ask("active", "--language", "python")) == []
    assert keys(shell.ask("active", "--language", "python", "--language", "go")) == [(KEY, None)]
    assert shell.ask("why", KEY)["predicates"][0]["finding"] == "confirmed"


def test_people_are_told_the_rule_its_place_and_the_reasons(shell):
    first = shell.run("learn", "--right", RULE).stdout.splitlines()
    assert first[0] == f"created  {KEY}  constraint everywhere"
    assert "  created: it is the first behaviour here" in first
    assert "  constraint: read from its words" in first
    again = shell.run("learn", "--right", RULE, "--wrong", "push").stdout.splitlines()
    assert again[0] == f"merged  {KEY}  constraint everywhere"
    assert "  confidence 0.60 → 0.70" in again
    assert shell.run("learn", "--right", RULE).stdout.startswith(f"unchanged  {KEY}")


def test_the_right_way_can_come_from_stdin(shell):
    assert shell.ask("learn", "--right", "-", stdin=f"{RULE}\n")["key"] == KEY


def test_the_rules_of_a_context_are_listed_with_kind_tier_and_score(shell):
    shell.ask("learn", "--right", RULE)
    shell.ask("learn", "--right", "Run gofmt", "--language", "go")
    shell.ask("learn", "--right", "Run ruff", "--language", "python")
    lines = shell.run("active", "--language", "go").stdout.splitlines()
    # (.35 · .5 + .30 · .5 + .15 · .5) · 2 = .8; (.35 · 1 + .30 · .5 + .15 · .5) · 1.5 = .8625
    assert lines[0] == " 1  run-gofmt  0.863  directive  full"
    assert " 2  never-push-to-main  0.800  constraint  full" in lines
    assert "ruff" not in "".join(lines)


def test_what_is_packed_is_shown_when_a_budget_is_given(shell):
    shell.ask("learn", "--right", RULE)
    packed = f"- [{KEY}] constraint: {RULE}"
    assert packed in shell.run("active", "--tokens", "50").stdout
    assert packed not in shell.run("active").stdout
    shown = shell.run("active", "--tokens", "5").stdout
    assert f" 1  {KEY}  0.800  constraint  not shown" in shown
    assert f"omitted: {KEY} (budget: not even its gist fits" in shown


def test_a_text_stands_for_the_task(shell):
    shell.ask("learn", "--right", "Tag first", "--task", "release")
    assert keys(shell.ask("active", "we release now")) == [("tag-first", None)]
    assert keys(shell.ask("active", "-", stdin="we release now")) == [("tag-first", None)]
    assert shell.run("active", "we rest").stdout.startswith("no behaviour applies")


def test_the_global_store_is_read_beside_the_projects(shell, home):
    shell.ask("learn", "--right", RULE, "--global")
    shell.ask("learn", "--right", "Run gofmt")
    assert (home / "memory.db").is_file()
    assert keys(shell.ask("active")) == [(KEY, "global"), ("run-gofmt", None)]
    assert keys(shell.ask("active", "--no-global")) == [("run-gofmt", None)]
    assert keys(shell.ask("active", "--global")) == [(KEY, None)]
    assert f" 1  {KEY}  0.800  constraint  full  from global" in shell.run("active").stdout


def test_without_a_global_store_none_is_made(shell, home):
    shell.ask("learn", "--right", RULE)
    assert keys(shell.ask("active")) == [(KEY, None)]
    assert not home.exists()


def test_a_project_in_the_global_folder_is_read_once(shell, home):
    shell.ask("learn", "--right", RULE, "--global")
    done = shell.run("active", "--json", url=f"sqlite:///{home}/memory.db")
    assert keys(json.loads(done.stdout)) == [(KEY, None)]


@pytest.mark.parametrize("place", [("show", KEY, "--global"), ("--global", "show", KEY)])
def test_every_command_reaches_the_global_store(shell, place):
    shell.ask("learn", "--right", RULE, "--global")
    assert shell.ask(*place)["key"] == KEY
    assert shell.run("show", KEY).exit_code == 2


def test_a_url_and_the_global_store_exclude_each_other(shell):
    done = shell.run("show", KEY, "--global", "--url", "sqlite:///x.db")
    assert done.exit_code == 2
    assert "url = 'sqlite:///x.db': cannot stand with --global" in done.stderr


def test_a_global_store_that_cannot_be_read_is_named(shell, home):
    home.mkdir()
    (home / "memory.db").write_text("no database", "utf-8")
    shell.ask("learn", "--right", RULE)
    done = shell.run("active")
    assert done.exit_code == 1
    assert "--no-global leaves it out" in done.stderr
    assert keys(shell.ask("active", "--no-global")) == [(KEY, None)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("learn",), "--right"),
        (("learn", "--right", " "), "right = ' ': must not be blank"),
        (("learn", "--right", "a", "--wrong", "a"), "wrong = 'a': must be something else"),
        (("learn", "--right", "a", "--priority", "11"), "priority = 11.0: must be in [0, 10]"),
        (("learn", "--right", "a", "--rule", "law"), "rule = 'law': must be one of"),
        (("learn", "--right", "a", "--trust", "me"), "trust = 'me': must be one of"),
        (("learn", "--right", "a", "--context", "language=go"), "has an option or argument of its own"),
        (("learn", "--right", "a", "--context", '{"x": {}}'), "when.x = {}: must be a text"),
        (("active", "--tokens", "-1"), "tokens = -1: must be a whole number"),
        (("active", "--namespace", "nowhere"), "there is no namespace 'nowhere'"),
    ],
)
def test_bad_input_is_refused_with_the_remedy(shell, arguments, said):
    done = shell.run(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert shell.ask("log") == []
