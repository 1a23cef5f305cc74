"""The stores that a hook asks: through a running server with few imports, else the file itself.

Only this file of the hooks uses ``priming.operations``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from priming.config import environment
from priming.config.environment import Location
from priming.config.params.server import SOCKET
from priming.errors import Conflict, PrimingError
from priming.operations import local_socket as places
from priming.operations.connection import ConnectionLost, NotSendable, ServerConnection, connect

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.operations.service import LocalService


class HookStore:
    """An existing store: ``HookStore.find`` never creates one."""

    def __init__(self, location: Location, settings: Settings, *, server: bool) -> None:
        assert location.path is not None
        self.database = location.path
        self._location, self._settings, self._server = location, settings, server
        self._namespace, self._profile = settings["store.namespace"], settings["store.profile"]
        self._line: ServerConnection | None = None
        self._host: LocalService | None = None

    @classmethod
    def find(cls, url: str | None, settings: Settings, *, server: bool) -> HookStore | None:
        """The store of a URL, or of the working directory; None where there is none yet."""
        location = places.real(url)
        path = None if location is None else location.path
        if location is None or path is None or not path.is_file() or not path.stat().st_size:
            return None
        return cls(location, settings, server=server)

    def connect(self) -> bool:
        """Connect to the running server of the store; False where there is none."""
        if self._line is None and self._server and places.available() and environment.server_wanted():
            try:
                path = places.socket_path(self.database)
                greeting = places.greeting(self._location, self._profile, self._settings)
            except (OSError, PrimingError):
                return False
            self._line = connect(path, greeting, SOCKET.knock)
        return self._line is not None

    def call(self, operation: str, request: Mapping[str, Any], *, writes: bool = False) -> Any:
        """The result of an operation, as JSON; None for a write that was carried out and not answered.

        Raises:
            Conflict, NotFound, PrimingError: what the operation raises.

        """
        operation_id = _new_id() if writes else None
        if self.connect():
            assert self._line is not None
            try:
                return self._line.call(self._namespace, operation, dict(request), operation_id=operation_id)
            except ConnectionLost:
                self._line = None
            except NotSendable:
                pass
        try:
            return self._opened_host().call(self._namespace, operation, request, operation_id=operation_id)
        except Conflict as error:  # the server that went away had carried it out
            if operation_id is None or operation_id not in str(error):
                raise
            return None

    def close(self) -> None:
        """Close the connection, and the file if it was opened."""
        if self._line is not None:
            self._line.close()
        if self._host is not None:
            self._host.close()

    def _opened_host(self) -> LocalService:
        if self._host is None:
            from priming.operations.service import LocalService

            url = _url_of(self._location)
            self._host = LocalService(url, profile=self._profile, settings=self._settings)
        return self._host


def absolute_url(url: str | None) -> str | None:
    """The URL of a store that means the same in every working directory."""
    location = None if url is None else places.real(url)
    return url if location is None or location.path is None else _url_of(location)


def find_stores(
    settings: Settings, exits: ExitStack, *, project_only: bool, server: bool, prefer_served: bool
) -> list[HookStore]:
    """The stores that exist, of the project and then of all projects; ``exits`` closes them.

    ``prefer_served`` leaves out the store of all projects where it would be slow: where it has no running server, and
    the project's store has one.
    """
    urls = [settings["store.url"]]
    if not project_only:
        urls.append(environment.url_of(environment.global_store()))
    stores: list[HookStore] = []
    for url in urls:
        store = HookStore.find(url, settings, server=server)
        if store is not None and all(store.database != other.database for other in stores):
            exits.callback(store.close)
            stores.append(store)
    if prefer_served and len(stores) > 1 and stores[0].connect() and not stores[1].connect():
        stores.pop()
    return stores


def _url_of(location: Location) -> str:
    assert location.path is not None
    return f"{environment.url_of(location.path)}?synchronous={location.synchronous}"


def _new_id() -> str:
    from datetime import UTC, datetime

    from priming.config.ids import uuid7

    return uuid7(datetime.now(UTC))
