"""Words that languages write as one: which of them are parts of which."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.embedding.wordllama import StaticEmbedder
from priming.index.vocabulary import Compounds

WORDS = ["schlüssel", "haustürschlüssel", "haus", "mond", "hausmeister", "wohnungsschlüssel"]


def related(words, word, stem=None):
    result = Compounds().related(word, stem or word, words, words)
    return {words[code]: pytest.approx(share) for code, share in result.items()}


def last(part, whole):
    return 0.7 * math.sqrt(part / whole)


def first(part, whole):
    return 0.35 * math.sqrt(part / whole)


def test_a_word_is_in_what_ends_in_it_and_half_as_much_in_what_begins_with_it():
    assert related(WORDS, "schlüssel") == {
        "haustürschlüssel": last(9, 16),
        "wohnungsschlüssel": last(9, 17),
    }
    assert related(WORDS, "haus") == {
        "haustürschlüssel": first(4, 16),
        "hausmeister": first(4, 11),
    }


def test_the_parts_of_a_compound_are_found_by_it():
    assert related(WORDS, "schlüsselhaus") == {"schlüssel": first(9, 13), "haus": last(4, 13)}


def test_short_words_and_other_forms_of_a_word_are_no_parts():
    words = ["fahrrad", "tische", "preis", "kartoffel"]
    for word, stem in (("rad", "rad"), ("tisch", "tisch"), ("reis", "reis"), ("karte", "kart")):
        assert related(words, word, stem) == {}


def test_a_word_is_found_by_its_spelling_where_its_stem_is_another():
    result = Compounds().related("prüfung", "prufung", ["führerscheinprüfung"], ["fuhrerscheinpruf"])
    assert result == {0: pytest.approx(last(7, 19))}


def test_a_word_is_the_same_in_every_form_whatever_language_its_text_was_read_in():
    words = ["gatto", "gatti", "gatta", "gattino", "poster", "post"]
    stems = ["gatt", "gatti", "gatta", "gattino", "poster", "post"]
    assert {words[code] for code in Compounds().same("gatt", "italian", words, stems)} == {*words[:3]}
    assert [words[code] for code in Compounds().same("post", "german", words, stems)] == ["post", "poster"]


@given(
    st.lists(st.text("abc", min_size=1, max_size=12), unique=True), st.text("abc", min_size=1, max_size=12)
)
def test_it_finds_what_comparing_with_every_word_finds_however_the_words_came(words, word):
    growing = Compounds()
    for count in range(len(words) + 1):
        growing.related(word, word, words[:count], words[:count])
    expected = {}
    for code, other in enumerate(words):
        whole, part = sorted((word, other), key=len, reverse=True)
        if len(part) >= 4 and len(whole) - len(part) >= 3:
            if whole.endswith(part):
                expected[code] = last(len(part), len(whole))
            elif whole.startswith(part):
                expected[code] = first(len(part), len(whole))
    assert growing.related(word, word, words, words) == pytest.approx(expected)


GERMAN = {
    "key": "Jürgen hat seinen Haustürschlüssel verloren; der Ersatz kostet 40 Euro.",
    "power": "Die Kündigungsfrist für den Stromvertrag beträgt sechs Wochen.",
    "dentist": "Der Zahnarzttermin von Mia wurde auf Donnerstag um halb elf verschoben.",
    "test": "Lena hat die Führerscheinprüfung beim zweiten Anlauf bestanden.",
    "pool": "Die Schwimmhalle bleibt bis zum Ende der Sommerferien geschlossen.",
    "garden": "Im Gemüsegarten haben wir Möhren und Grünkohl gesät.",
    "lease": "Frau Schäfer hat den Mietvertrag für die Lagerhalle unterschrieben.",
}


@pytest.fixture(scope="module")
def german(open_shared):
    memory = open_shared(embedder=StaticEmbedder())
    for key, text in GERMAN.items():
        memory.remember(text, key=key)
    return memory


@pytest.mark.parametrize(
    ("cue", "result"),
    [
        ("Wie lange ist die Frist, um den Strom zu kündigen?", "power"),
        ("Wo ist der Schlüssel?", "key"),
        ("Prüfung", "test"),
        ("Wann ist der Termin?", "dentist"),
        ("Ferien", "pool"),
        ("Wer hat den Vertrag über die Halle?", "lease"),
    ],
)
def test_a_memory_is_found_by_a_part_of_its_word(german, cue, result):
    assert german.recall(cue).hits[0].memory.key == result


def test_a_part_that_is_not_the_thing_itself_makes_no_sure_answer(open_memory):
    memory = open_memory(embedder=StaticEmbedder())
    for key, text in GERMAN.items() | {
        ("potatoes", "Die Kartoffeln sind im Keller."),
        ("machine", "Der Automat in der Halle ist defekt."),
        ("parcels", "Die Annahme der Pakete ist im Keller."),
    }:
        memory.remember(text, key=key)
    for cue, wrong in (
        ("Wo ist der Kellerschlüssel?", "potatoes"),
        ("Wo steht das Auto?", "machine"),
        ("Wer ist Anna?", "parcels"),
    ):
        assert all(
            hit.relevance < 0.5 for hit in memory.recall(cue, floor=0).hits if hit.memory.key == wrong
        ), cue


def test_a_german_question_is_german_though_its_small_words_are_english_too(open_memory):
    memory = open_memory(embedder=StaticEmbedder())
    for key, text in GERMAN.items():
        memory.remember(text, key=key)
    assert memory.recall("Was sagt die Kündigung?").hits[0].memory.key == "power"
