"""What goes wrong is told in one line, with an exit status, and changes nothing."""

from __future__ import annotations

import json

import pytest
from tests.rows import each_row

from priming.cli.command import status_of, wants_json
from priming.errors import Busy, Conflict, Corrupt, MissingExtra, NotFound, ParamError, PrimingError

DISK = "The deploy failed because the disk was full."
DISK_KEY = "the-deploy-failed-because-the-disk"

BAD = [
    (["remember", ""], "content = '': must not be blank"),
    (["remember", " \n "], "must not be blank"),
    (["remember", "a\x00b"], "content = 'a\\x00b': must not contain the NUL character"),
    (["remember", "a\udcffb"], "content = 'a\\udcffb': must be valid Unicode, without lone surrogates"),
    (["remember", "x", "--kind", "rumour"], "kind = 'rumour': must be one of episode, fact"),
    (["remember", "x", "--importance", "1.5"], "importance = 1.5: must be in [0, 1]"),
    (["remember", "x", "--importance", "much"], "Invalid value for '--importance'"),
    (["remember", "x", "--outcome", "splendid"], "outcome = 'splendid': must be one of success"),
    (["remember", "x", "--trust", "blind"], "trust = 'blind': must be one of"),
    (
        ["remember", "x", "--occurred-at", "sometime"],
        "occurred_at = 'sometime': must be a date or time, such as",
    ),
    (["remember", "x", "--occurred-at", "0001-01-01T00:00+23:00"], "must be a date or time, such as"),
    (["remember", "x", "--metadata", "{"], "metadata = '{': must be JSON"),
    (["remember", "x", "--metadata", "[1]"], "metadata = '[1]': must be a JSON object"),
    (["remember", "x", "--when", "python"], "when = 'python': must be KEY=VALUE or a JSON object"),
    (["remember", "x", "--tag", ""], "tags = ''"),
    (["remember", "x", "--key", "two\nlines"], "key = 'two\\nlines': must be one printable line"),
    (["remember", "Another text.", "--key", DISK_KEY], f"key '{DISK_KEY}' is taken"),
    (["remember"], "Missing argument 'TEXT'"),
    (["rember", "x"], "No such command 'rember'. Did you mean 'remember'"),
    (["recall"], "must not be blank: give a text, a cue with a context, or both"),
    (["recall", "x", "--limit", "0"], "limit = 0"),
    (["recall", "x", "--ablate", "magic"], "ablate = 'magic': must be one of words"),
    (["recall", "x", "--filter", '{"colour": 1}'], "filters = 'colour': must be metadata.NAME, "),
    (["recall", "x", "--filter", '{"occurred_at": {"gt": "soon"}}'], "filters.occurred_at = 'soon'"),
    (["recall", "x", "--filter", '{"not":' * 200 + "{}" + "}" * 200], "must be nested at most 100 deep"),
    (["recall", "x", "--profile", "best"], "profile = 'best': must be one of priming"),
    (["recall", "x", "--context", "at=now"], "context = 'at': has its own option or argument"),
    (
        ["show", "x", "--namespace", "defualt"],
        "there is no memory 'x' in 'defualt'; there are no memories in \"defualt\"; did you mean \"default\"?",
    ),
    (["list", "--status", "lost"], "status = 'lost': must be one of active, forgotten"),
    (["list", "--after", "nothing"], "there is no memory 'nothing'"),
    (["show", "nothing"], "there is no memory 'nothing' in 'default'"),
    (["history", "nothing"], "there is no memory 'nothing'"),
    (["forget", "nothing"], "there is no memory 'nothing'"),
    (["purge", "nothing", "--yes"], "there is no memory 'nothing'"),
    (["supersede", "nothing", "x"], "there is no memory 'nothing'"),
    (["supersede", DISK_KEY, " "], "must not be blank"),
    (["link", DISK_KEY, "nothing"], "there is no memory 'nothing'"),
    (["link", DISK_KEY, DISK_KEY], "must differ from the source"),
    (["link", DISK_KEY, "entity:x", "--weight", "1.5"], "weight = 1.5: must be in [0, 1]"),
    (["graph", "link-strength", DISK_KEY, DISK_KEY, "1.5"], "weight = 1.5: must be in [0, 1]"),
    (["graph", "paint"], "No such command 'paint'"),
    (["undo", "nothing"], "there is no operation 'nothing' in 'default'"),
    (["log", "--since", "soon"], "since = 'soon': must be a date or time, such as"),
    (["import", "fax", "x"], "source = 'fax': must be one of priming, "),
    (["import", "priming", "missing.jsonl"], "path = 'missing.jsonl': cannot be read: No such file"),
    (["stats", "--url", ""], "url = '': must name a store"),
    (["stats", "--url", "mysql://x"], "url = 'mysql://x': must be"),
    (["stats", "--namespace", ""], "namespace = '': must be one printable line"),
    (["stats", "--bogus"], "No such option: --bogus"),
]


@each_row(("arguments", "message"), BAD)
def test_bad_input_is_told_in_one_line_with_status_2(settled, arguments, message):
    done = settled.run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert message in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["remember", " "],
        ["show", "nothing"],
        ["show"],
        ["shew", "x"],
        ["graph", "paint"],
        ["stats", "--bogus"],
    ],
    ids=" ".join,
)
def test_bad_input_is_told_to_programs_as_one_document_on_stderr(settled, arguments):
    done = settled.run("--json", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    error = json.loads(line)["error"]
    assert set(error) == {"code", "message"}
    assert f"error: {error['message']}" == settled.run(*arguments).stderr.strip()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "content = '': must not be blank"),
        (b"  \n", "must not be blank"),
        (b"a\x00b", "must not contain the NUL character"),
        (b"a\xed\xa0\x80b", "must be UTF-8 text: stdin has the byte 0xed at 1"),
        (b"\xff\xfea", "must be UTF-8 text: stdin has the byte 0xff at 0"),
        (b"x" * 10_000_000, "must be at most 1,048,576 characters: split it into parts"),
        (b"x" * 1_048_577, "has 1,048,577 characters, at most 1,048,576: split it into parts"),
    ],
    ids=["empty", "blank", "NUL", "surrogate", "UTF-16", "10 MB", "a little too long"],
)
def test_a_bad_text_on_stdin_is_refused(shell, raw, message):
    done = shell.run("remember", "-", stdin=raw)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr) < 300
    assert shell.ask("list") == []


def test_codes_are_those_of_the_error_tree(shell):
    def code(*arguments):
        return json.loads(shell.run(*arguments, "--json").stderr)["error"]["code"]

    assert code("remember", "") == "bad_param"
    assert code("show", "nothing") == "not_found"
    assert code("show") == "usage"
    shell.ask("remember", DISK, "--key", "a")
    assert code("remember", "Another.", "--key", "a") == "conflict"
    (shell.folder / "text.db").write_text("no database " * 20)
    assert code("stats", "--url", "sqlite:///text.db") == "corrupt"


def test_a_failure_that_the_caller_cannot_put_right_has_status_1(shell):
    (shell.folder / "text.db").write_text("no database " * 20)
    done = shell.run("stats", "--url", "sqlite:///text.db")
    assert done.exit_code == 1
    assert done.stderr == "error: text.db is not a Priming database: name another file; it was not changed\n"


@each_row(
    ("error", "status"),
    [
        (ParamError("a", 1, "must not"), 2),
        (NotFound("a"), 2),
        (Conflict("a"), 2),
        (Busy("a"), 1),
        (Corrupt("a"), 1),
        (MissingExtra("faiss", "this"), 1),
        (PrimingError("a"), 1),
    ],
)
def test_every_error_has_its_status(error, status):
    assert status_of(error) == status


def test_json_is_wanted_where_the_option_stands_before_the_text(shell):
    assert wants_json(["recall", "--json", "x"])
    assert not wants_json(["recall", "--", "--json"])
    assert shell.run("remember", "--", "--json").stdout.startswith("stored")


def test_a_blank_option_does_not_lead_to_the_place_of_the_environment(shell, monkeypatch):
    monkeypatch.setenv("PRIMING_NAMESPACE", "mine")
    assert shell.run("remember", DISK, "--namespace", "").exit_code == 2
