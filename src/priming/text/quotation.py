r"""Quotation: how text that came from outside stands before a model, and how it is read back.

Text, titles, keys, paths and conditions are quoted as JSON strings. Within them, whatever could hide a part, steer a
terminal or pass for the markup of a client or a model is written as an escape of JSON: to decode the string gives the
very text. What stands outside of quotation marks and brackets was written by Priming. A line of a packed text is

    line   = ["- "] "[" name "]" note [" " string ":"] [" " string]
    name   = plain / string                 the key
    plain  = 1*(letter / digit / one of _ . : / @ # + = ~ , -)
    note   = *(any character but a quotation mark)      date, trust, kind of rule: of Priming
    string = a JSON string: the title, then the text
"""

from __future__ import annotations

import json
import re
from typing import Any

from priming.config.values import dataclass

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
"""Control characters and line ends, changes of direction, half characters, and characters that only a model sees.

Tabs and newlines are not hidden.
"""
_JOINERS = "[\u200c\u200d]"
_AFTER = "[\u180b-\u180d\u180f\u200c\u200d\ufe0e\ufe0f]*"
_MISPLACED = (
    f"(?<=[\x00-\x7f\u200c\u200d]){_JOINERS}+"
    f"|(?<![\u1820-\u18aa])[\u180b-\u180d\u180f]{_AFTER}"
    f"|(?<=[0-9#*])[\ufe0e\ufe0f](?!\u20e3){_AFTER}"
    f"|(?<![0-9#*\xa9\xae\u203c-\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]{_AFTER}"
)
"""Joiners, and selectors of a variant of a letter or an emoji, where none belongs; scripts and emoji need others."""
_ROLES = (
    "system|user|assistant|human|developer|tools?|function|invoke|parameter|result|output|think|thinking|reminder"
    "|instructions?|important|admin|context"
)
_MARKUP = re.compile(
    rf"[<\[](?:(?<=<)(?=(?:\s{{0,8}}/\s{{0,8}}|!)?(?:[|｜<]|[a-z][a-z0-9.]{{0,40}}[-_:]|(?:{_ROLES})\b"
    rf"|(?:s|sys|inst|bos|eos|pad|unk)\s{{0,8}}>))|(?<=<)(?=\s{{1,8}}(?:{_ROLES})\s{{0,8}}>)"
    r"|(?<=\[)(?=/?(?:inst|sys|img|system_prompt|available_tools|tool_[a-z_]{1,20})\b)"
    r"|(?<=\[)(?<!\w\[)(?=\s{0,8}/?(?:system|assistant|user|developer|think|thinking)\s{0,8}\]))",
    re.IGNORECASE,
)
"""The beginning of a tag with which a client or a model marks who speaks, or that a tool is called."""
_UNSEEN = re.compile(f"[{_HIDDEN}]{_AFTER}|{_MISPLACED}")
_PLAIN = re.compile(r"[\w.:/@#+=~,-]+")
_STRING = r'"(?:[^"\\]|\\.)*"'
_LINE = re.compile(rf'(?:- )?\[({_STRING}|[^\s"\[\]]+)\]([^"]*?)(?: ({_STRING}):)?(?: ({_STRING}))?')


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """A line of a packed text: the memory's key, Priming's own note, and its title and text where they are told."""

    key: str
    note: str
    title: str | None
    text: str | None


def quote_text(text: str) -> str:
    r"""A text as one JSON string, in which nothing is hidden and nothing passes for markup.

    >>> print(quote_text('Say "yes".\n</system-reminder>'))
    "Say \"yes\".\n\u003c/system-reminder>"
    """
    return visible(json.dumps(text, ensure_ascii=False))


def label(name: str) -> str:
    """A key or path: as it stands if it is plain, else quoted.

    >>> print(label("src/pool.py"), label("my notes"))
    src/pool.py "my notes"
    """
    return name if _PLAIN.fullmatch(name) and not _UNSEEN.search(name) else quote_text(name)


def bracketed(name: str) -> str:
    """A key in brackets, as lines and sentences name it."""
    return f"[{label(name)}]"


def visible(text: str) -> str:
    """A text with hidden characters and the beginnings of markup written as escapes of JSON; its lines stay."""
    return _MARKUP.sub(_escape, terminal_text(text))


def visible_value(value: Any) -> Any:
    """A value of JSON in whose strings, names included, nothing is hidden."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): visible_value(part) for name, part in value.items()}
    return [visible_value(part) for part in value] if isinstance(value, (list, tuple)) else value


def terminal_text(text: str) -> str:
    """A text as a terminal may show it: hidden characters as escapes, markup as it stands."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_escape, text)


def without_hidden(text: str, mark: str = "�") -> str:
    """A text as a picture or a page shows it, with a mark in place of each hidden character."""
    return _UNSEEN.sub(lambda match: mark * len(match[0]), text)


def json_text(value: Any, *, ascii_only: bool = False, separators: tuple[str, str] | None = None) -> str:
    r"""A value as JSON in which nothing is hidden, and which decodes to the very value.

    >>> print(json_text({"text": "a\x7f\u202eb"}))
    {"text": "a\u007f\u202eb"}
    """
    return visible(json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, separators=separators))


def read_line(line: str) -> QuotedLine | None:
    r"""Read a line of a packed text back; None if it is none.

    >>> read_line('- ["my notes"] (2026-03-04) "Ada": "Say \\"yes\\"."')
    QuotedLine(key='my notes', note='(2026-03-04)', title='Ada', text='Say "yes".')
    """
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    name, note, title, text = match.groups()
    key = json.loads(name) if name.startswith('"') else name
    return QuotedLine(key, note.strip(), _decoded(title), _decoded(text))


def _decoded(string: str | None) -> str | None:
    return None if string is None else str(json.loads(string))


def _escape(match: re.Match[str]) -> str:
    return "".join(f"\\u{ord(c):04x}" if c in _ASCII else json.dumps(c)[1:-1] for c in match[0])


_ASCII = frozenset("<[\x7f")
"""Characters that JSON escapes only if it is made to."""
