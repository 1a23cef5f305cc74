"""What the doctor looks at. Nothing is changed, and no store is made or migrated."""

from __future__ import annotations

import platform
import re
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from priming import __version__, config
from priming.cli import agent_files, agent_parts
from priming.cli.options import Place
from priming.errors import PrimingError

OK, WARN, FAIL = "ok", "warn", "fail"
_LEAST = (3, 11)
_MIB = 1 << 20
_LOW, _FULL = 1024 * _MIB, 100 * _MIB
"""Free space on the store's disk that is little, and too little."""
_LARGE_LOG = 256 * _MIB
_EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(minutes=1)
_PATIENCE = 2.0
_FINDINGS = 3
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_REQUIREMENT = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?\s*([^;]*)(;.*extra.*)?$")
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: how it is, and what mends it."""

    name: str
    status: str
    detail: str
    remedy: str = ""


def all_of(place: Place) -> list[Check]:
    """Everything, in the order in which it depends on each other."""
    parts: tuple[Callable[[Place], Iterator[Check]], ...] = (
        _python,
        _packages,
        _settings,
        _weights,
        _store,
        _server,
        _agents,
        _disk,
        _clock,
    )
    found: list[Check] = []
    for part in parts:
        try:
            found += part(place)
        except (PrimingError, OSError) as error:
            name = part.__name__.removeprefix("_")
            found.append(Check(name, FAIL, str(error), "mend what the message names, and look again"))
    return found


def _python(_place: Place) -> Iterator[Check]:
    at = f"Python {platform.python_version()} at {sys.executable}, priming {__version__}"
    if sys.version_info < _LEAST:
        yield Check("python", FAIL, at, "install Python 3.11 or newer")
    else:
        yield Check("python", OK, at)


def _packages(_place: Place) -> Iterator[Check]:
    """Whether what is installed is what Priming was made for."""
    from importlib import metadata

    wrong, right = [], 0
    for one in metadata.requires("priming") or ():
        found = _REQUIREMENT.match(one)
        if found is None or found[3]:
            continue
        name, wanted = found[1], found[2].strip()
        try:
            there = metadata.version(name)
        except metadata.PackageNotFoundError:
            wrong.append((name, f"{name} is not installed, {wanted} is needed"))
            continue
        if _is_within(there, wanted):
            right += 1
        else:
            wrong.append((name, f"{name} is {there}, {wanted} is needed"))
    if right and not wrong:
        yield Check("packages", OK, f"all {right} packages that are needed, in versions that will do")
    for name, said in wrong:
        yield Check("packages", FAIL, said, f"pip install --upgrade priming, which brings {name}")


def _is_within(version: str, wanted: str) -> bool:
    there = _numbers(version)
    return all((there >= _numbers(bound)) == (how == ">=") for how, bound in _BOUND.findall(wanted))


def _numbers(version: str) -> list[int]:
    return [int(one) for one in _NUMBER.findall(version.split("+")[0])[:3]]


def _settings(place: Place) -> Iterator[Check]:
    """Files of settings and the environment, and what contradicts in them."""
    from priming import settings

    _, wrong = settings.read(servers=True)
    for one in wrong:
        yield Check("settings", FAIL, one, "mend it there: 'priming config' shows what holds")
    try:
        config.server_wanted()
    except PrimingError as error:
        wrong.append(str(error))
        yield Check("settings", FAIL, str(error), "unset PRIMING_SERVER")
    named = config.variables()
    own = config.project_folder() / config.FILE
    if place.url is None and named.get("PRIMING_URL") and own.is_file():
        where = config.locate(None).path
        if where is None or where.absolute() != own.absolute():
            said = f"PRIMING_URL names {named['PRIMING_URL']}, and this project has a store of its own, {own}"
            yield Check("settings", WARN, said, "unset PRIMING_URL to work with the project's")
    if not wrong:
        told = ", ".join(sorted(named)) or "none"
        yield Check("settings", OK, f"files and environment are understood; variables set: {told}")


def _weights(_place: Place) -> Iterator[Check]:
    from priming.embed import weights

    folder = weights.folder()
    weights.stamp(folder)
    size = (folder / weights.WEIGHTS).stat().st_size
    yield Check("weights", OK, f"{weights.MODEL}, {size / _MIB:.0f} MiB, in {folder}")


def _store(place: Place) -> Iterator[Check]:
    """The file: there, ours, whole, of this schema; and what ``validate`` finds in it."""
    path = _path(place)
    if path is None:
        yield Check("store", OK, "in memory: nothing is kept")
        return
    if not path.exists():
        yield Check(
            "store", WARN, f"there is none at {path} yet", "the first memory makes it: priming remember TEXT"
        )
        return
    from priming.engine import schema

    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        remedy = "check its rights, or put a backup in its place: priming restore-backup"
        yield Check("store", FAIL, f"{path} cannot be read: {error}", remedy)
        return
    size = f"{path.stat().st_size / _MIB:.1f} MiB"
    newest, ours = schema.newest(), schema.mark()
    if mark != ours or version > newest:
        said = "is of another program" if mark != ours else f"has schema {version}, and {newest} is known"
        remedy = "name another file with --url" if mark != ours else "install a newer Priming"
        yield Check("store", FAIL, f"{path} {said}", remedy)
        return
    if sound != "ok":
        remedy = "put a backup in its place: priming restore-backup"
        yield Check("store", FAIL, f"{path} is damaged: {sound}", remedy)
        return
    yield Check("store", OK, f"{path}, {size}, schema {version}")
    yield from _write_ahead(path)
    if version < newest:
        said = f"schema {version} becomes {newest} at the next use, after a backup"
        yield Check("schema", WARN, said, "nothing need be done")
        return
    yield from _validity(place)


def _write_ahead(path: Path) -> Iterator[Check]:
    beside = Path(f"{path}-wal")
    size = beside.stat().st_size if beside.exists() else 0
    if size > _LARGE_LOG:
        said = f"the write-ahead log has {size / _MIB:.0f} MiB"
        yield Check(
            "log", WARN, said, "end a process that reads for long; it shrinks when the last one closes"
        )


def _validity(place: Place) -> Iterator[Check]:
    with place.memory() as memory:
        try:
            findings = memory.validate()
        except PrimingError as error:
            yield Check("validate", WARN, str(error), "name the namespace with --namespace")
            return
    for one in findings[:_FINDINGS]:
        yield Check("validate", FAIL, f"{one.rule}: {one.subject}: {one.detail}", one.remedy)
    if len(findings) > _FINDINGS:
        said = f"{len(findings) - _FINDINGS} more findings"
        yield Check("validate", FAIL, said, "priming validate lists all")
    if not findings:
        yield Check("validate", OK, f"nothing is wrong in namespace {place.chosen_namespace()!r}")


def _server(place: Place) -> Iterator[Check]:
    """A running server of the store: the user's own, of this version, of this very file."""
    from priming.operations import local_socket as places

    path = _path(place)
    where = places.real(place.store())
    if path is None or where is None or where.path is None or not path.exists() or not places.available():
        return
    at = places.socket_path(where.path)
    if not at.exists():
        yield Check("server", OK, "none runs: commands work on the file itself")
        return
    found = at.lstat()
    if not places.is_ours(at) or found.st_mode & _OTHERS:
        said = f"{at} is not the user's own, or others may use it (mode {stat.S_IMODE(found.st_mode):o})"
        yield Check("server", FAIL, said, f"end the server, remove {at}, and start it again: priming serve")
        return
    told = _greeting(at)
    if told is None:
        yield Check("server", WARN, f"{at} is there, and nobody answers", "start it again: priming serve")
        return
    wanted = places.greeting(where, place.chosen_profile(), place.settings())
    other = [name for name, value in wanted.items() if told.get(name) != value]
    if other:
        said = "; ".join(f"{name} is {told.get(name)!r}, here {wanted[name]!r}" for name in other)
        remedy = "restart the server: commands work on the file beside it"
        yield Check("server", WARN, f"another one runs: {said}", remedy)
    else:
        yield Check("server", OK, f"one runs, of this version and store, at {at}")


def _greeting(at: Path) -> dict[str, Any] | None:
    from priming.operations.connection import greeting_at

    return greeting_at(at, _PATIENCE)


def _agents(_place: Place) -> Iterator[Check]:
    """Agents that Priming is set up for, and whether what they run is there."""
    any_there = False
    for agent in agent_files.AGENTS:
        for scope in (agent_files.PROJECT, agent_files.USER):
            try:
                found = agent_files.is_set_up(agent, scope)
            except PrimingError as error:
                yield Check("agents", WARN, f"{agent}: {error}", "mend the file")
                continue
            if not found:
                continue
            any_there = True
            yield _agent(agent, scope, found)
    if not any_there:
        names = ", ".join(agent_files.AGENTS)
        yield Check("agents", OK, f"none is set up; 'priming setup AGENT' does it, for {names}")


def _agent(agent: str, scope: str, found: list[Path]) -> Check:
    again = f"priming setup {agent} --{scope}"
    wanted = [path for path, *_ in agent_files.places(agent, scope, [agent_parts.NAME])]
    missing = [path for path in wanted if path not in found]
    if missing:
        said = f"{agent} ({scope}): nothing of it in {', '.join(map(str, missing))}"
        return Check("agents", WARN, said, again)
    commands = {one for path in found for one in agent_parts.programs(path.read_text("utf-8"))}
    lost = sorted(one for one in commands if shutil.which(one) is None)
    if lost:
        said = f"{agent} ({scope}) runs {', '.join(lost)}, which is not there"
        return Check("agents", FAIL, said, f"put it on the PATH, or: priming setup {agent} --user")
    return Check("agents", OK, f"{agent} ({scope}): {', '.join(map(str, found))}")


def _disk(place: Place) -> Iterator[Check]:
    path = _path(place)
    if path is None:
        return
    folder = next(one for one in path.absolute().parents if one.exists())
    free = shutil.disk_usage(folder).free
    said = f"{free / _MIB:,.0f} MiB free at {folder}"
    if free < _FULL:
        yield Check("disk", FAIL, said, "make room: nothing can be remembered on a full disk")
    elif free < _LOW:
        yield Check("disk", WARN, said, "make room")
    else:
        yield Check("disk", OK, said)


def _clock(place: Place) -> Iterator[Check]:
    """Whether the present is after what was written."""
    now = datetime.now(UTC)
    said = f"it is {now:%Y-%m-%d %H:%M} UTC"
    path = _path(place)
    if now < _EARLIEST:
        yield Check("clock", FAIL, said, "set the machine's clock: times of memories come from it")
        return
    latest = _latest(path) if path is not None and path.exists() else None
    if latest is not None and latest > now + _AHEAD:
        said = f"{said}, and the store was written at {latest:%Y-%m-%d %H:%M} UTC"
        yield Check("clock", WARN, said, "set the machine's clock: what comes next must be later")
    else:
        yield Check("clock", OK, said)


def _latest(path: Path) -> datetime | None:
    """When the store was last written, by its file."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _path(place: Place) -> Path | None:
    return config.locate(place.store()).path
