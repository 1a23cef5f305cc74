"""Whether a database's files are still those that were opened, and how they are read where nothing can be written."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from priming.config import adoption, private_files
from priming.config.store_urls import place_of
from priming.config.values import dataclass
from priming.errors import StoreError
from priming.storage.sqlite.files import primary_code

Identity = tuple[int, int]
_PATIENCE = 5.0
_BESIDE = "-wal", "-shm"
_ROOM = 1 << 16
_READ_ONLY = (
    "cannot be written: the file, its folder or the disk is read-only: change their permissions, or name another"
    " store"
)
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)


def why_unwritable(path: Path, origin: str | None = None) -> str | None:
    """Why this process cannot write a database, or the journal beside it, and the remedy; None if it can.

    ``origin`` is its place if a folder led to it, whose database may not be the user's own.
    """
    if not is_own(path, origin):
        return adoption.FOREIGN
    real = path.resolve()
    reason = _why_closed(real.parent) if os.access(path, os.W_OK) else _READ_ONLY
    files = all(os.access(f"{real}{ending}", os.W_OK) for ending in ("", *_BESIDE))
    return None if files and reason == _READ_ONLY else reason


def _why_closed(folder: Path) -> str | None:
    """Why no file can be made in a folder, and the remedy; None if one can, as large as an empty journal's index."""
    if not os.access(folder, os.W_OK):
        return _READ_ONLY
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_ROOM))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return f"cannot be written: the disk is full ({error.strerror}): free some space, or name another store"
    return None


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """The files of an open database, by what tells each from every other file that exists."""

    path: Path
    identities: tuple[tuple[Path, Identity], ...]

    @classmethod
    def of(cls, path: Path) -> OpenFiles:
        """The database that is there now, before it is opened."""
        return cls(path, _identities(path.resolve()))

    def with_journal(self) -> OpenFiles:
        """The same with its journal, once it is open: until then, whoever closes it last removes that."""
        real = self.path.resolve()
        return OpenFiles(self.path, (self.identities or _identities(real)) + _identities(Path(f"{real}-wal")))

    def check(self) -> None:
        """Raise ``StoreError`` if a name no longer leads to the file that is open: what is written would be lost."""
        for file, identity in self.identities:
            now = _identity(file)
            if now != identity:
                event = "was deleted or moved" if now is None else "was replaced by another file"
                raise StoreError(
                    f"{file} {event} while it was open, so nothing can be stored in it:"
                    " open the store again (restart a server of it)"
                )


def _identities(path: Path) -> tuple[tuple[Path, Identity], ...]:
    identity = _identity(path)
    return () if identity is None else ((path, identity),)


def _identity(path: Path) -> Identity | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


Signature = tuple[tuple[int, int, int], ...]


def signature(path: Path) -> Signature:
    """What differs once a file that was read without locks, or its journal, has been written."""
    real, states = path.resolve(), []
    for file in (real, Path(f"{real}-wal")):
        try:
            status = file.stat()
        except OSError:
            continue
        states.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(states)


def open_to_read(path: Path, timeout: float) -> tuple[sqlite3.Connection, bool]:
    """A connection to a database that cannot be written, and whether it sees what others write from now on.

    A journal whose index cannot be read or made is one of a process that was killed, or a copy: it is read from a
    copy in memory.
    """
    real = path.resolve()
    journal, index = (Path(f"{real}{ending}") for ending in _BESIDE)
    if index.exists() or _why_closed(real.parent) is None:
        live = _connect(f"{real.as_uri()}?mode=ro", timeout)
        if _reads(live):
            return live, True
        live.close()
    if journal.exists() and journal.stat().st_size:
        return _copy_in_memory(real, journal), False
    return _connect(f"{real.as_uri()}?immutable=1", timeout), False


def _reads(connection: sqlite3.Connection) -> bool:
    """Whether a connection can read, or could if no other had the lock, or the file were whole."""
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.DatabaseError as error:
        return primary_code(error) not in _CLOSED
    return True


def reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads, to a database of whatever permissions."""
    return open_to_read(path, _PATIENCE)[0]


def _connect(address: str, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True)


def _copy_in_memory(path: Path, journal: Path) -> sqlite3.Connection:
    """A copy of a database with its journal, by way of files in memory, where there are any: the disk may be full."""
    with private_files.temporary_folder(in_memory=True) as folder:
        copy = Path(folder, path.name)
        shutil.copyfile(path, copy)
        shutil.copyfile(journal, f"{copy}-wal")
        with closing(_connect(copy.as_uri(), 0)) as source:
            return in_memory(source)


def in_memory(source: sqlite3.Connection) -> sqlite3.Connection:
    """A copy of a database in memory."""
    copy = _connect("file::memory:", 0)
    source.backup(copy)
    return copy


_UNTRUSTED = {"trust": "'untrusted'"}
_HIDDEN = "tokens", "loop_sessions"
"""Tables of which nothing counts that comes with a folder: who may use a server, and commands to run."""
_OF_INDEX = "words", "sqlite_"


def is_own(path: Path, origin: str | None) -> bool:
    """Whether a database counts as the user's own: no folder led to it, this machine stamped it, or it is new."""
    if origin is None or not path.exists() or not path.stat().st_size:
        return True
    with closing(reader(path)) as connection:
        has_stamps = ("table", "adoptions") in _schema(connection)
        stamps = connection.execute("SELECT stamp FROM adoptions") if has_stamps else ()
        return any(adoption.is_stamp(stamp, origin) for (stamp,) in stamps) or is_new(connection)


def is_new(connection: sqlite3.Connection) -> bool:
    """Whether nothing was stored in a database yet, nor anything prepared that would store more than it is told."""
    schema = _schema(connection)
    tables = [name for kind, name in schema if kind == "table" and not name.startswith(_OF_INDEX)]
    if any(kind != "table" and name != "known_texts" for kind, name in schema):
        return False
    quoted = ('"{}"'.format(name.replace('"', '""')) for name in tables)
    return not any(connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in quoted)


def _schema(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("SELECT type, name FROM sqlite_master WHERE type <> 'index'").fetchall()


def adopt(connection: sqlite3.Connection, path: Path, origin: str | None) -> None:
    """Stamp a database as one of this machine; where none can be made, only one that no folder led to goes without.

    Raises:
        StoreError: the user's own folder cannot be written.

    """
    try:
        stamp = adoption.new_stamp(origin or place_of(path))
    except StoreError:
        if origin is not None:
            raise
    else:
        connection.execute("INSERT INTO adoptions (stamp) VALUES (?)", (stamp,))


def distrust(connection: sqlite3.Connection) -> None:
    """Let a connection see a database as data of an untrusted source: views stand before tables of the same name."""
    columns = [name for _, name, *_ in connection.execute("PRAGMA main.table_info(versions)")]
    seen = ", ".join(f"{_UNTRUSTED[name]} AS {name}" if name in _UNTRUSTED else name for name in columns)
    connection.execute(f"CREATE TEMP VIEW versions AS SELECT {seen} FROM main.versions")
    for table in _HIDDEN:
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE 0")
