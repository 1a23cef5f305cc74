"""Kinds of software are read from a text by their words."""

from priming.text.name_forms.forms import kinds_of_software, sought_terms
from priming.text.tokens import terms


def kinds(text, language="english"):
    return [" ".join(kind) for kind, _ in kinds_of_software(terms(text, language), language)]


def names(text, language="english"):
    return {
        name.text for _, several in kinds_of_software(terms(text, language), language) for name in several
    }


def test_the_longest_kind_counts():
    assert kinds("Which graph database and which web server?") == ["graph databas", "web server"]
    assert "neo4j" in names("our graph database")
    assert "mysql" not in names("our graph database")


def test_a_kind_has_its_names_in_every_language():
    german = names("Welche Datenbanken haben wir?", "german")
    assert {"postgres", "mysql"} <= german == names("which databases do we have")


def test_a_verb_by_which_one_merely_has_software_is_not_asked_for():
    assert sought_terms("Which message broker do we use?", "english") == ["messag", "broker"]
    assert sought_terms("On what test runner do tests run?", "english") == ["test", "runner", "test"]
    assert sought_terms("Welche Datenbank verwenden wir?", "german") == ["datenbank"]
    assert sought_terms("¿Qué base de datos usamos?", "spanish") == terms("base datos", "spanish")


def test_every_verb_counts_where_no_kind_is_asked_for():
    assert sought_terms("Which club runs the marathon?", "english") == ["club", "run", "marathon"]
    assert sought_terms("Use the message broker", "english") == ["use", "messag", "broker"]


def test_a_text_without_a_kind_has_none():
    assert not kinds("Where did Anna leave her bicycle?")
    assert not kinds("", "german")
