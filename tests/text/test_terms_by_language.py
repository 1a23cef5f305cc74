"""The language of a text, by its function words and its script, and the terms that its words give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming import Memory
from priming.text.tokens import LANGUAGES, language_of, spelled, terms

SENTENCES = {
    "german": "Der Schlüssel hängt neben der Tür, und wer ihn nimmt, schreibt es auf.",
    "french": "Le serveur est tombé parce que la mémoire n'était pas assez grande.",
    "spanish": "La copia de seguridad se hace cada noche y se guarda en otro lugar.",
    "portuguese": "O servidor não responde quando há muitos pedidos ao mesmo tempo.",
    "italian": "La chiave è nella stanza che si trova accanto alla porta.",
    "dutch": "De sleutel hangt naast de deur en wie hem neemt schrijft het op.",
    "swedish": "Nyckeln hänger bredvid dörren och den som tar den ska skriva upp det.",
    "danish": "Nøglen hænger ved siden af døren, og den der tager den, skal skrive det op.",
    "finnish": "Avain on oven vieressä ja se joka ottaa sen kirjoittaa sen ylös.",
    "polish": "Klucz wisi obok drzwi i ten, kto go bierze, musi to zapisać.",
    "turkish": "Anahtar kapının yanında ve onu alan bunu yazmak için bir kalem bulur.",
    "indonesian": "Kunci itu ada di dekat pintu dan yang mengambilnya harus mencatat.",
    "english": "The key hangs beside the door, and whoever takes it writes that down.",
}


@each_row(("language", "sentence"), SENTENCES.items())
def test_a_sentence_shows_its_language(language, sentence):
    assert language_of(sentence) == language


@each_row(
    "text",
    [
        "Rio de la Plata",
        "a b c",
        "SELECT a FROM b",
        "def main(argv):",
        "die",
        "Kestrel",
        "3.14",
        "",
        "El Niño",
        "東京",
    ],
)
def test_names_code_and_single_words_show_no_other_language_than_english(text):
    assert language_of(text) in (None, "english")


@each_row(
    "text",
    [
        "Use de facto standards in the API and say so in the docs",
        "The die is cast, as Caesar has it",
        "Deploy to the la-1 region, and on to the mi-2 one",
        "Kirsten's van is a blue Transit",
        "Where does Tom's van park?",
    ],
)
def test_foreign_words_in_an_english_text_leave_it_english(text):
    assert language_of(text) == "english"


@each_row(
    "text", ["Le voilier mesure neuf mètres.", "Où se trouve le voilier ?", "Sophie travaille à la mairie."]
)
def test_of_languages_for_which_as_much_speaks_it_is_that_of_more_speakers(text):
    assert language_of(text) == "french"


@each_row(
    ("language", "item", "other"),
    [
        ("german", "Die Häuser sind alt", "in dem alten Haus"),
        ("french", "les serveurs sont tombés", "le serveur tombe"),
        ("spanish", "las copias guardadas", "la copia se guarda"),
        ("english", "the servers failed", "a server fails"),
    ],
)
def test_forms_of_a_word_give_one_term(language, item, other):
    assert {*terms(other, language)} <= {*terms(item, language)}


def test_words_of_another_script_are_stemmed_by_the_language_that_it_is_used_for():
    assert terms("серверы упали") == terms("сервер упал")
    assert terms("The ключи are lost") == [*terms("ключ"), "lost"]
    assert terms("και όχι μόνο οι πόρτες") != []


def test_an_elided_article_is_apart_from_its_noun():
    assert "homme" in spelled("l'homme qui est dans la maison", "french").values()
    assert terms("qu'il ouvre l'atelier d'Anne", "french") == terms("ouvre atelier Anne", "french")
    assert terms("dell'acqua", "italian")[-1] == terms("acqua", "italian")[0]


def test_accents_do_not_divide_a_cue_from_its_text():
    assert terms("clé perdue", "french") == terms("cle perdue", "french")


@given(st.text(), st.sampled_from(LANGUAGES))
def test_every_term_has_the_word_that_gives_it(text, language):
    assert {*spelled(text, language)} == {*terms(text, language)}
    assert all(terms(text, language))


@pytest.fixture
def memory():
    with Memory.open("sqlite://") as opened:
        yield opened


def test_an_inflected_question_finds_its_answer_in_its_language(memory):
    memory.remember("Die Kündigungsfrist beträgt drei Monate zum Ende des Jahres.", key="frist")
    memory.remember("Die Miete wird am ersten Tag des Monats überwiesen.", key="miete")
    memory.remember("Ключи от серверной лежат у Анны в ящике.", key="keys")
    memory.remember("Пароли хранятся в сейфе на втором этаже.", key="passwords")
    assert memory.recall("Welche Kündigungsfristen haben wir?").hits[0].memory.key == "frist"
    assert memory.recall("Wann überweisen wir die Mieten?").hits[0].memory.key == "miete"
    assert memory.recall("Где лежит ключ от серверных?").hits[0].memory.key == "keys"


@each_row(
    ("notes", "cue", "key"),
    [
        (
            ["I gatti dormono.", "Marco abita a Torino.", "La riunione è alle nove."],
            "Dove sono i miei gatti?",
            0,
        ),
        (["El fontanero viene el martes.", "Ana vende la bici."], "¿Cuándo vienen los fontaneros?", 0),
        (
            ["Kotki hedder Momo.", "Husleje: 800 euro.", "Jeg har en kat, og det er den."],
            "Hvad er huslejen?",
            1,
        ),
    ],
)
def test_a_note_too_short_to_tell_its_language_is_found_by_every_form_of_its_words(notes, cue, key):
    with Memory.open("sqlite://") as memory:
        for number, text in enumerate(notes):
            memory.remember(text, key=f"m{number}")
        best = memory.recall(cue).hits[0]
    assert best.memory.key == f"m{key}"
    assert best.components["words"] > 0.0


def test_notes_that_do_not_tell_their_language_leave_the_choice_to_those_that_do(memory):
    for number, text in enumerate(
        ("Momo dort.", "Paul habite Lyon.", "Le serveur est dans la cave de la mairie.")
    ):
        memory.remember(text, key=f"m{number}")
    assert memory.recall("serveurs").hits[0].memory.key == "m2"


def test_a_cue_whose_words_do_not_tell_is_in_the_language_of_most_memories(memory):
    for number, text in enumerate(
        (
            "Die Verträge der Mieter liegen im Schrank.",
            "Das Büro ist im dritten Stock des Hauses.",
            "Wir haben keine Zeit für das.",
        )
    ):
        memory.remember(text, key=f"m{number}")
    assert memory.recall("Vertrag Mietern").hits[0].memory.key == "m0"
