"""The stores of a hook: where they are, whether they answer, and calls of them in this process.

Light to import: a hook that a server answers only looks for the place of the store.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config import environment, private_files
from priming.config.repositories import repository_root
from priming.config.store_urls import Location, url_of, without_password
from priming.errors import Conflict, PrimingError, StoreError
from priming.operations import local_socket as places
from priming_agents.calls import id_of
from priming_agents.limits import HOOK

if TYPE_CHECKING:
    from priming.config.settings import Settings
    from priming.maintenance.adoption import FolderContent
    from priming.memory import Memory
    from priming.operations.local_server import LocalServer
    from priming.operations.service import LocalService
    from priming.storage.protocol import Trace
    from priming.types import MemoryRecord

_AWAY = ".away"
_MOST_OPEN = 4
"""Stores, or settings of the same store, that a process keeps open."""


class DatabaseAway(Exception):
    """A database that does not answer, said to the user once."""


def place_of(location: Location) -> Path:
    """Return the file that stands for a store in a database: hooks' files are beside it, as beside a store in a file.

    It says which store that is, without a password.
    """
    path = environment.database_place(location)
    if not path.exists():
        with suppress(OSError):
            private_files.make_folder(path.parent)
            path.write_text(f"{without_password(location.as_url())}\n", "utf-8")
    return path


def hook_url(location: Location) -> str:
    """Return the URL of a store that gives up a connection in time for a hook."""
    url = location.as_url()
    if "connect_timeout=" in url:
        return url
    return f"{url}{'&' if '?' in url else '?'}connect_timeout={HOOK.connect}"


def is_away(database: Path) -> bool:
    """Tell whether a database did not answer a moment ago, so that it is not asked again yet."""
    try:
        age = time.time() - Path(f"{database}{_AWAY}").stat().st_mtime
    except OSError:
        return False
    return 0 <= age < HOOK.away


def note_away(database: Path) -> bool:
    """Note that a database does not answer; whether it did until now."""
    note = Path(f"{database}{_AWAY}")
    is_new = not note.exists()
    with suppress(OSError):
        note.touch()
    return is_new


def note_back(database: Path) -> None:
    """Forget that a database did not answer."""
    with suppress(OSError):
        Path(f"{database}{_AWAY}").unlink()


def database_of(url: str | None) -> Path | None:
    """Return the database that hooks in the working directory ask first; None where there is none."""
    everywhere = None if url is not None else url_of(environment.global_store())
    if url is None and environment.settings_mention("url"):
        from priming.config import settings

        url = settings.load().store_url
    for store in (url, everywhere):
        place = database_at(store)
        if place is not None:
            return place[1]
        if everywhere is None:
            break
    return None


def database_at(url: str | None) -> tuple[Location, Path] | None:
    """Return a store and its file, or the file that stands for one in a database; None where there is no store."""
    location = environment.locate(url)
    if location.url is not None:
        return location, place_of(location)
    real = places.real(url)
    return None if real is None or real.path is None or not is_store(real.path) else (real, real.path)


def is_store(path: Path) -> bool:
    """Tell whether a store is there: an empty file is a store that is being created."""
    return path.is_file() and path.stat().st_size > 0


def is_everywhere(database: Path) -> bool:
    """Tell whether this is the store of all projects."""
    return str(database) == os.path.realpath(environment.global_store())


class Hosts:
    """The stores that this process has opened for hooks, each once; in a server, its own is among them."""

    def __init__(self, server: LocalServer | None = None) -> None:
        self._services: OrderedDict[tuple[tuple[str, str], ...], LocalService] = OrderedDict()
        self._server = server

    def service(self, location: Location, settings: Settings) -> LocalService:
        """Return the open store of a location, with the profile and the settings that apply to it."""
        profile = settings["store.profile"]
        described = places.greeting(location, profile, settings)
        if self._server is not None and described == self._server.local.greeting:
            return self._server.service
        greeting = tuple(described.items())
        service = self._services.pop(greeting, None)
        if service is None:
            from priming.operations.service import LocalService

            url = hook_url(location) if location.path is None else location.as_url()
            service = LocalService(url, profile=profile, settings=settings)
        self._services[greeting] = service
        while len(self._services) > _MOST_OPEN:
            self._services.popitem(last=False)[1].close()
        return service

    def close(self) -> None:
        """Close those that it opened."""
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
        call: str,
    ) -> None:
        self.database = database
        self._location, self._settings = location, settings
        self._namespace, self._profile = settings["store.namespace"], settings["store.profile"]
        self._hosts, self.call_id, self._writes = hosts, call, dict[str, int]()
        self.pending: dict[str, Trace] = {}
        """The recalls of this call of which nothing was told yet, by their ids."""

    def answers(self) -> bool:
        """Tell whether the store answers: a file does, a database may be away.

        Raises:
            DatabaseAway: it did until now; this is said once.

        """
        if self._location.path is not None:
            return True
        if is_away(self.database):
            return False
        try:
            with self._memory():
                note_back(self.database)
        except PrimingError as error:
            if note_away(self.database):
                raise DatabaseAway(str(error)) from error
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
        """Return the result of an operation, as JSON; None for a write that was carried out and not answered.

        What writes gets an id of the call, unless it has one: a second attempt does not write twice.

        Raises:
            Conflict, NotFound, PrimingError: what the operation raises.

        """
        if writes and operation_id is None:
            operation_id = self._next_id(operation)
        try:
            return self._answer_here(operation, request, operation_id)
        except (
            Conflict
        ) as error:  # it was carried out before: by a server that went away, or by another attempt
            if operation_id is None or operation_id not in str(error):
                raise
            return self._earlier_answer(operation, operation_id)

    def record_shown(self, recall_id: str, shown: Collection[str]) -> None:
        """Record a recall with those of its hits that were told, now; not without one."""
        from priming.recall import traces

        trace = self.pending.pop(recall_id, None)
        hits = () if trace is None else tuple(hit for hit in trace.hits if hit[0] in shown)
        if trace is not None and hits:
            with self._memory() as memory:
                traces.record(memory, replace(trace, at=memory.now(), hits=hits))

    def create(self) -> None:
        """Create the file of a new store."""
        create_store(self._location)

    def constraints(self) -> list[MemoryRecord]:
        """Return the first constraints without conditions, read without the connections that this process has."""
        from priming.core.arguments.checks import PAGE_LIMIT
        from priming.core.when import scope
        from priming.recall.formatting import rule_kind

        with closing(Hosts()) as hosts, self._memory(hosts) as memory:
            rules, now = memory.list(kinds=["behavior"], limit=PAGE_LIMIT), memory.now()
        in_force = [rule for rule in rules if rule.valid_from is None or rule.valid_from <= now]
        return [each for each in in_force if rule_kind(each) == "constraint" and not scope("when", each.when)]

    def _memory(self, hosts: Hosts | None = None) -> AbstractContextManager[Memory]:
        """Return the namespace of the store, open."""
        return (hosts or self._hosts).service(self._location, self._settings).memory(self._namespace)

    def _answer_here(self, operation: str, request: Mapping[str, Any], operation_id: str | None) -> Any:
        """Carry out an operation in this process; the values of a hook's own requests need no other check."""
        environment.load_numpy()
        from priming.recall.traces import PENDING
        from priming.serialization import encode
        from priming.types import Cue

        values = dict(request)
        if "cue" in values:
            values["cue"] = Cue(**values["cue"])
        with ExitStack() as stack:
            memory = stack.enter_context(self._memory())
            stack.callback(PENDING.reset, PENDING.set(self.pending))
            if operation_id is not None:
                stack.enter_context(memory.identified(operation_id))
            return encode(getattr(memory, operation)(**values))

    def _earlier_answer(self, operation: str, logged_id: str) -> Any:
        """Return the result of an operation that was carried out before, if the log has it; otherwise None."""
        from priming.operations.service import answer_of
        from priming.serialization import encode
        from priming.verbs.rows import served

        with self._memory() as memory, suppress(StoreError):
            logged = memory.operation(logged_id)
            return None if logged is None else encode(answer_of(served(operation), memory, logged))
        return None

    def _next_id(self, operation: str) -> str:
        """Return the id of the hook's next operation of a name: the same in each attempt at the same call."""
        number = self._writes[operation] = self._writes.get(operation, 0) + 1
        return id_of(self.call_id, f"{operation} {number}")


def find_stores(
    settings: Settings, hosts: Hosts, *, content: FolderContent, project_only: bool, call: str
) -> list[HookStore]:
    """Return the stores that exist, of the project and then of all projects.

    The project's is left out where nobody adopted it (``content``).
    """
    urls = [settings.store_url] if content.store is None else []
    if not project_only:
        urls.append(url_of(environment.global_store()))
    stores: list[HookStore] = []
    for url in urls:
        place = database_at(url)
        if place is not None and all(place[1] != other.database for other in stores):
            stores.append(HookStore(*place, settings, hosts, call=call))
    return stores


def place_of_new_store(settings: Settings) -> Location | None:
    """Return where the working folder's project gets its store; None if it has one, not in a file, or is to get none.

    Without a setting for the store it is at the root of the repository, else in the working folder.
    """
    location = places.real(settings.store_url) if settings["hooks.create"] == "on" else None
    if location is None or location.path is None or is_store(location.path):
        return None
    if settings.store_url is not None:
        return location
    root = _root()
    return places.real(environment.led_by_folder(url_of(root / environment.DEFAULT_PATH), root))


def create_store(location: Location) -> None:
    """Create a store, with a folder that git ignores; ``StoreError`` if it cannot be created."""
    from priming.memory import Memory

    with Memory.open(location.as_url()) as empty, empty.writing():
        pass  # the first write creates it


def _root() -> Path:
    """Return the root of the working folder's repository, unless that is the home folder; else the working folder."""
    here = environment.here()
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    return here if root == Path.home() else repository_root(root)
