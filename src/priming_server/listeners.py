"""The sockets that a server listens on: an address, a path, and the one beside its store."""

from __future__ import annotations

import fcntl
import ipaddress
import logging
import os
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from priming.config import environment
from priming.config.params.server import SOCKET
from priming.config.values import dataclass
from priming.errors import Conflict, ParamError, PrimingError, StoreError
from priming.operations import local_socket
from priming.operations.service import LocalService
from priming_server import telemetry
from priming_server.tokens import Tokens

_BACKLOG = 2048
"""Maximum number of connections at an address that wait to be accepted."""


def loopback(name: str) -> bool:
    """Whether an address is reachable from this machine only."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def refuse_open_server(tokens: Tokens, name: str) -> None:
    """Raise ``Conflict`` if other machines could reach the server and use it without a token."""
    if not loopback(name) and not any(token.revoked_at is None for token in tokens.list()):
        raise Conflict(
            f"{name} can be reached from other machines, and the store has no token: make one with"
            " 'priming token new NAMESPACE', or listen on 127.0.0.1"
        )


@contextmanager
def listening(name: str, port: int, uds: Path | None) -> Iterator[socket.socket]:
    """The socket to listen on: an address, or a file that only its owner can use."""
    with _at_file(uds) if uds is not None else _at_address(name, port) as listener:
        listener.listen(_BACKLOG)
        yield listener


@contextmanager
def _at_address(name: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, OverflowError, UnicodeError) as error:
        raise ParamError("host", name, f"must be an address of this machine ({error})") from None
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise Conflict(
                f"{name}:{port} cannot be listened on ({error.strerror}): name another --port"
            ) from None
        yield listener


@contextmanager
def _at_file(path: Path) -> Iterator[socket.socket]:
    """A socket of mode 0600, removed at the end; the socket of a dead server is replaced."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        _remove_dead(path)
        try:
            _bind_privately(listener, path)
        except OSError as error:
            raise ParamError("--uds", str(path), f"must be a place for a socket ({error})") from None
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def _bind_privately(listener: socket.socket, path: Path) -> None:
    """Bind a socket that only its owner can use, from its creation."""
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(mask)


def _remove_dead(path: Path) -> None:
    """Remove a socket on which no server listens; ``Conflict`` if one does."""
    if not path.exists() or not stat.S_ISSOCK(path.stat().st_mode):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise Conflict(f"{path} is in use by another server: stop that server, or name another socket")


@dataclass(frozen=True, slots=True)
class LocalListener:
    """The socket of a store, and the greeting of its server."""

    socket: socket.socket
    path: Path
    greeting: Mapping[str, str]


@contextmanager
def beside_store(service: LocalService) -> Iterator[LocalListener | None]:
    """The socket beside the database of a store, by which clients find the server; None if it cannot be created.

    The socket of another server is left as it is. A store that does not exist yet, or is not in a file, has none.
    """
    with ExitStack() as stack:
        listener = None
        if has_file(service):
            try:
                listener = stack.enter_context(local_listener(service))
            except Conflict as error:
                message = "another server of this store has its socket"
                telemetry.write(logging.WARNING, message, code=error.code)
            except PrimingError as error:
                telemetry.write(logging.WARNING, "no socket beside the store", code=error.code)
        yield listener


def notify_supervisor(state: str) -> None:
    """Report a state to systemd, if it started this process and waits for it (``sd_notify``)."""
    address = environment.notify_socket()
    if address is None:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.sendto(state.encode(), "\0" + address[1:] if address.startswith("@") else address)


def create_store(service: LocalService) -> None:
    """Create the store of a service if it does not exist, because some clients can only use its socket."""
    with service.memory("default") as memory:
        if not memory.store.place.exists:
            with memory.store.transaction(memory.namespace):
                pass


def has_file(service: LocalService) -> bool:
    """Whether the store of a service is in a file, and exists: an empty file is a store that is being created."""
    where = local_socket.real(service.url)
    if where is None or where.path is None:
        return False
    return where.path.is_file() and where.path.stat().st_size > 0


@contextmanager
def local_listener(service: LocalService, path: Path | None = None) -> Iterator[LocalListener]:
    """A socket that only the user can reach, removed at the end; the socket of a dead server is replaced.

    Raises:
        Conflict: another server listens there.
        StoreError: a socket cannot be created there.

    """
    greeting = _greeting(service)
    at = local_socket.socket_path(Path(greeting["database"])) if path is None else path.absolute()
    if len(os.fsencode(at)) > local_socket.LONGEST:
        raise ParamError("socket", str(at), f"must have at most {local_socket.LONGEST} bytes")
    local_socket.prepare(at.parent)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        with _locked(at.parent):
            _clear(at)
            try:
                _bind_privately(listener, at)
            except OSError as error:
                raise StoreError(f"{at} cannot be created ({error.strerror}): name another socket") from error
            inode = at.lstat().st_ino
        listener.listen(SOCKET.waiting)
        try:
            yield LocalListener(listener, at, greeting)
        finally:
            with suppress(OSError), _locked(at.parent):
                if at.lstat().st_ino == inode:
                    at.unlink()


def _greeting(service: LocalService) -> dict[str, str]:
    """The greeting of the server, whose store is opened before."""
    where = local_socket.real(service.url)
    if where is None:
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
