"""JSON Lines: one memory a line, as a JSON object of the arguments of ``remember``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.remember.drafts import FIELDS
from priming.transfer.importers import Entry, Item
from priming.transfer.reading import checked_entry, iso_time, label, lines, parse_json

_SHAPE = 'must be a JSON object on one line, such as {"content": "what to remember"}'


def read(path: Path) -> Iterator[Item]:
    """Read a file of memories, a line at a time.

    ``content`` (or ``text``) is required; unknown fields become metadata. A line without a ``key`` that is imported
    again is recognised by its text. The first invalid line stops the import with an error that names its number.
    """
    empty = True
    for number, line in lines(path):
        empty = False
        yield _entry(line, path, f"{path}, line {number}")
    if empty:
        raise ParamError("path", str(path), f"is empty: each line {_SHAPE}")


def _entry(line: str, path: Path, where: str) -> Entry:
    value = parse_json(line, where)
    if not isinstance(value, dict):
        raise ParamError(where, line, _SHAPE)
    fields = {name: field for name in FIELDS if (field := value.pop(name, None)) is not None}
    if "content" not in fields and (text := value.pop("text", None)) is not None:
        fields["content"] = text
    if "content" not in fields:
        raise ParamError(where, line, _missing_content_rule(value))
    arguments: dict[str, Any] = {"source": label(f"jsonl:{path.absolute()}"), "trust": "tool", **fields}
    if "occurred_at" in fields:
        arguments["occurred_at"] = iso_time(fields["occurred_at"], f"{where}: occurred_at")
    if value:
        metadata = fields.get("metadata", {})
        arguments["metadata"] = {**value, **metadata} if isinstance(metadata, dict) else metadata
    return checked_entry(arguments, where)


def _missing_content_rule(value: dict[str, Any]) -> str:
    """The rule that a line without content breaks; the header of an export of Priming gets its own."""
    if value.get("format") == "priming":
        return "begins an export of Priming: read it with Memory.import_"
    return "must have a content (or text), the text to remember"
