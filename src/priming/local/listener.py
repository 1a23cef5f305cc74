"""The socket that a server listens on beside its store: made for its owner alone, and removed at the end."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from priming.config import environment
from priming.config.params.server import SOCKET
from priming.config.values import dataclass
from priming.errors import Conflict, ParamError, StoreError
from priming.operations import local_socket
from priming.operations.connection import state_at
from priming.operations.service import LocalService


@dataclass(frozen=True, slots=True)
class LocalListener:
    """The socket of a store, the greeting of its server, and which file the socket is."""

    socket: socket.socket
    path: Path
    greeting: Mapping[str, str]
    inode: int

    def is_in_place(self) -> bool:
        """Return whether the socket is still at its path."""
        with suppress(OSError):
            return self.path.lstat().st_ino == self.inode
        return False


def create_store(service: LocalService) -> None:
    """Create the store of a service if it does not exist, because some clients can only use its socket."""
    with service.memory("default") as memory:
        if not memory.store.place.exists:
            with memory.store.transaction(memory.namespace):
                pass


@contextmanager
def local_listener(
    service: LocalService, path: Path | None = None, *, takes_over: bool = False
) -> Iterator[LocalListener]:
    """Listen at a socket that only the user can reach; the socket of a dead server is replaced.

    With ``takes_over`` a server that a session left behind is ended: the user started another.

    Raises:
        Conflict: another server listens there.
        StoreError: a socket cannot be created there.

    """
    greeting = _greeting(service)
    at = local_socket.of_store(service.url) if path is None else path.absolute()
    assert at is not None, "a store with a greeting has a socket"
    if len(os.fsencode(at)) > local_socket.LONGEST:
        raise ParamError("socket", str(at), f"must have at most {local_socket.LONGEST} bytes")
    local_socket.prepare(at.parent)
    if takes_over:
        state = state_at(at, SOCKET.knock)
        if state is not None and state["ends_after"] is not None:
            local_socket.end_server(at)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        with _locked(at.parent):
            _clear(at)
            try:
                bind_privately(listener, at)
            except OSError as error:
                raise StoreError(f"{at} cannot be created ({error.strerror}): name another socket") from error
            local = LocalListener(listener, at, greeting, at.lstat().st_ino)
        listener.listen(SOCKET.waiting)
        try:
            yield local
        finally:
            with suppress(OSError), _locked(at.parent):
                if local.is_in_place():
                    at.unlink()


def bind_privately(listener: socket.socket, path: Path) -> None:
    """Bind a socket that only its owner can use, from its creation."""
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(mask)


def _greeting(service: LocalService) -> dict[str, str]:
    """Return the greeting of the server, whose store is opened before."""
    where = local_socket.real(service.url) or environment.locate(service.url)
    if where.path is None and where.url is None:
        raise ParamError("url", service.url, "must be a store in a file, because the socket is beside it")
    with service.memory("default") as memory:
        if not memory.store.place.exists:
            raise StoreError(f"{where.path} does not exist yet, and the socket is beside the store")
        return local_socket.greeting(where, service.profile, service.settings, service.stamp)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder, so that no other server creates or removes a socket in it."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _clear(path: Path) -> None:
    """Remove the socket of a dead server; ``Conflict`` for anything else at its path."""
    if not path.exists() and not path.is_symlink():
        return
    if not local_socket.is_ours(path):
        raise Conflict(f"{path} is not a socket of yours: remove it, or name another")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError:
            pass  # a server is there, and too busy to answer
    raise Conflict(f"a server is already listening on {path}: use it, or stop it first")
