"""One SQLite connection: opened safely, retried while the file is busy, with SQLite's errors translated."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from priming.config.environment import DEFAULT_PATH
from priming.config.params.store import STORE
from priming.errors import Busy, Conflict, Corrupt, ParamError, PrimingError, StoreError
from priming.storage.sqlite_files import (
    Migration,
    check_version,
    examine_file,
    migrate,
    migrations,
    primary_code,
)

_SHORT_WAIT = 0.05
_OLDEST = (3, 37, 0)
Values = Sequence[Any] | Mapping[str, Any]
T = TypeVar("T")


class Connection:
    """A connection in WAL mode with explicit transactions, retried at random intervals while another one writes.

    A file that does not exist yet is created by the first write. Until then reads are answered by an empty database
    in memory, unless another process creates the file.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        synchronous: str = "normal",
        busy_timeout: float = STORE.busy_timeout,
        steps: Sequence[Migration] | None = None,
    ) -> None:
        self.path = path
        self.busy_timeout = busy_timeout
        self._depth = 0
        self._writes = False
        self._failed = False
        self._synchronous = synchronous
        self._steps = migrations() if steps is None else steps
        if sqlite3.sqlite_version_info < _OLDEST:
            raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old: use a Python with 3.37 or newer")
        if path is not None:
            examine_file(path, newest=len(self._steps))
        self._errors = ErrorTranslation(path)
        self._missing = False
        missing = path is not None and not _has_content(path)
        if missing and path is not None:
            check_folder(path)
        self._sqlite = self._opened(None if missing else path)
        self._missing = missing

    @property
    def exists(self) -> bool:
        """Whether the database exists; one in memory always does."""
        self._look_for_file(create=False)
        return not self._missing

    def _look_for_file(self, *, create: bool) -> None:
        """Use the file instead of the empty database in memory, if it exists by now or is to be created."""
        if not self._missing or self.path is None or not (create or _has_content(self.path)):
            return
        examine_file(self.path, newest=len(self._steps))
        if create:
            make_folder(self.path)
            keep_out_of_git(self.path.absolute().parent)
        empty, self._missing = self._sqlite, False
        try:
            self._sqlite = self._opened(self.path)
        except BaseException:
            self._sqlite, self._missing = empty, True
            raise
        empty.close()

    def _opened(self, path: Path | None) -> sqlite3.Connection:
        """A new connection with the newest schema; it is this connection's own from then on."""
        with self._errors:
            self._sqlite = sqlite3.connect(
                ":memory:" if path is None else path.absolute(),
                timeout=_SHORT_WAIT,
                isolation_level=None,
                check_same_thread=False,
            )
        try:
            self._retry_while_busy(lambda: self._set_up(path))
        except BaseException:
            self._sqlite.close()
            raise
        return self._sqlite

    def _set_up(self, path: Path | None) -> None:
        with self._errors:
            execute = self._sqlite.execute
            # Read one state of the file: another process may be creating it.
            with self.transaction(write=False):
                version = int(execute("PRAGMA user_version").fetchone()[0])
                application_id = int(execute("PRAGMA application_id").fetchone()[0])
                tables = bool(execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
            check_version(path, version, application_id, tables, newest=len(self._steps))
            ((mode,),) = execute("PRAGMA journal_mode = WAL")
            if path is not None and mode != "wal":
                raise StoreError(f"{path} cannot have a journal ({mode}): name a store on a local disk")
            execute(f"PRAGMA synchronous = {self._synchronous}")
            execute("PRAGMA secure_delete = ON")
            migrate(self._sqlite, path, self._steps)
            execute("PRAGMA foreign_keys = ON")

    def _look_for_file_between(self, *, create: bool) -> None:
        """The same before a statement outside a transaction: inside one the database stays the same."""
        if self._missing and not self._depth:
            self._look_for_file(create=create)

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Execute one statement and return all its rows."""
        self._look_for_file_between(create=False)
        return self._retry_while_busy(lambda: self._rows(sql, values))

    def _rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        with self._errors:
            return self._sqlite.execute(sql, values).fetchall()

    def _cursor(self, sql: str, values: Values) -> sqlite3.Cursor:
        with self._errors:
            return self._sqlite.execute(sql, values)

    def change(self, sql: str, values: Values = ()) -> int:
        """Execute one statement that writes and return the number of rows it changed."""
        self._look_for_file_between(create=True)
        with self._errors:
            return self._sqlite.execute(sql, values).rowcount

    def many(self, sql: str, rows: Iterable[Values]) -> int:
        """Execute one statement that writes for each of ``rows`` and return the number of rows it changed."""
        self._look_for_file_between(create=True)
        with self._errors:
            return max(0, self._sqlite.executemany(sql, rows).rowcount)

    def each(self, sql: str, values: Values = (), *, batch: int = 2000) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a large read, fetched in batches."""
        self._look_for_file_between(create=False)
        cursor = self._retry_while_busy(lambda: self._cursor(sql, values))
        try:
            while True:
                with self._errors:
                    rows = cursor.fetchmany(batch)
                if not rows:
                    return
                yield from rows
        finally:
            cursor.close()

    @contextmanager
    def transaction(self, *, write: bool = True, patience: float | None = None) -> Iterator[None]:
        """``BEGIN IMMEDIATE`` … ``COMMIT``; an exception rolls back; nested blocks join the outermost.

        ``patience`` is the time in seconds to wait for another writer; None: ``busy_timeout``.
        """
        if self._depth:
            with self._nested(write):
                yield
            return
        self._look_for_file(create=write)
        self._depth, self._writes, self._failed = 1, write, False
        try:
            self._retry_while_busy(lambda: self._rows("BEGIN IMMEDIATE" if write else "BEGIN"), patience)
            yield
            if self._failed:
                raise StoreError("an earlier write in this transaction failed: nothing of it was written")
            # A commit would make the text index collect its writes, even if there are none.
            self._rows("COMMIT" if write else "ROLLBACK")
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._depth = 0

    @contextmanager
    def _nested(self, write: bool) -> Iterator[None]:
        """A nested block. After an error in one that writes, the outermost block cannot commit."""
        if write and not self._writes:
            raise StoreError("a transaction that only reads cannot write: begin one that writes")
        self._depth += 1
        try:
            yield
        except BaseException:
            self._failed = self._failed or write
            raise
        finally:
            self._depth -= 1

    def _roll_back(self) -> None:
        with self._errors:
            if self._sqlite.in_transaction:
                self._sqlite.execute("ROLLBACK")

    def copy_to(self, other: sqlite3.Connection) -> None:
        """Copy everything that is committed into an empty database; its errors are not translated."""
        self.run("SELECT 1")  # raises an error if this connection is closed
        # SQLite cannot copy from a connection in the middle of a write: it would wait for ever.
        if self.path is not None and not self._missing:
            with closing(sqlite3.connect(self.path, timeout=self.busy_timeout)) as reader:
                reader.backup(other)
        elif self._depth and self._writes:
            raise StoreError("a store in memory cannot be copied during a write: end the transaction first")
        else:
            self._sqlite.backup(other)

    def rewrite(self) -> None:
        """Rewrite the whole file and empty the journal.

        SQLite overwrites deleted rows, but not the copies that remain in a page when a row moves to another page:
        only a new file has none. ``Busy`` while another process reads an older state.
        """
        if self.path is None or not self.exists:
            return
        try:
            self._retry_while_busy(lambda: self._rows("VACUUM"))
            self._retry_while_busy(self._empty_journal)
        except StoreError as error:
            raise type(error)(
                f"the rows are erased from {self.path}, but their bytes remain until the file can be"
                f" rewritten: {error}"
            ) from error

    def _empty_journal(self) -> None:
        ((busy, _, _),) = self._rows("PRAGMA wal_checkpoint(TRUNCATE)")
        if busy:
            raise Busy("another process is reading an older state")

    def _retry_while_busy(self, attempt: Callable[[], T], patience: float | None = None) -> T:
        """Retry after pauses of random length while another process writes, until the timeout."""
        deadline = time.monotonic() + (self.busy_timeout if patience is None else patience)
        while True:
            try:
                return attempt()
            except Busy:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(random.uniform(0.001, _SHORT_WAIT))

    def close(self) -> None:
        """Close; a second call does nothing."""
        self._missing = False  # a file that appears from now on is not opened
        self._sqlite.close()


def make_folder(path: Path) -> None:
    """Create the folder of a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{path.parent} cannot be created: {error.strerror}; name a store elsewhere"
        ) from error


def check_folder(path: Path) -> None:
    """Refuse a file that can never exist, since a file is where its folder would be."""
    parent = next(parent for parent in path.absolute().parents if parent.exists())
    if not parent.is_dir():
        raise StoreError(f"{parent} is a file, not a folder; name a store elsewhere")


def keep_out_of_git(folder: Path) -> None:
    """Let git ignore all that is in a project's folder of Priming: ``git stash -u`` must not take the store away."""
    if folder.name == DEFAULT_PATH.parent.name:
        with suppress(OSError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
            file.write("*\n")


def _has_content(path: Path) -> bool:
    """Whether a file exists and is not empty: an empty file is a new store."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


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
    match primary_code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return Busy(f"{where} is locked by another process that is writing: try again in a moment")
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
