"""``priming graph``: drawing, with and without the name of the command."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def two(shell):
    """A store with two linked memories."""
    shell.ask("remember", "The disk was full.", "--key", "disk")
    shell.ask("remember", "Clear the cache.", "--key", "cache", "--kind", "procedure")
    shell.ask("link", "cache", "disk", "--relation", "solves", "--weight", "0.8")
    return shell


def test_the_graph_is_drawn_as_dot(two):
    done = two.run("graph")
    assert done.exit_code == 0
    assert done.stdout.startswith("digraph priming {\n")
    assert '  "cache" -> "disk" [label="solves", ' in done.stdout
    assert done.stdout.endswith("}\n")


@pytest.mark.parametrize(
    "options", [[], ["--format", "json"], ["--limit", "1"], ["--key", "disk", "--depth", "0"]]
)
def test_the_name_of_the_command_may_be_left_out(two, options):
    assert two.run("graph", *options).stdout == two.run("graph", "draw", *options).stdout != ""


def test_json_is_one_document_with_nodes_and_links(two):
    value = json.loads(two.run("graph", "--format", "json").stdout)
    assert {"cache", "disk"} <= {one["key"] for one in value["nodes"]}
    assert "solves" in {one["relation"] for one in value["links"]}
    assert two.ask("graph", "--format", "json") == value


def test_another_format_is_a_text_in_the_document(two):
    value = two.ask("graph")
    assert value["format"] == "dot"
    assert value["text"] == two.run("graph").stdout


def test_a_file_is_written(two):
    done = two.run("graph", "--format", "html", "--output", "graph.html")
    assert done.stdout == "drawn  html to graph.html\n"
    page = (two.folder / "graph.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "Clear the cache." in page
    told = two.ask("graph", "--format", "html", "--output", "graph.html")
    assert told == {"format": "html", "path": "graph.html", "bytes": len(page.encode())}


def test_a_file_that_cannot_be_written_is_a_failure(two):
    done = two.run("graph", "--output", "no/such/folder.dot")
    assert done.exit_code == 1
    assert "error: no/such/folder.dot could not be written: No such file or directory" in done.stderr


def test_the_options_choose_what_is_drawn(two):
    assert "cache" not in two.run("graph", "--kind", "episode").stdout
    assert '"cache" ->' not in two.run("graph", "--key", "disk", "--depth", "0").stdout
    before = two.run("graph", "--known-at", "2000-01-01", "--format", "json")
    assert json.loads(before.stdout)["nodes"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "svg"], "format = 'svg': must be one of dot, json, html"),
        (["--limit", "0"], "limit = 0: must be a whole number"),
        (["--key", "nothing"], "there is no memory 'nothing'"),
        (["--known-at", "then"], "known_at = 'then': must be a date or time"),
        (["paint"], "No such command 'paint'"),
        (["draw", "extra"], "unexpected extra argument"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_one_line(two, arguments, message):
    done = two.run("graph", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_help_of_the_group_lists_its_commands(shell):
    done = shell.run("graph", "--help")
    assert {"draw", "link-strength"} <= set(done.stdout.split())
