"""Erasing by name: what is folded, what is doubtful and listed, and that nothing of it is found afterwards."""

import unicodedata

import pytest

from priming import NotFound, ParamError
from priming.storage.protocol import Trace

QUOTES = dict.fromkeys(map(ord, "'\""))
SCRIPTS = {
    "latin": ("Jose Nunez", ["José Núñez called.", "JOSÉ NÚÑEZ paid.", "The bill of Nunez, Jose.", "jose.nunez"]),
    "greek": ("Γιώργος Παπαδόπουλος", ["Ο Γιωργος Παπαδοπουλος ήρθε.", "ΓΙΩΡΓΟΣ ΠΑΠΑΔΟΠΟΥΛΟΣ"]),
    "cyrillic": ("Федор Иванов", ["Фёдор Иванов пришёл.", "ФЁДОР ИВАНОВ", "Иванов, Фёдор"]),
    "arabic": ("محمد علي", ["جاء مُحَمَّد عَلِيّ اليوم", "كتب محمد علي رسالة"]),
    "hebrew": ("דוד כהן", ["דָּוִד כֹּהֵן בא", "הספר של דוד כהן"]),
    "devanagari": ("क़मर सिंह", ["क़मर सिंह आए", "यह क़मर सिंह का घर है"]),
    "han": ("田中太郎", ["田中太郎さんは大阪に住んでいる", "昨日、田中太郎が来た"]),
    "kana": ("ガリレオ", ["ガリレオは来た", "ｶﾞﾘﾚｵと話した"]),
    "thai": ("สมชาย", ["สมชายไปตลาด", "เจอสมชายเมื่อวาน"]),
}  # fmt: skip
STRANGERS = [
    "Nothing of that.",
    "Ο Νίκος ήρθε.",
    "Пришёл Пётр.",
    "جاء سعيد",
    "בא משה",
    "रामायण पढ़ी",
    "佐藤が来た",
    "ร้านปิด",
]


def texts(memory):
    return {record.content for record in memory.list(limit=1000) if record.kind != "entity"}


def doubts(receipt):
    return {row.key: row.reason.translate(QUOTES) for row in receipt.doubtful}


@pytest.mark.parametrize(("form", "called"), [("NFC", "NFD"), ("NFD", "NFC")])
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_name_is_erased_in_every_spelling_of_its_script(memory, script, form, called):
    name, spellings = SCRIPTS[script]
    memory.remember_many({"content": unicodedata.normalize(form, text)} for text in (*spellings, *STRANGERS))
    receipt = memory.purge(subject=unicodedata.normalize(called, name))
    assert texts(memory) == {unicodedata.normalize(form, text) for text in STRANGERS}
    assert receipt.doubtful == ()
    for cue in (name, *spellings):
        assert not any(hit.memory.content in spellings for hit in memory.recall(cue).hits)


@pytest.mark.parametrize(
    ("subject", "text", "doubt"),
    [
        ("Al", "Cook the pasta al dente.", "al may be a word here"),
        ("al", "cook it al dente", "al may be a word here"),
        ("Al", "Al dente is best.", "al may be a word here"),
        ("Mark", "Mark the page: a mark in red.", "mark may be a word here"),
        ("Rose", "We drank the rose.", "rose may be a word here"),
        ("Вера", "Он потерял вера.", "вера may be a word here"),
        ("Jose Nunez", "Núñez called.", "it has nunez, a part of the name"),
        ("Jose Nunez", "J. Núñez called.", "it has nunez, a part of the name"),
        ("Jose Nunez", "José Luis Núñez called.", "its words are like jose nunez"),
        ("Jose Nunez", "A letter of Nunez Jose", "it has jose, a part of the name"),
        ("Фёдор", "Мы писали Фёдору вчера.", "its words are like федор"),
        ("Mueller", "Frau Müller kommt.", "its words are like mueller"),
        ("Jürgen Weiß", "Hr. Juergen Weiss und Söhne", "its words are like jurgen weiss"),
        ("Zoe Krüger", "The Krügers left.", "its words are like zoe kruger"),
        ("Zoe Krüger", "Mrs Krueger called.", "its words are like zoe kruger"),
        ("Jørgensen", "We met Joergensen's aunt.", "its words are like jorgensen"),
        ("Иван Петров", "Встреча с Иваном Петровым", "its words are like иван петров"),
        ("Иван Петров", "Петрову звонили", "its words are like иван петров"),
        ("Ivan Petrov", "Мы видели Ивана Петрова вчера.", "its words are like ivan petrov"),
        ("Γιώργος", "Giorgos called.", "its words are like γιωργοσ"),
        ("Tchaikovsky", "Tschaikowski kam.", "its words are like tchaikovsky"),
        ("محمد علي", "جاء محمد", "it has محمد, a part of the name"),
        ("李明", "李明华来了", "李明 may be part of another word"),
        ("山田太郎", "山田 太郎さんが来た", "it has 山田太郎 with or without spaces"),
        ("Søren Kjær", "Soren Kjaer kom.", "its words are like soren kjær"),
        ("राम कुमार", "राम आया", "it has राम, a part of the name"),
        ("May", "The race is in May.", "may may be a word here"),
        ("April", "We sail from April to June.", "april may be a word here"),
        ("Will Park", "I will park the car.", "will park may be words here"),
        ("Will Park", "Will parks here.", "will park may be words here"),
        ("Anne-Marie Dupont", "AnneMarie Dupont came.", "its words are like anne-marie dupont"),
        ("+32 470 12 34 56", "Call +32470123456 first.", "it has the digits of +32 470 12 34 56"),
        ("+32 470 12 34 56", "Call 0470/123456 first.", "it has the digits of +32 470 12 34 56"),
    ],
)
def test_what_only_may_be_meant_is_listed_with_the_doubt_and_erased_if_it_is_included(
    memory, subject, text, doubt
):
    memory.remember("An entry of the log.", speaker=subject, key="sure")
    memory.remember(text, key="k")
    receipt = memory.purge(subject=subject)
    assert doubts(receipt) == {"k": doubt}
    assert texts(memory) == {text}
    included = memory.purge(subject=subject, include=["k"])
    assert [row.reason for row in included.memories if row.key == "k"] == ["it was to be included"]
    assert texts(memory) == set()


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("Al", "Alan met Hal at the altar."),
        ("Ann", "Joanna and Annie came."),
        ("राम", "रामायण पढ़ी"),
        ("Robert Chen", "Robert Smith and Ada Chen came."),
        ("Robert Chen", "Robert Chenoweth came."),
        ("京都大学", "東京都の大学"),
        ("Müller", "Der Müll wird von Mühler und Moller abgeholt."),
        ("Иван Петров", "Мы видели Анну Петрову вчера."),
        ("Bach", "The Bass of Bath rang."),
        ("Jenny", "a ←in→ Ἀ σ"),
    ],
)
def test_what_has_the_letters_of_a_name_but_names_another_is_neither_erased_nor_listed(memory, subject, text):
    memory.remember("An entry of the log.", speaker=subject)
    memory.remember(text)
    assert memory.purge(subject=subject).doubtful == ()
    assert texts(memory) == {text}


def test_a_name_inside_a_sentence_or_with_a_verb_is_no_word_of_the_language(memory):
    for text in ("Al fixed the pump.", "Yesterday Al called.", "We thanked Al's team."):
        memory.remember(text)
    memory.purge(subject="Al")
    assert texts(memory) == set()


def test_a_full_name_of_words_of_the_language_is_a_name_where_it_is_written_as_one(memory):
    memory.remember_many({"content": text} for text in ("Will Park came.", "Park, Will", "WILL PARK left"))
    memory.purge(subject="Will Park")
    assert texts(memory) == set()


def test_the_digits_of_another_number_are_neither_erased_nor_listed(memory):
    memory.remember("Call +32 470 12 34 56", key="own")
    memory.remember("Order 32470123 of 2024-12-03 costs 1 234.56 euros, call 0470 12 34 57.")
    assert memory.purge(subject="+32 470 12 34 56").doubtful == ()


def remember_chens(memory):
    memory.remember("Robert Chen, also known as Bob, runs the mill.")
    memory.remember("Bob owns a falcon.", key="bare")
    memory.aliases()


def test_an_alias_that_was_stated_is_the_subject_as_long_as_nobody_else_is_called_so(memory):
    remember_chens(memory)
    memory.purge(subject="Robert Chen")
    assert texts(memory) == set()


@pytest.mark.parametrize(
    "stranger", ["Bob Dylan sang in Oslo.", "A song by Bob Dylan", "bob dylan: Bob Dylan"]
)
@pytest.mark.parametrize("subject", ["Robert Chen", "Bob"])
def test_an_alias_does_not_swallow_a_stranger_of_that_name(memory, stranger, subject):
    remember_chens(memory)
    memory.remember(stranger, key="stranger")
    memory.remember("What does Bob sing?", key="later", tags=["Bob Dylan"])
    receipt = memory.purge(subject=subject)
    assert stranger in texts(memory)
    assert "stranger" in doubts(receipt)
    assert all("Bob Dylan" in doubt for doubt in doubts(receipt).values())
    assert not any("also known" in text for text in texts(memory))


def test_whoever_shares_a_given_name_with_another_is_doubtful(memory):
    memory.remember("Zenobia King came.", key="one")
    assert doubts(memory.purge(subject="Zenobia", dry_run=True)) == {}
    memory.remember("Zenobia Ross left.", key="two")
    receipt = memory.purge(subject="Zenobia", dry_run=True)
    assert doubts(receipt) == {"one": "it may mean Zenobia King", "two": "it may mean Zenobia Ross"}


def test_recalls_that_only_may_name_somebody_stay(memory):
    memory.remember("The pasta is ready.")
    memory.recall("how long for pasta al dente?")
    memory.recall("what did Al cook?")
    memory.remember("A note.", speaker="Al")
    memory.purge(subject="Al")
    left = memory.store.rows("default", Trace, limit=9)
    assert [trace.cue["text"] for trace in left] == ["how long for pasta al dente?"]


def test_what_is_included_has_to_exist_and_needs_a_subject(memory):
    memory.remember("Zenobia came.")
    memory.remember("We sing.", key="sing")
    with pytest.raises(NotFound, match="'song'"):
        memory.purge(subject="Zenobia", include=["song"])
    with pytest.raises(ParamError, match="needs a subject"):
        memory.purge("sing", include=["sing"])
    assert len(texts(memory)) == 2


def test_a_name_that_is_only_stated_and_not_merged_is_doubtful_and_can_be_included_later(memory):
    memory.remember("Robert Chen, also known as Bob, runs the mill.")
    memory.remember("Bob owns a falcon.", key="bare")
    memory.remember("Bobby sings.")
    assert doubts(memory.purge(subject="Robert Chen")) == {"bare": "it has bob, as a text calls the subject"}
    memory.purge(subject="Robert Chen", include=["bare"])
    assert texts(memory) == {"Bobby sings."}


@pytest.mark.parametrize(
    "statement", ["{0}, also known as {1}, leads the team.", "{0} (aka {1}) leads the team."]
)
@pytest.mark.parametrize(("subject", "other"), [("Robert Chen", "Bob"), ("Margaret Olsen", "Peg")])
def test_who_has_a_name_that_is_only_stated_to_be_the_subjects_is_listed_and_stays(
    memory, statement, subject, other
):
    memory.remember(statement.format(subject, other), key="stated")
    memory.remember(f"{other} Hansen sang.", key="stranger")
    memory.remember(f"{other} fixed the build.", key="either")
    memory.remember("Alice likes tea.", key="nobody")
    receipt = memory.purge(subject=subject, dry_run=True)
    assert {each.key for each in receipt.doubtful} == {"stranger", "either"}
    assert {"stranger", "either", "nobody"}.isdisjoint(each.key for each in receipt.memories)
