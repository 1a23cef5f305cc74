"""The checks of ``priming doctor``. They change nothing, and neither create nor migrate a store."""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from priming import extensions
from priming.cli.options import StoreOptions
from priming.config import environment
from priming.config.values import dataclass
from priming.config.variables import VERSION, own_variables
from priming.errors import Corrupt, PrimingError
from priming.storage.protocol import TokenRow
from priming.storage.rows import LoopSessionRow

OK, WARN, FAIL = "ok", "warn", "fail"
_MIB = 1 << 20
_LARGE_LOG = 256 * _MIB
_MAX_FINDINGS = 3


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check, and its remedy."""

    name: str
    status: str
    detail: str
    remedy: str = ""


def store_checks(store: StoreOptions) -> Iterator[Check]:
    """Tell whether the file exists, is a store, is intact and has this schema; and the findings of ``validate``."""
    location = environment.locate(store.location())
    path = location.path
    if path is None:
        yield from _database(store) if location.url else [Check("store", OK, "in memory: nothing is stored")]
        return
    if not path.exists():
        remedy = "the first memory creates it: priming remember TEXT"
        yield Check("store", WARN, f"there is none at {path} yet", remedy)
        return
    from priming.storage.sqlite import presence
    from priming.storage.sqlite.files import APPLICATION_ID, migrations

    newest = len(migrations())
    try:
        with closing(presence.reader(path)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        remedy = "check its permissions, or restore a backup: priming restore-backup"
        yield Check("store", FAIL, f"{path} cannot be read: {error}", remedy)
        return
    problem = remedy = ""
    if mark != APPLICATION_ID:
        problem, remedy = "belongs to another program", "name another file with --url"
    elif version > newest:
        problem, remedy = f"has schema {version}; the newest known is {newest}", "install a newer Priming"
    elif sound != "ok":
        problem, remedy = f"is damaged: {sound}", "restore a backup: priming restore-backup"
    if problem:
        yield Check("store", FAIL, f"{path} {problem}", remedy)
        return
    yield Check("store", OK, f"{path}, {path.stat().st_size / _MIB:.1f} MiB, schema {version}")
    if (reason := presence.why_unwritable(path)) is not None:
        yield Check("store", WARN, f"{path} is read, and cannot be written", reason)
    yield from _write_ahead(path)
    if version < newest:
        detail = f"schema {version} becomes {newest} at the next use, after a backup"
        yield Check("schema", WARN, detail, "no action is needed")
        return
    yield from _validity(store)


def _database(store: StoreOptions) -> Iterator[Check]:
    """Yield whether a store in PostgreSQL can be used and keeps namespaces apart, and what ``validate`` finds."""
    from priming.storage.opening import open_store

    try:
        with closing(open_store(environment.locate(store.location()))) as opened:
            detail, unsafe = opened.description()
    except PrimingError as error:
        yield Check("store", FAIL, str(error), "check the URL, and that the server is running")
        return
    yield Check("store", OK, detail)
    for problem, remedy in unsafe:
        yield Check("database", WARN, problem, remedy)
    yield from _validity(store)


def _write_ahead(path: Path) -> Iterator[Check]:
    log = Path(f"{path}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > _LARGE_LOG:
        remedy = "end processes that read for a long time; it shrinks when the last process closes"
        yield Check("log", WARN, f"the write-ahead log has {size / _MIB:.0f} MiB", remedy)


def _validity(store: StoreOptions) -> Iterator[Check]:
    with store.open_file() as memory:
        try:
            findings = memory.validate()
            _ = (
                memory.rows(LoopSessionRow, limit=20),
                memory.store.rows(None, TokenRow),
            )
        except PrimingError as error:
            state = FAIL if isinstance(error, Corrupt) else WARN
            yield Check("validate", state, str(error), "restore a backup, or name another --namespace")
            return
    for finding in findings[:_MAX_FINDINGS]:
        detail = f"{finding.rule}: {finding.subject}: {finding.detail}"
        yield Check("validate", FAIL, detail, finding.remedy)
    if len(findings) > _MAX_FINDINGS:
        detail = f"{len(findings) - _MAX_FINDINGS} more findings"
        yield Check("validate", FAIL, detail, "priming validate lists all")
    if not findings:
        namespace = str(store.settings()["store.namespace"])
        yield Check("validate", OK, f"no inconsistencies in namespace {namespace!r}")


def path_of(store: StoreOptions) -> Path | None:
    """Return the file of the store; None for one in memory or in a database."""
    return environment.locate(store.location()).path


_LOW, _FULL = 1024 * _MIB, 100 * _MIB
"""Free space on the store's disk that is low, and too low."""
_EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(minutes=1)
_TIMEOUT = 2.0
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_REQUIREMENT = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?\s*([^;]*)(;.*extra.*)?$")
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")
_NUMBER = re.compile(r"\d+")


def run(store: StoreOptions) -> list[Check]:
    """Run all checks, each after those it depends on."""
    checks: tuple[Callable[[StoreOptions], Iterator[Check]], ...] = (
        _python,
        _packages,
        _settings,
        _weights,
        store_checks,
        _server,
        *extensions.load(extensions.CHECKS),
        _disk,
        _clock,
    )
    results: list[Check] = []
    for check in checks:
        try:
            results += check(store)
        except (PrimingError, OSError) as error:
            name = check.__name__.removeprefix("_").removesuffix("_checks")
            results.append(
                Check(name, FAIL, str(error), "repair what the message names, and run doctor again")
            )
    return results


def _python(_store: StoreOptions) -> Iterator[Check]:
    yield Check("python", OK, f"Python {platform.python_version()} at {sys.executable}, priming {VERSION}")


def _packages(_store: StoreOptions) -> Iterator[Check]:
    """Tell whether the installed packages have the required versions."""
    from importlib import metadata

    problems, valid = [], 0
    for requirement in metadata.requires("priming") or ():
        match = _REQUIREMENT.match(requirement)
        if match is None or match[3]:
            continue
        name, bounds = match[1], match[2].strip()
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            problems.append((name, f"{name} is not installed, {bounds} is required"))
            continue
        if _is_within(version, bounds):
            valid += 1
        else:
            problems.append((name, f"{name} is {version}, {bounds} is required"))
    if valid and not problems:
        yield Check("packages", OK, f"all {valid} required packages, in compatible versions")
    for name, problem in problems:
        yield Check("packages", FAIL, problem, f"pip install --upgrade priming, which installs {name}")


def _is_within(version: str, bounds: str) -> bool:
    numbers = _numbers(version)
    return all((numbers >= _numbers(bound)) == (sign == ">=") for sign, bound in _BOUND.findall(bounds))


def _numbers(version: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(version.split("+")[0])[:3]]


def _settings(store: StoreOptions) -> Iterator[Check]:
    """Yield errors and contradictions in the files of settings and the environment."""
    from priming.config import settings
    from priming.maintenance.adoption import content_of

    values, problems = settings.read(servers=True)
    if message := content_of(values).message:
        yield Check("adoption", WARN, message, "priming trust")
    for problem in problems:
        yield Check("settings", FAIL, problem, "correct it there: 'priming config' shows all settings")
    try:
        environment.server_wanted()
    except PrimingError as error:
        problems.append(str(error))
        yield Check("settings", FAIL, str(error), "unset PRIMING_SERVER")
    variables = own_variables()
    own = environment.project_folder() / environment.FILE
    if store.url is None and variables.get("PRIMING_URL") and own.is_file():
        where = environment.locate(None).path
        if where is None or where.absolute() != own.absolute():
            problem = (
                f"PRIMING_URL names {variables['PRIMING_URL']}, but this project has its own store, {own}"
            )
            yield Check("settings", WARN, problem, "unset PRIMING_URL to use the project's store")
    if not problems:
        names = ", ".join(sorted(variables)) or "none"
        yield Check("settings", OK, f"files and environment are valid; variables set: {names}")


def _weights(_store: StoreOptions) -> Iterator[Check]:
    from priming.embedding import weights

    folder = weights.folder()
    weights.stamp(folder)
    paths = folder / weights.WEIGHTS, folder / weights.TOKENIZER
    size = paths[0].stat().st_size
    other = [
        path.name for path, pinned in zip(paths, weights.DIGESTS, strict=True) if _sha256(path) != pinned
    ]
    if other:
        problem = f"{' and '.join(other)} in {folder}: not the files that were examined"
        yield Check("weights", WARN, problem, weights.REMEDY)
    else:
        yield Check("weights", OK, f"{weights.MODEL}, {size / _MIB:.0f} MiB, as examined, in {folder}")
    yield from _sentences()


def _sentences() -> Iterator[Check]:
    """Tell whether the model of sentences can be used, and is the one that was examined."""
    from priming.embedding import weights
    from priming.embedding.weights import installed

    if not installed():
        problem = "the model of sentences is missing: recall goes by words"
        yield Check("semantic", WARN, problem, weights.REMEDY)
        return
    from priming.embedding.onnx import OnnxEmbedder

    yield Check("semantic", OK, f"{OnnxEmbedder().generation}, as examined")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _server(store: StoreOptions) -> Iterator[Check]:
    """Tell whether a running server belongs to the user, and has this version and this file."""
    from priming.operations import local_socket as places
    from priming.operations.connection import about

    url = store.location()
    where = places.real(url) or environment.locate(url)
    at = store.socket()
    if at is None or (where.path is not None and not where.path.exists()):
        return
    if not at.exists():
        yield Check("server", OK, "none is running: commands use the store itself")
        return
    mode = at.lstat().st_mode
    if not places.is_ours(at) or mode & _OTHERS:
        problem = f"{at} belongs to another user, or others may use it (mode {stat.S_IMODE(mode):o})"
        remedy = f"end the server, remove {at}, and start it again: priming serve"
        yield Check("server", FAIL, problem, remedy)
        return
    greeting = about(at, _TIMEOUT, places.GREETING_PATH)
    if greeting is None:
        yield Check(
            "server", WARN, f"{at} exists but does not answer", "start the server again: priming serve"
        )
        return
    settings = store.settings()
    expected = places.greeting(where, str(settings["store.profile"]), settings)
    differing = [name for name, value in expected.items() if greeting.get(name) != value]
    if differing:
        values = "; ".join(f"{name} is {greeting.get(name)!r}, here {expected[name]!r}" for name in differing)
        remedy = "restart the server: until then commands and hooks use the store itself"
        yield Check("server", WARN, f"a different one is running: {values}", remedy)
    else:
        yield Check("server", OK, f"running, with this version and store, at {at}")


def _disk(store: StoreOptions) -> Iterator[Check]:
    path = path_of(store)
    if path is None:
        return
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    free = shutil.disk_usage(folder).free
    detail = f"{free / _MIB:,.0f} MiB free at {folder}"
    if free < _FULL:
        yield Check("disk", FAIL, detail, "free some space: nothing can be stored on a full disk")
    elif free < _LOW:
        yield Check("disk", WARN, detail, "free some space")
    else:
        yield Check("disk", OK, detail)


def _clock(store: StoreOptions) -> Iterator[Check]:
    """Tell whether the clock is later than the last write."""
    now = datetime.now(UTC)
    detail = f"it is {now:%Y-%m-%d %H:%M} UTC"
    path = path_of(store)
    if now < _EARLIEST:
        yield Check("clock", FAIL, detail, "set the machine's clock: times of memories come from it")
        return
    latest = now if path is None or not path.exists() else datetime.fromtimestamp(path.stat().st_mtime, UTC)
    if latest > now + _AHEAD:
        detail = f"{detail}, but the store was written at {latest:%Y-%m-%d %H:%M} UTC"
        yield Check("clock", WARN, detail, "set the machine's clock: later writes must have later times")
    else:
        yield Check("clock", OK, detail)
