"""The commands for packs of behaviours."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def packed(shell):
    """A store with two behaviours, and a pack of them."""
    shell.ask("remember", "Always run the tests.", "--key", "tests", "--kind", "behavior", "--tag", "go")
    shell.ask("remember", "Never push to main.", "--key", "main", "--kind", "behavior")
    shell.ask("link", "tests", "main", "--relation", "requires")
    shell.ask("pack", "create", "p.json", "--name", "team", "--description", "Our rules")
    return shell


def test_a_pack_is_created_installed_listed_and_removed(packed):
    there = ("--namespace", "other")
    done = packed.ask("pack", "install", "p.json", *there)
    assert (done["name"], done["behaviors"], done["links"], done["metadata"]) == ("team", 2, 1, {"added": 2})
    (listed,) = packed.ask("pack", "list", *there)
    assert (listed["version"], listed["description"]) == ("1", "Our rules")
    assert packed.ask("show", "team/tests", *there)["trust"] == "tool"
    removed = packed.ask("pack", "remove", "team", *there)
    assert removed["message"] == "2 behaviours are out of recall: install it to have it again"
    assert packed.ask("pack", "list", *there) == []
    packed.ask("undo", "last", *there)
    assert len(packed.ask("pack", "list", *there)) == 1


def test_every_option_of_create_and_install_reaches_the_memory(packed):
    made = packed.ask("pack", "create", "q.json", "--name", "q", "--version", "2.1", "--tag", "go")
    assert (made["version"], made["behaviors"], made["description"]) == ("2.1", 1, "")
    held = json.loads((packed.folder / "q.json").read_text("utf-8"))
    assert [one["key"] for one in held["behaviors"]] == ["tests"]
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
    said = packed.run("pack", "install", "q.json").stdout.splitlines()
    assert said[:2] == ["installed  q 1  2 behaviours, 1 link", "  2 added"]
    assert said[2].startswith("  to take it back: priming undo ")
    assert packed.run("pack", "install", "q.json").stdout == "already installed  q 1  2 behaviours, 1 link\n"
    head, row = packed.run("pack", "list").stdout.splitlines()
    assert head.split() == ["pack", "version", "behaviours", "links", "installed", "description"]
    assert row.split()[:4] == ["q", "1", "2", "1"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("create", "p.json", "--name", "p"), 2, "p.json is there already"),
        (("create", "q.json", "--name", "No Slug"), 2, "name = 'No Slug': must be lower-case"),
        (("create", "q.json"), 2, "--name"),
        (("create", "no/q.json", "--name", "q"), 1, "could not be written"),
        (("install", "none.json"), 2, "cannot be read"),
        (("install", "p.json", "--trust", "friend"), 2, "trust = 'friend': must be one of"),
        (("install", "newer.json"), 1, "install a newer Priming"),
        (("remove", "none"), 2, "there is no pack 'none' in 'default': installed are none"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(packed, arguments, status, message):
    (packed.folder / "newer.json").write_text('{"format": "priming-pack", "format_version": 9}')
    before = packed.ask("log")
    done = packed.run("pack", *arguments)
    assert (done.exit_code, done.stdout) == (status, "")
    assert message in done.stderr
    assert packed.ask("log") == before


def test_a_pack_is_created_in_one_process_and_installed_in_another(packed):
    assert packed.process("pack", "install", "p.json", "--namespace", "other").returncode == 0
    assert [one["name"] for one in packed.ask("pack", "list", "--namespace", "other")] == ["team"]
