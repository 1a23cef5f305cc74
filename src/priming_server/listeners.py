"""The sockets that a server listens on: an address, a path, and the one beside its store."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from priming.config import environment
from priming.errors import Conflict, ParamError, PrimingError
from priming.operations import local_socket
from priming.operations.local_http import LocalListener, bind_privately, local_listener
from priming.operations.service import LocalService
from priming_server import telemetry
from priming_server.access.auth import is_loopback
from priming_server.access.tokens import Tokens

_BACKLOG = 2048
"""Maximum number of connections at an address that wait to be accepted."""


def refuse_open_server(tokens: Tokens, name: str) -> None:
    """Raise ``Conflict`` if other machines could reach the server and use it without a token."""
    if not is_loopback(name) and not any(token.revoked_at is None for token in tokens.list()):
        raise Conflict(
            f"{name} can be reached from other machines, and the store has no token: make one with"
            " 'priming token new NAMESPACE', or listen on 127.0.0.1"
        )


@contextmanager
def listening(
    name: str, port: int, uds: Path | None, patience: float | None = None
) -> Iterator[socket.socket]:
    """Listen at an address, or at a file that only its owner can use.

    ``patience`` is for clients that read nothing, in seconds: the system then ends their connections, where it can.
    """
    with _at_file(uds) if uds is not None else _at_address(name, port) as listener:
        if patience is not None and uds is None and hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, int(patience * 1_000)))
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
    """Open a socket of mode 0600, removed at the end; the socket of a dead server is replaced."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        if local_socket.listens(path):
            raise Conflict(f"{path} is in use by another server: stop that server, or name another socket")
        if path.is_socket():
            path.unlink()
        try:
            bind_privately(listener, path)
        except OSError as error:
            raise ParamError("--uds", str(path), f"must be a place for a socket ({error})") from None
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def beside_store(service: LocalService) -> Iterator[LocalListener | None]:
    """Open the socket of a store, by which clients find the server; None if it cannot be created.

    The socket of another server is left as it is, unless a session left that behind. A store in memory has none.
    """
    with ExitStack() as stack:
        listener = None
        try:
            if local_socket.of_store(service.url) is not None:
                listener = stack.enter_context(local_listener(service, takes_over=True))
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
