"""JSON Lines: one memory a line, as a JSON object of the arguments of ``remember``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.remember.drafts import FIELDS
from priming.transfer.importers import Format, Item, Skipped
from priming.transfer.reading import (
    checked_entry,
    digest_of,
    files,
    first_line,
    iso_time,
    json_lines,
    label,
    other_files,
    skipping,
)

ENDINGS = (".jsonl", ".ndjson")

_SHAPE = 'must be a JSON object on one line, such as {"content": "what to remember"}'


def read(path: Path) -> Iterator[Item]:
    """Read a file of memories, or all of a folder, a line at a time; a line that is no memory is skipped.

    ``content`` (or ``text``) is required; unknown fields become metadata. A line is known by its ``key``, else by its
    ``id`` in the file, else by its text.
    """
    if not path.is_dir():
        yield from _lines(path, path.stem)
        return
    below = [*files(path, ENDINGS)]
    if not below:
        raise ParamError(
            "path", str(path), f"must hold JSON Lines: no file below it ends in {', '.join(ENDINGS)}"
        )
    for file in below:
        yield from skipping(_lines(file, file.relative_to(path).with_suffix("").as_posix()))


def _lines(path: Path, name: str) -> Iterator[Item]:
    empty = True
    for where, value in json_lines(path):
        if empty and isinstance(value, dict) and value.get("format") == "priming":
            raise ParamError(
                "path", str(path), "is an export of Priming: priming import priming PATH reads it"
            )
        empty = False
        yield from (value,) if isinstance(value, Skipped) else skipping(_entries(value, path, name, where))
    if empty:
        raise ParamError("path", str(path), f"is empty: each line {_SHAPE}")


def _entries(value: Any, path: Path, name: str, where: str) -> Iterator[Item]:
    if not isinstance(value, dict):
        raise ParamError(where, value, _SHAPE)
    fields = {name: field for name in FIELDS if (field := value.pop(name, None)) is not None}
    if "content" not in fields and (text := value.pop("text", None)) is not None:
        fields["content"] = text
    if "content" not in fields:
        raise ParamError(where, value, "must have a content (or text), the text to remember")
    arguments: dict[str, Any] = {"source": label(f"jsonl:{path.absolute()}"), "trust": "tool", **fields}
    own = value.get("id")
    if "key" not in fields and isinstance(own, (str, int)) and not isinstance(own, bool) and str(own).strip():
        arguments["key"] = label(f"{name}:{own}")
    for each in {"occurred_at", "valid_from"} & fields.keys():
        arguments[each] = iso_time(fields[each], f"{where}: {each}")
    if value:
        metadata = fields.get("metadata", {})
        arguments["metadata"] = {**value, **metadata} if isinstance(metadata, dict) else metadata
    yield checked_entry(arguments, where)


def _fits(path: Path) -> bool:
    """Tell whether the first readable line is an object with a text to remember, and says nothing of who said it.

    A folder is such if all its files end as JSON Lines do, and one is.
    """
    if path.is_dir():
        return not other_files(path, ENDINGS) and any(map(_fits, files(path, ENDINGS)))
    value = first_line(path)
    return (
        isinstance(value, dict)
        and isinstance(value.get("content", value.get("text")), str)
        and "role" not in value
    )


FORMAT = Format(
    read, "JSON Lines: one memory a line", _fits, partial(digest_of, endings=ENDINGS), endings=ENDINGS
)
