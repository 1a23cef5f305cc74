"""Reading the SQLite files of other programs: only reading, whether they are running or not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any

from priming.errors import ParamError
from priming.storage.questions import suggestion
from priming.transfer.importers import Entry, Format, Item, Skipped
from priming.transfer.reading import (
    checked_entry,
    clean_text,
    digest_of,
    fields_of,
    label,
    parse_json,
    skipping,
    time_of,
    unreadable,
)

Columns = Mapping[str, Any]
StoredMemory = tuple[Collection[Any], str, Callable[[str], Mapping[str, Any]]]
"""The names that a memory has, None for that of everybody, where it stands, and what reads its arguments."""
_HEADER = b"SQLite format 3\0"


def has_tables(path: Path, *names: str) -> bool:
    """Tell whether a file is a database of SQLite that has some tables."""
    try:
        with path.open("rb") as file:
            if file.read(len(_HEADER)) != _HEADER:
                return False
        with _opened(path) as database:
            return _tables(database) >= {*names}
    except (OSError, sqlite3.Error):
        return False


def rows(path: Path, query: str, *needed: str) -> Iterator[Columns]:
    """Yield the rows of a query, by column and read lazily; a time or a text that is no UTF-8 is a text all the same.

    Raises:
        ParamError: the file cannot be read, or lacks one of the tables that are needed.

    """
    try:
        with _opened(path) as database:
            if missing := {*needed} - _tables(database):
                rule = f"must be a database with the table {min(missing)}"
                raise ParamError.of([f"path = {str(path)!r}: {rule}"])
            for row in database.execute(query):
                yield dict(row)
    except (OSError, sqlite3.Error) as error:
        raise unreadable(path, error) from error


def store_format(
    name: str,
    shape: str,
    memories: Callable[[Path, str | None], Iterator[StoredMemory | Skipped]],
    fits: Callable[[Path], bool],
    *,
    files: Callable[[Path], Iterable[Path]] = lambda path: [path],
    place: Callable[[Path], Path] = Path.absolute,
) -> Format:
    """Return the format of a store of which the memories of a name alone may be read: what is of others is not gone.

    ``memories`` reads a path, and is told the name, ``files`` are its databases, ``place`` is what names the store.
    """

    def read(path: Path, *, only: str | None = None) -> Iterator[Item]:
        source = label(f"{name}:{place(path)}{f'/{only}' if only else ''}")
        names: dict[str, None] = {}
        for memory in memories(path, only):
            if isinstance(memory, Skipped):
                yield memory
                continue
            own, where, arguments = memory
            names |= dict.fromkeys(texts(own))
            if only is None or only in own or None in own:
                yield from skipping(map(partial(_entry, source, where), [arguments]))
        if only is not None and only not in names:
            others = suggestion(only, names, bool) or ": nothing there has a name"
            yield Skipped(ParamError("only", only, f"has no memories there{others}"), hides=False)

    def digest(path: Path, only: str = "") -> str:
        return "".join([only, *map(state_of, files(path))])

    return Format(read, shape, fits, digest, place)


def _entry(source: str, where: str, arguments: Callable[[str], Mapping[str, Any]]) -> Entry:
    own = arguments(where)
    return checked_entry({**own, "content": clean_text(own["content"]), "source": source}, where)


def state_of(path: Path) -> str:
    """Return a hash of a database, with what its program has not yet moved into the file."""
    log = path.with_name(f"{path.name}-wal")
    return digest_of(path) + (digest_of(log) if log.is_file() else "")


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    path.open("rb").close()  # its error says more than SQLite's
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        database.row_factory = sqlite3.Row
        database.text_factory = partial(str, encoding="utf-8", errors="replace")
        yield database


def _tables(database: sqlite3.Connection) -> set[str]:
    """Return the names of the tables, not of views, which could be anything."""
    return {str(name) for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def json_fields(text: Any, where: str) -> dict[str, Any]:
    """Return the fields of an object in JSON, which may be stored as bytes; none if there is no text."""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return fields_of(parse_json(text, where)) if isinstance(text, str) and text.strip() else {}


def texts(values: Iterable[Any]) -> list[str]:
    """Return those of some values that are texts and not blank."""
    return [value for value in values if isinstance(value, str) and value.strip()]


def in_utc(value: Any, where: str) -> Any:
    """Return a time of a database; one without a zone is UTC, as SQLite writes it."""
    return time_of(value, where, lambda at: at.replace(tzinfo=UTC))
