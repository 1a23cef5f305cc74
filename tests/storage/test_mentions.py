"""Whether a value mentions a name."""

from tests.rows import each_row

from priming.storage.copies import mentions_any


@each_row(
    ("names", "value", "expected"),
    [
        (["Ada"], "ADA's notes", True),
        (["Ada"], "Adas Buch", True),
        (["Ada"], "Adam", False),
        (["Ada"], "src/ada_notes.py", True),
        (["Ada"], "Nevada", False),
        (["Ada Byron"], {"a": [{"b": "by ada-byron"}]}, True),
        (["Ada Byron"], ["Ada", "Byron"], False),
        (["Eve", "Ada"], ("x", "to eve"), True),
        (["東京"], "私は東京で働く", True),
        (["C++"], "in C++ only", True),
        ([], "anything", False),
        (["Ada"], None, False),
        (["Ada"], 7, False),
    ],
)
def test_names_are_found_as_whole_words_in_any_text_of_a_value(names, value, expected):
    assert mentions_any(names)(value) is expected
