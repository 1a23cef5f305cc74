"""Sentences, and the gist of a rule: what stands alone, and what is forbidden."""

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.text.gists import GIST_LETTERS, MOST_LETTERS, gist_of_rule, gist_of_steps, list_items, sentences
from priming.text.statements.kinds import forbids

LONG = (
    "The ledger of four countries lives in this repository and is deployed by whoever is on call that week. "
)


@each_row(
    ("text", "parts"),
    [
        ("Use e.g. mypy, i.e. a checker. Run it.", ["Use e.g. mypy, i.e. a checker.", "Run it."]),
        ("Prefer tabs vs. spaces. Ask Dr. Wu.", ["Prefer tabs vs. spaces.", "Ask Dr. Wu."]),
        ("Ask P. Wu etc. before a merge. Wait.", ["Ask P. Wu etc. before a merge.", "Wait."]),
        ("Mock clocks, sockets, etc. Never mock time.", ["Mock clocks, sockets, etc.", "Never mock time."]),
        ("Pin Go 1.22.3. Wait 1.5 s.", ["Pin Go 1.22.3.", "Wait 1.5 s."]),
        ("Read app.toml first. Then main.rs!", ["Read app.toml first.", "Then main.rs!"]),
        ("keep it dry. never paste", ["keep it dry.", "never paste"]),
        ("It is room 5. Knock.", ["It is room 5.", "Knock."]),
        (
            "Sie ist bis 20. März in Raum 5. Dort ist es kalt.",
            ["Sie ist bis 20. März in Raum 5.", "Dort ist es kalt."],
        ),
        ("Run `a. b. c` twice. Stop.", ["Run `a. b. c` twice.", "Stop."]),
        ("Do:\n```\nmake. it\n\nrun\n```\nStop", ["Do:", "``` make. it run ```", "Stop"]),
        ("- Log it.\n- Tell us", ["Log it.", "Tell us"]),
        ("試験を書く。消すな。", ["試験を書く。", "消すな。"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, parts):
    assert sentences(text) == parts


@each_row(
    ("text", "items"),
    [
        ("1. tag 2. push 3. tell", ["1. tag", "2. push", "3. tell"]),
        ("1) tag it\n2) push it", ["1) tag it", "2) push it"]),
        ("To release: 1. tag. 2. push.", ["To release:", "1. tag.", "2. push."]),
        ("It takes 2. Wait for 3. Go.", []),
        ("1. tag", []),
        ("Use `1. a 2. b`", []),
    ],
)
def test_a_numbered_list_has_items(text, items):
    assert list_items(text) == items


@each_row(
    "text",
    [
        "Use e.g. ruff.",
        "1. run the migrations 2. check",
        "Keep secrets out. Never commit .env files",
        "Bump version 2.1. Then tag it. Then tell the channel.",
    ],
)
def test_a_short_rule_is_its_own_gist(text):
    assert gist_of_rule(text) == text


@each_row(
    ("text", "gist"),
    [
        (
            LONG + "Never force-push to it, e.g. after a rebase.",
            "Never force-push to it, e.g. after a rebase.",
        ),
        (LONG + "Do not use eval. Format it. Avoid exec.", "Do not use eval. Avoid exec."),
        (LONG + "You must not skip hooks.", "You must not skip hooks."),
        ("Keep it small. " + LONG + "Never log tokens.", "Keep it small. Never log tokens."),
        (LONG + "Use uv for all of it.", LONG.strip()),
        (
            "1. stop the server 2. back up the database to the vault 3. migrate 4. check the page of health of all 5."
            " start it again 6. tell the team",
            "1. stop the server 2. back up the database to the vault 3. migrate 4. check the page of health of all …",
        ),
        ("Note: " + LONG + "Leave everything else as it was.", "Note: " + LONG.strip()),
    ],
)
def test_a_long_rule_keeps_a_sentence_that_stands_alone_and_what_it_forbids(text, gist):
    assert gist_of_rule(text) == gist


@each_row(
    ("text", "parts"),
    [
        (LONG + "Retry on 5xx. Do not retry on 4xx.", ["Retry on 5xx.", "Do not retry on 4xx."]),
        (LONG + "Encrypt every volume, except scratch ones.", ["Encrypt every volume, except scratch ones."]),
        (LONG + "Wait thirty seconds before the next attempt.", ["thirty seconds"]),
        (LONG + "Keep traces for at most a week.", ["at most a week"]),
        (
            "Encrypt all volumes of the cluster, with the keys that the bank of the four countries gave us when we"
            " moved, except scratch volumes of the build machines",
            ["Encrypt all volumes", "except scratch volumes"],
        ),
        (
            LONG
            + "When the disk is full, which happens often, drop the oldest trace. It must never be one of billing.",
            ["When the disk is full", "drop the oldest trace", "never be one of billing"],
        ),
    ],
)
def test_a_gist_loses_no_prohibition_exception_condition_or_value(text, parts):
    gist = gist_of_rule(text)
    assert [part for part in parts if part not in gist] == []


def test_a_prohibition_at_the_end_of_a_long_sentence_is_kept():
    text = "Whenever somebody of finance reads the warehouse and has signed nothing off in writing so far,"
    gist = gist_of_rule(f"{text} as the audit of last year asks of all of us, never alter a table by hand")
    assert forbids(gist)
    assert gist.endswith("never alter a table by hand")


@given(st.text(max_size=400))
def test_a_gist_is_a_line_that_is_no_longer_than_it_may_be(text):
    gist = gist_of_rule(text)
    assert len(gist) <= MOST_LETTERS
    assert len(gist.splitlines()) <= 1
    assert bool(gist) == bool(text.split())


@each_row(
    ("text", "gist"),
    [
        ("Prune: 1. Wash. 2. Cut.", "Prune: 1. Wash. 2. Cut."),
        ("Prune: step 1. Wash. Step 2. Cut.", "Prune: step 1. Wash. Step 2. Cut."),
        ("Prune.\n1. Wash.\n2. Cut.", "Prune. 1. Wash. 2. Cut."),
        ("Prune:\n- wash\n- cut", "Prune: wash; cut"),
        (f"Prune: 1. Wash. 2. Cut {'all of the twigs ' * 9}away. 3. Sweep.", "Prune: 1. Wash. …"),
    ],
)
def test_the_gist_of_a_list_of_steps_has_as_many_as_fit(text, gist):
    assert gist_of_steps(text) == gist


def test_the_gist_of_steps_is_never_only_a_number_or_a_label():
    for mark in ("1.", "1)", "(1)", "a.", "Step 1."):
        assert "Fetch the ladder" in gist_of_steps(
            f"Prune the pear: {mark} Fetch the ladder. {'And climb it. ' * 20}"
        )
        assert len(gist_of_steps(f"Prune: {mark} {'Fetch it, ' * 40}")) <= GIST_LETTERS
