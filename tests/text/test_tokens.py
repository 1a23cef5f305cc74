"""Terms of names, numbers and signs, in any script; and details of a text."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.text.dates import specificity
from priming.text.tokens import spelled, terms


@each_row(
    ("text", "count"),
    [
        ("", 0),
        ("Wow! That is so kind of you.", 0),
        ("Then I left.", 0),
        ("We met Ada in Oslo.", 2),
        ("We met in Oslo, Ada and I.", 2),
        ('I read "Emma".', 2),
        ("It was 1,200 steps to 2 doors.", 2),
        ("two of them", 1),
        ("I left yesterday.", 1),
    ],
)
def test_details_are_counted(text, count):
    assert specificity(text) == count


@given(st.text(), st.text())
def test_more_text_has_no_fewer_quotations_and_numbers(text, more):
    assert specificity(f"{text}\n7 {more}") >= specificity(f"7 {more}") >= 1


@each_row(
    ("name", "others"),
    [
        ("J++", ["J", "J#"]),
        ("Q#", ["Q", "Q*"]),
        (".env", ["env"]),
        ("-v", ["v", "--v"]),
        ("--dry-run", ["dry run"]),
        ("@scope/lib", ["scope lib"]),
        ("$EDITOR", ["editor"]),
        ("#ops", ["ops"]),
        ("-7", ["7"]),
        ("4.12.1", ["4.1.12", "4.12"]),
        ("\U0001f680", ["\U0001f389", "launch"]),
        ("\U0001f1f3\U0001f1f4", ["\U0001f1f8\U0001f1ea"]),
        ("\u0e01\u0e34\u0e19", ["\u0e01\u0e31\u0e19"]),
        ("\u0926\u093f\u0928", ["\u0926\u093e\u0928"]),
    ],
)
def test_what_distinguishes_a_name_is_a_term_that_others_lack(name, others):
    for other in others:
        assert {*terms(name)} - {*terms(other)}, other


def test_a_capital_letter_within_a_sentence_is_a_name():
    for language, named, plain in (
        ("english", "When does club A meet?", "When does a club meet?"),
        ("english", "the rota of bay A's nurse", "a nurse wrote the rota of the bay"),
        ("english", "Use plan A", "A use of the plan"),
        ("italian", "La sala A è chiusa", "La sala è chiusa a chiave"),
        ("russian", "Зал А закрыт", "А зал закрыт"),
    ):
        assert set(terms(named, language)) - set(terms(plain, language)) in ({"a"}, {"а"}), named
    for text in (
        "What A Day",
        "it was a day",
        "the day\nA day after",
        "Am I right and I know",
        "grade A-minus",
    ):
        assert {"a", "i"}.isdisjoint(terms(text)), text


@each_row(
    ("language", "spellings"),
    [
        ("english", ["3,400", "3400", "$3,400", "3,400.00", "3.400,00", "\u0663\u0664\u0660\u0660"]),
        ("german", ["3.400", "3400", "3.400,00", "3,400.00"]),
        ("english", ["8", "8.0", "8.00"]),
        ("english", ["2.50", "2.5", "2,50"]),
        ("english", ["1204.17", "1204,17", "1.204,17", "1,204.17"]),
        ("french", ["2,5", "2.5", "2,50"]),
        (
            "english",
            [
                "1,200,000",
                "1200000",
                "1 200 000",
                "1_200_000",
                "1'200'000",
                "12,00,000",
                "1\u202f200\u202f000",
            ],
        ),
        ("french", ["1 450,50", "1450.5"]),
    ],
)
def test_a_number_is_its_value_however_it_is_written(language, spellings):
    common = set.intersection(*({*terms(spelling, language)} for spelling in spellings))
    assert any(re.sub(r"\D", "", term) for term in common), [terms(each, language) for each in spellings]


def test_letters_before_a_long_number_are_found_together_and_apart():
    assert {*terms("Flight LH1234 leaves")} >= {*terms("LH 1234")} == {*terms("LH-1234")} == {"lh", "1234"}
    assert {*terms("E1047")} & {*terms("error 1047")} == {"1047"}
    assert {*terms("E1047")} - {*terms("E1074")} == {"1047", "e1047"}
    assert terms("int64 B12 k8s mp3") == ["int64", "b12", "k8s", "mp3"]


def test_what_may_be_thousands_or_decimals_is_found_by_both():
    assert {"3400", "3.4"} <= {*terms("It costs 3.400 €", "english")}
    assert {"3400", "3.4"} <= {*terms("Cela coûte 3,400 €", "french")}


@each_row(
    ("written", "read"),
    [
        ("4.12.1", ["4", "4.12", "4.12.1"]),
        ("v4.12.1", ["v4", "4", "4.12", "4.12.1"]),
        ("2023-04-09", ["2023", "04", "09"]),
        ("9.4.2023", ["9", "4", "2023"]),
        ("3, 4,5", ["3", "4", "5"]),
        ("Pay 7.", ["pay", "7"]),
        ("1.5GB", ["1", "5", "gb", "5gb"]),
        ("555 123 456 789 12", ["555", "123", "456", "789", "12"]),
        ("in 2024 300 came", ["2024", "300", "came"]),
    ],
)
def test_versions_dates_and_lists_stay_what_they_are(written, read):
    assert terms(written, "english") == read


def test_a_number_with_its_unit_is_found_by_both_however_they_are_written():
    assert {*terms("16 GB")} <= {*terms("with 16GB")}
    assert {*terms("16GB")} & {*terms("with 16 GB")} == {"16", "gb"}
    assert {*terms("16GB")} - {*terms("32GB")}
    assert terms("a1b2c3d 2nd") == ["a1b2c3d", "2nd"]


def test_a_version_is_found_by_what_it_is_a_version_of():
    assert {*terms("Kestrel 4.12")} <= {*terms("Kestrel 4.12.1")}


def test_marks_of_sentences_and_of_markup_are_no_part_of_a_word():
    marked = "So... *quick*, (brown) `fox`; and/or _dog_ -- end."
    assert terms(marked, "english") == ["quick", "brown", "fox", "dog", "end"]


@each_row(
    ("a", "b"),
    [
        ("\u0130zmit", "izmit"),
        ("k\u0131rm\u0131z\u0131", "KIRMIZI"),
        ("Stra\u00dfe", "STRASSE"),
        ("Gda\u0144sk, \u0141\u00f3d\u017a", "gdansk, lodz"),
        ("Troms\u00f8", "tromso"),
        ("caf\u00e9", "cafe\u0301"),
        ("\U0001f44d\U0001f3fd", "\U0001f44d"),
        ("\u2764\ufe0f", "\u2764"),
    ],
)
def test_letters_are_the_same_however_they_are_typed(a, b):
    assert terms(a) == terms(b)


def test_a_turkish_word_has_one_term_in_capitals_and_small_letters():
    assert terms("ISI SINIRI", "turkish") == terms("\u0131s\u0131 s\u0131n\u0131r\u0131", "turkish")


@given(st.text(), st.sampled_from(["english", "german", "turkish"]))
def test_a_text_gives_the_same_terms_composed_and_decomposed(text, language):
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert terms(composed, language) == terms(apart, language)


@given(st.text(alphabet="a1.,+#-@$/ \u00e9\u0e01\u0e34\U0001f680", max_size=60))
def test_a_text_of_signs_gives_terms_that_are_read_again_as_themselves(text):
    for term, word in spelled(text, "english").items():
        assert term
        assert word
