import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from priming_agents.setup.jsonc import JsonSyntaxError, append, find, parse, put, remove

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, min_size=1, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text().filter(lambda name: name not in ("mcp", "hooks")), VALUES, max_size=4)
FORMS = st.sampled_from([{"indent": 2}, {"indent": 4}, {"indent": "\t"}, {}, {"separators": (",", ":")}])
ENTRY = {"command": "priming", "args": ["mcp"]}


@given(VALUES, FORMS)
def test_what_json_writes_is_read(value, form):
    assert parse(json.dumps(value, **form)).value == value


@given(OBJECTS, FORMS, st.sampled_from(["", "\n"]))
def test_what_is_put_in_and_taken_out_leaves_every_byte_as_it_was(value, form, end):
    text = json.dumps(value, **form) + end
    changed = put(text, ("mcp", "priming"), ENTRY)
    assert json.loads(changed) == {**value, "mcp": {"priming": ENTRY}}
    assert remove(changed, ("mcp", "priming")) == text
    longer = append(text, ("hooks", "Stop"), ENTRY)
    assert json.loads(longer) == {**value, "hooks": {"Stop": [ENTRY]}}
    assert remove(longer, ("hooks", "Stop", 0)) == text


@each_row(
    "text",
    [
        '// mine\n{\n  "a": 1, // one\n  /* last */\n}\n',
        '{\n  "a": 1, // one\n  "mcp": {\n    "other": {"command": "x"}, // kept\n  },\n}\n',
        '{\r\n    "a": [1, 2]\r\n}\r\n',
        '{"mcp": {"other": {}}}',
        '\ufeff{\n\t"a": null\n}',
        '{\n  "a": 1 // no comma\n}',
    ],
)
def test_comments_commas_and_line_ends_stay(text):
    changed = put(text, ("mcp", "priming"), ENTRY)
    assert find(parse(changed), ("mcp", "priming")).value == ENTRY
    assert remove(changed, ("mcp", "priming")) == text


def test_what_is_put_in_looks_like_what_is_there():
    assert (
        put('{\n    "a": 1\n}\n', ("b",), {"c": 2})
        == '{\n    "a": 1,\n    "b": {\n        "c": 2\n    }\n}\n'
    )
    assert put('{"a": 1}', ("b",), [2]) == '{"a": 1, "b": [2]}'
    assert put("{}\n", ("b",), 2) == '{\n  "b": 2\n}\n'


def test_the_first_member_can_be_taken_out_too():
    assert remove('{\n  "a": 1,\n  "b": 2\n}', ("a",)) == '{\n  "b": 2\n}'
    assert remove('{"a": [1, 2, 3]}', ("a", 0)) == '{"a": [ 2, 3]}'
    assert remove('{"a": 1}', ("b",)) == '{"a": 1}'


@each_row(
    ("text", "message"),
    [
        ("", "line 1: expected a value, found the end of the file"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3: expected a comma or '}'"),
        ("{'a': 1}", "line 1: expected a name in quotes"),
        ('{"a" 1}', "line 1: expected a colon"),
        ('{"a": nothing}', "line 1: expected a value, found 'nothing}'"),
        ("{} {}", "line 1: expected the end"),
        ("[" * 500, "at most 100 levels"),
        ('{"a": "\n"}', "line 1: expected a value"),
    ],
)
def test_a_syntax_error_names_its_line(text, message):
    with pytest.raises(JsonSyntaxError) as error:
        parse(text)
    assert message in str(error.value)


@given(st.text(alphabet='{}[]",:1a/*\n \\', max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        node = parse(text)
    except JsonSyntaxError:
        return
    assert node.end <= len(text)
    assert find(node, ()) is node
