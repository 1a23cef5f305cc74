from tests.rows import each_row

from priming.sleep import decay
from priming.types import LeftAlone

from .making import NOW, answer, versions_of

TEXT = "The build is green."


def plan(*records, **more):
    return decay.plan_light(records, versions_of(records), NOW, **more)


def test_the_newer_of_two_equal_texts_is_marked_and_weighs_nothing():
    (planned,) = plan(answer("a", TEXT, session="x"), answer("b", TEXT, session="y"))
    assert (planned.ids, planned.into) == (("b",), "a")
    retired, again = planned.rows
    assert (retired.before.id, retired.after.retired_at) == ("b", NOW)
    assert (again.after.version, again.after.revision, again.after.importance) == (1, 2, 0.0)
    assert again.after.metadata == {"duplicate_of": "key-a"}
    assert again.after.content == TEXT


def test_what_the_metadata_said_before_stays():
    (planned,) = plan(answer("a", TEXT), answer("b", TEXT, metadata={"ticket": 7}))
    assert planned.rows[-1].after.metadata == {"ticket": 7, "duplicate_of": "key-a"}


def test_all_of_a_group_point_to_the_oldest_that_is_none_itself():
    records = [answer("a", TEXT, metadata={"duplicate_of": "gone"}), *(answer(item, TEXT) for item in "bcd")]
    (planned,) = plan(*records)
    assert (planned.ids, planned.into) == (("c", "d"), "b")


def test_texts_that_differ_in_words_title_or_outcome_are_no_duplicates():
    others = [
        answer("b", TEXT + " "),
        answer("c", TEXT, speaker="Ada"),
        answer("d", TEXT, outcome="failure"),
    ]
    left = plan(answer("a", TEXT), *others)
    assert left == [
        LeftAlone(("a", "c"), "the same text, but their titles differ", ("none", "Ada")),
        LeftAlone(("a", "d"), "the same text, but their outcomes differ", ("none", "failure")),
    ]


@each_row(
    ("text", "other"),
    [
        ("Enable flag X", "Disable flag X"),
        ("It runs on staging", "It runs on production"),
        ("Install v1", "Install v2"),
        ("We meet on Monday", "We meet on Friday"),
    ],
)
def test_opposites_are_no_duplicates(text, other):
    assert plan(answer("a", text), answer("b", other)) == []


def test_what_is_marked_is_not_marked_again():
    assert (
        plan(answer("a", TEXT), answer("b", TEXT, metadata={"duplicate_of": "key-a"}, importance=0.0)) == []
    )


def test_what_contradicts_its_original_is_not_marked():
    assert plan(answer("a", TEXT), answer("b", TEXT), conflicts=frozenset({frozenset("ab")})) == []


def test_nothing_and_one_have_no_duplicates():
    assert plan() == plan(answer("a", TEXT)) == []
