"""A database's files: whether they are still those that were opened, who writes them, and how they are only read.

SQLite has no queue: a writer that comes at the right moment goes before one that has waited for long. So whoever has
waited for some time locks a file beside the database, the turn, and all others let it go first.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from priming.config import adoption, private_files
from priming.config.values import dataclass
from priming.errors import Corrupt, StoreError
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
    """Return why this process cannot write a database, or the journal beside it, and the remedy; None if it can.

    ``origin`` is its place if a folder led to it, whose database may not be the user's own.
    """
    if not is_own(path, origin):
        return adoption.FOREIGN
    real = path.resolve()
    reason = _why_closed(real.parent) if os.access(path, os.W_OK) else _READ_ONLY
    files = all(os.access(f"{real}{ending}", os.W_OK) for ending in ("", *_BESIDE))
    return None if files and reason == _READ_ONLY else reason


def _why_closed(folder: Path) -> str | None:
    """Tell why a folder takes no file, and the remedy; None if it takes one as large as an empty journal's index."""
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
        """Return the database that is there now, before it is opened."""
        return cls(path, _identities(path.resolve()))

    def with_journal(self) -> OpenFiles:
        """Return the same with its journal, once it is open: until then, whoever closes it last removes that."""
        real = self.path.resolve()
        return OpenFiles(self.path, (self.identities or _identities(real)) + _identities(Path(f"{real}-wal")))

    def note(self) -> None:
        """Note in the user's own folder that they are this machine's; where that is impossible, no folder counts."""
        place = os.path.realpath(self.path)
        with suppress(StoreError):
            for file, (device, number) in self.identities:
                if str(file) != place and not _is_known(place, device, number):
                    adoption.record(place, _content(device, number), adoption.YES)

    def forget(self) -> None:
        """Forget a journal that is gone: its name may come again with a folder, or at once with another process."""
        for file, identity in self.identities:
            if not os.path.lexists(file):
                adoption.forget(os.path.realpath(self.path), _content(*identity))
                if _identity(file) == identity:
                    self.note()

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
    status = _status(path)
    return None if status is None else (status.st_dev, status.st_ino)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


Signature = tuple[tuple[int, int, int], ...]


def signature(path: Path) -> Signature:
    """Return what differs once a file that was read without locks, or its journal, has been written."""
    real = path.resolve()
    states = filter(None, map(_status, (real, Path(f"{real}-wal"))))
    return tuple((status.st_ino, status.st_mtime_ns, status.st_size) for status in states)


def open_to_read(path: Path, timeout: float, *, alone: bool = False) -> tuple[sqlite3.Connection, bool]:
    """Return a connection to a database that cannot be written, and whether it sees what others write from now on.

    ``alone`` reads the file without its journal, which a folder may have brought beside it.
    A journal whose index cannot be read or made is one of a process that was killed, or a copy: it is read from a
    copy in memory.
    """
    real = path.resolve()
    journal, index = (Path(f"{real}{ending}") for ending in _BESIDE)
    if not alone and (index.exists() or _why_closed(real.parent) is None):
        live = connect(f"{real.as_uri()}?mode=ro", timeout)
        if _reads(live):
            return live, True
        live.close()
    if not alone and journal.exists() and journal.stat().st_size:
        return _copy_in_memory(real, journal), False
    return connect(f"{real.as_uri()}?immutable=1", timeout), False


def _reads(connection: sqlite3.Connection) -> bool:
    """Tell whether a connection can read, or could if no other had the lock, or the file were whole."""
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.DatabaseError as error:
        return primary_code(error) not in _CLOSED
    return True


def reader(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads, to a database of whatever permissions."""
    return open_to_read(path, _PATIENCE)[0]


def connect(address: str, timeout: float) -> sqlite3.Connection:
    """Open the database of a URI, for any thread and with explicit transactions."""
    return sqlite3.connect(address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True)


def _copy_in_memory(path: Path, journal: Path) -> sqlite3.Connection:
    """Return a copy of a database with its journal, by way of files in memory, if any: the disk may be full."""
    with private_files.temporary_folder(in_memory=True) as folder:
        copy = Path(folder, path.name)
        shutil.copyfile(path, copy)
        shutil.copyfile(journal, f"{copy}-wal")
        with closing(connect(copy.as_uri(), 0)) as source:
            return in_memory(source)


def in_memory(source: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of a database in memory."""
    copy = connect("file::memory:", 0)
    source.backup(copy)
    return copy


_HIDDEN = "tokens", "loop_sessions"
"""Tables of which nothing counts that comes with a folder: who may use a server, and commands to run."""


def is_own(path: Path, origin: str | None) -> bool:
    """Tell whether a database counts as the user's: no folder led to it, or this machine made or adopted it there.

    That holds for all its files: a journal that this machine did not leave would replace what is in the database.
    """
    if origin is None:
        return True
    if os.path.realpath(path) != origin:
        return False
    main, log, journal = (_lstat(f"{origin}{ending}") for ending in ("", "-wal", "-journal"))
    if main is None or not main.st_size or _is_known(origin, main.st_dev, main.st_ino):
        return True
    if journal is not None or (log and log.st_size and not _is_known(origin, log.st_dev, log.st_ino)):
        return False
    try:
        with closing(reader(path)) as connection:
            table = connection.execute(
                "SELECT 1 FROM sqlite_master WHERE (type, name) = ('table', 'adoptions')"
            )
            stamps = connection.execute("SELECT stamp FROM adoptions") if table.fetchone() else ()
            return any(adoption.is_stamp(stamp, origin) for (stamp,) in stamps)
    except sqlite3.DatabaseError:
        return False


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _content(device: int, number: int) -> str:
    """Return a file that this machine made, whatever is in it, as answers name it."""
    return f"file {device}:{number}"


def _is_known(place: str, device: int, number: int) -> bool:
    return adoption.answer(place, _content(device, number)) == adoption.YES


def begin(path: Path, origin: str | None) -> None:
    """Create the file of a new database, and note that this machine does.

    Raises:
        StoreError: a link of its folder leads elsewhere, or that it is the user's own cannot be kept.

    """
    place = os.path.realpath(path)
    if origin is not None:
        if not is_own(path, origin):
            raise StoreError(f"{path} {adoption.FOREIGN}")
        adoption.new_stamp(place)
    with suppress(OSError):  # SQLite says why it cannot
        private_files.create_file(path)
        status = os.stat(path)
        if not status.st_size:
            with suppress(StoreError):
                adoption.record(place, _content(status.st_dev, status.st_ino), adoption.YES)


def finish(connection: sqlite3.Connection, path: Path) -> None:
    """Stamp a database whose file this machine created."""
    place, status = os.path.realpath(path), os.stat(path)
    if _is_known(place, status.st_dev, status.st_ino):
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'adoptions'").fetchone():
            adopt(connection, path)
        adoption.forget(place, _content(status.st_dev, status.st_ino))


def adopt(connection: sqlite3.Connection, path: Path) -> None:
    """Stamp a database as one of this machine.

    Raises:
        Corrupt: it has a trigger, which would store more than anybody is shown.
        StoreError: the user's own folder cannot be written.

    """
    trigger = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchone()
    if trigger is not None:
        raise Corrupt(
            f"{path} has a trigger, {trigger[0]!r}, which Priming never makes: import what it holds"
        )
    stamp = adoption.new_stamp(os.path.realpath(path))
    connection.execute("INSERT INTO adoptions (stamp) VALUES (?)", (stamp,))


def distrust(connection: sqlite3.Connection) -> None:
    """Let a connection see a database as data of an untrusted source: views stand before tables of the same name."""
    columns = [
        name.replace('"', '""') for _, name, *_ in connection.execute("PRAGMA main.table_info(versions)")
    ]
    seen = ", ".join(
        "'untrusted' AS trust" if name.casefold() == "trust" else f'"{name}"' for name in columns
    )
    connection.execute(f"CREATE TEMP VIEW versions AS SELECT {seen} FROM main.versions")
    for table in _HIDDEN:
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE 0")


_LOCKS = Path("/proc/locks")
_FIRST, _LAST = 120, 122
"""The bytes of the journal's index that a writer locks (https://sqlite.org/walformat.html, §2.3.1)."""
_PENDING = 0x40000000
"""The first byte that a writer locks in the database file itself."""
_PAUSE = 0.01
"""The longest time, in seconds, between two looks at whose turn it is."""


def holder(path: Path) -> str | None:
    """Return the process that writes to a database, by number and name; None if nobody is seen to."""
    real = path.resolve()
    processes = {*_writers(Path(f"{real}-shm"), _FIRST, _LAST), *_writers(real, _PENDING, None)}
    names = sorted(_name(process) for process in processes)
    return " and ".join(names) or None


def take_turn(path: Path) -> int | None:
    """Lock the turn of a database, until the descriptor is closed or the process ends; None: it is another's."""
    with suppress(OSError):
        return private_files.take(_turn(path))
    return None


def give_way(path: Path, patience: float) -> None:
    """Wait while it is the turn of somebody else, but not for longer than ``patience``: it may be suspended."""
    deadline = time.monotonic() + patience
    with suppress(OSError):  # nobody ever waited for long
        descriptor = os.open(_turn(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            while time.monotonic() < deadline and not private_files.try_lock(descriptor, shared=True):
                time.sleep(random.uniform(0.001, _PAUSE))
        finally:
            os.close(descriptor)


def _turn(path: Path) -> Path:
    """Return the file that is locked by the writer whose turn it is; it stays, and is empty."""
    return path.with_name(f"{path.name}.working") / "turn"


def _writers(file: Path, first: int, last: int | None) -> Iterator[int]:
    """Yield the processes that have a lock to write within a range of bytes of a file."""
    try:
        inode = file.stat().st_ino
        lines = _LOCKS.read_text("ascii").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, *fields = line.split()
        if len(fields) != 7 or fields[0] not in ("POSIX", "OFDLCK") or fields[2] != "WRITE":
            continue  # of another kind, or one that still waits
        _, _, _, process, place, start, end = fields
        is_within = (last is None or int(start) <= last) and (end == "EOF" or int(end) >= first)
        if place.rpartition(":")[2] == str(inode) and is_within:
            yield int(process)


def _name(process: int) -> str:
    if process <= 0:
        return "a process outside of this container"
    if process == os.getpid():
        return f"another memory of this process ({process})"
    try:
        name = Path(f"/proc/{process}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return f"process {process}"
    return f"process {process} ({''.join(letter if letter.isprintable() else '?' for letter in name)})"
