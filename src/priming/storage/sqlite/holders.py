"""Which process holds the write lock of a database, as Linux lists it, and whose turn it is to be next.

SQLite has no queue: a writer that comes at the right moment goes before one that has waited for long. So whoever has
waited for some time locks a file beside the database, the turn, and all others let it go first.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from priming.config import private_files

try:
    import fcntl
except ImportError:  # a system without such locks: whoever comes first is served first
    fcntl = None  # type: ignore[assignment]

_LOCKS = Path("/proc/locks")
_FIRST, _LAST = 120, 122
"""The bytes of the journal's index that a writer locks (https://sqlite.org/walformat.html, §2.3.1)."""
_PENDING = 0x40000000
"""The first byte that a writer locks in the database file itself."""
_PAUSE = 0.01
"""The longest time, in seconds, between two looks at whose turn it is."""


def holder(path: Path) -> str | None:
    """The process that writes to a database, by number and name; None if nobody is seen to."""
    real = path.resolve()
    processes = {*_writers(Path(f"{real}-shm"), _FIRST, _LAST), *_writers(real, _PENDING, None)}
    names = sorted(_name(process) for process in processes)
    return " and ".join(names) or None


def take_turn(path: Path) -> int | None:
    """Lock the turn of a database, until the descriptor is closed or the process ends; None: it is another's."""
    if fcntl is None:
        return None
    file = _turn(path)
    try:
        private_files.make_folder(file.parent)
        private_files.create_file(file)
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def give_way(path: Path, patience: float) -> None:
    """Wait while it is the turn of somebody else, but not for longer than ``patience``: it may be suspended."""
    if fcntl is None:
        return
    try:
        descriptor = os.open(_turn(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return  # nobody ever waited for long
    try:
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            time.sleep(random.uniform(0.001, _PAUSE))
    finally:
        os.close(descriptor)


def _turn(path: Path) -> Path:
    """The file that is locked by the writer whose turn it is; it stays, and is empty."""
    return path.with_name(f"{path.name}.working") / "turn"


def _writers(file: Path, first: int, last: int | None) -> Iterator[int]:
    """The processes that have a lock to write within a range of bytes of a file."""
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
