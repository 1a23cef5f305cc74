"""Where a server and its clients meet: a socket beside the database, and what it must be of one's own.

One function says where, for both sides. A server greets with what it is, so that a client knows whether to use it.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from priming import __version__
from priming.config import environment
from priming.config.environment import Location
from priming.embed import choose
from priming.errors import ParamError, StoreError

if TYPE_CHECKING:
    from priming.config.settings import Settings

LONGEST = 107
"""Bytes of the path of a socket that every system takes."""
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def available() -> bool:
    """Whether this system has Unix sockets."""
    return hasattr(socket, "AF_UNIX")


def real(url: str | None) -> Location | None:
    """Where a store is, its file by its real path; None for a store that is not in a file."""
    found = environment.locate(url)
    return None if found.path is None else replace(found, path=Path(os.path.realpath(found.path)))


def socket_path(database: Path) -> Path:
    """The socket of a database, which is named by its real path: beside it, as ``<database>.sock``.

    Where that path would be too long, or others may put files beside the database, it is in the user's own folder.
    """
    beside = Path(f"{database}.sock")
    if len(os.fsencode(beside)) <= LONGEST and _is_kept(beside.parent):
        return beside
    import hashlib

    name = hashlib.blake2b(os.fsencode(database), digest_size=8).hexdigest()
    path = environment.runtime_folder() / f"{name}.sock"
    if len(os.fsencode(path)) > LONGEST:
        raise ParamError("socket", str(path), f"must have at most {LONGEST} bytes: set XDG_RUNTIME_DIR")
    return path


def prepare(folder: Path) -> None:
    """Make the folder of a socket where it is not there; ``StoreError`` if others may put files there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made ({error.strerror}): name another socket") from error
    if not _is_kept(folder):
        raise StoreError(f"others may put files into {folder}: name a socket in a folder of your own")


def is_ours(path: Path) -> bool:
    """Whether there is a socket, and it is the user's own."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.geteuid()


def peer_is_us(end: socket.socket) -> bool:
    """Whether the same user is at the other end; where the system does not tell, the socket's owner must do."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    told = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", told)
    return bool(uid == os.geteuid())


def greeting(
    where: Location, profile: str, settings: Settings | None = None, stamp: str | None = None
) -> dict[str, str]:
    """What a server of a database is, and a client wants: version, file, vectors, profile, how it retrieves.

    ``stamp`` stands for an embedder; None means that of the settings.
    """
    assert where.path is not None
    found = where.path.stat()
    own = choose.DEFAULT if settings is None else settings["store.embedder"]
    return {
        "version": __version__,
        "database": str(where.path),
        "synchronous": where.synchronous,
        "file": f"{found.st_dev}:{found.st_ino}",
        "vectors": choose.stamp(own) if stamp is None else stamp,
        "profile": profile,
        "retrieval": json.dumps({} if settings is None else dict(settings.retrieval), sort_keys=True),
    }


def _is_kept(folder: Path) -> bool:
    """Whether nobody else can put a file there, or take one of ours away."""
    try:
        found = folder.stat()
    except OSError:
        return False
    if found.st_uid not in (os.geteuid(), 0):
        return False
    return not found.st_mode & _OTHERS or bool(found.st_mode & stat.S_ISVTX)
