"""What a prompt asks for in the long run: a plain rule is learned, what may be one asked about, the rest left."""

from tests.rows import each_row

from priming_agents.limits import HOOK
from priming_agents.prompts import contradicted, read_prompt, withdrawn

LEARNED = """
no, don't use tabs, use spaces
No, use pathlib instead of os.path
That's not right. Use pnpm, not npm.
that's wrong, use httpx instead of requests
actually, no: use decimal instead of float for money
I told you not to push to main
never commit secrets to the repository
As I said, always write the test first
From now on, write commit messages in the imperative
In future, ask before adding a dependency
stop adding comments to every line
don't ever force-push to a shared branch
No, wait 12 seconds between two polls
No - store timestamps in UTC
I prefer ruff over flake8
pls don't book anything before ten
can you please stop rewriting tests every time?
use always metric units
No, keep backups for 30 days
No, ask before deleting branches
Nein, nimm Roggenmehl statt Weizenmehl
nimm immer Dinkelmehl
run the linter every time
""".strip().splitlines()

ASKED = {
    "a fact that corrects": """
no, the api tokens come from vault, not from the .env
nein, der Server steht in Frankfurt und nicht in Köln
the retention is 30 days, 90 was the old contract
""",
    "how things are done": """
In this codebase errors are returned, not thrown.
we keep fixtures in tests/data here
Bei uns wird alles mit Prettier formatiert
nobody here touches the config by hand
Reports go out on Thursdays at noon
variable names in this module are in Spanish
""",
    "a complaint": """
you always open a new branch for that
You should have used the logger
that's not what I asked for
why do you keep using var?
this is the third time that the header is missing
du vergisst immer die Umlaute
""",
    "a lasting request": """
everytime you touch the schema, regenerate the client
remember: the staging database is read only for us
before every release bump the docs
form now on run the formatter before you show a diff
Merk dir, dass ich freitags nicht arbeite
hands off the terraform state
Verwende keine einfachen Anführungszeichen mehr
Nimm bitte kein Docker
use no global variables
hör auf die Kommentare zu löschen
next time ask before you delete a file
stop working on the parser
stop logging in as root now
keep answers short
""",
    "a preference": """
I'd rather have dataclasses than dicts
it'd be great if you wouldn't apologise in every reply
answer in short sentences
i don't want to see any more wildcard imports
""",
    "a correction that may be of the moment": """
don't delete anything
don't change anything else
No, delete old branches
No, merge branch tides into main-sail
No, call Tom instead of Ana
No, book table 5 instead of table 4
no, check line 40
that's wrong, use main.go instead of lib.go
No, write Maria instead of Ines
wrong, pick option B
Nein, nimm Tisch 5 statt Tisch 4
Nein, nimm für diesen Test Hafermehl statt Roggenmehl
Nein, nimm hier Öl statt Butter
Nein, schreibe es auf Deutsch
""",
    "a choice that may be for this task": """
Don't use npm, use pnpm instead
use httpx, not requests
""",
}

LEFT = {
    "a request of the moment": """
add a test for the date parser
don't commit yet, I want to have a look
make the button blue, not red
move the meeting with the plumber to 3pm instead of 2
no, the other one, second from the left
don't bother with the tests this time
use tabs for this one
lass die Tests diesmal weg
run the tests again
No, run tests again
call Mrs Brandt again
""",
    "an adverb of what is made, not of making it": """
write a haiku about never giving up
add a flag to never retry
write a function always returning zero
create a lint rule to never allow var
set retries to never
schreibe einen Text über niemals aufgeben
delete anything older than a week
check the logs for anything strange
plan the shifts for Sundays
""",
    "a question": """
why don't you use a set here?
should I always close the cursor?
is it better to use tabs or spaces in a makefile?
warum sollte man nie mit Floats rechnen?
which of these is never called
""",
    "what others say": """
the reviewer wrote 'please use a map instead of the switch'. is he right?
mum said I should always carry cash. is that still true?
the linter says never use eval
I told Anna that we would be done by Friday
translate: always wear a helmet
summarise this: All employees must wear badges. Visitors are never alone.
""",
    "what is not the case": """
if we used kafka instead of redis here, what would break?
imagine every request had to be signed
with one table we'd never have to join anything
""",
    "the past": """
we used to deploy on Fridays
früher haben wir immer freitags deployed
I never saw that error before
""",
    "an idiom": """
never mind, I found it
better late than never, lets go on
you never know, try it
well you can't always get what you want
""",
    "how it goes": """
the job never finishes, find out why
everything works now
The tests pass
thanks, that's right
""",
}


def _cases(groups):
    return [(kind, line) for kind, lines in groups.items() for line in lines.strip().splitlines()]


@each_row("text", LEARNED)
def test_a_lasting_instruction_in_plain_words_is_learned(text):
    correction = read_prompt(text).correction
    assert correction is not None
    assert correction.right[0].isupper()


@each_row(("kind", "text"), _cases(ASKED))
def test_what_may_be_a_rule_is_asked_about_and_not_learned(kind, text):
    reading = read_prompt(text)
    assert reading.asks, kind
    assert reading.correction is None


@each_row(("kind", "text"), _cases(LEFT))
def test_what_is_nobodys_rule_is_left_alone(kind, text):
    reading = read_prompt(text)
    assert not reading.asks, kind
    assert reading.correction is None


@each_row(
    ("text", "right", "wrong"),
    [
        ("No, use pathlib instead of os.path.", "Use pathlib instead of os.path", "os.path"),
        ("wrong, call close() rather than shutdown()", "Call close() rather than shutdown()", "shutdown()"),
        ("That's wrong. Don't use requests, use httpx.", "Don't use requests, use httpx", None),
        ("I told you not to push to main!", "Do not push to main", None),
        ("Please stop using print for logging.", "Stop using print for logging", None),
        ("From now on, write docs in British English", "Write docs in British English", None),
        ("I prefer ruff over flake8", "Prefer ruff over flake8", "flake8"),
        ("No, use uv instead of pip from now on.", "Use uv instead of pip", "pip"),
        ("pls always give units in metric, thanks", "Always give units in metric", None),
    ],
)
def test_the_rule_is_in_the_persons_words_without_what_frames_it(text, right, wrong):
    correction = read_prompt(text).correction
    assert (correction.right, correction.wrong) == (right, wrong)


def test_what_needs_another_sentence_is_asked_about():
    for text in (
        *("I told you to open the file", "No, I told you to open the file"),
        *("No, use that instead", "stop doing that every time", "never do it like this again"),
        "No, begin every file with the header:\n```\n# Copyright\n```",
    ):
        assert read_prompt(text).correction is None, text


@each_row(
    "text",
    [
        "what does this do?\n```\n# never use eval\nalways = 1\n```",
        "the mail says\n> always use tabs\nis that so?",
        "look at this log:\n    never commit secrets\n",
        "2024-05-01 12:00 never received a heartbeat",
        "error: you should always name a branch\nwhat now",
        "$ make lint\nalways use tabs in makefiles\nmake: *** [lint] Error 1",
        "",
        "いつも型ヒントを使ってください",
    ],
)
def test_code_quotes_and_logs_teach_nothing(text):
    assert read_prompt(text).is_silent


def test_a_long_prompt_which_may_hold_what_others_wrote_teaches_nothing_by_itself():
    pasted = "The guide of the other team reads as follows and goes on for a while. " * (HOOK.teaching // 10)
    reading = read_prompt(f"{pasted}\nAlways run the formatter.")
    assert reading.correction is None
    assert reading.asks


def test_a_second_rule_in_a_prompt_is_asked_about():
    reading = read_prompt("Never push to main. Always run the formatter.")
    assert reading.correction.right == "Never push to main"
    assert reading.asks


RULES = [
    "Sign every commit",
    "Always answer in French",
    "Deploy only on Mondays",
    "Commit-Nachrichten auf Englisch",
]


@each_row(
    ("text", "rule"),
    [
        ("scrap that rule about signing commits, it slows us down", "Sign every commit"),
        ("who said we only deploy on mondays? that's not a thing", "Deploy only on Mondays"),
        ("vergiss das mit den englischen Nachrichten", "Commit-Nachrichten auf Englisch"),
        ("I never said that you should answer in French!", "Always answer in French"),
        ("Das mit dem Englisch kannst du vergessen", "Commit-Nachrichten auf Englisch"),
        ("Wer hat gesagt, dass Commit-Nachrichten englisch sind?", "Commit-Nachrichten auf Englisch"),
        ("Ich habe nie gesagt, dass Nachrichten englisch sind", "Commit-Nachrichten auf Englisch"),
    ],
)
def test_the_rule_that_is_withdrawn_is_the_one_that_shares_its_words(text, rule):
    (sentence, *_) = read_prompt(text).withdrawals
    assert withdrawn(sentence, RULES)[0] == [rule]


def test_a_rule_is_withdrawn_without_a_question_only_if_the_user_names_it_and_nothing_else():
    assert withdrawn("forget the rule about signing commits", RULES)[1]
    assert withdrawn("Scrap the rule about signing commits, nobody needs it", RULES)[1]
    assert withdrawn("ok, could you please forget the rule about signing commits", RULES)[1]
    for text in ("delete the rule for port 8080 in nginx.conf", "we no longer sign commits", "forget that"):
        assert not withdrawn(text, [*RULES, "Use port 8080"])[1], text


@each_row(
    "text",
    [
        'Remove "Deploy only on Mondays" from your memory',
        "Vergiss „Deploy only on Mondays“.",
        "forget deploy-only-on-mondays",
        "ok, unlearn [deploy-only-on-mondays]",
    ],
)
def test_a_rule_that_is_withdrawn_by_its_text_or_key_is_found(text):
    (sentence,) = read_prompt(text).withdrawals
    assert withdrawn(sentence, RULES)[0] == ["Deploy only on Mondays"]


def test_a_folder_is_named_with_its_slash_or_without():
    assert withdrawn("forget the rule about e2e", [*RULES, "Put browser tests in e2e/"])[1]


def test_who_forgets_a_file_or_a_word_withdraws_no_rule():
    for text in ('forget "main.go", open lib.go', "forget it", "drop the table of patients"):
        assert all(withdrawn(each, RULES)[0] == [] for each in read_prompt(text).withdrawals), text


def test_a_statement_that_says_the_opposite_of_a_rule_names_it():
    assert contradicted("you may use emojis again", ["Never use emojis", "Sign every commit"]) == [
        "Never use emojis"
    ]


@each_row(
    "text",
    """
don't forget the rule about signing commits
never drop the rule about signing commits
did you forget the rule about signing commits?
should we scrap the rule about signing commits?
the ticket: forget the rule about signing commits
I might drop the rule about signing commits
forget the rule about signing commits, just this once
forget the rule about signing commits, the reviewer says
vergiss die Regel mit dem Signieren der Commits nicht
""".strip().splitlines(),
)
def test_a_sentence_that_only_speaks_of_withdrawing_a_rule_withdraws_none(text):
    assert not withdrawn(text, RULES)[1]


@each_row(
    "text",
    [
        "That rule about tabs is wrong. Forget it.",
        "I never wanted that tabs thing, drop it",
        "That instruction on tabs was a mistake.",
        "we're done with the tabs policy",
        "Let's retire the convention with the tabs",
        "Die Vorgabe mit den Tabs war ein Irrtum",
        "the thing with the tabs - forget about it",
    ],
)
def test_who_speaks_of_a_rule_as_a_rule_is_asked_about_it_and_confirms_nothing(text):
    reading = read_prompt(text)
    assert not reading.is_silent
    nearest = [withdrawn(each, ["Indent with tabs"])[0] for each in (*reading.withdrawals, text)]
    assert ["Indent with tabs"] in nearest


@each_row(
    ("text", "rule"),
    [
        ("Forget the thing with the sorted imports", "Sort imports"),
        ("Publish on weekends only with a second pair of eyes", "Never publish on weekends"),
        ("send the newsletter without a preview this time", "Preview every newsletter"),
        ("Obituaries may be published on weekends", "Never publish on weekends"),
    ],
)
def test_what_goes_against_all_that_a_rule_is_about_is_told_beside_it(text, rule):
    statements = read_prompt(text).statements
    assert [
        against for each in statements for against in contradicted(each, [rule, "Publish on Mondays"])
    ] == [rule]


@each_row(
    ("text", "rule"),
    [
        ("I published on the weekend and it failed", "Never publish on weekends"),
        ("Sort the imports in cart.py", "Sort imports"),
        ("Send the newsletter", "Preview every newsletter"),
    ],
)
def test_what_happened_and_what_follows_a_rule_goes_against_none(text, rule):
    assert not [against for each in read_prompt(text).statements for against in contradicted(each, [rule])]


@each_row(
    "text", ["New rule: use tabs", "Which rules are there on tabs?", "Don't use tabs in tests any more"]
)
def test_a_rule_that_is_learned_whole_and_a_question_about_rules_withdraw_nothing(text):
    assert read_prompt(text).withdrawals == ()
