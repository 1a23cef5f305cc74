"""The grammar of docs/security.md, read by a scanner of its own: what is quoted, and what Priming says itself."""

from __future__ import annotations

import json

from .attacks import RAW_MARKUP, unseen


def taken_apart(line):
    """What stands outside of the strings of a line, and the fields within them."""
    own, fields, place = [], [], 0
    decoder = json.JSONDecoder()
    while place < len(line):
        if line[place] == '"':
            field, place = decoder.raw_decode(line, place)
            fields.append(field)
        else:
            own.append(line[place])
            place += 1
    return "".join(own), fields


def assert_nothing_hidden(text):
    """Nothing that cannot be seen, and nothing that passes for markup."""
    assert not unseen(text), unseen(text)
    assert [markup for markup in RAW_MARKUP if markup in text] == []


def assert_quoted(text, fields):
    """Every line has what came from outside in strings only, and these are the very fields."""
    assert_nothing_hidden(text)
    for line in text.split("\n"):
        own, strings = taken_apart(line)
        assert "ZORK" not in own, line
        assert set(strings) <= fields, line


def assert_json(text):
    """JSON in which nothing is hidden; its value."""
    assert_nothing_hidden(text)
    return json.loads(text)


def texts(value):
    """Every string in a value of JSON, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield name
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)
