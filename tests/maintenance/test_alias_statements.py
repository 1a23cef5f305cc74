"""Two names for one thing, where a text says so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.maintenance.aliases import alias_statements, is_short_form
from priming.text.name_forms.capitals import expansion_of


def pairs(text, seen=lambda name: name != "yesterday robert smith"):
    return [(statement.alias, statement.name) for statement in alias_statements(text, seen)]


@each_row(
    ("text", "alias", "name"),
    [
        ("Robert Smith (Bob) left.", "Bob", "Robert Smith"),
        ("Yesterday Robert Smith (Bob) left.", "Bob", "Robert Smith"),
        ("Robert Smith (@rsmith) left.", "@rsmith", "Robert Smith"),
        ("Mel (Melanie) came.", "Mel", "Melanie"),
        ("We use Kubernetes, or K8s, here.", "K8s", "Kubernetes"),
        ("We use Kubernetes (or k8s) here.", "k8s", "Kubernetes"),
        ("K8s stands for Kubernetes.", "K8s", "Kubernetes"),
        ("Bob, short for Robert, came.", "Bob", "Robert"),
        ("Bob is short for Robert.", "Bob", "Robert"),
        ("Robert, or Bob for short, left.", "Bob", "Robert"),
        ("Ann Lee, also known as Mia, left.", "Mia", "Ann Lee"),
        ("Mia, also known as Ann Lee, left.", "Mia", "Ann Lee"),
        ("Robert Smith, a.k.a. Bob, is here.", "Bob", "Robert Smith"),
        ("Robert Smith (aka Bob) is here.", "Bob", "Robert Smith"),
        ("Robert Smith goes by Bob.", "Bob", "Robert Smith"),
        ("We tried spreading activation (SA).", "SA", "spreading activation"),
        ("International Business Machines (IBM) grew.", "IBM", "International Business Machines"),
        ("the Department of Energy (DOE)", "DOE", "Department of Energy"),
    ],
)
def test_a_text_says_that_two_names_are_one(text, alias, name):
    assert pairs(text) == [(alias, name)]


@each_row(
    "text",
    [
        "Oslo (Norway) is cold.",
        "We go to Paris, or London, or both.",
        "Is Bob short for Robert?",
        "K8s is not short for Kubernetes.",
        "Alice (Bob's wife) came.",
        "Ann (Mia told me) left.",
        "Robert Smith and Bob left.",
        "a long test (SA)",
        "Robert Smith (1970)",
        "Bob, also known as Bob, left.",
    ],
)
def test_what_a_text_does_not_say_is_not_read_into_it(text):
    assert pairs(text) == []


def test_only_known_names_are_meant():
    assert pairs("Robert Smith (Bob) left.", {"robert smith"}.__contains__) == []
    assert pairs("Robert Smith (Bob) left.", {"smith", "bob"}.__contains__) == []
    assert pairs("Robert Smith, alias or a.k.a. Bob", {"robert smith", "bob"}.__contains__) == []


def test_the_sentence_is_the_evidence():
    text = "It rained. Robert Smith, a.k.a. Bob, came by train. He left."
    (item,) = alias_statements(text, lambda _: True)
    assert item.sentence == "Robert Smith, a.k.a. Bob, came by train."


def test_initials_may_pass_over_small_words_only():
    assert expansion_of("the Department of Energy", "DE") == "Department of Energy"
    assert expansion_of("the Department of Energy", "DOE") == "Department of Energy"
    assert expansion_of("a self-organising map", "SOM") == "self-organising map"
    assert expansion_of("the energy department", "DE") is None


def test_a_numeronym_counts_the_letters_between():
    assert is_short_form("i18n", "Internationalization")
    assert not is_short_form("K8s", "Kubernete")


@given(st.text(alphabet="Aa (),.BobRobert@8ks-", max_size=80))
def test_any_text_gives_two_different_names(text):
    assert all(statement.alias != statement.name for statement in alias_statements(text, lambda _: True))


@each_row("unit", ["A ", "A (", "Aa, or ", "a ", "@", "a.k.a. ", "A. ", "(A) "])
def test_long_runs_are_read_to_the_end(unit):
    text = unit * (10_000 // len(unit)) + ". Robert Smith (Bob) left."
    assert ("Bob", "Robert Smith") in pairs(text, {"robert smith", "bob"}.__contains__)
