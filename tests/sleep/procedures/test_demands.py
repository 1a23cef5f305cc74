"""Texts that ask for an action, and those that only mention it, or reject it."""

import pytest

from priming.sleep.procedures.demands import demands, rejects


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Let's upgrade Django", "Upgrade Django"),
        ("I want you to upgrade Django", "Upgrade Django"),
        ("Can you upgrade Django?", "Upgrade Django"),
        ("Make sure that Django is upgraded", "Upgrade Django"),
        ("Upgrading Django", "Upgrade Django"),
        ("Django upgrade", "Upgrade Django"),
        ("Upgrade Django to version 5", "Upgrade Django"),
        ("Upgrade Django today", "Upgrade Django"),
        ("Upgrade Django and the database", "Upgrade Django"),
        ("Upgrade Django in the billing service", "Upgrade Django"),
        ("Deploy the docs to staging, then to production", "Deploy the docs"),
        ("Release version 2.1 of the library", "Release version 2.1"),
        ("Run the tests with pytest -x", "Run the tests"),
        ("Fix the flaky test test_foo", "Fix the flaky test"),
        ("Fix the gate that hangs on grandchildren", "The gate hangs on grandchildren"),
        ("Retry the deployment of the site", "Deployment of the site"),
        ("Add a retry to the client and log it", "Add a retry to the client"),
        ("Migrate users to Postgres without downtime", "Migrate users to Postgres"),
    ],
)
def test_a_text_asks_for_an_action_in_any_of_its_clauses(text, action):
    assert demands(text, action)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Do not upgrade Django", "Upgrade Django"),
        ("Upgrade the Django docs", "Upgrade Django"),
        ("Explain to Ann how to upgrade Django", "Upgrade Django"),
        ("Document the way we upgrade Django", "Upgrade Django"),
        ("Revert the upgrade of Django", "Upgrade Django"),
        ('Review the pull request "Upgrade Django"', "Upgrade Django"),
        ("Tell the team not to upgrade Django", "Upgrade Django"),
        ("Plan when to upgrade Django", "Upgrade Django"),
        ("Upgrade everything except Django", "Upgrade Django"),
        ("Estimate how long it takes to deploy the docs", "Deploy the docs"),
        ("Avoid running the tests", "Run the tests"),
        ("Stop deploying to staging", "Deploy to staging"),
        ("Once the tests are run, tag it", "Run the tests"),
        ("Write a test for the code that runs the tests", "Run the tests"),
        ("List who may release the library", "Release the library"),
        ("Delete the script that deploys the docs", "Deploy the docs"),
    ],
)
def test_a_text_that_mentions_or_rejects_an_action_does_not_ask_for_it(text, action):
    assert not demands(text, action)


def test_an_action_is_rejected_where_the_text_negates_it():
    assert rejects("Ship it without upgrading Django", "Upgrade Django")
    assert rejects("Upgrade Django", "Do not upgrade Django")
    assert not rejects("Do not forget to upgrade Django", "Upgrade Django")
