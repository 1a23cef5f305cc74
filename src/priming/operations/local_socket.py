"""The Unix socket of a store: its path, its permissions, and the greeting by which a client knows the server.

Server and client take the path from the same function. A client uses the server only if its greeting is as expected.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import stat
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from priming.config import environment, private_files
from priming.config.store_urls import Location
from priming.config.variables import VERSION
from priming.errors import ParamError, StoreError

if TYPE_CHECKING:
    from priming.config.settings import Settings

LONGEST = 107
"""Maximum length of the path of a socket, in bytes, on every system."""
_BY_SIGNAL = 128
"""The status of a process that a signal ended is this and the signal's number."""
MESSAGE_BYTES = (1 << 24) - 1
"""Maximum size of a request: 16 MiB - 1."""
MESSAGE_DEPTH = 100
"""Maximum nesting of objects and arrays in a request."""
MESSAGE_VALUES = 1 << 20
"""Maximum number of values in a request."""
GREETING, STATE = "hello", "state"
"""The routes at which a server answers its greeting, and what it says of itself."""
GREETING_PATH, STATE_PATH = f"/{GREETING}", f"/{STATE}"
ABOUT = (GREETING, STATE, "health")
"""The routes about a server, which call nothing."""
_ENDING = 10.0
"""Seconds in which a server that was told to end does."""
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def available() -> bool:
    """Tell whether this system has Unix sockets."""
    return hasattr(socket, "AF_UNIX")


def real(url: str | None) -> Location | None:
    """Return the location of a store with the real path of its file; None for a store that is not in a file."""
    location = environment.locate(url)
    if location.path is None:
        return None
    return replace(location, path=Path(os.path.realpath(location.path)))


def absolute_url(url: str | None) -> str | None:
    """Return the URL of a store that means the same in every working directory, and says which of them led to it."""
    location = None if url is None else real(environment.led_by_folder(url))
    return url if location is None or location.path is None else location.as_url()


def socket_path(database: Path) -> Path:
    """Return the socket of a database, which is named by its real path: beside it, as ``<database>.sock``.

    Where that path would be too long, or others may put files beside the database, or the user may not, it is in the
    user's own folder.
    """
    beside = Path(f"{database}.sock")
    is_open = os.access(beside.parent, os.W_OK) or not beside.parent.exists()
    if len(os.fsencode(beside)) <= LONGEST and is_open and _is_private(beside.parent):
        return beside
    import hashlib

    name = hashlib.blake2b(os.fsencode(database), digest_size=8).hexdigest()
    path = environment.runtime_folder() / f"{name}.sock"
    if len(os.fsencode(path)) > LONGEST:
        raise ParamError("socket", str(path), f"must have at most {LONGEST} bytes: set XDG_RUNTIME_DIR")
    return path


def of_store(url: str | None) -> Path | None:
    """Return the socket of the store that a URL names; None for one in memory.

    That of a store in a database is beside the files that this machine has of it.
    """
    where = real(url)
    if where is not None and where.path is not None:
        return socket_path(where.path)
    location = environment.locate(url)
    return None if location.url is None else socket_path(environment.database_place(location))


def prepare(folder: Path) -> None:
    """Create the folder of a socket if it is missing; ``StoreError`` if others may write to it."""
    try:
        private_files.make_folder(folder)
    except OSError as error:
        raise StoreError(f"{folder} cannot be created ({error.strerror}): name another socket") from error
    if not _is_private(folder):
        raise StoreError(f"other users may write to {folder}: name a socket in a folder of your own")


def is_ours(path: Path) -> bool:
    """Tell whether the path is a socket that belongs to the user."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.geteuid()


def peer_is_us(end: socket.socket) -> bool:
    """Tell whether the peer process runs as the same user; True on systems that do not report it."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    return _peer(end)[1] == os.geteuid()


def _peer(end: socket.socket) -> tuple[int, int]:
    """Return the peer process and its user."""
    pid, uid, _ = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid), int(uid)


def end_server(path: Path) -> bool:
    """End the process that listens at a socket of the user, and wait for that; returns whether there is one."""
    if not is_ours(path) or not hasattr(socket, "SO_PEERCRED"):
        return False
    pid = _listening(path)
    if pid is None:
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _ENDING
    while _listening(path) in (pid, None) and is_ours(path) and time.monotonic() < deadline:
        time.sleep(0.01)
    return True


def listens(path: Path) -> bool:
    """Return whether a server listens at a socket of the user."""
    if not is_ours(path):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        return end.connect_ex(str(path)) == 0


def _listening(path: Path) -> int | None:
    """Return the process that listens at a socket, if it is one of the user."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        try:
            end.connect(str(path))
        except OSError:
            return None
        pid, uid = _peer(end)
        return pid if uid == os.geteuid() else None


@contextmanager
def ending_within(seconds: float) -> Iterator[None]:
    """End this process some seconds after a signal, if it did not end by itself; a server runs in the block.

    The signal's own handler has to wait for the present call, which may be long; a thread of the wake-up does not.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = socket.socketpair()
    writing.setblocking(False)

    def watch() -> None:
        with reading:
            number = reading.recv(1)
        if number:
            time.sleep(seconds)
            os._exit(_BY_SIGNAL + number[0])

    threading.Thread(target=watch, daemon=True).start()
    before = signal.set_wakeup_fd(writing.fileno())
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writing.close()


def hung_up(end: int) -> bool:
    """Tell whether the peer closed the socket; a peer that only stopped sending still reads."""
    poll = select.poll()
    poll.register(end, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))


def greeting(
    where: Location, profile: str, settings: Settings | None = None, stamp: str | None = None
) -> dict[str, str]:
    """Return a server's greeting, which a client compares with its own: version, file, vectors, profile and settings.

    ``stamp`` identifies an embedder; None means that of the settings.
    """
    from priming.embedding import registry

    if where.path is None:
        which = {"database": where.as_url()}
    else:
        status = where.path.stat()
        file = f"{status.st_dev}:{status.st_ino}"
        which = {"database": str(where.path), "synchronous": where.synchronous, "file": file}
    return {
        "version": VERSION,
        **which,
        "vectors": registry.stamp(registry.chosen(settings)) if stamp is None else stamp,
        "profile": profile,
        "retrieval": json.dumps(
            {} if settings is None else {**settings.retrieval, **settings.constants}, sort_keys=True
        ),
    }


def check_in_place(greeting: Mapping[str, str] | None) -> None:
    """Raise ``StoreError`` if the file of a server's greeting was deleted or replaced by another."""
    if greeting is None or "file" not in greeting:
        return
    try:
        status = os.stat(greeting["database"])
        in_place = greeting["file"] == f"{status.st_dev}:{status.st_ino}"
    except OSError:
        in_place = False
    if not in_place:
        raise StoreError(
            f"{greeting['database']} was deleted or replaced, so nothing can be stored in it: restart the server"
        )


def _is_private(folder: Path) -> bool:
    """Tell whether no other user can create files in the folder or remove this user's."""
    try:
        status = folder.stat()
    except OSError:
        return False
    if status.st_uid not in (os.geteuid(), 0):
        return False
    return not status.st_mode & _OTHERS or bool(status.st_mode & stat.S_ISVTX)
