"""Words that languages write as one: which of them are parts of which."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.embedding.wordllama import StaticEmbedder
from priming.index.compounds import Compounds

WORDS = ["schlüssel", "haustürschlüssel", "haus", "mond", "hausmeister", "wohnungsschlüssel"]


def related(words, *spellings):
    return {words[code]: share for code, share in Compounds().related(spellings, words, words).items()}


def test_a_word_is_in_what_begins_or_ends_in_it_by_the_root_of_the_share_of_its_letters():
    assert related(WORDS, "schlüssel") == {
        "haustürschlüssel": 0.75,  # √(9/16)
        "wohnungsschlüssel": math.sqrt(9 / 17),
    }
    assert set(related(WORDS, "haus")) == {"haustürschlüssel", "hausmeister"}


def test_the_parts_of_a_compound_are_found_by_it():
    assert related(WORDS, "schlüsselhaus") == {"schlüssel": math.sqrt(9 / 13), "haus": math.sqrt(4 / 13)}


def test_short_words_and_other_forms_of_a_word_are_no_parts():
    words = ["rad", "fahrrad", "tische", "tisch", "preis", "reis"]
    assert related(words, "rad") == related(words, "tisch") == related(words, "reis") == {}


def test_a_word_is_found_by_its_spelling_where_its_stem_is_another():
    found = Compounds().related(["prüfung", "prufung"], ["führerscheinprüfung"], ["fuhrerscheinpruf"])
    assert set(found) == {0}


@given(
    st.lists(st.text("abc", min_size=1, max_size=12), unique=True), st.text("abc", min_size=1, max_size=12)
)
def test_it_finds_what_comparing_with_every_word_finds_however_the_words_came(words, word):
    growing = Compounds()
    for count in range(len(words) + 1):
        growing.related([word], words[:count], words[:count])
    expected = {}
    for code, other in enumerate(words):
        whole, part = sorted((word, other), key=len, reverse=True)
        fits = len(part) >= 4 and len(whole) - len(part) >= 3
        if fits and (whole.startswith(part) or whole.endswith(part)):
            expected[code] = math.sqrt(len(part) / len(whole))
    assert growing.related([word], words, words) == expected


GERMAN = {
    "key": "Jürgen hat seinen Haustürschlüssel verloren; der Ersatz kostet 40 Euro.",
    "power": "Die Kündigungsfrist für den Stromvertrag beträgt sechs Wochen.",
    "dentist": "Der Zahnarzttermin von Mia wurde auf Donnerstag um halb elf verschoben.",
    "test": "Lena hat die Führerscheinprüfung beim zweiten Anlauf bestanden.",
    "pool": "Die Schwimmhalle bleibt bis zum Ende der Sommerferien geschlossen.",
    "garden": "Im Gemüsegarten haben wir Möhren und Grünkohl gesät.",
    "lease": "Frau Schäfer hat den Mietvertrag für die Lagerhalle unterschrieben.",
}


@pytest.mark.parametrize(
    ("cue", "found"),
    [
        ("Wie lange ist die Frist, um den Strom zu kündigen?", "power"),
        ("Wo ist der Schlüssel?", "key"),
        ("Prüfung", "test"),
        ("Wann ist der Termin?", "dentist"),
        ("Ferien", "pool"),
        ("Wer hat den Vertrag über die Halle?", "lease"),
    ],
)
def test_a_memory_is_found_by_a_part_of_its_word(open_memory, cue, found):
    memory = open_memory(embedder=StaticEmbedder())
    for key, text in GERMAN.items():
        memory.remember(text, key=key)
    assert memory.recall(cue).hits[0].memory.key == found
