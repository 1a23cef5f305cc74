"""Which process holds the write lock of a database, as Linux lists it; elsewhere nobody can say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_LOCKS = Path("/proc/locks")
_FIRST, _LAST = 120, 122
"""The bytes of the journal's index that a writer locks (https://sqlite.org/walformat.html, §2.3.1)."""
_PENDING = 0x40000000
"""The first byte that a writer locks in the database file itself."""


def holder(path: Path) -> str | None:
    """The process that writes to a database, by number and name; None if nobody is seen to."""
    real = path.resolve()
    processes = {*_writers(Path(f"{real}-shm"), _FIRST, _LAST), *_writers(real, _PENDING, None)}
    names = sorted(_name(process) for process in processes)
    return " and ".join(names) or None


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
