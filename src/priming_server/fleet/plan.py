"""The tasks of a run: which namespaces of which stores, or which files into which namespaces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priming.config.environment import default_actor, locate
from priming.config.ids import derived, uuid7
from priming.config.store_urls import url_of, without_password
from priming.config.values import dataclass
from priming.core.arguments.checks import check_name
from priming.errors import Conflict, ParamError
from priming.memory import Memory
from priming.transfer import importers
from priming.types import SystemClock
from priming_server.fleet import journal
from priming_server.fleet.journal import RunHeader, RunRecord
from priming_server.fleet.task import FleetTask

if TYPE_CHECKING:
    from priming.config.settings import Settings


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """A run as it is asked for: a verb with its arguments, and where; None for what a continued run has already."""

    verb: str
    urls: tuple[str | None, ...]
    globs: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    profile: str = "priming"
    settings: Settings | None = None
    agent: Any = None


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """The tasks of a run that are not done, and its record."""

    journal: RunRecord
    tasks: tuple[FleetTask, ...]


def begin(request: FleetRequest) -> FleetPlan:
    """Plan a new run: a task a namespace."""
    urls = tuple(portable(url) for url in request.urls)
    _check(request.verb, urls)
    names = _chosen(
        request.globs, [(store, name) for store, url in enumerate(urls) for name in _names(request, url)]
    )
    run = uuid7(SystemClock().now())
    header = RunHeader(run, request.verb, request.arguments, _shown(urls), names)
    return FleetPlan(journal.begin(header), _tasks(request, header, urls))


def resume(request: FleetRequest, run: str) -> FleetPlan:
    """Plan what is left of a run: what failed, and what was never begun.

    Raises:
        Conflict: the run is of other stores, or has other arguments.

    """
    record = journal.resume(run, request.verb)
    header, urls = record.header, tuple(portable(url) for url in request.urls)
    if _shown(urls) != header.stores:
        raise Conflict(
            f"run {run} is of {_few(header.stores)}, not of {_few(_shown(urls))}: name the same stores"
        )
    if request.globs or {**request.arguments} != {**header.arguments}:
        if request.globs or any(value is not None for value in request.arguments.values()):
            raise Conflict(f"run {run} keeps what it was begun with: leave all but --run and the stores out")
        request = replace(request, arguments=header.arguments)
    tasks = _tasks(request, header, urls)
    return FleetPlan(record, tuple(task for task in tasks if task.number not in record.done))


def _tasks(request: FleetRequest, header: RunHeader, urls: Sequence[str]) -> tuple[FleetTask, ...]:
    return tuple(
        FleetTask(
            number,
            urls[store],
            name,
            request.verb,
            derived(header.run, request.verb, str(store), name),
            _arguments(request, name),
            request.profile,
            request.settings,
            request.agent,
            default_actor(),
        )
        for number, (store, name) in enumerate(header.names)
    )


def _arguments(request: FleetRequest, name: str) -> Mapping[str, Any]:
    """Return the arguments of a task; an import reads the file of its namespace."""
    values = {key: value for key, value in request.arguments.items() if value is not None}
    if request.verb != "import":
        return values
    return {**values, "path": str(import_files(Path(values["path"]))[name])}


def _chosen(globs: Sequence[str], names: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Return the namespaces that a glob matches, or all; a glob that matches none is a mistake."""
    for glob in globs:
        if not any(fnmatchcase(name, glob) for _, name in names):
            all_names = sorted({name for _, name in names})
            listed = f"there are {len(all_names):,}, such as {_few(all_names)}" if names else "there is none"
            raise ParamError("--namespaces", glob, f"must match a namespace: {listed}")
    return tuple(
        (store, name) for store, name in names if not globs or any(fnmatchcase(name, glob) for glob in globs)
    )


def _names(request: FleetRequest, url: str) -> Collection[str]:
    """Return the namespaces of a store, or those that the files of an import name."""
    if request.verb == "import":
        return [*import_files(Path(str(request.arguments["path"])))]
    with Memory.open(url, settings=request.settings) as memory:
        return memory.store.namespaces()


def import_files(folder: Path) -> dict[str, Path]:
    """Return what a folder has for each namespace: the file or folder of that name, without its ending."""
    if not folder.is_dir():
        raise ParamError("path", str(folder), "must be a folder with a file or folder for each namespace")
    files = dict[str, Path]()
    for path in sorted(folder.resolve().iterdir()):
        if path.name.startswith("."):
            continue
        _check_entry(path)
        name = str(check_name("namespace", path.name if path.is_dir() else path.stem))
        if name in files:
            rule = f"has two entries for the namespace {name!r}: {files[name].name} and {path.name}"
            raise ParamError("path", str(folder), rule)
        files[name] = path
    return files


def _check_entry(path: Path) -> None:
    """Refuse what is no file or folder of the folder itself."""
    if path.is_symlink() and path.parent not in path.resolve().parents:
        rule = (
            "is a symbolic link out of the folder, which is not followed: move what it names into the folder"
        )
        raise ParamError("path", str(path), rule)
    if not path.is_file() and not path.is_dir():
        rule = "must be a file or a folder; a pipe, a device or a link to nothing is none: remove it"
        raise ParamError("path", str(path), rule)


def _check(verb: str, urls: Sequence[str]) -> None:
    if len(set(urls)) < len(urls):
        raise ParamError("stores", _few(_shown(urls)), "must name each store once")
    if verb == "import" and len(urls) != 1:
        raise ParamError("stores", _few(_shown(urls)), "must be one store: an import has one target")


def check_source(source: str) -> str:
    """Return the source of an import: Priming's own format, or an importer there is."""
    if source != importers.OWN:
        importers.find(source)
    return source


def portable(url: str | None) -> str:
    """Return the URL of a store as any process of this machine can open it."""
    location = locate(url)
    if location.scheme != "sqlite":
        return str(url or location.url)
    if location.path is None:
        raise ParamError("url", url, "is a store in memory, which no other process can open: name a file")
    plain = url_of(location.path.absolute())
    return plain if location.synchronous == "normal" else f"{plain}?synchronous={location.synchronous}"


def _shown(urls: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(without_password, urls))


def _few(urls: Sequence[str]) -> str:
    return ", ".join(urls[:2]) + (f" and {len(urls) - 2:,} more" if len(urls) > 2 else "")
