"""Limits of what is parsed, held on the bytes: as many values as parsing would make, and no more work than bytes."""

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.core.arguments.checks import check_json
from priming.errors import ParamError

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.text(max_size=40)
    | st.floats(allow_nan=False)
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=6),
    max_leaves=40,
)


def members(value):
    """How many items and members there are in all containers."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(inner) + sum(map(members, inner))


def passes(check, *arguments, **limits):
    try:
        check(*arguments, **limits)
    except ParamError:
        return False
    return True


@given(VALUES, st.booleans())
def test_json_passes_exactly_with_as_many_values_as_it_has(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "replace")
    number = members(value)
    assert passes(check_json, "body", text, number)
    assert number == 0 or not passes(check_json, "body", text, number - 1)


@each_row(
    "text",
    [
        b'{"a": "' + b",[{" * 1_000 + b'"}',
        rb'{"a": "' + rb"\"," * 1_000 + rb'"}',
        rb'{"a": "\\", "b": "' + b"[" * 1_000 + b'"}',
    ],
)
def test_what_stands_in_quotes_does_not_count(text):
    assert json.loads(text)
    assert passes(check_json, "body", text, 10)
