"""How much an objective asks for, by its whole words."""

import pytest

from priming.loop.complexity import complexity


@pytest.mark.parametrize(
    ("objective", "level", "signals"),
    [
        ("Fix the parser", "simple", ()),
        ("Standardise the plush handler, authentically", "simple", ()),
        ("Profile the landing page", "simple", ()),
        ("Rename this function", "simple", ("function",)),
        ("Fix the parser AND the printer", "moderate", ("and",)),
        ("Fix it, then rename the module", "complex", ("then", "module")),
        ("word " * 20, "simple", ()),
        ("word " * 21, "moderate", ("21 words",)),
        ("word " * 41, "complex", ("41 words",)),
        ("", "simple", ()),
    ],
)
def test_whole_words_and_their_number_decide(objective, level, signals):
    found = complexity(objective)
    assert (found.level, found.signals) == (level, signals)
