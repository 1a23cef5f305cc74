"""Files of the memory tool: their paths, and their texts as the tool shows them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from unicodedata import normalize
from urllib.parse import unquote

from priming import MemoryRecord, MissingExtra

try:
    from anthropic.lib.tools import ToolError
except ImportError as error:
    raise MissingExtra("anthropic", "the memory tool of Claude") from error

ROOT = "/memories"
_WIDTH = 6
"""The width of the number of a line."""


def checked_path(path: str) -> str:
    """Return a path in one spelling, below the root."""
    plain = path
    while (decoded := unquote(plain)) != plain:
        plain = decoded
    whole, parts = normalize("NFC", posixpath.normpath(path)), plain.replace("\\", "/").split("/")
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    if not f"{whole}/".startswith(f"{ROOT}/") or (".." in parts and (plain != path or "\\" in path)):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    if not path.isprintable():
        raise ToolError(f"Path {path!r} has control characters: use printable ones")
    return whole


def path_below(path: str, verb: str) -> str:
    """Return a path in one spelling that is not the root."""
    if (plain := checked_path(path)) == ROOT:
        raise ToolError(f"Cannot {verb} the {ROOT} directory itself")
    return plain


def text_in(record: MemoryRecord) -> str:
    """Return the text of a file."""
    return str(record.metadata.get("text", record.content))


def numbered_lines(lines: list[str], start: int) -> Iterator[str]:
    """Return lines with their numbers, of which the first is the one after ``start``."""
    return (f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start + 1))


def lines_with(text: str, part: str) -> Iterator[int]:
    """Return the line of each place where a part begins."""
    line, before, place = 1, 0, text.find(part)
    while place != -1:
        line, before = line + text.count("\n", before, place), place
        yield line
        place = text.find(part, place + 1)


def folder_rows(files: Iterable[tuple[str, int]], shown: str) -> Iterator[str]:
    """Return the rows of a folder: itself, and what lies in it, two levels deep, each with its size.

    ``files`` are paths below the folder with their sizes.
    """
    sizes: dict[tuple[str, ...], int] = {(): 0}
    folders = set()
    for path, number in files:
        parts = tuple(path.split("/"))
        for depth in range(min(2, len(parts)) + 1):
            head = parts[:depth]
            if head and head[-1].startswith("."):
                break
            sizes[head] = sizes.get(head, 0) + number
            folders |= {head} if 0 < depth < len(parts) else set()
    for head in sorted(sizes):
        name = "/".join((shown, *head, *([""] if head in folders else [])))
        yield f"{_size(sizes[head])}\t{name}"


def _size(number: int) -> str:
    power = min(3, max(0, number.bit_length() - 1) // 10)
    size = number / 1024**power
    return f"{size:.0f}{'BKMG'[power]}" if size == int(size) else f"{size:.1f}{'BKMG'[power]}"
