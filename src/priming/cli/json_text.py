"""JSON files that belong to somebody else: changed in place, every other byte left as it is, comments too."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_OTHER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_COMMENT = re.compile(r"//|/\*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_USUAL = "  "
_DEEPEST = 100
_SHOWN = 20
_PAIRS = {"{": "}", "[": "]"}


class Unreadable(ValueError):
    """A text that is no JSON; the message says in which line."""


@dataclass(slots=True)
class Node:
    """A value of a text, from ``start`` to ``end``: its members by ``parts``, each with where its comma stands."""

    start: int
    end: int
    value: Any
    parts: list[Part] = field(default_factory=list)


@dataclass(slots=True)
class Part:
    """A member of an object or an item of a list."""

    key: str | int
    start: int
    node: Node
    comma: int | None = None


def parse(text: str) -> Node:
    """The value of a text of JSON, with comments and a comma after the last member if need be.

    >>> parse('{"a": [1, 2,], /* b */ }').value
    {'a': [1, 2]}
    """
    start = _blank(text, text.startswith("\ufeff"))
    node = _value(text, start, 0)
    if _blank(text, node.end) != len(text):
        raise _wrong(text, _blank(text, node.end), "the end")
    return node


def find(node: Node, path: Sequence[str | int]) -> Node | None:
    """The value at a path; None where there is none. Of members of one name the last counts."""
    for key in path:
        found = [one.node for one in node.parts if one.key == key]
        if not found:
            return None
        node = found[-1]
    return node


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path of objects that were made where they are missing; the last name must be new.

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
    return _added(text, parent, f"{json.dumps(path[depth], ensure_ascii=False)}: ", inner)


def append(text: str, path: Sequence[str], value: Any) -> str:
    """The text with an item at the end of a list, which is made where it is missing.

    >>> append('{"a": [1]}', ["a"], {"b": 2})
    '{"a": [1, {"b": 2}]}'
    """
    found = find(parse(text), path)
    if found is None:
        return put(text, path, [value])
    return _added(text, found, "", value)


def remove(text: str, path: Sequence[str | int]) -> str:
    """The text without the value at a path, and without the objects and lists that are empty without it.

    >>> remove('{"a": 1, "b": {"c": [2]}}', ["b", "c", 0])
    '{"a": 1}'
    """
    root = parse(text)
    while len(path) > 1:
        parent = find(root, path[:-1])
        if parent is None or len(parent.parts) > 1 or _COMMENT.search(_around(text, parent)):
            break
        path = path[:-1]
    parent = find(root, path[:-1])
    index = next((i for i, one in enumerate(parent.parts) if one.key == path[-1]), None) if parent else None
    return text if parent is None or index is None else _without(text, parent, index)


def _without(text: str, parent: Node, index: int) -> str:
    part = parent.parts[index]
    before = parent.parts[index - 1] if index else None
    start = _line_start(text, part.start)
    if part.comma is not None:
        if before is None:  # the next member takes its place on the line of the bracket
            start = max(start, parent.start + 1)
        return text[:start] + text[part.comma + 1 :]
    text = text[:start] + text[part.node.end :]
    if before is not None and before.comma is not None:
        return text[: before.comma] + text[before.comma + 1 :]
    closing = parent.end - (part.node.end - start) - 1
    return text[: parent.start + 1] + text[parent.start + 1 : closing].rstrip() + text[closing:]


def _around(text: str, parent: Node) -> str:
    """What stands in an object or a list of one part, beside that part."""
    part = parent.parts[0]
    return text[parent.start : part.start] + text[part.node.end : parent.end]


def _added(text: str, parent: Node, label: str, value: Any) -> str:
    """The text with one more part at the end of an object or a list, written as the others are."""
    closing = parent.end - 1
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    flat = parent.parts and "\n" not in text[parent.start : closing]
    if flat:
        return _joined(text, parent, f" {label}{json.dumps(value, ensure_ascii=False)}", "")
    outer = _margin(text, parent.start) if parent.start else ""
    margin = _margin(text, parent.parts[0].start) if parent.parts else f"{outer}{unit}"
    lines = json.dumps(value, ensure_ascii=False, indent=unit).splitlines()
    block = newline.join([f"{label}{lines[0]}", *(f"{margin}{one}" for one in lines[1:])])
    end = "" if "\n" in text[_content_end(text, parent) : closing] else f"{newline}{outer}"
    return _joined(text, parent, f"{newline}{margin}{block}", end)


def _joined(text: str, parent: Node, block: str, end: str) -> str:
    at = _content_end(text, parent)
    last = parent.parts[-1] if parent.parts else None
    if last is None or last.comma is not None:
        comma = "," if last is not None else ""
        return f"{text[:at]}{block}{comma}{end}{text[at:]}"
    return f"{text[: last.node.end]},{text[last.node.end : at]}{block}{end}{text[at:]}"


def _content_end(text: str, parent: Node) -> int:
    """Where the inside of an object or a list ends, the blanks before its closing bracket aside."""
    inside = text[parent.start + 1 : parent.end - 1]
    return parent.start + 1 + len(inside.rstrip())


def _unit(text: str) -> str:
    """How a text is indented."""
    found = _INDENT.search(text)
    return found[1] if found else _USUAL


def _margin(text: str, at: int) -> str:
    """The blanks at the beginning of a line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _line_start(text: str, at: int) -> int:
    """Where the blanks before a part begin, its own line break among them."""
    while text[at - 1 : at] in (" ", "\t"):
        at -= 1
    if text[at - 1 : at] == "\n":
        at -= 2 if text[at - 2 : at] == "\r\n" else 1
    return at


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _wrong(text, at, f"at most {_DEEPEST} levels")
    if text[at : at + 1] in _PAIRS:
        return _collection(text, at, depth)
    found = _STRING.match(text, at) or _OTHER.match(text, at)
    if found is None:
        raise _wrong(text, at, "a value")
    try:
        return Node(at, found.end(), json.loads(found[0]))
    except ValueError:
        raise _wrong(text, at, "a value") from None


def _collection(text: str, start: int, depth: int) -> Node:
    closing, named = _PAIRS[text[start]], text[start] == "{"
    parts: list[Part] = []
    at = _blank(text, start + 1)
    while text[at : at + 1] != closing:
        if parts and parts[-1].comma is None:
            raise _wrong(text, at, f"a comma or {closing!r}")
        key, inner = _key(text, at) if named else (len(parts), at)
        part = Part(key, at, _value(text, inner, depth + 1))
        parts.append(part)
        at = _blank(text, part.node.end)
        if text[at : at + 1] == ",":
            part.comma = at
            at = _blank(text, at + 1)
    values = {one.key: one.node.value for one in parts} if named else [one.node.value for one in parts]
    return Node(start, at + 1, values, parts)


def _key(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise _wrong(text, at, "a name in quotes")
    colon = _blank(text, found.end())
    if text[colon : colon + 1] != ":":
        raise _wrong(text, colon, "a colon")
    return json.loads(found[0]), _blank(text, colon + 1)


def _wrong(text: str, at: int, wanted: str) -> Unreadable:
    line = text.count("\n", 0, at) + 1
    there = repr(text[at : at + _SHOWN].split("\n")[0]) if at < len(text) else "the end of the file"
    return Unreadable(f"line {line}: {wanted} is expected, and {there} stands there")
