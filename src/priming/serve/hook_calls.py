"""How a hook asks a store: through its running server with the least of imports, else the file itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from priming import config
from priming.config import Location
from priming.errors import Conflict, PrimingError
from priming.operations import local_socket as places
from priming.operations.connection import ConnectionLost, NotSendable, ServerConnection, connect
from priming.socket_params import SOCKET

if TYPE_CHECKING:
    from priming.operations.service import LocalService
    from priming.settings import Settings


class Asked:
    """A store that is asked, and never made: open it with ``of``."""

    def __init__(self, where: Location, settings: Settings, *, server: bool) -> None:
        assert where.path is not None
        self.database = where.path
        self._url = f"{config.url_of(where.path)}?synchronous={where.synchronous}"
        self._where, self._settings, self._server = where, settings, server
        self._namespace, self._profile = settings["store.namespace"], settings["store.profile"]
        self._line: ServerConnection | None = None
        self._host: LocalService | None = None

    @classmethod
    def of(cls, url: str | None, settings: Settings, *, server: bool) -> Asked | None:
        """The store of a URL, or of the folder that the process is in; None where there is none yet."""
        where = places.real(url)
        if where is None or where.path is None or not where.path.is_file() or not where.path.stat().st_size:
            return None
        return cls(where, settings, server=server)

    def reach(self) -> bool:
        """Whether a running server of the store answers from here on."""
        if self._line is None and self._server and places.available() and config.server_wanted():
            try:
                path = places.socket_path(self.database)
                wanted = places.greeting(self._where, self._profile, self._settings)
            except (OSError, PrimingError):
                return False
            self._line = connect(path, wanted, SOCKET.knock)
        return self._line is not None

    def call(self, operation: str, request: Mapping[str, Any], *, writes: bool = False) -> Any:
        """The answer of an operation of the table, as JSON; None for one that was carried out and not answered.

        Raises:
            Conflict, NotFound, PrimingError: what the operation raises.

        """
        named = _new_id() if writes else None
        if self.reach():
            assert self._line is not None
            try:
                return self._line.call(self._namespace, operation, dict(request), operation_id=named)
            except ConnectionLost:
                self._line = None
            except NotSendable:
                pass
        host = self._opened()
        try:
            return host.call(self._namespace, operation, request, operation_id=named)
        except Conflict as error:  # the server that went away had done it
            if named is None or named not in str(error):
                raise
            return None

    def close(self) -> None:
        """Part from the server, or close the file."""
        if self._line is not None:
            self._line.close()
        if self._host is not None:
            self._host.close()

    def _opened(self) -> LocalService:
        if self._host is None:
            from priming.operations.service import LocalService

            self._host = LocalService(self._url, profile=self._profile, settings=self._settings)
        return self._host


def _new_id() -> str:
    from datetime import UTC, datetime

    from priming.ids import uuid7

    return uuid7(datetime.now(UTC))
