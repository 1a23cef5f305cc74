"""Rules: learned, listed, kept in order and shared as packs."""

from __future__ import annotations

import json

import pytest
from tests.rows import each_row

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
    present = shell.ask("show", KEY)
    assert present["when"] == {
        "file": "*.go",
        "language": "go",
        "task": "release",
        "environment": "prod",
        "project": "kestrel",
        "team": "a",
    }
    assert (present["tags"], present["priority"], present["source"], present["trust"]) == (
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


def test_the_text_of_a_rule_needs_no_option(shell):
    assert shell.ask("learn", RULE)["content"] == RULE
    assert shell.ask("learn", RULE, "--right", RULE)["placement"] == "merge"
    assert shell.ask("learn", "-", stdin="Sign every tag\n")["content"] == "Sign every tag"


def test_the_rules_of_a_context_are_listed_with_kind_tier_and_score(shell):
    shell.ask("learn", "--right", RULE)
    shell.ask("learn", "--right", "Run gofmt", "--language", "go")
    shell.ask("learn", "--right", "Run ruff", "--language", "python")
    lines = shell.run("active", "--language", "go").stdout.splitlines()
    # (.35 · .5 + .30 · .5 + .15 · .5) · 2 = .8; (.35 · 1 + .30 · .5 + .15 · .5) · 1.5 = .8625
    assert lines[0] == " 1  run-gofmt  0.863  directive  full"
    assert " 2  never-push-to-main  0.800  constraint  full" in lines
    assert "ruff" not in "".join(lines)


@pytest.mark.parametrize(
    ("tokens", "tier", "text"),
    [
        (
            "500",
            "full",
            ["Simmer the stock for four hours.", "Skim it every half hour, and never let it boil."],
        ),
        ("32", "gist", ["Simmer stock slowly"]),
    ],
)
def test_a_rule_is_listed_with_what_its_tier_shows(shell, tmp_path, tokens, tier, text):
    canonical = "Simmer the stock for four hours.\nSkim it every half hour, and never let it boil."
    rule = {"kind": "behavior", "content": canonical, "gist": "Simmer stock slowly", "rule": "directive"}
    (tmp_path / "rules.jsonl").write_text(json.dumps({**rule, "key": "stock", "trust": "user"}))
    shell.run("import", "jsonl", str(tmp_path / "rules.jsonl"))
    shown = shell.run("active", "--tokens", tokens).stdout.splitlines()
    assert tier in shown[0]
    assert [line.strip() for line in shown[1 : len(text) + 1]] == text
    assert "base" in shown[len(text) + 1]


def test_what_is_packed_is_shown_when_a_budget_is_given(shell):
    shell.ask("learn", "--right", RULE)
    packed = f'- [{KEY}] constraint: "{RULE}"'
    assert packed in shell.run("active", "--tokens", "50").stdout
    assert packed not in shell.run("active").stdout
    shown = shell.run("active", "--tokens", "5").stdout
    assert f" 1  {KEY}  1.093  constraint  not shown" in shown
    assert shown.startswith("1 constraint that applies is left out for lack of space; ")
    assert f"omitted: {KEY} (budget: a constraint that applies" in shown


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
    assert f" 1  {KEY}  1.093  constraint  full  from global" in shell.run("active").stdout


def test_without_a_global_store_none_is_made(shell, home):
    shell.ask("learn", "--right", RULE)
    assert keys(shell.ask("active")) == [(KEY, None)]
    assert not (home / "memory.db").exists()


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
    assert "url = 'sqlite:///x.db': cannot be combined with --global" in done.stderr


def test_a_global_store_that_cannot_be_read_is_named(shell, home):
    home.mkdir()
    (home / "memory.db").write_text("no database", "utf-8")
    shell.ask("learn", "--right", RULE)
    done = shell.run("active")
    assert done.exit_code == 1
    assert "--no-global leaves it out" in done.stderr
    assert keys(shell.ask("active", "--no-global")) == [(KEY, None)]


@each_row(
    ("arguments", "message"),
    [
        (("learn",), "right = None: must be given: the text of the rule"),
        (("learn", "a", "--right", "b"), "right = 'b': must be typed once: 'a' is the text already"),
        (("learn", "--right", " "), "right = ' ': must not be blank"),
        (("learn", "--right", "a", "--wrong", "a"), "wrong = 'a': must differ from what is right"),
        (("learn", "--right", "a", "--priority", "11"), "priority = 11.0: must be in [0, 10]"),
        (("learn", "--right", "a", "--rule", "law"), "rule = 'law': must be one of"),
        (("learn", "--right", "a", "--trust", "me"), "trust = 'me': must be one of"),
        (("learn", "--right", "a", "--context", "language=go"), "has its own option or argument"),
        (("learn", "--right", "a", "--context", '{"x": {}}'), "when.x = {}: must be a text"),
        (("active", "--tokens", "-1"), "tokens = -1: must be a whole number"),
    ],
)
def test_bad_input_is_refused_with_the_remedy(shell, arguments, message):
    done = shell.run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert shell.ask("log") == []


SUITE, SUITE_AGAIN = (
    "Always run the whole test suite before a commit",
    "Always run the whole test suite before a commit!",
)


def with_duplicates(shell):
    """Two behaviours that say the same, and a fact."""
    shell.ask("remember", SUITE, "--key", "a", "--kind", "behavior", "--when", "language=go")
    shell.ask("remember", SUITE_AGAIN, "--key", "b", "--kind", "behavior", "--when", "language=go")
    shell.ask("remember", "Bread and butter.", "--key", "c", "--kind", "fact")


@pytest.fixture
def alike(shell, prepared):
    """A store with two behaviours that say the same, and a fact."""
    prepared(shell, with_duplicates)
    return shell


def statuses(shell):
    return {item["key"]: item["status"] for item in shell.ask("list", "--status", "any")}


def test_a_memory_is_deprecated_listed_so_and_restored(alike):
    done = alike.ask("deprecate", "a", "--by", "b", "--reason", "said better")
    assert (done["kind"], done["reason"], done["message"]) == (
        "deprecate",
        "said better",
        '"b" replaces it',
    )
    assert [item["key"] for item in alike.ask("list", "--status", "deprecated")] == ["a"]
    assert (
        alike.ask("restore", "a")["message"] == 'it was deprecated; its deprecated-to link to "b" is removed'
    )
    assert statuses(alike) == {"a": "active", "b": "active", "c": "active"}


def test_a_memory_is_merged_and_listed_so(alike):
    assert alike.ask("merge", "b", "a")["message"] == '"b" is merged into "a"'
    assert [item["key"] for item in alike.ask("list", "--status", "merged")] == ["b"]
    alike.ask("undo", "last")
    assert statuses(alike)["b"] == "active"


def test_twins_are_shown_before_they_are_merged(alike):
    (twins,) = alike.ask("deduplicate", "--dry-run")
    assert (twins["kept"], twins["merged"], twins["operation"]) == ("a", "b", None)
    assert statuses(alike)["b"] == "active"
    assert alike.run("deduplicate", "--dry-run").stdout == (
        "b → a  similarity 1.00\nnothing was merged: that was a dry run\n"
    )
    assert alike.run("deduplicate", "--threshold", "1").stdout == "no duplicates\n"
    assert alike.run("deduplicate", "--kind", "fact").stdout == "no duplicates\n"
    message = alike.run("deduplicate").stdout.splitlines()
    operation = alike.ask("log", "--limit", "1")[0]
    assert operation["kind"] == "deduplicate"
    assert message == ["b → a  similarity 1.00", f"to undo this: priming undo {operation['id']}"]
    assert statuses(alike)["b"] == "merged"


def test_connect_is_another_name_of_link(alike):
    new = alike.ask("connect", "a", "c", "--relation", "requires", "--weight", "0.8")
    assert (new["source"], new["target"], new["relation"], new["weight"]) == ("a", "c", "requires", 0.8)
    again = alike.ask("link", "a", "c", "--relation", "requires", "--weight", "0.8")
    assert again == new


def test_why_tells_the_recall_its_conditions_and_what_changed(alike):
    alike.ask("link", "a", "c", "--relation", "requires", "--weight", "0.9")
    first = alike.ask("recall", "whole test suite", "--language", "go")
    alike.ask("recall", "test suite", "--language", "go")
    answer = alike.ask("why", "a", "--recall", first["recall_id"])
    assert answer["route"]["recall_id"] == first["recall_id"]
    assert answer["predicates"] == [
        {"name": "language", "wanted": "go", "present": "go", "finding": "confirmed"}
    ]
    assert [item["kind"] for item in answer["operations"]] == ["link", "remember", "remember"]
    against = alike.ask("why", "a", "--language", "python", "--context", "team=red")
    assert [item["finding"] for item in against["predicates"]] == ["contradicted"]
    path = alike.ask("why", "c")["route"]["path"]
    assert [(item["source"], item["relation"], item["target"]) for item in path][-1] == ("a", "requires", "c")


def test_why_is_read_by_people(alike):
    alike.ask("link", "a", "c", "--relation", "requires", "--weight", "0.9")
    recalled = alike.ask("recall", "whole test suite", "--language", "go", "--floor", "0")
    alike.ask("used", "a", "--recall", recalled["recall_id"])
    message = alike.run("why", "a").stdout
    for part in (
        f"a  {SUITE}\n",
        "\n  - the cue confirms 1 of 1 conditions\n",
        "\n  - used 1 time, last on ",
        "\n  - weight raised from 0.5 to 0.51 by 1 verdict\n",
        f"\nrecall  {recalled['recall_id']}  priming  ",
        "\ncondition  language = go, the cue has go: confirmed\n",
        "\nverdicts\n",
        "\nlatest operations\n",
    ):
        assert part in message
    message = alike.run("why", "c").stdout
    assert "─requires→ c (" in message
    (link,) = alike.ask("links", "c", "--relation", "requires")
    assert f"over a ─requires→ c ({link['weight']:.2f} today)" in message
    assert alike.run("why", "b", "--language", "rust").stdout.count("contradict") == 2


@each_row(
    ("arguments", "status", "message"),
    [
        (("why", "nothing"), 2, "there is no memory 'nothing'"),
        (("why", "a", "--recall", "none"), 2, "there is no recall 'none'"),
        (("deprecate", "a", "--by", "a"), 2, "by = 'a': must differ from the memory"),
        (("deprecate", "a", "--by", "nothing"), 2, "there is no memory 'nothing'"),
        (("restore", "a"), 2, "'a' is active already"),
        (("merge", "a", "c"), 2, "'a' is of kind behavior and 'c' of kind fact"),
        (("merge", "a"), 2, "INTO"),
        (("deduplicate", "--threshold", "2"), 2, "threshold = 2.0: must be in [0, 1]"),
        (("deduplicate", "--kind", "entity"), 2, "kind = 'entity': must be one of"),
    ],
)
def test_bad_input_of_curation_is_told_in_one_line(alike, arguments, status, message):
    before = alike.ask("log")
    done = alike.run(*arguments)
    assert (done.exit_code, done.stdout) == (status, "")
    assert message in done.stderr
    assert alike.ask("log") == before


def with_pack(shell):
    """Two behaviours, and a pack of them."""
    shell.ask("remember", "Always run the tests.", "--key", "tests", "--kind", "behavior", "--tag", "go")
    shell.ask("remember", "Never push to main.", "--key", "main", "--kind", "behavior")
    shell.ask("link", "tests", "main", "--relation", "requires")
    shell.ask("pack", "create", "p.json", "--name", "team", "--description", "Our rules")


@pytest.fixture
def packed(shell, prepared):
    """A store with two behaviours, and a pack of them."""
    prepared(shell, with_pack)
    return shell


def test_a_pack_is_created_installed_listed_and_removed(packed):
    present = ("--namespace", "other")
    done = packed.ask("pack", "install", "p.json", *present)
    assert (done["name"], done["behaviors"], done["links"], done["metadata"]) == ("team", 2, 1, {"added": 2})
    (listed,) = packed.ask("pack", "list", *present)
    assert (listed["version"], listed["description"]) == ("1", "Our rules")
    assert packed.ask("show", "team/tests", *present)["trust"] == "tool"
    removed = packed.ask("pack", "remove", "team", *present)
    assert removed["message"] == "2 behaviours are out of recall: install it again to restore it"
    assert packed.ask("pack", "list", *present) == []
    packed.ask("undo", "last", *present)
    assert len(packed.ask("pack", "list", *present)) == 1


def test_every_option_of_create_and_install_reaches_the_memory(packed):
    new = packed.ask("pack", "create", "q.json", "--name", "q", "--version", "2.1", "--tag", "go")
    assert (new["version"], new["behaviors"], new["description"]) == ("2.1", 1, "")
    document = json.loads((packed.folder / "q.json").read_text("utf-8"))
    assert [item["key"] for item in document["behaviors"]] == ["tests"]
    assert (
        packed.ask("pack", "create", "r.json", "--name", "r", "--key", "main", "--key", "tests")["behaviors"]
        == 2
    )
    packed.ask("pack", "install", "q.json", "--trust", "user")
    assert packed.ask("show", "q/tests")["trust"] == "user"


def test_people_read_what_was_done(packed):
    assert packed.run("pack", "create", "q.json", "--name", "q").stdout == (
        "packed  q 1  2 behaviours, 1 link to q.json\n"
    )
    assert packed.run("pack", "list").stdout == "no packs\n"
    message = packed.run("pack", "install", "q.json").stdout.splitlines()
    assert message[:2] == ["installed  q 1  2 behaviours, 1 link", "  2 added"]
    assert message[2].startswith("  to undo this: priming undo ")
    assert packed.run("pack", "install", "q.json").stdout == "already installed  q 1  2 behaviours, 1 link\n"
    head, row = packed.run("pack", "list").stdout.splitlines()
    assert head.split() == ["pack", "version", "behaviours", "links", "installed", "description"]
    assert row.split()[:4] == ["q", "1", "2", "1"]


@each_row(
    ("arguments", "status", "message"),
    [
        (("create", "p.json", "--name", "p"), 2, "p.json already exists"),
        (("create", "q.json", "--name", "No Slug"), 2, "name = 'No Slug': must be lower-case"),
        (("create", "q.json"), 2, "--name"),
        (("create", "no/q.json", "--name", "q"), 1, "could not be written"),
        (("install", "none.json"), 2, "cannot be read"),
        (("install", "p.json", "--trust", "friend"), 2, "trust = 'friend': must be one of"),
        (("install", "newer.json"), 1, "install a newer Priming"),
        (("remove", "none"), 2, "there is no pack 'none' in 'default': installed are none"),
    ],
)
def test_bad_input_of_packs_is_told_in_one_line(packed, arguments, status, message):
    (packed.folder / "newer.json").write_text('{"format": "priming-pack", "format_version": 9}')
    before = packed.ask("log")
    done = packed.run("pack", *arguments)
    assert (done.exit_code, done.stdout) == (status, "")
    assert message in done.stderr
    assert packed.ask("log") == before


@pytest.mark.slow
def test_a_pack_is_created_in_one_process_and_installed_in_another(packed):
    assert packed.process("pack", "install", "p.json", "--namespace", "other").returncode == 0
    assert [item["name"] for item in packed.ask("pack", "list", "--namespace", "other")] == ["team"]
