"""Schemas are read as the library ``jsonschema`` reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.rows import each_row

from priming.llm.json_schema import KEYWORDS, TYPES, schema_problem, violation_of

NAMES = ("a", "b", "odd name", "it's")
NUMBERS = st.integers(-3, 3) | st.floats(-3, 3, width=16)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text("ab1", max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
)
TYPE = st.sampled_from(sorted(TYPES))
COUNT = st.integers(0, 3)


def by_keyword(inner):
    """Values of each keyword, whose schemas within are drawn from ``inner``."""
    keywords = {
        "type": TYPE | st.lists(TYPE, min_size=1, max_size=2, unique=True),
        "enum": st.lists(VALUES, max_size=3),
        "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=2),
        "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
        "additionalProperties": inner,
        "items": inner,
        **dict.fromkeys(("minLength", "maxLength"), COUNT),
        "description": st.just("what it is"),
    }
    assert set(keywords) - {"description"} == set(KEYWORDS)
    return keywords


SCHEMAS = st.recursive(
    st.booleans(), lambda inner: st.fixed_dictionaries({}, optional=by_keyword(inner)), max_leaves=8
)


@given(SCHEMAS, VALUES)
def test_a_value_is_valid_where_the_library_says_so(schema, value):
    assert schema_problem(schema) is None
    assert (violation_of(value, schema) is None) == Draft202012Validator(schema).is_valid(value)


def single(keyword):
    """Schemas of one keyword; a false schema within another has no path in the library's message."""
    inner = (
        st.booleans() if keyword == "additionalProperties" else st.builds(lambda name: {"type": name}, TYPE)
    )
    return st.fixed_dictionaries({keyword: by_keyword(inner)[keyword]})


@pytest.mark.parametrize("keyword", sorted(KEYWORDS))
@given(data=st.data())
def test_a_violation_is_told_in_the_words_of_the_library(keyword, data):
    schema = data.draw(single(keyword))
    value = data.draw(VALUES)
    wrong, theirs = violation_of(value, schema), [*Draft202012Validator(schema).iter_errors(value)]
    least = min((len(error.path) for error in theirs), default=0)
    answer = {f"{error.json_path}: {error.message}" for error in theirs if len(error.path) == least}
    assert wrong is None if not answer else str(wrong).removesuffix(wrong.limit) in answer


@each_row(
    "schema",
    [
        {"type": "text"},
        {"type": []},
        {"required": "a"},
        {"properties": []},
        {"items": {"minLength": -1}},
        {"enum": "a"},
        [],
    ],
)
def test_what_the_library_refuses_as_a_schema_is_refused(schema):
    assert schema_problem(schema) is not None
    assert not Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(schema)


@each_row("keyword", ["$ref", "anyOf", "not", "minimum", "pattern"])
def test_a_keyword_that_would_be_overlooked_is_refused(keyword):
    assert "is not read here" in schema_problem({"properties": {"a": {keyword: {}}}})
