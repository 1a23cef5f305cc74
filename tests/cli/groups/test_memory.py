"""What the commands on memories and links do, and what they answer to programs."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from priming.cli.groups.memory import page_lines, stored_lines
from priming.results import Remembered
from priming.types import Link, MemoryRecord

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
A = MemoryRecord("1", "default", "deploy-failed", "episode", "The deploy failed.", "The deploy failed.")
DISK = "The deploy failed because the disk was full."
CACHE = "We cleaned the build cache."
DISK_KEY, CACHE_KEY = "the-deploy-failed-because-the-disk", "we-cleaned-the-build-cache"


def monday(shell):
    """Two memories of one session."""
    for text in (DISK, CACHE):
        shell.ask("remember", text, "--session", "monday")


@pytest.fixture
def two(shell, prepared):
    """A store of one's own with two memories of one session."""
    prepared(shell, monday)
    return shell


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


def test_a_list_goes_on_after_the_last_id(two):
    first = two.ask("list", "--limit", "1")
    second = two.ask("list", "--limit", "1", "--after", first[0]["id"])
    assert [first[0]["key"], second[0]["key"]] == [DISK_KEY, CACHE_KEY]
    assert [item["key"] for item in two.ask("list", "--matching", "cache")] == [CACHE_KEY]


def test_what_holds_only_later_is_listed_with_its_first_day(shell):
    shell.ask("remember", DISK, "--key", "a")
    shell.ask("remember", CACHE, "--key", "b", "--valid-from", "2999-03-01")
    now, later = shell.run("list").stdout.splitlines()[1:]
    assert ("from 2999-03-01" in later, "from" in now) == (True, False)


def test_forgotten_memories_are_listed_when_asked_for(two):
    operation = two.ask("forget", CACHE_KEY)
    assert operation["kind"] == "forget"
    assert [item["key"] for item in two.ask("list")] == [DISK_KEY]
    assert [item["key"] for item in two.ask("list", "--status", "forgotten")] == [CACHE_KEY]
    assert len(two.ask("list", "--status", "any")) == 2


def test_a_superseded_memory_keeps_its_history(two):
    record = two.ask("supersede", DISK_KEY, "It was DNS.", "--valid-from", "2026-03-01", "--tag", "dns")
    assert (record["version"], record["tags"], record["session"]) == (2, ["dns"], "monday")
    assert [item["content"] for item in two.ask("history", DISK_KEY)] == [DISK, "It was DNS."]


def test_links_are_made_set_and_listed(two):
    new = two.ask("link", CACHE_KEY, DISK_KEY, "--relation", "solves", "--weight", "0.8")
    assert (new["relation"], new["weight"], new["given"]) == ("solves", 0.8, True)
    operation = two.ask("graph", "link-strength", CACHE_KEY, DISK_KEY, "0.99", "--relation", "solves")
    assert operation["message"].startswith("1 link set to 0.95: 0.80 → 0.95; a weight of 0.99")
    assert [item["weight"] for item in two.ask("links", CACHE_KEY, "--relation", "solves")] == [0.95]
    assert len(two.ask("links")) > 1


def test_a_relation_is_shown_with_its_sign_and_the_first_reply_says_it(two):
    first = two.run("link", CACHE_KEY, DISK_KEY, "--relation", "gainsays").stdout
    assert "the relation 'gainsays' is new: it brings activation" in first
    turned = two.run("link", CACHE_KEY, DISK_KEY, "--relation", "gainsays", "--suppressing").stdout
    edge = f"{CACHE_KEY} ─gainsays→ {DISK_KEY} (0.50, suppresses)  by hand"
    assert edge in turned
    assert "from now on the relation 'gainsays' takes activation away" in turned
    for shown in (("links", CACHE_KEY), ("links",), ("show", DISK_KEY), ("show", CACHE_KEY)):
        assert edge in two.run(*shown).stdout
    assert [item["sign"] for item in two.ask("links", "--relation", "gainsays")] == [-1]
    assert "arrowhead=tee" in two.run("graph").stdout
    back = two.ask("link", CACHE_KEY, DISK_KEY, "--relation", "gainsays", "--exciting")
    assert (back["sign"], back["message"][:11]) == (1, "from now on")


def test_a_rollback_shows_where_weights_would_be(two):
    two.ask("link", CACHE_KEY, DISK_KEY, "--relation", "solves", "--weight", "0.8")
    two.ask("graph", "link-strength", CACHE_KEY, DISK_KEY, "0.9", "--relation", "solves")
    (done,) = two.ask("log", "--limit", "1")
    planned = two.run("rollback", "--since", done["at"], "--dry-run").stdout
    assert f"{CACHE_KEY} solves {DISK_KEY}  0.9 → 0.8" in planned
    assert planned.endswith("1 operation would be undone\n")
    assert two.ask("links", "--relation", "solves")[0]["weight"] == 0.9
    two.ask("rollback", "--since", done["at"], "--until", "2199-01-01")
    assert two.ask("links", "--relation", "solves")[0]["weight"] == 0.8


def test_a_purge_shows_what_it_would_erase_before_it_asks(two):
    two.ask("remember", "Ada has the key of the safe.", "--key", "safe")
    two.ask("remember", "Adah is a name too.", "--key", "adah")
    done = two.run("purge", "--subject", "Ada", stdin="n\n")
    assert done.exit_code == 1
    assert done.stdout.startswith("would erase  Ada\n")
    assert "its text mentions it" in done.stdout
    assert len(two.ask("list")) == 4
    assert "there is no memory 'saef'" in two.run("purge", "saef", stdin="n\n").stderr


def test_purge_asks_first(two):
    done = two.run("purge", CACHE_KEY, stdin="n\n")
    assert done.exit_code == 1
    assert done.stderr.endswith(f"Erase '{CACHE_KEY}' for good? [y/N] nothing was erased\n")
    assert two.run("purge", CACHE_KEY, stdin="").exit_code == 1
    assert len(two.ask("list")) == 2
    assert two.run("purge", CACHE_KEY, stdin="y\n").exit_code == 0
    assert [item["key"] for item in two.ask("list")] == [DISK_KEY]


def test_purge_for_programs_needs_the_word(two):
    done = two.run("purge", CACHE_KEY, "--json")
    assert done.exit_code == 2
    assert "must be given with --json" in json.loads(done.stderr)["error"]["message"]
    assert two.ask("purge", CACHE_KEY, "--yes")["erased"]["memories"] == 2


def test_a_purge_lists_what_is_doubtful_and_erases_it_when_it_is_included(two):
    two.ask("remember", "Cook it al dente.", "--key", "pasta")
    two.ask("remember", "We thanked Al.", "--key", "thanks")
    done = two.run("purge", "--subject", "Al", "--yes").stdout
    assert "doubtful  not erased without --include KEY" in done
    assert re.search(r"pasta +episode +al may be a word here", done)
    assert {"pasta"} <= {item["key"] for item in two.ask("list")} - {"thanks"}
    done = two.ask("purge", "--subject", "Al", "--include", "pasta", "--yes")
    assert done["memories"][0]["key"] == "pasta"
    assert done["doubtful"] == []
    two.ask("remember", "Frau Müller paid.")
    assert two.run("purge", "--subject", "Mueller", "--yes").stdout.startswith("nothing erased  Mueller")


def test_a_stored_memory_is_shown_with_its_links_from_its_side(shown):
    links = (Link("b", "a", "next", 0.5, AT), Link("a", "entity:ada", "mentions", 0.25, AT))
    stored = Remembered("1", "a", "stored", links)
    assert shown(stored_lines(stored, explain=False)) == ["stored  a"]
    assert shown(stored_lines(stored, explain=True)) == [
        "stored  a",
        "  ←next─ b (0.50)",
        "  ─mentions→ entity:ada (0.25)",
    ]


@pytest.mark.parametrize("status", ["duplicate", "echo"])
def test_what_was_not_stored_says_why(shown, status):
    first, why = shown(stored_lines(Remembered("1", "a", status), explain=False))
    assert first == f"{status}  a"
    assert why.endswith("nothing was stored")


def test_a_full_page_says_how_to_go_on(shown):
    assert shown(page_lines([A], limit=1))[-1] == "there may be more: --after 1"
    assert shown(page_lines([A], limit=2))[-1].startswith("deploy-failed  episode")
    assert shown(page_lines([], limit=2)) == ["no memories"]
