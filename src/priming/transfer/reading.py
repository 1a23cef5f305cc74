"""Reading for importers: files, with errors that name the place, and texts cleaned for memories."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from priming.config.params.limits import STORE
from priming.errors import ParamError
from priming.remember.drafts import draft
from priming.text.quotation import one_line
from priming.transfer.importers import Entry, Skipped

T = TypeVar("T")
Zoned = Callable[[datetime], datetime]
"""Gives a time without a zone its own."""
LABEL_LETTERS = 512
"""Maximum length of a memory's key, session, heading or speaker."""

DAMAGED = (OSError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)
"""The errors of reading a file, or one within a zip file."""

_DIGEST_BYTES = 4
_BLOCK = 1 << 20
_MILLISECONDS_FROM = 100_000_000_000
_CONTINUES = (" ", "\t", "'", '"', "]")
"""How a further line of a list in brackets begins."""
_ITEM = re.compile(r"\s*-[ \t]+(.*)")
_INVALID = re.compile("[\x00\ud800-\udfff]")
_MORE = "… ({:,} more characters)"


def lines(path: Path, most: int = STORE.line_bytes) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 file that are not blank, numbered and read lazily; none has over ``most`` bytes."""
    for number, line in _raw_lines(path, most):
        if text := _line(line, f"{path}, line {number}", most):
            yield number, text


def json_lines(path: Path, most: int = STORE.line_bytes) -> Iterator[tuple[str, Any]]:
    """Yield the values of a file of JSON Lines, each with its place; one that cannot be read is a ``Skipped``."""
    for number, line in _raw_lines(path, most):
        where = f"{path}, line {number}"
        try:
            if text := _line(line, where, most):
                yield where, parse_json(text, where)
        except ParamError as error:
            yield where, Skipped(error)


def skipping(items: Iterable[T], source: str | None = None) -> Iterator[T | Skipped]:
    """Yield items of a source, and for the first that cannot be read, and those after it, that it is skipped."""
    try:
        yield from items
    except ParamError as error:
        yield Skipped(error, source=source)


def _raw_lines(path: Path, most: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, numbered; of one that is too long only the beginning, one byte too long."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(most + 1), b""), 1):
                yield number, line
                is_cut, line, left = len(line) > most and not line.endswith(b"\n"), b"", STORE.file_bytes
                while is_cut and (part := file.readline(_BLOCK)):
                    is_cut, left = not part.endswith(b"\n"), left - len(part)
                    if left < 0:
                        rule = f"must be text: line {number} does not end within {STORE.file_bytes:,} bytes"
                        raise ParamError("path", str(path), rule)
    except DAMAGED as error:
        raise unreadable(path, error) from error


def _line(raw: bytes, where: str, most: int) -> str:
    if len(raw) > most:
        raise ParamError(where, raw, f"must have at most {most:,} bytes: split it, or leave it out")
    return _decoded(raw, where).strip()


def read_text(path: Path) -> str:
    """Return the whole text of a UTF-8 file, with line ends normalised; the file is not larger than the limit."""
    try:
        with path.open("rb") as file:
            data = bytearray()
            while (block := file.read(_BLOCK)) and len(data) <= STORE.file_bytes:
                data += block
    except DAMAGED as error:
        raise unreadable(path, error) from error
    if len(data) > STORE.file_bytes:
        raise ParamError("path", str(path), f"must have at most {STORE.file_bytes:,} bytes: split the file")
    text = _decoded(bytes(data), str(path))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def front_matter(rows: Sequence[str]) -> tuple[dict[str, str | list[str]], int]:
    """Return the fields between two ``---``, or in TOML ``+++``, at the start, and the index of the line after them.

    A line that is no field, and no item or part of a list, is left out: nothing in it is an error.
    """
    fence = rows[0].rstrip()
    ends, sign = {"---": (("---", "..."), ":"), "+++": (("+++",), "=")}.get(fence, ((), ""))
    end = next((i for i, row in enumerate(rows[1:], 1) if row.rstrip() in ends), None)
    if end is None:
        return {}, 0
    front: dict[str, str | list[str]] = {}
    name, items, is_open = "", list[str](), False
    for row in rows[1:end]:
        key, separator, value = row.partition(sign)
        item = _ITEM.fullmatch(row)
        if is_open and row[:1] in _CONTINUES:
            items += _items(row)
            is_open = not row.rstrip().endswith("]")
        elif item and name and (not front[name] or front[name] is items):
            items.append(_unquoted(item[1]))
            front[name] = items
        elif separator and key[:1].strip() and (sign == "=" or not value[:1].strip()):
            name, value = key.strip().lower(), value.strip()
            read, is_open = _value(name, value), value.startswith("[") and "]" not in value
            front[name], items = read, read if isinstance(read, list) else []
    return front, end + 1


def _value(name: str, text: str) -> str | list[str]:
    if text.startswith("[") and (text.endswith("]") or "]" not in text):
        return _items(text)
    if name == "tags" and text:
        return _items(text if "," in text else ",".join(text.split()))
    return _unquoted(text)


def _items(text: str) -> list[str]:
    return [item for part in text.strip(" \t[]").split(",") if (item := _unquoted(part).removeprefix("#"))]


def _unquoted(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _decoded(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = raw[error.start : error.end]
        raise ParamError(where, wrong, "must be UTF-8 text: save the file as UTF-8") from None


def unreadable(path: Path, error: Exception) -> ParamError:
    """Return the error for a path that cannot be read, which is shown uncut, since its end matters most."""
    return ParamError.of(
        [f"path = {str(path)!r}: cannot be read: {getattr(error, 'strerror', None) or error}"]
    )


def parse_json(text: str, where: str) -> Any:
    """Parse JSON; an error names the place where it is invalid."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f" at line {error.lineno}" if "\n" in text else ""
        raise ParamError(where, text, f"must be JSON ({error.msg}{place}, column {error.colno})") from None
    except (ValueError, RecursionError) as error:
        raise ParamError(where, text, f"must be JSON of reasonable depth and size ({error})") from None


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of an object; anything else has none."""
    return value if isinstance(value, dict) else {}


def id_of(value: Mapping[str, Any], where: str, name: str = "id") -> str:
    """Return the id of a node in a field."""
    own = value.get(name)
    if not isinstance(own, str) or not own.strip():
        raise ParamError(f"{where}: {name}", own, "must be the id of a node")
    return own


def part_of(value: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    """Return an object within an object; one that is missing or null is empty."""
    part = value.get(name)
    if part is None:
        return {}
    if not isinstance(part, dict):
        raise ParamError(f"{where}: {name}", part, "must be an object")
    return part


def list_of(value: Mapping[str, Any], name: str, where: str) -> list[Any]:
    """Return a list within an object; one that is missing or null is empty."""
    items = value.get(name) or []
    if not isinstance(items, list):
        raise ParamError(f"{where}: {name}", items, "must be a list")
    return items


def iso_time(value: Any, where: str, zoned: Zoned | None = None) -> datetime:
    """Return an ISO 8601 time in UTC; ``zoned`` gives one without a zone its own."""
    try:
        at = datetime.fromisoformat(value)
        at = at if at.tzinfo or zoned is None else zoned(at)
        in_utc = None if at.tzinfo is None else at.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ParamError(where, value, "must be an ISO 8601 time, such as 2026-03-01T12:00:00Z") from None
    if in_utc is None:
        raise ParamError(where, value, "must carry a time zone: add Z or an offset such as +01:00")
    return in_utc


def time_of(value: Any, where: str, zoned: Zoned | None = None) -> datetime | None:
    """Return a time in ISO 8601, or in seconds or milliseconds since 1970, as a number or a text.

    None for a missing one, which Go writes as the first day of year 1.
    """
    if not value or isinstance(value, bool) or str(value).startswith("0001-01-01"):
        return None
    try:
        since = float(value)
    except (TypeError, ValueError):
        return iso_time(value, where, zoned)
    try:
        return datetime.fromtimestamp(since / 1000 if abs(since) >= _MILLISECONDS_FROM else since, UTC)
    except (OverflowError, OSError, ValueError):
        raise ParamError(where, value, "must be seconds or milliseconds since 1970") from None


def checked_entry(arguments: Mapping[str, Any], where: str) -> Entry:
    """Return an entry of valid arguments of ``remember``; an error names the place of the invalid ones."""
    try:
        return Entry(arguments, checked=draft(arguments))
    except ParamError as error:
        raise ParamError.of([f"{where}: {violation}" for violation in error.violations]) from None


def label(text: str, limit: int = LABEL_LETTERS) -> str:
    """Return a text as a key or session: itself if valid, else made printable, cut, and made unique by a digest."""
    if text.isprintable() and text.strip() and len(text) <= limit:
        return text
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    mark = digest(text)
    return f"{plain[: limit - len(mark) - 1]}~{mark}"


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()


def title(text: str) -> str | None:
    """Return a text as a heading or speaker: a printable line, or None if it is blank."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return one_line(plain, LABEL_LETTERS) or None


def clean_text(text: str, limit: int = STORE.content_limit) -> str:
    """Return a text without characters that no memory can hold, cut to ``limit`` characters."""
    text = _INVALID.sub("�", text)
    if len(text) <= limit:
        return text
    length = limit - len(_MORE.format(len(text)))
    return text[:length] + _MORE.format(len(text) - length)


def files(root: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files below a folder with one of the endings, in the order of their names, without hidden ones.

    Symbolic links are followed within the folder, but not out of it. No folder or file is read twice, so that a loop
    of links ends; what is read by its own name is not read by that of a link.
    """
    seen, inside = set[str](), os.path.realpath(root)
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        folders[:] = [name for name in folders if not _is_alias(Path(folder, name), inside, ("",))]
        if (real := os.path.realpath(folder)) in seen or not is_within(real, inside):
            folders.clear()
            continue
        seen.add(real)
        for name in sorted(names):
            file = Path(folder, name)
            is_match = not name.startswith(".") and name.lower().endswith(endings) and file.is_file()
            is_match = is_match and not _is_alias(file, inside, endings)
            if is_match and (real := os.path.realpath(file)) not in seen and is_within(real, inside):
                seen.add(real)
                yield file


def _is_alias(path: Path, inside: str, endings: tuple[str, ...]) -> bool:
    """Tell whether a path is a link to what is read below a folder by its own name."""
    if not path.is_symlink():
        return False
    real = os.path.realpath(path)
    parts = Path(os.path.relpath(real, inside)).parts  # ".." begins with a dot too
    return real.lower().endswith(endings) and not any(part.startswith(".") for part in parts)


def other_files(root: Path, endings: tuple[str, ...]) -> dict[str, int]:
    """Return how many files below a folder have another ending, by ending, the most frequent first."""
    return dict(
        Counter(
            file.suffix.lower() or file.name
            for file in files(root, ("",))
            if not file.name.lower().endswith(endings)
        ).most_common()
    )


def digest_of(path: Path, endings: tuple[str, ...] = ()) -> str:
    """Return a hash of a file, or of the names and texts of the files with one of the endings below a folder."""
    whole = hashlib.blake2b(digest_size=8)
    for file in files(path, endings) if path.is_dir() else (path,):
        whole.update(f"{file.relative_to(path)}\0".encode("utf-8", "surrogateescape"))
        try:
            with file.open("rb") as opened:
                whole.update(hashlib.file_digest(opened, "blake2b").digest())
        except OSError as error:
            whole.update(str(error).encode())
    return whole.hexdigest()


def head_of(path: Path) -> str:
    """Return the start of a text file, empty for a folder or for what is no text: enough to tell formats apart."""
    try:
        with path.open("rb") as file:
            return file.read(_BLOCK).decode("utf-8-sig", "replace")
    except DAMAGED:
        return ""


def first_line(path: Path) -> Any:
    """Return the value of the first line of JSON Lines that can be read; None: none at the start of a file can."""
    for line in head_of(path).splitlines():
        with suppress(ValueError, RecursionError):
            return json.loads(line)
    return None


def is_within(path: str, folder: str) -> bool:
    """Tell whether a resolved path is in a resolved folder."""
    return os.path.commonpath((path, folder)) == folder


def name_below(root: Path, path: Path) -> str:
    """Return the name of a file below ``root`` in keys and sessions: its path from the root's own name on."""
    name = root.resolve().name or "root"
    below = path.relative_to(root).as_posix()
    return os.fsencode(f"{name}/{below}").decode("utf-8", "replace")
