"""Other namespaces that somebody may have meant."""

import pytest

from priming.core.arguments.suggestions import similar_namespaces


@pytest.mark.parametrize(
    ("name", "others", "suggestion"),
    [
        ("wrok", ["work", "home"], '; did you mean "work"?'),
        ("HOME", ["work", "home-2"], '; did you mean "home-2"?'),
        ("zebra", ["work", "home"], '; there are some in "work", "home"'),
        ("zebra", ["w1", "w2", "w3", "w4", "w5"], '; there are some in "w1", "w2", "w3" and 2 more'),
        ("zebra", [], ""),
    ],
)
def test_the_nearest_names_are_suggested_or_else_the_first(name, others, suggestion):
    assert similar_namespaces(name, others) == suggestion
