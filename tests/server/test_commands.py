"""Commands that serve a store, and say who may use it."""

from __future__ import annotations

import re
import sys
from datetime import datetime, timedelta

from tests.rows import each_row

import priming_server


def test_a_token_is_shown_once(shell):
    new = shell.ask("token", "new", "shop", "--name", "Ada's editor")
    assert re.fullmatch("prm_[0-9a-f]{12}_[0-9a-f]{64}", new["secret"])
    (listed,) = shell.ask("token", "list")
    assert (listed["id"], listed["namespace"], listed["name"]) == (
        new["token"]["id"],
        "shop",
        "Ada's editor",
    )
    assert new["secret"].rpartition("_")[2] not in shell.run("token", "list").stdout
    shown = shell.run("token", "new", "*").stdout.splitlines()
    assert shown[0].startswith("prm_")
    assert "cannot be shown again" in shown[1]


def test_tokens_are_listed_with_what_became_of_them(shell):
    assert shell.run("token", "list").stdout == "no tokens\n"
    new = shell.ask("token", "new", "shop")
    assert shell.run("token", "revoke", new["token"]["id"]).stdout == f"revoked {new['token']['id']}\n"
    head, row = shell.run("token", "list").stdout.splitlines()
    assert head.split() == [
        "id",
        "namespace",
        "name",
        "kind",
        "created",
        "last",
        "used",
        "expires",
        "revoked",
    ]
    assert row.split()[:3] == [new["token"]["id"], "shop", "write"]
    assert len(re.findall(r"\d{4}-\d\d-\d\d ", row)) == 2  # created and revoked, never used


def test_a_token_has_a_kind_and_an_end(shell):
    for kind in ("read", "write", "admin"):
        new = shell.ask("token", "new", "shop", "--kind", kind, "--expires", "36h")["token"]
        begin, end = (datetime.fromisoformat(new[name]) for name in ("created_at", "expires_at"))
        assert (new["kind"], end - begin) == (kind, timedelta(hours=36))
    assert [row["kind"] for row in shell.ask("token", "list")] == ["read", "write", "admin"]
    assert shell.ask("token", "new", "shop")["token"]["expires_at"] is None


def test_a_namespace_is_read_only_until_it_is_not(shell):
    assert shell.run("token", "read-only").stdout == "no namespace is read-only\n"
    shell.ask("remember", "The port is 8080.", "--namespace", "archive")
    assert shell.ask("token", "read-only", "archive") == {"read_only": ["archive"]}
    refused = shell.run("remember", "The port is 9090.", "--namespace", "archive")
    assert refused.exit_code != 0
    assert "'archive' is read-only: 'priming token read-only NAMESPACE --off'" in refused.stderr
    shell.ask("remember", "The port is 9090.")
    assert shell.ask("token", "read-only") == {"read_only": ["archive"]}
    assert shell.ask("token", "read-only", "archive", "--off") == {"read_only": []}
    shell.ask("remember", "The port is 9090.", "--namespace", "archive")


@each_row(
    ("arguments", "message"),
    [
        (["token", "revoke", "nothing"], "there is no token with that id"),
        (["token", "new", " "], "namespace = ' ': must be one printable line"),
        (["token", "new", "shop", "--kind", "root"], "kind = 'root': must be one of read, write, admin"),
        (["token", "new", "shop", "--expires", "0d"], "must be a number > 0 with s, m, h, d or w"),
        (["token", "new", "shop", "--expires", "999999w"], "must be longer than 0 and end before"),
        (["token", "read-only", "--off"], "needs the namespace"),
        (["token", "read-only", "*"], "must name one namespace"),
        (["token", "new"], "Missing argument 'NAMESPACE'"),
        (["serve", "--host", "0.0.0.0"], "priming token new NAMESPACE"),
        (["serve", "--port", "99999"], "99999"),
        (["serve", "--sleep-every", "soon"], "must be a number > 0 with s, m, h, d or w"),
        (["serve", "--rate", "-1"], "rate = -1.0: must be in [0.0, 4294967296.0]"),
        (["serve", "--uds", "/nowhere/at/all.sock"], "must be a place for a socket"),
    ],
)
def test_bad_input_is_told_in_one_line(shell, arguments, message):
    done = shell.run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert message in line


def test_a_server_without_its_extra_names_the_command_that_installs_it(shell, monkeypatch):
    monkeypatch.delattr(priming_server, "process", raising=False)
    monkeypatch.setitem(sys.modules, "priming_server.process", None)
    done = shell.run("serve")
    assert done.exit_code == 1
    assert "priming serve needs the extra 'server': pip install 'priming[server]'" in done.stderr


def test_to_list_tokens_makes_no_store(shell):
    assert shell.run("token", "list").exit_code == 0
    assert not (shell.folder / "memory.db").exists()
