"""Messages come through whatever way their bytes arrive; what is no message is refused."""

import json
from itertools import pairwise

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming.errors import ParamError
from priming.operations.local_socket import MESSAGE_BYTES, MESSAGE_DEPTH
from priming_server.ethos.socket import JSON, MESSAGEPACK, Decoder, TooLong, pack, parse

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)
MESSAGES = st.lists(
    st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES, max_size=4), min_size=1, max_size=5
)
FRAMINGS = st.sampled_from([JSON, MESSAGEPACK])


def pieces(data, cuts):
    """Data cut at some places."""
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(ends)]


def read(parts):
    """What a connection brought, message by message, up to its end."""
    decoder = Decoder()
    messages = [message for part in parts for message in decoder.feed(part)]
    messages += decoder.end()
    return [parse(decoder.framing, message) for message in messages]


@given(MESSAGES, FRAMINGS, st.lists(st.integers(0, 400), max_size=20))
def test_messages_come_through_in_whatever_pieces_they_arrive(messages, framing, cuts):
    data = b"".join(pack(framing, message) for message in messages)
    assert read(pieces(data, cuts)) == messages


@given(MESSAGES, FRAMINGS)
def test_messages_come_through_byte_by_byte(messages, framing):
    data = b"".join(pack(framing, message) for message in messages)
    assert read(data[i : i + 1] for i in range(len(data))) == messages


@given(st.lists(st.binary(max_size=30), max_size=6))
def test_garbage_gives_the_same_messages_or_the_same_refusal_in_any_pieces(parts):
    def outcome(pieces):
        try:
            return read(pieces)
        except ParamError:
            return "refused"

    whole = b"".join(parts)
    assert outcome(parts) == outcome([whole])


@each_row("data", [b"{}", b"{}\n", b"\n{}\n", b" {}\r\n", b"\n\n\n\n{}\n\n"])
def test_the_shortest_object_is_a_message(data):
    assert read([data]) == [{}]


def test_a_line_of_three_bytes_is_a_message_once_nothing_more_comes():
    decoder = Decoder()
    assert list(decoder.feed(b"{}\n")) == []
    assert decoder.undecided
    assert list(decoder.settle()) == [b"{}"]
    assert decoder.framing == JSON


def test_a_frame_that_begins_like_a_line_is_a_frame():
    body = msgpack.packb({"a": "x" * (0x0A7D7B - 8)})  # its length reads "{}\n"
    data = len(body).to_bytes(4, "little") + body
    assert data[:4] == b"{}\n\x00"
    (message,) = read([data[:3], data[3:]])
    assert set(message) == {"a"}


def test_nothing_settles_before_a_line_is_whole():
    decoder = Decoder()
    assert list(decoder.feed(b"{")) == []
    assert not decoder.undecided
    assert list(decoder.settle()) == []
    assert decoder.framing is None


@each_row(
    "data",
    [
        b'{"a": 1',
        b'{"a": "\xff"}\n',
        b"[1]\n",
        b"7777\n",
        b'"text"\n',
        b"{'a': 1}\n",
        b'{"a": NaN}\n',
        b'{"a": -Infinity}\n',
        b'{"a": 1e999}\n',
        b"\xff\xfe{}\n\n",
        b"nothing\n",
        b'{"a":1} {"b":2}\n',
    ],
)
def test_what_is_no_object_on_a_line_is_refused(data):
    with pytest.raises(ParamError, match="message"):
        read([data])


def framed(body):
    return len(body).to_bytes(4, "little") + body


@each_row(
    "data",
    [
        framed(b""),
        framed(b"\xc1"),
        framed(msgpack.packb([1])),
        framed(msgpack.packb({"a": 1}) + b"\x00"),
        framed(msgpack.packb({"a": 1})[:-1]),
        framed(msgpack.packb({"a": b"bytes"})),
        framed(msgpack.packb({b"a": 1})),
        framed(msgpack.packb({1: "a"}, strict_types=False)),
        framed(msgpack.packb({"a": float("nan")})),
        framed(msgpack.packb({"a": msgpack.ExtType(4, b"x")})),
        framed(msgpack.packb({"a": msgpack.Timestamp(1)})),
        framed(b"\x81\xa1a\xa2\xff\xff"),
        framed(msgpack.packb({"a": 1}))[:-1],
    ],
)
def test_what_is_no_map_of_what_json_holds_is_refused(data):
    with pytest.raises(ParamError, match="message"):
        read([data])


@each_row("framing", [JSON, MESSAGEPACK])
@each_row("levels", [MESSAGE_DEPTH, MESSAGE_DEPTH + 1, 500, 100_000])
def test_nesting_has_a_limit(framing, levels):
    """``levels`` counts the message itself."""
    inner = levels - 1
    if framing == JSON:
        data = b'{"a":' + b"[" * inner + b"]" * inner + b"}\n"
    else:
        data = framed(b"\x81\xa1a" + b"\x91" * (inner - 1) + b"\x90")
    if levels <= MESSAGE_DEPTH:
        assert list(read([data])[0]) == ["a"]
    else:
        with pytest.raises(ParamError, match="deep"):
            read([data])


def test_a_message_of_the_limit_is_read_in_both_framings():
    line = b'{"a":"' + b"x" * (MESSAGE_BYTES - 8) + b'"}'
    assert len(line) == MESSAGE_BYTES
    assert len(read([line + b"\n"])[0]["a"]) == MESSAGE_BYTES - 8
    frame = framed(b"\x81\xa1a\xdb" + (MESSAGE_BYTES - 8).to_bytes(4, "big") + b"x" * (MESSAGE_BYTES - 8))
    assert frame[:4] == b"\xff\xff\xff\x00"
    assert len(read([frame])[0]["a"]) == MESSAGE_BYTES - 8


def test_a_line_over_the_limit_is_refused_before_it_ends():
    with pytest.raises(TooLong, match="16,777,215"):
        read([b'{"a":"' + b"x" * MESSAGE_BYTES])


def test_a_frame_over_the_limit_is_refused_by_its_length_alone():
    decoder = Decoder(MESSAGEPACK)
    with pytest.raises(TooLong, match="16,777,216 bytes"):
        list(decoder.feed((MESSAGE_BYTES + 1).to_bytes(4, "little")))


def test_what_came_before_a_message_that_is_too_long_is_not_lost():
    decoder = Decoder()
    messages = decoder.feed(pack(MESSAGEPACK, {"a": 1}) + b"\xff\xff\xff\xff")
    assert parse(MESSAGEPACK, next(messages)) == {"a": 1}
    with pytest.raises(TooLong):
        next(messages)


@pytest.mark.parametrize("framing", [JSON, MESSAGEPACK])
def test_a_message_over_the_limit_is_not_packed(framing):
    with pytest.raises(TooLong):
        pack(framing, {"a": "x" * MESSAGE_BYTES})


def test_half_a_surrogate_pair_can_be_answered():
    assert json.loads(pack(JSON, {"a": "\ud800"})) == {"a": "\ud800"}
    assert parse(MESSAGEPACK, pack(MESSAGEPACK, {"a": "\ud800"})[4:]) == {"a": "?"}


def test_a_number_beyond_64_bits_can_be_answered():
    assert parse(JSON, pack(JSON, {"a": 10**30})) == {"a": 10**30}
    assert parse(MESSAGEPACK, pack(MESSAGEPACK, {"a": 10**30})[4:]) == {"a": "1" + "0" * 30}
