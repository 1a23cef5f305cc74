"""One SQLite connection: opened safely, retried while the file is busy, with SQLite's errors translated."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, Unpack

from priming.config.adoption import FOREIGN
from priming.config.params.limits import STORE
from priming.errors import Busy, Conflict, StoreError
from priming.storage.copies import end_old_backups
from priming.storage.sql.dialect import NO_NAMESPACE, WRITE, Values
from priming.storage.sqlite import presence
from priming.storage.sqlite.files import (
    UNTRANSLATED,
    ErrorTranslation,
    Opening,
    check_folder,
    check_version,
    examine_file,
    has_content,
    keep_out_of_git,
    make_folder,
    migrate,
    migrations,
    translate_error,
)
from priming.storage.sqlite.presence import OpenFiles, give_way, holder, take_turn

_SHORT_WAIT, _NEXT_WAIT = 0.05, 0.002
_OLDEST = (3, 37, 0)
T = TypeVar("T")


def _bound(namespace: str, values: Values | None) -> dict[str, Any]:
    """Return the values of a statement, the namespace among them, lists as JSON."""
    bound: dict[str, Any] = {"namespace": namespace}
    for name, value in values.items() if values else ():
        bound[name] = json.dumps(value) if isinstance(value, list) else value
    return bound


class Connection:
    """A connection in WAL mode with explicit transactions, retried at random intervals while another one writes.

    A file that does not exist yet is created by the first write. Until then reads are answered by an empty database
    in memory, unless another process creates the file.

    A file that cannot be written, or whose folder or disk cannot, is opened to read. So is one to which a folder led,
    its place being ``origin``, if this machine neither made nor adopted it: then as data of an untrusted source.
    """

    def __init__(self, path: Path | None, **how: Unpack[Opening]) -> None:
        self.path, self._origin = path, how.get("origin")
        self.busy_timeout = how.get("busy_timeout", STORE.busy_timeout)
        self._depth = 0
        self._writes = False
        self._failed = False
        self._synchronous = how.get("synchronous", "normal")
        self._steps = how.get("steps", migrations())
        if sqlite3.sqlite_version_info < _OLDEST:
            raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old: use a Python with 3.37 or newer")
        if path is not None:
            examine_file(path, newest=len(self._steps))
        self.errors = ErrorTranslation(path)
        self._missing = self._reads_only = self.is_foreign = False
        self._files: OpenFiles | None = None
        self._frozen: presence.Signature | None = None
        missing = path is not None and not has_content(path)
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
        if create and self._reads_only and self.path is not None:
            reason = presence.why_unwritable(self.path, self._origin)
            if reason is not None:
                raise StoreError(f"{self.path} {reason}")
            self._replace_by_file(self.path)
        if self._frozen is not None and self.path and presence.signature(self.path) != self._frozen:
            self._replace_by_file(self.path)
        if not self._missing or self.path is None or not (create or has_content(self.path)):
            return
        examine_file(self.path, newest=len(self._steps))
        if create:
            make_folder(self.path)
            keep_out_of_git(self.path.absolute().parent)
            presence.begin(self.path, self._origin)
        self._replace_by_file(self.path)

    def _replace_by_file(self, path: Path) -> None:
        """Go on with the file as it is now."""
        former, was_missing, self._missing = self._sqlite, self._missing, False
        try:
            self._sqlite = self._opened(path)
        except BaseException:
            self._sqlite, self._missing = former, was_missing
            raise
        former.close()

    def _opened(self, path: Path | None) -> sqlite3.Connection:
        """Return a new connection with the newest schema; it is this connection's own from then on."""
        files = None if path is None else OpenFiles.of(path)
        self._files, self._frozen = None, None
        with self.errors:
            closed = presence.why_unwritable(path, self._origin) if path and has_content(path) else None
            self._reads_only, self.is_foreign = closed is not None, closed == FOREIGN
            if path is not None and self._reads_only:
                self._frozen = presence.signature(path)
                self._sqlite, is_live = presence.open_to_read(path, _SHORT_WAIT, alone=self.is_foreign)
                self._frozen = None if is_live else self._frozen
            else:
                address = "file::memory:" if path is None else path.absolute().as_uri()
                self._sqlite = presence.connect(address, _SHORT_WAIT)
        try:
            self._retry_while_busy(self._set_up_to_read if self._reads_only else self._set_up, path)
        except BaseException:
            self._sqlite.close()
            raise
        self._files = None if files is None or self._reads_only else files.with_journal()
        if self._files is not None and path is not None:
            self._files.note()  # before the file itself is no longer noted: others may be about to open it
            self._retry_while_busy(self._stamp, path)
        return self._sqlite

    def _stamp(self, path: Path) -> None:
        with self.errors:
            presence.finish(self._sqlite, path)

    def _set_up_to_read(self, path: Path | None) -> None:
        with self.errors:
            ((version,),) = self._sqlite.execute("PRAGMA user_version")
            ((application_id,),) = self._sqlite.execute("PRAGMA application_id")
            check_version(path, version, application_id, True, newest=len(self._steps))
            self._sqlite.execute("PRAGMA temp_store = MEMORY")
            if path is not None and version < len(self._steps):
                self._frozen = presence.signature(path)
                older, self._sqlite = self._sqlite, presence.in_memory(self._sqlite)
                older.close()
                migrate(self._sqlite, None, self._steps)
            if self.is_foreign:
                presence.distrust(self._sqlite)

    def _set_up(self, path: Path | None) -> None:
        with self.errors:
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
        if path is not None:
            end_old_backups(path)

    def _look_for_file_between(self, *, create: bool) -> None:
        """Do the same before a statement outside a transaction: inside one the database stays the same."""
        if not self._depth:
            self._look_for_file(create=create)

    @property
    def raw(self) -> sqlite3.Connection:
        """The connection of SQLite, for reads that go on past damage."""
        self._look_for_file_between(create=False)
        return self._sqlite

    @property
    def place(self) -> str:
        """The database as errors name it."""
        return str(self.path or "the store in memory")

    def run(self, namespace: str, sql: str, values: Values | None = None) -> list[tuple[Any, ...]]:
        """Return all rows of one statement that reads."""
        self._look_for_file_between(create=False)
        return self._retry_while_busy(self._rows, sql, _bound(namespace, values))

    def of_every(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of one statement over every namespace."""
        return self.run(NO_NAMESPACE, sql)

    def _rows(self, sql: str, values: Values | tuple[()] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._sqlite.execute(sql, values).fetchall()
        except UNTRANSLATED as error:
            raise translate_error(error, self.path) from error

    def _cursor(self, sql: str, values: Values) -> sqlite3.Cursor:
        try:
            return self._sqlite.execute(sql, values)
        except UNTRANSLATED as error:
            raise translate_error(error, self.path) from error

    def change(self, namespace: str, sql: str, values: Values | None = None) -> int:
        """Execute one statement that writes and return the number of rows it changed."""
        self._look_for_file_between(create=True)
        count = self._cursor(sql, _bound(namespace, values)).rowcount
        self._check_presence()
        return count

    def many(self, namespace: str, sql: str, rows: Iterable[Sequence[Any]]) -> int:  # noqa: ARG002
        """Execute one statement that writes for each of ``rows`` and return the number of rows it changed."""
        self._look_for_file_between(create=True)
        try:
            count = max(0, self._sqlite.executemany(sql, rows).rowcount)
        except UNTRANSLATED as error:
            raise translate_error(error, self.path) from error
        self._check_presence()
        return count

    def _check_presence(self) -> None:
        """Refuse, outside a transaction, a write whose file is no longer the one of that name."""
        if self._files is not None and not self._depth:
            self._files.check()

    def each(
        self, namespace: str, sql: str, values: Values | None = None, *, batch: int = 2000
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a large read, fetched in batches."""
        self._look_for_file_between(create=False)
        cursor = self._retry_while_busy(self._cursor, sql, _bound(namespace, values))
        try:
            while True:
                with self.errors:
                    rows = cursor.fetchmany(batch)
                if not rows:
                    return
                yield from rows
        finally:
            with suppress(sqlite3.ProgrammingError):  # the connection was closed first
                cursor.close()

    @contextmanager
    def transaction(
        self,
        *,
        write: bool = True,
        patience: float | None = None,
        lock: str = WRITE,  # noqa: ARG002
    ) -> Iterator[None]:
        """Run a block in ``BEGIN IMMEDIATE`` … ``COMMIT``; an exception rolls back; nested blocks join the outermost.

        ``patience`` is the time in seconds to wait for another writer; None: ``busy_timeout``.
        """
        if self._depth:
            with self._nested(write):
                yield
            return
        self._look_for_file(create=write)
        if write:
            self._check_presence()
            self._give_way(time.monotonic() + (self.busy_timeout if patience is None else patience))
        self._depth, self._writes, self._failed = 1, write, False
        try:
            self._retry_while_busy(self._rows, "BEGIN IMMEDIATE" if write else "BEGIN", patience=patience)
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
        if write:
            self._check_presence()

    def lock(self, namespace: str, name: str = WRITE) -> None:
        """Take no lock of a namespace: a transaction has that of the file."""

    def notify(self, namespace: str) -> None:
        """Announce nothing: a file tells nobody that it was written to."""

    @contextmanager
    def _nested(self, write: bool) -> Iterator[None]:
        """Open a nested block. After an error in one that writes, the outermost block cannot commit."""
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
        with self.errors:
            if self._sqlite.in_transaction:
                self._sqlite.execute("ROLLBACK")

    def copy_to(self, other: sqlite3.Connection) -> None:
        """Copy everything that is committed into an empty database; its errors are not translated."""
        self.run(NO_NAMESPACE, "SELECT 1")  # raises an error if this connection is closed
        # SQLite cannot copy from a connection in the middle of a write: it would wait for ever.
        if self.path is not None and not self._missing and not self._reads_only:
            with closing(sqlite3.connect(self.path, timeout=self.busy_timeout)) as reader:
                reader.backup(other)
        elif self._depth and self._writes:
            raise Conflict("a store in memory is not put back, nor copied during a write: open one in a file")
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
            self._retry_while_busy(self._rows, "VACUUM")
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

    def _retry_while_busy(
        self, attempt: Callable[..., T], *arguments: Any, patience: float | None = None
    ) -> T:
        """Retry after pauses of random length while another process writes, until the timeout.

        After ``turn_after`` it is this connection's turn, if nobody has waited for longer.
        """
        began = time.monotonic()
        deadline = began + (self.busy_timeout if patience is None else patience)
        turn: int | None = None
        try:
            while True:
                try:
                    return attempt(*arguments)
                except Busy as error:
                    waited = time.monotonic() - began
                    if began + waited >= deadline:
                        raise self._named(error, waited) from error
                    if turn is None and self.path is not None and waited >= STORE.turn_after:
                        turn = take_turn(self.path)
                    time.sleep(random.uniform(0.001, _SHORT_WAIT if turn is None else _NEXT_WAIT))
                    if turn is None:
                        self._give_way(deadline)
        finally:
            if turn is not None:
                os.close(turn)

    def _give_way(self, deadline: float) -> None:
        """Let a writer go first that has waited for long."""
        if self.path is not None:
            give_way(self.path, min(STORE.turn_after, deadline - time.monotonic()))

    def _named(self, error: Busy, waited: float) -> Busy:
        """Return the error, with who holds the lock as far as the system says so, and how long it was waited for."""
        holding = None if self.path is None else holder(self.path)
        if holding is None:
            return error
        return Busy(
            f"{self.path} is locked by {holding}, which is writing; waited {waited:.1f} s: try again when it has"
            " finished, or end it"
        )

    def close(self) -> None:
        """Close; a second call does nothing."""
        self._missing, self._frozen = False, None  # a file that appears from now on is not opened
        self._sqlite.close()
        if self._files is not None:
            self._files.forget()
