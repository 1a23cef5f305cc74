"""What is taken out of a commit message, in the habits of several projects."""

from tests.rows import each_row

from priming.transfer.git_log import read_message


@each_row(
    ("message", "text", "pulls"),
    [
        ("Close idle connections (#123)", "Close idle connections", ("#123",)),
        ("Close idle connections (#123) (#130)", "Close idle connections", ("#123", "#130")),
        ("Close idle connections (gh-99)", "Close idle connections", ("#99",)),
        ("Close idle connections (!45)\n\nThey leak.", "Close idle connections\n\nThey leak.", ("!45",)),
        ("Merge pull request #9 from ada/idle\n\nClose idle connections", "Close idle connections", ("#9",)),
        ("Merge pull request #9 from ada/idle", "Merge ada/idle", ("#9",)),
        ("Fix #12 by waiting (#3 was the same)", "Fix #12 by waiting (#3 was the same)", ()),
        ("Merge branch 'idle' into 'main'\n\nClose idle connections\n\nSee merge request net/pool!77",
         "Merge branch 'idle' into 'main'\n\nClose idle connections", ()),
        ("", "", ()),
    ],
)  # fmt: skip
def test_numbers_of_pull_requests_are_kept_apart(message, text, pulls):
    read = read_message(message)
    assert (read.text, read.pulls) == (text, pulls)


@each_row(
    "trailer",
    [
        "Signed-off-by: Grace Hopper <grace@example.org>",
        "Co-Authored-By: Grace <g@example.org>",
        "Reviewed-by: Grace",
        "Change-Id: I8d1f00",
        "Cc: Grace <g@example.org>",
        "PR-URL: https://example.org/pull/7",
        "Reviewed-on: https://example.org/c/7",
        "git-svn-id: https://example.org/svn/trunk@10 0f0f",
    ],
)
def test_trailers_are_no_text_and_keep_no_address(trailer):
    read = read_message(f"Close idle connections\r\n\r\nThey leak.\r\n\r\n{trailer}\r\n")
    assert read.text == "Close idle connections\n\nThey leak."
    assert len(read.trailers) == 1
    assert "@example.org" not in read.trailers[0] or "svn" in trailer


def test_a_line_with_a_colon_is_no_trailer():
    message = "pool: close idle connections\n\nNote: they leak.\nFixes: a hang at exit"
    assert read_message(message).text == message


def test_the_rule_above_the_authors_of_a_squashed_commit_goes_with_them():
    message = "Close idle connections\n\n* one\n* two\n\n---------\n\nCo-authored-by: Grace <g@example.org>"
    assert read_message(message).text == "Close idle connections\n\n* one\n* two"


@each_row(
    "line",
    [
        "Fixes #14.",
        "closes: #14",
        "Resolves gh-14 and gh-15",
        "Refs acme/pool#14, #15",
        "See #3",
        "Fix issue #9",
    ],
)
def test_a_line_that_only_closes_an_issue_is_a_trailer_but_not_as_the_subject(line):
    message = read_message(f"Retry twice\n\nThe pool was full.\n\n{line}\n")
    assert message.text == "Retry twice\n\nThe pool was full."
    assert message.trailers == (line,)
    assert read_message(line).text == line


def test_a_sentence_about_an_issue_stays():
    text = "Retry twice\n\nSee #3 for why the pool was full.\nFixes #14 only on Linux."
    assert read_message(text).text == text
