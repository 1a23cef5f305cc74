"""SQLite's errors as those of ``priming.errors``."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import TracebackType

from priming.errors import Busy, Conflict, Corrupt, ParamError, PrimingError, StoreError
from priming.storage.sqlite.files import primary_code


class ErrorTranslation:
    """A context in which SQLite's errors become those of ``priming.errors``."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (sqlite3.Error, OSError)):
            raise translate_error(error, self._path) from error
        if isinstance(error, (OverflowError, UnicodeEncodeError)):
            raise ParamError("value", str(error), "must be a number or a text that can be stored") from error


def translate_error(error: Exception, path: Path | None) -> PrimingError:
    """The error of ``priming.errors`` for an error of SQLite."""
    where = path or "the store in memory"
    if isinstance(error, sqlite3.IntegrityError):
        return _constraint_error(error)
    if isinstance(error, sqlite3.OperationalError) and "Could not decode to UTF-8" in str(error):
        return Corrupt(f"{where} is damaged: a text in it is not UTF-8: restore it from a backup")
    if isinstance(error, sqlite3.OperationalError) and "malformed JSON" in str(error):
        return Corrupt(f"{where} is damaged: a list in it is not JSON: restore it from a backup")
    match primary_code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return Busy(f"{where} is locked by another process, which is writing: try again in a moment")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return Corrupt(f"{where} is damaged or not a database ({error}): restore it from a backup")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreError(
                f"{where} cannot be written ({error}): check the folder's permissions, or name another"
            )
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return StoreError(
                f"{where} could not be read or written ({error}): is the disk full? Nothing was changed"
            )
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return StoreError(f"{where} was closed: open it again")
    return StoreError(f"{where}: {error}")


def _constraint_error(error: sqlite3.IntegrityError) -> PrimingError:
    match error.sqlite_errorcode:
        case sqlite3.SQLITE_CONSTRAINT_UNIQUE | sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
            return Conflict(f"a row with the same identity exists ({error})")
        case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
            return Conflict(f"a row refers to a missing row, or is still referred to ({error})")
    return ParamError("row", str(error), "must hold values of the right types")
