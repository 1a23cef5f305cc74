"""Rules that disagree are listed by review, with the one that is told, and settled by the verbs there are."""

import pytest

from priming import Cue, NotFound

GO, RUST = Cue(language="go"), Cue(language="rust")


def contents(answer):
    return [hit.memory.content for hit in answer.hits]


@pytest.fixture
def two(memory):
    """A rule, and another value of it for one language."""
    memory.learn("Use single quotes")
    memory.learn("Use double quotes", cue=GO)
    return memory


def test_the_more_specific_is_told_and_both_are_listed(two):
    assert contents(two.active(GO)) == ["Use double quotes"]
    assert contents(two.active(RUST)) == ["Use single quotes"]
    (entry,) = two.review()
    assert (entry.subject, entry.slot) == ("rules", "where language = go")
    assert (entry.older.content, entry.newer.content) == ("Use single quotes", "Use double quotes")
    assert (entry.older.value, entry.newer.value) == ("single", "double")
    assert entry.reason.startswith(
        "use-double-quotes is shown where both apply, because it applies more narrowly"
    )


def test_of_rules_with_as_many_conditions_the_later_is_told(memory):
    memory.learn("Use single quotes", cue=Cue(task="format"))
    memory.learn("Use double quotes", cue=GO)
    assert contents(memory.active(Cue(language="go", task="format"))) == ["Use double quotes"]
    (entry,) = memory.review()
    assert "because it is the later" in entry.reason


@pytest.mark.parametrize("how", ["supersede", "deprecate", "keep"])
def test_each_command_settles_it_and_undo_takes_it_back(two, how):
    older, newer = "use-single-quotes", "use-double-quotes"
    if how == "supersede":
        two.supersede(older, "Use double quotes")
    elif how == "deprecate":
        two.deprecate(older, by=newer)
    else:
        two.keep_both(f"{older}+{newer}")
    assert two.review() == []
    two.undo(two.log(limit=1)[0].id)
    assert len(two.review()) == 1


def test_rules_that_were_both_kept_are_both_told(two):
    two.keep_both("use-single-quotes+use-double-quotes")
    assert set(contents(two.active(GO))) == {"Use single quotes", "Use double quotes"}
    with pytest.raises(NotFound, match="no contradiction"):
        two.keep_both("use-single-quotes+use-double-quotes")


def test_rules_that_nobody_linked_are_compared_by_their_texts(memory):
    memory.remember("Release on Monday", kind="behavior", key="monday")
    memory.remember("Release on Friday", kind="behavior", key="friday")
    memory.remember("Sign every release", kind="behavior", key="sign")
    (entry,) = memory.review()
    assert {entry.older.key, entry.newer.key} == {"monday", "friday"}
    assert entry.reason.startswith("both are shown")


def test_rules_that_never_apply_together_do_not_disagree(memory):
    memory.learn("Use tabs", cue=GO)
    memory.learn("Use spaces", cue=RUST)
    assert memory.review() == []


def test_another_value_in_the_project_takes_the_place_of_that_of_another_store(memory, open_memory):
    everywhere = open_memory()
    everywhere.learn("Indent with tabs")
    memory.learn("Indent with spaces")
    answer = memory.active(GO, beside={"global": everywhere})
    assert contents(answer) == ["Indent with spaces"]


@pytest.mark.parametrize(
    ("general", "special", "cue"),
    [
        ("Use spaces for indentation", "Use tabs for indentation in Go", GO),
        ("Wait 30 seconds between retries", "In Rust code, wait 5 seconds between retries", RUST),
        ("Name files in snake_case", "Name Go files in kebab-case", GO),
    ],
)
def test_a_language_in_the_words_of_a_rule_that_is_its_condition_too_hides_no_conflict(
    memory, general, special, cue
):
    memory.learn(general)
    memory.learn(special, cue=cue)
    assert contents(memory.active(cue)) == [special]
    assert contents(memory.active(Cue(language="python"))) == [general]
    assert [(entry.older.content, entry.newer.content) for entry in memory.review()] == [(general, special)]


@pytest.mark.parametrize(
    ("general", "special"),
    [
        ("Use single quotes", "Use double quotes in JSX"),
        ("Wrap lines at 100 columns", "Wrap lines at 80 columns in Markdown files"),
    ],
)
def test_another_value_for_one_place_takes_the_place_of_no_general_rule(memory, general, special):
    memory.learn(general)
    memory.learn(special)
    assert {rule.content for rule in memory.list(kinds=["behavior"])} == {general, special}
    (entry,) = memory.review()
    assert "both are shown" in entry.reason


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "rules",
    [
        ("Encrypt all volumes", "Don't encrypt scratch volumes"),
        ("Keep traces for 7 days", "Keep billing traces for 90 days"),
        ("Index public columns", "Never index private columns"),
    ],
)
def test_a_rule_and_its_exception_are_both_told_whichever_was_learned_first(memory, rules, turned):
    for text in reversed(rules) if turned else rules:
        memory.learn(text)
    assert set(contents(memory.active(Cue(file="a.sql")))) == set(rules)


@pytest.mark.parametrize(("place", "listed"), [("src/main.go", False), ("tests/a_test.py", True)])
def test_a_rule_is_told_that_review_lists_it_only_where_review_does(memory, place, listed):
    memory.learn("Check forms on the server", cue=Cue(file="tests/a_test.py"))
    learned = memory.learn("Check forms on the client", cue=Cue(file=place))
    assert (bool(memory.review()), "review" in " ".join(learned.reasons)) == (listed, listed)
