"""Names in other languages than English: what a capital means there, and what marks a name without any."""

import pytest
from tests.growth.measuring import growth
from tests.rows import each_row

from priming.text.name_forms.forms import names_without_case
from priming.text.names import find


def names(text, heading=None):
    return tuple(name.text for name in find(text, heading))


@each_row(
    ("text", "expected"),
    [
        ("Die Kiste mit den alten Büchern steht neben der Treppe.", ""),
        ("Jeder Mieter bekommt eine neue Rechnung für das Jahr.", ""),
        ("Gestern hat Jürgen die Pumpe in Augsburg repariert.", "Jürgen Augsburg"),
        ("Das Modul Habicht läuft auf dem Rechner von Frau Brandt.", "Habicht Brandt"),
        ("Wir kaufen keine Schrauben mehr bei Kestrel.", "Kestrel"),
        ("Warum steht die Leitung zur TU still?", "TU"),
        ("Der Satz für die Arbeit beträgt 1.180 Euro und ist 1.250 wert.", ""),
        ("Wir haben auf dem Rechner numpy 1.26.", "numpy 1.26 numpy"),
    ],
)
def test_a_german_noun_is_no_name_by_its_capital_nor_a_verb_by_the_number_after_it(text, expected):
    assert " ".join(names(text)) == expected


@each_row(
    ("text", "expected"),
    [
        ("Les clés sont chez Étienne, à Nîmes.", ("Étienne", "Nîmes")),
        ("Los informes de Ramón no están en la carpeta.", ("Ramón",)),
        ("Il registro è nella stanza di Chiara.", ("Chiara",)),
        ("Łukasz był wczoraj w biurze, a klucz jest nadal w drzwiach.", ("Łukasz",)),
        ("Βρήκα την Ελένη στην Πάτρα.", ("Ελένη", "Πάτρα")),
        ("Журнал ведёт Тамара, ключи лежат в Омске.", ("Тамара", "Омске")),
        ("Сервер перезапущен ночью.", ()),
    ],
)
def test_capitals_of_every_script_mark_names_and_openers_do_not(text, expected):
    assert names(text) == expected


@each_row(
    ("text", "expected"),
    [
        ("陈静负责打印机，刘伟明在南京市。", ("陈静", "刘伟明", "南京市")),
        ("请问黄经理，时间够不够？", ("黄经理",)),
        ("任务在程序里，方法是旧的。", ()),
        ("田中さんは横浜市で、皆さんはサーバーを見る。", ("田中", "横浜市")),
        ("アンナ・ベルク作", ("アンナ・ベルク",)),
        ("박지훈 님은 다시 부산시에 간다.", ("박지훈", "부산시")),
        ("الدكتورة ليلى تعمل في مدينة طنجة", ("ليلى", "طنجة")),
        ("श्रीमती मीरा कल आईं", ("मीरा",)),
        ("“白鹭”计划", ("白鹭",)),
    ],
)
def test_scripts_without_case_have_marks_of_their_own(text, expected):
    assert names(text) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "王",
        "王a",
        "在北京",
        "市",
        "さん",
        "ア・",
        "“王",
        "님 ",
        "가시",
        "بن ",
        "عبد ال",
        "श्री ",
        "जी ",
        "Ä",
        "Das ",
    ],
)
def test_reading_takes_time_in_proportion_to_the_length(unit):
    def read(text):
        list(names_without_case(text))
        names(text)

    assert growth(read, lambda length: unit * (length // len(unit))) is None
