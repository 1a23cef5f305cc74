import pytest

from priming_agents.corrections import detect

SURE = """
no, don't use tabs, use spaces
No, use pathlib instead of os.path
that's wrong, use httpx instead of requests
That's not right. Use pnpm, not npm.
actually, no: use decimal instead of float for money
I told you not to push to main
I told you to run the linter before committing
I already told you: never edit generated files
As I said, always write the test first
never commit secrets to the repository
Always use type hints in new code
From now on, write commit messages in the imperative
In future, ask before adding a dependency
stop adding comments to every line
Please stop using print for logging
don't ever force-push to a shared branch
Don't mock the database again
we never log request bodies
In this project we always use UTC timestamps
going forward use British spelling in docs
no! don't delete the migrations
Nope, import from priming.core, not from priming.recall
wrong, call close() rather than shutdown()
You should never catch bare exceptions
make sure you always run make check before pushing
next time, update the changelog with the code
I asked you to keep functions under thirty lines
whenever you add a flag, document it in docs/command-line.md
No. Don't touch the vendored files.
I've told you before to use uv for installs
No, wait 12 seconds between two polls
No, the client should retry 4 times
Nope, keep functions below 40 lines
You should have written the changelog entry first
You shouldn't have squashed the commits
You were supposed to lint before the commit
I prefer attrs over dataclasses
I'd prefer fixtures to setup methods
I'd rather you mocked the clock than the network
I'd rather use sets than lists for membership
I would prefer that you name tests after behaviour
Next time, rebase before the review
Next time you add a table, write its migration
Quit wrapping lines at 80 columns
That's wrong: round prices to cents
Use tokio instead of async-std from now on
Avoid abbreviations in names going forward
We write tests in pytest, not in unittest
You keep forgetting to close the cursor
I never want to see credentials in logs
No - store timestamps in UTC
Actually, use black instead of yapf
How often do I have to say it: never log tokens
Never, ever squash the release branch
Never call the API directly, use the client
""".strip().splitlines()

UNSURE = """
that's not what I asked for
no, that's wrong
This is still wrong
never do that again
no, use the other one instead
I didn't ask for a refactoring
that's not how we do it here
we don't use mocks here
Hold on, don't deploy
Wait, use the staging database instead of production
Please stop adding files, I need to check the disk first
Don't use npm, use pnpm instead
I said tabs, not spaces
I told you: poetry instead of conda
""".strip().splitlines()

NONE = """
use redis instead of memcached for the session cache
add a test for the date parser
don't worry about the docs yet
never mind
I never saw that error before
why don't you use a set here?
can you stop the dev server
stop running the watcher
Actually, let's also add a flag for verbosity
actually that looks great, thanks
no problem, go on
No tests were found when I ran pytest
no, I think that's fine
the function should never return None here, find out why it does
Is it always sorted?
We always get a timeout at step 3, please look into it
it doesn't work, the build is failing with exit code 2
I told Anna that we would be done by Friday
rename foo to bar
what does the retry decorator do?
don't change the tests, just fix the code
Write a function that never blocks
The job never finishes
use the existing helper to parse dates
explain why we don't use threads
please don't commit yet
Wait, what happens when the list is empty?
wait for the build and then deploy
remember to update the docs
thanks, that's right
show me all usages of os.path instead of pathlib
the docs say "always use tls", where is this enforced?
stop here
I said the wrong thing earlier, sorry
always green now, nice
never been so happy with a refactor
make the button blue not red
From now on the API returns 404, adapt the client
no rush
Next time the cron runs is at 5, can you check it then?
No, don't run the tests, just commit
no, don't commit yet
No, add a test for the empty case
This time the tests pass
Today we deploy, tomorrow we rest
No idea what went wrong
the linter says: never use eval
whenever I open the page it crashes
every time I run it, it fails
Add a logger
Add a pause of 12 seconds to the poller
Should I prefer attrs over dataclasses?
Why did you use yapf instead of black?
I prefer to read the diff first
I prefer the second variant
You should see 4 retries in the log
You should have access to the bucket
You should have a look at the dashboard
You keep surprising me
No, keep going
No, wait
No wait, that works
No, it failed 3 times
No, run 3 more tests
I said it compiles, not that it works
Never ever seen that before
Don't use the cache yet, use a mock for now
Next time we meet I will bring the figures
I told you about the outage yesterday
We use Postgres, as you know
Use black in the new package
Thanks, next time I will ask first
Set the timeout to 12 seconds
I don't want to wait any longer
We use Postgres instead of Oracle since last year
You should have received an invitation
You were supposed to be in the call
In future versions we will drop the flag
No, name the helper parse_date
You keep failing, try again
Keep the tests green
""".strip().splitlines()

UNSEEN = {
    "nah, prefer composition over inheritance": True,
    "I said to keep the old name": True,
    "stop wrapping everything in try blocks": True,
    "You must always close the file": True,
    "please never reformat files that you do not change": True,
    "as a rule, put imports at the top of the module": True,
    "not quite, use yarn not npm": True,
    "no, we use tabs": True,
    "You keep forgetting to run the formatter": True,
    "it's spelled colour, not color": True,
    "Let's move on to the next task": False,
    "The tests never ran on CI": False,
    "Don't you think this is slow?": False,
    "Always? Are you sure?": False,
    "I was told the endpoint is gone": False,
    "Stop when the list is empty": False,
    "no changes are needed in the schema": False,
    "Could you use asyncio instead of threads?": False,
    "The user said: never mind, it works": False,
    "Wrong branch, switch to main": False,
}
"""Sentences that the patterns were not made with, and whether they are corrections."""


def test_the_patterns_are_tried_on_enough_sentences():
    assert len(SURE) + len(UNSURE) >= 38
    assert len(NONE) >= 40


@pytest.mark.parametrize("text", SURE)
def test_a_correction_that_needs_no_context_is_certain(text):
    correction = detect(text)
    assert correction is not None
    assert correction.certain
    assert correction.right[0].isupper()


@pytest.mark.parametrize("text", UNSURE)
def test_a_correction_that_only_the_conversation_explains_is_not_certain(text):
    correction = detect(text)
    assert correction is not None
    assert not correction.certain


@pytest.mark.parametrize("text", NONE)
def test_other_prompts_hold_no_correction(text):
    assert detect(text) is None


def test_on_unseen_sentences_every_detected_correction_is_right():
    detected = {text for text in UNSEEN if (correction := detect(text)) is not None and correction.certain}
    right = {text for text, is_correction in UNSEEN.items() if is_correction}
    assert detected <= right, detected - right
    assert len(detected) >= 0.6 * len(right), right - detected


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("No, use pathlib instead of os.path.", "Use pathlib instead of os.path", "os.path"),
        ("wrong, call close() rather than shutdown()", "Call close() rather than shutdown()", "shutdown()"),
        ("That's wrong. Don't use requests, use httpx.", "Don't use requests, use httpx", "requests"),
        ("I told you not to push to main!", "Do not push to main", None),
        ("Please stop using print for logging.", "Stop using print for logging", None),
        ("From now on, write docs in British English", "Write docs in British English", None),
        (
            "You should have used the queue instead of a thread",
            "Use the queue instead of a thread",
            "a thread",
        ),
        ("You shouldn't have deleted the branch", "Do not delete the branch", None),
        ("I prefer ruff over flake8", "Prefer ruff over flake8", "flake8"),
        ("No, wait 10 seconds between retries", "Wait 10 seconds between retries", None),
        (
            "I'd rather you mocked the clock than the network",
            "Mock the clock rather than the network",
            "the network",
        ),
        ("You keep forgetting to close the cursor", "Remember to close the cursor", None),
        ("Use uv instead of pip from now on.", "Use uv instead of pip", "pip"),
    ],
)
def test_the_rule_is_in_the_persons_words(text, right, wrong):
    correction = detect(text)
    assert (correction.right, correction.wrong) == (right, wrong)


def test_code_and_quotes_teach_nothing():
    assert detect("what does this do?\n```\n# never use eval\nalways = 1\n```") is None
    assert detect("the mail says\n> always use tabs\nis that so?") is None
    assert detect("look at this log:\n    never commit secrets\n") is None


def test_a_long_prompt_which_may_hold_what_others_wrote_teaches_nothing_by_itself():
    pasted = "The guide of the other team reads as follows and goes on for a while. " * 8
    correction = detect(f"{pasted}\nAlways run the formatter.")
    assert correction is not None
    assert not correction.certain


def test_text_of_another_language_and_no_text_teach_nothing():
    assert detect("") is None
    assert detect("いつも型ヒントを使ってください") is None
    assert detect("nein, nimm bitte pathlib") is None
