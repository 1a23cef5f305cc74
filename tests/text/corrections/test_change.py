"""What a later statement changes about an earlier one."""

from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest

from priming import ParamError
from priming.text.corrections.change import compare, contrast

KINDS = ("same", "opposite", "other_value", "wider", "narrower", "other_slot")


def pairs(split):
    lines = Path(__file__).with_name("correction_pairs.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(label, old, new) for marked, label, old, new in rows if marked == split]


def measured(split):
    """By kind, (precision, recall); and the pairs that are opposites and read as the same."""
    results = [(label, compare(old, new).kind) for label, old, new in pairs(split)]
    right = Counter(label for label, kind in results if label == kind)
    labels, kinds = (Counter(column) for column in zip(*results, strict=True))
    figures = {kind: (right[kind] / max(1, kinds[kind]), right[kind] / labels[kind]) for kind in KINDS}
    return figures, results


@pytest.mark.parametrize(("split", "least"), [("tuning", 0.95), ("held-out", 0.75), ("fresh", 0.45)])
def test_the_labelled_corrections_are_read_as_changes(split, least):
    figures, _ = measured(split)
    assert sum(len(pairs(split)) for split in ("tuning", "held-out")) >= 400
    for kind, (precision, recall) in figures.items():
        assert min(precision, recall) >= least, (kind, precision, recall)


@pytest.mark.parametrize(("split", "least"), [("tuning", 0.95), ("held-out", 0.9), ("fresh", 0.8)])
def test_most_labelled_corrections_are_read_rightly(split, least):
    _, results = measured(split)
    assert sum(label == kind for label, kind in results) / len(results) >= least


@pytest.mark.parametrize("split", ["tuning", "held-out", "fresh"])
def test_no_opposite_is_read_as_the_same(split):
    _, results = measured(split)
    assert ("opposite", "same") not in results
    assert ("other_value", "same") not in results


@pytest.mark.parametrize("split", ["tuning", "held-out", "fresh"])
def test_an_opposite_is_one_from_either_side(split):
    for label, old, new in pairs(split):
        if label == "opposite":
            kinds = [compare(old, new).kind, compare(new, old).kind]
            assert (kinds.count("opposite"), "same" in kinds) in ((2, False), (0, False)), (new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Use ruff instead of flake8", "Use black instead of yapf"),
        ("Use ruff rather than pylint", "Prefer black to autopep8"),
        ("Use biome, not eslint", "Use prettier, not dprint"),
    ],
)
def test_a_tool_for_two_ends_serves_the_end_that_the_rejected_one_serves(old, new):
    for first, second in ((old, new), (new, old)):
        assert compare(first, second).kind == "other_slot"
        assert compare(first, second).coexists


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("Use ruff instead of flake8", "Use black instead of ruff", "opposite"),
        ("Use ruff instead of black", "Use black instead of yapf", "opposite"),
        ("Use ruff instead of flake8", "Use pylint instead of pyflakes", "other_value"),
        ("Use ruff instead of yapf", "Use black instead of autopep8", "other_value"),
        ("Use ruff instead of flake8", "Use black", "other_value"),
    ],
)
def test_a_tool_for_two_ends_gives_way_to_another_for_the_same_end(old, new, kind):
    assert compare(old, new).kind == kind


@pytest.mark.parametrize("split", ["tuning", "held-out", "fresh"])
def test_a_statement_is_the_same_as_itself(split):
    for _, old, new in pairs(split):
        assert compare(old, old).kind == compare(new, new).kind == "same"


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("Enable flag", "Disable flag", "opposite"),
        ("Upgrade the cluster", "Downgrade the cluster", "opposite"),
        ("Deploy to staging", "Deploy to production", "other_slot"),
        ("Never disable TLS verification", "Always enable TLS verification", "same"),
        ("The limit is 30 s", "The limit is 90 s", "other_value"),
        ("", "Use tabs", "other_slot"),
        ("Run the linter before you commit", "Run the checks before you commit", "other_slot"),
        ("kestrel kestrel", "kestrel kestrel kestrel", "same"),
        ("Coverage is at least 80%", "Coverage is at most 80%", "opposite"),
        ("Retry if the request fails", "Retry unless the request fails", "opposite"),
        ("Avoid global state in libraries", "Avoid state in libraries", "wider"),
        ("Never merge without review", "Never merge", "wider"),
        (
            "Write labels in British English",
            "Write labels in American English; never British spelling",
            "opposite",
        ),
        ("Use a set for lookups", "Use a map for lookups", "other_value"),
        ("Deploy on Monday", "Deploy on Monday and Thursday", "other_value"),
        ("Never use print", "Use logging instead of print", "narrower"),
        ("Never use eval", "Never use exec", "other_slot"),
        ("Never use `any`", "Never use `unknown`", "other_slot"),
        ("Wait half a minute", "Wait 30 s", "same"),
        ("Use type hints on public functions", "Do not use Any as a type hint", "other_slot"),
        ("Run black, isort and mypy", "Run mypy, black and isort", "same"),
        ("Use uv, since pip is slow", "Use uv", "same"),
        ("Tests must never be skipped", "Never skip tests", "same"),
        ("Never use deprecated APIs", "Use deprecated APIs", "opposite"),
        ("Library code must never panic", "Do not panic in library code", "same"),
        ("Keep .env files out of commits", "Never commit .env files", "same"),
    ],
)
def test_statements_of_other_kinds_are_compared_too(old, new, kind):
    assert compare(old, new).kind == kind


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("Shards own tenants", "Tenants own shards", "opposite"),
        ("Widgets use hooks", "Hooks use widgets", "opposite"),
        ("Invoices need approvals", "Approvals need invoices", "opposite"),
        ("Nest stacks inside regions", "Nest regions inside stacks", "opposite"),
        ("Divide revenue by headcount", "Divide headcount by revenue", "opposite"),
        ("Wrap the cursor in the lock", "Wrap the lock in the cursor", "opposite"),
        ("Layouts extend themes", "Themes extend layouts", "opposite"),
        ("Avoid joins unless the view is cached", "Avoid views unless the join is cached", "opposite"),
        ("Vacuum, analyse, then reindex", "Analyse, vacuum, then reindex", "other_value"),
        ("Plan, apply and verify", "Apply, plan and verify", "other_value"),
        (
            "Seed the tables, run the suite and drop the schema",
            "Run the suite, seed the tables and drop the schema",
            "other_value",
        ),
        (
            "List title, author and year in that order",
            "List author, title and year in that order",
            "other_value",
        ),
        ("assertEqual(expected, actual)", "assertEqual(actual, expected)", "other_value"),
        ("Refresh the sample data", "Refresh the data sample", "other_value"),
        ("Log in before you check out", "Check out before you log in", "opposite"),
        ("Owners of shards approve", "Shards of owners approve", "opposite"),
        ("Train on rows and test on columns", "Train on columns and test on rows", "other_value"),
        ("Deploy api → worker → web", "Deploy worker → api → web", "other_value"),
        ("Only owners can drop", "Owners can only drop", "other_value"),
        ("Use views or triggers", "Use views and triggers", "other_value"),
        ("Never let guests invite editors", "Never let editors invite guests", "opposite"),
        ("Explain in the text what changed", "The text explains why, not what changed", "opposite"),
        ("Shards must not be copied", "Never copy shards", "same"),
        ("Require an owner for each shard", "Each shard requires an owner", "same"),
        ("Support Oslo, Bergen and Narvik", "Support Narvik, Oslo and Bergen", "same"),
        ("Tables and views are documented", "Views and tables are documented", "same"),
        ("Warnings and notices go to the console", "Notices and warnings go to the console", "same"),
        ("Pair juniors with seniors", "Pair seniors with juniors", "same"),
        ("Give each shard its own tenant", "Give each shard its tenant", "same"),
        ("Write invoices in cents", "Use cents for invoices", "same"),
    ],
)
def test_another_order_is_the_same_only_where_places_say_nothing(old, new, kind):
    change = compare(old, new)
    assert change.kind == kind, change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Index public columns", "Index private columns"),
        ("Index public columns", "Never index private columns"),
        ("Throttle uploads", "Throttle downloads"),
        ("Sample metrics at the start of a query", "Sample metrics at the end of a query"),
    ],
)
def test_an_act_on_the_one_says_nothing_of_the_act_on_its_counterpart(old, new):
    change = compare(old, new)
    assert (change.kind, change.coexists) == ("other_slot", True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Return mutable rows", "Return immutable rows"),
        ("Load modules eagerly", "Load modules lazily"),
        ("Delete the oldest snapshot", "Delete the newest snapshot"),
        ("Fail open", "Fail closed"),
    ],
)
def test_how_it_is_done_and_what_comes_about_are_reversed_by_an_antonym(old, new):
    assert compare(old, new).kind == "opposite"


@pytest.mark.parametrize(
    ("old", "new", "kind", "words"),
    [
        (
            "Quote all identifiers",
            "Don't quote reserved identifiers",
            "opposite",
            "the later is an exception to the earlier",
        ),
        (
            "Don't quote reserved identifiers",
            "Quote identifiers",
            "opposite",
            "the earlier is an exception to the later",
        ),
        (
            "Keep snapshots for 7 days",
            "Keep weekly snapshots for 90 days",
            "narrower",
            'for "weekly snapshots"',
        ),
        (
            "Keep traces for 7 days",
            "Keep billing traces for 90 days",
            "narrower",
            "the later is an exception to the earlier",
        ),
        (
            "Keep billing traces for 90 days",
            "Keep traces for 7 days",
            "wider",
            "the earlier is an exception to the later",
        ),
    ],
)
def test_an_exception_and_its_rule_hold_at_once(old, new, kind, words):
    change = compare(old, new)
    assert (change.coexists, change.kind) == (True, kind)
    assert words in change.reason


@pytest.mark.parametrize(
    ("rule", "exception"),
    [
        ("Sort rows by name", "Sort rows by date in reports"),
        ("Prefer views over triggers", "Prefer triggers over views for audits"),
        (
            "Throw exceptions instead of returning codes",
            "Return codes instead of throwing exceptions in drivers",
        ),
        ("Format amounts as integers", "Format amounts as strings in exports"),
        ("Never use goto", "You may use goto in parsers"),
        ("Ask before dropping any tables", "Drop scratch tables without asking"),
        ("Use uv instead of pip", "Use pip for the old images"),
        ("Round to two decimals", "Round to four decimals when converting currencies"),
        ("Never push directly", "You may push directly to sandbox branches"),
        ("Use Postgres, not SQLite", "Use SQLite, not Postgres, on the edge nodes"),
        ("Always amend", "Never amend shared commits"),
        ("Expire sessions automatically", "Expire guest sessions by hand"),
    ],
)
def test_an_exception_with_a_place_of_its_own_never_replaces_its_rule_nor_the_reverse(rule, exception):
    for change in (compare(rule, exception), compare(exception, rule)):
        assert change.coexists or (change.kind == "other_slot" or not change.clear), change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Write labels in sentence case", "Write labels in German"),
        ("Write reports in the present tense", "Write reports in AsciiDoc"),
        ("Publish figures as SVG", "Publish figures on Mondays"),
        ("Indent TOML with 3 spaces", "Indent XML with one space"),
        ("Start queues lazily", "Stop queues eagerly"),
        ("Attach volumes manually", "Detach volumes automatically"),
        ("Sort uploads", "Sort downloads"),
        ("Open valves before tests", "Close valves after tests"),
        ("Permit at most three retries", "Demand at least three retries"),
        ("Never print outside scripts", "You may print in scripts"),
        ("Trace calls in the broker", "Trace calls in the worker"),
        ("Write traces in development", "Write traces in production"),
    ],
)
def test_another_aspect_subject_or_act_says_nothing_of_the_rule(old, new):
    for change in (compare(old, new), compare(new, old)):
        assert change.kind == "other_slot", change


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("Cache thumbnails on disk", "Keep thumbnails in memory, don't cache them", "opposite"),
        (
            "Run the audit on the second of the month",
            "Run the audit on the seventh of the month",
            "other_value",
        ),
        ("Notify owners within an hour", "Notify owners within 3 hours", "other_value"),
        ("Approve refunds automatically", "Approve refunds by hand", "opposite"),
        ("Reply in Dutch", "Reply in Polish", "other_value"),
        ("Use merge commits", "Use rebase in all repositories, not merge", "opposite"),
        ("Use tabs", "Use spaces for indentation, not tabs", "opposite"),
        ("Use aiohttp for HTTP calls", "Use httpx instead of aiohttp", "opposite"),
        ("Cite papers in APA style", "Cite papers in MLA style", "other_value"),
        ("Greet visitors formally", "Greet visitors informally", "opposite"),
        ("Use pip, not uv", "Go back to uv for packages, not pip", "opposite"),
    ],
)
def test_a_reversal_in_other_words_replaces_the_rule(old, new, kind):
    change = compare(old, new)
    assert (change.kind, change.clear, change.coexists) == (kind, True, False), change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Count the till on the first Tuesday", "Count the till on the last Sunday"),
        ("Count the till in the second week of May", "Count the till in the last week of August"),
        ("Count the till in late July", "Count the till in early March"),
        ("Count the till at 7 am", "Count the till at 7 pm"),
        ("Count the till at six in the morning", "Count the till at nine in the evening"),
        ("Count the till every minute", "Count the till every four minutes"),
        ("Count the till on the 2nd", "Count the till on the 9th"),
    ],
)
def test_another_date_or_time_of_day_takes_the_place_of_the_first(old, new):
    for change in (compare(old, new), compare(new, old)):
        assert (change.kind, change.clear) == ("other_value", True), change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Report the height and the width", "Report the width and the height"),
        ("Take a colour and a size", "Take a size and a colour"),
        ("Write the start and end of a shift", "Write the end and start of a shift"),
    ],
)
def test_a_list_of_which_the_order_says_which_is_which_is_no_other_order_of_the_same(old, new):
    assert compare(old, new).kind == "other_value"


def test_a_letter_is_a_name_where_no_noun_follows():
    assert compare("Plot a minus b", "Plot b minus a").kind == "opposite"
    assert compare("Carry crates from A to B", "Carry crates from B to A").kind == "opposite"
    assert compare("Carry a crate", "Carry the crate").kind == "same"
    assert compare("Carry crates from A to B", "Carry bottles from B to A").kind == "other_slot"


def test_another_place_for_a_thing_that_has_one_is_unclear_rather_than_unseen():
    for old, new in (
        ("Put crates next to the door", "Put crates in the cellar"),
        ("Put fixtures next to the tests", "Put fixtures in a shared folder"),
        ("Sort crates alphabetically", "Sort crates by weight"),
        ("The porter locks up", "The driver locks up"),
    ):
        change = compare(old, new)
        assert (change.kind, change.clear) == ("other_value", False), change


def test_the_reason_says_what_before_became():
    change = compare("Vacuum before indexing", "Vacuum after indexing")
    assert (change.kind, change.reason) == (
        "opposite",
        '"after indexing" takes the place of "before indexing"',
    )


UNRELATED = """
Use httpx instead of requests
Log every failed request with its id
Every outgoing HTTP request gets a timeout of 10 seconds
Keep pull requests below 300 lines
Never store passwords in plain text
Hash passwords with argon2
Mask passwords in the logs
Rotate logs weekly
Use structured logging instead of print
Throw errors rather than returning codes
Always check the returned error
Write error messages in English
Don't capitalise error messages
Sort keys in JSON files
Do not use tabs in YAML
Use testify instead of plain testing
Write table-driven tests
Run the doc tests too when you change an example
Do not sleep in tests
Run database migrations before the deployment
Do not delete migrations that have been released
Do not start the server as root
Add a docstring to every server handler
Return early instead of nesting conditions
Nest routes under /api
Do not commit generated files
Commit the lock file
Put generated files under build/
Use named exports instead of default exports
Set a default for each flag
Never use mutable default arguments
Avoid global variables
Document every environment variable
Retry a failed call three times
Do not push to main
The main function stays below 20 lines
Use uv, not pip
Keep the pip cache between CI runs
Store dates in UTC
Use date-fns, not moment
""".strip().splitlines()


def test_rules_that_only_share_words_change_nothing_about_each_other():
    changes = [(old, new, compare(old, new)) for old, new in permutations(UNRELATED, 2)]
    assert [(old, new) for old, new, change in changes if change.kind != "other_slot"] == []


@pytest.mark.parametrize(
    ("old", "new", "clear"),
    [
        ("Use httpx instead of requests", "Use requests for the legacy client", False),
        ("Use httpx instead of requests", "Go back to requests", True),
        ("Never commit generated files", "Commit the generated files too", True),
        ("Document every environment variable", "No need to document environment variables", True),
        ("Use uv, not pip", "Install packages with pip", True),
        ("Use uv, not pip", "Use pip when you build in Docker", False),
    ],
)
def test_a_later_exception_is_no_clear_reversal_but_naming_the_rejected_is(old, new, clear):
    change = compare(old, new)
    assert (change.kind, change.clear) == ("opposite", clear)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Use pip", "Use uv, not pip", 'the earlier asks for "pip", and the later rejects it'),
        ("Plan, apply, then verify", "Apply, plan, then verify", '"apply" now comes before "plan"'),
        ("Shards own tenants", "Tenants own shards", '"shards" and "tenants" changed places'),
        (
            "Coverage is at least 80%",
            "Coverage is at most 80%",
            '"at most 80%" is the opposite of "at least 80%"',
        ),
        (
            "Index public columns",
            "Index private columns",
            'the earlier is about "public columns", the later about "private columns"',
        ),
        ("Indent with 4 spaces", "Indent with 2 spaces", '"2 spaces" takes the place of "4 spaces"'),
        ("Fail open", "Fail closed", '"closed" is the opposite of "open"'),
        ("Use Postgres", "use  postgres!", "both say the same"),
        ("Deploy with Argo on Mondays", "Deploy on Mondays", 'only the earlier says "Argo"'),
    ],
)
def test_the_reason_quotes_the_words_as_they_were_written(old, new, reason):
    assert compare(old, new).reason == reason


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("Serve over http/3", "Serve over http/2", "other_value"),
        ("Compile for es2019", "Compile for es2022", "other_value"),
        ("Vacuum tables at night", "Vacuum tables during the day", "other_value"),
        ("Write titles in the present tense", "Write titles in the past tense", "other_value"),
        ("Sanitise on the backend", "Sanitise on the frontend", "other_value"),
        ("Leave the audit columns", "Remove the audit columns", "opposite"),
        ("Keep the snapshot", "Delete the snapshot", "opposite"),
        ("Sort the columns", "Don't bother sorting the columns", "opposite"),
        ("Sort the columns", "I don't want sorted columns", "opposite"),
        ("Anyone may drop an index", "Nobody may drop an index", "opposite"),
        ("Only owners may drop an index", "Everyone may drop an index", "wider"),
        ("Everyone may drop an index", "Only owners may drop an index", "narrower"),
        ("Join no more than 4 tables", "Join more than 4 tables", "opposite"),
        ("Join no more than 4 tables", "Never join more than 4 tables", "same"),
        ("Join 4 or more tables", "Join at least 4 tables", "same"),
        ("Keep no fewer than 2 replicas", "Keep fewer than 2 replicas", "opposite"),
        ("Never drop a column without a backup", "Always drop columns with a backup", "same"),
        ("Never drop a column without a backup", "Drop columns without a backup", "opposite"),
        ("Don't drop columns without a backup", "Drop columns only with a backup", "same"),
    ],
)
def test_values_limits_and_denials_of_denials_are_read(old, new, kind):
    assert compare(old, new).kind == kind


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("Use httpx instead of requests", "requests is fine after all"),
        ("Use httpx instead of requests", "requests is okay again"),
        ("Use httpx instead of requests", "We moved to requests"),
        ("Use httpx instead of requests", "Back to requests"),
        ("Use httpx instead of requests", "We went back to requests"),
        ("Use httpx instead of requests", "I changed my mind: use requests"),
        ("Use httpx instead of requests", "No more httpx"),
        ("Use tabs, not spaces", "We are back on spaces"),
        ("Squash commits before merging", "Stop squashing"),
        ("Squash commits before merging", "Merge without squashing"),
        ("Squash commits before merging", "Don't squash any more"),
        ("Squash commits before merging", "Squashing is optional now"),
        ("Squash commits before merging", "Keep all commits when merging, never squash"),
        ("Never use print for debugging", "print for debugging is okay"),
    ],
)
def test_a_change_of_mind_is_a_reversal_in_whatever_words(old, words):
    change = compare(old, words)
    assert (change.kind, change.clear) == ("opposite", True)


def test_a_long_wrong_text_is_no_part_of_the_statement():
    assert contrast("Use uv", "pip install\nx") == "Use uv"
    assert contrast("Use uv", "pip") == "Use uv; never pip"


def test_a_statement_that_is_no_text_is_refused():
    with pytest.raises(ParamError, match="must be a text"):
        compare(None, "x")


def test_statements_without_a_word_that_tells_are_the_same_only_if_they_are_equal():
    assert compare("Not like that", "Do it now").kind == "other_slot"
    assert compare("Not like that", "not like that").kind == "same"
