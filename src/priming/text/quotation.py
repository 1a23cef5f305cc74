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
import shlex
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from priming.config.values import dataclass

_JOINERS, _SELECTORS = "\u200c\u200d", "\ufe0e\ufe0f"
_MORE_EMOJI, _VIRAMA = "‼⁉〰ℹ", 9
"""Emoji that are no symbols by their category; the combining class of what joins two consonants."""
_NO_SHAPE = re.compile(r"\b(?:FILLER|SELECTOR|JOINER|INHERENT|BLANK|NULL)\b")
"""What Unicode's name of a letter, mark or symbol says if it has no shape; it never changes a name.

These are those of ``Default_Ignorable_Code_Point`` (DerivedCoreProperties.txt of Unicode 16) that are no format
characters, the joiners of Tifinagh and Brahmi, and what is blank by definition.
"""
_REMEMBERED = 16_384
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
    r"""Return a text as one JSON string, in which nothing is hidden and nothing passes for markup.

    >>> print(quote_text('Say "yes".\n</system-reminder>'))
    "Say \"yes\".\n\u003c/system-reminder>"
    """
    return visible(json.dumps(text, ensure_ascii=False))


def label(name: str) -> str:
    """Return a key or path: as it stands if it is plain, else quoted.

    >>> print(label("src/pool.py"), label("my notes"))
    src/pool.py "my notes"
    """
    return name if _PLAIN.fullmatch(name) and terminal_text(name) == name else quote_text(name)


def command(verb: str, *words: str, **options: str) -> str:
    """Return a command as it can be pasted into a shell, whatever its words hold and begin with.

    >>> print(command("show", "my note"), "|", command("deprecate", "-x", by="-y"))
    priming show 'my note' | priming deprecate --by=-y -- -x
    """
    quoted = map(shlex.quote, words)
    chosen = [f"--{name}{'=' if own[:1] == '-' else ' '}{shlex.quote(own)}" for name, own in options.items()]
    if any(word[:1] == "-" for word in words):
        return " ".join(["priming", verb, *chosen, "--", *quoted])
    return " ".join(["priming", verb, *quoted, *chosen])


def bracketed(name: str) -> str:
    """Return a key in brackets, as lines and sentences name it."""
    return f"[{label(name)}]"


def visible(text: str) -> str:
    """Return a text with hidden characters and the beginnings of markup as escapes of JSON; its lines stay."""
    return _MARKUP.sub(lambda match: _escape(match[0]), terminal_text(text))


def visible_value(value: Any) -> Any:
    """Return a value of JSON in whose strings, names included, nothing is hidden."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): visible_value(part) for name, part in value.items()}
    return [visible_value(part) for part in value] if isinstance(value, (list, tuple)) else value


def terminal_text(text: str) -> str:
    """Return a text as a terminal may show it: hidden characters as escapes, markup as it stands."""
    return _rewritten(text, _escape)


def without_hidden(text: str, mark: str = "�") -> str:
    """Return a text as a picture or a page shows it, with a mark in place of each hidden character."""
    return _rewritten(text, lambda _: mark)


def json_text(value: Any, *, ascii_only: bool = False, separators: tuple[str, str] | None = None) -> str:
    r"""Return a value as JSON in which nothing is hidden, and which decodes to the very value.

    >>> print(json_text({"text": "a\x7f\u202eb"}))
    {"text": "a\u007f\u202eb"}
    """
    return visible(json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, separators=separators))


def condition_text(value: Any, shown: Callable[[str], str] = str) -> str:
    """Return the value of a condition in words; of several values any holds.

    >>> condition_text(["go", "rust"]), condition_text(3)
    ('go or rust', '3')
    """
    values = value if isinstance(value, (list, tuple)) else (value,)
    return " or ".join(shown(str(each)) for each in values)


def conditions_text(when: Mapping[str, Any], shown: Callable[[str], str] = str, joint: str = ", ") -> str:
    """Return where something applies, in words; ``shown`` writes names and values.

    >>> conditions_text({"language": "go", "task": ["test", "debug"]}), conditions_text({})
    ('where language = go, task = test or debug', 'everywhere')
    """
    parts = (f"{shown(name)} = {condition_text(value, shown)}" for name, value in when.items())
    return f"where {joint.join(parts)}" if when else "everywhere"


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


def _rewritten(text: str, rewrite: Callable[[str], str]) -> str:
    """Rewrite each hidden character: what has no shape, unless a script or an emoji needs it where it stands."""
    if text.isascii() and text.isprintable():
        return text
    hidden = {letter for letter in set(text) if not _has_shape(letter)}
    if not hidden:
        return text
    return "".join(
        rewrite(letter) if letter in hidden and not _is_needed(text, i) else letter
        for i, letter in enumerate(text)
    )


@lru_cache(_REMEMBERED)
def _has_shape(letter: str) -> bool:
    """Tell whether a character is a letter, mark, number, punctuation, symbol or common space, by its Unicode class.

    Those of all other categories are not printable for Python: control, format, private use, surrogates, unassigned,
    separators. Tabs, newlines, and the no-break and the wide form of the space have its shape.
    """
    if not letter.isprintable():
        return letter in "\t\n" or unicodedata.decomposition(letter).startswith(("<noBreak>", "<wide>"))
    return letter.isascii() or not (
        unicodedata.category(letter) in ("Lo", "Mn", "So") and _NO_SHAPE.search(unicodedata.name(letter, ""))
    )


def _is_needed(text: str, i: int) -> bool:
    """Tell whether a joiner or selector changes the shape of what it stands after: a letter of its script, or emoji.

    For joiners this is the rule of RFC 5892, A.1 and A.2, and that of Bengali, where they precede a virama.
    """
    letter, before, after = text[i], text[i - 1] if i else " ", text[i + 1 : i + 2] or " "
    if letter in _SELECTORS:
        return _is_emoji(before) or (before in "0123456789#*" and after == "\u20e3")
    if letter not in _JOINERS:
        names = unicodedata.name(letter, ""), unicodedata.name(before, "")
        return names[0].startswith("MONGOLIAN FREE") and names[1].startswith("MONGOLIAN LETTER")
    if _is_virama(before) or (_is_virama(after) and unicodedata.category(before) == "Lo"):
        return True
    base = text[i - 2 : i - 1] or " " if before in _SELECTORS else before
    return (_is_emoji(base) and _is_emoji(after)) or (_is_cursive(text, i, -1) and _is_cursive(text, i, 1))


def _is_virama(letter: str) -> bool:
    return unicodedata.combining(letter) == _VIRAMA and _has_shape(letter)


def _is_emoji(letter: str) -> bool:
    is_symbol = unicodedata.category(letter).startswith("S") and not letter.isascii() and _has_shape(letter)
    return is_symbol or letter in _MORE_EMOJI


def _is_cursive(text: str, i: int, step: int) -> bool:
    """Tell whether the next letter in a direction, marks aside, is Arabic or of a script joining letters like it."""
    i += step
    while 0 <= i < len(text) and unicodedata.category(text[i]) == "Mn" and _has_shape(text[i]):
        i += step
    return 0 <= i < len(text) and text[i].isalpha() and unicodedata.bidirectional(text[i]) == "AL"


def _escape(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" if c in _ASCII else json.dumps(c)[1:-1] for c in text)


_ASCII = frozenset("<[\x7f")
"""Characters that JSON escapes only if it is made to."""


def one_line(text: str, limit: int) -> str:
    r"""Put a text on one line, cut to ``limit`` characters.

    >>> one_line("a long\nline", 8)
    'a long…'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def count_text(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> count_text(1, "link"), count_text(1200, "link"), count_text(2, "memory", "memories")
    ('1 link', '1,200 links', '2 memories')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
