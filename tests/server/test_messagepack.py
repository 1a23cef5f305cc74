"""Limits of frames of MessagePack, held on the bytes: as many values as unpacking would make."""

import msgpack
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.errors import ParamError
from priming_server.ethos.socket import check_messagepack

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


def depth(value):
    if not isinstance(value, (dict, list)):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


def passes(check, *arguments, **limits):
    try:
        check(*arguments, **limits)
    except ParamError:
        return False
    return True


@given(VALUES)
def test_messagepack_passes_exactly_at_its_depth(value):
    frame = msgpack.packb(value)
    limit = depth(value)
    assert passes(check_messagepack, "message", frame, depth=max(limit, 1), values=1_000)
    nested = msgpack.packb([value]) if value else msgpack.packb([[1]])
    assert not passes(check_messagepack, "message", nested, depth=0, values=1_000)


@given(VALUES)
def test_messagepack_counts_names_and_values(value):
    packed = [value]

    def count(item):
        if isinstance(item, dict):
            return 1 + sum(1 + count(inner) for inner in item.values())
        return 1 + sum(map(count, item)) if isinstance(item, list) else 1

    frame, number = msgpack.packb(packed), count(packed)
    assert passes(check_messagepack, "message", frame, depth=100, values=number)
    assert not passes(check_messagepack, "message", frame, depth=100, values=number - 1)


@each_row(
    "value",
    [b"x" * 300, msgpack.ExtType(1, b"y" * 300), msgpack.ExtType(2, b"1234"), -1.5, 2**63, "z" * 70_000],
)
def test_values_of_every_length_are_stepped_over(value):
    frame = msgpack.packb([value, [1, 2, 3]])
    assert passes(check_messagepack, "message", frame, depth=2, values=6)
    assert not passes(check_messagepack, "message", frame, depth=2, values=5)


def test_a_frame_that_announces_what_it_does_not_hold_is_refused():
    nested = b"\xdd\x00\x0f\x00\x00" * 90
    assert not passes(check_messagepack, "message", nested, depth=100, values=1 << 20)
