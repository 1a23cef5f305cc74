"""A cue that asks for a kind of software finds the note that names such software."""

import pytest

from priming.embedding.wordllama import StaticEmbedder

NOTES = (
    "The cache of the shop went from Memcached to Dragonfly over Easter.",
    "Orders travel to the depot through Kafka since last year.",
    "MariaDB was retired; everything is on CockroachDB now.",
    "Buildkite replaced our own runners, says Ines.",
    "Pull requests are built by GitHub Actions on every push.",
    "Zabbix wakes whoever is on duty.",
    "Since Friday the new service is written in Rust.",
    "There was rust on the bike racks, the caretaker knows.",
    "Ravi runs the marathon in Hamburg this autumn.",
    "The printer on the second floor uses the wrong paper.",
    "Lunch is at noon; who eats along writes it on the board.",
    "The contract with the cleaning firm ends in June.",
)


def by_words(answer):
    """What comes up for words, and not for what little a small store can tell of meaning."""
    return [hit.memory.content for hit in answer.hits if hit.components.get("words", 0.0) > 0]


@pytest.fixture(scope="module")
def by_word():
    return StaticEmbedder()


@pytest.fixture(scope="module")
def model(open_shared, by_word):
    memory = open_shared(embedder=by_word)
    memory.remember_many({"content": text} for text in NOTES)
    return memory


@pytest.fixture
def team(model, copy_of, by_word):
    return copy_of(model, embedder=by_word)


@pytest.mark.parametrize(
    ("cue", "name"),
    [
        ("Which message broker do we have?", "Kafka"),
        ("what database are we on", "CockroachDB"),
        ("What is our relational database called?", "CockroachDB"),
        ("Which continuous integration do we use?", "Buildkite"),
        ("On what monitoring system do we rely?", "Zabbix"),
        ("Which key-value store?", "Memcached"),
        ("Welche Datenbank haben wir?", "CockroachDB"),
        ("¿Qué base de datos tenemos?", "CockroachDB"),
        ("Quelle est notre base de données ?", "CockroachDB"),
    ],
)
def test_the_note_that_names_such_software_comes_first(team, cue, name):
    assert name in team.recall(cue).hits[0].memory.content


@pytest.mark.parametrize(
    ("cue", "name"),
    [
        ("Which cache do we run?", "Dragonfly"),
        ("what message broker are we using?", "Kafka"),
        ("Which CI do we run?", "Buildkite"),
        ("Welchen Message Broker nutzen wir?", "Kafka"),
        ("Quelle base de données utilisons-nous ?", "CockroachDB"),
        ("¿Qué base de datos usamos?", "CockroachDB"),
    ],
)
def test_what_else_one_runs_or_uses_is_not_asked_for(team, cue, name):
    team.remember("Backups run at three, as they did when Nutzen, Utilisons and Usamos were our mascots.")
    result = by_words(team.recall(cue))
    assert name in result[0]
    assert not any("marathon" in text or "printer" in text or "Backups" in text for text in result)


def test_a_kind_that_nothing_is_of_is_not_found_by_its_verb(team):
    assert not by_words(team.recall("Which package manager do we use?"))


def test_a_name_of_two_words_counts_where_they_stand_together(team):
    team.remember("The actions of the board are on GitHub, for whoever asks.")
    contents = by_words(team.recall("which CI do we use?"))
    assert any("GitHub Actions" in content for content in contents)
    assert not any("actions of the board" in content for content in contents)


def test_a_name_that_is_a_word_counts_only_where_the_namespace_has_it_as_a_name(team, open_memory, by_word):
    best = team.recall("Which programming language do we write?").hits[0]
    assert "written in Rust" in best.memory.content
    without = open_memory(embedder=by_word)
    without.remember_many({"content": text} for text in NOTES if "Rust" not in text)
    assert not by_words(without.recall("which programming language?"))


def test_the_kind_itself_counts_more_than_a_name_of_it(team):
    team.remember("Our message broker is in the cellar.")
    assert "cellar" in team.recall("Where is the message broker?").hits[0].memory.content


def test_without_near_words_names_are_only_names(team):
    assert not by_words(team.recall("which message broker?", ablate=["near"]))
