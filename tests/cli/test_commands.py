"""What the commands do, and what they answer to programs."""

from __future__ import annotations

import inspect
import json
import shutil
import sqlite3
from datetime import UTC, datetime

import pytest
import typer
from typer.testing import CliRunner

from priming import Memory, __version__
from priming.cli.main import app

DISK = "The deploy failed because the disk was full."
CACHE = "We cleaned the build cache."
DISK_KEY, CACHE_KEY = "the-deploy-failed-because-the-disk", "we-cleaned-the-build-cache"

OTHER_NAMES = {
    "apply": "sleep",
    "get": "show",
    "import_": "import",
    "set_strength": "graph link-strength",
    "events": "log",
    "strengths": "graph strengths",
    "oscillating": "graph oscillating",
    "normalize_strengths": "graph normalize-strengths",
    "would_undo": "rollback",
    "graph": "graph draw",
    "pack_create": "pack create",
    "pack_install": "pack install",
    "pack_list": "pack list",
    "pack_remove": "pack remove",
    "run_start": "run start",
    "run_end": "run end",
    "run_used": "run used",
    "run_list": "run list",
    "remember_many": "import",
    "link_many": "import",
    "keep_both": "review",
}


def commands(group=None, before=""):
    """Every command with its name in full."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


@pytest.fixture(scope="module")
def monday(tmp_path_factory):
    """The file of a store with two memories of one session."""
    file = tmp_path_factory.mktemp("monday") / "memory.db"
    with Memory.open(f"sqlite:///{file}") as memory:
        memory.remember(DISK, session="monday")
        memory.remember(CACHE, session="monday")
    return file


@pytest.fixture
def two(shell, monday):
    """A store of one's own with two memories of one session."""
    shutil.copy(monday, shell.folder / "memory.db")
    return shell


LIBRARY_ONLY = ("close", "identified", "operation")
"""What a command line has no use for."""


def test_every_verb_of_the_library_has_a_command():
    public = [
        name for name, value in vars(Memory).items() if inspect.isfunction(value) and not name.startswith("_")
    ]
    verbs = {OTHER_NAMES.get(name, name.replace("_", "-")) for name in public if name not in LIBRARY_ONLY}
    assert verbs <= {name for name, _ in commands()}


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_and_option_is_explained(shell, name):
    command = dict(commands())[name]
    assert command.help
    assert [one.name for one in command.params if not one.help] == []
    shown = shell.run(*name.split(), "--help")
    assert shown.exit_code == 0
    assert all(len(line) <= 80 for line in shown.stdout.splitlines())
    for option in ("--url", "--namespace", "--profile", "--json"):
        assert option in shown.stdout


def test_without_a_command_the_help_is_shown(shell):
    assert shell.run().stdout.startswith("Usage: priming")


def test_the_version_is_told(shell):
    assert shell.run("--version").stdout == f"priming {__version__}\n"
    assert shell.ask("--version") == {"version": __version__}


def test_a_remembered_text_is_recalled(two):
    stored = two.ask("remember", DISK, "--session", "monday")
    assert (stored["status"], stored["key"]) == ("duplicate", DISK_KEY)
    found = two.ask("recall", "why did the deploy fail")
    assert [hit["memory"]["key"] for hit in found["hits"]] == [DISK_KEY, CACHE_KEY]


def test_every_option_of_remember_reaches_the_memory(shell):
    shell.ask("remember", DISK, "--key", "disk", "--kind", "failure", "--heading", "Deploy", "--session", "s",
              "--speaker", "Ada", "--occurred-at", "2026-03-01T09:30+02:00", "--tag", "ops", "--tag", "disk",
              "--metadata", '{"ticket": 7}', "--when", "language=python", "--importance", "0.9",
              "--outcome", "failure", "--source", "pager", "--trust", "tool")  # fmt: skip
    record = shell.ask("show", "disk")
    expected = {
        "content": DISK, "key": "disk", "kind": "failure", "heading": "Deploy", "session": "s",
        "speaker": "Ada", "occurred_at": "2026-03-01T07:30:00+00:00", "tags": ["ops", "disk"],
        "metadata": {"ticket": 7}, "when": {"language": "python"}, "importance": 0.9, "outcome": "failure",
        "source": "pager", "trust": "tool",
    }  # fmt: skip
    assert {name: record[name] for name in expected} == expected


def test_predicates_are_pairs_or_objects_and_a_pair_given_twice_holds_both(shell):
    shell.ask("remember", DISK, "--key", "disk", "--when", "env=prod", "--when", "env=test", "--when",
              '{"attempt": 2}')  # fmt: skip
    assert shell.ask("show", "disk")["when"] == {"env": ["prod", "test"], "attempt": 2}


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        (b"one line\n", "one line"),
        (b"two\nlines\n\n", "two\nlines\n"),
        (b"\xef\xbb\xbfmarked\r\n", "marked"),
        ("日本語".encode(), "日本語"),
    ],
)
def test_a_dash_reads_the_text_from_stdin(shell, raw, content):
    key = shell.ask("remember", "-", stdin=raw)["key"]
    assert shell.ask("show", key)["content"] == content


def test_a_time_without_a_zone_is_local_and_a_date_its_midnight(shell):
    shell.ask("remember", DISK, "--key", "a", "--occurred-at", "2026-03-01")
    shell.ask("remember", CACHE, "--key", "b", "--occurred-at", "2026-03-01T09:30")
    for key, local in (("a", datetime(2026, 3, 1)), ("b", datetime(2026, 3, 1, 9, 30))):
        assert shell.ask("show", key)["occurred_at"] == local.astimezone(UTC).isoformat()


def test_recall_takes_what_may_come_up_from_its_options(two):
    two.ask("remember", "The deploy needs a free disk.", "--kind", "fact", "--tag", "ops")

    def keys(*options):
        return [hit["memory"]["key"] for hit in two.ask("recall", "deploy disk", *options)["hits"]]

    assert keys("--kind", "fact") == ["the-deploy-needs-a-free-disk"]
    assert keys("--filter", '{"tags": {"contains": "ops"}}') == ["the-deploy-needs-a-free-disk"]
    assert len(keys("--limit", "1")) == 1
    assert keys("--filter", '{"recorded_at": {"gte": "2999-01-01"}}') == []
    assert len(keys("--filter", '{"recorded_at": {"lt": "2999-01-01"}}')) == 3
    assert CACHE_KEY not in keys("--no-spread", "--ablate", "window", "--ablate", "session", "--limit", "2")


def test_recall_says_nothing_where_it_is_less_sure_than_asked_for(two):
    found = two.ask("recall", "deploy disk", "--floor", "0")
    assert found["hits"]
    assert 0 < found["confidence"] < 1
    silent = two.ask("recall", "deploy disk", "--floor", "1")
    assert (silent["hits"], silent["confidence"]) == ([], found["confidence"])
    assert silent["reason"].endswith(f"confidence {found['confidence']:.3f}, less than 1")
    assert f" · confidence {found['confidence']:.2f}\n" in two.run("recall", "deploy disk").stdout


@pytest.mark.parametrize("floor", ["-0.1", "1.5", "nan"])
def test_a_floor_outside_its_range_is_refused(two, floor):
    done = two.run("recall", "deploy disk", f"--floor={floor}")
    assert done.exit_code == 2
    assert "floor = " in done.stderr


def test_recall_takes_a_context(shell):
    shell.ask("remember", "Use tabs in makefiles.", "--when", "language=make")
    found = shell.ask("recall", "--language", "make", "--context", "shell=zsh")
    assert found["hits"][0]["components"]["context"] > 0


def test_recall_answers_in_another_profile_and_traces_its_steps(two):
    found = two.ask("recall", "deploy", "--profile", "floop", "--trace")
    assert found["profile"] == "floop"
    assert DISK_KEY in found["spread"][0]


def test_options_of_the_place_stand_before_or_after_the_command(shell):
    shell.ask("--namespace", "work", "remember", DISK)
    assert json.loads(shell.run("--json", "stats", "--namespace", "work").stdout)["namespace"] == "work"
    assert json.loads(shell.run("--json", "--namespace", "x", "stats", "--namespace", "work").stdout)
    assert shell.run("--namespace", "work", "stats", "--namespace", "x").exit_code == 2


def test_the_environment_names_the_place(shell):
    shell.ask("remember", DISK, "--namespace", "work")
    named = {"PRIMING_URL": shell.url, "PRIMING_NAMESPACE": "work"}
    result = CliRunner().invoke(app, ["stats", "--json"], env=named)
    assert json.loads(result.stdout)["namespace"] == "work"


def test_a_list_goes_on_after_the_last_id(two):
    first = two.ask("list", "--limit", "1")
    second = two.ask("list", "--limit", "1", "--after", first[0]["id"])
    assert [first[0]["key"], second[0]["key"]] == [DISK_KEY, CACHE_KEY]
    assert [one["key"] for one in two.ask("list", "--matching", "cache")] == [CACHE_KEY]


def test_forgotten_memories_are_listed_when_asked_for(two):
    operation = two.ask("forget", CACHE_KEY)
    assert operation["kind"] == "forget"
    assert [one["key"] for one in two.ask("list")] == [DISK_KEY]
    assert [one["key"] for one in two.ask("list", "--status", "forgotten")] == [CACHE_KEY]
    assert len(two.ask("list", "--status", "any")) == 2


def test_a_superseded_memory_keeps_its_history(two):
    record = two.ask("supersede", DISK_KEY, "It was DNS.", "--valid-from", "2026-03-01", "--tag", "dns")
    assert (record["version"], record["tags"], record["session"]) == (2, ["dns"], "monday")
    assert [one["content"] for one in two.ask("history", DISK_KEY)] == [DISK, "It was DNS."]


def test_links_are_made_set_and_listed(two):
    made = two.ask("link", CACHE_KEY, DISK_KEY, "--relation", "solves", "--weight", "0.8")
    assert (made["relation"], made["weight"], made["given"]) == ("solves", 0.8, True)
    operation = two.ask("graph", "link-strength", CACHE_KEY, DISK_KEY, "0.99", "--relation", "solves")
    assert operation["message"] == "1 link set to 0.95; 0.99 was clamped to [0.05, 0.95]"
    assert [one["weight"] for one in two.ask("links", CACHE_KEY, "--relation", "solves")] == [0.95]
    assert len(two.ask("links")) > 1


def test_undo_last_walks_back_over_what_is_neither_undo_nor_undone(two):
    assert two.ask("undo", "last")["kind"] == "undo"
    assert [one["key"] for one in two.ask("list")] == [DISK_KEY]
    undone = two.ask("undo", "last")
    assert two.ask("list") == []
    two.ask("undo", undone["id"])
    assert [one["key"] for one in two.ask("list")] == [DISK_KEY]


def test_undo_last_passes_over_where_a_piece_of_work_begins_and_ends(shell):
    shell.ask("remember", DISK)
    run = shell.ask("run", "start")
    shell.ask("run", "end", run["id"])
    shell.ask("undo", "last")
    assert shell.ask("list") == []


def test_with_nothing_to_undo_undo_last_says_so(shell):
    shell.ask("remember", DISK)
    shell.ask("undo", "last")
    done = shell.run("undo", "last")
    assert (done.exit_code, done.stderr) == (2, "error: there is no operation to undo: see the log\n")


def test_the_log_is_newest_first_and_can_be_narrowed(two):
    two.ask("forget", CACHE_KEY)
    assert [one["kind"] for one in two.ask("log")] == ["forget", "remember", "remember"]
    assert [one["kind"] for one in two.ask("log", "--limit", "1")] == ["forget"]
    assert [one["kind"] for one in two.ask("log", "--key", CACHE_KEY)] == ["forget", "remember"]
    assert two.ask("log", "--since", "2999-01-01") == []


def test_purge_asks_first(two):
    done = two.run("purge", CACHE_KEY, stdin="n\n")
    assert done.exit_code == 1
    assert done.stderr.endswith(f"Erase '{CACHE_KEY}' for good? [y/N] nothing was erased\n")
    assert two.run("purge", CACHE_KEY, stdin="").exit_code == 1
    assert len(two.ask("list")) == 2
    assert two.run("purge", CACHE_KEY, stdin="y\n").exit_code == 0
    assert [one["key"] for one in two.ask("list")] == [DISK_KEY]


def test_purge_for_programs_needs_the_word(two):
    done = two.run("purge", CACHE_KEY, "--json")
    assert done.exit_code == 2
    assert "must be given with --json" in json.loads(done.stderr)["error"]["message"]
    assert two.ask("purge", CACHE_KEY, "--yes")["erased"]["memories"] == 1


def test_an_export_is_imported_elsewhere_with_nothing_lost(two):
    assert two.ask("export", "all.jsonl") == {"path": "all.jsonl", "memories": 3}
    assert two.ask("import", "priming", "all.jsonl", "--namespace", "copy")["stored"] == 3
    mine, copied = (two.ask("list", *place) for place in ((), ("--namespace", "copy")))
    assert [{**one, "namespace": ""} for one in mine] == [{**one, "namespace": ""} for one in copied]


def test_an_importer_is_found_by_its_name_and_reports(shell):
    path = shell.file(
        {"content": DISK, "key": "a"},
        {"content": CACHE, "key": "b"},
        {"source": "a", "target": "b", "relation": "then", "weight": 0.5},
        {"source": "a", "target": "c", "relation": "then", "weight": 0.5},
    )
    report = shell.ask("import", "lines", path)
    assert (report["stored"], report["links"], report["loose"]) == (2, 1, 1)


def test_an_import_that_refused_something_fails_and_keeps_the_rest(shell):
    done = shell.run("import", "lines", shell.file({"content": DISK}, {"content": " "}))
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == "imported  1 new, 1 refused"
    assert "must not be blank" in done.stdout.splitlines()[1]


def test_the_profiles_are_listed_whole(shell):
    found = {one["name"]: one for one in shell.ask("profiles")}
    assert found["floop"]["spread"]["hop_decay"] == 0.5


def test_a_sound_store_has_no_findings(two):
    assert two.ask("validate") == []
    assert two.run("validate").stdout == "nothing is wrong\n"


def test_findings_are_told_and_fail(shell):
    shell.ask("remember", DISK)
    with sqlite3.connect(shell.folder / "memory.db") as database:
        database.execute("DELETE FROM vectors")
    database.close()
    done = shell.run("validate", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)[0]["rule"]


def test_completions_are_offered(shell, monkeypatch):
    monkeypatch.setenv("_PRIMING_COMPLETE", "complete_bash")

    def offered(words):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        return shell.run().stdout.split()

    assert offered("priming remember --kind f") == ["fact", "failure"]
    assert offered("priming recall --profile s") == ["synapse"]
    assert offered("priming recall --ablate bm") == ["bm25"]
    assert offered("priming list --status a") == ["active", "archived", "any"]
    assert offered("priming link --relation ne") == ["next", "next-but-one"]
    assert "lines" in offered("priming import ")
