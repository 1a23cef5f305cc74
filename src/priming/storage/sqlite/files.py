"""Database files: examined before they are opened, and migrated to the newest schema; and SQLite's errors.

SQLite applies a file's journal when it opens it, and may write to the file when it closes it. A file that is newer,
foreign or damaged is therefore recognised beforehand and not modified.

The examination must not call ``open`` on a database file: closing it would drop the locks that other connections of
this process hold (https://sqlite.org/howtocorrupt.html, §2.2). SQLite reads it as an immutable file. The journal has
no locks.
"""

from __future__ import annotations

import functools
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from importlib import resources
from io import SEEK_CUR
from pathlib import Path
from typing import BinaryIO, TypedDict

from priming.config.environment import DEFAULT_PATH
from priming.config.private_files import create_file, open_file, replacing
from priming.config.private_files import make_folder as make_private_folder
from priming.config.values import dataclass
from priming.errors import Busy, Conflict, Corrupt, ParamError, PrimingError, SchemaTooNew, StoreError

UNTRANSLATED = sqlite3.Error, OSError, OverflowError, UnicodeEncodeError
"""What SQLite raises, and what the module raises for values that it cannot send."""
_HEADER = 100
_JOURNAL_MAGIC = (0x377F0682, 0x377F0683)
_JOURNAL_HEADER, _FRAME_HEADER = 32, 24


@dataclass(frozen=True, slots=True)
class _Journal:
    """The committed part of a write-ahead log: its pages, the content of page 1, and the file's size in pages."""

    pages: frozenset[int] = frozenset()
    first: bytes | None = None
    size: int = 0


def examine_file(path: Path, newest: int) -> None:
    """Refuse a file that is not a Priming store, too new, or truncated; a missing or empty file is a new store."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder: name a file, such as {path / 'memory.db'}")
        if not path.exists():
            return
        if not path.is_file():
            raise StoreError(f"{path} is not a file: name one, such as {path.with_name('memory.db')}")
        # A file that another process is extending may seem truncated; the second examination settles it.
        shortage = _shortage(path, newest) and _shortage(path, newest)
        if shortage:
            raise Corrupt(
                f"{path} is damaged or truncated ({shortage}): restore it from a backup; it was not changed"
            )
    except OSError as error:
        raise StoreError(f"{error.filename or path} cannot be read: {error.strerror}") from error


def _shortage(path: Path, newest: int) -> str | None:
    """Return what a truncated file lacks, or None. The journal is read first: pages move from it to the file."""
    journal = _journal(path.with_name(path.name + "-wal"))
    actual = path.stat().st_size
    if actual == 0:
        return f"it is empty, but has a journal of {journal.size} pages" if journal.size else None
    if journal.first is None:
        return _shortage_of_file(path, newest)
    size, version, application_id = struct.unpack(">16xH42xI4xI28x", journal.first)
    size = 65536 if size == 1 else size
    check_version(path, version, application_id, tables=journal.size > 1, newest=newest)
    missing = range(actual // size + 1, journal.size + 1)
    if any(page not in journal.pages for page in missing):
        return f"{actual} of {size * journal.size} bytes"
    return None


def _shortage_of_file(path: Path, newest: int) -> str | None:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as reader:
            ((version,),) = reader.execute("PRAGMA user_version")
            ((application_id,),) = reader.execute("PRAGMA application_id")
            ((tables,),) = reader.execute("SELECT count(*) FROM sqlite_master")
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        code = primary_code(error)
        if code == sqlite3.SQLITE_CORRUPT or isinstance(error, UnicodeDecodeError):
            return f"{path.stat().st_size} bytes"
        if code == sqlite3.SQLITE_NOTADB:
            raise Corrupt(
                f"{path} is not a Priming database: name another file; it was not changed"
            ) from error
        raise StoreError(f"{path} cannot be read: {error}") from error
    check_version(path, version, application_id, bool(tables), newest)
    return None


def keep_out_of_git(folder: Path) -> None:
    """Let git ignore all that is in a project's folder of Priming: ``git stash -u`` must not take the store away."""
    if folder.name == DEFAULT_PATH.parent.name:
        with suppress(OSError), (folder / ".gitignore").open("a+", encoding="utf-8") as file:
            file.seek(0)
            text = file.read()
            last = text.split()[-1:]  # which counts
            file.write("" if last in (["*"], ["memory.db*"]) else "\nmemory.db*\n" if last else "*\n")


def primary_code(error: Exception) -> int:
    """Return the primary result code of an error of SQLite; 0 for other errors."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _journal(path: Path) -> _Journal:
    """Read the committed part of a write-ahead log; only the salt is compared, not the checksums."""
    try:
        with open_file(path, buffering=0) as log:
            head = log.read(_JOURNAL_HEADER)
            if len(head) < _JOURNAL_HEADER:
                return _Journal()
            magic, _, size, _, salt = struct.unpack(">IIII8s8x", head)
            return _committed(log, size, salt) if magic in _JOURNAL_MAGIC else _Journal()
    except FileNotFoundError:
        return _Journal()


def _committed(log: BinaryIO, size: int, salt: bytes) -> _Journal:
    journal, pages, first = _Journal(), set[int](), None
    frame = log.read(_FRAME_HEADER + _HEADER) or b""
    while len(frame) == _FRAME_HEADER + _HEADER:
        page, committed, frame_salt = struct.unpack_from(">II8s", frame)
        if frame_salt != salt:
            break
        pages.add(page)
        if page == 1:
            first = frame[_FRAME_HEADER:]
        if committed:
            journal = _Journal(frozenset(pages), first, committed)
        log.seek(size - _HEADER, SEEK_CUR)
        frame = log.read(_FRAME_HEADER + _HEADER) or b""
    return journal


def make_folder(path: Path) -> None:
    """Create the folder of a file."""
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise StoreError(
            f"{path.parent} cannot be created: {error.strerror}; name a store elsewhere"
        ) from error


def check_folder(path: Path) -> None:
    """Refuse a file that can never exist, since a file is where its folder would be."""
    parent = next(parent for parent in path.absolute().parents if parent.exists())
    if not parent.is_dir():
        raise StoreError(f"{parent} is a file, not a folder; name a store elsewhere")


def has_content(path: Path) -> bool:
    """Tell whether a file exists and is not empty: an empty file is a new store."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


APPLICATION_ID = 0x50524D47
"""``PRMG``: the mark of a Priming store in the header of the file."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema; numbers begin at 1 and have no gaps."""

    number: int
    name: str
    sql: str


class Opening(TypedDict, total=False):
    """How a store in a file is opened."""

    synchronous: str
    busy_timeout: float
    steps: Sequence[Migration]
    origin: str | None


@functools.cache
def migrations() -> tuple[Migration, ...]:
    """Return the migrations of this version, in order; the first is ``migrations/001_initial.sql``."""
    folder = resources.files("priming.storage.sqlite").joinpath("migrations")
    texts = {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".sql")}
    return tuple(
        Migration(int(name.partition("_")[0]), name.removesuffix(".sql"), texts[name])
        for name in sorted(texts)
    )


def check_version(path: object, version: int, application_id: int, tables: bool, newest: int) -> None:
    """Refuse a database of another program or of a newer version of Priming."""
    if application_id != APPLICATION_ID and (application_id or version or tables):
        raise Corrupt(f"{path} is a database of another program: name another file; it was not changed")
    if version > newest:
        raise SchemaTooNew(
            f"{path} has schema {version}, but this Priming supports up to {newest}: install a newer Priming"
        )


def migrate(connection: sqlite3.Connection, path: Path | None, steps: Sequence[Migration]) -> None:
    """Migrate the schema to the last of ``steps``, with a backup before the first change to existing data.

    Several processes may open a file at once: each step takes the write lock, checks the version again, and only then
    makes the backup, which so has everything that was written under the old schema.
    """
    if path is None and steps and _version(connection) == 0:
        with closing(sqlite3.connect(":memory:")) as model:
            model.deserialize(_empty(tuple(steps)))
            model.backup(connection)
        return
    if steps and _version(connection) == 0:
        path = None
        with _locked(connection, steps[-1]):
            for step in steps if _version(connection) == 0 else ():
                _take(connection, step)
    for step in steps:
        if _version(connection) < step.number:
            with _locked(connection, step):
                if _version(connection) < step.number:
                    if path is not None:
                        _backup(path, step.number - 1)
                        path = None
                    _take(connection, step)


@functools.cache
def _empty(steps: tuple[Migration, ...]) -> bytes:
    """Return an empty database as ``steps`` make it, of which one in memory is a copy in no time."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        for step in steps:
            _take(model, step)
        return model.serialize()


def _take(connection: sqlite3.Connection, step: Migration) -> None:
    for statement in sql_statements(step.sql):
        connection.execute(statement)
    _mark(connection, step)


def _mark(connection: sqlite3.Connection, step: Migration) -> None:
    connection.execute(f"PRAGMA user_version = {step.number}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


@contextmanager
def _locked(connection: sqlite3.Connection, step: Migration) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, (sqlite3.Error, sqlite3.Warning, OSError)):
            raise StoreError(f"migration {step.name} failed and was rolled back: {error}") from error
        raise


def sql_statements(sql: str) -> list[str]:
    """Split a script into statements (``executescript`` would commit the transaction)."""
    complete, pending = [], ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            complete.append(pending)
            pending = ""
    if pending.strip():
        raise StoreError(f"a migration ends in the middle of a statement: {pending.strip()[:60]!r}")
    return complete


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _backup(path: Path, version: int) -> None:
    """Copy the file beside itself, atomically; the backup of an earlier attempt is replaced."""
    target = path.with_name(f"{path.name}.schema-{version}.backup")
    partial = target.with_name(target.name + ".partial")
    with replacing(target, partial):
        partial.unlink(missing_ok=True)
        create_file(partial)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)


class ErrorTranslation:
    """A context in which SQLite's errors become those of ``priming.errors``."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, UNTRANSLATED):
            raise translate_error(error, self._path) from error


def translate_error(error: Exception, path: Path | None) -> PrimingError:
    """Return the error of ``priming.errors`` for one of ``UNTRANSLATED``."""
    if isinstance(error, (OverflowError, UnicodeEncodeError)):
        return ParamError("value", str(error), "must be a number or a text that can be stored")
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
