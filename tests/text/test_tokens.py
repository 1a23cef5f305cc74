"""Details of a text: names, quotations, numbers and times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from priming.text.tokens import specificity


@pytest.mark.parametrize(
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
