"""The stores of a hook: through a running server with few imports, or else the file itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files
from priming.config.params.server import SOCKET
from priming.config.store_urls import Location, url_of
from priming.errors import Conflict, PrimingError, StoreError
from priming.operations import local_socket as places
from priming_agents import databases
from priming_agents.client import database_at, is_store

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.maintenance.adoption import FolderContent
    from priming.operations.connection import ServerConnection
    from priming.operations.service import LocalService
    from priming.types import MemoryRecord

_MOST_OPEN = 4
"""Stores, or settings of the same store, that a process keeps open."""


class Hosts:
    """The stores that this process has opened for hooks, each once."""

    def __init__(self) -> None:
        self._services: OrderedDict[tuple[tuple[str, str], ...], LocalService] = OrderedDict()

    def service(self, location: Location, settings: Settings) -> LocalService:
        """The open store of a location, with the profile and the settings that apply to it."""
        profile = settings["store.profile"]
        greeting = tuple(places.greeting(location, profile, settings).items())
        service = self._services.pop(greeting, None)
        if service is None:
            from priming.operations.service import LocalService

            url = databases.hook_url(location) if location.path is None else location.as_url()
            service = LocalService(url, profile=profile, settings=settings)
        self._services[greeting] = service
        while len(self._services) > _MOST_OPEN:
            self._services.popitem(last=False)[1].close()
        return service

    def make_vectors(self, seconds: float) -> None:
        """Spend so many seconds on the vectors that the memories of each wait for."""
        for service in self._services.values():
            service.make_vectors(seconds)

    def close(self) -> None:
        """Close them all."""
        while self._services:
            self._services.popitem()[1].close()


class HookStore:
    """A store of a hook: one that exists, or one to ``create`` for a first correction."""

    def __init__(
        self,
        location: Location,
        database: Path,
        settings: Settings,
        hosts: Hosts,
        *,
        server: bool,
        call: str,
    ) -> None:
        self.database = database
        self._location, self._settings, self._server = location, settings, server
        self._namespace, self._profile = settings["store.namespace"], settings["store.profile"]
        self._hosts, self._call, self._writes = hosts, call, dict[str, int]()
        self._line: ServerConnection | None = None

    def connect(self) -> bool:
        """Connect to the running server of the store; False where there is none."""
        if self._location.path is None:
            return False
        if self._line is None and self._server and places.available() and environment.server_wanted():
            try:
                path = places.socket_path(self.database)
                if not places.is_ours(path):
                    return False
                greeting = places.greeting(self._location, self._profile, self._settings)
            except (OSError, PrimingError):
                return False
            from priming.operations.connection import connect

            self._line = connect(path, greeting, SOCKET.knock)
        return self._line is not None

    def answers(self) -> bool:
        """Whether the store answers: a file does, a database may be away.

        Raises:
            DatabaseAway: it did until now; this is said once.

        """
        if self._location.path is not None:
            return True
        if databases.is_away(self.database):
            return False
        try:
            with self._hosts.service(self._location, self._settings).memory(self._namespace):
                databases.note_back(self.database)
        except PrimingError as error:
            if databases.note_away(self.database):
                raise databases.DatabaseAway(str(error)) from error
            return False
        return True

    def call(
        self,
        operation: str,
        request: Mapping[str, Any],
        *,
        writes: bool = False,
        operation_id: str | None = None,
    ) -> Any:
        """The result of an operation, as JSON; None for a write that was carried out and not answered.

        What writes gets an id of the call, unless it has one: a second attempt does not write twice.

        Raises:
            Conflict, NotFound, PrimingError: what the operation raises.

        """
        if writes and operation_id is None:
            operation_id = self._next_id(operation)
        if self.connect():
            from priming.operations.connection import ConnectionLost, NotSendable

            assert self._line is not None
            try:
                return self._line.call(self._namespace, operation, dict(request), operation_id=operation_id)
            except ConnectionLost:
                self._line = None
            except NotSendable:
                pass
        try:
            return self._answer_here(operation, request, operation_id)
        except (
            Conflict
        ) as error:  # it was carried out before: by a server that went away, or by another attempt
            if operation_id is None or operation_id not in str(error):
                raise
            return self._earlier_answer(operation, operation_id)

    def make_folder(self) -> None:
        """Make the folder of a new store, so that a correction can wait in it; the store keeps it out of git."""
        private_files.make_folder(self.database.parent)

    def create(self) -> None:
        """Create the file of a new store."""
        from priming.memory import Memory

        with Memory.open(self._location.as_url()) as empty, empty.writing():
            pass  # the first write creates it

    def warm(self) -> None:
        """Open the store in this process and load what recalls need."""
        service = self._hosts.service(self._location, self._settings)
        with service.memory(self._namespace) as memory, memory.lock:
            memory.working(memory.now())
            memory.embedder.embed(["warm"])

    def constraints(self) -> list[MemoryRecord]:
        """The first constraints without conditions, read without the connections that this process has."""
        from priming.core.arguments.checks import PAGE_LIMIT
        from priming.core.when import scope
        from priming.recall.formatting import rule_kind

        with (
            closing(Hosts()) as hosts,
            hosts.service(self._location, self._settings).memory(self._namespace) as memory,
        ):
            rules = memory.list(kinds=["behavior"], limit=PAGE_LIMIT)
        return [rule for rule in rules if rule_kind(rule) == "constraint" and not scope("when", rule.when)]

    def close(self) -> None:
        """Close the connection."""
        if self._line is not None:
            self._line.close()

    def _answer_here(self, operation: str, request: Mapping[str, Any], operation_id: str | None) -> Any:
        """The result of an operation in this process; the values of a hook's own requests need no other check."""
        from priming.serialization import encode
        from priming.types import Cue

        values = dict(request)
        if "cue" in values:
            cue = dict(values["cue"])
            if "at" in cue:
                from datetime import datetime

                cue["at"] = datetime.fromisoformat(cue["at"])
            values["cue"] = Cue(**cue)
        if "since" in values:
            from datetime import datetime

            values["since"] = datetime.fromisoformat(values["since"])
        service = self._hosts.service(self._location, self._settings)
        with ExitStack() as stack:
            memory = stack.enter_context(service.memory(self._namespace))
            if operation_id is not None:
                stack.enter_context(memory.identified(operation_id))
            return encode(getattr(memory, operation)(**values))

    def _earlier_answer(self, operation: str, logged_id: str) -> Any:
        """The result of an operation that was carried out before, if the log has it; otherwise None."""
        from priming.operations.recovery import answer_of
        from priming.operations.table import served
        from priming.serialization import encode

        service = self._hosts.service(self._location, self._settings)
        with service.memory(self._namespace) as memory, suppress(StoreError):
            logged = memory.operation(logged_id)
            return None if logged is None else encode(answer_of(served(operation), memory, logged))
        return None

    def _next_id(self, operation: str) -> str:
        """The id of the hook's next operation of a name: the same in each attempt at the same call."""
        number = self._writes[operation] = self._writes.get(operation, 0) + 1
        return id_of(self._call, f"{operation} {number}")


def id_of(call: str, name: str) -> str:
    """The id, of version 7, of an operation in a call of a hook.

    >>> id_of("019ab00c0ffe" + "00" * 10, "learn 1")[:15]
    '019ab00c-0ffe-7'
    """
    from hashlib import blake2b

    tail = blake2b(f"{call} {name}".encode(), digest_size=10).hexdigest()
    variant = f"{int(tail[3], 16) & 3 | 8:x}"
    return f"{call[:8]}-{call[8:12]}-7{tail[:3]}-{variant}{tail[4:7]}-{tail[7:19]}"


def find_stores(
    settings: Settings,
    exits: ExitStack,
    hosts: Hosts,
    *,
    content: FolderContent,
    project_only: bool,
    server: bool,
    prefer_served: bool,
    call: str,
) -> list[HookStore]:
    """The stores that exist, of the project and then of all projects; ``exits`` closes the connections to them.

    The project's is left out where nobody adopted it (``content``).
    ``prefer_served`` leaves out the store of all projects where it would be slow: where it has no running server, and
    the project's store has one.
    """
    urls = [settings.store_url] if content.store is None else []
    if not project_only:
        urls.append(url_of(environment.global_store()))
    stores: list[HookStore] = []
    for url in urls:
        place = database_at(url)
        if place is not None and all(place[1] != other.database for other in stores):
            stores.append(HookStore(*place, settings, hosts, server=server, call=call))
            exits.callback(stores[-1].close)
    if prefer_served and len(stores) > 1 and stores[0].connect() and not stores[1].connect():
        stores.pop()
    return stores


def place_of_new_store(settings: Settings) -> Location | None:
    """Where the project of the working folder gets its store; None if it has one, or not in a file.

    Without a setting for the store it is at the root of the repository, else in the working folder.
    """
    location = places.real(settings.store_url)
    if location is None or location.path is None or is_store(location.path):
        return None
    chosen = settings.store_url is not None
    root = _root()
    return (
        location
        if chosen
        else places.real(environment.led_by_folder(url_of(root / environment.DEFAULT_PATH), root))
    )


def _root() -> Path:
    """The root of the repository of the working folder, unless that is the home folder; else the working folder."""
    here = Path.cwd()
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    return here if root == Path.home() else environment.repository_root(root)
