"""Triggers that tell what failed, those that forbid, and texts that only mention an action."""

from tests.rows import each_row

from priming.text.statements.occasions import observed, occasion


@each_row(
    ("text", "plain"),
    [
        ("The queue does not drain", "The queue drain"),
        ("Cannot reach the mirror: no route", "reach the mirror: route"),
        ("The lock isn't released", "The lock released"),
        ("It fails, and the log won't rotate", "It fails, and the log rotate"),
    ],
)
def test_negations_that_tell_what_happened_are_left_out(text, plain):
    assert observed(text) == plain


@each_row(
    "text",
    [
        "Do not drain the queue",
        "Please don't reach for the mirror",
        "Never release the lock",
        "You must not rotate the log",
        "Tell them not to rotate the log",
        "Release the lock without waiting",
    ],
)
def test_negations_that_forbid_stay(text):
    assert observed(text) == text


def test_an_objective_about_the_failure_does_not_reject_it():
    failure = "The queue does not drain"
    assert occasion(failure, "Find out why the queue does not drain") == "mentions"
    assert occasion(failure, "Drain the queue") == "applies"
    assert occasion(failure, "Do not drain the queue") == "rejects"
    assert occasion("Do not drain the queue", "Drain the queue") == "warns"


@each_row(
    ("text", "action"),
    [
        ("Let's upgrade Django", "Upgrade Django"),
        ("Can you upgrade Django?", "Upgrade Django"),
        ("Django upgrade", "Upgrade Django"),
        ("Upgrade Django to version 5", "Upgrade Django"),
        ("Upgrade Django and the database", "Upgrade Django"),
        ("Bump the version and upgrade Django", "Upgrade Django"),
        ("Deploy the docs to staging, then to production", "Deploy the docs"),
        ("Run the tests with pytest -x", "Run the tests"),
        ("Fix the gate that hangs on grandchildren", "The gate hangs on grandchildren"),
        ("Migrate users to Postgres without downtime", "Migrate users to Postgres"),
        ("Back up the ledger again", "Back up the ledger"),
    ],
)
def test_a_text_asks_for_an_action_in_any_of_its_clauses(text, action):
    assert occasion(action, text) == "applies"


@each_row(
    ("text", "action"),
    [
        ("Explain to Ann how to upgrade Django", "Upgrade Django"),
        ("Document the way we upgrade Django", "Upgrade Django"),
        ("Revert the upgrade of Django", "Upgrade Django"),
        ('Review the pull request "Upgrade Django"', "Upgrade Django"),
        ("Plan when to upgrade Django", "Upgrade Django"),
        ("Once the tests are run, tag it", "Run the tests"),
        ("Write a test for the code that runs the tests", "Run the tests"),
        ("Delete the script that deploys the docs", "Deploy the docs"),
        ("Back up the other ledger", "Back up the ledger"),
        ("Back up the new ledger", "Back up the old ledger"),
    ],
)
def test_a_text_that_only_mentions_an_action_or_another_thing_does_not_ask_for_it(text, action):
    assert occasion(action, text) in ("mentions", "elsewhere")


@each_row(
    ("text", "action"),
    [
        ("Do not upgrade Django", "Upgrade Django"),
        ("Avoid running the tests", "Run the tests"),
        ("Stop deploying to staging", "Deploy to staging"),
        ("Tell the team not to upgrade Django", "Upgrade Django"),
        ("Ship it without upgrading Django", "Upgrade Django"),
    ],
)
def test_an_action_is_rejected_where_the_text_negates_it(text, action):
    assert occasion(action, text) == "rejects"
