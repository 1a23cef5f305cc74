"""What kind of rule a text is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.config.words import RULES
from priming.errors import ParamError
from priming.text.statements.kinds import rule_kind_of
from priming.text.statements.reader import forbids

CASES = {
    "constraint": [
        "Never push to main",
        "You must not commit secrets",
        "Secrets mustn't be logged",
        "Don't use print",
        "Don’t use print",
        "Please do not rewrite history",
        "Do not\nrewrite history",
        "Avoid global state",
        "Stop adding comments that narrate",
        "No bare numbers in code",
        "Use the logger and never print",
        "Prefer composition; do not inherit",
        "It is forbidden to edit released migrations",
        "Never do these: 1. force a push 2. commit a secret",
        "Always use pathlib, never os.path",
    ],
    "directive": [
        "Always run the tests",
        "Use snake_case for names",
        "You must run the linter",
        "Run the tests before a commit",
        "Never forget to run the tests",
        "Don't forget the changelog",
        "If the tests do not pass, run them again",
        "If you do not know, ask",
        "No, ask a person",
        "Always use pathlib instead of os.path",
        "Stop the server before a migration",
        "Use the first argument",
        "Close the first, then the last",
        "Support Python 3.11 and 3.12",
    ],
    "preference": [
        "Prefer tuples to lists",
        "I would prefer shorter functions",
        "Always prefer composition over inheritance",
        "Use pathlib instead of os.path",
        "Use tabs rather than spaces",
        "Favour plain words",
        "It is better to ask",
    ],
    "procedure": [
        "1. Stop the server\n2. Migrate\n3. Start it again",
        "To release:\n  1) tag\n  2) push the tag",
        "To release: 1. tag 2. push",
        "Step 1: tag. Step 2: push.",
        "First run the tests, then commit",
        "To release, first tag, then push",
        "Run the tests first, then commit; finally push",
        "1. Run the tests\n2. Never push when they fail",
    ],
}


@each_row(("rule", "text"), [(rule, text) for rule, texts in CASES.items() for text in texts])
def test_the_kind_of_a_rule_is_read_from_its_words(rule, text):
    assert rule_kind_of(text) == rule


@given(st.text())
def test_every_text_is_a_rule_of_one_kind_whatever_its_case(text):
    assert rule_kind_of(text) in RULES
    assert rule_kind_of(f"NEVER {text}") == rule_kind_of(f"never {text}")


def test_a_rule_is_told_by_its_beginning():
    assert rule_kind_of(f"Use {'x' * 3000}. Never print.") == "directive"


@each_row("text", ["Never print", "Use logging, never print", "Do not print", "1. Never print 2. Log"])
def test_a_prohibition_is_one_wherever_it_stands(text):
    assert forbids(text)


@each_row("text", ["Print", "Never forget to print", "If it does not print, wait"])
def test_what_asks_forbids_nothing(text):
    assert not forbids(text)


def test_what_is_no_text_is_refused():
    with pytest.raises(ParamError, match=r"text = .*must be a text"):
        rule_kind_of(1)


@each_row(
    ("text", "kind"),
    [
        ("I don't want views on views", "constraint"),
        ("We do not use triggers here", "constraint"),
        ("Forbid cross joins", "constraint"),
        ("Nobody may drop a table", "constraint"),
        ("Let's not nest views", "constraint"),
        ("Cross joins are banned", "constraint"),
        ("Cross joins aren't welcome", "constraint"),
        ("You cannot nest views", "constraint"),
        ("Allow cross joins", "directive"),
        ("Use views, not triggers", "directive"),
    ],
)
def test_a_prohibition_may_have_a_subject_or_a_verb_of_its_own(text, kind):
    assert rule_kind_of(text) == kind
