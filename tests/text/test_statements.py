"""What a simple statement says of whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.text.statements import Statement, same_slot, statement, values_differ


@pytest.mark.parametrize(
    ("text", "subject", "slot", "value"),
    [
        ("The capital of France is Paris.", "france", "capital", "Paris"),
        ("The port of the build server is 8080", "build server", "port", "8080"),
        ("The password for Kestrel is tulip.", "kestrel", "password", "tulip"),
        ("the default branch of the repo is main", "repo", "default branch", "main"),
        ("Ada's favourite editor is Vim.", "ada", "favourite editor", "Vim"),
        ("The server’s port is 443.", "server", "port", "443"),
        ("James' phone number is 555-0101.", "james", "phone number", "555-0101"),
        ("Kestrel's owner is Grace Hopper.", "kestrel", "owner", "Grace Hopper"),
        ("Ada's first job was clerk.", "ada", "first job (past)", "clerk"),
        ("Ada's birthday is 17 May 2024.", "ada", "birthday", "17 May 2024"),
        ("The head of the Department of Energy is Ann Lee.", "department of energy", "head", "Ann Lee"),
        ("Ada lives in Oslo.", "ada", "lives in", "Oslo"),
        ("Ada now lives in Bergen!", "ada", "lives in", "Bergen"),
        ("Ada Lovelace works at Acme Corp.", "ada lovelace", "works at", "Acme Corp"),
        ("Kestrel runs on Debian 12.", "kestrel", "runs on", "Debian 12"),
        ("The API uses PostgreSQL.", "api", "uses", "PostgreSQL"),
        ("The key to Kestrel hangs in room 12.", "key to kestrel", "hangs in", "room 12"),
        ("The team meets on Tuesdays at ten.", "team", "meets on", "Tuesdays at ten"),
        ("Ada reports to Grace.", "ada", "reports to", "Grace"),
        ("A ticket costs 12 euros.", "ticket", "costs", "12 euros"),
        ("Kestrel is located in Oslo.", "kestrel", "is located in", "Oslo"),
        ("Kestrel is currently hosted on Hetzner.", "kestrel", "is hosted on", "Hetzner"),
        ("The office is in Oslo.", "office", "is in", "Oslo"),
        ("Ada is 36 years old.", "ada", "number", "36"),
        ("Kestrel has 8 cores.", "kestrel", "number of cores", "8"),
        ("The service is down.", "service", "up down", "down"),
        ("The app is called Kestrel.", "app", "name", "Kestrel"),
        ("src/app.py is maintained by Ada.", "src/app.py", "is maintained by", "Ada"),
    ],
)
def test_a_simple_statement_is_read(text, subject, slot, value):
    assert statement(text) == Statement(subject, slot, value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Oslo",
        "Is Ada's port 80?",
        "Ada lives in Oslo?",
        "Ada does not live in Oslo.",
        "Ada's port isn't 80.",
        "Ada never uses Vim.",
        "Ada might work at Acme.",
        "If Ada lives in Oslo, she skis.",
        "I think Ada lives in Oslo.",
        "Bob said Ada's port is 80.",
        "Ada used to live in Oslo.",
        "Ada lives in Oslo since May.",
        "Ada uses Vim and Emacs.",
        "Ada uses Vim for Go.",
        "Ada uses Vim or Emacs.",
        "Ada also uses Emacs.",
        "Ada lives in Oslo in summer.",
        "He lives in Oslo.",
        "Her favourite editor is Vim.",
        "It is down.",
        "We meet on Tuesdays at ten.",
        "Ada is tall.",
        "Ada is a pilot.",
        "Ada lives in Oslo. Bob lives in Bergen.",
        "Ada lives in Oslo, Norway.",
        "Some servers run on Debian.",
        "The port of some server is 80.",
        "Ada's port is 80 when it is up.",
        "The point of this is that it works.",
        "There is a key in room 12.",
        "Ada loves Bob.",
        "Run the tests before a commit.",
        "Ada lives in Oslo\nBob lives in Bergen",
        "Ada's port is the one that Grace set before the last release of it",
        "What Ada uses is Vim.",
        "Ada's " + "very " * 80 + "port is 80",
    ],
)
def test_what_is_unsure_is_not_read(text):
    assert statement(text) is None


def test_my_is_the_speaker():
    assert statement("My editor is Vim.", "Ada") == Statement("ada", "editor", "Vim")
    assert statement("My editor is Vim.") is None


@pytest.mark.parametrize(
    ("item", "other"),
    [
        ("The port of Ada is 80.", "Ada's port is 81."),
        ("Ada lives in Oslo.", "ADA lives in Bergen."),
        ("The API uses MySQL", "The API now uses PostgreSQL."),
        ("The service is up.", "The service is down."),
    ],
)
def test_two_statements_of_one_slot_may_differ(item, other):
    first, second = statement(item), statement(other)
    assert same_slot(first, second)
    assert values_differ(first.value, second.value)


@pytest.mark.parametrize(
    ("item", "other"),
    [
        ("Oslo", "oslo"),
        ("Oslo", "the city of Oslo"),
        ("Bob", "Bob Smith"),
        ("ten", "10"),
        ("Tuesday", "Tuesdays"),
    ],
)
def test_values_that_agree_do_not_differ(item, other):
    assert not values_differ(item, other)
    assert not values_differ(other, item)


def test_slots_that_are_not_one():
    assert not same_slot(statement("Ada's port is 80."), statement("Ada's host is 80."))
    assert not same_slot(statement("Ada lives in Oslo."), statement("Ada works in Bergen."))
    assert not same_slot(statement("Ada's job is clerk."), statement("Ada's job was cook."))
    assert not same_slot(statement("The service is up."), statement("The service is open."))


@given(st.text(max_size=120))
def test_any_text_is_read_or_not(text):
    result = statement(text, "Ada")
    assert result is None or (result.subject and result.slot and result.value)


@pytest.mark.parametrize("unit", ["a ", "a of ", "a's ", "the ", "is ", "a is ", "' "])
def test_long_texts_are_passed_over(unit):
    assert statement(unit * 50_000) is None
