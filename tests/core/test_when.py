import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.when import CueValue, evaluate, findings, is_more_specific
from priming.errors import ParamError

keys = st.sampled_from(["language", "project", "task", "environment", "file", "team"])
words = st.text("abcxyz", min_size=1, max_size=3)
scopes = st.dictionaries(keys, st.one_of(words, st.lists(words, min_size=1, max_size=3)), max_size=6)


def test_a_predicate_is_confirmed_contradicted_or_left_open():
    when = {"language": "go", "project": "priming", "team": "core"}
    assert evaluate(when, {"language": "go", "project": "other"}) == (1, 1, 1)
    assert findings(when, {"language": "go", "project": "other"}) == {
        "language": "confirmed",
        "project": "contradicted",
        "team": "absent",
    }


def test_an_empty_when_asks_for_nothing():
    assert evaluate({}, {"language": "go"}) == (0, 0, 0)


def test_case_and_surrounding_space_do_not_matter():
    assert evaluate({"language": "Go"}, {"language": " gO "}) == (1, 0, 0)


def test_any_value_of_a_list_will_do():
    when = {"language": ["go", "rust"]}
    assert evaluate(when, {"language": "rust"}) == (1, 0, 0)
    assert evaluate(when, {"language": "python"}) == (0, 1, 0)
    assert evaluate({"language": "go"}, {"language": ("python", "go")}) == (1, 0, 0)


@each_row("silence", [None, "", "  ", []])
def test_saying_nothing_is_neutral_on_either_side(silence):
    assert evaluate({"language": "go"}, {"language": silence}) == (0, 0, 1)
    assert evaluate({"language": silence}, {"language": "go"}) == (0, 0, 1)


def test_numbers_and_booleans_equal_their_texts():
    assert evaluate({"port": 8080, "ci": True}, {"port": "8080", "ci": "true"}) == (2, 0, 0)


def test_languages_and_projects_are_equal_or_different_never_partly():
    assert evaluate({"language": "java"}, {"language": "javascript"}) == (0, 1, 0)
    assert evaluate({"project": "app"}, {"project": "app-server"}) == (0, 1, 0)


@each_row(
    ("pattern", "path"),
    [
        ("*.go", "main.go"),
        ("*.go", "cmd/server/main.go"),
        ("*.GO", "cmd/Main.go"),
        ("src/*.py", "src/a.py"),
        ("src/*.py", "/home/me/project/src/a.py"),
        ("src/**/*.py", "src/a.py"),
        ("src/**/*.py", "src/x/y/a.py"),
        ("**/migrations/**", "app/migrations/0001/up.sql"),
        ("migrations/", "app/migrations/0001/up.sql"),
        ("/src/*.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("src/a.py", r"C:\project\src\a.py"),
        ("test_?.py", "tests/test_1.py"),
        ("[ab].py", "b.py"),
        ("*", "anything"),
    ],
)
def test_a_path_matches_a_glob(pattern, path):
    assert evaluate({"file": pattern}, {"file": path}) == (1, 0, 0)


@each_row(
    ("pattern", "path"),
    [
        ("*.go", "main.py"),
        ("*.go", "main.go/readme"),
        ("src/*.py", "src/x/a.py"),
        ("src/*.py", "mysrc/a.py"),
        ("/src/*.py", "lib/src/a.py"),
        ("migrations/", "app/migration/up.sql"),
        ("[ab].py", "c.py"),
        ("src", "src/a.py"),
    ],
)
def test_a_path_does_not_match_a_glob(pattern, path):
    assert evaluate({"file": pattern}, {"file": path}) == (0, 1, 0)


def path_matches(pattern, path):
    return evaluate({"file": pattern}, {"file": path}).confirmed == 1


def test_a_hostile_pattern_ends_at_once():
    pattern = "/".join(["**", "*a" * 30] * 20)
    assert not path_matches(pattern, "/".join(["a" * 60 + "b"] * 60))


@each_row(
    ("expected", "text"),
    [
        ("test", "Testing the parser"),
        ("testing", "add a test"),
        ("write tests", "Write more unit tests for it"),
        ("refactor", "refactoring, then release"),
        ("prod", "production"),
        ("adds", "adding a column"),
        ("CI", "ci"),
    ],
)
def test_a_task_or_environment_is_found_by_its_words(expected, text):
    assert CueValue(text).mention(expected.casefold())
    assert evaluate({"task": expected, "environment": expected}, {"task": text, "environment": text}) == (
        2,
        0,
        0,
    )


@each_row(
    ("expected", "text"),
    [("go", "google the error"), ("write tests", "write docs"), ("deploy", "refactor"), ("ci", "city")],
)
def test_short_or_missing_words_are_not_found(expected, text):
    assert not CueValue(text).mention(expected.casefold())
    assert evaluate({"task": expected}, {"task": text}) == (0, 1, 0)


@given(scopes, scopes)
def test_every_predicate_gets_one_finding(when, cue):
    result = evaluate(when, cue)
    assert sum(result) == len(when)
    assert result.absent == len(when.keys() - cue.keys())


@given(scopes)
def test_a_scope_confirms_itself(when):
    assert evaluate(when, when) == (len(when), 0, 0)


@given(scopes, scopes)
def test_what_the_cue_leaves_out_never_contradicts(when, cue):
    smaller = {key: value for key, value in cue.items() if key != "language"}
    assert evaluate(when, smaller).contradicted <= evaluate(when, cue).contradicted


# specificity


def test_a_strict_superset_is_more_specific():
    wide, narrow = {"language": "go"}, {"language": "go", "task": "test"}
    assert is_more_specific(narrow, wide)
    assert not is_more_specific(wide, narrow)
    assert not is_more_specific(wide, wide)
    assert not is_more_specific({"language": "rust", "task": "test"}, wide)


@each_row(
    ("narrow", "wide"),
    [("src/ui/app.ts", "src/ui/**"), ("src/ui/**", "src/**"), (["a/x.py", "a/y.py"], "a/*.py")],
)
def test_what_is_within_the_globs_of_another_is_more_specific(narrow, wide):
    assert is_more_specific({"file": narrow}, {"file": wide})
    assert not is_more_specific({"file": wide}, {"file": narrow})
    assert not is_more_specific({"file": narrow}, {"file": wide, "task": "test"})
    assert not is_more_specific({"file": [wide, "docs/a.md"]}, {"file": wide})


def test_an_unscoped_behaviour_is_never_less_specific():
    assert not is_more_specific({"language": "go"}, {})
    assert not is_more_specific({}, {})
    assert not is_more_specific({"language": "go"}, {"language": None})


def test_the_order_and_case_of_a_list_do_not_matter():
    assert is_more_specific({"language": ["Rust", "go"], "task": "fix"}, {"language": ("go", "rust")})


@given(scopes, scopes)
def test_specificity_goes_one_way_only(a, b):
    assert not (is_more_specific(a, b) and is_more_specific(b, a))
    assert not is_more_specific(a, a)


@each_row(
    ("call", "message"),
    [
        (lambda: evaluate(None, {}), "when = None: must be a mapping of predicate to value"),
        (lambda: evaluate({}, ["go"]), "cue = ['go']: must be a mapping of predicate to value"),
        (lambda: is_more_specific("go", {}), "a = 'go': must be a mapping of predicate to value"),
        (lambda: is_more_specific({}, 3), "b = 3: must be a mapping of predicate to value"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ParamError, match=re.escape(message)):
        call()


@each_row(
    ("pattern", "path", "matches"),
    [
        ("notes[", "notes[", True),
        ("[[[a", "[[[a", True),
        ("[ab]c[", "bc[", True),
        ("[ab]c[", "bc", False),
        ("x]y[z", "x]y[z", True),
        ("[!a]*.py", "b1.py", True),
        ("a*", "a", True),
        ("a?c*", "abc", True),
        ("abcd", "abc", False),
        ("*" * 300 + ".py", "app.py", True),
    ],
)
def test_a_bracket_that_is_never_closed_is_a_letter(pattern, path, matches):
    assert path_matches(pattern, path) is matches


@each_row("pattern", ["[" * 20_000, "{a,b}" * 4_000, "**/" * 7_000 + "x", "*a" * 10_000])
def test_a_pattern_beyond_the_limit_matches_nothing(pattern):
    assert not path_matches(pattern, "src/app.py")
    assert not path_matches("*.py", "a/" * 5_000 + "app.py")


def test_braces_expand_to_a_limited_number_of_patterns():
    assert path_matches("{a,b}" * 5 + ".py", "ababa.py")
    assert not path_matches("{" + "," * 400 + "}" + "{a,b}" * 20, "app.py")
