"""The command line as a whole: its commands, its help, its version, its completions."""

from __future__ import annotations

import inspect
import json
import re

from tests.rows import each_row

from priming import Memory, __version__

from .conftest import invoke, root

DISK = "The deploy failed because the disk was full."

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


LIBRARY_ONLY = ("close", "identified", "operation")


def commands(group=None, before=""):
    """Every command with its name in full."""
    group = group or root()
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def command_of(verb):
    """The command of a verb: those of the loop are in a group, with groups for tasks and for metacognition."""
    if verb.startswith("loop_"):
        return re.sub(r"^loop_(task_|meta_)?", lambda group: group[0].replace("_", " "), verb).replace(
            "_", "-"
        )
    return OTHER_NAMES.get(verb, verb.replace("_", "-"))


def test_every_verb_of_the_library_has_a_command():
    public = [
        name for name in list(vars(Memory)) if name[0] != "_" and inspect.isfunction(getattr(Memory, name))
    ]
    verbs = {command_of(name) for name in public if name not in LIBRARY_ONLY}
    assert verbs <= {name for name, _ in commands()}


@each_row("name", [name for name, _ in commands()])
def test_every_command_and_option_is_explained(shell, name):
    command = dict(commands())[name]
    assert command.help
    assert [param.name for param in command.params if not param.help] == []
    shown = shell.run(*name.split(), "--help")
    assert shown.exit_code == 0
    assert all(len(line) <= 80 for line in shown.stdout.splitlines())
    for option in ("--url", "--namespace", "--profile", "--json"):
        assert option in shown.stdout


def test_without_a_command_the_help_is_shown(shell):
    assert shell.run().stdout.startswith("Usage: priming")


def test_the_help_lists_the_commands_in_groups_with_no_line_cut(shell):
    lines = shell.run("--help").stdout.splitlines()
    panels = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    library = ["Options", "Memory", "Feedback", "Rules", "Time", "Graph", "Server", "Care"]
    assert [panel for panel in panels if panel != "Loop"] == library
    assert not [line for line in lines[1:] if line.endswith(("...", "…"))]
    assert "  purge           Erase a memory for good, with its versions, vectors, links" in lines
    assert "connect " not in shell.run("--help").stdout


def test_a_group_lists_its_commands_too(shell):
    assert "\nCommands:\n  start  Start a run\n" in shell.run("run", "--help").stdout


def test_the_version_is_told(shell):
    assert shell.run("--version").stdout == f"priming {__version__}\n"
    assert shell.ask("--version") == {"version": __version__}


def test_options_of_the_place_stand_before_or_after_the_command(shell):
    shell.ask("--namespace", "work", "remember", DISK)
    assert json.loads(shell.run("--json", "stats", "--namespace", "work").stdout)["namespace"] == "work"
    assert json.loads(shell.run("--json", "--namespace", "x", "stats", "--namespace", "work").stdout)
    assert json.loads(shell.run("--namespace", "work", "stats", "--namespace", "x", "--json").stdout)[
        "reason"
    ]


def test_the_environment_names_the_place(shell):
    shell.ask("remember", DISK, "--namespace", "work")
    result = invoke(["stats", "--json"], environment={"PRIMING_URL": shell.url, "PRIMING_NAMESPACE": "work"})
    assert json.loads(result.stdout)["namespace"] == "work"


def test_completions_are_offered(shell, monkeypatch):
    monkeypatch.setenv("_PRIMING_COMPLETE", "complete_bash")

    def offered(words):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        return shell.run().stdout.split()

    assert offered("priming remember --kind f") == ["fact", "failure"]
    assert offered("priming recall --profile s") == ["synapse"]
    assert offered("priming recall --ablate wor") == ["words"]
    assert offered("priming list --status a") == ["active", "archived", "any"]
    assert offered("priming link --relation ne") == ["next", "next-but-one"]
    assert "lines" in offered("priming import ")


READS = [
    ("list",),
    ("recall", "when does the ferry leave"),
    ("active",),
    ("links",),
    ("log",),
    ("log", "--events"),
    ("stats",),
    ("status",),
    ("validate",),
    ("fading",),
    ("review",),
    ("aliases", "--dry-run"),
    ("deduplicate", "--dry-run"),
    ("diff", "2026-01-01", "2026-02-01"),
    ("graph",),
    ("graph", "strengths"),
    ("graph", "oscillating"),
    ("run", "list"),
    ("pack", "list"),
    ("export", "export.jsonl"),
]


def test_a_misspelt_namespace_is_answered_with_the_right_one(shell, monkeypatch):
    monkeypatch.chdir(shell.folder)
    shell.ask("remember", "The ferry leaves at nine.", "--namespace", "harbour")
    reason = 'there are no memories in "harbor"; did you mean "harbour"?'
    for words in READS:
        done = shell.run(*words, "--namespace", "harbor")
        assert done.exit_code == 0, done.stderr
        assert reason in done.stdout + done.stderr, words
        done = shell.run(*words, "--namespace", "harbor", "--json")
        assert done.exit_code == 0, done.stderr
        assert json.dumps(reason)[1:-1] in done.stdout + done.stderr, words
        json.loads(done.stdout)


ANY_READ = [*READS, ("doctor",), ("config",), ("sleep",), ("deduplicate",), ("aliases",)]
IN_VAIN = [
    ("show", "x"),
    ("used", "x"),
    ("forget", "x"),
    ("undo", "last"),
    ("purge", "x", "--yes"),
    ("backup",),
]


@each_row("words", [*ANY_READ, *IN_VAIN])
def test_no_command_that_changes_nothing_makes_a_store(shell, words, monkeypatch):
    project = shell.folder / "project"
    project.mkdir(exist_ok=True)
    monkeypatch.chdir(project)
    done = shell.run(*words, url="sqlite:///.priming/memory.db")
    assert done.exit_code == (2 if words in IN_VAIN else 0), done.stderr
    assert [path.name for path in project.iterdir() if path.name != "export.jsonl"] == []
