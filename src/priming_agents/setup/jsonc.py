"""JSON with comments, edited in place: every byte outside an edit stays as it is.

No library edits JSON with comments in place, is long maintained and suffices; a round trip of generated files
is the test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from priming.config.values import dataclass

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_OTHER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_COMMENT = re.compile(r"//|/\*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_USUAL = "  "
_DEEPEST = 100
_SHOWN = 20
_PAIRS = {"{": "}", "[": "]"}


class JsonSyntaxError(ValueError):
    """A text is not valid JSON; the message names the line."""


@dataclass(slots=True)
class JsonNode:
    """A value and its span in a text, with its members if it is an object or a list."""

    start: int
    end: int
    value: Any
    members: list[JsonMember] = field(default_factory=list)


@dataclass(slots=True)
class JsonMember:
    """A member of an object or an item of a list; ``comma`` is the position of the comma after it."""

    key: str | int
    start: int
    node: JsonNode
    comma: int | None = None


def parse(text: str) -> JsonNode:
    """Return the root value of a text of JSON; comments, and a comma after the last member, are allowed.

    >>> parse('{"a": [1, 2,], /* b */ }').value
    {'a': [1, 2]}
    """
    start = _blank(text, text.startswith("\ufeff"))
    node = _value(text, start, 0)
    if _blank(text, node.end) != len(text):
        raise _wrong(text, _blank(text, node.end), "the end")
    return node


def find(node: JsonNode, path: Sequence[str | int]) -> JsonNode | None:
    """Return the value at a path; None where there is none. Of members with the same name the last counts."""
    for key in path:
        matches = [member.node for member in node.members if member.key == key]
        if not matches:
            return None
        node = matches[-1]
    return node


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a new member at a path; objects that are missing on the path are created.

    >>> put('{"a": 1}', ["b", "c"], 2)
    '{"a": 1, "b": {"c": 2}}'
    """
    root = parse(text)
    depth = max(n for n in range(len(path)) if find(root, path[:n]) is not None)
    inner = value
    for name in reversed(path[depth + 1 :]):
        inner = {name: inner}
    parent = find(root, path[:depth])
    assert parent is not None, "a text has a root"
    return _with_member(text, parent, f"{json.dumps(path[depth], ensure_ascii=False)}: ", inner)


def append(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with an item at the end of a list, which is created where it is missing.

    >>> append('{"a": [1]}', ["a"], {"b": 2})
    '{"a": [1, {"b": 2}]}'
    """
    items = find(parse(text), path)
    return put(text, path, [value]) if items is None else _with_member(text, items, "", value)


def remove(text: str, path: Sequence[str | int]) -> str:
    """Return the text without the value at a path, and without the objects and lists that it leaves empty.

    >>> remove('{"a": 1, "b": {"c": [2]}}', ["b", "c", 0])
    '{"a": 1}'
    """
    root = parse(text)
    while len(path) > 1:
        parent = find(root, path[:-1])
        if parent is None or len(parent.members) > 1 or _COMMENT.search(_around(text, parent)):
            break
        path = path[:-1]
    parent = find(root, path[:-1])
    keys = [member.key for member in parent.members] if parent is not None else []
    if parent is None or path[-1] not in keys:
        return text
    return _without_member(text, parent, keys.index(path[-1]))


def _without_member(text: str, parent: JsonNode, index: int) -> str:
    """Return the text without a member and its comma, or the comma before it if it is the last."""
    member = parent.members[index]
    before = parent.members[index - 1] if index else None
    start = _line_start(text, member.start)
    if member.comma is not None:
        if before is None:  # the next member takes its place on the line of the bracket
            start = max(start, parent.start + 1)
        return text[:start] + text[member.comma + 1 :]
    text = text[:start] + text[member.node.end :]
    if before is not None and before.comma is not None:
        return text[: before.comma] + text[before.comma + 1 :]
    closing = parent.end - (member.node.end - start) - 1
    return text[: parent.start + 1] + text[parent.start + 1 : closing].rstrip() + text[closing:]


def _around(text: str, parent: JsonNode) -> str:
    """Return the text of an object or a list of one member, without that member."""
    member = parent.members[0]
    return text[parent.start : member.start] + text[member.node.end : parent.end]


def _with_member(text: str, parent: JsonNode, label: str, value: Any) -> str:
    """Return the text with one more member at the end of an object or a list, in the style of the others."""
    closing = parent.end - 1
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    if parent.members and "\n" not in text[parent.start : closing]:
        return _insert(text, parent, f" {label}{json.dumps(value, ensure_ascii=False)}", "")
    outer = _margin(text, parent.start) if parent.start else ""
    margin = _margin(text, parent.members[0].start) if parent.members else f"{outer}{unit}"
    lines = json.dumps(value, ensure_ascii=False, indent=unit).splitlines()
    block = newline.join([f"{label}{lines[0]}", *(f"{margin}{line}" for line in lines[1:])])
    end = "" if "\n" in text[_content_end(text, parent) : closing] else f"{newline}{outer}"
    return _insert(text, parent, f"{newline}{margin}{block}", end)


def _insert(text: str, parent: JsonNode, block: str, end: str) -> str:
    """Insert a member after the last one, with the comma that is needed."""
    at = _content_end(text, parent)
    last = parent.members[-1] if parent.members else None
    if last is None or last.comma is not None:
        comma = "," if last is not None else ""
        return f"{text[:at]}{block}{comma}{end}{text[at:]}"
    return f"{text[: last.node.end]},{text[last.node.end : at]}{block}{end}{text[at:]}"


def _content_end(text: str, parent: JsonNode) -> int:
    """Return the end of the content of an object or a list, without the space before its closing bracket."""
    inside = text[parent.start + 1 : parent.end - 1]
    return parent.start + 1 + len(inside.rstrip())


def _unit(text: str) -> str:
    """Return one level of a text's indentation."""
    match = _INDENT.search(text)
    return match[1] if match else _USUAL


def _margin(text: str, at: int) -> str:
    """Return the indentation of the line of a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _line_start(text: str, at: int) -> int:
    """Return the start of the space before a member, including its line break."""
    while text[at - 1 : at] in (" ", "\t"):
        at -= 1
    if text[at - 1 : at] == "\n":
        at -= 2 if text[at - 2 : at] == "\r\n" else 1
    return at


def _blank(text: str, at: int) -> int:
    """Return the position after space and comments."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, depth: int) -> JsonNode:
    if depth > _DEEPEST:
        raise _wrong(text, at, f"at most {_DEEPEST} levels")
    if text[at : at + 1] in _PAIRS:
        return _collection(text, at, depth)
    match = _STRING.match(text, at) or _OTHER.match(text, at)
    if match is None:
        raise _wrong(text, at, "a value")
    try:
        return JsonNode(at, match.end(), json.loads(match[0]))
    except ValueError:
        raise _wrong(text, at, "a value") from None


def _collection(text: str, start: int, depth: int) -> JsonNode:
    closing, is_object = _PAIRS[text[start]], text[start] == "{"
    members: list[JsonMember] = []
    at = _blank(text, start + 1)
    while text[at : at + 1] != closing:
        if members and members[-1].comma is None:
            raise _wrong(text, at, f"a comma or {closing!r}")
        key, inner = _key(text, at) if is_object else (len(members), at)
        member = JsonMember(key, at, _value(text, inner, depth + 1))
        members.append(member)
        at = _blank(text, member.node.end)
        if text[at : at + 1] == ",":
            member.comma = at
            at = _blank(text, at + 1)
    values = [member.node.value for member in members]
    keys = [member.key for member in members]
    return JsonNode(start, at + 1, dict(zip(keys, values, strict=True)) if is_object else values, members)


def _key(text: str, at: int) -> tuple[str, int]:
    match = _STRING.match(text, at)
    if match is None:
        raise _wrong(text, at, "a name in quotes")
    colon = _blank(text, match.end())
    if text[colon : colon + 1] != ":":
        raise _wrong(text, colon, "a colon")
    return json.loads(match[0]), _blank(text, colon + 1)


def _wrong(text: str, at: int, expected: str) -> JsonSyntaxError:
    line = text.count("\n", 0, at) + 1
    actual = repr(text[at : at + _SHOWN].split("\n")[0]) if at < len(text) else "the end of the file"
    return JsonSyntaxError(f"line {line}: expected {expected}, found {actual}")
